package hostile

import (
	"iter"
	"math"
	"os"
	"slices"
	"strconv"

	"weft"
	"weft/internal/array"
	"weft/nn"
)

// leavesByName is a sequence of good parameters with gradients.
func (g *gen) leavesByName() iter.Seq2[string, *weft.Tensor] {
	ts := []*weft.Tensor{g.leaf(), g.leaf()}
	for _, t := range ts {
		if !g.chance(5) {
			t.SetGrad(fromView(g.view(t.DType(), t.Shape())))
		}
	}
	return func(yield func(string, *weft.Tensor) bool) {
		for i, t := range ts {
			if !yield(strconv.Itoa(i), t) {
				return
			}
		}
	}
}

// bigShape is a shape that is of few elements or far too many.
func (g *gen) bigShape() []int {
	s := g.shape()
	if g.chance(3) {
		s = append(s, pick(g, 0, 1<<31, 1<<32, 1<<40, 1<<60, math.MaxInt, math.MaxInt/4, -1))
	}
	return s
}

func poolArgs(g *gen) []any {
	s := append(g.shapeOf(g.r.IntN(3)), 1+g.r.IntN(12), 1+g.r.IntN(12))
	for array.Size(s) > 4*maxElements {
		s = s[1:]
	}
	return []any{g.plain(s), weft.PoolOpts{Window: g.pair(1, 2, 2, 3), Stride: new(g.pair(0, 1, 2, 3)), Padding: g.pair(0, 0, 0, 1)}}
}

func joinArgs(g *gen) []any {
	s, d := g.ranked(), g.dtype()
	n := 1 + g.r.IntN(4)
	if g.chance(15) {
		n = 65 + g.r.IntN(10)
		s = []int{2}
	}
	ts := make([]*weft.Tensor, n)
	for i := range ts {
		ts[i] = g.tensorOf(d, s)
	}
	return []any{ts, g.r.IntN(len(s))}
}

func putArgs(g *gen) []any {
	t := g.plain(g.shape())
	i := g.brackets(t)
	var x any = g.operand(nil)
	if y, err := try(func() *weft.Tensor { return t.Index(i...) }); err == nil {
		g.took(y)
		x = pick[any](g, x, g.operand(y.Shape()), g.tensorOf(t.DType(), y.Shape()))
	}
	return []any{t, x, i}
}

// brackets are arguments of Index that mostly fit.
func (g *gen) brackets(t *weft.Tensor) []any {
	var out []any
	defer func() { g.places = 0 }()
	together := g.r.IntN(4)
	for a := 0; a < t.Rank(); a++ {
		n := t.Shape()[a]
		g.places = max(n, 1)
		switch g.r.IntN(12) {
		case 0:
			out = append(out, g.r.IntN(n+1))
		case 1:
			out = append(out, weft.Range(g.integer(), g.integer(), g.integer()))
		case 2:
			out = append(out, weft.NewAxis, weft.All)
		case 3:
			return append(out, weft.Ellipsis)
		case 4, 5:
			out = append(out, g.tensorOf(pick(g, weft.Int64, weft.Int32, weft.Uint8), []int{1 + g.r.IntN(2), together}))
		case 6, 7:
			s := make([]int, together)
			for i := range s {
				s[i] = g.r.IntN(n+1) - g.r.IntN(n+1)
			}
			out = append(out, s)
		case 8:
			out = append(out, g.tensorOf(weft.Bool, []int{n}))
		case 9:
			if a+1 < t.Rank() {
				out = append(out, g.tensorOf(weft.Bool, t.Shape()[a:a+2]))
				a++
				continue
			}
			out = append(out, make([]bool, n))
		case 10:
			if g.chance(3) {
				out = append(out, g.anything())
				continue
			}
			out = append(out, weft.All)
		case 11:
			out = append(out, g.tensorOf(weft.Int64, nil))
		}
	}
	return out
}

func (g *gen) pair(from ...int) [2]int {
	if g.chance(10) {
		return [2]int{g.integer(), g.integer()}
	}
	return [2]int{pick(g, from...), pick(g, from...)}
}

// reps returns n small numbers, few of them bad.
func (g *gen) reps(n int) []int {
	out := make([]int, n)
	for i := range out {
		if out[i] = g.r.IntN(3); g.chance(25) {
			out[i] = g.integer()
		}
	}
	return out
}

// side is a size of a matrix.
func (g *gen) side() int { return pick(g, 0, 1, 2, 3, 5, 8, 13, 16, 17, 31, 33) }

// plain is a tensor that is not nil.
func (g *gen) plain(shape []int) *weft.Tensor { return g.tensorOf(g.dtype(), shape) }

// ranked is a shape of at least one axis.
func (g *gen) ranked() []int {
	if s := g.shape(); len(s) > 0 {
		return s
	}
	return []int{3}
}

// about is a shape, or one that differs a little.
func (g *gen) about(s []int) []int {
	s = slices.Clone(s)
	for i := range s {
		if g.chance(4) {
			s[i] = max(s[i]+g.r.IntN(4)-2, 0)
		}
	}
	if g.chance(20) {
		s = append(s, 2)
	}
	return s
}

func (g *gen) axis(t *weft.Tensor) int {
	n := max(t.Rank(), 1)
	return g.r.IntN(2*n) - n
}

// index returns a tensor of indices of an axis of t, few of them out of range.
func (g *gen) index(t *weft.Tensor, axis int, shape []int) *weft.Tensor {
	n := t.Rank()
	g.places = max(t.Shape()[(axis+n)%n], 1)
	defer func() { g.places = 0 }()
	return g.tensorOf(pick(g, weft.Int64, weft.Int64, weft.Int32, weft.Uint8), shape)
}

// operand is a number or a tensor that broadcasts to a shape.
func (g *gen) operand(shape []int) any {
	if g.chance(4) {
		return pick[any](g, g.float(), g.integer(), true, float32(2), uint8(3), int32(-1))
	}
	s := slices.Clone(shape)
	for i := range s {
		if g.chance(4) {
			s[i] = 1
		}
	}
	for len(s) > 0 && g.chance(4) {
		s = s[1:]
	}
	return g.tensorOf(g.dtype(), s)
}

// leaf is a tensor that needs a gradient.
func (g *gen) leaf() *weft.Tensor {
	t := fromView(g.view(pick(g, weft.Float32, weft.Float64), g.shape())).RequireGrad()
	g.leaves = append(g.leaves, t)
	return g.took(t)
}

// output is something computed from leaves, of one element mostly.
func (g *gen) output() *weft.Tensor {
	t, err := try(func() *weft.Tensor {
		x := g.leaf()
		switch g.r.IntN(8) {
		case 0:
			x = x.Mul(g.tensorOf(x.DType(), x.Shape()))
		case 1:
			x = x.Slice(weft.Range(0, weft.End, 2)).Exp()
		case 2:
			y := x.Mul(2)
			g.leaves = append(g.leaves, y.T())
			x = y.T().Add(y.T().Slice(weft.Range(0, 1)))
		case 3:
			x = x.Softmax(-1)
		case 4:
			x = x.Mul(3)
			x.AddAssign(x)
		case 5:
			x = g.function().Apply(x)
		}
		if g.chance(10) {
			return g.took(x)
		}
		return g.took(x.Sum())
	})
	if err != nil {
		return g.leaf()
	}
	return t
}

func (g *gen) gradOpts() weft.GradOpts {
	o := weft.GradOpts{Retain: g.chance(2), Create: g.chance(3), AllowUnused: g.chance(2)}
	if g.chance(4) {
		o.Seeds = []*weft.Tensor{g.plain([]int{}), g.tensor()}[:1+g.r.IntN(2)]
	}
	return o
}

// compiled returns a compiled function, which may refuse its argument.
func compiled(g *gen) *weft.Compiled[func(*weft.Tensor) *weft.Tensor] {
	other := g.tensor()
	return weft.Compile(pick(g, (*weft.Tensor).Neg, (*weft.Tensor).T,
		func(t *weft.Tensor) *weft.Tensor { return other.Add(t) },
		func(t *weft.Tensor) *weft.Tensor { return other.AddAssign(t) },
		func(t *weft.Tensor) *weft.Tensor { t.Diagonal(0).Assign(1); return t.Sum() },
		func(t *weft.Tensor) *weft.Tensor { return t.Mul(t.Sum().Item()) },
		func(t *weft.Tensor) *weft.Tensor { t.Release(); return t },
		func(*weft.Tensor) *weft.Tensor { panic(errThrown) }))
}

// savedProgram returns a function that was saved and loaded, nil if it could not be saved.
func savedProgram(g *gen) *weft.Program {
	f, err := os.CreateTemp("", "hostile*.weft")
	if err != nil {
		return nil
	}
	f.Close()
	defer os.Remove(f.Name())
	if compiled(g).Save(f.Name(), []any{g.tensor()}) != nil {
		return nil
	}
	p, _ := weft.LoadProgram(f.Name())
	return p
}

func (g *gen) formula() *weft.Formula {
	for {
		if f, err := weft.ParseExpr(pick(g, formulas...)); err == nil {
			return f
		}
	}
}

func (g *gen) formulaArgs() []any {
	s := g.shape()
	if g.chance(2) {
		return []any{g.operand(s), g.operand(s)}[:1+g.r.IntN(2)]
	}
	return []any{weft.Vars{"a": g.operand(s), "b": g.operand(s)}}
}

// placesBelow returns n indices of a table of five rows.
func placesBelow(g *gen, n int) []int64 {
	ids := make([]int64, n)
	for i := range ids {
		ids[i] = int64(g.r.IntN(5))
	}
	return ids
}

// bagOf returns a layer over a table of five rows.
func bagOf(g *gen) *nn.EmbeddingBag {
	l := nn.NewEmbeddingBag(5, 16, nn.EmbeddingBagOpts{Mode: nn.BagMode(g.r.IntN(3)), PaddingIdx: pick(g, nil, new(1)), IncludeLastOffset: g.chance(2)})
	g.leaves = append(g.leaves, l.Weight)
	return l
}
