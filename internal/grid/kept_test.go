package grid

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"weft/internal/array"
	"weft/internal/loop"
)

// sharing makes buffer b another view of the memory of buffer of.
func (c *rowCase) sharing(b, of int) {
	c.of[b] = of
	c.f.Word[c.p.StrideWord(b, 0)] = c.f.Word[c.p.StrideWord(of, 0)]
}

// softmaxCase loads rows in two passes, and in the last one what the second has stored.
func softmaxCase(t *testing.T, d array.DType, rows, n int) *rowCase {
	b := rowBuilder("softmax " + d.String())
	in, out := b.Buf(d, false, loop.Any, loop.Unit), b.Buf(d, true, loop.Any, loop.Unit)
	var most, sum loop.Value
	b.Pass(func() { most = b.Reduce(loop.Max, b.Load(in)) })
	b.Pass(func() {
		x := b.Sub(b.Load(in), most)
		e := b.Div(b.Float(loop.TypeOf(d), 1), b.Add(b.Float(loop.TypeOf(d), 1), b.Mul(x, x)))
		b.Store(out, e)
		sum = b.Reduce(loop.Sum, e)
	})
	b.Pass(func() { b.Store(out, b.Div(b.Load(out), sum)) })
	return newCase(done(t, b), rows, n)
}

// randomRows is a program of passes over buffers of all types, which load and store neighbouring
// elements and reduce them. Some buffers are views of one memory.
func randomRows(t *testing.T, seed uint64, rows, n int) *rowCase {
	r := rand.New(rand.NewPCG(seed, 8))
	b := rowBuilder(fmt.Sprint("random ", seed))
	types := []array.DType{array.Float32, array.Float32, array.Float64, array.Int8, array.Int32, array.Uint16, array.Bool, array.Float16}
	d := types[r.IntN(len(types))]
	typ := loop.TypeOf(d)
	var bufs []int
	for range 2 + r.IntN(3) {
		bufs = append(bufs, b.Buf(d, true, loop.Any, loop.Unit))
	}
	of := map[int]int{}
	for _, x := range bufs[1:] {
		if r.IntN(2) == 0 {
			of[x] = bufs[0]
		}
	}
	var known []loop.Value // results of reductions
	combine := func(x, y loop.Value) loop.Value {
		switch {
		case typ == loop.B:
			return b.Xor(x, y)
		case typ.Float() && r.IntN(2) == 0:
			return b.Mul(x, y)
		case r.IntN(2) == 0:
			return b.Sub(x, y)
		}
		return b.Add(x, y)
	}
	for range 2 + r.IntN(4) {
		var results []loop.Value
		b.Pass(func() {
			values := append([]loop.Value(nil), known...)
			pick := func() loop.Value { return values[r.IntN(len(values))] }
			for range 1 + r.IntN(5) {
				switch k := r.IntN(4); {
				case k <= 1 || len(values) == 0:
					values = append(values, b.Load(bufs[r.IntN(len(bufs))]))
				case k == 2:
					x := combine(pick(), pick())
					b.Store(bufs[r.IntN(len(bufs))], x)
					values = append(values, x)
				default:
					kind := loop.Reduction(r.IntN(4))
					if typ == loop.B {
						kind = loop.And + kind%2
					}
					results = append(results, b.Reduce(kind, pick()))
				}
			}
		})
		known = append(known, results...)
		if len(known) > 0 && r.IntN(3) == 0 {
			b.Store(b.Buf(d, true, loop.Any, loop.Zero), known[r.IntN(len(known))])
		}
	}
	c := newCase(done(t, b), rows, n)
	most := 64 // floats of such bytes are small numbers
	if d == array.Float16 {
		most = 48 // their products too
	}
	for i, buf := range c.p.Bufs {
		if buf.Steps[1] == loop.Zero || d == array.Bool {
			continue
		}
		for at := range c.data[i] {
			c.data[i][at] = byte(r.IntN(most))
		}
	}
	for x, y := range of {
		c.sharing(x, y)
	}
	return c
}

// runKept compares a case with the interpreter in all kept variants for n lanes.
func runKept(t *testing.T, c *rowCase, n, blocks int) (ran int) {
	want := c.interpreted()
	lowest := keptLevel(n)
	for level := lowest; level < min(lowest+3, len(keptLanes)); level++ {
		v := Kept + Variant(level)
		for _, v := range []Variant{v, v | Whole} {
			if lanes := keptLanes[level]; n > lanes || v&Whole != 0 && n != lanes || !Legal(c.p, v) {
				continue
			}
			m := c.machine(t, v, blocks)
			m.backward = n%2 == 0
			if err := m.run(); err != nil {
				t.Fatalf("%s, %d lanes, %v: %v\n%v", c.p.Name, n, v, err, c.p)
			}
			if s := diff(m.memory, want); s != "" {
				t.Errorf("%s, %d lanes, %v: %s\n%v", c.p.Name, n, v, s, c.p)
			}
			ran++
		}
	}
	return ran
}

// TestKeptExtents compares rows that stay in registers with the interpreter, around the lengths where
// code changes its ways.
func TestKeptExtents(t *testing.T) {
	for i, n := range []int{0, 1, 31, 32, 33, 64, 65, 500, 512, 513, 1024, 1025, 1600, 2500, 3072, 3500, 4096, 4097, 8192, 8200, 16384} {
		for j, d := range []array.DType{array.Float32, array.Float64, array.Float16} {
			if n > 600 && (i+j)%3 != 0 && d != array.Float32 {
				continue // costs time
			}
			runKept(t, softmaxCase(t, d, 2, n), n, 1)
		}
	}
}

// TestKeptRandom compares random programs whose rows stay in registers with the interpreter.
func TestKeptRandom(t *testing.T) {
	ran := 0
	for seed := range uint64(120) {
		n := []int{20, 64, 300, 512, 700, 1536}[seed%6]
		ran += runKept(t, randomRows(t, seed, 2, n), n, 1+int(seed%2))
		if t.Failed() {
			return
		}
	}
	t.Logf("%d runs", ran)
	if ran < 300 {
		t.Errorf("only %d runs", ran)
	}
}
