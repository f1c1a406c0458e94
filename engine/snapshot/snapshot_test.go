package snapshot

import (
	"fmt"
	"net/netip"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/corelane/corelane/pool"
)

func TestStatusSet(t *testing.T) {
	s := StatusSet(0).With(500).With(503).With(563).With(404).With(564)
	for code, want := range map[int]bool{499: false, 500: true, 501: false, 503: true, 563: true, 564: false, 404: false, 0: false} {
		require.Equal(t, want, s.Has(code), code)
	}
}

func TestTrusts(t *testing.T) {
	l := &Listener{TrustedProxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("::1/128")}}
	for addr, want := range map[string]bool{"10.1.2.3": true, "11.0.0.1": false, "::1": true, "::2": false} {
		require.Equal(t, want, l.Trusts(netip.MustParseAddr(addr)), addr)
	}
	require.False(t, (&Listener{}).Trusts(netip.MustParseAddr("127.0.0.1")), "nobody is trusted by default")
}

func TestEndpoints(t *testing.T) {
	r := pool.NewRegistry()
	services := map[string]*Service{}
	for _, name := range []string{"a", "b"} {
		e, err := r.Endpoint(name, "127.0.0.1:1", "")
		require.NoError(t, err)
		p, err := pool.NewService(pool.ServiceConfig{
			Name: name, State: r.Service(name), Members: []pool.Member{{Endpoint: e, Weight: 1}},
		})
		require.NoError(t, err)
		services[name] = &Service{Name: name, Pool: p}
	}
	require.Len(t, (&Snapshot{Services: services}).Endpoints(), 2)
}

func TestSeriesTakePlacesWhenHit(t *testing.T) {
	var book SeriesBook
	a, b := NewSeries("a"), NewSeries("b")
	require.False(t, a.Placed())
	first := a.Slot(&book)
	require.True(t, a.Placed())
	require.Equal(t, first, a.Slot(&book))
	require.NotEqual(t, first, b.Slot(&book))
	require.Equal(t, "a", book.Name(first))
	require.Equal(t, "other", book.Name(OtherSeries))
	require.Empty(t, book.Name(MaxSeries))
}

func TestSeriesAreBounded(t *testing.T) {
	var book SeriesBook
	for i := range MaxSeries {
		require.NotEqual(t, OtherSeries, NewSeries(fmt.Sprint(i)).Slot(&book))
	}
	for range 3 {
		require.Equal(t, OtherSeries, NewSeries("late").Slot(&book))
	}
	require.Equal(t, fmt.Sprint(MaxSeries-1), book.Name(MaxSeries))
}

func TestSeriesOfManyLoops(t *testing.T) {
	var book SeriesBook
	s := NewSeries("r")
	slots := make([]int, 8)
	var wg sync.WaitGroup
	for i := range slots {
		wg.Go(func() { slots[i] = s.Slot(&book) })
	}
	wg.Wait()
	for _, slot := range slots {
		require.Equal(t, slots[0], slot)
	}
	require.Equal(t, "r", book.Name(slots[0]))
}
