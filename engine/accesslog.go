package engine

import (
	"net/netip"
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
	b = appendRFC3339(b, x.w.wall(now))
	b = append(b, `","node":`...)
	b = append(b, x.w.nodeJSON...)
	b = append(b, `,"trace_id":"`...)
	b = append(b, x.TraceID[:]...)
	b = append(b, `","client":"`...)
	b = appendAddr(b, x.Client)
	b = append(b, `","route":`...)
	b = appendJSON(b, []byte(x.routeID()), maxLoggedPath)
	b = append(b, `,"method":`...)
	b = appendJSON(b, x.req.Method(), maxLoggedMethod)
	b = append(b, `,"host":`...)
	b = appendJSON(b, x.req.Authority(), maxLoggedHost)
	b = append(b, `,"path":`...)
	b = appendJSON(b, x.receivedPath(), maxLoggedPath)
	b = append(b, `,"endpoint":`...)
	b = appendJSON(b, []byte(x.Endpoint), maxLoggedHost)
	b = append(b, `,"status":`...)
	b = strconv.AppendInt(b, int64(x.status), 10)
	b = append(b, `,"reason":"`...)
	b = append(b, x.Reason.String()...)
	b = append(b, `","cost_ms":`...)
	b = strconv.AppendFloat(b, float64((now-x.AcceptedAt)/1000)/1000, 'f', 3, 64)
	b = append(b, `,"bytes_in":`...)
	b = strconv.AppendInt(b, x.bytesIn, 10)
	b = append(b, `,"bytes_out":`...)
	b = strconv.AppendInt(b, x.bytesOut, 10)
	b = append(b, `,"tries":`...)
	b = strconv.AppendInt(b, int64(x.tries), 10)
	b = append(b, `,"generation":`...)
	b = strconv.AppendUint(b, x.generation(), 10)
	return append(b, "}\n"...)
}

// receivedPath is the path as the client sent it, without the query: queries
// carry secrets more often than paths do.
func (x *Exchange) receivedPath() []byte {
	t := x.req.Target()
	for i, c := range t {
		if c == '?' {
			return t[:i]
		}
	}
	return t
}

func appendAddr(b []byte, a netip.Addr) []byte {
	if !a.IsValid() {
		return b
	}
	return a.AppendTo(b)
}

const hexDigits = "0123456789abcdef"

// appendJSON appends s, cut to max bytes, as a JSON string. Bytes that are not
// UTF-8 are written as U+FFFD.
func appendJSON(b, s []byte, limit int) []byte {
	if len(s) > limit {
		s = s[:limit]
	}
	b = append(b, '"')
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
	b = appendJSON(b, []byte(message), maxLoggedPath)
	b = append(b, `,"trace_id":"`...)
	b = append(b, traceID...)
	return append(b, "\"}\n"...)
}
