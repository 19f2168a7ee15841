package loop

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"weft/internal/array"
)

// counting is a loop as Go's int makes it: i from 0 while i < n and x < 4, with x doubled
// and i stored as it is and as a float.
func counting(t *testing.T, float array.DType, bound func(b *Builder) Value) (p *Program, counter Value) {
	b := NewBuilder("counting", []Axis{{Kind: Parallel}}, 0)
	in, out, count := b.Buf(float, false, Unit), b.Buf(float, true, Unit), b.Buf(array.Int64, true, Unit)
	b.Pass(func() {
		x := b.Load(in)
		f := b.Type(x)
		n := bound(b)
		v := b.While([]Value{b.Int(I64, 0), x}, func(v []Value) Value {
			counter = v[0]
			return b.And(b.Lt(v[0], n), b.Lt(v[1], b.Float(f, 4)))
		}, func(v []Value) []Value { return []Value{b.Add(v[0], b.Int(I64, 1)), b.Add(v[1], v[1])} })
		b.Store(out, b.Cvt(f, v[0]))
		b.Store(count, v[0])
	})
	p, err := b.Done()
	if err != nil {
		t.Fatal(err)
	}
	return p, counter
}

// TestNarrowCounters has the bounds that counters of loops have.
func TestNarrowCounters(t *testing.T) {
	for _, c := range []struct {
		name   string
		float  array.DType
		bound  func(b *Builder) Value
		narrow bool
		hi     int64
		why    string
	}{
		{"constant", array.Float32, func(b *Builder) Value { return b.Int(I64, 200) }, true, 200, ""},
		{"just fits", array.Float32, func(b *Builder) Value { return b.Int(I64, math.MaxInt32) }, true, math.MaxInt32, ""},
		{"too large", array.Float32, func(b *Builder) Value { return b.Int(I64, math.MaxInt32+1) }, false, math.MaxInt32 + 1, "between 0 and 2147483648"},
		{"argument of 32 bits", array.Float32, func(b *Builder) Value { return b.Cvt(I64, b.Scalar(b.ScalarArg(I32))) }, true, math.MaxInt32, ""},
		{"argument of 64 bits", array.Float32, func(b *Builder) Value { return b.Scalar(b.ScalarArg(I64)) }, false, math.MaxInt64, "between 0 and 9223372036854775807"},
		{"the least of both", array.Float32, func(b *Builder) Value { return b.Min(b.Scalar(b.ScalarArg(I64)), b.Int(I64, 1000)) }, true, 1000, ""},
		{"8 bytes", array.Float64, func(b *Builder) Value { return b.Int(I64, 200) }, false, 200, "as all else is computed"},
	} {
		p, counter := counting(t, c.float, c.bound)
		q, notes := Narrow(p)
		if err := Verify(q); err != nil {
			t.Fatal(err)
		}
		found := false
		for _, n := range notes {
			if n.Value != counter {
				continue
			}
			found = true
			if n.Narrow != c.narrow || n.Lo != 0 || n.Hi != c.hi || n.Why != c.why {
				t.Errorf("%s: %+v\n%s", c.name, n, p)
			}
		}
		if !found || (q != p) != c.narrow {
			t.Errorf("%s: %v\n%s", c.name, notes, q)
		}
		// The counter is added to and compared as it is carried.
		if text := q.String(); c.narrow && (strings.Contains(text, "add.i64") || !strings.Contains(text, "add.i32")) {
			t.Errorf("%s:\n%s", c.name, text)
		}
	}
}

// TestNarrowOffsets: offsets that all lanes share stay wide, with constants outermost, and
// others become narrow.
func TestNarrowOffsets(t *testing.T) {
	b := NewBuilder("offsets", []Axis{{Kind: Parallel}}, 0)
	table, x, at, out := b.Buf(array.Float32, false, Zero), b.Buf(array.Float32, false, Unit), b.Buf(array.Int32, false, Unit), b.Buf(array.Float32, true, Unit)
	b.Pass(func() {
		k := b.Cvt(I64, b.Load(at))
		v := b.While([]Value{b.Int(I64, 0), b.Float(F32, 0)}, func(v []Value) Value { return b.Lt(v[0], b.Min(k, b.Int(I64, 9))) }, func(v []Value) []Value {
			near := b.LoadAt(x, b.Sub(b.Add(v[0], b.Int(I64, 3)), b.Int(I64, 1)))
			far := b.LoadAt(table, b.Add(b.And(k, b.Int(I64, 255)), v[0]))
			return []Value{b.Add(v[0], b.Int(I64, 1)), b.Add(b.Mul(v[1], near), far)}
		})
		b.Store(out, v[1])
	})
	p, err := b.Done()
	if err != nil {
		t.Fatal(err)
	}
	q, _ := Narrow(p)
	if err := Verify(q); err != nil {
		t.Fatal(err)
	}
	var types []Type
	q.Walk(q.Body, func(_ Value, in *Ins) {
		if in.Op == OpLoadAt {
			types = append(types, q.Ins[in.A].Type)
			if off := &q.Ins[in.A]; int(in.Imm) == x && (off.Op != OpSub || q.Ins[off.A].Op != OpAdd || q.Ins[q.Ins[off.A].A].Op != OpCvt) {
				t.Errorf("the constants are not outermost:\n%s", q)
			}
		}
	})
	if len(types) != 2 || types[0] != I64 || types[1] != I32 {
		t.Errorf("offsets of types %v\n%s", types, q)
	}
}

// TestSpans draws operands between bounds, and demands that results are between theirs.
func TestSpans(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	ops := []Op{OpAdd, OpSub, OpMul, OpNeg, OpAbs, OpMin, OpMax, OpQuo, OpRem, OpQuoU, OpRemU, OpMinU, OpMaxU, OpAnd, OpOr, OpXor, OpNot, OpShl, OpShr, OpShrU}
	draw := func() int64 {
		x := int64(r.Uint64()) >> r.IntN(64)
		switch r.IntN(12) {
		case 0:
			return math.MinInt64 + x&3
		case 1:
			return math.MaxInt64 - x&3
		case 2:
			return x & 3
		}
		return x
	}
	for range 300_000 {
		op, typ := ops[r.IntN(len(ops))], [...]Type{I64, I64, I32, I8}[r.IntN(4)]
		cut := func(x int64) int64 { return x << (64 - 8*typ.Size()) >> (64 - 8*typ.Size()) }
		var s [2]span
		var x [2]int64
		for i := range s {
			a, b, c := cut(draw()), cut(draw()), cut(draw())
			s[i] = span{min(a, b, c), max(a, b, c)}
			x[i] = a + b + c - s[i].lo - s[i].hi
		}
		if op >= OpShl && op <= OpShrU && r.IntN(2) == 0 {
			n := int64(r.IntN(8*typ.Size() + 2))
			s[1], x[1] = span{n, n}, n
		}
		p := &Program{Ins: []Ins{{Type: typ}, {Type: typ}}}
		in := Ins{Op: op, Type: typ, A: 0, B: 1}
		if op == OpNeg || op == OpAbs || op == OpNot {
			in.B = NoValue
		}
		g := ranges{p: p, s: s[:]}
		got, z := g.value(&in), cut(plainly(op, typ, x[0], x[1]))
		if z < got.lo || z > got.hi {
			t.Fatalf("%s.%s of %d in %v and %d in %v is %d, beyond %v", op, typ, x[0], s[0], x[1], s[1], z, got)
		}
	}
}

// TestNarrowOperations draws operands that 4 bytes hold: where an operation is said to give
// the same in 4 bytes as in 8, it must.
func TestNarrowOperations(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	ops := []Op{OpAdd, OpSub, OpMul, OpNeg, OpAbs, OpMin, OpMax, OpQuo, OpRem, OpQuoU, OpRemU, OpMinU, OpMaxU, OpAnd, OpOr, OpXor, OpNot, OpShl, OpShr, OpShrU, OpLtU, OpLeU, OpCvt}
	tried := map[Op]int{}
	for range 200_000 {
		var s [2]span
		var x [2]int64
		for i := range s {
			a, b := int64(int32(r.Uint32()))>>r.IntN(32), int64(int32(r.Uint32()))>>r.IntN(32)
			s[i] = span{min(a, b), max(a, b)}
			x[i] = [...]int64{a, b}[r.IntN(2)]
		}
		in := Ins{Op: ops[r.IntN(len(ops))], Type: I64, A: 0, B: 1, C: NoValue}
		switch in.Op {
		case OpNeg, OpAbs, OpNot:
			in.B = NoValue
		case OpShl, OpShr, OpShrU:
			if r.IntN(2) == 0 {
				x[1] = int64(r.IntN(70) - 3)
				s[1] = span{x[1], x[1]}
			}
		case OpLtU, OpLeU:
			in.Type = B
		case OpCvt:
			in.Type, in.B, in.Imm = F64, NoValue, uint64(r.IntN(2)*FromUnsigned)
		}
		p := &Program{Ins: []Ins{{Type: I64}, {Type: I64}, in}}
		w := narrower{s: append(s[:], span{})}
		w.p = p
		g := ranges{p: p, s: w.s}
		if w.s[2] = g.value(&in); !w.possible(&in) || in.Type == I64 && !w.fits(2) {
			continue
		}
		tried[in.Op]++
		var wide, narrow int64
		switch u := [...]uint64{uint64(x[0]), uint64(x[1])}; in.Op {
		case OpLtU:
			wide, narrow = int64(btoi(u[0] < u[1])), int64(btoi(uint32(u[0]) < uint32(u[1])))
		case OpLeU:
			wide, narrow = int64(btoi(u[0] <= u[1])), int64(btoi(uint32(u[0]) <= uint32(u[1])))
		case OpCvt: // the narrow one has a sign
			if wide, narrow = x[0], int64(int32(x[0])); in.Imm != 0 && wide < 0 {
				t.Fatalf("%d in %v without sign is beyond 63 bits", x[0], s[0])
			}
		default:
			wide, narrow = plainly(in.Op, I64, x[0], x[1]), int64(int32(plainly(in.Op, I32, x[0], x[1])))
		}
		if wide != narrow {
			t.Fatalf("%s of %d in %v and %d in %v is %d, in 4 bytes %d", in.Op, x[0], s[0], x[1], s[1], wide, narrow)
		}
	}
	for _, op := range ops {
		if tried[op] < 50 {
			t.Errorf("%s: only %d", op, tried[op])
		}
	}
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// TestSpansOfConversions has integers that become wider and narrower.
func TestSpansOfConversions(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	for range 50_000 {
		from, to := [...]Type{I8, I16, I32, I64}[r.IntN(4)], [...]Type{I8, I16, I32, I64}[r.IntN(4)]
		if from == to {
			continue
		}
		cut := func(t Type, x int64) int64 { return x << (64 - 8*t.Size()) >> (64 - 8*t.Size()) }
		a, b, c := cut(from, int64(r.Uint64())>>r.IntN(64)), cut(from, int64(r.Uint64())>>r.IntN(64)), cut(from, int64(r.Uint64()))
		s := span{min(a, b, c), max(a, b, c)}
		x := a + b + c - s.lo - s.hi
		want, sign := x, r.IntN(2)*FromUnsigned
		if sign != 0 {
			want &= 1<<(8*from.Size()-1)<<1 - 1
		}
		g := ranges{p: &Program{Ins: []Ins{{Type: from}}}, s: []span{s}}
		got := g.value(&Ins{Op: OpCvt, Type: to, A: 0, B: NoValue, C: NoValue, Imm: uint64(sign)})
		if want = cut(to, want); want < got.lo || want > got.hi {
			t.Fatalf("%d in %v from %s to %s, %d, is %d, beyond %v", x, s, from, to, sign, want, got)
		}
	}
}

// TestSpansOfConditions draws conditions, and demands that what they say of their operands is so
// where they hold and where they do not.
func TestSpansOfConditions(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	draw := func() (span, int64) {
		a, b, c := r.Int64N(9)-4, r.Int64N(9)-4, r.Int64N(9)-4
		s := span{min(a, b, c), max(a, b, c)}
		return s, a + b + c - s.lo - s.hi
	}
	compare := func(op Op, x, y int64) bool {
		return map[Op]bool{OpEq: x == y, OpNe: x != y, OpLt: x < y, OpLe: x <= y, OpLtU: uint64(x) < uint64(y), OpLeU: uint64(x) <= uint64(y)}[op]
	}
	narrowed := 0
	for range 100_000 {
		op := [...]Op{OpEq, OpNe, OpLt, OpLe, OpLtU, OpLeU}
		p := &Program{Ins: []Ins{{Type: I64}, {Type: I64}, {Type: I64}, {Type: I64},
			{Op: op[r.IntN(6)], Type: B, A: 0, B: 1}, {Op: op[r.IntN(6)], Type: B, A: 2, B: 3},
			{Op: [...]Op{OpAnd, OpOr}[r.IntN(2)], Type: B, A: 4, B: 5}, {Op: OpNot, Type: B, A: 6}}}
		g := ranges{p: p, s: make([]span, 8)}
		var x [4]int64
		for i := range x {
			g.s[i], x[i] = draw()
		}
		was := [4]span(g.s)
		first, second := compare(p.Ins[4].Op, x[0], x[1]), compare(p.Ins[5].Op, x[2], x[3])
		both := first && second
		if p.Ins[6].Op == OpOr {
			both = first || second
		}
		cond := Value(4 + r.IntN(4))
		holds := [...]bool{first, second, both, !both}[cond-4]
		g.under(cond, holds, func() []span {
			for i, s := range g.s[:4] {
				if x[i] < s.lo || x[i] > s.hi {
					t.Fatalf("%d in %v is not in %v: %v %v of %v", x[i], was, s, p.Ins[cond], holds, x)
				}
				if s != was[i] {
					narrowed++
				}
			}
			return nil
		})
		if [4]span(g.s) != was {
			t.Fatalf("%v became %v", was, g.s)
		}
	}
	if narrowed < 10_000 {
		t.Errorf("only %d narrowed", narrowed)
	}
}

// plainly is what an operation gives, with more bits than the type may have.
func plainly(op Op, t Type, x, y int64) int64 {
	bits := int64(8 * t.Size())
	ux, uy := uint64(x)&(1<<(bits-1)<<1-1), uint64(y)&(1<<(bits-1)<<1-1)
	switch op {
	case OpAdd:
		return x + y
	case OpSub:
		return x - y
	case OpMul:
		return x * y
	case OpNeg:
		return -x
	case OpAbs:
		if x < 0 {
			return -x
		}
		return x
	case OpMin:
		return min(x, y)
	case OpMax:
		return max(x, y)
	case OpMinU:
		return int64(min(ux, uy))
	case OpMaxU:
		return int64(max(ux, uy))
	case OpAnd:
		return x & y
	case OpOr:
		return x | y
	case OpXor:
		return x ^ y
	case OpNot:
		return ^x
	case OpShl:
		if y < 0 || y >= bits {
			return 0
		}
		return x << y
	case OpShr:
		if y < 0 || y >= bits {
			y = bits - 1
		}
		return x >> y
	case OpShrU:
		if y < 0 || y >= bits {
			return 0
		}
		return int64(ux >> y)
	}
	if y == 0 {
		return 0
	}
	switch op {
	case OpQuo:
		if y == -1 {
			return -x
		}
		return x / y
	case OpRem:
		if y == -1 {
			return 0
		}
		return x % y
	case OpQuoU:
		return int64(ux / uy)
	}
	return int64(ux % uy)
}
