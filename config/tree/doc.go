// Package tree reads YAML into a tree in which every node knows its place, and
// decodes such a tree strictly into Go structs.
//
// It differs from an ordinary YAML decoder in four ways. It does not stop at
// the first problem: everything that is wrong is reported at once, each with
// line, column and the path of keys that leads there. Unknown keys are problems
// and get a suggestion. Defaults, allowed words and ranges stand in struct tags
// beside the field's comment, so the struct is the whole documentation. And
// references to secrets, ${env:NAME} and ${file:/path}, are expanded in values
// but never shown in a message.
//
// Struct tags: `yaml:"key"`, `default:"text"`, `enum:"a|b"`, `min:"1"`,
// `max:"10s"`, `later:"c|d"` for words that other versions have, and, beside enum,
// `words:"set"` for words that the program knows only when it runs.
package tree

// Limits of one text. They stop a hostile or broken document, not a large one.
const (
	// MaxText bounds one file in bytes.
	MaxText = 64 << 20
	// maxDepth bounds the nesting of lists and mappings.
	maxDepth = 64
	// maxAliasNodes bounds the nodes that aliases add to one text.
	maxAliasNodes = 100_000
	// maxSecretFile bounds a file named by ${file:…} in bytes.
	maxSecretFile = 1 << 20
)
