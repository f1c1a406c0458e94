package loopback

import (
	"context"
	"fmt"
	"net/http"
	"time"
)

// readyTimeout is how long Ready waits at most.
const readyTimeout = 20 * time.Second

// Ready returns when the admin server on an address says that its gateway is
// ready, or with an error when ctx ends or 20 s have passed before that.
func Ready(ctx context.Context, admin string) error {
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	for {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+admin+"/readyz", nil)
		if err != nil {
			return err
		}
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			return fmt.Errorf("%s does not become ready: %w", admin, err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode == http.StatusOK {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s answers %s: %w", admin, resp.Status, ctx.Err())
		case <-time.After(time.Millisecond):
		}
	}
}
