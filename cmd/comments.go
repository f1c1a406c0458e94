package cmd

import (
	_ "embed"
	"encoding/json"
	"reflect"
	"strings"
	"sync"
)

// commentsText holds the comments of configuration keys and of the options of
// built-in filters by package, type and field, since a program has no comments.
//
//	go test ./cmd -run TestComments -update
//
//go:embed comments.json
var commentsText []byte

var comments = sync.OnceValue(func() map[string]string {
	all := make(map[string]string)
	if err := json.Unmarshal(commentsText, &all); err != nil {
		panic(err) // the program is built wrongly
	}
	return all
})

// commentOf returns the comment of a field of this module. Other modules say it by the
// tag `doc`.
func commentOf(owner reflect.Type, f reflect.StructField) string {
	return comments()[strings.TrimPrefix(owner.PkgPath(), productModule+"/")+"."+owner.Name()+"."+f.Name]
}
