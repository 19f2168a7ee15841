package asm

import (
	"bytes"
	"testing"
)

// TestMutation breaks every field of every row of the table, one at a time, and
// checks that the made-up cases notice: that the golden file would not match.
func TestMutation(t *testing.T) {
	byForm := make([][]Inst, len(forms))
	for _, c := range testCases(false) {
		if f, _, _ := match(&c.in); f == &forms[c.form] {
			byForm[c.form] = append(byForm[c.form], c.in)
		}
	}
	var a Asm
	code := func(ins []Inst) []byte {
		a.Reset()
		for _, in := range ins {
			a.Emit(&in)
		}
		b, err := a.Finish()
		if err != nil {
			return nil // refused, which the golden test reports too
		}
		return bytes.Clone(b)
	}
	n := 0
	for op := Op(1); int(op) < len(opNames); op++ {
		for i := opFirst[op]; i < opFirst[op+1]; i++ {
			f, saved := &forms[i], forms[i]
			want := code(byForm[i])
			if len(want) == 0 {
				t.Fatalf("form %d of %s has no cases", i-opFirst[op], op)
			}
			for name, change := range mutations(f) {
				change()
				if bytes.Equal(code(byForm[i]), want) {
					t.Errorf("%s, form %d: nothing notices a wrong %s", op, i-opFirst[op], name)
				}
				forms[i] = saved
				n++
			}
		}
	}
	if n < 5*len(forms) {
		t.Errorf("only %d mutations", n)
	}
}

// mutations returns what can be wrong in f, by name.
func mutations(f *form) map[string]func() {
	m := map[string]func(){
		"opcode": func() { f.opcode ^= 1 },
		"prefix": func() { f.pp ^= 1 },
		"map":    func() { f.mapID ^= 1 },
		"lens":   func() { f.lens = 0 },
	}
	if f.enc != encEVEX {
		m["VEX.W"] = func() { f.vexW ^= 1 }
	}
	if f.enc == encEVEX || f.enc == encBoth {
		m["EVEX.W"] = func() { f.evexW ^= 1 }
		if f.tuple != tupleNone && f.hasMemory() && f.evexMem() {
			m["scale"] = func() { f.tuple = scaleMutant[f.tuple] }
			if f.tuple.bcast() != 0 {
				m["broadcast"] = func() { f.tuple = bcastMutant[f.tuple] }
			}
		}
	}
	if f.enc == encBoth {
		m["VEX"] = func() { f.enc = encEVEX }
		m["EVEX"] = func() { f.enc = encVEX }
	}
	if f.digit >= 0 {
		m["digit"] = func() { f.digit ^= 1 }
	}
	if f.imm == imm8u || f.imm == imm32s || f.imm == imm32 || f.imm == imm64 {
		m["immediate"] = func() { f.imm = immOne }
	}
	for i, a := range f.args[:f.nargs] {
		if r := a.role(); r == roleReg || r == roleVvvv || r == roleIs4 {
			m["role"] = func() { f.args[i] = roleOpcode<<4 | a.class() }
		}
	}
	return m
}

// scaleMutant gives a tuple with the same broadcast and another scale where there is
// a broadcast, else one with another scale.
var scaleMutant = map[tuple]tuple{
	tupleFull: tupleHalf, tupleFull4: tupleHalf4, tupleFull8: tuple1, tupleHalf: tupleFourth, tupleHalf4: tupleFull4,
	tupleFourth: tupleEighth, tupleEighth: tupleFourth, tupleDup: tupleFull, tuple1: tuple2, tuple2: tuple4,
	tuple4: tuple8, tuple8: tuple4, tuple16: tuple32, tuple32: tuple16, tupleElem4: tuple8, tupleElem8: tuple4,
}

// bcastMutant gives a tuple with another broadcast.
var bcastMutant = map[tuple]tuple{tupleFull4: tupleFull8, tupleFull8: tupleFull4, tupleHalf4: tupleFull8}

// evexMem reports whether the form can be EVEX with a memory operand: conversions
// from memory to a general-purpose register have nothing that asks for it.
func (f *form) evexMem() bool {
	for _, a := range f.args[:f.nargs] {
		switch a.role() {
		case roleRM, roleMem, roleVSIB:
		default:
			if a.class() < arg8 {
				return true
			}
		}
	}
	return f.enc == encEVEX
}
