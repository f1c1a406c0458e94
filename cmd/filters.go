package cmd

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/corelane/corelane/config"
	"github.com/corelane/corelane/config/tree"
	"github.com/corelane/corelane/filters"
)

// filterInfo is a filter as `corelane filters --json` lists it.
type filterInfo struct {
	Name string `json:"name"`
	Doc  string `json:"doc"`
	// Package is the import path of the filter, which tells built-in ones from
	// those of other modules.
	Package string          `json:"package"`
	Options []config.Option `json:"options"`
}

func newFilters() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "filters [NAME]",
		Short: "List the filters compiled into this program, or the options of one",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			names := filters.Names()
			if len(args) == 1 {
				if _, known := filters.Lookup(args[0]); !known {
					return failed(fmt.Errorf("this program has no filter %q%s", args[0], tree.Suggest(args[0], names)))
				}
				names = args
			}
			listed := listFilters(names)
			switch w := cmd.OutOrStdout(); {
			case asJSON && len(args) == 1:
				return writeJSON(w, listed[0])
			case asJSON:
				return writeJSON(w, listed)
			case len(args) == 1:
				return writeOptions(w, listed[0])
			default:
				return writeFilters(w, listed)
			}
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON, with all options")
	return cmd
}

func listFilters(names []string) []filterInfo {
	listed := make([]filterInfo, 0, len(names))
	for _, name := range names {
		kind, _ := filters.Lookup(name)
		info := filterInfo{Name: name, Doc: kind.Doc, Package: kind.Package(), Options: config.Options(kind, commentOf)}
		if info.Options == nil {
			info.Options = []config.Option{}
		}
		listed = append(listed, info)
	}
	return listed
}

// writeJSON writes a value for programs to read.
func writeJSON(w io.Writer, value any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(value)
}

func writeFilters(w io.Writer, listed []filterInfo) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, f := range listed {
		fmt.Fprintf(table, "%s\t%s\n", f.Name, f.Doc)
	}
	return table.Flush()
}

func writeOptions(w io.Writer, f filterInfo) error {
	fmt.Fprintf(w, "%s: %s\n(package %s)\n", f.Name, f.Doc, f.Package)
	if len(f.Options) == 0 {
		_, err := fmt.Fprintln(w, "\nIt has no options.")
		return err
	}
	fmt.Fprintln(w)
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "OPTION\tTYPE\tDEFAULT\tMEANING")
	for _, o := range f.Options {
		lines := wrapped(o.Doc)
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", o.Name, o.Type, shown(o.Default), lines[0])
		for _, more := range lines[1:] {
			fmt.Fprintf(table, "\t\t\t%s\n", more)
		}
	}
	return table.Flush()
}

// shown is a default as it stands in a configuration.
func shown(value any) string {
	text, isText := value.(string)
	switch {
	case value == nil:
		return ""
	case isText && text != "":
		return text
	}
	b, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprint(value)
	}
	return string(b)
}

// wrapWidth is the width of the last column in characters.
const wrapWidth = 72

// wrapped breaks a sentence into lines, at least one.
func wrapped(text string) []string {
	lines := []string{""}
	for word := range strings.FieldsSeq(text) {
		last := &lines[len(lines)-1]
		switch {
		case *last == "":
			*last = word
		case len(*last)+1+len(word) <= wrapWidth:
			*last += " " + word
		default:
			lines = append(lines, word)
		}
	}
	return lines
}
