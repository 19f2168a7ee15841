package linalg

import (
	"encoding/binary"
	"math"
	"slices"
	"unsafe"

	"weft/internal/array"
	"weft/internal/cpu/codegen"
	"weft/internal/jit"
	"weft/internal/x86/asm"
)

// A factoring is what a kernel of lanes computes.
type factoring int

const (
	choleskyLanes factoring = iota
	luLanes
	solveLanes // and the factors
	qrLanes
	eighLanes
	svdLanes
)

// A lanesKey names the machine code that factors small matrices, one in each lane of a vector. A
// lane has the operations of the algorithms for one matrix, in their order, so bits are theirs.
type lanesKey struct {
	isa  jit.ISA
	d    array.DType // that is computed with
	what factoring
	m, n int // the matrices are m x n
	w    int // columns of right sides; of Q, 0 without
}

var lanesCodes = jit.NewCache[lanesKey, *jit.Code](0)

const (
	lanesArguments = 2
	lanesResults   = 3
)

// A lanesFrame holds the arguments of the kernel: contiguous matrices, one for each lane of a vector.
type lanesFrame struct {
	in   [lanesArguments]unsafe.Pointer
	out  [lanesResults]unsafe.Pointer
	work unsafe.Pointer // slots of a vector
}

var lanesArgs lanesFrame // for offsets of its fields

// slots is the number of vectors in the work memory: the matrix, right sides or Q, and others.
func (k lanesKey) slots() int { return k.m*k.n + max(k.m, k.n)*k.w + 2*k.n }

// lanes reports whether there is a kernel of the key, and the lanes of its vectors. Larger matrices would
// make much code.
func (k lanesKey) lanes() (lanes int, ok bool) {
	if k.isa == jit.Portable || k.n == 0 || k.m == 0 {
		return 0, false
	}
	switch k.what {
	case choleskyLanes:
		ok = k.n <= 16
	case qrLanes:
		ok = isSmallQR(k.m, k.n)
	case eighLanes:
		ok = isSmallEigh(k.n)
	case svdLanes:
		ok = isSmallSVD(k.m, k.n)
	default:
		ok = k.m == k.n && k.n <= 12 && k.n*k.n*k.w <= 1024
	}
	return k.isa.VectorBytes() / k.d.Size(), ok
}

// least is the number of matrices from which a kernel of a number of lanes pays.
func (k lanesKey) least(lanes int) int {
	if k.what == eighLanes || k.what == svdLanes {
		return 1 // the latency of a rotation is that of all lanes
	}
	return (lanes + 1) / 2
}

// A lanesGen generates a kernel. Masks are opmask registers with AVX-512, and vectors 10 to 13 with AVX2.
type lanesGen struct {
	codegen.Gen
	lanesKey
}

const (
	lanesWork = asm.RSI
	lanesAt   = asm.RDX // matrices in memory

	badMask, newMask, edgeMask, turnedMask = 0, 1, 2, 3
)

// Generate writes the kernel. Its status has a bit for each lane whose matrix is left to the algorithms for one
// matrix: it is not definite, or a number is out of the range where the algorithm is right.
func (k lanesKey) Generate() *jit.Code {
	g := &lanesGen{codegen.Gen{ISA: k.isa, D: k.d}, k}
	g.RM(asm.MOV, lanesWork, codegen.Field(unsafe.Offsetof(lanesArgs.work)))
	element := g.slot
	if k.what == svdLanes {
		element = g.element
	}
	g.read(0, k.m*k.n, element)
	if k.what == solveLanes {
		g.read(1, k.n*k.w, func(e int) asm.Mem { return g.right(0, e) })
	}
	g.none(badMask)
	switch k.what {
	case choleskyLanes:
		g.cholesky()
	case qrLanes:
		g.qr()
	case eighLanes:
		g.eigh()
	case svdLanes:
		g.svd()
	default:
		g.lu()
		g.substitute()
	}
	g.status()
	switch k.what {
	case eighLanes:
		g.write(0, k.n, func(i int) asm.Mem { return g.at(i, i) })
	case svdLanes:
		g.writeSVD()
	default:
		g.write(0, min(k.m, k.n)*k.n, g.slot)
	}
	if k.w > 0 && k.what != svdLanes {
		g.write(1, k.m*k.w, func(e int) asm.Mem { return g.right(0, e) })
	}
	g.Op0(asm.VZEROUPPER)
	g.Op0(asm.RET)
	return g.Install(k)
}

// slot is a vector of the work memory.
func (g *lanesGen) slot(i int) asm.Mem { return asm.Ptr(lanesWork, int32(i*g.VB())) }

// at is the slot of element (i, j) of the matrix, right the slot of an element of the right sides or of Q.
func (g *lanesGen) at(i, j int) asm.Mem    { return g.slot(i*g.n + j) }
func (g *lanesGen) right(i, c int) asm.Mem { return g.slot(g.m*g.n + i*g.w + c) }

// extra is a slot behind them.
func (g *lanesGen) extra(i int) asm.Mem { return g.slot(g.m*g.n + max(g.m, g.n)*g.w + i) }

func (g *lanesGen) pivot(i int) asm.Mem      { return g.extra(i) }
func (g *lanesGen) reciprocal(i int) asm.Mem { return g.extra(g.n + i) }

// constant returns an operand with a number in all lanes.
func (g *lanesGen) constant(x float64) asm.Mem {
	var b []byte
	for range g.Lanes() {
		if g.D == array.Float32 {
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(x)))
		} else {
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(x))
		}
	}
	return g.ConstBytes(b)
}

// read moves the elements of each matrix of an argument to slots.
func (g *lanesGen) read(arg, size int, slot func(e int) asm.Mem) {
	g.RM(asm.MOV, lanesAt, codegen.Field(unsafe.Offsetof(lanesArgs.in)+8*uintptr(arg)))
	g.transfer(size, slot, true)
}

// write moves slots to the elements of each matrix of a result.
func (g *lanesGen) write(result, size int, slot func(e int) asm.Mem) {
	g.RM(asm.MOV, lanesAt, codegen.Field(unsafe.Offsetof(lanesArgs.out)+8*uintptr(result)))
	g.transfer(size, slot, false)
}

// transfer moves size elements of each matrix between memory and slots: squares are transposed in registers.
func (g *lanesGen) transfer(size int, slot func(e int) asm.Mem, load bool) {
	lanes := g.Lanes()
	for e := 0; e < size; e += lanes {
		n := min(lanes, size-e)
		if n < lanes {
			g.edge(n)
		}
		var r []asm.Reg
		for l := range lanes {
			v := g.V(l)
			r = append(r, v)
			m := asm.Ptr(lanesAt, int32((l*size+e)*g.D.Size()))
			switch {
			case !load && l < n:
				g.Load(v, slot(e+l))
			case !load:
				g.Zero(v)
			case n < lanes:
				g.LoadMasked(v, m, asm.K(1+edgeMask), g.V(10+edgeMask))
			default:
				g.Load(v, m)
			}
		}
		r = g.Transpose(r, [2]asm.Reg{g.V(lanes), g.V(lanes + 1)})
		for l, v := range r {
			m := asm.Ptr(lanesAt, int32((l*size+e)*g.D.Size()))
			switch {
			case load && l < n:
				g.Store(slot(e+l), v)
			case load:
			case n < lanes:
				g.StoreMasked(m, v, asm.K(1+edgeMask), g.V(10+edgeMask))
			default:
				g.Store(m, v)
			}
		}
	}
}

// edge sets the mask of the first n lanes.
func (g *lanesGen) edge(n int) {
	if g.ISA == jit.AVX512 {
		g.MovImm(asm.RCX, int64(1)<<n-1)
		g.RR(asm.KMOVW, asm.K(1+edgeMask), asm.RCX)
		return
	}
	var b [32]byte
	for i := range n * g.D.Size() {
		b[i] = 0xFF
	}
	g.Load(g.V(10+edgeMask), g.ConstBytes(b[:]))
}

// compare sets a mask where a predicate holds.
func (g *lanesGen) compare(mask int, x, y asm.Reg, predicate int64) {
	to := g.V(10 + mask)
	if g.ISA == jit.AVX512 {
		to = asm.K(1 + mask)
	}
	g.RRRI(g.Pick(asm.VCMPPS, asm.VCMPPD), to, x, y, predicate)
}

// pick sets dst to y where the new mask is set, and to x elsewhere.
func (g *lanesGen) pick(dst, x, y asm.Reg) {
	if g.ISA == jit.AVX512 {
		g.Mask(asm.K(1+newMask)).RRR(g.Pick(asm.VBLENDMPS, asm.VBLENDMPD), dst, x, y)
		return
	}
	g.RRRR(g.Pick(asm.VBLENDVPS, asm.VBLENDVPD), dst, x, y, g.V(10+newMask))
}

// none clears a mask.
func (g *lanesGen) none(mask int) {
	if g.ISA == jit.AVX512 {
		g.RR(asm.XOR32, asm.RAX, asm.RAX)
		g.RR(asm.KMOVW, asm.K(1+mask), asm.RAX)
		return
	}
	g.Zero(g.V(10 + mask))
}

// either adds the lanes of another mask to a mask.
func (g *lanesGen) either(mask, other int) {
	if g.ISA == jit.AVX512 {
		g.RRR(asm.KORW, asm.K(1+mask), asm.K(1+mask), asm.K(1+other))
		return
	}
	g.RRR(asm.VORPS, g.V(10+mask), g.V(10+mask), g.V(10+other))
}

// bad adds lanes where a predicate holds to those left out.
func (g *lanesGen) bad(x, y asm.Reg, predicate int64) {
	g.compare(newMask, x, y, predicate)
	g.either(badMask, newMask)
}

// status sets RAX.
func (g *lanesGen) status() {
	if g.ISA == jit.AVX512 {
		g.RR(asm.KMOVW, asm.RAX, asm.K(1+badMask))
		return
	}
	g.RR(g.Pick(asm.VMOVMSKPS, asm.VMOVMSKPD), asm.RAX, g.V(10+badMask))
}

func (g *lanesGen) sqrt(r asm.Reg) { g.RR(g.Pick(asm.VSQRTPS, asm.VSQRTPD), r, r) }

// invert sets dst to 1/x.
func (g *lanesGen) invert(dst, x asm.Reg) {
	g.Load(dst, g.constant(1))
	g.RRR(g.Pick(asm.VDIVPS, asm.VDIVPD), dst, dst, x)
}

func (g *lanesGen) times(dst asm.Reg, m asm.Mem) {
	g.RRM(g.Pick(asm.VMULPS, asm.VMULPD), dst, dst, m)
}

// chains subtracts products from up to four accumulators, vectors 0 to 3, which begin as the elements.
// A product has a factor that all share and one of their own. Accumulators are chains of fused multiply-adds in ascending order.
func (g *lanesGen) chains(elements []asm.Mem, from, to int, shared func(q int) asm.Mem, own func(u, q int) asm.Mem) {
	for u, m := range elements {
		g.Load(g.V(u), m)
	}
	for q := from; q < to; q++ {
		g.Load(g.V(4), shared(q))
		for u := range elements {
			g.RRM(g.Pick(asm.VFNMADD231PS, asm.VFNMADD231PD), g.V(u), g.V(4), own(u, q))
		}
	}
}

// Predicates of comparisons.
const (
	equal        = 0x00
	less         = 0x11
	greater      = 0x1E
	notGreater   = 0x1A
	chainsAtOnce = 4
)

// cholesky replaces the matrix by its factor, as choleskyPanel computes it.
func (g *lanesGen) cholesky() {
	for i := range g.n {
		for r := i; r < g.n; r += chainsAtOnce {
			n := min(chainsAtOnce, g.n-r)
			var elements []asm.Mem
			for u := range n {
				elements = append(elements, g.at(r+u, i))
			}
			g.chains(elements, 0, i, func(q int) asm.Mem { return g.at(i, q) }, func(u, q int) asm.Mem { return g.at(r+u, q) })
			for u := range n {
				if r+u > i {
					g.RRR(g.Pick(asm.VMULPS, asm.VMULPD), g.V(u), g.V(u), g.V(5))
				} else {
					g.Zero(g.V(6))
					g.bad(g.V(u), g.V(6), notGreater)
					g.sqrt(g.V(u))
					g.invert(g.V(5), g.V(u))
				}
				g.Store(g.at(r+u, i), g.V(u))
			}
		}
	}
	g.Zero(g.V(0))
	for i := range g.n {
		for j := i + 1; j < g.n; j++ {
			g.Store(g.at(i, j), g.V(0))
		}
	}
}

// lu replaces the matrix by its factors, as luPanel computes them, and exchanges rows of the right sides along.
func (g *lanesGen) lu() {
	for j := range g.n {
		for i := 1; i < j; i++ {
			g.chains([]asm.Mem{g.at(i, j)}, 0, i, func(q int) asm.Mem { return g.at(q, j) }, func(_, q int) asm.Mem { return g.at(i, q) })
			g.Store(g.at(i, j), g.V(0))
		}
		for i := j; i < g.n; i += chainsAtOnce {
			var elements []asm.Mem
			for u := range min(chainsAtOnce, g.n-i) {
				elements = append(elements, g.at(i+u, j))
			}
			g.chains(elements, 0, j, func(q int) asm.Mem { return g.at(q, j) }, func(u, q int) asm.Mem { return g.at(i+u, q) })
			for u, m := range elements {
				g.Store(m, g.V(u))
			}
		}
		g.exchange(j)
		g.invert(g.V(5), g.V(6))
		g.Store(g.reciprocal(j), g.V(5))
		for i := j + 1; i < g.n; i++ {
			g.RRM(g.Pick(asm.VMULPS, asm.VMULPD), g.V(0), g.V(5), g.at(i, j))
			g.Store(g.at(i, j), g.V(0))
		}
		g.absolute(g.V(5))
		g.Load(g.V(6), g.constant(g.most()))
		g.bad(g.V(5), g.V(6), codegen.NotLessEqual)
	}
}

// most is the greatest finite number.
func (g *lanesGen) most() float64 {
	if g.D == array.Float32 {
		return math.MaxFloat32
	}
	return math.MaxFloat64
}

// absolute clears signs.
func (g *lanesGen) absolute(r asm.Reg) {
	bits := make([]byte, g.VB())
	for i := range bits {
		bits[i] = 0xFF
		if i%g.D.Size() == g.D.Size()-1 {
			bits[i] = 0x7F
		}
	}
	g.RRM(asm.VANDPS, r, r, g.ConstBytes(bits))
}

// exchange finds the pivots of column j, exchanges rows, and leaves the pivots in vector 6.
func (g *lanesGen) exchange(j int) {
	best, place, v, t := g.V(0), g.V(1), g.V(2), g.V(3)
	g.Load(best, g.at(j, j))
	g.absolute(best)
	g.Load(place, g.constant(float64(j)))
	for i := j + 1; i < g.n; i++ {
		g.Load(v, g.at(i, j))
		g.absolute(v)
		g.compare(newMask, v, best, greater)
		g.pick(best, best, v)
		g.Load(t, g.constant(float64(i)))
		g.pick(place, place, t)
	}
	g.Store(g.pivot(j), place)
	var slots []func(i int) asm.Mem // of a row
	for c := range g.n {
		slots = append(slots, func(i int) asm.Mem { return g.at(i, c) })
	}
	for c := range g.w {
		slots = append(slots, func(i int) asm.Mem { return g.right(i, c) })
	}
	for part := range slices.Chunk(slots, g.heldSlots()) {
		g.exchangeRow(j, part)
	}
	g.Load(g.V(6), g.at(j, j))
}

// heldSlots is the number of slots of a row that exchangeRow holds in vectors, from vector 7 on.
func (g *lanesGen) heldSlots() int {
	if g.ISA == jit.AVX512 {
		return 16
	}
	return 3 // the next are masks
}

// exchangeRow exchanges slots of row j and of another row, which vector 1 names in each lane. Row j stays in vectors:
// a store and a load of each slot for each other row would cost a quarter of a factorization.
func (g *lanesGen) exchangeRow(j int, slots []func(i int) asm.Mem) {
	for c, at := range slots {
		g.Load(g.V(7+c), at(j))
	}
	for i := j + 1; i < g.n; i++ {
		g.Load(g.V(3), g.constant(float64(i)))
		g.compare(newMask, g.V(1), g.V(3), equal)
		for c, at := range slots {
			g.Load(g.V(4), at(i))
			g.pick(g.V(6), g.V(4), g.V(7+c))
			g.pick(g.V(7+c), g.V(7+c), g.V(4))
			g.Store(at(i), g.V(6))
		}
	}
	for c, at := range slots {
		g.Store(at(j), g.V(7+c))
	}
}

// exchangeSlots exchanges two slots where the new mask is set.
func (g *lanesGen) exchangeSlots(x, y asm.Mem) {
	g.Load(g.V(4), x)
	g.Load(g.V(5), y)
	g.pick(g.V(6), g.V(4), g.V(5))
	g.pick(g.V(4), g.V(5), g.V(4))
	g.Store(x, g.V(6))
	g.Store(y, g.V(4))
}

// substitute solves for the right sides, as solveBlock does.
func (g *lanesGen) substitute() {
	for c := 0; c < g.w; c += chainsAtOnce {
		row := func(i int) (m []asm.Mem) {
			for u := range min(chainsAtOnce, g.w-c) {
				m = append(m, g.right(i, c+u))
			}
			return m
		}
		own := func(u, q int) asm.Mem { return g.right(q, c+u) }
		for i := 1; i < g.n; i++ {
			g.chains(row(i), 0, i, func(q int) asm.Mem { return g.at(i, q) }, own)
			for u, m := range row(i) {
				g.Store(m, g.V(u))
			}
		}
		for i := g.n - 1; i >= 0; i-- {
			g.chains(row(i), i+1, g.n, func(q int) asm.Mem { return g.at(i, q) }, own)
			for u, m := range row(i) {
				g.times(g.V(u), g.reciprocal(i))
				g.Store(m, g.V(u))
			}
		}
	}
}
