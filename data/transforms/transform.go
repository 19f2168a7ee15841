package transforms

import (
	"math"
	"slices"

	"weft"
	"weft/internal/array"
	"weft/internal/op"
)

// A Transform makes a tensor of another. Pictures are [..., channels, height, width]: floats from 0 to 1,
// or uint8. A result may share memory with x, or be x.
type Transform interface {
	// Apply draws what is random with g, whose state it moves on; nil is the default generator. It panics
	// with *weft.Error if x or an option does not fit.
	Apply(x *weft.Tensor, g *weft.Generator) *weft.Tensor
}

// Compose applies transforms one after the other.
type Compose []Transform

// Apply implements [Transform].
func (c Compose) Apply(x *weft.Tensor, g *weft.Generator) *weft.Tensor {
	for i, t := range c {
		if t == nil {
			array.Failf("compose", "", "transform %d is nil", i)
		}
		x = t.Apply(x, g)
	}
	return x
}

// Lambda is a function as a [Transform].
type Lambda func(x *weft.Tensor, g *weft.Generator) *weft.Tensor

// Apply implements [Transform].
func (f Lambda) Apply(x *weft.Tensor, g *weft.Generator) *weft.Tensor {
	if f == nil {
		array.Failf("lambda", "", "the function is nil")
	}
	return f(x, generator(g))
}

// RandomApply applies all of some transforms with probability P, or none.
type RandomApply struct {
	Transforms Compose
	P          *float64 // nil means 0.5
}

// Apply implements [Transform].
func (t RandomApply) Apply(x *weft.Tensor, g *weft.Generator) *weft.Tensor {
	if !happens("random_apply", t.P, 0.5, g) {
		return x
	}
	return t.Transforms.Apply(x, g)
}

// RandomChoice applies one of some transforms.
type RandomChoice struct {
	Transforms []Transform
	Weights    []float64 // probabilities up to a factor, 0 or more; nil means equal ones
}

// Apply implements [Transform].
func (t RandomChoice) Apply(x *weft.Tensor, g *weft.Generator) *weft.Tensor {
	const name = "random_choice"
	n := len(t.Transforms)
	if n == 0 {
		array.Failf(name, "Transforms", "are empty")
	}
	weights := t.Weights
	if weights == nil {
		weights = slices.Repeat([]float64{1}, n)
	}
	sum := 0.0
	for _, w := range weights {
		if !(w >= 0) {
			array.Failf(name, "Weights", "has %v, want 0 or more", w)
		}
		sum += w
	}
	if len(weights) != n || sum == 0 || math.IsInf(sum, 1) {
		array.Failf(name, "Weights", "are %v, want %d of a sum above 0", weights, n)
	}
	at, k := uniform(g, 0, sum), 0
	for k < n-1 && at >= weights[k] {
		at -= weights[k]
		k++
	}
	return Compose{t.Transforms[k]}.Apply(x, g)
}

// RandomOrder applies all of some transforms in random order.
type RandomOrder []Transform

// Apply implements [Transform].
func (t RandomOrder) Apply(x *weft.Tensor, g *weft.Generator) *weft.Tensor {
	return Compose(shuffled(t, g)).Apply(x, g)
}

// generator returns g, or the default one.
func generator(g *weft.Generator) *weft.Generator {
	if g == nil {
		return weft.DefaultGenerator()
	}
	return g
}

// unit draws a number from 0 to below 1, a multiple of 2^-53.
func unit(g *weft.Generator) float64 {
	s := generator(g).Next()
	w := op.Philox(s.Seed, s.Draw, 0)
	return float64((uint64(w[0])<<32|uint64(w[1]))>>11) * 0x1p-53
}

// uniform draws a number from lo to hi.
func uniform(g *weft.Generator, lo, hi float64) float64 {
	return lo + float64(unit(g)*(hi-lo))
}

// below draws a whole number from 0 to n-1.
func below(g *weft.Generator, n int) int {
	s := generator(g).Next()
	w := op.Philox(s.Seed, s.Draw, 0)
	return int(op.Below(w[0], w[1], uint64(n)))
}

// happens draws whether what has probability p does.
func happens(name string, p *float64, def float64, g *weft.Generator) bool {
	chance := array.Or(p, def)
	if !(chance >= 0 && chance <= 1) {
		array.Failf(name, "P", "is %v, want a probability from 0 to 1", chance)
	}
	return unit(g) < chance
}

// shuffled returns a list in random order.
func shuffled[T any](list []T, g *weft.Generator) []T {
	list = slices.Clone(list)
	for i := len(list) - 1; i > 0; i-- {
		j := below(g, i+1)
		list[i], list[j] = list[j], list[i]
	}
	return list
}

// between returns an interval of an option, and refuses one that is not in [lo, hi].
func between(name, option string, p *[2]float64, def [2]float64, lo, hi float64) (from, to float64) {
	r := array.Or(p, def)
	if !(lo <= r[0] && r[0] <= r[1] && r[1] <= hi) || math.IsInf(r[1], 1) {
		array.Failf(name, option, "is %v to %v, want an interval in [%v, %v]", r[0], r[1], lo, hi)
	}
	return r[0], r[1]
}

// picture returns height and width of x, and refuses what is not a picture.
func picture(name string, x *weft.Tensor) (h, w int) {
	if x == nil {
		array.Failf(name, "x", "is nil")
	}
	if x.Rank() < 3 || x.DType() != weft.Uint8 && !x.DType().Float() {
		array.Failf(name, "x", "is %s, want uint8 or floats [..., channels, height, width]", array.TypeString(x.DType(), x.Shape()))
	}
	return x.Dim(x.Rank() - 2), x.Dim(x.Rank() - 1)
}

// bound returns the number that stands for full intensity.
func bound(x *weft.Tensor) float64 {
	if x.DType() == weft.Uint8 {
		return 255
	}
	return 1
}

// asFloat returns x for computing: uint8 as float32.
func asFloat(x *weft.Tensor) *weft.Tensor {
	if x.DType() == weft.Uint8 {
		return x.To(weft.Float32)
	}
	return x
}

// perChannel returns one number for each channel of x, or one for all, in a shape that broadcasts to x.
func perChannel(name, option string, numbers []float64, x *weft.Tensor) *weft.Tensor {
	c := x.Dim(x.Rank() - 3)
	if len(numbers) != 1 && len(numbers) != c {
		array.Failf(name, option, "has %d numbers, want 1 or %d, the channels", len(numbers), c)
	}
	d := x.DType()
	if !d.Float() {
		d = weft.Float32
	}
	return x.Device().From(numbers).To(d).Reshape(len(numbers), 1, 1)
}

// size returns height and width of an option: one number stands for both.
func size(name, option string, s []int) (h, w int) {
	if len(s) != 1 && len(s) != 2 || slices.Min(s) < 1 || slices.Max(s) > math.MaxInt32 {
		array.Failf(name, option, "is %v, want height and width, or one number for both, 1 or more", s)
	}
	return s[0], s[len(s)-1]
}
