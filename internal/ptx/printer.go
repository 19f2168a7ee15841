package ptx

import (
	"fmt"
	"strings"

	"weft/internal/grid"
	"weft/internal/loop"
)

// A class is a kind of register.
type class uint8

const (
	predicate class = iota
	bits16
	bits32
	bits64
	numClasses
)

var (
	classLetters = [numClasses]byte{'p', 'h', 'r', 'd'}
	classTypes   = [numClasses]string{"pred", "b16", "b32", "b64"}
)

func classOf(t loop.Type) class {
	switch {
	case t == loop.B:
		return predicate
	case t.Size() == 8:
		return bits64
	}
	return bits32
}

// A printer prints one kernel.
type printer struct {
	m       *module
	k       *grid.Kernel
	body    strings.Builder
	prelude strings.Builder // runs before the body
	names   []string        // by grid.Reg
	counts  [numClasses]int // registers by class
	labels  int
	in      *grid.Ins // the instruction that is being printed
	// divergent counts the ifs and whiles around, in which lanes of a warp may be missing.
	divergent int
	// leaves: a thread may return before others of its warp, so that lanes may be missing anywhere.
	leaves bool
	lane   string // the register with the number of the lane, "" if none yet
	shared string // the register with the address of shared memory, "" if none yet
	tables map[int]*tableUse
}

// entry returns the text of a kernel.
func (m *module) entry(k *grid.Kernel) string {
	p := &printer{m: m, k: k, tables: map[int]*tableUse{}, names: make([]string, len(k.Types))}
	p.check()
	for r, t := range k.Types {
		if r > 0 {
			p.names[r] = p.temp(classOf(t))
		}
	}
	p.leaves = returnsDivergent(k.Body, false)
	p.block(k.Body)
	p.in = nil

	var w strings.Builder
	fmt.Fprintf(&w, "\n.visible .entry %s(", k.Name)
	if k.Args > 0 {
		fmt.Fprintf(&w, ".param .align 8 .b8 args[%d]", k.Args)
	}
	fmt.Fprintf(&w, ")\n.maxntid %d, 1, 1\n", k.Threads)
	if k.Abreast > 0 {
		fmt.Fprintf(&w, ".minnctapersm %d\n", k.Abreast)
	}
	w.WriteString("{\n")
	for c, n := range p.counts {
		if n > 0 {
			fmt.Fprintf(&w, "\t.reg .%s %%%c<%d>;\n", classTypes[c], classLetters[c], n)
		}
	}
	if k.Shared > 0 && k.Shared <= MaxStatic {
		fmt.Fprintf(&w, "\t.shared .align 16 .b8 shared[%d];\n", k.Shared)
	}
	w.WriteString(p.prelude.String())
	w.WriteString(p.body.String())
	w.WriteString("\tret;\n}\n")
	return w.String()
}

// check checks what the kernel says of itself.
func (p *printer) check() {
	k := p.k
	for i, c := range []byte(k.Name) {
		letter := c|0x20 >= 'a' && c|0x20 <= 'z'
		if !letter && (i == 0 || c != '_' && c != '$' && (c < '0' || c > '9')) {
			p.fail("the name is not a letter and letters, digits, _ and $ behind it")
		}
	}
	switch {
	case k.Name == "":
		p.fail("no name")
	case k.Threads <= 0 || k.Threads%grid.Warp != 0 || k.Threads > 1024:
		p.fail("%d threads, a multiple of %d up to 1024", k.Threads, grid.Warp)
	case k.Abreast < 0 || k.Abreast > 32:
		p.fail("%d blocks of threads a multiprocessor", k.Abreast)
	case k.Args < 0 || k.Args%8 != 0 || k.Args > 4096:
		p.fail("%d bytes of arguments, a multiple of 8 up to 4096", k.Args)
	case k.Shared < 0:
		p.fail("%d bytes of shared memory", k.Shared)
	}
	for r, t := range k.Types {
		if r > 0 && t != loop.B && t != loop.I32 && t != loop.I64 && !t.Float() {
			p.fail("register %d has type %s", r, t)
		}
	}
}

// returnsDivergent reports whether a thread may return while others of its warp go on.
func returnsDivergent(body []grid.Ins, divergent bool) bool {
	for i := range body {
		in := &body[i]
		inside := divergent || !in.Uniform
		if in.Op == grid.Return && divergent ||
			returnsDivergent(in.Head, inside) || returnsDivergent(in.Body, inside) || returnsDivergent(in.Else, inside) {
			return true
		}
	}
	return false
}

// fail ends printing with an error.
func (p *printer) fail(format string, args ...any) {
	e := &Error{Kernel: p.k.Name, Msg: fmt.Sprintf(format, args...)}
	if p.in != nil {
		e.Ins = opName(p.in)
	}
	panic(e)
}

// temp returns a new register.
func (p *printer) temp(c class) string {
	p.counts[c]++
	return fmt.Sprintf("%%%c%d", classLetters[c], p.counts[c]-1)
}

// reg returns the name of a register of the kernel.
func (p *printer) reg(r grid.Reg) string {
	if r <= grid.NoReg || int(r) >= len(p.names) {
		p.fail("register %d is not one of the kernel", r)
	}
	return p.names[r]
}

// typed returns the name of a register that must have one of the types.
func (p *printer) typed(r grid.Reg, types typeSet) string {
	name := p.reg(r)
	if t := p.k.Types[r]; !types.has(t) {
		p.fail("register %d has type %s", r, t)
	}
	return name
}

// line prints an instruction.
func (p *printer) line(format string, args ...any) { writeLine(&p.body, format, args...) }

func writeLine(w *strings.Builder, format string, args ...any) {
	w.WriteByte('\t')
	fmt.Fprintf(w, format, args...)
	w.WriteString(";\n")
}

// block prints instructions.
func (p *printer) block(body []grid.Ins) {
	for i := range body {
		p.in = &body[i]
		p.ins(p.in)
	}
}

// ins prints an instruction.
func (p *printer) ins(in *grid.Ins) {
	switch in.Op {
	case grid.Compute:
		p.compute(in)
	case grid.Move:
		p.move(p.typed(in.Dst, 1<<p.typeOf(in.A)), p.reg(in.A), classOf(p.typeOf(in.A)))
	case grid.ThreadIndex:
		p.line("mov.u32 %s, %%tid.x", p.typed(in.Dst, i32))
	case grid.BlockIndex:
		p.line("mov.u32 %s, %%ctaid.x", p.typed(in.Dst, i32))
	case grid.Blocks:
		p.line("mov.u32 %s, %%nctaid.x", p.typed(in.Dst, i32))
	case grid.Arg:
		p.arg(in)
	case grid.Load:
		p.load(in)
	case grid.Store:
		p.store(in)
	case grid.Add:
		p.atomic(in, "add")
	case grid.Min:
		p.atomic(in, "min")
	case grid.Barrier:
		p.together()
		p.line("bar.sync 0")
	case grid.WarpBarrier:
		p.together()
		p.line("bar.warp.sync 0xFFFFFFFF")
	case grid.ShuffleDown, grid.ShuffleXor, grid.ShuffleLane:
		p.shuffle(in)
	case grid.Any, grid.All:
		p.together()
		p.line("vote.sync.%s.pred %s, %s, 0xFFFFFFFF", map[grid.Op]string{grid.Any: "any", grid.All: "all"}[in.Op], p.typed(in.Dst, b), p.typed(in.A, b))
	case grid.MMA:
		p.mma(in)
	case grid.If:
		p.branch(in)
	case grid.While:
		p.while(in)
	case grid.Return:
		p.line("ret")
	default:
		p.fail("not a known instruction")
	}
}

// opName returns the name of an instruction, for errors.
func opName(in *grid.Ins) string {
	if in.Op == grid.Compute {
		return in.Loop.String()
	}
	names := [...]string{grid.Move: "move", grid.ThreadIndex: "thread index", grid.BlockIndex: "block index", grid.Blocks: "blocks",
		grid.Arg: "arg", grid.Load: "load", grid.Store: "store", grid.Add: "atomic add", grid.Min: "atomic min", grid.Barrier: "barrier", grid.WarpBarrier: "warp barrier",
		grid.ShuffleDown: "shuffle down", grid.ShuffleXor: "shuffle xor", grid.ShuffleLane: "shuffle lane", grid.Any: "any", grid.All: "all",
		grid.MMA: "mma", grid.If: "if", grid.While: "while", grid.Return: "return"}
	if int(in.Op) < len(names) {
		return names[in.Op]
	}
	return fmt.Sprintf("grid.Op(%d)", in.Op)
}

// typeOf returns the type of a register.
func (p *printer) typeOf(r grid.Reg) loop.Type {
	p.reg(r)
	return p.k.Types[r]
}

// together requires that all lanes of the warp are here.
func (p *printer) together() {
	if p.divergent > 0 {
		p.fail("stands where lanes of the warp may be missing: in an if or while that is not uniform")
	}
}

// branch prints an if.
func (p *printer) branch(in *grid.Ins) {
	cond := p.typed(in.A, b)
	end := p.label()
	bra := "bra"
	if in.Uniform {
		bra = "bra.uni"
	} else {
		p.divergent++
	}
	p.line("@!%s %s %s", cond, bra, end)
	p.block(in.Body)
	if len(in.Else) > 0 {
		otherwise := end
		end = p.label()
		p.line("%s %s", bra, end)
		fmt.Fprintf(&p.body, "%s:\n", otherwise)
		p.block(in.Else)
	}
	fmt.Fprintf(&p.body, "%s:\n", end)
	if !in.Uniform {
		p.divergent--
	}
}

// while prints a loop.
func (p *printer) while(in *grid.Ins) {
	head, end := p.label(), p.label()
	bra := "bra"
	if in.Uniform {
		bra = "bra.uni"
	} else {
		p.divergent++
	}
	fmt.Fprintf(&p.body, "%s:\n", head)
	p.block(in.Head)
	p.in = in
	p.line("@!%s %s %s", p.typed(in.A, b), bra, end)
	p.block(in.Body)
	p.line("%s %s", bra, head)
	fmt.Fprintf(&p.body, "%s:\n", end)
	if !in.Uniform {
		p.divergent--
	}
}

// label returns a new label.
func (p *printer) label() string {
	p.labels++
	return fmt.Sprintf("$L%d", p.labels)
}
