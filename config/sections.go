package config

import (
	"fmt"
	"reflect"
	"strconv"

	"github.com/corelane/corelane/config/tree"
)

// readDocument takes the sections of one document.
func (d *draft) readDocument(file int, n *tree.Node) {
	if n.Kind != tree.Map {
		d.add(file, []tree.Finding{{Pos: n.Pos, Message: "expected sections such as `routes:`, found " + n.Kind.String()}})
		return
	}
	for _, p := range n.Pairs {
		d.readSection(file, p)
	}
}

func (d *draft) readSection(file int, p tree.Pair) {
	switch p.Key {
	case "node":
		d.single(file, p, &d.doc.Node)
	case "engine":
		d.single(file, p, &d.doc.Engine)
	case "admin":
		d.single(file, p, &d.doc.Admin)
	case "log":
		d.single(file, p, &d.doc.Log)
	case "config":
		d.single(file, p, &d.doc.Config)
	case "listeners":
		readList(d, file, p, &d.doc.Listeners, &d.listeners)
	case "services":
		readList(d, file, p, &d.doc.Services, &d.services)
	case "routes":
		readList(d, file, p, &d.doc.Routes, &d.routes)
	case "filter_sets":
		d.readSets(file, p)
	default:
		d.unknownSection(file, p)
	}
}

// unknownSection lets the decoder word the problem, which knows of keys of
// other versions.
func (d *draft) unknownSection(file int, p tree.Pair) {
	alone := &tree.Node{Kind: tree.Map, Pos: p.Pos, Pairs: []tree.Pair{p}}
	d.decode(file, alone, "", &Document{})
}

// single reads a section that may stand in one place only.
func (d *draft) single(file int, p tree.Pair, target any) {
	if p.Value.Kind == tree.Null {
		return
	}
	if first, twice := d.sections[p.Key]; twice {
		d.add(file, []tree.Finding{{Pos: p.Pos, Path: p.Key, Message: fmt.Sprintf(
			"this section stands already in %s", d.where(first))}})
		return
	}
	before := len(d.problems)
	d.decode(file, p.Value, p.Key, target)
	d.sections[p.Key] = place{file: file, root: p.Key, node: p.Value, chunk: chunk{line: p.Pos.Line}, broken: pathsOf(d.problems[before:])}
}

// section returns the place of a section; one that is absent has no place.
func (d *draft) section(key string) place {
	if at, ok := d.sections[key]; ok {
		return at
	}
	return place{root: key}
}

// readList adds the items of a section that may stand in several documents.
func readList[T any](d *draft, file int, p tree.Pair, into *[]*T, places *[]place) {
	if p.Value.Kind == tree.Null {
		return
	}
	if p.Value.Kind != tree.List {
		d.add(file, []tree.Finding{{Pos: p.Value.Pos, Path: p.Key, Message: "expected a list, found " + p.Value.Kind.String()}})
		return
	}
	for i, n := range p.Value.Items {
		item := tree.Defaults(reflect.TypeFor[T]()).Interface().(*T)
		at := place{file: file, root: p.Key + "[" + strconv.Itoa(i) + "]", node: n}
		if n.Kind == tree.Null {
			d.complain(at, "", "an item of a list must not be empty")
			continue
		}
		before := len(d.problems)
		d.decode(file, n, at.root, item)
		at.broken = pathsOf(d.problems[before:])
		*into = append(*into, item)
		*places = append(*places, at)
	}
}

func (d *draft) readSets(file int, p tree.Pair) {
	if p.Value.Kind != tree.Map && p.Value.Kind != tree.Null {
		d.add(file, []tree.Finding{{Pos: p.Value.Pos, Path: p.Key, Message: "expected a mapping of names, found " + p.Value.Kind.String()}})
		return
	}
	for _, set := range p.Value.Pairs {
		at := place{file: file, root: "filter_sets." + set.Key, node: set.Value, chunk: chunk{line: set.Pos.Line}}
		if first, twice := d.sets[set.Key]; twice {
			d.add(file, []tree.Finding{{Pos: set.Pos, Path: at.root, Message: "a filter set of this name stands already in " + d.where(first)}})
			continue
		}
		fs := &FilterSet{}
		d.decode(file, set.Value, at.root, fs)
		if d.doc.FilterSets == nil {
			d.doc.FilterSets = make(map[string]*FilterSet)
		}
		d.doc.FilterSets[set.Key] = fs
		d.sets[set.Key] = at
	}
}
