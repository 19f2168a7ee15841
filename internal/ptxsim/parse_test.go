package ptxsim

import (
	"strings"
	"testing"

	cudart "weft/internal/cudart/driver"
)

// Texts that a driver or the rules of weft refuse, with the line and a word of the message.
func TestTextsAreRefused(t *testing.T) {
	for _, c := range []struct{ body, want string }{
		{"foo.u32 %r0, %r1;", "unknown instruction"},
		{"add.f32 %f0, %f1, %f2;", ".rn"},
		{"add.rn.ftz.f32 %f0, %f1, %f2;", "add.ftz"},
		{"mul.f64 %g0, %g1, %g2;", ".rn"},
		{"div.approx.f32 %f0, %f1, %f2;", ".rn"},
		{"fma.rz.f32 %f0, %f1, %f2, %f3;", ".rn"},
		{"add.rn.f32 %f0, %r1, %f2;", ""}, // bits may hold a float: loads
		{"add.u32 %f0, %r1, %r2;", "cannot hold"},
		{"add.u32 %r0, %d1, %r2;", "is of type"},
		{"add.u64 %d0, %r1, %d2;", "is of type"},
		{"add.u32 %r0, %p1, %r2;", "predicate"},
		{"add.u32 %r0, %q1, %r2;", "not declared"},
		{"add.u32 %r0, %r1;", "operands"},
		{"add.u32 %r0, %tid.x, 1;", "needs a register"},
		{"add.u32 %r0, %r1, 0f3F800000;", "float"},
		{"add.u32 %r0, %r1, 4294967296;", "does not fit"},
		{"add.rn.f32 %f0, %f1, 1;", "integer"},
		{"mul.wide.u32 %r0, %r1, %r2;", "cannot hold"},
		{"mul.u32 %r0, %r1, %r2;", "expected"},
		{"setp.ltu.u32 %p0, %r1, %r2;", "setp.ltu"},
		{"setp.lt.b32 %p0, %r1, %r2;", "setp.lt"},
		{"bra NOWHERE;", "label"},
		{"L: L: ret;", "declared twice"},
		{".reg .b32 %r0;", "declared twice"},
		{".reg .b32 %tid;", "special register"},
		{"ld.global.u32 %f0, [%a0];", "cannot hold"},
		{"ld.global.f32 %d0, [%a0];", "cannot hold"},
		{"ld.global.u32 %r0, %a0;", "brackets"},
		{"ld.u32 %r0, [%a0];", "expected"},
		{"ld.global.u32 %r0, [%r1];", "no address"},
		{"ld.global.v4.u64 {%d0,%d1,%d2,%d3}, [%a0];", "32 bytes"},
		{"ld.global.v2.u32 {%r0}, [%a0];", "braces"},
		{"st.const.u32 [%a0], %r0;", "only read"},
		{"atom.global.add.f32 %f0, [%a0], %f1;", "expected"},
		{"cvt.f32.s32 %f0, %r0;", "rounding"},
		{"cvt.s32.f32 %r0, %f0;", "rounding"},
		{"cvt.f32.f64 %f0, %g0;", "rounding"},
		{"cvt.rn.f64.f32 %g0, %f0;", "rounding"},
		{"mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%g0,%g1}, {%g2,%g3}, {%g4}, {%g0,%g1};", "registers"},
		{"bar.sync 16;", "barrier 16"},
		{"@%r0 bra L; L:", "predicate"},
		{"mov.b64 %d0, {%r0, %r1, %r2};", "parts"},
		{"ex2.approx.f32 %f0, %f1;", "unknown"},
		{"add.u32 %r0, %r1, 1", "expected"},
	} {
		g := open(t, Options{})
		_, err := g.Load(text(1, "\n"+c.body))
		if c.want == "" {
			if err != nil {
				t.Errorf("%s: %v", c.body, err)
			}
			continue
		}
		if code(err) != cudart.CodeBadText || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "line ") {
			t.Errorf("%s: %v", c.body, err)
		}
	}
	for _, c := range []struct{ text, want string }{
		{"", "line 1"},
		{".version 8.0\n.target sm_91\n.address_size 64", "line 2: target sm_91 is above"},
		{".version 7.0\n.target sm_90\n.address_size 64", "needs version"},
		{header + ".visible .entry k()\n{", "no end"},
		{header + ".visible .entry k()\n{ ret; }\n.visible .entry k()\n{ ret; }", "line 6: k is declared twice"},
		{header + ".const .b32 t[2] = {1, 2, 3};", "more than 2"},
		{header + "/* ", "comment"},
	} {
		if _, err := parse(c.text, 90); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v", c.text, err)
		}
	}
	m := must(parse(header, 90))
	if len(m.kernels) != 0 {
		t.Error("kernels of nothing")
	}
}

// FuzzParse: no text makes the parser panic.
func FuzzParse(f *testing.F) {
	f.Add(text(2, at4+"ld.global.v2.u32 {%r0, _}, [%a0+-8]; @!%p0 bra L; L: mov.b64 %d0, {%r0, 0};"))
	f.Add(header + ".const .align 8 .f64 t[2] = {0d3FF0000000000000, -1.5};\n.extern .shared .align 16 .b8 sm[];")
	f.Add(".version 8.0 .target sm_80 .address_size 64 .entry k(.param .u64 a, .param .b32 b) .reqntid 32,1,1 { { .reg .b32 x; } }")
	f.Add("0x .1. 0f 0d 1e+ % _ :: \"")
	f.Fuzz(func(t *testing.T, s string) { parse(s, 90) })
}
