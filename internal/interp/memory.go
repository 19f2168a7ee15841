package interp

import (
	"unsafe"

	"weft/half"
	"weft/internal/array"
	"weft/internal/loop"
)

type step = func(m *machine, in *instr)

// loadFor returns the step that reads elements of type d as values of type t.
func loadFor(d array.DType, t loop.Type) step {
	switch d {
	case array.Bool:
		return load(func(x uint8) uint8 { return min(x, 1) }, rowBool)
	case array.Float16:
		return load(half.Float16.Float32, rowOf[half.Float16])
	case array.BFloat16:
		return load(half.BFloat16.Float32, rowOf[half.BFloat16])
	}
	if t.Size() > d.Size() {
		switch d {
		case array.Uint8:
			return loadWide[uint8](t)
		case array.Int8:
			return loadWide[int8](t)
		case array.Uint16:
			return loadWide[uint16](t)
		case array.Int16:
			return loadWide[int16](t)
		}
	}
	return sized(t, load(same[uint8], rowSame[uint8]), load(same[uint16], rowSame[uint16]),
		load(same[uint32], rowSame[uint32]), load(same[uint64], rowSame[uint64]))
}

// loadWide is loadFor of integers in a wider type, by their sign.
func loadWide[M integer](t loop.Type) step {
	if t == loop.I16 {
		return load(func(x M) int16 { return int16(x) }, rowInt[M, int16])
	}
	return load(func(x M) int32 { return int32(x) }, rowInt[M, int32])
}

// storeFor returns the step that writes values of type t as elements of type d.
func storeFor(d array.DType, t loop.Type) step {
	switch {
	case d == array.Float16:
		return store(half.NewFloat16[float32], putOf(half.NewFloat16[float32]))
	case d == array.BFloat16:
		return store(half.NewBFloat16[float32], putOf(half.NewBFloat16[float32]))
	case d.Size() == 1 && t == loop.I32:
		return store(func(x int32) uint8 { return uint8(x) }, putInt[uint8, int32])
	case d.Size() == 1 && t == loop.I16:
		return store(func(x int16) uint8 { return uint8(x) }, putInt[uint8, int16])
	case d.Size() == 2 && t == loop.I32:
		return store(func(x int32) uint16 { return uint16(x) }, putInt[uint16, int32])
	}
	return sized(t, store(same[uint8], putSame[uint8]), store(same[uint16], putSame[uint16]),
		store(same[uint32], putSame[uint32]), store(same[uint64], putSame[uint64]))
}

// offsets returns the values of an operand that is an offset: one a lane, or one for all.
func (m *machine) offsets(o opd, short bool) []int64 {
	if !short {
		return vec[int64](m, o)
	}
	x := vec[int32](m, o)
	for i, y := range x {
		m.wide[i] = int64(y)
	}
	return m.wide[:len(x)]
}

func same[T any](x T) T { return x }

// load makes a step of a conversion of one element and one of a row.
func load[M, T any](one func(M) T, row func(dst []T, src unsafe.Pointer, stride int)) step {
	size := int(unsafe.Sizeof(*new(M)))
	return func(m *machine, in *instr) {
		p := m.addr(in.buf)
		d := vec[T](m, in.d)
		if in.a.uniform() { // an offset that is the same for all lanes
			p = unsafe.Add(p, int(m.offsets(in.a, in.short)[0])*size)
		}
		if in.d.uniform() {
			d[0] = one(*(*M)(p))
			return
		}
		lane, rows := m.stride[in.buf][m.c.p.Lane], m.rowStride(in.buf)
		if in.a > none {
			off := m.offsets(in.a, in.short)[:len(d)]
			for i := range d {
				var x T
				if m.mask == nil || m.mask[i] != 0 {
					x = one(*(*M)(unsafe.Add(p, m.laneOffset(i, rows, lane)+int(off[i])*size)))
				}
				d[i] = x
			}
			return
		}
		if m.mask != nil || m.ids != nil {
			for i := range d {
				var x T
				if m.mask == nil || m.mask[i] != 0 {
					x = one(*(*M)(unsafe.Add(p, m.laneOffset(i, rows, lane))))
				}
				d[i] = x
			}
			return
		}
		if rows == m.inner*lane {
			row(d, p, lane)
			return
		}
		for r := 0; r < m.rows; r++ {
			row(d[r*m.inner:][:m.inner], unsafe.Add(p, r*rows), lane)
		}
	}
}

// directLoad is a load of unconverted elements whose register may point into
// the buffer while the values are needed.
func directLoad[T any](m *machine, in *instr) {
	size := int(unsafe.Sizeof(*new(T)))
	lane, rows := m.stride[in.buf][m.c.p.Lane], m.rowStride(in.buf)
	if lane == size && m.mask == nil && m.ids == nil && (m.rows == 1 || rows == m.inner*lane) {
		p := m.addr(in.buf)
		if in.a.uniform() {
			p = unsafe.Add(p, int(m.offsets(in.a, in.short)[0])*size)
		}
		m.reg[in.d] = p
		return
	}
	m.reg[in.d] = m.own[in.d]
	in.copied(m, in)
}

func rowSame[T any](d []T, p unsafe.Pointer, stride int) {
	switch stride {
	case int(unsafe.Sizeof(*new(T))):
		copy(d, unsafe.Slice((*T)(p), len(d)))
	case 0:
		fill(d, *(*T)(p))
	default:
		for i := range d {
			d[i] = *(*T)(unsafe.Add(p, i*stride))
		}
	}
}

func rowInt[M integer, T int16 | int32](d []T, p unsafe.Pointer, stride int) {
	if stride == int(unsafe.Sizeof(*new(M))) {
		s := unsafe.Slice((*M)(p), len(d))
		for i := range d {
			d[i] = T(s[i])
		}
		return
	}
	for i := range d {
		d[i] = T(*(*M)(unsafe.Add(p, i*stride)))
	}
}

func rowBool(d []uint8, p unsafe.Pointer, stride int) {
	for i := range d {
		d[i] = min(*(*uint8)(unsafe.Add(p, i*stride)), 1)
	}
}

func rowOf[M interface{ Float32() float32 }](d []float32, p unsafe.Pointer, stride int) {
	for i := range d {
		d[i] = (*(*M)(unsafe.Add(p, i*stride))).Float32()
	}
}

// fill sets all of d to x.
func fill[T any](d []T, x T) {
	for i := range d {
		d[i] = x
	}
}

// store makes a step of a conversion of one value and one of a row. Lanes are
// written in ascending order.
func store[T, M any](one func(T) M, row func(dst unsafe.Pointer, stride int, src []T)) step {
	size := int(unsafe.Sizeof(*new(M)))
	return func(m *machine, in *instr) {
		p := m.addr(in.buf)
		x := vec[T](m, in.a)
		if in.b.uniform() {
			p = unsafe.Add(p, int(m.offsets(in.b, in.short)[0])*size)
		}
		lane, rows := m.stride[in.buf][m.c.p.Lane], m.rowStride(in.buf)
		if m.mask != nil || m.ids != nil || in.b > none {
			var off []int64
			if in.b > none {
				off = m.offsets(in.b, in.short)
			}
			step := 1
			if in.a.uniform() {
				step = 0
			}
			for i := 0; i < m.n; i++ {
				if m.mask != nil && m.mask[i] == 0 {
					continue
				}
				at := m.laneOffset(i, rows, lane)
				if off != nil {
					at += int(off[i]) * size
				}
				*(*M)(unsafe.Add(p, at)) = one(x[i*step])
			}
			return
		}
		if in.a.uniform() {
			y := one(x[0])
			for r := 0; r < m.rows; r++ {
				for i := 0; i < m.inner; i++ {
					*(*M)(unsafe.Add(p, r*rows+i*lane)) = y
				}
			}
			return
		}
		if rows == m.inner*lane {
			row(p, lane, x)
			return
		}
		for r := 0; r < m.rows; r++ {
			row(unsafe.Add(p, r*rows), lane, x[r*m.inner:][:m.inner])
		}
	}
}

// storeOnce makes the step of a store that stands outside passes.
func storeOnce(inPass step) step {
	return func(m *machine, in *instr) {
		m.rows, m.inner, m.n = 1, 1, 1
		inPass(m, in)
	}
}

func putSame[T any](p unsafe.Pointer, stride int, x []T) {
	if stride == int(unsafe.Sizeof(*new(T))) {
		copy(unsafe.Slice((*T)(p), len(x)), x)
		return
	}
	for i := range x {
		*(*T)(unsafe.Add(p, i*stride)) = x[i]
	}
}

func putInt[M uint8 | uint16, T int16 | int32](p unsafe.Pointer, stride int, x []T) {
	for i := range x {
		*(*M)(unsafe.Add(p, i*stride)) = M(x[i])
	}
}

func putOf[M any](one func(float32) M) func(p unsafe.Pointer, stride int, x []float32) {
	return func(p unsafe.Pointer, stride int, x []float32) {
		for i := range x {
			*(*M)(unsafe.Add(p, i*stride)) = one(x[i])
		}
	}
}

// indexStep gives the logical index along an axis.
func indexStep(m *machine, in *instr) {
	d := vec[int64](m, in.d)
	lane := m.c.p.Lane
	switch {
	case in.d.uniform():
		d[0] = int64(m.from[in.axis] + m.idx[in.axis])
	case int(in.axis) == lane:
		first := int64(m.from[lane] + m.t0)
		switch {
		case m.ids != nil:
			for i := range d {
				d[i] = first + int64(int(m.ids[i])%m.inner)
			}
		case m.rows == 1:
			for i := range d {
				d[i] = first + int64(i)
			}
		default:
			for r := 0; r < m.rows; r++ {
				row := d[r*m.inner:][:m.inner]
				for i := range row {
					row[i] = first + int64(i)
				}
			}
		}
	default: // the axis along which rows are grouped
		first := int64(m.from[in.axis] + m.idx[in.axis])
		for i := range d {
			l := i
			if m.ids != nil {
				l = int(m.ids[i])
			}
			d[i] = first + int64(l/m.inner)
		}
	}
}

// A step that only moves values goes by their size, as unsigned.

func copyVec[T unsigned](d, a []T) {
	if len(a) == 1 {
		fill(d, a[0])
		return
	}
	copy(d, a)
}

// blend copies the lanes of a whose mask is not 0.
func blend[T unsigned](d, a []T, mask []uint8) {
	mask = mask[:len(d)]
	if len(a) == 1 {
		x := a[0]
		for i := range d {
			y := d[i]
			if mask[i] != 0 {
				y = x
			}
			d[i] = y
		}
		return
	}
	a = a[:len(d)]
	for i := range d {
		x, y := a[i], d[i]
		if mask[i] != 0 {
			y = x
		}
		d[i] = y
	}
}

func selectVec[T unsigned](d []T, c []uint8, a, b []T) {
	switch {
	case len(c) == 1:
		if c[0] != 0 {
			copyVec(d, a)
		} else {
			copyVec(d, b)
		}
	case len(a) == 1 && len(b) == 1:
		c = c[:len(d)]
		x, y := a[0], b[0]
		for i := range d {
			z := y
			if c[i] != 0 {
				z = x
			}
			d[i] = z
		}
	case len(a) == 1:
		c, b = c[:len(d)], b[:len(d)]
		x := a[0]
		for i := range d {
			z := b[i]
			if c[i] != 0 {
				z = x
			}
			d[i] = z
		}
	case len(b) == 1:
		c, a = c[:len(d)], a[:len(d)]
		y := b[0]
		for i := range d {
			z := a[i]
			if c[i] == 0 {
				z = y
			}
			d[i] = z
		}
	default:
		c, a, b = c[:len(d)], a[:len(d)], b[:len(d)]
		for i := range d {
			x, z := a[i], b[i]
			if c[i] != 0 {
				z = x
			}
			d[i] = z
		}
	}
}

func selectStep[T unsigned](m *machine, in *instr) {
	selectVec(vec[T](m, in.d), vec[uint8](m, in.a), vec[T](m, in.b), vec[T](m, in.c))
}

// sized returns the step for values of type t out of one a size.
func sized(t loop.Type, s8, s16, s32, s64 step) step {
	switch max(t.Size(), 1) {
	case 1:
		return s8
	case 2:
		return s16
	case 4:
		return s32
	}
	return s64
}
