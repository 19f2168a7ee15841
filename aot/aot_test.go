package aot_test

import (
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"weft/aot"
)

// linear is y = x*w + 1 for x float32[n 2] and weights 1 2 3 4 5 6 of two rows: a table as weft build
// writes it, whose kernel is Go alone.
func linear() *aot.Program {
	one := func(f *aot.Frame) {
		n, step := int(f.Word[2]), f.Word[4]
		if step != 4 {
			panic("rows have gaps")
		}
		for i := range n {
			*(*float32)(unsafe.Add(f.Ptr[1], 4*i)) = *(*float32)(unsafe.Add(f.Ptr[0], 4*i)) + 1
		}
	}
	return &aot.Program{
		Name:      "linear.Linear",
		Constants: "\x00\x00\x80\x3f\x00\x00\x00\x40\x00\x00\x40\x40\x00\x00\x80\x40\x00\x00\xa0\x40\x00\x00\xc0\x40",
		Kernels:   []aot.Kernel{{Does: "add", Go: one, Axes: 1, Cost: 3, Moves: []uint8{1, 1}, Sizes: []uint8{4, 4}}},
		Machine:   func(kernel int, wide bool) func(f *aot.Frame) uint64 { return nil },
		Plan: func(lengths []int) *aot.Plan {
			n := lengths[0]
			return &aot.Plan{
				Arrays: []aot.Array{{Name: "y", Type: "float32[n 3]", Size: 3 * n, Bytes: 4}, {Name: "x", Type: "float32[n 2]", Size: 2 * n, Bytes: 4}},
				Parts:  []int{12 * n},
				Slots:  []aot.Slot{{Array: 2}, {Bytes: 24}, {Array: 1}, {Part: 1, Bytes: 12 * n}},
				Steps: []aot.Step{{
					Routine: aot.MatMul,
					Args: []aot.View{{Slot: 0, Type: "float32", Shape: []int{n, 2}, Strides: []int{2, 1}},
						{Slot: 1, Type: "float32", Shape: []int{2, 3}, Strides: []int{3, 1}}},
					Out: []aot.View{{Slot: 3, Type: "float32", Shape: []int{n, 3}, Strides: []int{3, 1}}},
				}, {
					Launch: &aot.Launch{Kernel: 0, Words: []uint64{uint64(3 * n), 0, 4, 4}, Operands: []aot.Operand{{Slot: 3}, {Slot: 2}}},
				}},
			}
		},
	}
}

func ExampleProgram() {
	p := linear() // weft build writes it
	y, x := make([]float32, 3), []float32{1, 10}
	p.Run(true, []int{1}, nil, aot.Of(y), aot.Of(x))
	fmt.Println(y)

	defer func() { fmt.Println(recover()) }()
	p.Run(true, []int{1}, nil, aot.Of(y), aot.Of(x[:1]))
	// Output:
	// [42 53 64]
	// linear.Linear: x: has 1 element, want 2: float32[n 2]
}

// TestProgramRefusesOtherSlices names the array at fault.
func TestProgramRefusesOtherSlices(t *testing.T) {
	for _, arrays := range [][]aot.Slice{nil, {aot.Of([]float32{1})}, {aot.Of([]float32{0, 0, 0}), aot.Of([]float32(nil))}} {
		err := func() (err error) {
			defer func() { err, _ = recover().(error) }()
			linear().Run(true, []int{1}, nil, arrays...)
			return nil
		}()
		var e *aot.Error
		if !errors.As(err, &e) || e.Op != "linear.Linear" {
			t.Errorf("of %d slices: %v", len(arrays), err)
		}
	}
}

// TestProgramRefusesReachOutOfMemory breaks one number of the table at a time.
func TestProgramRefusesReachOutOfMemory(t *testing.T) {
	for name, spoil := range map[string]func(p *aot.Plan){
		"a view behind its array":    func(p *aot.Plan) { p.Steps[0].Args[0].Offset = 1 },
		"a view before its part":     func(p *aot.Plan) { p.Steps[0].Out[0].Offset = -1 },
		"a stride beyond constants":  func(p *aot.Plan) { p.Steps[0].Args[1].Strides[0] = 4 },
		"constants behind the file":  func(p *aot.Plan) { p.Slots[1].Bytes = 28 },
		"a kernel of more elements":  func(p *aot.Plan) { p.Steps[1].Launch.Words[0]++ },
		"an operand behind its slot": func(p *aot.Plan) { p.Steps[1].Launch.Operands[1].Bytes = 4 },
		"a slot behind its part":     func(p *aot.Plan) { p.Slots[3].At = 4 },
	} {
		p := linear()
		plan := p.Plan
		p.Plan = func(lengths []int) *aot.Plan {
			q := plan(lengths)
			spoil(q)
			return q
		}
		err := func() (err error) {
			defer func() { err, _ = recover().(error) }()
			p.Run(true, []int{2}, nil, aot.Of(make([]float32, 6)), aot.Of(make([]float32, 4)))
			return nil
		}()
		if err == nil || !strings.Contains(err.Error(), "does not take arrays of these lengths") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestProgramRefusesLengthsThatOverflow calls with a length that makes arrays of 0 elements by overflow.
func TestProgramRefusesLengthsThatOverflow(t *testing.T) {
	defer func() {
		if e, ok := recover().(*aot.Error); !ok || e.Op != "linear.Linear" {
			t.Errorf("it panics with %v", e)
		}
	}()
	linear().Run(true, []int{1 << 62}, nil, aot.Of([]float32{}), aot.Of([]float32{}))
}

// TestProgramInGoroutines runs plans of several lengths at the same time.
func TestProgramInGoroutines(t *testing.T) {
	p := linear()
	var all sync.WaitGroup
	for g := range 16 {
		all.Go(func() {
			for k := range 50 {
				n := (g+k)%5 + 1
				x, y := make([]float32, 2*n), make([]float32, 3*n)
				for i := range x {
					x[i] = float32(g*1000 + k + i)
				}
				p.Run(k%2 == 0, []int{n}, nil, aot.Of(y), aot.Of(x))
				for i := range y {
					if want := x[i/3*2]*float32(1+i%3) + x[i/3*2+1]*float32(4+i%3) + 1; y[i] != want {
						t.Errorf("element %d of %d rows is %v, want %v", i, n, y[i], want)
						return
					}
				}
			}
		})
	}
	all.Wait()
}

// TestRoutineRefusesIndex expects the error of the operation, and nothing from the step behind it.
func TestRoutineRefusesIndex(t *testing.T) {
	p := &aot.Program{Name: "pick.Pick", Machine: func(int, bool) func(f *aot.Frame) uint64 { return nil }, Plan: func([]int) *aot.Plan {
		vector := func(slot int, of string) aot.View {
			return aot.View{Slot: slot, Type: of, Shape: []int{3}, Strides: []int{1}}
		}
		return &aot.Plan{
			Arrays: []aot.Array{{Name: "y", Type: "float32[3]", Size: 3, Bytes: 4}, {Name: "x", Type: "float32[3]", Size: 3, Bytes: 4}, {Name: "at", Type: "int64[3]", Size: 3, Bytes: 8}},
			Slots:  []aot.Slot{{Array: 2}, {Array: 3}, {Array: 1}},
			Steps:  []aot.Step{{Routine: aot.IndexSelect(0), Args: []aot.View{vector(0, "float32"), vector(1, "int64")}, Out: []aot.View{vector(2, "float32")}}},
		}
	}}
	y, x := make([]float32, 3), []float32{1, 2, 4}
	for _, vector := range []bool{false, true} {
		p.Run(vector, nil, nil, aot.Of(y), aot.Of(x), aot.Of([]int64{2, -1, 0}))
		if !slices.Equal(y, []float32{4, 4, 1}) {
			t.Errorf("the elements are %v", y)
		}
		func() {
			defer func() {
				if e, ok := recover().(*aot.Error); !ok || e.Op != "index_select" || e.Arg != "index" {
					t.Errorf("an index behind the end: %v", e)
				}
			}()
			p.Run(vector, nil, nil, aot.Of(y), aot.Of(x), aot.Of([]int64{0, 3, 0}))
		}()
	}
}

// TestRoutineChecksRange copies elements in the range, and refuses others with the text of the operation.
func TestRoutineChecksRange(t *testing.T) {
	run := func(of string, bytes int, rows bool, out, in aot.Slice) (err error) {
		defer func() {
			if e, ok := recover().(*aot.Error); ok {
				err = e
			}
		}()
		text := map[bool]string{false: "%d is 100%% wrong", true: "%d in row %d, %d is the most"}[rows]
		view := func(slot int) []aot.View {
			return []aot.View{{Slot: slot, Type: of, Shape: []int{3}, Strides: []int{1}}}
		}
		p := &aot.Program{Name: "check.Check", Machine: func(int, bool) func(f *aot.Frame) uint64 { return nil }, Plan: func([]int) *aot.Plan {
			return &aot.Plan{
				Arrays: []aot.Array{{Name: "y", Type: of, Size: 3, Bytes: bytes}, {Name: "x", Type: of, Size: 3, Bytes: bytes}},
				Slots:  []aot.Slot{{Array: 1}, {Array: 2}},
				Steps:  []aot.Step{{Routine: aot.CheckRange(aot.Range{Op: "f", Arg: "target", Text: text, Rows: rows, Min: -2, Max: 7}), Args: view(1), Out: view(0)}},
			}
		}}
		p.Run(true, nil, nil, out, in)
		return nil
	}
	y, z := make([]int32, 3), make([]int64, 3)
	run("int32", 4, false, aot.Of(y), aot.Of([]int32{-2, 0, 7}))
	run("int64", 8, false, aot.Of(z), aot.Of([]int64{7, 0, -2}))
	if !slices.Equal(y, []int32{-2, 0, 7}) || !slices.Equal(z, []int64{7, 0, -2}) {
		t.Errorf("the elements are %v and %v", y, z)
	}
	for want, got := range map[string]error{
		"f: target: -3 is 100% wrong":          run("int32", 4, false, aot.Of(y), aot.Of([]int32{0, -3, 9})),
		"f: target: 8 in row 2, 7 is the most": run("int64", 8, true, aot.Of(z), aot.Of([]int64{0, 7, 8})),
	} {
		if got == nil || got.Error() != want {
			t.Errorf("the error is %v, want %s", got, want)
		}
	}
}

// TestAotHasNoPlannerAndNoCompiler holds what built programs link to the packages below graphs.
func TestAotHasNoPlannerAndNoCompiler(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	deps := strings.Fields(string(out))
	if !slices.Contains(deps, "weft/internal/cpu/product") {
		t.Fatalf("no products among %v", deps)
	}
	for _, dep := range deps {
		switch name, _ := strings.CutPrefix(dep, "weft/internal/"); name {
		case "weft", "core", "plan", "rewrite", "op", "ir", "x86", "interp", "vmath", "exec", "device", "saved", "gokernel", "formula", "cpu":
			t.Errorf("aot needs %s", dep)
		}
	}
}
