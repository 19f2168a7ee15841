package tokenizers

import (
	"strings"
	"unicode/utf8"

	"weft/internal/array"
)

// DecodeOpts are options of Decode and its kin.
type DecodeOpts struct {
	KeepSpecialTokens bool // special tokens are part of the text
}

// Decode returns the text of ids. Ids without a token are left out. Bytes that are not UTF-8 become U+FFFD.
func (t *Tokenizer) Decode(ids []int, opts ...DecodeOpts) string {
	t.given("Decode")
	o := one(opts)
	tokens := make([]string, 0, len(ids))
	for _, id := range ids {
		s, ok := t.IDToToken(id)
		if ok && (o.KeepSpecialTokens || !t.added.special[s]) {
			tokens = append(tokens, s)
		}
	}
	if t.decoder == nil {
		return strings.Join(tokens, " ")
	}
	return strings.Join(t.decoder.decode(tokens), "")
}

// DecodeBatch is Decode of each element.
func (t *Tokenizer) DecodeBatch(batch [][]int, opts ...DecodeOpts) []string {
	t.given("DecodeBatch")
	out := make([]string, len(batch))
	for i, ids := range batch {
		out[i] = t.Decode(ids, opts...)
	}
	return out
}

// A DecodeStream decodes ids one by one, as a model generates them. The parts that it returns are the text that Decode
// gives for all ids. It is for one goroutine. [Tokenizer.DecodeStream] makes one; methods of others panic with a
// *weft.Error.
type DecodeStream struct {
	t      *Tokenizer
	opts   DecodeOpts
	ids    []int  // those that the next text depends on
	prefix string // their text as far as it was returned
	given  int    // of ids, those whose text was returned
}

// DecodeStream returns a stream that has seen no ids.
func (t *Tokenizer) DecodeStream(opts ...DecodeOpts) *DecodeStream {
	t.given("DecodeStream")
	return &DecodeStream{t: t, opts: one(opts)}
}

// heldTokens is the number of tokens that a stream holds back for a character that is not whole. A character has at
// most four bytes; with more tokens than that it never will be.
const heldTokens = 8

// tokenizer returns the stream's tokenizer, for method op.
func (s *DecodeStream) tokenizer(op string) *Tokenizer {
	if s == nil || s.t == nil {
		array.Failf("tokenizers."+op, "", "the stream is nil or zero: Tokenizer.DecodeStream makes one")
	}
	return s.t
}

// Step takes the next id and returns the text that is complete with it: "" if a character is not whole yet.
func (s *DecodeStream) Step(id int) string {
	t := s.tokenizer("Step")
	s.ids = append(s.ids, id)
	text := t.Decode(s.ids, s.opts)
	held := len(s.ids) - s.given
	if len(text) <= len(s.prefix) || strings.HasSuffix(text, string(utf8.RuneError)) && held < heldTokens {
		if held >= 4*heldTokens { // nothing is to be seen of them
			s.ids = s.ids[s.given:]
			s.given, s.prefix = len(s.ids), s.t.Decode(s.ids, s.opts)
		}
		return ""
	}
	return s.take(text)
}

// take returns the part of text that was not returned yet.
func (s *DecodeStream) take(text string) string {
	more, ok := strings.CutPrefix(text, s.prefix)
	if !ok { // bytes that were whole characters are not, with those that came after
		more = s.t.Decode(s.ids[s.given:], s.opts)
	}
	s.ids = s.ids[s.given:]
	s.given, s.prefix = len(s.ids), s.t.Decode(s.ids, s.opts)
	return more
}

// Flush returns what was held back, with U+FFFD for characters that are not whole, and begins a new text.
func (s *DecodeStream) Flush() string {
	text := s.tokenizer("Flush").Decode(s.ids, s.opts)
	more := ""
	if len(text) > len(s.prefix) {
		more = s.take(text)
	}
	s.ids, s.prefix, s.given = nil, "", 0
	return more
}

// String returns the numbers that the next text depends on.
func (d *DecodeStream) String() string {
	return array.Describe("tokenizers.DecodeStream", "IDs", d.ids, "Given", d.given)
}
