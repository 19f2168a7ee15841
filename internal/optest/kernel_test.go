package optest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"weft/internal/array"
	"weft/internal/cpu"
	"weft/internal/device"
	"weft/internal/ir"
	"weft/internal/jit"
	"weft/internal/loop"
	"weft/internal/op"
	"weft/internal/plan"
)

// portableModel is the model of the CPU.
var portableModel = cpu.New(jit.Portable).Model()

// within is the window on x that leaves margins, before and behind, on each axis.
func within(x *ir.Node, margins ...[2]int) *ir.Node {
	w := op.AllOf(x.Shape)
	for i, m := range margins {
		w.Start[i], w.Count[i] = m[0], w.Count[i]-m[0]-m[1]
	}
	return op.Apply(op.Slice, w, x)
}

// TestNearAcceptsRounding reads beside the elements of windows on arrays of every layout, that are
// inputs or computed, alone and fused with what comes before and behind, and compares with
// plain Go.
func TestNearAcceptsRounding(t *testing.T) {
	each(t, func(t *testing.T, dev device.Device, caps Caps) {
		s := newSuite(t, dev, caps)
		defer s.done()
		r := rand.New(rand.NewPCG(3, 3))
		for _, d := range []array.DType{array.Float32, array.Float64} {
			for _, shape := range [][]int{{40}, {300}, {9, 13}, {5, 70}, {3, 4, 21}, {3, 3, 3, 3}} {
				var places [][]int
				for range 5 {
					var p []int
					for range shape {
						p = append(p, r.IntN(3)-1)
					}
					places = append(places, p)
				}
				b := nearBody(d, places...)
				x := Random(r, d, shape, [2]float64{}, 0)
				margins := slices.Repeat([][2]int{{1, 1}}, len(shape))
				inner := make([]int, len(shape))
				for i, n := range shape {
					inner[i] = n - 2
				}
				// The reference: around the element of the window.
				strides := array.RowMajor(shape)
				at := make([]int, array.Size(inner))
				walk(inner, strides, func(i, off int) { at[i] = off })
				corner := 0
				for _, s := range strides {
					corner += s
				}
				mid := New(d, inner)
				for i, off := range at {
					mid.F[i] = x.F[corner+off]
				}
				want := b.plainly([]*Array{mid}, func(_, e int, index []int) cell {
					off := corner + at[e]
					for a, i := range index {
						off += i * strides[a]
					}
					return x.cellAt(off)
				})[0].Array
				g := ir.New()
				in := g.Input(0, d, shape)
				y := op.ApplyAll(op.Kernel, b, within(in, margins...))[0]
				// The same of an array that the plan computes, and results that fuse.
				twice := op.Apply(op.Add, nil, in, in)
				z := op.ApplyAll(op.Kernel, b, within(twice, margins...))[0]
				outs := []*ir.Node{y, z, op.Apply(op.Mul, nil, y, y),
					op.Apply(op.Sum, op.Reduction{Axes: []int{0}}, y), op.Apply(op.Max, op.Reduction{Axes: []int{-1}}, y), op.Apply(op.Max, op.Reduction{}, y)}
				for l := range numLayouts {
					got, err := s.outputs(dev, outs, []*Array{x}, func(int) Layout { return l })
					name := fmt.Sprintf("%s of %v, layout %d", b, shape, l)
					if err != nil {
						t.Fatalf("%s: %v", name, err)
					}
					if i := same(want, got[0]); i >= 0 {
						t.Errorf("%s: element %d is %s, want %s", name, i, got[0].at(i), want.at(i))
					}
					for i, f := range want.F {
						if got[1].F[i] != 2*f {
							t.Errorf("%s of what was computed: element %d is %v, want %v", name, i, got[1].F[i], 2*f)
							break
						}
						if got[2].F[i] != inLoop(d, f*f) {
							t.Errorf("%s: square %d is %v, want %v", name, i, got[2].F[i], f*f)
							break
						}
					}
					if m := slices.Max(want.F); got[5].F[0] != m {
						t.Errorf("%s: the greatest is %v, want %v", name, got[5].F[0], m)
					}
				}
			}
		}
	})
}

// TestKernelsFuse plans kernels with what is around them: how many steps there are, how
// many loops each has, and how many results are stored.
func TestKernelsFuse(t *testing.T) {
	f := array.Float32
	sq := []int{20, 30}
	for name, c := range map[string]struct {
		build func(x, y, n *ir.Node) []*ir.Node
		steps int
		loops int
		bufs  int // of the first
	}{
		"both results": {func(x, y, n *ir.Node) []*ir.Node {
			return op.ApplyAll(op.Kernel, polarBody(f), x, y)
		}, 1, 0, 4},
		"one is dead": {func(x, y, n *ir.Node) []*ir.Node {
			return op.ApplyAll(op.Kernel, polarBody(f), x, y)[:1]
		}, 1, 0, 3},
		"inside alone": {func(x, y, n *ir.Node) []*ir.Node {
			r := op.ApplyAll(op.Kernel, polarBody(f), op.Apply(op.Exp, nil, x), y)
			return []*ir.Node{op.Apply(op.Add, nil, r[0], r[1])}
		}, 1, 0, 3},
		"a loop": {func(x, y, n *ir.Node) []*ir.Node {
			r := op.ApplyAll(op.Kernel, powerBody(f, 0), x, n)
			return []*ir.Node{op.Apply(op.Add, nil, r[0], y), op.Apply(op.Mul, nil, r[0], y), r[1]}
		}, 1, 1, 6},
		"softmax": {func(x, y, n *ir.Node) []*ir.Node {
			r := op.ApplyAll(op.Kernel, polarBody(f), x, y)
			return []*ir.Node{op.Apply(op.Softmax, op.Reduction{Axes: []int{1}}, r[0])}
		}, 1, 0, 3},
		// A loop is run once: what comes of it is stored.
		"softmax of a loop": {func(x, y, n *ir.Node) []*ir.Node {
			r := op.ApplyAll(op.Kernel, powerBody(f, 0), x, n)
			return []*ir.Node{op.Apply(op.Softmax, op.Reduction{Axes: []int{1}}, r[0])}
		}, 2, 1, 4},
		"rows of a loop": {func(x, y, n *ir.Node) []*ir.Node {
			r := op.ApplyAll(op.Kernel, powerBody(f, 0), x, n)
			return []*ir.Node{op.Apply(op.Sum, op.Reduction{Axes: []int{1}}, r[0]), op.Apply(op.Max, op.Reduction{Axes: []int{1}}, r[1])}
		}, 1, 1, 4},
		"columns": {func(x, y, n *ir.Node) []*ir.Node {
			r := op.ApplyAll(op.Kernel, polarBody(f), x, y)
			return []*ir.Node{op.Apply(op.Sum, op.Reduction{Axes: []int{0}}, op.Apply(op.Mul, nil, r[0], r[1]))}
		}, 3, 0, 3}, // blocks, the last one, and what combines them
		// A table is there before it is read whole.
		"table": {func(x, y, n *ir.Node) []*ir.Node {
			t := op.Apply(op.Add, nil, x, y)
			r := op.ApplyAll(op.Kernel, lookBody(f), t, op.Convert(n, array.Int64))
			return []*ir.Node{op.Apply(op.Mul, nil, r[0], t)}
		}, 2, 0, 3},
	} {
		g := ir.New()
		x, y, n := g.Input(0, f, sq), g.Input(1, f, sq), g.Input(2, array.Int32, sq)
		var sigs []plan.Sig
		for _, d := range []array.DType{f, f, array.Int32} {
			sigs = append(sigs, plan.Sig{DType: d, Shape: sq, Strides: array.RowMajor(sq)})
		}
		p := plan.Build(c.build(x, y, n), sigs, nil, portableModel)
		loops := 0
		for _, s := range p.Steps {
			for _, r := range s.Kernel.Prog.Regions {
				if r.Params != nil && r.Axis < 0 && r.Head != nil {
					loops++
				}
			}
		}
		if len(p.Steps) != c.steps || loops != c.loops || len(p.Steps[0].Kernel.Binds) != c.bufs {
			t.Errorf("%s: %d steps with %d loops, %d operands of the first; want %d, %d, %d\n%s", name, len(p.Steps), loops, len(p.Steps[0].Kernel.Binds), c.steps, c.loops, c.bufs, p)
		}
	}
}

// TestKernelsInPlace writes over the memory of an argument only where that is read by
// element.
func TestKernelsInPlace(t *testing.T) {
	for _, c := range []struct {
		b    *body
		want bool
	}{{polarBody(array.Float64), true}, {escapeBody(array.Float64), true}, {lookBody(array.Int64), false}, {nearBody(array.Float64, []int{1}), false}} {
		g := ir.New()
		var args []*ir.Node
		var sigs []plan.Sig
		for i, p := range c.b.Params() {
			args = append(args, g.Input(i, p.DType, []int{50}))
			sigs = append(sigs, plan.Sig{DType: p.DType, Shape: []int{50}, Strides: []int{1}})
		}
		if p := plan.Build(op.ApplyAll(op.Kernel, c.b, args...), sigs, nil, portableModel); p.InPlace != c.want {
			t.Errorf("%s: in place %v", c.b, p.InPlace)
		}
	}
}

// TestKernelsOfManyResults stores more results of one kernel than a loop program has operands.
func TestKernelsOfManyResults(t *testing.T) {
	each(t, func(t *testing.T, dev device.Device, caps Caps) {
		s := newSuite(t, dev, caps)
		defer s.done()
		f := array.Float64
		b := &body{name: "many", d: f, params: []op.Param{param("x", op.ByElement, f), param("y", op.ByElement, f)}, cost: 40,
			results: slices.Repeat([]array.DType{f}, 40),
			emit: func(e *op.Emit) (out []loop.Value) {
				for i := range 40 {
					out = append(out, e.B.Add(e.B.Mul(e.X[0], e.B.Float(loop.F64, float64(i))), e.X[1]))
				}
				return out
			}}
		g := ir.New()
		outs := op.ApplyAll(op.Kernel, b, g.Input(0, f, []int{3, 50}), g.Input(1, f, []int{50}))
		x := []*Array{Random(rand.New(rand.NewPCG(1, 1)), f, []int{3, 50}, [2]float64{}, 0), Random(rand.New(rand.NewPCG(1, 2)), f, []int{50}, [2]float64{}, 0)}
		got, err := s.outputs(dev, outs, x, allContiguous)
		if err != nil {
			t.Fatal(err)
		}
		for i, y := range got {
			for e := range y.F {
				if want := x[0].F[e]*float64(i) + x[1].F[e%50]; math.Abs(y.F[e]-want) > 1e-12 {
					t.Fatalf("result %d at %d: %v, want %v", i, e, y.F[e], want)
				}
			}
		}
	})
}

// TestSharedBuffers sums windows of one array, as of a stencil: all in one kernel where
// that has room, with few buffers, and with the bits of plain Go for every layout.
func TestSharedBuffers(t *testing.T) {
	each(t, func(t *testing.T, dev device.Device, caps Caps) {
		s := newSuite(t, dev, caps)
		defer s.done()
		for _, c := range []struct {
			shape, window []int
			step          int
			steps, bufs   int // of the plan of a contiguous array: how many, and of the first
		}{
			{[]int{40, 100}, []int{3, 3}, 1, 1, 4}, // a buffer a row, and the result
			{[]int{400}, []int{31}, 1, 1, 2},
			{[]int{12, 30}, []int{5, 5}, 1, 1, 3}, // rows are as near as columns
			{[]int{30, 200}, []int{7, 7}, 1, 1, 8},
			{[]int{20, 90, 100}, []int{3, 3, 3}, 1, 1, 10},
			{[]int{12, 70, 80}, []int{4, 5, 2}, 1, 1, 2}, // more rows than buffers
			{[]int{9, 81, 70}, []int{7, 7, 7}, 1, 3, 2},  // more terms than a kernel has
			{[]int{50, 170}, []int{5, 3}, 2, 1, 6},
			{[]int{2, 3}, []int{1, 2}, 1, 1, 3},
			{[]int{3, 4}, []int{5, 5}, 1, 0, 0}, // nothing is left
		} {
			x := Random(rand.New(rand.NewPCG(4, 4)), array.Float32, c.shape, [2]float64{}, 0)
			g := ir.New()
			in := g.Input(0, array.Float32, c.shape)
			out := make([]int, len(c.shape))
			for i, n := range c.shape {
				out[i] = max(n-c.window[i]+1, 0) / c.step
			}
			var sum *ir.Node
			want := New(array.Float32, out)
			strides, every := array.RowMajor(c.shape), array.RowMajor(c.shape)
			for i := range every {
				every[i] *= c.step
			}
			at := make([]int, len(c.shape))
			for n := range array.Size(c.window) {
				for a, rest := len(at)-1, n; a >= 0; a-- {
					at[a], rest = rest%c.window[a], rest/c.window[a]
				}
				first := 0
				for a := range at {
					first += at[a] * strides[a]
				}
				walk(out, every, func(i, off int) { want.F[i] = float64(float32(want.F[i] + x.F[first+off])) })
				w := op.Window{Start: slices.Clone(at), Step: slices.Repeat([]int{c.step}, len(at)), Count: out}
				if array.Size(out) == 0 {
					clear(w.Start)
				}
				y := op.Apply(op.Slice, w, in)
				if sum == nil {
					sum = op.Apply(op.Add, nil, y, g.Number(0, array.Float32, false))
				} else {
					sum = op.Apply(op.Add, nil, sum, y)
				}
			}
			sig := []plan.Sig{{DType: array.Float32, Shape: c.shape, Strides: array.RowMajor(c.shape)}}
			p := plan.Build([]*ir.Node{sum}, sig, nil, dev.Model())
			if len(p.Steps) != c.steps || c.steps > 0 && len(p.Steps[0].Kernel.Binds) != c.bufs {
				bufs := []int{}
				for _, s := range p.Steps {
					bufs = append(bufs, len(s.Kernel.Binds))
				}
				t.Errorf("%v in %v: buffers by step %v, want %d steps and first %d buffers", c.window, c.shape, bufs, c.steps, c.bufs)
			}
			if p.InPlace && c.steps > 0 {
				t.Errorf("%v in %v: in place", c.window, c.shape)
			}
			// Reductions of it, along one axis and along all.
			outs := []*ir.Node{sum}
			if array.Size(out) > 0 {
				outs = append(outs, op.Apply(op.Max, op.Reduction{Axes: []int{-1}}, sum), op.Apply(op.Max, op.Reduction{}, sum))
			}
			for l := range numLayouts {
				got, err := s.outputs(dev, outs, []*Array{x}, func(int) Layout { return l })
				if err != nil {
					t.Fatalf("%v in %v, layout %d: %v", c.window, c.shape, l, err)
				}
				if i := same(want, got[0]); i >= 0 {
					t.Errorf("%v in %v, layout %d: element %d is %s, want %s", c.window, c.shape, l, i, got[0].at(i), want.at(i))
				}
				if len(outs) > 1 && got[2].F[0] != slices.Max(want.F) {
					t.Errorf("%v in %v, layout %d: the greatest is %v, want %v", c.window, c.shape, l, got[2].F[0], slices.Max(want.F))
				}
			}
		}
	})
}
