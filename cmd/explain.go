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
	var rpc string
	var call explain.Call
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "explain -c FILE {METHOD URL | --rpc INTERFACE/METHOD | --key KEY}",
		Short: "Tell where a request would go and why, without a running gateway",
		Long: "Tell where a request would go and why: the candidate routes and what each of them missed, the filters, the endpoints.\n" +
			"Nothing is sent. The exit code is 0 if the request would be forwarded or answered by a filter, 1 if it would be refused,\n" +
			"and 2 if the question or the configuration is wrong. Of a running gateway, ask POST /api/v1/explain.",
		Example: "  corelane explain -c corelane.yaml GET http://shop.example/orders/42 -H 'X-Env: prod'\n" +
			"  corelane explain -c corelane.yaml --rpc com.example.Order/find --version 1.0.0 --listener calls",
		Args: cobra.MaximumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			var err error
			if question.RPC, err = callOf(rpc, call); err != nil {
				return err
			}
			wanted := 2
			if question.RPC != nil {
				wanted = 0
			}
			if err := cobra.ExactArgs(wanted)(cmd, args); err != nil {
				return err
			}
			if wanted > 0 {
				question.Method, question.URL = args[0], args[1]
			}
			if question.Headers, err = headersOf(fields); err != nil {
				return err
			}
			return runExplain(cmd, path, question, asJSON)
		},
	}
	configFlag(cmd, &path)
	cmd.Flags().StringArrayVarP(&fields, "header", "H", nil, "a field of the request, 'Name: value'; may be repeated")
	cmd.Flags().StringVar(&rpc, "rpc", "", "a remote call, INTERFACE/METHOD, instead of METHOD and URL")
	cmd.Flags().StringVar(&call.Group, "group", "", "the group of the remote call")
	cmd.Flags().StringVar(&call.Version, "version", "", "the version of the remote call")
	cmd.Flags().StringVar(&call.Key, "key", "", "the route key of a call of a private protocol")
	cmd.Flags().StringVar(&question.Listener, "listener", "", "where the request arrives; not needed if there is one listener")
	cmd.Flags().StringVar(&question.Client, "client", "", "IP address of the client (127.0.0.1), or unix")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON, as the admin API does")
	return cmd
}

// callOf is the call that the flags ask about; nil: none of them is given.
func callOf(rpc string, call explain.Call) (*explain.Call, error) {
	if rpc == "" && call == (explain.Call{}) {
		return nil, nil
	}
	var ok bool
	if call.Interface, call.Method, ok = strings.Cut(rpc, "/"); rpc != "" && !ok {
		return nil, fmt.Errorf("rpc %q: want INTERFACE/METHOD", rpc)
	}
	return &call, nil
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
