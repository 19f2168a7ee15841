package cudart_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"weft"
	"weft/dlpack"
	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/ir"
	"weft/internal/op"
	"weft/internal/ptxsim"
	"weft/npy"
	"weft/ragged"
	"weft/safetensors"
)

// call runs an operation of the table.
func call(d *op.Def, a ir.Attrs, xs ...*weft.Tensor) *weft.Tensor {
	ops := make([]core.Operand, len(xs))
	for i, x := range xs {
		ops[i].T = (*core.Tensor)(x)
	}
	return (*weft.Tensor)(core.Call(d, a, nil, ops...)[0])
}

// Rows before the first item and behind the last get what they get on the CPU: the device tells where
// items begin and end. Offsets that descend or lie outside have the CPU's error.
func TestRowsInNoItem(t *testing.T) {
	gpu, _ := simulated(t, ptxsim.Options{Seed: 5})
	x := weft.Arange(0.0, 30).Reshape(10, 3).Sub(7)
	for name, f := range map[string]func(x, off *weft.Tensor) *weft.Tensor{
		"softmax":    func(x, off *weft.Tensor) *weft.Tensor { return call(op.SegmentSoftmax, nil, x, off) },
		"logsoftmax": func(x, off *weft.Tensor) *weft.Tensor { return call(op.SegmentLogSoftmax, nil, x, off) },
		"sum":        func(x, off *weft.Tensor) *weft.Tensor { return call(op.SegmentSum, nil, x, off) },
		"expand": func(x, off *weft.Tensor) *weft.Tensor {
			return call(op.SegmentExpand, op.Rows(10), x.Slice(weft.Range(0, off.Dim(0)-1)), off)
		},
		"gradient": func(x, off *weft.Tensor) *weft.Tensor {
			leaf := x.Detach().Clone().RequireGrad()
			return weft.Grad(call(op.SegmentMax, nil, leaf, off).Square().Sum(), []*weft.Tensor{leaf})[0]
		},
	} {
		for _, offsets := range [][]int64{{0, 4, 10}, {2, 5, 5, 8}, {0, 3}, {9, 10}, {5, 5}, {0, 0}, {10, 10}, {3, 2, 10}, {-1, 4}, {0, 11}} {
			off := weft.FromSlice(offsets)
			var want, got *weft.Tensor
			err := array.Try(func() { want = f(x, off); want.Sum().Item() })
			late := array.Try(func() { got = f(on(x, gpu), on(off, gpu)); got.Sum().Item() })
			switch {
			case err != nil || late != nil:
				if err == nil || late == nil || err.Error() != late.Error() {
					t.Errorf("%s of %v: error %v, want %v", name, offsets, late, err)
				}
			case weft.Digest(got) != weft.Digest(want):
				t.Errorf("%s of %v: %v, want %v", name, offsets, got, want)
			}
		}
	}
}

// What runs on the host alone either gets copies, and gives what it gives on the CPU, or refuses by
// name a tensor whose memory the host does not reach.
func TestFunctionsOfTheHost(t *testing.T) {
	number, gpu := simulated(t, ptxsim.Options{Seed: 6})
	dev := weft.Devices()[number]
	x := weft.ArangeOf(weft.Float64, 12).Reshape(3, 4).Mul(0.3)
	thrice := &weft.Func{Name: "thrice", Forward: func(_ *weft.FuncContext, x ...*weft.Tensor) *weft.Tensor {
		return weft.FromSlice(weft.Data[float64](x[0])).Mul(3).On(x[0].Device())
	}}
	for name, f := range map[string]func(x *weft.Tensor) any{
		"Data":   func(x *weft.Tensor) any { return weft.Data[float64](x)[7] },
		"CopyTo": func(x *weft.Tensor) any { var b [12]float64; weft.CopyTo(x, b[:]); return b },
		"Borrow": func(x *weft.Tensor) any {
			x = x.Clone()
			weft.Borrow(x, func(b []float64) { b[3] = 9 })
			return weft.Digest(x)
		},
		"Item":    func(x *weft.Tensor) any { return x.Max().Item() },
		"Func":    func(x *weft.Tensor) any { return weft.Digest(thrice.Apply(x)) },
		"String":  func(x *weft.Tensor) any { return x.String() },
		"NonZero": func(x *weft.Tensor) any { return weft.Digest(x.NonZero()) },
		"npy":     func(x *weft.Tensor) any { return written(t, func(b *bytes.Buffer) error { return npy.Write(b, x) }) },
		"safetensors": func(x *weft.Tensor) any {
			return written(t, func(b *bytes.Buffer) error { return safetensors.Write(b, map[string]*weft.Tensor{"x": x}, nil) })
		},
		"Tracked": func(x *weft.Tensor) any {
			x = x.Clone()
			d, to := weft.Track(x), weft.Zeros(3, 4).To(weft.Float64)
			defer d.Stop()
			x.AddAssign(1)
			_, err := d.Flush(to.Sink())
			check(t, err)
			return weft.Digest(to)
		},
	} {
		if want, got := f(x), f(x.On(dev)); got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	list := ragged.Of([][]float64{{1}, {2, 3}}).On(dev)
	before := gpu.Counters().Fallbacks.Load()
	if got := list.Index(list.LocalIndex()).String(); got != list.String() {
		t.Errorf("index: %s, want %s", got, list)
	}
	if n := gpu.Counters().Fallbacks.Load() - before; n != 1 {
		t.Errorf("%d functions of the host were counted, want 1", n)
	}
	for name, f := range map[string]func() error{
		"dlpack": func() error { _, err := dlpack.Export(x.On(dev)); return err },
		"insert": func() error { return array.Try(func() { list.Insert(0, []float64{1}) }) },
		"clear":  func() error { return array.Try(list.Clear) },
	} {
		err := f()
		var e *weft.Error
		if !errors.As(err, &e) || e.Op != name || !strings.Contains(err.Error(), dev.Name()) || !strings.Contains(err.Error(), "On(weft.CPU)") {
			t.Errorf("%s: %v, want an error that names it, the device and On", name, err)
		}
	}
}

// written returns what f writes.
func written(t *testing.T, f func(b *bytes.Buffer) error) string {
	t.Helper()
	var b bytes.Buffer
	check(t, f(&b))
	return b.String()
}
