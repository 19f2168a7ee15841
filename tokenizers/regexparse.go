package tokenizers

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// The nodes of a regular expression's tree.
type nodeKind int

const (
	nodeEmpty nodeKind = iota
	nodeSet
	nodeSequence
	nodeAlternatives
	nodeRepeat
	nodeAssert // of a kind
	nodeLook   // ahead or behind
	nodeAtomic
)

type assertion int

const (
	lineStart assertion = iota
	lineEnd
	textStart
	textEnd
	textEndLine // also before a last newline
	wordBoundary
	noWordBoundary
)

type node struct {
	kind           nodeKind
	set            *runeSet
	subs           []*node
	min, max       int // of repeat; max -1: any number
	lazy           bool
	negate, behind bool // of look
	assert         assertion
}

// A regexpParser reads the syntax of Oniguruma, Hugging Face's engine, but for captures that are referred to.
type regexpParser struct {
	s     string
	at    int
	fold  bool
	depth int
}

// maxRegexp bounds the instructions of a regular expression and its nesting.
const (
	maxRegexp      = 1 << 14
	maxRegexpDepth = 100
)

type regexpError string

func (p *regexpParser) fail(format string, args ...any) {
	panic(regexpError(fmt.Sprintf(format, args...)))
}

func (p *regexpParser) more() bool { return p.at < len(p.s) }

func (p *regexpParser) peek() byte {
	if p.at < len(p.s) {
		return p.s[p.at]
	}
	return 0
}

func (p *regexpParser) accept(prefix string) bool {
	if strings.HasPrefix(p.s[p.at:], prefix) {
		p.at += len(prefix)
		return true
	}
	return false
}

func (p *regexpParser) rune() rune {
	if !p.more() {
		p.fail("it ends early")
	}
	r, n := utf8.DecodeRuneInString(p.s[p.at:])
	p.at += n
	return r
}

func (p *regexpParser) alternatives() *node {
	if p.depth++; p.depth > maxRegexpDepth {
		p.fail("groups are nested more than %d deep", maxRegexpDepth)
	}
	fold := p.fold
	n := &node{kind: nodeAlternatives, subs: []*node{p.sequence()}}
	for p.accept("|") {
		n.subs = append(n.subs, p.sequence())
	}
	p.fold = fold
	p.depth--
	if len(n.subs) == 1 {
		return n.subs[0]
	}
	return n
}

func (p *regexpParser) sequence() *node {
	n := &node{kind: nodeSequence}
	for p.more() && p.peek() != '|' && p.peek() != ')' {
		item := p.item()
		if item == nil {
			continue
		}
		for nested := 0; ; nested++ {
			repeated := p.quantifier(item)
			if repeated == nil {
				break
			}
			if nested > 10 {
				p.fail("too many quantifiers follow each other")
			}
			item = repeated
		}
		n.subs = append(n.subs, item)
	}
	return n
}

// quantifier returns item with the quantifier that follows, nil if none does.
func (p *regexpParser) quantifier(item *node) *node {
	r := &node{kind: nodeRepeat, subs: []*node{item}, max: -1}
	interval := false
	switch {
	case p.accept("*"):
	case p.accept("+"):
		r.min = 1
	case p.accept("?"):
		r.max = 1
	case p.peek() == '{':
		if !p.interval(r) {
			return nil
		}
		interval = true
	default:
		return nil
	}
	if p.accept("?") {
		r.lazy = true
	} else if !interval && p.accept("+") {
		return &node{kind: nodeAtomic, subs: []*node{r}}
	}
	return r
}

// interval reads {n}, {n,}, {,m} or {n,m}; other text in braces is literal.
func (p *regexpParser) interval(r *node) bool {
	end := strings.IndexByte(p.s[p.at:], '}')
	if end < 0 {
		return false
	}
	body := p.s[p.at+1 : p.at+end]
	low, high, comma := strings.Cut(body, ",")
	count := func(s string, none int) (int, bool) {
		if s == "" {
			return none, true
		}
		n, err := strconv.Atoi(s)
		return n, err == nil && n >= 0 && n <= 1000
	}
	var ok1, ok2 bool
	if r.min, ok1 = count(low, 0); !comma {
		r.max, ok2 = r.min, low != ""
	} else if r.max, ok2 = count(high, -1); low == "" && high == "" {
		return false
	}
	if !ok1 || !ok2 || r.max >= 0 && r.max < r.min {
		if strings.Trim(body, "0123456789,") == "" {
			p.fail("the repetition {%s} is out of range", body)
		}
		return false
	}
	p.at += end + 1
	return true
}

// item reads one item of a sequence; nil for what matches nothing by itself, such as (?i).
func (p *regexpParser) item() *node {
	switch p.peek() {
	case '(':
		return p.group()
	case '[':
		return &node{kind: nodeSet, set: p.class()}
	}
	switch r := p.rune(); r {
	case '.':
		return &node{kind: nodeSet, set: (&runeSet{parts: []setPart{{lo: '\n', hi: '\n'}}, negate: true}).finish()}
	case '^':
		return &node{kind: nodeAssert, assert: lineStart}
	case '$':
		return &node{kind: nodeAssert, assert: lineEnd}
	case '\\':
		return p.escape()
	case '*', '+', '?':
		p.fail("%q repeats nothing", r)
		return nil
	default:
		return &node{kind: nodeSet, set: single(r, p.fold)}
	}
}

func (p *regexpParser) group() *node {
	p.at++
	n := &node{kind: nodeLook}
	switch {
	case p.accept("?:"):
		n = nil
	case p.accept("?="):
	case p.accept("?!"):
		n.negate = true
	case p.accept("?<="):
		n.behind = true
	case p.accept("?<!"):
		n.behind, n.negate = true, true
	case p.accept("?>"):
		n.kind = nodeAtomic
	case p.accept("?<"), p.accept("?P<"):
		if end := strings.IndexByte(p.s[p.at:], '>'); end >= 0 {
			p.at += end + 1
		}
		n = nil
	case p.accept("?"):
		fold := p.fold
		p.options()
		if p.accept(")") { // for the rest of the group
			return nil
		}
		if !p.accept(":") {
			p.fail("unknown group at byte %d", p.at)
		}
		body := p.alternatives()
		p.fold = fold
		p.close()
		return body
	default:
		n = nil
	}
	body := p.alternatives()
	p.close()
	if n == nil {
		return body
	}
	n.subs = []*node{body}
	return n
}

func (p *regexpParser) close() {
	if !p.accept(")") {
		p.fail("a group does not end")
	}
}

func (p *regexpParser) options() {
	on := true
	for {
		switch p.peek() {
		case '-':
			on = false
		case 'i':
			p.fold = on
		case 'm', 'x', 's':
			p.fail("the option %c is not supported", p.peek())
		default:
			return
		}
		p.at++
	}
}

// escape reads what follows a backslash outside a class.
func (p *regexpParser) escape() *node {
	set := &runeSet{}
	if p.shorthand(set) {
		return &node{kind: nodeSet, set: set.finish()}
	}
	asserts := map[byte]assertion{'A': textStart, 'z': textEnd, 'Z': textEndLine, 'b': wordBoundary, 'B': noWordBoundary}
	if kind, ok := asserts[p.peek()]; ok {
		p.at++
		return &node{kind: nodeAssert, assert: kind}
	}
	if p.accept("R") {
		line := &runeSet{parts: []setPart{{lo: '\n', hi: '\r'}, {lo: 0x85, hi: 0x85}, {lo: 0x2028, hi: 0x2029}}}
		return &node{kind: nodeAtomic, subs: []*node{{kind: nodeAlternatives, subs: []*node{
			{kind: nodeSequence, subs: []*node{{kind: nodeSet, set: single('\r', false)}, {kind: nodeSet, set: single('\n', false)}}},
			{kind: nodeSet, set: line.finish()}}}}}
	}
	if c := p.peek(); c >= '1' && c <= '9' || c == 'k' || c == 'g' || c == 'G' || c == 'K' || c == 'X' {
		p.fail(`\%c is not supported`, c)
	}
	return &node{kind: nodeSet, set: single(p.literal(), p.fold)}
}

// shorthand adds \s, \p{L} and the like to set; false if another escape follows.
func (p *regexpParser) shorthand(set *runeSet) bool {
	switch c := p.peek(); c {
	case 's', 'S':
		set.property("space", c == 'S')
	case 'w', 'W':
		set.property("word", c == 'W')
	case 'd', 'D':
		set.property("digit", c == 'D')
	case 'h', 'H':
		sub := &runeSet{parts: []setPart{{lo: '0', hi: '9'}, {lo: 'a', hi: 'f'}, {lo: 'A', hi: 'F'}}, negate: c == 'H'}
		set.parts = append(set.parts, setPart{sub: sub.finish()})
	case 'p', 'P':
		p.at++
		name := string(p.peek())
		if p.accept("{") {
			end := strings.IndexByte(p.s[p.at:], '}')
			if end < 0 {
				p.fail("a property does not end")
			}
			name = p.s[p.at : p.at+end]
			p.at += end
		}
		inner, not := strings.CutPrefix(name, "^")
		if !set.property(inner, not != (c == 'P')) {
			p.fail("unknown property %q", name)
		}
	default:
		return false
	}
	p.at++
	return true
}

// literal reads an escaped character.
func (p *regexpParser) literal() rune {
	hex := func(digits string) rune {
		n, err := strconv.ParseUint(digits, 16, 32)
		if err != nil || n > utf8.MaxRune {
			p.fail("bad character %q", digits)
		}
		return rune(n)
	}
	switch r := p.rune(); r {
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	case 'f':
		return '\f'
	case 'v':
		return '\v'
	case 'a':
		return '\a'
	case 'e':
		return 0x1B
	case '0':
		return 0
	case 'x', 'u':
		if r == 'x' && p.accept("{") {
			end := strings.IndexByte(p.s[p.at:], '}')
			if end < 0 {
				p.fail("a character does not end")
			}
			p.at += end + 1
			return hex(p.s[p.at-end-1 : p.at-1])
		}
		n := 2
		if r == 'u' {
			n = 4
		}
		if p.at+n > len(p.s) {
			p.fail("a character does not end")
		}
		p.at += n
		return hex(p.s[p.at-n : p.at])
	default:
		return r
	}
}

// class reads a class in brackets.
func (p *regexpParser) class() *runeSet {
	if p.depth++; p.depth > maxRegexpDepth {
		p.fail("classes are nested more than %d deep", maxRegexpDepth)
	}
	p.at++
	set := &runeSet{negate: p.accept("^")}
	for first := true; ; first = false {
		switch {
		case !p.more():
			p.fail("a class does not end")
		case p.peek() == ']' && !first:
			p.at++
			p.depth--
			return set.finish()
		case p.accept("&&"):
			rest := &regexpParser{s: "[" + p.s[p.at:], fold: p.fold, depth: p.depth}
			set.and = rest.class()
			p.at += rest.at - 1
			p.depth--
			return set.finish()
		case strings.HasPrefix(p.s[p.at:], "[:"):
			end := strings.Index(p.s[p.at:], ":]")
			if end < 0 {
				p.fail("a class does not end")
			}
			name, not := strings.CutPrefix(p.s[p.at+2:p.at+end], "^")
			if !set.property(name, not) {
				p.fail("unknown class %q", name)
			}
			p.at += end + 2
		case p.peek() == '[':
			set.parts = append(set.parts, setPart{sub: p.class()})
		default:
			p.classRange(set)
		}
	}
}

func (p *regexpParser) classRange(set *runeSet) {
	read := func() (rune, bool) {
		if !p.accept(`\`) {
			return p.rune(), true
		}
		if p.shorthand(set) {
			return 0, false
		}
		if p.accept("b") {
			return '\b', true
		}
		return p.literal(), true
	}
	lo, ok := read()
	if !ok {
		return
	}
	hi := lo
	if p.peek() == '-' && p.at+1 < len(p.s) && p.s[p.at+1] != ']' {
		p.at++
		if hi, ok = read(); !ok {
			set.addRange('-', '-', false)
			hi = lo
		}
	}
	if hi < lo {
		p.fail("the range from %q to %q is empty", lo, hi)
	}
	set.addRange(lo, hi, p.fold)
}
