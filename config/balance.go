package config

import (
	"slices"
	"strings"

	"github.com/corelane/corelane/codec"
	"github.com/corelane/corelane/config/tree"
	"github.com/corelane/corelane/engine/snapshot"
	"github.com/corelane/corelane/pool"
)

// Balance is the way in which a service chooses an endpoint: a word, or the
// mapping of one to its settings.
type Balance struct {
	// Kind is the word.
	Kind string
	// Key and Name are what a hash goes by.
	Key  snapshot.KeySource
	Name string
	// Sticky are the settings of sticky.
	Sticky StickyBalance
}

// StickyBalance are the settings of a balance by cookie.
type StickyBalance struct {
	// Cookie is the name of the cookie; lane if it is not given.
	Cookie string `yaml:"cookie"`
	// Secret signs it; the same on all nodes.
	Secret string `yaml:"secret"`
}

var balances = map[string]pool.Balance{
	"weighted_random": pool.WeightedRandom,
	"round_robin":     pool.RoundRobin,
	"least_requests":  pool.LeastRequests,
	"ewma":            pool.EWMA,
	"hash":            pool.Hash,
	"sticky":          pool.Sticky,
}

// plainBalances are those that have no settings.
var plainBalances = []string{"weighted_random", "round_robin", "least_requests", "ewma"}

var keySources = map[string]snapshot.KeySource{
	"header": snapshot.KeyHeader, "cookie": snapshot.KeyCookie, "query": snapshot.KeyQuery, "ip": snapshot.KeyIP,
}

// Forms of the balances with settings, for messages.
const (
	hashForm   = "{hash: header:X-User-Id}"
	stickyForm = `{sticky: {cookie: lane, secret: "${env:NAME}"}}`
)

// defaultCookie is the name of the cookie of sticky.
const defaultCookie = "lane"

// DecodeNode reads a word, {hash: …} or {sticky: …}.
func (b *Balance) DecodeNode(d *tree.Decoder, n *tree.Node, at *tree.Path) {
	switch {
	case n.Scalar() && slices.Contains(plainBalances, n.Text):
		*b = Balance{Kind: n.Text}
	case n.Scalar() && n.Text == "hash":
		d.Report(n.Pos, at, "hash needs to know by what, such as "+hashForm)
	case n.Scalar() && n.Text == "sticky":
		d.Report(n.Pos, at, "sticky needs settings, such as "+stickyForm)
	case n.Scalar():
		d.Report(n.Pos, at, n.Show()+" is none of the allowed words"+tree.Suggest(n.Text, plainBalances))
	case n.Kind == tree.Map && len(n.Pairs) == 1:
		b.decodePair(d, &n.Pairs[0], at)
	default:
		d.Report(n.Pos, at, "expected a word, "+hashForm+" or "+stickyForm)
	}
}

func (b *Balance) decodePair(d *tree.Decoder, p *tree.Pair, at *tree.Path) {
	*b = Balance{Kind: p.Key}
	switch {
	case p.Key == "hash":
		b.decodeHash(d, p.Value, at.Key("hash"))
	case p.Key == "sticky":
		b.decodeSticky(d, p, at.Key("sticky"))
	case slices.Contains(plainBalances, p.Key):
		d.Report(p.Pos, at, p.Key+" has no settings: write `balance: "+p.Key+"`")
	default:
		d.Report(p.Pos, at, "unknown key"+tree.Suggest(p.Key, []string{"hash", "sticky"}))
	}
}

func (b *Balance) decodeHash(d *tree.Decoder, n *tree.Node, at *tree.Path) {
	source, name, named := strings.Cut(n.Text, ":")
	key, known := keySources[source]
	problem := ""
	switch {
	case !n.Scalar() || !known || named == (key == snapshot.KeyIP):
		problem = "expected header:NAME, cookie:NAME, query:NAME or ip"
	case key == snapshot.KeyIP:
	case name == "" || len(name) > maxName || hasControl(name):
		problem = "a name is needed after the colon"
	case key != snapshot.KeyQuery && !codec.IsToken([]byte(name)):
		problem = "the name of a " + source + " must not hold spaces or separators"
	}
	if problem != "" {
		d.Report(n.Pos, at, problem)
		return
	}
	b.Key, b.Name = key, name
}

func (b *Balance) decodeSticky(d *tree.Decoder, p *tree.Pair, at *tree.Path) {
	b.Sticky.Cookie = defaultCookie
	if p.Value.Kind != tree.Map {
		d.Report(p.Value.Pos, at, "expected settings, such as "+stickyForm)
		return
	}
	before := len(d.Findings)
	d.Decode(p.Value, at, &b.Sticky)
	switch {
	case len(d.Findings) > before: // the missing key may be what was mistyped
	case b.Sticky.Secret == "":
		d.Report(p.Pos, at.Key("secret"), `a secret is needed to sign the cookie, such as "${env:NAME}"`)
	case len(b.Sticky.Cookie) > maxName || !codec.IsToken([]byte(b.Sticky.Cookie)):
		d.Report(p.Value.Find("cookie"), at.Key("cookie"), "the name of a cookie must not be empty nor hold spaces or separators")
	}
}

// String is the word, without settings, which hold a secret.
func (b Balance) String() string { return b.Kind }

// balanceSchema is a word, {hash: …} or {sticky: …}.
func balanceSchema() *Schema {
	one := func(key string, value *Schema) *Schema {
		return &Schema{Type: Types{"object"}, Properties: Properties{{key, value}}, Required: []string{key}, Additional: false}
	}
	word := &Schema{Ref: "#/$defs/text"}
	sticky := &Schema{
		Type: Types{"object"}, Properties: Properties{{"cookie", word}, {"secret", word}},
		Required: []string{"secret"}, Additional: false,
	}
	return &Schema{AnyOf: append(wordsSchema(plainBalances),
		one("hash", text("^(?:ip|(?:header|cookie|query):.+)$")), one("sticky", sticky))}
}

// compiled is what the engine needs of it.
func (b *Balance) compiled() snapshot.Balance {
	out := snapshot.Balance{Key: b.Key, Name: b.Name}
	if b.Kind == "sticky" {
		out.Cookie = b.Sticky.Cookie
	}
	return out
}
