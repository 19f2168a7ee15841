package tokenizers

import (
	"slices"
	"unicode/utf8"

	"weft/internal/array"
)

// An Encoding is a text as tokens. All its slices have one entry a token.
type Encoding struct {
	IDs               []int
	TypeIDs           []int       // 0 for the first text, 1 for the second, if the post-processor says so
	Tokens            []string    // as the vocabulary spells them
	Offsets           []Span      // the bytes of the text that a token comes from; empty at 0 for tokens that were added
	WordIDs           []int       // which piece of its text a token belongs to; -1 for tokens that were added
	SequenceIDs       []int       // 0 for the first text, 1 for the second, -1 for tokens that were added
	SpecialTokensMask []int       // 1 for tokens that were added: by the post-processor, or as padding
	AttentionMask     []int       // 0 for padding
	Overflowing       []*Encoding // the parts that Truncation cut off, with special tokens of their own
}

// Len returns the number of tokens, 0 of a nil Encoding.
func (e *Encoding) Len() int {
	if e == nil {
		return 0
	}
	return len(e.IDs)
}

// newEncoding returns an encoding of n tokens, with masks for tokens of one text.
func newEncoding(n int) *Encoding {
	numbers := make([]int, 6*n)
	part := func(k int) []int { return numbers[k*n : (k+1)*n : (k+1)*n] }
	e := &Encoding{IDs: part(0), TypeIDs: part(1), WordIDs: part(2), SequenceIDs: part(3), SpecialTokensMask: part(4),
		AttentionMask: part(5), Tokens: make([]string, n), Offsets: make([]Span, n)}
	for i := range e.AttentionMask {
		e.AttentionMask[i] = 1
	}
	return e
}

// special returns an encoding of tokens that a post-processor adds.
func special(ids []int, tokens []string, typeID int) *Encoding {
	e := newEncoding(len(ids))
	copy(e.IDs, ids)
	copy(e.Tokens, tokens)
	for i := range ids {
		e.TypeIDs[i], e.WordIDs[i], e.SequenceIDs[i], e.SpecialTokensMask[i] = typeID, -1, -1, 1
	}
	return e
}

func (e *Encoding) setTypes(typeID int) {
	for i := range e.TypeIDs {
		e.TypeIDs[i] = typeID
	}
}

// RuneOffsets returns Offsets in characters, as Hugging Face's Python library counts them. The texts are those that
// were encoded; bytes that are not UTF-8 count as a character each. It panics with a *weft.Error if SequenceIDs and
// Offsets differ in length, a text is missing, or an offset is negative.
func (e *Encoding) RuneOffsets(texts ...string) []Span {
	const op = "tokenizers.RuneOffsets"
	array.Given(op, "the encoding", e != nil)
	if len(e.SequenceIDs) != len(e.Offsets) {
		array.Failf(op, "SequenceIDs", "has %d entries, Offsets has %d", len(e.SequenceIDs), len(e.Offsets))
	}
	for i, k := range e.SequenceIDs {
		if k >= len(texts) {
			array.Failf(op, "texts", "are %d, the token at %d is of text %d", len(texts), i, k)
		}
	}
	out := make([]Span, len(e.Offsets))
	for k, s := range texts {
		counts := runeCounts(s)
		for i, o := range e.Offsets {
			if e.SequenceIDs[i] != k {
				continue
			}
			if o.Start < 0 || o.End < 0 {
				array.Failf(op, "Offsets", "has a negative place at %d", i)
			}
			if counts == nil {
				out[i] = o
			} else {
				out[i] = Span{counts[min(o.Start, len(s))], counts[min(o.End, len(s))]}
			}
		}
	}
	return out
}

// runeCounts returns the number of characters before each byte, nil if it is the byte's place.
func runeCounts(s string) []int {
	if isASCII(s) {
		return nil
	}
	counts := make([]int, len(s)+1)
	n, last := 0, 0
	for i := range s {
		for k := last + 1; k <= i; k++ {
			counts[k] = n
		}
		last = i
		n++
	}
	for k := last + 1; k <= len(s); k++ {
		counts[k] = n
	}
	return counts
}

// slice returns the tokens from start to end as an encoding.
func (e *Encoding) slice(start, end int) *Encoding {
	return &Encoding{
		IDs: slices.Clone(e.IDs[start:end]), TypeIDs: slices.Clone(e.TypeIDs[start:end]), Tokens: slices.Clone(e.Tokens[start:end]),
		Offsets: slices.Clone(e.Offsets[start:end]), WordIDs: slices.Clone(e.WordIDs[start:end]),
		SequenceIDs: slices.Clone(e.SequenceIDs[start:end]), SpecialTokensMask: slices.Clone(e.SpecialTokensMask[start:end]),
		AttentionMask: slices.Clone(e.AttentionMask[start:end]),
	}
}

// truncate keeps at most n tokens; the others become Overflowing, in parts that begin with stride tokens of the part
// before. Requires stride < n, but for n of 0.
func (e *Encoding) truncate(n, stride int, left bool) *Encoding {
	size := e.Len()
	if n >= size {
		return e
	}
	if n == 0 {
		empty := newEncoding(0)
		empty.Overflowing = []*Encoding{e}
		return empty
	}
	var parts []*Encoding
	step := n - stride
	if left {
		for end := size; ; end -= step {
			start := max(end-n, 0)
			parts = append(parts, e.slice(start, end))
			if start == 0 || end-step <= 0 {
				break
			}
		}
	} else {
		for start := 0; ; start += step {
			end := min(start+n, size)
			parts = append(parts, e.slice(start, end))
			if end == size {
				break
			}
		}
	}
	first := parts[0]
	first.Overflowing = parts[1:]
	return first
}

// plus returns the tokens of e and then of o. Each overflowing part of one is combined with the other, and with each
// overflowing part of it.
func (e *Encoding) plus(o *Encoding) *Encoding {
	var more []*Encoding
	for _, part := range e.Overflowing {
		more = append(more, part.then(o))
		for _, other := range o.Overflowing {
			more = append(more, part.then(other))
		}
	}
	for _, other := range o.Overflowing {
		more = append(more, e.then(other))
	}
	sum := e.then(o)
	sum.Overflowing = more
	return sum
}

// then returns the tokens of e and of o, without overflowing parts.
func (e *Encoding) then(o *Encoding) *Encoding {
	return &Encoding{
		IDs: slices.Concat(e.IDs, o.IDs), TypeIDs: slices.Concat(e.TypeIDs, o.TypeIDs), Tokens: slices.Concat(e.Tokens, o.Tokens),
		Offsets: slices.Concat(e.Offsets, o.Offsets), WordIDs: slices.Concat(e.WordIDs, o.WordIDs),
		SequenceIDs:       slices.Concat(e.SequenceIDs, o.SequenceIDs),
		SpecialTokensMask: slices.Concat(e.SpecialTokensMask, o.SpecialTokensMask),
		AttentionMask:     slices.Concat(e.AttentionMask, o.AttentionMask),
	}
}

// join returns the tokens of all parts in new memory.
func join(parts []*Encoding) *Encoding {
	n, more := 0, false
	for _, p := range parts {
		n += p.Len()
		more = more || len(p.Overflowing) > 0
	}
	if more {
		e := parts[0]
		for _, p := range parts[1:] {
			e = e.plus(p)
		}
		return e
	}
	e := newEncoding(n)
	at := 0
	for _, p := range parts {
		copy(e.IDs[at:], p.IDs)
		copy(e.TypeIDs[at:], p.TypeIDs)
		copy(e.Tokens[at:], p.Tokens)
		copy(e.Offsets[at:], p.Offsets)
		copy(e.WordIDs[at:], p.WordIDs)
		copy(e.SequenceIDs[at:], p.SequenceIDs)
		copy(e.SpecialTokensMask[at:], p.SpecialTokensMask)
		at += p.Len()
	}
	return e
}

// pad makes e and its overflowing parts at least n tokens long.
func (e *Encoding) pad(n int, with *Padding) {
	for _, o := range e.Overflowing {
		o.pad(n, with)
	}
	short := n - e.Len()
	if short <= 0 {
		return
	}
	p := newEncoding(short)
	for i := range short {
		p.IDs[i], p.Tokens[i], p.TypeIDs[i] = with.ID, with.Token, with.TypeID
		p.WordIDs[i], p.SequenceIDs[i], p.SpecialTokensMask[i], p.AttentionMask[i] = -1, -1, 1, 0
	}
	padded := e.then(p)
	if with.Left {
		padded = p.then(e)
	}
	padded.Overflowing = e.Overflowing
	*e = *padded
}

// trim takes spaces at the ends of byte-level tokens out of their offsets. s is the text of e.
func (e *Encoding) trim(s string, addedSpace bool) {
	isSpaceChar := func(r rune) bool { return r == byteChars[' '] || space(r) }
	for i, token := range e.Tokens {
		if token == "" {
			continue
		}
		o := &e.Offsets[i]
		leading := 0
		for _, r := range token {
			if !isSpaceChar(r) {
				break
			}
			leading++
		}
		trailing := 0
		for end := len(token); end > 0; {
			r, n := utf8.DecodeLastRuneInString(token[:end])
			if !isSpaceChar(r) {
				break
			}
			end -= n
			trailing++
		}
		if leading > 0 {
			if (i == 0 || o.Start == 0) && addedSpace && leading == 1 {
				leading = 0 // the space that was added takes none of the text
			}
			for ; leading > 0 && o.Start < o.End; leading-- {
				_, n := utf8.DecodeRuneInString(s[o.Start:])
				o.Start += n
			}
		}
		// Hugging Face's leaves a token that ends where fewer characters have been than it has trailing spaces.
		if trailing > 0 && (o.End >= utf8.UTFMax*trailing || utf8.RuneCountInString(s[:o.End]) >= trailing) {
			for ; trailing > 0 && o.End > o.Start; trailing-- {
				_, n := utf8.DecodeLastRuneInString(s[:o.End])
				o.End -= n
			}
		}
	}
	for _, part := range e.Overflowing {
		part.trim(s, addedSpace)
	}
}
