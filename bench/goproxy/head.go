package main

import (
	"net"
	"strconv"
	"time"

	"github.com/cloudwego/netpoll"

	"github.com/corelane/corelane/bench/message"
)

// hopByHop are the fields that end at a proxy (RFC 9110 §7.6.1).
var hopByHop = []string{"Connection", "Keep-Alive", "Proxy-Connection", "TE", "Upgrade"}

func dropped(name []byte) bool {
	for _, hop := range hopByHop {
		if message.Is(name, hop) {
			return true
		}
	}
	return false
}

// writeRequest re-serialises a request head with what a proxy adds.
func writeRequest(w netpoll.Writer, head []byte, client net.Addr) error {
	first, fields := message.Lines(head)
	forwarded, host := []byte(nil), []byte(nil)
	b := newHead(w, len(head)+256)
	b.line(first)
	for name, value := range fields {
		switch {
		case dropped(name), message.Is(name, "X-Forwarded-Proto"), message.Is(name, "X-Forwarded-Host"):
			continue
		case message.Is(name, "X-Forwarded-For"):
			forwarded = value
			continue
		case message.Is(name, "Host"):
			host = value
		}
		b.field(string(name), value)
	}
	from := []byte(clientIP(client))
	if forwarded != nil {
		from = append(append(append([]byte(nil), forwarded...), ", "...), from...)
	}
	b.field("X-Forwarded-For", from)
	b.field("X-Forwarded-Proto", []byte("http"))
	b.field("X-Forwarded-Host", host)
	return b.end()
}

// writeResponse re-serialises a response head.
func writeResponse(w netpoll.Writer, head []byte) error {
	first, fields := message.Lines(head)
	b := newHead(w, len(head)+2)
	b.line(first)
	for name, value := range fields {
		if !dropped(name) {
			b.field(string(name), value)
		}
	}
	return b.end()
}

func clientIP(a net.Addr) string {
	host, _, err := net.SplitHostPort(a.String())
	if err != nil {
		return a.String()
	}
	return host
}

// headWriter assembles a head in the connection's own output buffer.
type headWriter struct {
	w   netpoll.Writer
	buf []byte
	max int
	err error
}

func newHead(w netpoll.Writer, size int) *headWriter {
	buf, err := w.Malloc(size)
	return &headWriter{w: w, buf: buf[:0], max: size, err: err}
}

func (h *headWriter) line(b []byte) {
	h.buf = append(append(h.buf, b...), "\r\n"...)
}

func (h *headWriter) field(name string, value []byte) {
	h.buf = append(append(h.buf, name...), ": "...)
	h.line(value)
}

// end hands the head over: in place if it fits what was reserved, else copied.
func (h *headWriter) end() error {
	h.line(nil)
	if h.err != nil {
		return h.err
	}
	if len(h.buf) <= h.max {
		return h.w.MallocAck(len(h.buf))
	}
	if err := h.w.MallocAck(0); err != nil {
		return err
	}
	_, err := h.w.WriteBinary(h.buf)
	return err
}

// appendRecord appends an access log line: time, client, request line, bytes, cost.
func appendRecord(dst []byte, now time.Time, cost time.Duration, client net.Addr, first []byte, bytes int) []byte {
	dst = append(dst, `{"time":"`...)
	dst = now.AppendFormat(dst, time.RFC3339Nano)
	dst = append(dst, `","client":"`...)
	dst = append(dst, clientIP(client)...)
	dst = append(dst, `","request":`...)
	dst = strconv.AppendQuote(dst, string(first))
	dst = append(dst, `,"bytes":`...)
	dst = strconv.AppendInt(dst, int64(bytes), 10)
	dst = append(dst, `,"ms":`...)
	dst = strconv.AppendFloat(dst, float64(cost.Microseconds())/1000, 'f', 3, 64)
	return append(dst, "}\n"...)
}
