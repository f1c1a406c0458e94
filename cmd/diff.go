package cmd

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/corelane/corelane/config"
)

// Exit codes of `corelane diff`, as those of diff.
const (
	exitDifferent = 1
	exitTrouble   = 2
)

func newDiff() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "diff OLD NEW",
		Short: "Tell what a change from one configuration to another means",
		Long: "Tell what changes from one file or folder to another: routes, services, listeners, filter sets and\n" +
			"settings, with the keys that differ, and what a running node cannot change. Secrets are masked.\n" +
			"The exit code is 0 if nothing differs, 1 if something does, 2 if one of them is missing or wrong.",
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := config.Compare(args[0], args[1])
			if err != nil {
				fmt.Fprintf(os.Stderr, "corelane: %v\n", err)
				return exit(exitTrouble)
			}
			w := cmd.OutOrStdout()
			if asJSON {
				if err := writeJSON(w, c); err != nil {
					return exit(exitTrouble)
				}
			} else {
				writeComparison(w, c)
			}
			if !c.Same() {
				return exit(exitDifferent)
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func writeComparison(w io.Writer, c *config.Comparison) {
	if c.Same() {
		fmt.Fprintln(w, "nothing differs")
		return
	}
	writeSection(w, "routes", c.Routes)
	writeSection(w, "services", c.Services)
	writeSection(w, "listeners", c.Listeners)
	writeSection(w, "filter sets", c.FilterSets)
	if len(c.Settings) > 0 {
		fmt.Fprintln(w, "settings:")
		writeKeys(w, "  ", c.Settings)
	}
	if len(c.Restart) > 0 {
		fmt.Fprintf(w, "needs a restart: %s\n", strings.Join(c.Restart, ", "))
	}
}

func writeSection(w io.Writer, name string, s config.SectionChange) {
	if len(s.Added)+len(s.Removed)+len(s.Changed) == 0 {
		return
	}
	fmt.Fprintln(w, name+":")
	for _, id := range s.Added {
		fmt.Fprintln(w, "  + "+id)
	}
	for _, id := range s.Removed {
		fmt.Fprintln(w, "  - "+id)
	}
	for _, item := range s.Changed {
		fmt.Fprintln(w, "  ~ "+item.Name)
		writeKeys(w, "      ", item.Keys)
	}
}

func writeKeys(w io.Writer, indent string, keys []config.KeyChange) {
	for _, k := range keys {
		switch {
		case k.Old == "":
			fmt.Fprintf(w, "%s%s: added %s\n", indent, k.Key, k.New)
		case k.New == "":
			fmt.Fprintf(w, "%s%s: removed %s\n", indent, k.Key, k.Old)
		default:
			fmt.Fprintf(w, "%s%s: %s → %s\n", indent, k.Key, k.Old, k.New)
		}
	}
}
