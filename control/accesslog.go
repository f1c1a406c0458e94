package control

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/corelane/corelane/engine"
)

// accessLogMode is the mode of a new access log.
const accessLogMode = 0o640

// AccessLog takes the records of all loops to one place. Loops never wait for
// it: while it cannot write, records are dropped and counted.
type AccessLog struct {
	// Immutable.
	path  string // empty: out is not ours to reopen
	rings []*engine.Ring
	log   *slog.Logger

	// Owned by the goroutine of Run.
	out        io.Writer
	torn       bool // the last write ended inside a record
	complained time.Time
	hidden     uint64 // errors since the last complaint

	// Atomic.
	reopen atomic.Bool
	failed atomic.Uint64
	lost   atomic.Uint64
}

// OpenAccessLog opens a log that is written to stdout or appended to a file.
// The path is "stdout", "none" or a file's; for "none" it returns nil, and the
// methods of a nil log do nothing.
func OpenAccessLog(path string, stdout io.Writer, rings []*engine.Ring, log *slog.Logger) (*AccessLog, error) {
	a := &AccessLog{rings: rings, log: log}
	switch path {
	case "none":
		return nil, nil
	case "stdout":
		a.out = stdout
		return a, nil
	}
	f, err := openLogFile(path)
	if err != nil {
		return nil, fmt.Errorf("access log: %w", err)
	}
	a.path, a.out = path, f
	return a, nil
}

func openLogFile(path string) (*os.File, error) {
	// O_NONBLOCK, since opening a FIFO that nobody reads would wait for ever: so
	// it is an error.
	return os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE|unix.O_NONBLOCK, accessLogMode)
}

// Reopen makes the log open its file again before it next writes, for
// logrotate. Any goroutine may call it.
func (a *AccessLog) Reopen() {
	if a != nil {
		a.reopen.Store(true)
	}
}

// Failed returns the number of writes that failed, and Lost the bytes of
// records that were lost by them. Any goroutine may call them.
func (a *AccessLog) Failed() uint64 {
	if a == nil {
		return 0
	}
	return a.failed.Load()
}

// Lost returns the bytes of records that could not be written.
func (a *AccessLog) Lost() uint64 {
	if a == nil {
		return 0
	}
	return a.lost.Load()
}

// Run writes until ctx ends, then writes what is left and closes the file. It
// is to be called once. End ctx after the loops have stopped, so that nothing
// is left behind.
func (a *AccessLog) Run(ctx context.Context) {
	if a == nil {
		return
	}
	every(ctx, accessLogPoll, a.flush)
	a.flush(time.Now())
	a.close()
}

// flush empties the rings once.
func (a *AccessLog) flush(now time.Time) {
	if a.reopen.Swap(false) {
		a.turnOver(now)
	}
	for _, r := range a.rings {
		first, second := r.Peek()
		if len(first) == 0 {
			continue
		}
		a.write(first, now)
		if len(second) > 0 {
			a.write(second, now)
		}
		r.Take(len(first) + len(second))
	}
}

// write writes whole records, but for those that a full disk cut: the next one
// begins on a line of its own then.
func (a *AccessLog) write(b []byte, now time.Time) {
	if a.torn {
		if _, err := a.out.Write([]byte{'\n'}); err != nil {
			a.fail(err, len(b), now)
			return
		}
		a.torn = false
	}
	n, err := a.out.Write(b)
	if err == nil {
		return
	}
	a.torn = n > 0 && b[n-1] != '\n'
	a.fail(err, len(b)-n, now)
}

func (a *AccessLog) fail(err error, lost int, now time.Time) {
	a.failed.Add(1)
	a.lost.Add(uint64(lost))
	a.hidden++
	if now.Sub(a.complained) < accessLogComplain {
		return
	}
	a.log.Error("access log: records are lost", "error", err, "failures", a.hidden)
	a.complained, a.hidden = now, 0
}

// turnOver opens the path again: whoever renamed the file wants a new one. The
// old one stays in use if that fails.
func (a *AccessLog) turnOver(now time.Time) {
	if a.path == "" {
		return
	}
	f, err := openLogFile(a.path)
	if err != nil {
		a.fail(err, 0, now)
		return
	}
	a.close()
	a.out, a.torn = f, false
}

func (a *AccessLog) close() {
	if f, ok := a.out.(*os.File); ok && a.path != "" {
		if err := f.Close(); err != nil && !errors.Is(err, os.ErrClosed) {
			a.log.Error("access log: close", "error", err)
		}
	}
}
