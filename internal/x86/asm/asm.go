package asm

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
)

// Label names a place in the code or in the constant pool. The zero Label is none.
type Label int32

// unbound is the position of a label that has not been placed.
const unbound = math.MinInt32

// fixup is a rel32 field to be filled when its label's position is known.
type fixup struct {
	label Label
	at    int32 // offset of the field, which holds the addend until then
	end   int32 // offset the displacement counts from: the end of the instruction
}

// constant is an entry of the pool: a number of 4 or 8 bytes, once or over and over,
// or bytes.
type constant struct {
	label Label
	size  uint8 // of the number, 0 for bytes
	width uint8 // bytes that it fills: 4, 8, 32 or 64
	bits  uint64
	bytes []byte
}

// Asm assembles one piece of code. The zero value is ready; Reset makes it ready
// again with its memory kept. An Asm is not safe for concurrent use.
type Asm struct {
	buf     []byte
	labels  []int32 // position by Label-1
	fixups  []fixup
	consts  []constant
	byHash  []int32 // by hash of a constant: one more than its index, 0 for none
	errs    []error
	codeLen int // code without the pool, once finished
	k       Reg // mask for the next instruction
	z       bool

	// Listing, if not nil, receives what is assembled as text, a line each with
	// the offset it stands at.
	Listing io.Writer
}

// maxErrors bounds what Finish reports; the first error is nearly always the cause
// of the rest.
const maxErrors = 16

// Reset empties a. The slice that Finish returned is overwritten by what follows.
func (a *Asm) Reset() {
	a.buf = a.buf[:0]
	a.labels = a.labels[:0]
	a.fixups = a.fixups[:0]
	clear(a.consts)
	a.consts = a.consts[:0]
	clear(a.byHash)
	a.errs = nil
	a.codeLen = 0
	a.k, a.z = NoReg, false
	a.Listing = nil
}

// list adds a line to the listing.
func (a *Asm) list(format string, args ...any) {
	fmt.Fprintf(a.Listing, "%5x  "+format+"\n", append([]any{len(a.buf)}, args...)...)
}

// Comment adds a line to the listing, if there is one.
func (a *Asm) Comment(format string, args ...any) {
	if a.Listing != nil {
		fmt.Fprintf(a.Listing, "; "+format+"\n", args...)
	}
}

// Len returns the number of bytes assembled so far.
func (a *Asm) Len() int { return len(a.buf) }

// errorf records an error for Finish.
func (a *Asm) errorf(format string, args ...any) {
	if len(a.errs) < maxErrors {
		a.errs = append(a.errs, fmt.Errorf("asm: at %#x: "+format, append([]any{len(a.buf)}, args...)...))
	}
}

// Err returns the errors so far, joined, or nil.
func (a *Asm) Err() error { return errors.Join(a.errs...) }

// NewLabel returns a label to be placed by Bind.
func (a *Asm) NewLabel() Label {
	a.labels = append(a.labels, unbound)
	return Label(len(a.labels))
}

// Bind places l at the current position.
func (a *Asm) Bind(l Label) {
	if a.Listing != nil {
		a.list("L%d:", l)
	}
	switch {
	case !a.valid(l):
		a.errorf("bind: no label %d", l)
	case a.labels[l-1] != unbound:
		a.errorf("bind: label %d is already at %#x", l, a.labels[l-1])
	default:
		a.labels[l-1] = int32(len(a.buf))
	}
}

// Here returns a new label bound to the current position, the head of a loop.
func (a *Asm) Here() Label {
	l := a.NewLabel()
	a.Bind(l)
	return l
}

// Offset returns the position of l from the start of the code; ok is false where l
// is not bound (constants are bound by Finish).
func (a *Asm) Offset(l Label) (pos int, ok bool) {
	if !a.valid(l) || a.labels[l-1] == unbound {
		return 0, false
	}
	return int(a.labels[l-1]), true
}

func (a *Asm) valid(l Label) bool { return l > 0 && int(l) <= len(a.labels) }

// Cond is a condition code in its encoding. The unsigned comparisons are B, AE, BE
// and A; the signed ones L, GE, LE and G.
type Cond uint8

// The condition codes.
const (
	CondO Cond = iota
	CondNO
	CondB
	CondAE
	CondE
	CondNE
	CondBE
	CondA
	CondS
	CondNS
	CondP
	CondNP
	CondL
	CondGE
	CondLE
	CondG
)

// Not returns the opposite condition.
func (c Cond) Not() Cond { return c ^ 1 }

// Jcc jumps to l if c holds.
func (a *Asm) Jcc(c Cond, l Label) {
	if c > CondG {
		a.errorf("jcc: no condition %d", c)
		return
	}
	if a.Listing != nil {
		a.list("\tj%s L%d", (SETO + Op(c)).String()[len("set"):], l)
	}
	a.jump(0x70|byte(c), 0x80|byte(c), true, l)
}

// Jmp jumps to l.
func (a *Asm) Jmp(l Label) {
	if a.Listing != nil {
		a.list("\tjmp L%d", l)
	}
	a.jump(0xEB, 0xE9, false, l)
}

// jump emits a rel8 jump where the target is behind and near, else rel32.
func (a *Asm) jump(short, long byte, twoByte bool, l Label) {
	if !a.valid(l) {
		a.errorf("jump: no label %d", l)
		return
	}
	if pos := a.labels[l-1]; pos != unbound {
		if d := int(pos) - (len(a.buf) + 2); d >= math.MinInt8 {
			a.buf = append(a.buf, short, byte(d))
			return
		}
	}
	if twoByte {
		a.buf = append(a.buf, 0x0F)
	}
	a.buf = append(a.buf, long, 0, 0, 0, 0)
	a.fix(l, len(a.buf)-4, len(a.buf))
}

// JmpReg jumps to the address in r, the return of a link-register call.
func (a *Asm) JmpReg(r Reg) { a.R(JMPR, r) }

// LeaLabel loads the address of l into r.
func (a *Asm) LeaLabel(r Reg, l Label) { a.RM(LEA, r, At(l, 0)) }

// CMov copies src to dst (64 bits) if c holds.
func (a *Asm) CMov(c Cond, dst, src Reg) { a.RR(CMOVO+Op(c&15), dst, src) }

func (a *Asm) fix(l Label, at, end int) {
	a.fixups = append(a.fixups, fixup{l, int32(at), int32(end)})
}

// nops are the recommended multi-byte no-operations (Intel SDM volume 2B, NOP).
var nops = [10]string{
	"",
	"\x90",
	"\x66\x90",
	"\x0f\x1f\x00",
	"\x0f\x1f\x40\x00",
	"\x0f\x1f\x44\x00\x00",
	"\x66\x0f\x1f\x44\x00\x00",
	"\x0f\x1f\x80\x00\x00\x00\x00",
	"\x0f\x1f\x84\x00\x00\x00\x00\x00",
	"\x66\x0f\x1f\x84\x00\x00\x00\x00\x00",
}

// Nop emits n bytes of no-operations, in as few instructions as possible.
func (a *Asm) Nop(n int) {
	for n > 0 {
		c := min(n, len(nops)-1)
		a.buf = append(a.buf, nops[c]...)
		n -= c
	}
}

// Align emits no-operations up to the next multiple of n, a power of two. It holds
// in memory for n up to the alignment of the mapping that the code is copied to.
func (a *Asm) Align(n int) {
	if n <= 0 || n&(n-1) != 0 {
		a.errorf("align: %d is not a power of two", n)
		return
	}
	a.Nop(-len(a.buf) & (n - 1))
}

// Const32 returns a memory operand that holds the four bytes of bits.
func (a *Asm) Const32(bits uint32) Mem { return a.constant(uint64(bits), 4) }

// Const64 returns a memory operand that holds the eight bytes of bits.
func (a *Asm) Const64(bits uint64) Mem { return a.constant(bits, 8) }

func (a *Asm) constant(bits uint64, size uint8) Mem {
	k := constant{size: size, width: size, bits: bits}
	at := a.slot(k)
	if *at == 0 {
		k.label = a.NewLabel()
		a.consts = append(a.consts, k)
		*at = int32(len(a.consts))
	}
	return Mem{Label: a.consts[*at-1].label}
}

// NewConst is Const32 or Const64, by size, with the number over and over in width bytes,
// 32 or 64. It is for a caller who does not ask twice for the same one: it is
// not looked for among others.
func (a *Asm) NewConst(bits uint64, size, width uint8) Mem {
	l := a.NewLabel()
	a.consts = append(a.consts, constant{})
	k := &a.consts[len(a.consts)-1]
	k.label, k.size, k.width, k.bits = l, size, width, bits
	return Mem{Label: l}
}

// ConstBytes returns a memory operand that holds a copy of b, aligned to 64 bytes.
func (a *Asm) ConstBytes(b []byte) Mem {
	at := a.slot(constant{bytes: b})
	if *at == 0 {
		a.consts = append(a.consts, constant{label: a.NewLabel(), bytes: bytes.Clone(b)})
		*at = int32(len(a.consts))
	}
	return Mem{Label: a.consts[*at-1].label}
}

// slot returns the place in the table where a constant is or belongs.
func (a *Asm) slot(k constant) *int32 {
	if 2*len(a.consts) >= len(a.byHash) {
		a.byHash = make([]int32, max(256, 2*len(a.byHash)))
		for n, o := range a.consts {
			*a.slot(o) = int32(n + 1)
		}
	}
	h := k.bits ^ uint64(k.size)
	for i, b := range k.bytes {
		h = h*31 + uint64(b) + uint64(i)
	}
	for h *= 0x9e3779b97f4a7c15; ; h += 1 << 40 {
		at := &a.byHash[h>>40&uint64(len(a.byHash)-1)]
		if *at == 0 {
			return at
		}
		if o := &a.consts[*at-1]; o.size == k.size && o.width == k.width && o.bits == k.bits && bytes.Equal(o.bytes, k.bytes) {
			return at
		}
	}
}

// CodeLen returns, after Finish, the length of the code without the constant pool.
func (a *Asm) CodeLen() int { return a.codeLen }

// Finish places the constant pool at the next multiple of 64 bytes, resolves all
// labels and returns the code, which is position independent and valid until Reset.
// The error joins everything that went wrong since the last Reset: operands that no
// form of an instruction takes, labels that were never bound, a mask without an
// instruction.
func (a *Asm) Finish() ([]byte, error) {
	if a.k != NoReg {
		a.errorf("mask %v without an instruction", a.k)
	}
	a.codeLen = len(a.buf)
	a.Listing = nil // of code
	a.pool()
	for _, f := range a.fixups {
		pos := a.labels[f.label-1]
		if pos == unbound {
			a.errorf("label %d, used at %#x, is not bound", f.label, f.at)
			continue
		}
		field := a.buf[f.at : f.at+4]
		addend := int32(binary.LittleEndian.Uint32(field))
		binary.LittleEndian.PutUint32(field, uint32(pos-f.end+addend))
	}
	a.fixups = a.fixups[:0]
	if err := a.Err(); err != nil {
		return nil, err
	}
	return a.buf, nil
}

// pool emits the constants, the widest alignment first so that the rest needs no
// padding. What lies between code and pool traps.
func (a *Asm) pool() {
	if len(a.consts) == 0 {
		return
	}
	a.pad(0xCC)
	for i := range a.consts {
		if c := &a.consts[i]; c.size == 0 {
			a.pad(0)
			a.Bind(c.label)
			a.buf = append(a.buf, c.bytes...)
		}
	}
	a.pad(0)
	for _, width := range [...]uint8{64, 32, 8, 4} {
		for i := range a.consts {
			c := &a.consts[i]
			if c.width != width {
				continue
			}
			a.Bind(c.label)
			for n := uint8(0); n < width; n += c.size {
				if c.size == 8 {
					a.buf = binary.LittleEndian.AppendUint64(a.buf, c.bits)
				} else {
					a.buf = binary.LittleEndian.AppendUint32(a.buf, uint32(c.bits))
				}
			}
		}
	}
}

// pad fills up to the next multiple of 64 bytes.
func (a *Asm) pad(b byte) {
	for len(a.buf)%64 != 0 {
		a.buf = append(a.buf, b)
	}
}
