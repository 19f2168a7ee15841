// Package disasm turns machine code into text, for explanations of what weft
// compiled and for the tests of its encoder. It is apart from package asm so that
// programs which never look at their code do not link a disassembler.
package disasm

import (
	"encoding/binary"
	"fmt"
	"strings"

	"golang.org/x/arch/x86/x86asm"
)

// Line is one instruction.
type Line struct {
	Offset int    // from the start of the code
	Bytes  []byte // its encoding, aliasing the code
	Text   string // in Intel syntax; "(bad)" where the bytes decode to nothing
	Target int    // what a jump or a RIP-relative operand points to, or -1
}

// Lines decodes the first codeLen bytes of code, which may go on with a constant
// pool. Jumps show the offset of their target.
func Lines(code []byte, codeLen int) []Line {
	var out []Line
	for at := 0; at < codeLen; {
		ln := decode(code[at:codeLen], at)
		out = append(out, ln)
		at += len(ln.Bytes)
	}
	return out
}

// Text lists the instructions one a line with offset, and for an operand in the
// constant pool its first bytes as a little-endian number.
func Text(code []byte, codeLen int) string {
	var b strings.Builder
	for _, ln := range Lines(code, codeLen) {
		fmt.Fprintf(&b, "%6x  %s", ln.Offset, ln.Text)
		if t := ln.Target; t >= codeLen && t+4 <= len(code) {
			if strings.Contains(ln.Text, "qword ptr") && t+8 <= len(code) {
				fmt.Fprintf(&b, "  # %#x", binary.LittleEndian.Uint64(code[t:]))
			} else {
				fmt.Fprintf(&b, "  # %#x", binary.LittleEndian.Uint32(code[t:]))
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func decode(code []byte, at int) Line {
	in, err := x86asm.Decode(code, 64)
	if err != nil || in.Len == 0 {
		return Line{Offset: at, Bytes: code[:1], Text: "(bad)", Target: -1}
	}
	ln := Line{Offset: at, Bytes: code[:in.Len], Target: -1}
	ln.Text = x86asm.IntelSyntax(in, uint64(at), nil)
	if disp, ok := ripDisp(ln.Bytes); ok {
		ln.Target = at + in.Len + int(disp)
		// The decoder leaves RIP out of VEX and EVEX operands.
		if open := strings.IndexByte(ln.Text, '['); open >= 0 {
			end := open + strings.IndexByte(ln.Text[open:], ']')
			ln.Text = fmt.Sprintf("%s[rip%+#x]%s", ln.Text[:open], disp, ln.Text[end+1:])
		}
	}
	for _, arg := range in.Args {
		if rel, ok := arg.(x86asm.Rel); ok {
			ln.Target = at + in.Len + int(rel)
		}
	}
	return ln
}

// ripDisp returns the displacement of a RIP-relative operand: ModRM with mod 00 and
// rm 101. The opcode's place follows from the prefix.
func ripDisp(b []byte) (int32, bool) {
	i := 0
	switch b[0] {
	case 0xC5:
		i = 3
	case 0xC4:
		i = 4
	case 0x62:
		i = 5
	default:
		for b[i] == 0x66 || b[i] == 0xF2 || b[i] == 0xF3 || b[i]&0xF0 == 0x40 {
			if i++; i == len(b) {
				return 0, false
			}
		}
		if b[i] == 0x0F {
			if i++; i < len(b) && (b[i] == 0x38 || b[i] == 0x3A) {
				i++
			}
		}
		i++
	}
	if i+5 > len(b) || b[i]&0xC7 != 0x05 || !hasModRM(b[:i]) {
		return 0, false
	}
	return int32(binary.LittleEndian.Uint32(b[i+1:])), true
}

// hasModRM reports whether the opcode that ends prefix is followed by ModRM rather
// than by an immediate, among the instructions of package asm.
func hasModRM(prefix []byte) bool {
	op := prefix[len(prefix)-1]
	if len(prefix) > 1 && prefix[len(prefix)-2] == 0x0F {
		return op&0xF0 != 0x80 && op&0xF8 != 0xC8
	}
	if prefix[0] == 0xC4 || prefix[0] == 0xC5 || prefix[0] == 0x62 {
		return true
	}
	return op&0xC7 != 0x05 && op != 0xA9 && op&0xF0 != 0xB0 && op&0xFE != 0xE8
}
