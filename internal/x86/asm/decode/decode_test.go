// Package decode compares what the assembler writes with what a decoder that is not ours reads,
// that of golang.org/x/arch. It is a module of its own, so that a user of weft needs no decoder.
package decode

import (
	"bufio"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/arch/x86/x86asm"

	"weft/internal/x86/asm"
)

// A decoded is an instruction as another's disassembler reads it.
type decoded struct {
	bytes []byte
	text  string // in Intel syntax; "(bad)" where the bytes decode to nothing
}

// disassemble decodes code.
func disassemble(code []byte) (out []decoded) {
	for at := 0; at < len(code); {
		in, err := x86asm.Decode(code[at:], 64)
		if err != nil || in.Len == 0 {
			out = append(out, decoded{code[at : at+1], "(bad)"})
			at++
			continue
		}
		b, text := code[at:at+in.Len], x86asm.IntelSyntax(in, uint64(at), nil)
		if disp, ok := ripDisp(b); ok { // VEX and EVEX operands lack it
			if open := strings.IndexByte(text, '['); open >= 0 {
				end := open + strings.IndexByte(text[open:], ']')
				text = fmt.Sprintf("%s[rip%+#x]%s", text[:open], disp, text[end+1:])
			}
		}
		out = append(out, decoded{b, text})
		at += in.Len
	}
	return out
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

// TestDecode decodes the golden bytes with golang.org/x/arch and
// compares the text with the instruction that was meant.
func TestDecode(t *testing.T) {
	file, err := os.Open("../testdata/golden.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	n := 0
	for sc := bufio.NewScanner(file); sc.Scan(); {
		text, want, _ := strings.Cut(sc.Text(), "\t")
		code, err := hex.DecodeString(text)
		if err != nil {
			t.Fatal(err)
		}
		lines := disassemble(code)
		n++
		if len(lines) != 1 || normal(lines[0].text) != normal(want) {
			t.Errorf("%s:\n\t%s\n\t%s", text, normal(want), normal(lines[0].text))
		}
	}
	if n < 10000 {
		t.Errorf("only %d golden instructions", n)
	}
}

// TestAlign checks with the decoder that padding is made of no-operations.
func TestAlign(t *testing.T) {
	for n := range 40 {
		var a asm.Asm
		a.Nop(n)
		a.Align(16)
		if a.Len()%16 != 0 || a.Len() < n || a.Len() > n+15 {
			t.Errorf("aligned %d to %d", n, a.Len())
		}
		code, err := a.Finish()
		if err != nil {
			t.Fatal(err)
		}
		lines := disassemble(code)
		for _, ln := range lines {
			if !strings.HasPrefix(ln.text, "nop") && !strings.HasPrefix(ln.text, "data16 nop") && ln.text != "xchg ax, ax" {
				t.Errorf("%x is %q", ln.bytes, ln.text)
			}
		}
		if most := (n+8)/9 + 2; len(lines) > most {
			t.Errorf("%d bytes take %d instructions", len(code), len(lines))
		}
	}
}

// TestRandom emits random operands for random ops: no panic, and what is accepted
// is one instruction of the same length to the decoder.
func TestRandom(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	regs := []asm.Reg{asm.NoReg, asm.MemArg, asm.RAX, asm.RSP, asm.RBP, asm.R12, asm.R15, asm.X(3), asm.X(20), asm.Y(3), asm.Y(20), asm.Z(3), asm.Z(20), asm.K1, asm.K7, 0xFF01}
	pick := func() asm.Reg { return regs[r.IntN(len(regs))] }
	var a asm.Asm
	accepted := 0
	ops := 1 // of the assembler; the one behind the last has no name
	for asm.Op(ops).String() != asm.Op(0).String() {
		ops++
	}
	for range 200000 {
		in := asm.Inst{
			Op:     asm.Op(r.IntN(ops + 1)),
			HasImm: r.IntN(2) == 0,
			Imm:    int64(r.Uint64()) >> r.IntN(64),
			Mem:    asm.Mem{Base: pick(), Index: pick(), Scale: 1 << r.IntN(5), Disp: int32(r.Uint32()) >> r.IntN(32), Bcast: r.IntN(4) == 0},
		}
		if r.IntN(2) == 0 {
			in.K, in.Z = pick(), r.IntN(2) == 0
		}
		class := pick()
		for i := range r.IntN(5) {
			if in.A[i] = class; r.IntN(4) == 0 {
				in.A[i] = pick()
			}
		}
		a.Reset()
		a.Emit(&in)
		code, err := a.Finish()
		if err != nil {
			continue
		}
		accepted++
		lines := disassemble(code)
		if len(lines) != 1 || lines[0].text == "(bad)" {
			t.Errorf("%v gave %x, which decodes to %v", in, code, lines)
		}
	}
	if accepted < 1000 {
		t.Errorf("only %d accepted", accepted)
	}
}

var (
	ptr      = regexp.MustCompile(`\b(([xyz]mmword|byte|word|dword|qword) )?ptr `)
	scaled   = regexp.MustCompile(`(\w+)\*([1248])`)
	number   = regexp.MustCompile(`[+-]?\b0x[0-9a-f]+`)
	lanes    = regexp.MustCompile(`\{1to\d+\}`)
	vector   = regexp.MustCompile(`[xyz]mm(\d)`)
	maskDest = regexp.MustCompile(`^\w+ k\d`)
	fromMask = regexp.MustCompile(`^(vpmovm2\w|vpbroadcastm\w+) (\w+) ?\{(k\d)\}`)
	cond     = regexp.MustCompile(`^(cmov|set)(nb|z|nz|nbe|nl|nle) `)
	compare  = regexp.MustCompile(`^vcmp([ps][sd]) (.*), 0x([05])$`)
)

// normal writes an instruction so that the texts of the encoder and of the decoder
// agree: spaces, the order of index and scale, the sign of numbers, aliases, and the
// few places where the decoder is known to print a wrong lane count or width.
func normal(s string) string {
	s = strings.ToLower(s)
	s = ptr.ReplaceAllString(s, "")
	s = scaled.ReplaceAllString(s, "$2*$1")
	s = strings.ReplaceAll(s, "1*", "")
	s = strings.Replace(s, "movabs ", "mov ", 1)
	s = strings.Replace(s, "vpextrw_c5", "vpextrw", 1)
	s = fromMask.ReplaceAllString(s, "$1 $2, $3")
	s = cond.ReplaceAllStringFunc(s, func(c string) string {
		m := cond.FindStringSubmatch(c)
		alias := map[string]string{"nb": "ae", "z": "e", "nz": "ne", "nbe": "a", "nl": "ge", "nle": "g"}
		return m[1] + alias[m[2]] + " "
	})
	if m := compare.FindStringSubmatch(s); m != nil {
		s = "vcmp" + map[string]string{"0": "eq", "5": "nlt"}[m[3]] + m[1] + " " + m[2]
	}
	if strings.HasPrefix(s, "vcvt") || maskDest.MatchString(s) {
		s = lanes.ReplaceAllString(s, "")
	}
	for _, op := range []string{"vcvtudq2pd", "vcvtpd2udq", "vcvttpd2udq"} {
		if strings.HasPrefix(s, op) {
			s = vector.ReplaceAllString(s, "v$1")
		}
	}
	inMem := strings.IndexByte(s, '[')
	memEnd := strings.IndexByte(s, ']')
	s = number.ReplaceAllStringFunc(s, func(n string) string {
		u, err := strconv.ParseUint(strings.TrimLeft(n, "+-0x"), 16, 64)
		v := int64(u)
		if n[0] == '-' {
			v = -v
		}
		at := strings.Index(s, n)
		if err == nil && at > inMem && at < memEnd {
			v = int64(int32(v))
		}
		return fmt.Sprintf("%+d", v)
	})
	return strings.ReplaceAll(s, " ", "")
}
