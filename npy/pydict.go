package npy

import (
	"math"
	"strings"

	"weft/internal/array"
)

// fields is what the dictionary of a header says.
type fields struct {
	descr   string
	members []member // if descr is a list; not nil
	size    int      // of a record
	fortran bool
	shape   []int
}

// parseDict parses the header's text: one Python dictionary literal with
// exactly the keys 'descr', 'fortran_order' and 'shape', in any order.
//
// The grammar is the part of Python's that a plain array needs: strings
// without escapes, True, False and tuples of decimal integers (with the suffix
// L that Python 2 wrote), and the lists of structured types. Before format version 3
// a name is Latin-1, from then on UTF-8.
func parseDict(text string, major byte) (fields, error) {
	p := parser{text: text, latin: major < 3}
	var f fields
	var seen []string
	if err := p.expect('{'); err != nil {
		return f, err
	}
	for !p.take('}') {
		key, err := p.str()
		if err != nil {
			return f, err
		}
		for _, s := range seen {
			if s == key {
				return f, malformed("header: key %q is given twice", key)
			}
		}
		seen = append(seen, key)
		if err := p.expect(':'); err != nil {
			return f, err
		}
		switch key {
		case "descr":
			switch p.peek() {
			case '[':
				f.members, f.size, err = p.members(0)
			case '(': // an array of arrays, which numpy.save never writes
				return f, &UnsupportedError{DType: "structured"}
			default:
				f.descr, err = p.str()
			}
		case "fortran_order":
			f.fortran, err = p.boolean()
		case "shape":
			f.shape, err = p.tuple()
		default:
			return f, malformed("header: unknown key %q", key)
		}
		if err != nil {
			return f, err
		}
		if !p.take(',') {
			if err := p.expect('}'); err != nil {
				return f, err
			}
			break
		}
	}
	if p.peek() != 0 || p.pos < len(p.text) {
		return f, p.unexpected("the end of the header")
	}
	if len(seen) != 3 {
		return f, malformed("header: the keys are %q, want descr, fortran_order and shape", seen)
	}
	return f, nil
}

type parser struct {
	text  string
	pos   int
	latin bool // names of fields are Latin-1
}

// peek returns the next byte after white space, 0 at the end.
func (p *parser) peek() byte {
	for ; p.pos < len(p.text); p.pos++ {
		if c := p.text[p.pos]; !strings.ContainsRune(" \t\r\n\f", rune(c)) {
			return c
		}
	}
	return 0
}

// take consumes the byte c if it is next.
func (p *parser) take(c byte) bool {
	if p.peek() != c || p.pos == len(p.text) {
		return false
	}
	p.pos++
	return true
}

func (p *parser) expect(c byte) error {
	if !p.take(c) {
		return p.unexpected("'" + string(rune(c)) + "'")
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

func (p *parser) str() (string, error) { return p.quoted(false) }

// quoted parses a string, which may go beyond ASCII if it is a name.
func (p *parser) quoted(name bool) (string, error) {
	quote := p.peek()
	if quote != '\'' && quote != '"' {
		return "", p.unexpected("a string")
	}
	start := p.pos + 1
	for i := start; i < len(p.text); i++ {
		switch c := p.text[i]; {
		case c == quote:
			p.pos = i + 1
			return p.text[start:i], nil
		case c == '\\' || c < ' ' || c == 0x7f || c > '~' && !name:
			return "", malformed("header: %q at byte %d: strings are plain ASCII without escapes", c, i)
		}
	}
	return "", malformed("header: the string at byte %d does not end", start-1)
}

func (p *parser) boolean() (bool, error) {
	p.peek()
	for _, word := range []string{"True", "False"} {
		if strings.HasPrefix(p.text[p.pos:], word) {
			p.pos += len(word)
			return word == "True", nil
		}
	}
	return false, p.unexpected("True or False")
}

// tuple parses a shape. As in Python, one element needs a comma after it.
func (p *parser) tuple() ([]int, error) {
	if err := p.expect('('); err != nil {
		return nil, err
	}
	shape := []int{}
	for !p.take(')') {
		n, err := p.size()
		if err != nil {
			return nil, err
		}
		if len(shape) == array.MaxRank {
			return nil, malformed("header: shape has more than %d dimensions", array.MaxRank)
		}
		shape = append(shape, n)
		if !p.take(',') {
			if len(shape) == 1 {
				return nil, p.unexpected("','")
			}
			if err := p.expect(')'); err != nil {
				return nil, err
			}
			break
		}
	}
	return shape, nil
}

// size parses a decimal integer that is not negative and fits an int.
func (p *parser) size() (int, error) {
	if p.peek() == '-' {
		return 0, malformed("header: shape has a negative dimension")
	}
	start, n := p.pos, 0
	for ; p.pos < len(p.text) && '0' <= p.text[p.pos] && p.text[p.pos] <= '9'; p.pos++ {
		d := int(p.text[p.pos] - '0')
		if n > (math.MaxInt-d)/10 {
			return 0, malformed("header: shape has a dimension that overflows")
		}
		n = 10*n + d
	}
	switch digits := p.text[start:p.pos]; {
	case digits == "":
		return 0, p.unexpected("a dimension")
	case len(digits) > 1 && digits[0] == '0':
		return 0, malformed("header: %s is not a decimal integer of Python", digits)
	}
	if p.pos < len(p.text) && p.text[p.pos] == 'L' {
		p.pos++
	}
	return n, nil
}
