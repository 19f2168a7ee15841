package product_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"weft/internal/grid"
	"weft/internal/grid/product"
	"weft/internal/ptx"
)

var usage = regexp.MustCompile(`(?s)Function properties for (\S+)\s+\d+ bytes stack frame, (\d+) bytes spill stores.*?Used (\d+) registers`)

// sampled returns the variants that are likely, and of the others some; all if WEFT_PTXAS_ALL is the
// major number of the capability, which takes minutes.
func sampled(major int) (out []product.Variant) {
	all := os.Getenv("WEFT_PTXAS_ALL") == strconv.Itoa(major)
	for i, v := range product.Variants(major >= 9) {
		likely := v.A.Of == v.DType && v.B.Of == v.DType && v.Vector && v.A.Vector == v.B.Vector && !v.Positive
		if likely || i%97 == 0 || all {
			out = append(out, v)
		}
	}
	for i, v := range product.WindowVariants(major >= 9) {
		// The likely ones are a convolution, the gradient of the input and that of the weights.
		likely := v.A.Of == v.DType && v.B.Of == v.DType && v.A.AlongK && (v.Vector || !v.Positive) && v.A.Vector == !v.Digits && v.B.AlongK == !v.Positive
		if likely || i%97 == 0 || all {
			out = append(out, v)
		}
	}
	return out
}

// NVIDIA's assembler, whose path WEFT_PTXAS holds, spills no registers.
func TestPtxasSpillsNothing(t *testing.T) {
	ptxas := os.Getenv("WEFT_PTXAS")
	if ptxas == "" {
		t.Skip("SKIPPED: WEFT_PTXAS does not name NVIDIA's assembler; .ci/ptxas fetches it")
	}
	for _, major := range []int{8, 9} {
		var kernels []*grid.Kernel
		for _, v := range sampled(major) {
			kernels = append(kernels, product.Lower(v))
		}
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
