package data_test

import (
	"context"
	"testing"

	"weft"
	"weft/data"
	"weft/internal/cpu"
	"weft/internal/device"
	"weft/internal/device/deferred"
	"weft/internal/jit"
	"weft/internal/mem"
)

// TestBatchesOnDevice: a batch of tensors on the CPU is moved by On, and tensors on a device give
// batches there, from the rows themselves and from single examples.
func TestBatchesOnDevice(t *testing.T) {
	d := deferred.New(cpu.NewIn(mem.NewPool(), jit.Chosen().ISA), cpu.New(jit.Chosen().ISA))
	device.Register(d)
	dev, err := weft.DeviceByName(d.Name())
	if err != nil {
		t.Fatal(err)
	}
	x, y := weft.Arange(0.0, 20).Reshape(10, 2), weft.Arange(10)
	batches := func(from data.Dataset, where weft.Device) (out []data.Batch) {
		for b, err := range data.NewLoader(from, data.LoaderOpts{Batch: new(4), Shuffle: true, Seed: 3}).Batches(context.Background()) {
			if err != nil {
				t.Fatal(err)
			}
			if b.Y.Device() != where {
				t.Errorf("a batch is on %s, want %s", b.Y.Device(), where)
			}
			out = append(out, data.Batch{X: b.X.On(dev), Y: b.Y.On(dev)})
		}
		return out
	}
	want := batches(data.Tensors(x, y), weft.CPU)
	for what, from := range map[string]data.Dataset{"rows": data.Tensors(x.On(dev), y.On(dev)), "targets": data.Tensors(x, y.On(dev)), "examples": examples{x.On(dev), y.On(dev)}} {
		got := batches(from, dev)
		if len(got) != len(want) {
			t.Fatalf("%s: %d batches, want %d", what, len(got), len(want))
		}
		for i := range want {
			if weft.Digest(got[i].X, got[i].Y) != weft.Digest(want[i].X, want[i].Y) {
				t.Errorf("%s: batch %d is %v, want %v", what, i, got[i], want[i])
			}
		}
	}
}

// examples gives single rows.
type examples struct{ x, y *weft.Tensor }

func (e examples) Len() int { return e.x.Dim(0) }

func (e examples) Get(i int) (x, y *weft.Tensor, err error) { return e.x.At(i), e.y.At(i), nil }
