package deferred_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"weft"
	"weft/internal/core"
	"weft/internal/cpu"
	"weft/internal/device"
	"weft/internal/device/deferred"
	"weft/internal/jit"
	"weft/internal/mem"
)

// late returns a device that works late, with memory of its own.
func late() *deferred.Device {
	isa := jit.Chosen().ISA
	return deferred.New(cpu.NewIn(mem.NewPool(), isa), cpu.New(isa))
}

var (
	number = device.Register(late())
	second = device.Register(late())
)

// on returns a copy of t on the deferred device.
func on(t *weft.Tensor) *weft.Tensor { return (*weft.Tensor)((*core.Tensor)(t).On(number)) }

func TestLateErrorKeepsKindAndOp(t *testing.T) {
	x, at := on(weft.Arange(0, 4, 1)), on(weft.FromSlice([]int64{1, 7}))
	var y *weft.Tensor
	if err := weft.Try(func() { y = x.IndexSelect(0, at) }); err != nil {
		t.Fatalf("the error came at the call: %v", err)
	}
	want := weft.Try(func() { // read: device 0 may work late too
		weft.Data[int64](weft.Arange(0, 4, 1).IndexSelect(0, weft.FromSlice([]int64{1, 7})))
	})
	err := weft.Try(func() { weft.Data[int64](y) })
	var e, w *weft.Error
	if !errors.As(err, &e) || !errors.As(want, &w) || e.Kind != w.Kind || e.Op != w.Op || e.Msg != w.Msg {
		t.Errorf("%v, want %v", err, want)
	}
	if err := weft.Try(func() { weft.Data[int64](x) }); err != nil {
		t.Errorf("the error came twice: %v", err)
	}
}

func TestLateErrorNamesTheLine(t *testing.T) {
	f := weft.Compile(func(x, at *weft.Tensor) *weft.Tensor { return x.IndexSelect(0, at) })
	x, at := weft.Arange(0, 4, 1), weft.FromSlice([]int64{1, 7})
	call := func(x, at *weft.Tensor) error { // or read: device 0 may work late too
		y, err := f.Call(x, at)
		if err == nil {
			err = weft.Try(func() { weft.Data[int64](y) })
		}
		return err
	}
	want, err := call(x, at), call(on(x), on(at))
	if err == nil || want == nil || err.Error() != want.Error() {
		t.Errorf("%v, want %v", err, want)
	}
}

func TestPrintingWaits(t *testing.T) {
	x := on(weft.Arange(0, 6, 1).Reshape(2, 3))
	for i := range 3 {
		x = x.Mul(i + 1)
	}
	if got, want := fmt.Sprint(x.T()), fmt.Sprint(weft.Arange(0, 6, 1).Reshape(2, 3).Mul(6).T()); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// Released memory stays until the work that names it is done.
func TestWorkKeepsReleasedMemory(t *testing.T) {
	x := on(weft.Ones(5000))
	y := x.Add(1)
	x.Release()
	for range 10 {
		on(weft.Zeros(5000)).Add(7).Release()
	}
	if got := y.Sum().Item(); got != 10000 {
		t.Errorf("sum is %v, want 10000", got)
	}
}

func TestOverlapIsAskedOfTheLayout(t *testing.T) {
	x, y := on(weft.Zeros(8)), on(weft.Zeros(8))
	a, b := (*core.Tensor)(x.Slice(weft.Range(0, 5))).Layout(), (*core.Tensor)(x.Slice(weft.Range(4, 8))).Layout()
	if !a.Overlaps(b) {
		t.Error("parts that share an element do not overlap")
	}
	if a.Overlaps((*core.Tensor)(y).Layout()) {
		t.Error("memory of two tensors overlaps")
	}
}

func TestBorrowCopiesBack(t *testing.T) {
	x := on(weft.Zeros(3))
	weft.Borrow(x, func(data []float32) { data[1] = 5 })
	if got := weft.Data[float32](x); got[1] != 5 {
		t.Errorf("%v, want 5 at 1", got)
	}
}

// The kernel that gathers was issued when the error is found: it reads within the table.
func TestFusedGatherAfterAnError(t *testing.T) {
	f := weft.Compile(func(x, at *weft.Tensor) *weft.Tensor { return x.IndexSelect(0, at).Mul(3.5).Add(1).Tanh() })
	x, at := on(weft.Ones(50, 40)), on(weft.FullOf(weft.Int64, 1<<40, 90))
	for range 20 {
		y, err := f.Call(x, at)
		if err == nil {
			err = weft.Try(func() { weft.Data[float32](y) })
		}
		var e *weft.Error
		if !errors.As(err, &e) || e.Op != "index_select" {
			t.Fatalf("%v, want an error of index_select", err)
		}
	}
}

// figures are what a device did and allocated.
type figures struct{ compiled, launches, allocations int64 }

func figuresOf(n uint8) figures {
	c, m := device.Get(n).Counters(), device.Get(n).Memory().Stats()
	return figures{c.Compiled.Load(), c.Native.Load() + c.Interpreted.Load(), m.Hits + m.Misses}
}

// Work on one device moves the figures of no other one, also of the same kind.
func TestFiguresOfOneDevice(t *testing.T) {
	const n = 1 << 20
	for _, on := range [][]uint8{{number, second, 0}, {second, 0, number}, {0, number, second}} {
		x := (*weft.Tensor)((*core.Tensor)(weft.Ones(n)).On(on[0]))
		if err := device.Get(on[0]).Default().Sync(); err != nil {
			t.Fatal(err)
		}
		before, alone, other := figuresOf(on[0]), figuresOf(on[1]), figuresOf(on[2])
		y := x.Mul(float32(3)).Tanh()
		if err := device.Get(on[0]).Default().Sync(); err != nil {
			t.Fatal(err)
		}
		if now := figuresOf(on[0]); now.launches < before.launches+2 || now.allocations < before.allocations+2 {
			t.Errorf("device %d: %+v, before two operations %+v", on[0], now, before)
		}
		if s := device.Get(on[0]).Memory().Stats(); s.Live < 4*n || s.Peak < s.Live || s.Reserved < s.Live {
			t.Errorf("device %d has an array of %d bytes: %+v", on[0], 4*n, s)
		}
		if a, o := figuresOf(on[1]), figuresOf(on[2]); a != alone || o != other {
			t.Errorf("work on device %d moved %+v to %+v, %+v to %+v", on[0], alone, a, other, o)
		}
		y.Release()
	}
}

// Kernels belong to the device that compiled them.
func TestCompiledOnOneDevice(t *testing.T) {
	x, y := on(weft.Ones(300)), (*weft.Tensor)((*core.Tensor)(weft.Ones(300)).On(second))
	first, then := figuresOf(number), figuresOf(second)
	x.Asinh().Release() // which no other test here computes
	if now := figuresOf(number); now.compiled != first.compiled+1 {
		t.Errorf("%d kernels compiled for one operation", now.compiled-first.compiled)
	}
	if now := figuresOf(second); now.compiled != then.compiled {
		t.Error("another device compiled it too")
	}
	y.Asinh().Release()
	if now := figuresOf(second); now.compiled != then.compiled+1 {
		t.Errorf("%d kernels compiled on the second device", now.compiled-then.compiled)
	}
}

// A profile names the device of each operation and kernel, and has the memory of each.
func TestProfileOfDevices(t *testing.T) {
	const n = 1 << 18
	numbers := []uint8{0, number, second}
	var xs []*weft.Tensor
	for _, d := range numbers {
		xs = append(xs, (*weft.Tensor)((*core.Tensor)(weft.Ones(n)).On(d)))
	}
	p := weft.StartProfile(weft.ProfileOpts{Trace: true})
	defer p.Stop()
	for i, x := range xs {
		for range i + 1 {
			x.Cosh().Sinh()
		}
		if err := device.Get(numbers[i]).Default().Sync(); err != nil {
			t.Fatal(err)
		}
	}
	p.Stop()
	calls := map[string]int64{}
	for _, rows := range [][]weft.ProfileRow{p.Operations(), p.Kernels()} {
		for _, r := range rows {
			if strings.Contains(r.Name, "cosh") {
				calls[r.Device] += r.Calls
			}
			if r.Name == "cosh" && (r.Memory != r.Calls*4*n || r.Peak < 4*n) {
				t.Errorf("%+v", r)
			}
		}
	}
	var trace bytes.Buffer
	if err := p.WriteTrace(&trace); err != nil {
		t.Fatal(err)
	}
	var file struct {
		TraceEvents []struct {
			Name, Ph string
			Pid      int
			Args     map[string]any
		}
	}
	if err := json.Unmarshal(trace.Bytes(), &file); err != nil {
		t.Fatal(err)
	}
	process, kernels, most := map[string]int{}, map[int]int{}, map[int]float64{}
	for _, e := range file.TraceEvents {
		switch {
		case e.Name == "process_name":
			process[e.Args["name"].(string)] = e.Pid
		case e.Ph == "X" && strings.Contains(e.Name, "point cosh"):
			kernels[e.Pid]++
		case e.Ph == "C":
			most[e.Pid] = max(most[e.Pid], e.Args["in use"].(float64))
		}
	}
	for i, d := range numbers {
		name := device.Label(d)
		if want := int64(2 * (i + 1)); calls[name] != want {
			t.Errorf("%s: %d calls and launches of cosh, want %d: %v", name, calls[name], want, calls)
		}
		if at, ok := process[name]; !ok || kernels[at] < i+1 {
			t.Errorf("%s: %d kernels in the trace, want %d: %v", name, kernels[at], i+1, process)
		}
		if at, ok := process[name+" memory"]; !ok || most[at] < 2*4*n {
			t.Errorf("%s: the trace has at most %v bytes in use, want %d at least", name, most[at], 2*4*n)
		}
		if !strings.Contains(p.String(), " on "+name) {
			t.Errorf("the profile does not name %s:\n%s", name, p)
		}
	}
	if len(process) != 1+2*len(numbers) {
		t.Errorf("processes of the trace: %v", process)
	}
}

// Two registered devices cannot have one memory.
func TestMemoryOfTwoDevices(t *testing.T) {
	defer func() {
		if r := recover(); r == nil {
			t.Error("the memory of a device was given to another one")
		}
	}()
	device.Get(number).Memory().Attach(second)
}
