package safetensors

import (
	"math"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"weft/internal/array"
)

const metadataKey = "__metadata__"

// An entry is what the header says of one tensor.
type entry struct {
	name       string
	kind       *kind
	shape      []int
	begin, end int64 // its bytes, counted from the end of the header
}

// parseHeader parses the JSON text of a header. It knows the form of the
// format's headers and no other JSON; values are checked one by one, but not
// against each other.
func parseHeader(text string) ([]entry, map[string]string, error) {
	if !strings.HasPrefix(text, "{") {
		return nil, nil, malformed("header: it does not begin with '{'")
	}
	if !utf8.ValidString(text) {
		return nil, nil, malformed("header: invalid UTF-8")
	}
	p := parser{text: text}
	var entries []entry
	var metadata map[string]string
	seen := map[string]bool{}
	err := p.object(func(key string) error {
		if seen[key] {
			return malformed("header: key %q is given twice", key)
		}
		seen[key] = true
		if key == metadataKey {
			var err error
			metadata, err = p.stringMap()
			return err
		}
		e := entry{name: key}
		if err := p.tensor(&e); err != nil {
			return err
		}
		entries = append(entries, e)
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	if p.peek(); p.pos < len(p.text) {
		return nil, nil, p.unexpected("the end of the header")
	}
	return entries, metadata, nil
}

type parser struct {
	text string
	pos  int
}

// peek returns the next byte after white space, 0 at the end.
func (p *parser) peek() byte {
	for ; p.pos < len(p.text); p.pos++ {
		switch c := p.text[p.pos]; c {
		case ' ', '\t', '\r', '\n':
		default:
			return c
		}
	}
	return 0
}

func (p *parser) take(c byte) bool {
	if p.peek() != c || p.pos == len(p.text) {
		return false
	}
	p.pos++
	return true
}

func (p *parser) expect(c byte) error {
	if !p.take(c) {
		return p.unexpected(strconv.QuoteRune(rune(c)))
	}
	return nil
}

func (p *parser) unexpected(want string) error {
	p.peek()
	if p.pos == len(p.text) {
		return malformed("header: it ends where %s is expected", want)
	}
	return malformed("header: %q at byte %d where %s is expected", p.text[p.pos], p.pos, want)
}

// object parses an object; value parses what follows a key.
func (p *parser) object(value func(key string) error) error {
	if err := p.expect('{'); err != nil {
		return err
	}
	if p.take('}') {
		return nil
	}
	for {
		key, err := p.str()
		if err != nil {
			return err
		}
		if err := p.expect(':'); err != nil {
			return err
		}
		if err := value(key); err != nil {
			return err
		}
		if !p.take(',') {
			return p.expect('}')
		}
	}
}

// stringMap parses an object of strings.
func (p *parser) stringMap() (map[string]string, error) {
	m := map[string]string{}
	err := p.object(func(key string) error {
		if _, twice := m[key]; twice {
			return malformed("header: %s: key %q is given twice", metadataKey, key)
		}
		var err error
		m[key], err = p.str()
		return err
	})
	return m, err
}

// tensor parses the description of e.name.
func (p *parser) tensor(e *entry) error {
	var offsets []int
	err := p.object(func(key string) error {
		var err error
		twice := false
		switch key {
		case "dtype":
			twice = e.kind != nil
			var name string
			if name, err = p.str(); err == nil {
				if e.kind = kindByName[name]; e.kind == nil {
					return malformed("tensor %q: unknown dtype %q", e.name, name)
				}
			}
		case "shape":
			twice = e.shape != nil
			e.shape, err = p.ints(array.MaxRank)
		case "data_offsets":
			twice = offsets != nil
			offsets, err = p.ints(2)
		default:
			return malformed("tensor %q: unknown key %q", e.name, key)
		}
		if twice {
			return malformed("tensor %q: key %q is given twice", e.name, key)
		}
		return err
	})
	switch {
	case err != nil:
		return err
	case e.kind == nil:
		return malformed("tensor %q: dtype is missing", e.name)
	case e.shape == nil:
		return malformed("tensor %q: shape is missing", e.name)
	case len(offsets) != 2:
		return malformed("tensor %q: data_offsets is missing or no pair", e.name)
	}
	e.begin, e.end = int64(offsets[0]), int64(offsets[1])
	return nil
}

// ints parses an array of at most limit integers. The result is not nil.
func (p *parser) ints(limit int) ([]int, error) {
	if err := p.expect('['); err != nil {
		return nil, err
	}
	out := []int{}
	if p.take(']') {
		return out, nil
	}
	for {
		n, err := p.integer()
		if err != nil {
			return nil, err
		}
		if len(out) == limit {
			return nil, malformed("header: more than %d numbers at byte %d", limit, p.pos)
		}
		out = append(out, n)
		if !p.take(',') {
			return out, p.expect(']')
		}
	}
}

// integer parses an integer that is not negative and fits an int.
func (p *parser) integer() (int, error) {
	p.peek()
	start, n := p.pos, 0
	for ; p.pos < len(p.text) && '0' <= p.text[p.pos] && p.text[p.pos] <= '9'; p.pos++ {
		d := int(p.text[p.pos] - '0')
		if n > (math.MaxInt-d)/10 {
			return 0, malformed("header: the number at byte %d overflows", start)
		}
		n = 10*n + d
	}
	if p.pos == start || p.text[start] == '0' && p.pos > start+1 {
		p.pos = start
		return 0, p.unexpected("an integer that is not negative")
	}
	return n, nil
}

// str parses a string.
func (p *parser) str() (string, error) {
	if p.peek() != '"' {
		return "", p.unexpected("a string")
	}
	open := p.pos
	p.pos++
	var b strings.Builder
	for start := p.pos; p.pos < len(p.text); {
		c := p.text[p.pos]
		switch {
		case c == '"':
			s := p.text[start:p.pos]
			p.pos++
			if b.Len() == 0 {
				return s, nil
			}
			b.WriteString(s)
			return b.String(), nil
		case c < ' ':
			return "", malformed("header: control character %q at byte %d", c, p.pos)
		case c == '\\':
			b.WriteString(p.text[start:p.pos])
			r, err := p.escape()
			if err != nil {
				return "", err
			}
			b.WriteRune(r)
			start = p.pos
		default:
			p.pos++
		}
	}
	return "", malformed("header: the string at byte %d does not end", open)
}

// escapes are the escape sequences of one character.
var escapes = map[byte]rune{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// escape parses an escape sequence, of which p.pos is the backslash.
func (p *parser) escape() (rune, error) {
	start := p.pos
	if start+1 < len(p.text) {
		if r, ok := escapes[p.text[start+1]]; ok {
			p.pos += 2
			return r, nil
		}
	}
	if r, ok := p.hex(); ok {
		if !utf16.IsSurrogate(r) {
			return r, nil
		}
		if low, ok := p.hex(); ok {
			if r := utf16.DecodeRune(r, low); r != utf8.RuneError {
				return r, nil
			}
		}
	}
	return 0, malformed("header: invalid escape sequence at byte %d", start)
}

// hex parses an escape of four hexadecimal digits.
func (p *parser) hex() (rune, bool) {
	s := p.text[p.pos:]
	if len(s) < 6 || s[:2] != `\u` {
		return 0, false
	}
	n, err := strconv.ParseUint(s[2:6], 16, 16)
	if err != nil {
		return 0, false
	}
	p.pos += 6
	return rune(n), true
}

// appendString appends s as the reference library does: only what JSON demands
// is escaped.
func appendString(b []byte, s string) []byte {
	const short, hex = "\"\"\\\\\bb\ff\nn\rr\tt", "0123456789abcdef"
	b = append(b, '"')
	for i := range len(s) {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' {
			b = append(b, c)
			continue
		}
		b = append(b, '\\')
		if k := strings.IndexByte(short, c); k >= 0 {
			b = append(b, short[k+1])
		} else {
			b = append(b, 'u', '0', '0', hex[c>>4], hex[c&15])
		}
	}
	return append(b, '"')
}
