package dubbo

// Call is a request, for clients and tests.
type Call struct {
	ID     uint64
	OneWay bool
	// Interface is the path and the interface. Version "" is "0.0.0", Group ""
	// none.
	Interface, Version, Group, Method string
	// Types is the descriptor of the parameters, "Ljava/lang/String;I" (JVMS
	// §4.3.2), with as many types as there are Args.
	Types string
	// Args are values as AppendValue takes them.
	Args []any
	// Attachments are those beside path, interface, version and group.
	Attachments []Entry
}

// dubboVersion is the version of the protocol since when responses may have
// attachments.
const dubboVersion = "2.0.2"

// AppendRequest appends a request. It allocates; any goroutine may call it.
func AppendRequest(dst []byte, c *Call) []byte {
	flags := byte(flagRequest | flagTwoWay)
	if c.OneWay {
		flags = flagRequest
	}
	at := len(dst)
	dst = appendHeader(dst, flags, 0, c.ID, 0)
	dst = appendCall(dst, c)
	setLength(dst, at, len(dst)-at-headerSize)
	return dst
}

// appendCall appends the body of a request.
func appendCall(dst []byte, c *Call) []byte {
	version := c.Version
	if version == "" {
		version = string(noVersion)
	}
	w := writer{out: dst}
	for _, s := range []string{dubboVersion, c.Interface, version, c.Method, c.Types} {
		w.value(s)
	}
	for _, arg := range c.Args {
		w.value(arg)
	}
	m := Map{{keyPath, c.Interface}, {keyInterface, c.Interface}}
	if c.Version != "" {
		m = append(m, Entry{keyVersion, c.Version})
	}
	if c.Group != "" {
		m = append(m, Entry{keyGroup, c.Group})
	}
	w.value(append(m, c.Attachments...))
	return w.out
}

// AppendResult appends a response with a value; with attachments unless they are
// nil, which only clients from version 2.0.2 on understand. It allocates; any
// goroutine may call it.
func AppendResult(dst []byte, id uint64, v any, attachments Map) []byte {
	flag := byte(flagZero + flagValue)
	if v == nil {
		flag = flagZero + flagNull
	}
	return appendResponse(dst, id, flag, v, attachments)
}

// AppendException appends a response with an exception, with attachments as
// AppendResult. It allocates; any goroutine may call it.
func AppendException(dst []byte, id uint64, exception Object, attachments Map) []byte {
	return appendResponse(dst, id, flagZero+flagException, exception, attachments)
}

func appendResponse(dst []byte, id uint64, flag byte, v any, attachments Map) []byte {
	if attachments != nil {
		flag += withAttachments
	}
	at := len(dst)
	w := writer{out: append(appendHeader(dst, 0, statusOK, id, 0), flag)}
	if v != nil {
		w.value(v)
	}
	if attachments != nil {
		w.value(attachments)
	}
	setLength(w.out, at, len(w.out)-at-headerSize)
	return w.out
}

// AppendError appends a response with a status byte other than 20, and a text.
// It allocates; any goroutine may call it.
func AppendError(dst []byte, id uint64, status byte, text string) []byte {
	at := len(dst)
	dst = appendText(appendHeader(dst, 0, status, id, 0), text)
	setLength(dst, at, len(dst)-at-headerSize)
	return dst
}
