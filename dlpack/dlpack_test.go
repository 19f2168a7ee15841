package dlpack

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"weft"
	"weft/internal/core"
	"weft/internal/jit"
	"weft/internal/tensortest"
	"weft/npy"
	"weft/safetensors"
)

// The offsets that a C compiler for 64 bits gives the structs of dlpack.h.
func TestLayout(t *testing.T) {
	var x dlTensor
	var m managedTensor
	var v managedTensorVersioned
	for name, c := range map[string][2]uintptr{
		"DLTensor.device_type":             {unsafe.Offsetof(x.deviceType), 8},
		"DLTensor.device_id":               {unsafe.Offsetof(x.deviceID), 12},
		"DLTensor.ndim":                    {unsafe.Offsetof(x.ndim), 16},
		"DLTensor.dtype.code":              {unsafe.Offsetof(x.code), 20},
		"DLTensor.dtype.bits":              {unsafe.Offsetof(x.bits), 21},
		"DLTensor.dtype.lanes":             {unsafe.Offsetof(x.lanes), 22},
		"DLTensor.shape":                   {unsafe.Offsetof(x.shape), 24},
		"DLTensor.strides":                 {unsafe.Offsetof(x.strides), 32},
		"DLTensor.byte_offset":             {unsafe.Offsetof(x.byteOffset), 40},
		"DLTensor":                         {unsafe.Sizeof(x), 48},
		"DLManagedTensor.manager_ctx":      {unsafe.Offsetof(m.context), 48},
		"DLManagedTensor.deleter":          {unsafe.Offsetof(m.deleter), 56},
		"DLManagedTensor":                  {unsafe.Sizeof(m), 64},
		"DLManagedTensorVersioned.ctx":     {unsafe.Offsetof(v.context), 8},
		"DLManagedTensorVersioned.deleter": {unsafe.Offsetof(v.deleter), 16},
		"DLManagedTensorVersioned.flags":   {unsafe.Offsetof(v.flags), 24},
		"DLManagedTensorVersioned.tensor":  {unsafe.Offsetof(v.tensor), 32},
		"DLManagedTensorVersioned":         {unsafe.Sizeof(v), 80},
	} {
		if c[0] != c[1] {
			t.Errorf("%s is at, or is long, %d bytes, want %d", name, c[0], c[1])
		}
	}
}

// call calls a deleter of this package as a C program would, by its machine code.
func call(t testing.TB) func(deleter, self unsafe.Pointer) {
	return func(deleter, self unsafe.Pointer) {
		for i := range deleters {
			if c := deleters[i].code; c != nil && c.Entry() == uintptr(deleter) {
				jit.Call(c, 0, self)
				return
			}
		}
		t.Error("a deleter that is not ours is called")
	}
}

// needDeleter skips tests where there is no machine code, or it takes its argument where
// the caller of tests does not put it.
func needDeleter(t testing.TB) {
	if runtime.GOARCH != "amd64" || runtime.GOOS == "windows" {
		t.Skipf("SKIPPED: deleters of this package cannot be called on %s/%s", runtime.GOOS, runtime.GOARCH)
	}
	if err := jit.Reason(); err != nil {
		t.Skip("SKIPPED: ", err)
	}
}

func tensors() []*weft.Tensor {
	var xs []*weft.Tensor
	for d := range codes {
		x := weft.Arange(24).Reshape(2, 3, 4).To(d)
		xs = append(xs, x, x.Slice(weft.Index(0), weft.Range(weft.End, weft.Begin, -2)), x.T(), x.Slice(weft.Range(0, 0)), x.Slice(weft.Index(1), weft.Index(1), weft.Index(1)),
			x.Slice(weft.Index(1), weft.Range(0, 1)).Expand(3, 4), weft.ZerosOf(d, 300, 3))
	}
	slices.SortStableFunc(xs, func(a, b *weft.Tensor) int { return int(a.DType()) - int(b.DType()) })
	return xs
}

// What is exported and imported is the same memory, seen the same way, and goes when it was
// given back.
func TestRoundTrip(t *testing.T) {
	tensortest.SkipLate(t, "the memory is not lent to C")
	needDeleter(t)
	for _, unversioned := range []bool{false, true} {
		for _, x := range tensors() {
			m, err := Export(x, ExportOpts{Unversioned: unversioned})
			if err != nil {
				t.Fatal(err)
			}
			y, err := Import(m.Pointer(), ImportOpts{Unversioned: unversioned, Delete: call(t)})
			if err != nil {
				t.Fatal(err)
			}
			v, w := (*core.Tensor)(x).Read(), (*core.Tensor)(y).Read()
			if x.DType() != y.DType() || !slices.Equal(x.Shape(), y.Shape()) || weft.Digest(x) != weft.Digest(y) || x.Size() > 0 && v.Ptr() != w.Ptr() {
				t.Errorf("%s %v with strides %v came back as %s %v with strides %v", x.DType(), x.Shape(), x.Strides(), y.DType(), y.Shape(), y.Strides())
			}
			if m.Freed() || weft.Try(x.Release) == nil {
				t.Error("memory that is exported can be released")
			}
			y.Release()
			if y.Size() > 0 && !m.Freed() {
				t.Error("the deleter was not called")
			}
			runtime.KeepAlive(y)
		}
	}
	// A tensor that is forgotten calls the deleter too, and the collector notices.
	x := weft.Ones(1000)
	m, err := Export(x, ExportOpts{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Import(m.Pointer(), ImportOpts{Delete: call(t)}); err != nil {
		t.Fatal(err)
	}
	for i := 0; weft.Try(x.Release) != nil; i++ {
		if i == 1000 {
			t.Fatal("memory stays lent")
		}
		runtime.GC()
	}
	// What no consumer got is freed by hand, twice if need be.
	x = weft.Ones(1000)
	if m, err = Export(x, ExportOpts{}); err != nil {
		t.Fatal(err)
	}
	m.Free()
	m.Free()
	if !m.Freed() {
		t.Error("Free does not free")
	}
	x.Release()
}

func TestReadOnly(t *testing.T) {
	tensortest.SkipLate(t, "the memory is not lent to C")
	needDeleter(t)
	path := filepath.Join(t.TempDir(), "x.npy")
	if err := npy.WriteFile(path, weft.Ones(5)); err != nil {
		t.Fatal(err)
	}
	x, err := npy.Map(path, npy.ReadOnly)
	if err != nil {
		t.Fatal(err)
	}
	defer x.Release()
	if _, err := Export(x, ExportOpts{Unversioned: true}); err == nil || !strings.Contains(err.Error(), "read-only") {
		t.Errorf("%v", err)
	}
	m, err := Export(x, ExportOpts{})
	if err != nil {
		t.Fatal(err)
	}
	y, err := Import(m.Pointer(), ImportOpts{Delete: call(t)})
	if err != nil {
		t.Fatal(err)
	}
	if err := weft.Try(func() { y.Fill(1) }); err == nil {
		t.Error("what is read-only is written")
	}
	y.Release()
	m.Freed()
}

func TestRefuses(t *testing.T) {
	tensortest.SkipLate(t, "the memory is not lent to C")
	needDeleter(t)
	for name, x := range map[string]*weft.Tensor{"nil": nil, "zero": {}, "gradient": weft.Ones(2).RequireGrad()} {
		if _, err := Export(x, ExportOpts{}); err == nil || !strings.HasPrefix(err.Error(), "dlpack: ") {
			t.Errorf("%s: %v", name, err)
		}
	}
	x := weft.Ones(4, 5)
	for name, c := range map[string]struct {
		change func(m *managedTensorVersioned)
		msg    string
	}{
		"version":        {func(m *managedTensorVersioned) { m.major = 2 }, "version 2.0"},
		"device":         {func(m *managedTensorVersioned) { m.tensor.deviceType = 2 }, "device of type 2"},
		"code":           {func(m *managedTensorVersioned) { m.tensor.code = 3 }, "no element type"},
		"bits":           {func(m *managedTensorVersioned) { m.tensor.bits = 4 }, "no element type"},
		"lanes":          {func(m *managedTensorVersioned) { m.tensor.lanes = 4 }, "4 lanes"},
		"negative ndim":  {func(m *managedTensorVersioned) { m.tensor.ndim = -1 }, "-1 dimensions"},
		"large ndim":     {func(m *managedTensorVersioned) { m.tensor.ndim = 17 }, "17 dimensions"},
		"no shape":       {func(m *managedTensorVersioned) { m.tensor.shape = 0 }, "shape is nil"},
		"odd shape":      {func(m *managedTensorVersioned) { m.tensor.shape++ }, "not aligned"},
		"no data":        {func(m *managedTensorVersioned) { m.tensor.data = 0 }, "data are nil"},
		"odd data":       {func(m *managedTensorVersioned) { m.tensor.byteOffset = 2 }, "not aligned"},
		"overflow":       {func(m *managedTensorVersioned) { m.tensor.byteOffset = ^uint64(0) - 3 }, "overflow"},
		"negative shape": {func(m *managedTensorVersioned) { int64s(m.tensor.shape, 2)[0] = -4 }, "negative"},
		"huge shape":     {func(m *managedTensorVersioned) { int64s(m.tensor.shape, 2)[0] = 1 << 62 }, "overflows"},
		"huge stride":    {func(m *managedTensorVersioned) { int64s(m.tensor.strides, 2)[0] = 1 << 60 }, "overflows"},
		"least stride":   {func(m *managedTensorVersioned) { int64s(m.tensor.strides, 2)[1] = -1 << 63 }, "overflows"},
	} {
		m, err := Export(x, ExportOpts{})
		if err != nil {
			t.Fatal(err)
		}
		c.change((*managedTensorVersioned)(m.Pointer()))
		if _, err := Import(m.Pointer(), ImportOpts{Delete: call(t)}); err == nil || !strings.Contains(err.Error(), c.msg) || !strings.HasPrefix(err.Error(), "dlpack: ") {
			t.Errorf("%s: got error %v, want one with %q", name, err, c.msg)
		}
		m.Free()
	}
	m, err := Export(x, ExportOpts{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Import(m.Pointer(), ImportOpts{}); err == nil {
		t.Error("a deleter is left uncalled")
	}
	// No strides stand for row-major order, no deleter for memory that stays.
	s := (*managedTensorVersioned)(m.Pointer())
	s.tensor.strides, s.deleter = 0, 0
	if y, err := Import(m.Pointer(), ImportOpts{}); err != nil || !y.IsContiguous() || y.Sum().Item() != 20 {
		t.Errorf("%v, %v", y, err)
	}
	m.Free()
	if _, err := Import(nil, ImportOpts{}); err == nil {
		t.Error("nil is a struct")
	}
	for _, f := range []func(){func() { Managed{}.Pointer() }, func() { Managed{}.Free() }, func() { Managed{}.Freed() }} {
		if weft.Try(f) == nil {
			t.Error("the zero Managed works")
		}
	}
	// A deleter of the caller's is what the struct has.
	own := unsafe.Pointer(new(int))
	if m, err = Export(x, ExportOpts{Deleter: own}); err != nil || (*managedTensorVersioned)(m.Pointer()).deleter != uintptr(own) {
		t.Errorf("%v", err)
	}
	m.Free()
}

// An image is a struct and its memory as they lie in this process, for another one.
type image struct {
	Versioned      bool    `json:"versioned"`
	Head           string  `json:"head"`
	HeadAt         uintptr `json:"headAt"`
	Data           string  `json:"data"`
	DataAt         uintptr `json:"dataAt"`
	Code           string  `json:"code"`
	dtype, content string
	shape          []int
}

// NumPy takes what is exported, in a Python of its own, and calls the deleter: its reading of
// the structs is not ours.
func TestNumPy(t *testing.T) {
	python := os.Getenv("WEFT_BENCH_PYTHON")
	if python == "" {
		t.Skip("SKIPPED: no counterpart: WEFT_BENCH_PYTHON names no Python with NumPy, which would take what is exported")
	}
	needDeleter(t)
	var images []image
	for _, x := range tensors() {
		if x.DType() == weft.BFloat16 || x.Rank() == 2 && x.Strides()[0] == 0 {
			continue // NumPy has no bfloat16, and makes expanded arrays read-only
		}
		for _, unversioned := range []bool{false, true} {
			m, err := Export(x, ExportOpts{Unversioned: unversioned})
			if err != nil {
				t.Fatal(err)
			}
			var content bytes.Buffer
			if err := npy.Write(&content, x.Contiguous()); err != nil {
				t.Fatal(err)
			}
			n := x.Size() * x.DType().Size()
			v := (*core.Tensor)(x).Read()
			data, first := v.Memory()
			i := image{Versioned: !unversioned, HeadAt: uintptr(m.Pointer()), dtype: x.DType().String(), shape: x.Shape(),
				Head: hex.EncodeToString(unsafe.Slice((*byte)(m.Pointer()), 80+8+16*x.Rank())), Data: hex.EncodeToString(data),
				Code: hex.EncodeToString(deleterCode(map[bool]byte{false: 8, true: 48}[unversioned], false)), content: hex.EncodeToString(content.Bytes()[content.Len()-n:])}
			if n > 0 {
				i.DataAt = uintptr(v.Ptr()) - uintptr(first)
			}
			images = append(images, i)
			m.Free()
		}
	}
	in, err := json.Marshal(images)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(python, "testdata/consume.py")
	cmd.Stdin, cmd.Stderr = bytes.NewReader(in), os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var read []struct {
		DType, Bytes string
		Shape        []int
		Freed        int
	}
	if err := json.Unmarshal(out, &read); err != nil || len(read) != len(images) {
		t.Fatalf("%d of %d: %v", len(read), len(images), err)
	}
	for k, r := range read {
		if i := images[k]; r.DType != i.dtype || !slices.Equal(r.Shape, i.shape) || r.Bytes != i.content || r.Freed != 1 {
			t.Errorf("%s %v, versioned %v: NumPy reads %s %v %.80s, want %.80s; the deleter set %d", i.dtype, i.shape, i.Versioned, r.DType, r.Shape, r.Bytes, i.content, r.Freed)
		}
	}
	t.Logf("NumPy took %d tensors", len(read))
}

// Here both sides are Go. With a C library the struct's pointer is an argument of its
// functions, and Delete calls deleter as one, by purego.SyscallN for instance.
func Example() {
	x := weft.Arange(6.0).Reshape(2, 3)
	m, err := Export(x, ExportOpts{Deleter: unsafe.Pointer(new(byte))}) // stands for a C function
	if err != nil {
		fmt.Println(err)
		return
	}
	y, err := Import(m.Pointer(), ImportOpts{Delete: func(deleter, self unsafe.Pointer) { m.Free() }})
	if err != nil {
		fmt.Println(err)
		return
	}
	y.Slice(weft.Index(0)).Fill(7) // the same memory
	fmt.Println(x)
	y.Release() // calls Delete
	fmt.Println(m.Freed())
	// Output:
	// [[7. 7. 7.]
	//  [3. 4. 5.]]
	// true
}

// TestExportOfAnyAddress exports elements of a mapped file whose header moves them by one byte.
func TestExportOfAnyAddress(t *testing.T) {
	tensortest.SkipLate(t, "the memory is not lent to C")
	needDeleter(t)
	const n = 1 << 15 // fewer are copied
	header := fmt.Sprintf(`{"x":{"dtype":"F32","shape":[%d],"data_offsets":[0,%d]}}`, n, 4*n)
	header += strings.Repeat(" ", 8-len(header)%8+1)
	file := binary.LittleEndian.AppendUint64(nil, uint64(len(header)))
	path := filepath.Join(t.TempDir(), "odd.safetensors")
	if err := os.WriteFile(path, append(append(file, header...), make([]byte, 4*n)...), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := safetensors.Map(path)
	if err != nil {
		t.Fatal(err)
	}
	x, err := f.Tensor("x")
	if err != nil {
		t.Fatal(err)
	}
	if m, err := Export(x); err == nil {
		at := (*managedTensorVersioned)(m.Pointer()).tensor.data
		m.Free()
		if at%4 != 0 {
			t.Errorf("exported at %#x", at)
		}
	} else if !strings.Contains(err.Error(), "Clone") {
		t.Error(err)
	}
	m, err := Export(x.Clone())
	if err != nil {
		t.Fatal(err)
	}
	m.Free()
}
