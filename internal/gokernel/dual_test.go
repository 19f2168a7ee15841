package gokernel_test

import (
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"weft/internal/array"
	. "weft/internal/gokernel"
	"weft/internal/loop"
	"weft/internal/op"
)

// emitter gives an instance scalars as inputs.
func emitter(b *loop.Builder, inst *Instance) *op.Emit {
	e := &op.Emit{B: b}
	for _, in := range inst.Inputs() {
		e.X = append(e.X, b.Scalar(b.ScalarArg(loop.TypeOf(in.DType))))
	}
	return e
}

// smooth are functions of two float64 that have derivatives where they are tried.
var smooth = map[string]func(x, y float64) float64{
	"smooth1": smooth1, "smooth2": smooth2, "smooth3": smooth3, "smooth4": smooth4, "smooth5": smooth5, "smooth6": smooth6, "smooth7": smooth7, "decay": decay,
}

// derive runs partial derivatives, by the inputs that each derivation names.
func derive(t *testing.T, name string, x, y []float64, by ...int) []float64 {
	t.Helper()
	inst := instance(t, name, array.Float64, array.Float64)
	for _, k := range by {
		if inst = inst.Derive([]int{0}, []int{k}); inst == nil {
			t.Fatal("no derivative")
		}
	}
	var got []float64
	n := len(x)
	b := loop.NewBuilder(name, []loop.Axis{{}}, 0)
	bx, by_ := b.Buf(array.Float64, false, loop.Unit), b.Buf(array.Float64, false, loop.Unit)
	out := b.Buf(array.Float64, true, loop.Unit)
	b.Pass(func() {
		e := &op.Emit{B: b, X: []loop.Value{b.Load(bx), b.Load(by_)}}
		b.Store(out, inst.EmitKernel(e)[0])
	})
	p, err := b.Done()
	if err != nil {
		t.Fatalf("%v\n%s", err, b.Program())
	}
	for backend, run := range backends(t, p) {
		z := make([]float64, n)
		f := new(loop.Frame)
		f.Word[p.ExtentWord(0)] = uint64(n)
		for i, s := range [][]float64{x, y, z} {
			f.Ptr[i] = reflect.ValueOf(s).UnsafePointer()
			f.Word[p.StrideWord(i, 0)] = 8
		}
		run(f)
		for i := range z {
			if got != nil && !sameFloat(got[i], z[i]) {
				t.Fatalf("%s on %s: %v and %v", name, backend, z[i], got[i])
			}
		}
		got = z
	}
	return got
}

// TestDerivatives compares first and second derivatives with differences of the plain
// function, by Richardson's extrapolation.
func TestDerivatives(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	n := 40
	x, y := make([]float64, n), make([]float64, n)
	for i := range x {
		x[i], y[i] = 0.3+r.Float64(), 0.2+1.5*r.Float64()
	}
	diff := func(f func(h float64) float64) float64 {
		d := func(h float64) float64 { return (f(h) - f(-h)) / (2 * h) }
		const h = 1e-3
		return (d(2*h) - 20*d(h) + 64*d(h/2)) / 45
	}
	for name, f := range smooth {
		first := func(k int, x, y float64) float64 {
			return diff(func(h float64) float64 {
				if k == 0 {
					return f(x+h, y)
				}
				return f(x, y+h)
			})
		}
		for k := range 2 {
			for i, g := range derive(t, name, x, y, k) {
				want := first(k, x[i], y[i])
				if !(math.Abs(g-want) <= 1e-7*(1+math.Abs(want))) {
					t.Fatalf("%s by %d at %v, %v: %v, difference %v", name, k, x[i], y[i], g, want)
				}
			}
			for k2 := range 2 {
				for i, g := range derive(t, name, x, y, k, k2) {
					want := diff(func(h float64) float64 {
						if k2 == 0 {
							return first(k, x[i]+h, y[i])
						}
						return first(k, x[i], y[i]+h)
					})
					if !(math.Abs(g-want) <= 1e-4*(1+math.Abs(want))) {
						t.Fatalf("%s by %d and %d at %v, %v: %v, difference %v", name, k, k2, x[i], y[i], g, want)
					}
				}
			}
		}
	}
}

// TestPartials: several inputs and results at once, and partials of a stencil by its offsets.
func TestPartials(t *testing.T) {
	inst := instance(t, "jacobi", array.Float64).Split()
	if d := inst.Partials([]bool{true}, []bool{true, false, true, true}); d == nil || len(d.Results()) != 3 || len(d.Params()) != 4 {
		t.Fatalf("%v", d)
	}
	mixed := instance(t, "mixed", array.Float32, array.Float64, array.Int32)
	d := mixed.Derive([]int{0, 1}, []int{0, 1})
	if got := d.Results(); len(got) != 4 || got[0] != array.Float32 || got[1] != array.Float64 {
		t.Fatal(got)
	}
	if mixed.Derive([]int{0}, []int{2}) != nil {
		t.Error("a derivative by an integer")
	}
	if string(d.AppendKey(nil)) == string(mixed.AppendKey(nil)) {
		t.Error("a derivative has the key of the function")
	}
}

// TestTangentsCarriedByLoops: a loop carries the tangents that there are: the counter, a, s and the
// derivative of s here, not that of a.
func TestTangentsCarriedByLoops(t *testing.T) {
	d := instance(t, "decay", array.Float64, array.Float64).Derive([]int{0}, []int{0})
	b := loop.NewBuilder("decay", []loop.Axis{{}}, 0)
	b.Pass(func() { d.EmitKernel(emitter(b, d)) })
	for _, r := range b.Program().Regions {
		if n := len(r.Params); n > 0 && n != 4 {
			t.Errorf("the loop carries %d values, want 4", n)
		}
	}
}
