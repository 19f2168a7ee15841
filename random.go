package weft

import (
	"fmt"
	"math"

	"weft/internal/array"
	"weft/internal/cache"
	"weft/internal/core"
	"weft/internal/device"
	"weft/internal/exec"
	"weft/internal/ir"
	"weft/internal/op"
	"weft/internal/plan"
	"weft/internal/saved"
)

// A Generator makes random tensors. Its numbers come from Philox 4x32-10, a
// function of the seed, the number of the draw and the position in the result
// alone: they have the same bits for every way to shape the result, every
// backend and every number of threads.
//
// A Generator is safe for use from several goroutines; which of them gets which
// draw is then open, so goroutines whose results must be reproducible need
// generators of their own.
type Generator core.Generator

// A GeneratorState is all that a [Generator] will ever make, for checkpoints.
type GeneratorState struct {
	Seed uint64
	Draw uint64 // how many draws were made
}

// NewGenerator returns a generator that has made no draws.
func NewGenerator(seed uint64) *Generator { return (*Generator)(core.NewGenerator(seed)) }

// On returns a generator that makes its tensors on a device. It shares the state of g: each draw of
// one is a draw of both, and its numbers have the same bits on every device.
func (g *Generator) On(dev Device) *Generator { return (*Generator)(g.c().On(dev.number)) }

// State returns what [Generator.SetState] takes to go on from here.
func (g *Generator) State() GeneratorState { return GeneratorState(g.c().State()) }

// SetState makes the generator go on from a state.
func (g *Generator) SetState(s GeneratorState) { g.c().SetState(core.GeneratorState(s)) }

// Next makes one draw without computing it: the state returned is the one that the draw
// has, for numbers that are made elsewhere, such as in a kernel.
func (g *Generator) Next() GeneratorState { return GeneratorState(g.c().Next()) }

var defaultGenerator = NewGenerator(0)

// DefaultGenerator returns the generator behind [Rand], [Randn], [Randint] and
// [Randperm]. It starts with seed 0.
func DefaultGenerator() *Generator { return defaultGenerator }

// Seed makes the default generator start over with a seed.
func Seed(seed uint64) { defaultGenerator.SetState(GeneratorState{Seed: seed}) }

// Rand returns float32 numbers, uniform from 0 to below 1: multiples of 2^-24.
func (g *Generator) Rand(shape ...int) *Tensor { return g.RandOf(Float32, shape...) }

// RandOf returns uniform numbers from 0 to below 1 of a float type d: multiples of
// 2^-53, 2^-24, 2^-11 or 2^-8, as many bits as d has.
func (g *Generator) RandOf(d DType, shape ...int) *Tensor {
	if bits, ok := halfBits[d]; ok {
		scale := float64(int(1) << bits)
		return g.draw("rand", op.Uniform, Float32, shape).Mul(scale).Floor().Div(scale).To(d)
	}
	return g.draw("rand", op.Uniform, d, shape)
}

// halfBits is the precision of the floats of 16 bits.
var halfBits = map[DType]int{Float16: 11, BFloat16: 8}

// Randn returns float32 numbers of the normal distribution with mean 0 and
// variance 1.
func (g *Generator) Randn(shape ...int) *Tensor { return g.RandnOf(Float32, shape...) }

// RandnOf returns standard normal numbers of a float type d. Numbers of 16 bits are
// rounded float32 ones.
func (g *Generator) RandnOf(d DType, shape ...int) *Tensor {
	if halfBits[d] > 0 {
		return g.draw("randn", op.Normal, Float32, shape).To(d)
	}
	return g.draw("randn", op.Normal, d, shape)
}

// Randint returns int64 numbers, uniform from lo to hi-1. [Generator.RandintOf] takes an element
// type.
func (g *Generator) Randint(lo, hi int64, shape ...int) *Tensor {
	return g.RandintOf(Int64, lo, hi, shape...)
}

// RandintOf returns whole numbers of type d, uniform from lo to hi-1, which d must
// be able to hold. The probability of a number is off by less than 2^-64.
func (g *Generator) RandintOf(d DType, lo, hi int64, shape ...int) *Tensor {
	if lo >= hi {
		array.Failf("randint", "hi", "%d is not above lo, %d", hi, lo)
	}
	holdsAll("randint", d, lo, hi-1)
	number := func(x int64) exec.Number { return exec.Number{Int: x, Kind: array.CatInt} }
	return g.draw("randint", op.Integers, Int64, shape, number(lo), number(int64(uint64(hi)-uint64(lo)))).To(d)
}

// holdsAll refuses a type that does not hold all whole numbers from lo to hi.
func holdsAll(opName string, d DType, lo, hi int64) {
	least, most := d.Limits()
	switch {
	case !d.Supported() || d.Category() == array.CatComplex:
		array.Failf(opName, "dtype", "%s is not supported", d)
	case d == Bool:
		least, most = 0, 1
	case d.Float():
		bits := halfBits[d]
		switch d {
		case Float32:
			bits = 24
		case Float64:
			bits = 53
		}
		least, most = -1<<bits, 1<<bits
	}
	if lo < least || hi > most {
		array.Failf(opName, "", "%s does not hold all of %d to %d", d, lo, hi)
	}
}

// RandpermOf returns the numbers 0 to n-1 in random order as a vector of type d. It panics with
// *[Error] where n is negative or d does not hold all of them.
func (g *Generator) RandpermOf(d DType, n int) *Tensor {
	holdsAll("randperm", d, 0, max(int64(n)-1, 0))
	return g.Randperm(n).To(d)
}

// Randperm returns the numbers 0 to n-1, int64, in random order. [Generator.RandpermOf] takes an
// element type.
func (g *Generator) Randperm(n int) *Tensor {
	g.c().NotNil("randperm")
	if n < 0 {
		array.Failf("randperm", "n", "%d is negative", n)
	}
	if tr := core.TracingHere(); tr != nil {
		tr.PlaceDraw(g.c())
		seed, draw := g.c().Words("randperm")
		return (*Tensor)(core.Apply(op.Host, shuffle{n}, seed, draw))
	}
	return filled("randperm", g.c().Device(), Int64, n, func(data []int64) {
		s := g.Next()
		shuffled(data, s.Seed, s.Draw)
	})
}

// shuffled writes the numbers from 0 on in the order of a draw, by Fisher and Yates's shuffle:
// step i takes word pair i.
func shuffled(data []int64, seed, draw uint64) {
	for i := range data {
		data[i] = int64(i)
	}
	var w [4]uint32
	for i := range len(data) - 1 {
		if i%2 == 0 {
			w = op.Philox(seed, draw, uint64(i/2))
		}
		last := len(data) - 1 - i
		j := op.Below(w[i%2*2], w[i%2*2+1], uint64(last+1))
		data[last], data[j] = data[j], data[last]
	}
}

// A shuffle is [Generator.Randperm] in a compiled function: an operation of seed and draw.
type shuffle struct{ n int }

// AppendKey implements ir.Attrs.
func (s shuffle) AppendKey(k []byte) []byte { return ir.Int(k, s.n) }

func init() {
	saved.RegisterFunc("shuffle", func(s shuffle) int { return s.n }, func(n int) shuffle { return shuffle{n} })
}

// Results implements op.HostFunc.
func (s shuffle) Results(args []ir.Type) []ir.Type {
	if len(args) != 2 || args[0].DType != Int64 || args[1].DType != Int64 || len(args[0].Shape)+len(args[1].Shape) > 0 {
		array.Failf("randperm", "", "takes a seed and the number of a draw") // of a file
	}
	return []ir.Type{{DType: Int64, Shape: []int{s.n}}}
}

// CallHost implements op.HostFunc.
func (s shuffle) CallHost(args, out []array.View) error {
	shuffled(core.Slice[int64](&out[0]), uint64(core.IntElement(&args[0], args[0].Offset)), uint64(core.IntElement(&args[1], args[1].Offset)))
	return nil
}

// Rand returns float32 numbers of the default generator, uniform from 0 to below
// 1.
func Rand(shape ...int) *Tensor { return defaultGenerator.Rand(shape...) }

// RandOf is [Generator.RandOf] of the default generator: numbers from 0 to below 1, evenly
// distributed, of a type of floats and a shape.
func RandOf(d DType, shape ...int) *Tensor { return defaultGenerator.RandOf(d, shape...) }

// Randn returns float32 numbers of the default generator, normal with mean 0 and
// variance 1.
func Randn(shape ...int) *Tensor { return defaultGenerator.Randn(shape...) }

// RandnOf is [Generator.RandnOf] of the default generator: normally distributed numbers of mean
// 0 and deviation 1, of a type of floats and a shape.
func RandnOf(d DType, shape ...int) *Tensor { return defaultGenerator.RandnOf(d, shape...) }

// Randint returns int64 numbers of the default generator, uniform from lo to
// hi-1.
func Randint(lo, hi int64, shape ...int) *Tensor { return defaultGenerator.Randint(lo, hi, shape...) }

// RandintOf is [Generator.RandintOf] of the default generator: whole numbers of type d, uniform from
// lo to hi-1, which d must be able to hold.
func RandintOf(d DType, lo, hi int64, shape ...int) *Tensor {
	return defaultGenerator.RandintOf(d, lo, hi, shape...)
}

// Randperm returns the numbers 0 to n-1, int64, in an order of the default
// generator. [RandpermOf] takes an element type.
func Randperm(n int) *Tensor { return defaultGenerator.Randperm(n) }

// RandpermOf is [Generator.RandpermOf] of the default generator: the numbers 0 to n-1 in random order
// as a vector of type d, which must hold them.
func RandpermOf(d DType, n int) *Tensor { return defaultGenerator.RandpermOf(d, n) }

// Dropout sets each element to 0 with probability p and divides the others by
// 1-p. g gives the choice, one draw a call; nil is the default generator. t must
// hold floats. It is one plan; the gradient draws the same choice again, so
// nothing is saved.
func (t *Tensor) Dropout(p float64, g *Generator) *Tensor {
	t.c().Check("dropout")
	if !(p >= 0 && p <= 1) {
		array.Failf("dropout", "p", "%v is not a probability: want 0 to 1", p)
	}
	if !t.v().DType.Float() {
		array.Failf("dropout", "", "takes floats, got %s: convert with To first", t.v().DType)
	}
	if g == nil {
		g = defaultGenerator
	}
	scale := 0.0
	if p < 1 {
		scale = 1 / (1 - p)
	}
	seed, draw := g.c().Words("dropout")
	return (*Tensor)(core.Apply(op.Dropout, nil, core.Operand{T: t.c()}, seed, draw,
		core.AsOperand[Tensor]("dropout", "p", p), core.AsOperand[Tensor]("dropout", "scale", scale)))
}

// A drawKey is what the plan of a draw depends on.
type drawKey struct {
	dev    device.Device
	kind   op.Distribution
	dtype  DType
	blocks int
}

// draws caches the plans of draws.
var draws = cache.NewKeyed[drawKey, *exec.Compiled](1 << 10)

// draw makes one draw. Each position of a block is an output of one kernel,
// which writes it where it belongs: every fourth, or every second, element.
func (g *Generator) draw(opName string, kind op.Distribution, d DType, shape []int, more ...exec.Number) *Tensor {
	g.c().NotNil(opName)
	if d != Float32 && d != Float64 && kind != op.Integers {
		array.Failf(opName, "dtype", "%s is not a float", d)
	}
	s := append([]int{}, shape...)
	n := array.CheckShape(opName, s, d)
	k := kind.Block(d)
	m := (n + k - 1) / k
	if tr := core.TracingHere(); tr != nil {
		tr.PlaceDraw(g.c())
		seed, draw := g.c().Words(opName)
		return made(tr.Result(core.ReshapeTo(tr.Draw(opName, kind, d, n, append([]exec.Number{seed.Num, draw.Num}, more...)), s)))
	}
	number := g.c().Device()
	st := core.Alloc(number, m*k*d.Size())
	state := g.Next()
	t := made(array.View{Store: st, DType: d, Shape: s, Strides: array.RowMajor(s)})
	if n == 0 {
		return t
	}
	outs := make([]array.View, k)
	for i := range outs {
		outs[i] = array.View{Store: st, DType: d, Offset: i, Shape: []int{m}, Strides: []int{k}}
	}
	nums := append([]exec.Number{core.Word(state.Seed).Num, core.Word(state.Draw).Num}, more...)
	core.RunPlan(opName, nil, drawPlan(drawKey{device.Get(number), kind, d, m}, number, len(more), outs), nil, nums, outs)
	return t
}

func drawPlan(key drawKey, number uint8, more int, outs []array.View) *exec.Compiled {
	c, _ := draws.Get(key, func() (*exec.Compiled, error) {
		g := ir.New()
		nums := make([]*ir.Node, 2+more)
		for i := range nums {
			nums[i] = g.Scalar(i, Int64, true)
		}
		sigs := make([]plan.Sig, len(outs))
		for i := range outs {
			sigs[i] = plan.SigOf(&outs[i])
		}
		return core.Compile("draw", plan.Build(key.kind.Draw(key.blocks, key.dtype, nums[0], nums[1], nums[2:]...), nil, sigs, key.dev.Model()), number), nil
	})
	return c
}

// What a [Generator] makes of its uniform numbers. Each call is one draw. Its element i depends on
// the seed, the draw and i alone. Permutations and choices without replacement are the exception:
// their order depends on all elements.

// Bernoulli returns, in the shape and type of p, which holds floats, 1 with the probability
// that p says, else 0.
func (g *Generator) Bernoulli(p *Tensor) *Tensor {
	g.c().NotNil("bernoulli")
	p.c().Check("bernoulli")
	d := p.v().DType
	if !d.Float() {
		array.Failf("bernoulli", "p", "holds %s, want floats", d)
	}
	p = p.Detach()
	p = p.where("bernoulli", "p", "is not from 0 to 1 everywhere", p.Ge(0).LogicalAnd(p.Le(1)))
	of := d
	if d != Float64 {
		of = Float32
	}
	u := g.On(p.Device()).draw("bernoulli", op.Uniform, of, p.v().Shape)
	return u.Lt(p.To(of)).To(d)
}

// Permutation returns the sub-arrays of t along the first axis in random order.
func (g *Generator) Permutation(t *Tensor) *Tensor {
	g.c().NotNil("permutation")
	t.c().Check("permutation")
	if t.Rank() == 0 {
		array.Failf("permutation", "", "takes one dimension or more, got a number")
	}
	return t.IndexSelect(0, g.On(t.Device()).Randperm(t.v().Shape[0]))
}

// ChoiceOpts are the options of [Generator.Choice].
type ChoiceOpts struct {
	Distinct bool    // nothing is chosen twice
	Weights  *Tensor // how likely each is, as for Multinomial; nil: all are equally likely
}

// Choice returns n sub-arrays of t along its first axis, chosen at random.
func (g *Generator) Choice(t *Tensor, n int, opts ...ChoiceOpts) *Tensor {
	defer array.Named("choice").End()
	o := array.Options("choice", opts)
	g.c().NotNil("choice")
	t.c().Check("choice")
	if t.Rank() == 0 {
		array.Failf("choice", "", "takes one dimension or more, got a number")
	}
	of := t.v().Shape[0]
	checkChoices("choice", n, of, o.Distinct)
	var places *Tensor
	g = g.On(t.Device())
	switch {
	case o.Weights != nil:
		o.Weights.c().Check("choice")
		if !array.Equal(o.Weights.v().Shape, []int{of}) {
			array.Failf("choice", "weights", "have shape %s, want [%d]", array.ShapeString(o.Weights.v().Shape), of)
		}
		places = g.multinomial("choice", o.Weights.On(t.Device()), n, o.Distinct)
	case o.Distinct:
		places = g.Randperm(of).Slice(Range(0, n))
	default:
		places = g.Randint(0, int64(max(of, 1)), n) // none of none is a draw too
	}
	return t.IndexSelect(0, places)
}

// MultinomialOpts are the options of [Generator.Multinomial].
type MultinomialOpts struct {
	Distinct bool // no place is chosen twice
}

// Multinomial returns n places, int64, for each row of weights along the last axis, chosen
// with probabilities in proportion to them: [k] gives [n], [m k] gives [m n]. NumPy and sym's
// RandomStreams count how often each place comes. Weights are
// floats, finite and not negative, not all 0, and need not add up to 1; their sums are taken
// in float64. Distinct places are in the order in which they were chosen. At
// least n weights must then be above 0.
func (g *Generator) Multinomial(weights *Tensor, n int, opts ...MultinomialOpts) *Tensor {
	o := array.Options("multinomial", opts)
	g.c().NotNil("multinomial")
	weights.c().Check("multinomial")
	if r := weights.Rank(); r < 1 || r > 2 {
		array.Failf("multinomial", "weights", "have shape %s, want one or two dimensions", array.ShapeString(weights.v().Shape))
	}
	checkChoices("multinomial", n, weights.v().Shape[weights.Rank()-1], o.Distinct)
	return g.multinomial("multinomial", weights, n, o.Distinct)
}

// checkChoices refuses numbers of choices that cannot be.
func checkChoices(opName string, n, of int, distinct bool) {
	if n < 0 || n > 0 && of == 0 || distinct && n > of {
		array.Failf(opName, "n", "%d of %d cannot be chosen", n, of)
	}
}

func (g *Generator) multinomial(opName string, weights *Tensor, n int, distinct bool) *Tensor {
	if !weights.v().DType.Float() {
		array.Failf(opName, "weights", "hold %s, want floats", weights.v().DType)
	}
	w := weights.Detach().To(Float64)
	w = w.where(opName, "weights", "are not finite and at least 0 everywhere", w.Ge(0).LogicalAnd(w.IsFinite()))
	least := min(n, 1)
	if distinct {
		least = n
	}
	if n > 0 {
		w = w.where(opName, "weights", fmt.Sprintf("are above 0 at too few places: want %d", least), w.Gt(0).To(Int64).Sum(-1).Ge(least))
	}
	g = g.On(w.Device())
	if distinct {
		// Each place has a clock that runs at the rate of its weight: the first n to ring are chosen.
		waits := g.draw(opName, op.Exponential, Float64, w.v().Shape).Div(w)
		waits = Where(w.Gt(0), waits, math.NaN()) // behind those that wait without end
		_, places := waits.TopK(n, -1, TopKOpts{Smallest: true})
		return places
	}
	shape := append(append([]int{}, w.v().Shape[:w.Rank()-1]...), n)
	u := g.draw(opName, op.Uniform, Float64, shape)
	if w.Size() == 0 || u.Size() == 0 {
		return w.Device().ZerosOf(Int64, shape...)
	}
	sums := w.CumSum(-1)
	last := make([]Span, w.Rank())
	for i := range last {
		last[i] = All
	}
	last[w.Rank()-1] = Range(-1, End)
	total := sums.Slice(last...)
	total = total.where(opName, "weights", "have a sum that is not finite", total.IsFinite())
	// A product is below the total, as u is below 1 by a unit or more.
	return sums.SearchSorted(u.Mul(total), SearchOpts{Right: true})
}

// where returns t, floats, if all elements of ok are true. Otherwise it panics with text. In a
// compiled function each call checks.
func (t *Tensor) where(opName, arg, text string, ok *Tensor) *Tensor {
	all := ok.All()
	if core.TracingViews(all.v()) == nil {
		if !all.bool() {
			array.Failf(opName, arg, "%s", text)
		}
		return t
	}
	r := core.RangeCheck{Op: opName, Arg: arg, Min: 1, Max: 1, Text: text + "%.0d"}
	return Where((*Tensor)(r.Of(all.To(Int64).c())), t, math.NaN())
}

// Shuffle puts the sub-arrays of t along the first axis into random order, in place, and returns t. It panics with
// *[Error] for a number, and where t may not be written to. NumPy's shuffle; [Generator.Permutation] gives a copy.
func (g *Generator) Shuffle(t *Tensor) *Tensor {
	defer array.Named("shuffle").End()
	g.c().NotNil("shuffle")
	t.c().CheckArgument("shuffle", "t")
	return t.Assign(g.Permutation(t.Detach()))
}
