package interp

import (
	"sync"
	"unsafe"

	"weft/internal/loop"
)

// code is a program compiled for one way of cutting it into tiles.
type code struct {
	p       *loop.Program
	grouped bool
	ragged  int // the ragged axis, -1 for none
	body    []instr
	bufs    []bufInfo
	regs    []int32 // bytes of a lane, by register
	direct  []int32 // registers that may point into a buffer
	memory  int     // words of all registers
	cells   int
	saved   int        // number of pointers that loops save while lanes are compacted
	consts  []cellInit // Imm is the constant's bits
	scalars []cellInit // Imm is the scalar's word in the frame
	reds    []redInfo
	pool    sync.Pool
}

// bufInfo is what addresses of a buffer need.
type bufInfo struct {
	serial []int // serial axes on which the buffer moves
}

type cellInit struct {
	cell int
	typ  loop.Type
	imm  uint64
}

// An opd is an operand: a register (one value a lane) or, if negative, the
// complement of a cell (one value for all).
type opd int32

// none stands for no operand. Nothing reads its value.
const none opd = 0

func (o opd) uniform() bool { return o < 0 }

// An instr is one step of compiled code.
type instr struct {
	run        func(m *machine, in *instr)
	d, a, b, c opd
	buf, axis  int32
	short      bool // of a load or store: its offset has 4 bytes
	*part           // nil for most, whose kernels have thousands of instructions
}

// A part is what few kinds of instructions have.
type part struct {
	body   []instr // of a pass
	reds   []int   // of a pass, by number in code.reds; of a reduce, its own
	cf     *ifCode
	loop   *loopCode
	copied step // of a load that need not copy: how it does
}

// A machine is the state of one run. It is used by one goroutine at a time.
type machine struct {
	c      *code
	f      *loop.Frame
	refill func() bool
	stop   bool

	// The tile: n lanes that are rows of inner lanes, beginning with index t0 of
	// the lane axis. In a row the lane axis advances, from row to row the axis
	// before it. Lanes whose mask is 0 are inactive; a nil mask means that all are active. If ids is
	// not nil, lanes have been compacted: lane i was lane ids[i] of the tile.
	n, rows, inner, t0 int
	mask               []uint8
	ids                []int32

	reg   []unsafe.Pointer // where the lanes of a register are
	own   []unsafe.Pointer // where the register's own memory is
	mem   []uint64
	uni   []uint64
	red   []reduction
	saved []unsafe.Pointer
	off   [loop.MaxBufs]int // bytes that outer axes add to a buffer's address
	begin [loop.MaxBufs]int // bytes at which the ragged axis begins in this row
	idx   [loop.MaxAxes]int // along outer axes and the serial ones being walked
	ext   [loop.MaxAxes]int
	from  [loop.MaxAxes]int // the frame's starts

	stride [loop.MaxBufs][loop.MaxAxes]int
	wide   [Tile]int64 // see offsets
}

func (c *code) get() *machine {
	if m, ok := c.pool.Get().(*machine); ok {
		return m
	}
	m := &machine{
		c:     c,
		reg:   make([]unsafe.Pointer, len(c.regs)),
		own:   make([]unsafe.Pointer, len(c.regs)),
		mem:   make([]uint64, c.memory),
		uni:   make([]uint64, c.cells),
		red:   make([]reduction, len(c.reds)),
		saved: make([]unsafe.Pointer, c.saved),
	}
	at := 0
	for i, size := range c.regs {
		m.own[i] = unsafe.Pointer(&m.mem[at])
		at += int(size) * Tile / 8
	}
	copy(m.reg, m.own)
	for _, k := range c.consts {
		setBits(&m.uni[k.cell], k.typ, k.imm)
	}
	return m
}

// put gives a machine back to the pool. It keeps no pointer to the caller's memory.
func (c *code) put(m *machine) {
	if m.stop { // in the midst of something
		copy(m.reg, m.own)
		clear(m.saved)
	}
	for _, r := range c.direct {
		m.reg[r] = m.own[r]
	}
	m.f, m.refill, m.mask, m.ids = nil, nil, nil, nil
	c.pool.Put(m)
}

// start reads the frame.
func (m *machine) start(f *loop.Frame, refill func() bool) {
	m.f, m.refill, m.stop = f, refill, false
	m.n, m.rows, m.inner, m.t0 = 1, 1, 1, 0
	p := m.c.p
	for a := range p.Axes {
		m.ext[a] = int(f.Word[p.ExtentWord(a)])
		m.from[a] = int(f.Word[p.StartWord(a)])
		m.idx[a] = 0
	}
	for b := range p.Bufs {
		m.off[b] = 0
		for a, s := range p.Bufs[b].Steps {
			if s == loop.Zero {
				m.stride[b][a] = 0
			} else {
				m.stride[b][a] = int(f.Word[p.StrideWord(b, a)])
			}
		}
	}
	for _, s := range m.c.scalars {
		setBits(&m.uni[s.cell], s.typ, f.Word[s.imm])
	}
}

// exec runs a block.
func (m *machine) exec(block []instr) {
	for i := range block {
		in := &block[i]
		in.run(m, in)
		if m.stop {
			return
		}
	}
}

// burn takes a unit of fuel and reports whether there was one.
func (m *machine) burn() bool {
	fuel := &m.f.Word[loop.WordFuel]
	if *fuel == 0 {
		if m.refill == nil {
			return true
		}
		if !m.refill() {
			m.stop = true
			return false
		}
	}
	if *fuel > 0 {
		*fuel--
	}
	return true
}

// vec returns the values of an operand: one a lane, or one for all.
func vec[T any](m *machine, o opd) []T {
	if o < 0 {
		return unsafe.Slice((*T)(unsafe.Pointer(&m.uni[^o])), 1)
	}
	return unsafe.Slice((*T)(m.reg[o]), m.n)
}

// addr returns the address of a buffer for the first lane of the tile.
func (m *machine) addr(buf int32) unsafe.Pointer {
	s := &m.stride[buf]
	off := m.off[buf] + m.begin[buf] + m.t0*s[m.c.p.Lane]
	for _, a := range m.c.bufs[buf].serial {
		off += m.idx[a] * s[a]
	}
	return unsafe.Add(m.f.Ptr[buf], off)
}

// laneOffset returns the byte offset of lane i, given the strides from row to row and from lane to
// lane.
func (m *machine) laneOffset(i, row, lane int) int {
	if m.ids != nil {
		i = int(m.ids[i])
	}
	if m.rows == 1 {
		return i * lane
	}
	return i/m.inner*row + i%m.inner*lane
}

// rowStride returns the byte stride of a buffer from row to row of the tile.
func (m *machine) rowStride(buf int32) int {
	if m.rows == 1 {
		return 0
	}
	return m.stride[buf][m.c.p.Lane-1]
}
