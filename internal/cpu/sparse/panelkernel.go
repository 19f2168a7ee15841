package sparse

import (
	"unsafe"

	"weft/internal/array"
	"weft/internal/cpu/codegen"
	"weft/internal/jit"
	"weft/internal/x86/asm"
)

// panelBytes is the size of a row of a panel: a cache line.
const panelBytes = 64

// A panelKey names a kernel that updates rows of a panel.
type panelKey struct {
	isa   jit.ISA
	dtype array.DType
}

var panelCodes = jit.NewCache[panelKey, *jit.Code](0)

// A panelFrame holds the arguments of a kernel.
type panelFrame struct {
	l, rows, u, panel unsafe.Pointer
	n                 int // rows, not 0
	k                 int // elements of a row of l, not 0
	stride            int // bytes from one row of l to the next
}

var pf panelFrame

// panelRows takes the products of rows of l, k elements each that lie stride elements apart, with the k rows of u from the
// rows of the panel that rows names. Each element is one chain of fused multiply-adds.
func panelRows[T float32 | float64](isa jit.ISA, d array.DType, panel []T, rows []int32, l []T, stride int, u []T, k int) {
	if len(rows) == 0 || k == 0 {
		return
	}
	if isa == jit.Portable {
		w := panelBytes / d.Size()
		for i, r := range rows {
			row := panel[int(r)*w:][:w]
			for p, a := range l[i*stride:][:k] {
				axpy(row, -a, u[p*w:])
			}
		}
		return
	}
	code := codegen.Kernel(panelCodes, panelKey{isa, d})
	f := panelFrame{u: unsafe.Pointer(&u[0]), panel: unsafe.Pointer(&panel[0]), k: k, stride: stride * d.Size()}
	for lo := 0; lo < len(rows); lo += rowChunk {
		f.l, f.rows, f.n = unsafe.Pointer(&l[lo*stride]), unsafe.Pointer(&rows[lo]), min(rowChunk, len(rows)-lo)
		jit.Call(code, 0, unsafe.Pointer(&f))
	}
}

// Registers of the kernel; other kernels name the rest.
const (
	regTerms = asm.R13 // elements of a row of l
	regTerm  = asm.RAX
	regOwn   = asm.RDX // the row of u
)

// panelGroup is how many rows are computed at once.
const panelGroup = 4

// Generate writes the kernel.
func (k panelKey) Generate() *jit.Code {
	g := &panelWriter{codegen.Gen{ISA: k.isa, D: k.dtype}}
	for _, f := range []struct {
		r  asm.Reg
		at uintptr
	}{{regValues, unsafe.Offsetof(pf.l)}, {regX, unsafe.Offsetof(pf.u)}, {regY, unsafe.Offsetof(pf.panel)}, {regIndices, unsafe.Offsetof(pf.rows)},
		{regRows, unsafe.Offsetof(pf.n)}, {regStride, unsafe.Offsetof(pf.stride)}, {regTerms, unsafe.Offsetof(pf.k)}} {
		g.RM(asm.MOV, f.r, codegen.Field(f.at))
	}
	g.Every(panelGroup, regRows, func() { g.group(panelGroup) })
	end := g.NewLabel()
	g.Jcc(asm.CondE, end)
	one := g.Here()
	g.group(1)
	g.RI(asm.SUB, regRows, 1)
	g.Jcc(asm.CondNE, one)
	g.Bind(end)
	g.Done()
	return g.Install(k)
}

type panelWriter struct{ codegen.Gen }

// group updates n rows.
func (g *panelWriter) group(n int) {
	from := []asm.Reg{regValues, regOff, regAhead, regLast}[:n]
	for i := 1; i < n; i++ {
		g.RR(asm.MOV, from[i], from[i-1])
		g.RR(asm.ADD, from[i], regStride)
	}
	parts := panelBytes / g.VB()
	sum := func(i, part int) asm.Reg { return g.V(i*parts + part) }
	each := func(f func(m asm.Mem, r asm.Reg)) {
		for i := range n {
			g.RM(asm.MOV32, regT, asm.Ptr(regIndices, int32(4*i)))
			g.RI(asm.SHL, regT, 6)
			for part := range parts {
				f(asm.Idx(regY, regT, 1, int32(part*g.VB())), sum(i, part))
			}
		}
	}
	each(func(m asm.Mem, r asm.Reg) { g.Load(r, m) })
	g.RR(asm.MOV, regOwn, regX)
	g.RR(asm.MOV, regTerm, regTerms)
	fnma := g.Pick(asm.VFNMADD231PS, asm.VFNMADD231PD)
	size := int32(g.D.Size())
	g.Chain(regTerm, func(term int) {
		u := g.V(panelGroup * parts)
		for part := range parts {
			g.Load(u+asm.Reg(part), asm.Ptr(regOwn, int32(term*panelBytes+part*g.VB())))
		}
		for i := range n {
			v := g.V(panelGroup*parts + parts + i%2)
			g.Broadcast(v, asm.Ptr(from[i], int32(term)*size))
			for part := range parts {
				g.RRR(fnma, sum(i, part), v, u+asm.Reg(part))
			}
		}
	}, func(terms int) {
		g.RI(asm.ADD, regOwn, int64(terms*panelBytes))
		for _, r := range from {
			g.RI(asm.ADD, r, int64(terms)*int64(size))
		}
	})
	each(func(m asm.Mem, r asm.Reg) { g.Store(m, r) })
	g.RI(asm.ADD, regIndices, int64(4*n))
	// Pointers are at the ends of their rows: the last one minus the row, plus the stride, is the next group.
	last := from[n-1]
	g.RR(asm.MOV, regTerm, regTerms)
	g.RI(asm.SHL, regTerm, map[int32]int64{4: 2, 8: 3}[size])
	g.RR(asm.SUB, last, regTerm)
	g.RR(asm.ADD, last, regStride)
	if last != regValues {
		g.RR(asm.MOV, regValues, last)
	}
}
