package config

import (
	"bytes"
	"crypto/sha256"
	"reflect"
	"strconv"

	"github.com/corelane/corelane/config/tree"
)

// readRoute is a route with its place and what is wrong with it alone.
type readRoute struct {
	route    *Route
	at       place
	problems Problems
}

// readChunks parses items each alone. False: one of them has an anchor or an
// alias, so that the items do not stand alone.
func (d *draft) readChunks(file int, chunks []chunk) ([]readRoute, bool) {
	out := make([]readRoute, 0, len(chunks))
	kept := d.problems
	defer func() { d.problems = kept }()
	for i, c := range chunks {
		at := place{file: file, root: "routes[" + strconv.Itoa(i) + "]", chunk: c}
		sum := digestOf(c.text)
		if known := d.earlier[sum]; known != nil {
			out = append(out, readRoute{route: known, at: at})
			continue
		}
		d.problems = nil
		route, anchored := d.readChunk(at)
		if anchored {
			return nil, false
		}
		if len(d.problems) == 0 && !bytes.Contains(c.text, []byte("${")) {
			route.digest = sum
		}
		at.broken = pathsOf(d.problems)
		out = append(out, readRoute{route: route, at: at, problems: d.problems})
	}
	return out, true
}

func digestOf(text []byte) digest {
	sum := sha256.Sum256(bytes.TrimSpace(text))
	return digest(sum[:len(digest{})])
}

func (d *draft) readChunk(at place) (*Route, bool) {
	route := tree.Defaults(reflect.TypeFor[Route]()).Interface().(*Route)
	parsed := tree.Parse(tree.Input{Bytes: at.chunk.text, Line: at.chunk.line, Secrets: d.secrets})
	d.add(at.file, parsed.Findings)
	if len(parsed.Findings) > 0 {
		return route, parsed.Anchored
	}
	for _, list := range parsed.Documents {
		for _, item := range list.Items {
			d.decode(at.file, item, at.root, route)
		}
	}
	return route, parsed.Anchored
}

// decode fills a target and adds what is wrong.
func (d *draft) decode(file int, n *tree.Node, root string, target any) {
	decoder := tree.Decoder{Later: laterKey, Words: wordsOf}
	decoder.Decode(n, tree.Root(root), target)
	d.add(file, decoder.Findings)
}
