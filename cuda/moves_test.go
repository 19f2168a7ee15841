package cuda

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"weft"
)

// TestMovesOnGPU compares transposes, selections by index and by mask with the CPU, of arrays that
// fill the GPU. Indices out of range are the CPU's errors, also where all of many are.
func TestMovesOnGPU(t *testing.T) {
	_, kind := onGPU(t)
	dev, err := weft.DeviceByName(kind)
	if err != nil {
		t.Fatal(err)
	}
	rows, columns, many := 1027, 4099, 3_000_000
	if kind == "simulated" {
		rows, columns, many = 67, 129, 3000
	}
	g := weft.NewGenerator(7)
	numbers, chosen := g.Randn(rows, columns), g.Rand(many)
	at := chosen.Mul(2*rows).To(weft.Int64).Sub(rows).Clamp(-rows, rows-1)
	mask := numbers.Gt(0.3)
	compare := func(name string, f func(x, at, mask *weft.Tensor) *weft.Tensor, x *weft.Tensor) {
		t.Helper()
		want, got := f(x, at, mask), f(x.On(dev), at.On(dev), mask.On(dev)).On(weft.CPU)
		if i := differ(want, got); i >= 0 {
			t.Errorf("%s of %v: element %d differs", name, x.DType(), i)
		}
	}
	for _, d := range []weft.DType{weft.Uint8, weft.BFloat16, weft.Float32, weft.Float64, weft.Complex128} {
		x := numbers.Mul(50).To(weft.Int64).To(d)
		compare("transpose", func(x, _, _ *weft.Tensor) *weft.Tensor { return x.T().Contiguous() }, x)
		compare("transposes in a batch", func(x, _, _ *weft.Tensor) *weft.Tensor {
			return x.Slice(weft.Range(0, rows-1), weft.Range(0, columns-1)).Contiguous().Reshape(2, (rows-1)/2, columns-1).Permute(0, 2, 1).Contiguous()
		}, x)
		compare("elements", func(x, at, _ *weft.Tensor) *weft.Tensor { return x.T().Slice(weft.Index(3)).IndexSelect(0, at) }, x)
		compare("rows", func(x, at, _ *weft.Tensor) *weft.Tensor { return x.IndexSelect(0, at.Slice(weft.Range(0, 1000))) }, x)
		compare("gather", func(x, at, _ *weft.Tensor) *weft.Tensor {
			return x.Gather(0, at.Slice(weft.Range(0, many/columns*columns)).Reshape(-1, columns))
		}, x)
		compare("mask", func(x, _, mask *weft.Tensor) *weft.Tensor { return x.MaskSelect(mask) }, x)
	}
	compare("positions", func(_, _, mask *weft.Tensor) *weft.Tensor { return mask.NonZero() }, numbers)
	compare("gradient of a mask", func(x, _, mask *weft.Tensor) *weft.Tensor {
		x = x.Detach().RequireGrad()
		x.MaskSelect(mask).Square().Sum().Backward()
		return x.Grad()
	}, numbers)

	x := numbers.On(dev)
	for name, c := range map[string]struct {
		at   *weft.Tensor
		want string
	}{
		"all":  {at.Abs().Add(rows).On(dev), "at position 0 is out of range"},
		"last": {weft.Arange(0, many, 1).Sub(many - 1 - rows).Maximum(0).On(dev), "position " + strconv.Itoa(many-1) + " is out of range"},
		"half": {weft.Arange(0, many, 1).Sub(many / 2).Sign().Mul(rows).Maximum(0).On(dev), "position " + strconv.Itoa(many/2+1) + " is out of range"},
	} {
		begin := time.Now()
		err := weft.Try(func() { weft.Digest(x.Slice(weft.Range(0, rows), weft.Index(0)).IndexSelect(0, c.at)) })
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s of the indices out of range: %v, want %s", name, err, c.want)
		}
		t.Logf("%s of %d indices refused in %v", name, many, time.Since(begin))
		if err := dev.Sync(); err != nil {
			t.Errorf("the error was told again: %v", err)
		}
	}
	compare("later work", func(x, at, _ *weft.Tensor) *weft.Tensor { return x.IndexSelect(0, at.Slice(weft.Range(0, 10))) }, numbers)
}
