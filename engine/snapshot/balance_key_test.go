package snapshot

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/cespare/xxhash/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/corelane/corelane/codec"
	"github.com/corelane/corelane/pool"
)

var someClient = netip.MustParseAddr("10.1.2.3")

// requestWith is a head of a.test with a query and fields.
func requestWith(query string, fields ...string) *codec.Head {
	h := new(codec.Head)
	h.Reset()
	h.SetAuthority([]byte("a.test"))
	h.SetQuery([]byte(query))
	for _, f := range fields {
		name, value, _ := strings.Cut(f, ": ")
		h.AddString(name, value)
	}
	return h
}

func TestBalanceKey(t *testing.T) {
	by := func(source KeySource, name string) Balance {
		return Balance{Key: source, Name: name}
	}
	ip := netip.MustParseAddr("10.1.2.3").As16()
	for name, tt := range map[string]struct {
		balance Balance
		query   string
		fields  []string
		want    string // what is hashed
	}{
		"nothing":            {Balance{}, "a=1", []string{"X-User: 7"}, ""},
		"header":             {by(KeyHeader, "x-USER"), "", []string{"X-Other: 1", "X-User: 7", "X-User: 8"}, "7"},
		"no header":          {by(KeyHeader, "X-User"), "", []string{"X-Users: 7"}, ""},
		"empty header":       {by(KeyHeader, "X-User"), "", []string{"X-User: "}, ""},
		"host":               {by(KeyHeader, "Host"), "", nil, "a.test"},
		"cookie":             {by(KeyCookie, "uid"), "", []string{"Cookie: a=1; uid=7; b=2"}, "7"},
		"second field":       {by(KeyCookie, "uid"), "", []string{"Cookie: a=1", "X-A: uid=5", `Cookie: uid="8"`}, "8"},
		"cookie case":        {by(KeyCookie, "uid"), "", []string{"Cookie: UID=7"}, ""},
		"empty cookie first": {by(KeyCookie, "uid"), "", []string{"Cookie: uid=; uid=9"}, "9"},
		"no cookie":          {by(KeyCookie, "uid"), "", []string{"Cookie: ;;=;uid"}, ""},
		"query":              {by(KeyQuery, "user id"), "a=1&user+id=7%20x+y%zz%4&user%20id=8", nil, "7 x y%zz%4"},
		"long query":         {by(KeyQuery, "id"), "id=" + strings.Repeat("%41b", 100), nil, strings.Repeat("Ab", 100)},
		"empty query":        {by(KeyQuery, "id"), "id=&id", nil, ""},
		"no query":           {by(KeyQuery, "id"), "", nil, ""},
		"ip":                 {by(KeyIP, ""), "", nil, string(ip[:])},
	} {
		t.Run(name, func(t *testing.T) {
			s, h := &Service{Balance: tt.balance}, requestWith(tt.query, tt.fields...)
			want := pool.Key{}
			if tt.want != "" {
				want = pool.Key{Hash: xxhash.Sum64String(tt.want), Has: true}
			}
			assert.Equal(t, want, s.Key(h, someClient))
			assert.Zero(t, testing.AllocsPerRun(50, func() { s.Key(h, someClient) }))
		})
	}
	s := &Service{Balance: by(KeyIP, "")}
	assert.False(t, s.Key(requestWith(""), netip.Addr{}).Has, "a client of a unix socket")
}

func TestAddressesHashAsOneFamily(t *testing.T) {
	s, h := &Service{Balance: Balance{Key: KeyIP}}, requestWith("")
	assert.Equal(t, s.Key(h, someClient), s.Key(h, netip.MustParseAddr("::ffff:10.1.2.3")))
	assert.NotEqual(t, s.Key(h, someClient), s.Key(h, netip.MustParseAddr("10.1.2.4")))
}

func FuzzBalanceKey(f *testing.F) {
	f.Add("a=1&id=%41", "uid=7; x", "7")
	f.Add("%", ";;==;uid=\"", "")
	f.Fuzz(func(t *testing.T, query, cookie, header string) {
		for _, b := range []Balance{
			{Key: KeyQuery, Name: "id"}, {Key: KeyCookie, Name: "uid"}, {Key: KeyHeader, Name: "X-User"},
		} {
			s, h := &Service{Balance: b}, requestWith(query, "Cookie: "+cookie, "X-User: "+header)
			require.Equal(t, s.Key(h, someClient), s.Key(h, someClient))
		}
	})
}

func TestRememberedEndpoint(t *testing.T) {
	r := pool.NewRegistry()
	e, err := r.Endpoint("a", "127.0.0.1:1", "")
	require.NoError(t, err)
	p, err := pool.NewService(pool.ServiceConfig{
		Name: "a", State: r.Service("a"), Members: []pool.Member{{Endpoint: e, Weight: 1}}, Balance: pool.Sticky, Secret: "secret",
	})
	require.NoError(t, err)
	s := &Service{Pool: p, Balance: Balance{Cookie: "lane"}}
	token := p.StickyToken(e)
	for cookie, want := range map[string]*pool.Endpoint{
		"lane=" + token: e, "a=b; lane=" + token: e, "lane=forged; lane=" + token: e, `lane="` + token + `"`: e,
		"": nil, "lane=": nil, "LANE=" + token: nil, "lane=" + token + "x": nil, "other=" + token: nil,
	} {
		assert.Equal(t, pool.Key{Sticky: want}, s.Key(requestWith("", "Cookie: "+cookie), someClient), cookie)
	}
	h := requestWith("", "Cookie: lane=forged; lane="+token)
	assert.Zero(t, testing.AllocsPerRun(50, func() { s.Key(h, someClient) }))
}
