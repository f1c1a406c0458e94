package config

import (
	"fmt"
	"net/netip"
	"reflect"
	"strconv"

	"github.com/corelane/corelane/engine/snapshot"
	"github.com/corelane/corelane/pool"
)

func (b *build) allServices() (map[string]*snapshot.Service, error) {
	all := make(map[string]*snapshot.Service, len(b.doc.Services))
	for _, s := range b.doc.Services {
		old := b.prev.Services[s.Name]
		if old != nil {
			if src, ok := old.From.(*Service); ok && reflect.DeepEqual(src, s) {
				all[s.Name] = old
				continue
			}
		}
		b.diff.Services.note(s.Name, old != nil)
		compiled, err := b.service(s)
		if err != nil {
			return nil, err
		}
		all[s.Name] = compiled
	}
	for name := range b.prev.Services {
		if all[name] == nil {
			b.diff.Services.Removed = append(b.diff.Services.Removed, name)
		}
	}
	return all, nil
}

func (b *build) service(s *Service) (*snapshot.Service, error) {
	members, err := b.members(s)
	if err != nil {
		return nil, err
	}
	cfg := pool.ServiceConfig{
		Name:    s.Name,
		State:   b.compiler.registry.Service(s.Name),
		Members: members,
		Balance: balances[s.Balance.Kind],
		Node:    b.doc.Node.Name(),
		Secret:  s.Balance.Sticky.Secret,
		Limits: pool.Limits{
			MaxConnections: s.Pool.MaxConnections, MaxWaiting: s.Pool.MaxWaiting,
			Wait: s.Pool.Wait, Idle: s.Pool.Idle, MaxAge: s.Pool.MaxAge, MinIdle: s.Pool.MinIdle,
		},
		Passive: pool.Passive{
			ConsecutiveFailures: s.Health.Passive.ConsecutiveFailures,
			Eject:               s.Health.Passive.Eject,
			MaxEjected:          int(s.Health.Passive.MaxEjected),
		},
	}
	setHealth(s, &cfg)
	p, err := pool.NewService(cfg)
	if err != nil {
		return nil, err
	}
	protocol, follows, err := b.serviceProtocol(s)
	if err != nil {
		return nil, err
	}
	out := &snapshot.Service{
		Name: s.Name, Protocol: protocol, Follows: follows, Pool: p, Balance: s.Balance.compiled(), MaxHead: int(s.Limits.Head), ConnectTimeout: s.Timeouts.Connect,
		Timeouts: snapshot.Timeouts{FirstByte: s.Timeouts.FirstByte, Idle: s.Timeouts.Idle},
		Retries: snapshot.Retries{
			Attempts: s.Retries.Attempts, PerTry: s.Retries.PerTry, Hedge: s.Retries.Hedge,
			Budget: float64(s.Retries.Budget),
		},
		ProxyProtocol: proxyVersions[s.ProxyProtocol],
		Opaque:        s.Protocol == protocolTCP,
		From:          s,
	}
	setOn(s.Retries.On, &out.Retries)
	if s.Source != "" {
		if out.Source, err = netip.ParseAddr(s.Source); err != nil {
			return nil, fmt.Errorf("service %q: source: %w", s.Name, err)
		}
	}
	return out, nil
}

func (b *build) members(s *Service) ([]pool.Member, error) {
	members := make([]pool.Member, 0, len(s.Endpoints))
	for _, e := range s.Endpoints {
		endpoint, err := b.compiler.registry.Endpoint(s.Name, e.Address, "")
		if err != nil {
			return nil, err
		}
		members = append(members, pool.Member{Endpoint: endpoint, Weight: e.Weight, Priority: e.Priority})
	}
	return members, nil
}

var proxyVersions = map[string]snapshot.ProxyVersion{
	"none": snapshot.ProxyNone, "v1": snapshot.ProxyV1, "v2": snapshot.ProxyV2,
}

// setOn translates what is repeated; validation has checked the words.
func setOn(on []string, out *snapshot.Retries) {
	out.Connect, out.Reset, out.Statuses = false, false, 0
	for _, what := range on {
		switch what {
		case "connect":
			out.Connect = true
		case "reset":
			out.Reset = true
		default:
			if code, err := strconv.Atoi(what); err == nil {
				out.Statuses = out.Statuses.With(code)
			}
		}
	}
}
