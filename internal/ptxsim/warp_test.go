package ptxsim

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	cudart "weft/internal/cudart/driver"
)

// Shuffles of segments, against a table of what each lane gets, written by hand.
func TestShuffles(t *testing.T) {
	for _, c := range []struct {
		ins  string
		from func(i int) (int, bool)
	}{
		{"shfl.sync.down.b32 %r0|%p0, %t, 3, 31, -1", func(i int) (int, bool) { return i + 3, i+3 < 32 }},
		{"shfl.sync.up.b32 %r0|%p0, %t, 5, 0, -1", func(i int) (int, bool) { return i - 5, i >= 5 }},
		{"shfl.sync.bfly.b32 %r0|%p0, %t, 16, 31, -1", func(i int) (int, bool) { return i ^ 16, true }},
		{"shfl.sync.idx.b32 %r0|%p0, %t, 38, 31, -1", func(i int) (int, bool) { return 6, true }},
		// segments of 8 lanes: the mask is 0x18
		{"shfl.sync.down.b32 %r0|%p0, %t, 3, 0x181f, -1", func(i int) (int, bool) { return i + 3, i%8 < 5 }},
		{"shfl.sync.up.b32 %r0|%p0, %t, 3, 0x1800, -1", func(i int) (int, bool) { return i - 3, i%8 >= 3 }},
		{"shfl.sync.idx.b32 %r0|%p0, %t, 2, 0x181f, -1", func(i int) (int, bool) { return i/8*8 + 2, true }},
	} {
		g := open(t, Options{})
		a := must(g.Alloc(8 * 32))
		check(g.launch(text(1, c.ins+"; selp.u32 %r1, 1, 0, %p0; mul.wide.u32 %d0, %t, 8; add.u64 %d0, %d0, %a0; st.global.v2.u32 [%d0], {%r0, %r1};"), 1, 32, a))
		got := get[uint32](g, a, 64)
		for i := range 32 {
			j, ok := c.from(i)
			p := uint32(1)
			if !ok {
				j, p = i, 0
			}
			if got[2*i] != uint32(j) || got[2*i+1] != p {
				t.Errorf("%s: lane %d gets %d and %d, not %d and %d", c.ins, i, got[2*i], got[2*i+1], j, p)
			}
		}
	}
}

func TestVotes(t *testing.T) {
	g := open(t, Options{})
	a := must(g.Alloc(32))
	check(g.launch(text(1, `
		setp.lt.u32 %p0, %t, 4;
		vote.sync.any.pred %p1, %p0, -1;
		vote.sync.all.pred %p2, %p0, -1;
		vote.sync.uni.pred %p3, !%p0, -1;
		vote.sync.ballot.b32 %r0, !%p0, -1;
		activemask.b32 %r4;
		selp.u32 %r1, 1, 0, %p1; selp.u32 %r2, 1, 0, %p2; selp.u32 %r3, 1, 0, %p3;
		setp.ne.u32 %p4, %t, 9;
		@%p4 ret;
		activemask.b32 %r5;
		st.global.v4.u32 [%a0], {%r0, %r1, %r2, %r3};
		st.global.v2.u32 [%a0+16], {%r4, %r5};`), 1, 32, a))
	want := fmt.Sprint([]uint32{0xfffffff0, 1, 0, 0, 0xffffffff, 1 << 9})
	if got := fmt.Sprint(get[uint32](g, a, 6)); got != want {
		t.Fatalf("%s, not %s", got, want)
	}
}

// A product of matrices by mma, against sums of fused multiply-adds in ascending order.
func TestMMA(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for _, s := range [][2]int{{8, 4}, {16, 4}, {16, 8}, {16, 16}} {
		m, k := s[0], s[1]
		a, b, c := make([]float64, m*k), make([]float64, k*8), make([]float64, m*8)
		for _, x := range [][]float64{a, b, c} {
			for i := range x {
				x[i] = rnd.NormFloat64() * math.Exp(6*rnd.NormFloat64())
			}
		}
		var src strings.Builder
		src.WriteString("shr.u32 %r0, %t, 2; and.b32 %r1, %t, 3;\n")
		element := func(op, base string, row, col, width int, rowReg, colReg string, colStep int) {
			fmt.Fprintf(&src, "add.u32 %%r2, %s, %d; mul.lo.u32 %%r3, %s, %d; add.u32 %%r3, %%r3, %d; mad.lo.u32 %%r2, %%r2, %d, %%r3; mul.wide.u32 %%d0, %%r2, 8; add.u64 %%d0, %%d0, %s; ", rowReg, row, colReg, colStep, col, width, base)
			src.WriteString(strings.Replace(op, "@", "[%d0]", 1) + ";\n")
		}
		var ra, rb, rc []string
		for i := range m * k / 32 {
			ra = append(ra, fmt.Sprintf("%%g%d", i))
			element("ld.global.f64 "+ra[i]+", @", "%a0", i%(m/8)*8, i/(m/8)*4, k, "%r0", "%r1", 1)
		}
		for i := range k / 4 {
			rb = append(rb, fmt.Sprintf("%%g%d", 10+i))
			element("ld.global.f64 "+rb[i]+", @", "%a1", 4*i, 0, 8, "%r1", "%r0", 1)
		}
		for i := range m / 4 {
			rc = append(rc, fmt.Sprintf("%%g%d", 20+i))
			element("ld.global.f64 "+rc[i]+", @", "%a2", i/2*8, i%2, 8, "%r0", "%r1", 2)
		}
		list := func(r []string) string { return "{" + strings.Join(r, ", ") + "}" }
		fmt.Fprintf(&src, "mma.sync.aligned.m%dn8k%d.row.col.f64.f64.f64.f64 %s, %s, %s, %s;\n", m, k, list(rc), list(ra), list(rb), list(rc))
		for i := range rc {
			element("st.global.f64 @, "+rc[i], "%a3", i/2*8, i%2, 8, "%r0", "%r1", 2)
		}
		g := open(t, Options{})
		d := must(g.Alloc(8 * m * 8))
		if err := g.launch(text(4, src.String()), 1, 32, put(g, a), put(g, b), put(g, c), d); err != nil {
			t.Fatal(err)
		}
		for i, y := range get[float64](g, d, m*8) {
			want := c[i]
			for j := range k {
				want = math.FMA(a[i/8*k+j], b[j*8+i%8], want)
			}
			if y != want {
				t.Fatalf("m%dn8k%d: element %d is %g, not %g", m, k, i, y, want)
			}
		}
	}
}

func TestAtomics(t *testing.T) {
	for _, c := range []struct {
		op    string
		start uint32
		want  uint32
	}{
		{"add.u32 %r0, [%a0], %t", 7, 7 + 64*63/2}, {"max.s32 %r0, [%a0], %t", ^uint32(0), 63}, {"min.u32 %r0, [%a0], %t", 9, 0},
		{"or.b32 %r0, [%a0], %t", 128, 128 + 63}, {"xor.b32 %r0, [%a0], %t", 1, 1}, {"inc.u32 %r0, [%a0], 9", 0, 4}, {"dec.u32 %r0, [%a0], 9", 4, 0},
		{"cas.b32 %r0, [%a0], 5, 6", 5, 6}, {"exch.b32 %r0, [%a0], 3", 5, 3}, {"and.b32 %r0, [%a0], 0xfe", 0x1ff, 0xfe},
	} {
		g := open(t, Options{})
		a := put(g, []uint32{c.start})
		check(g.launch(text(1, "atom.global."+c.op+";"), 1, 64, a))
		if got := get[uint32](g, a, 1)[0]; got != c.want {
			t.Errorf("%s gives %d, not %d", c.op, got, c.want)
		}
	}
}

// Tables of constants, static and dynamic shared memory, plain parameters, bytes and halves of words.
func TestSpaces(t *testing.T) {
	g := open(t, Options{})
	f := g.function(header+`
	.const .align 8 .f64 tab[3] = {0d3FF0000000000000, 2.5, -4.0};
	.extern .shared .align 16 .b8 dyn[];
	.visible .entry k(.param .u64 out, .param .b32 n, .param .u64 last) {
		.shared .align 4 .b32 one[3];
		.reg .b64 %d<9>; .reg .b32 %r<9>; .reg .b16 %h<9>; .reg .f64 %g<9>;
		ld.param.u64 %d0, [out]; ld.param.b32 %r0, [n]; ld.param.u64 %d1, [last];
		mov.u64 %d2, tab;
		ld.const.f64 %g0, [%d2+8];
		ld.const.f64 %g1, [tab+16];
		st.global.v2.f64 [%d0], {%g0, %g1};
		st.shared.b32 [one+8], %r0;
		mov.u32 %r1, dyn;
		st.shared.u8 [%r1], 0x80; st.shared.u8 [%r1+1], 0xff;
		ld.shared.s8 %r2, [dyn];
		ld.shared.u16 %r3, [%r1];
		ld.shared.b32 %r4, [one+8];
		st.global.v4.b32 [%d0+16], {%r1, %r2, %r3, %r4};
		st.global.u64 [%d0+32], %d1;
		ret;
	}`, "k")
	a := put(g, make([]uint64, 5))
	check(g.Launch(g.q, f, 1, 1, 16, args(a, 77, 99)))
	got := get[uint32](g, a, 10)
	want := []uint32{0, 0x40040000, 0, 0xc0100000, 16, 0xffffff80, 0xff80, 77, 99, 0}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Fatalf("%x, not %x", got, want)
	}
	for _, c := range []struct{ blocks, threads, shared, args int }{{0, 1, 0, 24}, {1, 1025, 0, 24}, {1, 0, 0, 24}, {1, 1, 1 << 20, 24}, {1, 1, 0, 16}} {
		if err := g.Launch(g.q, f, c.blocks, c.threads, c.shared, make([]byte, c.args)); code(err) != cudart.CodeInvalid {
			t.Errorf("%v: %v", c, err)
		}
	}
}

// Goroutines may share a context.
func TestGoroutines(t *testing.T) {
	g := open(t, Options{})
	f := g.function(text(1, at4+"ld.global.u32 %r0, [%d0]; add.u32 %r0, %r0, 1; st.global.u32 [%d0], %r0;"), "k")
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			q := must(g.NewQueue(0))
			a := must(g.Alloc(128))
			check(g.Fill(q, a, 32, 5, 4))
			for range 20 {
				check(g.Launch(q, f, 1, 32, 0, args(a)))
			}
			check(g.Sync(q))
			mine := *g
			mine.q = q
			if x := get[uint32](&mine, a, 32)[31]; x != 25 {
				t.Errorf("%d, not 25", x)
			}
			check(g.Free(a))
		})
	}
	wg.Wait()
}

func benchmarkKernel(b *testing.B, body string, instructions int, races bool) {
	d := New(Options{NoRaces: !races})
	c := must(d.Open(0))
	g := &gpu{nil, d, c, must(c.NewQueue(0))}
	a := put(g, make([]uint32, 64*256))
	f := must(c.Function(must(c.Load(text(1, "mov.u32 %r20, %ctaid.x; mad.lo.u32 %r20, %r20, 256, %t; mul.wide.u32 %d0, %r20, 4; add.u64 %d0, %d0, %a0;\n"+body))), "k"))
	for b.Loop() {
		check(c.Launch(g.q, f, 64, 256, 0, args(a)))
		check(c.Sync(g.q))
	}
	b.ReportMetric(float64(b.N)*64*256*float64(instructions)/b.Elapsed().Seconds()/1e6, "Mlane-ins/s")
}

func BenchmarkArithmetic(b *testing.B) {
	benchmarkKernel(b, "mov.f32 %f0, 0f3F800000; mov.f32 %f1, %f0;\n"+strings.Repeat("fma.rn.f32 %f1, %f1, %f0, %f0; add.s32 %r20, %r20, 3;\n", 50), 106, true)
}

func BenchmarkMemory(b *testing.B) {
	benchmarkKernel(b, strings.Repeat("ld.global.u32 %r0, [%d0]; st.global.u32 [%d0], %r0;\n", 50), 104, true)
}

func BenchmarkMemoryNoRaces(b *testing.B) {
	benchmarkKernel(b, strings.Repeat("ld.global.u32 %r0, [%d0]; st.global.u32 [%d0], %r0;\n", 50), 104, false)
}
