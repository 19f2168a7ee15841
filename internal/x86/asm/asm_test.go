package asm

import (
	"encoding/hex"
	"os"
	"slices"
	"strings"
	"testing"
)

// buildProgram assembles testdata/program.s by way of the API.
func buildProgram(a *Asm) {
	var table [72]byte
	for i := range table {
		table[i] = byte(i)
	}
	one, vec, pi := a.Const32(0x3F800000), a.ConstBytes(table[:]), a.Const64(0x400921FB54442D18)
	loop, check, done := a.NewLabel(), a.NewLabel(), a.NewLabel()
	a.LeaLabel(RDX, done)
	// GNU as encodes xor eax, eax as we do, with the destination in ModRM.rm.
	a.RR(XOR32, RAX, RAX)
	a.Jmp(check)
	a.Bind(loop)
	a.RM(VMOVUPS, Y(0), Idx(RSI, RAX, 4, 0))
	a.RRM(VADDPS, Y(0), Y(0), vec)
	a.RRM(VADDPS, Z(0), Z(0), one.B())
	a.RRMI(VCMPPS, K1, Z(0), a.Const32(0x3F800000).B(), 5)
	a.RRM(VMULSD, X(1), X(1), pi)
	a.MaskZ(K1).RRM(VPERMT2D, Z(0), Z(2), a.ConstBytes(table[:]).Add(64))
	a.MI(CMP32, one, 0x12345678)
	a.RMI(IMUL, RBX, a.Const64(0x400921FB54442D18), 0x12345)
	a.RI(ADD, RAX, 8)
	a.Jcc(CondE, done)
	a.Bind(check)
	a.RR(CMP, RAX, RCX)
	a.Jcc(CondL, loop)
	for range 30 {
		a.RRM(VADDPS, Z(0), Z(0), Ptr(RAX, 0x12345678))
	}
	a.Jcc(CondNE, loop)
	a.Jmp(loop)
	a.JmpReg(RDX)
	a.Bind(done)
	a.Op0(VZEROUPPER)
	a.Op0(RET)
}

// TestAssembledProgram compares labels, jumps in both directions and lengths, RIP-relative
// operands with and without an immediate behind them, and the layout of the
// constant pool with what GNU as makes of the same program.
func TestAssembledProgram(t *testing.T) {
	const golden = "testdata/program.hex"
	if os.Getenv(goldenEnv) == "write" {
		src, err := os.ReadFile("testdata/program.s")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(golden, []byte(gasSection(t, string(src))), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	var a Asm
	for range 2 { // the second time after Reset
		a.Reset()
		buildProgram(&a)
		size := a.Len()
		code, err := a.Finish()
		if err != nil {
			t.Fatal(err)
		}
		if got := hex.Dump(code); got != string(want) {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
		if a.CodeLen() != size {
			t.Errorf("CodeLen is %d after %d bytes", a.CodeLen(), size)
		}
	}
}

func TestLabels(t *testing.T) {
	var a Asm
	head := a.Here()
	for range 63 {
		a.Nop(2)
	}
	a.Jmp(head) // 128 bytes back: the last that fits a byte
	a.Jmp(head)
	if got := a.Len(); got != 126+2+5 {
		t.Errorf("%d bytes", got)
	}
	if _, ok := a.Offset(a.NewLabel()); ok {
		t.Error("an unbound label has an offset")
	}
	end := a.Here()
	if pos, ok := a.Offset(end); !ok || pos != 133 {
		t.Errorf("offset %d, %v", pos, ok)
	}
	code, err := a.Finish()
	if err != nil {
		t.Fatal(err)
	}
	if got := hex.EncodeToString(code[126:]); got != "eb80e97bffffff" {
		t.Errorf("jumps %s", got)
	}
}

func TestMovImm(t *testing.T) {
	for v, want := range map[int64]string{
		0:                  "41b900000000",
		0x7FFFFFFF:         "41b9ffffff7f",
		0xFFFFFFFF:         "41b9ffffffff",
		-1:                 "49c7c1ffffffff",
		-0x80000000:        "49c7c100000080",
		0x100000000:        "49b90000000001000000",
		-0x123456789ABCDEF: "49b91132547698badcfe",
	} {
		var a Asm
		a.MovImm(R9, v)
		code, err := a.Finish()
		if got := hex.EncodeToString(code); err != nil || got != want {
			t.Errorf("%#x: %s, %v", v, got, err)
		}
	}
}

// TestConditions checks that a Cond and the op made from it agree.
func TestConditions(t *testing.T) {
	var a Asm
	a.CMov(CondB, RAX, R8)
	a.Jcc(CondA.Not(), a.Here())
	code, err := a.Finish()
	if err != nil {
		t.Fatal(err)
	}
	if got := hex.EncodeToString(code); got != "490f42c0"+"76fe" {
		t.Error(got)
	}
	if SETG-SETO != 15 || CMOVG-CMOVO != 15 || CMOVG32-CMOVO32 != 15 {
		t.Error("conditions are not consecutive")
	}
}

// TestErrors feeds what no instruction can encode; all of it must come back from
// Finish, with a reason, and nothing may panic.
func TestErrors(t *testing.T) {
	for _, c := range []struct {
		name string
		emit func(a *Asm)
		want string
	}{
		{"mixed lengths", func(a *Asm) { a.RRR(VADDPS, Z(0), Y(1), Z(2)) }, "vaddps zmm0, ymm1, zmm2: no form takes these operands"},
		{"too few", func(a *Asm) { a.RR(VADDPS, Z(0), Z(1)) }, "no form takes"},
		{"too many", func(a *Asm) { a.RRRR(VADDPS, Z(0), Z(1), Z(2), Z(3)) }, "no form takes"},
		{"missing immediate", func(a *Asm) { a.RRR(VSHUFPS, Z(0), Z(1), Z(2)) }, "no form takes"},
		{"wrong class", func(a *Asm) { a.RRR(VADDPS, X(0), RAX, X(2)) }, "no form takes"},
		{"no EVEX form", func(a *Asm) { a.RRR(VPXOR, Z(0), Z(1), Z(2)) }, "vpxor"},
		{"no VEX register", func(a *Asm) { a.RRR(VPXOR, X(16), X(1), X(2)) }, "vpxor"},
		{"length", func(a *Asm) { a.RRRI(VSHUFF32X4, X(0), X(1), X(2), 1) }, "vshuff32x4"},
		{"k0 mask", func(a *Asm) { a.Mask(K0).RRR(VADDPS, Z(0), Z(1), Z(2)) }, "k0 cannot be an opmask"},
		{"mask class", func(a *Asm) { a.Mask(RAX).RRR(VADDPS, Z(0), Z(1), Z(2)) }, "cannot be masked"},
		{"mask on VEX", func(a *Asm) { a.Mask(K1).RRR(VPXOR, X(0), X(1), X(2)) }, "cannot be masked"},
		{"mask on gpr", func(a *Asm) { a.Mask(K1).RR(ADD, RAX, RCX) }, "cannot be masked"},
		{"zeroing a store", func(a *Asm) { a.MaskZ(K1).MR(VMOVUPS, Ptr(RAX, 0), Z(1)) }, "cannot zero"},
		{"zeroing a compare", func(a *Asm) { a.MaskZ(K1).RRRI(VCMPPS, K2, Z(1), Z(2), 1) }, "cannot zero"},
		{"zeroing without mask", func(a *Asm) { a.Emit(&Inst{Op: VADDPS, Z: true, A: [4]Reg{Z(0), Z(1), Z(2)}}) }, "mandatory"},
		{"gather without mask", func(a *Asm) { a.RM(VGATHERDPS, Z(0), Idx(RAX, Z(1), 4, 0)) }, "an opmask is mandatory"},
		{"gather index length", func(a *Asm) { a.Mask(K1).RM(VGATHERDPD, Z(0), Idx(RAX, Z(1), 8, 0)) }, "vgatherdpd"},
		{"gather into its index", func(a *Asm) { a.Mask(K1).RM(VGATHERDPS, Z(1), Idx(RAX, Z(1), 4, 0)) }, "must differ"},
		{"gather over its mask", func(a *Asm) { a.put(&Inst{Op: VGATHERDPS, A: [4]Reg{Y(1), MemArg, Y(1)}, Mem: Idx(RAX, Y(2), 4, 0)}) }, "must differ"},
		{"gather without index", func(a *Asm) { a.Mask(K1).RM(VGATHERDPS, Z(0), Ptr(RAX, 0)) }, "vgatherdps"},
		{"vector index", func(a *Asm) { a.RM(VMOVUPS, Z(0), Idx(RAX, Z(1), 4, 0)) }, "not encodable"},
		{"rsp index", func(a *Asm) { a.RM(VMOVUPS, Z(0), Idx(RAX, RSP, 4, 0)) }, "not encodable"},
		{"scale", func(a *Asm) { a.RM(MOV, RAX, Idx(RAX, RCX, 3, 0)) }, "not encodable"},
		{"vector base", func(a *Asm) { a.RM(MOV, RAX, Ptr(X(0), 0)) }, "not encodable"},
		{"label with base", func(a *Asm) { m := a.Const32(1); m.Base = RAX; a.RM(MOV, RAX, m) }, "not encodable"},
		{"broadcast of bytes", func(a *Asm) { a.RRM(VPADDB, Z(0), Z(1), Ptr(RAX, 0).B()) }, "no embedded broadcast"},
		{"broadcast on gpr", func(a *Asm) { a.RM(ADD, RAX, Ptr(RAX, 0).B()) }, "no embedded broadcast"},
		{"imm8", func(a *Asm) { a.RRI(VPSHUFD, Z(0), Z(1), 256) }, "immediate is out of range"},
		{"imm32", func(a *Asm) { a.RI(ADD, RAX, 1<<31) }, "immediate is out of range"},
		{"open length", func(a *Asm) { a.RM(VCVTPD2PS, X(0), Ptr(RAX, 0)) }, "needs a size"},
		{"register number", func(a *Asm) { a.RRR(VADDPS, Z(32), Z(1), Z(2)) }, "badreg32"},
		{"mask number", func(a *Asm) { a.RR(KMOVW, K(8), K1) }, "badreg8"},
		{"wide name of a gpr", func(a *Asm) { a.RR(VMOVUPS, RAX.Z(), Z(1)) }, "badreg"},
		{"op", func(a *Asm) { a.Op0(0) }, "no such instruction"},
		{"op beyond", func(a *Asm) { a.Op0(60000) }, "no such instruction"},
		{"unbound", func(a *Asm) { a.Jmp(a.NewLabel()) }, "label 1, used at 0x1, is not bound"},
		{"foreign label", func(a *Asm) { a.Jcc(CondE, 7) }, "no label 7"},
		{"foreign operand", func(a *Asm) { a.RM(MOV, RAX, At(7, 0)) }, "no label 7"},
		{"bound twice", func(a *Asm) { a.Bind(a.Here()) }, "already at 0x0"},
		{"bind nothing", func(a *Asm) { a.Bind(0) }, "no label 0"},
		{"condition", func(a *Asm) { a.Jcc(16, a.Here()) }, "no condition 16"},
		{"alignment", func(a *Asm) { a.Align(24) }, "24 is not a power of two"},
		{"mask alone", func(a *Asm) { a.Mask(K1) }, "mask k1 without an instruction"},
		{"mask twice", func(a *Asm) { a.Mask(K1).Mask(K2).RRR(VADDPS, Z(0), Z(1), Z(2)) }, "mask k2 after mask k1"},
	} {
		var a Asm
		c.emit(&a)
		code, err := a.Finish()
		if err == nil {
			t.Errorf("%s: assembled to %x", c.name, code)
			continue
		}
		if !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %q does not say %q", c.name, err, c.want)
		}
		a.Reset()
		if _, err := a.Finish(); err != nil {
			t.Errorf("%s: Reset keeps %v", c.name, err)
		}
	}

	var a Asm
	for range 1000 {
		a.Op0(0)
	}
	if _, err := a.Finish(); err == nil || strings.Count(err.Error(), "\n") != maxErrors-1 {
		t.Errorf("a thousand errors gave %v", err)
	}
}

// TestPool checks that equal constants share a place and different ones do not.
func TestPool(t *testing.T) {
	var a Asm
	ms := []Mem{a.Const32(1), a.Const64(1), a.ConstBytes([]byte{1, 0, 0, 0}), a.Const32(2)}
	for i, m := range ms {
		if slices.Contains(ms[:i], m) {
			t.Errorf("constant %d shares a place", i)
		}
	}
	if ms[0] != a.Const32(1) || ms[1] != a.Const64(1) || ms[2] != a.ConstBytes([]byte{1, 0, 0, 0}) {
		t.Error("equal constants have two places")
	}
	code, err := a.Finish()
	if err != nil {
		t.Fatal(err)
	}
	if want := "01000000" + strings.Repeat("00", 60) + "0100000000000000" + "01000000" + "02000000"; hex.EncodeToString(code) != want {
		t.Errorf("pool %x", code)
	}
}

// kernel emits n instructions of the kind that a compiled loop holds.
func kernel(a *Asm, n int) {
	for i := 0; i < n; i += 5 {
		a.RM(VMOVUPS, Z(i%16), Idx(RSI, RAX, 4, int32(i*64)))
		a.RRM(VFMADD213PS, Z(i%16), Z(16+i%16), a.Const32(uint32(i%40)).B())
		a.MaskZ(K1).RRR(VMULPS, Z(i%16), Z(1), Z(2))
		a.RRR(VADDPS, Y(1), Y(2), Y(3))
		a.MR(VMOVUPS, Idx(RDI, RAX, 4, int32(i*64)), Z(i%16))
	}
}

// TestAllocs: a warm Asm assembles without allocating.
func TestAllocs(t *testing.T) {
	var a Asm
	run := func() {
		a.Reset()
		kernel(&a, 500)
		if _, err := a.Finish(); err != nil {
			t.Fatal(err)
		}
	}
	run()
	if n := testing.AllocsPerRun(20, run); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkEmit500(b *testing.B) {
	var a Asm
	for b.Loop() {
		a.Reset()
		kernel(&a, 500)
		if _, err := a.Finish(); err != nil {
			b.Fatal(err)
		}
	}
}
