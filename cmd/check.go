package cmd

import (
	"github.com/spf13/cobra"

	"github.com/corelane/corelane/config"
)

func newCheck() *cobra.Command {
	var path string
	var strict bool
	cmd := &cobra.Command{
		Use:   "check -c FILE",
		Short: "Tell what is wrong with a configuration, or deserves a look, with file, line and column",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			check := config.Check
			if strict {
				check = config.CheckStrict
			}
			if code := check(cmd.OutOrStdout(), path); code != exitClean {
				return exit(code)
			}
			return nil
		},
	}
	configFlag(cmd, &path)
	cmd.Flags().BoolVar(&strict, "strict", false, "exit 1 for warnings too")
	return cmd
}

// configFlag adds the flag -c, which must be given.
func configFlag(cmd *cobra.Command, path *string) {
	cmd.Flags().StringVarP(path, "config", "c", "", "the configuration: a file, or a folder of *.yaml")
	if err := cmd.MarkFlagRequired("config"); err != nil {
		panic(err) // there is no such flag: the program is built wrongly
	}
}
