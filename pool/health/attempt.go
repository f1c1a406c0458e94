package health

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"syscall"
	"time"

	"github.com/corelane/corelane/pool"
)

// userAgent tells endpoints who asks.
const userAgent = "corelane-health"

// newAttempt makes the function that probes the target once. The context ends it.
func newAttempt(t Target) func(ctx context.Context) outcome {
	d := &dialer{network: t.Endpoint.Addr().Network(), address: addressOf(t), timeout: t.Check.Timeout}
	if t.Source.IsValid() && d.network == "tcp" {
		d.LocalAddr = &net.TCPAddr{IP: t.Source.AsSlice()}
	}
	if t.Check.Kind == pool.CheckTCP {
		return d.connect
	}
	return newPage(d, t.Check).ask
}

// addressOf is where the target is probed, in the form that net.Dial takes.
func addressOf(t Target) string {
	a := t.Endpoint.Addr()
	if a.Network() == "unix" {
		return strings.TrimPrefix(a.String(), "unix:")
	}
	if t.Check.Port != 0 {
		return netip.AddrPortFrom(a.AddrPort().Addr(), uint16(t.Check.Port)).String()
	}
	return a.String()
}

// dialer opens connections to one address, each for one probe.
type dialer struct {
	net.Dialer
	network, address string
	timeout          time.Duration // of the whole probe, for messages
}

// connect is a TCP probe: a connection is all that is wanted.
func (d *dialer) connect(ctx context.Context) outcome {
	c, err := d.DialContext(ctx, d.network, d.address)
	if err != nil {
		return d.failed(ctx, err)
	}
	c.Close()
	return outcome{Success, "connected"}
}

// failed turns an error into an outcome.
func (d *dialer) failed(ctx context.Context, err error) outcome {
	var op *net.OpError
	dialling := errors.As(err, &op) && op.Op == "dial"
	switch {
	case lacksResources(err):
		return outcome{NotTried, cut(err.Error())}
	case ctx.Err() != nil, errors.Is(err, syscall.ETIMEDOUT):
		return outcome{TimedOut, "no answer within " + d.timeout.String()}
	case dialling:
		return outcome{ConnectFailed, cut(op.Err.Error())}
	}
	return outcome{Broken, cut(err.Error())}
}

// lacksResources says that the fault is this machine's.
func lacksResources(err error) bool {
	for _, e := range []error{syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM, syscall.EADDRNOTAVAIL} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

func cut(s string) string {
	if len(s) > maxReason {
		return strings.ToValidUTF8(s[:maxReason], "") + "…"
	}
	return s
}

// page is an HTTP probe: one request on a connection of its own. Redirects are answers like others.
type page struct {
	dialer    *dialer
	check     *pool.Check
	transport http.Transport
}

func newPage(d *dialer, check *pool.Check) *page {
	return &page{dialer: d, check: check, transport: http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return d.DialContext(ctx, d.network, d.address)
		},
		DisableKeepAlives: true, DisableCompression: true, MaxResponseHeaderBytes: maxHead,
	}}
}

func (p *page) ask(ctx context.Context) outcome {
	request, err := p.request(ctx)
	if err != nil {
		return outcome{Broken, cut(err.Error())}
	}
	response, err := p.transport.RoundTrip(request)
	if err != nil {
		return p.dialer.failed(ctx, err)
	}
	defer response.Body.Close()
	if !p.check.Expect.Has(response.StatusCode) {
		return outcome{WrongStatus, fmt.Sprintf("status %d", response.StatusCode)}
	}
	if p.check.Body == "" {
		return outcome{Success, fmt.Sprintf("status %d", response.StatusCode)}
	}
	found, err := contains(io.LimitReader(response.Body, maxBody), []byte(p.check.Body))
	switch {
	case found:
		return outcome{Success, fmt.Sprintf("status %d and the body", response.StatusCode)}
	case err != nil:
		return p.dialer.failed(ctx, err)
	}
	return outcome{WrongBody, "the body does not contain what is expected"}
}

// contains reads until the text has come, and no further.
func contains(r io.Reader, text []byte) (bool, error) {
	var seen []byte
	piece := make([]byte, 4<<10)
	for {
		n, err := r.Read(piece)
		seen = append(seen, piece[:n]...)
		if bytes.Contains(seen, text) {
			return true, nil
		}
		if err == io.EOF {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		seen = seen[max(0, len(seen)-len(text)):] // it may be cut in two
	}
}

func (p *page) request(ctx context.Context) (*http.Request, error) {
	target, err := url.ParseRequestURI(p.check.Path)
	if err != nil {
		return nil, err
	}
	target.Scheme, target.Host = "http", p.dialer.address
	if p.dialer.network == "unix" {
		target.Host = "localhost"
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http:", nil)
	if err != nil {
		return nil, err
	}
	request.URL, request.Host = target, target.Host
	if p.check.Host != "" {
		request.Host = p.check.Host
	}
	request.Header.Set("User-Agent", userAgent)
	return request, nil
}
