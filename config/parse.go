package config

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
)

// File is one source text.
type File struct {
	// Name is what problems call it, such as its path.
	Name string
	// Text is YAML; it is not changed and must not change.
	Text []byte
}

// Parse reads, merges and validates sources. The error is Problems: all of
// them, with their places; the document beside it is then incomplete. It never
// panics. Any goroutine may call it.
func Parse(files ...File) (*Document, error) { return parse(files, nil) }

// parse takes routes that were written in the same words from an earlier
// document, if there is one.
func parse(files []File, earlier *Document) (*Document, error) {
	if len(files) == 0 {
		return nil, Problems{{Message: "there is no document"}}
	}
	return newDraft(files, earlier).parse()
}

// parse reads all files of the draft.
func (d *draft) parse() (*Document, error) {
	for i := range d.files {
		d.read(i)
	}
	d.merge()
	if !d.broken {
		d.validate()
	}
	d.doc.references = d.secrets.Used()
	if len(d.problems) > 0 {
		return d.doc, d.report()
	}
	return d.doc, nil
}

// Checksum returns the SHA-256 of the names of sources and of the SHA-256 of
// their texts, in hexadecimal.
func Checksum(files []File) string {
	d := new(Document)
	d.setFiles(files, nil)
	return d.checksum
}

// setFiles keeps the sources with their checksum. What stands unchanged in an
// earlier document is not summed again.
func (d *Document) setFiles(files []File, earlier *Document) {
	h := sha256.New()
	sums := make([][sha256.Size]byte, len(files))
	for i, f := range files {
		if earlier != nil && i < len(earlier.files) && bytes.Equal(f.Text, earlier.files[i].Text) {
			sums[i] = earlier.sums[i]
		} else {
			sums[i] = sha256.Sum256(f.Text)
		}
		fmt.Fprintf(h, "%d %s %x\n", len(f.Name), f.Name, sums[i])
	}
	d.files, d.sums, d.checksum = files, sums, hex.EncodeToString(h.Sum(nil))
}
