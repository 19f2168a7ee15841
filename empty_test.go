package weft

import (
	"errors"
	"fmt"
	"math"
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
							Full(7, Float64, max(some, 1)).Release()
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
