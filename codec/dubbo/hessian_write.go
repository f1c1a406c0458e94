package dubbo

import (
	"encoding/binary"
	"math"
	"strings"
	"time"
)

// Values of Hessian in Go. Beside these: nil, bool, int32 and int (an int of
// Java), int64 (a long), float64, string, []byte, time.Time, and []any for a list
// without a type.
type (
	// Map is a map without a type, in its order.
	Map []Entry
	// Entry is a member of a Map or a field of an Object.
	Entry struct {
		Key   string
		Value any
	}
	// Array is a list with a type, such as "[string" for String[].
	Array struct {
		Type  string
		Items []any
	}
	// Object is an object of a class.
	Object struct {
		Class  string
		Fields []Entry
	}
)

// AppendValue appends v as Hessian 2, with its class definitions. What has no
// counterpart becomes null. It allocates; any goroutine may call it.
func AppendValue(dst []byte, v any) []byte {
	w := writer{out: dst}
	w.value(v)
	return w.out
}

// writer appends the values of one body, which share their definitions.
type writer struct {
	out     []byte
	classes map[string]int
	// objects makes a Map with a "class" the object that it describes.
	objects bool
}

func (w *writer) value(v any) {
	switch v := v.(type) {
	case bool:
		tag := byte(tagFalse)
		if v {
			tag = tagTrue
		}
		w.out = append(w.out, tag)
	case int:
		w.out = appendInteger(w.out, int32(v))
	case int32:
		w.out = appendInteger(w.out, v)
	case int64:
		w.out = appendLong(w.out, v, tagLong)
	case float64:
		w.out = appendDouble(w.out, v)
	case string:
		w.out = appendText(w.out, v)
	case []byte:
		w.out = appendBinary(w.out, v)
	case time.Time:
		w.out = binary.BigEndian.AppendUint64(append(w.out, tagDate), uint64(v.UnixMilli()))
	case []any:
		w.list("", v)
	case Array:
		w.list(v.Type, v.Items)
	case Map:
		w.mapping(v)
	case Object:
		w.object(v)
	default:
		w.out = append(w.out, tagNull)
	}
}

func (w *writer) list(typ string, items []any) {
	short, long := byte(0x78), byte(tagList)
	if typ != "" {
		short, long = 0x70, tagTyped
	}
	small := len(items) < 8
	if small {
		w.out = append(w.out, short|byte(len(items)))
	} else {
		w.out = append(w.out, long)
	}
	if typ != "" {
		w.out = appendText(w.out, typ)
	}
	if !small {
		w.out = appendInteger(w.out, int32(len(items)))
	}
	for _, item := range items {
		w.value(item)
	}
}

func (w *writer) mapping(m Map) {
	if w.objects {
		if class := m.class(); class != "" {
			o := Object{Class: class}
			for _, e := range m {
				if e.Key != keyClass {
					o.Fields = append(o.Fields, e)
				}
			}
			w.object(o)
			return
		}
	}
	w.out = append(w.out, tagMap)
	for _, e := range m {
		w.out = appendText(w.out, e.Key)
		w.value(e.Value)
	}
	w.out = append(w.out, tagEnd)
}

// keyClass is the member of a JSON object that names the class it stands for.
const keyClass = "class"

// class returns the class that a map stands for, "" if none.
func (m Map) class() string {
	for _, e := range m {
		if e.Key == keyClass {
			name, _ := e.Value.(string)
			return name
		}
	}
	return ""
}

func (w *writer) object(o Object) {
	var key strings.Builder
	key.WriteString(o.Class)
	for _, f := range o.Fields {
		key.WriteByte(0)
		key.WriteString(f.Key)
	}
	class, known := w.classes[key.String()]
	if !known {
		if w.classes == nil {
			w.classes = make(map[string]int)
		}
		class = len(w.classes)
		w.classes[key.String()] = class
		w.out = appendText(append(w.out, tagClass), o.Class)
		w.out = appendInteger(w.out, int32(len(o.Fields)))
		for _, f := range o.Fields {
			w.out = appendText(w.out, f.Key)
		}
	}
	if class < 16 {
		w.out = append(w.out, 0x60|byte(class))
	} else {
		w.out = appendInteger(append(w.out, tagObject), int32(class))
	}
	for _, f := range o.Fields {
		w.value(f.Value)
	}
}

func appendInteger(dst []byte, n int32) []byte {
	switch {
	case n >= -0x10 && n <= 0x2f:
		return append(dst, byte(n+0x90))
	case n >= -0x800 && n <= 0x7ff:
		return append(dst, byte(n>>8+0xc8), byte(n))
	case n >= -0x40000 && n <= 0x3ffff:
		return append(dst, byte(n>>16+0xd4), byte(n>>8), byte(n))
	}
	return binary.BigEndian.AppendUint32(append(dst, tagInt), uint32(n))
}

// appendLong appends a number as the type that like is the tag of: an int, if it
// is one and the number fits, otherwise a long.
func appendLong(dst []byte, n int64, like byte) []byte {
	isInt := like >= 0x80 && like <= 0xd7 || like == tagInt
	switch {
	case isInt && n == int64(int32(n)):
		return appendInteger(dst, int32(n))
	case n >= -8 && n <= 15:
		return append(dst, byte(n+0xe0))
	case n >= -0x800 && n <= 0x7ff:
		return append(dst, byte(n>>8+0xf8), byte(n))
	case n >= -0x40000 && n <= 0x3ffff:
		return append(dst, byte(n>>16+0x3c), byte(n>>8), byte(n))
	case n == int64(int32(n)):
		return binary.BigEndian.AppendUint32(append(dst, tagLongInt), uint32(n))
	}
	return binary.BigEndian.AppendUint64(append(dst, tagLong), uint64(n))
}

func appendDouble(dst []byte, v float64) []byte {
	n := int32(0)
	if math.Abs(v) < 1<<31 {
		n = int32(v)
	}
	whole := float64(n) == v && (n != 0 || !math.Signbit(v))
	switch {
	case whole && n == 0:
		return append(dst, tagDoubleZero)
	case whole && n == 1:
		return append(dst, tagDoubleOne)
	case whole && n >= -0x80 && n <= 0x7f:
		return append(dst, tagDoubleByte, byte(n))
	case whole && n >= -0x8000 && n <= 0x7fff:
		return append(dst, tagDoubleShort, byte(n>>8), byte(n))
	}
	if m := v * 1000; math.Abs(m) < 1<<31 && 0.001*float64(int32(m)) == v && !isNegativeZero(v) {
		return binary.BigEndian.AppendUint32(append(dst, tagDoubleMilli), uint32(int32(m)))
	}
	return binary.BigEndian.AppendUint64(append(dst, tagDouble), math.Float64bits(v))
}

func isNegativeZero(v float64) bool { return v == 0 && math.Signbit(v) }

func appendBinary(dst, b []byte) []byte {
	for len(b) > maxChunk {
		dst = append(dst, tagBinaryPart, maxChunk>>8, maxChunk&0xff)
		dst = append(dst, b[:maxChunk]...)
		b = b[maxChunk:]
	}
	switch n := len(b); {
	case n < 0x10:
		dst = append(dst, 0x20|byte(n))
	case n < 0x400:
		dst = append(dst, 0x34|byte(n>>8), byte(n))
	default:
		dst = append(dst, tagBinary, byte(n>>8), byte(n))
	}
	return append(dst, b...)
}
