package kernel_test

import (
	_ "embed"
	"fmt"
	"math"
	"strings"
	"testing"

	"weft"
	"weft/kernel"
)

//go:embed kernels_test.go
var source string

var kernels = kernel.MustParse(source)

func TestMapMandelbrot(t *testing.T) {
	x, y := weft.Linspace(-2, 1, 300).Reshape(1, 300), weft.Linspace(-1, 1, 200).Reshape(200, 1)
	n := kernels.Func("Escape").Map(x, y)
	xs, ys, ns := weft.Data[float32](x), weft.Data[float32](y), weft.Data[int32](n)
	for i, yi := range ys {
		for j, xj := range xs {
			if got, want := ns[i*300+j], Escape(xj, yi); got != want {
				t.Fatalf("%d %d: %d, want %d", i, j, got, want)
			}
		}
	}
}

// Any number of results, each of its own type; division by zero gives 0.
func TestMapSeveralResults(t *testing.T) {
	a, b := weft.FromSlice([]int32{7, -7, math.MinInt32, 5, 6}, 5), weft.FromSlice([]int32{2, 2, -1, 0, 3}, 5)
	got := kernels.Func("DivMod").MapAll(a, b)
	if s, want := fmt.Sprint(weft.Data[int32](got[0]), weft.Data[float64](got[1]), weft.Data[bool](got[2])),
		"[3 -3 -2147483648 0 2] [1 -1 0 0 0] [false false true false true]"; s != want {
		t.Errorf("%s, want %s", s, want)
	}
	if err := weft.Try(func() { kernels.Func("DivMod").Map(a, b) }); err == nil {
		t.Error("Map of three results")
	}
}

// Type parameters take what the arguments are; Go numbers give way to tensors.
func TestMapTypes(t *testing.T) {
	f := kernels.Func("Hypot3")
	for _, c := range []struct {
		x, y, z any
		want    weft.DType
	}{
		{weft.Ones(2), 1.0, 2, weft.Float32}, {1.0, weft.OnesOf(weft.Float64, 1), weft.Ones(3), weft.Float64}, {1.0, 2.0, 3.0, weft.Float64}, {float32(1), float32(2), 3, weft.Float32},
	} {
		if got := f.Map(c.x, c.y, c.z); got.DType() != c.want {
			t.Errorf("%T %T %T: %s, want %s", c.x, c.y, c.z, got.DType(), c.want)
		}
	}
	if err := weft.Try(func() { kernels.Func("Escape").Map(weft.OnesOf(weft.Float64, 1), 1) }); err == nil || !strings.Contains(err.Error(), "cr") {
		t.Errorf("a tensor of another type: %v", err)
	}
}

func TestMapStridesAndOut(t *testing.T) {
	x := weft.Rand(40, 30)
	out := weft.Zeros(30, 20)
	kernels.Func("Hypot3").Map(x.T().Slice(weft.All, weft.Range(0, 40, 2)), x.Flip(0).Slice(weft.Range(0, 40, 2)).T(), 0.5, kernel.MapOpts{Out: []*weft.Tensor{out}})
	a, o := weft.Data[float32](x), weft.Data[float32](out)
	for i := range 30 {
		for j := range 20 {
			if want := Hypot3(a[2*j*30+i], a[(39-2*j)*30+i], 0.5); o[i*20+j] != want {
				t.Fatalf("%d %d: %v, want %v", i, j, o[i*20+j], want)
			}
		}
	}
}

func TestMapReadsArrays(t *testing.T) {
	grid, y, x := weft.Rand(5, 6), weft.Rand(3, 1).Mul(8).Sub(2), weft.Rand(1, 50).Mul(9).Sub(2)
	got := weft.Data[float32](kernels.Func("Bilinear").Map(grid, y, x))
	g := kernel.Clamped2[float32]{Data: weft.Data[float32](grid), Shape: [2]int{5, 6}}
	ys, xs := weft.Data[float32](y), weft.Data[float32](x)
	for i, yi := range ys {
		for j, xj := range xs {
			if want := Bilinear(g, yi, xj); got[i*50+j] != want {
				t.Fatalf("%v %v: %v, want %v", yi, xj, got[i*50+j], want)
			}
		}
	}
	if err := weft.Try(func() { kernels.Func("Bilinear").Map(weft.Zeros(0, 3), y, x) }); err == nil {
		t.Error("an array without elements was read")
	}
}

// The random numbers of an element equal plain Go's.
func TestMapRandom(t *testing.T) {
	g := weft.NewGenerator(42)
	g.Rand(3) // draw 0
	x := weft.Rand(7, 9).Sub(0.5)
	got := weft.Data[float32](kernels.Func("Noisy").Map(x, kernel.MapOpts{Generator: g}))
	for i, xi := range weft.Data[float32](x) {
		e := kernel.Elem{Place: []int{i / 9, i % 9}, Shape: []int{7, 9}, Seed: 42, Draw: 1}
		if want := Noisy(e, xi); math.Abs(float64(got[i]-want)) > 2e-6 || xi > 0 && got[i] != want {
			t.Fatalf("element %d: %v, want %v", i, got[i], want)
		}
	}
	if s := g.State(); s.Draw != 2 {
		t.Errorf("%d draws", s.Draw)
	}
	p := kernels.Func("Place").Map(kernel.MapOpts{Shape: []int{2, 3}})
	if got := fmt.Sprint(weft.Data[int32](p)); got != "[0 1 2 1000 1001 1002]" {
		t.Errorf("places %s", got)
	}
}

func TestMapComplex(t *testing.T) {
	z := []complex64{1, 2i, -1 + 3i}
	got := weft.Data[complex64](kernels.Func("Rotate").Map(weft.FromSlice(z, 3), complex(0, 1)))
	for i, x := range z {
		if want := Rotate(x, 1i); got[i] != want {
			t.Errorf("%v: %v, want %v", x, got[i], want)
		}
	}
}

// Gradients to second order, also by WithVJP, equal finite differences.
func TestMapGradient(t *testing.T) {
	x, y := weft.FromSlice([]float64{0.3, -1.2}, 2).RequireGrad(), weft.FromSlice([]float64{0.7, 2}, 2, 1).RequireGrad()
	z := kernels.Func("Cube").MapAll(x, y)
	loss := z[0].Sum().Add(z[1].Mul(2).Sum())
	g := weft.Grad(loss, []*weft.Tensor{x, y}, weft.GradOpts{Create: true})
	xs, ys := weft.Data[float64](x), weft.Data[float64](y)
	for j, xj := range xs {
		want := 0.0
		for _, yi := range ys {
			want += 3*xj*xj*yi + 2
		}
		if got := weft.Data[float64](g[0])[j]; math.Abs(got-want) > 1e-12 {
			t.Errorf("by x %d: %v, want %v", j, got, want)
		}
	}
	h := weft.Grad(g[0].Sum(), []*weft.Tensor{x, y})
	for j, xj := range xs {
		want := 0.0
		for _, yi := range ys {
			want += 6 * xj * yi
		}
		if got := weft.Data[float64](h[0])[j]; math.Abs(got-want) > 1e-12 {
			t.Errorf("by x twice %d: %v, want %v", j, got, want)
		}
	}
	z = kernels.Func("Cube").WithVJP(kernels.Func("CubeGrad")).MapAll(x, y)
	g = weft.Grad(z[0].Sum().Add(z[1].Sum()), []*weft.Tensor{x, y})
	if got := fmt.Sprint(weft.Data[float64](g[0]), weft.Data[float64](g[1])); got != "[4 4] [6 6]" {
		t.Errorf("own gradient %s", got)
	}
	if err := weft.Try(func() { kernels.Func("Cube").WithVJP(kernels.Func("Add")).MapAll(x, y) }); err == nil {
		t.Error("a gradient of other arguments")
	}
}

// Formulas call kernels by name.
func TestExprCallsKernel(t *testing.T) {
	x := weft.FromSlice([]float64{1, -2, 3}, 3).RequireGrad()
	y := weft.Expr("2*f(x, 3, y) + 1", weft.Vars{"f": kernels.Func("Hypot3"), "x": x, "y": weft.OnesOf(weft.Float64, 2, 1)})
	if got, want := fmt.Sprint(weft.Data[float64](y)), "[23 29 39 23 29 39]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	y.Sum().Backward()
	if got, want := fmt.Sprint(weft.Data[float64](x.Grad())), "[8 -16 24]"; got != want {
		t.Errorf("gradient %s, want %s", got, want)
	}
	if s := kernels.Func("Hypot3").Explain(x, 1, 2); !strings.Contains(s, "func Hypot3") || !strings.Contains(s, "mul") {
		t.Errorf("explained as %s", s)
	}
}

func TestBench(t *testing.T) {
	x := weft.Ones(1000)
	b := kernels.Func("Hypot3").Bench(x, x, 2.0)
	if b.Calls < 1 || b.Median <= 0 || b.Bytes != 3*4000 || !strings.Contains(b.String(), "a call") {
		t.Errorf("%+v", b)
	}
	y := weft.Zeros(1000)
	if kernels.Func("Hypot3").Bench(x, x, 2.0, kernel.MapOpts{Out: []*weft.Tensor{y}}); y.At(3).Item() != 6 {
		t.Errorf("%v", y)
	}
	if b := kernels.Func("Diffuse").Bench(weft.Ones(10, 10)); b.Bytes != 800 {
		t.Errorf("%+v", b)
	}
}
