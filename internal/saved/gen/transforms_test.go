package main_test

import (
	"errors"
	"testing"

	"weft"
	"weft/fft"
	"weft/signal"
	"weft/sparse"
)

// matrix is a sparse matrix [6 5] of 9 entries, with a row that has none.
func matrix() *sparse.Matrix {
	row, col := []int{0, 0, 1, 2, 2, 4, 4, 5, 5}, []int{1, 4, 0, 2, 3, 0, 4, 1, 2}
	return sparse.NewCOO(weft.RandnOf(weft.Float64, 9), row, col, 6, 5).To(sparse.CSR)
}

// gradient is the gradient of the squares of f's result by x.
func gradient(x *weft.Tensor, f func(x *weft.Tensor) *weft.Tensor) *weft.Tensor {
	x = x.Detach().RequireGrad()
	return weft.Grad(f(x).Abs().Square().Sum(), []*weft.Tensor{x})[0]
}

// transforms are models of packages fft, signal and sparse.
func transforms() []model {
	signals := func(n int) []any { return []any{weft.RandnOf(weft.Float64, 2, n, 6)} }
	rows := func(n int) []any { return []any{weft.RandnOf(weft.Float64, n, 5)} }
	b, a := weft.From([]float64{0.2, 0.3, 0.1}), weft.From([]float64{1, -0.4, 0.2})
	sos := weft.From([][]float64{{0.2, 0.3, 0.1, 1, -0.4, 0.2}, {1, 0.5, 0, 1, 0.3, 0}})
	m := matrix()
	return []model{
		{"fft", []string{"x[2 n 6]"}, signals, func(x ...*weft.Tensor) []*weft.Tensor {
			z := fft.FFT2(x[0])
			return []*weft.Tensor{z, fft.IFFT2(z, fft.NOpts{Norm: fft.Ortho}), fft.FFTN(x[0]), fft.FFT2(x[0], fft.NOpts{Axes: []int{0, 2}}), fft.RFFT2(x[0]), fft.RFFTN(x[0]),
				fft.IRFFT2(z), fft.DCT(x[0]), gradient(x[0], func(x *weft.Tensor) *weft.Tensor { return fft.FFT2(x) })}
		}},
		{"filters", []string{"x[2 n 6]"}, signals, func(x ...*weft.Tensor) []*weft.Tensor {
			along := signal.FilterOpts{Axis: new(1)}
			y, end := signal.LFilter(b, a, x[0], along)
			z, ends := signal.SOSFilt(sos, x[0], along)
			return []*weft.Tensor{y, end, z, ends, gradient(x[0], func(x *weft.Tensor) *weft.Tensor {
				y, _ := signal.LFilter(b, a, x, along)
				y, _ = signal.SOSFilt(sos, y, along)
				return y
			})}
		}},
		{"sparse", []string{"x[n 5]"}, rows, func(x ...*weft.Tensor) []*weft.Tensor {
			y := m.MatMul(x[0].T())
			return []*weft.Tensor{y, m.LeftMatMul(y.T()), m.MatMul(x[0].Sum(0)), m.Sampled(y, x[0].T()).Values(), gradient(x[0], func(x *weft.Tensor) *weft.Tensor { return m.MatMul(x.T()) })}
		}},
	}
}

// TestTransforms saves transforms, filters and sparse products, and calls them with other lengths.
func TestTransforms(t *testing.T) {
	for _, m := range transforms() {
		t.Run(m.name, func(t *testing.T) { freeLengths(t, m) })
	}
}

// TestSparseArgument saves functions of a sparse matrix, which programs take as values, indices and offsets.
// A call with other entries gives their product, and refuses what is not a matrix.
func TestSparseArgument(t *testing.T) {
	m := matrix()
	for name, f := range map[string]func(m *sparse.Matrix, x *weft.Tensor) *weft.Tensor{
		"product":    func(m *sparse.Matrix, x *weft.Tensor) *weft.Tensor { return m.MatMul(x) },
		"transposed": func(m *sparse.Matrix, x *weft.Tensor) *weft.Tensor { return m.LeftMatMul(x.T()).T() },
		"sampled": func(m *sparse.Matrix, x *weft.Tensor) *weft.Tensor {
			return m.Sampled(x, x.Slice(weft.Range(0, 5))).Values()
		},
	} {
		t.Run(name, func(t *testing.T) {
			x := weft.RandnOf(weft.Float64, 6, 2)
			if name == "product" {
				x = x.Slice(weft.Range(0, 5))
			}
			p := load(t, weft.Compile(f), []any{m, x}, weft.SaveOpts{})
			offsets := func(ends ...int64) *weft.Tensor { return weft.From(ends) }
			other := sparse.NewCSR(weft.RandnOf(weft.Float64, 9), weft.From([]int32{4, 3, 2, 1, 0, 4, 2, 0, 1}), offsets(0, 0, 5, 5, 6, 8, 9), 6, 5)
			for _, m := range []*sparse.Matrix{m, other} {
				got, err := p.Call(m.Values(), m.Indices(), m.Offsets(), x)
				if err != nil {
					t.Fatal(err)
				}
				same(t, name, got, []*weft.Tensor{f(m, x)})
			}
			for what, args := range map[string][]*weft.Tensor{
				"an index behind the columns": {m.Values(), weft.From([]int32{4, 3, 2, 1, 0, 4, 2, 0, 100000}), m.Offsets(), x},
				"a negative index":            {m.Values(), weft.From([]int32{-1, 3, 2, 1, 0, 4, 2, 0, 1}), m.Offsets(), x},
				"an offset behind the list":   {m.Values(), m.Indices(), offsets(0, 0, 5, 5, 6, 8, 1000000), x},
				"falling offsets":             {m.Values(), m.Indices(), offsets(0, 5, 3, 5, 6, 8, 9), x},
				"a negative offset":           {m.Values(), m.Indices(), offsets(-7, 0, 5, 5, 6, 8, 9), x},
			} {
				var e *weft.Error
				if got, err := p.Call(args...); !errors.As(err, &e) || e.Arg != "indices" && e.Arg != "offsets" {
					t.Errorf("%s gives %v, %v", what, got, err)
				}
			}
		})
	}
}
