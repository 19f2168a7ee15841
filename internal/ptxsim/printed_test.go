package ptxsim

import (
	"math"
	"testing"

	cudart "weft/internal/cudart/driver"
	"weft/internal/grid"
	"weft/internal/loop"
	"weft/internal/ptx"
)

// A kernel of package grid, printed and run: y[i] = sqrt(x[i])*x[i] + x[31-i], the last by a shuffle.
func TestPrintedKernel(t *testing.T) {
	const n = 100
	b := grid.NewBuilder("k", 64)
	b.K.Args = 24
	i := b.Add(b.Mul(b.Block(), b.I32(64)), b.Thread())
	in := b.Lt(i, b.Arg(loop.I32, 16))
	offset := b.Mul(b.Wide(i), b.I64(4))
	x := b.Load(grid.Global, grid.W32, loop.F32, b.Add(b.Arg(loop.I64, 0), offset), 0, in)
	other := b.FromLane(x, b.Sub(b.I32(31), b.And(b.Thread(), b.I32(31))))
	b.If(in, false, func() {
		y := b.Add(b.Mul(b.Do(loop.OpSqrt, loop.F32, 0, x), x), other)
		b.Store(grid.Global, grid.W32, b.Add(b.Arg(loop.I64, 8), offset), 0, grid.NoReg, y)
	}, nil)
	b.Return()
	src, err := ptx.Print(ptx.Target{Major: 8}, b.K)
	if err != nil {
		t.Fatal(err)
	}
	g := open(t, Options{Seed: 5, Major: 8})
	xs := make([]float32, n)
	for i := range xs {
		xs[i] = float32(i) * 1.1
	}
	out := must(g.Alloc(4 * n))
	if err := g.launch(src, 2, 64, put(g, xs), out, n); err != nil {
		t.Fatalf("%v\n%s", err, src)
	}
	for i, y := range get[float32](g, out, n) {
		last := float32(0)
		if j := i/32*32 + 31 - i%32; j < n {
			last = xs[j]
		}
		want := float32(float32(math.Sqrt(float64(xs[i])))*xs[i]) + last
		if y != want {
			t.Fatalf("element %d is %g, not %g", i, y, want)
		}
	}
}

// One seed gives one run: the same fault in the same thread. Seeds differ.
func TestSeedDecidesTheRun(t *testing.T) {
	run := func(seed uint64) Fault {
		g := open(t, Options{Seed: seed})
		a := put(g, make([]uint32, 1))
		g.launch(text(1, "setp.eq.u32 %p0, %t, 0; @%p0 st.global.u32 [%a0], %t;"), 64, 64, a)
		f := g.d.Faults()
		if len(f) != 1 {
			t.Fatalf("faults: %v", f)
		}
		return f[0]
	}
	seen := map[int]bool{}
	for seed := range uint64(8) {
		a, b := run(seed), run(seed)
		if a != b {
			t.Fatalf("seed %d: %v and %v", seed, a, b)
		}
		seen[a.Block] = true
	}
	if len(seen) < 2 {
		t.Fatal("all seeds run the blocks in the same order")
	}
}

// Handles and arguments that a driver refuses.
func TestBadCalls(t *testing.T) {
	g := open(t, Options{})
	m := must(g.Load(text(0, "")))
	f := must(g.Function(m, "k"))
	if _, err := g.Function(m, "other"); code(err) != codeNotFound {
		t.Error(err)
	}
	check(g.Launch(g.q, f, 1, 1, 0, nil))
	check(g.Unload(m))
	for name, err := range map[string]error{
		"free":   g.Free(12345),
		"unload": g.Unload(m),
		"launch": g.Launch(g.q, f, 1, 1, 0, nil),
		"queue":  g.Sync(99),
		"event":  g.SyncEvent(99),
		"fill":   g.Fill(g.q, 1, 1, 0, 4),
	} {
		if err == nil {
			t.Errorf("%s is taken", name)
		}
	}
	if err := g.Sync(g.q); code(err) != cudart.CodeFault {
		t.Errorf("a kernel of a module that was unloaded runs: %v", err)
	}
	check(g.Close())
	if _, err := g.Alloc(1); err == nil {
		t.Error("a closed context allocates")
	}
	if _, err := g.d.Open(1); err == nil {
		t.Error("a GPU that is not there opens")
	}
}
