package packed_test

import (
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"weft"
	"weft/internal/jit"
	"weft/internal/packed"
	"weft/internal/tensortest"
	"weft/npy"
)

const rows, inner, columns = 40, 300, 260

// fill writes numbers by a seed.
func fill(n, seed int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32((i*7919+seed*104729)%2003)/1000 - 1
	}
	return x
}

// weights returns a matrix in memory of the pool.
func weights(seed int) *weft.Tensor {
	return weft.FromSlice(fill(inner*columns, seed), inner, columns).Clone()
}

// plain is the product of x and the elements that w has now, by memory of Go's, of whose elements no packed copy is kept.
func plain(x, w *weft.Tensor) []float32 {
	return weft.Data[float32](x.MatMul(weft.FromSlice(weft.Data[float32](w), w.Shape()...)))
}

func same(t *testing.T, what string, got, want []float32) {
	t.Helper()
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("%s: element %d is %v, not %v", what, i, got[i], want[i])
		}
	}
}

// needsCode skips a test where products have no machine code, and pack nothing.
func needsCode(t *testing.T) {
	if jit.Chosen().ISA == jit.Portable {
		t.Skip("SKIPPED: there is no machine code, which packs")
	}
}

// calls calls f three times, and returns how many copies that made.
func calls(t *testing.T, what string, f func(x *weft.Tensor) *weft.Tensor, x *weft.Tensor, want func() []float32) int64 {
	t.Helper()
	before := packed.Made()
	for range 3 {
		same(t, what, weft.Data[float32](f(x)), want())
	}
	return packed.Made() - before
}

func TestCapturedWeightsAreKept(t *testing.T) {
	needsCode(t)
	w := weights(1)
	x := weft.FromSlice(fill(rows*inner, 2), rows, inner)
	f := weft.Compile(func(x *weft.Tensor) *weft.Tensor { return x.MatMul(w) }).Func()
	want := func() []float32 { return plain(x, w) }
	if n := calls(t, "as made", f, x, want); n != 1 {
		t.Errorf("%d copies were made, not 1", n)
	}
	if n := calls(t, "again", f, x, want); n != 0 {
		t.Errorf("%d more copies were made", n)
	}
	weft.WithoutGrad(func() { w.MulAssign(0.5) })
	if n := calls(t, "written", f, x, want); n != 1 {
		t.Errorf("%d copies of what was written were made, not 1", n)
	}
	weft.Borrow(w, func(data []float32) { data[0], data[len(data)-1] = 3, -3 })
	calls(t, "borrowed", f, x, want)
	calls(t, "borrowed", f, x, want)
	weft.Borrow(w, func(data []float32) {
		for i := range 5 {
			data[i] = float32(i)
			same(t, "while it is borrowed", weft.Data[float32](f(x)), plain(x, weft.FromSlice(data, inner, columns)))
		}
	})
	calls(t, "after that", f, x, want)
}

// A function that writes weights between two uses sees both.
func TestWritesInsideACall(t *testing.T) {
	needsCode(t)
	w := weights(3)
	x := weft.FromSlice(fill(rows*inner, 4), rows, inner)
	infer := weft.Compile(func(x *weft.Tensor) *weft.Tensor { return x.MatMul(w) }).Func()
	step := weft.Compile(func(x *weft.Tensor) (a, b *weft.Tensor) {
		a = x.MatMul(w)
		w.MulAssign(2)
		return a, x.MatMul(w)
	}).Func()
	for range 3 {
		calls(t, "before", infer, x, func() []float32 { return plain(x, w) })
		before := plain(x, w)
		a, b := step(x)
		same(t, "before the write", weft.Data[float32](a), before)
		same(t, "behind it", weft.Data[float32](b), plain(x, w))
		w.MulAssign(0.5)
	}
}

// What Go code, other processes or C can write is never kept.
func TestMemoryOfOthersIsNotKept(t *testing.T) {
	needsCode(t)
	data := fill(inner*columns, 5)
	x := weft.FromSlice(fill(rows*inner, 6), rows, inner)
	w := weft.FromSlice(data, inner, columns)
	f := weft.Compile(func(x *weft.Tensor) *weft.Tensor { return x.MatMul(w) }).Func()
	if n := calls(t, "a slice", f, x, func() []float32 { return plain(x, w) }); n != 0 {
		t.Errorf("%d copies of a slice were kept", n)
	}
	data[0] = 7
	calls(t, "a slice that was written", f, x, func() []float32 { return plain(x, w) })

	path := filepath.Join(t.TempDir(), "w.npy")
	if err := npy.WriteFile(path, w); err != nil {
		t.Fatal(err)
	}
	shared, err := npy.Map(path, npy.ReadWrite)
	if err != nil {
		t.Fatal(err)
	}
	g := weft.Compile(func(x *weft.Tensor) *weft.Tensor { return x.MatMul(shared) }).Func()
	if n := calls(t, "a shared file", g, x, func() []float32 { return plain(x, shared) }); n != 0 {
		t.Errorf("%d copies of a shared file were kept", n)
	}
	shared.Release()
	os.Remove(path)
}

// Weights that a step changes after a few uses cost few copies.
func TestTrainingEndsCopies(t *testing.T) {
	needsCode(t)
	w := weights(7)
	x := weft.FromSlice(fill(rows*inner, 8), rows, inner)
	f := weft.Compile(func(x *weft.Tensor) *weft.Tensor { return x.MatMul(w) }).Func()
	before := packed.Made()
	for range 40 {
		for range 3 {
			f(x).Release()
		}
		w.AddAssign(0.01)
	}
	if n := packed.Made() - before; n > 3 {
		t.Errorf("%d copies were made of 40 versions with three uses each", n)
	}
}

// Copies go with the storage: at once where it is released, else with the collector.
func TestCopiesGoWithTheStorage(t *testing.T) {
	needsCode(t)
	settled := func(what string, most int64) {
		t.Helper()
		for range 100 {
			runtime.GC()
			if packed.Held() <= most {
				return
			}
			time.Sleep(time.Millisecond)
		}
		t.Errorf("%s: %d bytes of copies are held, more than %d", what, packed.Held(), most)
	}
	x := weft.FromSlice(fill(rows*inner, 9), rows, inner)
	tensortest.Settled() // copies that other tests left are gone
	base := packed.Held()
	use := func() *weft.Tensor {
		w := weights(10)
		f := weft.Compile(func(x *weft.Tensor) *weft.Tensor { return x.MatMul(w) }).Func()
		for range 3 {
			f(x).Release()
		}
		runtime.KeepAlive(f)
		return w
	}
	w := use()
	if packed.Held() < base+inner*columns*4 {
		t.Fatalf("%d bytes are held after a copy, %d before", packed.Held(), base)
	}
	w.Release()
	settled("released", base)
	use()
	settled("not reachable", base)
}

// Goroutines share one copy, and texts of many lengths too.
func TestCopiesAreShared(t *testing.T) {
	needsCode(t)
	w := weights(11)
	f := weft.Compile(func(x *weft.Tensor) *weft.Tensor { return x.MatMul(w) }).Func()
	before := packed.Made()
	var all sync.WaitGroup
	for k := range 4 {
		all.Go(func() {
			for i := range 30 {
				m := 30 + 14*(i%5) + k
				x := weft.FromSlice(fill(m*inner, i), m, inner)
				want := plain(x, w)
				for j, got := range weft.Data[float32](f(x)) {
					if got != want[j] {
						t.Errorf("element %d of %d rows is %v, not %v", j, m, got, want[j])
						return
					}
				}
			}
		})
	}
	all.Wait()
	if n := packed.Made() - before; n < 1 || n > 4 {
		t.Errorf("%d copies were made, not one for each width of tiles", n)
	}
}
