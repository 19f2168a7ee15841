package ptxsim

import (
	"strconv"
	"strings"
)

// A module is a compiled text.
type module struct {
	target  int // 80 for sm_80
	version int // 70 for 7.0
	consts  []byte
	vars    map[string]*variable
	kernels map[string]*kernel
	dynamic bool // has a variable of shared memory whose size the launch gives

	sharedBytes int // of variables of the module
	unloaded    bool
	lines       []string
}

// A spaceKind is a state space of PTX.
type spaceKind uint8

const (
	inParam spaceKind = iota
	inGlobal
	inShared
	inConst
)

// A variable is a name for memory.
type variable struct {
	space   spaceKind
	offset  uint64
	bytes   int
	dynamic bool // lies behind the static shared memory, known at the launch
}

// An operandKind tells the kinds of operands apart.
type operandKind uint8

const (
	opReg     operandKind = iota // a register, or a predicate
	opSpecial                    // %tid.x and the like
	opNumber
	opSink   // _
	opSymbol // a variable or a label
	opList   // {a, b}
	opPair   // p|q
	opAddr   // [base+offset]
)

// An operand is one operand of an instruction.
type operand struct {
	kind   operandKind
	reg    int // of opReg, numbered by class: registers and predicates apart
	typ    typ
	not    bool // !p
	neg    bool // -1
	num    token
	name   string
	list   []operand
	base   *operand // of opAddr; nil for an absolute address
	offset int64
}

// An inst is an instruction as it was read.
type inst struct {
	line  int
	name  string
	mods  []string
	ops   []operand
	guard int // predicate, -1 for none
	not   bool

	reads, writes, predReads []int32
}

type parser struct {
	toks []token
	pos  int
	m    *module
	k    *kernel
	b    *builder
}

// parse compiles a text. The error is a *textError.
func parse(text string, capability int) (m *module, err error) {
	p := &parser{}
	defer func() {
		if r := recover(); r != nil {
			e, ok := r.(*textError)
			if !ok {
				panic(r)
			}
			m, err = nil, e
		}
	}()
	p.m = &module{vars: map[string]*variable{}, kernels: map[string]*kernel{}, lines: strings.Split(text, "\n")}
	p.toks = lex(text)
	p.header(capability)
	for p.peek().kind != tokEnd {
		p.topLevel()
	}
	return p.m, nil
}

func (p *parser) peek() token { return p.toks[p.pos] }

func (p *parser) next() token {
	t := p.toks[p.pos]
	if t.kind != tokEnd {
		p.pos++
	}
	return t
}

func (p *parser) fail(format string, a ...any) { fail(p.peek().line, format, a...) }

func (p *parser) is(text string) bool {
	t := p.peek()
	return (t.kind == tokPunct || t.kind == tokWord) && t.text == text
}

func (p *parser) accept(text string) bool {
	if p.is(text) {
		p.pos++
		return true
	}
	return false
}

func (p *parser) expect(text string) {
	if !p.accept(text) {
		p.fail("%q expected, not %q", text, p.peek().text)
	}
}

func (p *parser) word() string {
	t := p.next()
	if t.kind != tokWord {
		fail(t.line, "a name expected, not %q", t.text)
	}
	return t.text
}

// integer returns a constant between 0 and max.
func (p *parser) integer(max uint64) int {
	t := p.next()
	if t.kind != tokNumber || t.bits > max {
		fail(t.line, "a number up to %d expected, not %q", max, t.text)
	}
	return int(t.bits)
}

func (p *parser) header(capability int) {
	p.expect(".version")
	t := p.next()
	whole, part, ok := strings.Cut(t.text, ".")
	major, err1 := strconv.Atoi(whole)
	minor, err2 := strconv.Atoi(part)
	if !ok || err1 != nil || err2 != nil || major < 6 || major > 9 || minor > 9 {
		fail(t.line, "unknown version %q", t.text)
	}
	p.m.version = 10*major + minor
	p.expect(".target")
	t = p.next()
	p.m.target, err1 = strconv.Atoi(strings.TrimSuffix(strings.TrimPrefix(t.text, "sm_"), "a"))
	if !strings.HasPrefix(t.text, "sm_") || err1 != nil {
		fail(t.line, "unknown target %q", t.text)
	}
	if p.m.target > capability {
		fail(t.line, "target %s is above the GPU's sm_%d", t.text, capability)
	}
	if min := map[int]int{80: 70, 86: 71, 89: 78, 90: 78}[p.m.target]; p.m.version < min {
		fail(t.line, "target %s needs version %d.%d", t.text, min/10, min%10)
	}
	p.expect(".address_size")
	if p.integer(64) != 64 {
		p.fail("addresses must have 64 bits")
	}
}

func (p *parser) topLevel() {
	switch {
	case p.accept(".visible"):
		p.expect(".entry")
		p.entry()
	case p.accept(".entry"):
		p.entry()
	case p.accept(".extern"):
		p.expect(".shared")
		p.variable(inShared, true)
	case p.accept(".shared"):
		p.variable(inShared, false)
	case p.accept(".const"):
		p.variable(inConst, false)
	default:
		p.fail("a directive expected, not %q", p.peek().text)
	}
}

// element reads .align N and a type.
func (p *parser) element() (t typ, align int) {
	if p.accept(".align") {
		align = p.integer(1 << 16)
		if align == 0 || align&(align-1) != 0 {
			p.fail("alignment %d is not a power of two", align)
		}
	}
	w := p.next()
	t, ok := typesByName[strings.TrimPrefix(w.text, ".")]
	if !ok || w.kind != tokWord || w.text[0] != '.' {
		fail(w.line, "a type expected, not %q", w.text)
	}
	if t == pred || t == bf16 || t == f16 {
		fail(w.line, "memory of type %s", t)
	}
	return t, max(align, t.bytes())
}

func roundUp(n, align int) int { return (n + align - 1) &^ (align - 1) }

// variable reads a declaration of shared or constant memory.
func (p *parser) variable(space spaceKind, extern bool) {
	t, align := p.element()
	line := p.peek().line
	name := p.word()
	n := 1
	if p.accept("[") {
		if extern {
			n = 0
		} else {
			n = p.integer(1 << 20)
		}
		p.expect("]")
	} else if extern {
		p.fail("memory of open size is an array")
	}
	v := &variable{space: space, bytes: n * t.bytes(), dynamic: extern}
	shared := &p.m.vars
	if p.k != nil {
		if p.k.vars[name] != nil {
			fail(line, "%s is declared twice", name)
		}
		shared = &p.k.vars
	} else if p.m.vars[name] != nil {
		fail(line, "%s is declared twice", name)
	}
	(*shared)[name] = v
	if space == inConst {
		p.constants(v, t, align, n)
	} else if extern {
		p.m.dynamic = true
	} else {
		p.placeShared(v, align, line)
	}
	p.expect(";")
}

// placeShared gives a variable its place. Variables of the module lie in front in every kernel.
func (p *parser) placeShared(v *variable, align, line int) {
	size := &p.m.sharedBytes
	if p.k != nil {
		size = &p.k.shared
	} else if len(p.m.kernels) > 0 {
		fail(line, "shared memory of the module must be declared before the kernels")
	}
	v.offset = uint64(roundUp(*size, align))
	*size = int(v.offset) + v.bytes
	if *size > 48<<10 {
		fail(line, "more than 48 KiB of static shared memory")
	}
}

// constants reads the elements of a table.
func (p *parser) constants(v *variable, t typ, align, n int) {
	v.offset = uint64(roundUp(len(p.m.consts), align))
	if int(v.offset)+v.bytes > 64<<10 {
		p.fail("more than 64 KiB of constants")
	}
	p.m.consts = append(p.m.consts, make([]byte, int(v.offset)+v.bytes-len(p.m.consts))...)
	if !p.accept("=") {
		return
	}
	if !p.accept("{") {
		p.fail("a list of constants expected")
	}
	for i := 0; ; i++ {
		if i >= n {
			p.fail("more than %d constants", n)
		}
		neg := p.accept("-")
		c := p.next()
		if c.kind != tokNumber && c.kind != tokFloat {
			fail(c.line, "a constant expected, not %q", c.text)
		}
		x := constant(c, neg, t)
		for j := range t.bytes() {
			p.m.consts[int(v.offset)+i*t.bytes()+j] = byte(x >> (8 * j))
		}
		if !p.accept(",") {
			break
		}
	}
	p.expect("}")
}

// entry reads a kernel.
func (p *parser) entry() {
	line := p.peek().line
	name := p.word()
	if p.m.kernels[name] != nil || p.m.vars[name] != nil {
		fail(line, "%s is declared twice", name)
	}
	k := &kernel{name: name, m: p.m, vars: map[string]*variable{}, maxThreads: 1024, shared: p.m.sharedBytes}
	p.k = k
	if p.accept("(") && !p.accept(")") {
		for {
			p.param()
			if !p.accept(",") {
				break
			}
		}
		p.expect(")")
	}
	for !p.is("{") {
		switch w := p.word(); w {
		case ".maxntid", ".reqntid":
			n := p.integer(1024)
			for p.accept(",") {
				n *= p.integer(1024)
			}
			if n < 1 || n > 1024 {
				p.fail("%s of %d threads", w, n)
			}
			k.maxThreads, k.exactThreads = n, w == ".reqntid"
		case ".minnctapersm", ".maxnreg":
			p.integer(1024)
		default:
			p.fail("unknown directive %q", w)
		}
	}
	p.b = newBuilder(p.m, k)
	p.block()
	p.b.finish(p.peek().line)
	p.m.kernels[name] = k
	p.k, p.b = nil, nil
}

// param reads a parameter of a kernel.
func (p *parser) param() {
	p.expect(".param")
	t, align := p.element()
	line := p.peek().line
	name := p.word()
	n := 1
	if p.accept("[") {
		n = p.integer(4352)
		p.expect("]")
	}
	k := p.k
	if k.vars[name] != nil {
		fail(line, "%s is declared twice", name)
	}
	v := &variable{space: inParam, offset: uint64(roundUp(k.paramBytes, align)), bytes: n * t.bytes()}
	k.paramBytes = int(v.offset) + v.bytes
	if k.paramBytes > 4352 {
		fail(line, "parameters of %d bytes", k.paramBytes)
	}
	k.vars[name] = v
}

// block reads { ... }: declarations, labels, instructions and blocks.
func (p *parser) block() {
	p.expect("{")
	p.b.scopes = append(p.b.scopes, map[string]register{})
	if len(p.b.scopes) > 1000 {
		p.fail("blocks too deep")
	}
	for !p.accept("}") {
		switch {
		case p.peek().kind == tokEnd:
			p.fail("the kernel has no end")
		case p.is("{"):
			p.block()
		case p.accept(".reg"):
			p.registers()
		case p.accept(".shared"):
			p.variable(inShared, false)
		case p.accept(".pragma"):
			p.next()
			p.expect(";")
		case p.accept(";"):
		default:
			p.statement()
		}
	}
	p.b.scopes = p.b.scopes[:len(p.b.scopes)-1]
}

// registers reads a declaration of registers: %a, %r<8>.
func (p *parser) registers() {
	w := p.word()
	t, ok := typesByName[strings.TrimPrefix(w, ".")]
	if !ok || w[0] != '.' || t.bits == 8 || t == bf16 {
		p.fail("registers of type %q", w)
	}
	for {
		line := p.peek().line
		name := p.word()
		if p.accept("<") {
			n := p.integer(1 << 16)
			p.expect(">")
			for i := range n {
				p.b.declare(line, name+strconv.Itoa(i), t)
			}
		} else {
			p.b.declare(line, name, t)
		}
		if !p.accept(",") {
			break
		}
	}
	p.expect(";")
}

// statement reads a label or an instruction.
func (p *parser) statement() {
	x := &inst{line: p.peek().line, guard: -1}
	if p.accept("@") {
		x.not = p.accept("!")
		line := p.peek().line
		r, ok := p.b.lookup(p.word())
		if !ok || r.typ != pred {
			fail(line, "a predicate expected behind @")
		}
		x.guard = r.index
	}
	w := p.word()
	if x.guard < 0 && p.accept(":") {
		p.b.label(x.line, w)
		return
	}
	parts := strings.Split(w, ".")
	x.name, x.mods = parts[0], parts[1:]
	for !p.accept(";") {
		x.ops = append(x.ops, p.operand(0))
		if !p.is(";") {
			p.expect(",")
		}
	}
	p.b.add(x)
}

// operand reads an operand.
func (p *parser) operand(depth int) operand {
	if depth > 2 {
		p.fail("operands too deep")
	}
	var o operand
	switch {
	case p.accept("{"):
		o.kind = opList
		for {
			o.list = append(o.list, p.operand(depth+1))
			if !p.accept(",") {
				break
			}
		}
		p.expect("}")
	case p.accept("["):
		o = p.address()
	case p.accept("!"):
		o = p.operand(depth + 1)
		if o.kind != opReg || o.typ != pred || o.not {
			p.fail("! needs a predicate")
		}
		o.not = true
	default:
		o = p.simple()
	}
	if depth == 0 && p.accept("|") {
		return operand{kind: opPair, list: []operand{o, p.operand(1)}}
	}
	return o
}

// simple reads a name or a constant.
func (p *parser) simple() operand {
	neg := p.accept("-")
	t := p.next()
	switch t.kind {
	case tokNumber, tokFloat:
		return operand{kind: opNumber, num: t, neg: neg}
	case tokWord:
		if neg {
			fail(t.line, "- stands before constants only")
		}
		if t.text == "_" {
			return operand{kind: opSink}
		}
		if r, ok := p.b.lookup(t.text); ok {
			return operand{kind: opReg, reg: r.index, typ: r.typ, name: t.text}
		}
		if sp, ok := specials[t.text]; ok {
			return operand{kind: opSpecial, reg: p.b.special(sp), typ: sp.typ, name: t.text}
		}
		if t.text[0] == '%' {
			fail(t.line, "register %s is not declared", t.text)
		}
		return operand{kind: opSymbol, name: t.text}
	}
	fail(t.line, "an operand expected, not %q", t.text)
	return operand{}
}

// address reads the inside of [base+offset].
func (p *parser) address() operand {
	o := operand{kind: opAddr}
	base := p.simple()
	switch base.kind {
	case opNumber:
		if base.num.kind != tokNumber {
			p.fail("an address of a float")
		}
		o.offset = int64(base.num.bits)
		if base.neg {
			o.offset = -o.offset
		}
	case opReg, opSymbol:
		o.base = &base
		sign := int64(1)
		if p.is("+") || p.is("-") {
			if p.next().text == "-" {
				sign = -1
			} else if p.accept("-") {
				sign = -1
			}
			n := p.next()
			if n.kind != tokNumber || n.bits > 1<<40 {
				fail(n.line, "an offset expected, not %q", n.text)
			}
			o.offset = sign * int64(n.bits)
		}
	default:
		p.fail("an address expected")
	}
	p.expect("]")
	return o
}
