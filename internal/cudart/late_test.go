package cudart_test

import (
	"strings"
	"testing"

	"weft"
	"weft/internal/ptxsim"
	"weft/nn"
)

// Results of a bad index that another stream reads bring the error with them: to each stream that reads
// them, also through a third one, and once.
func TestReadersOfOtherStreamsTellErrors(t *testing.T) {
	gpu, d := simulated(t, ptxsim.Options{Seed: 9})
	dev := weft.Devices()[gpu]
	first, second := newStream(t, dev), newStream(t, dev)
	x := first.Track(weft.Arange(0.0, 6)).On(dev)
	bad := func() *weft.Tensor { return x.IndexSelect(0, weft.FromSlice([]int64{1, 99}).On(dev)) }
	y := dev.Ones(2)
	for name, f := range map[string]func(){
		"assign":  func() { weft.Data[float32](y.Assign(bad())) },
		"operand": func() { weft.Data[float32](dev.Ones(2).Add(bad())) },
		"third":   func() { weft.Data[float32](y.Assign(second.Track(dev.Zeros(2)).Add(bad()))) },
	} {
		if err := weft.Try(f); err == nil || !strings.Contains(err.Error(), "99") {
			t.Errorf("%s: %v, want that index 99 is out of range", name, err)
		}
		_ = d.Sync() // the other streams tell it too
		if err := d.Sync(); err != nil {
			t.Errorf("%s: %v once more", name, err)
		}
	}
	if got := y.Assign(x.Slice(weft.Range(0, 2))).Sum().Item(); got != 1 {
		t.Errorf("sum is %v", got)
	}
}

// Vmap, and compiled functions with arrays that they make of Go values, run on a device with the bits of
// the CPU.
func TestTracesOnDevice(t *testing.T) {
	gpu, _ := simulated(t, ptxsim.Options{Seed: 2})
	dev := weft.Devices()[gpu]
	x := weft.Arange(0.0, 30).Reshape(1, 2, 3, 5).Sin()
	places := weft.FromSlice([]int64{0, 1, 1, 0})
	index := weft.Vmap(func(x ...*weft.Tensor) *weft.Tensor { return x[0].Index(x[1]) })
	compiled := func(f func(x *weft.Tensor) *weft.Tensor) func(x *weft.Tensor) *weft.Tensor {
		return func(x *weft.Tensor) *weft.Tensor {
			y, err := weft.Compile(f).Call(x)
			must(err)
			return y
		}
	}
	for name, f := range map[string]func(x *weft.Tensor) *weft.Tensor{
		"vmap":     func(x *weft.Tensor) *weft.Tensor { return index(x.Reshape(2, 15), places.Reshape(2, 2).On(x.Device())) },
		"quantile": compiled(func(x *weft.Tensor) *weft.Tensor { return x.Quantile(0.3, 2) }),
		"pool": compiled(func(x *weft.Tensor) *weft.Tensor {
			return nn.AdaptiveAvgPool2d{Size: [2]*int{new(2), new(3)}}.Forward(x)
		}),
	} {
		if err := weft.Try(func() {
			if w, g := weft.Digest(f(x)), weft.Digest(f(x.On(dev))); w != g {
				t.Errorf("%s: digest %v, want %v", name, g, w)
			}
		}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A gradient lies on the device of its leaf.
func TestSetGradOfOtherDevice(t *testing.T) {
	gpu, _ := simulated(t, ptxsim.Options{})
	leaf := weft.Devices()[gpu].Ones(3).RequireGrad()
	if err := weft.Try(func() { leaf.SetGrad(weft.Ones(3)) }); err == nil || !strings.Contains(err.Error(), "setgrad: operands are on different devices") {
		t.Errorf("%v, want that the devices differ", err)
	}
}
