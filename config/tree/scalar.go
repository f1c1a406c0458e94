package tree

import (
	"encoding"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"
)

// scalar decodes a single value. Numbers and truth values may stand where text
// is wanted, as written; text never stands for a number.
func (d *Decoder) scalar(n *Node, at *Path, v reflect.Value) {
	if !n.Scalar() {
		d.Report(n.Pos, at, "expected "+wanted(v.Type())+", found "+n.Kind.String())
		return
	}
	if err := setScalar(n, v); err != nil {
		message := err.Error()
		if errors.Is(err, errKind) {
			message = "expected " + wanted(v.Type()) + ", found " + n.Show()
		}
		d.Report(n.Pos, at, message)
	}
}

// errKind stands for a value of the wrong kind; the caller words it.
var errKind = errors.New("wrong kind")

func setScalar(n *Node, v reflect.Value) error {
	if v.Type() == durationType {
		t, err := ParseDuration(n.Text)
		if err != nil {
			return fmt.Errorf("%s is no duration: %w", n.Show(), err)
		}
		v.SetInt(int64(t))
		return nil
	}
	if v.CanAddr() {
		if u, ok := v.Addr().Interface().(encoding.TextUnmarshaler); ok {
			if err := u.UnmarshalText([]byte(n.Text)); err != nil {
				return fmt.Errorf("%s: %w", n.Show(), err)
			}
			return nil
		}
	}
	return setBasic(n, v)
}

func setBasic(n *Node, v reflect.Value) error {
	switch v.Kind() {
	case reflect.String:
		v.SetString(n.Text)
		return nil
	case reflect.Bool:
		if n.Kind != Bool {
			return errKind
		}
		v.SetBool(strings.EqualFold(n.Text, "true"))
		return nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return setInt(n, v)
	case reflect.Float32, reflect.Float64:
		x, err := strconv.ParseFloat(n.Text, 64)
		if n.Kind != Number || err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
			return errKind
		}
		v.SetFloat(x)
		return nil
	}
	return fmt.Errorf("this version cannot read values of type %s", v.Type())
}

func setInt(n *Node, v reflect.Value) error {
	x, err := strconv.ParseInt(n.Text, 10, 64)
	if n.Kind != Number || err != nil {
		return errKind
	}
	if v.OverflowInt(x) {
		return fmt.Errorf("%s is too large", n.Show())
	}
	v.SetInt(x)
	return nil
}

func wanted(t reflect.Type) string {
	switch {
	case t == durationType:
		return "a duration such as 500ms, 3s or 2m"
	case IsScalar(t):
		return "one value"
	case t.Kind() == reflect.String:
		return "text"
	case t.Kind() == reflect.Bool:
		return "true or false"
	case t.Kind() == reflect.Float64 || t.Kind() == reflect.Float32:
		return "a number"
	}
	return "a whole number"
}

// ParseDuration reads durations such as 500ms, 3s, 2m, 1h30m, and 0 without a
// unit. Negative ones are errors.
func ParseDuration(text string) (time.Duration, error) {
	if text == "0" {
		return 0, nil
	}
	t, err := time.ParseDuration(text)
	switch {
	case err != nil && isNumber(text):
		return 0, errors.New("a unit is missing, such as 500ms, 3s or 2m")
	case err != nil:
		return 0, errors.New("write a number and a unit, such as 500ms, 3s or 2m")
	case t < 0:
		return 0, errors.New("it must not be negative")
	}
	return t, nil
}

func isNumber(text string) bool {
	_, err := strconv.ParseFloat(text, 64)
	return err == nil
}
