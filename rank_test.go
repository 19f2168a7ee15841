package weft

import (
	"errors"
	"math/rand/v2"
	"testing"
)

// A layout is an array in plain Go, the oracle of arrays of many dimensions: where the
// elements of a tensor's base lie, without any of its code.
type layout struct {
	shape, strides []int
	at             int
}

// each calls f with the index and the place of each element in row-major order.
func (g layout) each(f func(index []int, place int)) {
	index := make([]int, len(g.shape))
	for {
		place := g.at
		for a, i := range index {
			place += i * g.strides[a]
		}
		f(index, place)
		a := len(index) - 1
		for ; a >= 0; a-- {
			if index[a]++; index[a] < g.shape[a] {
				break
			}
			index[a] = 0
		}
		if a < 0 {
			return
		}
	}
}

// many is a tensor of whole numbers of so many dimensions, all of two elements, some
// of its axes reversed, some expanded, in an order of its own, so that no two of them
// are walked as one.
func many(r *rand.Rand, rank int) (*Tensor, layout, []float32) {
	g := layout{shape: make([]int, rank), strides: make([]int, rank)}
	base := make([]int, rank)
	size := 1
	for a := rank - 1; a >= 0; a-- {
		g.shape[a], base[a] = 2, 2
		if r.IntN(4) == 0 {
			base[a] = 1 // expanded
			continue
		}
		g.strides[a] = size
		size *= 2
	}
	data := make([]float32, size)
	for i := range data {
		data[i] = float32(r.IntN(7) - 3)
	}
	x := FromSlice(append([]float32{}, data...), base...).Expand(g.shape...)
	spans := make([]Span, rank)
	for a := range spans {
		spans[a] = All
		if r.IntN(2) == 0 {
			spans[a] = Range(End, Begin, -1)
			g.at += g.strides[a]
			g.strides[a] = -g.strides[a]
		}
	}
	x = x.Slice(spans...)
	order := r.Perm(rank)
	h := layout{make([]int, rank), make([]int, rank), g.at}
	for i, a := range order {
		h.shape[i], h.strides[i] = g.shape[a], g.strides[a]
	}
	return x.Permute(order...), h, data
}

// All ranks up to 16 work in every operation, whatever the strides: more ways to walk
// than a kernel has axes.
func TestManyDimensions(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, rank := range []int{7, 8, 9, 10, 11, 12, 13, 16} {
		rounds := 6
		if rank > 12 {
			rounds = 1
		}
		for range rounds {
			x, gx, dx := many(r, rank)
			y, gy, dy := many(r, rank)
			var xs, ys []float32
			gx.each(func(_ []int, p int) { xs = append(xs, dx[p]) })
			gy.each(func(_ []int, p int) { ys = append(ys, dy[p]) })
			pairs := func(f func(a, b float32) float32) []float32 {
				out := make([]float32, len(xs))
				for i := range out {
					out[i] = f(xs[i], ys[i])
				}
				return out
			}
			same(t, "data", Data[float32](x), xs...)
			same(t, "contiguous", Data[float32](x.Contiguous().Flatten(0)), xs...)
			same(t, "add", Data[float32](x.Add(y)), pairs(func(a, b float32) float32 { return a + b })...)
			same(t, "where", Data[float32](Where(x.Lt(y), y.Mul(2), x)), pairs(func(a, b float32) float32 {
				if a < b {
					return 2 * b
				}
				return a
			})...)
			same(t, "formula", Data[float32](Expr("a*b - 2*a", x, y)), pairs(func(a, b float32) float32 { return a*b - 2*a })...)
			z := x.Clone().Permute(r.Perm(rank)...).Slice(Range(End, Begin, -1))
			zs := Data[float32](z)
			for i := range zs {
				zs[i] += ys[i]
			}
			same(t, "addassign", Data[float32](z.AddAssign(y)), zs...)
			same(t, "assign", Data[float32](z.Assign(y)), ys...)

			// Reductions: every kind of group, with others between.
			var axes []int
			in := make([]bool, rank)
			for a := range rank {
				if r.IntN(2) == 0 {
					axes, in[a] = append(axes, a), true
				}
			}
			if len(axes) == 0 {
				axes, in[0] = []int{0}, true
			}
			var order []int // of results
			sums, most := map[int]float32{}, map[int]float32{}
			i := 0
			gx.each(func(index []int, _ int) {
				at := 0
				for a, k := range index {
					if !in[a] {
						at = 2*at + k
					}
				}
				if _, known := sums[at]; !known {
					order = append(order, at)
					most[at] = -9
				}
				sums[at] += xs[i] * ys[i]
				most[at] = max(most[at], xs[i])
				i++
			})
			want, top := make([]float32, len(order)), make([]float32, len(order))
			for at := range want {
				want[at], top[at] = sums[at], most[at]
			}
			same(t, "sum", Data[float32](x.Mul(y).Sum(axes...)), want...)
			same(t, "fused sum", Data[float32](Expr("a*b", x, y).Sum(axes...)), want...)
			same(t, "max", Data[float32](x.Max(axes...)), top...)

			// Along an axis.
			axis := r.IntN(rank)
			inner := 1 << (rank - 1 - axis)
			var arg []int64
			var soft []float32
			for i := range xs {
				j := i ^ inner // the other of the pair
				if i&inner == 0 {
					k := int64(0)
					if xs[j] > xs[i] {
						k = 1
					}
					arg = append(arg, k)
				}
				soft = append(soft, xs[i]-xs[j])
			}
			same(t, "argmax", Data[int64](x.ArgMax(axis)), arg...)
			same(t, "difference along an axis", Data[float32](x.Mul(2).Sub(x.SumKeep(axis))), soft...)
			same(t, "softmax sums to one", Data[float32](x.Softmax(axis).Sum(axis).Round()), Data[float32](OnesLike(x).Max(axis))...)
			one := make([]float32, 0, len(xs)/2)
			for i := range xs {
				if i&inner != 0 {
					one = append(one, xs[i])
				}
			}
			same(t, "index select", Data[float32](x.IndexSelect(axis, FromSlice([]int64{1}))), one...)
			same(t, "cat", Data[float32](Cat([]*Tensor{x, y}, 0)), append(append([]float32{}, xs...), ys...)...)

			leaf := x.Clone().RequireGrad()
			w := leaf.Permute(r.Perm(rank)...).Slice(Range(End, Begin, -1)).Mul(y).Sum(axes...)
			w.Mul(w.Detach()).Sum().Backward()
			if got, want := leaf.Grad().Mul(leaf.Detach()).Sum().Item(), w.Mul(w).Sum().Item(); got != want {
				t.Errorf("rank %d: gradient times x is %v, want %v", rank, got, want)
			}
			if t.Failed() {
				t.Fatalf("rank %d, shape %v, strides %v and %v", rank, x.Shape(), x.Strides(), y.Strides())
			}
		}
	}
	spans := make([]Span, 20)
	for i := range spans {
		spans[i] = NewAxis
	}
	var e *Error
	if err := Try(func() { Ones(2).Slice(spans...) }); !errors.As(err, &e) || e.Kind != Misuse {
		t.Errorf("twenty new axes: %v", err)
	}
	if x := Ones(2).Slice(spans[:15]...); x.Rank() != 16 {
		t.Errorf("fifteen new axes: %v", x.Shape())
	}
}
