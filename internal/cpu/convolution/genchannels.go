package convolution

import (
	"slices"
	"unsafe"

	"weft/internal/cpu/codegen"
	"weft/internal/cpu/tile"
	"weft/internal/jit"
	"weft/internal/x86/asm"
)

// A channelKey names a kernel whose vectors are output channels and whose rows are mr
// neighbouring output pixels, stepX columns apart in the source. With ahead each term prefetches weights that
// are needed later.
type channelKey struct {
	tile.Machine
	mr, nv, stepX int
	ahead         bool
}

// A channelTerm is one term of a sum, for all or some pixels of a tile. a is the offset of its
// element for the first pixel, b of its row of weights, and entry of its code in the kernel.
// Offsets are in bytes.
type channelTerm struct{ a, b, entry int32 }

// A channelTile has the offsets of a tile's first pixel in the source, in the result and in the
// sums of earlier blocks, in bytes.
type channelTile struct{ a, c, sums int }

// A channelFrame holds the arguments of a kernel. Steps are in bytes.
type channelFrame struct {
	a, b, c, sums unsafe.Pointer
	terms         *channelTerm
	termCount     int
	tiles         *channelTile
	tileCount     int
	chanStep      int            // from channel to channel of c
	prefetch      int            // bytes from a source element to the one to prefetch
	ahead         uintptr        // the first weights to prefetch
	aheadStep     int            // bytes from there to the weights of the next term
	flags         int            // as of a tile.Frame, and flagStore
	bias          unsafe.Pointer // of the strip
	low, high     uint64
	mask          uint64   // of the pixels in the last vector of the transposed tile
	lanes         [32]byte // the same for AVX2
}

// flagStore means that these are the last terms: the tile is stored to the result, transposed.
const flagStore = 16

var cf channelFrame

// A channelKernel is the code and its entries for a term: from[i] for the pixels from i on,
// below[i] for the pixels up to i, and prefetch for all pixels with a prefetch of an element
// that is needed later.
type channelKernel struct {
	code        *jit.Code
	from, below []int32
	prefetch    int32
}

var channelKernels = jit.NewCache[channelKey, *channelKernel](256)

func (k channelKey) Generate() *channelKernel {
	g := &channelGen{Gen: codegen.Gen{ISA: k.ISA, D: k.D}, channelKey: k}
	prefetch, from, below := g.emit()
	c := &channelKernel{code: g.Install(k)}
	offset := func(l asm.Label) int32 {
		at, _ := g.Offset(l)
		first, _ := g.Offset(from[0])
		return int32(at - first)
	}
	c.prefetch = offset(prefetch)
	for _, l := range from {
		c.from = append(c.from, offset(l))
	}
	for _, l := range below {
		c.below = append(c.below, offset(l))
	}
	return c
}

type channelGen struct {
	codegen.Gen
	channelKey
}

func (g *channelGen) acc(i, v int) asm.Reg { return g.V(i*g.nv + v) }

// spare is register i behind the sums.
func (g *channelGen) spare(i int) asm.Reg { return g.V(g.mr*g.nv + i) }

func (g *channelGen) registers() int {
	if g.ISA == jit.AVX512 {
		return 32
	}
	return 16
}

// emit writes the kernel. A term jumps to the code of its first pixel. The code has the pixels in
// both orders, so that a term can leave out pixels at either end.
func (g *channelGen) emit() (prefetch asm.Label, from, below []asm.Label) {
	const (
		source, weights, tiles, count = asm.RSI, asm.RBX, asm.R8, asm.R9
		terms, left, first, distance  = asm.R10, asm.R11, asm.R12, asm.R13
		ahead, aheadStep              = asm.R14, asm.R15
	)
	a := &g.Asm
	get := func(r asm.Reg, offset uintptr) { a.RM(asm.MOV, r, codegen.Field(offset)) }
	get(weights, unsafe.Offsetof(cf.b))
	get(tiles, unsafe.Offsetof(cf.tiles))
	get(count, unsafe.Offsetof(cf.tileCount))
	get(distance, unsafe.Offsetof(cf.prefetch))
	if g.ahead {
		get(ahead, unsafe.Offsetof(cf.ahead))
		get(aheadStep, unsafe.Offsetof(cf.aheadStep))
	}
	for range g.mr {
		from = append(from, a.NewLabel())
		below = append(below, a.NewLabel())
	}
	prefetch = a.NewLabel()
	a.LeaLabel(first, from[0])
	tile := a.Here()
	get(source, unsafe.Offsetof(cf.a))
	a.RM(asm.ADD, source, asm.Ptr(tiles, int32(unsafe.Offsetof(channelTile{}.a))))
	get(terms, unsafe.Offsetof(cf.terms))
	get(left, unsafe.Offsetof(cf.termCount))
	for i := range g.mr * g.nv {
		g.Zero(g.V(i))
	}
	g.prefetchResult(tiles)
	end := a.NewLabel()
	a.RR(asm.TEST, left, left)
	a.Jcc(asm.CondE, end)

	a.Align(16)
	loop := a.Here()
	a.RM(asm.MOVSXD, asm.RAX, asm.Ptr(terms, int32(unsafe.Offsetof(channelTerm{}.a))).Sized(4))
	a.RM(asm.MOVSXD, asm.RCX, asm.Ptr(terms, int32(unsafe.Offsetof(channelTerm{}.b))).Sized(4))
	a.RM(asm.MOVSXD, asm.RDX, asm.Ptr(terms, int32(unsafe.Offsetof(channelTerm{}.entry))).Sized(4))
	a.RR(asm.ADD, asm.RAX, source)
	a.RR(asm.ADD, asm.RDX, first)
	a.RI(asm.ADD, terms, int64(unsafe.Sizeof(channelTerm{})))
	for v := range g.nv {
		g.Load(g.spare(v), asm.Idx(weights, asm.RCX, 1, int32(v*g.VB())))
	}
	if g.ahead {
		a.M(asm.PREFETCHT1, asm.Ptr(ahead, 0))
		a.RR(asm.ADD, ahead, aheadStep)
	}
	a.JmpReg(asm.RDX)
	pixel := func(i int) {
		m := asm.Ptr(asm.RAX, int32(i*g.stepX*g.Size))
		if g.nv == 1 && g.ISA == jit.AVX512 {
			a.RRM(g.Pick(asm.VFMADD231PS, asm.VFMADD231PD), g.acc(i, 0), g.spare(0), m.B())
			return
		}
		t := g.V(g.registers() - 1 - i&1)
		g.Broadcast(t, m)
		for v := range g.nv {
			g.Fma(g.acc(i, v), t, g.spare(v))
		}
	}
	a.Bind(prefetch)
	a.M(asm.PREFETCHT1, asm.Idx(asm.RAX, distance, 1, 0))
	for i := range g.mr {
		a.Bind(from[i])
		pixel(i)
	}
	a.RI(asm.SUB, left, 1)
	a.Jcc(asm.CondNE, loop)
	a.Jmp(end)
	for i := g.mr - 1; i >= 0; i-- {
		a.Bind(below[i])
		pixel(i)
	}
	a.RI(asm.SUB, left, 1)
	a.Jcc(asm.CondNE, loop)
	a.Bind(end)
	g.finish(tiles)
	a.RI(asm.ADD, tiles, int64(unsafe.Sizeof(channelTile{})))
	a.RI(asm.SUB, count, 1)
	a.Jcc(asm.CondNE, tile)
	g.Done()
	return prefetch, from, below
}

// prefetchResult prefetches the lines to which a tile's results will be stored.
func (g *channelGen) prefetchResult(tile asm.Reg) {
	a := &g.Asm
	skip := a.NewLabel()
	a.RM(asm.MOV, asm.RAX, codegen.Field(unsafe.Offsetof(cf.flags)))
	a.RI(asm.TEST, asm.RAX, flagStore)
	a.Jcc(asm.CondE, skip)
	a.RM(asm.MOV, asm.RAX, codegen.Field(unsafe.Offsetof(cf.c)))
	a.RM(asm.ADD, asm.RAX, asm.Ptr(tile, int32(unsafe.Offsetof(channelTile{}.c))))
	a.RM(asm.MOV, asm.RDX, codegen.Field(unsafe.Offsetof(cf.chanStep)))
	for range g.nv * g.Lanes() {
		a.M(asm.PREFETCHW, asm.Ptr(asm.RAX, 0))
		a.M(asm.PREFETCHW, asm.Ptr(asm.RAX, int32(g.mr*g.Size-1)))
		a.RR(asm.ADD, asm.RAX, asm.RDX)
	}
	a.Bind(skip)
}

// finish adds the sums of a tile to the sums of earlier blocks. It stores them as sums, or
// after the last block as results, transposed.
func (g *channelGen) finish(at asm.Reg) {
	a := &g.Asm
	add := g.Pick(asm.VADDPS, asm.VADDPD)
	every := func(f func(acc asm.Reg, v int, sum asm.Mem)) {
		for i := range g.mr * g.nv {
			f(g.V(i), i%g.nv, asm.Ptr(asm.RCX, int32(i*g.VB())))
		}
	}
	a.RM(asm.MOV, asm.RAX, codegen.Field(unsafe.Offsetof(cf.flags)))
	a.RM(asm.MOV, asm.RCX, codegen.Field(unsafe.Offsetof(cf.sums)))
	a.RM(asm.ADD, asm.RCX, asm.Ptr(at, int32(unsafe.Offsetof(channelTile{}.sums))))
	zero := g.V(g.registers() - 1)
	g.Zero(zero)
	every(func(acc asm.Reg, _ int, _ asm.Mem) { a.RRR(add, acc, acc, zero) })
	g.When(tile.FlagAdd, func() {
		every(func(acc asm.Reg, _ int, sum asm.Mem) { a.RRM(add, acc, acc, sum) })
	})
	store, end := a.NewLabel(), a.NewLabel()
	a.RI(asm.TEST, asm.RAX, flagStore)
	a.Jcc(asm.CondNE, store)
	every(func(acc asm.Reg, _ int, sum asm.Mem) { g.Store(sum, acc) })
	a.Jmp(end)
	a.Bind(store)
	g.ends()
	g.storeTransposed(at)
	a.Bind(end)
}

// ends adds the bias to the sums and holds their bounds.
func (g *channelGen) ends() {
	a := &g.Asm
	sums := make([]asm.Reg, g.mr*g.nv)
	for i := range sums {
		sums[i] = g.V(i)
	}
	g.When(tile.FlagBias, func() {
		a.RM(asm.MOV, asm.RCX, codegen.Field(unsafe.Offsetof(cf.bias)))
		for v := range g.nv {
			g.Load(g.spare(v), asm.Ptr(asm.RCX, int32(v*g.VB())))
		}
		for i, s := range sums {
			a.RRR(g.Pick(asm.VADDPS, asm.VADDPD), s, s, g.spare(i%g.nv))
		}
	})
	g.When(tile.FlagBounds, func() { g.Bound(sums, g.spare(0), unsafe.Offsetof(cf.low), unsafe.Offsetof(cf.high)) })
}

// storeTransposed stores a tile with the pixels of a channel side by side.
func (g *channelGen) storeTransposed(tile asm.Reg) {
	a := &g.Asm
	n := g.Lanes()
	if g.ISA == jit.AVX512 {
		a.RM(asm.MOV32, asm.RAX, codegen.Field(unsafe.Offsetof(cf.mask)))
		a.RR(asm.KMOVW, asm.K1, asm.RAX)
	}
	a.RM(asm.MOV, asm.RCX, codegen.Field(unsafe.Offsetof(cf.c)))
	a.RM(asm.ADD, asm.RCX, asm.Ptr(tile, int32(unsafe.Offsetof(channelTile{}.c))))
	a.RM(asm.MOV, asm.RDX, codegen.Field(unsafe.Offsetof(cf.chanStep)))
	var free []asm.Reg
	for i := g.mr * g.nv; i < g.registers(); i++ {
		free = append(free, g.V(i))
	}
	for v := range g.nv {
		for at := 0; at < g.mr; at += n {
			used := min(n, g.mr-at)
			var square []asm.Reg
			for i := range used {
				square = append(square, g.acc(at+i, v))
			}
			// What is transposed beside the pixels is not stored.
			pads := n - used
			all := slices.Concat(square, free[:pads+2])
			free = free[pads+2:]
			columns := g.Transpose(all[:n], [2]asm.Reg(all[n:]))
			var rest []asm.Reg
			for _, r := range all {
				if !slices.Contains(columns, r) {
					rest = append(rest, r)
				}
			}
			masked := at+n >= g.mr
			if masked && g.ISA == jit.AVX2 {
				g.Load(rest[0], codegen.Field(unsafe.Offsetof(cf.lanes)))
			}
			a.RR(asm.MOV, asm.RAX, asm.RCX)
			for _, r := range columns {
				m := asm.Ptr(asm.RAX, int32(at*g.Size))
				if masked {
					g.StoreMasked(m, r, asm.K1, rest[0])
				} else {
					g.Store(m, r)
				}
				a.RR(asm.ADD, asm.RAX, asm.RDX)
			}
			free = append(free, all...)
		}
		a.RR(asm.MOV, asm.RCX, asm.RAX)
	}
}
