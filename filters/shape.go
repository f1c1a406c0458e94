package filters

import (
	"fmt"
	"reflect"
)

// phases are the interfaces of a filter by the name of their method.
var phases = []reflect.Type{
	reflect.TypeFor[RequestFilter](), reflect.TypeFor[RequestBodyFilter](), reflect.TypeFor[WholeBodyFilter](),
	reflect.TypeFor[ResponseFilter](), reflect.TypeFor[ResponseBodyFilter](), reflect.TypeFor[LogFilter](), reflect.TypeFor[ConnectionFilter](),
	reflect.TypeFor[Resumer](), reflect.TypeFor[Provisioner](), reflect.TypeFor[Answerer](), reflect.TypeFor[Caller](),
}

// misshapen is an error if a filter has a method with the name of a phase and
// other parameters or results: it would never be called, and a filter that
// guards something would let all through.
func misshapen(filter any) error {
	t := reflect.TypeOf(filter)
	for _, phase := range phases {
		want := phase.Method(0)
		if _, there := t.MethodByName(want.Name); there && !t.Implements(phase) {
			return fmt.Errorf("its method %s must be %s", want.Name, want.Type)
		}
	}
	return nil
}
