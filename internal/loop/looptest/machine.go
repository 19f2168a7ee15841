package looptest

import (
	"encoding/binary"
	"math"
	"unsafe"

	"weft/internal/array"
	"weft/internal/loop"
)

// A Machine runs a program one lane after the other, as the comments of package loop read,
// with nothing shared between lanes: no tiles, no masks.
type Machine struct {
	Values []uint64           // of the lane in hand, by value
	Index  [loop.MaxAxes]int  // of the axes that are being walked
	Trips  []int              // of the loops around
	See    func(v loop.Value) // if not nil, called for values that have been computed

	p        *loop.Program
	f        *loop.Frame
	elements [][]uint64     // of the reductions of the pass in hand, by value
	outs     [][]loop.Value // the OpOut of an instruction, by value
	next     []uint64       // see assign
}

// New returns a machine for a program and its frame.
func New(p *loop.Program, f *loop.Frame) *Machine {
	n := len(p.Ins)
	m := &Machine{p: p, f: f, Values: make([]uint64, n), elements: make([][]uint64, n), outs: make([][]loop.Value, n)}
	for v := range p.Ins {
		if in := &p.Ins[v]; in.Op == loop.OpOut {
			m.outs[in.A] = append(m.outs[in.A], loop.Value(v))
		}
	}
	return m
}

// Run runs the program.
func (m *Machine) Run() { m.rows(0) }

// extent returns the length of an axis, in the row in hand.
func (m *Machine) extent(a int) int {
	if lo, hi, ok := m.item(a); ok {
		return hi - lo
	}
	return int(m.f.Word[m.p.ExtentWord(a)])
}

// item returns where the axis begins and ends in the row in hand, if offsets say that.
func (m *Machine) item(a int) (lo, hi int, ok bool) {
	of := m.p.Axes[a].Offsets
	if of == 0 {
		return 0, 0, false
	}
	at := m.address(uint64(of-1), 0)
	return int(*(*int64)(at)), int(*(*int64)(unsafe.Add(at, 8))), true
}

// rows walks the axes from this one on.
func (m *Machine) rows(axis int) {
	if axis == m.p.Lane {
		m.block(m.p.Body)
		return
	}
	for i := range m.extent(axis) {
		m.Index[axis] = i
		m.rows(axis + 1)
	}
}

// address returns where an element of a buffer is.
func (m *Machine) address(buf uint64, offset uint64) unsafe.Pointer {
	b := &m.p.Bufs[buf]
	at := int(offset) * b.DType.Size()
	for a, step := range b.Steps {
		if step != loop.Zero {
			lo, _, _ := m.item(a)
			at += (lo + m.Index[a]) * int(m.f.Word[m.p.StrideWord(int(buf), a)])
		}
	}
	return unsafe.Add(m.f.Ptr[buf], at)
}

// offset returns the value of an offset, 0 if there is none.
func (m *Machine) offset(v loop.Value) uint64 {
	if v == loop.NoValue {
		return 0
	}
	return uint64(Int(m.p.Ins[v].Type, m.Values[v]))
}

func (m *Machine) block(b []loop.Value) {
	for _, v := range b {
		m.ins(v)
		if m.See != nil {
			m.See(v)
		}
	}
}

// ins runs an instruction.
func (m *Machine) ins(v loop.Value) {
	in := &m.p.Ins[v]
	get := func(x loop.Value) uint64 {
		if x == loop.NoValue {
			return 0
		}
		return m.Values[x]
	}
	a, b, c := get(in.A), get(in.B), get(in.C)
	switch in.Op {
	case loop.OpConst:
		m.Values[v] = in.Imm
	case loop.OpScalar:
		m.Values[v] = m.f.Word[m.p.ScalarWord(int(in.Imm))]
	case loop.OpIndex:
		m.Values[v] = uint64(m.Index[in.Imm]) + m.f.Word[m.p.StartWord(int(in.Imm))]
	case loop.OpLoad, loop.OpLoadAt:
		m.Values[v] = element(m.p.Bufs[in.Imm].DType, m.address(in.Imm, m.offset(in.A)))
	case loop.OpStore:
		setElement(m.p.Bufs[in.Imm].DType, m.address(in.Imm, 0), a)
	case loop.OpStoreAt:
		setElement(m.p.Bufs[in.Imm].DType, m.address(in.Imm, m.offset(in.B)), a)
	case loop.OpLookup:
		table := m.p.Tables[in.Imm].Bits
		m.Values[v] = table[a%uint64(len(table))]
	case loop.OpReduce:
		m.elements[v] = append(m.elements[v], a)
	case loop.OpPass:
		m.pass(m.p.Region(in))
	case loop.OpIf:
		r := m.p.Region(in)
		body, next := r.Else, r.ElseNext
		if m.Values[r.Cond] != 0 {
			body, next = r.Body, r.Next
		}
		m.block(body)
		m.results(v, next)
	case loop.OpLoop:
		r := m.p.Region(in)
		m.loop(r)
		m.results(v, r.Params)
	case loop.OpOut:
	default:
		from := in.Type
		if in.A != loop.NoValue {
			from = m.p.Ins[in.A].Type
		}
		m.Values[v] = Eval(in.Op, in.Imm, in.Type, from, a, b, c)
	}
}

// pass runs a pass, and reduces what it was given.
func (m *Machine) pass(r *loop.Region) {
	for _, x := range r.Body {
		m.elements[x] = m.elements[x][:0]
	}
	for i := range m.extent(m.p.Lane) {
		m.Index[m.p.Lane] = i
		m.block(r.Body)
	}
	m.Index[m.p.Lane] = 0
	for _, x := range r.Body {
		if in := &m.p.Ins[x]; in.Op == loop.OpReduce {
			m.Values[x] = Reduce(loop.Reduction(in.Imm), in.Type, m.elements[x])
		}
	}
}

// loop runs a loop, whose results are its parameters then.
func (m *Machine) loop(r *loop.Region) {
	m.assign(r.Params, r.Init)
	m.Trips = append(m.Trips, 0)
	for i := 0; ; i++ {
		m.Trips[len(m.Trips)-1] = i
		if r.Axis >= 0 {
			if i >= m.extent(r.Axis) {
				break
			}
			m.Index[r.Axis] = i
		}
		for _, q := range r.Params {
			if m.See != nil {
				m.See(q)
			}
		}
		m.block(r.Head)
		if r.Cond != loop.NoValue && m.Values[r.Cond] == 0 {
			break
		}
		m.block(r.Body)
		m.assign(r.Params, r.Next)
	}
	m.Trips = m.Trips[:len(m.Trips)-1]
	if r.Axis >= 0 {
		m.Index[r.Axis] = 0
	}
}

// assign sets all of to at once.
func (m *Machine) assign(to, from []loop.Value) {
	m.next = m.next[:0]
	for _, v := range from {
		m.next = append(m.next, m.Values[v])
	}
	for i, v := range to {
		m.Values[v] = m.next[i]
	}
}

// results sets the OpOut of an instruction.
func (m *Machine) results(of loop.Value, from []loop.Value) {
	for _, v := range m.outs[of] {
		m.Values[v] = m.Values[from[m.p.Ins[v].Imm]]
	}
}

// element returns an element of memory as a lane.
func element(d array.DType, p unsafe.Pointer) uint64 {
	b := unsafe.Slice((*byte)(p), d.Size())
	switch d {
	case array.Bool, array.Uint8, array.Int8:
		return uint64(b[0])
	case array.Int16, array.Uint16:
		return uint64(binary.LittleEndian.Uint16(b))
	case array.Float16, array.BFloat16:
		return uint64(math.Float32bits(float32(Half(d, binary.LittleEndian.Uint16(b)))))
	}
	if d.Size() == 4 {
		return uint64(binary.LittleEndian.Uint32(b))
	}
	return binary.LittleEndian.Uint64(b)
}

// setElement writes a lane to memory.
func setElement(d array.DType, p unsafe.Pointer, x uint64) {
	b := unsafe.Slice((*byte)(p), d.Size())
	if d.Half() {
		x = uint64(ToHalf(d, Float(loop.F32, x)))
	}
	for i := range b {
		b[i] = byte(x >> (8 * i))
	}
}
