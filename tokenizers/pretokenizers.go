package tokenizers

import (
	"strings"
	"unicode/utf8"
)

// A piece is a part of a text that is encoded by itself: a word, or an added token that was found.
type piece struct {
	text
	added int  // the id of an added token, or -1
	bytes bool // the bytes of s stand for the characters of a byte-level vocabulary
}

// A preTokenizer splits pieces.
type preTokenizer interface {
	// split splits p, which is not an added token, and appends its parts.
	split(out []piece, p piece, work *workspace) []piece
}

// splitAll splits all pieces but added tokens.
func splitAll(pieces []piece, by preTokenizer, work *workspace) []piece {
	out := work.spare[:0]
	for _, p := range pieces {
		if p.added >= 0 {
			out = append(out, p)
			continue
		}
		p.spell()
		out = by.split(out, p, work)
	}
	work.spare = pieces
	return out
}

// A runeSplit splits at characters of a class.
type runeSplit struct {
	is  func(r rune) bool
	how behavior
}

func (s runeSplit) split(out []piece, p piece, work *workspace) []piece {
	work.matches = runeMatches(work.matches[:0], p.s, s.is)
	return p.text.split(out, work.matches, s.how)
}

// A patternSplit splits at what a pattern matches.
type patternSplit struct {
	pattern pattern
	how     behavior
}

func (s patternSplit) split(out []piece, p piece, work *workspace) []piece {
	if p.s == "" {
		return out
	}
	work.matches = s.pattern.matches(work.matches[:0], p.s)
	return p.text.split(out, work.matches, s.how)
}

// words is the pattern \w+|[^\w\s]+ of pre-tokenizer Whitespace.
type words struct{}

func (words) split(out []piece, p piece, _ *workspace) []piece {
	start, kind := 0, uint32(isSpace)
	for i, r := range p.s {
		k := flagsOf(r) & (isWord | isSpace)
		if k == kind {
			continue
		}
		if kind != isSpace {
			out = append(out, piece{text: p.slice(start, i), added: -1})
		}
		start, kind = i, k
	}
	if kind != isSpace && start < len(p.s) {
		out = append(out, piece{text: p.slice(start, len(p.s)), added: -1})
	}
	return out
}

// bertWords splits at white space, which goes, and around each mark of punctuation.
type bertWords struct{}

func (bertWords) split(out []piece, p piece, _ *workspace) []piece {
	start := 0
	add := func(end int) {
		if start < end {
			out = append(out, piece{text: p.slice(start, end), added: -1})
		}
	}
	for i, r := range p.s {
		switch flags := flagsOf(r); {
		case flags&isSpace != 0:
			add(i)
			start = i + utf8.RuneLen(r)
		case flags&isPunct != 0:
			add(i)
			start = i
			add(i + utf8.RuneLen(r))
			start = i + utf8.RuneLen(r)
		}
	}
	add(len(p.s))
	return out
}

// byteLevelSplit splits as GPT-2 does, and marks pieces as bytes of a byte-level vocabulary.
type byteLevelSplit struct {
	prefix bool // a space before the first word
	words  bool // split by GPT-2's regular expression
}

func (b byteLevelSplit) split(out []piece, p piece, _ *workspace) []piece {
	if b.prefix && !strings.HasPrefix(p.s, " ") {
		p.prepend(" ")
	}
	if !b.words {
		p.bytes = true
		return append(out, p)
	}
	for at := 0; at < len(p.s); {
		end := gpt2End(p.s, at)
		out = append(out, piece{text: p.slice(at, end), added: -1, bytes: true})
		at = end
	}
	return out
}

// spell writes the bytes of a piece as characters, for what comes after byteLevelSplit and reads characters.
func (p *piece) spell() {
	if p.bytes {
		toByteChars(&p.text)
		p.bytes = false
	}
}

// A metaspace writes spaces as a visible character and splits before it.
type metaspace struct {
	mark   string
	prefix prefixScheme
	whole  bool // do not split
}

type prefixScheme int

const (
	prefixAlways prefixScheme = iota
	prefixFirst
	prefixNever
)

func (m metaspace) split(out []piece, p piece, _ *workspace) []piece {
	p.spaceTo(m.mark)
	if !strings.HasPrefix(p.s, m.mark) && (m.prefix == prefixAlways || m.prefix == prefixFirst && p.base == 0) {
		p.prepend(m.mark)
	}
	if m.whole {
		return append(out, p)
	}
	start := 0
	for start < len(p.s) {
		end := len(p.s)
		// The mark begins a piece with the text after it; marks that follow one another are pieces by themselves.
		from := start
		if strings.HasPrefix(p.s[start:], m.mark) {
			from += len(m.mark)
		}
		if i := strings.Index(p.s[from:], m.mark); i >= 0 {
			end = from + i
		}
		out = append(out, piece{text: p.slice(start, end), added: -1})
		start = end
	}
	return out
}

// spaceTo replaces each space by mark.
func (t *text) spaceTo(mark string) {
	n := strings.Count(t.s, " ")
	if n == 0 {
		return
	}
	out := make([]byte, 0, len(t.s)+n*(len(mark)-1))
	align := make([]span, 0, cap(out))
	identity := t.align == nil
	for i := 0; i < len(t.s); i++ {
		c := t.s[i]
		var from span
		switch {
		case !identity:
			from = t.align[i]
		case c < utf8.RuneSelf:
			from = span{int32(t.base + i), int32(t.base + i + 1)}
		default:
			from = t.at(i)
		}
		if c != ' ' {
			out = append(out, c)
			align = append(align, from)
			continue
		}
		out = append(out, mark...)
		for range len(mark) {
			align = append(align, from)
		}
	}
	t.s, t.align = string(out), align
}

// scriptSplit splits where the script changes. Kana count as Han, a space as any script.
type scriptSplit struct{}

func (scriptSplit) split(out []piece, p piece, _ *workspace) []piece {
	han, hiragana, katakana := scriptOf('京'), scriptOf('い'), scriptOf('グ')
	starts := []int{}
	last, have := uint32(0), false // Hugging Face's None, which differs from every script
	for i, r := range p.s {
		script := scriptOf(r)
		if r == 0x30FC || script == hiragana || script == katakana {
			script = han
		}
		if r == ' ' {
			script = 0
		}
		if script != 0 {
			if !have || script != last {
				starts = append(starts, i)
			}
			last, have = script, true
		}
	}
	for k, start := range starts {
		end := len(p.s)
		if k+1 < len(starts) {
			end = starts[k+1]
		}
		out = append(out, piece{text: p.slice(start, end), added: -1})
	}
	return out
}

// A fixedLength splits after that number of characters.
type fixedLength int

func (f fixedLength) split(out []piece, p piece, _ *workspace) []piece {
	start, count := 0, 0
	for i := range p.s {
		if count == int(f) {
			out = append(out, piece{text: p.slice(start, i), added: -1})
			start, count = i, 0
		}
		count++
	}
	if start < len(p.s) {
		out = append(out, piece{text: p.slice(start, len(p.s)), added: -1})
	}
	return out
}
