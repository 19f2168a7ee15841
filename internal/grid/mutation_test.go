package grid

import (
	"slices"
	"strings"
	"testing"

	"weft/internal/array"
	"weft/internal/loop"
	"weft/internal/loop/loopgen"
)

// ways are ways to break an instruction. They report whether it is one that they break.
var ways = map[string]func(in *Ins) bool{
	"store without predicate": func(in *Ins) bool {
		return in.Op == Store && in.Pred != NoReg && lose(&in.Pred)
	},
	"load without predicate": func(in *Ins) bool {
		return in.Op == Load && in.Pred != NoReg && lose(&in.Pred)
	},
	"shuffle from another lane": func(in *Ins) bool {
		in.Imm++
		return in.Op == ShuffleDown
	},
	"operands swapped": func(in *Ins) bool {
		in.A, in.B = in.B, in.A
		return in.Op == Compute && (in.Loop == loop.OpSub || in.Loop == loop.OpLt || in.Loop == loop.OpQuoU)
	},
	"another constant": func(in *Ins) bool {
		in.Imm ^= 1
		return in.Op == Compute && in.Loop == loop.OpConst
	},
	"another vote": func(in *Ins) bool {
		in.Op ^= Any ^ All
		return in.Op == Any || in.Op == All
	},
	"sign lost": func(in *Ins) bool {
		in.Elem++
		return in.Op == Load && (in.Elem == U8 || in.Elem == U16)
	},
	"branches swapped": func(in *Ins) bool {
		in.Body, in.Else = in.Else, in.Body
		return in.Op == If
	},
	"loop left at once": func(in *Ins) bool {
		in.Body = nil
		in.Op = If
		return true
	},
	"address moved": func(in *Ins) bool {
		in.Imm += int64(in.Elem.Size())
		return (in.Op == Load || in.Op == Store) && in.Elem.Size() > 0
	},
	"barrier lost": func(in *Ins) bool {
		ok := in.Op == Barrier || in.Op == WarpBarrier
		*in = Ins{Op: If, A: in.A}
		return ok
	},
	"value not moved": func(in *Ins) bool {
		ok := in.Op == Move
		*in = Ins{Op: Move, Dst: in.Dst, A: in.Dst}
		return ok
	},
}

func lose(r *Reg) bool {
	*r = NoReg
	return true
}

// breakable returns the instructions of a block that a way breaks.
func breakable(b []Ins, how func(*Ins) bool) (out []*Ins) {
	for i := range b {
		in := &b[i]
		if copied := *in; how(&copied) && (in.Op != While) == (copied.Op != If || in.Op == If || in.Op == Barrier || in.Op == WarpBarrier) {
			out = append(out, in)
		}
		for _, inner := range [][]Ins{in.Head, in.Body, in.Else} {
			out = append(out, breakable(inner, how)...)
		}
	}
	return out
}

// TestMutants breaks kernels in every way, one instruction at a time. The comparison with the
// interpreter must notice a quarter of each way. Of the others many compute the same: all threads store what one
// should, or an element that is lost is not the least one.
func TestMutants(t *testing.T) {
	type run struct {
		c *rowCase
		v Variant
	}
	var runs []run
	for _, v := range []Variant{WarpRows, BlockRows} {
		runs = append(runs, run{orderCase(t), v})
		runs = append(runs, run{reduceCase(t, array.Float32, 51, 11), ShortRows})
		for _, d := range []array.DType{array.Bool, array.Int8, array.Float32} {
			runs = append(runs, run{reduceCase(t, d, 9, 77), v}, run{reduceCase(t, d, 2, 12400), v})
		}
	}
	for _, n := range []int{50, 700} {
		runs = append(runs, run{softmaxCase(t, array.Float32, 3, n), Kept + Variant(keptLevel(n))})
	}
	for name, how := range ways {
		made, noticed := 0, 0
		for i, r := range runs {
			want := r.c.interpreted()
			n := len(breakable(r.c.machine(t, r.v, 1).k.Body, how))
			for j := range n {
				if few := 4; j%(n/few+1) != 0 && n > 2*few || r.c.f.Word[r.c.p.ExtentWord(1)] > 1000 && j%3 != 0 {
					continue // costs time
				}
				for _, backward := range []bool{false, true} {
					m := r.c.machine(t, r.v, 1+i%2)
					in := breakable(m.k.Body, how)[j]
					how(in)
					m.backward, m.steps = backward, 5_000_000
					if backward {
						made++
					}
					if err := m.run(); err != nil || diff(m.memory, want) != "" {
						noticed++
						if !backward {
							made++
						}
						break
					}
				}
			}
		}
		t.Logf("%s: %d of %d noticed", name, noticed, made)
		if noticed < 2 || noticed < made/4 {
			t.Errorf("%s: only %d of %d mutants noticed", name, noticed, made)
		}
	}
}

// TestVerify refuses kernels with one thing wrong.
func TestVerify(t *testing.T) {
	b := func(f func(b *Builder)) *Kernel {
		b := NewBuilder("k", Warp)
		f(b)
		return b.K
	}
	for want, k := range map[string]*Kernel{
		"":                  b(func(b *Builder) { b.Down(b.Add(b.Thread(), b.I32(1)), 1) }),
		"read before it is": b(func(b *Builder) { b.Not(b.Var(loop.I32)) }),
		"register 2 is read": b(func(b *Builder) {
			c := b.Const(loop.B, 1)
			x := b.Var(loop.I32)
			b.If(c, true, func() { b.Set(x, b.I32(1)) }, nil)
			b.Not(x)
		}),
		"gives i32":                     b(func(b *Builder) { b.Do(loop.OpAdd, loop.I32, 0, b.I32(1), b.I64(1)) }),
		"lanes have parted":             b(func(b *Builder) { b.If(b.Const(loop.B, 1), false, b.Barrier, nil) }),
		"argument at byte":              b(func(b *Builder) { b.Arg(loop.I64, 0) }),
		"access of 4 elements":          b(func(b *Builder) { b.LoadN(Global, W64, loop.F64, 4, b.I64(0), 0, NoReg) }),
		"register 1 is i32, want [i64]": b(func(b *Builder) { b.Load(Global, W32, loop.I32, b.I32(0), 0, NoReg) }),
		"add of [b b]":                  b(func(b *Builder) { x := b.Const(loop.B, 1); b.Do(loop.OpAdd, loop.F32, 0, x, x) }),
		"lookup":                        b(func(b *Builder) { b.Do(loop.OpLookup, loop.F32, 0, b.I32(1)) }),
		"register 1 is i32, want [b]":   b(func(b *Builder) { x := b.I32(1); y := b.Const(loop.B, 1); b.Set(x, y) }),
	} {
		err := Verify(k)
		if want == "" && err == nil {
			continue
		}
		if err == nil || want == "" || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q: %v", want, err)
		}
	}
}

// TestChoose has the variants that launches get.
func TestChoose(t *testing.T) {
	point := func(steps ...loop.Step) *loop.Builder {
		b := loop.NewBuilder("point", []loop.Axis{{Kind: loop.Parallel}, {Kind: loop.Parallel}}, 1)
		in, out := b.Buf(array.Float32, false, steps...), b.Buf(array.Float32, true, loop.Any, loop.Unit)
		b.Pass(func() { b.Store(out, b.Load(in)) })
		return b
	}
	sum := func() *loop.Builder {
		b := rowBuilder("sum")
		in, out := b.Buf(array.Float32, false, loop.Any, loop.Unit), b.Buf(array.Float32, true, loop.Any, loop.Zero)
		var s loop.Value
		b.Pass(func() { s = b.Reduce(loop.Sum, b.Load(in)) })
		b.Store(out, s)
		return b
	}
	bytes := func() *loop.Builder {
		b := loop.NewBuilder("bytes", []loop.Axis{{Kind: loop.Parallel}, {Kind: loop.Parallel}}, 1)
		in, out := b.Buf(array.Uint8, false, loop.Any, loop.Unit), b.Buf(array.Bool, true, loop.Any, loop.Unit)
		b.Pass(func() { b.Store(out, b.Lt(b.Load(in), b.Int(loop.I8, 3))) })
		return b
	}
	variance := func() *loop.Builder {
		b := rowBuilder("variance")
		in, out := b.Buf(array.Float32, false, loop.Any, loop.Unit), b.Buf(array.Float32, true, loop.Any, loop.Zero)
		var s loop.Value
		b.Pass(func() { s = b.Reduce(loop.Sum, b.Load(in)) })
		b.Pass(func() { s = b.Reduce(loop.Sum, b.Sub(b.Load(in), s)) })
		b.Store(out, s)
		return b
	}
	looked := func() *loop.Builder {
		b := rowBuilder("looked")
		in, out := b.Buf(array.Float32, false, loop.Any, loop.Unit), b.Buf(array.Float32, true, loop.Any, loop.Unit)
		b.Pass(func() {
			x := b.Load(in)
			b.Store(out, b.Lookup(make([]float64, loop.TableBytes/4), b.Bits(loop.I32, x)))
		})
		return b
	}
	for _, x := range []struct {
		b       *loop.Builder
		rows, n int
		shift   uint64
		v       Variant
		blocks  int
	}{
		{point(loop.Any, loop.Unit), 10, 1024, 0, FlatVector, 10},
		{point(loop.Any, loop.Unit), 10, 1024, 4, Flat, 40},
		{bytes(), 10, 4096, 0, FlatWide, 10},
		{bytes(), 10, 4096, 4, FlatVector, 40},
		{bytes(), 10, 1028, 0, FlatVector, 11},
		{point(loop.Any, loop.Unit), 10, 1023, 0, Flat, 40},
		{point(loop.Any, loop.Any), 10, 1024, 0, FlatVector, 10},
		{point(loop.Any, loop.Unit), 10, 0, 0, FlatVector, 0},
		{point(loop.Any, loop.Unit), 1 << 20, 1 << 20, 0, FlatVector | Long, 1 << 20},
		{looked(), 1 << 20, 1 << 20, 0, FlatVector | Long, 8448},
		{sum(), 1000, 4096, 0, WarpRows, 125},
		{sum(), 2, 100_000, 0, BlockRows, 2},
		{sum(), 100_000, 40, 0, WarpRows, 2112},
		{sum(), 1000, 5, 0, ShortRows, 32},
		{sum(), 1, 1 << 31, 0, BlockRows | Long, 1},
		{sum(), 0, 100, 0, WarpRows, 0},
		{variance(), 1000, 16, 0, ShortRows, 63},
		{variance(), 1000, 17, 0, Kept, 125},
		{variance(), 1000, 64, 0, Kept | Whole, 125},
		{variance(), 1 << 20, 65, 0, Kept + 1, 8448},
		{variance(), 32768, 4096, 0, Kept + 10 | Whole, 32768},
		{variance(), 1, 10_000, 0, Kept + 12, 1},
		{variance(), 1, 16_385, 0, BlockRows, 1},
		{variance(), 1<<30 + 1, 100, 0, WarpRows | Long, 2112},
	} {
		p, err := x.b.Done()
		if err != nil {
			t.Fatal(err)
		}
		f := new(loop.Frame)
		f.Word[p.ExtentWord(0)], f.Word[p.ExtentWord(1)] = uint64(x.rows), uint64(x.n)
		for b := range p.Bufs {
			f.Word[p.StrideWord(b, 0)] = uint64(4 * x.n)
		}
		if v, blocks := WaysOf(p).Choose(f, []uint64{1 << 20, 1<<21 + x.shift}, 132); v != x.v || blocks != x.blocks {
			t.Errorf("%s, %d rows of %d, shifted by %d: %v with %d blocks, want %v with %d", p.Name, x.rows, x.n, x.shift, v, blocks, x.v, x.blocks)
		}
	}
}

// TestNames has names of kernels that depend on the program and the variant alone.
func TestNames(t *testing.T) {
	var names []string
	for range 2 {
		for _, v := range []Variant{WarpRows, BlockRows, WarpRows | Long} {
			k, err := Lower(reduceCase(t, array.Float32, 1, 1).p, v)
			if err != nil {
				t.Fatal(err)
			}
			names = append(names, k.Name)
		}
	}
	if !slices.Equal(names[:3], names[3:]) || names[0] == names[1] || names[0] == names[2] {
		t.Error(names)
	}
	if _, err := Lower(reduceCase(t, array.Float32, 1, 1).p, Flat); err == nil {
		t.Error("a reduction is laid out flat")
	}
}

// FuzzGenerated lets go test -fuzz choose the seeds.
func FuzzGenerated(f *testing.F) {
	for seed := range uint64(5) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		c := loopgen.Generate(seed, loopgen.Language{})
		if err := compare(c); err != nil {
			t.Fatalf("%v\n%s", err, c)
		}
	})
}
