//go:build amd64

package x86

import (
	"encoding/binary"
	"math"
	"strings"
	"testing"

	"weft/internal/array"
	"weft/internal/loop"
	"weft/internal/loop/loopgen"
)

// generalOps are operations on numbers that all lanes share, and what Go makes of them; y is
// no count of shifts.
var generalOps = []struct {
	name string
	emit func(b *loop.Builder, x, y loop.Value) loop.Value
	i32  func(x, y int32) int32
	i64  func(x, y int64) int64
}{
	{"add", (*loop.Builder).Add, func(x, y int32) int32 { return x + y }, func(x, y int64) int64 { return x + y }},
	{"sub", (*loop.Builder).Sub, func(x, y int32) int32 { return x - y }, func(x, y int64) int64 { return x - y }},
	{"mul", (*loop.Builder).Mul, func(x, y int32) int32 { return x * y }, func(x, y int64) int64 { return x * y }},
	{"and", (*loop.Builder).And, func(x, y int32) int32 { return x & y }, func(x, y int64) int64 { return x & y }},
	{"or", (*loop.Builder).Or, func(x, y int32) int32 { return x | y }, func(x, y int64) int64 { return x | y }},
	{"xor", (*loop.Builder).Xor, func(x, y int32) int32 { return x ^ y }, func(x, y int64) int64 { return x ^ y }},
	{"min", (*loop.Builder).Min, func(x, y int32) int32 { return min(x, y) }, func(x, y int64) int64 { return min(x, y) }},
	{"max", (*loop.Builder).Max, func(x, y int32) int32 { return max(x, y) }, func(x, y int64) int64 { return max(x, y) }},
	{"minu", (*loop.Builder).MinU, func(x, y int32) int32 { return int32(min(uint32(x), uint32(y))) }, func(x, y int64) int64 { return int64(min(uint64(x), uint64(y))) }},
	{"maxu", (*loop.Builder).MaxU, func(x, y int32) int32 { return int32(max(uint32(x), uint32(y))) }, func(x, y int64) int64 { return int64(max(uint64(x), uint64(y))) }},
	{"neg", func(b *loop.Builder, x, y loop.Value) loop.Value { return b.Neg(b.Sub(y, x)) }, func(x, y int32) int32 { return -(y - x) }, func(x, y int64) int64 { return -(y - x) }},
	{"not", func(b *loop.Builder, x, y loop.Value) loop.Value { return b.Not(b.Add(x, y)) }, func(x, y int32) int32 { return ^(x + y) }, func(x, y int64) int64 { return ^(x + y) }},
	{"shl", func(b *loop.Builder, x, y loop.Value) loop.Value {
		return b.Shl(b.Add(x, y), b.Int(b.Type(x), 3))
	}, func(x, y int32) int32 { return (x + y) << 3 }, func(x, y int64) int64 { return (x + y) << 3 }},
	{"shr", func(b *loop.Builder, x, y loop.Value) loop.Value {
		return b.Shr(b.Add(x, y), b.Int(b.Type(x), 2))
	}, func(x, y int32) int32 { return (x + y) >> 2 }, func(x, y int64) int64 { return (x + y) >> 2 }},
	{"shru", func(b *loop.Builder, x, y loop.Value) loop.Value {
		return b.ShrU(b.Add(x, y), b.Int(b.Type(x), 2))
	}, func(x, y int32) int32 { return int32(uint32(x+y) >> 2) }, func(x, y int64) int64 { return int64(uint64(x+y) >> 2) }},
	{"select eq", func(b *loop.Builder, x, y loop.Value) loop.Value { return b.Select(b.Eq(x, y), b.Neg(x), x) },
		func(x, y int32) int32 {
			if x == y {
				return -x
			}
			return x
		}, func(x, y int64) int64 {
			if x == y {
				return -x
			}
			return x
		}},
	{"select ltu", func(b *loop.Builder, x, y loop.Value) loop.Value { return b.Select(b.LtU(y, x), b.Sub(x, y), y) },
		func(x, y int32) int32 {
			if uint32(y) < uint32(x) {
				return x - y
			}
			return y
		}, func(x, y int64) int64 {
			if uint64(y) < uint64(x) {
				return x - y
			}
			return y
		}},
	{"if", func(b *loop.Builder, x, y loop.Value) loop.Value {
		zero := b.Int(b.Type(x), 0)
		cond := b.Or(b.And(b.Lt(x, y), b.Not(b.Eq(x, zero))), b.And(b.Le(zero, y), b.Or(b.LeU(y, x), b.Ne(x, y))))
		return b.If(cond, func() []loop.Value { return []loop.Value{b.Sub(x, b.Int(b.Type(x), 7))} }, func() []loop.Value { return []loop.Value{b.Xor(x, y)} })[0]
	}, func(x, y int32) int32 {
		if x < y && x != 0 || 0 <= y && (uint32(y) <= uint32(x) || x != y) {
			return x - 7
		}
		return x ^ y
	}, func(x, y int64) int64 {
		if x < y && x != 0 || 0 <= y && (uint64(y) <= uint64(x) || x != y) {
			return x - 7
		}
		return x ^ y
	}},
	{"widen", func(b *loop.Builder, x, y loop.Value) loop.Value {
		return b.Cvt(b.Type(x), b.ShrU(b.Cvt(loop.I64, b.Add(x, y)), b.Int(loop.I64, 1)))
	}, func(x, y int32) int32 { return int32(uint64(int64(x+y)) >> 1) }, func(x, y int64) int64 { return int64(uint64(x+y) >> 1) }},
	{"widen without sign", func(b *loop.Builder, x, y loop.Value) loop.Value {
		low := b.Cvt(loop.I32, b.Add(x, y))
		return b.Cvt(b.Type(x), b.Shr(b.CvtSigned(loop.I64, low, loop.FromUnsigned), b.Int(loop.I64, 1)))
	}, func(x, y int32) int32 { return int32(int64(uint32(x+y)) >> 1) }, func(x, y int64) int64 { return int64(uint32(x+y)) >> 1 }},
}

// spelled has a loop of some trips in which v and w become op(v, w) and v, or with alone v
// alone does, and spells what v is at last by reading a table of digits. It stores
// that, and the same as a number with the sign of a float.
func spelled(t testing.TB, typ loop.Type, op int, alone, constant bool, w int64) *loop.Program {
	b := loop.NewBuilder("general "+generalOps[op].name, []loop.Axis{{Kind: loop.Parallel}}, 0)
	table, out, float := b.Buf(array.Int64, false, loop.Zero), b.Buf(array.Int64, true, loop.Unit), b.Buf(array.Float64, true, loop.Unit)
	x, y, trips := b.Scalar(b.ScalarArg(typ)), b.Scalar(b.ScalarArg(typ)), b.Scalar(b.ScalarArg(loop.I64))
	if constant {
		y = b.Int(typ, w)
	}
	b.Pass(func() {
		emit := generalOps[op].emit
		v := b.While([]loop.Value{x, y, b.Int(loop.I64, 0)}, func(v []loop.Value) loop.Value { return b.Lt(v[2], trips) }, func(v []loop.Value) []loop.Value {
			next := b.Add(v[2], b.Int(loop.I64, 1))
			if alone {
				return []loop.Value{emit(b, v[0], y), v[1], next}
			}
			return []loop.Value{emit(b, v[0], v[1]), v[0], next}
		})[0]
		all := b.Int(loop.I64, 0)
		for k := 0; k < 8*typ.Size(); k += 4 {
			digit := b.And(b.ShrU(v, b.Int(typ, int64(k))), b.Int(typ, 15))
			all = b.Or(all, b.Shl(b.LoadAt(table, digit), b.Int(loop.I64, int64(k))))
		}
		last := b.LoadAt(table, b.And(all, b.Int(loop.I64, 15))) // all is wanted in general registers
		b.If(b.Lt(last, b.Int(loop.I64, 16)), func() []loop.Value { b.Store(out, all); return nil }, nil)
		b.Store(float, b.Cvt(loop.F64, all))
	})
	return finish(t, b)
}

// TestGeneral compares what general registers compute with Go, and demands that vectors
// neither compute nor compare it.
func TestGeneral(t *testing.T) {
	digits := make([]byte, 16*8)
	for i := range 16 {
		binary.LittleEndian.PutUint64(digits[8*i:], uint64(i))
	}
	numbers := []int64{0, 1, -1, 5, 1 << 20, math.MaxInt32, math.MinInt32, math.MaxInt64, math.MinInt64, 0x123456789abcdef, -77}
	for op := range generalOps {
		for _, typ := range []loop.Type{loop.I32, loop.I64} {
			for form := range 4 {
				alone, constant := form&1 != 0, form&2 != 0
				for j, x := range numbers {
					y := numbers[(j*7+op+form)%len(numbers)]
					if j == 4 {
						y = x
					}
					p := spelled(t, typ, op, alone, constant, y)
					for _, isa := range isas(t) {
						if j == 0 {
							vectorsSpread(t, p, isa.String(), func() (string, error) { return Explain(p, isa) })
						}
						run := compiled(isa)
						for trips := range 4 {
							v, w := x, y
							for range trips {
								r := generalOps[op].i64(v, w)
								if typ == loop.I32 {
									r = int64(generalOps[op].i32(int32(v), int32(w)))
								}
								if alone {
									v = r
								} else {
									v, w = r, v
								}
							}
							if typ == loop.I32 {
								v = int64(uint32(v))
							}
							const lanes = 19
							c := &loopgen.Case{
								Program: p, Extents: []int{lanes}, Starts: []int{0}, Fuel: []uint64{plenty, 1}[trips&1], Scalars: []uint64{uint64(x), uint64(y), uint64(trips)},
								Buffers: []loopgen.Buffer{{Memory: 0, Strides: []int{0}}, {Memory: 1, Strides: []int{8}}, {Memory: 2, Strides: []int{8}}},
								Memory: []loopgen.Memory{{DType: array.Int64, Data: digits},
									{DType: array.Int64, Write: true, Data: make([]byte, 8*lanes)}, {DType: array.Float64, Write: true, Data: make([]byte, 8*lanes)}},
							}
							got, err := loopgen.Run(c, loopgen.Edge(false), run)
							if err != nil {
								t.Fatal(err)
							}
							for i := range lanes {
								n := int64(binary.LittleEndian.Uint64(got.Memory(1)[8*i:]))
								f := math.Float64frombits(binary.LittleEndian.Uint64(got.Memory(2)[8*i:]))
								if n != v || f != float64(v) {
									t.Fatalf("%s: %s of %d and %d, %s, form %d, %d trips: lane %d has %#x and %v, want %#x and %v\n%s", isa, generalOps[op].name, x, y, typ, form, trips, i, n, f, v, float64(v), p)
								}
							}
						}
					}
				}
			}
		}
	}
}

// vectorsSpread demands that no vectors compute with integers.
func vectorsSpread(t *testing.T, p *loop.Program, name string, explain func() (string, error)) {
	t.Helper()
	text, err := explain()
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(text, "\n") {
		f := strings.Fields(line)
		if len(f) < 2 || strings.Contains(line, "[rip") { // that is the mask at the end of a row
			continue
		}
		computes := f[1] == "vmovq" && strings.HasPrefix(f[2], "r")
		for _, op := range []string{"vpadd", "vpsub", "vpmul", "vpsll", "vpsrl", "vpsra", "vpmin", "vpmax", "vptest", "kortest", "vpcmpeq", "vpcmpgtq", "vblend", "vpblend"} {
			computes = computes || strings.HasPrefix(f[1], op)
		}
		if computes {
			t.Errorf("%s: %s\n%s\n%s", name, line, p, text)
			return
		}
	}
}
