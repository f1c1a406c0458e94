package explain

import (
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"

	"github.com/corelane/corelane/codec"
	"github.com/corelane/corelane/codec/http1"
	"github.com/corelane/corelane/engine"
	"github.com/corelane/corelane/engine/snapshot"
)

// Request is what is asked about.
type Request struct {
	// Method is compared with case; empty is GET.
	Method string `json:"method"`
	// URL is absolute: http or https, host, path and query as a client sends them.
	URL string `json:"url"`
	// RPC is asked about instead of a method and a URL; the field Host is then the
	// authority of the call.
	RPC *Call `json:"rpc"`
	// Headers are the fields besides Host, which follows from the URL unless it
	// is given here.
	Headers map[string][]string `json:"headers"`
	// Client is the IP address at the other end of the connection; empty is
	// 127.0.0.1, and "unix" a client on a unix socket, which has none.
	Client string `json:"client"`
	// Listener is where the request arrives; not needed where there is one.
	Listener string `json:"listener"`
}

// loopback is the client of a request that names none.
var loopback = netip.AddrFrom4([4]byte{127, 0, 0, 1})

// onUnix stands for a client without an address.
const onUnix = "unix"

func clientText(a netip.Addr) string {
	if !a.IsValid() {
		return onUnix
	}
	return a.String()
}

// parsed is a request in the form that the engine receives it.
type parsed struct {
	listener *snapshot.Listener
	peer     netip.Addr
	scheme   string
	method   string
	target   string
	host     string
	text     []byte
	call     *Call
	head     *codec.Head // of a call
}

// parse says what is wrong with a question. What is wrong with the request in
// it is the answer's affair.
func (r *Request) parse(s *snapshot.Snapshot) (*parsed, error) {
	p := &parsed{method: r.Method, peer: loopback}
	var err error
	if p.listener, err = listenerOf(s, r.Listener); err != nil {
		return nil, err
	}
	switch r.Client {
	case "":
	case onUnix:
		p.peer = netip.Addr{}
	default:
		if p.peer, err = netip.ParseAddr(r.Client); err != nil || p.peer.Zone() != "" {
			return nil, fmt.Errorf("client: %q is not an IP address", r.Client)
		}
		p.peer = p.peer.Unmap()
	}
	if r.RPC != nil {
		return p, p.parseCall(r)
	}
	if p.method == "" {
		p.method = "GET"
	}
	if !codec.IsToken([]byte(p.method)) {
		return nil, fmt.Errorf("method: %q is not a method", r.Method)
	}
	if err := p.split(r.URL); err != nil {
		return nil, fmt.Errorf("url: %w", err)
	}
	return p, p.write(r.Headers)
}

// listenerOf returns the listener of that name, or the only one.
func listenerOf(s *snapshot.Snapshot, name string) (*snapshot.Listener, error) {
	names := slices.Sorted(maps.Keys(s.Listeners))
	names = slices.DeleteFunc(names, func(n string) bool { return s.Listeners[n].Passage != nil })
	if name == "" && len(names) == 1 {
		name = names[0]
	}
	if l := s.Listeners[name]; l != nil {
		if l.Passage != nil {
			return nil, fmt.Errorf("listener: %s passes connections through unread and has no requests", name)
		}
		return l, nil
	}
	if name == "" {
		return nil, fmt.Errorf("listener: name one of %s", strings.Join(names, ", "))
	}
	return nil, fmt.Errorf("listener: there is no %q, only %s", name, strings.Join(names, ", "))
}

// split takes a URL apart without changing a byte of it.
func (p *parsed) split(url string) error {
	for i := range len(url) {
		if url[i] <= ' ' || url[i] == 0x7f {
			return errors.New("white space and control characters must be escaped")
		}
	}
	scheme, rest, ok := strings.Cut(url, "://")
	p.scheme = strings.ToLower(scheme)
	if !ok || p.scheme != "http" && p.scheme != "https" {
		return errors.New("want http://host/path")
	}
	end := strings.IndexAny(rest, "/?#")
	if end < 0 {
		end = len(rest)
	}
	p.host, p.target = rest[:end], rest[end:]
	switch {
	case p.host == "":
		return errors.New("there is no host")
	case strings.Contains(p.host, "@"):
		return errors.New("user information is not part of a request")
	case strings.Contains(p.target, "#"):
		return errors.New("a fragment is not part of a request")
	case p.target == "" && p.method == "OPTIONS":
		p.target = "*" // RFC 9112 §3.2.4
	case p.target == "" || p.target[0] == '?':
		p.target = "/" + p.target
	}
	return nil
}

// shownHost is the host without the user information that a Host field may wrongly have.
func (p *parsed) shownHost() string {
	if i := strings.LastIndexByte(p.host, '@'); i >= 0 {
		return redacted + p.host[i:]
	}
	return p.host
}

// path is the target without its query.
func (p *parsed) path() string {
	if p.head != nil {
		return p.target // of a call, which has no query
	}
	path, _, _ := strings.Cut(p.target, "?")
	return path
}

// write makes the bytes that a client would send.
func (p *parsed) write(headers map[string][]string) error {
	b := fmt.Appendf(nil, "%s %s HTTP/1.1\r\n", p.method, p.target)
	var fields []byte
	named := false
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		if !codec.IsToken([]byte(name)) {
			return fmt.Errorf("headers: %q is not a name", name)
		}
		isHost := strings.EqualFold(name, "Host")
		named = named || isHost
		for _, value := range headers[name] {
			if isHost {
				p.host = value
			}
			if strings.ContainsAny(value, "\r\n\x00") {
				return fmt.Errorf("headers: the value of %s has more than one line", name)
			}
			fields = fmt.Appendf(fields, "%s: %s\r\n", name, value)
		}
	}
	if !named {
		b = fmt.Appendf(b, "Host: %s\r\n", p.host)
	}
	p.text = append(append(b, fields...), "\r\n"...)
	return nil
}

// decode reads the request with the limits of its listener.
func (p *parsed) decode() (*codec.Head, error) {
	if p.head != nil {
		return p.head, nil
	}
	l, line := p.listener, p.listener.RequestLine
	if l.Protocol != nil {
		line = 0 // its requests have no such line
	}
	h, d := new(codec.Head), http1.Decoder{}
	h.Reset()
	_, done, err := d.Request(h, p.text, &http1.Limits{RequestLine: line, Headers: l.Headers, HeaderCount: l.HeaderCount})
	if err == nil && !done {
		err = errors.New("the request is not whole")
	}
	return h, err
}

// arrive is the request at the door; a status says that it was answered there.
func (p *parsed) arrive() (*codec.Head, engine.Arrival) {
	h, err := p.decode()
	if err != nil {
		return h, engine.Refusal(err)
	}
	return h, engine.Arrive(h, p.listener, p.peer, p.scheme)
}
