package tokenizers

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"weft/internal/array"
	"weft/internal/mem"
)

// A Tokenizer turns text into ids and back. It does not change after it was read: any number of goroutines may use it
// at once. Methods of a nil or zero Tokenizer panic with a *weft.Error.
type Tokenizer struct {
	normal     normalizer
	pre        []preTokenizer
	model      model
	post       postProcessor
	decoder    decoder
	added      addedTokens
	truncation *Truncation
	padding    *Padding
	workspaces sync.Pool
}

// given panics with a *weft.Error unless t is a tokenizer that was read.
func (t *Tokenizer) given(op string) {
	if t == nil || t.model == nil {
		array.Failf("tokenizers."+op, "", "the tokenizer is nil or zero: Load reads one")
	}
}

// A Strategy says which of two texts is cut.
type Strategy int

const (
	LongestFirst Strategy = iota // the longer one, until both are equally long
	OnlyFirst
	OnlySecond
)

// Truncation bounds the number of tokens of an encoding.
type Truncation struct {
	MaxLength int // with special tokens; 0: no bound
	Strategy  Strategy
	Stride    int  // tokens that an overflowing part repeats of the one before it; less than what is left of MaxLength
	Left      bool // cut at the start of the text
}

// Padding makes encodings longer by tokens that their attention mask leaves out. ID is not looked up in the
// vocabulary: [Tokenizer.TokenToID] gives the id of a padding token such as "[PAD]", if it is not 0.
type Padding struct {
	Length     int    // 0: as long as the longest of the batch
	MultipleOf int    // 0: any length
	Left       bool   // before the text, as networks that generate need it
	ID, TypeID int    // what IDs and TypeIDs have there
	Token      string // what Tokens has there; "": the token of ID, or "[PAD]" if the vocabulary has none
}

// EncodeOpts are options of Encode and its kin.
type EncodeOpts struct {
	NoSpecialTokens bool        // the post-processor adds none
	PlainSpecial    bool        // special tokens in the text are text like any other
	Truncation      *Truncation // nil: as the tokenizer's file says
	Padding         *Padding    // nil: as the tokenizer's file says; see NoPadding
	NoPadding       bool        // none, whatever the file says
}

// Encode returns the tokens of text, with the special tokens that the model expects around it. Bytes of text that are
// not UTF-8 are encoded as U+FFFD each; their offsets name the bytes.
//
// The error is an *EncodeError: the model has neither a token nor an unknown token for a part of text, the options
// contradict each other, or padding does not fit in memory.
func (t *Tokenizer) Encode(text string, opts ...EncodeOpts) (*Encoding, error) {
	return t.encode("Encode", []string{text}, one(opts))
}

// EncodePair is Encode of two texts that a model sees together, such as a question and a context.
func (t *Tokenizer) EncodePair(text, pair string, opts ...EncodeOpts) (*Encoding, error) {
	return t.encode("EncodePair", []string{text, pair}, one(opts))
}

func one[T any](opts []T) T {
	var none T
	if len(opts) == 0 {
		return none
	}
	return opts[0]
}

// encode is Encode of one or two texts, with padding.
func (t *Tokenizer) encode(op string, texts []string, o EncodeOpts) (*Encoding, error) {
	t.given(op)
	e, err := t.encodeUnpadded(op, texts, o)
	if err != nil {
		return nil, err
	}
	if p := t.paddingOf(o); p != nil {
		if err := padTo(op, p, e); err != nil {
			return nil, err
		}
	}
	return e, nil
}

func (t *Tokenizer) paddingOf(o EncodeOpts) *Padding {
	if o.NoPadding {
		return nil
	}
	p := t.padding
	if o.Padding != nil {
		p = o.Padding
	}
	if p == nil || p.Token != "" {
		return p
	}
	named := *p
	var ok bool
	if named.Token, ok = t.IDToToken(p.ID); !ok {
		named.Token = "[PAD]"
	}
	return &named
}

// padTo pads encodings to one length. The error is an *EncodeError if that does not fit in memory.
func padTo(op string, p *Padding, encodings ...*Encoding) error {
	n := p.Length
	if n == 0 {
		for _, e := range encodings {
			n = max(n, e.Len())
		}
	}
	if p.MultipleOf > 0 && n%p.MultipleOf > 0 {
		n += p.MultipleOf - n%p.MultipleOf
	}
	parts := 0
	for _, e := range encodings {
		parts += 1 + len(e.Overflowing)
	}
	const tokenBytes = 256 // in the slices of an Encoding, and of what is put together with it
	if n > 0 && parts > 0 && mem.CheckHeap(min(n, math.MaxInt/tokenBytes/parts)*tokenBytes*parts) != nil {
		return &EncodeError{op, fmt.Sprintf("Padding to %d tokens does not fit in memory", n)}
	}
	for _, e := range encodings {
		e.pad(n, p)
	}
	return nil
}

func (t *Tokenizer) encodeUnpadded(op string, texts []string, o EncodeOpts) (*Encoding, error) {
	work, _ := t.workspaces.Get().(*workspace)
	if work == nil {
		work = &workspace{}
	}
	defer t.workspaces.Put(work)
	parts := make([]*Encoding, len(texts))
	for i, s := range texts {
		if len(s) > math.MaxInt32/8 {
			return nil, &EncodeError{op, "a text is longer than 256 MB"}
		}
		e, err := t.encodeText(s, i, o.PlainSpecial, work)
		if err != nil {
			return nil, &EncodeError{op, err.Error()}
		}
		parts[i] = e
	}
	if err := t.truncate(op, parts, o); err != nil {
		return nil, err
	}
	if t.post != nil {
		parts = t.post.process(parts, texts, !o.NoSpecialTokens)
	}
	if len(parts) == 1 && len(parts[0].SpecialTokensMask) > 0 && parts[0].SequenceIDs[0] >= 0 {
		return parts[0], nil
	}
	return join(parts), nil
}

// encodeText returns the tokens of text number sequence.
func (t *Tokenizer) encodeText(s string, sequence int, plain bool, work *workspace) (e *Encoding, err error) {
	defer recoverLimit(&err)
	pieces := t.split(s, plain, work)
	tokens := work.tokens[:0]
	ends := make([]int, len(pieces)) // where the tokens of a piece end
	for i := range pieces {
		p := &pieces[i]
		if p.added >= 0 {
			tokens = append(tokens, token{int32(p.added), 0, int32(len(p.s)), true})
		} else {
			if tokens, err = t.model.tokenize(tokens, p, work); err != nil {
				return nil, err
			}
		}
		ends[i] = len(tokens)
	}
	work.tokens = tokens
	e = newEncoding(len(tokens))
	v := t.model.vocab()
	k := 0
	for i := range pieces {
		p := &pieces[i]
		for ; k < ends[i]; k++ {
			tok := &tokens[k]
			e.IDs[k], e.WordIDs[k] = int(tok.id), i
			e.TypeIDs[k], e.SequenceIDs[k] = sequence, sequence
			if tok.spelled {
				e.Tokens[k] = p.s[tok.start:tok.end]
			} else {
				e.Tokens[k], _ = v.token(tok.id)
			}
			e.Offsets[k] = p.origin(int(tok.start), int(tok.end))
		}
	}
	clear(work.pieces) // they hold the text
	clear(work.spare)
	return e, nil
}

// split normalises a text and splits it into pieces, which are work's.
func (t *Tokenizer) split(s string, plain bool, work *workspace) []piece {
	given := newText(s)
	pieces := t.added.split(work.pieces[:0], &given, &t.added.raw, plain)
	if t.normal != nil || t.added.prepared.trie != nil {
		out := work.spare[:0]
		for _, p := range pieces {
			if p.added >= 0 {
				out = append(out, p)
				continue
			}
			if t.normal != nil {
				t.normal.normalize(&p.text)
			}
			out = t.added.split(out, &p.text, &t.added.prepared, plain)
		}
		pieces, work.spare = out, pieces
	}
	for _, by := range t.pre {
		pieces = splitAll(pieces, by, work)
	}
	work.pieces = pieces
	return pieces
}

// truncate cuts the encodings of one or two texts.
func (t *Tokenizer) truncate(op string, parts []*Encoding, o EncodeOpts) error {
	with := t.truncation
	if o.Truncation != nil {
		with = o.Truncation
	}
	if with == nil || with.MaxLength == 0 {
		return nil
	}
	limit := with.MaxLength
	if t.post != nil && !o.NoSpecialTokens {
		limit -= t.post.added(len(parts) > 1)
	}
	switch {
	case limit < 0:
		return &EncodeError{op, "Truncation.MaxLength is less than the number of special tokens"}
	case with.Stride < 0:
		return &EncodeError{op, "Truncation.Stride is negative"}
	}
	total := 0
	for _, e := range parts {
		total += e.Len()
	}
	if total <= limit {
		return nil
	}
	cut := func(i, n int) error {
		if n > 0 && with.Stride >= n && n < parts[i].Len() {
			return &EncodeError{op, "Truncation.Stride is not less than the tokens that are left"}
		}
		parts[i] = parts[i].truncate(n, with.Stride, with.Left)
		return nil
	}
	if limit == 0 {
		for i := range parts {
			parts[i] = parts[i].truncate(0, 0, with.Left)
		}
		return nil
	}
	if with.Strategy == LongestFirst && len(parts) == 1 {
		return cut(0, limit)
	}
	if with.Strategy == LongestFirst {
		first, second := shares(parts[0].Len(), parts[1].Len(), limit)
		if err := cut(0, first); err != nil {
			return err
		}
		return cut(1, second)
	}
	i := 0
	if with.Strategy == OnlySecond {
		if i = 1; len(parts) < 2 {
			return &EncodeError{op, "Truncation.Strategy is OnlySecond, and there is one text"}
		}
	}
	n := parts[i].Len() - (total - limit)
	if n <= 0 {
		return &EncodeError{op, "the text that Truncation.Strategy names is too short to be cut to MaxLength"}
	}
	return cut(i, n)
}

// shares returns the lengths that two texts of a and b tokens get of limit, less than their sum.
func shares(a, b, limit int) (int, int) {
	short := min(a, b)
	long := max(short, limit-short)
	if short+long > limit {
		short = limit / 2
		long = short + limit%2
	}
	if a > b {
		return long, short
	}
	return short, long
}

// VocabSize returns the number of tokens, with those that were added.
func (t *Tokenizer) VocabSize() int {
	t.given("VocabSize")
	v := t.model.vocab()
	n := len(v.ids)
	for s := range t.added.ids {
		if _, ok := v.ids[s]; !ok {
			n++
		}
	}
	return n
}

// TokenToID returns the id of a token, and whether there is one.
func (t *Tokenizer) TokenToID(token string) (id int, ok bool) {
	t.given("TokenToID")
	if id, ok := t.added.ids[token]; ok {
		return int(id), true
	}
	i, ok := t.model.vocab().ids[token]
	return int(i), ok
}

// IDToToken returns the token of an id, and whether there is one.
func (t *Tokenizer) IDToToken(id int) (token string, ok bool) {
	t.given("IDToToken")
	if id < 0 || id > math.MaxInt32 {
		return "", false
	}
	return t.token(int32(id))
}

func (t *Tokenizer) token(id int32) (string, bool) {
	if s, ok := t.added.shown[id]; ok {
		return s, true
	}
	if a, ok := t.added.byID[id]; ok {
		return a.Content, true
	}
	return t.model.vocab().token(id)
}

// AddedTokens returns the tokens that are found in texts before the model sees them, by id.
func (t *Tokenizer) AddedTokens() []AddedToken {
	t.given("AddedTokens")
	out := make([]AddedToken, 0, len(t.added.byID))
	for _, a := range t.added.byID {
		out = append(out, a)
	}
	slices.SortFunc(out, func(a, b AddedToken) int { return a.ID - b.ID })
	return out
}

// Truncation returns what the tokenizer's file says, nil for none.
func (t *Tokenizer) Truncation() *Truncation {
	t.given("Truncation")
	if t.truncation == nil {
		return nil
	}
	return new(*t.truncation)
}

// Padding returns what the tokenizer's file says, nil for none.
func (t *Tokenizer) Padding() *Padding {
	t.given("Padding")
	if t.padding == nil {
		return nil
	}
	return new(*t.padding)
}

// String returns the kind of model and the number of tokens.
func (t *Tokenizer) String() string {
	return array.Describe("tokenizers.Tokenizer", "Model", strings.TrimPrefix(fmt.Sprintf("%T", t.model), "*tokenizers."), "VocabSize", t.VocabSize())
}
