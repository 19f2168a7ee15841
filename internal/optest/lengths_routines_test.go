package optest

import (
	"math"
	"testing"

	"weft"
	"weft/internal/device"
	"weft/internal/jit"
	"weft/internal/tensortest"
)

// lengthRoutines are functions whose kernels are routines, with the gradients of their operands.
func lengthRoutines() []lengthCase {
	g := weft.NewGenerator(3)
	// backward returns the case of a function of x and of weights w, with both gradients.
	backward := func(name string, shape func(n int) []int, w *weft.Tensor, f func(x, w *weft.Tensor) *weft.Tensor) lengthCase {
		return function(name, shape, func(x *weft.Tensor) *weft.Tensor {
			x, w := x.Detach().RequireGrad(), w.Detach().RequireGrad()
			y := f(x, w)
			y.Square().Sum().Backward()
			return weft.Cat([]*weft.Tensor{y.Flatten(0), x.Grad().Flatten(0), w.Grad().Flatten(0)}, 0)
		})
	}
	matmul := func(x, w *weft.Tensor) *weft.Tensor { return x.MatMul(w) }
	conv := func(x, w *weft.Tensor) *weft.Tensor {
		return x.Conv2d(w, nil, weft.ConvOpts{Padding: [2]int{1, 1}})
	}
	cumsum := func(axis int) func(x, w *weft.Tensor) *weft.Tensor {
		return func(x, w *weft.Tensor) *weft.Tensor { return x.Mul(w).CumSum(axis) }
	}
	return []lengthCase{
		backward("product of n rows", func(n int) []int { return []int{n, 70} }, g.Randn(70, 90), matmul),
		backward("product of n rows, transposed", func(n int) []int { return []int{n, 70} }, g.Randn(90, 70), func(x, w *weft.Tensor) *weft.Tensor { return x.MatMul(w.T()) }),
		backward("products of 3 matrices of n rows", func(n int) []int { return []int{3, n, 24} }, g.Randn(3, 24, 40), matmul),
		backward("product of n columns", func(n int) []int { return []int{70, n} }, g.Randn(90, 70), func(x, w *weft.Tensor) *weft.Tensor { return w.MatMul(x) }),
		backward("row times n columns", func(n int) []int { return []int{n, 300} }, g.Randn(300), matmul),
		backward("products of n rows and columns", func(n int) []int { return []int{1, n, 16} }, g.Randn(1), func(x, w *weft.Tensor) *weft.Tensor {
			return x.MatMul(x.Transpose(1, 2)).Mul(w).MatMul(x)
		}),
		backward("convolution of n pictures", func(n int) []int { return []int{n, 3, 9, 10} }, g.Randn(5, 3, 3, 3), conv),
		backward("convolution of rows of n", func(n int) []int { return []int{2, 3, 6, n} }, g.Randn(5, 3, 3, 3), conv),
		backward("convolution of n rows", func(n int) []int { return []int{2, 3, n, 7} }, g.Randn(5, 3, 3, 3), conv),
		backward("Winograd's convolution of n pictures", func(n int) []int { return []int{n, 32, 6, 7} }, g.Randn(32, 32, 3, 3), conv),
		backward("convolution of n pictures of many channels", func(n int) []int { return []int{n, 16, 8, 8} }, g.Randn(24, 16, 3, 3), conv),
		backward("convolution in steps of n pictures", func(n int) []int { return []int{n, 2, 11, 8} }, g.Randn(6, 2, 3, 3), func(x, w *weft.Tensor) *weft.Tensor {
			return x.Conv2d(w, nil, weft.ConvOpts{Stride: &[2]int{2, 2}})
		}),
		backward("depthwise convolution of n pictures", func(n int) []int { return []int{n, 6, 9, 12} }, g.Randn(6, 1, 3, 3), func(x, w *weft.Tensor) *weft.Tensor {
			return x.Conv2d(w, nil, weft.ConvOpts{Groups: new(6), Padding: [2]int{1, 1}})
		}),
		backward("convolution of sequences of n", func(n int) []int { return []int{3, 8, n} }, g.Randn(12, 8, 3), func(x, w *weft.Tensor) *weft.Tensor {
			return x.Conv1d(w, nil, weft.Conv1dOpts{Padding: 1})
		}),
		backward("cumulative sum of n rows", func(n int) []int { return []int{n, 33} }, g.Randn(33), cumsum(0)),
		backward("cumulative sum of rows of n", func(n int) []int { return []int{7, n} }, g.Randn(1), cumsum(1)),
	}
}

// Products, convolutions and cumulative sums of lengths 5 to 200 run code that two lengths have
// made: general kernels take any number of rows and vectors.
func TestRoutinesOfNewLengthCompileNothing(t *testing.T) {
	specialiseAfter(t, math.MaxInt64)
	if jit.Chosen().ISA == jit.Portable {
		t.Skip("SKIPPED: no machine code here")
	}
	for _, c := range lengthRoutines() {
		t.Run(c.name, func(t *testing.T) {
			g := weft.NewGenerator(1)
			made := func() int64 { return device.Get(0).Counters().Compiled.Load() + jit.Mapped() }
			c.compiled(c.args(g, 20)...)
			c.compiled(c.args(g, 150)...)
			type call struct {
				args []*weft.Tensor
				y    *weft.Tensor
			}
			var calls []call
			for n := 5; n <= 200; n += 1 + n/40 {
				args := c.args(g, n)
				before := made()
				y := c.compiled(args...)
				if k := made() - before; k != 0 {
					t.Errorf("%d pieces of machine code made for length %d", k, n)
				}
				if n < 8 || n > 190 {
					calls = append(calls, call{args, y})
				}
			}
			for _, k := range calls { // eager calls make code of their own
				tensortest.SameBits(t, "compiled and eager", k.y, c.eager(k.args...))
			}
		})
	}
}
