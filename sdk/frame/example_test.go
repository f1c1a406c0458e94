package frame_test

import (
	"context"
	"fmt"
	"net"
	"time"

	"github.com/corelane/corelane/sdk/frame"
)

// A service, a client of it, and the end of both.
func Example() {
	m := &frame.Mux{}
	m.HandleFunc(frame.Method("Greeter", "Hello"), func(_ context.Context, r *frame.Request, w *frame.Responder) error {
		name, err := r.Body.Bytes()
		if err != nil {
			return err
		}
		if len(name) == 0 {
			return frame.Errorf(400, "who are you?")
		}
		return w.Reply(append([]byte("hello, "), name...))
	})
	s := &frame.Server{Handler: m}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	served := make(chan error)
	go func() { served <- s.Serve(l) }()

	c := &frame.Client{Network: "tcp", Address: l.Addr().String()}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	r, err := c.Call(ctx, &frame.Message{Call: frame.Method("Greeter", "Hello"), Body: []byte("you")})
	if err != nil {
		panic(err)
	}
	fmt.Println(r.Status, string(r.Body))

	_ = c.Close()
	fmt.Println(s.Shutdown(ctx))
	fmt.Println(<-served)
	// Output:
	// 200 hello, you
	// <nil>
	// frame: the server is closed
}
