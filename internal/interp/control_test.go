package interp

import (
	"runtime"
	"sync"
	"testing"
	"weak"

	"weft/internal/array"
	"weft/internal/loop"
)

// collatz counts steps until 1 for each lane, inside an if that only every third
// lane enters, and walks a serial axis for each step.
func collatz(t testing.TB) *loop.Program {
	b := loop.NewBuilder("collatz", []loop.Axis{{Kind: loop.Parallel}, {Kind: loop.Parallel}, {Kind: loop.Serial}}, 1)
	in := b.Buf(array.Int64, false, loop.Any, loop.Any, loop.Zero)
	add := b.Buf(array.Int32, false, loop.Zero, loop.Zero, loop.Any)
	out := b.Buf(array.Int32, true, loop.Any, loop.Unit, loop.Zero)
	b.Pass(func() {
		x := b.Load(in)
		one := b.Int(loop.I64, 1)
		third := b.Eq(b.Rem(x, b.Int(loop.I64, 3)), b.Int(loop.I64, 0))
		r := b.If(third, func() []loop.Value {
			v := b.While([]loop.Value{x, b.Int(loop.I32, 0)}, func(v []loop.Value) loop.Value {
				return b.Lt(one, v[0])
			}, func(v []loop.Value) []loop.Value {
				odd := b.Eq(b.And(v[0], one), one)
				next := b.If(odd, func() []loop.Value {
					return []loop.Value{b.Add(b.Mul(v[0], b.Int(loop.I64, 3)), one)}
				}, func() []loop.Value { return []loop.Value{b.Shr(v[0], one)} })
				sum := b.For(2, []loop.Value{v[1]}, func(w []loop.Value) []loop.Value {
					return []loop.Value{b.Add(w[0], b.Load(add))}
				})
				return []loop.Value{next[0], sum[0]}
			})
			return []loop.Value{v[1]}
		}, func() []loop.Value { return []loop.Value{b.Int(loop.I32, -1)} })
		b.Store(out, r[0])
	})
	return done(t, b)
}

// collatzCase fills a frame with rows of x[i] = i, read backwards.
func collatzCase(t testing.TB, rows, lanes int) (f *frame, check func()) {
	in, out := make([]int64, rows*lanes), make([]int32, rows*lanes)
	for i := range in {
		in[len(in)-1-i] = int64(i)
	}
	f = newFrame(collatz(t), rows, lanes, 2)
	buf(f, 0, in, max(len(in)-1, 0), -lanes, -1, 0)
	buf(f, 1, []int32{3, -2}, 0, 0, 0, 1)
	buf(f, 2, out, 0, lanes, 1, 0)
	return f, func() {
		t.Helper()
		for i, got := range out {
			want := int32(-1)
			if i%3 == 0 {
				want = 0
				for x := i; x > 1; want++ {
					if x%2 == 1 {
						x = 3*x + 1
					} else {
						x /= 2
					}
				}
			}
			if got != want {
				t.Fatalf("%d rows of %d: %d needs %d steps, got %d", rows, lanes, i, want, got)
			}
		}
	}
}

func TestNested(t *testing.T) {
	for _, n := range [][2]int{{1, 1}, {3, 5}, {40, 7}, {3, 200}, {2, 256}, {2, 257}, {1, 2000}, {0, 5}, {5, 0}} {
		f, check := collatzCase(t, n[0], n[1])
		f.run(t)
		check()
	}
}

func TestFuel(t *testing.T) {
	f, check := collatzCase(t, 3, 300)
	k := Compile(f.p)
	// A unit at a time, all is done in the end.
	refills := 0
	f.f.Word[loop.WordFuel] = 0
	if !k.Run(f.f, func() bool {
		refills++
		f.f.Word[loop.WordFuel] = 1
		return true
	}) {
		t.Fatal("not done")
	}
	check()
	if refills < 100 {
		t.Errorf("%d refills", refills)
	}
	// Given up halfway, and then run again with the machine that was.
	left := refills / 2
	f.f.Word[loop.WordFuel] = 1
	if k.Run(f.f, func() bool {
		left--
		f.f.Word[loop.WordFuel] = 1
		return left > 0
	}) {
		t.Fatal("done without fuel")
	}
	if left != 0 {
		t.Fatalf("asked for fuel after it was refused, %d left", left)
	}
	f.run(t)
	check()
	// A loop over an axis with a small bound needs none.
	b := loop.NewBuilder("bounded", []loop.Axis{{Kind: loop.Parallel}, {Kind: loop.Serial, Bound: 9}}, 0)
	out := b.Buf(array.Int64, true, loop.Unit, loop.Zero)
	b.Pass(func() {
		b.Store(out, b.For(1, []loop.Value{b.Int(loop.I64, 0)}, func(v []loop.Value) []loop.Value {
			return []loop.Value{b.Add(v[0], b.Index(1))}
		})[0])
	})
	g := newFrame(done(t, b), 3, 9)
	sums := make([]int64, 3)
	buf(g, 0, sums, 0, 1)
	g.f.Word[g.p.StartWord(1)] = 100
	g.f.Word[loop.WordFuel] = 0
	if !Compile(g.p).Run(g.f, func() bool { t.Error("asked for fuel"); return false }) {
		t.Error("not done")
	}
	if sums[2] != 936 {
		t.Errorf("sum is %d, want 936", sums[2])
	}
}

// TestCarriedValuesSwap has loop-carried values that swap, which must happen at once.
func TestCarriedValuesSwap(t *testing.T) {
	b := loop.NewBuilder("fibonacci", []loop.Axis{{Kind: loop.Parallel}}, 0)
	n := b.Buf(array.Int32, false, loop.Unit)
	out := b.Buf(array.Int64, true, loop.Unit)
	b.Pass(func() {
		count := b.Load(n)
		v := b.While([]loop.Value{b.Int(loop.I32, 0), b.Int(loop.I64, 1), b.Int(loop.I64, 0)}, func(v []loop.Value) loop.Value {
			return b.Lt(v[0], count)
		}, func(v []loop.Value) []loop.Value {
			return []loop.Value{b.Add(v[0], b.Int(loop.I32, 1)), b.Add(v[1], v[2]), v[1]}
		})
		b.Store(out, v[2])
	})
	const lanes = 700
	counts, got := make([]int32, lanes), make([]int64, lanes)
	for i := range counts {
		counts[i] = int32(i * 7 % 90)
	}
	f := newFrame(done(t, b), lanes)
	buf(f, 0, counts, 0, 1)
	buf(f, 1, got, 0, 1)
	f.run(t)
	for i := range got {
		x, y := int64(1), int64(0)
		for range counts[i] {
			x, y = x+y, x
		}
		if got[i] != y {
			t.Fatalf("fibonacci %d is %d, want %d", counts[i], got[i], y)
		}
	}
}

func TestConcurrent(t *testing.T) {
	var wg sync.WaitGroup
	first, _ := collatzCase(t, 4, 100)
	k := Compile(first.p)
	for range 8 {
		f, check := collatzCase(t, 4, 100)
		wg.Go(func() {
			for range 5 {
				if !k.Run(f.f, nil) {
					t.Error("not done")
				}
			}
			check()
		})
	}
	wg.Wait()
}

// TestAllocs: a warm kernel allocates nothing.
func TestAllocs(t *testing.T) {
	if raceDetector {
		t.Skip("SKIPPED: pools drop what they hold under the race detector")
	}
	for _, c := range [][2]int{{4, 100}, {1, 3000}} {
		f, _ := collatzCase(t, c[0], c[1])
		k := Compile(f.p)
		k.Run(f.f, nil)
		if n := testing.AllocsPerRun(20, func() { k.Run(f.f, nil) }); n >= 1 {
			t.Errorf("%v: %v allocations a run", c, n)
		}
	}
}

// TestIdleKernelKeepsNoMemory demands that an idle kernel keeps no memory of its callers alive.
func TestIdleKernelKeepsNoMemory(t *testing.T) {
	p := pointwise(t, 1, func(b *loop.Builder, x []loop.Value) loop.Value { return b.Add(x[0], x[0]) })
	k := Compile(p)
	run := func() weak.Pointer[[4096]float32] {
		in, out := new([4096]float32), make([]float32, 4096)
		f := newFrame(p, 4096)
		buf(f, 0, in[:], 0, 1)
		buf(f, 1, out, 0, 1)
		k.Run(f.f, nil)
		return weak.Make(in)
	}
	in := run()
	runtime.GC()
	if in.Value() != nil {
		t.Error("the input is still reachable")
	}
	runtime.KeepAlive(k)
}
