// Package tensortest has what tests that compute with tensors share: values, comparisons, and the
// choice of the backend. Only tests import it.
package tensortest

import (
	"bytes"
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"testing"
	"time"
	"unsafe"

	"weft"
	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/cpu"
	"weft/internal/device"
	"weft/internal/dirty"
	"weft/internal/jit"
	"weft/internal/par"
	"weft/internal/plan"
)

// Main runs the tests of a package, for its TestMain. Every plan and every mark of tracked arrays
// is verified, and code for rows of one length is compiled at the first launch. Tests drop many small tensors and graphs while little is live, so the collector waits
// for four times as much. Above half a gigabyte it runs more often, since several packages are
// tested at once. GOGC, if set, decides instead: GOGC=1 collects at every chance.
func Main(m *testing.M) {
	plan.Verify, dirty.Verify, cpu.GeneralLaunches = true, true, 0
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
		debug.SetMemoryLimit(1 << 29)
	}
	os.Exit(m.Run())
}

// SetBackend makes the default CPU run on another backend.
func SetBackend(isa jit.ISA) {
	device.Replace(0, core.NewDevice(isa))
	core.Plans.Clear()
}

// SkipLate skips a test on a device that works late in memory of its own, and says why.
func SkipLate(t *testing.T, why string) {
	t.Helper()
	if d := device.Get(0); d.Fallback() != nil {
		t.Skipf("SKIPPED on %s: %s", d.Name(), why)
	}
}

// Wait waits for the default device and returns the first error of its work.
func Wait() error { return device.Get(0).Default().Sync() }

// Try returns the error of f, at the call or of the work that f issues.
func Try(f func()) error {
	err := weft.Try(f)
	if late := Wait(); err == nil {
		err = late
	}
	return err
}

// KeepBackend returns a function that restores the present backend.
func KeepBackend() func() {
	old := device.Get(0).(interface{ ISA() jit.ISA }).ISA()
	return func() { SetBackend(old) }
}

// EachBackend runs f on each backend of this processor.
func EachBackend(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	defer KeepBackend()()
	for _, b := range jit.ISAs() {
		SetBackend(b)
		t.Run(b.String(), f)
	}
}

// OnBackends runs f on each backend of this processor, and asserts that only that backend ran. It
// asserts that a launch ran where the host's memory is written by launches, not by [device.Stream.Copy].
func OnBackends(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	defer KeepBackend()()
	for _, b := range jit.ISAs() {
		SetBackend(b)
		counters := device.Get(0).Counters()
		t.Run(b.String(), f)
		if err := Wait(); err != nil {
			t.Error(err)
		}
		native, interpreted := counters.Native.Load(), counters.Interpreted.Load()
		if b == jit.Portable && native > 0 || b != jit.Portable && (interpreted > 0 || native == 0 && core.Reached(0)) {
			t.Errorf("%s: %d launches of machine code, %d interpreted", b, native, interpreted)
		}
		if n := counters.Refused.Load(); n > 0 {
			t.Errorf("%s: %d programs were refused", b, n)
		}
	}
}

// Noise returns float32 numbers from -scale/2 to scale/2 that seed determines.
func Noise(seed uint32, scale float32, shape ...int) *weft.Tensor {
	t := weft.Zeros(shape...)
	weft.Borrow(t, func(d []float32) {
		for i := range d {
			seed = seed*1664525 + 1013904223
			d[i] = (float32(seed>>8)/(1<<24) - 0.5) * scale
		}
	})
	return t
}

// Vector returns a float64 tensor of one axis.
func Vector(x ...float64) *weft.Tensor { return weft.FromSlice(x) }

// View returns the strided window on memory that t is.
func View(t *weft.Tensor) *array.View { return (*core.Tensor)(t).View() }

// Of returns a tensor of a view. It belongs to no scope and has no history.
func Of(v array.View) *weft.Tensor { return (*weft.Tensor)(core.New(v, nil, nil, false)) }

// Memory returns the bytes of a contiguous tensor, not copied.
func Memory(t *weft.Tensor) []byte {
	return unsafe.Slice((*byte)(View(t).Ptr()), t.Size()*t.DType().Size())
}

// Bytes returns a copy of the elements of t in row-major order.
func Bytes(t *weft.Tensor) []byte {
	v := core.ToHost((*core.Tensor)(t.Contiguous()))
	defer core.Leave(&v)
	if v.Size() == 0 {
		return []byte{}
	}
	return bytes.Clone(unsafe.Slice((*byte)(v.Ptr()), v.Size()*v.DType.Size()))
}

// SameBits fails unless two tensors have the same type, shape and bits.
func SameBits(t *testing.T, what string, got, want *weft.Tensor) {
	t.Helper()
	if weft.Digest(got) != weft.Digest(want) {
		t.Errorf("%s: got %v, want the bits of %v", what, got, want)
	}
}

// Near fails unless the elements of got, in row-major order, differ from want by at most
// bound*(1+|want|). NaN is near NaN, and an infinity near itself.
func Near(t *testing.T, what string, got *weft.Tensor, want []float64, bound float64) {
	t.Helper()
	x := weft.Data[float64](got.Detach().To(weft.Float64))
	if len(x) != len(want) {
		t.Fatalf("%s has %d elements, want %d", what, len(x), len(want))
	}
	for i, w := range want {
		if x[i] == w || math.IsNaN(x[i]) && math.IsNaN(w) {
			continue
		}
		if !(math.Abs(x[i]-w) <= bound*(1+math.Abs(w))) || math.IsInf(x[i], 0) || math.IsInf(w, 0) {
			t.Fatalf("%s: element %d is %v, want %v", what, i, x[i], w)
		}
	}
}

// Differences fails unless the gradient of f at a point is near its central differences.
func Differences(t *testing.T, name string, f func(x *weft.Tensor) *weft.Tensor, at ...float64) {
	t.Helper()
	x := weft.FromSlice(slices.Clone(at)).RequireGrad()
	got := weft.Data[float64](weft.Grad(f(x), []*weft.Tensor{x})[0])
	for i := range at {
		const h = 1e-5
		up, down := slices.Clone(at), slices.Clone(at)
		up[i] += h
		down[i] -= h
		want := (f(weft.FromSlice(up)).Item() - f(weft.FromSlice(down)).Item()) / (2 * h)
		if math.Abs(got[i]-want) > 1e-6*max(1, math.Abs(want)) {
			t.Errorf("%s: derivative %d is %v, differences give %v", name, i, got[i], want)
		}
	}
}

// Patient calls f until it returns "", at most 20 times, and fails with what it returned last. What
// f waits for comes when the system gives this process time, which other processes may want too.
func Patient(t *testing.T, f func() (missing string)) {
	t.Helper()
	missing := f()
	for tries := 1; missing != "" && tries < 20; tries++ {
		missing = f()
	}
	if missing != "" {
		t.Error(missing)
	}
}

// Peak returns the most memory in bytes that arrays have in use during f, without what they have in use
// before: garbage of other tests is collected first, and one thread has all the scratch.
func Peak(f func()) int64 {
	defer par.SetThreads(par.SetThreads(1))
	before := Settled()
	p := weft.StartProfile(weft.ProfileOpts{})
	defer p.Stop()
	f()
	return p.Peak() - before
}

// Settled collects garbage until the memory in use stays as it is, and returns that.
func Settled() int64 {
	live := int64(-1)
	for {
		runtime.GC()
		time.Sleep(time.Millisecond) // memory comes back after the collection
		now := device.Get(0).Memory().Stats().Live
		if now == live {
			return live
		}
		live = now
	}
}
