package tile

import (
	"sync/atomic"
	"unsafe"

	"weft/internal/array"
	"weft/internal/cpu/codegen"
	"weft/internal/jit"
	"weft/internal/x86/asm"
)

// A kernel for one height and width of tiles is generated when that size comes back often. Until
// then a general kernel serves, which takes heights as an argument: it ends the work on a term after
// the last row. So products of new sizes generate no code.

// generalVectors is the most vectors of tiles of general kernels. Wider tiles are computed part by
// part. With one vector alone, exits after rows would take as long as the sums.
const generalVectors = 2

// generalKey names a general kernel: for plain tiles, or with table for those with Places. It has
// a form for each kind of A or number of segments, and for each width.
type generalKey struct {
	isa   jit.ISA
	d     array.DType
	table bool
}

var generals = jit.NewCache[generalKey, *jit.Code](0)

// plainGenerals holds the general kernels of plain tiles, as plain does.
var plainGenerals [jit.AVX512 + 1][2]atomic.Pointer[jit.Code]

// Generate writes the forms one after the other, behind jumps to them.
func (k generalKey) Generate() *jit.Code {
	g := &codegen.Gen{ISA: k.isa, D: k.d}
	g.RM(asm.MOV, asm.RAX, codegen.Field(unsafe.Offsetof(tf.form)))
	kinds := []Key{{KMajor: false}, {KMajor: true}}
	if k.table {
		kinds = []Key{{KMajor: true, Segments: 1}, {KMajor: true, Segments: 2}, {KMajor: true, Segments: 3}}
		if k.isa == jit.AVX2 {
			kinds = kinds[:1]
		}
	}
	for _, kind := range kinds {
		for nv := 1; nv <= generalVectors; nv++ {
			kind.Mr, kind.Nv, kind.Masked = MaxRows(k.isa, nv), nv, true
			next := g.NewLabel()
			g.RI(asm.CMP, asm.RAX, int64(kind.form()))
			g.Jcc(asm.CondNE, next)
			(&tileGen{Gen: g, Key: kind, anyRows: true}).emit()
			g.Bind(next)
		}
	}
	return g.Install(k)
}

// form returns the number of the form of a general kernel that computes tiles like k.
func (k Key) form() int {
	kind := Bit(k.KMajor, 0)
	if k.Segments > 0 {
		kind = k.Segments - 1
	}
	return kind*generalVectors + k.Nv - 1
}

// general computes a tile by the general kernel.
func (f *Frame) general(m Machine, key Key) {
	f.rows = key.Mr
	if key.Segments > 0 {
		f.generalTable(m, key)
	} else {
		f.generalPlain(m, key)
	}
}

// generalPlain computes all vectors under masks.
func (f *Frame) generalPlain(m Machine, key Key) {
	at := &plainGenerals[m.ISA][Bit(m.D == array.Float64, 0)]
	c := at.Load()
	if c == nil {
		c = codegen.Kernel(generals, generalKey{m.ISA, m.D, false})
		at.Store(c)
	}
	mask, lanes, b, out := f.Mask, f.Lanes, f.B[0], f.C[0]
	part := key
	for v := 0; v < key.Nv; v += part.Nv {
		part.Nv = min(generalVectors, key.Nv-v)
		if last := v + part.Nv - 1; key.Masked && last == key.Nv-1 {
			f.Mask[part.Nv-1], f.Lanes[part.Nv-1] = mask[last], lanes[last]
		} else {
			m.SetMask(&f.Mask[part.Nv-1], &f.Lanes[part.Nv-1], m.Lanes)
		}
		f.B[0], f.C[0] = unsafe.Add(b, v*m.VB), unsafe.Add(out, v*m.VB)
		f.form = part.form()
		jit.Call(c, 0, unsafe.Pointer(f))
	}
	f.Mask, f.Lanes, f.B[0], f.C[0] = mask, lanes, b, out
}

// generalTable computes tiles whose vectors have places, which follow one another.
func (f *Frame) generalTable(m Machine, key Key) {
	c := codegen.Kernel(generals, generalKey{m.ISA, m.D, true})
	lanes, vectors, most := f.Lanes, f.Tiles*key.Nv, generalVectors
	if key.Mr > MaxRows(m.ISA, most) {
		most = 1
	}
	if m.ISA == jit.AVX2 && !key.Masked {
		for v := range most {
			m.SetMask(nil, &f.Lanes[v], m.Lanes)
		}
	}
	part := key
	for done := 0; done < vectors; {
		part.Nv = min(most, vectors-done)
		f.Tiles = (vectors - done) / part.Nv
		if m.ISA == jit.AVX2 && key.Masked { // a single tile, whose masks are in the frame
			f.Tiles = 1
			copy(f.Lanes[:part.Nv], lanes[done:])
		}
		done += f.Tiles * part.Nv
		f.form = part.form()
		jit.Call(c, 0, unsafe.Pointer(f)) // which moves Places on
	}
	f.Lanes = lanes
}
