package config

import "fmt"

// merge settles routes that several documents give: of two with one id the
// newer wins and the other becomes a warning. Without times there is no newer
// one, and the second is a problem.
func (d *draft) merge() {
	first := make(map[string]int, len(d.doc.Routes))
	routes, places := d.doc.Routes[:0:0], d.routes[:0:0]
	for i, r := range d.doc.Routes {
		k, twice := first[r.ID]
		if !twice || r.ID == "" {
			first[r.ID] = len(routes)
			routes, places = append(routes, r), append(places, d.routes[i])
			continue
		}
		other := routes[k]
		switch {
		case r.UpdatedAt.IsZero() || other.UpdatedAt.IsZero() || r.UpdatedAt.Equal(other.UpdatedAt.Time):
			d.complain(d.routes[i], "id", fmt.Sprintf(
				"a route with the id %q stands already in %s; two different times in updated_at would say which is newer",
				r.ID, d.where(places[k])))
		case r.UpdatedAt.After(other.UpdatedAt.Time):
			d.supersede(r.ID, places[k], d.routes[i])
			routes[k], places[k] = r, d.routes[i]
		default:
			d.supersede(r.ID, d.routes[i], places[k])
		}
	}
	d.doc.Routes, d.routes = routes, places
}

func (d *draft) supersede(id string, older, newer place) {
	d.doc.superseded = true
	d.warn(fmt.Sprintf("route %q in %s is left out: the one in %s is newer", id, d.where(older), d.where(newer)))
	d.superseded = append(d.superseded, advice{older, "id", fmt.Sprintf("route %q is left out: the one in %s is newer", id, d.where(newer))})
}

func (d *draft) warn(message string) {
	d.doc.warnings = append(d.doc.warnings, d.secrets.Clean(message))
}

func (d *draft) where(at place) string {
	line := at.chunk.line
	if line == 0 && at.node != nil {
		line = at.node.Pos.Line
	}
	return fmt.Sprintf("%s, line %d", d.files[at.file].Name, line)
}
