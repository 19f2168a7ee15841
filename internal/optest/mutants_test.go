package optest

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A mutant is one fault in one file of the routines.
type mutant struct {
	name, file, from, to string
	ops                  string // that should notice
}

var mutants = []mutant{
	{"a product sums k downwards", "product/product.go", "	p.run(total)\n", `	if s := p.DType.Size(); p.K > 0 {
		p.A.Ptr, p.A.Col = unsafe.Add(p.A.Ptr, (p.K-1)*p.A.Col*s), -p.A.Col
		p.B.Ptr, p.B.Row = unsafe.Add(p.B.Ptr, (p.K-1)*p.B.Row*s), -p.B.Row
	}
	p.run(total)
`, "matmul2"},
	{"a batch moves B by A's stride", "product/product.go", "j*t.B[d]", "j*t.A[d]", "matmul2"},
	{"a block of a sum replaces those before", "product/job.go", "f.Flags = tile.Bit(p0 > 0 || j.add, 0)", "f.Flags = tile.Bit(p0 > numbers.KBlock || j.add, 0)", "matmul2"},
	{"an epilogue runs with every block of a sum", "product/job.go", "if p0+kk == j.k {", "if kk <= j.k {", "linear"},
	{"the epilogue of a turned product is not turned", "product/job.go", "case j.flipped:", "case j.flipped && j.m > 1:", "linear"},
	{"an epilogue begins each piece in the first column", "../launch/epilogue.go", "r.cut(end, len(r.Extents), r.c0, r.c1)", "r.cut(end, len(r.Extents), 0, r.c1)", "linear conv2d"},
	{"the terms of a convolution run backwards", "convolution/channels.go", "for i, t := range terms {", "for i := len(terms) - 1; i >= 0; i-- {\n\t\t\t\t\tt := terms[i]", "conv2d_core conv2d_input"},
	{"a column is missing in the padding", "convolution/correlate.go", "left := min(max(0, -colAt), cols) // columns of zeros", "left := min(max(0, -colAt)+min(1, max(0, -colAt)), cols)", "conv2d_core conv2d_input"},
	{"tiles of Winograd's algorithm lose the last column", "convolution/winograd.go", "n := min(cols-left, w.srcW-(w.colAt+left))", "n := min(cols-left, w.srcW-(w.colAt+left)) - 1", "conv2d_core conv2d_input"},
	{"portable Go weighs otherwise in Winograd's algorithm", "convolution/winogradgo.go", "f.half", "(f.half * 1.0000001)", "conv2d_core conv2d_input"},
	{"the second block of a gradient of weights replaces the first", "convolution/gradweight.go", "} else if b > 0 {", "} else if b > 1 {", "conv2d_weight"},
	{"narrow groups begin a column early", "convolution/narrowgroups.go", "left := max(0, -x)\n", "left := max(0, -x-1)\n", "conv2d_core conv2d_input"},
	{"the last block of a gradient of narrow groups is lost", "convolution/narrowgroups.go", " || at == last, 0)", " || at == last+1, 0)", "conv2d_weight"},
	{"the gradient of pooling goes to the last of equal elements", "pooling/pooling.go", "for line := last - 1; line >= first; line-- {", "for line := first; line < last; line++ {", "max_pool2d_place max_pool2d_pick"},
	{"pooling forgets NaN", "pooling/genpool.go", "p.part, r, s, codegen.Unordered", "p.part, r, r, codegen.Unordered", "max_pool2d"},
	{"the edge of a transpose is left out", "transpose/transpose.go", "min(c.stepA, c.a.N-a)", "min(c.stepA, c.a.N-a-1)", "copy"},
	{"of equal elements the last is the greatest", "index/extreme.go", "return x > best ||", "return x >= best ||", "reduce_argmax"},
	{"machine code finds the last of equal extremes", "codegen/gen.go", "NotLessEqual    = 0x16", "NotLessEqual    = 0x15", "reduce_argmax"},
	{"places from the back are off by one", "index/elements.go", "			k += size & (k >> 63)\n			bad", "			k += (size - 1) & (k >> 63)\n			bad", "gather index_select"},
	{"the last row is not copied", "index/rows.go", "8*len(part)\n", "8*(len(part)-1)\n", "index_select"},
	{"rows are added in descending order", "index/indices.go", "	for i, k := range idx {\n		order[next[k]] = i\n", "	for i := len(idx) - 1; i >= 0; i-- {\n		k := idx[i]\n		order[next[k]] = i\n", "index_add"},
	{"elements are added to what was there", "index/elements.go", "	clear(bytes(codegen.Ptr(out), n))\n", "	_ = n\n", "scatter_sum"},
	{"rows with an epilogue begin as what was there", "index/along.go", "clear(bytes(at, n*row))", "_ = row", "scatter_add"},
	{"elements under a mask lose a bit", "index/genmask.go", "1<<(8*g.size)-1) // all bits", "1<<(8*g.size-1)-1) // all bits", "mask_select"},
	{"places under a mask are counted from one", "index/mask.go", "int64(at + i)", "int64(at + i + 1)", "nonzero"},
	{"the end of a mask counts as true", "index/mask.go", "		n += int(x)\n", "		n += int(x | 1)\n", "count_true"},
}

// TestRoutineMutants breaks the routines in one place at a time, in a copy of the file
// that the build takes instead, and demands that TestValues fails for the operations that
// the fault is in: the suite's own sharpness.
func TestRoutineMutants(t *testing.T) {
	dir, err := filepath.Abs("../cpu")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range mutants { // without building them too
		if text, err := os.ReadFile(filepath.Join(dir, m.file)); err != nil || !strings.Contains(string(text), m.from) {
			t.Errorf("%s: %s does not have %q (%v)", m.name, m.file, m.from, err)
		}
	}
	if os.Getenv("WEFT_MUTATE") == "" {
		t.Skip("SKIPPED: a build for each of the mutants, minutes: WEFT_MUTATE=1 asks for it")
	}
	run := func(ops string, more ...string) (string, error) {
		cmd := exec.Command("go", append(append([]string{"test", "-count=1", "-run=^TestValues$"}, more...), ".")...)
		cmd.Env = append(os.Environ(), "WEFT_MUTATE=", "WEFT_OPS="+ops)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	all := ""
	for _, m := range mutants {
		all += m.ops + " "
	}
	if out, err := run(all); err != nil {
		t.Fatalf("without a fault: %v\n%s", err, out)
	}
	for _, m := range mutants {
		t.Run(m.name, func(t *testing.T) {
			file := filepath.Join(dir, m.file)
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			broken := strings.ReplaceAll(string(text), m.from, m.to)
			copied := filepath.Join(t.TempDir(), "broken.go")
			overlay := filepath.Join(t.TempDir(), "overlay.json")
			list, _ := json.Marshal(map[string]map[string]string{"Replace": {file: copied}})
			for name, text := range map[string]string{copied: broken, overlay: string(list)} {
				if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			out, err := run(m.ops, "-overlay="+overlay)
			switch {
			case err == nil:
				t.Errorf("not noticed:\n%s", out)
			case strings.Contains(out, "[build failed]") || strings.Contains(out, "[setup failed]"):
				t.Errorf("does not build:\n%s", out)
			}
		})
	}
}
