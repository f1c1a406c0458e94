package snapshot

import (
	"net/netip"

	"github.com/cespare/xxhash/v2"

	"github.com/corelane/corelane/codec"
	"github.com/corelane/corelane/pool"
)

// Key is what a request contributes to the choice of its endpoint. It goes by
// the head as it is forwarded, and by the client's address. The hash has no
// seed, so that all nodes agree. A part that is empty counts as missing. Any
// goroutine; no allocation.
func (s *Service) Key(h *codec.Head, client netip.Addr) pool.Key {
	if s.Balance.Key == KeyNone && s.Balance.Cookie == "" {
		return pool.Key{}
	}
	return s.key(h, client)
}

func (s *Service) key(h *codec.Head, client netip.Addr) pool.Key {
	b := &s.Balance
	switch {
	case b.Cookie != "":
		return pool.Key{Sticky: s.remembered(h)}
	case b.Key == KeyQuery:
		return queryKey(h, b.Name)
	case b.Key == KeyIP && client.IsValid():
		ip := client.As16() // of both forms of an IPv4 address
		return keyOf(ip[:])
	case b.Key == KeyHeader:
		return headerKey(h, b.Name)
	case b.Key == KeyCookie:
		for all := (cookies{head: h}); ; {
			if value, ok := all.next(b.Name); len(value) > 0 || !ok {
				return keyOf(value)
			}
		}
	}
	return pool.Key{}
}

func keyOf(part []byte) pool.Key {
	if len(part) == 0 {
		return pool.Key{}
	}
	return pool.Key{Hash: xxhash.Sum64(part), Has: true}
}

// headerKey goes by the first field of a name that has a value; Host is the
// authority, wherever it came from.
func headerKey(h *codec.Head, name string) pool.Key {
	if equalFold(hostName, name) {
		return keyOf(h.Authority())
	}
	for i := range h.Len() {
		if !h.Removed(i) && equalFold(h.Name(i), name) && len(h.Value(i)) > 0 {
			return keyOf(h.Value(i))
		}
	}
	return pool.Key{}
}

var hostName = []byte("host")

// queryKey goes by the first parameter of a name that has a value, decoded a
// piece at a time.
func queryKey(h *codec.Head, name string) pool.Key {
	for rest := h.Query(); len(rest) > 0; {
		var pair []byte
		pair, rest = cut(rest, '&')
		k, v := cut(pair, '=')
		if len(v) == 0 || !equalQuery(k, name) {
			continue
		}
		var sum xxhash.Digest
		sum.Reset()
		var piece [64]byte
		for i := 0; i < len(v); {
			n := 0
			for ; i < len(v) && n < len(piece); n++ {
				piece[n], i = queryByte(v, i)
			}
			_, _ = sum.Write(piece[:n]) // it cannot fail
		}
		return pool.Key{Hash: sum.Sum64(), Has: true}
	}
	return pool.Key{}
}

// remembered is the endpoint that the first valid cookie names; nil: there is
// none.
func (s *Service) remembered(h *codec.Head) *pool.Endpoint {
	for all := (cookies{head: h}); ; {
		value, ok := all.next(s.Balance.Cookie)
		if !ok {
			return nil
		}
		if e := s.Pool.StickyEndpoint(value); e != nil {
			return e
		}
	}
}
