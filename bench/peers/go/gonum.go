package main

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"weft/bench/worker"
)

func gonum() {
	for name := range products {
		product(name,
			func(p worker.Params) *worker.Case {
				m, k, l := shapeOf(name, p.N)
				a, b, c := general32(m, k, 1), general32(k, l, 2), blas32.General{Rows: m, Cols: l, Stride: l, Data: make([]float32, m*l)}
				return filled(c.Data, func() { blas32.Gemm(blas.NoTrans, blas.NoTrans, 1, a, b, 0, c) })
			},
			func(p worker.Params) *worker.Case {
				m, k, l := shapeOf(name, p.N)
				a, b, c := general64(m, k, 1), general64(k, l, 2), blas64.General{Rows: m, Cols: l, Stride: l, Data: make([]float64, m*l)}
				return filled(c.Data, func() { blas64.Gemm(blas.NoTrans, blas.NoTrans, 1, a, b, 0, c) })
			},
		)
	}
	vectors("a+1", func(r, t, a, b []float64) {
		copy(r, a)
		floats.AddConst(1, r)
	})
	vectors("pow(a,2)+pow(b,2)+2*a*b", func(r, t, a, b []float64) {
		floats.MulTo(r, a, a)
		floats.MulTo(t, b, b)
		floats.Add(r, t)
		floats.MulTo(t, a, b)
		floats.AddScaled(r, 2, t)
	})
	vectors("2*a+pow(b,10)", func(r, t, a, b []float64) {
		floats.MulTo(t, b, b)
		floats.MulTo(r, t, t)
		floats.Mul(r, r)
		floats.Mul(r, t)
		floats.AddScaled(r, 2, a)
	})
	worker.Cases["2*a+3*b"] = byType(func(p worker.Params) *worker.Case {
		a, b := inputs[float32]("2*a+3*b", p.N)
		r := make([]float32, p.N)
		v := func(d []float32) blas32.Vector { return blas32.Vector{N: p.N, Inc: 1, Data: d} }
		return filled(r, func() {
			copy(r, a)
			blas32.Scal(2, v(r))
			blas32.Axpy(3, v(b), v(r))
		})
	}, func(p worker.Params) *worker.Case {
		a, b := inputs[float64]("2*a+3*b", p.N)
		r := make([]float64, p.N)
		return filled(r, func() {
			floats.ScaleTo(r, 2, a)
			floats.AddScaled(r, 3, b)
		})
	})
	worker.Cases["mlp step"] = func(p worker.Params) (*worker.Case, error) { return gonumMLP(p.N), nil }
}

// vectors adds a formula of float64 alone: package floats has no other type.
func vectors(name string, f func(r, t, a, b []float64)) {
	worker.Cases[name] = byType(nil, func(p worker.Params) *worker.Case {
		a, b := inputs[float64](name, p.N)
		r, t := make([]float64, p.N), make([]float64, p.N)
		return filled(r, func() { f(r, t, a, b) })
	})
}

// filled is the case of work that writes r.
func filled[T worker.Float](r []T, run func()) *worker.Case {
	return &worker.Case{Run: run, Check: func() []float64 { run(); return worker.Summary(r) }}
}

func general32(rows, cols, seed int) blas32.General {
	return blas32.General{Rows: rows, Cols: cols, Stride: cols, Data: worker.Uniform[float32](rows*cols, seed, -1, 1)}
}

func general64(rows, cols, seed int) blas64.General {
	return blas64.General{Rows: rows, Cols: cols, Stride: cols, Data: worker.Uniform[float64](rows*cols, seed, -1, 1)}
}

// The network of the training step; bench/README.md gives the rest.
const (
	in, hidden, out = 784, 500, 10
	rate            = 0.01
)

func weights(fanIn, fanOut, seed int) []float32 {
	bound := math.Sqrt(6 / float64(fanIn+fanOut))
	return worker.Uniform[float32](fanIn*fanOut, seed, -bound, bound)
}

// gonumMLP is the step with its gradients written out, over gonum's products.
func gonumMLP(n int) *worker.Case {
	matrix := func(rows, cols int, data []float32) blas32.General {
		if data == nil {
			data = make([]float32, rows*cols)
		}
		return blas32.General{Rows: rows, Cols: cols, Stride: cols, Data: data}
	}
	x := matrix(n, in, worker.Pattern[float32](n*in, 1))
	w1, w2 := matrix(hidden, in, weights(in, hidden, 2)), matrix(out, hidden, weights(hidden, out, 3))
	b1, b2 := make([]float32, hidden), make([]float32, out)
	h, dh, z := matrix(n, hidden, nil), matrix(n, hidden, nil), matrix(n, out, nil)
	step := func() float64 {
		blas32.Gemm(blas.NoTrans, blas.Trans, 1, x, w1, 0, h)
		for i := range n {
			row := h.Data[i*hidden:][:hidden]
			for j := range row {
				row[j] = float32(math.Tanh(float64(row[j] + b1[j])))
			}
		}
		blas32.Gemm(blas.NoTrans, blas.Trans, 1, h, w2, 0, z)
		loss := 0.0
		for i := range n { // z becomes its gradient
			row, sum, top := z.Data[i*out:][:out], 0.0, math.Inf(-1)
			for j := range row {
				row[j] += b2[j]
				top = max(top, float64(row[j]))
			}
			for _, v := range row {
				sum += math.Exp(float64(v) - top)
			}
			loss += math.Log(sum) + top - float64(row[i%out])
			for j := range row {
				row[j] = float32(math.Exp(float64(row[j])-top) / sum)
			}
			row[i%out]--
			for j := range row {
				row[j] /= float32(n)
			}
		}
		blas32.Gemm(blas.NoTrans, blas.NoTrans, 1, z, w2, 0, dh)
		for i, v := range h.Data {
			dh.Data[i] *= 1 - v*v
		}
		blas32.Gemm(blas.Trans, blas.NoTrans, -rate, z, h, 1, w2)
		blas32.Gemm(blas.Trans, blas.NoTrans, -rate, dh, x, 1, w1)
		for i := range n {
			for j := range b2 {
				b2[j] -= rate * z.Data[i*out+j]
			}
			for j := range b1 {
				b1[j] -= rate * dh.Data[i*hidden+j]
			}
		}
		return loss / float64(n)
	}
	return &worker.Case{
		Run:   func() { step() },
		Check: func() []float64 { return []float64{step(), step(), step()} },
	}
}
