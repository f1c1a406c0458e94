package config

import "bytes"

// maxSmallChange bounds the text, old and new, that is read as a change of
// routes; whoever changes more at once pays for the whole document.
const maxSmallChange = 1 << 20

// smallChange reads only the files that differ from the published ones and
// returns what that changes. It is for files that hold nothing but routes, and
// gives up (false) on everything that needs a look at the whole, a mistake
// included: the whole document then finds it, with its place.
func (p *Pipeline) smallChange(files []File) (changed []*Route, removed []string, ok bool) {
	before, after := otherTexts(p.doc.files, files)
	if len(after) == 0 || p.doc.references || p.doc.superseded || p.changedByHand || p.status.FromCache {
		return nil, nil, false
	}
	was, err := ParseRoutes(p.doc, before...)
	if err != nil {
		return nil, nil, false
	}
	if changed, err = ParseRoutes(p.doc, after...); err != nil {
		return nil, nil, false
	}
	here := make(map[string]bool, len(was))
	for _, r := range was {
		here[r.ID] = true
	}
	known := p.doc.routePlaces()
	for _, r := range changed {
		if _, elsewhere := known[r.ID]; elsewhere && !here[r.ID] {
			return nil, nil, false // two files claim it
		}
		delete(here, r.ID)
	}
	for id := range here {
		removed = append(removed, id)
	}
	limit := float64(p.doc.Config.ShrinkGuard)
	return changed, removed, limit == 0 || float64(len(removed))*100 <= limit*float64(len(p.doc.Routes))
}

// otherTexts returns the files whose text is another, as they were and as they
// are; none if more than that has changed, or too much.
func otherTexts(old, files []File) (before, after []File) {
	if len(files) != len(old) {
		return nil, nil
	}
	size := 0
	for i := range files {
		if files[i].Name != old[i].Name {
			return nil, nil
		}
		if bytes.Equal(files[i].Text, old[i].Text) {
			continue
		}
		size += len(files[i].Text) + len(old[i].Text)
		if size > maxSmallChange || bytes.Contains(files[i].Text, []byte("${")) {
			return nil, nil
		}
		before, after = append(before, old[i]), append(after, files[i])
	}
	return before, after
}

func sameFiles(a, b []File) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].Name != b[i].Name || !bytes.Equal(a[i].Text, b[i].Text) {
			return false
		}
	}
	return true
}

// applySmall publishes a small change.
func (p *Pipeline) applySmall(files []File, changed []*Route, removed []string) error {
	next, diff, err := p.compiler.CompileDelta(p.doc, p.snapshot, changed, removed)
	if err != nil {
		return err
	}
	doc, err := p.doc.withRoutes(changed, removed)
	if err != nil {
		return err
	}
	doc.setFiles(files, p.doc)
	p.keep(doc)
	if diff.Empty() {
		p.accept(doc, p.snapshot, p.Status().LastDiff)
		return nil
	}
	return p.release(doc, next, diff)
}
