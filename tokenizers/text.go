package tokenizers

import (
	"unicode/utf8"
)

// A Span is the bytes Start to End, exclusive, of a text.
type Span struct{ Start, End int }

// A span is a Span of a text of at most 2 GB.
type span struct{ start, end int32 }

// A text is a normalised text or a part of one, with where each byte comes from in the text that was given.
type text struct {
	s     string
	align []span // of each byte of s; nil if s is the given text from base on: then a byte comes from its character
	base  int    // where in the given text s begins
}

// newText returns the text that is encoded for s. A byte that is not UTF-8 becomes U+FFFD and is its origin.
func newText(s string) text {
	if utf8.ValidString(s) {
		return text{s: s}
	}
	out := make([]byte, 0, len(s)+16)
	align := make([]span, 0, len(s)+16)
	for i, r := range s {
		size := 1
		if r != utf8.RuneError {
			size = utf8.RuneLen(r)
		} else if _, n := utf8.DecodeRuneInString(s[i:]); n == 3 {
			size = n
		}
		for range utf8.RuneLen(r) {
			align = append(align, span{int32(i), int32(i + size)})
		}
		out = utf8.AppendRune(out, r)
	}
	return text{s: string(out), align: align}
}

// at returns the origin of byte i.
func (t *text) at(i int) span {
	if t.align != nil {
		return t.align[i]
	}
	start := i
	for start > 0 && !utf8.RuneStart(t.s[start]) {
		start--
	}
	_, n := utf8.DecodeRuneInString(t.s[start:])
	return span{int32(t.base + start), int32(t.base + start + n)}
}

// aligned returns the origins of all bytes.
func (t *text) aligned() []span {
	if t.align != nil {
		return t.align
	}
	align := make([]span, len(t.s))
	for i := 0; i < len(t.s); {
		if t.s[i] < utf8.RuneSelf {
			align[i] = span{int32(t.base + i), int32(t.base + i + 1)}
			i++
			continue
		}
		_, n := utf8.DecodeRuneInString(t.s[i:])
		for k := range n {
			align[i+k] = span{int32(t.base + i), int32(t.base + i + n)}
		}
		i += n
	}
	return align
}

// origin returns the bytes of the given text that the bytes start to end of s come from.
func (t *text) origin(start, end int) Span {
	switch {
	case start == end:
		return Span{t.base + start, t.base + end}
	case start > end || end > len(t.s):
		return Span{start, end}
	case t.align != nil:
		return Span{int(t.align[start].start), int(t.align[end-1].end)}
	}
	if !utf8.RuneStart(t.s[start]) {
		start = int(t.at(start).start) - t.base
	}
	if end < len(t.s) && !utf8.RuneStart(t.s[end]) {
		end = int(t.at(end-1).end) - t.base
	}
	return Span{t.base + start, t.base + end}
}

// slice returns the part from start to end.
func (t *text) slice(start, end int) text {
	if t.align == nil || start == end {
		return text{s: t.s[start:end], base: t.base + start}
	}
	return text{s: t.s[start:end], align: t.align[start:end], base: int(t.align[start].start)}
}

// A change is a character of a text that replaces another.
type change struct {
	r rune
	n int // 0: it replaces the next character; 1: it is inserted after that; -k: it also replaces the k after that
}

// transform replaces s by changes. Characters before them, initial in number, are removed.
func (t *text) transform(changes []change, initial int) {
	out := make([]byte, 0, len(t.s)+len(t.s)/8)
	align := make([]span, 0, cap(out))
	at := 0
	skip := func(n int) {
		for ; n > 0 && at < len(t.s); n-- {
			_, size := utf8.DecodeRuneInString(t.s[at:])
			at += size
		}
	}
	last := span{int32(t.base), int32(t.base)}
	skip(initial)
	if at > 0 {
		last = t.at(at - 1)
	}
	for _, c := range changes {
		from := last
		if c.n <= 0 && at < len(t.s) {
			from = t.at(at)
			skip(1 - c.n)
			last = t.at(at - 1)
		}
		before := len(out)
		out = utf8.AppendRune(out, c.r)
		for range len(out) - before {
			align = append(align, from)
		}
	}
	t.s, t.align = string(out), align
}

// filter removes the characters that keep refuses.
func (t *text) filter(keep func(r rune) bool) {
	all := true
	for _, r := range t.s {
		if !keep(r) {
			all = false
			break
		}
	}
	if all {
		return
	}
	old := t.aligned()
	out := make([]byte, 0, len(t.s))
	align := make([]span, 0, len(t.s))
	for i, r := range t.s {
		if keep(r) {
			n := utf8.RuneLen(r)
			out = append(out, t.s[i:i+n]...)
			align = append(align, old[i:i+n]...)
		}
	}
	t.s, t.align = string(out), align
}

// prepend puts prefix before s, with the origin of its first character.
func (t *text) prepend(prefix string) {
	if t.s == "" || prefix == "" {
		return
	}
	old := t.aligned()
	align := make([]span, len(prefix)+len(old))
	for i := range len(prefix) {
		align[i] = old[0]
	}
	copy(align[len(prefix):], old)
	t.s, t.align = prefix+t.s, align
}

// replace puts content in the place of each match. It has the origin of the last byte of the match, or of the byte
// before an empty one.
func (t *text) replace(matches []match, content string) {
	if !anyMatch(matches) {
		return
	}
	old := t.aligned()
	out := make([]byte, 0, len(t.s)+len(t.s)/4)
	align := make([]span, 0, cap(out))
	for _, m := range matches {
		if !m.is {
			out = append(out, t.s[m.start:m.end]...)
			align = append(align, old[m.start:m.end]...)
			continue
		}
		from := span{int32(t.base), int32(t.base)}
		if m.end > 0 {
			from = old[m.end-1]
		}
		out = append(out, content...)
		for range len(content) {
			align = append(align, from)
		}
	}
	t.s, t.align = string(out), align
}

// A match is a part of a text that a pattern matched, or one between matches.
type match struct {
	start, end int
	is         bool
}

func anyMatch(matches []match) bool {
	for _, m := range matches {
		if m.is {
			return true
		}
	}
	return false
}

// A behavior says what a split does with matches.
type behavior int

const (
	removed behavior = iota
	isolated
	mergedWithPrevious
	mergedWithNext
	contiguous
)

// split appends the parts of t to parts; matches cover t and are overwritten.
func (t *text) split(parts []piece, matches []match, how behavior) []piece {
	switch how {
	case mergedWithPrevious:
		matches = mergePrevious(matches)
	case mergedWithNext:
		matches = mergeNext(matches)
	case contiguous:
		matches = mergeEqual(matches)
	}
	for _, m := range matches {
		if (how != removed || !m.is) && m.start < m.end {
			parts = append(parts, piece{text: t.slice(m.start, m.end), added: -1})
		}
	}
	return parts
}

func mergePrevious(matches []match) []match {
	out, last := matches[:0], false
	for _, m := range matches {
		is := m.is
		if is && !last && len(out) > 0 {
			out[len(out)-1].end = m.end
		} else {
			out = append(out, m)
		}
		last = is
	}
	return out
}

func mergeNext(matches []match) []match {
	out, last := len(matches), false
	for i := len(matches) - 1; i >= 0; i-- {
		m := matches[i]
		if m.is && !last && out < len(matches) {
			matches[out].start = m.start
		} else {
			out--
			matches[out] = m
		}
		last = m.is
	}
	return matches[out:]
}

func mergeEqual(matches []match) []match {
	out, last := matches[:0], false
	for _, m := range matches {
		is := m.is
		if is == last && len(out) > 0 {
			out[len(out)-1].end = m.end
		} else {
			out = append(out, m)
		}
		last = is
	}
	return out
}

// runeMatches appends the matches of a class of characters, one each.
func runeMatches(out []match, s string, is func(r rune) bool) []match {
	last := 0
	for i, r := range s {
		if is(r) {
			if last < i {
				out = append(out, match{last, i, false})
			}
			last = i + utf8.RuneLen(r)
			out = append(out, match{i, last, true})
		}
	}
	if last < len(s) {
		out = append(out, match{last, len(s), false})
	}
	return out
}
