package grid

import (
	"encoding/binary"
	"fmt"
	"iter"
	"math"

	"weft/internal/array"
	"weft/internal/loop"
	"weft/internal/loop/looptest"
)

// A machine runs kernels one thread at a time. Between two points where threads exchange values or
// wait, a thread runs alone as far as it can, and so does a warp between two barriers of its block.
// What lacks a barrier so shows. Addresses are checked: memory i lies at (i+1)<<40.
type machine struct {
	k        *Kernel
	args     []byte
	memory   [][]byte
	blocks   int
	backward bool // threads and warps run in descending order
	steps    int  // instructions left

	sync map[*Ins]bool // instructions that need the whole warp, or have such inside
}

// A warpState is a warp while it runs.
type warpState struct {
	m      *machine
	block  int
	warp   int
	shared []byte
	reg    [Warp][]uint64
	done   [Warp]bool
	yield  func(struct{}) bool
}

type machineError string

func (m *machine) fail(format string, x ...any) { panic(machineError(fmt.Sprintf(format, x...))) }

// run runs all blocks.
func (m *machine) run() (err error) {
	defer func() {
		if r := recover(); r != nil {
			e, ok := r.(machineError)
			if !ok {
				panic(r)
			}
			err = fmt.Errorf("%s: %s", m.k.Name, string(e))
		}
	}()
	m.sync = map[*Ins]bool{}
	m.mark(m.k.Body)
	for b := range m.blocks {
		m.runBlock(b)
	}
	return nil
}

func (m *machine) mark(b []Ins) (any bool) {
	for i := range b {
		in := &b[i]
		s := false
		switch in.Op {
		case Barrier, WarpBarrier, ShuffleDown, ShuffleXor, ShuffleLane, Any, All, MMA:
			s = true
		}
		for _, inner := range [][]Ins{in.Head, in.Body, in.Else} {
			s = m.mark(inner) || s
		}
		m.sync[in] = s
		any = any || s
	}
	return any
}

// order returns 0 to n-1 in the order in which the machine runs.
func (m *machine) order(n int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for i := range n {
			if m.backward {
				i = n - 1 - i
			}
			if !yield(i) {
				return
			}
		}
	}
}

func (m *machine) runBlock(block int) {
	shared := make([]byte, m.k.Shared)
	n := m.k.Threads / Warp
	next := make([]func() (struct{}, bool), n)
	for w := range n {
		s := &warpState{m: m, block: block, warp: w, shared: shared}
		for t := range s.reg {
			s.reg[t] = make([]uint64, len(m.k.Types))
		}
		resume, stop := iter.Pull(func(yield func(struct{}) bool) {
			s.yield = yield
			s.exec(m.k.Body)
		})
		defer stop()
		next[w] = resume
	}
	for live := true; live; {
		waiting := 0
		for w := range m.order(n) {
			if _, ok := next[w](); ok {
				waiting++
			}
		}
		if waiting > 0 && waiting < n {
			m.fail("%d of %d warps wait at a barrier", waiting, n)
		}
		live = waiting > 0
	}
}

// exec runs a block of instructions on the whole warp.
func (s *warpState) exec(b []Ins) {
	for i := 0; i < len(b); {
		j := i
		for j < len(b) && !s.m.sync[&b[j]] {
			j++
		}
		if i < j {
			for t := range s.m.order(Warp) {
				if !s.done[t] {
					s.done[t] = s.thread(b[i:j], t)
				}
			}
			if s.done[0] {
				for _, d := range s.done {
					if !d {
						s.m.fail("some threads of a warp have returned")
					}
				}
				return
			}
			i = j
			continue
		}
		s.together(&b[i])
		if s.done[0] {
			return
		}
		i++
	}
}

func (s *warpState) agree(r Reg) bool {
	for t := range Warp {
		if s.reg[t][r] != s.reg[0][r] {
			s.m.fail("lanes do not agree on register %d", r)
		}
	}
	return s.reg[0][r] != 0
}

// together runs an instruction that needs the whole warp.
func (s *warpState) together(in *Ins) {
	var a [Warp]uint64
	for t := range a {
		a[t] = s.reg[t][in.A]
	}
	switch in.Op {
	case Barrier:
		s.yield(struct{}{})
	case WarpBarrier:
	case ShuffleDown, ShuffleXor, ShuffleLane:
		for t := range Warp {
			from := t + int(in.Imm)
			switch in.Op {
			case ShuffleXor:
				from = t ^ int(in.Imm)
			case ShuffleLane:
				from = int(s.reg[t][in.B] % Warp)
			}
			if from >= Warp {
				from = t
			}
			s.reg[t][in.Dst] = a[from]
		}
	case Any, All:
		n := uint64(0)
		for _, x := range a {
			n += x
		}
		x := uint64(0)
		if in.Op == Any && n > 0 || n == Warp {
			x = 1
		}
		for t := range Warp {
			s.reg[t][in.Dst] = x
		}
	case If:
		if s.agree(in.A) {
			s.exec(in.Body)
		} else {
			s.exec(in.Else)
		}
	case While:
		for {
			s.exec(in.Head)
			if s.done[0] || !s.agree(in.A) {
				return
			}
			s.exec(in.Body)
			if s.done[0] {
				return
			}
		}
	default:
		s.m.fail("operation %d", in.Op)
	}
}

// thread runs instructions of one thread, and reports whether it has returned.
func (s *warpState) thread(b []Ins, t int) bool {
	reg := s.reg[t]
	for i := range b {
		in := &b[i]
		if s.m.steps--; s.m.steps < 0 {
			s.m.fail("does not end")
		}
		switch in.Op {
		case Compute:
			reg[in.Dst] = s.m.compute(in, reg)
		case Move:
			reg[in.Dst] = reg[in.A]
		case ThreadIndex:
			reg[in.Dst] = uint64(s.warp*Warp + t)
		case BlockIndex:
			reg[in.Dst] = uint64(s.block)
		case Blocks:
			reg[in.Dst] = uint64(s.m.blocks)
		case Arg:
			x := s.m.args[in.Imm:]
			if s.m.k.Types[in.Dst].Size() == 4 {
				reg[in.Dst] = uint64(binary.LittleEndian.Uint32(x))
			} else {
				reg[in.Dst] = binary.LittleEndian.Uint64(x)
			}
		case Load, Store:
			s.access(in, reg)
		case If:
			body := in.Else
			if reg[in.A] != 0 {
				body = in.Body
			}
			if s.thread(body, t) {
				return true
			}
		case While:
			for {
				if s.thread(in.Head, t) {
					return true
				}
				if reg[in.A] == 0 {
					break
				}
				if s.thread(in.Body, t) {
					return true
				}
			}
		case Return:
			return true
		default:
			s.m.fail("operation %d of a thread", in.Op)
		}
	}
	return false
}

func (m *machine) compute(in *Ins, reg []uint64) uint64 {
	t, a := m.k.Types[in.Dst], reg[in.A]
	switch in.Loop {
	case loop.OpConst:
		return uint64(in.Imm)
	case loop.OpLookup:
		table := m.k.Tables[in.Imm].Bits
		return table[a%uint64(len(table))]
	case loop.OpAdd, loop.OpMul: // most of them, of addresses
		if t == loop.I64 {
			if in.Loop == loop.OpAdd {
				return a + reg[in.B]
			}
			return a * reg[in.B]
		}
	}
	return looptest.Eval(in.Loop, uint64(in.Imm), t, m.k.Types[in.A], a, reg[in.B], reg[in.C])
}

// access runs a load or store.
func (s *warpState) access(in *Ins, reg []uint64) {
	on := in.Pred == NoReg || reg[in.Pred] != 0
	if !on {
		if in.Op == Load {
			for _, r := range in.Regs {
				reg[r] = 0
			}
		}
		return
	}
	at, size := reg[in.A]+uint64(in.Imm), in.Elem.Size()
	total := uint64(size * len(in.Regs))
	mem := s.shared
	if in.Space == Global {
		if i := at>>40 - 1; i < uint64(len(s.m.memory)) {
			mem = s.m.memory[i]
		} else {
			mem = nil
		}
		at &= 1<<40 - 1
	}
	if at+total > uint64(len(mem)) {
		s.m.fail("address %#x of %d bytes, memory of %d", reg[in.A]+uint64(in.Imm), total, len(mem))
	}
	if len(in.Regs) > 1 && at%total != 0 {
		s.m.fail("vector of %d bytes at %#x", total, at)
	}
	for i, r := range in.Regs {
		b := mem[int(at)+i*size:][:size]
		if in.Op == Load {
			reg[r] = loadElem(in.Elem, b)
			continue
		}
		x := reg[r]
		if in.Elem == Half || in.Elem == BHalf {
			x = uint64(looptest.ToHalf(halfType(in.Elem), looptest.Float(loop.F32, x)))
		}
		for j := range b {
			b[j] = byte(x >> (8 * j))
		}
	}
}

func halfType(e Elem) array.DType {
	if e == Half {
		return array.Float16
	}
	return array.BFloat16
}

func loadElem(e Elem, b []byte) uint64 {
	x := uint64(0)
	for i, y := range b {
		x |= uint64(y) << (8 * i)
	}
	switch e {
	case S8:
		return uint64(uint32(int8(x)))
	case S16:
		return uint64(uint32(int16(x)))
	case Half, BHalf:
		return uint64(math.Float32bits(float32(looptest.Half(halfType(e), uint16(x)))))
	}
	return x
}
