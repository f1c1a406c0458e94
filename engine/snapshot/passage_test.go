package snapshot

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPassage(t *testing.T) {
	rest, shop, wild, deep := &Route{}, &Route{}, &Route{}, &Route{}
	p := NewPassage(rest, map[string]*Route{
		"shop.example.com": shop, "*.example.com": wild, "*.eu.example.com": deep,
	})
	require.True(t, p.Peeks())
	for name, want := range map[string]*Route{
		"shop.example.com": shop, "a.example.com": wild, "a.b.example.com": wild, "a.eu.example.com": deep,
		"eu.example.com": wild, "example.com": rest, ".example.com": rest, "com": rest, "": rest, "xshop.example.com": wild,
		"a.example.com.evil": rest, "a.example.org": rest,
	} {
		require.Same(t, want, p.Route([]byte(name)), name)
	}
	require.Zero(t, testing.AllocsPerRun(100, func() { p.Route([]byte("a.b.example.com")) }))
}

func TestPassageRefuses(t *testing.T) {
	p := NewPassage(nil, map[string]*Route{"shop.example.com": {}})
	require.Nil(t, p.Route([]byte("a.example.com")))
	require.Nil(t, p.Route(nil))
	require.False(t, NewPassage(&Route{}, nil).Peeks())
}
