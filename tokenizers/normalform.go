package tokenizers

import (
	"slices"
)

// Hangul syllables are computed, not listed (The Unicode Standard, section 3.12).
const (
	hangulS, hangulL, hangulV, hangulT = 0xAC00, 0x1100, 0x1161, 0x11A7
	countL, countV, countT             = 19, 21, 28
)

// A normalForm is one of the Unicode normal forms (UAX 15).
type normalForm struct{ compatible, compose bool }

func (f normalForm) normalize(t *text) {
	if isASCII(t.s) {
		return
	}
	changes := decompose(make([]change, 0, len(t.s)), t.s, f.compatible)
	if f.compose {
		changes = compose(changes)
	}
	t.transform(changes, 0)
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

// decompose appends the decomposition of s in canonical order.
func decompose(out []change, s string, compatible bool) []change {
	type class struct {
		change
		class uint32
	}
	var marks []class // those since the last character of class 0
	emit := func(r rune, first bool) {
		c := change{r, 1}
		if first {
			c.n = 0
		}
		k := combiningClass(r)
		if k != 0 {
			marks = append(marks, class{c, k})
			return
		}
		if len(marks) > 0 {
			slices.SortStableFunc(marks, func(a, b class) int { return int(a.class) - int(b.class) })
			for _, m := range marks {
				out = append(out, m.change)
			}
			marks = marks[:0]
		}
		out = append(out, c)
	}
	for _, r := range s {
		if r < 0x80 {
			emit(r, true)
			continue
		}
		if i := r - hangulS; i >= 0 && i < countL*countV*countT {
			emit(hangulL+i/(countV*countT), true)
			emit(hangulV+i%(countV*countT)/countT, false)
			if i%countT > 0 {
				emit(hangulT+i%countT, false)
			}
			continue
		}
		to, ok := uni.canonical[r]
		if compatible {
			if k, more := uni.compatible[r]; more {
				to, ok = k, true
			}
		}
		if !ok {
			emit(r, true)
			continue
		}
		for i, d := range to {
			emit(d, i == 0)
		}
	}
	if len(marks) > 0 {
		slices.SortStableFunc(marks, func(a, b class) int { return int(a.class) - int(b.class) })
		for _, m := range marks {
			out = append(out, m.change)
		}
	}
	return out
}

// compose composes a decomposition in place.
func compose(in []change) []change {
	out := in[:0]
	var marks []change // after starter, not composed with it
	var starter change
	have, lastClass := false, uint32(0)
	flush := func() {
		if have {
			out = append(append(out, starter), marks...)
		}
		marks, lastClass = marks[:0], 0
	}
	for _, c := range in {
		class := combiningClass(c.r)
		if !have {
			if class != 0 {
				out = append(out, c)
			} else {
				starter, have = c, true
			}
			continue
		}
		if len(marks) == 0 || lastClass < class {
			if r, ok := composition(starter.r, c.r); ok {
				starter = change{r, starter.n + c.n - 1}
				continue
			}
		}
		if class == 0 {
			flush()
			starter = c
			continue
		}
		marks, lastClass = append(marks, c), class
	}
	flush()
	return out
}

// composition returns the character that a and b compose to.
func composition(a, b rune) (rune, bool) {
	switch {
	case a >= hangulL && a < hangulL+countL && b >= hangulV && b < hangulV+countV:
		return hangulS + ((a-hangulL)*countV+(b-hangulV))*countT, true
	case a >= hangulS && a < hangulS+countL*countV*countT && (a-hangulS)%countT == 0 && b > hangulT && b < hangulT+countT:
		return a + b - hangulT, true
	}
	r, ok := uni.compositions[[2]rune{a, b}]
	return r, ok
}
