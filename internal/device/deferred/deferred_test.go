package deferred_test

import (
	"errors"
	"fmt"
	"testing"

	"weft"
	"weft/internal/core"
	"weft/internal/cpu"
	"weft/internal/device"
	"weft/internal/device/deferred"
	"weft/internal/jit"
)

var number = device.Register(deferred.New(cpu.New(jit.Chosen().ISA)))

// on returns a copy of t on the deferred device.
func on(t *weft.Tensor) *weft.Tensor { return (*weft.Tensor)((*core.Tensor)(t).On(number)) }

func TestLateErrorKeepsKindAndOp(t *testing.T) {
	x, at := on(weft.Arange(0, 4, 1)), on(weft.FromSlice([]int64{1, 7}))
	var y *weft.Tensor
	if err := weft.Try(func() { y = x.IndexSelect(0, at) }); err != nil {
		t.Fatalf("the error came at the call: %v", err)
	}
	want := weft.Try(func() { weft.Arange(0, 4, 1).IndexSelect(0, weft.FromSlice([]int64{1, 7})) })
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
	_, want := f.Call(x, at)
	y, err := f.Call(on(x), on(at))
	if err == nil {
		err = weft.Try(func() { weft.Data[int64](y) })
	}
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
