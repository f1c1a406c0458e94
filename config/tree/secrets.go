package tree

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
)

// Secrets expands references to values that do not belong into a document, and
// remembers them so that messages can be cleaned of them.
type Secrets struct {
	// Env looks a variable up; nil: the process's environment.
	Env func(name string) (string, bool)
	// ReadFile reads a file; nil: the file system.
	ReadFile func(path string) ([]byte, error)

	used  bool
	shown map[string]string
}

// minSecret is the shortest value that Clean replaces: shorter ones would turn
// every message into noise and hide nothing.
const minSecret = 3

// Expand replaces ${env:NAME} and ${file:/path} (its text without the line
// breaks at the end). Any other ${ stays as it is, and $${ stands for ${.
func (s *Secrets) Expand(text string) (string, error) {
	var out strings.Builder
	for {
		i := strings.Index(text, "${")
		if i < 0 {
			out.WriteString(text)
			return out.String(), nil
		}
		if i > 0 && text[i-1] == '$' {
			out.WriteString(text[:i-1])
			out.WriteString("${")
			text = text[i+2:]
			continue
		}
		out.WriteString(text[:i])
		n, err := s.reference(text[i:], &out)
		if err != nil {
			return "", err
		}
		text = text[i+n:]
	}
}

// reference expands the one that text begins with and returns its length.
func (s *Secrets) reference(text string, out *strings.Builder) (int, error) {
	kind, rest, _ := strings.Cut(text[2:], ":")
	if kind != "env" && kind != "file" {
		out.WriteString("${")
		return 2, nil
	}
	name, _, closed := strings.Cut(rest, "}")
	if !closed || name == "" {
		return 0, fmt.Errorf("the reference ${%s:… needs a name and a closing brace", kind)
	}
	value, err := s.value(kind, name)
	if err != nil {
		return 0, err
	}
	s.used = true
	ref := "${" + kind + ":" + name + "}"
	if s.shown == nil {
		s.shown = make(map[string]string)
	}
	if len(value) >= minSecret {
		s.shown[value] = ref
	}
	out.WriteString(value)
	return len(ref), nil
}

func (s *Secrets) value(kind, name string) (string, error) {
	if kind == "env" {
		look := s.Env
		if look == nil {
			look = os.LookupEnv
		}
		if v, ok := look(name); ok {
			return v, nil
		}
		return "", fmt.Errorf("the environment has no variable %q", name)
	}
	read := s.ReadFile
	if read == nil {
		read = readSecretFile
	}
	b, err := read(name)
	if err != nil {
		return "", fmt.Errorf("the file of ${file:%s} cannot be read: %w", name, cause(err))
	}
	return strings.TrimRight(string(b), "\r\n"), nil
}

func readSecretFile(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxSecretFile {
		return nil, errors.New("not a regular file of at most 1 MiB")
	}
	return os.ReadFile(path)
}

// cause drops the operation and path that the message already names.
func cause(err error) error {
	var p *os.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

// Used tells whether anything was expanded.
func (s *Secrets) Used() bool { return s != nil && s.used }

// Clean replaces every expanded value in a message by its reference.
func (s *Secrets) Clean(message string) string {
	if !s.Used() {
		return message
	}
	longestFirst := slices.SortedFunc(maps.Keys(s.shown), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b))
	})
	for _, value := range longestFirst {
		ref := s.shown[value]
		message = strings.ReplaceAll(message, value, ref)
		quoted := strconv.Quote(value)
		if inner := quoted[1 : len(quoted)-1]; inner != value {
			message = strings.ReplaceAll(message, inner, ref)
		}
	}
	return message
}
