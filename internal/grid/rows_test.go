package grid

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"unsafe"

	"weft/internal/array"
	"weft/internal/interp"
	"weft/internal/loop"
)

// rowCase is a program with its frame and memory.
type rowCase struct {
	p    *loop.Program
	f    *loop.Frame
	data [][]byte
	of   []int // by buffer: its memory
}

func done(t *testing.T, b *loop.Builder) *loop.Program {
	t.Helper()
	p, err := b.Done()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// newCase lays out rows of n lanes. Buffers step as elements of one array, or of one a row.
func newCase(p *loop.Program, rows, n int) *rowCase {
	c := &rowCase{p: p, f: new(loop.Frame)}
	c.f.Word[p.ExtentWord(0)], c.f.Word[p.ExtentWord(1)] = uint64(rows), uint64(n)
	r := rand.New(rand.NewPCG(1, uint64(n)))
	for i, buf := range p.Bufs {
		size, length := buf.DType.Size(), rows
		c.f.Word[p.StrideWord(i, 0)] = uint64(size)
		if buf.Steps[1] != loop.Zero {
			length *= n
			c.f.Word[p.StrideWord(i, 0)], c.f.Word[p.StrideWord(i, 1)] = uint64(size*n), uint64(size)
		}
		data := make([]byte, max(length, 1)*size)
		for at := 0; at < len(data) && !buf.Write; at += size {
			x := r.Uint64()
			switch buf.DType {
			case array.Bool:
				x = 1 // all but some
				if r.IntN(max(n, 1)) == 0 {
					x = 0
				}
			case array.Float16:
				x &= 0xC3FF // below 4, no NaN
			case array.Float32:
				x = uint64(math.Float32bits(float32(r.NormFloat64())))
			case array.Float64:
				x = math.Float64bits(r.NormFloat64())
			}
			for j := range size {
				data[at+j] = byte(x >> (8 * j))
			}
		}
		c.data, c.of = append(c.data, data), append(c.of, i)
	}
	return c
}

// interpreted returns the memory after the interpreter has run.
func (c *rowCase) interpreted() [][]byte {
	f := *c.f
	var out [][]byte
	for _, d := range c.data {
		out = append(out, append([]byte(nil), d...))
	}
	for i, m := range c.of {
		f.Ptr[i] = unsafe.Pointer(unsafe.SliceData(out[m]))
	}
	interp.Compile(c.p).Run(&f, nil)
	return out
}

// machine returns a machine that runs the case.
func (c *rowCase) machine(t *testing.T, v Variant, blocks int) *machine {
	t.Helper()
	k, err := Lower(c.p, v)
	if err != nil {
		t.Fatal(err)
	}
	if err := Verify(k); err != nil {
		t.Fatal(err)
	}
	m := &machine{k: k, blocks: blocks, steps: 200_000_000}
	for _, d := range c.data {
		m.memory = append(m.memory, append([]byte(nil), d...))
	}
	m.memory = append(m.memory, make([]byte, 4)) // the word that cancels
	m.args = AppendArgs(nil, c.p, c.f, c.addrs(), 0)
	return m
}

func (c *rowCase) addrs() []uint64 {
	out := make([]uint64, len(c.data))
	for i := range out {
		out[i] = uint64(c.of[i]+1) << 40
	}
	return out
}

func rowBuilder(name string) *loop.Builder {
	return loop.NewBuilder(name, []loop.Axis{{Kind: loop.Parallel}, {Kind: loop.Reduce}}, 1)
}

// reduceCase sums and the like rows of every type, in one pass.
func reduceCase(t *testing.T, d array.DType, rows, n int) *rowCase {
	b := rowBuilder("reduce " + d.String())
	in := b.Buf(d, false, loop.Any, loop.Unit)
	kinds := []loop.Reduction{loop.Sum, loop.Prod, loop.Min, loop.Max}
	switch typ := loop.TypeOf(d); {
	case typ == loop.B:
		kinds = []loop.Reduction{loop.And, loop.Or}
	case typ.Int():
		kinds = append(kinds, loop.MinU, loop.MaxU)
	}
	results := make([]loop.Value, len(kinds))
	b.Pass(func() {
		for i, k := range kinds {
			results[i] = b.Reduce(k, b.Load(in))
		}
	})
	for _, r := range results {
		b.Store(b.Buf(d, true, loop.Any, loop.Zero), r)
	}
	return newCase(done(t, b), rows, n)
}

func diff(got, want [][]byte) string {
	for i := range want {
		for j := range want[i] {
			if got[i][j] != want[i][j] {
				return fmt.Sprintf("buffer %d differs at byte %d", i, j)
			}
		}
	}
	return ""
}

// TestReduceExtents compares row reductions with the interpreter around the lengths where code
// changes its ways.
func TestReduceExtents(t *testing.T) {
	types := []array.DType{array.Bool, array.Int8, array.Int16, array.Int32, array.Int64, array.Float32, array.Float64}
	for i, n := range []int{0, 1, 2, 3, 7, 16, 31, 32, 33, 65, 4095, 4096, 4097, 8193, 33000, 100_000} {
		for j, d := range types {
			if n > 5000 && (i+j)%3 != 0 && d != array.Float32 {
				continue // costs time
			}
			rows := 3
			if n <= Warp {
				rows = 40 // more than two blocks have warps
			}
			if n > 10_000 {
				rows = 1
			}
			c := reduceCase(t, d, rows, n)
			want := c.interpreted()
			for _, v := range []Variant{WarpRows, BlockRows, ShortRows} {
				if v == ShortRows && (n < 1 || n > Warp) {
					continue
				}
				if v == ShortRows { // a thread takes a row
					c = reduceCase(t, d, 300, n)
					want = c.interpreted()
				}
				if n == 100_000 {
					v |= Long
				}
				m := c.machine(t, v, 1+i%2)
				m.backward = i%2 == 0
				if err := m.run(); err != nil {
					t.Fatal(err)
				}
				if s := diff(m.memory, want); s != "" {
					t.Errorf("%s, %d lanes, %v: %s", d, n, v, s)
				}
			}
		}
	}
}

// orderCase has passes and stores of the row that depend on each other through memory, which pairs of
// buffers share.
func orderCase(t *testing.T) *rowCase {
	const rows, n = 3, 300
	b := rowBuilder("order")
	x := b.Buf(array.Float32, true, loop.Any, loop.Unit)
	y := b.Buf(array.Float32, true, loop.Any, loop.Unit)
	one := b.Buf(array.Float32, true, loop.Any, loop.Zero)
	xAt := b.Buf(array.Float32, false, loop.Any, loop.Zero)
	yAt := b.Buf(array.Float32, false, loop.Any, loop.Zero)
	oneAt := b.Buf(array.Float32, false, loop.Any, loop.Zero)
	last := b.Int(loop.I64, n-1)
	b.Pass(func() { b.Store(x, b.Cvt(loop.F32, b.Index(1))) })
	b.Pass(func() { b.Store(y, b.Add(b.LoadAt(xAt, b.Sub(last, b.Index(1))), b.Float(loop.F32, 1))) })
	b.Pass(func() { b.Store(x, b.LoadAt(yAt, b.Sub(last, b.Index(1)))) })
	b.Store(one, b.LoadAt(xAt, last))
	b.Pass(func() { b.Store(y, b.Mul(b.Load(x), b.Load(oneAt))) })
	sum := b.If(b.Lt(b.Load(oneAt), b.Float(loop.F32, 1e9)), func() []loop.Value { // by the leader
		b.Store(one, b.LoadAt(yAt, b.Int(loop.I64, 7)))
		return []loop.Value{b.Load(oneAt)}
	}, func() []loop.Value { return []loop.Value{b.Float(loop.F32, 0)} })[0]
	b.Pass(func() { b.Store(x, b.Add(b.Load(x), sum)) })
	c := newCase(done(t, b), rows, n)
	for at, of := range map[int]int{xAt: x, yAt: y, oneAt: one} {
		c.of[at] = of
		c.f.Word[c.p.StrideWord(at, 0)] = c.f.Word[c.p.StrideWord(of, 0)]
	}
	return c
}

// TestRowOrder compares passes that wait for each other with the interpreter. The machine runs
// threads one after the other up to a barrier.
func TestRowOrder(t *testing.T) {
	c := orderCase(t)
	for _, v := range []Variant{WarpRows, BlockRows} {
		for _, backward := range []bool{false, true} {
			m := c.machine(t, v, 2)
			m.backward = backward
			if err := m.run(); err != nil {
				t.Fatal(err)
			}
			if s := diff(m.memory, c.interpreted()); s != "" {
				t.Errorf("%v, backward %v: %s", v, backward, s)
			}
		}
	}
}

// endless is a loop that ends only when the launch is cancelled.
func endless(b *loop.Builder, like loop.Value) loop.Value {
	one := b.Int(loop.I32, 1)
	return b.While([]loop.Value{b.Cvt(loop.I32, like)}, func(v []loop.Value) loop.Value {
		return b.Ne(b.And(v[0], b.Int(loop.I32, 0)), one)
	}, func(v []loop.Value) []loop.Value { return []loop.Value{b.Add(v[0], one)} })[0]
}

// TestCancel runs loops without end in the row and in a pass, of lanes that agree and of lanes that
// don't, and between barriers. All threads leave.
func TestCancel(t *testing.T) {
	for _, where := range []string{"row", "pass", "pass, all lanes", "branch"} {
		b := rowBuilder(where)
		in := b.Buf(array.Float32, false, loop.Any, loop.Unit)
		out := b.Buf(array.Int32, true, loop.Any, loop.Zero)
		if where == "row" {
			b.Store(out, endless(b, b.Index(0)))
		}
		var sum loop.Value
		// The result would lead to an element beyond the memory.
		far := func(x loop.Value) loop.Value {
			at := b.Add(b.Mul(b.Cvt(loop.I64, x), b.Int(loop.I64, 1<<20)), b.Int(loop.I64, 1<<30))
			b.StoreAt(out, b.Cvt(loop.I32, b.LoadAt(in, at)), at)
			return x
		}
		b.Pass(func() {
			x := b.Load(in)
			switch where {
			case "pass":
				x = b.Cvt(loop.F32, far(endless(b, b.Index(1))))
			case "pass, all lanes":
				x = b.Cvt(loop.F32, far(endless(b, b.Index(0))))
			case "branch":
				x = b.If(b.Lt(b.Float(loop.F32, 2), x), func() []loop.Value {
					return []loop.Value{b.Cvt(loop.F32, far(endless(b, b.Index(1))))}
				}, func() []loop.Value { return []loop.Value{x} })[0]
			}
			sum = b.Reduce(loop.Sum, x)
		})
		b.Store(out, b.Cvt(loop.I32, sum))
		p := done(t, b)
		for _, v := range []Variant{WarpRows, BlockRows, ShortRows} {
			n := 300
			if v == ShortRows {
				n = 11
			}
			c := newCase(p, 40, n)
			m := c.machine(t, v, 1)
			cancel := len(c.data)
			m.args = AppendArgs(nil, c.p, c.f, c.addrs(), uint64(cancel+1)<<40)
			m.memory[cancel][0] = 1
			m.steps = 80_000_000
			if err := m.run(); err != nil {
				t.Errorf("%s, %v: %v", where, v, err)
			}
		}
	}
	b := loop.NewBuilder("flat", []loop.Axis{{Kind: loop.Parallel}, {Kind: loop.Parallel}}, 1)
	out := b.Buf(array.Int32, true, loop.Any, loop.Unit)
	b.Pass(func() { b.Store(out, endless(b, b.Index(1))) })
	c := newCase(done(t, b), 5, 100)
	for _, v := range []Variant{Flat, FlatVector} {
		m := c.machine(t, v, 1)
		m.args = AppendArgs(nil, c.p, c.f, c.addrs(), uint64(len(c.data)+1)<<40)
		m.memory[len(c.data)][0] = 1
		m.steps = 20_000_000
		if err := m.run(); err != nil {
			t.Errorf("%v: %v", v, err)
		}
		m = c.machine(t, v, 1) // without the word, nothing ends it
		m.steps = 3_000_000
		if err := m.run(); err == nil || !strings.Contains(err.Error(), "does not end") {
			t.Errorf("%v: %v", v, err)
		}
	}
}

// TestArgs has the argument block: addresses, words, the address of the word that cancels.
func TestArgs(t *testing.T) {
	c := reduceCase(t, array.Int32, 2, 5)
	args := AppendArgs([]byte{7}, c.p, c.f, c.addrs(), 99)
	k, err := Lower(c.p, WarpRows)
	if err != nil || len(args) != 1+k.Args || args[0] != 7 {
		t.Fatalf("%d bytes, kernel of %d, %v", len(args), k.Args, err)
	}
	word := func(i int) uint64 { return binary.LittleEndian.Uint64(args[1+8*i:]) }
	n := len(c.p.Bufs)
	if word(0) != 1<<40 || word(n+c.p.ExtentWord(1)) != 5 || word(n+c.p.Words()) != 99 {
		t.Errorf("% x", args)
	}
}
