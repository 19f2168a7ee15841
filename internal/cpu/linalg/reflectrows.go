package linalg

import (
	"unsafe"

	"weft/internal/array"
	"weft/internal/cpu/codegen"
	"weft/internal/cpu/tile"
	"weft/internal/jit"
	"weft/internal/x86/asm"
)

// A reflectKey names the machine code of reflectRows.
type reflectKey struct {
	isa jit.ISA
	d   array.DType
}

var reflectCodes = jit.NewCache[reflectKey, *jit.Code](0)

// A reflectFrame holds the arguments of the kernel.
type reflectFrame struct {
	rows, v, tau unsafe.Pointer
	step         int // bytes from row to row
	count        int // rows
	bytes        int // of v, a multiple of reflectBytes
}

var reflectArgs reflectFrame // for offsets of its fields

// reflectBytes is the size of a sum's lanes, whatever the vectors of the processor.
const reflectBytes = 64

// padded rounds a number of elements up to whole lanes of reflectRows.
func padded[T number](n int) int {
	lanes := reflectBytes / int(unsafe.Sizeof(*new(T)))
	return (n + lanes - 1) / lanes * lanes
}

// Registers of the kernel.
const (
	reflectRow, reflectV, reflectAt      = asm.RSI, asm.RDX, asm.RCX
	reflectStep, reflectLeft, reflectEnd = asm.RBX, asm.RAX, asm.R12
	rowsAtOnce                           = 4
)

// rowPointers are the rows in hand.
var rowPointers = [rowsAtOnce]asm.Reg{asm.R8, asm.R9, asm.R10, asm.R11}

// A reflectGen generates the kernel. Vectors 0 to 7 are sums, then factors: row r has 2r and 2r+1, halves of the
// lanes with AVX2.
type reflectGen struct {
	codegen.Gen
	parts int
}

// Generate writes the kernel of a key: four rows at a time, then one.
func (k reflectKey) Generate() *jit.Code {
	g := &reflectGen{codegen.Gen{ISA: k.isa, D: k.d}, reflectBytes / k.isa.VectorBytes()}
	for r, offset := range map[asm.Reg]uintptr{
		reflectRow: unsafe.Offsetof(reflectArgs.rows), reflectV: unsafe.Offsetof(reflectArgs.v), reflectStep: unsafe.Offsetof(reflectArgs.step),
		reflectLeft: unsafe.Offsetof(reflectArgs.count), reflectEnd: unsafe.Offsetof(reflectArgs.bytes), reflectAt: unsafe.Offsetof(reflectArgs.tau),
	} {
		g.RM(asm.MOV, r, codegen.Field(offset))
	}
	g.Broadcast(g.V(15), asm.Ptr(reflectAt, 0))
	g.Every(rowsAtOnce, reflectLeft, func() { g.reflect(rowsAtOnce) })
	g.Every(1, reflectLeft, func() { g.reflect(1) })
	g.Done()
	return g.Install(k)
}

// reflect writes the code for n rows, and moves on behind them.
func (g *reflectGen) reflect(n int) {
	for r := range n {
		g.RR(asm.MOV, rowPointers[r], reflectRow)
		g.RR(asm.ADD, reflectRow, reflectStep)
		for p := range g.parts {
			g.Zero(g.V(2*r + p))
		}
	}
	g.through(func() {
		for p := range g.parts {
			g.Load(g.V(8), asm.Idx(reflectV, reflectAt, 1, int32(p*g.VB())))
			for r := range n {
				g.RRM(g.Pick(asm.VFMADD231PS, asm.VFMADD231PD), g.V(2*r+p), g.V(8), asm.Idx(rowPointers[r], reflectAt, 1, int32(p*g.VB())))
			}
		}
	})
	for r := range n {
		g.fold(2 * r)
	}
	g.through(func() {
		for p := range g.parts {
			g.Load(g.V(8), asm.Idx(reflectV, reflectAt, 1, int32(p*g.VB())))
			for r := range n {
				at := asm.Idx(rowPointers[r], reflectAt, 1, int32(p*g.VB()))
				g.Load(g.V(9), at)
				g.RRR(g.Pick(asm.VFNMADD231PS, asm.VFNMADD231PD), g.V(9), g.V(8), g.V(2*r))
				g.Store(at, g.V(9))
			}
		}
	})
}

// through writes a loop over the lanes of rows.
func (g *reflectGen) through(body func()) {
	g.RR(asm.XOR32, reflectAt, reflectAt)
	loop := g.Here()
	body()
	g.RI(asm.ADD, reflectAt, reflectBytes)
	g.RR(asm.CMP, reflectAt, reflectEnd)
	g.Jcc(asm.CondL, loop)
}

// fold sets all lanes of vector i to the sum of the lanes, added in halves, times tau.
func (g *reflectGen) fold(i int) {
	add := g.Pick(asm.VADDPS, asm.VADDPD)
	if g.parts == 1 {
		g.RRI(asm.VEXTRACTF64X4, asm.Y(9), asm.Z(i), 1)
		g.RRR(add, asm.Y(i), asm.Y(i), asm.Y(9))
	} else {
		g.RRR(add, asm.Y(i), asm.Y(i), asm.Y(i+1))
	}
	g.RRI(asm.VEXTRACTF128, asm.X(9), asm.Y(i), 1)
	g.RRR(add, asm.X(i), asm.X(i), asm.X(9))
	if g.D == array.Float32 {
		g.RRR(asm.VMOVHLPS, asm.X(9), asm.X(i), asm.X(i))
		g.RRR(add, asm.X(i), asm.X(i), asm.X(9))
		g.RR(asm.VMOVSHDUP, asm.X(9), asm.X(i))
	} else {
		g.RRR(asm.VUNPCKHPD, asm.X(9), asm.X(i), asm.X(i))
	}
	g.RRR(add, asm.X(i), asm.X(i), asm.X(9))
	g.RR(g.Pick(asm.VBROADCASTSS, asm.VBROADCASTSD), g.V(i), asm.X(i))
	g.RRR(g.Pick(asm.VMULPS, asm.VMULPD), g.V(i), g.V(i), g.V(15))
}

// reflectRows subtracts from each of count rows, ld elements apart, tau times its product with v times v. The
// length of v is padded, and rows have its length. Sums are lanes of chains of fused multiply-adds, folded in halves.
func reflectRows[F float32 | float64](isa jit.ISA, rows []F, ld, count int, v []F, tau F) {
	if count == 0 {
		return
	}
	if isa == jit.Portable {
		for r := range count {
			reflectRowPlain(rows[r*ld:r*ld+len(v)], v, tau)
		}
		return
	}
	_ = rows[(count-1)*ld+len(v)-1]
	code := codegen.Kernel(reflectCodes, reflectKey{isa, typeOf[F]()})
	size := int(unsafe.Sizeof(tau))
	most := max(1, tile.CallWork*isa.VectorBytes()/(2*size*len(v)))
	for at := 0; at < count; at += most {
		f := reflectFrame{rows: unsafe.Pointer(&rows[at*ld]), v: unsafe.Pointer(&v[0]), tau: unsafe.Pointer(&tau),
			step: ld * size, count: min(most, count-at), bytes: len(v) * size}
		jit.Call(code, 0, unsafe.Pointer(&f))
	}
}

// reflectRowPlain is reflectRows for one row in Go.
func reflectRowPlain[F float32 | float64](row, v []F, tau F) {
	var store [16]F
	s := store[:reflectBytes/int(unsafe.Sizeof(tau))]
	for at := 0; at < len(v); at += len(s) {
		for l := range s {
			s[l] = fused(v[at+l], row[at+l], s[l])
		}
	}
	for n := len(s) / 2; n > 0; n /= 2 {
		for l := range n {
			s[l] += s[l+n]
		}
	}
	w := s[0] * tau
	for i, x := range v {
		row[i] = fused(-x, w, row[i])
	}
}
