// Gpt trains a small transformer to write on, one character after the other, a text that
// it carries, and prints what it makes of it.
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
)

//go:embed text.txt
var text string

const context, width, heads, blocks, batch = 32, 32, 4, 2, 8

// A Block is attention to the characters before, then a network for each place.
type Block struct {
	Norm1, Norm2 *nn.LayerNorm
	Attn         *nn.MultiheadAttention
	MLP          nn.Sequential
}

// Forward maps [batch, steps, width] to the same.
func (b *Block) Forward(x *weft.Tensor) *weft.Tensor {
	h := b.Norm1.Forward(x)
	x = x.Add(b.Attn.Attend(h, h, h, nn.AttendOpts{Causal: true}))
	return x.Add(b.MLP.Forward(b.Norm2.Forward(x)))
}

// A GPT tells for each character of a text which one is next.
type GPT struct {
	Chars, Places *nn.Embedding
	Blocks        []*Block
	Norm          *nn.LayerNorm
	Head          *nn.Linear
}

func NewGPT(chars int, g *weft.Generator) *GPT {
	small := nn.EmbeddingOpts{Weight: nn.Normal(0, 0.1), Generator: g}
	o := nn.Opts{Generator: g}
	m := &GPT{Chars: nn.NewEmbedding(chars, width, small), Places: nn.NewEmbedding(context, width, small),
		Norm: nn.NewLayerNorm([]int{width}), Head: nn.NewLinear(width, chars, o)}
	for range blocks {
		m.Blocks = append(m.Blocks, &Block{
			Norm1: nn.NewLayerNorm([]int{width}), Norm2: nn.NewLayerNorm([]int{width}),
			Attn: nn.NewMultiheadAttention(width, heads, nn.MultiheadAttentionOpts{BatchFirst: true, Generator: g}),
			MLP:  nn.Sequential{nn.NewLinear(width, 4*width, o), nn.Gelu{}, nn.NewLinear(4*width, width, o)},
		})
	}
	return m
}

// Forward maps the numbers of characters [batch, steps] to logits [batch, steps, chars].
func (m *GPT) Forward(x *weft.Tensor) *weft.Tensor {
	h := m.Chars.Forward(x).Add(m.Places.Forward(x.Device().Arange(x.Dim(1))))
	for _, b := range m.Blocks {
		h = b.Forward(h)
	}
	return m.Head.Forward(m.Norm.Forward(h))
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

// Step trains on pieces of the text at random places and returns the loss.
func Step(m *GPT, opt *optim.Adam, codes *weft.Tensor, g *weft.Generator) float64 {
	scope := weft.NewScope()
	defer scope.Close()
	starts := scope.Track(g.On(codes.Device()).Randint(0, int64(codes.Size()-context), batch, 1))
	at := starts.Add(codes.Device().Arange(context))
	logits := m.Forward(codes.Index(at))
	loss := nn.CrossEntropy(logits.Reshape(batch*context, -1), codes.Index(at.Add(1)).Flatten(0))
	opt.ZeroGrad()
	loss.Backward()
	opt.Step()
	return loss.Item()
}

// Sample writes n characters on from those given.
func Sample(m *GPT, alphabet, text string, n int, g *weft.Generator) string {
	next := func() {
		scope := weft.NewScope()
		seen := make([]int64, 0, context)
		for _, c := range []byte(text[max(0, len(text)-context):]) {
			seen = append(seen, int64(strings.IndexByte(alphabet, c)))
		}
		x := scope.Track(weft.FromSlice(seen, 1, len(seen)).On(m.Head.Weight.Device()))
		p := m.Forward(x).Index(0, -1).Mul(1.5).Softmax(0) // 1.5 prefers likely ones
		text += string(alphabet[g.Multinomial(p, 1, weft.MultinomialOpts{}).ItemInt()])
		scope.Close()
	}
	for range n {
		weft.WithoutGrad(next)
	}
	return text
}

func main() {
	steps := flag.Int("steps", 1000, "steps of training")
	device := flag.String("device", "", "the device to train on, such as cpu; without it WEFT_DEVICE says, or the CPU")
	flag.Parse()
	dev, err := weft.DeviceByName(*device)
	if err != nil {
		fmt.Fprintln(os.Stderr, "gpt:", err)
		os.Exit(1)
	}
	g := weft.NewGenerator(1)
	alphabet, codes := Encode(text)
	m, codes := nn.On(NewGPT(len(alphabet), g), dev), codes.On(dev)
	opt := optim.NewAdam(nn.Params(m), optim.AdamOpts{LR: new(3e-3)})
	for i := range *steps {
		if loss := Step(m, opt, codes, g); i%100 == 0 || i == *steps-1 {
			fmt.Printf("step %4d  loss %.3f\n", i+1, loss)
		}
	}
	fmt.Println(Sample(m, alphabet, "the ", 300, g))
}
