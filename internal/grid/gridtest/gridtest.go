// Package gridtest has what tests of a GPU's routines share: a simulated GPU, calls of its routines,
// and NVIDIA's assembler.
package gridtest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
	"unsafe"

	"weft/internal/array"
	"weft/internal/cpu"
	"weft/internal/cudart"
	"weft/internal/device"
	"weft/internal/grid"
	"weft/internal/ir"
	"weft/internal/jit"
	"weft/internal/op"
	"weft/internal/ptx"
	"weft/internal/ptxsim"
)

// A GPU is a simulated one. Its test fails if it finds faults.
type GPU struct {
	*cudart.Device
	t *testing.T
}

// New returns a GPU.
func New(t *testing.T) *GPU {
	t.Helper()
	sim := ptxsim.New(ptxsim.Options{Seed: 3})
	d, err := cudart.Open(sim, 0, cpu.New(jit.Portable))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
		for i, f := range sim.Faults() {
			if i < 3 {
				t.Errorf("fault: %v", &f)
			}
		}
	})
	return &GPU{d, t}
}

// host returns a storage over Go memory.
func host(b []byte) *array.Storage {
	return array.NewStorage(unsafe.Pointer(unsafe.SliceData(b)), len(b), b)
}

// Put copies bytes to the GPU.
func (g *GPU) Put(b []byte) *array.Storage {
	g.t.Helper()
	s := g.Default()
	st := s.Alloc(len(b))
	if err := s.Copy(device.Ref{Store: st}, device.Ref{Store: host(b)}, len(b)); err != nil {
		g.t.Fatal(err)
	}
	return st
}

// Dense returns an array on the GPU, in row-major order.
func (g *GPU) Dense(d array.DType, b []byte, shape ...int) array.View {
	g.t.Helper()
	return array.View{Store: g.Put(b), DType: d, Shape: shape, Strides: array.RowMajor(shape)}
}

// empty returns arrays for results.
func empty(s device.Stream, results []*ir.Node) (out []array.View) {
	for _, r := range results {
		out = append(out, array.View{Store: s.Alloc(r.Size() * r.DType.Size()), DType: r.DType, Shape: r.Shape, Strides: array.RowMajor(r.Shape)})
	}
	return out
}

// Call applies an operation to arrays on the GPU by its routine, and returns the bytes of its first
// result. The error is one that the GPU finds late.
func (g *GPU) Call(def *op.Def, attrs ir.Attrs, args ...array.View) ([]byte, error) {
	g.t.Helper()
	graph, nodes := ir.New(), make([]*ir.Node, len(args))
	for i, v := range args {
		nodes[i] = graph.Input(i, v.DType, v.Shape)
	}
	results, s := op.ApplyAll(def, attrs, nodes...), g.Default()
	n := results[0]
	size := n.Size() * n.DType.Size()
	out := empty(s, results)
	if len(results) > 1 {
		n = n.Args[0]
	}
	routine := g.Routine(def.Routine)
	if routine == nil {
		g.t.Fatalf("%s does not run on the GPU", def.Name)
	}
	if err := routine(&device.Call{Stream: s, Node: n, Args: args, Out: out}); err != nil {
		g.t.Fatal(err)
	}
	got := make([]byte, size)
	if err := s.Copy(device.Ref{Store: host(got)}, device.Ref{Store: out[0].Store}, size); err != nil {
		g.t.Fatal(err)
	}
	err := s.Sync()
	for _, v := range append(args, out...) {
		s.Free(v.Store)
	}
	return got, err
}

var usage = regexp.MustCompile(`(?s)Function properties for (\S+)\s+\d+ bytes stack frame, (\d+) bytes spill stores.*?Used (\d+) registers`)

// SpillsNothing fails the test if NVIDIA's assembler, whose path WEFT_PTXAS holds, refuses kernels or
// spills registers. It assembles them for compute capability 8.0 and 9.0.
func SpillsNothing(t *testing.T, kernels []*grid.Kernel) {
	t.Helper()
	for _, major := range []int{8, 9} {
		SpillsNothingOn(t, major, kernels)
	}
}

// SpillsNothingOn is SpillsNothing for the capability of a major number. known kernels may spill.
func SpillsNothingOn(t *testing.T, major int, kernels []*grid.Kernel, known ...string) {
	t.Helper()
	ptxas := os.Getenv("WEFT_PTXAS")
	if ptxas == "" {
		t.Skip("SKIPPED: WEFT_PTXAS does not name NVIDIA's assembler; .ci/ptxas fetches it")
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
		if string(m[2]) != "0" && !slices.Contains(known, string(m[1])) {
			t.Errorf("sm_%d0: %s spills %s bytes", major, m[1], m[2])
		}
	}
}

// NamesTellApart fails the test if two kernels have one name, under which a device keeps one of them,
// or if a kernel is not well formed.
func NamesTellApart(t *testing.T, kernels []*grid.Kernel) {
	t.Helper()
	seen := map[string]bool{}
	for _, k := range kernels {
		if seen[k.Name] {
			t.Errorf("two kernels have the name %s", k.Name)
		}
		seen[k.Name] = true
		if err := grid.Verify(k); err != nil {
			t.Error(err)
		}
	}
}
