package cudart_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"weft"
	"weft/internal/array"
	"weft/internal/ptxsim"
)

// A profile has the times of the device, which the simulator counts in whole microseconds, of operations
// and kernels on each stream. Asking for them takes no error from who waits.
func TestProfileHasTimesOfDevice(t *testing.T) {
	number, gpu := simulated(t, ptxsim.Options{Seed: 3})
	dev := weft.Devices()[number]
	x := dev.Randn(40, 40)
	s := newStream(t, dev)
	f := weft.Compile(func(x *weft.Tensor) *weft.Tensor { return x.Tanh().MatMul(x).Sum(0) }).Func()
	places := weft.FromSlice([]int64{50}).On(dev)
	launched := gpu.Counters().Native.Load()
	p := weft.StartProfile(weft.ProfileOpts{Trace: true})
	x.Exp()
	s.Track(x).MatMul(x)
	f(x)
	y := x.IndexSelect(0, places)
	p.Stop()
	if err := array.Try(func() { y.Sum().Item() }); err == nil || !strings.Contains(err.Error(), "50") {
		t.Errorf("%v, want the error of the index", err)
	}
	rows := append(p.Operations(), p.Kernels()...)
	seen := map[string]bool{}
	for _, r := range rows {
		if !strings.HasPrefix(r.Device, dev.Name()) { // a number follows where another device has the name
			continue
		}
		seen[r.Name] = true
		if r.Time <= 0 || r.Time%time.Microsecond != 0 || r.Time > 100*time.Microsecond {
			t.Errorf("%s took %v, want the simulator's time", r.Name, r.Time)
		}
	}
	for _, name := range []string{"exp", "matmul", "matmul2"} {
		if !seen[name] {
			t.Errorf("no row for %s in %v", name, rows)
		}
	}
	var trace bytes.Buffer
	check(t, p.WriteTrace(&trace))
	for _, want := range []string{"stream 0", "stream 1"} {
		if !strings.Contains(trace.String(), want) {
			t.Errorf("the trace has no track %q", want)
		}
	}
	if n := gpu.Counters().Native.Load() - launched; n < 6 { // routines are counted too
		t.Errorf("%d launches were counted", n)
	}
}
