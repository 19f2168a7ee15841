// Gpt trains a small transformer, like GPT-2 or like LLaMA, to write on, one character after the other, a text that
// it carries, and prints what it makes of it.
package main

import (
	"context"
	_ "embed"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"

	"weft"
	"weft/data"
	"weft/models"
	"weft/nn"
	"weft/optim"
	"weft/train"
)

//go:embed text.txt
var text string

const steps, batch = 32, 8 // a piece of the text has steps characters

// A Model is a language model that package train trains.
type Model interface {
	models.LM
	nn.Layer
}

// NewGPT returns a network like GPT-2 that tells for each character of a text which one is next.
func NewGPT(chars int, g *weft.Generator) Model {
	none := new(0.0)
	return models.NewGPT2(models.GPT2Opts{Vocab: &chars, Context: new(steps), Width: new(32), Layers: new(2), Heads: new(4), Weight: nn.Normal(0, 0.1), Generator: g,
		EmbeddingDropout: none, AttentionDropout: none, ResidualDropout: none})
}

// NewLlama returns one like LLaMA: places turn queries and keys, and pairs of heads share keys and values.
func NewLlama(chars int, g *weft.Generator) Model {
	return models.NewLlama(models.LlamaOpts{Vocab: &chars, Context: new(steps), Width: new(32), Inner: new(96), Layers: new(2), Heads: new(4), KVHeads: new(2),
		Weight: nn.Normal(0, 0.1), Generator: g})
}

// Encode returns the alphabet of a text, and the text as numbers in it.
func Encode(text string) (alphabet string, codes *weft.Tensor) {
	letters := []byte(text)
	slices.Sort(letters)
	alphabet = string(slices.Compact(letters))
	n := make([]int64, len(text))
	for i := range n {
		n[i] = int64(strings.IndexByte(alphabet, text[i]))
	}
	return alphabet, weft.FromSlice(n)
}

// Train trains on all pieces of the text, epochs times.
func Train(ctx context.Context, m Model, codes *weft.Tensor, epochs int, o train.Opts) (*train.History, error) {
	dev := codes.Device()
	at := dev.Arange(codes.Size() - steps).Unsqueeze(1).Add(dev.Arange(steps))
	pieces := data.Tensors(codes.Index(at), codes.Index(at.Add(1)))
	loader := data.NewLoader(pieces, data.LoaderOpts{Batch: new(batch), Shuffle: true, Seed: 1})
	opt := optim.NewAdam(nn.Params(m), optim.AdamOpts{LR: new(3e-3)})
	next := func(logits, target *weft.Tensor) *weft.Tensor {
		return nn.CrossEntropy(logits.Reshape(target.Size(), -1), target.Flatten(0))
	}
	return train.New(m, next, opt, o).Fit(ctx, epochs, loader, nil)
}

// Sample writes a text on by n characters or a few more. The network sees the last half of its context and
// fills the other half, time and again.
func Sample(m models.LM, alphabet, text string, n int, g *weft.Generator) (string, error) {
	o := models.GenerateOpts{MaxTokens: new(steps / 2), Temperature: 2. / 3, Generator: g} // below 1 prefers likely ones
	for end := len(text) + n; len(text) < end; {
		var seen []int
		for _, c := range []byte(text[max(0, len(text)-steps/2):]) {
			seen = append(seen, strings.IndexByte(alphabet, c))
		}
		for code, err := range models.Generate(m, seen, o) {
			if err != nil {
				return text, err
			}
			text += alphabet[code : code+1]
		}
	}
	return text, nil
}

func main() {
	kind := flag.String("model", "gpt2", "gpt2 or llama")
	epochs := flag.Int("epochs", 5, "passes over the text")
	device := flag.String("device", "", "the device to train on, such as cpu; without it WEFT_DEVICE says, or the CPU")
	flag.Parse()
	dev, err := weft.DeviceByName(*device)
	if err != nil {
		fmt.Fprintln(os.Stderr, "gpt:", err)
		os.Exit(1)
	}
	g := weft.NewGenerator(1)
	alphabet, codes := Encode(text)
	model := map[string]func(int, *weft.Generator) Model{"gpt2": NewGPT, "llama": NewLlama}[*kind]
	if model == nil {
		fmt.Fprintf(os.Stderr, "gpt: -model is %q, want gpt2 or llama\n", *kind)
		os.Exit(2)
	}
	m, codes := nn.On(model(len(alphabet), g), dev), codes.On(dev)
	progress := train.NewProgress(os.Stdout, train.ProgressOpts{Unit: "pieces"})
	if _, err := Train(context.Background(), m, codes, *epochs, train.Opts{Progress: progress}); err != nil {
		fmt.Fprintln(os.Stderr, "gpt:", err)
		os.Exit(1)
	}
	written, err := Sample(m, alphabet, "the ", 300, g)
	if err != nil {
		fmt.Fprintln(os.Stderr, "gpt:", err)
		os.Exit(1)
	}
	fmt.Println(written)
}
