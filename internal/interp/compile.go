package interp

import (
	"weft/internal/array"
	"weft/internal/loop"
)

// A compiler turns a program into code. It walks the program twice in the same
// order: [compiler.analyze] finds what is uniform and how long values live, and
// [compiler.block] emits steps and assigns registers.
type compiler struct {
	p       *loop.Program
	c       *code
	grouped bool

	uniformValue []bool // by value: loop.Program.Uniform, without leaving
	uniformRoot  []bool // by root: it has a cell and not a register
	root         []int  // by value: the value whose register it shares
	typ          []loop.Type
	operand      []opd // by root
	first        []int // by root: loops around the definition
	last         []int // by root: the position of the last use
	at, end      []int // by instruction: its position, and the position behind its region
	cond         []int // by instruction: the position behind a loop's head
	results      [][]int
	pos          int
	loops        []loop.Value // being walked
	extend       map[loop.Value][]int
	live         map[loop.Value][]int // by loop: values from outside in registers
	stores       []int                // positions
	reduces      []int                // of the pass being emitted

	active []assigned
	free   map[class][]opd
}

// class is the kind of a register: the bytes of a lane, and whether it may point
// into a buffer.
type class struct {
	size   int32
	direct bool
}

type assigned struct {
	reg  opd
	last int
}

// compile makes the code of a program, for rows one by one or in groups.
func compile(p *loop.Program, grouped bool) *code {
	n := len(p.Ins)
	k := &compiler{
		p: p, grouped: grouped,
		c:           &code{p: p, grouped: grouped, ragged: p.Ragged(), regs: []int32{0}, memory: 1},
		uniformRoot: make([]bool, n), root: make([]int, n), typ: make([]loop.Type, n),
		operand: make([]opd, n), first: make([]int, n), last: make([]int, n),
		at: make([]int, n), end: make([]int, n), cond: make([]int, n), results: make([][]int, n),
		extend: map[loop.Value][]int{}, live: map[loop.Value][]int{}, free: map[class][]opd{},
	}
	for i := range p.Ins {
		k.root[i], k.typ[i] = i, p.Ins[i].Type
	}
	for b := range p.Bufs {
		var info bufInfo
		for a, s := range p.Bufs[b].Steps {
			if a > p.Lane && s != loop.Zero {
				info.serial = append(info.serial, a)
			}
		}
		k.c.bufs = append(k.c.bufs, info)
	}
	first := p.Lane
	if grouped {
		first--
	}
	k.uniformValue = p.Uniform(first, false)
	copy(k.uniformRoot, k.uniformValue)
	k.analyze(p.Body)
	k.pos = 0
	k.c.body = k.block(p.Body, grouped)
	for _, size := range k.c.regs {
		k.c.memory += int(size) * Tile / 8
	}
	return k.c
}

func (k *compiler) analyze(block []loop.Value) {
	for _, v := range block {
		in := &k.p.Ins[v]
		k.pos++
		k.at[v] = k.pos
		k.last[v], k.first[v] = k.pos, len(k.loops)
		switch in.Op {
		case loop.OpPass:
			k.analyze(k.p.Region(in).Body)
			continue
		case loop.OpIf:
			k.analyzeIf(v, k.p.Region(in))
			continue
		case loop.OpLoop:
			k.analyzeLoop(v, k.p.Region(in))
			continue
		case loop.OpOut:
			k.root[v] = k.results[in.A][in.Imm]
			continue
		case loop.OpStore, loop.OpStoreAt:
			k.stores = append(k.stores, k.pos)
		}
		for _, o := range operands(in) {
			k.use(o)
		}
	}
}

func operands(in *loop.Ins) []loop.Value {
	all := [...]loop.Value{in.A, in.B, in.C}
	n := 0
	for n < len(all) && all[n] != loop.NoValue {
		n++
	}
	return all[:n]
}

// use extends the live range of a value to the current position. A value from outside a loop lives
// until the end of the loop.
func (k *compiler) use(v loop.Value) {
	r := k.root[v]
	if k.uniformRoot[r] {
		return
	}
	k.last[r] = max(k.last[r], k.pos)
	for _, l := range k.loops[min(k.first[r], len(k.loops)):] {
		k.extend[l] = append(k.extend[l], r)
	}
}

// result makes a value of its own for a result of an if.
func (k *compiler) result(t loop.Type, same bool) int {
	r := len(k.root)
	k.root = append(k.root, r)
	k.typ = append(k.typ, t)
	k.uniformRoot = append(k.uniformRoot, same)
	k.operand = append(k.operand, none)
	k.first = append(k.first, len(k.loops))
	k.last = append(k.last, k.pos)
	return r
}

func (k *compiler) analyzeIf(v loop.Value, r *loop.Region) {
	k.analyze(r.Body)
	k.analyze(r.Else)
	k.pos++
	k.end[v] = k.pos
	k.use(r.Cond) // until here it serves as mask
	for i := range r.Next {
		k.use(r.Next[i])
		k.use(r.ElseNext[i])
		k.results[v] = append(k.results[v], k.result(k.p.Ins[r.Next[i]].Type, k.p.UniformResult(k.uniformValue, r, i)))
	}
}

func (k *compiler) analyzeLoop(v loop.Value, r *loop.Region) {
	for i, x := range r.Init {
		k.use(x)
		// A param lives outside, where it becomes the result.
		q := r.Params[i]
		k.first[q], k.last[q] = len(k.loops), k.pos
		k.results[v] = append(k.results[v], int(q))
	}
	k.loops = append(k.loops, v)
	k.analyze(r.Head)
	k.pos++
	k.cond[v] = k.pos
	if r.Cond != loop.NoValue {
		k.use(r.Cond)
	}
	k.analyze(r.Body)
	k.pos++
	for _, x := range r.Next {
		k.use(x)
	}
	k.loops = k.loops[:len(k.loops)-1]
	k.pos++
	k.end[v] = k.pos
	isParam := map[int]bool{}
	for _, q := range r.Params {
		k.last[q] = k.pos
		isParam[int(q)] = true
	}
	seen := map[int]bool{}
	for _, x := range k.extend[v] {
		k.last[x] = max(k.last[x], k.pos)
		if !isParam[x] && !seen[x] {
			seen[x] = true
			k.live[v] = append(k.live[v], x)
		}
	}
}

// expire gives back the registers of values that are last used at or before the
// position.
func (k *compiler) expire(pos int) {
	kept := k.active[:0]
	for _, a := range k.active {
		if a.last > pos {
			kept = append(kept, a)
			continue
		}
		c := k.classOf(a.reg)
		k.free[c] = append(k.free[c], a.reg)
	}
	k.active = kept
}

func (k *compiler) classOf(reg opd) class {
	for _, d := range k.c.direct {
		if d == int32(reg) {
			return class{k.c.regs[reg], true}
		}
	}
	return class{k.c.regs[reg], false}
}

// register returns a register that is taken until the position last.
func (k *compiler) register(c class, last int) opd {
	var r opd
	if f := k.free[c]; len(f) > 0 {
		r = f[len(f)-1]
		k.free[c] = f[:len(f)-1]
	} else {
		r = opd(len(k.c.regs))
		k.c.regs = append(k.c.regs, c.size)
		if c.direct {
			k.c.direct = append(k.c.direct, int32(r))
		}
	}
	k.active = append(k.active, assigned{r, last})
	return r
}

// cell returns a new cell, which holds a uniform value.
func (k *compiler) cell() opd {
	k.c.cells++
	return ^opd(k.c.cells - 1)
}

func size(t loop.Type) int32 { return int32(max(t.Size(), 1)) }

// assign gives a value a cell if it is uniform, else a register.
func (k *compiler) assign(r int, direct bool) opd {
	if k.uniformRoot[r] {
		k.operand[r] = k.cell()
	} else {
		k.operand[r] = k.register(class{size(k.typ[r]), direct}, k.last[r])
	}
	return k.operand[r]
}

func (k *compiler) of(v loop.Value) opd {
	if v == loop.NoValue {
		return none
	}
	return k.operand[k.root[v]]
}

// block emits the steps of a block.
func (k *compiler) block(b []loop.Value, pass bool) []instr {
	out := make([]instr, 0, k.steps(b)) // of programs with thousands of steps, growth would leave half as garbage
	for _, v := range b {
		in := &k.p.Ins[v]
		switch in.Op {
		case loop.OpConst:
			k.c.consts = append(k.c.consts, cellInit{int(^k.assign(int(v), false)), in.Type, in.Imm})
		case loop.OpScalar:
			k.c.scalars = append(k.c.scalars, cellInit{int(^k.assign(int(v), false)), in.Type, uint64(k.p.ScalarWord(int(in.Imm)))})
		case loop.OpOut:
		case loop.OpPass:
			if k.grouped {
				out = append(out, k.block(k.p.Region(in).Body, true)...)
				continue
			}
			k.reduces = nil
			s := instr{run: passStep, part: &part{body: k.block(k.p.Region(in).Body, true)}}
			s.reds = k.reduces
			out = append(out, s)
		case loop.OpIf:
			out = append(out, k.ifCode(v, k.p.Region(in), pass))
		case loop.OpLoop:
			out = append(out, k.loopCode(v, k.p.Region(in), pass))
		default:
			out = append(out, k.simple(v, in, pass))
		}
	}
	return out
}

// steps returns how many steps block emits. A pass counts as one.
func (k *compiler) steps(b []loop.Value) int {
	n := 0
	for _, v := range b {
		switch k.p.Ins[v].Op {
		case loop.OpConst, loop.OpScalar, loop.OpOut:
		default:
			n++
		}
	}
	return n
}

// simple emits an instruction that is one step.
func (k *compiler) simple(v loop.Value, in *loop.Ins, pass bool) instr {
	s := instr{a: k.of(in.A), b: k.of(in.B), c: k.of(in.C)}
	k.expire(k.at[v]) // the result may take the place of an operand
	switch in.Op {
	case loop.OpStore, loop.OpStoreAt:
		s.buf = int32(in.Imm)
		s.short = in.Op == loop.OpStoreAt && k.p.Ins[in.B].Type == loop.I32
		s.run = storeFor(k.p.Bufs[s.buf].DType, k.p.Ins[in.A].Type)
		if !pass {
			s.run = storeOnce(s.run)
		}
		return s
	case loop.OpReduce:
		d := k.assign(int(v), false)
		s.run, s.part = reduceStep, &part{reds: []int{len(k.c.reds)}}
		k.reduces = append(k.reduces, len(k.c.reds))
		k.c.reds = append(k.c.reds, redInfo{loop.Reduction(in.Imm), in.Type, int(^d)})
		return s
	case loop.OpLoad, loop.OpLoadAt:
		s.buf = int32(in.Imm)
		s.short = in.Op == loop.OpLoadAt && k.p.Ins[in.A].Type == loop.I32
		d := k.p.Bufs[s.buf].DType
		s.run = loadFor(d, in.Type)
		direct := isDirect(d, in.Type) && !k.uniformRoot[v] && s.a <= none && !k.storeBetween(k.at[v], k.last[v])
		s.d = k.assign(int(v), direct)
		if direct {
			s.part = &part{copied: s.run}
			s.run = sized(in.Type, directLoad[uint8], directLoad[uint16], directLoad[uint32], directLoad[uint64])
		}
		return s
	case loop.OpLookup:
		s.run = lookupStep(k.p.Tables[in.Imm])
	case loop.OpIndex:
		s.run, s.axis = indexStep, int32(in.Imm)
	default:
		from := in.Type
		if in.A != loop.NoValue {
			from = k.p.Ins[in.A].Type
		}
		s.run = pureStep(in, from)
	}
	s.d = k.assign(int(v), false)
	return s
}

// isDirect reports whether an element of type d has the same bytes in memory as a value of type t in
// a register, so that a load need not copy.
func isDirect(d array.DType, t loop.Type) bool { return d.Size() == t.Size() }

// storeBetween reports whether something is stored after position from and
// before position to.
func (k *compiler) storeBetween(from, to int) bool {
	for _, s := range k.stores {
		if s > from && s < to {
			return true
		}
	}
	return false
}

func (k *compiler) ifCode(v loop.Value, r *loop.Region, pass bool) instr {
	k.expire(k.at[v] - 1)
	f := &ifCode{
		cond:    k.of(r.Cond),
		mask:    k.register(class{size: 1}, k.end[v]),
		hasElse: len(r.Else) > 0,
	}
	f.body = k.block(r.Body, pass)
	f.els = k.block(r.Else, pass)
	for i := range r.Next {
		res := k.results[v][i]
		f.results = append(f.results, merge{k.assign(res, false), k.of(r.Next[i]), k.of(r.ElseNext[i]), size(k.typ[res])})
	}
	k.expire(k.end[v])
	return instr{run: ifStep, part: &part{cf: f}}
}

func (k *compiler) loopCode(v loop.Value, r *loop.Region, pass bool) instr {
	k.expire(k.at[v] - 1)
	end := k.end[v]
	l := &loopCode{axis: r.Axis, conditional: r.Cond != loop.NoValue, fuel: k.p.Fuel(r), saved: k.c.saved}
	number := map[int]int{} // of a param
	for i, q := range r.Params {
		t := k.typ[q]
		c := carry{init: k.of(r.Init[i]), size: size(t)}
		c.param = k.assign(int(q), false)
		if l.conditional {
			c.spare = k.register(class{size: c.size}, end)
		}
		l.carried = append(l.carried, c)
		number[int(q)] = i
	}
	if l.conditional {
		l.mask = k.register(class{size: 1}, end)
		l.from = k.register(class{size: 4}, end)
		l.ids = k.register(class{size: 4}, end)
		for _, x := range k.live[v] {
			s := size(k.typ[x])
			l.live = append(l.live, spare{k.operand[x], k.register(class{size: s}, end), s})
		}
		k.c.saved += len(l.carried) + len(l.live)
	}
	l.head = k.block(r.Head, pass)
	if l.conditional {
		l.cond = k.of(r.Cond)
		l.heads = k.headValues(v, r)
	}
	l.body = k.block(r.Body, pass)
	for i, x := range r.Next {
		c := &l.carried[i]
		c.next = k.of(x)
		// A param that has been overwritten when its turn comes.
		if j, ok := number[k.root[x]]; ok && j < i {
			var t opd
			if k.uniformRoot[k.root[x]] {
				t = k.cell()
			} else {
				t = k.register(class{size: c.size}, end)
			}
			l.temps = append(l.temps, temp{t, c.next, c.size})
			c.next = t
		}
	}
	k.expire(end)
	return instr{run: loopStep, part: &part{loop: l}}
}

// headValues lists the registers that the head fills and the body reads.
func (k *compiler) headValues(v loop.Value, r *loop.Region) []spare {
	var out []spare
	add := func(x int) {
		if !k.uniformRoot[x] && k.operand[x] > none && k.last[x] > k.cond[v] {
			out = append(out, spare{reg: k.operand[x], size: size(k.typ[x])})
		}
	}
	for _, x := range r.Head {
		switch k.p.Ins[x].Op {
		case loop.OpIf, loop.OpLoop:
			for _, y := range k.results[x] {
				add(y)
			}
		case loop.OpOut, loop.OpStore, loop.OpStoreAt:
		default:
			add(int(x))
		}
	}
	return out
}
