// Package loopback finds free local ports and waits until a server answers on
// one, for the benchmark runner and the tests of the programs it starts.
package loopback

import (
	"context"
	"fmt"
	"net"
	"time"
)

// retryEvery is the pause between two attempts to connect.
const retryEvery = 10 * time.Millisecond

// FreeAddresses returns n different 127.0.0.1 addresses that nobody listened on
// a moment ago. All are held until the last one is found, so that none comes twice.
func FreeAddresses(n int) ([]string, error) {
	addresses := make([]string, 0, n)
	for range n {
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer ln.Close()
		addresses = append(addresses, ln.Addr().String())
	}
	return addresses, nil
}

// Wait returns when a server accepts connections on address, or with an error
// when ctx ends or a value comes from failed (which may be nil) before that.
func Wait(ctx context.Context, address string, failed <-chan error) error {
	ticker := time.NewTicker(retryEvery)
	defer ticker.Stop()
	for {
		conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
		if err == nil {
			return conn.Close()
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("nobody listens on %s: %w", address, err)
		case err := <-failed:
			return fmt.Errorf("the server for %s ended: %w", address, err)
		case <-ticker.C:
		}
	}
}
