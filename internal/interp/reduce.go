package interp

import (
	"math"
	"math/bits"
	"unsafe"

	"weft/internal/loop"
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
	lanes  [loop.VirtualBytes / 8]uint64
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
	case loop.I32:
		fill(virtual[int32](r), int32(intIdentity(i.kind, math.MaxInt32, math.MinInt32)))
	case loop.I64:
		fill(virtual[int64](r), intIdentity(i.kind, math.MaxInt64, math.MinInt64))
	default:
		r.result = uint64(truth(i.kind == loop.And))
	}
}

func floatIdentity(k loop.Reduction) float64 {
	return [...]float64{loop.Sum: 0, loop.Prod: 1, loop.Min: math.Inf(1), loop.Max: math.Inf(-1)}[k]
}

func intIdentity(k loop.Reduction, greatest, least int64) int64 {
	return [...]int64{loop.Sum: 0, loop.Prod: 1, loop.Min: greatest, loop.Max: least}[k]
}

// virtual returns the virtual lanes.
func virtual[T number](r *reduction) []T {
	return unsafe.Slice((*T)(unsafe.Pointer(&r.lanes)), loop.VirtualBytes/int(unsafe.Sizeof(*new(T))))
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
	i32Ops = [...]func(d, a, b []int32){loop.Sum: add[int32], loop.Prod: mul[int32], loop.Min: minInt[int32], loop.Max: maxInt[int32]}
	i64Ops = [...]func(d, a, b []int64){loop.Sum: add[int64], loop.Prod: mul[int64], loop.Min: minInt[int64], loop.Max: maxInt[int64]}
)

// reduceStep takes the elements of a tile.
func reduceStep(m *machine, in *instr) {
	r, i := &m.red[in.reds[0]], &m.c.reds[in.reds[0]]
	switch i.typ {
	case loop.F32:
		take(m, in, r, f32Ops[i.kind])
	case loop.F64:
		take(m, in, r, f64Ops[i.kind])
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
	if r.seen == loop.Block {
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
