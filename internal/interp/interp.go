// Package interp runs loop programs (package loop) in portable Go. It is the
// reference that every machine-code backend must match bit for bit, and what
// runs where there is no such backend.
//
// # How it works
//
// [Compile] turns a program into a list of steps. A step does one instruction
// for a tile of up to [Tile] lanes in one Go loop over typed slices. Uniform values
// (constants, scalar arguments, outer indices, results of reductions and what is
// computed from them) are computed once, not once a lane.
//
// Instructions without effect run on all lanes of the tile, even if an if masks
// them or they have left a loop: nothing in the language traps, and nothing reads
// their results. Only memory accesses, reductions and the conditions of loops
// use the mask. A loop whose lanes leave at different times compacts the
// remaining lanes when half of them have left.
//
// Rows shorter than a tile are run several at a time, unless the program
// reduces along them.
package interp

import (
	"sync"
	"unsafe"

	"weft/internal/loop"
)

// Tile is the number of lanes that run at a time. It divides [numbers.Block] and is
// a multiple of the virtual lanes of a reduction, so that a tile never straddles
// a block and lane i of a tile always goes to virtual lane i mod V.
const Tile = 512

// A Kernel is a program made ready to run. It is immutable and safe for
// concurrent use.
type Kernel struct {
	p     *loop.Program
	plain *code

	canGroup bool
	once     sync.Once
	grouped  *code // several rows a tile; made on first use
}

// Compile makes a kernel of a program that [loop.Verify] accepts. The program
// must not change afterwards.
func Compile(p *loop.Program) *Kernel {
	return &Kernel{p: p, plain: compile(p, false), canGroup: groupable(p)}
}

// Program returns the program that the kernel runs.
func (k *Kernel) Program() *loop.Program { return k.p }

// Run runs the chunk that the frame describes: its pointers, extents, starts,
// strides and scalars are laid out as for machine code. The resume word is not
// used. Loops burn fuel from word [loop.WordFuel], one unit
// for each time around a tile; when it is used up, Run calls refill, which
// stores new fuel in that word, or returns false to give up: then Run returns
// false and the outputs are half written. A nil refill always goes on.
func (k *Kernel) Run(f *loop.Frame, refill func() bool) (done bool) {
	c := k.plain
	if k.canGroup && k.wantGroup(f) {
		k.once.Do(func() { k.grouped = compile(k.p, true) })
		c = k.grouped
	}
	m := c.get()
	m.start(f, refill)
	if c.grouped {
		m.rowGroups()
	} else {
		m.rowsOneByOne()
	}
	done = !m.stop
	c.put(m)
	return done
}

// wantGroup reports whether the rows of the frame are short enough that several fit into a tile.
func (k *Kernel) wantGroup(f *loop.Frame) bool {
	lane := f.Word[k.p.ExtentWord(k.p.Lane)]
	return lane > 0 && lane <= Tile/2 && f.Word[k.p.ExtentWord(k.p.Lane-1)] > 1
}

// groupable reports whether rows may share a tile. Requires an outer axis and one pass, and no
// effect outside it.
func groupable(p *loop.Program) bool {
	passes, effects := 0, false
	for _, v := range p.Body {
		inPass := p.Ins[v].Op == loop.OpPass
		if inPass {
			passes++
		}
		p.Walk([]loop.Value{v}, func(_ loop.Value, in *loop.Ins) {
			switch in.Op {
			case loop.OpStore, loop.OpStoreAt:
				effects = effects || !inPass
			case loop.OpReduce:
				effects = true
			}
		})
	}
	return !effects && passes == 1 && p.Lane > 0 && p.Ragged() < 0
}

// rowsOneByOne runs the body for each index of the outer axes.
func (m *machine) rowsOneByOne() {
	lane := m.c.p.Lane
	for a := 0; a < lane; a++ {
		if m.ext[a] <= 0 {
			return
		}
	}
	for {
		m.n = 1
		m.ragged()
		m.exec(m.c.body)
		if m.stop || !m.step(lane-1, 1) {
			return
		}
	}
}

// rowGroups runs the body for groups of rows along the last outer axis.
func (m *machine) rowGroups() {
	lane := m.c.p.Lane
	for a := 0; a <= lane; a++ {
		if m.ext[a] <= 0 {
			return
		}
	}
	m.inner = m.ext[lane]
	group := Tile / m.inner
	for {
		m.rows = min(group, m.ext[lane-1]-m.idx[lane-1])
		m.n = m.rows * m.inner
		m.exec(m.c.body)
		if m.stop || !m.step(lane-1, m.rows) {
			return
		}
	}
}

// ragged reads the begin and end of the ragged axis in this row.
func (m *machine) ragged() {
	p := m.c.p
	a := m.c.ragged
	if a < 0 {
		return
	}
	of := p.Axes[a].Offsets - 1
	at := (*[2]int64)(unsafe.Add(m.f.Ptr[of], m.off[of]))
	m.ext[a] = int(at[1] - at[0])
	for b := range p.Bufs {
		m.begin[b] = int(at[0]) * m.stride[b][a]
	}
}

// step advances the indices by n along axis a, with carry into the axes before it. It reports false
// at the end.
func (m *machine) step(a, n int) bool {
	for ; a >= 0; a-- {
		m.idx[a] += n
		if m.idx[a] < m.ext[a] {
			for b := range m.c.bufs {
				m.off[b] += n * m.stride[b][a]
			}
			return true
		}
		back := m.idx[a] - n
		m.idx[a] = 0
		for b := range m.c.bufs {
			m.off[b] -= back * m.stride[b][a]
		}
		n = 1
	}
	return false
}

// passStep runs a pass: its body tile by tile, then the ends of its reductions.
func passStep(m *machine, in *instr) {
	lanes := m.ext[m.c.p.Lane]
	for _, r := range in.reds {
		m.red[r].reset(&m.c.reds[r])
	}
	m.rows = 1
	for t := 0; t < lanes; t += Tile {
		m.t0 = t
		m.inner = min(Tile, lanes-t)
		m.n = m.inner
		m.exec(in.body)
		if m.stop {
			return
		}
	}
	m.t0, m.n = 0, 1
	for _, r := range in.reds {
		m.red[r].finish(&m.c.reds[r])
		setBits(&m.uni[m.c.reds[r].cell], m.c.reds[r].typ, m.red[r].result)
	}
}

// setBits puts the bits of a value of type t into a cell, where [vec] finds it.
func setBits(cell *uint64, t loop.Type, bits uint64) {
	switch t {
	case loop.B, loop.I8:
		*(*uint8)(unsafe.Pointer(cell)) = uint8(bits)
	case loop.I16:
		*(*uint16)(unsafe.Pointer(cell)) = uint16(bits)
	case loop.I32, loop.F32:
		*(*uint32)(unsafe.Pointer(cell)) = uint32(bits)
	default:
		*cell = bits
	}
}
