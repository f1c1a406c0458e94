package cmd

import (
	"github.com/spf13/cobra"

	"github.com/corelane/corelane/config"
)

func newSchema() *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of configurations, for editors",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return writeJSON(cmd.OutOrStdout(), config.NewSchema(commentOf))
		},
	}
}
