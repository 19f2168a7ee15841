package models_test

import (
	"slices"
	"testing"

	"weft"
	"weft/models"
	"weft/nn"
)

// TestWhisperMatchesTransformers compares values and gradients, and the tokens that are written greedily.
func TestWhisperMatchesTransformers(t *testing.T) {
	m := models.NewWhisper(models.WhisperOpts{Vocab: new(43), Width: new(24), EncoderLayers: new(2), DecoderLayers: new(2), EncoderHeads: new(3), DecoderHeads: new(2),
		EncoderInner: new(40), DecoderInner: new(36), Mels: new(5), Frames: new(9), Context: new(16)})
	if m.Model.Encoder.EmbedPositions.Weight.RequiresGrad() {
		t.Error("the places of the encoder are trained")
	}
	m.Model.Encoder.EmbedPositions.Weight.RequireGrad()
	features, tokens := counter("features", 2, 5, 18), tokensOf("tokens", 43, 2, 7)
	c := torchCase{model: m, run: func(d weft.DType) *weft.Tensor { return m.Logits(features.To(d), tokens) }}
	c.compare(t, references(t, "whisper")["small whisper"])

	fill(t, m, "")
	nn.Eval(m)
	want := referencesOf[struct{ Tokens [][]int }](t, "whisper")["written"].Tokens
	prompts := [][]int{{3, 7}, {3, 7}}
	for _, suppress := range []bool{false, true} {
		var o models.WhisperDecodeOpts
		if suppress {
			o.Suppress, o.SuppressFirst = []int{want[0][1]}, []int{want[0][0]}
		}
		got := [][]int{{}, {}}
		for next, err := range models.Stream(m.Decode(m.Encode(features.To(weft.Float64)), prompts, o), prompts, models.GenerateOpts{MaxTokens: new(10)}) {
			if err != nil {
				t.Fatal(err)
			}
			for i := range got {
				got[i] = append(got[i], next[i]...)
			}
		}
		if !suppress && (!slices.Equal(got[0], want[0]) || !slices.Equal(got[1], want[1])) {
			t.Errorf("wrote %v, want %v", got, want)
		}
		if suppress && (slices.Contains(got[0], want[0][1]) || got[0][0] == want[0][0]) {
			t.Errorf("wrote %v, which has tokens that are suppressed", got)
		}
	}
	for name, f := range map[string]func(){
		"features": func() { m.Encode(weft.Zeros(2, 5, 17)) },
		"prompts":  func() { m.Decode(weft.ZerosOf(weft.Float64, 2, 9, 24), [][]int{{1}, {1, 2}}) },
		"tokens":   func() { m.Logits(weft.Zeros(1, 5, 18), tokens) },
	} {
		if err := weft.Try(f); err == nil {
			t.Errorf("%s that do not fit", name)
		}
	}
}
