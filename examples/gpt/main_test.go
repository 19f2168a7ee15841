package main

import (
	"math"
	"strings"
	"testing"

	"weft"
	"weft/examples/internal/late"
	"weft/nn"
	"weft/train"
)

func stopAfter(steps int) train.Callback {
	return train.Callback{Step: func(s train.Step) error {
		if s.Step == steps {
			return train.ErrStop
		}
		return nil
	}}
}

// Who knows only how often each character comes has the entropy of the counts for a loss.
func TestLearns(t *testing.T) {
	unigram := 0.0
	for c := range 256 {
		if n := strings.Count(text, string([]byte{byte(c)})); n > 0 {
			p := float64(n) / float64(len(text))
			unigram -= p * math.Log(p)
		}
	}
	for name, model := range map[string]func(int, *weft.Generator) Model{"gpt2": NewGPT, "llama": NewLlama} {
		g := weft.NewGenerator(1)
		alphabet, codes := Encode(text)
		m := model(len(alphabet), g)
		h, err := Train(t.Context(), m, codes, 1, train.Opts{Callbacks: []train.Callback{stopAfter(51)}})
		if err != nil {
			t.Fatal(err)
		}
		first, last := h.Losses[0], 0.0
		for _, loss := range h.Losses[41:] {
			last += loss / 10
		}
		t.Logf("%s: first loss %.3f, last %.3f, of unigrams %.3f", name, first, last, unigram)
		if !(first > unigram) || !(last < 0.75*unigram) {
			t.Errorf("%s: loss from %.3f to %.3f; guessing by frequency has %.3f", name, first, last, unigram)
		}
		out, err := Sample(m, alphabet, "the ", 40, g)
		if err != nil || len(out) < 44 || strings.Trim(out, alphabet) != "" {
			t.Errorf("%s wrote %q, %v", name, out, err)
		}
	}
}

// What is said of a place does not depend on the characters after it.
func TestCausal(t *testing.T) {
	g := weft.NewGenerator(2)
	m := NewGPT(10, g)
	x := g.Randint(0, 9, 1, 12)
	y := x.Clone()
	y.Slice(weft.Index(0), weft.Range(7, 12)).AddAssign(1)
	a, b := m.Logits(x), m.Logits(y)
	for i := range 12 {
		same := a.Index(0, i).AllClose(b.Index(0, i), weft.CloseOpts{})
		if same != (i < 7) {
			t.Errorf("place %d the same: %v, when those from 7 on change", i, same)
		}
	}
}

// Training and samples are the same on a device whose memory the host does not reach.
func TestDevices(t *testing.T) {
	late.Same(t, func(dev weft.Device) string {
		g := weft.NewGenerator(1)
		alphabet, codes := Encode(text)
		m := nn.On(NewGPT(len(alphabet), g), dev)
		if _, err := Train(t.Context(), m, codes.On(dev), 1, train.Opts{Callbacks: []train.Callback{stopAfter(1)}}); err != nil {
			t.Fatal(err)
		}
		out, err := Sample(m, alphabet, "the ", 20, g)
		if err != nil {
			t.Fatal(err)
		}
		return weft.DigestNamed(nn.Params(m)) + out
	})
}
