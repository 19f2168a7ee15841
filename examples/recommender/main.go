// Recommender learns what people would think of things they have not seen: a vector for
// each person and each thing, whose product is the rating. Steps cost what their batch
// costs, however many people there are: gradients of the embeddings are kept as rows. Then it learns from
// what people took, without ratings, which things they would take next, by neural collaborative
// filtering.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"

	"weft"
	"weft/data"
	"weft/nn"
	"weft/optim"
	"weft/train"
)

const (
	users, items, hidden = 2000, 500, 4
	ratings, held        = 100000, 5000
	noise                = 0.25 // deviation of a rating from what the hidden factors say
	batch                = 1024
)

// Ratings returns pairs of a user and an item [n, 2] and what the one thinks of the other
// [n]: the product of hidden factors, with variance 1, and noise.
func Ratings(n int, g *weft.Generator) (pairs, y *weft.Tensor) {
	u, v := g.Randn(users, hidden), g.Normal(0, 0.5, items, hidden) // 0.5 is 1/sqrt(hidden)
	who, what := g.Randint(0, users, n), g.Randint(0, items, n)
	y = u.Index(who).Mul(v.Index(what)).Sum(1).Add(g.Normal(0, noise, n))
	return weft.Stack([]*weft.Tensor{who, what}, 1), y
}

// A Model has a vector for each user and item.
type Model struct{ Users, Items *nn.Embedding }

func NewModel(g *weft.Generator) *Model {
	o := nn.EmbeddingOpts{Sparse: true, Weight: nn.Normal(0, 0.5), Generator: g}
	return &Model{nn.NewEmbedding(users, hidden, o), nn.NewEmbedding(items, hidden, o)}
}

// Forward maps pairs [n, 2] to ratings [n].
func (m *Model) Forward(pairs *weft.Tensor) *weft.Tensor {
	p := pairs.Unbind(1)
	return m.Users.Forward(p[0]).Mul(m.Items.Forward(p[1])).Sum(1)
}

// Train runs epochs over the ratings.
func Train(ctx context.Context, m *Model, pairs, y *weft.Tensor, epochs int, rate float64, o train.Opts) (*train.History, error) {
	loader := data.NewLoader(data.Tensors(pairs, y), data.LoaderOpts{Batch: new(batch), Shuffle: true, Seed: 1, DropLast: true})
	opt := optim.NewAdam(nn.Params(m), optim.AdamOpts{LR: new(rate), Sparse: true})
	o.Schedule = optim.Polynomial{Steps: max(epochs*loader.Len(), 1)}
	return train.New(m, train.Loss(nn.MSE), opt, o).Fit(ctx, epochs, loader, nil)
}

func main() {
	epochs := flag.Int("epochs", 12, "passes over the ratings")
	device := flag.String("device", "", "the device to train on, such as cpu; without it WEFT_DEVICE says, or the CPU")
	flag.Parse()
	dev, err := weft.DeviceByName(*device)
	if err != nil {
		fmt.Fprintln(os.Stderr, "recommender:", err)
		os.Exit(1)
	}
	g := weft.NewGenerator(1)
	pairs, y := Ratings(ratings+held, g)
	seen, unseen := weft.Range(0, ratings), weft.Range(ratings, ratings+held)
	m, pairs, y := nn.On(NewModel(g), dev), pairs.On(dev), y.On(dev)
	progress := train.NewProgress(os.Stdout, train.ProgressOpts{Unit: "ratings"})
	if _, err := Train(context.Background(), m, pairs.Slice(seen), y.Slice(seen), *epochs, 0.03, train.Opts{Progress: progress}); err != nil {
		fmt.Fprintln(os.Stderr, "recommender:", err)
		os.Exit(1)
	}
	mse := nn.MSE(m.Forward(pairs.Slice(unseen)), y.Slice(unseen))
	fmt.Printf("of ratings not seen %.4f; the noise alone has %.4f, guessing 0 has %.4f\n",
		mse.Item(), noise*noise, y.Slice(unseen).Square().Mean().Item())

	taken, ncf := NewTaken(1), nn.On(NewNCF(weft.NewGenerator(2)), dev)
	mean := 0.0
	TrainNCF(ncf, taken, steps, func(step int, loss float64) {
		if mean += loss / 50; step%50 == 0 {
			fmt.Printf("step %4d  loss %.4f\n", step, mean)
			mean = 0
		}
	})
	fmt.Printf("what a person takes next is among 10 of 100 things: by the network %.3f, by what most take %.3f, by their taste itself %.3f\n",
		HitRate(taken, Scores(ncf)), HitRate(taken, taken.Popular), HitRate(taken, taken.True))
}
