package http1

// Limits of what is accepted, apart from those a listener sets.
const (
	// maxLine, maxHeaders and maxFields hold where Limits says nothing, and
	// bound what it says.
	maxLine    = 1 << 20
	maxHeaders = 1 << 20
	maxFields  = 10000

	// maxMethod is far over the longest registered method (17 bytes).
	maxMethod = 32
	// maxEmptyLines before a request line are skipped (RFC 9112 §2.2).
	maxEmptyLines = 4
	// maxOptions in all Connection fields, since each can cost a scan.
	maxOptions = 64
	// maxLengthDigits keep a Content-Length inside int64.
	maxLengthDigits = 18
	// maxPort is the largest port of an authority.
	maxPort = 65535

	// maxSizeDigits keep a chunk size inside int64.
	maxSizeDigits = 15
	// maxExtension is the most bytes of extensions on one chunk-size line.
	maxExtension = 1 << 10
	// maxOverhead bounds the bytes that are not data in a chunked body: beyond
	// overheadPerChunk for a chunk and as many as its data, they add up to no
	// more than this.
	maxOverhead      = 16 << 10
	overheadPerChunk = 16
	// Limits of a trailer section.
	maxTrailerBytes  = 8 << 10
	maxTrailerFields = 64

	// bufferStep is how many bytes are buffered at once when a head arrives in
	// pieces: it bounds how much of the body behind it is copied in vain.
	bufferStep = 2 << 10
)

// Limits bounds a message head. 0, or a nil *Limits, means no limit of the
// listener's; the hard caps of 1 MiB, 1 MiB and 10000 hold always.
type Limits struct {
	RequestLine int // bytes of the first line, its line end included
	Headers     int // bytes of all field lines, their line ends included
	HeaderCount int // number of fields
}

func (l *Limits) line() int {
	if l == nil {
		return maxLine
	}
	return capped(l.RequestLine, maxLine)
}

func (l *Limits) headers() int {
	if l == nil {
		return maxHeaders
	}
	return capped(l.Headers, maxHeaders)
}

func (l *Limits) count() int {
	if l == nil {
		return maxFields
	}
	return capped(l.HeaderCount, maxFields)
}

func capped(n, most int) int {
	if n <= 0 || n > most {
		return most
	}
	return n
}
