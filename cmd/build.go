package cmd

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"syscall"

	"github.com/spf13/cobra"
)

func newBuild() *cobra.Command {
	var with []string
	var product, output string
	cmd := &cobra.Command{
		Use:   "build [--with MODULE[@VERSION][=PATH]]… -o FILE",
		Short: "Build this program with more filters and protocols",
		Long: "Build this program with the filters and protocols of other Go modules. Go must be installed; its environment\n" +
			"(GOFLAGS, GOPROXY, GOOS, …) is used as it is. Without @VERSION the newest is taken, with =PATH\n" +
			"the source in that folder. The product itself is the source tree around the working directory,\n" +
			"or else the version of this program, unless --corelane says otherwise.",
		Example: "  corelane build --with example.com/tenant@v1.2.0 --with example.com/hello=./hello -o bin/gateway",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			b := builder{output: output, stdout: cmd.OutOrStdout(), stderr: cmd.ErrOrStderr()}
			for _, text := range with {
				a, err := parseAddition(text)
				if err != nil {
					return err
				}
				b.additions = append(b.additions, a)
			}
			if err := b.choose(product); err != nil {
				return failed(err)
			}
			ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			if err := b.build(ctx); err != nil {
				return failed(err)
			}
			return nil
		},
	}
	cmd.Flags().StringArrayVar(&with, "with", nil, "a module with filters or protocols: MODULE[@VERSION][=PATH]; may be given again")
	cmd.Flags().StringVar(&product, "corelane", "", "the product: a folder with its source, or a version such as v1.2.3")
	cmd.Flags().StringVarP(&output, "output", "o", "corelane", "the program to write")
	return cmd
}

// released tells versions that can be fetched from those of a working copy.
var released = regexp.MustCompile(`^v\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$`)

// choose decides which product is built: a folder or a version that is named,
// the source tree around the working directory, or what this program is.
func (b *builder) choose(named string) error {
	switch {
	case released.MatchString(named):
		b.version = named
		return nil
	case named != "":
		module, err := moduleOf(named)
		if err != nil {
			return fmt.Errorf("--corelane: %w", err)
		}
		if module != productModule {
			return fmt.Errorf("--corelane: the module in %s is %s, not %s", named, module, productModule)
		}
		return b.chooseFolder(named)
	}
	if folder := sourceTree("."); folder != "" {
		return b.chooseFolder(folder)
	}
	if !released.MatchString(version) {
		return fmt.Errorf("this program (%s) is no release: name the product by --corelane, a folder with its source or a version", version)
	}
	b.version = version
	return nil
}
