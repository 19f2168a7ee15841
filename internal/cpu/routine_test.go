package cpu_test

import (
	"testing"

	"weft/internal/cpu"
	"weft/internal/ir"
	"weft/internal/jit"
	"weft/internal/op"
)

// Operations and routines name each other: every operation of class Routine has an ID of its own, with
// code on each kind of CPU, and every ID has an operation.
func TestRoutinesOfOperations(t *testing.T) {
	for _, d := range op.Table() {
		if (d.Class == op.Routine) != (d.Routine != ir.NoRoutine) {
			t.Errorf("%s: class %d, routine %d", d.Name, d.Class, d.Routine)
		}
	}
	for id := ir.NoRoutine + 1; id < ir.NumRoutines; id++ {
		if op.OfRoutine(id) == nil {
			t.Errorf("routine %d computes no operation", id)
		}
		for _, isa := range []jit.ISA{jit.Portable, jit.AVX2, jit.AVX512} {
			if d := op.OfRoutine(id); d != nil && cpu.New(isa).Routine(id) == nil {
				t.Errorf("%s has no routine on a CPU with %v", d.Name, isa)
			}
		}
	}
	if cpu.New(jit.Portable).Routine(ir.NoRoutine) != nil {
		t.Error("NoRoutine has code")
	}
}
