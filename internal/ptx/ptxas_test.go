package ptx

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"weft/internal/grid"
)

// assemble gives a text to ptxas, NVIDIA's assembler, whose path WEFT_PTXAS holds, and returns
// the kernels that spill registers.
func assemble(t *testing.T, target Target, kernels []*grid.Kernel) (spills []string) {
	t.Helper()
	ptxas := os.Getenv("WEFT_PTXAS")
	if ptxas == "" {
		t.Skip("SKIPPED: WEFT_PTXAS does not name NVIDIA's assembler; .ci/ptxas fetches it")
	}
	text, err := Print(target, kernels...)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "kernels.ptx")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	said, err := exec.Command(ptxas, "-v", fmt.Sprintf("-arch=sm_%d%d", target.Major, target.Minor), "-o", os.DevNull, file).CombinedOutput()
	if err != nil {
		if len(said) > 2000 {
			said = said[:2000]
		}
		t.Fatalf("ptxas: %v\n%s", err, said)
	}
	for _, m := range spillLine.FindAllSubmatch(said, -1) {
		if !bytes.Equal(m[2], []byte("0")) {
			spills = append(spills, string(m[1]))
		}
	}
	if len(spillLine.FindAll(said, -1)) != len(kernels) {
		t.Fatalf("ptxas speaks of %d kernels, not %d:\n%.2000s", len(spillLine.FindAll(said, -1)), len(kernels), said)
	}
	return spills
}

var spillLine = regexp.MustCompile(`Function properties for (\S+)\s+\d+ bytes stack frame, (\d+) bytes spill stores`)

var targets = []Target{{8, 0}, {9, 0}}

// TestPtxasTakesEveryInstruction: each operation on each type, and each other instruction.
func TestPtxasTakesEveryInstruction(t *testing.T) {
	for _, target := range targets {
		spillNothing(t, target, allKernels(target))
	}
}

// spillNothing fails the test if kernels spill registers.
func spillNothing(t *testing.T, target Target, kernels []*grid.Kernel) {
	t.Helper()
	if spills := assemble(t, target, kernels); spills != nil {
		t.Errorf("%v: registers spill in %v", target, spills)
	}
}
