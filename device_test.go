package weft

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/cpu"
	"weft/internal/device"
	"weft/internal/jit"
)

// Two devices with different instruction sets live in one process and compute at the
// same time, each with plans, kernels and routines of its own; their bits are equal.
func TestTwoDevices(t *testing.T) {
	var numbers []uint8
	for _, isa := range jit.ISAs() {
		numbers = append(numbers, device.Register(cpu.New(isa)))
	}
	net := func(number uint8) []*Tensor {
		x := noise(1, 2, 8, 3, 12, 12).c().On(number)
		w := noise(2, .4, 4, 3, 3, 3).c().On(number).RequireGrad()
		u := noise(3, .4, 4*5*5, 6).c().On(number).RequireGrad()
		h := (*Tensor)(x).Conv2d((*Tensor)(w), nil, ConvOpts{}).Gelu().MaxPool2d(PoolOpts{Window: [2]int{2, 2}}).Flatten(1)
		y := h.MatMul((*Tensor)(u)).LogSoftmax(1)
		y.T().Contiguous().Square().Mean().Backward()
		return []*Tensor{y, y.ArgMax(1), (*Tensor)(w).Grad(), (*Tensor)(u).Grad(), h.Slice(All, Range(0, 50)).Gather(1, (*Tensor)(FromSlice([]int64{0, 3, 0, 9, 1, 2, 4, 4}, 8, 1).c().On(number)))}
	}
	want := Digest(net(0)...)
	var wg sync.WaitGroup
	for range 3 {
		for _, n := range numbers {
			wg.Go(func() {
				out := net(n)
				for i, r := range out {
					if got := r.v().Store.Device; got != n {
						t.Errorf("result %d of device %d is on device %d", i, n, got)
					}
				}
				if Digest(out...) != want {
					t.Errorf("device %d, %s, has other bits", n, device.Get(n).(*cpu.Device).ISA())
				}
			})
		}
	}
	wg.Wait()
	a, b := Ones(3), Ones(3).c().On(numbers[0])
	if err := Try(func() { a.Add((*Tensor)(b)) }); err == nil {
		t.Error("operands on two devices were added")
	}
	if got := (*Tensor)((*Tensor)(a.c().On(numbers[0])).Add((*Tensor)(b)).c().On(0)).Sum().Item(); got != 6 {
		t.Errorf("after moving: %v", got)
	}
	if (*Tensor)(b).Add(1).v().Store.Device != numbers[0] || (*Tensor)(b).Slice(Range(0, 2)).c().On(0).Size() != 2 {
		t.Error("a result left its device")
	}
}

// A view of a view that was given back is still on its device.
func TestReleasedViewOnDevice(t *testing.T) {
	n := device.Register(cpu.New(jit.Portable))
	x := noise(1, 1, 4, 6).c().On(n).RequireGrad()
	r := x.Reshape(3, 8)
	y := (*Tensor)(r).T()
	r.Release()
	y.Mul(y).Sum().Backward()
	if g := (*Tensor)(x).Grad(); g.v().Store.Device != n || Digest((*Tensor)(g.c().On(0))) != Digest((*Tensor)(x.Detach().On(0)).Mul(2)) {
		t.Errorf("the gradient is on device %d: %v", g.v().Store.Device, (*Tensor)(g.c().On(0)))
	}
}

// What is deferred in a storage is computed once, by whoever uses the memory first:
// each of the places that read elements, and every operation.
func TestDeferredStorage(t *testing.T) {
	for name, use := range map[string]func(x *Tensor) float64{
		"operation": func(x *Tensor) float64 { return x.Add(1).Sub(1).Item() },
		"item":      func(x *Tensor) float64 { return x.Item() },
		"data":      func(x *Tensor) float64 { return float64(Data[float32](x)[0]) },
		"borrow":    func(x *Tensor) (f float64) { Borrow(x, func(d []float32) { f = float64(d[0]) }); return f },
		"print":     func(x *Tensor) float64 { return map[bool]float64{true: 7}[strings.Contains(x.String(), "7")] },
		"digest":    func(x *Tensor) float64 { return map[bool]float64{true: 7}[Digest(x) == Digest(FullOf(Float32, 7, 1))] },
		"copy":      func(x *Tensor) float64 { return (*Tensor)(x.c().On(0).Clone()).Item() },
		"view":      func(x *Tensor) float64 { return x.Reshape(1, 1).T().Item() },
		"matmul":    func(x *Tensor) float64 { return x.Reshape(1, 1).MatMul(Ones(1, 1)).Item() },
		"argument":  func(x *Tensor) float64 { return Zeros(1).AddAssign(x).Item() },
		"receiver":  func(x *Tensor) float64 { return x.MulAssign(1).Item() },
	} {
		var runs atomic.Int32
		st := core.Alloc(0, 4)
		mem := st.Host()
		st.Defer(func() {
			runs.Add(1)
			*(*float32)(mem) = 7
		})
		x := made(array.View{Store: st, DType: Float32, Shape: []int{1}, Strides: []int{1}})
		if x.Shape(); runs.Load() != 0 {
			t.Errorf("%s: computed before it was used", name)
		}
		if got := use(x); got != 7 || runs.Load() != 1 {
			t.Errorf("%s: %v after %d computations, want 7 after one", name, got, runs.Load())
		}
	}
	// Many goroutines wait for one computation.
	st := core.Alloc(0, 4)
	mem := st.Host()
	var runs atomic.Int32
	st.Defer(func() { runs.Add(1); *(*float32)(mem) = 7 })
	x := made(array.View{Store: st, DType: Float32, Shape: []int{1}, Strides: []int{1}})
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if got := x.Add(1).Item(); got != 8 {
				t.Errorf("%v", got)
			}
		})
	}
	wg.Wait()
	if runs.Load() != 1 {
		t.Errorf("computed %d times", runs.Load())
	}
	// Content that could not be computed is never there.
	st = core.Alloc(0, 4)
	st.Defer(func() { array.Failf("load", "", "no such content") })
	x = made(array.View{Store: st, DType: Float32, Shape: []int{1}, Strides: []int{1}})
	for range 3 {
		if err := Try(func() { x.Add(1) }); err == nil {
			t.Error("memory whose content could not be computed was used")
		}
	}
}

// Memory is touched by the device that has it and by host.go: nothing else takes an
// address of a storage, but for what compares memory for Debug.
func TestWhoTouchesMemory(t *testing.T) {
	allowed := func(path string) bool {
		for _, p := range []string{"internal/core/host.go", "internal/core/debug.go", "internal/exec/checked.go", "internal/array/", "internal/cpu/", "internal/optest/", "bench/"} {
			if strings.HasPrefix(path, p) {
				return true
			}
		}
		return strings.HasSuffix(path, "_test.go")
	}
	files := token.NewFileSet()
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || allowed(filepath.ToSlash(path)) {
			return err
		}
		f, err := parser.ParseFile(files, path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(f, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) > 0 {
				return true
			}
			sel, ok := call.Fun.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			x, _ := sel.X.(*ast.SelectorExpr)
			ofView := x != nil && (x.Sel.Name == "v" || x.Sel.Name == "Store")
			if sel.Sel.Name == "Host" || sel.Sel.Name == "Ptr" && ofView {
				t.Errorf("%s takes the address of memory", files.Position(call.Pos()))
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
