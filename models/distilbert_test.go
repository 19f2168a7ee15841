package models_test

import (
	"maps"
	"testing"

	"weft"
	"weft/models"
)

// TestDistilBertMatchesTransformers compares values and gradients, alone and with heads.
func TestDistilBertMatchesTransformers(t *testing.T) {
	none := new(0.0)
	o := models.DistilBertOpts{Vocab: new(43), Context: new(32), Width: new(24), Layers: new(2), Heads: new(3), Inner: new(40),
		Dropout: none, AttentionDropout: none, ClassifierDropout: none}
	tokens := tokensOf("tokens", 43, 2, 7)
	read := models.ReadOpts{Mask: weft.Arange(7).Lt(weft.From([]int64{7, 4}).Unsqueeze(1))}
	plain, masked, classes := models.NewDistilBert(o), models.NewDistilBertMaskedLM(o), models.NewDistilBertClassifier(3, o)
	compareAll(t, "distilbert", maps.All(map[string]torchCase{
		"small distilbert":            {model: plain, run: func(weft.DType) *weft.Tensor { return plain.Read(tokens, read) }},
		"small distilbert masked":     {model: masked, run: func(weft.DType) *weft.Tensor { return masked.Logits(tokens, read) }},
		"small distilbert classifier": {model: classes, run: func(weft.DType) *weft.Tensor { return classes.Logits(tokens, read) }},
	}))
	if err := weft.Try(func() { plain.Read(tokens, models.ReadOpts{Kinds: tokens}) }); err == nil {
		t.Error("segments")
	}
}
