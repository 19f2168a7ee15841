package models_test

import (
	"maps"
	"testing"

	"weft"
	"weft/models"
)

// tokensOf returns the tokens that language.py has under a name.
func tokensOf(name string, vocab int, shape ...int) *weft.Tensor {
	return counter(name, shape...).To(weft.Float64).Add(1).Mul(float64(vocab) / 2).To(weft.Int64)
}

func smallGPT2() models.GPT2Opts {
	none := new(0.0)
	return models.GPT2Opts{Vocab: new(43), Context: new(32), Width: new(24), Layers: new(2), Heads: new(3),
		EmbeddingDropout: none, AttentionDropout: none, ResidualDropout: none}
}

func smallBert() models.BertOpts {
	return models.BertOpts{Vocab: new(43), Context: new(32), Width: new(24), Layers: new(2), Heads: new(3), Inner: new(40), Dropout: new(0.0), AttentionDropout: new(0.0)}
}

func smallLlama() models.LlamaOpts {
	return models.LlamaOpts{Vocab: new(43), Context: new(64), Width: new(24), Inner: new(40), Layers: new(2), Heads: new(4), KVHeads: new(2), HeadWidth: new(8)}
}

// llama3 are the options of scaled rotary embeddings that language.py has.
func llama3() models.LlamaOpts {
	o := smallLlama()
	o.RopeTheta, o.RopeScaling = new(500.0), &models.RopeScaling{Type: "llama3", Factor: new(8.0), Context: new(16)}
	return o
}

func smallLanguage() map[string]torchCase {
	tokens := tokensOf("tokens", 43, 2, 7)
	plain := func(m models.LM) torchCase {
		return torchCase{model: m, run: func(weft.DType) *weft.Tensor { return m.Logits(tokens) }}
	}
	padded := func(m models.LM) torchCase {
		mask := weft.Arange(7).Ge(weft.From([]int64{0, 3}).Unsqueeze(1))
		places := weft.Arange(7).Sub(weft.From([]int64{0, 3}).Unsqueeze(1)).Maximum(0)
		return torchCase{model: m, run: func(weft.DType) *weft.Tensor {
			return m.Logits(tokens, models.LogitsOpts{Mask: mask, Positions: places}).Mul(mask.Unsqueeze(2))
		}}
	}
	far := func(m models.LM) torchCase {
		return torchCase{model: m, run: func(weft.DType) *weft.Tensor {
			return m.Logits(tokens, models.LogitsOpts{Positions: weft.Arange(0, 70, 10)})
		}}
	}
	// transformers computes LLaMA's norms and angles in float32.
	single := func(c torchCase) torchCase { c.single = true; return c }
	read := models.ReadOpts{
		Mask:  weft.Arange(7).Lt(weft.From([]int64{7, 4}).Unsqueeze(1)),
		Kinds: weft.Arange(7).Ge(3).To(weft.Int64).Expand(2, 7),
	}
	inner := smallGPT2()
	inner.Inner = new(30)
	tied := smallLlama()
	tied.TieEmbeddings, tied.AttentionBias, tied.MLPBias = true, true, true
	linear := smallLlama()
	linear.KVHeads, linear.RopeTheta, linear.RopeScaling = new(1), new(100.0), &models.RopeScaling{Type: "linear", Factor: new(4.0)}
	bert, masked, classes := models.NewBert(smallBert()), models.NewBertMaskedLM(smallBert()), models.NewBertClassifier(3, smallBert())
	gnmt := models.NewGNMT(models.GNMTOpts{Vocab: new(43), Width: new(12), Dropout: new(0.0)})
	lengths := weft.From([]int64{6, 4, 1})
	source := weft.Where(weft.Arange(6).Lt(lengths.Unsqueeze(1)), tokensOf("source", 40, 3, 6).Add(3), 0)
	target := tokensOf("target", 40, 3, 5).Add(3)
	return map[string]torchCase{
		"gpt2":       plain(models.NewGPT2(smallGPT2())),
		"gpt2 inner": padded(models.NewGPT2(inner)),
		"bert": {model: bert, run: func(weft.DType) *weft.Tensor {
			hidden, pooled := bert.Read(tokens, read)
			return weft.Cat([]*weft.Tensor{hidden, pooled.Unsqueeze(1)}, 1)
		}},
		"bert masked":     {model: masked, run: func(weft.DType) *weft.Tensor { return masked.Logits(tokens, read) }},
		"bert classifier": {model: classes, run: func(weft.DType) *weft.Tensor { return classes.Logits(tokens, read) }},
		"llama":           single(plain(models.NewLlama(smallLlama()))),
		"llama tied":      single(padded(models.NewLlama(tied))),
		"llama3":          single(far(models.NewLlama(llama3()))),
		"llama linear":    single(far(models.NewLlama(linear))),
		"gnmt":            {model: gnmt, run: func(weft.DType) *weft.Tensor { return gnmt.Logits(source, lengths, target) }},
	}
}

// Results, gradients, names and shapes equal transformers', and what GNMT's published definition gives.
func TestLanguageMatchesTorch(t *testing.T) {
	compareAll(t, "language", maps.All(smallLanguage()))
}
