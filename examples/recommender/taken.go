package main

import (
	"math"
	"math/rand/v2"
	"slices"

	"weft"
	"weft/models"
	"weft/nn"
	"weft/optim"
)

const (
	people, things = 600, 300
	each           = 20  // things that a person takes; the last one is held out
	negatives      = 4   // things not taken that a step shows beside each one taken
	others         = 99  // things not taken that the one held out is ranked among
	steps          = 250 // of training
)

// Taken is who took what, and no ratings: people take things more often that fit their taste.
type Taken struct {
	has       []map[int64]bool // what each person took
	who, what []int64          // pairs to learn from
	held      []int64          // the last thing of each person, not among those pairs
	taste     [][]float64      // how much each person likes each thing, which no model sees
}

// NewTaken draws who takes what.
func NewTaken(seed uint64) *Taken {
	r := rand.New(rand.NewPCG(seed, 3))
	vector := func() (v [hidden]float64) {
		for i := range v {
			v[i] = r.NormFloat64()
		}
		return v
	}
	t := &Taken{}
	var kinds [things][hidden]float64
	for i := range kinds {
		kinds[i] = vector()
	}
	for p := range int64(people) {
		u, weights, total := vector(), make([]float64, things), 0.0
		taste := make([]float64, things)
		for i, v := range kinds {
			for k := range v {
				taste[i] += u[k] * v[k]
			}
			weights[i] = math.Exp(1.5 * taste[i])
			total += weights[i]
		}
		has := map[int64]bool{}
		for len(has) < each {
			at, i := r.Float64()*total, int64(0)
			for ; i < things-1 && at > weights[i]; i++ {
				at -= weights[i]
			}
			if has[i] {
				continue
			}
			has[i] = true
			if len(has) < each {
				t.who, t.what = append(t.who, p), append(t.what, i)
			} else {
				t.held = append(t.held, i)
			}
		}
		t.has, t.taste = append(t.has, has), append(t.taste, taste)
	}
	return t
}

// Pairs draws n pairs that are there and negatives that are not, with 1 for the former.
func (t *Taken) Pairs(n int, r *rand.Rand) (who, what, y *weft.Tensor) {
	var p, i []int64
	var taken []float32
	for range n {
		k := r.IntN(len(t.who))
		p, i, taken = append(p, t.who[k]), append(i, t.what[k]), append(taken, 1)
		for range negatives {
			p, i, taken = append(p, t.who[k]), append(i, t.unknown(int(t.who[k]), r)), append(taken, 0)
		}
	}
	return weft.FromSlice(p), weft.FromSlice(i), weft.FromSlice(taken)
}

// unknown draws a thing that a person did not take, or the one held out, which training must not know.
func (t *Taken) unknown(person int, r *rand.Rand) int64 {
	for {
		if i := r.Int64N(things); !t.has[person][i] || i == t.held[person] {
			return i
		}
	}
}

// other draws a thing that a person did not take.
func (t *Taken) other(person int, r *rand.Rand) int64 {
	for {
		if i := r.Int64N(things); !t.has[person][i] {
			return i
		}
	}
}

// NewNCF returns a small network for these people and things.
func NewNCF(g *weft.Generator) *models.NCF {
	return models.NewNCF(people, things, models.NCFOpts{Factors: new(8), Layers: []int{32, 16, 8}, Generator: g})
}

// TrainNCF takes steps over pairs, and tells the loss of each.
func TrainNCF(m *models.NCF, t *Taken, steps int, tell func(step int, loss float64)) {
	dev := m.Final.Weight.Device()
	r := rand.New(rand.NewPCG(1, 4))
	opt := optim.NewAdam(nn.Params(m), optim.AdamOpts{LR: new(0.01)})
	step := weft.Compile(func(who, what, y *weft.Tensor) *weft.Tensor {
		opt.ZeroGrad()
		loss := nn.BCEWithLogits(m.Forward(who, what), y)
		loss.Backward()
		opt.Step()
		return loss.Detach()
	}).Func()
	for i := range steps {
		who, what, y := t.Pairs(400, r)
		tell(i+1, step(who.On(dev), what.On(dev), y.On(dev)).Item())
	}
}

// HitRate returns how often the thing held out is among the best 10 of it and 99 that the person did not
// take, by scores of pairs (He et al., Neural collaborative filtering, 2017).
func HitRate(t *Taken, scores func(who, what []int64) []float64) float64 {
	r := rand.New(rand.NewPCG(2, 5))
	var who, what []int64
	for p, held := range t.held {
		who, what = append(who, int64(p)), append(what, held)
		for range others {
			who, what = append(who, int64(p)), append(what, t.other(p, r))
		}
	}
	s, hits := scores(who, what), 0
	for group := range slices.Chunk(s, 1+others) {
		better := 0
		for _, v := range group[1:] {
			if v >= group[0] {
				better++
			}
		}
		if better < 10 {
			hits++
		}
	}
	return float64(hits) / float64(len(t.held))
}

// Scores are the scores of a network.
func Scores(m *models.NCF) func(who, what []int64) []float64 {
	dev := m.Final.Weight.Device()
	return func(who, what []int64) (out []float64) {
		weft.WithoutGrad(func() {
			out = weft.Data[float64](m.Forward(weft.FromSlice(who).On(dev), weft.FromSlice(what).On(dev)).To(weft.Float64))
		})
		return out
	}
}

// Popular scores a thing by how many take it.
func (t *Taken) Popular(_, what []int64) []float64 {
	var count [things]float64
	for _, i := range t.what {
		count[i]++
	}
	out := make([]float64, len(what))
	for k, i := range what {
		out[k] = count[i]
	}
	return out
}

// True scores a thing by the taste behind what is taken: no model can be better.
func (t *Taken) True(who, what []int64) []float64 {
	out := make([]float64, len(what))
	for k := range what {
		out[k] = t.taste[who[k]][what[k]]
	}
	return out
}
