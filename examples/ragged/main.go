// Ragged tells languages apart: sentences of very different length, as lists of letters, go
// through attention without padding, and each gets one answer.
package main

import (
	_ "embed"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"

	"weft"
	"weft/nn"
	"weft/optim"
	"weft/ragged"
)

//go:embed sentences.txt
var text string

const width = 24

var languages = []string{"en", "de", "fr", "es"}

// alphabet has every letter of the sentences; any other counts as behind its end.
var alphabet = func() []rune {
	letters := []rune(text)
	slices.Sort(letters)
	return slices.Compact(letters)
}()

// Encode returns sentences as numbers of letters, one item each.
func Encode(sentences []string) *ragged.List {
	items := make([][]int64, len(sentences))
	for i, s := range sentences {
		for _, r := range s {
			k, ok := slices.BinarySearch(alphabet, r)
			if !ok {
				k = len(alphabet)
			}
			items[i] = append(items[i], int64(k))
		}
	}
	return ragged.Of(items)
}

// Sentences returns the text's sentences and the numbers of their languages: every fourth is kept
// for the test.
func Sentences() (train, test []string, trainIs, testIs []int64) {
	for i, line := range strings.Split(strings.TrimSpace(text), "\n") {
		language, s, _ := strings.Cut(line, "\t")
		is := int64(slices.Index(languages, language))
		if i%4 == 3 {
			test, testIs = append(test, s), append(testIs, is)
		} else {
			train, trainIs = append(train, s), append(trainIs, is)
		}
	}
	return train, test, trainIs, testIs
}

// A Net lets the letters of a sentence see each other, and answers by their mean.
type Net struct {
	Letters, Before *nn.Embedding // of a letter, and of the one before it
	Q, K, V         *nn.Linear
	Out             *nn.Linear
}

func NewNet(g *weft.Generator) *Net {
	e := nn.EmbeddingOpts{Weight: nn.Normal(0, 0.3), Generator: g}
	o := nn.Opts{Generator: g}
	return &Net{
		Letters: nn.NewEmbedding(len(alphabet)+1, width, e), Before: nn.NewEmbedding(len(alphabet)+1, width, e),
		Q: nn.NewLinear(width, width, o), K: nn.NewLinear(width, width, o), V: nn.NewLinear(width, width, o),
		Out: nn.NewLinear(width, len(languages), o),
	}
}

// Forward maps sentences to logits [sentences, languages].
func (m *Net) Forward(letters *ragged.List) *weft.Tensor {
	before := letters.Index(letters.LocalIndex().Sub(1).Maximum(0))
	h := letters.Apply(m.Letters.Forward).Add(before.Apply(m.Before.Forward))
	h = h.Add(ragged.Attention(h.Apply(m.Q.Forward), h.Apply(m.K.Forward), h.Apply(m.V.Forward)))
	return m.Out.Forward(h.Apply((*weft.Tensor).Relu).Mean())
}

// Step trains on all sentences and returns the loss.
func Step(m *Net, opt *optim.Adam, letters *ragged.List, is *weft.Tensor) float64 {
	loss := nn.CrossEntropy(m.Forward(letters), is)
	opt.ZeroGrad()
	loss.Backward()
	opt.Step()
	return loss.Item()
}

// Accuracy is the share of sentences whose language is told.
func Accuracy(m *Net, letters *ragged.List, is *weft.Tensor) float64 {
	return m.Forward(letters).ArgMax(1).Eq(is).To(weft.Float64).Mean().Item()
}

func main() {
	steps := flag.Int("steps", 60, "steps of training")
	device := flag.String("device", "", "the device to train on, such as cpu; without it WEFT_DEVICE says, or the CPU")
	flag.Parse()
	dev, err := weft.DeviceByName(*device)
	if err != nil {
		fmt.Fprintln(os.Stderr, "ragged:", err)
		os.Exit(1)
	}
	train, test, trainIs, testIs := Sentences()
	x, y := Encode(train).On(dev), dev.From(trainIs)
	shortest, most := x.Sizes().Min().ItemInt(), x.Sizes().Max().ItemInt()
	fmt.Printf("%d sentences of %d to %d letters: %d in all, %d if they were padded\n", x.Len(), shortest, most, x.Rows(), x.Len()*int(most))
	m := nn.On(NewNet(weft.NewGenerator(1)), dev)
	opt := optim.NewAdam(nn.Params(m), optim.AdamOpts{LR: new(1e-2)})
	for i := range *steps {
		if loss := Step(m, opt, x, y); (i+1)%15 == 0 {
			fmt.Printf("step %3d  loss %.4f\n", i+1, loss)
		}
	}
	fmt.Printf("right: %.0f %% of %d sentences that it has not seen\n", 100*Accuracy(m, Encode(test).On(dev), dev.From(testIs)), len(test))
	for _, s := range []string{"the wind blows over the hills", "der wind weht über die hügel", "le vent souffle sur les collines", "el viento sopla sobre las colinas"} {
		k := m.Forward(Encode([]string{s}).On(dev)).ArgMax(1).ItemInt()
		fmt.Printf("%s: %s\n", languages[k], s)
	}
}
