package linalg

import (
	"unsafe"

	"weft/internal/array"
	"weft/internal/cpu/codegen"
	"weft/internal/cpu/tile"
	"weft/internal/jit"
	"weft/internal/x86/asm"
)

// An exchangeKey names the machine code that exchanges rows, whatever their elements.
type exchangeKey struct{ isa jit.ISA }

var exchangeCodes = jit.NewCache[exchangeKey, *jit.Code](0)

// exchangeMost is the most pairs of rows of a call.
const exchangeMost = 64

// An exchangeFrame holds the arguments of the kernel.
type exchangeFrame struct {
	x      unsafe.Pointer
	pairs  int                  // at least 1
	blocks int                  // four vectors of columns
	rest   int                  // vectors behind them
	pair   [exchangeMost][2]int // bytes from x to the rows, in the order of exchanges
}

var exchangeArgs exchangeFrame // for offsets of its fields

// Generate writes the kernel of a key: all exchanges of four vectors of columns, which stay in the cache, then of the
// next.
func (k exchangeKey) Generate() *jit.Code {
	g := &codegen.Gen{ISA: k.isa, D: array.Float64}
	g.RM(asm.MOV, asm.RSI, codegen.Field(unsafe.Offsetof(exchangeArgs.x)))
	for _, part := range [2]struct {
		count   uintptr
		vectors int
	}{{unsafe.Offsetof(exchangeArgs.blocks), 4}, {unsafe.Offsetof(exchangeArgs.rest), 1}} {
		done := g.NewLabel()
		g.RM(asm.MOV, asm.R10, codegen.Field(part.count))
		g.RR(asm.TEST, asm.R10, asm.R10)
		g.Jcc(asm.CondE, done)
		columns := g.Here()
		g.RM(asm.LEA, asm.R8, codegen.Field(unsafe.Offsetof(exchangeArgs.pair)))
		g.RM(asm.MOV, asm.RCX, codegen.Field(unsafe.Offsetof(exchangeArgs.pairs)))
		pair := g.Here()
		g.RM(asm.MOV, asm.RDX, asm.Ptr(asm.R8, 0))
		g.RM(asm.MOV, asm.RBX, asm.Ptr(asm.R8, 8))
		at := func(row asm.Reg, v int) asm.Mem { return asm.Idx(asm.RSI, row, 1, int32(v*g.VB())) }
		for v := range part.vectors {
			g.Load(g.V(2*v), at(asm.RDX, v))
			g.Load(g.V(2*v+1), at(asm.RBX, v))
		}
		for v := range part.vectors {
			g.Store(at(asm.RDX, v), g.V(2*v+1))
			g.Store(at(asm.RBX, v), g.V(2*v))
		}
		g.RI(asm.ADD, asm.R8, 16)
		g.RI(asm.SUB, asm.RCX, 1)
		g.Jcc(asm.CondNE, pair)
		g.RI(asm.ADD, asm.RSI, int64(part.vectors*g.VB()))
		g.RI(asm.SUB, asm.R10, 1)
		g.Jcc(asm.CondNE, columns)
		g.Bind(done)
	}
	g.Done()
	return g.Install(k)
}

// exchange exchanges rows of a as pivots say, in ascending order or back.
func (k *kit[T]) exchange(a matrix[T], pivots []int64, back bool) {
	size := int(unsafe.Sizeof(*new(T)))
	vectors, lanes := 0, 1
	if k.isa != jit.Portable {
		lanes = max(1, k.isa.VectorBytes()/size)
		vectors = a.cols / lanes
	}
	if vectors > 0 {
		code, most := codegen.Kernel(exchangeCodes, exchangeKey{k.isa}), tile.CallWork/exchangeMost
		var f exchangeFrame
		for at := 0; at < len(pivots); {
			f.pairs = 0
			for ; at < len(pivots) && f.pairs < exchangeMost; at++ {
				i := at
				if back {
					i = len(pivots) - 1 - at
				}
				if p := int(pivots[i]); p != i {
					f.pair[f.pairs] = [2]int{i * a.ld * size, p * a.ld * size}
					f.pairs++
				}
			}
			for done := 0; f.pairs > 0 && done < vectors; done += most {
				n := min(vectors-done, most)
				f.x, f.blocks, f.rest = unsafe.Pointer(&a.x[done*lanes]), n/4, n%4
				jit.Call(code, 0, unsafe.Pointer(&f))
			}
		}
	}
	from := vectors * lanes
	if from == a.cols {
		return
	}
	for at := range pivots {
		i := at
		if back {
			i = len(pivots) - 1 - at
		}
		if p := int(pivots[i]); p != i {
			x, y := a.row(i)[from:], a.row(p)[from:]
			for j := range x {
				x[j], y[j] = y[j], x[j]
			}
		}
	}
}
