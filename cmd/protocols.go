package cmd

import (
	"fmt"
	"io"
	"reflect"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/corelane/corelane/codec"
)

// protocolInfo is a protocol as `corelane protocols --json` lists it.
type protocolInfo struct {
	Name string `json:"name"`
	// Package is the import path of the protocol, which tells built-in ones from
	// those of other modules.
	Package string `json:"package"`
	// Multiplexed says that a connection carries many exchanges at once.
	Multiplexed bool `json:"multiplexed"`
	// Translated says that its bodies are translated for other protocols.
	Translated bool `json:"translated"`
}

func newProtocols() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "protocols",
		Short: "List the protocols of messages compiled into this program, besides HTTP",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			listed := listProtocols(codec.Names())
			if asJSON {
				return writeJSON(cmd.OutOrStdout(), listed)
			}
			return writeProtocols(cmd.OutOrStdout(), listed)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func listProtocols(names []string) []protocolInfo {
	listed := make([]protocolInfo, 0, len(names))
	for _, name := range names {
		p, _ := codec.Registered(name)
		_, translated := p.(codec.Translator)
		kind := reflect.TypeOf(p)
		if kind.Kind() == reflect.Pointer {
			kind = kind.Elem()
		}
		listed = append(listed, protocolInfo{
			Name: name, Package: kind.PkgPath(), Multiplexed: p.Traits().IDBits > 0, Translated: translated,
		})
	}
	return listed
}

func writeProtocols(w io.Writer, listed []protocolInfo) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, p := range listed {
		manner := "one exchange at a time on a connection"
		if p.Multiplexed {
			manner = "many exchanges at once on a connection"
		}
		if p.Translated {
			manner += ", translated for other protocols"
		}
		fmt.Fprintf(table, "%s\t%s\n", p.Name, manner)
	}
	return table.Flush()
}
