package loopgen_test

import (
	"testing"

	"weft/internal/array"
	"weft/internal/loop"
	"weft/internal/loop/loopgen"
)

// widened runs a program without narrow integers.
func widened(t loop.Type) loopgen.Runner {
	return func(p *loop.Program, f *loop.Frame, refill func() bool) error {
		q := loop.Widen(p, t)
		if err := loop.Verify(q); err != nil {
			return err
		}
		for i := range q.Ins {
			if x := q.Ins[i].Type; x.Int() && x.Size() < t.Size() {
				return &loop.Error{Program: q.Name, Value: loop.Value(i), Msg: "is narrow"}
			}
		}
		return interpreted(q, f, refill)
	}
}

// TestWiden compares random programs with what they are without narrow integers.
func TestWiden(t *testing.T) {
	n := max(campaign(t), 1500)
	languages := []loopgen.Language{{}, {DTypes: []array.DType{array.Bool, array.Int8, array.Uint8, array.Int16, array.Uint16, array.Int32}}}
	languages[1].Lacks = []loopgen.Item{{Type: loop.I64, Op: loop.OpCvt}, {Type: loop.F64}}
	for seed := range uint64(n) {
		for _, l := range languages {
			c := loopgen.Generate(seed, l)
			want, err := loopgen.Run(c, loopgen.Heap, interpreted)
			if err != nil {
				t.Fatal(err)
			}
			for _, wide := range []loop.Type{loop.I16, loop.I32} {
				differs := func(c *loopgen.Case, want *loopgen.Output) string {
					got, err := loopgen.Run(c, loopgen.Heap, widened(wide))
					if err != nil {
						return err.Error()
					}
					return want.Diff(got)
				}
				if differs(c, want) == "" {
					continue
				}
				small := loopgen.Shrink(c, func(c *loopgen.Case) bool {
					want, err := loopgen.Run(c, loopgen.Heap, interpreted)
					return err == nil && differs(c, want) != ""
				})
				want, _ := loopgen.Run(small, loopgen.Heap, interpreted)
				t.Fatalf("as it is and with %s: %s\n%s\n%s", wide, differs(small, want), small, loop.Widen(small.Program, wide))
			}
		}
	}
}

// TestWidenTwice widens to 16 bits and then to 32.
func TestWidenTwice(t *testing.T) {
	for seed := range uint64(300) {
		c := loopgen.Generate(seed, loopgen.Language{})
		want, err := loopgen.Run(c, loopgen.Heap, interpreted)
		if err != nil {
			t.Fatal(err)
		}
		got, err := loopgen.Run(c, loopgen.Heap, func(p *loop.Program, f *loop.Frame, refill func() bool) error {
			return widened(loop.I32)(loop.Widen(p, loop.I16), f, refill)
		})
		if err != nil {
			t.Fatal(err)
		}
		if d := want.Diff(got); d != "" {
			t.Fatalf("%s\n%s", d, c)
		}
	}
}

// TestWidenMasks counts what the conversions cost that widening adds: nothing where no
// operation looks at the high bits.
func TestWidenMasks(t *testing.T) {
	build := func(d array.DType, f func(b *loop.Builder, x, y loop.Value) loop.Value) *loop.Program {
		b := loop.NewBuilder("masks", []loop.Axis{{Kind: loop.Parallel}}, 0)
		x, y, out := b.Buf(d, false, loop.Unit), b.Buf(d, false, loop.Unit), b.Buf(d, true, loop.Unit)
		b.Pass(func() { b.Store(out, f(b, b.Load(x), b.Load(y))) })
		p, err := b.Done()
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	for _, c := range []struct {
		name string
		d    array.DType
		f    func(b *loop.Builder, x, y loop.Value) loop.Value
		want int // instructions besides loads, constants and the store
	}{
		{"2x+3y", array.Uint8, func(b *loop.Builder, x, y loop.Value) loop.Value {
			return b.Add(b.Mul(b.Int(loop.I8, 2), x), b.Mul(b.Int(loop.I8, 3), y))
		}, 3},
		{"max of bytes", array.Uint8, func(b *loop.Builder, x, y loop.Value) loop.Value { return b.MaxU(x, y) }, 1},
		{"max of signed bytes", array.Int8, func(b *loop.Builder, x, y loop.Value) loop.Value { return b.Max(x, b.Int(loop.I8, -3)) }, 1},
		{"quotient", array.Uint16, func(b *loop.Builder, x, y loop.Value) loop.Value { return b.QuoU(x, y) }, 1},
		{"quotient of a sum", array.Uint16, func(b *loop.Builder, x, y loop.Value) loop.Value { return b.QuoU(b.Add(x, y), y) }, 3},
		{"choice", array.Uint8, func(b *loop.Builder, x, y loop.Value) loop.Value {
			return b.MinU(b.Select(b.LtU(x, y), x, b.Int(loop.I8, 200)), b.ShrU(y, b.Int(loop.I8, 3)))
		}, 4},
	} {
		p := loop.Widen(build(c.d, c.f), loop.I32)
		n := 0
		p.Walk(p.Body, func(_ loop.Value, in *loop.Ins) {
			switch in.Op {
			case loop.OpLoad, loop.OpConst, loop.OpStore, loop.OpPass:
			default:
				n++
			}
		})
		if n != c.want {
			t.Errorf("%s takes %d instructions, want %d\n%s", c.name, n, c.want, p)
		}
	}
}
