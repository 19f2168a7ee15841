package npy_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"weft"
	"weft/data"
	"weft/internal/mapped"
	"weft/internal/tensortest"
	"weft/kernel"
	"weft/npy"
	"weft/ragged"
	"weft/safetensors"
	"weft/sym"
)

// A discard is a place for the bytes of a flush.
type discard struct{}

func (discard) WriteAt(b []byte, _ int64) (int, error) { return len(b), nil }

// TestCutInEveryUse cuts a mapped file in the middle of every use of its array: each is an
// *Error with the name of the file, and none ends the process. Methods of Tensor are found by
// reflection; the uses that take arguments, and uses by other packages, are listed.
func TestCutInEveryUse(t *testing.T) {
	tensortest.SkipLate(t, "a mapped file is memory of the host")
	if runtime.GOOS == "windows" {
		t.Skip("SKIPPED: Windows does not cut mapped files")
	}
	const n = 1 << 16
	path := filepath.Join(t.TempDir(), "cut.npy")
	if err := npy.WriteFile(path, weft.Rand(n)); err != nil {
		t.Fatal(err)
	}
	kernels := kernel.MustParse(`package p
import "weft/kernel"
func F(x float32) float32 { for range 3 { x = x*x + 1 }; return x }
func S(a kernel.Near1[float32]) float32 { return a.At(-1) + a.At(2) }
func A(x, y float32) float32 { return x + y }
`)
	compiled := weft.Compile(func(a *weft.Tensor) *weft.Tensor { return a.Mul(2).Exp().Sum() })
	v := sym.Vector("v", weft.Float32)
	symbolic, err := sym.Function(sym.In(v), sym.Out(v.Mul(2).Sum()))
	if err != nil {
		t.Fatal(err)
	}
	fails := func(err error) {
		if err != nil {
			panic(err)
		}
	}
	uses := map[string]func(x *weft.Tensor){
		"add":       func(x *weft.Tensor) { x.Add(1) },
		"item":      func(x *weft.Tensor) { x.At(n - 1).Item() },
		"print":     func(x *weft.Tensor) { fails(&weft.Error{Msg: x.String()}) }, // package fmt prints panics
		"digest":    func(x *weft.Tensor) { weft.Digest(x) },
		"Data":      func(x *weft.Tensor) { weft.Data[float32](x) },
		"Borrow":    func(x *weft.Tensor) { weft.Borrow(x, func(d []float32) { d[0] += d[n-1] }) },
		"CopyTo":    func(x *weft.Tensor) { weft.CopyTo(x, make([]float32, n)) },
		"sort":      func(x *weft.Tensor) { x.Sort(0, weft.SortOpts{}) },
		"matmul":    func(x *weft.Tensor) { x.Reshape(256, 256).MatMul(x.Reshape(256, 256)) },
		"conv":      func(x *weft.Tensor) { x.Reshape(1, 4, 128, 128).Conv2d(weft.Rand(4, 4, 3, 3), nil, weft.ConvOpts{}) },
		"map":       func(x *weft.Tensor) { kernels.Func("F").Map(x) },
		"stencil":   func(x *weft.Tensor) { kernels.Func("S").Stencil(x) },
		"reduce":    func(x *weft.Tensor) { kernels.Func("A").Reduce(x) },
		"scan":      func(x *weft.Tensor) { kernels.Func("A").Scan(x) },
		"gather":    func(x *weft.Tensor) { x.IndexSelect(0, weft.Randint(0, n, 1000)) },
		"transpose": func(x *weft.Tensor) { x.Reshape(256, 256).T().Contiguous() },
		"compiled":  func(x *weft.Tensor) { _, err := compiled.Call(x); fails(err) },
		"sym":       func(x *weft.Tensor) { _, err := symbolic.Call(x); fails(err) },
		"Expr":      func(x *weft.Tensor) { weft.Expr("2*x+1", weft.Vars{"x": x}) },
		"lazy":      func(x *weft.Tensor) { x.Lazy().Mul(2).Add(1).Sum().Item() },
		"npy":       func(x *weft.Tensor) { fails(npy.Write(sha256.New(), x)) },
		"npz": func(x *weft.Tensor) {
			fails(npy.WriteArchive(io.Discard, map[string]*weft.Tensor{"a": x}, npy.ArchiveOpts{}))
		},
		"safetensors": func(x *weft.Tensor) { fails(safetensors.Write(sha256.New(), map[string]*weft.Tensor{"a": x}, nil)) },
		"loader": func(x *weft.Tensor) {
			for _, err := range data.NewLoader(data.Tensors(x.Reshape(256, 256), nil), data.LoaderOpts{Batch: new(100), Shuffle: true}).Batches(context.Background()) {
				fails(err)
			}
		},
		"ragged":      func(x *weft.Tensor) { ragged.FromSizes(x, weft.From([]int64{1, n - 1})).Sum() },
		"addassign":   func(x *weft.Tensor) { x.AddAssign(1) },
		"fill":        func(x *weft.Tensor) { x.Fill(1) },
		"assign from": func(x *weft.Tensor) { weft.Zeros(n).Assign(x) },
		"update from": func(x *weft.Tensor) {
			y := weft.Zeros(n)
			defer weft.Track(y).Stop()
			y.Update(func(*weft.Tensor) *weft.Tensor { return x })
		},
		"flush": func(x *weft.Tensor) {
			d := weft.Track(x)
			defer d.Stop()
			_, err := d.Flush(discard{})
			fails(err)
		},
		"backward":  func(x *weft.Tensor) { w := x.Detach().RequireGrad(); w.Mul(w).Sum().Backward() },
		"histogram": func(x *weft.Tensor) { x.Histogram(weft.HistogramOpts{}) },
		"cat":       func(x *weft.Tensor) { weft.Cat([]*weft.Tensor{x, x}, 0) },
		"einsum":    func(x *weft.Tensor) { weft.Einsum("ij,ij->i", x.Reshape(256, 256), x.Reshape(256, 256)) },
		"cumsum":    func(x *weft.Tensor) { x.CumSum(0) },
	}
	methods := map[string]bool{} // which need not read
	for i := range reflect.TypeFor[*weft.Tensor]().NumMethod() {
		m := reflect.TypeFor[*weft.Tensor]().Method(i)
		args := m.Type.NumIn() - 1
		if m.Type.IsVariadic() {
			args--
		}
		if args > 0 || m.Name == "String" { // package fmt prints panics
			continue
		}
		use := func(x *weft.Tensor) {
			for _, out := range m.Func.Call([]reflect.Value{reflect.ValueOf(x)}) {
				if err, ok := out.Interface().(error); ok {
					fails(err)
				}
			}
		}
		if weft.Try(func() { use(weft.Rand(n)) }) == nil { // else it takes other tensors
			uses["method "+m.Name], methods["method "+m.Name] = use, true
		}
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { mapped.Unchecked = false })
	for name, use := range uses {
		mapped.Unchecked = false
		if err := os.WriteFile(path, whole, 0o600); err != nil {
			t.Fatal(err)
		}
		x, err := npy.Map(path, npy.CopyOnWrite)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(path, 0); err != nil {
			t.Fatal(err)
		}
		for _, midway := range []bool{false, true} {
			mapped.Unchecked = midway
			if methods[name] && !midway && weft.Try(func() { use(x) }) == nil {
				break // it looks at no elements: the first look is refused
			}
			func() {
				defer func() {
					v := recover()
					err, _ := v.(error)
					var e *weft.Error
					if !errors.As(err, &e) || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "was cut") {
						t.Errorf("%s, cut midway %v: %T %v, want an *Error that says that %s was cut", name, midway, v, v, path)
					}
				}()
				use(x)
			}()
		}
		weft.Try(x.Release) // computes what is lazy and reads x
	}
	t.Log(fmt.Sprint(len(uses), " uses"))
}

// TestMapTakesNoDescriptors maps a file often and keeps the arrays: the process has as many
// files open as before.
func TestMapTakesNoDescriptors(t *testing.T) {
	files := func() int {
		list, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Skip("SKIPPED: this system does not tell which files are open: ", err)
		}
		return len(list)
	}
	path := filepath.Join(t.TempDir(), "x.npy")
	if err := npy.WriteFile(path, weft.Ones(10)); err != nil {
		t.Fatal(err)
	}
	before := files()
	var all []*weft.Tensor
	for range 200 {
		x, err := npy.Map(path, npy.ReadOnly)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, x)
	}
	if now := files(); now > before+10 { // others may open some meanwhile
		t.Errorf("%d files are open with 200 mapped, %d before", now, before)
	}
	// The name may go, or stand for another file: the memory stays.
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := npy.WriteFile(path, weft.Zeros(1)); err != nil {
		t.Fatal(err)
	}
	if got := weft.Stack(all, 0).Sum().Item(); got != 2000 {
		t.Errorf("the sum is %v, want 2000", got)
	}
}
