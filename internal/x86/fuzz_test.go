//go:build amd64

package x86

import (
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"weft/internal/array"
	"weft/internal/loop"
	"weft/internal/loop/looptest"
)

// A generator makes random programs that use the whole language.
type generator struct {
	r      *rand.Rand
	b      *loop.Builder
	ops    []operation
	lane   int
	serial []int // serial axes that are not being walked
	walked []int // axes that are
	read   []int
	write  []int
	table  []int // read through OpLoadAt; 16 elements from any place are theirs
	spread []int // written through OpStoreAt; four elements are each lane's
	scalar []int
	pool   [loop.I16 + 1][]loop.Value
	budget int
	reduce bool
	depth  int
}

var dtypes = []array.DType{array.Bool, array.Uint8, array.Int32, array.Int64, array.Float32, array.Float64}

const tableLen = 16

func (g *generator) program(t testing.TB) (*loop.Program, []bool) {
	r := g.r
	var axes []loop.Axis
	for range r.IntN(3) {
		axes = append(axes, loop.Axis{Kind: loop.Parallel})
	}
	g.lane = len(axes)
	g.reduce = r.IntN(2) == 0
	if g.reduce {
		axes = append(axes, loop.Axis{Kind: loop.Reduce})
	} else {
		axes = append(axes, loop.Axis{Kind: loop.Parallel})
	}
	for range r.IntN(3) {
		g.serial = append(g.serial, len(axes))
		bound := 0
		if r.IntN(2) == 0 {
			bound = 10
		}
		axes = append(axes, loop.Axis{Kind: loop.Serial, Bound: bound})
	}
	for a := range g.lane {
		g.walked = append(g.walked, a)
	}
	g.b = loop.NewBuilder("random", axes, g.lane)
	// Some programs stay within 8-byte types, which have a layout of their own.
	choice := dtypes
	if r.IntN(4) == 0 {
		choice = []array.DType{array.Bool, array.Int64, array.Float64}
		for _, o := range operations() {
			ok := o.t.Size() != 4 && !o.partial()
			for _, a := range o.args {
				ok = ok && a.Size() != 4
			}
			if ok {
				g.ops = append(g.ops, o)
			}
		}
	} else {
		for _, o := range operations() {
			if !o.partial() {
				g.ops = append(g.ops, o)
			}
		}
	}
	steps := func(full bool) (out []loop.Step) {
		for a, x := range axes {
			switch {
			case a == g.lane && (full || r.IntN(4) > 0):
				out = append(out, loop.Unit+loop.Step(r.IntN(5)/4))
			case x.Kind == loop.Serial && full, !full && r.IntN(3) == 0:
				out = append(out, loop.Zero)
			default:
				out = append(out, loop.Any)
			}
		}
		return out
	}
	pick := func() array.DType { return choice[r.IntN(len(choice))] }
	var wide []bool
	for range 1 + r.IntN(4) {
		g.read = append(g.read, g.b.Buf(pick(), false, steps(false)...))
		wide = append(wide, false)
	}
	for range 1 + r.IntN(3) {
		g.write = append(g.write, g.b.Buf(pick(), true, steps(true)...))
		wide = append(wide, false)
	}
	if r.IntN(2) == 0 {
		g.table = append(g.table, g.b.Buf(pick(), false, steps(false)...))
		st := steps(true)
		st[g.lane] = loop.Any
		g.spread = append(g.spread, g.b.Buf(pick(), true, st...))
		wide = append(wide, true, true)
	}
	for range r.IntN(3) {
		g.scalar = append(g.scalar, g.b.ScalarArg(loop.TypeOf(pick())))
	}
	passes := 1 + r.IntN(2)
	for range passes {
		g.budget = 1 + r.IntN(1+r.IntN(24))
		for g.reduce && r.IntN(3) == 0 {
			g.step()
		}
		outer := g.pool
		var results []loop.Value
		g.walked = append(g.walked, g.lane)
		g.b.Pass(func() {
			for g.budget > 0 {
				g.statement()
				if g.reduce && r.IntN(4) == 0 {
					results = append(results, g.reduction())
				}
			}
			g.store()
		})
		g.walked = g.walked[:len(g.walked)-1]
		g.pool = outer
		for _, v := range results {
			ty := g.b.Type(v)
			g.pool[ty] = append(g.pool[ty], v)
		}
	}
	return finish(t, g.b), wide
}

func (g *generator) reduction() loop.Value {
	if g.r.IntN(5) == 0 {
		return g.b.Reduce(loop.And+loop.Reduction(g.r.IntN(2)), g.pick(loop.B))
	}
	t, k := numeric[g.r.IntN(len(numeric))], loop.Reduction(g.r.IntN(4))
	if t.Int() && g.r.IntN(4) == 0 {
		k = loop.MinU + loop.Reduction(g.r.IntN(2))
	}
	return g.b.Reduce(k, g.pick(t))
}

// keep adds a value to the pool of its type.
func (g *generator) keep(v loop.Value) {
	t := g.b.Type(v)
	g.pool[t] = append(append([]loop.Value(nil), g.pool[t]...), v)
}

// pick returns a value of type t.
func (g *generator) pick(t loop.Type) loop.Value {
	if p := g.pool[t]; len(p) > 0 && g.r.IntN(8) > 0 {
		return p[g.r.IntN(len(p))]
	}
	for range 4 {
		switch g.r.IntN(3) {
		case 0:
			if b := g.read[g.r.IntN(len(g.read))]; g.readable(b) {
				if v := g.b.Load(b); g.b.Type(v) == t {
					return v
				} else {
					g.keep(v)
				}
			}
		case 1:
			if len(g.scalar) > 0 {
				if s := g.scalar[g.r.IntN(len(g.scalar))]; g.b.Program().Scalars[s] == t {
					return g.b.Scalar(s)
				}
			}
		case 2:
			if t == loop.I64 && len(g.walked) > 0 {
				return g.b.Index(g.walked[g.r.IntN(len(g.walked))])
			}
		}
	}
	return g.b.ConstBits(t, value(g.r, t))
}

// readable reports whether all axes that a buffer moves on are being walked.
func (g *generator) readable(b int) bool {
	for a, s := range g.b.Program().Bufs[b].Steps {
		ok := s == loop.Zero
		for _, w := range g.walked {
			ok = ok || w == a
		}
		if !ok {
			return false
		}
	}
	return true
}

func (g *generator) step() {
	o := g.ops[g.r.IntN(len(g.ops))]
	var x []loop.Value
	for _, t := range o.args {
		x = append(x, g.pick(t))
	}
	g.keep(o.build(g.b, x))
}

func (g *generator) store() {
	b := g.write[g.r.IntN(len(g.write))]
	g.b.Store(b, g.pick(loop.TypeOf(g.b.Program().Bufs[b].DType)))
}

// offset is a number in [0, n), n a power of two.
func (g *generator) offset(n int64) loop.Value {
	return g.b.And(g.pick(loop.I64), g.b.Int(loop.I64, n-1))
}

func (g *generator) statement() {
	g.budget--
	r := g.r
	switch r.IntN(12) {
	case 0, 1:
		g.store()
	case 2:
		if len(g.table) > 0 && g.readable(g.table[0]) {
			g.keep(g.b.LoadAt(g.table[0], g.offset(tableLen)))
		}
	case 3:
		if len(g.spread) > 0 {
			t := loop.TypeOf(g.b.Program().Bufs[g.spread[0]].DType)
			v := g.pick(t)
			g.b.StoreAt(g.spread[0], v, g.offset(4))
		}
	case 4:
		if g.depth < 3 {
			g.branch()
		}
	case 5:
		if g.depth < 3 {
			g.while()
		}
	case 6:
		if g.depth < 3 && len(g.serial) > 0 {
			g.count()
		}
	default:
		g.step()
	}
}

// nest runs statements in a block of its own and returns values of types.
func (g *generator) nest(types []loop.Type, given []loop.Value) (out []loop.Value) {
	old := g.pool
	g.depth++
	for _, v := range given {
		g.keep(v)
	}
	for n := 1 + g.r.IntN(4); n > 0; n-- {
		g.statement()
	}
	for _, t := range types {
		out = append(out, g.pick(t))
	}
	g.depth--
	g.pool = old
	return out
}

func (g *generator) types() (out []loop.Type) {
	for range g.r.IntN(4) {
		t := g.ops[g.r.IntN(len(g.ops))].t
		out = append(out, t)
	}
	return out
}

func (g *generator) branch() {
	types := g.types()
	cond := g.pick(loop.B)
	var els func() []loop.Value
	if len(types) > 0 || g.r.IntN(2) == 0 {
		els = func() []loop.Value { return g.nest(types, nil) }
	}
	for _, v := range g.b.If(cond, func() []loop.Value { return g.nest(types, nil) }, els) {
		g.keep(v)
	}
}

func (g *generator) while() {
	types := g.types()
	count := loop.I64
	init := []loop.Value{g.b.Int(count, 0)}
	for _, t := range types {
		init = append(init, g.pick(t))
	}
	limit := g.offset(8)
	out := g.b.While(init, func(v []loop.Value) loop.Value {
		old := g.pool
		for _, x := range v {
			g.keep(x)
		}
		g.step()
		on := g.b.Lt(v[0], limit)
		if g.r.IntN(2) == 0 {
			on = g.b.And(on, g.pick(loop.B))
		}
		g.pool = old
		return on
	}, func(v []loop.Value) []loop.Value {
		next := []loop.Value{g.b.Add(v[0], g.b.Int(count, 1))}
		return append(next, g.nest(types, v)...)
	})
	for _, v := range out {
		g.keep(v)
	}
}

func (g *generator) count() {
	a := g.serial[0]
	types := g.types()
	var init []loop.Value
	for _, t := range types {
		init = append(init, g.pick(t))
	}
	serial, walked := g.serial, g.walked
	g.serial, g.walked = g.serial[1:], append(g.walked[:len(g.walked):len(g.walked)], a)
	out := g.b.For(a, init, func(v []loop.Value) []loop.Value { return g.nest(types, v) })
	g.serial, g.walked = serial, walked
	for _, v := range out {
		g.keep(v)
	}
}

// TestRandomPrograms compares random programs with the interpreter, bit for bit,
// with plenty of fuel and with so little that they stop everywhere.
// WEFT_X86_FUZZ=n runs n programs, WEFT_X86_SEED the first.
func TestRandomPrograms(t *testing.T) {
	n, first := 400, 1
	if testing.Short() {
		n = 50
	}
	if s := os.Getenv("WEFT_X86_FUZZ"); s != "" {
		n, _ = strconv.Atoi(s)
	}
	if s := os.Getenv("WEFT_X86_SEED"); s != "" {
		first, _ = strconv.Atoi(s)
	}
	for seed := first; seed < first+n; seed++ {
		if randomProgram(t, uint64(seed)); t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

func randomProgram(t *testing.T, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 99))
	g := &generator{r: r}
	p, wide := g.program(t)
	for range 3 {
		extents := make([]int, len(p.Axes))
		for a, x := range p.Axes {
			extents[a] = r.IntN(4)
			if x.Kind != loop.Serial {
				extents[a] = 1 + r.IntN(3)
			}
		}
		switch r.IntN(8) {
		case 0:
			extents[p.Lane] = 4096*r.IntN(4) + r.IntN(100)
			for a := range p.Lane {
				extents[a] = 1
			}
		case 1:
			extents[p.Lane] = r.IntN(5)
		default:
			extents[p.Lane] = r.IntN(200)
		}
		s := random(p, r, extents...)
		for b, w := range wide {
			if w {
				s.widen(b, r)
			}
		}
		s.fill(func(b int) uint64 { return element(r, p.Bufs[b].DType) })
		for i, x := range p.Scalars {
			s.scalars[i] = value(r, x)
		}
		want := s.interpret(t)
		for _, isa := range isas(t) {
			k, err := Compile(p, isa)
			if err != nil {
				t.Fatalf("seed %d: %s: %v\n%s", seed, isa, err, p)
			}
			for _, fuel := range []uint64{plenty, 1 + uint64(r.IntN(3))} {
				got, _ := s.execute(t, k, fuel)
				if b, i, ok := same(p, got, want); !ok {
					size := p.Bufs[b].DType.Size()
					t.Fatalf("seed %d on %s, fuel %d, extents %v, strides %v: buffer %d element %d: got %#x, want %#x\n%s",
						seed, isa, fuel, s.extents, s.strides, b, i, word(got[b][i*size:], size), word(want[b][i*size:], size), p)
				}
			}
		}
	}
}

// element is a value for a buffer: mostly ordinary numbers.
func element(r *rand.Rand, d array.DType) uint64 {
	switch {
	case d == array.Bool:
		return uint64(r.IntN(2))
	case d == array.Uint8:
		return uint64(r.IntN(256))
	case r.IntN(10) == 0:
		return value(r, loop.TypeOf(d))
	}
	x := r.NormFloat64() * 10
	return looptest.Eval(loop.OpCvt, 0, loop.TypeOf(d), loop.F64, f64(x), 0, 0)
}

// widen makes room for offsets: buffer b gets tableLen elements everywhere.
func (s *setup) widen(b int, r *rand.Rand) {
	size := s.p.Bufs[b].DType.Size()
	for a, st := range s.p.Bufs[b].Steps {
		if st == loop.Any {
			s.strides[b][a] *= 4
		}
	}
	lo, hi := 0, 0
	for a, st := range s.p.Bufs[b].Steps {
		if st == loop.Zero {
			continue
		}
		if s.extents[a] == 0 {
			return
		}
		if d := s.strides[b][a] * (s.extents[a] - 1); d < 0 {
			lo += d
		} else {
			hi += d
		}
	}
	n := tableLen
	if s.p.Bufs[b].Write {
		n = 4
	}
	s.span[b], s.base[b] = hi-lo+n*size, -lo
	s.data[b] = make([]byte, s.span[b])
}
