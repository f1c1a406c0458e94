package codec

// Method is a request method by number (RFC 9110 §9, PATCH: RFC 5789).
type Method uint8

// The methods the gateway knows. Every other token is MethodOther and is
// forwarded as it was received.
const (
	MethodOther Method = iota
	GET
	HEAD
	POST
	PUT
	DELETE
	CONNECT
	OPTIONS
	TRACE
	PATCH

	methodCount
)

var methodNames = [methodCount]string{
	MethodOther: "OTHER",
	GET:         "GET",
	HEAD:        "HEAD",
	POST:        "POST",
	PUT:         "PUT",
	DELETE:      "DELETE",
	CONNECT:     "CONNECT",
	OPTIONS:     "OPTIONS",
	TRACE:       "TRACE",
	PATCH:       "PATCH",
}

// ParseMethod returns the number of a method. Methods are case-sensitive (RFC
// 9110 §9.1): "get" is MethodOther.
func ParseMethod(b []byte) Method {
	switch string(b) {
	case "GET":
		return GET
	case "HEAD":
		return HEAD
	case "POST":
		return POST
	case "PUT":
		return PUT
	case "DELETE":
		return DELETE
	case "CONNECT":
		return CONNECT
	case "OPTIONS":
		return OPTIONS
	case "TRACE":
		return TRACE
	case "PATCH":
		return PATCH
	}
	return MethodOther
}

// String returns the method's token, "OTHER" for MethodOther.
func (m Method) String() string {
	if m >= methodCount {
		return methodNames[MethodOther]
	}
	return methodNames[m]
}

// Safe says that the method asks for no change (RFC 9110 §9.2.1).
func (m Method) Safe() bool {
	return m == GET || m == HEAD || m == OPTIONS || m == TRACE
}

// Idempotent says that sending the request twice has the effect of sending it
// once (RFC 9110 §9.2.2), so that it may be repeated on another connection.
// An unknown method is not idempotent.
func (m Method) Idempotent() bool {
	return m.Safe() || m == PUT || m == DELETE
}
