package reactor

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

var errNotSocket = errors.New("the file exists and is not a socket")

// bindUnix makes one socket; the first loop accepts for all. Its file gets the rights that the umask
// leaves.
func (ln *Listener) bindUnix(o ListenOptions) error {
	ln.address = ln.addr.String()
	if err := removeStale(ln.addr); err != nil {
		return err
	}
	fd, err := sysSocket(unix.AF_UNIX)
	if err != nil {
		return err
	}
	ln.sockets = append(ln.sockets, fd)
	err = os.NewSyscallError("bind", unix.Bind(fd, ln.addr.sockaddr()))
	switch {
	case errors.Is(err, unix.ENOENT) || errors.Is(err, unix.EACCES):
		return fmt.Errorf("folder %s: %w", filepath.Dir(ln.addr.path), err)
	case err != nil:
		return err
	}
	if ln.file, err = os.Lstat(ln.addr.path); err != nil {
		return err
	}
	return os.NewSyscallError("listen", unix.Listen(fd, o.Backlog))
}

// removeStale removes a socket file whose server is gone, and nothing else.
func removeStale(a Addr) error {
	info, err := os.Lstat(a.path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if info.Mode()&os.ModeSocket == 0 {
		return errNotSocket
	}
	fd, err := sysSocket(unix.AF_UNIX)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	err = unix.Connect(fd, a.sockaddr())
	switch {
	case errors.Is(err, unix.ECONNREFUSED):
		return os.Remove(a.path)
	case err == nil || errors.Is(err, unix.EAGAIN): // somebody listens, with a full backlog perhaps
		return os.NewSyscallError("bind", unix.EADDRINUSE)
	}
	return os.NewSyscallError("connect", err)
}

// removeFile removes the listener's socket file, unless another has taken its place. It comes before the
// socket is closed: afterwards another server may take the file for stale, and bind one of its own here.
func (ln *Listener) removeFile() {
	if ln.file == nil {
		return
	}
	if now, err := os.Lstat(ln.addr.path); err == nil && os.SameFile(now, ln.file) {
		_ = os.Remove(ln.addr.path) // best effort: the next start removes it as stale
	}
	ln.file = nil // once the socket is closed, another file may get its inode
}
