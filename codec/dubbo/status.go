package dubbo

import "github.com/corelane/corelane/codec"

// Status bytes of responses. 20 says only that there was an answer: it may be an
// exception.
const (
	statusOK                 = 20
	statusSerializationError = 25
	statusClientTimeout      = 30
	statusServerTimeout      = 31
	statusChannelInactive    = 35
	statusBadRequest         = 40
	statusBadResponse        = 50
	statusServiceNotFound    = 60
	statusServiceError       = 70
	statusServerError        = 80
	statusClientError        = 90
	statusExhausted          = 100
)

// outcomes are the HTTP statuses of the bytes, and what an error is called in
// JSON.
var outcomes = map[byte]struct {
	status int
	name   string
}{
	statusSerializationError: {500, "serialization_error"},
	statusClientTimeout:      {504, "client_timeout"},
	statusServerTimeout:      {504, "server_timeout"},
	statusChannelInactive:    {502, "channel_inactive"},
	statusBadRequest:         {400, "bad_request"},
	statusBadResponse:        {502, "bad_response"},
	statusServiceNotFound:    {404, "service_not_found"},
	statusServiceError:       {500, "service_error"},
	statusServerError:        {500, "server_error"},
	statusClientError:        {400, "client_error"},
	statusExhausted:          {503, "server_threadpool_exhausted"},
}

// Result flags, which begin the body of a response with status 20.
const (
	flagException         = 0
	flagValue             = 1
	flagNull              = 2
	withAttachments       = 3 // added to one of the above
	flagZero        uint8 = 0x90
	flagLast              = flagZero + flagNull + withAttachments
)

// resultFlag returns the flag that a body begins with, -1 if there is none: some
// peers send falsy values bare. 0 is such a value too where it stands alone.
func resultFlag(body []byte) int {
	if len(body) == 0 || body[0] < flagZero || body[0] > flagLast {
		return -1
	}
	if body[0] == flagZero && isRest(body[1:]) {
		return -1
	}
	return int(body[0] - flagZero)
}

// isRest says whether b is nothing, or the null that some peers append to every
// message.
func isRest(b []byte) bool { return len(b) == 0 || len(b) == 1 && b[0] == tagNull }

// httpStatus returns the HTTP status of a response.
func httpStatus(status byte, body []byte) int {
	if status == statusOK {
		if flag := resultFlag(body); flag == flagException || flag == flagException+withAttachments {
			return codec.InternalError.Status()
		}
		return 200
	}
	if o, ok := outcomes[status]; ok {
		return o.status
	}
	return codec.InternalError.Status()
}

// statusByte returns the byte for the HTTP status of an answer of a service. With
// own, of an answer of the gateway itself.
func statusByte(status int, own bool) byte {
	switch {
	case status >= 200 && status < 300:
		return statusOK
	case status == 404 || status == 405:
		return statusServiceNotFound
	case status == 429 || status == 503:
		return statusExhausted
	case status >= 400 && status < 500:
		return statusBadRequest
	case status == 502:
		return statusBadResponse
	case status == 504:
		return statusServerTimeout
	case own:
		return statusServerError
	}
	return statusServiceError
}
