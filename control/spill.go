package control

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"github.com/corelane/corelane/config"
)

// checkSpill tries whether request bodies can be kept in files, if any route
// wants that.
func checkSpill(doc *config.Document) error {
	for _, r := range doc.Routes {
		if r.Body.Mode == "buffer" {
			return tryFolder(doc.Engine.SpillDir)
		}
	}
	return nil
}

// tryFolder makes a file there and takes it away again.
func tryFolder(folder string) error {
	f, err := os.CreateTemp(folder, "corelane-body-*")
	if err != nil {
		return fmt.Errorf("engine.spill_dir: request bodies cannot be kept there: %w", err)
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// errnoName is the name of the system's error in err, such as ENOSPC; empty if
// there is none.
func errnoName(err error) string {
	var errno unix.Errno
	if !errors.As(err, &errno) {
		return ""
	}
	return unix.ErrnoName(errno)
}
