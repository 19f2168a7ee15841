package tokenizers

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// A decoder changes tokens; what the last one of a chain returns is the text, in parts.
type decoder interface {
	decode(tokens []string) []string
}

type decoderSequence []decoder

func (seq decoderSequence) decode(tokens []string) []string {
	for _, d := range seq {
		tokens = d.decode(tokens)
	}
	return tokens
}

// byteLevelDecoder reads the bytes that characters stand for. A token with other characters is taken as it is.
type byteLevelDecoder struct{}

func (byteLevelDecoder) decode(tokens []string) []string {
	var out []byte
	for _, t := range tokens {
		n := len(out)
		var ok bool
		if out, ok = charsToBytes(out, t); !ok {
			out = append(out[:n], t...)
		}
	}
	return []string{lossyUTF8(out)}
}

// lossyUTF8 replaces each maximal part of a character that is not whole by U+FFFD, as The Unicode Standard (3.9) advises.
func lossyUTF8(b []byte) string {
	if utf8.Valid(b) {
		return string(b)
	}
	var out strings.Builder
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		if r != utf8.RuneError || n > 1 {
			out.Write(b[:n])
			b = b[n:]
			continue
		}
		out.WriteRune(utf8.RuneError)
		b = b[brokenLen(b):]
	}
	return out.String()
}

// brokenLen returns the length of the part of a character that b, which does not begin with a whole one, begins with.
func brokenLen(b []byte) int {
	lo, hi, size := byte(0x80), byte(0xBF), 0
	switch c := b[0]; {
	case c >= 0xC2 && c <= 0xDF:
		size = 2
	case c >= 0xE0 && c <= 0xEF:
		size = 3
		if c == 0xE0 {
			lo = 0xA0
		} else if c == 0xED {
			hi = 0x9F
		}
	case c >= 0xF0 && c <= 0xF4:
		size = 4
		if c == 0xF0 {
			lo = 0x90
		} else if c == 0xF4 {
			hi = 0x8F
		}
	}
	n := 1
	for n < size && n < len(b) && b[n] >= lo && b[n] <= hi {
		lo, hi = 0x80, 0xBF
		n++
	}
	return n
}

// wordPieceDecoder joins what continues a word and puts spaces before other tokens.
type wordPieceDecoder struct {
	prefix  string
	cleanup bool
}

func (w wordPieceDecoder) decode(tokens []string) []string {
	for i, t := range tokens {
		if i > 0 {
			if rest, ok := strings.CutPrefix(t, w.prefix); ok {
				t = rest
			} else {
				t = " " + t
			}
		}
		if w.cleanup {
			t = cleanUp(t)
		}
		tokens[i] = t
	}
	return tokens
}

// cleanUp takes out spaces that English does not have, one rule after the other as Hugging Face's.
func cleanUp(s string) string {
	if !strings.Contains(s, " ") {
		return s
	}
	for _, rule := range [...][2]string{{" .", "."}, {" ?", "?"}, {" !", "!"}, {" ,", ","}, {" ' ", "'"}, {" n't", "n't"},
		{" 'm", "'m"}, {" do not", " don't"}, {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"}} {
		s = strings.ReplaceAll(s, rule[0], rule[1])
	}
	return s
}

// metaspaceDecoder writes marks as spaces. The first token loses its marks if the encoder adds one there.
type metaspaceDecoder struct {
	mark   string
	prefix prefixScheme
}

func (m metaspaceDecoder) decode(tokens []string) []string {
	for i, t := range tokens {
		to := " "
		if i == 0 && m.prefix != prefixNever {
			to = ""
		}
		tokens[i] = strings.ReplaceAll(t, m.mark, to)
	}
	return tokens
}

// bpeDecoder writes the suffix of words as a space, but at the end.
type bpeDecoder string

func (b bpeDecoder) decode(tokens []string) []string {
	for i, t := range tokens {
		to := " "
		if i == len(tokens)-1 {
			to = ""
		}
		tokens[i] = strings.ReplaceAll(t, string(b), to)
	}
	return tokens
}

// byteFallbackDecoder reads tokens such as <0xE4>. Of bytes in a row that are not UTF-8 each becomes U+FFFD.
type byteFallbackDecoder struct{}

func (byteFallbackDecoder) decode(tokens []string) []string {
	out := make([]string, 0, len(tokens))
	var bytes []byte
	flush := func() {
		if utf8.Valid(bytes) {
			if len(bytes) > 0 {
				out = append(out, string(bytes))
			}
		} else {
			for range bytes {
				out = append(out, string(utf8.RuneError))
			}
		}
		bytes = bytes[:0]
	}
	for _, t := range tokens {
		if c, ok := byteOf(t); ok {
			bytes = append(bytes, c)
			continue
		}
		flush()
		out = append(out, t)
	}
	flush()
	return out
}

// byteOf reads a byte token; digits may be lower case.
func byteOf(t string) (byte, bool) {
	if len(t) != 6 || t[:3] != "<0x" || t[5] != '>' {
		return 0, false
	}
	digit := func(c byte) int {
		return strings.IndexByte("0123456789ABCDEF", c&^(c>>1&0x20))
	}
	high, low := digit(t[3]), digit(t[4])
	return byte(high<<4 | low), high >= 0 && low >= 0
}

type fuseDecoder struct{}

func (fuseDecoder) decode(tokens []string) []string { return []string{strings.Join(tokens, "")} }

// stripDecoder cuts a character off the ends of each token, start and stop times at most.
type stripDecoder struct {
	content     string
	start, stop int
}

func (s stripDecoder) decode(tokens []string) []string {
	for i, t := range tokens {
		for k := 0; k < s.start && strings.HasPrefix(t, s.content); k++ {
			t = t[len(s.content):]
		}
		for k := 0; k < s.stop && strings.HasSuffix(t, s.content); k++ {
			t = t[:len(t)-len(s.content)]
		}
		tokens[i] = t
	}
	return tokens
}

// ctcDecoder drops repeated tokens and padding.
type ctcDecoder struct {
	pad, delimiter string
	cleanup        bool
}

func (c ctcDecoder) decode(tokens []string) []string {
	out := tokens[:0]
	for _, t := range slices.Compact(tokens) {
		t = strings.ReplaceAll(t, c.pad, "")
		if c.cleanup {
			t = strings.ReplaceAll(cleanUp(t), c.delimiter, " ")
		}
		if t != "" {
			out = append(out, t)
		}
	}
	return out
}

func (r replacement) decode(tokens []string) []string {
	for i, t := range tokens {
		if t == "" {
			continue
		}
		matches, err := tryMatches(r.pattern, t)
		if err != nil || len(matches)*len(r.content) > 64*len(t)+1<<16 {
			continue // a hostile file, whose tokens would take time or grow without bound
		}
		var out strings.Builder
		for _, m := range matches {
			if m.is {
				out.WriteString(r.content)
			} else {
				out.WriteString(t[m.start:m.end])
			}
		}
		tokens[i] = out.String()
	}
	return tokens
}

// tryMatches returns the matches in s, or errSteps.
func tryMatches(p pattern, s string) (list []match, err error) {
	defer recoverLimit(&err)
	return p.matches(nil, s), nil
}
