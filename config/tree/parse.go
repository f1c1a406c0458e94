package tree

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// Finding is one thing that is wrong, at a place in a text.
type Finding struct {
	Pos     Pos
	Path    string
	Message string
}

// Input is what Parse reads.
type Input struct {
	Bytes []byte
	// Line is the number of the first line, for a part of a larger text.
	Line int
	// Secrets expands references; nil leaves them as they are.
	Secrets *Secrets
}

// Parsed is the outcome of Parse.
type Parsed struct {
	// Documents are the trees; documents without content are left out.
	Documents []*Node
	Findings  []Finding
	// Anchored tells that the text holds an anchor or an alias.
	Anchored bool
}

// Parse reads the documents of a text. It never panics.
func Parse(t Input) (p Parsed) {
	b := builder{text: t}
	defer func() {
		if recover() != nil {
			b.report(Pos{Line: 1, Col: 1}, "the YAML parser gave up on this text")
			p = Parsed{Findings: b.findings}
		}
	}()
	if pos, deep := tooDeep(t.Bytes); deep {
		b.report(pos, fmt.Sprintf("nested deeper than %d levels", maxDepth))
		return Parsed{Findings: b.findings}
	}
	file, err := parser.ParseBytes(t.Bytes, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		b.syntax(err)
		return Parsed{Findings: b.findings, Anchored: bytes.ContainsAny(t.Bytes, "&*")}
	}
	for _, doc := range file.Docs {
		if doc.Body == nil {
			continue
		}
		b.anchors = nil
		if n := b.build(doc.Body, 0); n.Kind != Null {
			p.Documents = append(p.Documents, n)
		}
	}
	p.Findings, p.Anchored = b.findings, b.anchored
	return p
}

// builder turns the parser's syntax tree into ours.
type builder struct {
	text     Input
	findings []Finding
	anchors  map[string]ast.Node
	anchored bool
	aliasing int
	copied   int
	flooded  bool
}

func (b *builder) report(pos Pos, message string) {
	b.findings = append(b.findings, Finding{Pos: b.shift(pos), Message: message})
}

// shift turns a place in this part into a place in the whole text.
func (b *builder) shift(pos Pos) Pos {
	if b.text.Line > 1 {
		pos.Line += b.text.Line - 1
	}
	return pos
}

func (b *builder) syntax(err error) {
	pos := Pos{Line: 1, Col: 1}
	message := "not valid YAML"
	var located interface {
		GetToken() *token.Token
		GetMessage() string
	}
	if errors.As(err, &located) {
		message = located.GetMessage()
		if tk := located.GetToken(); tk != nil && tk.Position != nil {
			pos = Pos{Line: max(1, tk.Position.Line), Col: max(1, tk.Position.Column)}
		}
	}
	b.report(pos, "YAML: "+message)
}

func position(n ast.Node) Pos {
	tk := n.GetToken()
	if tk == nil || tk.Position == nil {
		return Pos{Line: 1, Col: 1}
	}
	return Pos{Line: tk.Position.Line, Col: tk.Position.Column}
}

func (b *builder) build(n ast.Node, depth int) *Node {
	out := &Node{Pos: b.shift(position(n))}
	if b.tooMuch(n, depth) {
		return out
	}
	switch n := n.(type) {
	case *ast.NullNode:
	case *ast.BoolNode:
		out.Kind, out.Text = Bool, n.GetToken().Value
	case *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
		out.Kind, out.Text = Number, n.GetToken().Value
	case *ast.StringNode:
		b.setText(out, n.Value)
	case *ast.LiteralNode:
		b.setText(out, n.Value.Value)
	case *ast.SequenceNode:
		out.Kind = List
		out.Items = make([]*Node, 0, len(n.Values))
		for _, v := range n.Values {
			out.Items = append(out.Items, b.build(v, depth+1))
		}
	case *ast.MappingNode:
		b.buildMap(out, n.Values, depth)
	case *ast.MappingValueNode:
		b.buildMap(out, []*ast.MappingValueNode{n}, depth)
	case *ast.AnchorNode:
		return b.anchor(n, depth)
	case *ast.AliasNode:
		return b.alias(n, out, depth)
	default:
		b.report(position(n), "tags, directives and merge keys are not supported")
	}
	return out
}

// tooMuch stops what nests too deep or, by aliases, grows too large.
func (b *builder) tooMuch(n ast.Node, depth int) bool {
	if b.aliasing > 0 {
		b.copied++
	}
	if depth <= maxDepth && b.copied <= maxAliasNodes {
		return false
	}
	if !b.flooded {
		b.flooded = true
		message := fmt.Sprintf("nested deeper than %d levels", maxDepth)
		if b.copied > maxAliasNodes {
			message = fmt.Sprintf("aliases add more than %d values", maxAliasNodes)
		}
		b.report(position(n), message)
	}
	return true
}

func (b *builder) setText(out *Node, text string) {
	out.Kind, out.Text = Text, text
	if b.text.Secrets == nil || !strings.Contains(text, "${") {
		return
	}
	expanded, err := b.text.Secrets.Expand(text)
	if err != nil {
		b.findings = append(b.findings, Finding{Pos: out.Pos, Message: err.Error()})
		return
	}
	if expanded != text {
		out.Text, out.Raw = expanded, text
	}
}

func (b *builder) buildMap(out *Node, values []*ast.MappingValueNode, depth int) {
	out.Kind = Map
	out.Pairs = make([]Pair, 0, len(values))
	seen := make(map[string]int, len(values))
	for i, v := range values {
		at := position(v.Key)
		if i == 0 && out.Pos.Line == b.shift(at).Line && out.Pos.Col > at.Col {
			out.Pos = b.shift(at) // a block mapping's own token is its first colon
		}
		key, ok := keyText(v.Key)
		if !ok {
			b.report(at, "a key must be plain text; merge keys, anchors and lists are not supported here")
			continue
		}
		if line, twice := seen[key]; twice {
			b.report(at, fmt.Sprintf("%q is given twice, first in line %d", key, line))
			continue
		}
		seen[key] = b.shift(at).Line
		out.Pairs = append(out.Pairs, Pair{Key: key, Pos: b.shift(at), Value: b.build(v.Value, depth+1)})
	}
}

func keyText(n ast.MapKeyNode) (string, bool) {
	switch n := n.(type) {
	case *ast.StringNode:
		return n.Value, true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.NullNode:
		return n.GetToken().Value, true
	}
	return "", false
}

// anchor remembers a node after building it, so that it cannot contain itself.
func (b *builder) anchor(n *ast.AnchorNode, depth int) *Node {
	b.anchored = true
	out := b.build(n.Value, depth+1)
	if b.anchors == nil {
		b.anchors = make(map[string]ast.Node)
	}
	b.anchors[n.Name.GetToken().Value] = n.Value
	return out
}

func (b *builder) alias(n *ast.AliasNode, out *Node, depth int) *Node {
	b.anchored = true
	name := n.Value.GetToken().Value
	target, ok := b.anchors[name]
	if !ok {
		b.report(position(n), fmt.Sprintf("no anchor &%s stands before this alias", name))
		return out
	}
	b.aliasing++
	defer func() { b.aliasing-- }()
	return b.build(target, depth+1)
}

// tooDeep looks for nesting that would exhaust the parser's stack, without
// parsing. It counts brackets outside quotes, and the dashes that open lists
// inside one line; indentation cannot nest deeply in a text of bounded size.
func tooDeep(text []byte) (Pos, bool) {
	line, depth, quote := 1, 0, byte(0)
	leading, start := 0, 0
	for i, c := range text {
		switch {
		case c == '\n':
			line, leading, start = line+1, 0, i+1
			if i+1 < len(text) && text[i+1] > ' ' {
				depth, quote = 0, 0
			}
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			if i > start && strings.IndexByte(" \t[{,:", text[i-1]) >= 0 {
				quote = c
			}
		case c == '[' || c == '{':
			depth++
		case c == ']' || c == '}':
			depth = max(0, depth-1)
		case c == '-' || c == '?' || c == ':':
			if leading >= 0 && i+1 < len(text) && text[i+1] == ' ' {
				leading++
			} else {
				leading = -1
			}
		case c != ' ' && c != '\t':
			leading = -1
		}
		if depth > 4*maxDepth || leading > maxDepth {
			return Pos{Line: line, Col: i - start + 1}, true
		}
	}
	return Pos{}, false
}
