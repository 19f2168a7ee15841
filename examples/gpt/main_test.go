package main

import (
	"math"
	"strings"
	"testing"

	"weft"
	"weft/nn"
	"weft/optim"
)

// Who knows only how often each character comes has the entropy of the counts for a loss.
func TestLearns(t *testing.T) {
	unigram := 0.0
	for c := range 256 {
		if n := strings.Count(text, string([]byte{byte(c)})); n > 0 {
			p := float64(n) / float64(len(text))
			unigram -= p * math.Log(p)
		}
	}
	g := weft.NewGenerator(1)
	alphabet, codes := Encode(text)
	m := NewGPT(len(alphabet), g)
	opt := optim.NewAdam(nn.Params(m), optim.AdamOpts{LR: new(3e-3)})
	first, last := Step(m, opt, codes, g), 0.0
	for i := range 80 {
		loss := Step(m, opt, codes, g)
		if i >= 70 {
			last += loss / 10
		}
	}
	t.Logf("first loss %.3f, last %.3f, of unigrams %.3f", first, last, unigram)
	if !(first > unigram) || !(last < 0.75*unigram) {
		t.Errorf("loss from %.3f to %.3f; guessing by frequency has %.3f", first, last, unigram)
	}
	out, err := Sample(m, alphabet, "the ", 40, g)
	if err != nil || len(out) < 44 || strings.Trim(out, alphabet) != "" {
		t.Errorf("wrote %q, %v", out, err)
	}
}

// What is said of a place does not depend on the characters after it.
func TestCausal(t *testing.T) {
	g := weft.NewGenerator(2)
	m := NewGPT(10, g)
	x := g.Randint(0, 9, 1, 12)
	y := x.Clone()
	y.Slice(weft.Index(0), weft.Range(7, 12)).AddAssign(1)
	a, b := m.Forward(x), m.Forward(y)
	for i := range 12 {
		same := a.Index(0, i).AllClose(b.Index(0, i), weft.CloseOpts{})
		if same != (i < 7) {
			t.Errorf("place %d the same: %v, when those from 7 on change", i, same)
		}
	}
}
