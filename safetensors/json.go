package safetensors

import (
	"encoding/json"
	"errors"
	"io"
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

// parseHeader parses the JSON text of a header and is stricter than JSON: no key
// is given twice, none is unknown, sizes are whole numbers written with digits
// alone, text is valid Unicode. Values are checked one by one, but not against
// each other.
func parseHeader(text string) ([]entry, map[string]string, error) {
	switch {
	case !strings.HasPrefix(text, "{"):
		return nil, nil, malformed("header: it does not begin with '{'")
	case !utf8.ValidString(text):
		return nil, nil, malformed("header: invalid UTF-8")
	case !pairedSurrogates(text):
		return nil, nil, malformed("header: invalid escape sequence: half of a surrogate pair")
	}
	p := parser{text: text, dec: json.NewDecoder(strings.NewReader(text))}
	p.dec.UseNumber()
	var entries []entry
	var metadata map[string]string
	err := p.object("header", func(key string) (err error) {
		if key == metadataKey {
			metadata = map[string]string{}
			return p.object("header: "+metadataKey, func(key string) (err error) {
				metadata[key], err = p.str("a string")
				return err
			})
		}
		e, err := p.tensor(key)
		entries = append(entries, e)
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	if rest := strings.TrimLeft(text[p.dec.InputOffset():], " \t\r\n"); rest != "" {
		return nil, nil, malformed("header: %.40q at byte %d where its end is expected", rest, len(text)-len(rest))
	}
	return entries, metadata, nil
}

// pairedSurrogates reports whether escape sequences of surrogates come in pairs, each
// pair a character. (encoding/json reads a single one as U+FFFD, so that two names
// would become one.)
func pairedSurrogates(text string) bool {
	for {
		i := strings.IndexByte(text, '\\')
		if i < 0 {
			return true
		}
		text = text[i:]
		r, ok := escaped(text)
		switch {
		case !ok:
			text = text[min(2, len(text)):]
			continue
		case utf16.IsSurrogate(r):
			low, ok := escaped(text[6:])
			if !ok || utf16.DecodeRune(r, low) == utf8.RuneError {
				return false
			}
			text = text[6:]
		}
		text = text[6:]
	}
}

// escaped is the number that text begins with as an escape sequence of four hexadecimal
// digits.
func escaped(text string) (rune, bool) {
	if len(text) < 6 || text[:2] != `\u` {
		return 0, false
	}
	n, err := strconv.ParseUint(text[2:6], 16, 16)
	return rune(n), err == nil
}

// A parser reads the tokens of a header.
type parser struct {
	text string
	dec  *json.Decoder
}

// next returns the next token.
func (p *parser) next(want string) (json.Token, error) {
	tok, err := p.dec.Token()
	var syntax *json.SyntaxError
	switch {
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		return nil, malformed("header: it ends where %s is expected", want)
	case errors.As(err, &syntax):
		return nil, malformed("header: %v, at byte %d or behind it", err, p.dec.InputOffset())
	}
	return tok, err
}

// unexpected says that the token just read is none that is wanted.
func (p *parser) unexpected(want string) error {
	end := int(p.dec.InputOffset())
	begin := strings.LastIndexAny(p.text[:end-1], " \t\r\n,:[{") + 1
	return malformed("header: %.40q at byte %d where %s is expected", p.text[begin:end], begin, want)
}

func (p *parser) expect(d json.Delim) error {
	want := strconv.QuoteRune(rune(d))
	tok, err := p.next(want)
	if err == nil && tok != d {
		err = p.unexpected(want)
	}
	return err
}

func (p *parser) str(want string) (string, error) {
	tok, err := p.next(want)
	s, ok := tok.(string)
	if err == nil && !ok {
		err = p.unexpected(want)
	}
	return s, err
}

// object parses an object; errors name who as its owner. value parses what follows a key.
func (p *parser) object(who string, value func(key string) error) error {
	if err := p.expect('{'); err != nil {
		return err
	}
	seen := map[string]bool{}
	for p.dec.More() {
		key, err := p.str("a string")
		if err != nil {
			return err
		}
		if seen[key] {
			return malformed("%s: key %q is given twice", who, key)
		}
		seen[key] = true
		if err := value(key); err != nil {
			return err
		}
	}
	return p.expect('}')
}

// tensor parses the description of a tensor.
func (p *parser) tensor(name string) (entry, error) {
	e := entry{name: name}
	var offsets []int
	err := p.object("tensor "+strconv.Quote(name), func(key string) (err error) {
		switch key {
		case "dtype":
			var dtype string
			if dtype, err = p.str("a string"); err == nil {
				if e.kind = kindByName[dtype]; e.kind == nil {
					e.kind = &kind{name: dtype} // of a later version of the format
				}
			}
		case "shape":
			e.shape, err = p.ints(array.MaxRank)
		case "data_offsets":
			offsets, err = p.ints(2)
		default:
			err = malformed("tensor %q: unknown key %q", name, key)
		}
		return err
	})
	switch {
	case err != nil:
		return e, err
	case e.kind == nil:
		return e, malformed("tensor %q: dtype is missing", name)
	case e.shape == nil:
		return e, malformed("tensor %q: shape is missing", name)
	case len(offsets) != 2:
		return e, malformed("tensor %q: data_offsets is missing or no pair", name)
	}
	e.begin, e.end = int64(offsets[0]), int64(offsets[1])
	return e, nil
}

// ints parses an array of at most limit integers that are not negative. The result is
// not nil.
func (p *parser) ints(limit int) ([]int, error) {
	if err := p.expect('['); err != nil {
		return nil, err
	}
	out := []int{}
	for p.dec.More() {
		const want = "an integer that is not negative"
		tok, err := p.next(want)
		if err != nil {
			return nil, err
		}
		number, ok := tok.(json.Number)
		n, err := strconv.ParseUint(string(number), 10, strconv.IntSize-1)
		switch {
		case errors.Is(err, strconv.ErrRange):
			return nil, malformed("header: the number %.40s overflows", number)
		case !ok || err != nil:
			return nil, p.unexpected(want)
		case len(out) == limit:
			return nil, malformed("header: more than %d numbers before byte %d", limit, p.dec.InputOffset())
		}
		out = append(out, int(n))
	}
	return out, p.expect(']')
}
