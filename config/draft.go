package config

import (
	"bytes"
	"fmt"
	"reflect"

	"github.com/corelane/corelane/config/tree"
)

// draft is a document on its way: what was read, where it stood, what is wrong.
type draft struct {
	files    []File
	doc      *Document
	earlier  map[digest]*Route
	secrets  *tree.Secrets
	problems Problems
	// broken tells that a text is no YAML, so that references into it would be
	// reported for nothing.
	broken bool

	sections  map[string]place
	listeners []place
	services  []place
	routes    []place
	sets      map[string]place
	// superseded are routes that newer ones replace.
	superseded []advice
}

// digest tells texts of routes apart.
type digest [16]byte

func newDraft(files []File, earlier *Document) *draft {
	d := &draft{
		files:    files,
		doc:      tree.Defaults(reflect.TypeFor[Document]()).Interface().(*Document),
		secrets:  &tree.Secrets{},
		sections: make(map[string]place),
		sets:     make(map[string]place),
	}
	d.doc.setFiles(files, earlier)
	if earlier != nil {
		d.earlier = make(map[digest]*Route, len(earlier.Routes))
		for _, r := range earlier.Routes {
			if r.digest != (digest{}) {
				d.earlier[r.digest] = r
			}
		}
	}
	return d
}

func (d *draft) report() Problems {
	d.problems.sort(d.files)
	lines := make(map[string][][]byte)
	for i := range d.problems {
		p := &d.problems[i]
		p.Message = d.secrets.Clean(p.Message)
		if i >= maxProblems {
			continue
		}
		if _, cut := lines[p.File]; !cut {
			lines[p.File] = bytes.Split(d.textOf(p.File), []byte("\n"))
		}
		p.Excerpt = excerpt(lines[p.File], p.Line, p.Column)
	}
	return d.problems
}

func (d *draft) textOf(name string) []byte {
	for _, f := range d.files {
		if f.Name == name {
			return f.Text
		}
	}
	return nil
}

func (d *draft) add(file int, findings []tree.Finding) {
	for _, f := range findings {
		d.problems = append(d.problems, Problem{
			File: d.files[file].Name, Line: f.Pos.Line, Column: f.Pos.Col, Path: f.Path, Message: f.Message,
		})
	}
}

// complain adds a problem at a path below an item.
func (d *draft) complain(at place, path, message string) {
	if at.reported(tree.Join(at.root, path)) {
		return
	}
	node := d.nodeOf(at)
	pos := tree.Pos{Line: max(1, at.chunk.line), Col: 1}
	if node != nil {
		pos = node.Find(path)
	}
	d.add(at.file, []tree.Finding{{Pos: pos, Path: tree.Join(at.root, path), Message: message}})
}

// missing adds a problem of something absent, unless the item is bad: then the
// absent may be what was mistyped.
func (d *draft) missing(at place, path, message string) {
	if !at.bad() {
		d.complain(at, path, message)
	}
}

// nodeOf returns an item's tree, parsing its text again if need be.
func (d *draft) nodeOf(at place) *tree.Node {
	if at.node != nil || at.chunk.text == nil {
		return at.node
	}
	parsed := tree.Parse(tree.Input{Bytes: at.chunk.text, Line: at.chunk.line})
	if len(parsed.Documents) == 1 && len(parsed.Documents[0].Items) == 1 {
		return parsed.Documents[0].Items[0]
	}
	return nil
}

// read takes one file apart.
func (d *draft) read(file int) {
	f := d.files[file]
	if len(f.Text) > tree.MaxText {
		d.broken = true
		d.problems = append(d.problems, Problem{File: f.Name, Message: fmt.Sprintf("the file has more than %d bytes", tree.MaxText)})
		return
	}
	text := bytes.TrimPrefix(f.Text, []byte("\xef\xbb\xbf")) // some editors begin with a mark
	rest, chunks := splitRoutes(text)
	routes, ok := d.readChunks(file, chunks)
	if !ok {
		// Anchors tie items together: read the text in one piece.
		rest, routes = text, nil
	}
	parsed := tree.Parse(tree.Input{Bytes: rest, Secrets: d.secrets})
	if len(parsed.Findings) > 0 {
		d.broken = d.broken || len(parsed.Documents) == 0
		d.add(file, parsed.Findings)
	}
	for _, n := range parsed.Documents {
		d.readDocument(file, n)
	}
	for _, r := range routes {
		d.routes = append(d.routes, r.at)
		d.doc.Routes = append(d.doc.Routes, r.route)
		d.problems = append(d.problems, r.problems...)
	}
}
