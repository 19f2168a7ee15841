package ptxsim

import "slices"

// A kernel is a compiled entry of a module.
type kernel struct {
	name         string
	m            *module
	vars         map[string]*variable // parameters and shared memory of the kernel
	paramBytes   int
	shared       int // bytes of static shared memory
	maxThreads   int
	exactThreads bool

	code      []ins
	registers int
	preds     int
	constants []fixedRegister
	specials  []fixedSpecial
	dynamic   []int // constant registers that hold the address of dynamic shared memory
}

// A fixedRegister is a register that holds a constant.
type fixedRegister struct {
	reg  int
	bits uint64
}

type fixedSpecial struct {
	reg int
	id  specialID
}

// A step executes an instruction in the lanes of mask, which is not 0.
type step func(w *warp, mask uint32)

// An insKind tells the instructions that change the flow of control apart.
type insKind uint8

const (
	plain insKind = iota
	branch
	leave   // ret and exit
	barrier // bar.sync
)

// An ins is a compiled instruction.
type ins struct {
	kind    insKind
	not     bool // of the guard
	uniform bool // of a branch
	guard   int32
	target  int32 // of a branch
	rejoin  int32 // of a branch: where its lanes meet again
	id      int32 // of a barrier
	line    int32
	exec    step

	reads, writes, predReads []int32
}

type register struct {
	index int
	typ   typ
}

// A builder compiles the instructions of a kernel.
type builder struct {
	m      *module
	k      *kernel
	scopes []map[string]register
	fixed  map[uint64]int // registers of constants
	spec   map[specialID]int
	labels map[string]int
	jumps  map[int]jump // branches by instruction
}

type jump struct {
	line  int
	label string
}

func newBuilder(m *module, k *kernel) *builder {
	b := &builder{m: m, k: k, fixed: map[uint64]int{}, spec: map[specialID]int{}, labels: map[string]int{}, jumps: map[int]jump{}}
	b.constant(0) // register 0
	return b
}

func (b *builder) newRegister(t typ) register {
	if t == pred {
		b.k.preds++
		return register{b.k.preds - 1, t}
	}
	b.k.registers++
	return register{b.k.registers - 1, t}
}

func (b *builder) declare(line int, name string, t typ) {
	top := b.scopes[len(b.scopes)-1]
	if _, ok := top[name]; ok {
		fail(line, "%s is declared twice", name)
	}
	if _, ok := specials[name]; ok || specialPrefix(name) {
		fail(line, "%s is a special register", name)
	}
	if b.k.registers > 1<<17 || b.k.preds > 1<<17 {
		fail(line, "too many registers")
	}
	top[name] = b.newRegister(t)
}

func (b *builder) lookup(name string) (register, bool) {
	for i := len(b.scopes) - 1; i >= 0; i-- {
		if r, ok := b.scopes[i][name]; ok {
			return r, true
		}
	}
	return register{}, false
}

// constant returns a register that holds bits.
func (b *builder) constant(bits uint64) int {
	r, ok := b.fixed[bits]
	if !ok {
		r = b.newRegister(b64).index
		b.fixed[bits] = r
		b.k.constants = append(b.k.constants, fixedRegister{r, bits})
	}
	return r
}

func (b *builder) special(s special) int {
	r, ok := b.spec[s.id]
	if !ok {
		r = b.newRegister(s.typ).index
		b.spec[s.id] = r
		b.k.specials = append(b.k.specials, fixedSpecial{r, s.id})
	}
	return r
}

func (b *builder) label(line int, name string) {
	if _, ok := b.labels[name]; ok {
		fail(line, "label %s is declared twice", name)
	}
	b.labels[name] = len(b.k.code)
}

// add compiles an instruction.
func (b *builder) add(x *inst) {
	compile, ok := instructions[x.name]
	if !ok {
		fail(x.line, "unknown instruction %q", x.name)
	}
	in := ins{guard: int32(x.guard), not: x.not, line: int32(x.line)}
	if flow, ok := flowInstructions[x.name]; ok {
		flow(b, x, &in)
	} else {
		in.exec = compile(b, x)
	}
	if len(x.mods) > 0 {
		fail(x.line, "%s may not have .%s here", x.name, x.mods[0])
	}
	if x.guard >= 0 {
		x.predReads = append(x.predReads, int32(x.guard))
	}
	in.reads, in.writes, in.predReads = unique(x.reads), unique(x.writes), unique(x.predReads)
	b.k.code = append(b.k.code, in)
	if len(b.k.code) > 1<<20 {
		fail(x.line, "the kernel is too long")
	}
}

func unique(s []int32) []int32 {
	slices.Sort(s)
	return slices.Compact(s)
}

// finish resolves labels and computes where branches meet again.
func (b *builder) finish(line int) {
	b.k.code = append(b.k.code, ins{kind: leave, guard: -1, line: int32(line)})
	for pc, j := range b.jumps {
		t, ok := b.labels[j.label]
		if !ok {
			fail(j.line, "label %s is not declared", j.label)
		}
		b.k.code[pc].target = int32(t)
	}
	setRejoins(b.k.code)
}

// take removes the first modifier if it is one of names, and returns it.
func (x *inst) take(names ...string) string {
	if len(x.mods) > 0 && slices.Contains(names, x.mods[0]) {
		m := x.mods[0]
		x.mods = x.mods[1:]
		return m
	}
	return ""
}

// need is take where one of names must stand.
func (x *inst) need(names ...string) string {
	m := x.take(names...)
	if m == "" {
		got := ""
		if len(x.mods) > 0 {
			got = "." + x.mods[0]
		}
		fail(x.line, "%s%s: one of %v expected", x.name, got, names)
	}
	return m
}

// takeType removes the first modifier, which must be one of the types.
func (x *inst) takeType(types ...string) typ { return typesByName[x.need(types...)] }

// count checks the number of operands.
func (x *inst) count(n int) {
	if len(x.ops) != n {
		fail(x.line, "%s has %d operands, not %d", x.name, n, len(x.ops))
	}
}

// dst returns the register that operand i writes.
func (b *builder) dst(x *inst, i int, t typ) int { return b.dstOf(x, x.ops[i], t, t.fits) }

func (b *builder) dstOf(x *inst, o operand, t typ, fits func(typ) bool) int {
	if o.kind != opReg || o.typ == pred || o.not {
		fail(x.line, "%s writes a register of type %s", x.name, t)
	}
	if !fits(o.typ) {
		fail(x.line, "%s is of type %s, which cannot hold %s", o.name, o.typ, t)
	}
	x.writes = append(x.writes, int32(o.reg))
	return o.reg
}

// src returns the register that operand i reads. A constant gets a register of its own.
func (b *builder) src(x *inst, i int, t typ) int { return b.srcOf(x, x.ops[i], t, t.fits) }

func (b *builder) srcOf(x *inst, o operand, t typ, fits func(typ) bool) int {
	switch o.kind {
	case opNumber:
		return b.constant(constant(o.num, o.neg, t))
	case opReg:
		if o.typ == pred || o.not {
			fail(x.line, "the predicate %s is not of type %s", o.name, t)
		}
		if !fits(o.typ) {
			fail(x.line, "%s is of type %s, not %s", o.name, o.typ, t)
		}
		x.reads = append(x.reads, int32(o.reg))
		return o.reg
	}
	fail(x.line, "%s needs a register or a constant of type %s", x.name, t)
	return 0
}

// dstPred returns the predicate that an operand writes, -1 for _.
func (b *builder) dstPred(x *inst, o operand) int {
	if o.kind == opSink {
		return -1
	}
	if o.kind != opReg || o.typ != pred || o.not {
		fail(x.line, "%s writes a predicate", x.name)
	}
	return o.reg
}

// A predOperand is a predicate that is read. Negated ones are flipped.
type predOperand struct {
	index int
	flip  uint32
}

func (p predOperand) get(w *warp) uint32 { return w.p[p.index] ^ p.flip }

func (b *builder) srcPred(x *inst, o operand) predOperand {
	if o.kind != opReg || o.typ != pred {
		fail(x.line, "%s needs a predicate", x.name)
	}
	x.predReads = append(x.predReads, int32(o.reg))
	if o.not {
		return predOperand{o.reg, ^uint32(0)}
	}
	return predOperand{o.reg, 0}
}

// number returns operand i, which must be a constant integer.
func (b *builder) number(x *inst, i int) uint64 {
	o := x.ops[i]
	if o.kind != opNumber {
		fail(x.line, "%s needs a constant", x.name)
	}
	return constant(o.num, o.neg, b32)
}
