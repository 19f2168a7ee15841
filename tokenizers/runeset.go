package tokenizers

import (
	"strings"
	"unicode"
)

// A runeSet is a class of characters of a regular expression.
type runeSet struct {
	ascii  [128]bool // the answer for these
	parts  []setPart // a character of the set is in one of them
	and    *runeSet  // which must hold it too
	negate bool
}

// A setPart holds characters from lo to hi, or of a category, or with a property, or of another set or table.
type setPart struct {
	lo, hi     rune
	fold       bool   // lo to hi without regard to case
	categories uint32 // bits 1<<number
	properties uint32
	negate     bool // of categories, properties and table
	sub        *runeSet
	table      *unicode.RangeTable
}

func (p *setPart) has(r rune, flags uint32) bool {
	switch {
	case p.sub != nil:
		return p.sub.has(r)
	case p.table != nil:
		return unicode.Is(p.table, r) != p.negate
	case p.categories != 0 || p.properties != 0:
		return (p.categories>>(flags&categoryMask)&1 == 1 || flags&p.properties != 0) != p.negate
	}
	if p.fold {
		for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
			if p.lo <= f && f <= p.hi {
				return true
			}
		}
	}
	return p.lo <= r && r <= p.hi
}

func (s *runeSet) has(r rune) bool {
	if uint32(r) < 128 {
		return s.ascii[r]
	}
	return s.evaluate(r)
}

func (s *runeSet) evaluate(r rune) bool {
	flags := flagsOf(r)
	in := false
	for i := range s.parts {
		if s.parts[i].has(r, flags) {
			in = true
			break
		}
	}
	if in && s.and != nil {
		in = s.and.has(r)
	}
	return in != s.negate
}

// finish fills the table of ASCII characters.
func (s *runeSet) finish() *runeSet {
	for c := range s.ascii {
		s.ascii[c] = s.evaluate(rune(c))
	}
	return s
}

// single is the set of r, and with fold of what has the same case folding.
func single(r rune, fold bool) *runeSet {
	s := &runeSet{}
	s.addRange(r, r, fold)
	return s.finish()
}

// addRange adds lo to hi; with fold also what simple case folding makes equal to one of them.
func (s *runeSet) addRange(lo, hi rune, fold bool) {
	s.parts = append(s.parts, setPart{lo: lo, hi: hi, fold: fold})
}

// property adds what \p{name} or [:name:] is; it reports whether there is such a property.
func (s *runeSet) property(name string, negate bool) bool {
	name = strings.ToLower(strings.NewReplacer("_", "", " ", "", "-", "").Replace(name))
	p := setPart{negate: negate}
	for k, c := range categories {
		short := strings.ToLower(c)
		if name == short || name == short[:1] && len(name) == 1 {
			p.categories |= 1 << k
		}
	}
	category := func(names string) uint32 {
		bits := uint32(0)
		for k, c := range categories {
			if strings.Contains(names, c) {
				bits |= 1 << k
			}
		}
		return bits
	}
	switch name {
	case "space":
		p.properties = isRegexpSpace
	case "word":
		p.properties = isRegexpWord
	case "digit":
		p.categories = category("Nd")
	case "upper", "uppercaseletter":
		p.categories = category("Lu")
	case "lower", "lowercaseletter":
		p.categories = category("Ll")
	case "punct", "punctuation":
		p.categories = category("PcPdPsPePiPfPo")
	case "letter":
		p.categories = category("LuLlLtLmLo")
	case "number":
		p.categories = category("NdNlNo")
	case "mark":
		p.categories = category("MnMcMe")
	case "symbol":
		p.categories = category("SmScSkSo")
	case "separator":
		p.categories = category("ZsZlZp")
	case "cntrl":
		p.categories = category("Cc")
	case "ascii":
		s.parts = append(s.parts, setPart{sub: (&runeSet{parts: []setPart{{lo: 0, hi: 0x7F}}, negate: negate}).finish()})
		return true
	case "any":
		p.categories = 1<<32 - 1
	}
	if p.categories == 0 && p.properties == 0 {
		return s.script(name, negate)
	}
	s.parts = append(s.parts, p)
	return true
}

// script adds the characters of a script by its name in Unicode, as the Go release knows it.
func (s *runeSet) script(name string, negate bool) bool {
	for script, table := range unicode.Scripts {
		if strings.ToLower(strings.ReplaceAll(script, "_", "")) == name {
			s.parts = append(s.parts, setPart{table: table, negate: negate})
			return true
		}
	}
	return false
}
