package optest

import (
	"math"
	"strconv"
	"sync"

	"weft/internal/array"
	"weft/internal/ir"
	"weft/internal/op"
)

// A controlCase is a loop or a branch with its arguments, and the same in plain Go.
type controlCase struct {
	def    *op.Def
	attrs  ir.Attrs
	shapes [][]int
	types  []array.DType
	plain  func(x []*Array) []Result
}

// functionOf makes a function of what f does with arguments of these types.
func functionOf(types []ir.Type, f func(x []*ir.Node) []*ir.Node) *op.Function {
	g := ir.New()
	in := make([]*ir.Node, len(types))
	for i, t := range types {
		in[i] = g.Input(i, t.DType, t.Shape)
	}
	return op.NewFunction(types, f(in))
}

// controlCases are loops forwards and backwards, of a known and of a found number of steps,
// with products in them, and branches either way.
var controlCases = sync.OnceValue(func() (out []controlCase) {
	f64, f32 := array.Float64, array.Float32
	apply := func(d *op.Def, x ...*ir.Node) *ir.Node { return op.Apply(d, nil, x...) }
	for _, d := range []array.DType{f64, f32, array.Int64} {
		for _, steps := range []int{0, 1, 5} {
			for _, reverse := range []bool{false, true} {
				vec := ir.Type{DType: d, Shape: []int{3}}
				body := functionOf([]ir.Type{vec, vec, vec}, func(x []*ir.Node) []*ir.Node {
					h := apply(op.Add, apply(op.Mul, x[1], x[2]), x[0])
					return []*ir.Node{h, apply(op.Mul, h, x[0])}
				})
				out = append(out, controlCase{op.Loop, op.Looping{Body: body, Steps: steps, Seqs: 1, Carries: 1, Reverse: reverse},
					[][]int{{steps, 3}, {3}, {3}}, []array.DType{d, d, d}, recurrence(steps, reverse)})
			}
		}
	}
	for _, d := range []array.DType{f64, f32} {
		for _, least := range []float64{-1, 3, 1e9} {
			one := ir.Type{DType: d, Shape: []int{}}
			body := functionOf([]ir.Type{one, one}, func(x []*ir.Node) []*ir.Node {
				s := apply(op.Add, x[1], apply(op.Mul, x[0], x[0]))
				return []*ir.Node{s, apply(op.Mul, s, x[0]), apply(op.Gt, s, s.Graph.Number(least, d, false))}
			})
			out = append(out, controlCase{op.Loop, op.Looping{Body: body, Steps: 6, Seqs: 1, Carries: 1, Until: true}, [][]int{{6}, {}}, []array.DType{d, d}, until(least)})
		}
	}
	mat := ir.Type{DType: f64, Shape: []int{2, 3}}
	product := functionOf([]ir.Type{mat, mat, {DType: f64, Shape: []int{3, 3}}, {DType: f64, Shape: []int{3}}}, func(x []*ir.Node) []*ir.Node {
		return []*ir.Node{apply(op.Add, apply(op.Mul, apply(op.MatMul, x[1], x[2]), x[3]), x[0])}
	})
	out = append(out, controlCase{op.Loop, op.Looping{Body: product, Steps: 4, Seqs: 1, Carries: 1}, [][]int{{4, 2, 3}, {2, 3}, {3, 3}, {3}}, []array.DType{f64, f64, f64, f64}, products})
	for _, d := range []array.DType{f64, f32} {
		vec := ir.Type{DType: d, Shape: []int{4}}
		a := op.Branches{
			Then: functionOf([]ir.Type{vec, vec}, func(x []*ir.Node) []*ir.Node { return []*ir.Node{apply(op.Mul, x[0], x[1]), x[1]} }),
			Else: functionOf([]ir.Type{vec, vec}, func(x []*ir.Node) []*ir.Node { return []*ir.Node{apply(op.Add, x[0], x[1]), x[0]} }),
		}
		for range 3 { // the condition is drawn
			out = append(out, controlCase{op.Branch, a, [][]int{{}, {4}, {4}}, []array.DType{array.Bool, d, d}, branch})
		}
	}
	return out
})

// kept is a result in which element i of step t is at.
func kept(like *Array, shape []int) *Array { return New(like.DType, shape) }

func recurrence(steps int, reverse bool) func(x []*Array) []Result {
	return func(x []*Array) []Result {
		last, by, ys := kept(x[1], []int{3}), kept(x[1], []int{steps + 1, 3}), kept(x[0], []int{steps, 3})
		for k := range 3 {
			h := x[1].cellAt(k)
			at := 0
			if reverse {
				at = steps
			}
			by.setCell(at*3+k, h)
			for t := range steps {
				i, next := t, t+1
				if reverse {
					i, next = steps-1-t, steps-1-t
				}
				e, c := x[0].cellAt(i*3+k), x[2].cellAt(k)
				if d := x[0].DType; d.Float() {
					h.f = inLoop(d, inLoop(d, h.f*c.f)+e.f)
					ys.F[i*3+k] = inLoop(d, h.f*e.f)
				} else {
					h.i = h.i*c.i + e.i
					ys.I[i*3+k] = h.i * e.i
				}
				by.setCell(next*3+k, h)
			}
			last.setCell(k, h)
		}
		return exactly(last, by, ys)
	}
}

func (a *Array) setCell(i int, c cell) {
	if a.DType.Float() {
		a.F[i] = c.f
	} else {
		a.I[i] = c.i
	}
}

func until(least float64) func(x []*Array) []Result {
	return func(x []*Array) []Result {
		d := x[0].DType
		last, by, ys, count := kept(x[1], nil), kept(x[1], []int{7}), kept(x[0], []int{6}), New(array.Int64, nil)
		s := x[1].F[0]
		by.F[0] = s
		for t, e := range x[0].F {
			s = inLoop(d, s+inLoop(d, e*e))
			by.F[t+1], ys.F[t] = s, inLoop(d, s*e)
			count.I[0]++
			if s > inLoop(d, least) {
				break
			}
		}
		last.F[0] = s
		return exactly(last, by, ys, count)
	}
}

func products(x []*Array) []Result {
	h := x[1].F
	last, by := kept(x[1], []int{2, 3}), kept(x[1], []int{5, 2, 3})
	copy(by.F, h)
	for t := range 4 {
		next := make([]float64, 6)
		for i := range 2 {
			for j := range 3 {
				sum := 0.0
				for k := range 3 {
					sum = math.FMA(h[i*3+k], x[2].F[k*3+j], sum)
				}
				next[i*3+j] = float64(sum*x[3].F[j]) + x[0].F[t*6+i*3+j]
			}
		}
		h = next
		copy(by.F[(t+1)*6:], h)
	}
	copy(last.F, h)
	return exactly(last, by)
}

func branch(x []*Array) []Result {
	d := x[1].DType
	first, second := New(d, []int{4}), x[2]
	for i, a := range x[1].F {
		if b := x[2].F[i]; x[0].I[0] != 0 {
			first.F[i] = inLoop(d, a*b)
		} else {
			first.F[i] = inLoop(d, a+b)
		}
	}
	if x[0].I[0] == 0 {
		second = x[1]
	}
	return exactly(first, second)
}

func exactly(arrays ...*Array) (out []Result) {
	for _, a := range arrays {
		out = append(out, Result{Array: a, Exact: true})
	}
	return out
}

func init() {
	control := func(x []*Array, a ir.Attrs) []Result {
		key := string(a.AppendKey(nil))
		for _, c := range controlCases() {
			if string(c.attrs.AppendKey(nil)) != key {
				continue
			}
			for i, s := range c.shapes {
				if len(x) != len(c.shapes) || x[i].DType != c.types[i] || !array.Equal(x[i].Shape, s) {
					panic(refusal{})
				}
			}
			return c.plain(x)
		}
		panic("optest: a loop without a reference: " + strconv.Quote(key))
	}
	several["loop"], several["branch"] = control, control
}
