package cudart_test

import (
	"maps"
	"testing"

	"weft"
	"weft/internal/ptxsim"
	"weft/nn"
)

// Writes at indices out of range are refused as on the CPU, see TestRefusedIndexIsErrorOfCPU.
func init() {
	rows := func(x *weft.Tensor, n int) *weft.Tensor { return x.Slice(weft.Range(0, n)).Mul(0.5) }
	maps.Copy(refusals, map[string]func(x *weft.Tensor) *weft.Tensor{
		"index_add": func(x *weft.Tensor) *weft.Tensor { return x.IndexAdd(0, ints(x, 0, 5, 6, -7), rows(x, 4)) },
		"index_add elements": func(x *weft.Tensor) *weft.Tensor {
			return x.Reshape(222).IndexAdd(0, ints(x, 0, 222), ints(x, 1, 2).To(x.DType()))
		},
		"index_add of nothing": func(x *weft.Tensor) *weft.Tensor {
			return x.Slice(weft.Range(0, 6), weft.Range(0, 0)).IndexAdd(0, ints(x, 5, 6), x.Slice(weft.Range(0, 2), weft.Range(0, 0)))
		},
		"index_put": func(x *weft.Tensor) *weft.Tensor { return x.IndexPut(rows(x, 3), ints(x, 0, 6, 7)) },
		"scatter":   func(x *weft.Tensor) *weft.Tensor { return x.Scatter(1, ints(x, 0, 36, 37, -38).Reshape(2, 2), 1) },
		"scatter_add": func(x *weft.Tensor) *weft.Tensor {
			return x.ScatterAdd(0, ints(x, 0, 5, -7, 6).Reshape(2, 2), x.Slice(weft.Range(0, 2), weft.Range(0, 2)))
		},
		"scatter_reduce": func(x *weft.Tensor) *weft.Tensor {
			return x.ScatterReduce(0, ints(x, 0, 5, -7, 6).Reshape(2, 2).To(weft.Int32), x.Slice(weft.Range(0, 2), weft.Range(0, 2)), weft.ScatterOpts{Reduce: weft.ScatterMax})
		},
		"many": func(x *weft.Tensor) *weft.Tensor {
			i := weft.ArangeOf(weft.Int64, 5000).Sub(4000).Maximum(0).On(x.Device())
			return x.Reshape(222).IndexAdd(0, i, i.To(x.DType()))
		},
		"bincount": func(x *weft.Tensor) *weft.Tensor { return ints(x, 4, 2, -1, 3).BinCount(nil, 0) },
	})
}

// Writes at indices run on the GPU, with their gradients, and have the CPU's bits.
func TestWritesAtIndicesAsOnCPU(t *testing.T) {
	gpu, d := simulated(t, ptxsim.Options{Seed: 5})
	x := weft.Arange(0, 40*19, 1).Mul(0.37).Sin().Reshape(40, 19)
	many := weft.Arange(0, 300, 1).Mul(0.71).Sin().Mul(25).To(weft.Int64) // from -25 to 25
	for _, dtype := range []weft.DType{weft.Float32, weft.BFloat16, weft.Int16, weft.Complex64} {
		for name, f := range map[string]func(x, many *weft.Tensor) *weft.Tensor{
			"rows": func(x, many *weft.Tensor) *weft.Tensor { return x.IndexAdd(0, many, x.IndexSelect(0, many)) },
			"columns": func(x, many *weft.Tensor) *weft.Tensor {
				i := many.Slice(weft.Range(0, 30)).Abs().Minimum(18)
				return x.IndexAdd(1, i, x.IndexSelect(1, i))
			},
			"elements": func(x, many *weft.Tensor) *weft.Tensor {
				y := x.Reshape(760)
				return y.ScatterAdd(0, many, y.Slice(weft.Range(0, 300)))
			},
			"put":     func(x, many *weft.Tensor) *weft.Tensor { return x.IndexPut(x.IndexSelect(0, many), many) },
			"put add": func(x, many *weft.Tensor) *weft.Tensor { return x.IndexPutAdd(x.IndexSelect(0, many), many) },
			"scatter": func(x, many *weft.Tensor) *weft.Tensor {
				return x.Scatter(0, many.Reshape(20, 15), x.Slice(weft.Range(0, 20), weft.Range(0, 15)))
			},
			"extremes": func(x, many *weft.Tensor) *weft.Tensor {
				if x.DType().Complex() {
					return x
				}
				y := x.ScatterReduce(0, many.Reshape(20, 15), x.Slice(weft.Range(0, 20), weft.Range(0, 15)), weft.ScatterOpts{Reduce: weft.ScatterMax})
				return y.ScatterReduce(0, many.Reshape(20, 15), x.Slice(weft.Range(0, 20), weft.Range(0, 15)), weft.ScatterOpts{Reduce: weft.ScatterMin, ExcludeSelf: true})
			},
			"single": func(x, many *weft.Tensor) *weft.Tensor {
				y, i := x.Slice(weft.Range(3, 4), weft.Range(4, 5)).Reshape(1), many.Slice(weft.Range(0, 1)).Mul(0)
				return y.Scatter(0, i, y.Mul(3)).Add(y.ScatterAdd(0, i, y))
			},
			"gathered": func(x, many *weft.Tensor) *weft.Tensor {
				return x.Gather(0, many.Slice(weft.Range(0, 19)).Reshape(1, 19).Expand(7, 19))
			},
			"greatest": func(x, _ *weft.Tensor) *weft.Tensor {
				if x.DType().Complex() {
					return x
				}
				return x.ArgMax(1).Add(x.ArgMin(0).Sum()).Add(x.ArgMax())
			},
			"counts": func(_, many *weft.Tensor) *weft.Tensor { return many.Abs().BinCount(nil, 30) },
		} {
			compute := func(x, many *weft.Tensor) (y, dx *weft.Tensor) {
				if !x.DType().Differentiable() {
					return f(x, many), nil
				}
				x = x.Detach().RequireGrad()
				y = f(x, many)
				if y.DType().Differentiable() {
					y.Mul(y).Abs().Sum().Backward()
				}
				return y.Detach(), x.Grad()
			}
			z := x.Mul(100).To(dtype)
			want, wantGrad := compute(z, many)
			got, gotGrad := compute(on(z, gpu), on(many, gpu))
			if weft.Digest(want) != weft.Digest(got) {
				t.Errorf("%s of %s: another digest", name, dtype)
			}
			if wantGrad != nil && weft.Digest(wantGrad) != weft.Digest(gotGrad) {
				t.Errorf("%s of %s: another digest of the gradient", name, dtype)
			}
		}
	}
	if n := d.Counters().Fallbacks.Load(); n != 0 {
		t.Errorf("%d routines ran on the host", n)
	}
}

// The gradient of an embedding has the CPU's bits, and the step that follows.
func TestEmbeddingAsOnCPU(t *testing.T) {
	gpu, d := simulated(t, ptxsim.Options{Seed: 6})
	words := weft.Arange(0, 150, 1).Mul(0.71).Sin().Mul(11).Abs().To(weft.Int64)
	train := func(number uint8) *weft.Tensor {
		e := nn.NewEmbedding(12, 5)
		w := on(weft.Arange(0, 60, 1).Reshape(12, 5).Mul(0.1).Sin(), number).RequireGrad()
		e.Weight = w
		e.Forward(on(words, number)).Square().Sum().Backward()
		return w.Grad()
	}
	if weft.Digest(train(0)) != weft.Digest(train(gpu)) {
		t.Error("another digest")
	}
	if n := d.Counters().Fallbacks.Load(); n != 0 {
		t.Errorf("%d routines ran on the host", n)
	}
}
