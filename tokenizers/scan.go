package tokenizers

import "unicode/utf8"

// Scanners of the patterns that the published byte-level tokenizers split with. Each does what the regular expression
// does, by hand, because most of the time of encoding would be in the general matcher.

// gpt2End returns the end of the match of GPT-2's pattern that begins at start:
//
//	's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
func gpt2End(s string, start int) int {
	if s[start] == '\'' {
		if n := contraction(s[start+1:], false); n > 0 {
			return start + 1 + n
		}
	}
	at := start
	if s[at] == ' ' && at+1 < len(s) {
		at++
	}
	flags, n := flagsAt(s, at)
	switch {
	case isLetter(flags):
		return runOf(s, at+n, isLetter)
	case isNumber(flags):
		return runOf(s, at+n, isNumber)
	case flags&isRegexpSpace == 0:
		return runOf(s, at+n, isSign)
	}
	return spacesEnd(s, start)
}

// isSign is [^\s\p{L}\p{N}].
func isSign(flags uint32) bool {
	return flags&isRegexpSpace == 0 && !isLetter(flags) && !isNumber(flags)
}

// contraction returns the length of s, t, re, ve, m, ll or d at the start, 0 if there is none.
func contraction(s string, fold bool) int {
	if s == "" {
		return 0
	}
	lower := func(i int) (byte, int) {
		if i >= len(s) {
			return 0, 0
		}
		c := s[i]
		switch {
		case !fold || c < utf8.RuneSelf:
			if fold && c >= 'A' && c <= 'Z' {
				c += 'a' - 'A'
			}
			return c, 1
		case c == 0xC5 && i+1 < len(s) && s[i+1] == 0xBF: // ſ folds to s
			return 's', 2
		}
		return 0, 0
	}
	c, n := lower(0)
	d, k := lower(n)
	switch {
	case c == 's', c == 't', c == 'm', c == 'd':
		return n
	case c == 'r' && d == 'e', c == 'v' && d == 'e', c == 'l' && d == 'l':
		return n + k
	}
	return 0
}

// flagsAt returns properties and length of the character at a place.
func flagsAt(s string, at int) (flags uint32, n int) {
	if c := s[at]; c < utf8.RuneSelf {
		return uni.blocks[0][c], 1
	}
	r, n := utf8.DecodeRuneInString(s[at:])
	return flagsOf(r), n
}

// runOf returns where the characters of a class from at on end.
func runOf(s string, at int, is func(flags uint32) bool) int {
	for at < len(s) {
		flags, n := flagsAt(s, at)
		if !is(flags) {
			break
		}
		at += n
	}
	return at
}

// spacesEnd is \s+(?!\S)|\s+ at start, where a space is.
func spacesEnd(s string, start int) int {
	last, at := start, start
	for at < len(s) {
		flags, n := flagsAt(s, at)
		if flags&isRegexpSpace == 0 {
			break
		}
		last = at
		at += n
	}
	if at < len(s) && last > start {
		return last
	}
	return at
}

// A gpt4Pattern is the pattern of GPT-4, Llama 3 and Qwen:
//
//	(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,digits}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
type gpt4Pattern struct{ digits int }

// gpt4Patterns are the texts of that pattern in published tokenizers.
var gpt4Patterns = map[string]gpt4Pattern{
	`(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`: {3},
	`(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`:      {1},
}

func (p gpt4Pattern) matches(out []match, s string) []match {
	for at := 0; at < len(s); {
		end := p.end(s, at)
		out = append(out, match{at, end, true})
		at = end
	}
	return out
}

func (p gpt4Pattern) end(s string, start int) int {
	if s[start] == '\'' {
		if n := contraction(s[start+1:], true); n > 0 {
			return start + 1 + n
		}
	}
	flags, n := flagsAt(s, start)
	switch {
	case isLetter(flags):
		return runOf(s, start+n, isLetter)
	case isNumber(flags):
		at := start
		for range p.digits {
			if at == len(s) {
				break
			}
			flags, n := flagsAt(s, at)
			if !isNumber(flags) {
				break
			}
			at += n
		}
		return at
	}
	if c := s[start]; c != '\r' && c != '\n' && start+n < len(s) {
		if next, k := flagsAt(s, start+n); isLetter(next) {
			return runOf(s, start+n+k, isLetter)
		}
	}
	at := start
	if s[at] == ' ' && at+1 < len(s) {
		at++
	}
	if flags, n := flagsAt(s, at); isSign(flags) {
		at = runOf(s, at+n, isSign)
		for at < len(s) && (s[at] == '\r' || s[at] == '\n') {
			at++
		}
		return at
	}
	// Spaces: up to the last line break among them, or else as GPT-2.
	lines := 0
	for at = start; at < len(s); {
		flags, n := flagsAt(s, at)
		if flags&isRegexpSpace == 0 {
			break
		}
		if at += n; s[at-1] == '\r' || s[at-1] == '\n' {
			lines = at
		}
	}
	if lines > 0 {
		return lines
	}
	return spacesEnd(s, start)
}
