package weft

import (
	"crypto/sha256"
	"encoding/hex"
	"math"
	"testing"
	"unsafe"

	"weft/internal/cpu"
	"weft/internal/device"
	"weft/internal/jit"
	"weft/internal/par"
	"weft/internal/plan"
)

func init() { plan.Verify = true }

// SetBackend is setBackend for tests outside of the package.
func SetBackend(isa jit.ISA) { setBackend(isa) }

// keepBackend returns what makes the backend of now that of the process again.
func keepBackend() func() {
	old := device.Get(0).(*cpu.Device).ISA()
	return func() { setBackend(old) }
}

// onBackends runs f with each backend of this processor, and asserts that it ran.
func onBackends(t *testing.T, f func(t *testing.T)) {
	defer keepBackend()()
	for _, b := range jit.ISAs() {
		setBackend(b)
		native, interpreted := cpu.Counters.Native.Load(), cpu.Counters.Interpreted.Load()
		refused := cpu.Counters.Refused.Load()
		t.Run(b.String(), f)
		native = cpu.Counters.Native.Load() - native
		interpreted = cpu.Counters.Interpreted.Load() - interpreted
		if b == jit.Portable && native > 0 || b != jit.Portable && (interpreted > 0 || native == 0) {
			t.Errorf("%s: %d launches of machine code, %d interpreted", b, native, interpreted)
		}
		if n := cpu.Counters.Refused.Load() - refused; n > 0 {
			t.Errorf("%s: %d programs were refused", b, n)
		}
	}
}

// noise fills a tensor with numbers from a small generator.
func noise(seed uint32, scale float32, shape ...int) *Tensor {
	t := Zeros(shape...)
	Borrow(t, func(d []float32) {
		for i := range d {
			seed = seed*1664525 + 1013904223
			d[i] = (float32(seed>>8)/(1<<24) - 0.5) * scale
		}
	})
	return t
}

func bitsOf(ts ...*Tensor) string {
	h := sha256.New()
	for _, t := range ts {
		Borrow(t.Contiguous(), func(d []float32) {
			h.Write(unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(d))), 4*len(d)))
		})
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// train takes some steps of a small convolutional network with momentum.
func train(steps int) []*Tensor {
	ps := []*Tensor{noise(1, .4, 6, 1, 5, 5), noise(2, .1, 6), noise(3, .2, 16, 6, 5, 5), noise(4, .1, 16),
		noise(5, .2, 84, 256), noise(6, .1, 84), noise(7, .2, 10, 84), noise(8, .1, 10)}
	var mom []*Tensor
	for _, p := range ps {
		p.RequireGrad()
		mom = append(mom, ZerosLike(p))
	}
	labels := make([]int64, 36)
	for i := range labels {
		labels[i] = int64(i*7) % 10
	}
	y := FromSlice(labels)
	pool := PoolOpts{Window: [2]int{2, 2}}
	for step := range steps {
		s := NewScope()
		x := s.Track(noise(uint32(100+step), 2, 36, 1, 28, 28))
		h := x.Conv2d(ps[0], ps[1], ConvOpts{}).Relu().MaxPool2d(pool)
		h = h.Conv2d(ps[2], ps[3], ConvOpts{}).Gelu().MaxPool2d(pool).Flatten(1)
		h = h.Linear(ps[4], ps[5]).Tanh().Linear(ps[6], ps[7])
		CrossEntropy(h, y).Backward()
		for i, p := range ps {
			mom[i].MulAssign(0.9).AddAssign(p.Grad())
			WithoutGrad(func() { p.SubAssign(mom[i].Mul(0.05)) })
			p.SetGrad(nil)
		}
		s.Close()
	}
	return ps
}

// The weights after training have the same bits on every backend and with every
// number of threads.
func TestTrainingBits(t *testing.T) {
	defer par.SetThreads(par.SetThreads(1))
	want := ""
	onBackends(t, func(t *testing.T) {
		for _, threads := range []int{1, 2, 5} {
			par.SetThreads(threads)
			steps := 8
			if testing.Short() {
				steps = 2 // the race detector is slow
			}
			ps := train(steps)
			for _, p := range ps {
				if s := p.Detach().Sum().Item(); math.IsNaN(s) || math.IsInf(s, 0) {
					t.Fatal("the weights are not finite")
				}
			}
			got := bitsOf(ps...)
			if want == "" {
				want = got
			}
			if got != want {
				t.Errorf("%d threads: digest %s, want %s", threads, got, want)
			}
		}
	})
	if want == bitsOf(noise(1, .4, 6, 1, 5, 5)) {
		t.Error("nothing was trained")
	}
}

// Any part of a product has the bits it has in the large one.
func TestSubProductBits(t *testing.T) {
	onBackends(t, func(t *testing.T) {
		a, b := noise(1, 2, 150, 700), noise(2, 2, 700, 130)
		c := a.MatMul(b)
		for _, r := range [][4]int{{0, 1, 0, 130}, {7, 9, 3, 4}, {0, 150, 64, 65}, {13, 77, 31, 99}, {149, 150, 129, 130}} {
			rows, cols := Range(r[0], r[1]), Range(r[2], r[3])
			part := a.Slice(rows).MatMul(b.Slice(All, cols))
			if bitsOf(part) != bitsOf(c.Slice(rows, cols)) {
				t.Errorf("rows %d:%d, columns %d:%d differ", r[0], r[1], r[2], r[3])
			}
			if bitsOf(b.T().Slice(cols).MatMul(a.T().Slice(All, rows)).T()) != bitsOf(c.Slice(rows, cols)) {
				t.Errorf("transposed, rows %d:%d, columns %d:%d differ", r[0], r[1], r[2], r[3])
			}
		}
		if v := a.At(5).MatMul(b); bitsOf(v) != bitsOf(c.At(5)) {
			t.Error("vector times matrix differs")
		}
		stack := Stack([]*Tensor{a, a.Mul(2), a}, 0).MatMul(b.Expand(3, 700, 130))
		if bitsOf(stack.At(2)) != bitsOf(c) {
			t.Error("batched product differs")
		}
	})
}

// The backend that WEFT_JIT asks for is the one that runs.
func TestForcedBackend(t *testing.T) {
	choice := jit.Chosen()
	want := choice.ISA
	if choice.Wish != "" && choice.Note == "" && want.String() != choice.Wish {
		t.Errorf("WEFT_JIT=%s chose %s", choice.Wish, want)
	}
	if got := device.Get(0).(*cpu.Device).ISA(); got != want {
		t.Fatalf("%s runs, %s was chosen", got, want)
	}
	native, interpreted := cpu.Counters.Native.Load(), cpu.Counters.Interpreted.Load()
	noise(1, 1, 1000).Mul(3).Add(1)
	native = cpu.Counters.Native.Load() - native
	interpreted = cpu.Counters.Interpreted.Load() - interpreted
	if (want == jit.Portable) != (native == 0) || (want == jit.Portable) != (interpreted > 0) {
		t.Errorf("%s: %d launches of machine code, %d interpreted", want, native, interpreted)
	}
	t.Logf("backend %s", want)
}
