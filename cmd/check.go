package cmd

import (
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/corelane/corelane/config"
	"github.com/corelane/corelane/filters"
)

func newCheck() *cobra.Command {
	var path string
	cmd := &cobra.Command{
		Use:   "check -c FILE",
		Short: "Tell what is wrong with a configuration, with file, line and column",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if code := config.Check(cmd.OutOrStdout(), path); code != exitClean {
				return exit(code)
			}
			return nil
		},
	}
	configFlag(cmd, &path)
	return cmd
}

// configFlag adds the flag -c, which must be given.
func configFlag(cmd *cobra.Command, path *string) {
	cmd.Flags().StringVarP(path, "config", "c", "", "the configuration: a file, or a folder of *.yaml")
	if err := cmd.MarkFlagRequired("config"); err != nil {
		panic(err) // there is no such flag: the program is built wrongly
	}
}

func newFilters() *cobra.Command {
	return &cobra.Command{
		Use:   "filters",
		Short: "List the filters compiled into this program",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
			for _, name := range filters.Names() {
				kind, _ := filters.Lookup(name)
				fmt.Fprintf(w, "%s\t%s\n", name, kind.Doc)
			}
			return w.Flush()
		},
	}
}
