package config

import (
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/corelane/corelane/config/tree"
)

// masked stands for a value that nobody should read.
const masked = "***"

// secretName finds keys whose values are secrets.
var secretName = regexp.MustCompile(`(?i)(token|secret|password|passwd|passphrase|credential|authorization|^(?:set-)?cookie$|api[-_]?key|private[-_]?key|dsn)`)

// userInfo finds the name and password of a URL.
var userInfo = regexp.MustCompile(`://[^/@\s]+@`)

// shownValue writes a value as it would stand in a document, on one line. Secrets
// are masked: by the last key of the path, and by those inside.
func shownValue(path string, v reflect.Value) string {
	key := path[strings.LastIndexByte(path, '.')+1:]
	plainKind := v.Kind() != reflect.Struct && v.Kind() != reflect.Pointer
	if plainKind && secretName.MatchString(key) && !v.IsZero() {
		return masked
	}
	if text, ok := shownWord(v); ok {
		return userInfo.ReplaceAllString(text, "://"+masked+"@")
	}
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return "null"
		}
		return shownValue(path, v.Elem())
	case reflect.Slice:
		parts := make([]string, 0, v.Len())
		for i := range v.Len() {
			parts = append(parts, shownValue("", v.Index(i)))
		}
		return listed(parts)
	case reflect.Map:
		return shownPairs(v)
	case reflect.Struct:
		return shownStruct(v)
	}
	return fmt.Sprint(v.Interface())
}

func shownPairs(v reflect.Value) string {
	values := make(map[string]reflect.Value, v.Len())
	for name, value := range v.Seq2() {
		values[name.String()] = value
	}
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(values)) {
		parts = append(parts, name+": "+shownValue(name, values[name]))
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// shownStruct leaves out what is empty.
func shownStruct(v reflect.Value) string {
	if f, ok := v.Interface().(Filter); ok {
		return "{" + f.Name + ": " + shownValue("", f.instance()) + "}"
	}
	var parts []string
	for i := range v.NumField() {
		if name, ok := tree.KeyOf(v.Type().Field(i)); ok && !v.Field(i).IsZero() {
			parts = append(parts, name+": "+shownValue(name, v.Field(i)))
		}
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// shownWord writes values that are one word in a document.
func shownWord(v reflect.Value) (string, bool) {
	switch x := v.Interface().(type) {
	case time.Duration:
		return shortDuration(x), true
	case Size:
		return x.text(), true
	case Share:
		if x.Percent > 0 {
			return strconv.FormatFloat(x.Percent, 'g', -1, 64) + "%", true
		}
		return x.Bytes.text(), true
	case Loops:
		if x == 0 {
			return "auto", true
		}
	case Instant:
		if x.IsZero() {
			return "", true
		}
		return x.Format(time.RFC3339), true
	}
	if v.Kind() == reflect.String {
		return quoted(v.String()), true
	}
	return "", false
}

// text writes a size in the largest unit that leaves no rest.
func (s Size) text() string {
	for _, u := range slices.Backward(sizeUnits[:4]) {
		if s != 0 && s%(1<<u.shift) == 0 {
			return strconv.FormatInt(int64(s>>u.shift), 10) + u.suffix
		}
	}
	return strconv.FormatInt(int64(s), 10)
}

// quoted writes text so that it ends where it seems to.
func quoted(text string) string {
	if bare.MatchString(text) && !hasControl(text) {
		return text
	}
	return strconv.Quote(text)
}

// bare is text that needs no quotes within a line.
var bare = regexp.MustCompile(`^[^\s"'\\{}\[\],]+$`)
