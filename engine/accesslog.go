package engine

import (
	"strconv"
	"unicode/utf8"

	"github.com/corelane/corelane/codec"
)

// Bounds of what one access record may hold of a request, in bytes.
const (
	maxLoggedPath   = 1024
	maxLoggedHost   = 255
	maxLoggedMethod = 32
)

// logRecord appends the access record of an exchange as one JSON line. Its
// fields are documented in docs/operations.md.
func (x *Exchange) logRecord(b []byte, now int64) []byte {
	b = append(b, `{"timestamp":"`...)
	b = x.w.appendTimestamp(b, x.w.wall(now))
	b = append(b, `","node":`...)
	b = append(b, x.w.nodeJSON...)
	b = append(b, `,"trace_id":"`...)
	b = append(b, x.TraceID[:]...)
	b = append(b, `","client":"`...)
	b = x.appendClient(b)
	b = append(b, `","route":`...)
	b = appendJSON(b, x.routeID(), maxLoggedPath)
	b = append(b, `,"method":`...)
	b = appendJSON(b, x.req.Method(), maxLoggedMethod)
	b = append(b, `,"host":`...)
	b = appendJSON(b, x.req.Authority(), maxLoggedHost)
	b = append(b, `,"path":`...)
	b = appendJSON(b, x.receivedPath(), maxLoggedPath)
	b = x.appendProtocols(b)
	b = append(b, `,"endpoint":`...)
	b = appendJSON(b, x.Endpoint, maxLoggedHost)
	b = append(b, `,"status":`...)
	b = strconv.AppendInt(b, int64(x.status), 10)
	b = append(b, `,"reason":"`...)
	b = append(b, x.Reason.String()...)
	b = append(b, `","cost_ms":`...)
	b = appendMillis(b, now-x.AcceptedAt)
	b = append(b, `,"bytes_in":`...)
	b = strconv.AppendInt(b, x.bytesIn, 10)
	b = append(b, `,"bytes_out":`...)
	b = strconv.AppendInt(b, x.bytesOut, 10)
	b = append(b, `,"tries":`...)
	b = strconv.AppendInt(b, int64(x.tries), 10)
	if x.givenUps > 0 {
		b = append(b, `,"retried":`...)
		b = appendGivenUp(b, x.gaveUp[:x.givenUps])
	}
	if x.calls > 0 {
		b = append(b, `,"calls":`...)
		b = strconv.AppendInt(b, int64(x.calls), 10)
		b = append(b, `,"call_ms":`...)
		b = appendMillis(b, x.callNanos)
	}
	b = append(b, `,"generation":`...)
	b = strconv.AppendUint(b, x.generation(), 10)
	return append(b, "}\n"...)
}

// appendProtocols appends what client and service speak where that is not HTTP on
// both sides.
func (x *Exchange) appendProtocols(b []byte) []byte {
	var client codec.Protocol
	if x.lis != nil {
		client = x.lis.Protocol
	}
	if client != nil {
		b = append(b, `,"protocol":`...)
		b = appendJSON(b, client.Name(), maxLoggedMethod)
	}
	switch {
	case x.svc == nil || x.proto == client:
	case x.proto == nil:
		b = append(b, `,"service_protocol":"http"`...)
	default:
		b = append(b, `,"service_protocol":`...)
		b = appendJSON(b, x.proto.Name(), maxLoggedMethod)
	}
	return b
}

// appendMillis appends nanoseconds as milliseconds with three digits behind the
// point.
func appendMillis(b []byte, nanos int64) []byte {
	micros := max(nanos, 0) / 1000
	b = strconv.AppendInt(b, micros/1000, 10)
	b = append(b, '.')
	return appendPadded(b, int(micros%1000), 3)
}

// appendClient appends the client's address; that of the peer is at hand as
// text.
func (x *Exchange) appendClient(b []byte) []byte {
	switch {
	case !x.Client.IsValid():
		return b
	case x.peerText != nil && x.Client == x.Peer.Addr():
		return append(b, x.peerText...)
	}
	return x.Client.AppendTo(b)
}

// receivedPath is the path as the client sent it, without the query: queries
// carry secrets more often than paths do. Of a call it is /interface/method or the
// key.
func (x *Exchange) receivedPath() []byte {
	t := x.req.Target()
	if x.req.Call() != codec.ByPath {
		return t
	}
	for i, c := range t {
		if c == '?' {
			return t[:i]
		}
	}
	return t
}

const hexDigits = "0123456789abcdef"

// appendJSON appends s, cut to limit bytes, as a JSON string. Bytes that are not
// UTF-8 are written as U+FFFD.
func appendJSON[T ~string | ~[]byte](b []byte, s T, limit int) []byte {
	if len(s) > limit {
		s = s[:limit]
	}
	b = append(b, '"')
	for i := 0; i < len(s); i++ {
		if !plainJSON[s[i]] {
			return appendEscaped(append(b, s[:i]...), []byte(s[i:]))
		}
	}
	return append(append(b, s...), '"')
}

// plainJSON are the bytes that stand for themselves in a JSON string.
var plainJSON = func() (plain [256]bool) {
	for c := 0x20; c < 0x7f; c++ {
		plain[c] = c != '"' && c != '\\'
	}
	return plain
}()

// appendEscaped appends the rest of a string that needs a second look, and the
// quote behind it.
func appendEscaped(b, s []byte) []byte {
	for i := 0; i < len(s); {
		c := s[i]
		switch {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c < 0x20 || c == 0x7f:
			b = append(b, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		case c < utf8.RuneSelf:
			b = append(b, c)
		default:
			r, n := utf8.DecodeRune(s[i:])
			b = utf8.AppendRune(b, r)
			i += n
			continue
		}
		i++
	}
	return append(b, '"')
}

// appendTimestamp is appendRFC3339 with the second made once.
func (w *worker) appendTimestamp(b []byte, wall int64) []byte {
	if sec := wall / 1e9; sec != w.stampSec || w.stamp == nil {
		w.stampSec = sec
		w.stamp = appendRFC3339(w.stamp[:0], sec*1e9)
	}
	b = append(b, w.stamp[:len(w.stamp)-len("000Z")]...)
	return append(appendPadded(b, int(wall/1e6%1000), 3), 'Z')
}

// appendRFC3339 appends unix nanoseconds as UTC with milliseconds.
func appendRFC3339(b []byte, wall int64) []byte {
	days, rest := wall/86400e9, wall%86400e9
	y, m, d := civil(days)
	b = appendPadded(b, y, 4)
	b = append(b, '-')
	b = appendPadded(b, m, 2)
	b = append(b, '-')
	b = appendPadded(b, d, 2)
	b = append(b, 'T')
	b = appendPadded(b, int(rest/3600e9), 2)
	b = append(b, ':')
	b = appendPadded(b, int(rest/60e9%60), 2)
	b = append(b, ':')
	b = appendPadded(b, int(rest/1e9%60), 2)
	b = append(b, '.')
	b = appendPadded(b, int(rest/1e6%1000), 3)
	return append(b, 'Z')
}

// civil turns days since 1970 into a date of the Gregorian calendar (Howard
// Hinnant, "chrono-compatible low-level date algorithms", days_from_civil
// inverted). It saves building a time.Time for each record.
func civil(days int64) (year, month, day int) {
	z := days + 719468
	era := z / 146097
	doe := z - era*146097
	yoe := (doe - doe/1460 + doe/36524 - doe/146096) / 365
	doy := doe - (365*yoe + yoe/4 - yoe/100)
	mp := (5*doy + 2) / 153
	day = int(doy - (153*mp+2)/5 + 1)
	month = int(mp + 3)
	if month > 12 {
		month -= 12
	}
	year = int(yoe + era*400)
	if month <= 2 {
		year++
	}
	return year, month, day
}

func appendPadded(b []byte, v, width int) []byte {
	for p := pow10[width-1]; p > 0; p /= 10 {
		b = append(b, byte('0'+v/p%10))
	}
	return b
}

var pow10 = [...]int{1, 10, 100, 1000}

// appendError appends the body of a local answer.
func appendError(b []byte, reason codec.Reason, message string, traceID []byte) []byte {
	b = append(b, `{"error":"`...)
	b = append(b, reason.String()...)
	b = append(b, `","message":`...)
	b = appendJSON(b, message, maxLoggedPath)
	b = append(b, `,"trace_id":"`...)
	b = append(b, traceID...)
	return append(b, "\"}\n"...)
}
