package cudart_test

import (
	"runtime"
	"testing"

	"weft"
	"weft/internal/device"
	"weft/internal/ptxsim"
)

// Work on one GPU moves the figures of no other device, and a profile names the GPU.
func TestFiguresOfOneGPU(t *testing.T) {
	const n = 1 << 12
	first, gpu := simulated(t, ptxsim.Options{Seed: 1})
	second, other := simulated(t, ptxsim.Options{Seed: 2})
	if gpu.Number() != first || other.Number() != second {
		t.Fatalf("numbers are %d and %d, want %d and %d", gpu.Number(), other.Number(), first, second)
	}
	x := on(weft.Ones(n), first)
	launches := func(d device.Device) int64 { return d.Counters().Native.Load() }
	counted, unmoved, idle, memory := launches(gpu), launches(device.Get(0)), other.Memory().Stats(), gpu.Memory().Stats()
	p := weft.StartProfile(weft.ProfileOpts{})
	defer p.Stop()
	y := x.Tanh().Mul(3)
	if err := gpu.Sync(); err != nil {
		t.Fatal(err)
	}
	p.Stop()
	if got := launches(gpu) - counted; got != 2 {
		t.Errorf("%d launches counted, want 2", got)
	}
	if got := gpu.Counters().Compiled.Load(); got < 2 {
		t.Errorf("%d kernels compiled, want 2 at least", got)
	}
	if s := gpu.Memory().Stats(); s.Hits+s.Misses != memory.Hits+memory.Misses+2 || s.Live < 2*4*n {
		t.Errorf("two results of %d bytes moved the figures of memory from %+v to %+v", 4*n, memory, s)
	}
	if c := other.Counters(); c.Native.Load() != 0 || c.Compiled.Load() != 0 || other.Memory().Stats() != idle {
		t.Error("the figures of the other GPU moved")
	}
	if got := launches(device.Get(0)) - unmoved; got != 0 {
		t.Errorf("the CPU counted %d launches", got)
	}
	for _, rows := range [][]weft.ProfileRow{p.Operations(), p.Kernels()} {
		for _, r := range rows {
			if r.Device != device.Label(first) {
				t.Errorf("%s is on %q in the profile, want %q", r.Name, r.Device, device.Label(first))
			}
		}
	}
	if ops := p.Operations(); len(ops) != 2 || ops[0].Memory != 4*n || ops[0].Peak < 2*4*n {
		t.Errorf("operations of the profile: %+v", ops)
	}
	runtime.KeepAlive([]*weft.Tensor{x, y})
}

func TestMemoryOfOneGPU(t *testing.T) {
	number, gpu := simulated(t, ptxsim.Options{})
	gpu.Memory().Attach(number) // again
	defer func() {
		if recover() == nil {
			t.Error("the memory of a GPU was given to another device")
		}
	}()
	gpu.Memory().Attach(0)
}
