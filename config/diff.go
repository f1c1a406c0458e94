package config

import (
	"log/slog"
	"slices"
	"strconv"
	"strings"
)

// Changes are the names of what two generations do not share, in order.
type Changes struct {
	Added, Changed, Removed []string
}

// Diff says what a generation changed.
type Diff struct {
	Routes, Services, Listeners Changes
}

// maxLogged bounds the ids that one line of the log names.
const maxLogged = 20

// Empty tells whether nothing changed.
func (c *Changes) Empty() bool { return len(c.Added)+len(c.Changed)+len(c.Removed) == 0 }

// Empty tells whether nothing changed.
func (d *Diff) Empty() bool { return d.Routes.Empty() && d.Services.Empty() && d.Listeners.Empty() }

func (c *Changes) sort() {
	slices.Sort(c.Added)
	slices.Sort(c.Changed)
	slices.Sort(c.Removed)
}

func (c *Changes) note(name string, known bool) {
	if known {
		c.Changed = append(c.Changed, name)
	} else {
		c.Added = append(c.Added, name)
	}
}

// LogValue renders the names, cut after twenty, for the log.
func (d *Diff) LogValue() slog.Value {
	var attrs []slog.Attr
	groups := []struct {
		name string
		c    Changes
	}{{"routes", d.Routes}, {"services", d.Services}, {"listeners", d.Listeners}}
	for _, g := range groups {
		for _, part := range []struct {
			what string
			ids  []string
		}{{"added", g.c.Added}, {"changed", g.c.Changed}, {"removed", g.c.Removed}} {
			if len(part.ids) > 0 {
				attrs = append(attrs, slog.String(g.name+"_"+part.what, brief(part.ids)))
			}
		}
	}
	return slog.GroupValue(attrs...)
}

func brief(ids []string) string {
	if len(ids) <= maxLogged {
		return strings.Join(ids, " ")
	}
	return strings.Join(ids[:maxLogged], " ") + " and " + strconv.Itoa(len(ids)-maxLogged) + " more"
}
