package ptx

import (
	"fmt"

	"weft/internal/array"
	"weft/internal/grid"
	"weft/internal/loop"
)

// An opCase is an operation on values of types.
type opCase struct {
	op       loop.Op
	from, to loop.Type // of the first operand but for OpSelect's condition, and of the result
	imm      uint64
	operands int // without OpSelect's condition
}

func (c opCase) String() string {
	return fmt.Sprintf("%s_%s_%s_%d", c.op, c.from, c.to, c.imm)
}

var computed = []loop.Type{loop.B, loop.I32, loop.I64, loop.F32, loop.F64}

// opCases returns each operation on each type that it has, as package loop says, without the
// tables of this package.
func opCases() (out []opCase) {
	add := func(op loop.Op, operands int, types ...loop.Type) {
		for _, t := range types {
			to := t
			if op >= loop.OpEq && op <= loop.OpLeU {
				to = loop.B
			}
			out = append(out, opCase{op, t, to, 0, operands})
		}
	}
	const I32, I64, F32, F64 = loop.I32, loop.I64, loop.F32, loop.F64
	for _, op := range []loop.Op{loop.OpAdd, loop.OpSub, loop.OpMul, loop.OpMin, loop.OpMax, loop.OpLt, loop.OpLe} {
		add(op, 2, I32, I64, F32, F64)
	}
	for _, op := range []loop.Op{loop.OpNeg, loop.OpAbs} {
		add(op, 1, I32, I64, F32, F64)
	}
	for _, op := range []loop.Op{loop.OpSqrt, loop.OpFloor, loop.OpCeil, loop.OpTrunc, loop.OpRint, loop.OpLogB} {
		add(op, 1, F32, F64)
	}
	for op := loop.OpQuo; op <= loop.OpRotL; op++ {
		add(op, 2, I32, I64)
	}
	for op := loop.OpPopCount; op <= loop.OpTzCnt; op++ {
		add(op, 1, I32, I64)
	}
	for _, op := range []loop.Op{loop.OpAnd, loop.OpOr, loop.OpXor} {
		add(op, 2, loop.B, I32, I64)
	}
	add(loop.OpDiv, 2, F32, F64)
	add(loop.OpScaleB, 2, F32, F64)
	add(loop.OpFma, 3, F32, F64)
	add(loop.OpNot, 1, loop.B, I32, I64)
	add(loop.OpEq, 2, computed...)
	add(loop.OpNe, 2, computed...)
	add(loop.OpLtU, 2, I32, I64)
	add(loop.OpLeU, 2, I32, I64)
	add(loop.OpSelect, 2, computed...)
	out = append(out, opCase{loop.OpNeg, F32, F32, grid.OpenSign, 1}, opCase{loop.OpNeg, F64, F64, grid.OpenSign, 1})
	for _, d := range []array.DType{array.Float16, array.BFloat16} {
		out = append(out, opCase{loop.OpRound, F32, F32, uint64(d), 1})
	}
	for _, c := range [][2]loop.Type{{I32, F32}, {F32, I32}, {I64, F64}, {F64, I64}} {
		out = append(out, opCase{loop.OpBits, c[0], c[1], 0, 1})
	}
	for _, from := range computed {
		for _, to := range computed[1:] {
			for imm := range uint64(4) {
				if (imm&loop.FromUnsigned == 0 || from.Int()) && (imm&loop.ToUnsigned == 0 || to.Int()) {
					out = append(out, opCase{loop.OpCvt, from, to, imm, 1})
				}
			}
		}
	}
	return out
}

// elemOf returns how values of a type lie in the memory of the kernels here. Truth values are
// bytes.
func elemOf(t loop.Type) grid.Elem {
	switch {
	case t == loop.B:
		return grid.U8
	case t.Size() == 8:
		return grid.W64
	}
	return grid.W32
}

// loadValue returns the value of type t at number i of the array at argument arg.
func loadValue(g *grid.Builder, t loop.Type, arg int, i grid.Reg) grid.Reg {
	e := elemOf(t)
	address := g.Add(g.Arg(loop.I64, arg), g.Mul(g.Wide(i), g.I64(int64(e.Size()))))
	if t == loop.B {
		return g.Do(loop.OpNe, loop.B, 0, g.Load(grid.Global, e, loop.I32, address, 0, grid.NoReg), g.I32(0))
	}
	return g.Load(grid.Global, e, t, address, 0, grid.NoReg)
}

// storeValue writes x to number i of the array at argument arg.
func storeValue(g *grid.Builder, arg int, i, x, pred grid.Reg) {
	e := elemOf(g.Type(x))
	address := g.Add(g.Arg(loop.I64, arg), g.Mul(g.Wide(i), g.I64(int64(e.Size()))))
	if g.Type(x) == loop.B {
		x = g.Do(loop.OpCvt, loop.I32, 0, x)
	}
	g.Store(grid.Global, e, address, 0, pred, x)
}

// opKernel returns a kernel that computes the operation for each thread of a launch: operands lie
// at arguments 0, 8 and 16, OpSelect's condition at 24, results at 32.
func opKernel(c opCase) *grid.Kernel {
	g := grid.NewBuilder(c.String(), 128)
	g.K.Args = 40
	i := g.Add(g.Mul(g.Block(), g.I32(128)), g.Thread())
	var x []grid.Reg
	if c.op == loop.OpSelect {
		x = append(x, loadValue(g, loop.B, 24, i))
	}
	for n := range c.operands {
		x = append(x, loadValue(g, c.from, 8*n, i))
	}
	storeValue(g, 32, i, g.Do(c.op, c.to, c.imm, x...), grid.NoReg)
	return g.K
}

// opKernels returns the kernels of all operations.
func opKernels() (out []*grid.Kernel) {
	for _, c := range opCases() {
		out = append(out, opKernel(c))
	}
	return out
}

// lookupKernel returns a kernel that looks up entry i of a table, in an if that not all lanes
// enter or outside of one.
func lookupKernel(t loop.Type, divergent bool) *grid.Kernel {
	g := grid.NewBuilder(fmt.Sprintf("lookup_%s_%t", t, divergent), 128)
	g.K.Args = 8
	table := loop.Table{Type: t}
	index := loop.I32
	if t == loop.F64 {
		index = loop.I64
	}
	for i := range loop.TableBytes / t.Size() {
		table.Bits = append(table.Bits, uint64(i)<<(8*t.Size()-8)|uint64(3*i+1))
	}
	g.K.Tables = append(g.K.Tables, table)
	i := g.Thread()
	at := i
	if index == loop.I64 {
		at = g.Wide(i)
	}
	write := func() { storeValue(g, 0, i, g.Do(loop.OpLookup, t, 0, at), grid.NoReg) }
	if divergent {
		g.If(g.Lt(g.And(i, g.I32(3)), g.I32(2)), false, write, nil)
	} else {
		write()
	}
	return g.K
}

// memoryKernel returns a kernel that copies n neighbouring elements through a space, for each thread but
// those from number 100 on, which load zeros, and store where their number is even.
func memoryKernel(s grid.Space, e grid.Elem, t loop.Type, n int) *grid.Kernel {
	g := grid.NewBuilder(fmt.Sprintf("memory_%d_%d_%s_%d", s, e, t, n), 128)
	g.K.Args = 16
	i := g.Thread()
	offset := g.Mul(g.Wide(i), g.I64(int64(n*e.Size())))
	x := g.LoadN(grid.Global, e, t, n, g.Add(g.Arg(loop.I64, 0), offset), 0, g.Lt(i, g.I32(100)))
	if s == grid.Shared {
		g.K.Shared = 128 * n * e.Size()
		g.Store(s, e, offset, 0, grid.NoReg, x...)
		g.Barrier()
		x = g.LoadN(s, e, t, n, offset, 0, grid.NoReg)
	}
	even := g.Eq(g.And(i, g.I32(1)), g.I32(0))
	g.Store(grid.Global, e, g.Add(g.Arg(loop.I64, 8), offset), 0, even, x...)
	return g.K
}

// memoryKernels returns the kernels of all elements and counts.
func memoryKernels() (out []*grid.Kernel) {
	for _, c := range []struct {
		e     grid.Elem
		types []loop.Type
	}{{grid.W32, []loop.Type{loop.I32, loop.F32}}, {grid.W64, []loop.Type{loop.I64, loop.F64}},
		{grid.S8, computed[1:2]}, {grid.U8, computed[1:2]}, {grid.S16, computed[1:2]}, {grid.U16, computed[1:2]},
		{grid.Half, computed[3:4]}, {grid.BHalf, computed[3:4]}} {
		for _, t := range c.types {
			for _, n := range []int{1, 2, 4, 8, 16} {
				if n > 4 && n*c.e.Size() > 16 {
					continue
				}
				out = append(out, memoryKernel(grid.Global, c.e, t, n), memoryKernel(grid.Shared, c.e, t, n))
			}
		}
	}
	return out
}

// warpKernel returns a kernel with each exchange between lanes, of values of type t; results lie
// behind each other at argument 8.
func warpKernel(t loop.Type) *grid.Kernel {
	g := grid.NewBuilder("warp_"+t.String(), 128)
	g.K.Args = 16
	i := g.Thread()
	x := loadValue(g, t, 0, i)
	d := g.Var(t)
	g.Ins(grid.Ins{Op: grid.ShuffleXor, Dst: d, A: x, Imm: 5})
	results := []grid.Reg{g.Down(x, 7), d, g.FromLane(x, g.Mul(i, g.I32(11)))}
	if t == loop.B {
		results = append(results, g.Any(x), g.All(x))
	}
	g.WarpBarrier()
	for n, r := range results {
		storeValue(g, 8, g.Add(i, g.I32(int32(128*n))), r, grid.NoReg)
	}
	return g.K
}

// controlKernel returns a kernel with ifs and whiles, uniform ones inside others and the reverse, a
// return of some threads, atomic additions and minima, and a load that sees late writes.
func controlKernel() *grid.Kernel {
	g := grid.NewBuilder("control", 64)
	g.K.Args, g.K.Shared = 16, MaxStatic+16
	i, n := g.Thread(), g.Copy(g.I32(0))
	g.Store(grid.Shared, grid.W32, g.I64(16), 0, g.Eq(i, n), n)
	g.Barrier()
	trips := g.Load(grid.Global, grid.W32, loop.I32, g.Arg(loop.I64, 0), 0, grid.NoReg)
	g.Ins(grid.Ins{Op: grid.Load, Elem: grid.W32, A: g.Arg(loop.I64, 0), Imm: 4, Fresh: true, Regs: []grid.Reg{g.Var(loop.I32)}})
	g.While(true, func() grid.Reg { return g.Lt(n, trips) }, func() {
		g.If(g.Lt(i, n), false, func() {
			m := g.Copy(i)
			g.While(false, func() grid.Reg { return g.Lt(m, n) }, func() { g.Update(m, loop.OpAdd, m, g.I32(3)) })
			g.Ins(grid.Ins{Op: grid.Add, A: m, B: g.Arg(loop.I64, 8), Imm: 8})
		}, func() {
			g.Ins(grid.Ins{Op: grid.Add, A: g.I64(1), B: g.Arg(loop.I64, 8), Dst: g.Var(loop.I64), Pred: g.Lt(i, trips)})
		})
		g.Ins(grid.Ins{Op: grid.Add, Space: grid.Shared, A: n, B: g.I64(16)})
		g.Barrier()
		g.Update(n, loop.OpAdd, n, g.I32(1))
	})
	// Without sign -5 to -1 are large, and thread 5, which has 0, takes no part: the least is 1.
	g.Ins(grid.Ins{Op: grid.Min, A: g.Sub(i, g.I32(5)), B: g.Arg(loop.I64, 8), Imm: 12, Pred: g.Not(g.Eq(i, g.I32(5)))})
	g.If(g.Lt(i, g.I32(7)), false, g.Return, nil)
	storeValue(g, 8, g.Add(i, g.I32(4)), n, grid.NoReg)
	return g.K
}

// mmaKernel returns a kernel that multiplies matrices of one shape, whose elements lie by lanes.
func mmaKernel(shape grid.Shape) *grid.Kernel {
	s := mmaShapes[shape]
	g := grid.NewBuilder("mma_"+s.name, 32)
	g.K.Args = 24
	i := g.Thread()
	elements := func(arg, n int) (out []grid.Reg) {
		for e := range n {
			out = append(out, loadValue(g, loop.F64, arg, g.Add(g.Mul(i, g.I32(int32(n))), g.I32(int32(e)))))
		}
		return out
	}
	sum, factors := elements(0, s.sum), append(elements(8, s.left), elements(16, s.right)...)
	g.Ins(grid.Ins{Op: grid.MMA, Imm: int64(shape), Regs: sum, AB: factors})
	for e, r := range sum {
		storeValue(g, 0, g.Add(g.Mul(i, g.I32(int32(s.sum))), g.I32(int32(e))), r, grid.NoReg)
	}
	return g.K
}

// allKernels returns the kernels written here that the target runs.
func allKernels(t Target) []*grid.Kernel {
	out := append(opKernels(), memoryKernels()...)
	for _, x := range computed {
		out = append(out, warpKernel(x))
	}
	for _, x := range []loop.Type{loop.F32, loop.F64} {
		out = append(out, lookupKernel(x, false), lookupKernel(x, true))
	}
	for s := range mmaShapes {
		if mmaShapes[s].major <= t.Major {
			out = append(out, mmaKernel(grid.Shape(s)))
		}
	}
	return append(out, controlKernel())
}
