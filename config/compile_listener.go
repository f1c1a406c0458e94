package config

import (
	"fmt"
	"reflect"

	"github.com/corelane/corelane/engine/snapshot"
	"github.com/corelane/corelane/filters"
	"github.com/corelane/corelane/route"
)

func (b *build) allListeners() (map[string]*snapshot.Listener, error) {
	all := make(map[string]*snapshot.Listener, len(b.doc.Listeners))
	for _, l := range b.doc.Listeners {
		old := b.prev.Listeners[l.Name]
		if old != nil && sameListener(l, old) && b.samePassage(old) {
			all[l.Name] = old
			continue
		}
		b.diff.Listeners.note(l.Name, old != nil)
		compiled, err := b.listener(l, old)
		if err != nil {
			return nil, fmt.Errorf("listener %q: %w", l.Name, err)
		}
		all[l.Name] = compiled
	}
	for name := range b.prev.Listeners {
		if all[name] == nil {
			b.diff.Listeners.Removed = append(b.diff.Listeners.Removed, name)
		}
	}
	return all, nil
}

func sameListener(l *Listener, old *snapshot.Listener) bool {
	src, ok := old.From.(*Listener)
	if !ok {
		return false
	}
	x, y := *l, *src
	x.Filters, y.Filters = nil, nil
	return reflect.DeepEqual(&x, &y) && sameFilters(l.Filters, src.Filters)
}

func (b *build) listener(l *Listener, old *snapshot.Listener) (*snapshot.Listener, error) {
	var oldUses []*Filter
	var oldChain *filters.Chain
	if old != nil {
		oldChain = old.Chain
		if src, ok := old.From.(*Listener); ok {
			oldUses = src.Filters
		}
	}
	built, err := chain(l.Filters, oldUses, oldChain)
	if err != nil {
		return nil, err
	}
	protocol, err := b.listenerProtocol(l)
	if err != nil {
		return nil, err
	}
	out := &snapshot.Listener{
		Name:              l.Name,
		Protocol:          protocol,
		Layout:            l.Layout != nil,
		Passage:           b.passage(l, old),
		Paths:             route.PathOptions{RejectDangerous: l.Paths.Dangerous == "reject", MergeSlashes: l.Paths.Slashes == "merge"},
		RequestLine:       int(l.Limits.RequestLine),
		Headers:           int(l.Limits.Headers),
		HeaderCount:       l.Limits.HeaderCount,
		MaxBody:           int64(l.Limits.Body),
		KeepaliveRequests: l.Limits.KeepaliveRequests,
		MaxConnections:    l.Limits.Connections,
		ProxyProtocol:     l.ProxyProtocol,
		Head:              l.Timeouts.Head,
		ReadIdle:          l.Timeouts.ReadIdle,
		WriteIdle:         l.Timeouts.WriteIdle,
		Keepalive:         l.Timeouts.Keepalive,
		TunnelIdle:        l.Timeouts.TunnelIdle,
		MinBodyRate:       int64(l.Timeouts.MinBodyRate),
		Chain:             built,
		From:              l,
	}
	for _, text := range l.TrustedProxies {
		if text == trustUnix {
			out.TrustUnix = true
			continue
		}
		network, err := filters.ParseNetwork(text)
		if err != nil {
			return nil, err
		}
		out.TrustedProxies = append(out.TrustedProxies, network)
	}
	return out, nil
}
