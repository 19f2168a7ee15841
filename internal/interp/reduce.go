package interp

import (
	"math"
	"math/bits"
	"unsafe"

	"weft/internal/loop"
	"weft/internal/numbers"
)

// redInfo describes an OpReduce.
type redInfo struct {
	kind loop.Reduction
	typ  loop.Type
	cell int // where the result goes
}

// A reduction is the state of an OpReduce while its pass runs: the virtual lanes
// of the block at hand, and the finished blocks combined as far as the tree
// allows. tree[l] is the value of 1<<l neighbouring blocks if bit l of blocks is
// set.
type reduction struct {
	lanes  [numbers.VirtualBytes / 8]uint64
	seen   int // elements in the block at hand
	blocks uint64
	tree   [64]uint64
	result uint64
}

// reset starts a row.
func (r *reduction) reset(i *redInfo) {
	r.blocks = 0
	r.open(i)
}

// open starts a block.
func (r *reduction) open(i *redInfo) {
	r.seen = 0
	switch i.typ {
	case loop.F32:
		fill(virtual[float32](r), float32(floatIdentity(i.kind)))
	case loop.F64:
		fill(virtual[float64](r), floatIdentity(i.kind))
	case loop.I8:
		fill(virtual[int8](r), intIdentity[int8, uint8](i.kind))
	case loop.I16:
		fill(virtual[int16](r), intIdentity[int16, uint16](i.kind))
	case loop.I32:
		fill(virtual[int32](r), intIdentity[int32, uint32](i.kind))
	case loop.I64:
		fill(virtual[int64](r), intIdentity[int64, uint64](i.kind))
	default:
		r.result = uint64(truth(i.kind == loop.And))
	}
}

func floatIdentity(k loop.Reduction) float64 {
	return [...]float64{loop.Sum: 0, loop.Prod: 1, loop.Min: math.Inf(1), loop.Max: math.Inf(-1)}[k]
}

func intIdentity[T signed, U unsigned](k loop.Reduction) T {
	least, greatest := limits[T]()
	most := ^U(0)
	return [...]T{loop.Sum: 0, loop.Prod: 1, loop.Min: greatest, loop.Max: least, loop.MinU: T(most), loop.MaxU: 0}[k]
}

// virtual returns the virtual lanes.
func virtual[T number](r *reduction) []T {
	return unsafe.Slice((*T)(unsafe.Pointer(&r.lanes)), numbers.VirtualBytes/int(unsafe.Sizeof(*new(T))))
}

// finish folds what is open and what is left of the tree. A row without elements
// is one empty block: the identity.
func (r *reduction) finish(i *redInfo) {
	if i.typ == loop.B {
		return
	}
	if r.seen > 0 || r.blocks == 0 {
		r.close(i)
	}
	level := bits.TrailingZeros64(r.blocks)
	r.result = r.tree[level]
	for level++; r.blocks>>level != 0; level++ {
		if r.blocks>>level&1 != 0 {
			r.result = i.combine(r.tree[level], r.result)
		}
	}
}

// close folds the virtual lanes and puts the block into the tree.
func (r *reduction) close(i *redInfo) {
	var x uint64
	switch i.typ {
	case loop.F32:
		x = uint64(math.Float32bits(fold[float32](r, f32Ops[i.kind])))
	case loop.F64:
		x = math.Float64bits(fold[float64](r, f64Ops[i.kind]))
	case loop.I8:
		x = uint64(uint8(fold[int8](r, i8Ops[i.kind])))
	case loop.I16:
		x = uint64(uint16(fold[int16](r, i16Ops[i.kind])))
	case loop.I32:
		x = uint64(uint32(fold[int32](r, i32Ops[i.kind])))
	case loop.I64:
		x = uint64(fold[int64](r, i64Ops[i.kind]))
	}
	level := 0
	for ; r.blocks>>level&1 != 0; level++ {
		x = i.combine(r.tree[level], x)
	}
	r.tree[level] = x
	r.blocks++
	r.open(i)
}

func fold[T number](r *reduction, op func(d, a, b []T)) T {
	v := virtual[T](r)
	for n := len(v) / 2; n > 0; n /= 2 {
		op(v[:n], v[:n], v[n:2*n])
	}
	return v[0]
}

// combine applies the operation to the bits of two values.
func (i *redInfo) combine(x, y uint64) uint64 {
	switch i.typ {
	case loop.F32:
		v := [3]float32{0, math.Float32frombits(uint32(x)), math.Float32frombits(uint32(y))}
		f32Ops[i.kind](v[:1], v[1:2], v[2:])
		return uint64(math.Float32bits(v[0]))
	case loop.F64:
		v := [3]float64{0, math.Float64frombits(x), math.Float64frombits(y)}
		f64Ops[i.kind](v[:1], v[1:2], v[2:])
		return math.Float64bits(v[0])
	case loop.I8:
		v := [3]int8{0, int8(x), int8(y)}
		i8Ops[i.kind](v[:1], v[1:2], v[2:])
		return uint64(uint8(v[0]))
	case loop.I16:
		v := [3]int16{0, int16(x), int16(y)}
		i16Ops[i.kind](v[:1], v[1:2], v[2:])
		return uint64(uint16(v[0]))
	case loop.I32:
		v := [3]int32{0, int32(x), int32(y)}
		i32Ops[i.kind](v[:1], v[1:2], v[2:])
		return uint64(uint32(v[0]))
	}
	v := [3]int64{0, int64(x), int64(y)}
	i64Ops[i.kind](v[:1], v[1:2], v[2:])
	return uint64(v[0])
}

var (
	f32Ops = [...]func(d, a, b []float32){loop.Sum: add[float32], loop.Prod: mul[float32], loop.Min: minF32, loop.Max: maxF32}
	f64Ops = [...]func(d, a, b []float64){loop.Sum: add[float64], loop.Prod: mul[float64], loop.Min: minF64, loop.Max: maxF64}
	i8Ops  = intOps[int8, uint8]()
	i16Ops = intOps[int16, uint16]()
	i32Ops = intOps[int32, uint32]()
	i64Ops = intOps[int64, uint64]()
)

func intOps[T signed, U unsigned]() [loop.MaxU + 1]func(d, a, b []T) {
	return [...]func(d, a, b []T){loop.Sum: add[T], loop.Prod: mul[T], loop.Min: minInt[T], loop.Max: maxInt[T],
		loop.MinU: unsignedly[T](minInt[U]), loop.MaxU: unsignedly[T](maxInt[U])}
}

// unsignedly is an operation on values without sign, for the same bits as T.
func unsignedly[T signed, U unsigned](op func(d, a, b []U)) func(d, a, b []T) {
	return func(d, a, b []T) { op(bare[U](d), bare[U](a), bare[U](b)) }
}

// bare returns the same memory as numbers without sign.
func bare[U unsigned, T signed](x []T) []U {
	return unsafe.Slice((*U)(unsafe.Pointer(unsafe.SliceData(x))), len(x))
}

// reduceStep takes the elements of a tile.
func reduceStep(m *machine, in *instr) {
	r, i := &m.red[in.reds[0]], &m.c.reds[in.reds[0]]
	switch i.typ {
	case loop.F32:
		take(m, in, r, f32Ops[i.kind])
	case loop.F64:
		take(m, in, r, f64Ops[i.kind])
	case loop.I8:
		take(m, in, r, i8Ops[i.kind])
	case loop.I16:
		take(m, in, r, i16Ops[i.kind])
	case loop.I32:
		take(m, in, r, i32Ops[i.kind])
	case loop.I64:
		take(m, in, r, i64Ops[i.kind])
	default:
		for _, x := range vec[uint8](m, in.a) {
			if i.kind == loop.And {
				r.result &= uint64(x)
			} else {
				r.result |= uint64(x)
			}
		}
		return
	}
	r.seen += m.n
	if r.seen == numbers.Block {
		r.close(i)
	}
}

func take[T number](m *machine, in *instr, r *reduction, op func(d, a, b []T)) {
	v := virtual[T](r)
	x := vec[T](m, in.a)
	for n := m.n; n > 0; n -= len(v) {
		if n < len(v) {
			v = v[:n]
		}
		if len(x) == 1 {
			op(v, v, x)
			continue
		}
		op(v, v, x[:len(v)])
		x = x[len(v):]
	}
}
