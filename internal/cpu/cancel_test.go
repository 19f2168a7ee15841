package cpu

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"time"
	"unsafe"

	"weft/internal/array"
	"weft/internal/device"
	"weft/internal/jit"
	"weft/internal/loop"
)

// endless never leaves its loop.
func endless(t *testing.T) *loop.Program {
	b := loop.NewBuilder("endless", []loop.Axis{{Kind: loop.Parallel}}, 0)
	x := b.Buf(array.Float32, false, loop.Unit)
	y := b.Buf(array.Float32, true, loop.Unit)
	b.Pass(func() {
		v := b.Load(x)
		r := b.While([]loop.Value{v}, func(v []loop.Value) loop.Value {
			return b.Le(v[0], b.Float(loop.F32, 1e30))
		}, func(v []loop.Value) []loop.Value {
			return []loop.Value{b.Mul(v[0], b.Float(loop.F32, 0.5))}
		})
		b.Store(y, r[0])
	})
	p, err := b.Done()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// An infinite loop is cancelled by its context on each backend, and collections
// finish while it runs.
func TestCancelEndlessLoop(t *testing.T) {
	for _, backend := range jit.ISAs() {
		d := New(backend)
		prog, err := d.Compile(endless(t))
		if err != nil {
			t.Fatal(err)
		}
		if n := d.counters.Refused.Load(); n != 0 {
			t.Fatalf("%s: %d programs fell back to the interpreter", backend, n)
		}
		x, y := d.Default().Alloc(4*64), d.Default().Alloc(4*64)
		f := device.NewArgs()
		p := prog.Loop()
		f.Bufs[0], f.Bufs[1] = device.Ref{Store: x}, device.Ref{Store: y}
		clear(unsafe.Slice((*float32)(x.Host()), 64))
		f.Word[p.ExtentWord(0)], f.Word[p.StartWord(0)] = 64, 0
		f.Word[p.StrideWord(0, 0)], f.Word[p.StrideWord(1, 0)] = 4, 4
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan error)
		go func() {
			done <- d.Default().Launch(device.Launch{Program: prog, Args: f, Extents: []int{64}, Cost: 1, Context: ctx})
		}()
		for range 20 {
			runtime.GC()
		}
		select {
		case err := <-done:
			t.Fatalf("%s: the loop ended by itself: %v", backend, err)
		default:
		}
		cancel()
		select {
		case err := <-done:
			if !errors.Is(err, context.Canceled) {
				t.Errorf("%s: %v, want context.Canceled", backend, err)
			}
		case <-time.After(30 * time.Second):
			t.Fatalf("%s: not cancelled", backend)
		}
		runtime.KeepAlive(x)
		runtime.KeepAlive(y)
		f.Free(2)
	}
}
