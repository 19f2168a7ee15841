package cpu

import (
	"testing"
	"unsafe"

	"weft/internal/array"
	"weft/internal/device"
	"weft/internal/jit"
	"weft/internal/loop"
	"weft/internal/x86"
)

// A kernel with more values alive at once than a frame's scratch memory holds runs as
// machine code, in a large frame.
func TestLargeFrame(t *testing.T) {
	const alive, n = 3000, 37
	b := loop.NewBuilder("alive", []loop.Axis{{Kind: loop.Parallel}}, 0)
	in, out := b.Buf(array.Float32, false, loop.Unit), b.Buf(array.Float32, true, loop.Unit)
	b.Pass(func() {
		x := b.Load(in)
		half := b.Float(loop.F32, 0.5)
		v := []loop.Value{x}
		for range alive {
			v = append(v, b.Add(b.Mul(v[len(v)-1], half), x))
		}
		s := x
		for i := len(v) - 1; i >= 0; i-- {
			s = b.Sub(v[i], b.Mul(s, half))
		}
		b.Store(out, s)
	})
	p, err := b.Done()
	if err != nil {
		t.Fatal(err)
	}
	plain := func(x float32) float32 {
		v := []float32{x}
		for range alive {
			v = append(v, float32(v[len(v)-1]*0.5)+x)
		}
		s := x
		for i := len(v) - 1; i >= 0; i-- {
			s = v[i] - float32(s*0.5)
		}
		return s
	}
	for _, backend := range jit.ISAs() {
		d := New(backend)
		prog, err := d.Compile(p)
		if err != nil {
			t.Fatal(err)
		}
		if d.counters.Refused.Load() != 0 {
			t.Errorf("%s: refused", backend)
		}
		if backend != jit.Portable {
			if k, err := x86.Compile(p, backend); err != nil || k.Scratch <= 32<<10 {
				t.Errorf("%s: %v, or the kernel fits a frame of 32 KiB", backend, err)
			}
		}
		x, y := d.Default().Alloc(4*n), d.Default().Alloc(4*n)
		xs, ys := unsafe.Slice((*float32)(x.Host()), n), unsafe.Slice((*float32)(y.Host()), n)
		for i := range xs {
			xs[i] = float32(i) - 7.5
		}
		f := device.NewArgs()
		f.Bufs[0], f.Bufs[1] = device.Ref{Store: x}, device.Ref{Store: y}
		f.Word[p.ExtentWord(0)], f.Word[p.StartWord(0)] = n, 0
		f.Word[p.StrideWord(0, 0)], f.Word[p.StrideWord(1, 0)] = 4, 4
		if err := d.Default().Launch(device.Launch{Program: prog, Args: f, Extents: []int{n}, Cost: 1}); err != nil {
			t.Fatal(err)
		}
		for i, x := range xs {
			if ys[i] != plain(x) {
				t.Fatalf("%s: element %d is %v, want %v", backend, i, ys[i], plain(x))
			}
		}
	}
}
