package sym

import (
	"math"
	"sync"

	"weft"
	"weft/internal/array"
	"weft/internal/ir"
	"weft/internal/op"
)

// RandomStreams makes variables that are random: each call of a function draws anew, and a
// variable used twice in a function is one draw. In a [Scan] a variable that the step makes is
// a draw for each step. Numbers come from Philox, by the seed, the number of the variable,
// that of the call and the position alone. It is safe for use from several goroutines.
type RandomStreams struct {
	mu   sync.Mutex
	seed uint64
	all  []*weft.Generator // one a variable
}

// NewRandomStreams returns streams that begin with a seed.
func NewRandomStreams(seed uint64) *RandomStreams { return &RandomStreams{seed: seed} }

// Seed makes all variables made so far, and those to come, start over with a seed.
func (s *RandomStreams) Seed(seed uint64) {
	if s == nil {
		array.Failf("seed", "", "the streams are nil (NewRandomStreams makes them)")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seed = seed
	for i, g := range s.all {
		g.SetState(weft.GeneratorState{Seed: seedOf(seed, i)})
	}
}

// seedOf is the seed of variable i.
func seedOf(seed uint64, i int) uint64 {
	w := op.Philox(seed, 0x73747265616d73, uint64(i)) // a draw of its own
	return uint64(w[0])<<32 | uint64(w[1])
}

func (s *RandomStreams) generator() *weft.Generator {
	s.mu.Lock()
	defer s.mu.Unlock()
	g := weft.NewGenerator(seedOf(s.seed, len(s.all)))
	s.all = append(s.all, g)
	return g
}

// draw makes a random variable of the shape of a variable.
func (s *RandomStreams) draw(name string, like *Var, f func(g *weft.Generator, shape []int, x *weft.Tensor) *weft.Tensor) *Var {
	if s == nil {
		array.Failf(name, "", "the streams are nil (NewRandomStreams makes them)")
	}
	g := s.generator()
	o := operation{name: name, random: []*weft.Generator{g}}
	x := o.arg(like)
	return o.one(func(ts []*weft.Tensor) *weft.Tensor { return f(g, x(ts).Shape(), x(ts)) })
}

// Uniform returns numbers of a float type d, uniform from lo to below hi. The bounds are Go numbers,
// or variables or tensors, which broadcast; without a shape the result has theirs.
func (s *RandomStreams) Uniform(d weft.DType, lo, hi any, shape ...any) *Var {
	return s.scaled("uniform", d, [2]any{lo, hi}, shape, func(g *weft.Generator, shape []int, x [2]any) *weft.Tensor {
		if lo, hi, ok := numbers(x); ok {
			return uniform(d, lo, hi)(g, shape, nil)
		}
		lo, hi := tensor(d, x[0]), tensor(d, x[1])
		return g.RandOf(d, shape...).Mul(hi.Sub(lo)).Add(lo)
	})
}

// UniformLike is [RandomStreams.Uniform] in the type and shape of x.
func (s *RandomStreams) UniformLike(x *Var, lo, hi float64) *Var {
	x.notNil("uniform")
	return s.draw("uniform", x, uniform(x.dtype, lo, hi))
}

func uniform(d weft.DType, lo, hi float64) func(g *weft.Generator, shape []int, _ *weft.Tensor) *weft.Tensor {
	return func(g *weft.Generator, shape []int, _ *weft.Tensor) *weft.Tensor {
		return scaled(g.RandOf(d, shape...), hi-lo, lo)
	}
}

// Normal returns normal numbers of a float type d with a mean and a standard deviation. Both are Go
// numbers, or variables or tensors, which broadcast; without a shape the result has theirs. Gradients
// go through both.
func (s *RandomStreams) Normal(d weft.DType, mean, deviation any, shape ...any) *Var {
	return s.scaled("normal", d, [2]any{mean, deviation}, shape, func(g *weft.Generator, shape []int, x [2]any) *weft.Tensor {
		if mean, deviation, ok := numbers(x); ok {
			return normal(d, mean, deviation)(g, shape, nil)
		}
		return g.RandnOf(d, shape...).Mul(tensor(d, x[1])).Add(tensor(d, x[0]))
	})
}

// NormalLike is [RandomStreams.Normal] in the type and shape of x.
func (s *RandomStreams) NormalLike(x *Var, mean, deviation float64) *Var {
	x.notNil("normal")
	return s.draw("normal", x, normal(x.dtype, mean, deviation))
}

func normal(d weft.DType, mean, deviation float64) func(g *weft.Generator, shape []int, _ *weft.Tensor) *weft.Tensor {
	return func(g *weft.Generator, shape []int, _ *weft.Tensor) *weft.Tensor {
		return scaled(g.RandnOf(d, shape...), deviation, mean)
	}
}

// Integers returns int64 numbers, uniform from lo to hi-1.
func (s *RandomStreams) Integers(lo, hi int64, shape ...any) *Var {
	return s.varying("integers", nil, shape, of(weft.Int64), func(g *weft.Generator, shape []int, _ []any) *weft.Tensor {
		return g.Randint(lo, hi, shape...)
	})
}

// Bernoulli returns 1 with the probabilities that p, of floats, says, else 0, in the type and
// shape of p.
func (s *RandomStreams) Bernoulli(p *Var) *Var {
	p.notNil("bernoulli")
	return s.draw("bernoulli", p, func(g *weft.Generator, shape []int, x *weft.Tensor) *weft.Tensor {
		return g.RandOf(x.DType(), shape...).Lt(x).To(x.DType())
	})
}

func scaled(u *weft.Tensor, by, plus float64) *weft.Tensor {
	if by != 1 {
		u = u.Mul(by)
	}
	if plus != 0 {
		u = u.Add(plus)
	}
	return u
}

// MRGStreams makes random variables by the generator MRG31k3p. Uniform numbers equal Theano 1.0's
// MRG_RandomStreams to the bit, where sizes are ints and where they are variables. So do draws that
// compare them, binomial and multinomial. Normal numbers equal Theano's up to the rounding of log, cos
// and sin. The state of a variable is a shared variable, which functions update by default. It is safe for
// use from several goroutines.
type MRGStreams struct {
	mu   sync.Mutex
	base mrgState // of the next variable
}

// NewMRGStreams returns streams that begin with a seed. One number stands for six times the same.
// Of six numbers, the first three are below 2147483647 and the last three below 2147462579. Neither
// three may all be 0. Another seed panics with *[weft.Error].
func NewMRGStreams(seed ...int64) *MRGStreams {
	var s mrgState
	switch len(seed) {
	case 1:
		for i := range s {
			s[i] = seed[0]
		}
	case 6:
		copy(s[:], seed)
	default:
		array.Failf("mrg", "seed", "has %d numbers, want 1 or 6", len(seed))
	}
	for k, m := range [2]int64{m1, m2} {
		zero := true
		for _, x := range s[3*k : 3*k+3] {
			if x < 0 || x >= m {
				array.Failf("mrg", "seed", "%d is not from 0 to below %d", x, m)
			}
			zero = zero && x == 0
		}
		if zero {
			array.Failf("mrg", "seed", "begins a recurrence with zeros alone")
		}
	}
	return &MRGStreams{base: s}
}

// Uniform returns numbers of Float16, Float32 or Float64 between lo and hi. Neither bound
// occurs unless rounding gives it. The bounds are Go numbers, or variables or tensors, which
// broadcast to the shape.
func (m *MRGStreams) Uniform(d weft.DType, lo, hi any, shape ...any) *Var {
	u := m.fractions(d, sixEach, nil, shape)
	if lo, hi, ok := numbers([2]any{lo, hi}); ok {
		if hi-lo != 1 {
			u = u.Mul(hi - lo)
		}
		if lo != 0 {
			u = u.Add(lo)
		}
		return u
	}
	low := variable(d, lo)
	return fits("mrg", shape, u.Mul(variable(d, hi).Sub(low)).Add(low))
}

// fits returns v. It refuses parameters that broadcast beyond the shape of a draw.
func fits(name string, sizes []any, v *Var) *Var {
	shape := knownSizes(name, sizes)
	if len(v.shape) != len(shape) {
		array.Failf(name, "", "the parameters do not broadcast to %s: they give %d dimensions", array.ShapeString(shape), len(v.shape))
	}
	for i, n := range v.shape {
		if n != Any && shape[i] != Any && n != shape[i] {
			array.Failf(name, "", "the parameters do not broadcast to %s: they give %s", array.ShapeString(shape), array.ShapeString(v.shape))
		}
	}
	return v
}

// variable is a parameter as a variable of type d.
func variable(d weft.DType, x any) *Var {
	switch x.(type) {
	case *Var, *weft.Tensor:
		return asVar("mrg", x).To(d)
	}
	return Const(weft.FullOf(d, numberOf(x)))
}

// fractions makes the numbers of a draw, greater than 0 and less than 1. With a count, an int64 variable,
// only that many elements are drawn, and the others are 0.
func (m *MRGStreams) fractions(d weft.DType, by spread, count *Var, shape []any) *Var {
	if m == nil {
		array.Failf("mrg", "", "the streams are nil (NewMRGStreams makes them)")
	}
	if d != weft.Float16 && d != weft.Float32 && d != weft.Float64 {
		array.Failf("mrg", "dtype", "%s: want float16, float32 or float64", d)
	}
	const name = "mrg uniform"
	o := sizing{operation: operation{name: name}}
	ls := o.lengths("shape", shape)
	n := maxStreams // where the size is not known
	if len(o.lens) == 0 {
		n = by.streams(array.CheckShape("mrg", known(ls), d))
	}
	states := make([]int64, 0, 6*n)
	m.mu.Lock()
	s := m.base
	m.base = s.after(&step134)
	m.mu.Unlock()
	for range n {
		states = append(states, s[:]...)
		s = s.after(&step72)
	}
	state := Shared("state of random numbers", weft.FromSlice(states, n, 6))
	x := o.arg(state)
	args := func(ts []*weft.Tensor) []*weft.Tensor { return []*weft.Tensor{x(ts)} }
	if count != nil {
		c := o.arg(count)
		args = func(ts []*weft.Tensor) []*weft.Tensor { return []*weft.Tensor{x(ts), c(ts)} }
	}
	draw := func(shape []int, ts []*weft.Tensor) []*weft.Tensor {
		if array.CheckShape("mrg", shape, d) >= math.MaxInt32 {
			array.Failf("mrg", "shape", "%s has more elements than there are numbers", array.ShapeString(shape))
		}
		return call(op.Host, mrgDraw{d, shape}, args(ts))
	}
	var r []*Var
	if len(o.lens) == 0 {
		r = o.operation.several(func(ts []*weft.Tensor) []*weft.Tensor { return draw(known(ls), ts) })
	} else {
		types := func(args []*Var) []ir.Type {
			return []ir.Type{{DType: d, Shape: known(ls)}, {DType: weft.Int64, Shape: args[0].shape}}
		}
		r = o.several(types, func(c *sized) []*weft.Tensor { return draw(c.ints(ls), c.args) })
	}
	state.SetDefaultUpdate(r[1])
	return r[0]
}

// Normal returns normal numbers by Box and Muller's transformation of pairs of uniform ones:
// first all cosines, then all sines. Mean and deviation are Go numbers, or variables or tensors, which
// broadcast to the shape. Gradients go through both.
func (m *MRGStreams) Normal(d weft.DType, mean, deviation any, shape ...any) *Var {
	p := m.pairs(d, shape)
	z := Cat([]*Var{p.r, p.r}, 0).Mul(p.turn)
	return p.moved(z, d, mean, deviation)
}

// TruncatedNormal returns normal numbers that are cut off at two standard deviations, scaled to a mean and a
// standard deviation of the results: they lie within 2.2737 of these. Parameters broadcast as in
// [MRGStreams.Normal]. A number beyond the bounds is drawn anew at the same angle, and stands behind the
// others of its half, as Theano's truncated_normal has it.
func (m *MRGStreams) TruncatedNormal(d weft.DType, mean, deviation any, shape ...any) *Var {
	p := m.pairs(d, shape)
	z := Cat([]*Var{p.r, p.r}, 0).Mul(p.turn)
	beyond := z.Abs().Gt(2)
	number := beyond.To(weft.Int64).CumSum(0) // 1 at the first that is drawn anew
	const lowest = 1 / (math.E * math.E)      // sqrt(-2*log(lowest)) is 2
	u := m.fractions(d, oneEach, beyond.To(weft.Int64).Sum(), []any{p.all}).Mul(1 - lowest).Add(lowest)
	again := u.Log().Mul(-2).Sqrt().Gather(0, number.Sub(1).Maximum(0))
	z = Where(beyond, again.Mul(p.turn), z)
	first, second := beyond.Slice(Range(0, p.half)), beyond.Slice(Range(p.half, p.all))
	order := Cat([]*Var{first.To(weft.Int64), second.To(weft.Int64).Add(2)}, 0).ArgSort(0)
	const spread = 0.87962566103423978 // the standard deviation of what is cut off at 2
	return p.moved(z.Gather(0, order).Div(spread), d, mean, deviation)
}

// polar are pairs of uniform numbers as radius and angle.
type polar struct {
	r, turn      *Var // of half the numbers the radius; of all the cosines, then the sines
	n, half, all any  // elements of the result, of r, of turn
	shape        []any
}

// pairs draws two uniform numbers for each two elements of a shape.
func (m *MRGStreams) pairs(d weft.DType, shape []any) polar {
	p := polar{n: elements("mrg", shape), shape: shape}
	switch n := p.n.(type) {
	case int:
		array.CheckShape("mrg", knownSizes("mrg", shape), d)
		p.half, p.all = (n+1)/2, (n+1)/2*2
	case *Var:
		h := n.Add(1).FloorDiv(2)
		p.half, p.all = h, h.Mul(2)
	}
	u := m.fractions(d, oneEach, nil, []any{p.all})
	angle := u.Slice(Range(p.half, p.all)).Mul(2 * math.Pi)
	p.r = u.Slice(Range(0, p.half)).Log().Mul(-2).Sqrt()
	p.turn = Cat([]*Var{angle.Cos(), angle.Sin()}, 0)
	return p
}

// moved is the result of standard numbers z.
func (p *polar) moved(z *Var, d weft.DType, mean, deviation any) *Var {
	z = z.Slice(Range(0, p.n)).Reshape(p.shape...)
	if mean, deviation, ok := numbers([2]any{mean, deviation}); ok {
		return z.Mul(deviation).Add(mean)
	}
	return fits("mrg", p.shape, z.Mul(variable(d, deviation)).Add(variable(d, mean)))
}

// Binomial returns 1 with probability p, else 0, in a float or integer type d. p is a Go number, or a
// variable or tensor, which broadcasts to the shape. Integer types compare uniform numbers of float64.
func (m *MRGStreams) Binomial(d weft.DType, p any, shape ...any) *Var {
	of := d
	if d.Integer() {
		of = weft.Float64
	}
	u := m.Uniform(of, 0, 1, shape...)
	if t, ok := p.(*weft.Tensor); ok {
		p = Const(t)
	}
	return fits("mrg", shape, u.Lt(p).To(d))
}

// Multinomial returns how often each of k outcomes comes in n draws, int64. p, of [rows k] floats, holds
// their probabilities, which add up to 1 in each row.
func (m *MRGStreams) Multinomial(n int, p *Var) *Var {
	p.notNil("multinomial")
	if n < 0 {
		array.Failf("multinomial", "n", "%d is negative", n)
	}
	if len(p.shape) != 2 || !p.dtype.Float() {
		array.Failf("multinomial", "p", "%v: want a matrix of floats", p)
	}
	u := m.fractions(p.dtype, oneEach, nil, []any{n, p.Len(0), 1})
	below := u.Lt(p.CumSum(-1)).To(weft.Int64).Sum(0) // by outcome or one before it
	none := ZerosOf(weft.Int64, p.Len(0), 1)
	return below.Sub(Cat([]*Var{none, below.Slice(weft.All, weft.Range(0, -1))}, 1))
}
