package main

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"weft"
	"weft/examples/internal/late"
	"weft/nn"
)

// The network learns from the sources: the frequencies of words leave a loss of 3.56, and frequencies behind the two
// words before 2.04, counted in 20,000 sentences. Translations come nearer to their references than references
// of other sentences, whose BLEU score is 1.7.
func TestTranslatorLearns(t *testing.T) {
	late.NeedsMachineCode(t)
	if testing.Short() {
		t.Skip("SKIPPED: trains for seconds")
	}
	tr := NewTranslator(64, weft.CPU, 1)
	first, err := tr.Step(16)
	if err != nil {
		t.Fatal(err)
	}
	before, _, err := tr.Test(8, 1, 3)
	if err != nil {
		t.Fatal(err)
	}
	last := 0.0
	for range 220 {
		if last, err = tr.Step(16); err != nil {
			t.Fatal(err)
		}
	}
	score, some, err := tr.Test(8, 2, 3)
	t.Logf("loss from %.2f to %.2f, BLEU %.1f to %.1f: %q", first, last, before, score, some)
	if !(first > 3.5) || !(last < 1.9) {
		t.Errorf("loss from %.3f to %.3f, want less than 1.9", first, last)
	}
	if err != nil || len(some) != 5 || !(before < 1.7) || !(score > 5) {
		t.Errorf("%v: BLEU from %v to %v, want more than 5, of %q", err, before, score, some)
	}
}

// Every sentence has room, every word is in the vocabulary, and verbs come last or before nothing but the end.
func TestSentence(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	v := NewVocabulary()
	var last []string
	for _, verb := range verbs {
		last = append(last, verb[1])
	}
	for range 500 {
		s, target := Sentence(r)
		if len(s) > longest || len(target)+2 > longest || len(s) != len(target) {
			t.Fatalf("%d and %d words: %v, %v", len(s), len(target), s, target)
		}
		if slices.Contains(v.Encode(append(s, target...)), unknown) || !slices.Contains(last, target[len(target)-1]) {
			t.Fatalf("%v: %v", s, target)
		}
	}
	if got := v.Decode(v.Encode([]string{"the", "cat", "flies"})); got != "the cat <unknown>" {
		t.Error(got)
	}
}

// Training and translations are the same on a device whose memory the host does not reach.
func TestDevices(t *testing.T) {
	late.Same(t, func(dev weft.Device) string {
		tr := NewTranslator(8, dev, 1)
		for range 3 {
			if _, err := tr.Step(4); err != nil {
				t.Fatal(err)
			}
		}
		_, some, err := tr.Test(3, 2, 3)
		if err != nil {
			t.Fatal(err)
		}
		return weft.DigestNamed(nn.Params(tr.Net)) + strings.Join(some, "\n")
	})
}
