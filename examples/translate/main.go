// Translate trains a small GNMT network, recurrent with attention, to translate sentences of a grammar
// whose translations have another order, genders and agreement. It translates new sentences by beam search
// and prints their BLEU score.
package main

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"

	"weft"
	"weft/models"
	"weft/nn"
	"weft/optim"
)

// longest is the number of tokens that sources, and targets with their beginning and end, are filled up to.
const longest = 18

// A Translator is a network with its vocabulary and the optimizer that trains it.
type Translator struct {
	Vocabulary *Vocabulary
	Net        *models.GNMT
	opt        *optim.Adam
	rand       *rand.Rand
	step       *weft.Compiled[func(source, lengths, target *weft.Tensor) *weft.Tensor]
	dev        weft.Device
}

// NewTranslator returns one with layers of a width.
func NewTranslator(width int, dev weft.Device, seed uint64) *Translator {
	v := NewVocabulary()
	t := &Translator{Vocabulary: v, rand: rand.New(rand.NewPCG(seed, 0)), dev: dev}
	t.Net = nn.On(models.NewGNMT(models.GNMTOpts{Vocab: new(len(v.Words)), Width: &width, Layers: new(2), Dropout: new(0.1), Weight: nn.Uniform(-0.3, 0.3), Generator: weft.NewGenerator(seed)}), dev)
	t.opt = optim.NewAdam(nn.Params(t.Net), optim.AdamOpts{LR: new(8e-3)})
	t.step = weft.Compile(t.loss)
	return t
}

// loss trains on a batch and returns the cross-entropy a word. The target tells in each place which
// token is next.
func (t *Translator) loss(source, lengths, target *weft.Tensor) *weft.Tensor {
	n := target.Dim(1)
	logits := t.Net.Logits(source, lengths, target.Slice(weft.All, weft.Range(0, n-1)))
	next := target.Slice(weft.All, weft.Range(1, n))
	loss := nn.CrossEntropy(logits.Transpose(1, 2), next, nn.CrossEntropyOpts{IgnoreIndex: new(pad)})
	loss.Backward()
	optim.ClipNorm(nn.Params(t.Net), 5)
	t.opt.Step()
	t.opt.ZeroGrad()
	return loss
}

// Step trains on new sentences and returns the loss.
func (t *Translator) Step(batch int) (float64, error) {
	source, target := make([]int64, 0, batch*longest), make([]int64, 0, batch*longest)
	lengths := make([]int64, batch)
	for i := range batch {
		s, r := Sentence(t.rand)
		lengths[i] = int64(len(s))
		source = fill(source, t.Vocabulary.Encode(s))
		target = fill(target, append(append([]int{begin}, t.Vocabulary.Encode(r)...), end))
	}
	loss, err := t.step.Call(weft.FromSlice(source, batch, longest).On(t.dev), weft.FromSlice(lengths).On(t.dev), weft.FromSlice(target, batch, longest).On(t.dev))
	if err != nil {
		return 0, err
	}
	return loss.Item(), nil
}

// fill appends tokens to a list, and padding up to the longest.
func fill(list []int64, tokens []int) []int64 {
	for i := range longest {
		token := pad
		if i < len(tokens) {
			token = tokens[i]
		}
		list = append(list, int64(token))
	}
	return list
}

// Test translates n sentences that it draws from a seed. It returns the BLEU score, and some of the
// sentences with their translations.
func (t *Translator) Test(n, beams int, seed uint64) (score float64, some []string, err error) {
	r := rand.New(rand.NewPCG(seed, 1))
	var sources, translations [][]int
	var references [][][]int
	for range n {
		s, target := Sentence(r)
		sources = append(sources, t.Vocabulary.Encode(s))
		references = append(references, [][]int{t.Vocabulary.Encode(target)})
	}
	nn.Eval(t.Net)
	defer nn.Train(t.Net)
	found, err := t.Net.Translate(sources, begin, models.BeamOpts{Beams: &beams, MaxTokens: new(longest), End: []int{end}})
	if err != nil {
		return 0, nil, err
	}
	for i, f := range found {
		translations = append(translations, f[0].Tokens)
		if i < 5 {
			some = append(some, t.Vocabulary.Decode(sources[i])+"\n    "+t.Vocabulary.Decode(f[0].Tokens))
		}
	}
	return models.BLEU(translations, references), some, nil
}

func main() {
	steps := flag.Int("steps", 400, "steps of training")
	batch := flag.Int("batch", 64, "sentences in a step")
	width := flag.Int("width", 64, "width of the layers")
	beams := flag.Int("beams", 4, "beams of the search")
	device := flag.String("device", "", "the device to train on, such as cpu; without it WEFT_DEVICE says, or the CPU")
	flag.Parse()
	dev, err := weft.DeviceByName(*device)
	if err == nil {
		err = run(*steps, *batch, *width, *beams, dev)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "translate:", err)
		os.Exit(1)
	}
}

func run(steps, batch, width, beams int, dev weft.Device) error {
	t := NewTranslator(width, dev, 1)
	for i := range steps {
		loss, err := t.Step(batch)
		if err != nil {
			return err
		}
		if (i+1)%100 == 0 {
			score, _, err := t.Test(50, 1, 7)
			if err != nil {
				return err
			}
			fmt.Printf("step %4d  loss %.3f  BLEU %5.1f\n", i+1, loss, score)
		}
	}
	score, some, err := t.Test(200, beams, 8)
	if err != nil {
		return err
	}
	for _, s := range some {
		fmt.Println(s)
	}
	fmt.Printf("BLEU of 200 new sentences by beam search: %.1f\n", score)
	return nil
}
