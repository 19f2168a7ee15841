package linalg

import (
	"unsafe"

	"weft/internal/array"
	"weft/internal/cpu/codegen"
	"weft/internal/cpu/tile"
	"weft/internal/jit"
	"weft/internal/x86/asm"
)

// A solveKey names the machine code of solveRows.
type solveKey struct {
	isa jit.ISA
	d   array.DType
}

var solveCodes = jit.NewCache[solveKey, *jit.Code](0)

// A solveFrame holds the arguments of the kernel.
type solveFrame struct {
	x, c    unsafe.Pointer
	step    int // bytes from row to row of x
	groups  int // of rows
	vectors int // of columns
}

var solveArgs solveFrame // for offsets of its fields

// solveGroupMost is the most rows of a group.
const solveGroupMost = 16

// solveGroup returns the number of rows that the kernel keeps in registers.
func solveGroup(isa jit.ISA) int {
	if isa == jit.AVX512 {
		return solveGroupMost
	}
	return 8
}

// Registers of the kernel: a vector of columns, the row in hand, the first row of the group, coefficients, and
// what is left to do.
const (
	solveX, solveRow, solveFirst, solveC           = asm.RSI, asm.RDX, asm.R8, asm.R9
	solveStep, solveVectors, solveGroups, solveTop = asm.RBX, asm.RAX, asm.R10, asm.RCX
)

// A solveGen generates the kernel. The first vectors are the rows of a group.
type solveGen struct {
	codegen.Gen
	rows int
}

// Generate writes the kernel of a key: for each vector of columns and each group of rows it subtracts the rows above
// the group, then solves within the group.
func (k solveKey) Generate() *jit.Code {
	g := &solveGen{codegen.Gen{ISA: k.isa, D: k.d}, solveGroup(k.isa)}
	g.RM(asm.MOV, solveX, codegen.Field(unsafe.Offsetof(solveArgs.x)))
	g.RM(asm.MOV, solveStep, codegen.Field(unsafe.Offsetof(solveArgs.step)))
	g.RM(asm.MOV, solveVectors, codegen.Field(unsafe.Offsetof(solveArgs.vectors)))
	vector := g.Here()
	g.RM(asm.MOV, solveC, codegen.Field(unsafe.Offsetof(solveArgs.c)))
	g.RM(asm.MOV, solveGroups, codegen.Field(unsafe.Offsetof(solveArgs.groups)))
	g.RR(asm.MOV, solveFirst, solveX)
	group := g.Here()
	g.group()
	g.RI(asm.SUB, solveGroups, 1)
	g.Jcc(asm.CondNE, group)
	g.RI(asm.ADD, solveX, int64(g.VB()))
	g.RI(asm.SUB, solveVectors, 1)
	g.Jcc(asm.CondNE, vector)
	g.Done()
	return g.Install(k)
}

// group writes the code for a group of rows.
func (g *solveGen) group() {
	g.eachRow(func(i int) { g.Load(g.V(i), asm.Ptr(solveRow, 0)) })
	// Rows above the group.
	g.RR(asm.MOV, solveRow, solveX)
	done, above := g.NewLabel(), g.Here()
	g.RR(asm.CMP, solveRow, solveFirst)
	g.Jcc(asm.CondE, done)
	g.Load(g.above(), asm.Ptr(solveRow, 0))
	for i := range g.rows {
		g.subtract(i, g.above(), i)
	}
	g.RR(asm.ADD, solveRow, solveStep)
	g.RI(asm.ADD, solveC, int64(g.rows*g.D.Size()))
	g.Jmp(above)
	g.Bind(done)
	for q := range g.rows {
		for i := q + 1; i < g.rows; i++ {
			g.subtract(i, g.V(q), q*g.rows+i)
		}
	}
	g.RI(asm.ADD, solveC, int64(g.rows*g.rows*g.D.Size()))
	g.eachRow(func(i int) { g.Store(asm.Ptr(solveRow, 0), g.V(i)) })
	g.RR(asm.MOV, solveFirst, solveRow)
}

// above is the register of a row above the group.
func (g *solveGen) above() asm.Reg { return g.V(g.rows) }

// eachRow writes code for each row of the group, and ends behind them.
func (g *solveGen) eachRow(f func(i int)) {
	g.RR(asm.MOV, solveRow, solveFirst)
	for i := range g.rows {
		f(i)
		g.RR(asm.ADD, solveRow, solveStep)
	}
}

// subtract subtracts coefficient at times x from row i.
func (g *solveGen) subtract(i int, x asm.Reg, at int) {
	op, c := g.Pick(asm.VFNMADD231PS, asm.VFNMADD231PD), asm.Ptr(solveC, int32(at*g.D.Size()))
	if g.ISA == jit.AVX512 {
		g.RRM(op, g.V(i), x, c.B())
		return
	}
	g.Broadcast(g.Temp(0), c)
	g.RRR(op, g.V(i), x, g.Temp(0))
}

// packSolve writes the coefficients of whole groups of rows of a triangle, the rows of c, as the kernel reads them: for
// each group the columns. It returns the number of rows.
func packSolve[T number](isa jit.ISA, to, c []T, n int) int {
	if isa == jit.Portable || typeOf[T]().Complex() {
		return 0
	}
	group := solveGroup(isa)
	rows, at := n/group*group, 0
	for first := 0; first < rows; first += group {
		for q := range first + group {
			for i := range group {
				to[at+i] = c[(first+i)*n+q]
			}
			at += group
		}
	}
	return rows
}

// solveRows solves equations of a lower triangle with ones on its diagonal, for the first rows and whole vectors
// of columns of x. Each element is one chain of fused multiply-adds in ascending order, as subtractRows has. It
// returns the columns that it did. c comes from packSolve.
func (k *kit[T]) solveRows(c []T, x matrix[T], rows int) (cols int) {
	if rows == 0 {
		return 0
	}
	size, group := int(unsafe.Sizeof(*new(T))), solveGroup(k.isa)
	lanes := k.isa.VectorBytes() / size
	vectors := x.cols / lanes
	code := codegen.Kernel(solveCodes, solveKey{k.isa, typeOf[T]()})
	most := max(1, tile.CallWork/(rows*rows))
	for done := 0; done < vectors; done += most {
		f := solveFrame{x: unsafe.Pointer(&x.x[done*lanes]), c: unsafe.Pointer(&c[0]), step: x.ld * size, groups: rows / group,
			vectors: min(most, vectors-done)}
		jit.Call(code, 0, unsafe.Pointer(&f))
	}
	return vectors * lanes
}
