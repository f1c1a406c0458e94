// Command origin is the service behind the proxies of a benchmark: HTTP/1.1
// with keep-alive and pipelining on cloudwego/netpoll, as cheap as it can be,
// so that the proxy is what is measured.
//
//	GET /128      a body of 128 bytes
//	GET /16k      a body of 16 KiB
//	GET /echo     the request head as it arrived, to see what a proxy adds
//
// Requests with a body are not understood: they get 400 and the connection closes.
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"log"
	"maps"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/cloudwego/netpoll"

	"github.com/corelane/corelane/bench/message"
)

// maxBody is the largest body that can be asked for, in bytes.
const maxBody = 64 << 20

func main() {
	listen := flag.String("listen", "127.0.0.1:9000", "address to serve on")
	flag.Parse()
	if err := serve(*listen); err != nil {
		log.Fatal(err)
	}
}

func serve(address string) error {
	listener, err := netpoll.CreateListener("tcp", address)
	if err != nil {
		return err
	}
	loop, err := netpoll.NewEventLoop(onRequest)
	if err != nil {
		return err
	}
	return loop.Serve(listener)
}

// onRequest answers the requests that have arrived, with one flush before it
// waits for more.
func onRequest(_ context.Context, conn netpoll.Connection) error {
	reader, writer := conn.Reader(), conn.Writer()
	for more := true; more; more = message.Buffered(reader) {
		head, err := message.ReadHead(reader)
		if err != nil {
			return conn.Close()
		}
		reply, ok := answer(head)
		if _, err := writer.WriteBinary(reply); err != nil {
			return conn.Close()
		}
		if !ok {
			_ = writer.Flush()
			return conn.Close()
		}
		if err := reader.Release(); err != nil {
			return conn.Close()
		}
	}
	return writer.Flush()
}

var badRequest = []byte("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")

// answer returns the whole response; false means that the connection closes.
func answer(head []byte) ([]byte, bool) {
	path, ok := bytes.CutPrefix(head, []byte("GET /"))
	if !ok {
		return badRequest, false
	}
	path, _, ok = bytes.Cut(path, []byte(" "))
	if !ok {
		return badRequest, false
	}
	path, _, _ = bytes.Cut(path, []byte("?"))
	if string(path) == "echo" {
		return response(head), true
	}
	reply := prepared(path)
	if reply == nil {
		return badRequest, false
	}
	return reply, true
}

// replies holds the response of each size asked for so far. The map is never
// changed, only replaced: a lookup by bytes needs neither a lock nor a string.
var replies atomic.Pointer[map[string][]byte]

func prepared(size []byte) []byte {
	known := replies.Load()
	if known != nil {
		if reply, ok := (*known)[string(size)]; ok {
			return reply
		}
	}
	n, err := parseSize(string(size))
	if err != nil {
		return nil
	}
	reply := response(bytes.Repeat([]byte("x"), n))
	grown := map[string][]byte{string(size): reply}
	if known != nil {
		maps.Copy(grown, *known)
	}
	// A size that another goroutine adds at the same moment is made again when it is asked for.
	replies.CompareAndSwap(known, &grown)
	return reply
}

// parseSize reads "128" or "16k".
func parseSize(s string) (int, error) {
	unit := 1
	if digits, ok := strings.CutSuffix(s, "k"); ok {
		s, unit = digits, 1<<10
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 || n > maxBody/unit {
		return 0, fmt.Errorf("size %q is not between 0 and %d bytes", s, maxBody)
	}
	return n * unit, nil
}

func response(body []byte) []byte {
	head := fmt.Sprintf("HTTP/1.1 200 OK\r\nServer: origin\r\nContent-Type: text/plain\r\nCache-Control: no-store\r\nContent-Length: %d\r\n\r\n", len(body))
	return append([]byte(head), body...)
}
