package ptxsim

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// A tokenKind tells the kinds of tokens apart.
type tokenKind uint8

const (
	tokEnd    tokenKind = iota
	tokWord             // names, directives and opcodes, with their dots: %tid.x, .reg, add.rn.f32
	tokNumber           // integers
	tokFloat            // 0f, 0d and decimal constants
	tokString           // "text"
	tokPunct            // one character
)

// A token is a piece of the text.
type token struct {
	kind   tokenKind
	text   string
	line   int
	bits   uint64 // of numbers: the integer, or the bits of the float64
	single bool   // a float written with 0f
}

// A textError says where a text is wrong.
type textError struct {
	line int
	msg  string
}

func (e *textError) Error() string { return fmt.Sprintf("line %d: %s", e.line, e.msg) }

// fail stops the compilation of a text; [parse] recovers.
func fail(line int, format string, a ...any) {
	panic(&textError{line, fmt.Sprintf(format, a...)})
}

func wordStart(c byte) bool {
	return c == '.' || c == '%' || c == '_' || c == '$' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

func digit(c byte) bool { return c >= '0' && c <= '9' }

// lex cuts a text into tokens; the last is tokEnd.
func lex(text string) []token {
	var toks []token
	line := 1
	for i := 0; i < len(text); {
		c := text[i]
		switch {
		case c == '\n':
			line++
			i++
		case c == ' ' || c == '\t' || c == '\r':
			i++
		case strings.HasPrefix(text[i:], "//"):
			n := strings.IndexByte(text[i:], '\n')
			if n < 0 {
				n = len(text) - i
			}
			i += n
		case strings.HasPrefix(text[i:], "/*"):
			n := strings.Index(text[i+2:], "*/")
			if n < 0 {
				fail(line, "comment without end")
			}
			line += strings.Count(text[i:i+2+n], "\n")
			i += n + 4
		case digit(c):
			n := numberLength(text[i:])
			toks = append(toks, number(text[i:i+n], line))
			i += n
		case wordStart(c):
			n := wordLength(text[i:])
			toks = append(toks, token{kind: tokWord, text: text[i : i+n], line: line})
			i += n
		case c == '"':
			n := strings.IndexAny(text[i+1:], "\"\n")
			if n < 0 || text[i+1+n] != '"' {
				fail(line, "string without end")
			}
			toks = append(toks, token{kind: tokString, text: text[i+1 : i+1+n], line: line})
			i += n + 2
		case strings.IndexByte("{}[]()<>,;:@!|+-=", c) >= 0:
			toks = append(toks, token{kind: tokPunct, text: text[i : i+1], line: line})
			i++
		default:
			fail(line, "unexpected character %q", c)
		}
	}
	return append(toks, token{kind: tokEnd, line: line})
}

// wordLength returns the length of the word at the start of s. It may hold "::", as in L1::evict_last.
func wordLength(s string) int {
	i := 1
	for i < len(s) {
		switch {
		case wordStart(s[i]) || digit(s[i]):
			i++
		case strings.HasPrefix(s[i:], "::"):
			i += 2
		default:
			return i
		}
	}
	return i
}

func numberLength(s string) int {
	i := 0
	for i < len(s) && (wordStart(s[i]) || digit(s[i]) || (s[i] == '-' || s[i] == '+') && decimalExponent(s[:i])) {
		i++
	}
	return i
}

// decimalExponent reports whether a sign behind s belongs to a decimal number.
func decimalExponent(s string) bool {
	return strings.ContainsRune(s, '.') && (strings.HasSuffix(s, "e") || strings.HasSuffix(s, "E"))
}

// number parses a constant.
func number(s string, line int) token {
	t := token{kind: tokNumber, text: s, line: line}
	low := strings.ToLower(s)
	switch {
	case strings.HasPrefix(low, "0f") && len(s) == 10:
		n, err := strconv.ParseUint(s[2:], 16, 32)
		if err != nil {
			fail(line, "bad constant %s", s)
		}
		t.kind, t.single = tokFloat, true
		t.bits = n
	case strings.HasPrefix(low, "0d") && len(s) == 18:
		n, err := strconv.ParseUint(s[2:], 16, 64)
		if err != nil {
			fail(line, "bad constant %s", s)
		}
		t.kind, t.bits = tokFloat, n
	case strings.Contains(s, "."):
		x, err := strconv.ParseFloat(s, 64)
		if err != nil {
			fail(line, "bad constant %s", s)
		}
		t.kind, t.bits = tokFloat, math.Float64bits(x)
	default:
		n, err := strconv.ParseUint(strings.TrimSuffix(low, "u"), 0, 64)
		if err != nil || strings.Contains(s, "_") || strings.HasPrefix(low, "0o") {
			fail(line, "bad constant %s", s)
		}
		t.bits = n
	}
	return t
}
