package loopgen_test

import (
	"encoding/binary"
	"math"
	"unsafe"

	"weft/internal/array"
	"weft/internal/fma"
	"weft/internal/loop"
	"weft/internal/numbers"
)

// A scalar machine runs a program one lane after the other, as the comments of
// package loop read, with nothing shared between lanes: no tiles, no masks. It is
// the reference for the reference.
type scalar struct {
	p    *loop.Program
	f    *loop.Frame
	idx  [loop.MaxAxes]int
	val  []uint64
	reds map[loop.Value][]uint64 // elements of the pass at hand
	trip []int                   // of the loops around
	see  func(v loop.Value)      // if not nil, called for values that have been computed
}

func scalarRun(p *loop.Program, f *loop.Frame, _ func() bool) error {
	s := &scalar{p: p, f: f, val: make([]uint64, len(p.Ins))}
	s.rows(0)
	return nil
}

func (s *scalar) extent(a int) int {
	if lo, hi, ok := s.item(a); ok {
		return hi - lo
	}
	return int(s.f.Word[s.p.ExtentWord(a)])
}

// item is where the axis begins and ends in the row at hand, if that is said by offsets.
func (s *scalar) item(a int) (lo, hi int, ok bool) {
	of := s.p.Axes[a].Offsets
	if of == 0 {
		return 0, 0, false
	}
	at := s.addr(uint64(of-1), 0)
	return int(*(*int64)(at)), int(*(*int64)(unsafe.Add(at, 8))), true
}

func (s *scalar) rows(axis int) {
	if axis == s.p.Lane {
		s.block(s.p.Body)
		return
	}
	for i := range s.extent(axis) {
		s.idx[axis] = i
		s.rows(axis + 1)
	}
}

func (s *scalar) addr(buf uint64, off uint64) unsafe.Pointer {
	b := &s.p.Bufs[buf]
	at := int(off) * b.DType.Size()
	for a, step := range b.Steps {
		if step != loop.Zero {
			lo, _, _ := s.item(a)
			at += (lo + s.idx[a]) * int(s.f.Word[s.p.StrideWord(int(buf), a)])
		}
	}
	return unsafe.Add(s.f.Ptr[buf], at)
}

// offset is the value of an offset, 0 if there is none.
func (s *scalar) offset(v loop.Value) uint64 {
	if v == loop.NoValue {
		return 0
	}
	return uint64(integer(s.p.Ins[v].Type, s.val[v]))
}

func (s *scalar) block(b []loop.Value) {
	for _, v := range b {
		s.ins(v)
		if s.see != nil {
			s.see(v)
		}
	}
}

func (s *scalar) ins(v loop.Value) {
	in := &s.p.Ins[v]
	get := func(x loop.Value) uint64 {
		if x == loop.NoValue {
			return 0
		}
		return s.val[x]
	}
	a, b, c := get(in.A), get(in.B), get(in.C)
	r := s.p.Region(in)
	switch in.Op {
	case loop.OpConst:
		s.val[v] = in.Imm
	case loop.OpScalar:
		s.val[v] = s.f.Word[s.p.ScalarWord(int(in.Imm))]
	case loop.OpIndex:
		s.val[v] = uint64(s.idx[in.Imm]) + s.f.Word[s.p.StartWord(int(in.Imm))]
	case loop.OpLoad, loop.OpLoadAt:
		s.val[v] = element(s.p.Bufs[in.Imm].DType, s.addr(in.Imm, s.offset(in.A)))
	case loop.OpStore:
		setElement(s.p.Bufs[in.Imm].DType, s.addr(in.Imm, 0), a)
	case loop.OpStoreAt:
		setElement(s.p.Bufs[in.Imm].DType, s.addr(in.Imm, s.offset(in.B)), a)
	case loop.OpLookup:
		table := s.p.Tables[in.Imm].Bits
		s.val[v] = table[a%uint64(len(table))]
	case loop.OpReduce:
		s.reds[v] = append(s.reds[v], a)
	case loop.OpPass:
		s.reds = map[loop.Value][]uint64{}
		for _, x := range r.Body {
			if s.p.Ins[x].Op == loop.OpReduce {
				s.reds[x] = nil
			}
		}
		for i := range s.extent(s.p.Lane) {
			s.idx[s.p.Lane] = i
			s.block(r.Body)
		}
		s.idx[s.p.Lane] = 0
		for x, elements := range s.reds {
			s.val[x] = reduce(loop.Reduction(s.p.Ins[x].Imm), s.p.Ins[x].Type, elements)
		}
	case loop.OpIf:
		body, next := r.Else, r.ElseNext
		if s.val[r.Cond] != 0 {
			body, next = r.Body, r.Next
		}
		s.block(body)
		s.results(v, next)
	case loop.OpLoop:
		s.assign(r.Params, r.Init)
		s.trip = append(s.trip, 0)
		for i := 0; ; i++ {
			s.trip[len(s.trip)-1] = i
			if r.Axis >= 0 {
				if i >= s.extent(r.Axis) {
					break
				}
				s.idx[r.Axis] = i
			}
			for _, q := range r.Params {
				if s.see != nil {
					s.see(q)
				}
			}
			s.block(r.Head)
			if r.Cond != loop.NoValue && s.val[r.Cond] == 0 {
				break
			}
			s.block(r.Body)
			s.assign(r.Params, r.Next)
		}
		s.trip = s.trip[:len(s.trip)-1]
		if r.Axis >= 0 {
			s.idx[r.Axis] = 0
		}
		s.results(v, r.Params)
	case loop.OpOut:
	default:
		from := in.Type
		if in.A != loop.NoValue {
			from = s.p.Ins[in.A].Type
		}
		s.val[v] = operate(in.Op, in.Imm, in.Type, from, a, b, c)
	}
}

// assign sets all params at once.
func (s *scalar) assign(to, from []loop.Value) {
	var x []uint64
	for _, v := range from {
		x = append(x, s.val[v])
	}
	for i, v := range to {
		s.val[v] = x[i]
	}
}

// results sets the OpOut of an instruction.
func (s *scalar) results(of loop.Value, from []loop.Value) {
	for v := range s.p.Ins {
		if in := &s.p.Ins[v]; in.Op == loop.OpOut && in.A == of {
			s.val[v] = s.val[from[in.Imm]]
		}
	}
}

// reduce follows the comment of OpReduce.
func reduce(k loop.Reduction, t loop.Type, x []uint64) uint64 {
	var identity uint64
	var op loop.Op
	switch k {
	case loop.Sum:
		op = loop.OpAdd
	case loop.Prod:
		op = loop.OpMul
		identity = map[loop.Type]uint64{loop.F32: 0x3f800000, loop.F64: 0x3ff << 52}[t]
		if t.Int() {
			identity = 1
		}
	case loop.Min:
		op = loop.OpMin
		identity = map[loop.Type]uint64{loop.I8: math.MaxInt8, loop.I16: math.MaxInt16, loop.I32: math.MaxInt32, loop.I64: math.MaxInt64, loop.F32: 0x7f800000, loop.F64: 0x7ff << 52}[t]
	case loop.Max:
		op = loop.OpMax
		identity = map[loop.Type]uint64{loop.I8: 1 << 7, loop.I16: 1 << 15, loop.I32: 1 << 31, loop.I64: 1 << 63, loop.F32: 0xff800000, loop.F64: 0xfff << 52}[t]
	case loop.And:
		op, identity = loop.OpAnd, 1
	case loop.Or:
		op = loop.OpOr
	case loop.MinU:
		op, identity = loop.OpMinU, math.MaxUint64>>(64-8*t.Size())
	case loop.MaxU:
		op = loop.OpMaxU
	}
	f := func(x, y uint64) uint64 { return operate(op, 0, t, t, x, y, 0) }
	lanes := numbers.VirtualBytes / max(t.Size(), 1)
	var blocks []uint64
	for {
		block := x[:min(len(x), numbers.Block)]
		x = x[len(block):]
		acc := make([]uint64, lanes)
		for l := range acc {
			acc[l] = identity
			for i := l; i < len(block); i += lanes {
				acc[l] = f(acc[l], block[i])
			}
		}
		for n := lanes / 2; n > 0; n /= 2 {
			for l := range n {
				acc[l] = f(acc[l], acc[l+n])
			}
		}
		blocks = append(blocks, acc[0])
		if len(x) == 0 {
			break
		}
	}
	for len(blocks) > 1 {
		var next []uint64
		for i := 0; i < len(blocks); i += 2 {
			if i+1 == len(blocks) {
				next = append(next, blocks[i])
			} else {
				next = append(next, f(blocks[i], blocks[i+1]))
			}
		}
		blocks = next
	}
	return blocks[0]
}

func half(h uint16) float64 {
	x := float64(h & 1023)
	switch e := int(h >> 10 & 31); {
	case e == 31 && h&1023 != 0:
		return math.NaN()
	case e == 31:
		x = math.Inf(1)
	case e > 0:
		x = math.Ldexp(1024+x, e-25)
	default:
		x = math.Ldexp(x, -24)
	}
	if h>>15 != 0 {
		x = -x
	}
	return x
}

// narrow finds the number of a 16-bit format with 2^p steps between powers of
// two that is nearest to x: the bits of the format are in order of size.
func narrow(x float64, value func(uint16) float64, inf uint16) uint16 {
	sign := uint16(0)
	if math.Signbit(x) {
		sign, x = 1<<15, -x
	}
	if x != x {
		return inf | 1
	}
	lo, hi := uint16(0), inf
	for hi-lo > 1 {
		mid := (lo + hi) / 2
		if value(mid) <= x {
			lo = mid
		} else {
			hi = mid
		}
	}
	if x == value(hi) {
		return sign | hi
	}
	// Above the greatest number the next step counts, not infinity.
	step := value(hi) - value(lo)
	if hi == inf {
		step = value(lo) - value(lo-1)
	}
	switch rest := x - value(lo); {
	case rest > step/2, rest == step/2 && lo&1 == 1:
		return sign | hi
	}
	return sign | lo
}

func brain(h uint16) float64 { return float64(math.Float32frombits(uint32(h) << 16)) }

func element(d array.DType, p unsafe.Pointer) uint64 {
	b := unsafe.Slice((*byte)(p), d.Size())
	switch d {
	case array.Bool, array.Uint8:
		return uint64(b[0])
	case array.Int8:
		return cut(loop.TypeOf(d), int64(int8(b[0])))
	case array.Int16:
		return cut(loop.TypeOf(d), int64(int16(binary.LittleEndian.Uint16(b))))
	case array.Uint16:
		return uint64(binary.LittleEndian.Uint16(b))
	case array.Float16:
		return uint64(math.Float32bits(float32(half(binary.LittleEndian.Uint16(b)))))
	case array.BFloat16:
		return uint64(math.Float32bits(float32(brain(binary.LittleEndian.Uint16(b)))))
	}
	if d.Size() == 4 {
		return uint64(binary.LittleEndian.Uint32(b))
	}
	return binary.LittleEndian.Uint64(b)
}

func setElement(d array.DType, p unsafe.Pointer, x uint64) {
	b := unsafe.Slice((*byte)(p), d.Size())
	switch d {
	case array.Float16:
		x = uint64(narrow(f32(x), half, 31<<10))
	case array.BFloat16:
		x = uint64(narrow(f32(x), brain, 255<<7))
	}
	for i := range b {
		b[i] = byte(x >> (8 * i))
	}
}

func f32(x uint64) float64 { return float64(math.Float32frombits(uint32(x))) }

func float(t loop.Type, x uint64) float64 {
	if t == loop.F32 {
		return f32(x)
	}
	return math.Float64frombits(x)
}

func integer(t loop.Type, x uint64) int64 {
	switch t {
	case loop.I8:
		return int64(int8(x))
	case loop.I16:
		return int64(int16(x))
	case loop.I32:
		return int64(int32(x))
	}
	return int64(x)
}

// cut returns the low bits of x that a value of type t has.
func cut(t loop.Type, x int64) uint64 {
	return uint64(x) << (64 - 8*t.Size()) >> (64 - 8*t.Size())
}

func truth(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// operate computes an operation. In float64 the sum, difference, product,
// quotient and root of float32 have enough bits to be rounded again; only fma
// needs care, which package interp tests against math/big.
func operate(op loop.Op, imm uint64, t, from loop.Type, a, b, c uint64) uint64 {
	switch op {
	case loop.OpSelect:
		if a != 0 {
			return b
		}
		return c
	case loop.OpBits:
		return a
	case loop.OpEq, loop.OpNe, loop.OpLt, loop.OpLe:
		if from.Float() {
			x, y := float(from, a), float(from, b)
			return truth(op == loop.OpEq && x == y || op == loop.OpNe && x != y || op == loop.OpLt && x < y || op == loop.OpLe && x <= y)
		}
		x, y := integer(from, a), integer(from, b)
		return truth(op == loop.OpEq && x == y || op == loop.OpNe && x != y || op == loop.OpLt && x < y || op == loop.OpLe && x <= y)
	case loop.OpLtU:
		return truth(a < b)
	case loop.OpLeU:
		return truth(a <= b)
	case loop.OpCvt:
		return convert(t, from, imm, a)
	case loop.OpRound:
		x := half(narrow(f32(a), half, 31<<10))
		if array.DType(imm) == array.BFloat16 {
			x = brain(narrow(f32(a), brain, 255<<7))
		}
		return uint64(math.Float32bits(float32(x)))
	}
	if t.Float() {
		if op == loop.OpFma && t == loop.F32 {
			return uint64(math.Float32bits(fma.Float32(float32(f32(a)), float32(f32(b)), float32(f32(c)))))
		}
		x := floating(op, float(t, a), float(t, b), float(t, c))
		if t == loop.F32 {
			return uint64(math.Float32bits(float32(x)))
		}
		return math.Float64bits(x)
	}
	if t == loop.B {
		return uint64(whole(op, t, int64(a), int64(b))) & 1
	}
	if x, ok := plain(op, 8*t.Size(), a, b); ok {
		return cut(t, int64(x))
	}
	return cut(t, whole(op, t, integer(t, a), integer(t, b)))
}

// plain computes an operation on integers of w bits that have no sign.
func plain(op loop.Op, w int, x, y uint64) (z uint64, ok bool) {
	switch op {
	case loop.OpMinU:
		return min(x, y), true
	case loop.OpMaxU:
		return max(x, y), true
	case loop.OpQuoU, loop.OpRemU:
		switch {
		case y == 0:
		case op == loop.OpQuoU:
			z = x / y
		default:
			z = x % y
		}
		return z, true
	case loop.OpMulHiU:
		if w == 64 {
			return product(x, y), true
		}
		return x * y >> w, true
	case loop.OpRotL:
		for range y % uint64(w) {
			x = x<<1 | x>>(w-1)&1
		}
		return x, true
	case loop.OpPopCount:
		for ; x != 0; x /= 2 {
			z += x % 2
		}
		return z, true
	case loop.OpLzCnt:
		for z = uint64(w); x != 0; x /= 2 {
			z--
		}
		return z, true
	case loop.OpTzCnt:
		for z < uint64(w) && x%2 == 0 {
			x /= 2
			z++
		}
		return z, true
	}
	return 0, false
}

// product returns the high half of x*y, by halves of the operands.
func product(x, y uint64) uint64 {
	const low = 1<<32 - 1
	middle := (x>>32)*(y&low) + (x&low)*(y&low)>>32
	other := (x&low)*(y>>32) + middle&low
	return (x>>32)*(y>>32) + middle>>32 + other>>32
}

func convert(t, from loop.Type, sign, a uint64) uint64 {
	if !from.Float() {
		x := integer(from, a)
		if sign&loop.FromUnsigned != 0 {
			x = int64(a)
			if from == loop.I64 && t == loop.F32 {
				return uint64(math.Float32bits(float32(a)))
			}
			if from == loop.I64 {
				return math.Float64bits(float64(a)) // to nothing else
			}
		}
		switch t {
		case loop.F32:
			return uint64(math.Float32bits(float32(x)))
		case loop.F64:
			return math.Float64bits(float64(x))
		}
		return cut(t, x)
	}
	x := float(from, a)
	switch t {
	case loop.F32:
		return uint64(math.Float32bits(float32(x)))
	case loop.F64:
		return math.Float64bits(x)
	}
	if x != x {
		return 0
	}
	w := 8 * t.Size()
	switch {
	case sign&loop.ToUnsigned != 0 && w == 64:
		switch {
		case x >= 1<<64:
			return math.MaxUint64
		case x < 0:
			return 0
		}
		return uint64(x)
	case sign&loop.ToUnsigned != 0:
		return uint64(math.Max(0, math.Min(math.Ldexp(1, w)-1, x)))
	case w < 64:
		return cut(t, int64(math.Max(-math.Ldexp(1, w-1), math.Min(math.Ldexp(1, w-1)-1, x))))
	case x >= 1<<63:
		return math.MaxInt64
	case x < -1<<63:
		return 1 << 63
	}
	return uint64(int64(x))
}

func floating(op loop.Op, x, y, z float64) float64 {
	switch op {
	case loop.OpAdd:
		return x + y
	case loop.OpSub:
		return x - y
	case loop.OpMul:
		return x * y
	case loop.OpDiv:
		return x / y
	case loop.OpFma:
		return math.FMA(x, y, z)
	case loop.OpNeg:
		return -x
	case loop.OpAbs:
		return math.Abs(x)
	case loop.OpSqrt:
		return math.Sqrt(x)
	case loop.OpLogB:
		return math.Logb(x)
	case loop.OpScaleB:
		return math.Ldexp(x, int(y))
	case loop.OpFloor:
		return math.Floor(x)
	case loop.OpCeil:
		return math.Ceil(x)
	case loop.OpTrunc:
		return math.Trunc(x)
	case loop.OpRint:
		return math.RoundToEven(x)
	case loop.OpMin:
		if x < y || x != x {
			return x
		}
		return y
	case loop.OpMax:
		if x > y || x != x {
			return x
		}
		return y
	}
	panic(op.String())
}

func whole(op loop.Op, t loop.Type, x, y int64) int64 {
	w := int64(8 * t.Size())
	switch op {
	case loop.OpAdd:
		return x + y
	case loop.OpSub:
		return x - y
	case loop.OpMul:
		return x * y
	case loop.OpNeg:
		return -x
	case loop.OpAbs:
		if x < 0 {
			return -x
		}
		return x
	case loop.OpMin:
		return min(x, y)
	case loop.OpMax:
		return max(x, y)
	case loop.OpQuo:
		if y == 0 {
			return 0
		}
		return x / y
	case loop.OpRem:
		if y == 0 {
			return 0
		}
		return x % y
	case loop.OpShl:
		if y < 0 || y >= w {
			return 0
		}
		return x << y
	case loop.OpShr:
		if y < 0 || y >= w {
			y = w - 1
		}
		return x >> y
	case loop.OpShrU:
		if y < 0 || y >= w {
			return 0
		}
		return int64(cut(t, x) >> y)
	case loop.OpMulHi:
		if t == loop.I64 {
			// Of numbers without sign it is so much too large.
			return int64(product(uint64(x), uint64(y))) - x>>63&y - y>>63&x
		}
		return x * y >> w
	case loop.OpAnd:
		return x & y
	case loop.OpOr:
		return x | y
	case loop.OpXor:
		return x ^ y
	case loop.OpNot:
		return ^x
	}
	panic(op.String())
}
