package tokenizers

import (
	"math"
	"strings"
	"unicode/utf8"
)

// A pattern finds the parts of a text where it is split or replaced.
type pattern interface {
	// matches appends the matches in s and what is between them; together they cover s.
	matches(out []match, s string) []match
}

// A literal is a pattern that is a text.
type literal string

func (l literal) matches(out []match, s string) []match {
	last := 0
	for l != "" {
		i := strings.Index(s[last:], string(l))
		if i < 0 {
			break
		}
		if i > 0 {
			out = append(out, match{last, last + i, false})
		}
		out = append(out, match{last + i, last + i + len(l), true})
		last += i + len(l)
	}
	if last < len(s) {
		out = append(out, match{last, len(s), false})
	}
	return out
}

// An inverted pattern matches what the other does not.
type inverted struct{ pattern }

func (p inverted) matches(out []match, s string) []match {
	n := len(out)
	out = p.pattern.matches(out, s)
	for i := range out[n:] {
		out[n+i].is = !out[n+i].is
	}
	return out
}

// A regularExpression is a pattern that is run by backtracking. Go's package regexp has no look-ahead, which the
// patterns of GPT-2 and later use. A search that backtracks much remembers which states failed (see memory), so that
// its time is bounded by the product of the sizes of pattern and text. Look-around, atomic groups and many searches of
// one text can still multiply that: maxSteps bounds them.
type regularExpression struct {
	prog  []instruction
	first *[256]bool // bytes that a match can begin with; nil: any
}

type opcode uint8

const (
	opSet    opcode = iota // a character of set
	opRun                  // min to max characters of set, the longest run first
	opSplit                // go on at x, or if that fails at y
	opJump                 // go on at x
	opAssert               // the place is of a kind
	opLook                 // sub matches here, or not
	opAtomic               // sub matches here, in its first way
	opMark                 // remember the place where the body of a loop begins
	opMatch
)

type instruction struct {
	op             opcode
	set            *runeSet
	min, max       int
	x, y           int
	assert         assertion
	sub            *regularExpression
	negate, behind bool
}

// parseRegexp compiles a regular expression.
func parseRegexp(s string) (re *regularExpression, err error) {
	defer func() {
		if e := recover(); e != nil {
			msg, ok := e.(regexpError)
			if !ok {
				panic(e)
			}
			re, err = nil, &UnsupportedError{Part: "regular expression", Name: s, Msg: string(msg)}
		}
	}()
	p := &regexpParser{s: s}
	if len(s) > maxRegexp {
		p.fail("it has more than %d bytes", maxRegexp)
	}
	tree := p.alternatives()
	if p.more() {
		p.fail("unmatched %q at byte %d", p.peek(), p.at)
	}
	size := 0
	return compileRegexp(p, tree, &size), nil
}

func compileRegexp(p *regexpParser, tree *node, size *int) *regularExpression {
	c := regexpCompiler{parser: p, re: &regularExpression{}, size: size}
	c.compile(tree)
	c.emit(instruction{op: opMatch})
	c.re.first = firstBytes(tree)
	return c.re
}

type regexpCompiler struct {
	parser *regexpParser
	re     *regularExpression
	size   *int // of all programs of the expression
}

func (c *regexpCompiler) emit(in instruction) int {
	if *c.size++; *c.size > maxRegexp {
		c.parser.fail("it is too large")
	}
	c.re.prog = append(c.re.prog, in)
	return len(c.re.prog) - 1
}

func (c *regexpCompiler) compile(n *node) {
	switch n.kind {
	case nodeSet:
		c.emit(instruction{op: opSet, set: n.set})
	case nodeSequence:
		for _, sub := range n.subs {
			c.compile(sub)
		}
	case nodeAlternatives:
		var jumps []int
		for i, sub := range n.subs {
			if i == len(n.subs)-1 {
				c.compile(sub)
				break
			}
			split := c.emit(instruction{op: opSplit})
			c.re.prog[split].x = split + 1
			c.compile(sub)
			jumps = append(jumps, c.emit(instruction{op: opJump}))
			c.re.prog[split].y = len(c.re.prog)
		}
		for _, j := range jumps {
			c.re.prog[j].x = len(c.re.prog)
		}
	case nodeRepeat:
		c.repeat(n)
	case nodeAssert:
		c.emit(instruction{op: opAssert, assert: n.assert})
	case nodeLook:
		least, most := width(n.subs[0])
		c.emit(instruction{op: opLook, sub: compileRegexp(c.parser, n.subs[0], c.size), negate: n.negate, behind: n.behind, min: least, max: most})
	case nodeAtomic:
		c.emit(instruction{op: opAtomic, sub: compileRegexp(c.parser, n.subs[0], c.size)})
	}
}

func (c *regexpCompiler) repeat(n *node) {
	sub := n.subs[0]
	for sub.kind == nodeSequence && len(sub.subs) == 1 {
		sub = sub.subs[0]
	}
	if sub.kind == nodeSet && !n.lazy {
		c.emit(instruction{op: opRun, set: sub.set, min: n.min, max: n.max})
		return
	}
	for range n.min {
		c.compile(sub)
	}
	optional := func() int { // a split whose way out is set later
		split := c.emit(instruction{op: opSplit})
		c.re.prog[split].x = split + 1
		return split
	}
	leave := func(split int) {
		in := &c.re.prog[split]
		if in.y = len(c.re.prog); n.lazy {
			in.x, in.y = in.y, in.x
		}
	}
	if n.max < 0 {
		split := optional()
		c.emit(instruction{op: opMark})
		c.compile(sub)
		c.emit(instruction{op: opJump, x: split, y: 1})
		leave(split)
		return
	}
	var splits []int
	for range n.max - n.min {
		splits = append(splits, optional())
		c.compile(sub)
	}
	for _, split := range splits {
		leave(split)
	}
}

// maxBehind is the number of characters that a look behind goes back at most.
const maxBehind = 255

// width returns the least and the largest number of characters that n matches; maxBehind also stands for more.
func width(n *node) (least, most int) {
	switch n.kind {
	case nodeSet:
		return 1, 1
	case nodeSequence:
		for _, sub := range n.subs {
			lo, hi := width(sub)
			least, most = min(least+lo, maxBehind), min(most+hi, maxBehind)
		}
	case nodeAlternatives:
		least, most = width(n.subs[0])
		for _, sub := range n.subs[1:] {
			lo, hi := width(sub)
			least, most = min(least, lo), max(most, hi)
		}
	case nodeRepeat:
		lo, hi := width(n.subs[0])
		least, most = min(lo*n.min, maxBehind), min(hi*n.max, maxBehind)
		if n.max < 0 && hi > 0 {
			most = maxBehind
		}
	case nodeAtomic:
		return width(n.subs[0])
	}
	return least, max(most, 0)
}

// firstBytes returns the bytes that a match of n can begin with, nil if it is not known.
func firstBytes(n *node) *[256]bool {
	var first [256]bool
	if !addFirst(n, &first) {
		return nil
	}
	return &first
}

// addFirst adds to first; false if n can match without a character, or is not understood.
func addFirst(n *node, first *[256]bool) bool {
	switch n.kind {
	case nodeSet:
		for c := range 128 {
			first[c] = first[c] || n.set.ascii[c]
		}
		for c := 128; c < 256; c++ {
			first[c] = true
		}
		return true
	case nodeSequence:
		for _, sub := range n.subs {
			if sub.kind == nodeAssert || sub.kind == nodeLook {
				continue
			}
			if sub.kind == nodeRepeat && sub.min == 0 {
				addFirst(sub.subs[0], first)
				continue
			}
			return addFirst(sub, first)
		}
		return false
	case nodeAlternatives:
		all := true
		for _, sub := range n.subs {
			all = addFirst(sub, first) && all
		}
		return all
	case nodeRepeat:
		return addFirst(n.subs[0], first) && n.min > 0
	case nodeAtomic:
		return addFirst(n.subs[0], first)
	}
	return false
}

func (re *regularExpression) matches(out []match, s string) []match {
	m := newMatcher(s)
	prev, from, lastEnd := 0, 0, -1
	for from <= len(s) {
		start, end := m.search(re, from)
		if start < 0 {
			break
		}
		if start == end && end == lastEnd { // an empty match behind a match does not count
			if from == len(s) {
				break
			}
			_, n := utf8.DecodeRuneInString(s[from:])
			from += n
			continue
		}
		if prev < start {
			out = append(out, match{prev, start, false})
		}
		out = append(out, match{start, end, true})
		prev, from, lastEnd = end, end, end
	}
	if prev < len(s) {
		out = append(out, match{prev, len(s), false})
	}
	return out
}

// A matcher runs expressions over a text.
type matcher struct {
	s     string
	stack []thread
	steps int // instructions and characters of runs that were tried
	limit int // of steps
}

func newMatcher(s string) matcher { return matcher{s: s, limit: 1<<25 + maxSteps*len(s)} }

// maxSteps is the number of steps per byte of a text that a regular expression may take, beside a fixed number for
// short texts. The patterns of published tokenizers take less than 50.
const maxSteps = 128

var errSteps = malformed("a regular expression takes more than %d steps for each byte of a text", maxSteps)

// count adds to the steps. It panics with errSteps, which recoverLimit catches.
func (m *matcher) count(n int) {
	if m.steps += n; m.steps > m.limit {
		panic(errSteps)
	}
}

// A thread is a way that has not been tried: at pc from at on. Of a run it stands for all places from at down to least.
type thread struct{ pc, at, least int }

// A memory holds the states of one expression that cannot lead to a match, from any start of a search: whether the rest
// of a pattern matches at a place does not depend on where the match began. A state is an instruction and a place.
//
// States are marked when they are first tried. One that is reached again either failed, or lies on the way that is
// being tried: then a loop has matched nothing, and going on from it again gives nothing new. Cox, "Regular Expression
// Matching: the Virtual Machine Approach" (2009) has the argument.
type memory struct {
	tries int // ways and branches; states are marked only after rememberAfter of them
	pages map[page]*[8]uint64
	runs  map[int]tried // by the instruction of a run without a maximum
}

// A tried says of a run that it was tried from places from to end, its end, and went on at places least to end.
type tried struct{ from, least, end int }

// A page is 512 places of an instruction.
type page struct{ pc, at int }

// rememberAfter is the number of ways and branches that a search tries before it marks states.
const rememberAfter = 1 << 10

// maxPages bounds a memory, to about 128 MB.
const maxPages = 1 << 20

// seen counts a state that is tried, and reports whether it was tried before.
func (mem *memory) seen(pc, at int) bool {
	if mem.tries++; mem.tries <= rememberAfter {
		return false
	}
	key := page{pc, at >> 9}
	p := mem.pages[key]
	if p == nil {
		if mem.pages == nil {
			mem.pages = map[page]*[8]uint64{}
		}
		if len(mem.pages) == maxPages {
			panic(errSteps)
		}
		p = new([8]uint64)
		mem.pages[key] = p
	}
	word, bit := &p[at>>6&7], uint64(1)<<(at&63)
	if *word&bit != 0 {
		return true
	}
	*word |= bit
	return false
}

// search returns the first match from place from on, -1 if there is none.
func (m *matcher) search(re *regularExpression, from int) (start, end int) {
	var mem memory
	for start = from; start <= len(m.s); {
		if re.first != nil {
			for start < len(m.s) && !re.first[m.s[start]] {
				start++
			}
			if start == len(m.s) {
				return -1, -1
			}
		}
		if end := m.run(re, start, &mem); end >= 0 {
			return start, end
		}
		if start == len(m.s) {
			break
		}
		_, n := utf8.DecodeRuneInString(m.s[start:])
		start += n
	}
	return -1, -1
}

// run returns where the match that begins at start ends, -1 if there is none. mem is of earlier runs of re over the same
// text that failed.
func (m *matcher) run(re *regularExpression, start int, mem *memory) int {
	bottom := len(m.stack)
	m.stack = append(m.stack, thread{0, start, start})
	defer func() { m.stack = m.stack[:bottom] }()
	for len(m.stack) > bottom {
		top := &m.stack[len(m.stack)-1]
		pc, at := top.pc, top.at
		if top.at > top.least {
			_, n := utf8.DecodeLastRuneInString(m.s[:top.at])
			top.at -= n
		} else {
			m.stack = m.stack[:len(m.stack)-1]
		}
		m.count(1)
		if mem.seen(pc, at) {
			continue
		}
		if end := m.follow(re, pc, at, mem); end >= 0 {
			return end
		}
	}
	return -1
}

// follow goes on until a match or until it fails; other ways are pushed. Loops whose body matched nothing end.
func (m *matcher) follow(re *regularExpression, pc, at int, mem *memory) int {
	mark := -1
	for {
		m.count(1)
		in := &re.prog[pc]
		pc++
		switch in.op {
		case opSet:
			if at == len(m.s) {
				return -1
			}
			r, n := rune(m.s[at]), 1
			if r >= utf8.RuneSelf {
				r, n = utf8.DecodeRuneInString(m.s[at:])
			}
			if !in.set.has(r) {
				return -1
			}
			at += n
		case opRun:
			least, end := m.scan(in, pc, at, mem)
			if least < 0 || least > end {
				return -1
			}
			if least < end {
				_, n := utf8.DecodeLastRuneInString(m.s[:end])
				m.stack = append(m.stack, thread{pc, end - n, least})
			}
			at = end
		case opSplit:
			if mem.seen(-pc, at) { // negative: a way that begins here is another state
				return -1
			}
			m.stack = append(m.stack, thread{in.y, at, at})
			pc = in.x
		case opJump:
			if in.y == 1 && at == mark {
				pc = re.prog[in.x].y // the body was empty: out of the loop
				if re.prog[in.x].y == in.x+1 {
					pc = re.prog[in.x].x // lazy
				}
				mark = -1 // a loop around this one has another place, which is not known any more
				continue
			}
			pc = in.x
		case opMark:
			mark = at
		case opAssert:
			if !m.holds(in.assert, at) {
				return -1
			}
		case opLook:
			if m.looks(in, at) == in.negate {
				return -1
			}
		case opAtomic:
			if at = m.run(in.sub, at, &memory{}); at < 0 {
				return -1
			}
		case opMatch:
			return at
		}
	}
}

// scan matches a run at place at: the rest may go on at each character from end down to least, which is -1 or more than
// end if there is none. Where mem has a run that ends as this one does, what it tried is left out.
func (m *matcher) scan(in *instruction, pc, at int, mem *memory) (least, end int) {
	start, count := at, 0
	known, remembers := tried{from: math.MaxInt}, in.max < 0 && mem.tries > rememberAfter
	if t, ok := mem.runs[pc]; ok && at <= t.end {
		if t.from <= at {
			return -1, at
		}
		known = t
	}
	least = -1
	if in.min == 0 {
		least = at
	}
	for at < len(m.s) && count != in.max && (at < known.from || count < in.min) {
		r, n := rune(m.s[at]), 1
		if r >= utf8.RuneSelf {
			r, n = utf8.DecodeRuneInString(m.s[at:])
		}
		if !in.set.has(r) {
			break
		}
		at += n
		if count++; count == in.min {
			least = at
		}
	}
	m.count(at - start)
	if !remembers || least < 0 {
		return least, at
	}
	if at < known.from {
		mem.remember(pc, tried{start, least, at})
		return least, at
	}
	// The run goes on to known.from, and so to known.end.
	mem.remember(pc, tried{start, min(least, known.least), known.end})
	_, n := utf8.DecodeLastRuneInString(m.s[:known.least])
	return least, known.least - n
}

func (mem *memory) remember(pc int, t tried) {
	if mem.runs == nil {
		mem.runs = map[int]tried{}
	}
	mem.runs[pc] = t
}

func (m *matcher) looks(in *instruction, at int) bool {
	if !in.behind {
		return m.run(in.sub, at, &memory{}) >= 0
	}
	// Behind: a match that ends here. Starts are tried backwards, where the width of the pattern allows one.
	whole := m.s
	m.s = whole[:at]
	found := false
	for start, chars := at, 0; chars <= in.max; chars++ {
		m.count(1)
		if chars >= in.min && m.run(in.sub, start, &memory{}) == at {
			found = true
			break
		}
		if start == 0 {
			break
		}
		_, n := utf8.DecodeLastRuneInString(whole[:start])
		start -= n
	}
	m.s = whole
	return found
}

// holds reports whether an assertion holds at a place.
func (m *matcher) holds(kind assertion, at int) bool {
	s := m.s
	switch kind {
	case lineStart:
		return at == 0 || s[at-1] == '\n' && at < len(s)
	case lineEnd:
		return at == len(s) || s[at] == '\n'
	case textStart:
		return at == 0
	case textEnd:
		return at == len(s)
	case textEndLine:
		return at == len(s) || at == len(s)-1 && s[at] == '\n'
	}
	before, _ := utf8.DecodeLastRuneInString(s[:at])
	after, _ := utf8.DecodeRuneInString(s[at:])
	boundary := (at > 0 && flagsOf(before)&isRegexpWord != 0) != (at < len(s) && flagsOf(after)&isRegexpWord != 0)
	return boundary == (kind == wordBoundary)
}
