package moves_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"weft/internal/grid/moves"
	"weft/internal/ptx"
)

var usage = regexp.MustCompile(`(?s)Function properties for (\S+)\s+\d+ bytes stack frame, (\d+) bytes spill stores.*?Used (\d+) registers`)

// NVIDIA's assembler, whose path WEFT_PTXAS holds, spills no registers. WEFT_PTXAS_ALL is the major
// number of the capability for which it assembles all kernels.
func TestPtxasSpillsNothing(t *testing.T) {
	ptxas := os.Getenv("WEFT_PTXAS")
	if ptxas == "" {
		t.Skip("SKIPPED: WEFT_PTXAS does not name NVIDIA's assembler; .ci/ptxas fetches it")
	}
	for _, major := range []int{8, 9} {
		kernels := moves.Kernels(os.Getenv("WEFT_PTXAS_ALL") == strconv.Itoa(major))
		text, err := ptx.Print(ptx.Target{Major: major}, kernels...)
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(t.TempDir(), "kernels.ptx")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		said, err := exec.Command(ptxas, "-v", fmt.Sprintf("-arch=sm_%d0", major), "-o", os.DevNull, file).CombinedOutput()
		if err != nil {
			t.Fatalf("ptxas: %v\n%.2000s", err, said)
		}
		found := usage.FindAllSubmatch(said, -1)
		if len(found) != len(kernels) {
			t.Fatalf("ptxas speaks of %d kernels, not %d:\n%.2000s", len(found), len(kernels), said)
		}
		for _, m := range found {
			t.Logf("sm_%d0 %s: %s registers", major, m[1], m[3])
			if string(m[2]) != "0" {
				t.Errorf("sm_%d0: %s spills %s bytes", major, m[1], m[2])
			}
		}
	}
}
