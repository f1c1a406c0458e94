package control

import (
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"regexp"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/corelane/corelane/engine"
	"github.com/corelane/corelane/filters"
)

func TestWatchdog(t *testing.T) {
	var lines lockedBuffer
	loops := []engine.LoopInfo{{ID: 0}, {ID: 1}}
	w := newWatchdog(func() []engine.LoopInfo { return loops }, slog.New(slog.NewTextHandler(&lines, nil)))
	dumps := 0
	w.dump = func() []byte { dumps++; return []byte("all the stacks") }

	loops = []engine.LoopInfo{{ID: 0, SinceTurn: 5e9, Waiting: true}, {ID: 1, SinceTurn: 1e8}}
	w.check()
	assert.False(t, w.anyStalled(), "a loop that waits is well")

	loops[1].SinceTurn = 2e9
	w.check()
	w.check()
	assert.True(t, w.isStalled(1))
	assert.False(t, w.isStalled(0))
	assert.Equal(t, 1, dumps, "one dump for each stall")
	assert.Contains(t, lines.String(), "all the stacks")

	loops[1].SinceTurn = 0
	w.check()
	assert.False(t, w.anyStalled())
	assert.Equal(t, uint64(1), w.count())
	assert.Contains(t, lines.String(), "turns again")
}

// blockade is a filter that does what none may do: it blocks the loop.
type blockade struct{}

var blocked atomic.Pointer[chan struct{}]

// block makes the filter wait until the returned function is called.
func block() (release func()) {
	c := make(chan struct{})
	blocked.Store(&c)
	return func() { close(c) }
}

// OnRequest implements filters.RequestFilter.
func (*blockade) OnRequest(ctx *filters.Context) filters.Verdict {
	<-*blocked.Load()
	ctx.Respond(200, []byte("late"))
	return filters.Respond
}

// Answers implements filters.Answerer.
func (*blockade) Answers() bool { return true }

func init() {
	filters.Register(filters.Kind{Name: "blockade", Doc: "blocks", New: func() any { return new(blockade) }})
}

// blockadeRoute is the route of a filter that blocks.
const blockadeRoute = routes + "  - {id: block, match: {path: /block}, filters: [{blockade: {}}]}\n"

func TestStalledLoopIsNotReady(t *testing.T) {
	release := block()
	r := serve(t, blockadeRoute, ok)
	answered := make(chan int)
	go func() {
		res, err := http.Get("http://" + r.node.Addresses()[0] + "/block")
		if err != nil {
			answered <- 0
			return
		}
		res.Body.Close()
		answered <- res.StatusCode
	}()
	eventually(t, "the stall", func() bool {
		var ready readiness
		return r.admin(http.MethodGet, "/readyz", "", &ready) == 503 && ready.Reason == "loop_stalled"
	})
	_, text := r.do(http.MethodGet, "http://"+r.node.AdminAddress()+"/metrics", "")
	assert.Contains(t, text, "corelane_loop_stalls_total 1")
	assert.Len(t, regexp.MustCompile(`corelane_scrape_missing_loops\{loop="[01]"\} 1`).FindAllString(text, -1), 1)
	release()
	assert.Equal(t, 200, <-answered)
	eventually(t, "ready again", func() bool { return r.admin(http.MethodGet, "/readyz", "", nil) == 200 })
	assert.Contains(t, r.log.String(), "blockade")
	eventually(t, "the overrun in the log", func() bool { return strings.Contains(r.log.String(), "ran longer") })
	http.DefaultClient.CloseIdleConnections()
}

// A loop that never comes back does not keep the process: the second signal
// still ends it.
func TestStuckLoopIsLeftBehind(t *testing.T) {
	release := block()
	r := newRig(t, ok)
	r.write(r.document(blockadeRoute))
	var err error
	r.node, err = r.start()
	require.NoError(t, err)
	r.node.stopWithin = 10 * time.Millisecond
	c, err := net.Dial("tcp", r.node.Addresses()[0])
	require.NoError(t, err)
	defer c.Close()
	fmt.Fprint(c, "GET /block HTTP/1.1\r\nHost: x\r\n\r\n")
	eventually(t, "the stall", r.node.watchdog.anyStalled)
	r.signals <- syscall.SIGTERM
	r.signals <- syscall.SIGTERM
	r.node.Serve(t.Context(), r.signals)
	assert.Contains(t, r.log.String(), "left behind")
	release()
}
