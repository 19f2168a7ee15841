package cudart_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"weft"
	"weft/internal/array"
	"weft/internal/cudart"
	"weft/internal/grid/gridtest"
	"weft/internal/ir"
	"weft/internal/op"
	"weft/internal/ptxsim"
	"weft/nn"
)

// refusals are calls with indices out of range.
var refusals = map[string]func(x *weft.Tensor) *weft.Tensor{
	"index_select": func(x *weft.Tensor) *weft.Tensor { return x.IndexSelect(0, ints(x, 0, 5, 6, -7, 6)) },
	"columns":      func(x *weft.Tensor) *weft.Tensor { return x.IndexSelect(1, ints(x, 36, -37, -38)) },
	"few": func(x *weft.Tensor) *weft.Tensor {
		return x.IndexSelect(0, ints(x, 1<<40+3, 0).To(weft.Int64)).Mul(2)
	},
	"int32": func(x *weft.Tensor) *weft.Tensor { return x.IndexSelect(0, ints(x, 0, -100000, 7).To(weft.Int32)) },
	"least": func(x *weft.Tensor) *weft.Tensor {
		return x.IndexSelect(0, ints(x, 0, -1<<63, 7))
	},
	"large": func(x *weft.Tensor) *weft.Tensor {
		i := weft.ArangeOf(weft.Int64, 3000).Sub(2990).Maximum(0)
		return x.IndexSelect(0, i.On(x.Device())).Mul(2)
	},
	"nothing to select": func(x *weft.Tensor) *weft.Tensor {
		return x.Slice(weft.Range(0, 6), weft.Range(0, 0)).IndexSelect(0, ints(x, 5, 6))
	},
	"nothing to select from": func(x *weft.Tensor) *weft.Tensor { return x.Slice(weft.Range(0, 0)).IndexSelect(0, ints(x, 0)) },
	"two arrays":             func(x *weft.Tensor) *weft.Tensor { return x.Index(ints(x, 0, 1, 6), ints(x, 5, -38, 7)) },
	"second array":           func(x *weft.Tensor) *weft.Tensor { return x.Index(ints(x, 0, 1, 5), ints(x, 36, 37, 7)) },
	"second of columns": func(x *weft.Tensor) *weft.Tensor {
		return x.Index(ints(x, 0, 1).Reshape(2, 1, 1), ints(x, 36, 3, 37, 40, 7, 1).Reshape(2, 3).To(weft.Int32))
	},
	"array of nothing": func(x *weft.Tensor) *weft.Tensor { return x.Index(ints(x, 0, 6), ints(x)) },
	"classes": func(x *weft.Tensor) *weft.Tensor {
		return weft.CrossEntropy(x.To(weft.Float32), ints(x, 0, 36, 1, 37, -1, 2))
	},
	"classes of bytes": func(x *weft.Tensor) *weft.Tensor {
		return weft.CrossEntropy(x.To(weft.Float32), ints(x, 0, 36, 1, 3, 200, 2).To(weft.Uint8))
	},
	"classes by a function": func(x *weft.Tensor) *weft.Tensor {
		return weft.Compile(weft.CrossEntropy).Func()(x.To(weft.Float32), ints(x, 0, -1, 1, 37, 1, 2).To(weft.Int32))
	},
	"smoothed classes": func(x *weft.Tensor) *weft.Tensor {
		return nn.CrossEntropy(x.To(weft.Float32), ints(x, 0, 1, 1, 40, 1, 2), nn.CrossEntropyOpts{Smoothing: 0.1})
	},
	"gather": func(x *weft.Tensor) *weft.Tensor { return x.Gather(0, ints(x, 5, 0, 0, 1, 2, 6, -7, 2).Reshape(2, 4)) },
	"gather rows": func(x *weft.Tensor) *weft.Tensor {
		return x.Gather(1, ints(x, 5, 0, 0, 1, 2, 6, -37, 37).Reshape(2, 4))
	},
}

// fused are compiled functions whose kernels read elements at indices that were looked at before.
var fused = map[string]struct {
	indices []int64
	f       func(x, i *weft.Tensor) *weft.Tensor
}{
	"fused rows": {[]int64{0, 5, 6, -7, 6}, func(x, i *weft.Tensor) *weft.Tensor { return x.IndexSelect(0, i).Mul(2) }},
	"fused repeated": {[]int64{5, 0, 37, 1}, func(x, i *weft.Tensor) *weft.Tensor {
		return x.Gather(1, i.Reshape(4, 1).Expand(4, 9)).Add(1)
	}},
}

// ints returns integers on the device of x.
func ints(x *weft.Tensor, v ...int64) *weft.Tensor { return weft.FromSlice(v, len(v)).On(x.Device()) }

// An index out of range is the CPU's error, told by the call that waits, once. The device goes on.
func TestRefusedIndexIsErrorOfCPU(t *testing.T) {
	for seed := range uint64(2) {
		gpu, d := simulated(t, ptxsim.Options{Seed: seed})
		x := weft.Arange(0, 6*37, 1).Reshape(6, 37)
		y := on(x, gpu)
		all := maps.Clone(refusals)
		for name, c := range fused {
			all[name] = func(x *weft.Tensor) *weft.Tensor { return weft.Compile(c.f).Func()(x, ints(x, c.indices...)) }
		}
		for name, f := range all {
			want := weft.Try(func() { f(x) })
			if want == nil {
				t.Fatalf("%s: the CPU takes it", name)
			}
			got := weft.Try(func() { weft.Digest(f(y)) })
			if got == nil { // a digest of nothing waits for nothing
				got = d.Sync()
			}
			if got == nil || got.Error() != want.Error() {
				t.Errorf("%s: got %v, want %v", name, got, want)
			}
			if err := d.Sync(); err != nil {
				t.Errorf("%s: told again: %v", name, err)
			}
			if weft.Digest(y.Mul(2)) != weft.Digest(x.Mul(2)) {
				t.Errorf("%s: the device does not go on", name)
			}
		}
		if n := d.Counters().Fallbacks.Load(); n != 0 {
			t.Errorf("%d routines ran on the host", n)
		}
	}
}

// With WEFT_CUDA_SYNC=1 the call itself fails.
func TestRefusedIndexAtOnce(t *testing.T) {
	t.Setenv("WEFT_CUDA_SYNC", "1")
	gpu, _ := simulated(t, ptxsim.Options{})
	x := on(weft.Arange(0, 6, 1), gpu)
	err := weft.Try(func() { x.IndexSelect(0, ints(x, 6)) })
	if err == nil || !strings.Contains(err.Error(), "6 at position 0 is out of range for size 6") {
		t.Error(err)
	}
}

// The first of several refused calls is told, and routines that nobody waits for do not pile up.
func TestFirstRefusalIsTold(t *testing.T) {
	gpu, d := simulated(t, ptxsim.Options{})
	defer cudart.SetMostWatched(3)()
	x := on(weft.Arange(0, 6, 1), gpu)
	for i := range int64(10) {
		x.IndexSelect(0, ints(x, 5+i))
	}
	if err := d.Sync(); err == nil || !strings.Contains(err.Error(), "6 at position 0 is out of range for size 6") {
		t.Error(err)
	}
	if n := d.Watched(); n != 0 {
		t.Errorf("%d watches are left", n)
	}
}

// Large transposes go through tiles, copied and as operands of other work; small ones do not.
func TestLargeTransposesTakeTiles(t *testing.T) {
	gpu, d := simulated(t, ptxsim.Options{})
	check := func(f func(x *weft.Tensor) *weft.Tensor, x *weft.Tensor, want ...string) {
		t.Helper()
		if weft.Digest(f(x)) != weft.Digest(f(on(x, gpu))) {
			t.Error("another digest than on the CPU")
		}
		if got := d.Routines(); !slices.Equal(got, want) {
			t.Errorf("kernels of routines %v, want %v", got, want)
		}
	}
	turned := func(x *weft.Tensor) *weft.Tensor { return x.T().Contiguous() }
	added := func(x *weft.Tensor) *weft.Tensor { return x.T().Add(x.Reshape(40, x.Size()/40)) }
	x := weft.Arange(0, 6600*40, 1).To(weft.Float32).Reshape(6600, 40)
	check(turned, x.Slice(weft.Range(0, 100)))
	check(added, x.Slice(weft.Range(0, 100)).To(weft.Float64))
	check(added, x, "transpose_4_1_2")
	check(turned, x.Slice(weft.Range(0, 3300)).To(weft.Complex64), "transpose_4_1_2", "transpose_8_1_2")
}

// Masks count, find, select and place on the GPU as on the CPU, forward and back.
func TestMasksAsOnCPU(t *testing.T) {
	gpu, d := simulated(t, ptxsim.Options{Seed: 5})
	for _, dtype := range []weft.DType{weft.Bool, weft.BFloat16, weft.Float32, weft.Int64, weft.Complex128} {
		x := weft.Arange(0, 97*51, 1).Mul(0.37).Sin().Reshape(97, 51)
		mask := x.Gt(0.3)
		values := x.To(dtype)
		for name, f := range map[string]func(x, mask *weft.Tensor) *weft.Tensor{
			"select":  func(x, mask *weft.Tensor) *weft.Tensor { return x.MaskSelect(mask) },
			"all":     func(x, mask *weft.Tensor) *weft.Tensor { return x.MaskSelect(mask.LogicalOr(mask.LogicalNot())) },
			"none":    func(x, mask *weft.Tensor) *weft.Tensor { return x.MaskSelect(mask.LogicalAnd(mask.LogicalNot())) },
			"turned":  func(x, mask *weft.Tensor) *weft.Tensor { return x.T().MaskSelect(mask.T()) },
			"nonzero": func(_, mask *weft.Tensor) *weft.Tensor { return mask.NonZero() },
			"empty": func(x, mask *weft.Tensor) *weft.Tensor {
				return x.Slice(weft.Range(0, 0)).MaskSelect(mask.Slice(weft.Range(0, 0)))
			},
			"gradient": func(x, mask *weft.Tensor) *weft.Tensor {
				if !x.DType().Differentiable() {
					return x
				}
				x = x.Detach().RequireGrad()
				x.MaskSelect(mask).Square().Abs().Sum().Backward()
				return x.Grad()
			},
		} {
			want, got := f(values, mask), f(on(values, gpu), on(mask, gpu))
			if weft.Digest(want) != weft.Digest(got) {
				t.Errorf("%s of %s: another digest", name, dtype)
			}
		}
	}
	if n := d.Counters().Fallbacks.Load(); n != 0 {
		t.Errorf("%d routines ran on the host", n)
	}
}

// A mask that is true at another number of places than the operation says is the CPU's error.
func TestRefusedMaskIsErrorOfCPU(t *testing.T) {
	g := gridtest.New(t)
	for name, want := range map[string]string{"mask_select": "3 places, not 4", "mask_place": "3 places, not 5", "nonzero": "3 places, not 2"} {
		var attrs ir.Attrs
		args := []array.View{g.Dense(array.Uint8, []byte{1, 2, 3, 4, 5}, 5), g.Dense(array.Bool, []byte{0, 1, 1, 0, 1}, 5)}
		switch name {
		case "mask_select":
			attrs = op.Count(4)
		case "nonzero":
			attrs, args = op.Count(2), args[1:]
		}
		if _, err := g.Call(op.Lookup(name), attrs, args...); err == nil || err.Error() != name+": mask: is true at "+want {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
}
