package dubbo

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"strings"
	"time"
)

// parseJSON reads one JSON text into the values that a writer takes; numbers stay
// json.Number. The error is a fault.
func parseJSON(b []byte) (any, *fault) {
	p := jsonParser{dec: json.NewDecoder(bytes.NewReader(b))}
	p.dec.UseNumber()
	v, f := p.value(1)
	if f != nil {
		return nil, f
	}
	if _, err := p.dec.Token(); !errors.Is(err, io.EOF) {
		return nil, faultJSON
	}
	return v, nil
}

type jsonParser struct {
	dec   *json.Decoder
	count int
}

func (p *jsonParser) value(depth int) (any, *fault) {
	token, err := p.dec.Token()
	if err != nil {
		return nil, faultJSON
	}
	if p.count++; p.count > maxValues {
		return nil, faultTooMany
	}
	delim, nested := token.(json.Delim)
	if !nested {
		return token, nil
	}
	if depth >= maxDepth {
		return nil, faultDepth
	}
	if delim == '[' {
		return p.list(depth + 1)
	}
	return p.members(depth + 1)
}

func (p *jsonParser) list(depth int) (any, *fault) {
	items := []any{}
	for p.dec.More() {
		v, f := p.value(depth)
		if f != nil {
			return nil, f
		}
		items = append(items, v)
	}
	return items, p.end()
}

func (p *jsonParser) members(depth int) (any, *fault) {
	m := Map{}
	for p.dec.More() {
		token, err := p.dec.Token()
		if err != nil {
			return nil, faultJSON
		}
		v, f := p.value(depth)
		if f != nil {
			return nil, f
		}
		m = append(m, Entry{token.(string), v})
	}
	return m, p.end()
}

// end takes the bracket that ends a list or an object.
func (p *jsonParser) end() *fault {
	if _, err := p.dec.Token(); err != nil {
		return faultJSON
	}
	return nil
}

// plainValue gives the numbers of a JSON value the types of Java that they fit.
func plainValue(v any) (any, *fault) {
	var f *fault
	switch v := v.(type) {
	case json.Number:
		return number(v)
	case []any:
		for i := range v {
			if v[i], f = plainValue(v[i]); f != nil {
				return nil, f
			}
		}
	case Map:
		for i := range v {
			if v[i].Value, f = plainValue(v[i].Value); f != nil {
				return nil, f
			}
		}
	}
	return v, nil
}

// number is an int if it is whole and fits, then a long, otherwise a double.
func number(n json.Number) (any, *fault) {
	if strings.ContainsAny(string(n), ".eE") {
		v, err := n.Float64()
		if err != nil {
			return nil, faultNumber
		}
		return v, nil
	}
	v, err := n.Int64()
	switch {
	case err != nil:
		return nil, faultNumber
	case v == int64(int32(v)):
		return int32(v), nil
	}
	return v, nil
}

// typedValue makes a JSON value one of a type of Java. Types that it does not
// know take what the value is.
func typedValue(typ string, v any) (any, *fault) {
	if v == nil {
		if primitive(typ) {
			return nil, faultArgument
		}
		return nil, nil
	}
	switch typ {
	case "byte", "java.lang.Byte":
		return whole(v, 8)
	case "short", "java.lang.Short":
		return whole(v, 16)
	case "int", "java.lang.Integer":
		return whole(v, 32)
	case "long", "java.lang.Long":
		return whole(v, 64)
	case "float", "double", "java.lang.Float", "java.lang.Double":
		if n, ok := v.(json.Number); ok {
			if d, err := n.Float64(); err == nil {
				return d, nil
			}
		}
		return nil, faultArgument
	case "boolean", "java.lang.Boolean":
		return fits[bool](v)
	case "char", "java.lang.Character", "java.lang.String":
		return fits[string](v)
	case "byte[]", "[B":
		text, _ := v.(string)
		b, err := base64.StdEncoding.DecodeString(text)
		if err != nil || text == "" && v != "" {
			return nil, faultArgument
		}
		return b, nil
	case "java.util.Date":
		text, _ := v.(string)
		t, err := time.Parse(time.RFC3339Nano, text)
		if err != nil {
			return nil, faultArgument
		}
		return t, nil
	}
	return plainValue(v)
}

func fits[T any](v any) (any, *fault) {
	if _, ok := v.(T); !ok {
		return nil, faultArgument
	}
	return v, nil
}

// whole reads a number of that many bits, or digits in a string: JavaScript has
// no number for most longs.
func whole(v any, bits int) (any, *fault) {
	text := ""
	switch v := v.(type) {
	case json.Number:
		text = string(v)
	case string:
		text = v
	}
	n, err := strconv.ParseInt(text, 10, bits)
	if err != nil {
		return nil, faultArgument
	}
	if bits == 64 {
		return n, nil
	}
	return int32(n), nil
}

func primitive(typ string) bool {
	switch typ {
	case "byte", "short", "int", "long", "float", "double", "boolean", "char":
		return true
	}
	return false
}

// typeOf is the type of Java that a value has by itself.
func typeOf(v any) string {
	switch v := v.(type) {
	case string:
		return "java.lang.String"
	case bool:
		return "boolean"
	case int32:
		return "int"
	case int64:
		return "long"
	case float64:
		return "double"
	case []any:
		return "java.util.List"
	case Map:
		if class := v.class(); class != "" {
			return class
		}
		return "java.util.Map"
	}
	return "java.lang.Object"
}
