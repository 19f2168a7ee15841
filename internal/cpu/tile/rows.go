package tile

import (
	"math"
	"unsafe"

	"weft/internal/array"
	"weft/internal/cpu/codegen"
	"weft/internal/fma"
	"weft/internal/jit"
	"weft/internal/x86/asm"
)

// A rowsKey names the machine code of SubtractRows for whole vectors of real elements.
type rowsKey struct {
	isa jit.ISA
	d   array.DType
}

var rowsCodes = jit.NewCache[rowsKey, *jit.Code](0)

// A rowsFrame holds the arguments of the kernel.
type rowsFrame struct {
	y, c, x unsafe.Pointer
	step    int // bytes from row to row of x
	rows    int // at least 1
	blocks  int // four vectors of columns
	vectors int // behind them
}

var rowsArgs rowsFrame // for offsets of its fields

// Registers of the kernel: y, the columns of x in hand, a row of them, factors.
const (
	rowsY, rowsX, rowsAt, rowsC   = asm.RSI, asm.RDX, asm.RBX, asm.R8
	rowsStep, rowsLeft, rowsTimes = asm.R9, asm.R10, asm.RCX
)

// Generate writes the kernel of a key: some vectors of columns at a time, which stay in registers while
// the rows go by.
func (k rowsKey) Generate() *jit.Code {
	g := &codegen.Gen{ISA: k.isa, D: k.d}
	g.RM(asm.MOV, rowsY, codegen.Field(unsafe.Offsetof(rowsArgs.y)))
	g.RM(asm.MOV, rowsX, codegen.Field(unsafe.Offsetof(rowsArgs.x)))
	g.RM(asm.MOV, rowsStep, codegen.Field(unsafe.Offsetof(rowsArgs.step)))
	k.columns(g, unsafe.Offsetof(rowsArgs.blocks), 4)
	k.columns(g, unsafe.Offsetof(rowsArgs.vectors), 1)
	g.Done()
	return g.Install(k)
}

// columns writes the loop over a number of groups of n vectors of columns.
func (k rowsKey) columns(g *codegen.Gen, count uintptr, n int) {
	done := g.NewLabel()
	g.RM(asm.MOV, rowsLeft, codegen.Field(count))
	g.RR(asm.TEST, rowsLeft, rowsLeft)
	g.Jcc(asm.CondE, done)
	next := g.Here()
	for v := range n {
		g.Load(g.V(v), asm.Ptr(rowsY, int32(v*g.VB())))
	}
	g.RR(asm.MOV, rowsAt, rowsX)
	g.RM(asm.MOV, rowsC, codegen.Field(unsafe.Offsetof(rowsArgs.c)))
	g.RM(asm.MOV, rowsTimes, codegen.Field(unsafe.Offsetof(rowsArgs.rows)))
	row := g.Here()
	g.Broadcast(g.V(8), asm.Ptr(rowsC, 0))
	for v := range n {
		g.RRM(g.Pick(asm.VFNMADD231PS, asm.VFNMADD231PD), g.V(v), g.V(8), asm.Ptr(rowsAt, int32(v*g.VB())))
	}
	g.RI(asm.ADD, rowsC, int64(k.d.Size()))
	g.RR(asm.ADD, rowsAt, rowsStep)
	g.RI(asm.SUB, rowsTimes, 1)
	g.Jcc(asm.CondNE, row)
	for v := range n {
		g.Store(asm.Ptr(rowsY, int32(v*g.VB())), g.V(v))
	}
	g.RI(asm.ADD, rowsY, int64(n*g.VB()))
	g.RI(asm.ADD, rowsX, int64(n*g.VB()))
	g.RI(asm.SUB, rowsLeft, 1)
	g.Jcc(asm.CondNE, next)
	g.Bind(done)
}

// subtractVectors subtracts rows from the first elements of y by machine code, and returns how many: a
// multiple of a vector's, 0 where there is no code.
func subtractVectors[F float32 | float64](isa jit.ISA, y, c, x []F, ld int) int {
	const most = 1 << 18 // multiply-adds of one call
	size := int(unsafe.Sizeof(F(0)))
	if isa == jit.Portable || len(y)*size < isa.VectorBytes() {
		return 0
	}
	d := array.Float32
	if size == 8 {
		d = array.Float64
	}
	lanes := isa.VectorBytes() / size
	code := codegen.Kernel(rowsCodes, rowsKey{isa, d})
	done := 0
	for done+lanes <= len(y) {
		n := min((len(y)-done)/lanes, max(1, most/(len(c)*lanes)))
		f := rowsFrame{y: unsafe.Pointer(&y[done]), c: unsafe.Pointer(&c[0]), x: unsafe.Pointer(&x[done]), step: ld * size, rows: len(c), blocks: n / 4, vectors: n % 4}
		jit.Call(code, 0, unsafe.Pointer(&f))
		done += n * lanes
	}
	return done
}

// SubtractRows subtracts c[0]*x[0] + c[1]*x[1] + ... from y, x being rows ld elements apart. An element is one
// chain of fused multiply-adds in ascending order, with the same bits on every instruction set.
func SubtractRows[F float32 | float64](isa jit.ISA, y, c, x []F, ld int) {
	if len(c) == 0 || len(y) == 0 {
		return
	}
	n := subtractVectors(isa, y, c, x, ld)
	if n == len(y) {
		return
	}
	switch y := any(y[n:]).(type) {
	case []float32:
		subtract32(y, any(c).([]float32), any(x[n:]).([]float32), ld)
	case []float64:
		subtract64(y, any(c).([]float64), any(x[n:]).([]float64), ld)
	}
}

func subtract64(y, c, x []float64, ld int) {
	for i, f := range c {
		f = -f
		row := x[i*ld:][:len(y)]
		for j, v := range row {
			y[j] = math.FMA(f, v, y[j])
		}
	}
}

func subtract32(y, c, x []float32, ld int) {
	for i, f := range c {
		f = -f
		row := x[i*ld:][:len(y)]
		for j, v := range row {
			s := float64(f)*float64(v) + float64(y[j])
			r := float32(s)
			if fma.Hard32(s) {
				r = fma.Float32(f, v, y[j])
			}
			y[j] = r
		}
	}
}
