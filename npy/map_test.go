package npy

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"weft"
	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/tensortest"
)

// All that Read reads, Map maps or reads: the same elements, in the same memory order.
func TestMapGolden(t *testing.T) {
	tensortest.SkipLate(t, "a mapped file is memory of the host")
	path := filepath.Join(t.TempDir(), "x.npy")
	mapped := 0
	golden(t, func(name string, data []byte) {
		if err := os.WriteFile(path, data, 0o666); err != nil {
			t.Fatal(err)
		}
		want, wantErr := decodeFile(path)
		for _, mode := range []MapMode{ReadOnly, CopyOnWrite} {
			x, err := Map(path, mode)
			if (err == nil) != (wantErr == nil) || errors.Is(err, errors.ErrUnsupported) != errors.Is(wantErr, errors.ErrUnsupported) {
				t.Errorf("%s: %v, Read gives %v", name, err, wantErr)
			}
			if err != nil {
				continue
			}
			v, done := (*core.Tensor)(x).Lend()
			if v.DType != want.DType || !slices.Equal(v.Shape, want.Shape) || !slices.Equal(v.Strides, want.Strides) || !slices.Equal(elems(&v), elems(&want)) {
				t.Errorf("%s: %s with strides %v", name, array.TypeString(v.DType, v.Shape), v.Strides)
			}
			if fmt.Sprintf("%T", v.Store.Owner()) == "mapped.user" {
				mapped++
			}
			done()
			x.Release()
		}
	})
	// 12 little-endian types of more than a byte and two of one (not bool), in two orders,
	// 5 files of elements each, and two of many dimensions; all in two modes.
	if want := 2 * (13*2*5 + 2); mapped != want && (runtime.GOOS == "linux" || runtime.GOOS == "darwin" || runtime.GOOS == "windows") {
		t.Errorf("%d arrays were mapped, want %d", mapped, want)
	}
}

func saved(t *testing.T, x *weft.Tensor) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.npy")
	if err := WriteFile(path, x); err != nil {
		t.Fatal(err)
	}
	return path
}

// Every way of writing is refused, with a typed error, and changes nothing.
func TestMapReadOnly(t *testing.T) {
	tensortest.SkipLate(t, "a mapped file is memory of the host")
	path := saved(t, weft.Arange[float64](12).Reshape(3, 4))
	before, _ := os.ReadFile(path)
	x, err := Map(path, ReadOnly)
	if err != nil {
		t.Fatal(err)
	}
	for name, write := range map[string]func(){
		"assign": func() { x.Assign(1) },
		"fill":   func() { x.Fill(2) },
		"zero":   func() { x.Zero() },
		"add":    func() { x.AddAssign(1) },
		"update": func() { x.Update((*weft.Tensor).Relu) },
		"view":   func() { x.Slice(weft.Index(1)).Assign(0) },
		"column": func() { x.T().Slice(weft.Index(1)).MulAssign(2) },
		"flat":   func() { x.Reshape(-1).Fill(0) },
		"nograd": func() { x.Detach().Assign(0) },
		"detach": func() { x.Detach().Assign(0) },
	} {
		var e *weft.Error
		if err := weft.Try(write); !errors.As(err, &e) || !strings.Contains(e.Msg, "read-only") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got := x.Add(1).Sum().Item(); got != 78 {
		t.Errorf("the sum is %v", got)
	}
	// A leaf can be mapped, and gradients flow.
	g := x.Clone().RequireGrad()
	x.Mul(g).Sum().Backward()
	if got := g.Grad().Sum().Item(); got != 66 {
		t.Errorf("the gradient's sum is %v", got)
	}
	// What Borrow lends must not be written; doing so is a panic and no end.
	caught := func() (r any) {
		defer func() { r = recover() }()
		weft.Borrow(x, func(data []float32) { data[0] = 1 })
		return nil
	}()
	if e, ok := caught.(*weft.Error); !ok || !strings.Contains(e.Error(), path+" is mapped read-only") {
		t.Errorf("a write through Borrow gave %v", caught)
	}
	if after, _ := os.ReadFile(path); !bytes.Equal(before, after) {
		t.Error("the file changed")
	}
}

func TestMapCopyOnWrite(t *testing.T) {
	path := saved(t, weft.Arange[float64](12).Reshape(3, 4))
	before, _ := os.ReadFile(path)
	x, err := Map(path, CopyOnWrite)
	if err != nil {
		t.Fatal(err)
	}
	other, err := Map(path, CopyOnWrite)
	if err != nil {
		t.Fatal(err)
	}
	x.Slice(weft.Index(1)).AddAssign(100)
	weft.Borrow(x, func(data []float32) { data[0] = -1 })
	if got := x.Sum().Item(); got != 465 {
		t.Errorf("the sum is %v", got)
	}
	if got := other.Sum().Item(); got != 66 {
		t.Errorf("another mapping's sum is %v", got)
	}
	if after, _ := os.ReadFile(path); !bytes.Equal(before, after) {
		t.Error("the file changed")
	}
}

// A file cut while it is mapped: uses panic with a typed error, none ends the process, and
// what is written over it afterwards is used again.
func TestMapCut(t *testing.T) {
	tensortest.SkipLate(t, "a mapped file is memory of the host")
	if runtime.GOOS == "windows" {
		t.Skip("SKIPPED: Windows does not cut mapped files")
	}
	n := 1 << 20
	path := saved(t, weft.Ones(n))
	whole, _ := os.ReadFile(path)
	for _, mode := range []MapMode{ReadOnly, CopyOnWrite} {
		x, err := Map(path, mode)
		if err != nil {
			t.Fatal(err)
		}
		if got := x.Sum().Item(); got != float64(n) {
			t.Fatalf("the sum is %v", got)
		}
		for _, size := range []int64{int64(len(whole)) - 1, 5000, 0} {
			if err := os.Truncate(path, size); err != nil {
				t.Fatal(err)
			}
			for name, use := range map[string]func(){
				"sum":    func() { x.Sum().Item() },
				"add":    func() { x.Add(1).Item() },
				"data":   func() { weft.Data[float32](x) },
				"borrow": func() { weft.Borrow(x, func(data []float32) { t.Error("lent") }) },
				"item":   func() { x.Slice(weft.Index(n - 1)).Item() },
				"digest": func() { weft.Digest(x) },
				"matmul": func() { x.Reshape(1024, 1024).MatMul(x.Reshape(1024, 1024)).Item() },
				"sort":   func() { x.Sort(0, weft.SortOpts{}) },
			} {
				var e *weft.Error
				if err := weft.Try(use); !errors.As(err, &e) || e.Kind != weft.DeviceFailed && !strings.Contains(err.Error(), "cut") {
					t.Errorf("%s of a file of %d bytes: %v", name, size, err)
				}
			}
			if s := x.String(); !strings.Contains(s, "was cut") { // package fmt prints panics
				t.Errorf("printed as %.100s", s)
			}
			if err := Write(io.Discard, x); err == nil || !strings.Contains(err.Error(), "was cut") {
				t.Errorf("writing lost elements: %v", err)
			}
		}
		if err := os.WriteFile(path, whole, 0o666); err != nil {
			t.Fatal(err)
		}
		if got := x.Sum().Item(); got != float64(n) {
			t.Errorf("the sum of the file that is whole again is %v", got)
		}
		x.Release()
		if err := weft.Try(func() { x.Sum() }); err == nil {
			t.Error("released memory is used")
		}
	}
}

// What is cut off in the middle of a use is a panic of that use, on every thread, in
// machine code too.
func TestMapCutMeanwhile(t *testing.T) {
	tensortest.SkipLate(t, "a mapped file is memory of the host")
	if runtime.GOOS == "windows" {
		t.Skip("SKIPPED: Windows does not cut mapped files")
	}
	n := 1 << 21
	path := saved(t, weft.Ones(n))
	whole, _ := os.ReadFile(path)
	x, err := Map(path, ReadOnly)
	if err != nil {
		t.Fatal(err)
	}
	faults := 0
	for i := range 40 {
		stop := make(chan bool)
		go func() {
			os.Truncate(path, 8192)
			close(stop)
		}()
		func() {
			defer func() {
				if r := recover(); r != nil {
					e, ok := r.(*weft.Error)
					if !ok || !strings.Contains(e.Error(), path+" was cut") {
						panic(r)
					}
					faults++
				}
			}()
			if i%2 == 0 {
				weft.Data[float32](x)
			}
			x.Add(1).Mul(x).Sum().Item()
		}()
		<-stop
		if err := os.WriteFile(path, whole, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d faults in 40 uses", faults)
	// One for certain: the function that Borrow calls cuts the file itself.
	func() {
		defer func() {
			if e, ok := recover().(*weft.Error); !ok || !strings.Contains(e.Error(), path+" was cut") {
				t.Errorf("a read behind the end of a file: %v", e)
			}
		}()
		weft.Borrow(x, func(data []float32) {
			os.Truncate(path, 0)
			t.Log(data[len(data)-1])
		})
	}()
	runtime.KeepAlive(x)
}

func TestMapErrors(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x.npy")
	put := func(data []byte) {
		t.Helper()
		if err := os.WriteFile(path, data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	good := file(1, f4+"(2,), }", "12345678")
	for _, c := range []struct {
		data []byte
		mode MapMode
		msg  string
	}{
		{nil, ReadOnly, "unexpected EOF"},
		{good[:5], ReadOnly, "unexpected EOF"},
		{good[:len(good)-1], CopyOnWrite, "needs 8 bytes of data, 7 are there: unexpected EOF"},
		{append(slices.Clone(good), 1), ReadOnly, "1 bytes follow the array"},
		{file(1, f4+"(2305843009213693951,), }", "12345678"), ReadOnly, "unexpected EOF"},
		{[]byte("PK\x03\x04123456789"), ReadOnly, "not a .npy file"},
		{good, MapMode(7), "MapMode(7)"},
	} {
		put(c.data)
		if _, err := Map(path, c.mode); err == nil || !strings.Contains(err.Error(), c.msg) {
			t.Errorf("got error %v, want one with %q", err, c.msg)
		}
		if _, err := MapColumns(path, c.mode); err == nil {
			t.Error("MapColumns gives no error")
		}
	}
	put(good)
	if _, err := MapColumns(path, ReadOnly); err == nil || !strings.Contains(err.Error(), "not structured") {
		t.Errorf("%v", err)
	}
	if x, err := Map(path, ReadOnly); err != nil || x.Size() != 2 {
		t.Errorf("%v, %v", x, err)
	}
	if _, err := Map(path+"x", ReadOnly); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v", err)
	}
	if _, err := Map(dir, ReadOnly); err == nil {
		t.Error("a folder is mapped")
	}
}

// TestMapReadWrite writes into a mapped file, which others then read; what cannot lie in memory as in
// the file is refused.
func TestMapReadWrite(t *testing.T) {
	tensortest.SkipLate(t, "a mapped file is memory of the host")
	path := filepath.Join(t.TempDir(), "x.npy")
	if err := WriteFile(path, weft.Zeros(4, 3)); err != nil {
		t.Fatal(err)
	}
	x, err := Map(path, ReadWrite)
	if err != nil {
		t.Fatal(err)
	}
	x.At(2).Assign(5)
	y, err := Map(path, ReadOnly)
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(y.Sum(1)); got != "[ 0.  0. 15.  0.]" {
		t.Error(got)
	}
	d := weft.Track(weft.Ones(4, 3)) // a mapped file is a sink
	if n, err := d.Flush(x.Sink()); n != 48 || err != nil {
		t.Error(n, err)
	}
	if got := y.Sum().Item(); got != 12 {
		t.Error(got)
	}
	x.Release()
	if err := WriteFile(path, weft.ZerosOf(weft.Bool, 4)); err != nil {
		t.Fatal(err)
	}
	if _, err := Map(path, ReadWrite); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("bools: %v", err)
	}
	if err := WriteColumnsFile(path, []Column{{Name: "a", Tensor: weft.ZerosOf(weft.Int8, 2)}, {Name: "b", Tensor: weft.Zeros(2)}}); err != nil {
		t.Fatal(err)
	}
	if _, err := MapColumns(path, ReadWrite); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("columns: %v", err)
	}
}
