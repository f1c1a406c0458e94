package cmd

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/corelane/corelane/control"
	"github.com/corelane/corelane/engine/explain"
	"github.com/corelane/corelane/engine/reactor"
)

func newExplain() *cobra.Command {
	var path string
	var question explain.Request
	var fields []string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "explain -c FILE METHOD URL",
		Short: "Tell where a request would go and why, without a running gateway",
		Long: "Tell where a request would go and why: the candidate routes and what each of them missed, the filters, the endpoints.\n" +
			"Nothing is sent. The exit code is 0 if the request would be forwarded or answered by a filter, 1 if it would be refused,\n" +
			"and 2 if the question or the configuration is wrong. Of a running gateway, ask POST /api/v1/explain.",
		Example: "  corelane explain -c corelane.yaml GET http://shop.example/orders/42 -H 'X-Env: prod'",
		Args:    cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			question.Method, question.URL = args[0], args[1]
			var err error
			if question.Headers, err = headersOf(fields); err != nil {
				return err
			}
			return runExplain(cmd, path, question, asJSON)
		},
	}
	configFlag(cmd, &path)
	cmd.Flags().StringArrayVarP(&fields, "header", "H", nil, "a field of the request, 'Name: value'; may be repeated")
	cmd.Flags().StringVar(&question.Listener, "listener", "", "where the request arrives; not needed if there is one listener")
	cmd.Flags().StringVar(&question.Client, "client", "", "IP address of the client (127.0.0.1), or unix")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON, as the admin API does")
	return cmd
}

// headersOf takes lines such as "Name: value" apart.
func headersOf(lines []string) (map[string][]string, error) {
	headers := make(map[string][]string, len(lines))
	for _, line := range lines {
		name, value, ok := strings.Cut(line, ":")
		if !ok {
			return nil, fmt.Errorf("header %q: want 'Name: value'", name)
		}
		headers[name] = append(headers[name], strings.TrimSpace(value))
	}
	return headers, nil
}

func runExplain(cmd *cobra.Command, path string, question explain.Request, asJSON bool) error {
	snap, err := control.Compile(cmd.Context(), path)
	if err != nil {
		fmt.Fprintf(cmd.ErrOrStderr(), "corelane: %v\n", err)
		return exit(exitUsage)
	}
	answer, err := explain.Explain(snap, question, reactor.Monotonic())
	if err != nil {
		return err
	}
	if asJSON {
		out := json.NewEncoder(cmd.OutOrStdout())
		out.SetEscapeHTML(false)
		out.SetIndent("", "  ")
		err = out.Encode(answer)
	} else {
		err = answer.Write(cmd.OutOrStdout())
	}
	if err != nil || answer.Outcome.Kind == explain.Refused {
		return exit(exitFailed)
	}
	return nil
}
