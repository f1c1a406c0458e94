package resp

import (
	"slices"
	"strings"
	"testing"

	"github.com/corelane/corelane/codec"
	"github.com/corelane/corelane/codec/codectest"
)

var (
	requests  = codectest.Kit{Protocol: Protocol{}, Role: codec.Requests, Limits: codec.MessageLimits{Body: 1 << 20}}
	responses = codectest.Kit{Protocol: Protocol{}, Role: codec.Responses, Limits: requests.Limits}
)

const (
	get  = "*2\r\n$3\r\nGET\r\n$1\r\na\r\n"
	ping = "*1\r\n$4\r\nPing\r\n"
)

func TestCommands(t *testing.T) {
	got := requests.Splits(t, []byte(get+ping))
	if got.Err != nil || len(got.Messages) != 2 {
		t.Fatal(got.Err, got.Events)
	}
	for i, want := range []string{"get", "ping"} {
		m := got.Messages[i]
		if string(m.Head.Key()) != want || !m.Done || m.Head.ContentLength() != int64(len(m.Body)) {
			t.Errorf("message %d: %s", i, m)
		}
	}
	if body := string(got.Messages[0].Body); body != get {
		t.Errorf("the body is %q", body)
	}
	requests.Truncated(t, []byte(get+ping))
	if out := requests.RoundTrip(t, []byte(get+ping)); string(out) != get+ping {
		t.Errorf("sent on as %q", out)
	}
	if n := requests.Allocations(t, []byte(get+ping)); n != 0 {
		t.Errorf("%v allocations", n)
	}
	skips := requests
	skips.Skips = true
	if got := skips.Splits(t, []byte(ping)); !slices.Equal(got.Events, []string{"begin 0", `body of 0 up to here: "*1\x0d\x0a$4\x0d\x0aPing\x0d\x0a"`, "end 0"}) {
		t.Error(got.Events)
	}
}

func TestReplies(t *testing.T) {
	nested := strings.Repeat("*1\r\n", maxDepth) + ":1\r\n"
	for _, reply := range []string{
		"+OK\r\n", "-ERR no\r\n", ":-5\r\n", "$-1\r\n", "*-1\r\n", "$0\r\n\r\n", "*0\r\n", "$2\r\n\r\n\r\n",
		"*3\r\n:1\r\n*2\r\n+a\r\n$1\r\nb\r\n$-1\r\n", nested, "*1\r\n*0\r\n",
	} {
		got := responses.Splits(t, []byte(reply+":7\r\n"))
		if got.Err != nil || len(got.Messages) != 2 || string(got.Messages[0].Body) != reply {
			t.Errorf("%q: %v %v", reply, got.Err, got.Events)
		}
		responses.Truncated(t, []byte(reply))
		responses.RoundTrip(t, []byte(reply))
	}
}

func TestErrors(t *testing.T) {
	for wire, err := range map[string]string{
		"GET a\r\n":                 errCommand.Error(),
		"*0\r\n":                    errCommand.Error(),
		"*-1\r\n":                   errCommand.Error(),
		"*1\r\n$-1\r\n":             errCommand.Error(),
		"*1\r\n:1\r\n":              errCommand.Error(),
		"*1\r\n*1\r\n":              errCommand.Error(),
		"*1\r\n$0\r\n\r\n":          errCommand.Error(),
		"*\r\n":                     errNumber.Error(),
		"*-\r\n":                    errNumber.Error(),
		"*-2\r\n":                   errNumber.Error(),
		"*1x":                       errNumber.Error(),
		"*000000000000000000001":    errNumber.Error(),
		"*1\n":                      errEnd.Error(),
		"*1\r\r":                    errEnd.Error(),
		"*1\r\n$1\r\nab\r\n":        errEnd.Error(),
		"*9999999":                  errLarge.Error(),
		"*1048576\r\n":              errLarge.Error(),
		"*1\r\n$9999999999999999\r": errLarge.Error(),
		"*1\r\n$65\r\n" + strings.Repeat("a", 65) + "\r\n": errCommand.Error(),
	} {
		requests.Refuses(t, []byte(wire), err)
	}
	for wire, err := range map[string]*codec.Error{
		"HTTP":                               errType,
		"*1\r\n!":                            errType,
		strings.Repeat("*1\r\n", maxDepth+1): errDeep,
		"+" + strings.Repeat("a", maxLine+1): errLong,
		"*1\r\n$1048576\r\n" + strings.Repeat("a", 10): nil,
	} {
		if got := responses.Decode(t, []byte(wire)); (got.Err == nil) != (err == nil) || err != nil && got.Err.Detail != err.Detail {
			t.Errorf("%.20q: %v, want %v", wire, got.Err, err)
		} else if err != nil && got.Err.Reason != codec.UpstreamBadResponse {
			t.Errorf("%.20q: a service's fault is %v", wire, got.Err)
		}
	}
	small := requests
	small.Limits.Body = len(get) - 1
	small.Refuses(t, []byte(get), errLarge.Error())
	responses.Cheap(t, []byte("*100000\r\n$1000000\r\nab"), 16<<10)
}

func TestFailures(t *testing.T) {
	f := codec.Failure{Status: 404, Reason: codec.RouteNotFound, Message: []byte("no\r\n+OK")}
	if got := string(Protocol{}.AppendFailure(nil, &f)); got != "-ERR route_not_found no  +OK\r\n" {
		t.Errorf("%q", got)
	}
	f.Message = nil
	if got := string(Protocol{}.AppendFailure(nil, &f)); got != "-ERR route_not_found\r\n" {
		t.Errorf("%q", got)
	}
	if got := (Protocol{}).AppendControl(nil, &codec.Control{Kind: codec.GoAway}); got != nil {
		t.Errorf("%q", got)
	}
	if p, ok := codec.Registered("resp"); !ok || p.Traits() != (codec.Traits{}) {
		t.Error("it is not registered")
	}
}

func FuzzDecoder(f *testing.F) {
	for i, s := range []string{get + ping, "*3\r\n:1\r\n*2\r\n+a\r\n$1\r\nb\r\n$-1\r\n", "-ERR no\r\n", "*1\r\n$9\r\n", "GET\r\n"} {
		f.Add([]byte(s), uint16(3*i), uint16(7*i), i%2 == 1)
	}
	f.Fuzz(func(t *testing.T, b []byte, i, j uint16, response bool) {
		kit := requests
		if response {
			kit = responses
		}
		got := kit.Pieces(t, b, i, j)
		for _, m := range got.Messages {
			if !m.Done {
				continue
			}
			out, err := Protocol{}.Neutral(nil, kit.Role, m.Head, m.Body)
			if err != nil {
				continue
			}
			if _, err := (Protocol{}).Native(nil, codec.Responses, m.Head, nil, out); err != nil {
				t.Fatalf("%q became %q: %v", m.Body, out, err)
			}
		}
	})
}
