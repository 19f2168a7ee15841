package hf

import (
	"fmt"
	"strings"

	"weft"
	"weft/internal/core"
	"weft/models"
)

// A builder makes the network of m.Config, whose weights are in state.
type builder func(m *Model, state map[string]*weft.Tensor) error

// networks are the builders by architecture.
var networks = map[string]builder{
	"BertModel": bert(func(m *Model, o models.BertOpts, state map[string]*weft.Tensor) any {
		b := models.NewBert(o)
		if !has(state, "pooler.") {
			b.Pooler = nil
		}
		return b
	}),
	"BertForMaskedLM": bert(func(_ *Model, o models.BertOpts, _ map[string]*weft.Tensor) any { return models.NewBertMaskedLM(o) }),
	"BertForSequenceClassification": bert(func(m *Model, o models.BertOpts, _ map[string]*weft.Tensor) any {
		return models.NewBertClassifier(m.classes(), o)
	}),
	"DistilBertModel":       distilBert(func(_ *Model, o models.DistilBertOpts) any { return models.NewDistilBert(o) }),
	"DistilBertForMaskedLM": distilBert(func(_ *Model, o models.DistilBertOpts) any { return models.NewDistilBertMaskedLM(o) }),
	"DistilBertForSequenceClassification": distilBert(func(m *Model, o models.DistilBertOpts) any {
		return models.NewDistilBertClassifier(m.classes(), o)
	}),
	"GPT2LMHeadModel": gpt2, "GPT2Model": gpt2,
	"LlamaForCausalLM":          llama,
	"ViTForImageClassification": vit,

	"WhisperForConditionalGeneration": whisper,
}

// unset draws nothing, and touches no memory: all weights come from files.
func unset(_ *weft.Generator, shape ...int) *weft.Tensor {
	return (*weft.Tensor)(core.Empty("hf", 0, weft.Float32, shape))
}

// has reports whether a name of a state has a part.
func has(state map[string]*weft.Tensor, part string) bool {
	for name := range state {
		if strings.Contains(name, part) {
			return true
		}
	}
	return false
}

// classes returns the number of labels, which is 2 where config.json has none.
func (m *Model) classes() int {
	if n := len(m.Config.Labels); n > 0 {
		return n
	}
	return 2
}

// decode reads config.json into the options of a network, and refuses choices that weft does not have:
// wanted has the values of keys that it does.
func (m *Model) decode(opts any, wanted map[string][]any) error {
	if err := m.Config.Decode(opts); err != nil {
		return &FormatError{Path: m.path("config.json"), Msg: "cannot be read", Err: err}
	}
	var all map[string]any
	if err := m.Config.Decode(&all); err != nil {
		return &FormatError{Path: m.path("config.json"), Msg: "cannot be read", Err: err}
	}
	for key, values := range wanted {
		x, ok := all[key]
		known := !ok || x == nil
		for _, v := range values {
			known = known || x == v
		}
		if !known {
			return m.unsupported("config.json has %s %v, known is %v", key, x, values)
		}
	}
	return nil
}

// fits refuses networks with matrices of more numbers than the state has: config.json alone says how
// large they are. Each size is a product.
func (m *Model) fits(state map[string]*weft.Tensor, layers int, sizes ...[]int) error {
	total := 0
	for _, t := range state {
		total += t.Size()
	}
	ok := layers <= len(state)
	for _, size := range sizes {
		n := 1
		for _, d := range size {
			if d < 0 || d > 0 && n > total/d {
				ok = false
				break
			}
			n *= d
		}
	}
	if !ok {
		return &FormatError{Path: m.path("config.json"), Msg: fmt.Sprintf("describes a larger network than the %d numbers of the weights make", total)}
	}
	return nil
}

// or returns an option or its default.
func or(n *int, def int) int {
	if n == nil {
		return def
	}
	return *n
}

func bert(make func(*Model, models.BertOpts, map[string]*weft.Tensor) any) builder {
	return func(m *Model, state map[string]*weft.Tensor) error {
		o := models.BertOpts{Weight: unset}
		if err := m.decode(&o, map[string][]any{"hidden_act": {"gelu"}, "position_embedding_type": {"absolute"}, "is_decoder": {false}}); err != nil {
			return err
		}
		width := or(o.Width, 768)
		inner := or(o.Inner, 4*width)
		if err := m.fits(state, or(o.Layers, 12), []int{or(o.Vocab, 30522), width}, []int{or(o.Context, 512), width}, []int{width, width}, []int{width, inner},
			[]int{or(o.Kinds, 2), width}, []int{m.classes(), width}); err != nil {
			return err
		}
		m.MaxTokens = or(o.Context, 512)
		m.Module = make(m, o, state)
		return nil
	}
}

func distilBert(make func(*Model, models.DistilBertOpts) any) builder {
	return func(m *Model, state map[string]*weft.Tensor) error {
		o := models.DistilBertOpts{Weight: unset}
		if err := m.decode(&o, map[string][]any{"activation": {"gelu"}}); err != nil {
			return err
		}
		width := or(o.Width, 768)
		inner := or(o.Inner, 4*width)
		if err := m.fits(state, or(o.Layers, 6), []int{or(o.Vocab, 30522), width}, []int{or(o.Context, 512), width}, []int{width, width}, []int{width, inner}, []int{m.classes(), width}); err != nil {
			return err
		}
		m.MaxTokens = or(o.Context, 512)
		m.Module = make(m, o)
		return nil
	}
}

func gpt2(m *Model, state map[string]*weft.Tensor) error {
	o := models.GPT2Opts{Weight: unset}
	if err := m.decode(&o, map[string][]any{"activation_function": {"gelu_new", "gelu_pytorch_tanh"}, "scale_attn_weights": {true},
		"scale_attn_by_inverse_layer_idx": {false}, "tie_word_embeddings": {true}, "add_cross_attention": {false}}); err != nil {
		return err
	}
	width := or(o.Width, 768)
	if err := m.fits(state, or(o.Layers, 12), []int{or(o.Vocab, 50257), width}, []int{or(o.Context, 1024), width}, []int{width, width}, []int{width, or(o.Inner, 4*width)}); err != nil {
		return err
	}
	m.MaxTokens = or(o.Context, 1024)
	m.Module = models.NewGPT2(o)
	return nil
}

func llama(m *Model, state map[string]*weft.Tensor) error {
	o := models.LlamaOpts{Weight: unset}
	if err := m.decode(&o, map[string][]any{"hidden_act": {"silu"}, "attention_dropout": {0.0}}); err != nil {
		return err
	}
	width, inner := or(o.Width, 4096), or(o.Inner, 11008)
	if err := m.fits(state, or(o.Layers, 32), []int{or(o.Vocab, 32000), width}, []int{width, inner}, []int{width, or(o.Heads, 32), or(o.HeadWidth, 1)},
		[]int{width, or(o.KVHeads, 1), or(o.HeadWidth, 1)}); err != nil {
		return err
	}
	m.MaxTokens = or(o.Context, 2048)
	m.Module = models.NewLlama(o)
	return nil
}

func vit(m *Model, state map[string]*weft.Tensor) error {
	c := struct {
		Width    int     `json:"hidden_size"`
		Layers   int     `json:"num_hidden_layers"`
		Heads    int     `json:"num_attention_heads"`
		Inner    int     `json:"intermediate_size"`
		Size     int     `json:"image_size"`
		Patch    int     `json:"patch_size"`
		Channels int     `json:"num_channels"`
		Eps      float64 `json:"layer_norm_eps"`
		Drop     float64 `json:"hidden_dropout_prob"`
		AttnDrop float64 `json:"attention_probs_dropout_prob"`
	}{768, 12, 12, 3072, 224, 16, 3, 1e-12, 0, 0}
	if err := m.decode(&c, map[string][]any{"hidden_act": {"gelu"}, "qkv_bias": {true}}); err != nil {
		return err
	}
	patches := 0
	if c.Patch > 0 {
		patches = c.Size / c.Patch
	}
	if err := m.fits(state, c.Layers, []int{c.Width, c.Width}, []int{c.Width, c.Inner}, []int{c.Channels, c.Patch, c.Patch, c.Width}, []int{patches, patches, c.Width}, []int{m.classes(), c.Width}); err != nil {
		return err
	}
	classes := m.classes()
	m.Module = models.NewViT(c.Patch, c.Layers, c.Heads, c.Width, c.Inner, models.ViTOpts{Classes: &classes, Channels: &c.Channels, Size: &c.Size,
		Eps: &c.Eps, Dropout: c.Drop, AttentionDropout: c.AttnDrop, Weight: unset})
	return nil
}

func whisper(m *Model, state map[string]*weft.Tensor) error {
	o := models.WhisperOpts{Weight: unset}
	if err := m.decode(&o, map[string][]any{"activation_function": {"gelu"}, "scale_embedding": {false}, "tie_word_embeddings": {true}}); err != nil {
		return err
	}
	width := or(o.Width, 384)
	if err := m.fits(state, max(or(o.EncoderLayers, 4), or(o.DecoderLayers, 4)), []int{or(o.Vocab, 51865), width}, []int{or(o.Frames, 1500), width}, []int{or(o.Context, 448), width},
		[]int{3, or(o.Mels, 80), width}, []int{3, width, width}, []int{width, or(o.EncoderInner, 4*width)}, []int{width, or(o.DecoderInner, 4*width)}); err != nil {
		return err
	}
	m.MaxTokens = or(o.Context, 448)
	m.Module = models.NewWhisper(o)
	return nil
}
