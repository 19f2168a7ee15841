package models

import (
	"cmp"
	"iter"
	"math"
	"slices"

	"weft"
	"weft/internal/array"
	"weft/nn"
)

// A Decoder goes on with the texts of a batch, one token each. [Decode] makes one of a language model.
type Decoder interface {
	// Next puts a token behind each text, integers [rows], and returns the logits of the token after
	// it, [rows, vocabulary].
	Next(tokens *weft.Tensor) *weft.Tensor
	// Select replaces the texts by those with the given numbers, integers [rows].
	Select(rows *weft.Tensor)
}

// GenerateOpts are the options of [Generate], [GenerateBatch] and [Stream].
type GenerateOpts struct {
	MaxTokens *int // the most new tokens of a text; nil means 20
	// Stop has sequences of tokens that end a text, such as the token of the end or the tokens of a
	// stop word. They are not part of the result.
	Stop [][]int
	// Temperature divides the logits before a token is drawn. 0 takes the most likely token instead.
	Temperature float64
	TopK        int      // draws from this number of most likely tokens; 0 means all
	TopP        *float64 // draws from the fewest likely tokens with this probability together; nil means 1
	// RepetitionPenalty divides the logits, or multiplies negative ones, of tokens that are in the text
	// (Keskar et al., CTRL, 2019); nil means 1.
	RepetitionPenalty *float64
	Generator         *weft.Generator // draws one number for each text and step; nil is the default generator
}

func (o GenerateOpts) check() {
	const name = "generate"
	switch {
	case array.Or(o.MaxTokens, 1) < 0:
		array.Failf(name, "MaxTokens", "is %d, want 0 or more", *o.MaxTokens)
	case !(o.Temperature >= 0) || math.IsInf(o.Temperature, 0):
		array.Failf(name, "Temperature", "is %v, want a number of 0 or more", o.Temperature)
	case o.TopK < 0:
		array.Failf(name, "TopK", "is %d, want 0 or more", o.TopK)
	case !(array.Or(o.TopP, 1) > 0 && array.Or(o.TopP, 1) <= 1):
		array.Failf(name, "TopP", "is %v, want a probability above 0 and at most 1", *o.TopP)
	case !(array.Or(o.RepetitionPenalty, 1) > 0):
		array.Failf(name, "RepetitionPenalty", "is %v, want a number above 0", *o.RepetitionPenalty)
	}
	for _, s := range o.Stop {
		if len(s) == 0 {
			array.Failf(name, "Stop", "has a sequence without tokens")
		}
	}
}

// Generate writes a text on and yields each new token when it is known. A loop that breaks ends it. The
// error, which comes last, is a *weft.Error: options, the prompt or the model's context do not
// fit, or logits weigh no token: they have NaN, +Inf, or -Inf alone.
//
//	for token, err := range models.Generate(model, prompt, models.GenerateOpts{Temperature: 0.8, TopK: 50}) {
//		if err != nil {
//			return err
//		}
//		fmt.Print(words[token])
//	}
func Generate(m LM, prompt []int, opts ...GenerateOpts) iter.Seq2[int, error] {
	return func(yield func(int, error) bool) {
		var d Decoder
		if err := weft.Try(func() { d = Decode(m, [][]int{prompt}) }); err != nil {
			yield(0, err)
			return
		}
		for tokens, err := range Stream(d, [][]int{prompt}, opts...) {
			if err != nil {
				yield(0, err)
				return
			}
			for _, t := range tokens[0] {
				if !yield(t, nil) {
					return
				}
			}
		}
	}
}

// GenerateBatch writes several texts on, whose lengths may differ, and returns the new tokens of each.
// Errors are as of [Generate]. Texts that have ended take no further time.
func GenerateBatch(m LM, prompts [][]int, opts ...GenerateOpts) ([][]int, error) {
	var d Decoder
	if err := weft.Try(func() { d = Decode(m, prompts) }); err != nil {
		return nil, err
	}
	out := make([][]int, len(prompts))
	for tokens, err := range Stream(d, prompts, opts...) {
		if err != nil {
			return nil, err
		}
		for i, t := range tokens {
			out[i] = append(out[i], t...)
		}
	}
	return out, nil
}

// Stream writes the texts of a decoder on. It yields the tokens that a step adds to each text: none to
// one that has ended, or that waits whether a sequence of Stop comes. The decoder has all tokens of the
// texts but the last of each. Errors are as of [Generate].
func Stream(d Decoder, texts [][]int, opts ...GenerateOpts) iter.Seq2[[][]int, error] {
	return func(yield func([][]int, error) bool) {
		var s *stream
		err := weft.Try(func() { s = newStream(d, texts, array.Options("generate", opts)) })
		for n := 0; err == nil && len(s.alive) > 0; n++ {
			var tokens [][]int
			err = weft.Try(func() { weft.WithoutGrad(func() { tokens = s.step(n) }) })
			if err == nil && !yield(tokens, nil) {
				return
			}
		}
		if err != nil {
			yield(nil, err)
		}
	}
}

// stream is the state of [Stream].
type stream struct {
	d     Decoder
	o     GenerateOpts
	texts []*text
	alive []int // numbers of texts that have not ended, in the order of the decoder's rows
}

// text is one of them.
type text struct {
	seen    map[int]bool // its tokens, if they count
	last    int
	waiting []int // tokens that may begin a sequence of Stop
}

func newStream(d Decoder, texts [][]int, o GenerateOpts) *stream {
	o.check()
	s := &stream{d: d, o: o}
	for i, t := range texts {
		if len(t) == 0 {
			array.Failf("generate", "texts", "text %d has no token", i)
		}
		x := &text{last: t[len(t)-1]}
		if o.RepetitionPenalty != nil {
			x.seen = map[int]bool{}
			for _, token := range t {
				x.seen[token] = true
			}
		}
		s.texts = append(s.texts, x)
		if array.Or(o.MaxTokens, 20) > 0 {
			s.alive = append(s.alive, i)
		}
	}
	return s
}

// step makes step n and returns the new tokens of each text.
func (s *stream) step(n int) [][]int {
	next := s.choose()
	out := make([][]int, len(s.texts))
	var on []int64 // rows that go on
	var alive []int
	for row, i := range s.alive {
		t := s.texts[i]
		t.last = next[row]
		if t.seen != nil {
			t.seen[t.last] = true
		}
		var ended bool
		out[i], ended = t.add(s.o.Stop)
		if n+1 == array.Or(s.o.MaxTokens, 20) && !ended {
			out[i], ended = append(out[i], t.waiting...), true
		}
		if !ended {
			on, alive = append(on, int64(row)), append(alive, i)
		}
	}
	if len(alive) > 0 && len(alive) < len(s.alive) {
		s.d.Select(weft.FromSlice(on))
	}
	s.alive = alive
	return out
}

// add puts the last token behind those that wait. It returns those that need not wait any more, and
// whether a sequence of stop ended the text.
func (t *text) add(stop [][]int) (ready []int, ended bool) {
	t.waiting = append(t.waiting, t.last)
	keep := 0
	for _, s := range stop {
		for n := min(len(s), len(t.waiting)); n > 0; n-- {
			if !slices.Equal(t.waiting[len(t.waiting)-n:], s[:n]) {
				continue
			}
			if n == len(s) {
				return slices.Clone(t.waiting[:len(t.waiting)-n]), true
			}
			keep = max(keep, n)
			break
		}
	}
	n := len(t.waiting) - keep
	ready = slices.Clone(t.waiting[:n])
	t.waiting = slices.Delete(t.waiting, 0, n)
	return ready, false
}

// choose returns the next token of each text that has not ended.
func (s *stream) choose() []int {
	last := make([]int64, len(s.alive))
	for row, i := range s.alive {
		last[row] = int64(s.texts[i].last)
	}
	logits := next("generate", s.d, last)
	out := make([]int, len(last))
	if s.o.Temperature == 0 && s.o.RepetitionPenalty == nil {
		greatest, places := logits.MaxWithIndex(1)
		for _, x := range weft.Data[float64](greatest.To(weft.Float64)) {
			weighs("generate", x)
		}
		for row, t := range weft.Data[int64](places) {
			out[row] = int(t)
		}
		return out
	}
	draws := make([]float64, len(s.texts))
	if s.o.Temperature > 0 {
		g := s.o.Generator
		if g == nil {
			g = weft.DefaultGenerator()
		}
		draws = weft.Data[float64](g.RandOf(weft.Float64, len(s.texts)))
	}
	vocab := logits.Dim(1)
	all := weft.Data[float32](logits.To(weft.Float32))
	for row, i := range s.alive {
		out[row] = s.o.pick(all[row*vocab:(row+1)*vocab], s.texts[i].seen, draws[i])
	}
	return out
}

// next returns the logits of the tokens after the last ones of texts, numbers [rows, vocabulary].
func next(op string, d Decoder, last []int64) *weft.Tensor {
	logits := d.Next(weft.FromSlice(last))
	switch {
	case logits == nil:
		array.Failf(op, "logits of Next", "are nil, want numbers [%d vocabulary]", len(last))
	case logits.DType().Complex() || logits.Rank() != 2 || logits.Dim(0) != len(last) || logits.Dim(1) == 0:
		array.Failf(op, "logits of Next", "are %s%s, want numbers [%d vocabulary]", logits.DType(), array.ShapeString(logits.Shape()), len(last))
	}
	return logits
}

// weighs refuses logits whose greatest, NaN if there is one, is not finite.
func weighs(op string, greatest float64) {
	if math.IsNaN(greatest) || math.IsInf(greatest, 0) {
		array.Failf(op, "logits of Next", "have NaN, +Inf, or -Inf alone: they weigh no token")
	}
}

// pick chooses a token by its logits, tokens that were seen and a number from 0 to 1.
func (o GenerateOpts) pick(logits []float32, seen map[int]bool, draw float64) int {
	p := make([]float64, len(logits))
	for i, x := range logits {
		p[i] = float64(x)
	}
	penalty := array.Or(o.RepetitionPenalty, 1)
	for t := range seen {
		if t < 0 || t >= len(p) {
			continue
		}
		if p[t] < 0 {
			p[t] *= penalty
		} else {
			p[t] /= penalty
		}
	}
	weighs("generate", slices.Max(p))
	if o.Temperature == 0 {
		return argMax(p)
	}
	o.weigh(p)
	total := 0.0
	for _, x := range p {
		total += x
	}
	at, sum := argMax(p), 0.0 // where rounding leaves the draw above the sum
	for i, x := range p {
		if sum += x; x > 0 && draw*total < sum {
			return i
		}
	}
	return at
}

// argMax returns the place of the first greatest number, 0 if there is none.
func argMax(x []float64) int {
	best := 0
	for i, v := range x {
		if v > x[best] || math.IsNaN(x[best]) {
			best = i
		}
	}
	return best
}

// weigh replaces logits by weights of a draw, 0 for tokens that TopK and TopP leave out (Fan et al.,
// Hierarchical neural story generation, 2018; Holtzman et al., The curious case of neural text
// degeneration, 2019).
func (o GenerateOpts) weigh(p []float64) {
	top := p[argMax(p)]
	for i, x := range p {
		p[i] = math.Exp((x - top) / o.Temperature)
	}
	topP := array.Or(o.TopP, 1)
	if o.TopK == 0 && topP == 1 {
		return
	}
	order := slices.Clone(p)
	slices.SortFunc(order, func(a, b float64) int { return cmp.Compare(b, a) })
	if o.TopK > 0 && o.TopK < len(order) {
		least := order[o.TopK-1]
		for o.TopK < len(order) && order[o.TopK] == least {
			o.TopK++
		}
		order = order[:o.TopK]
	}
	total, sum := 0.0, 0.0
	for _, x := range order {
		total += x
	}
	least := order[len(order)-1]
	if topP < 1 {
		for _, x := range order {
			if sum += x; sum >= topP*total {
				least = x
				break
			}
		}
	}
	for i, x := range p {
		if x < least {
			p[i] = 0
		}
	}
}

// Decode returns a decoder of a language model that has read prompts, all tokens but the last of each.
// Lengths may differ: shorter prompts get padding in front. It panics with *weft.Error if a prompt is
// empty or does not fit the model.
func Decode(m LM, prompts [][]int) Decoder {
	const name = "decode"
	defer array.Named(name).End()
	if m == nil {
		array.Failf(name, "m", "is nil")
	}
	longest := 0
	d := &lmDecoder{m: m, cache: &nn.KVCache{}, dev: deviceOf(m)}
	for i, p := range prompts {
		if len(p) == 0 {
			array.Failf(name, "prompts", "prompt %d has no token", i)
		}
		longest = max(longest, len(p))
	}
	padded := false
	for _, p := range prompts {
		d.pads = append(d.pads, longest-len(p))
		padded = padded || len(p) < longest
	}
	if longest < 2 {
		return d
	}
	tokens, places := make([]int64, 0, len(prompts)*(longest-1)), []int64(nil)
	for i, p := range prompts {
		for j := range longest - 1 {
			at := j - d.pads[i]
			token := int64(p[max(at, 0)])
			tokens, places = append(tokens, token), append(places, int64(max(at, 0)))
		}
	}
	shape := []int{len(prompts), longest - 1}
	o := LogitsOpts{Cache: d.cache, Last: true}
	if padded {
		o.Mask, o.Positions = d.mask(longest-1), weft.FromSlice(places, shape...)
	}
	weft.WithoutGrad(func() { d.run(weft.FromSlice(tokens, shape...), o) })
	return d
}

// lmDecoder is the decoder of a language model.
type lmDecoder struct {
	m     LM
	cache *nn.KVCache
	pads  []int       // the padding in front of each text
	dev   weft.Device // of the model
}

// deviceOf returns the device of a model's parameters.
func deviceOf(m any) weft.Device {
	for _, p := range nn.Params(m) {
		return p.Device()
	}
	return weft.CPU
}

// run calls the model and frees what it computes on the way.
func (d *lmDecoder) run(tokens *weft.Tensor, o LogitsOpts) *weft.Tensor {
	scope := weft.NewScope()
	defer scope.Close()
	if o.Mask != nil {
		o.Mask, o.Positions = o.Mask.On(d.dev), o.Positions.On(d.dev)
	}
	return scope.Keep(d.m.Logits(scope.Track(tokens.On(d.dev)), o))
}

// mask returns a mask of padding for a number of keys.
func (d *lmDecoder) mask(keys int) *weft.Tensor {
	m := make([]bool, 0, len(d.pads)*keys)
	for _, pad := range d.pads {
		for j := range keys {
			m = append(m, j >= pad)
		}
	}
	return weft.FromSlice(m, len(d.pads), keys)
}

// Next implements [Decoder].
func (d *lmDecoder) Next(tokens *weft.Tensor) *weft.Tensor {
	o := LogitsOpts{Cache: d.cache, Last: true}
	if n := d.cache.Len(); slices.Max(d.pads) > 0 {
		places := make([]int64, len(d.pads))
		for i, pad := range d.pads {
			places[i] = int64(n - pad)
		}
		o.Mask, o.Positions = d.mask(n+1), weft.FromSlice(places, len(places), 1)
	}
	return d.run(tokens.Unsqueeze(1), o).Squeeze(1)
}

// Select implements [Decoder].
func (d *lmDecoder) Select(rows *weft.Tensor) {
	d.cache.Select(rows.On(d.dev))
	var pads []int
	for _, i := range weft.Data[int64](rows) {
		pads = append(pads, d.pads[i])
	}
	d.pads = pads
}
