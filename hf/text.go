package hf

import (
	"cmp"
	"fmt"
	"iter"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"weft"
	"weft/models"
	"weft/tokenizers"
)

// batchTexts is the greatest number of texts in a batch. Texts of like length share a batch, which keeps
// padding small.
const batchTexts = 32

// Pooling says how Embed combines the vectors of the tokens of a text.
type Pooling struct {
	Mode      PoolingMode
	Normalize bool // vectors have length 1
}

// A PoolingMode makes one vector of the vectors of all tokens.
type PoolingMode uint8

const (
	PoolMean     PoolingMode = iota // the mean
	PoolFirst                       // that of the first token, [CLS]
	PoolMax                         // the greatest of each number
	PoolMeanSqrt                    // the sum, divided by the root of the number of tokens
)

// readPooling reads what sentence-transformers wrote beside a network.
func (m *Model) readPooling() error {
	var parts []struct{ Path, Type string }
	_, found, err := readJSON(m.path("modules.json"), &parts)
	if err != nil || !found {
		return err
	}
	for _, p := range parts {
		switch kind := p.Type[strings.LastIndexByte(p.Type, '.')+1:]; kind {
		case "Transformer":
			var o struct {
				Max *int `json:"max_seq_length"`
			}
			if _, _, err := readJSON(m.path("sentence_bert_config.json"), &o); err != nil {
				return err
			}
			if o.Max != nil && *o.Max > 0 {
				m.MaxTokens = min(m.MaxTokens, *o.Max)
			}
		case "Pooling":
			if err := m.readPoolingMode(p.Path); err != nil {
				return err
			}
		case "Normalize":
			m.Pooling.Normalize = true
		default:
			return m.unsupported("modules.json has a %s behind the network", kind)
		}
	}
	return nil
}

// readPoolingMode reads the pooling in a folder of the folder.
func (m *Model) readPoolingMode(folder string) error {
	if !filepath.IsLocal(folder) {
		return &FormatError{Path: m.path("modules.json"), Msg: fmt.Sprintf("the path %q leaves the folder", folder)}
	}
	path := m.path(folder, "config.json")
	var o map[string]any
	_, found, err := readJSON(path, &o)
	if err != nil {
		return err
	}
	if !found {
		return &FormatError{Path: path, Msg: "is not there"}
	}
	modes := map[string]PoolingMode{"mean_tokens": PoolMean, "cls_token": PoolFirst, "max_tokens": PoolMax, "mean_sqrt_len_tokens": PoolMeanSqrt,
		"mean": PoolMean, "cls": PoolFirst, "max": PoolMax, "mean_sqrt_len": PoolMeanSqrt}
	n := 0
	set := func(name string) error {
		mode, ok := modes[name]
		if n++; !ok || n > 1 {
			return m.unsupported("%s asks for pooling by %q, known is one of mean, cls, max, mean_sqrt_len", path, name)
		}
		m.Pooling.Mode = mode
		return nil
	}
	if name, ok := o["pooling_mode"].(string); ok {
		return set(name)
	}
	for key, on := range o {
		if name, ok := strings.CutPrefix(key, "pooling_mode_"); ok && on == true {
			if err := set(name); err != nil {
				return err
			}
		}
	}
	return nil
}

// encode returns the ids of texts.
func (m *Model) encode(texts []string) ([]*tokenizers.Encoding, error) {
	if m.Tokenizer == nil {
		return nil, m.unsupported("the folder has no tokenizer")
	}
	b, err := m.Tokenizer.EncodeBatch(texts, tokenizers.EncodeOpts{Truncation: &tokenizers.Truncation{MaxLength: m.MaxTokens}, NoPadding: true})
	if err != nil {
		return nil, err
	}
	return b.Encodings, nil
}

// eachBatch calls f with batches of texts of like length: their numbers, their tokens [batch, steps], and a
// mask, which is nil without padding. What f computes is freed when it returns.
func (m *Model) eachBatch(texts []string, f func(rows []int, tokens *weft.Tensor, o models.ReadOpts) error) error {
	all, err := m.encode(texts)
	if err != nil {
		return err
	}
	order := make([]int, len(texts))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(all[b].Len(), all[a].Len()) })
	if n := len(order); n > 0 && all[order[n-1]].Len() == 0 { // its mean would be NaN
		return m.unsupported("text %d has no tokens", order[n-1])
	}
	for rows := range slices.Chunk(order, batchTexts) {
		steps := all[rows[0]].Len()
		ids, mask := make([]int64, len(rows)*steps), make([]bool, len(rows)*steps)
		padded := false
		for i, row := range rows {
			e := all[row]
			padded = padded || e.Len() < steps
			for j := range steps {
				if j < e.Len() { // behind it is padding, which the mask hides
					ids[i*steps+j], mask[i*steps+j] = int64(e.IDs[j]), true
				}
			}
		}
		var inner error
		err := weft.Try(func() {
			weft.WithoutGrad(func() {
				scope := weft.NewScope()
				defer scope.Close()
				var o models.ReadOpts
				if padded {
					o.Mask = scope.Track(weft.FromSlice(mask, len(rows), steps))
				}
				inner = f(rows, scope.Track(weft.FromSlice(ids, len(rows), steps)), o)
			})
		})
		if err = cmp.Or(inner, err); err != nil {
			return err
		}
	}
	return nil
}

// Embed returns vectors of texts, float32 [texts, width], by m.Pooling: by the mean of the vectors of the tokens
// where the folder does not say. Texts are cut to MaxTokens. The error is an *[UnsupportedError] unless the
// network is a Bert or a DistilBert and every text has tokens.
func (m *Model) Embed(texts []string) (*weft.Tensor, error) {
	if err := m.made(); err != nil {
		return nil, err
	}
	var read func(tokens *weft.Tensor, o models.ReadOpts) *weft.Tensor
	switch net := m.Module.(type) {
	case *models.Bert:
		read = func(tokens *weft.Tensor, o models.ReadOpts) *weft.Tensor {
			h, _ := net.Read(tokens, o)
			return h
		}
	case *models.DistilBert:
		read = func(tokens *weft.Tensor, o models.ReadOpts) *weft.Tensor { return net.Read(tokens, o) }
	default:
		return nil, m.unsupported("a %s gives no vectors of texts", m.Config.Architecture)
	}
	var out []float32
	width := 0
	err := m.eachBatch(texts, func(rows []int, tokens *weft.Tensor, o models.ReadOpts) error {
		v := m.Pooling.apply(read(tokens, o), o.Mask)
		width = v.Dim(1)
		if out == nil {
			out = make([]float32, len(texts)*width)
		}
		data := weft.Data[float32](v.To(weft.Float32))
		for i, row := range rows {
			copy(out[row*width:(row+1)*width], data[i*width:])
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return weft.FromSlice(out, len(texts), width), nil
}

// apply combines the vectors of tokens [batch, steps, width] to [batch, width]; mask is nil without padding.
func (p Pooling) apply(h, mask *weft.Tensor) *weft.Tensor {
	count := weft.FullOf(h.DType(), float64(h.Dim(1)), h.Dim(0), 1)
	if mask != nil {
		some := mask.To(h.DType())
		count = some.SumKeep(1)
		if p.Mode == PoolMax {
			h = weft.Where(mask.Unsqueeze(2), h, math.Inf(-1))
		} else {
			h = weft.Where(mask.Unsqueeze(2), h, 0)
		}
	}
	var v *weft.Tensor
	switch p.Mode {
	case PoolFirst:
		v = h.Slice(weft.All, weft.Index(0))
	case PoolMax:
		v = h.Max(1)
	case PoolMeanSqrt:
		v = h.Sum(1).Div(count.Sqrt())
	default:
		v = h.Sum(1).Div(count)
	}
	if p.Normalize {
		v = v.Div(v.Square().SumKeep(1).Sqrt().Maximum(1e-12))
	}
	return v
}

// A Class is a class of a text or a picture.
type Class struct {
	Label       string
	Probability float64
}

// Classify returns for each text the classes, the most likely first. Texts are cut to MaxTokens. The error is
// an *[UnsupportedError] unless the network is a classifier of texts.
func (m *Model) Classify(texts []string) ([][]Class, error) {
	if err := m.made(); err != nil {
		return nil, err
	}
	type classifier interface {
		Logits(tokens *weft.Tensor, opts ...models.ReadOpts) *weft.Tensor
	}
	var net classifier
	switch n := m.Module.(type) {
	case *models.BertClassifier:
		net = n
	case *models.DistilBertClassifier:
		net = n
	default:
		return nil, m.unsupported("a %s does not classify texts", m.Config.Architecture)
	}
	out := make([][]Class, len(texts))
	err := m.eachBatch(texts, func(rows []int, tokens *weft.Tensor, o models.ReadOpts) error {
		for i, c := range m.classesOf(net.Logits(tokens, o)) {
			out[rows[i]] = c
		}
		return nil
	})
	return out, err
}

// classesOf returns the classes of logits [batch, classes], the most likely first.
func (m *Model) classesOf(logits *weft.Tensor) [][]Class {
	var c struct {
		Problem string `json:"problem_type"`
	}
	if err := m.Config.Decode(&c); err == nil && c.Problem == "multi_label_classification" {
		logits = logits.Sigmoid()
	} else {
		logits = logits.Softmax(1)
	}
	data := weft.Data[float64](logits.To(weft.Float64))
	n := logits.Dim(1)
	out := make([][]Class, logits.Dim(0))
	for i := range out {
		for k, p := range data[i*n : (i+1)*n] {
			label := fmt.Sprintf("LABEL_%d", k)
			if k < len(m.Config.Labels) {
				label = m.Config.Labels[k]
			}
			out[i] = append(out[i], Class{label, p})
		}
		slices.SortStableFunc(out[i], func(a, b Class) int { return cmp.Compare(b.Probability, a.Probability) })
	}
	return out
}

// Generate continues a prompt and yields new text as soon as it is known. Stop gets the end tokens that
// generation_config.json or config.json name. The error, which comes last, is that of models.Generate, or an
// *[UnsupportedError] unless the network is a language model.
func (m *Model) Generate(prompt string, opts ...models.GenerateOpts) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		var o models.GenerateOpts
		if len(opts) > 0 {
			o = opts[0]
		}
		if err := m.made(); err != nil {
			yield("", err)
			return
		}
		net, ok := m.Module.(models.LM)
		if !ok {
			yield("", m.unsupported("a %s writes no texts", m.Config.Architecture))
			return
		}
		encodings, err := m.encode([]string{prompt})
		if err != nil {
			yield("", err)
			return
		}
		ends, err := m.ends()
		if err != nil {
			yield("", err)
			return
		}
		o.Stop = append(slices.Clone(o.Stop), ends...)
		stream := m.Tokenizer.DecodeStream()
		for token, err := range models.Generate(net, encodings[0].IDs, o) {
			if err != nil {
				yield("", err)
				return
			}
			if text := stream.Step(token); text != "" && !yield(text, nil) {
				return
			}
		}
		if text := stream.Flush(); text != "" {
			yield(text, nil)
		}
	}
}

// ends returns the tokens that end a text, as sequences.
func (m *Model) ends() ([][]int, error) {
	var c struct {
		End any `json:"eos_token_id"`
	}
	if err := m.Config.Decode(&c); err != nil {
		return nil, &FormatError{Path: m.path("config.json"), Msg: "cannot be read", Err: err}
	}
	if _, _, err := readJSON(m.path("generation_config.json"), &c); err != nil {
		return nil, err
	}
	var out [][]int
	switch e := c.End.(type) {
	case float64:
		out = [][]int{{int(e)}}
	case []any:
		for _, x := range e {
			if n, ok := x.(float64); ok {
				out = append(out, []int{int(n)})
			}
		}
	}
	return out, nil
}
