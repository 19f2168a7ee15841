package ptx

import (
	"fmt"
	"slices"
	"strings"

	"weft/internal/grid"
	"weft/internal/loop"
)

// A memoryForm says how an element moves between memory and a register.
type memoryForm struct {
	load, store string  // types of the instructions
	temp        class   // of the register that they move, where load and store rules are not ""
	types       typeSet // of the register of the kernel
	after       string  // rule from the register $A that was loaded to $D, "" for none
	before      string  // rule from $A to the register $D that is stored, "" for none
}

var memoryForms = [...]memoryForm{
	grid.W32:   {load: "b32", store: "b32", temp: bits32, types: i32 | f32},
	grid.W64:   {load: "b64", store: "b64", temp: bits64, types: i64 | f64},
	grid.S8:    {load: "s8", store: "b8", temp: bits32, types: i32},
	grid.U8:    {load: "u8", store: "b8", temp: bits32, types: i32},
	grid.S16:   {load: "s16", store: "b16", temp: bits32, types: i32},
	grid.U16:   {load: "u16", store: "b16", temp: bits32, types: i32},
	grid.Half:  {load: "b16", store: "b16", temp: bits16, types: f32, after: "cvt.f32.f16 %s, %s", before: "cvt.rn.f16.f32 %s, %s"},
	grid.BHalf: {load: "b16", store: "b16", temp: bits16, types: f32, after: "mov.b32 %s, {0, %s}", before: "cvt.rn.bf16.f32 %s, %s"},
}

// arg prints a read of the argument block.
func (p *printer) arg(in *grid.Ins) {
	dst := p.typed(in.Dst, ints|floats)
	size := int64(p.typeOf(in.Dst).Size())
	if in.Imm < 0 || in.Imm%size != 0 || in.Imm+size > int64(p.k.Args) {
		p.fail("%d bytes at %d of %d", size, in.Imm, p.k.Args)
	}
	p.line("ld.param.b%d %s, [args+%d]", 8*size, dst, in.Imm)
}

// form returns how the elements of a load or store move, in the groups that one instruction moves.
func (p *printer) form(in *grid.Ins) (*memoryForm, [][]grid.Reg) {
	n := len(in.Regs)
	if int(in.Elem) >= len(memoryForms) {
		p.fail("element type %d", in.Elem)
	}
	if n != 1 && n != 2 && n != 4 && (n != 8 && n != 16 || n*in.Elem.Size() > 16) {
		p.fail("%d elements", n)
	}
	f := &memoryForms[in.Elem]
	for _, r := range in.Regs {
		p.typed(r, f.types)
	}
	// An instruction moves at most 16 bytes.
	return f, slices.Collect(slices.Chunk(in.Regs, min(n, 16/in.Elem.Size())))
}

// load prints a load.
func (p *printer) load(in *grid.Ins) {
	f, groups := p.form(in)
	address, guard := p.address(in.Space, in.A, in.Regs), p.guard(in)
	space := spaceName(in.Space)
	if in.Fresh {
		space = map[grid.Space]string{grid.Global: "relaxed.sys.", grid.Shared: "volatile."}[in.Space] + space
	}
	if len(in.Regs) > 4 {
		words := p.words(in)
		if guard != "" {
			for _, w := range words {
				p.line("mov.b32 %s, 0", w)
			}
		}
		p.line("%sld.%s%s.b32 %s, [%s+%d]", guard, space, vector(words), list(words), address, in.Imm)
		p.unpack(in.Elem, words, in.Regs)
		return
	}
	for i, group := range groups {
		names := make([]string, len(group))
		for j, r := range group {
			names[j] = p.reg(r)
			if f.after != "" {
				names[j] = p.temp(f.temp)
			}
			if guard != "" {
				p.line("mov.%s %s, 0", classTypes[f.temp], names[j])
			}
		}
		p.line("%sld.%s%s.%s %s, [%s+%d]", guard, space, vector(names), f.load, list(names), address, in.Imm+int64(16*i))
		if f.after == "" {
			continue
		}
		for j, r := range group {
			p.line(f.after, p.reg(r), names[j])
		}
	}
}

// store prints a store.
func (p *printer) store(in *grid.Ins) {
	f, groups := p.form(in)
	address, guard := p.address(in.Space, in.A, nil), p.guard(in)
	if len(in.Regs) > 4 {
		words := p.words(in)
		p.pack(in.Elem, words, in.Regs)
		p.line("%sst.%s%s.b32 [%s+%d], %s", guard, spaceName(in.Space), vector(words), address, in.Imm, list(words))
		return
	}
	for i, group := range groups {
		names := make([]string, len(group))
		for j, r := range group {
			names[j] = p.reg(r)
			if f.before != "" {
				names[j] = p.temp(f.temp)
				p.line(f.before, names[j], p.reg(r))
			}
		}
		p.line("%sst.%s%s.%s [%s+%d], %s", guard, spaceName(in.Space), vector(names), f.store, address, in.Imm+int64(16*i), list(names))
	}
}

// words returns registers of 4 bytes for all elements of a load or store.
func (p *printer) words(in *grid.Ins) []string {
	w := make([]string, len(in.Regs)*in.Elem.Size()/4)
	for i := range w {
		w[i] = p.temp(bits32)
	}
	return w
}

// unpack prints how words with several elements become registers of one each.
func (p *printer) unpack(e grid.Elem, words []string, regs []grid.Reg) {
	f := &memoryForms[e]
	for i, r := range regs {
		bit := 8 * e.Size() * i
		dst, w, low := p.reg(r), words[bit/32], bit%32
		switch {
		case e == grid.Half:
			h := p.temp(bits16)
			parts := []string{h, "_"}
			if low > 0 {
				parts = []string{"_", h}
			}
			p.line("mov.b32 %s, %s", list(parts), w)
			p.line(f.after, dst, h)
		case e == grid.BHalf && low == 0:
			p.line("shl.b32 %s, %s, 16", dst, w)
		case e == grid.BHalf:
			p.line("and.b32 %s, %s, 0xFFFF0000", dst, w)
		default:
			p.line("bfe.%c32 %s, %s, %d, %d", f.load[0], dst, w, low, 8*e.Size())
		}
	}
}

// pack prints how registers of one element become words with several.
func (p *printer) pack(e grid.Elem, words []string, regs []grid.Reg) {
	f := &memoryForms[e]
	for i, w := range words {
		switch in := regs[i*4/e.Size():]; {
		case f.before != "":
			h := []string{p.temp(bits16), p.temp(bits16)}
			for j := range h {
				p.line(f.before, h[j], p.reg(in[j]))
			}
			p.line("mov.b32 %s, %s", w, list(h))
		case e.Size() == 2:
			p.line("prmt.b32 %s, %s, %s, 0x5410", w, p.reg(in[0]), p.reg(in[1]))
		default:
			low, high := p.temp(bits32), p.temp(bits32)
			p.line("prmt.b32 %s, %s, %s, 0x0040", low, p.reg(in[0]), p.reg(in[1]))
			p.line("prmt.b32 %s, %s, %s, 0x0040", high, p.reg(in[2]), p.reg(in[3]))
			p.line("prmt.b32 %s, %s, %s, 0x5410", w, low, high)
		}
	}
}

// atomic prints an operation on an integer in memory.
func (p *printer) atomic(in *grid.Ins, op string) {
	x := p.typed(in.A, ints)
	size := 8 * p.typeOf(in.A).Size()
	address, guard := p.address(in.Space, in.B, nil), p.guard(in)
	if in.Dst == grid.NoReg {
		p.line("%sred.%s.%s.u%d [%s+%d], %s", guard, spaceName(in.Space), op, size, address, in.Imm, x)
		return
	}
	dst := p.typed(in.Dst, 1<<p.typeOf(in.A))
	p.line("%satom.%s.%s.u%d %s, [%s+%d], %s", guard, spaceName(in.Space), op, size, dst, address, in.Imm, x)
}

func spaceName(s grid.Space) string {
	if s == grid.Shared {
		return "shared"
	}
	return "global"
}

// guard returns the predicate before an instruction, "" for none.
func (p *printer) guard(in *grid.Ins) string {
	if in.Pred == grid.NoReg {
		return ""
	}
	return fmt.Sprintf("@%s ", p.typed(in.Pred, b))
}

// address returns a register with an address, which the writing of the registers does not change.
// A shared address is relative to the variable of the kernel, which the driver may place behind
// memory of its own.
func (p *printer) address(s grid.Space, r grid.Reg, written []grid.Reg) string {
	a := p.typed(r, i64)
	if s == grid.Shared {
		if p.k.Shared == 0 {
			p.fail("the kernel has no shared memory")
		}
		base := p.sharedBase()
		low, sum := p.temp(bits32), p.temp(bits32)
		p.line("cvt.u32.u64 %s, %s", low, a)
		p.line("add.s32 %s, %s, %s", sum, low, base)
		return sum
	}
	if slices.Contains(written, r) {
		kept := p.temp(bits64)
		p.move(kept, a, bits64)
		return kept
	}
	return a
}

// sharedBase returns a register with the address of shared memory.
func (p *printer) sharedBase() string {
	if p.shared == "" {
		name := "shared"
		if p.k.Shared > MaxStatic {
			name, p.m.dynamic = "dynamic", true
		}
		p.shared = p.temp(bits32)
		writeLine(&p.prelude, "mov.u32 %s, %s", p.shared, name)
	}
	return p.shared
}

// vector returns the suffix of an instruction that moves several registers.
func vector(names []string) string {
	if len(names) == 1 {
		return ""
	}
	return fmt.Sprintf(".v%d", len(names))
}

// list returns registers as an operand.
func list(names []string) string {
	if len(names) == 1 {
		return names[0]
	}
	return "{" + strings.Join(names, ", ") + "}"
}

// move prints a copy of a register.
func (p *printer) move(dst, src string, c class) { p.line("mov.%s %s, %s", classTypes[c], dst, src) }

// A tableUse has the registers of a table in a kernel.
type tableUse struct {
	base string   // its address
	own  []string // the entry that belongs to the lane, low half first; nil if it is not read so
}

// lookup prints the lookup of an entry of a table. Where all lanes of the warp are present, each
// has an entry in a register, and a shuffle fetches one: entry i is in lane i modulo the number of
// entries, which divides the lanes. Elsewhere it comes from constant memory.
func (p *printer) lookup(in *grid.Ins) {
	if in.Imm < 0 || in.Imm >= int64(len(p.k.Tables)) {
		p.fail("table %d of %d", in.Imm, len(p.k.Tables))
	}
	t := p.k.Tables[in.Imm]
	n := len(t.Bits)
	if !t.Type.Float() || n == 0 || n&(n-1) != 0 || n > grid.Warp {
		p.fail("table %d has %d entries of type %s", in.Imm, n, t.Type)
	}
	dst := p.typed(in.Dst, 1<<t.Type)
	index := p.typed(in.A, ints)
	if p.typeOf(in.A) == loop.I64 {
		index = p.temp(bits32)
		p.line("cvt.u32.u64 %s, %s", index, p.reg(in.A))
	}
	u := p.table(in.Imm, t)
	if p.divergent > 0 || p.leaves {
		entry, address := p.temp(bits32), p.temp(bits64)
		p.line("and.b32 %s, %s, %d", entry, index, n-1)
		p.line("mad.wide.u32 %s, %s, %d, %s", address, entry, t.Type.Size(), u.base)
		p.line("ld.const.b%d %s, [%s+0]", 8*t.Type.Size(), dst, address)
		return
	}
	p.own(u, t)
	got := make([]string, len(u.own))
	for i, own := range u.own {
		got[i] = p.temp(bits32)
		p.line("shfl.sync.idx.b32 %s, %s, %s, 31, 0xFFFFFFFF", got[i], own, index)
	}
	p.line("mov.b%d %s, %s", 8*t.Type.Size(), dst, list(got))
}

// table returns the registers of a table.
func (p *printer) table(number int64, t loop.Table) *tableUse {
	id := p.m.table(t)
	u := p.tables[id]
	if u == nil {
		u = &tableUse{base: p.temp(bits64)}
		p.tables[id] = u
		writeLine(&p.prelude, "mov.u64 %s, table%d", u.base, id)
	}
	return u
}

// own gives each lane its entry of a table, before the body.
func (p *printer) own(u *tableUse, t loop.Table) {
	if u.own != nil {
		return
	}
	w := &p.prelude
	if p.lane == "" {
		p.lane = p.temp(bits32)
		writeLine(w, "mov.u32 %s, %%laneid", p.lane)
	}
	entry, address := p.temp(bits32), p.temp(bits64)
	writeLine(w, "and.b32 %s, %s, %d", entry, p.lane, len(t.Bits)-1)
	writeLine(w, "mad.wide.u32 %s, %s, %d, %s", address, entry, t.Type.Size(), u.base)
	for half := range t.Type.Size() / 4 {
		r := p.temp(bits32)
		writeLine(w, "ld.const.b32 %s, [%s+%d]", r, address, 4*half)
		u.own = append(u.own, r)
	}
}
