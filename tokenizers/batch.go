package tokenizers

import (
	"runtime"
	"sync"
	"sync/atomic"

	"weft"
	"weft/internal/array"
)

// A Batch is a list of encodings.
type Batch struct {
	Encodings []*Encoding
}

// EncodeBatch encodes texts on all processors. Without Padding in opts or in the tokenizer's file, encodings have the
// lengths that they have, and the batch has tensors only if these are equal. The error is the one of the first text that
// has one.
func (t *Tokenizer) EncodeBatch(texts []string, opts ...EncodeOpts) (*Batch, error) {
	return t.batch("EncodeBatch", len(texts), one(opts), func(i int) []string { return texts[i : i+1] })
}

// EncodePairs is EncodeBatch of pairs of texts.
func (t *Tokenizer) EncodePairs(pairs [][2]string, opts ...EncodeOpts) (*Batch, error) {
	return t.batch("EncodePairs", len(pairs), one(opts), func(i int) []string { return pairs[i][:] })
}

func (t *Tokenizer) batch(op string, n int, o EncodeOpts, texts func(i int) []string) (*Batch, error) {
	t.given(op)
	b := &Batch{Encodings: make([]*Encoding, n)}
	errs := make([]error, n)
	var next atomic.Int64
	work := func() {
		for {
			i := int(next.Add(1)) - 1
			if i >= n {
				return
			}
			b.Encodings[i], errs[i] = t.encodeUnpadded(op, texts(i), o)
		}
	}
	var group sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), n) - 1 {
		group.Go(work)
	}
	work()
	group.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	if p := t.paddingOf(o); p != nil {
		if err := padTo(op, p, b.Encodings...); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// IDs returns the ids as int64 [batch, steps]. It panics with a *weft.Error if encodings differ in length: give
// EncodeBatch a Padding.
func (b *Batch) IDs() *weft.Tensor {
	return b.tensor("IDs", func(e *Encoding) []int { return e.IDs })
}

// AttentionMask returns 1 for tokens and 0 for padding, as int64 [batch, steps]. It panics as IDs does.
func (b *Batch) AttentionMask() *weft.Tensor {
	return b.tensor("AttentionMask", func(e *Encoding) []int { return e.AttentionMask })
}

// TypeIDs returns which text a token is of, as int64 [batch, steps]. It panics as IDs does.
func (b *Batch) TypeIDs() *weft.Tensor {
	return b.tensor("TypeIDs", func(e *Encoding) []int { return e.TypeIDs })
}

func (b *Batch) tensor(op string, field func(e *Encoding) []int) *weft.Tensor {
	op = "tokenizers." + op
	array.Given(op, "the batch", b != nil)
	steps := 0
	if len(b.Encodings) > 0 {
		steps = b.Encodings[0].Len()
	}
	out := make([]int64, 0, len(b.Encodings)*steps)
	for _, e := range b.Encodings {
		if e == nil || len(field(e)) != steps {
			array.Failf(op, "Encodings", "differ in length: pad them with EncodeOpts.Padding")
		}
		for _, v := range field(e) {
			out = append(out, int64(v))
		}
	}
	return weft.From(out).Reshape(len(b.Encodings), steps)
}
