package tokenizers

import (
	"strings"
	"unicode/utf8"
)

// A normalizer changes a text before it is split.
type normalizer interface{ normalize(t *text) }

type normalizerSequence []normalizer

func (seq normalizerSequence) normalize(t *text) {
	limit := grownLimit(len(t.s))
	for _, n := range seq {
		n.normalize(t)
		limit.check(len(t.s))
	}
}

// A grownLimit bounds the length of what a text is normalised to, so that a hostile file cannot make it grow without
// bound by replacing a character by many, again and again.
type grownLimit int

// check panics with errGrown, which recoverLimit catches, where a length is beyond the limit.
func (limit grownLimit) check(n int) {
	if n > 64*int(limit)+1<<16 {
		panic(errGrown)
	}
}

var errGrown = malformed("a text grows more than 64 times when it is normalised")

// recoverLimit is deferred by what may panic with errGrown or errSteps, which becomes the error.
func recoverLimit(err *error) {
	switch e := recover(); e {
	case nil:
	case errGrown:
		*err = errGrown
	case errSteps:
		*err = errSteps
	default:
		panic(e)
	}
}

// A bertNormalizer cleans text as BERT does.
type bertNormalizer struct{ clean, chinese, accents, lower bool }

func (b bertNormalizer) normalize(t *text) {
	if isASCII(t.s) {
		b.normalizeASCII(t)
		return
	}
	if b.clean {
		t.filter(func(r rune) bool {
			return r == '\t' || r == '\n' || r == '\r' || r != 0 && r != utf8.RuneError && flagsOf(r)&isOther == 0
		})
		mapRunes(t, func(r rune) rune {
			if flagsOf(r)&isSpace != 0 {
				return ' '
			}
			return r
		})
	}
	if b.chinese {
		spaceIdeographs(t)
	}
	if b.accents {
		normalForm{}.normalize(t)
		t.filter(func(r rune) bool { return flagsOf(r)&isNonspacing == 0 })
	}
	if b.lower {
		lowercase{}.normalize(t)
	}
}

// normalizeASCII is normalize of text that has neither ideographs nor accents.
func (b bertNormalizer) normalizeASCII(t *text) {
	if b.clean {
		for i := range len(t.s) {
			if c := t.s[i]; c < ' ' && c != '\t' && c != '\n' && c != '\r' || c == 0x7F {
				t.filter(func(r rune) bool { return r == '\t' || r == '\n' || r == '\r' || r >= ' ' && r != 0x7F })
				break
			}
		}
		if strings.ContainsAny(t.s, "\t\n\r") {
			t.s = strings.Map(func(r rune) rune {
				if r < ' ' {
					return ' '
				}
				return r
			}, t.s)
		}
	}
	if b.lower {
		t.s = strings.ToLower(t.s)
	}
}

// mapRunes replaces characters one by one.
func mapRunes(t *text, to func(r rune) rune) {
	same, sizes := true, true
	for _, r := range t.s {
		if m := to(r); m != r {
			same = false
			sizes = sizes && utf8.RuneLen(m) == utf8.RuneLen(r)
		}
	}
	if same {
		return
	}
	if sizes {
		t.s = strings.Map(to, t.s)
		return
	}
	changes := make([]change, 0, len(t.s))
	for _, r := range t.s {
		changes = append(changes, change{to(r), 0})
	}
	t.transform(changes, 0)
}

// isIdeograph reports whether BERT puts spaces around r: the blocks of unified ideographs.
func isIdeograph(r rune) bool {
	switch {
	case r < 0x3400:
		return false
	case r <= 0x4DBF, r >= 0x4E00 && r <= 0x9FFF, r >= 0xF900 && r <= 0xFAFF:
		return true
	}
	return r >= 0x20000 && r <= 0x2A6DF || r >= 0x2A700 && r <= 0x2B81F || r >= 0x2B920 && r <= 0x2CEAF ||
		r >= 0x2F800 && r <= 0x2FA1F
}

func spaceIdeographs(t *text) {
	if strings.IndexFunc(t.s, isIdeograph) < 0 {
		return
	}
	changes := make([]change, 0, len(t.s))
	for _, r := range t.s {
		if isIdeograph(r) {
			changes = append(changes, change{' ', 0}, change{r, 1}, change{' ', 1})
		} else {
			changes = append(changes, change{r, 0})
		}
	}
	t.transform(changes, 0)
}

type lowercase struct{}

func (lowercase) normalize(t *text) {
	if isASCII(t.s) {
		t.s = strings.ToLower(t.s)
		return
	}
	mapTo(t, func(r rune) ([]rune, bool) {
		if r < 0x80 {
			return asciiLower[r], asciiLower[r] != nil
		}
		to, ok := uni.lower[r]
		return to, ok
	})
}

var asciiLower = func() (table [128][]rune) {
	for c := 'A'; c <= 'Z'; c++ {
		table[c] = []rune{c - 'A' + 'a'}
	}
	return table
}()

// mapTo replaces the characters for which to gives some.
func mapTo(t *text, to func(r rune) ([]rune, bool)) {
	some := false
	for _, r := range t.s {
		if _, ok := to(r); ok {
			some = true
			break
		}
	}
	if !some {
		return
	}
	changes := make([]change, 0, len(t.s))
	for _, r := range t.s {
		runes, ok := to(r)
		if !ok {
			changes = append(changes, change{r, 0})
		}
		for i, m := range runes {
			changes = append(changes, change{m, min(i, 1)})
		}
	}
	t.transform(changes, 0)
}

type stripSpaces struct{ left, right bool }

func (s stripSpaces) normalize(t *text) {
	start, end := 0, len(t.s)
	if s.left {
		start = end - len(strings.TrimLeftFunc(t.s, space))
	}
	if s.right {
		end = len(strings.TrimRightFunc(t.s, space))
	}
	if start >= end {
		end = start
	}
	if start > 0 || end < len(t.s) {
		t.align = t.aligned()[start:end]
		t.s = t.s[start:end]
	}
}

func space(r rune) bool { return flagsOf(r)&isSpace != 0 }

type stripAccents struct{}

func (stripAccents) normalize(t *text) {
	if !isASCII(t.s) {
		t.filter(func(r rune) bool { return flagsOf(r)&isCombining == 0 })
	}
}

type prepend string

func (p prepend) normalize(t *text) { t.prepend(string(p)) }

// A replacement replaces what a pattern matches.
type replacement struct {
	pattern pattern
	content string
}

func (r replacement) normalize(t *text) {
	if t.s != "" {
		matches := r.pattern.matches(nil, t.s)
		grownLimit(len(t.s)).check(len(matches) * len(r.content))
		t.replace(matches, r.content)
	}
}

// nmt cleans text as sentencepiece's rules of that name do.
type nmt struct{}

func (nmt) normalize(t *text) {
	t.filter(func(r rune) bool {
		return !(r >= 1 && r <= 8 || r == 0xB || r >= 0xE && r <= 0x1F || r == 0x7F || r == 0x8F || r == 0x9F)
	})
	mapRunes(t, func(r rune) rune {
		switch {
		case r == '\t', r == '\n', r == '\f', r == '\r', r == 0x1680, r >= 0x200B && r <= 0x200F, r == 0x2028, r == 0x2029,
			r == 0x2581, r == 0xFEFF, r == utf8.RuneError:
			return ' '
		}
		return r
	})
}

// byteChars are the characters that stand for bytes in byte-level vocabularies: printable Latin-1 for itself, the
// others from U+0100 on.
var byteChars, charBytes = func() (chars [256]rune, bytes map[rune]byte) {
	bytes = map[rune]byte{}
	next := rune(256)
	for b := range chars {
		c := rune(b)
		if !(c >= '!' && c <= '~' || c >= 0xA1 && c <= 0xAC || c >= 0xAE) {
			c = next
			next++
		}
		chars[b] = c
		bytes[c] = byte(b)
	}
	return chars, bytes
}()

// byteLevelNormalizer writes each byte as a character.
type byteLevelNormalizer struct{}

func (byteLevelNormalizer) normalize(t *text) {
	if t.s != "" {
		toByteChars(t)
	}
}

func toByteChars(t *text) {
	changes := make([]change, 0, len(t.s))
	for i := range len(t.s) {
		c := change{byteChars[t.s[i]], 1}
		if utf8.RuneStart(t.s[i]) {
			c.n = 0
		}
		changes = append(changes, c)
	}
	t.transform(changes, 0)
}
