package models_test

import (
	"errors"
	"math"
	"slices"
	"sync"
	"testing"

	"weft"
	"weft/models"
	"weft/nn"
)

// A generation is what language.py wrote of one: the new tokens of each prompt, or of each beam.
type generation struct {
	Tokens [][]int
	Scores []float64
}

var prompts = [][]int{{5, 17, 3, 8}, {21}, {30, 2, 9}}

// smallLMs returns the models of the generations.
func smallLMs(t *testing.T) map[string]models.LM {
	out := map[string]models.LM{"gpt2": models.NewGPT2(smallGPT2()), "llama": models.NewLlama(llama3())}
	for _, m := range out {
		fill(t, m, "")
		nn.Eval(m)
	}
	return out
}

// Greedy texts, of prompts alone and together, equal transformers' texts.
func TestGreedyMatchesTransformers(t *testing.T) {
	want := referencesOf[generation](t, "generation")
	for name, m := range smallLMs(t) {
		for kind, o := range map[string]models.GenerateOpts{"greedy": {}, "penalty": {RepetitionPenalty: new(1.3)}} {
			w := want[name+" "+kind].Tokens
			got, err := models.GenerateBatch(m, prompts, o)
			if err != nil || !slices.EqualFunc(got, w, slices.Equal) {
				t.Errorf("%s %s: %v %v, want %v", name, kind, got, err, w)
			}
			for i, p := range prompts {
				var one []int
				for token, err := range models.Generate(m, p, o) {
					if err != nil {
						t.Fatal(err)
					}
					one = append(one, token)
				}
				if !slices.Equal(one, w[i]) {
					t.Errorf("%s %s: prompt %d alone gives %v, want %v", name, kind, i, one, w[i])
				}
			}
		}
	}
}

// Beams and their scores equal transformers'.
func TestBeamsMatchTransformers(t *testing.T) {
	want := referencesOf[generation](t, "generation")
	end := []int{7, 11, 19}
	for name, m := range smallLMs(t) {
		for kind, o := range map[string]models.BeamOpts{
			"beam":       {MaxTokens: new(8)},
			"beam end":   {MaxTokens: new(8), End: end},
			"beam early": {MaxTokens: new(12), End: end, Early: true, LengthPenalty: new(0.0)},
			"beam long":  {MaxTokens: new(12), End: end, LengthPenalty: new(2.0)},
		} {
			o.Beams = new(3)
			w := want[name+" "+kind]
			got, err := models.BeamSearch(m, prompts, o)
			if err != nil {
				t.Fatal(err)
			}
			i := 0
			for _, beams := range got {
				for _, b := range beams {
					if !slices.Equal(b.Tokens, w.Tokens[i]) || !(math.Abs(b.Score-w.Scores[i]) <= 1e-5*math.Abs(w.Scores[i])) {
						t.Errorf("%s %s: beam %d is %v, want %v %v", name, kind, i, b, w.Tokens[i], w.Scores[i])
					}
					i++
				}
			}
			if i != len(w.Tokens) {
				t.Errorf("%s %s: %d beams, want %d", name, kind, i, len(w.Tokens))
			}
		}
	}
}

// A text that ends takes no place from those that go on: with two beams, the third token at first leads to
// the second text.
func TestEndedBeamsLeaveRoom(t *testing.T) {
	const no = 1e-9
	s := &scripted{logits: weft.From([][]float64{
		{1, no, no, no, no}, {0.5, no, 0.3, no, 0.2}, {0.25, 0.25, 0.25, no, 0.25}, {1, no, no, no, no}, {1, no, no, no, no},
	}).Log().To(weft.Float32)}
	got, err := models.Search(s, [][]int{{1}}, models.BeamOpts{Beams: new(2), MaxTokens: new(2), End: []int{0}, LengthPenalty: new(0.0)})
	if err != nil || len(got) != 1 || len(got[0]) != 2 {
		t.Fatal(got, err)
	}
	for i, want := range []models.Beam{{nil, math.Log(0.5)}, {[]int{4}, math.Log(0.2)}} {
		if b := got[0][i]; !slices.Equal(b.Tokens, want.Tokens) || math.Abs(b.Score-want.Score) > 1e-5 {
			t.Errorf("beam %d is %v, want %v", i, b, want)
		}
	}
}

// Logits of a text that is read in parts, with a cache, equal the logits of the whole.
func TestCachedLogits(t *testing.T) {
	tokens := tokensOf("tokens", 43, 2, 7)
	mask := weft.Arange(7).Ge(weft.From([]int64{0, 2}).Unsqueeze(1))
	for name, m := range smallLMs(t) {
		for _, padded := range []bool{false, true} {
			for _, grad := range []bool{false, true} {
				var parts []*weft.Tensor
				var o models.LogitsOpts
				if padded {
					o.Mask = mask
				}
				whole := m.Logits(tokens, o)
				read := func() {
					o := models.LogitsOpts{Cache: &nn.KVCache{}}
					for _, span := range [][2]int{{0, 3}, {3, 4}, {4, 5}, {5, 7}} {
						if padded {
							o.Mask = mask.Slice(weft.All, weft.Range(0, span[1]))
						}
						parts = append(parts, m.Logits(tokens.Slice(weft.All, weft.Range(span[0], span[1])), o))
						if o.Cache.Len() != span[1] {
							t.Errorf("%s: the cache has %d tokens, want %d", name, o.Cache.Len(), span[1])
						}
					}
				}
				if err := weft.Try(func() {
					m.Logits(tokens, models.LogitsOpts{Cache: &nn.KVCache{Layers: []*nn.KVCache{{}, {}, {}}}})
				}); err == nil {
					t.Errorf("%s: a cache of other layers is not refused", name)
				}
				if grad {
					read()
				} else {
					weft.WithoutGrad(read)
				}
				if !weft.Cat(parts, 1).AllClose(whole, weft.CloseOpts{Relative: new(1e-5), Absolute: new(1e-5)}) {
					t.Errorf("%s: padded %v, with gradients %v: logits differ", name, padded, grad)
				}
			}
		}
	}
}

// A scripted decoder gives the same logits to all texts, which depend on the last token alone.
type scripted struct {
	logits  *weft.Tensor // [vocab, vocab]
	rows    int
	selects int
}

func (s *scripted) Next(tokens *weft.Tensor) *weft.Tensor { return s.logits.IndexSelect(0, tokens) }

func (s *scripted) Select(rows *weft.Tensor) {
	s.rows = rows.Size()
	s.selects++
}

// chain goes from each token to the next, of n.
func chain(n int) *scripted {
	return &scripted{logits: weft.Eye(n).Roll(1, 1)}
}

// Texts end at sequences of Stop, which are left out, also where one begins that does not end.
func TestStop(t *testing.T) {
	for _, c := range []struct {
		begin, most int
		stop        [][]int
		want        []int
	}{
		{0, 5, nil, []int{1, 2, 3, 4, 5}},
		{0, 0, nil, nil},
		{0, 9, [][]int{{3}}, []int{1, 2}},
		{0, 9, [][]int{{1}}, nil},
		{0, 9, [][]int{{3, 4, 5}, {7}}, []int{1, 2}},
		{0, 5, [][]int{{3, 4, 6}}, []int{1, 2, 3, 4, 5}},
		{0, 4, [][]int{{3, 4, 5}}, []int{1, 2, 3, 4}},
		{0, 9, [][]int{{2, 3, 5}, {3, 4}}, []int{1, 2}},
		{0, 9, [][]int{{2, 3, 4}, {3, 9}}, []int{1}},
		{7, 9, [][]int{{2, 3}}, []int{8, 9, 0, 1}},
	} {
		var got []int
		for tokens, err := range models.Stream(chain(10), [][]int{{c.begin}}, models.GenerateOpts{MaxTokens: &c.most, Stop: c.stop}) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, tokens[0]...)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("from %d with stop %v: %v, want %v", c.begin, c.stop, got, c.want)
		}
	}
	// Texts that have ended leave the batch.
	s := chain(10)
	n := 0
	for _, err := range models.Stream(s, [][]int{{0}, {5}, {2}}, models.GenerateOpts{Stop: [][]int{{7}}}) {
		if n++; err != nil || n == 2 && s.rows != 2 || n == 5 && s.rows != 1 {
			t.Errorf("step %d: %d rows, %v", n, s.rows, err)
		}
	}
	if n != 7 || s.selects != 2 {
		t.Errorf("%d steps, %d selections: want 7 and 2", n, s.selects)
	}
}

// Draws come as often as their probability says, are the same for a seed. Draws of a text do not
// depend on whether others of the batch have ended.
func TestDraws(t *testing.T) {
	p := []float64{0.5, 0.2, 0.15, 0.1, 0.05}
	s := &scripted{logits: weft.From(p).Log().To(weft.Float32).Expand(5, 5)}
	draw := func(o models.GenerateOpts, texts ...[]int) [][]int {
		o.Generator = weft.NewGenerator(3)
		out := make([][]int, len(texts))
		for tokens, err := range models.Stream(s, texts, o) {
			if err != nil {
				t.Fatal(err)
			}
			for i := range out {
				out[i] = append(out[i], tokens[i]...)
			}
		}
		return out
	}
	const n = 2000
	for name, c := range map[string]struct {
		o    models.GenerateOpts
		want []float64
	}{
		"plain":       {models.GenerateOpts{Temperature: 1}, p},
		"temperature": {models.GenerateOpts{Temperature: 0.5}, []float64{0.25, 0.04, 0.0225, 0.01, 0.0025}},
		"top-k":       {models.GenerateOpts{Temperature: 1, TopK: 3}, p[:3]},
		"top-p":       {models.GenerateOpts{Temperature: 1, TopP: new(0.69)}, p[:2]},
		"top-p more":  {models.GenerateOpts{Temperature: 1, TopP: new(0.71)}, p[:3]},
		"both":        {models.GenerateOpts{Temperature: 1, TopK: 3, TopP: new(0.8)}, p[:2]}, // of 0.85
	} {
		c.o.MaxTokens = new(n)
		total := 0.0
		for _, x := range c.want {
			total += x
		}
		counts := make([]int, 5)
		for _, i := range draw(c.o, []int{0})[0] {
			counts[i]++
		}
		for i, k := range counts {
			q := 0.0
			if i < len(c.want) {
				q = c.want[i] / total
			}
			if d := math.Abs(float64(k) - n*q); d > 4*math.Sqrt(n*q*(1-q)) {
				t.Errorf("%s: token %d comes %d times of %d, want %v", name, i, k, n, n*q)
			}
		}
	}
	o := models.GenerateOpts{Temperature: 1, MaxTokens: new(30)}
	both := draw(o, []int{0}, []int{0})
	o.Stop = [][]int{{both[0][2]}}
	if again := draw(o, []int{0}, []int{0}); !slices.Equal(again[1], both[1][:len(again[1])]) || len(again[0]) > 2 {
		t.Errorf("%v, and %v where texts end at %v", both, again, o.Stop)
	}
}

// Drawn tokens have the probabilities of transformers' temperature, top-k and top-p. A token is drawn by
// the numbers between the sum of the probabilities before it and the sum with its own.
func TestDrawsMatchTransformers(t *testing.T) {
	want := referencesOf[generation](t, "generation")
	s := &scripted{logits: filled("logits", 4, 0, []int{1, 30}).Expand(30, 30)}
	for name, o := range map[string]models.GenerateOpts{
		"temperature": {Temperature: 0.7},
		"top-k":       {Temperature: 2, TopK: 5},
		"top-p":       {Temperature: 1, TopP: new(0.8)},
		"both":        {Temperature: 1.5, TopK: 7, TopP: new(0.6)},
	} {
		p, numbers := want["weights "+name].Scores, weft.NewGenerator(3)
		if len(p) != 30 {
			t.Fatalf("%s: %d weights, want 30", name, len(p))
		}
		o.MaxTokens, o.Generator = new(1000), weft.NewGenerator(3)
		for tokens, err := range models.Stream(s, [][]int{{0}}, o) {
			if err != nil {
				t.Fatal(err)
			}
			token, u, before := tokens[0][0], numbers.RandOf(weft.Float64, 1).Item(), 0.0
			for _, x := range p[:token] {
				before += x
			}
			if p[token] == 0 || u < before-1e-6 || u > before+p[token]+1e-6 {
				t.Errorf("%s: %v draws token %d, which has %v to %v", name, u, token, before, before+p[token])
				break
			}
		}
	}
}

// A penalty makes tokens of the text less likely where their logits are negative too (Keskar et al., 2019):
// -1 becomes -1.5, below -1.2; and 1 becomes 2/3, above 0.5.
func TestPenaltyOfNegativeLogits(t *testing.T) {
	for _, c := range []struct {
		logits []float32
		want   int
	}{{[]float32{-1, -1.2, -9}, 1}, {[]float32{1, 0.5, -9}, 0}, {[]float32{1, 0.7, -9}, 1}} {
		s := &scripted{logits: weft.From([][]float32{c.logits}).Expand(3, 3)}
		for tokens, err := range models.Stream(s, [][]int{{0}}, models.GenerateOpts{MaxTokens: new(1), RepetitionPenalty: new(1.5)}) {
			if err != nil || tokens[0][0] != c.want {
				t.Errorf("%v: %v, %v, want token %d", c.logits, tokens, err, c.want)
			}
		}
	}
}

// Wrong arguments are errors that name them.
func TestGenerateRefuses(t *testing.T) {
	m := smallLMs(t)["gpt2"]
	batch := func(o models.GenerateOpts) error { _, err := models.GenerateBatch(m, prompts, o); return err }
	beams := func(o models.BeamOpts) error { _, err := models.BeamSearch(m, prompts, o); return err }
	for arg, f := range map[string]func() error{
		"prompts": func() error { _, err := models.GenerateBatch(m, [][]int{{1}, {}}); return err },
		"index":   func() error { _, err := models.GenerateBatch(m, [][]int{{43}}); return err }, // not in the vocabulary
		"tokens": func() error {
			_, err := models.GenerateBatch(m, prompts[:1], models.GenerateOpts{MaxTokens: new(30)})
			return err
		},
		"Positions": func() error { // a long text beside a short one: the longest has 66 tokens
			_, err := models.GenerateBatch(smallLMs(t)["llama"], [][]int{{1}, {1, 2, 3, 4}}, models.GenerateOpts{MaxTokens: new(63)})
			return err
		},
		"logits of Next": func() error { // no token has a weight
			s := &scripted{logits: weft.From([][]float32{{0, float32(math.NaN()), 1}}).Expand(3, 3)}
			for _, err := range models.Stream(s, [][]int{{0}}, models.GenerateOpts{Temperature: 1}) {
				return err
			}
			return nil
		},
		"MaxTokens":         func() error { return batch(models.GenerateOpts{MaxTokens: new(-1)}) },
		"Temperature":       func() error { return batch(models.GenerateOpts{Temperature: -1}) },
		"TopK":              func() error { return batch(models.GenerateOpts{TopK: -1}) },
		"TopP":              func() error { return batch(models.GenerateOpts{TopP: new(0.0)}) },
		"RepetitionPenalty": func() error { return batch(models.GenerateOpts{RepetitionPenalty: new(0.0)}) },
		"Stop":              func() error { return batch(models.GenerateOpts{Stop: [][]int{{}}}) },
		"Beams":             func() error { return beams(models.BeamOpts{Beams: new(0)}) },
		"LengthPenalty":     func() error { return beams(models.BeamOpts{LengthPenalty: new(math.NaN())}) },
	} {
		var e *weft.Error
		if err := f(); !errors.As(err, &e) || e.Arg != arg {
			t.Errorf("%s: %v", arg, err)
		}
	}
}

// Values of sacrebleu 2.5 with tokenize="none".
func TestBLEU(t *testing.T) {
	words := func(s string) []string {
		return slices.Collect(func(yield func(string) bool) {
			for len(s) > 0 && yield(s[:1]) {
				s = s[1:]
			}
		})
	}
	for _, c := range []struct {
		got, want string
		bleu      float64
	}{
		{"abcdef", "abcdef", 100},
		{"abcd", "abcdef", 100 * math.Exp(1-6.0/4)},
		{"abcxef", "abcdef", 100 * math.Pow(5.0/6*3/5*1/4*0.5/3, 0.25)},
		{"aaaa", "abcd", 100 * math.Pow(1.0/4*0.5/3*0.25/2*0.125/1, 0.25)},
		{"xyz", "abc", 0},
		{"ab", "ab", 0},
		{"", "ab", 0},
	} {
		if got := models.BLEU([][]string{words(c.got)}, [][][]string{{words(c.want)}}); !(math.Abs(got-c.bleu) < 1e-9) {
			t.Errorf("%q for %q: %v, want %v", c.got, c.want, got, c.bleu)
		}
	}
	// The shorter of two references that are as near counts.
	if got := models.BLEU([][]string{words("abcd")}, [][][]string{{words("abcde"), words("abc")}}); !(math.Abs(got-100) < 1e-9) {
		t.Errorf("%v, want 100", got)
	}
	// Two translations count together, and each n-gram as often as in one of its references.
	got := models.BLEU([][]string{words("abcde"), words("ffg")}, [][][]string{{words("abcd"), words("abxde")}, {words("fgf"), words("ffh")}})
	if want := 100 * math.Pow(8.0/8*6/6*2/4*1/2, 0.25); !(math.Abs(got-want) < 1e-9) {
		t.Errorf("%v, want %v", got, want)
	}
}

// A translation that is written token by token has the logits of one that is given, also of selected
// texts; texts of different lengths are translated together as alone.
func TestGNMTSteps(t *testing.T) {
	m := models.NewGNMT(models.GNMTOpts{Vocab: new(43), Width: new(12)})
	fill(t, m, "")
	nn.Eval(m)
	source, lengths, target := tokensOf("source", 40, 2, 6).Add(3), weft.From([]int64{4, 6}), tokensOf("target", 40, 2, 5).Add(3)
	want := m.Logits(source, lengths, target)
	mem := m.Read(source, lengths)
	for i := range 5 {
		tokens := target.Slice(weft.All, weft.Index(i))
		if i == 3 {
			mem.Select(weft.From([]int64{1, 0}))
			want, target = want.Flip(0), target.Flip(0)
			tokens = target.Slice(weft.All, weft.Index(i))
		}
		if got := mem.Next(tokens); !got.AllClose(want.Slice(weft.All, weft.Index(i)), weft.CloseOpts{Relative: new(1e-5), Absolute: new(1e-5)}) {
			t.Errorf("step %d: %v, want %v", i, got, want.Slice(weft.All, weft.Index(i)))
		}
	}
	sources := [][]int{{5, 9, 7}, {12}, {30, 8, 9, 10, 11}}
	o := models.BeamOpts{Beams: new(2), MaxTokens: new(6), End: []int{2}}
	together, err := m.Translate(sources, 1, o)
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range sources {
		alone, err := m.Translate([][]int{s}, 1, o)
		if err != nil || !slices.EqualFunc(alone[0], together[i], func(a, b models.Beam) bool {
			return slices.Equal(a.Tokens, b.Tokens) && math.Abs(a.Score-b.Score) < 1e-4
		}) {
			t.Errorf("source %d: %v alone, %v together, %v", i, alone[0], together[i], err)
		}
	}
	if _, err := m.Translate([][]int{{}}, 1); err == nil {
		t.Error("an empty source is not refused")
	}
}

// Goroutines generate with one model at once, and batches without texts are empty.
func TestGenerateAtOnce(t *testing.T) {
	m := smallLMs(t)["llama"]
	want, err := models.GenerateBatch(m, prompts)
	if err != nil {
		t.Fatal(err)
	}
	var wait sync.WaitGroup
	for range 16 {
		wait.Go(func() {
			if got, err := models.GenerateBatch(m, prompts); err != nil || !slices.EqualFunc(got, want, slices.Equal) {
				t.Errorf("%v, %v, want %v", got, err, want)
			}
		})
	}
	wait.Wait()
	if got, err := models.GenerateBatch(m, nil); err != nil || len(got) != 0 {
		t.Errorf("no texts give %v, %v", got, err)
	}
	if got, err := models.BeamSearch(m, nil); err != nil || len(got) != 0 {
		t.Errorf("no texts give beams %v, %v", got, err)
	}
}

// fixedLogits is a decoder that gives the same logits at each step.
type fixedLogits struct{ logits *weft.Tensor }

func (d *fixedLogits) Next(*weft.Tensor) *weft.Tensor { return d.logits }
func (d *fixedLogits) Select(rows *weft.Tensor)       { d.logits = d.logits.IndexSelect(0, rows) }

// Logits that weigh no token, or are not a row for each text, give an error that names them: in draws, greedy
// texts with and without a penalty, and beams.
func TestLogitsThatWeighNoToken(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for name, c := range map[string]struct {
		logits *weft.Tensor
		fits   bool
	}{
		"numbers":   {weft.FromSlice([]float32{1, -inf, 3, 0, 0, 2}, 2, 3), true},
		"half":      {weft.FromSlice([]float32{1, -inf, 3, 0, 0, 2}, 2, 3).To(weft.Float16), true},
		"NaN":       {weft.FromSlice([]float32{1, 2, 3, 0, nan, 2}, 2, 3), false},
		"first NaN": {weft.FromSlice([]float32{1, 2, 3, nan, 3, 2}, 2, 3), false},
		"+Inf":      {weft.FromSlice([]float32{1, 2, inf, 0, 3, 2}, 2, 3), false},
		"-Inf":      {weft.FromSlice([]float32{1, 2, 3, -inf, -inf, -inf}, 2, 3), false},
		"rows":      {weft.Zeros(3, 3), false},
		"few rows":  {weft.Zeros(1, 3), false},
		"one axis":  {weft.Zeros(2), false},
		"no words":  {weft.Zeros(2, 0), false},
		"nil":       {nil, false},
	} {
		texts := [][]int{{1}, {2}}
		errs := map[string]error{}
		for kind, o := range map[string]models.GenerateOpts{"draw": {Temperature: 1}, "greedy": {}, "penalty": {RepetitionPenalty: new(1.3)}} {
			for _, err := range models.Stream(&fixedLogits{c.logits}, texts, o) {
				errs[kind] = err
			}
		}
		_, errs["beam"] = models.Search(&fixedLogits{c.logits}, texts, models.BeamOpts{Beams: new(2)})
		for kind, err := range errs {
			var e *weft.Error
			if (err == nil) != c.fits || err != nil && (!errors.As(err, &e) || e.Arg != "logits of Next") {
				t.Errorf("%s, %s: error %v", name, kind, err)
			}
		}
	}
}
