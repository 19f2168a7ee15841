package weft

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime/debug"
	"testing"
)

// Reductions of no elements give their identity or NaN, as NumPy's do, whatever
// memory the result gets, over one, two or three axes of size 0 and others.
func TestReductionsOfNothing(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, shape := range [][]int{{0}, {0, 0}, {0, 0, 0}, {2, 0, 0}, {0, 0, 2}, {0, 2, 0}, {2, 0, 3, 0, 2}, {0, 3}, {3, 0}, {2, 0, 0, 3}} {
		for bits := 1; bits < 1<<len(shape); bits++ {
			var axes, rest []int
			count := 1
			for a, n := range shape {
				if bits>>a&1 == 1 {
					axes = append(axes, a)
					count *= n
				} else {
					rest = append(rest, n)
				}
			}
			some := 1
			for _, n := range rest {
				some *= n
			}
			if count > 0 || some == 0 {
				continue
			}
			for _, d := range []DType{Float32, Float64, Int64, Uint8, Bool} {
				for _, flip := range []bool{false, true} {
					x := ZerosOf(d, shape...)
					if flip {
						x = x.T().T().Slice(Range(End, Begin, -1))
					}
					check := func(name string, f func(x *Tensor, axes ...int) *Tensor, want float64) {
						t.Helper()
						// What the result's memory may hold from before.
						for range 4 {
							FullOf(Float64, 7, max(some, 1)).Release()
						}
						y := f(x, axes...)
						got := Data[float64](y.To(Float64))
						if fmt.Sprint(y.Shape()) != fmt.Sprint(append([]int{}, rest...)) {
							t.Errorf("%s of %s%v over %v has shape %v", name, d, shape, axes, y.Shape())
						}
						for _, g := range got {
							if g != want && !(g != g && want != want) {
								t.Errorf("%s of %s%v over %v: got %v, want %v", name, d, shape, axes, got, want)
								break
							}
						}
					}
					check("sum", (*Tensor).Sum, 0)
					check("prod", (*Tensor).Prod, 1)
					check("all", (*Tensor).All, 1)
					check("any", (*Tensor).Any, 0)
					if d.Float() {
						check("mean", (*Tensor).Mean, nan)
						check("var", (*Tensor).Var, nan)
						check("std", (*Tensor).Std, nan)
						check("logsumexp", (*Tensor).LogSumExp, -inf)
					}
					for name, f := range map[string]func(x *Tensor, axes ...int) *Tensor{"max": (*Tensor).Max, "min": (*Tensor).Min} {
						var e *Error
						if err := Try(func() { f(x, axes...) }); !errors.As(err, &e) || e.Kind != Misuse {
							t.Errorf("%s of %s%v over %v: got %v, want a misuse", name, d, shape, axes, err)
						}
					}
				}
			}
		}
	}
}

// An extreme of no elements has no place, even where no result asks for it, as in
// NumPy; softmax and its kin of an empty axis are empty.
func TestEmptyAxes(t *testing.T) {
	for name, f := range map[string]func(){
		"argmax":                func() { Zeros(0).ArgMax() },
		"argmin":                func() { Zeros(2, 0).ArgMin(1) },
		"argmax of empty rows":  func() { Zeros(0, 0).ArgMax(1) },
		"argmax of all":         func() { Zeros(0, 3).ArgMax() },
		"argmax in a formula":   func() { Expr("argmax(x)", Zeros(0)) },
		"max pooling of nobody": func() { Zeros(1, 0, 4).MaxPool2d(PoolOpts{Window: [2]int{2, 2}, Padding: [2]int{1, 1}}) },
	} {
		var e *Error
		if err := Try(f); !errors.As(err, &e) || e.Kind != Misuse {
			t.Errorf("%s: got %v, want a misuse", name, err)
		}
	}
	if y := Zeros(0, 3).ArgMax(1); y.Size() != 0 || y.Rank() != 1 {
		t.Errorf("argmax of no rows: %v", y)
	}
	for name, f := range map[string]func(*Tensor) *Tensor{
		"softmax":     func(x *Tensor) *Tensor { return x.Softmax(1) },
		"log softmax": func(x *Tensor) *Tensor { return x.LogSoftmax(1) },
	} {
		x := Zeros(3, 0).RequireGrad()
		y := f(x)
		if fmt.Sprint(y.Shape()) != "[3 0]" {
			t.Errorf("%s of [3 0] has shape %v", name, y.Shape())
		}
		y.Sum().Backward()
		if fmt.Sprint(x.Grad().Shape()) != "[3 0]" {
			t.Errorf("gradient of %s of [3 0] has shape %v", name, x.Grad().Shape())
		}
	}
	x := Zeros(3, 0).RequireGrad()
	x.LogSumExp(1).Sum().Backward()
	if fmt.Sprint(x.Grad().Shape()) != "[3 0]" {
		t.Errorf("gradient of logsumexp of [3 0] has shape %v", x.Grad().Shape())
	}
}

// No view is without its storage: where it has elements they lie inside, and where
// it has none it does not point behind the end, whatever windows it went through.
func TestViewsStayInside(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	empty := 0
	for range 20000 {
		shape := make([]int, 1+r.IntN(4))
		for i := range shape {
			shape[i] = r.IntN(5)
		}
		x := Zeros(shape...)
		for range 4 {
			n := x.Rank()
			switch r.IntN(5) {
			case 0:
				spans := make([]Span, n)
				for i := range spans {
					spans[i] = Range(r.IntN(12)-6, r.IntN(12)-6, r.IntN(3)-3+4*r.IntN(2))
				}
				x = x.Slice(spans...)
			case 1:
				if n > 1 {
					x = x.Diagonal(r.IntN(9) - 4)
				}
			case 2:
				x = x.T()
			case 3:
				if n > 0 && x.Dim(-1) > 0 {
					x = x.Slice(All).Transpose(0, -1)
					if x.Dim(0) > 0 {
						x = x.At(x.Dim(0) - 1)
					}
				}
			case 4:
				if n < 4 {
					x = x.Unsqueeze(0).Expand(append([]int{r.IntN(3)}, x.Shape()...)...)
				}
			}
			if x.Size() == 0 {
				empty++
			}
			lo, hi := x.v().Span()
			if most := x.v().Store.Bytes / 4; x.Size() > 0 && (lo < 0 || hi > most) || x.v().Offset < 0 || x.v().Offset > max(most-1, 0) {
				t.Fatalf("%v: elements %d to %d, offset %d, of %d", x.Shape(), lo, hi, x.v().Offset, most)
			}
		}
	}
	if empty < 1000 {
		t.Errorf("only %d empty views", empty)
	}
}

// A pointer behind an empty array lets Go's collector end the process: every
// operation is applied to windows of empty ones, with the collector at work.
func TestCollectorMeetsNoStrayPointers(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(1))
	rounds := 2000
	if testing.Short() {
		rounds = 200
	}
	for range rounds {
		wide, tall := Zeros(1000, 0), Zeros(0, 1000)
		wide.At(999).Sum()
		wide.Slice(Range(500, End, 3)).Sum(1).Add(1)
		wide.Slice(Range(End, Begin, -1)).Softmax(0)
		wide.Softmax(1)
		wide.Slice(Range(900, 1000)).MatMul(tall.Slice(All, Range(900, 1000)))
		wide.LogSumExp(1)
		tall.T().Slice(Range(999, 1000)).Clone()
		Cat([]*Tensor{wide.Slice(Range(990, End)), wide}, 0).Contiguous()
		tall.Slice(All, Range(999, Begin, -7)).Max(1)
		x := wide.Slice(Range(998, 1000)).Clone().RequireGrad()
		x.At(1).Sum().Add(x.Diagonal(0).Sum()).Backward()
		Data[float32](wide.At(999))
		FromSlice(make([]float32, 8)[8:]).Slice(Range(0, 5)).Exp()
	}
}
