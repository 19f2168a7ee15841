package pooling

import (
	"unsafe"

	"weft/internal/cpu/gen"
	"weft/internal/jit"
	"weft/internal/par"
	"weft/internal/processor"
	"weft/internal/x86/asm"
)

// maxPlaceLines is the height of windows up to which there is a kernel: a mask for each
// line of a window, and two.
const maxPlaceLines = 5

const (
	placeBytes  = 1 << 18  // of lines an entry, which takes some 50 us
	placeAside  = 32 << 10 // of lines an entry that wait to be written past the caches: in the first
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
	return gen.Kernel(codes, key{routine: placeRoutine, wide: true, dtype: d, kh: p.KH, kw: p.KW})
}

// placeTiled is Place by the kernel, perhaps past the caches.
func placeTiled[T float](p *Pool, c *jit.Code, dx, x, y, dy unsafe.Pointer, past bool) {
	size := int(unsafe.Sizeof(T(0)))
	each := 64 / size / p.KW // windows in a vector
	vectors := (p.OW + each - 1) / each
	last := p.OW - (vectors-1)*each
	bytes := p.KH * p.W * size // of a row of windows
	most, room := max(1, placeBytes/max(bytes, 1)), 0
	if past && bytes <= placeAside {
		most = max(1, placeAside/bytes)
		room = most*bytes + 2*processor.Line
	}
	used := p.OW * p.KW
	grain := max(1, min(poolBytes/(p.H*p.W*size), p.Planes/leastChunks))
	par.Run(p.Planes, grain, gen.Threads(p.Planes*p.H*p.W/placesPerNS), func(_, begin, end int) {
		planes := 1
		if p.H == p.OH*p.KH { // rows of windows go on in the next plane
			planes = end - begin
		}
		var waiting unsafe.Pointer
		if room > 0 {
			waiting = unsafe.Pointer(unsafe.SliceData(make([]byte, room)))
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

// place writes the kernel. A vector is whole windows of a line. Where every line has the
// maximum of a window at most once, and only one of the lines has it, the lanes that
// are equal to it are the places; else the first is found among them.
func (g *writer) place() {
	const (
		x, dx, y, dy           = asm.RSI, asm.RBX, asm.R8, asm.R9
		step, step3, left      = asm.R10, asm.R12, asm.R11
		union, twice, nan      = asm.R13, asm.R14, asm.R15
		taken                  = asm.RDX
		windows, lanes, someNa = asm.K6, asm.K7, asm.K0
	)
	best, grad, t, zero, spread := asm.Z(0), asm.Z(1), asm.Z(2), asm.Z(3), asm.Z(4)
	a := &g.Asm
	es := g.dtype.Size()
	n := 64 / es
	each := n / g.kw
	pick := func(single, double asm.Op) asm.Op {
		if es == 4 {
			return single
		}
		return double
	}
	load := pick(asm.VMOVUPS, asm.VMOVUPD)
	permute := pick(asm.VPERMPS, asm.VPERMPD)
	noNumber := func(k asm.Reg, r asm.Reg) {
		a.Mask(lanes).RRRI(pick(asm.VCMPPS, asm.VCMPPD), k, r, r, gen.Unordered)
	}
	get := func(r asm.Reg, offset uintptr) { a.RM(asm.MOV, r, gen.Field(offset)) }
	line := func(base asm.Reg, i int) asm.Mem {
		return [...]asm.Mem{asm.Ptr(base, 0), asm.Idx(base, step, 1, 0), asm.Idx(base, step, 2, 0),
			asm.Idx(base, step3, 1, 0), asm.Idx(base, step, 4, 0)}[i]
	}
	// lanesFrom has the lanes whose place in their window is at least from and below to.
	lanesFrom := func(from, to int) int64 {
		var m int64
		for i := range each * g.kw {
			if p := i % g.kw; p >= from && p < to {
				m |= 1 << i
			}
		}
		return m
	}
	// behind sets to to the lanes that have one of m before them in their window.
	behind := func(to, m, tmp asm.Reg) {
		a.RR(asm.XOR32, to, to)
		for s := 1; s < g.kw; s++ {
			a.RR(asm.MOV, tmp, m)
			a.RI(asm.SHL, tmp, int64(s))
			a.RI(asm.AND, tmp, lanesFrom(s, g.kw))
			a.RR(asm.OR, to, tmp)
		}
	}

	index := make([]byte, 64)
	for i := range n {
		index[i*es] = byte(min(i/g.kw, each-1))
	}
	a.RM(load, spread, a.ConstBytes(index))
	a.RRR(asm.VXORPS, zero, zero, zero)
	get(x, unsafe.Offsetof(lf.x))
	get(dx, unsafe.Offsetof(lf.dx))
	get(y, unsafe.Offsetof(lf.y))
	get(dy, unsafe.Offsetof(lf.dy))
	get(step, unsafe.Offsetof(lf.step))
	a.RM(asm.LEA, step3, asm.Idx(step, step, 2, 0))

	masks := func(l, w uintptr) {
		a.RM(asm.KMOVW, lanes, gen.Field(l))
		a.RM(asm.KMOVW, windows, gen.Field(w))
	}
	row := a.Here()
	masks(unsafe.Offsetof(lf.lanes), unsafe.Offsetof(lf.windows))
	get(left, unsafe.Offsetof(lf.vectors))
	vector := a.Here()
	whole := a.NewLabel()
	a.RI(asm.CMP, left, 1)
	a.Jcc(asm.CondNE, whole)
	masks(unsafe.Offsetof(lf.lastLanes), unsafe.Offsetof(lf.lastWindows))
	a.Bind(whole)
	a.MaskZ(windows).RM(load, best, asm.Ptr(y, 0))
	a.MaskZ(windows).RM(load, grad, asm.Ptr(dy, 0))
	// Of the next row of windows, since lines are read piece by piece.
	get(asm.RAX, unsafe.Offsetof(lf.nextRow))
	a.RR(asm.ADD, asm.RAX, x)
	for i := range g.kh {
		a.M(asm.PREFETCHT0, line(asm.RAX, i))
	}
	a.RRR(permute, best, spread, best)
	a.RRR(permute, grad, spread, grad)
	a.RRR(pick(asm.VADDPS, asm.VADDPD), grad, grad, zero) // as adding to zeros does
	noNumber(someNa, best)
	a.RR(asm.KMOVW, nan, someNa)
	a.RR(asm.MOV, twice, nan)
	for i := range g.kh {
		k := asm.K(1 + i)
		a.Mask(lanes).RRM(pick(asm.VPCMPEQD, asm.VPCMPEQQ), k, best, line(x, i))
		if i == 0 {
			a.RR(asm.KMOVW, union, k)
			continue
		}
		a.RR(asm.KMOVW, asm.RAX, k)
		a.RR(asm.MOV, asm.RCX, asm.RAX)
		a.RR(asm.AND, asm.RCX, union)
		a.RR(asm.OR, twice, asm.RCX)
		a.RR(asm.OR, union, asm.RAX)
	}
	behind(asm.RCX, union, asm.RAX)
	a.RR(asm.AND, asm.RCX, union)
	a.RR(asm.OR, twice, asm.RCX)
	clear := a.NewLabel()
	a.Jcc(asm.CondE, clear)
	a.RR(asm.XOR32, taken, taken)
	for i := range g.kh {
		k := asm.K(1 + i)
		a.MaskZ(lanes).RM(load, t, line(x, i))
		noNumber(someNa, t)
		a.RR(asm.KMOVW, asm.RAX, someNa)
		a.RR(asm.AND, asm.RAX, nan)
		a.RR(asm.KMOVW, asm.RCX, k)
		a.RR(asm.OR, asm.RAX, asm.RCX)
		a.RRR(asm.ANDN, union, taken, asm.RAX)
		behind(asm.RCX, union, asm.RAX)
		a.RRR(asm.ANDN, asm.RCX, asm.RCX, union)
		a.RR(asm.KMOVW, k, asm.RCX)
		// The one place of each window, moved to the first lane, then to all lanes.
		for s := g.kw - 1; s > 0; s-- {
			a.RR(asm.MOV, asm.RAX, asm.RCX)
			a.RI(asm.SHR, asm.RAX, int64(s))
			a.RI(asm.AND, asm.RAX, lanesFrom(0, 1))
			a.RR(asm.OR, taken, asm.RAX)
		}
		a.RI(asm.AND, asm.RCX, lanesFrom(0, 1))
		a.RR(asm.OR, asm.RCX, taken)
		a.RI(asm.AND, asm.RCX, lanesFrom(0, 1))
		a.RRI(asm.IMUL, taken, asm.RCX, 1<<g.kw-1)
	}
	a.Bind(clear)
	for i := range g.kh {
		a.MaskZ(asm.K(1+i)).RR(pick(asm.VMOVAPS, asm.VMOVAPD), t, grad)
		a.Mask(lanes).MR(load, line(dx, i), t)
	}
	for _, r := range []asm.Reg{x, dx} {
		a.RI(asm.ADD, r, int64(each*g.kw*es))
	}
	for _, r := range []asm.Reg{y, dy} {
		a.RI(asm.ADD, r, int64(each*es))
	}
	a.RI(asm.SUB, left, 1)
	a.Jcc(asm.CondNE, vector)
	for _, r := range []asm.Reg{x, dx} {
		a.RM(asm.ADD, r, gen.Field(unsafe.Offsetof(lf.nextX)))
	}
	for _, r := range []asm.Reg{y, dy} {
		a.RM(asm.ADD, r, gen.Field(unsafe.Offsetof(lf.nextY)))
	}
	a.MI(asm.SUB, gen.Field(unsafe.Offsetof(lf.rows)), 1)
	a.Jcc(asm.CondNE, row)
	g.Done()
}
