package models_test

import (
	"encoding/json"
	"errors"
	"maps"
	"math"
	"os"
	"regexp"
	"strings"
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
	scaled := func(s models.RopeScaling, context int) models.LlamaOpts {
		o := smallLlama()
		o.Context, o.RopeTheta, o.RopeScaling = &context, new(100.0), &s
		return o
	}
	yarn := models.RopeScaling{Type: "yarn", Factor: new(4.0), Context: new(16)}
	all := yarn
	all.BetaFast, all.BetaSlow, all.Truncate, all.MScale, all.MScaleAll = new(4.0), new(0.5), new(false), new(0.7), new(0.3)
	dynamic := models.RopeScaling{Type: "dynamic", Factor: new(4.0)}
	bert, masked, classes := models.NewBert(smallBert()), models.NewBertMaskedLM(smallBert()), models.NewBertClassifier(3, smallBert())
	gnmt := models.NewGNMT(models.GNMTOpts{Vocab: new(43), Width: new(12), Dropout: new(0.0)})
	lengths := weft.From([]int64{6, 4, 1})
	source := weft.Where(weft.Arange(6).Lt(lengths.Unsqueeze(1)), tokensOf("source", 40, 3, 6).Add(3), 0)
	target := tokensOf("target", 40, 3, 5).Add(3)
	return map[string]torchCase{
		"small gpt2":       plain(models.NewGPT2(smallGPT2())),
		"small gpt2 inner": padded(models.NewGPT2(inner)),
		"small bert": {model: bert, run: func(weft.DType) *weft.Tensor {
			hidden, pooled := bert.Read(tokens, read)
			return weft.Cat([]*weft.Tensor{hidden, pooled.Unsqueeze(1)}, 1)
		}},
		"small bert masked":     {model: masked, run: func(weft.DType) *weft.Tensor { return masked.Logits(tokens, read) }},
		"small bert classifier": {model: classes, run: func(weft.DType) *weft.Tensor { return classes.Logits(tokens, read) }},
		"small llama":           single(plain(models.NewLlama(smallLlama()))),
		"small llama tied":      single(padded(models.NewLlama(tied))),
		"small llama3":          single(far(models.NewLlama(llama3()))),
		"small llama linear":    single(far(models.NewLlama(linear))),
		"small llama yarn":      single(far(models.NewLlama(scaled(yarn, 64)))),
		"small llama yarn all":  single(far(models.NewLlama(scaled(all, 64)))),
		"small llama dynamic":   single(far(models.NewLlama(scaled(dynamic, 32)))),
		"small gnmt":            {model: gnmt, run: func(weft.DType) *weft.Tensor { return gnmt.Logits(source, lengths, target) }},
	}
}

// fullLanguage yields models of published sizes, or near them, one at a time.
func fullLanguage(yield func(string, torchCase) bool) {
	none := new(0.0)
	sparse := func(m models.LM, tokens *weft.Tensor) torchCase {
		return torchCase{model: m, run: func(weft.DType) *weft.Tensor {
			y := m.Logits(tokens)
			return y.Slice(weft.All, weft.Range(0, y.Dim(1), 9), weft.Range(0, y.Dim(2), 1111))
		}}
	}
	gpt2 := models.NewGPT2(models.GPT2Opts{EmbeddingDropout: none, AttentionDropout: none, ResidualDropout: none})
	if !yield("gpt2", sparse(gpt2, tokensOf("tokens", 50257, 2, 64))) {
		return
	}
	bert := models.NewBert(models.BertOpts{Dropout: none, AttentionDropout: none})
	// The formula's weights saturate the attention of deep layers: gradients of queries and keys all but
	// vanish. PyTorch's own in float32 are 1.4e-5 to 7.4 of their norm away from layer 4 on.
	vanish := regexp.MustCompile(`layer\.([4-9]|1\d)\.attention\.self\.(query|key)\.`)
	if !yield("bert", torchCase{model: bert, rounded: vanish.MatchString, run: func(weft.DType) *weft.Tensor {
		hidden, pooled := bert.Read(tokensOf("tokens", 30522, 2, 64))
		return weft.Cat([]*weft.Tensor{hidden, pooled.Unsqueeze(1)}, 1)
	}}) {
		return
	}
	llama := models.NewLlama(models.LlamaOpts{Width: new(1024), Inner: new(2816), Layers: new(8), Heads: new(16), KVHeads: new(4)})
	c := sparse(llama, tokensOf("tokens", 32000, 1, 64))
	c.single, c.tolerance = true, 2 // the products of three gradients are up to 1.7e-5 of their norms away
	if !yield("llama", c) {
		return
	}
	gnmt := models.NewGNMT(models.GNMTOpts{Vocab: new(8000), Dropout: none})
	yield("gnmt", torchCase{model: gnmt, run: func(weft.DType) *weft.Tensor {
		y := gnmt.Logits(tokensOf("source", 8000, 4, 20), weft.From([]int64{20, 17, 9, 3}), tokensOf("target", 8000, 4, 19))
		return y.Slice(weft.All, weft.Range(0, 19, 3), weft.Range(0, 8000, 111))
	}})
}

// Results, gradients, names and shapes equal transformers', and what GNMT's published definition gives.
func TestLanguageMatchesTorch(t *testing.T) {
	compareAll(t, "language", maps.All(smallLanguage()))
	if os.Getenv("WEFT_MODELS") == "full" {
		compareAll(t, "language_full", fullLanguage)
	}
}

// A compiled step has the bits of an eager one.
func TestCompiledLanguage(t *testing.T) {
	for name, c := range smallLanguage() {
		t.Run(name, c.compareCompiled)
	}
}

// Published sizes have transformers' names, shapes and numbers of parameters. Their weights are views of
// one zero.
func TestLanguageSizes(t *testing.T) {
	empty := func(_ *weft.Generator, shape ...int) *weft.Tensor { return weft.Zeros().Expand(shape...) }
	small := models.Llama32()
	small.Weight = empty
	all := references(t, "language")
	for name, m := range map[string]any{
		"gpt2":              models.NewGPT2(models.GPT2Opts{Weight: empty}),
		"bert base":         models.NewBert(models.BertOpts{Weight: empty}),
		"bert large masked": models.NewBertMaskedLM(models.BertOpts{Weight: empty, Width: new(1024), Layers: new(24), Heads: new(16)}),
		"llama 7b":          models.NewLlama(models.LlamaOpts{Weight: empty}),
		"llama 3.2 1b":      models.NewLlama(small),
		"gnmt":              models.NewGNMT(models.GNMTOpts{Weight: empty}),
	} {
		if got, want := parameters(m), all[name].Parameters; got != want {
			t.Errorf("%s: %d parameters, want %d", name, got, want)
		}
		if got := fingerprint(models.State(m, "")); got != all[name].Names {
			t.Errorf("%s: names or shapes differ", name)
		}
	}
}

// Files of other heads, of the first names and with entries that are not weights load too.
func TestLanguageForms(t *testing.T) {
	masked, other := models.NewBertMaskedLM(smallBert()), models.NewBertClassifier(3, smallBert())
	state := maps.Clone(models.State(masked, "transformers old"))
	for name, x := range models.State(other, "transformers old") {
		if strings.HasPrefix(name, "bert.pooler.") {
			state[name] = x
		}
	}
	state["bert.embeddings.position_ids"] = weft.Arange(32)
	state["cls.predictions.decoder.weight"] = state["bert.embeddings.word_embeddings.weight"]
	for i, m := range []any{models.NewBert(smallBert()), models.NewBertMaskedLM(smallBert()), models.NewBertClassifier(3, smallBert())} {
		if err := models.LoadState(m, state, models.LoadOpts{Skip: []string{"classifier."}}); err != nil {
			t.Errorf("%d: %v", i, err)
		}
		for name, x := range models.State(m, "") {
			if strings.HasSuffix(name, "encoder.layer.0.output.LayerNorm.weight") && !x.Detach().AllClose(masked.Bert.Encoder.Layer[0].Output.Norm.Weight.Detach()) {
				t.Errorf("%d: %s is another", i, name)
			}
		}
	}
	gpt2, llama := models.NewGPT2(smallGPT2()), models.NewLlama(llama3())
	state = maps.Clone(models.State(gpt2, "transformers base"))
	state["h.0.attn.bias"] = weft.Ones(1, 1, 32, 32)
	if err := models.LoadState(models.NewGPT2(smallGPT2()), state); err != nil {
		t.Error(err)
	}
	state = maps.Clone(models.State(llama, ""))
	state["model.layers.0.self_attn.rotary_emb.inv_freq"] = weft.Ones(4)
	if err := models.LoadState(models.NewLlama(llama3()), state); err != nil {
		t.Error(err)
	}
	if delete(state, "lm_head.weight"); models.LoadState(models.NewLlama(llama3()), state) == nil {
		t.Error("a head is missing that is not tied")
	}
}

// A dynamic scaling admits texts up to Factor times the context, and keeps the turns of those within it.
func TestDynamicRopeGrowsWithTexts(t *testing.T) {
	plain, grown := smallLlama(), smallLlama()
	plain.Context, grown.Context, grown.RopeScaling = new(8), new(8), &models.RopeScaling{Type: "dynamic", Factor: new(2.0)}
	plain.Generator, grown.Generator = weft.NewGenerator(1), weft.NewGenerator(1)
	a, b := models.NewLlama(plain), models.NewLlama(grown)
	tokens := tokensOf("tokens", 43, 1, 17)
	first := func(m *models.Llama, n int) *weft.Tensor { return m.Logits(tokens.Slice(weft.All, weft.Range(0, n))) }
	if x, y := first(a, 8), first(b, 8); !y.AllClose(x, weft.CloseOpts{Relative: new(1e-5), Absolute: new(1e-6)}) {
		t.Errorf("within the context %v, want %v", y, x)
	}
	if x, y := first(b, 8), first(b, 16).Slice(weft.All, weft.Range(0, 8)); y.AllClose(x) {
		t.Error("a longer text has the turns of a shorter one")
	}
	for n, m := range map[int]*models.Llama{9: a, 17: b} {
		if err := weft.Try(func() { first(m, n) }); err == nil {
			t.Errorf("%d tokens are not refused", n)
		}
	}
	for _, s := range []models.RopeScaling{{Type: "longrope"}, {Type: "dynamic", Factor: new(0.5)}, {Type: "yarn", BetaFast: new(1.0)}, {Type: "linear", Factor: new(0.0)},
		{Type: "dynamic", Factor: new(math.Inf(1))}, {Type: "linear", Factor: new(1e300)}, {Type: "yarn", Attention: new(math.NaN())}, {Type: "yarn", Factor: new(2.0), MScale: new(math.Inf(1)), MScaleAll: new(1.0)}} {
		o := smallLlama()
		o.RopeScaling = &s
		var e *weft.Error
		if err := weft.Try(func() { models.NewLlama(o) }); !errors.As(err, &e) || e.Arg != "RopeScaling" {
			t.Errorf("%+v: %v", s, err)
		}
	}
}

// config.json of Hugging Face gives the options.
func TestConfigs(t *testing.T) {
	var g models.GPT2Opts
	var l models.LlamaOpts
	var b models.BertOpts
	for text, o := range map[string]any{
		`{"model_type": "gpt2", "n_embd": 24, "n_inner": null, "n_layer": 2, "resid_pdrop": 0.2}`:                                        &g,
		`{"hidden_size": 24, "num_key_value_heads": 2, "rope_scaling": {"rope_type": "llama3", "factor": 32.0, "low_freq_factor": 1.0}}`: &l,
		`{"hidden_size": 24, "attention_probs_dropout_prob": 0.3, "pad_token_id": 1}`:                                                    &b,
	} {
		if err := json.Unmarshal([]byte(text), o); err != nil {
			t.Fatal(err)
		}
	}
	if *g.Width != 24 || g.Inner != nil || *g.Layers != 2 || *g.ResidualDropout != 0.2 {
		t.Errorf("%+v", g)
	}
	if *l.KVHeads != 2 || l.RopeScaling.Type != "llama3" || *l.RopeScaling.Factor != 32 || l.RopeScaling.High != nil {
		t.Errorf("%+v", l)
	}
	for text, want := range map[string]models.RopeScaling{
		`{"rope_scaling": {"type": "dynamic", "factor": 2.0}, "rope_theta": 100.0}`:               {Type: "dynamic"},
		`{"rope_parameters": {"rope_type": "yarn", "rope_theta": 100, "factor": 2, "mscale": 3}}`: {Type: "yarn", MScale: new(3.0)},
		`{"rope_scaling": null, "rope_theta": 100.0}`:                                             {},
		`{"rope_parameters": {"rope_theta": 100.0}}`:                                              {},
	} {
		var o models.LlamaOpts
		if err := json.Unmarshal([]byte(text), &o); err != nil || *o.RopeTheta != 100 || (o.RopeScaling == nil) != (want.Type == "") {
			t.Errorf("%s: %v, %+v", text, err, o)
		} else if s := o.RopeScaling; s != nil && (s.Type != want.Type || *s.Factor != 2 || (s.MScale == nil) != (want.MScale == nil)) {
			t.Errorf("%s: %+v", text, s)
		}
	}
	if err := json.Unmarshal([]byte(`{"hidden_size": "wide"}`), &l); err == nil {
		t.Error("a width that is a text is not refused")
	}
	if *b.Width != 24 || *b.AttentionDropout != 0.3 || b.Pad != 1 {
		t.Errorf("%+v", b)
	}
}
