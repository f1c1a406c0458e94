package codec

// Status returns the status code, 0 in a request.
func (h *Head) Status() int { return h.status }

// SetStatus changes the status code and the reason phrase with it. A code
// outside 100 to 999 becomes 500.
func (h *Head) SetStatus(code int) {
	if code < 100 || code > maxStatus {
		code = InternalError.Status()
	}
	h.status, h.lineLength = code, 0
	h.reason = h.put([]byte(StatusText(code)))
}

// ReasonPhrase returns the reason phrase as received, or the standard one
// after SetStatus. It may be empty.
func (h *Head) ReasonPhrase() []byte { return h.reason.In(h.buf) }

// StatusText returns the standard reason phrase (RFC 9110 §15), empty if there
// is none. Any goroutine may call it.
func StatusText(code int) string {
	if code < 0 || code >= len(statusTexts) {
		return ""
	}
	return statusTexts[code]
}

var statusTexts = [512]string{
	100: "Continue",
	101: "Switching Protocols",
	102: "Processing",
	103: "Early Hints",
	200: "OK",
	201: "Created",
	202: "Accepted",
	203: "Non-Authoritative Information",
	204: "No Content",
	205: "Reset Content",
	206: "Partial Content",
	207: "Multi-Status",
	208: "Already Reported",
	226: "IM Used",
	300: "Multiple Choices",
	301: "Moved Permanently",
	302: "Found",
	303: "See Other",
	304: "Not Modified",
	305: "Use Proxy",
	307: "Temporary Redirect",
	308: "Permanent Redirect",
	400: "Bad Request",
	401: "Unauthorized",
	402: "Payment Required",
	403: "Forbidden",
	404: "Not Found",
	405: "Method Not Allowed",
	406: "Not Acceptable",
	407: "Proxy Authentication Required",
	408: "Request Timeout",
	409: "Conflict",
	410: "Gone",
	411: "Length Required",
	412: "Precondition Failed",
	413: "Content Too Large",
	414: "URI Too Long",
	415: "Unsupported Media Type",
	416: "Range Not Satisfiable",
	417: "Expectation Failed",
	421: "Misdirected Request",
	422: "Unprocessable Content",
	423: "Locked",
	424: "Failed Dependency",
	425: "Too Early",
	426: "Upgrade Required",
	428: "Precondition Required",
	429: "Too Many Requests",
	431: "Request Header Fields Too Large",
	451: "Unavailable For Legal Reasons",
	500: "Internal Server Error",
	501: "Not Implemented",
	502: "Bad Gateway",
	503: "Service Unavailable",
	504: "Gateway Timeout",
	505: "HTTP Version Not Supported",
	506: "Variant Also Negotiates",
	507: "Insufficient Storage",
	508: "Loop Detected",
	511: "Network Authentication Required",
}
