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
	n := max(campaign(t), 300)
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

// TestWidenForms looks at the result of each operation on each pair of bytes as a number
// with a sign and as one without, after operands of all forms: as they are loaded, and as
// a sum leaves them.
func TestWidenForms(t *testing.T) {
	unary := []loop.Op{loop.OpNeg, loop.OpAbs, loop.OpNot, loop.OpPopCount, loop.OpLzCnt, loop.OpTzCnt}
	binary := []loop.Op{loop.OpAdd, loop.OpSub, loop.OpMul, loop.OpMin, loop.OpMax, loop.OpMinU, loop.OpMaxU, loop.OpQuo, loop.OpRem, loop.OpQuoU, loop.OpRemU,
		loop.OpMulHi, loop.OpMulHiU, loop.OpShl, loop.OpShr, loop.OpShrU, loop.OpRotL, loop.OpAnd, loop.OpOr, loop.OpXor}
	const n = 1 << 16
	x, y := make([]byte, n), make([]byte, n)
	for i := range n {
		x[i], y[i] = byte(i), byte(i>>8)
	}
	for _, d := range []array.DType{array.Int8, array.Uint8} {
		for _, left := range []bool{false, true} { // as a sum leaves it
			for _, constant := range []int64{0, 3, -1, 127, -128, 200} { // in the place of y, but for 0
				b := loop.NewBuilder("forms", []loop.Axis{{Kind: loop.Parallel}}, 0)
				in, other := b.Buf(d, false, loop.Unit), b.Buf(d, false, loop.Unit)
				out := b.Buf(array.Int64, true, loop.Unit)
				b.Pass(func() {
					p, q := b.Load(in), b.Load(other)
					if constant != 0 {
						q = b.Int(loop.I8, constant)
					}
					if left {
						p = b.Add(p, b.Load(other))
					}
					sum := b.Int(loop.I64, 0)
					for i := range len(unary) + len(binary) {
						var r loop.Value
						if i < len(unary) {
							r = b.Unary(unary[i], p)
						} else {
							r = b.Binary(binary[i-len(unary)], p, q)
						}
						for sign := range 2 {
							sum = b.Add(b.Mul(sum, b.Int(loop.I64, 1_000_003)), b.CvtSigned(loop.I64, r, sign))
						}
					}
					b.Store(out, sum)
				})
				p, err := b.Done()
				if err != nil {
					t.Fatal(err)
				}
				c := &loopgen.Case{Program: p, Extents: []int{n}, Starts: []int{0}, Fuel: 1 << 20,
					Buffers: []loopgen.Buffer{{Memory: 0, Strides: []int{1}}, {Memory: 1, Strides: []int{1}}, {Memory: 2, Strides: []int{8}}},
					Memory:  []loopgen.Memory{{DType: d, Data: x}, {DType: d, Data: y}, {DType: array.Int64, Write: true, Data: make([]byte, 8*n)}}}
				want, err := loopgen.Run(c, loopgen.Heap, interpreted)
				if err != nil {
					t.Fatal(err)
				}
				for _, wide := range []loop.Type{loop.I16, loop.I32} {
					got, err := loopgen.Run(c, loopgen.Heap, widened(wide))
					if err != nil {
						t.Fatal(err)
					}
					if diff := want.Diff(got); diff != "" {
						t.Errorf("%s, after a sum %t, constant %d, in %s: %s", d, left, constant, wide, diff)
					}
				}
			}
		}
	}
}
