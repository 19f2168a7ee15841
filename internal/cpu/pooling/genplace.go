package pooling

import (
	"unsafe"

	"weft/internal/cpu/codegen"
	"weft/internal/jit"
	"weft/internal/par"
	"weft/internal/processor"
	"weft/internal/x86/asm"
)

// maxPlaceLines is the most lines of a window for the kernel: each line takes a mask register,
// and two more are in use.
const maxPlaceLines = 5

const (
	placeBytes  = 1 << 18  // of lines an entry, which takes some 50 us
	placeAside  = 32 << 10 // of lines an entry that wait for non-temporal stores: they fit in the L1 cache
	placesPerNS = 2        // elements of x a nanosecond, on one thread
)

// A placeFrame holds the arguments of the kernel that gives each element of dy to the
// maximum of its window, for rows of windows that lie side by side and one below the
// other. Steps are in bytes.
type placeFrame struct {
	x, dx, y, dy unsafe.Pointer
	step         int // from line to line
	nextRow      int // from windows to those below
	rows         int // of windows; counted down
	vectors      int // of whole windows in a row
	nextX, nextY int // from behind a row's last vector to the next row
	// Of the lanes and windows of a vector and of a row's last.
	lanes, windows, lastLanes, lastWindows uint64
}

var lf placeFrame

// placeCode returns the kernel for windows that neither overlap nor leave gaps, and
// nil if there is none for these.
func placeCode[T float](p *Pool) *jit.Code {
	d := floatType[T]()
	if p.ISA != jit.AVX512 || p.StepW != p.KW || p.StepH != p.KH || p.PadW != 0 || p.PadH != 0 || p.KH > maxPlaceLines || p.KW > 64/d.Size() || p.OH*p.OW == 0 {
		return nil
	}
	return codegen.Kernel(codes, key{routine: placeRoutine, wide: true, dtype: d, kh: p.KH, kw: p.KW})
}

// placeTiled is Place by the kernel, with non-temporal stores if nonTemporal is set.
func placeTiled[T float](p *Pool, c *jit.Code, dx, x, y, dy unsafe.Pointer, nonTemporal bool) {
	size := int(unsafe.Sizeof(T(0)))
	each := 64 / size / p.KW // windows in a vector
	vectors := (p.OW + each - 1) / each
	last := p.OW - (vectors-1)*each
	bytes := p.KH * p.W * size // of a row of windows
	most, scratch := max(1, placeBytes/max(bytes, 1)), 0
	if nonTemporal && bytes <= placeAside {
		most = max(1, placeAside/bytes)
		scratch = most*bytes + 2*processor.Line
	}
	used := p.OW * p.KW
	grain := max(1, min(poolBytes/(p.H*p.W*size), p.Planes/leastChunks))
	par.Run(p.Planes, grain, codegen.Threads(p.Planes*p.H*p.W/placesPerNS), func(_, begin, end int) {
		planes := 1
		if p.H == p.OH*p.KH { // rows of windows go on in the next plane
			planes = end - begin
		}
		var waiting unsafe.Pointer
		if scratch > 0 {
			waiting = unsafe.Pointer(unsafe.SliceData(make([]byte, scratch)))
			waiting = unsafe.Add(waiting, -uintptr(waiting)%processor.Line)
		}
		for plane := begin; plane < end; plane += planes {
			in := plane * p.H * p.W
			for row := 0; row < planes*p.OH; row += most {
				at, out := in*size+row*bytes, (plane*p.OH+row)*p.OW*size
				rows := min(most, planes*p.OH-row)
				to := unsafe.Add(dx, at)
				if waiting != nil {
					to = unsafe.Add(waiting, uintptr(to)%processor.Line)
				}
				f := placeFrame{x: unsafe.Add(x, at), dx: to, y: unsafe.Add(y, out), dy: unsafe.Add(dy, out),
					step: p.W * size, nextRow: bytes, rows: rows, vectors: vectors,
					nextX: (p.KH*p.W - vectors*each*p.KW) * size, nextY: (p.OW - vectors*each) * size,
					lanes: 1<<(each*p.KW) - 1, windows: 1<<each - 1, lastLanes: 1<<(last*p.KW) - 1, lastWindows: 1<<last - 1}
				jit.Call(c, 0, unsafe.Pointer(&f))
				d := unsafe.Slice((*T)(to), rows*p.KH*p.W)
				for end := p.W; end <= len(d) && used < p.W; end += p.W {
					clear(d[end-p.W+used : end])
				}
				if waiting != nil {
					next := min(at+rows*bytes, p.Planes*p.H*p.W*size-1)
					stream(unsafe.Add(dx, at), to, unsafe.Add(x, next), rows*bytes)
				}
			}
			// Lines below the windows.
			clear(unsafe.Slice((*T)(dx), p.Planes*p.H*p.W)[in:][planes*p.OH*p.KH*p.W : planes*p.H*p.W])
		}
	})
}

// Registers of the kernel. Masks 1 to 5 are the lanes of each line that have the maximum.
const (
	placeX, placeDX, placeY, placeDY    = asm.RSI, asm.RBX, asm.R8, asm.R9
	placeStep, placeStep3, placeLeft    = asm.R10, asm.R12, asm.R11
	placeUnion, placeTwice, placeNaN    = asm.R13, asm.R14, asm.R15 // lanes with a maximum in any line; in several; windows with NaN
	placeTaken                          = asm.RDX                   // windows whose place is found
	placeWindows, placeLanes, unordered = asm.K6, asm.K7, asm.K0
)

// A placer writes the kernel.
type placer struct {
	*writer
	es, each                      int // bytes of an element, windows of a vector
	load, permute                 asm.Op
	best, grad, t, zero, toWindow asm.Reg
}

// place writes the kernel. A vector is whole windows of a line. Where every line has the
// maximum of a window at most once, and only one of the lines has it, the lanes that
// are equal to it are the places; else the first is found among them.
func (g *writer) place() {
	es := g.dtype.Size()
	p := &placer{writer: g, es: es, each: 64 / es / g.kw, load: g.pick(asm.VMOVUPS, asm.VMOVUPD), permute: g.pick(asm.VPERMPS, asm.VPERMPD),
		best: asm.Z(0), grad: asm.Z(1), t: asm.Z(2), zero: asm.Z(3), toWindow: asm.Z(4)}
	a := &g.Asm
	p.begin()
	row := a.Here()
	p.masks(unsafe.Offsetof(lf.lanes), unsafe.Offsetof(lf.windows))
	g.get(placeLeft, unsafe.Offsetof(lf.vectors))
	vector := a.Here()
	p.loadWindows()
	p.findMaxima()
	clear := a.NewLabel()
	a.Jcc(asm.CondE, clear)
	a.RR(asm.XOR32, placeTaken, placeTaken)
	for i := range g.kh {
		p.firstOf(i)
	}
	a.Bind(clear)
	for i := range g.kh {
		a.MaskZ(asm.K(1+i)).RR(g.pick(asm.VMOVAPS, asm.VMOVAPD), p.t, p.grad)
		a.Mask(placeLanes).MR(p.load, p.line(placeDX, i), p.t)
	}
	p.advance(vector, row)
	g.Done()
}

// begin loads constants and pointers.
func (p *placer) begin() {
	a := &p.Asm
	index := make([]byte, 64)
	for i := range 64 / p.es {
		index[i*p.es] = byte(min(i/p.kw, p.each-1))
	}
	a.RM(p.load, p.toWindow, a.ConstBytes(index))
	a.RRR(asm.VXORPS, p.zero, p.zero, p.zero)
	p.get(placeX, unsafe.Offsetof(lf.x))
	p.get(placeDX, unsafe.Offsetof(lf.dx))
	p.get(placeY, unsafe.Offsetof(lf.y))
	p.get(placeDY, unsafe.Offsetof(lf.dy))
	p.get(placeStep, unsafe.Offsetof(lf.step))
	a.RM(asm.LEA, placeStep3, asm.Idx(placeStep, placeStep, 2, 0))
}

// masks loads which lanes and which windows of a vector there are.
func (p *placer) masks(lanes, windows uintptr) {
	p.RM(asm.KMOVW, placeLanes, codegen.Field(lanes))
	p.RM(asm.KMOVW, placeWindows, codegen.Field(windows))
}

// line is the memory of line i of the windows at base.
func (p *placer) line(base asm.Reg, i int) asm.Mem {
	return [...]asm.Mem{asm.Ptr(base, 0), asm.Idx(base, placeStep, 1, 0), asm.Idx(base, placeStep, 2, 0),
		asm.Idx(base, placeStep3, 1, 0), asm.Idx(base, placeStep, 4, 0)}[i]
}

// lanesFrom returns the mask of the lanes whose index in their window is from to to-1.
func (p *placer) lanesFrom(from, to int) int64 {
	var m int64
	for i := range p.each * p.kw {
		if at := i % p.kw; at >= from && at < to {
			m |= 1 << i
		}
	}
	return m
}

// behind sets to to the lanes that have one of m before them in their window.
func (p *placer) behind(to, m, tmp asm.Reg) {
	a := &p.Asm
	a.RR(asm.XOR32, to, to)
	for s := 1; s < p.kw; s++ {
		a.RR(asm.MOV, tmp, m)
		a.RI(asm.SHL, tmp, int64(s))
		a.RI(asm.AND, tmp, p.lanesFrom(s, p.kw))
		a.RR(asm.OR, to, tmp)
	}
}

// noNumber sets k to the lanes of r with NaN.
func (p *placer) noNumber(k, r asm.Reg) {
	p.Mask(placeLanes).RRRI(p.pick(asm.VCMPPS, asm.VCMPPD), k, r, r, codegen.Unordered)
}

// loadWindows loads the maxima of a vector of windows and the elements of dy into all lanes of
// their windows.
func (p *placer) loadWindows() {
	a := &p.Asm
	whole := a.NewLabel()
	a.RI(asm.CMP, placeLeft, 1)
	a.Jcc(asm.CondNE, whole)
	p.masks(unsafe.Offsetof(lf.lastLanes), unsafe.Offsetof(lf.lastWindows))
	a.Bind(whole)
	a.MaskZ(placeWindows).RM(p.load, p.best, asm.Ptr(placeY, 0))
	a.MaskZ(placeWindows).RM(p.load, p.grad, asm.Ptr(placeDY, 0))
	// Of the next row of windows, since lines are read piece by piece.
	p.get(asm.RAX, unsafe.Offsetof(lf.nextRow))
	a.RR(asm.ADD, asm.RAX, placeX)
	for i := range p.kh {
		a.M(asm.PREFETCHT0, p.line(asm.RAX, i))
	}
	a.RRR(p.permute, p.best, p.toWindow, p.best)
	a.RRR(p.permute, p.grad, p.toWindow, p.grad)
	a.RRR(p.pick(asm.VADDPS, asm.VADDPD), p.grad, p.grad, p.zero) // as adding to zeros does
}

// findMaxima sets the mask of each line to its lanes with the bits of the maximum, and the flag
// of zero where every window has one place at most and no NaN.
func (p *placer) findMaxima() {
	a := &p.Asm
	p.noNumber(unordered, p.best)
	a.RR(asm.KMOVW, placeNaN, unordered)
	a.RR(asm.MOV, placeTwice, placeNaN)
	for i := range p.kh {
		k := asm.K(1 + i)
		a.Mask(placeLanes).RRM(p.pick(asm.VPCMPEQD, asm.VPCMPEQQ), k, p.best, p.line(placeX, i))
		if i == 0 {
			a.RR(asm.KMOVW, placeUnion, k)
			continue
		}
		a.RR(asm.KMOVW, asm.RAX, k)
		a.RR(asm.MOV, asm.RCX, asm.RAX)
		a.RR(asm.AND, asm.RCX, placeUnion)
		a.RR(asm.OR, placeTwice, asm.RCX)
		a.RR(asm.OR, placeUnion, asm.RAX)
	}
	p.behind(asm.RCX, placeUnion, asm.RAX)
	a.RR(asm.AND, asm.RCX, placeUnion)
	a.RR(asm.OR, placeTwice, asm.RCX)
}

// firstOf leaves in the mask of line i the first place of each window that has none in the lines
// before.
func (p *placer) firstOf(i int) {
	a, k := &p.Asm, asm.K(1+i)
	a.MaskZ(placeLanes).RM(p.load, p.t, p.line(placeX, i))
	p.noNumber(unordered, p.t)
	a.RR(asm.KMOVW, asm.RAX, unordered)
	a.RR(asm.AND, asm.RAX, placeNaN)
	a.RR(asm.KMOVW, asm.RCX, k)
	a.RR(asm.OR, asm.RAX, asm.RCX)
	a.RRR(asm.ANDN, placeUnion, placeTaken, asm.RAX)
	p.behind(asm.RCX, placeUnion, asm.RAX)
	a.RRR(asm.ANDN, asm.RCX, asm.RCX, placeUnion)
	a.RR(asm.KMOVW, k, asm.RCX)
	// The one place of each window, moved to the first lane, then to all lanes.
	for s := p.kw - 1; s > 0; s-- {
		a.RR(asm.MOV, asm.RAX, asm.RCX)
		a.RI(asm.SHR, asm.RAX, int64(s))
		a.RI(asm.AND, asm.RAX, p.lanesFrom(0, 1))
		a.RR(asm.OR, placeTaken, asm.RAX)
	}
	a.RI(asm.AND, asm.RCX, p.lanesFrom(0, 1))
	a.RR(asm.OR, asm.RCX, placeTaken)
	a.RI(asm.AND, asm.RCX, p.lanesFrom(0, 1))
	a.RRI(asm.IMUL, placeTaken, asm.RCX, 1<<p.kw-1)
}

// advance goes on with the next vector of a row, and then with the next row.
func (p *placer) advance(vector, row asm.Label) {
	a := &p.Asm
	for _, r := range []asm.Reg{placeX, placeDX} {
		a.RI(asm.ADD, r, int64(p.each*p.kw*p.es))
	}
	for _, r := range []asm.Reg{placeY, placeDY} {
		a.RI(asm.ADD, r, int64(p.each*p.es))
	}
	a.RI(asm.SUB, placeLeft, 1)
	a.Jcc(asm.CondNE, vector)
	for _, r := range []asm.Reg{placeX, placeDX} {
		a.RM(asm.ADD, r, codegen.Field(unsafe.Offsetof(lf.nextX)))
	}
	for _, r := range []asm.Reg{placeY, placeDY} {
		a.RM(asm.ADD, r, codegen.Field(unsafe.Offsetof(lf.nextY)))
	}
	a.MI(asm.SUB, codegen.Field(unsafe.Offsetof(lf.rows)), 1)
	a.Jcc(asm.CondNE, row)
}
