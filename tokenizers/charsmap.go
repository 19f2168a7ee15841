package tokenizers

import (
	"encoding/binary"
	"strings"
	"unicode/utf8"
)

// A charsmap is sentencepiece's table of replacements: a double array of prefixes, as darts-clone writes it, whose
// values are places in a text of replacements that end with a zero byte.
type charsmap struct {
	units   []uint32
	results string
	ascii   [128]bool // characters that are replaced alone
}

// parseCharsmap reads the bytes of precompiled_charsmap: the size of the array, the array, the replacements.
func parseCharsmap(data []byte) (*charsmap, error) {
	if len(data) < 4 {
		return nil, malformed("precompiled_charsmap has %d bytes, at least 4 are needed", len(data))
	}
	size := int64(binary.LittleEndian.Uint32(data))
	if data = data[4:]; size/4*4 > int64(len(data)) || size < 4 {
		return nil, malformed("precompiled_charsmap: an array of %d bytes in %d", size, len(data))
	}
	m := &charsmap{units: make([]uint32, size/4)}
	for i := range m.units {
		m.units[i] = binary.LittleEndian.Uint32(data[4*i:])
	}
	m.results = string(data[size/4*4:])
	if !utf8.ValidString(m.results) {
		return nil, malformed("precompiled_charsmap: the replacements are not UTF-8")
	}
	for c := range m.ascii {
		_, n := m.find(string(rune(c)), false)
		m.ascii[c] = n > 0
	}
	return m, nil
}

// find returns the replacement of a prefix of s, the shortest or longest that has one, and the prefix's length.
func (m *charsmap) find(s string, longest bool) (to string, n int) {
	offset := func(unit uint32) uint32 { return unit >> 10 << (unit & (1 << 9) >> 6) }
	at := offset(m.units[0])
	value := uint32(0)
	for i := range len(s) {
		c := uint32(s[i])
		at ^= c
		if c == 0 || int64(at) >= int64(len(m.units)) {
			break
		}
		unit := m.units[at]
		if unit&(1<<31|0xFF) != c {
			break
		}
		at ^= offset(unit)
		if unit>>8&1 == 1 {
			if int64(at) >= int64(len(m.units)) {
				break
			}
			value, n = m.units[at]&(1<<31-1), i+1
			if !longest {
				break
			}
		}
	}
	if n == 0 || int64(value) > int64(len(m.results)) {
		return "", 0
	}
	to = m.results[value:]
	if end := strings.IndexByte(to, 0); end >= 0 {
		to = to[:end]
	}
	return to, n
}

// normalize replaces grapheme clusters and characters as Hugging Face's does: a cluster of less than six bytes by what
// its shortest prefix in the table becomes, of others each character.
func (m *charsmap) normalize(t *text) {
	plain := true
	for i := range len(t.s) {
		if c := t.s[i]; c >= 0x80 || m.ascii[c] {
			plain = false
			break
		}
	}
	if plain {
		return
	}
	changes := make([]change, 0, len(t.s))
	modified := false
	limit := grownLimit(len(t.s))
	for at := 0; at < len(t.s); {
		limit.check(len(changes))
		c := t.s[at]
		if c < 0x80 && c != '\r' && !m.ascii[c] && (at+1 == len(t.s) || t.s[at+1] < 0x80) {
			changes = append(changes, change{rune(c), 0})
			at++
			continue
		}
		end := graphemeEnd(t.s, at)
		cluster := t.s[at:end]
		at = end
		if len(cluster) < 6 {
			if to, n := m.find(cluster, false); n > 0 {
				changes, modified = exchange(changes, cluster, to), true
				continue
			}
		}
		for i, r := range cluster {
			part := cluster[i : i+utf8.RuneLen(r)]
			if to, n := m.find(part, false); n > 0 {
				changes, modified = exchange(changes, part, to), true
			} else {
				changes = append(changes, change{r, 0})
			}
		}
	}
	if modified {
		t.transform(changes, 0)
	}
}

// exchange appends the changes that replace old by to.
func exchange(changes []change, old, to string) []change {
	more := utf8.RuneCountInString(to) - utf8.RuneCountInString(old)
	for _, r := range to {
		changes = append(changes, change{r, 0})
	}
	for i := len(changes) - 1; i >= 0 && more > 0; i-- {
		changes[i].n = 1
		more--
	}
	if more < 0 && len(changes) > 0 {
		changes[len(changes)-1].n += more
	}
	return changes
}
