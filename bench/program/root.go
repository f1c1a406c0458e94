package program

import (
	"errors"
	"os"
	"path/filepath"
)

// Root is the folder with go.mod, here or above.
func Root() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", errors.New("run it inside the repository: there is no go.mod here or above")
		}
		dir = filepath.Dir(dir)
	}
}
