package safetensors

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"weft/internal/array"
	"weft/internal/raw"
)

// appendValue appends the bytes of element k, as testdata/make_golden.py
// defines it.
func appendValue(b []byte, d array.DType, k int) []byte {
	f := float64(float64(k)*0.1) - 1.7
	if k < 5 {
		f = []float64{math.Inf(1), math.Inf(-1), math.Copysign(0, -1), 1.0 / 3, 1e-310}[k]
	}
	le := binary.LittleEndian
	switch d {
	case array.Bool:
		if k%3 == 1 {
			return append(b, 1)
		}
		return append(b, 0)
	case array.Uint8:
		return append(b, byte(k*37+5))
	case array.Int32:
		return le.AppendUint32(b, uint32((k-3)*(1<<27+13)))
	case array.Int64:
		return le.AppendUint64(b, uint64((k-3)*(1<<58+13)))
	case array.Float32:
		return le.AppendUint32(b, math.Float32bits(float32(f)))
	}
	return le.AppendUint64(b, math.Float64bits(f))
}

func values(d array.DType, n int) []byte {
	var b []byte
	for k := range n {
		b = appendValue(b, d, k)
	}
	return b
}

// sample returns a tensor with the values of the golden files.
func sample(d array.DType, shape ...int) array.View {
	return raw.View(d, shape, false, values(d, array.Size(shape)))
}

// memory returns the bytes of a contiguous view.
func memory(t testing.TB, v *array.View) []byte {
	t.Helper()
	if !v.Contiguous() {
		t.Fatal("not contiguous")
	}
	n := v.Size() * v.DType.Size()
	if n != v.Store.Bytes {
		t.Fatalf("a storage of %d bytes for %d", v.Store.Bytes, n)
	}
	return unsafe.Slice((*byte)(v.Ptr()), n)
}

func checkView(t *testing.T, name string, v *array.View, d array.DType, shape []int) {
	t.Helper()
	if v.DType != d || !array.Equal(v.Shape, shape) {
		t.Errorf("%s: got %s, want %s", name, array.TypeString(v.DType, v.Shape), array.TypeString(d, shape))
	} else if got, want := memory(t, v), values(d, v.Size()); !bytes.Equal(got, want) {
		t.Errorf("%s: got %x, want %x", name, got, want)
	}
}

func load(t testing.TB, name string) ([]byte, *File) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name+".safetensors"))
	if err != nil {
		t.Fatal(err)
	}
	f, err := Read(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	return b, f
}

// rewrite reads every tensor of f and writes them in another order.
func rewrite(t testing.TB, f *File) []byte {
	t.Helper()
	var all []named
	for _, e := range slices.Backward(f.entries) {
		v, err := f.view(e.name)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, named{e.name, v})
	}
	var out bytes.Buffer
	if err := encode(&out, all, f.metadata); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestGolden(t *testing.T) {
	b, f := load(t, "supported")
	shapes := map[string][]int{"0d": {}, "empty": {0, 3}, "1d": {5}, "3d": {2, 3, 4}}
	for _, d := range array.DTypes() {
		for s, shape := range shapes {
			name := d.String() + "." + s
			v, err := f.view(name)
			if err != nil {
				t.Error(err)
				continue
			}
			checkView(t, name, &v, d, shape)
		}
	}
	if want := len(array.DTypes()) * len(shapes); len(f.entries) != want {
		t.Errorf("%d tensors, want %d", len(f.entries), want)
	}
	if !maps.Equal(f.metadata, map[string]string{"format": "np"}) {
		t.Errorf("metadata %v", f.metadata)
	}
	if got := rewrite(t, f); !bytes.Equal(got, b) {
		t.Errorf("wrote\n%q, the reference writes\n%q", got, b)
	}
}

func TestGoldenNames(t *testing.T) {
	b, f := load(t, "names")
	odd := "tab\tnl\nnul\x00esc\x1b\b\f\r"
	for _, name := range []string{"", "a b", "é中😀", `q"b\s/`, "<&>\u2028\x7f", odd} {
		v, err := f.view(name)
		if err != nil {
			t.Errorf("%q: %v", name, err)
			continue
		}
		checkView(t, name, &v, array.Uint8, []int{1})
	}
	if !maps.Equal(f.metadata, map[string]string{odd: `q"b\s/`}) {
		t.Errorf("metadata %q", f.metadata)
	}
	if got := rewrite(t, f); !bytes.Equal(got, b) {
		t.Errorf("wrote\n%q, the reference writes\n%q", got, b)
	}

	b, f = load(t, "empty")
	if got := rewrite(t, f); len(f.entries) != 0 || !bytes.Equal(got, b) {
		t.Errorf("wrote\n%q, the reference writes\n%q", got, b)
	}
}

func TestUnsupported(t *testing.T) {
	_, f := load(t, "other")
	for name, kind := range map[string]string{"float16": "F16", "int8": "I8", "int16": "I16",
		"uint16": "U16", "uint32": "U32", "uint64": "U64", "complex64": "C64"} {
		e := f.entries[f.index[name]]
		if e.kind.name != kind || !array.Equal(e.shape, []int{2, 3}) {
			t.Errorf("%s is listed as %s%v", name, e.kind.name, e.shape)
		}
		_, err := f.view(name)
		var u *UnsupportedError
		if !errors.As(err, &u) || u.DType != kind || u.Name != name || !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("%s: %v", name, err)
		}
	}
	v, err := f.view("float32")
	if err != nil {
		t.Fatal(err)
	}
	checkView(t, "float32", &v, array.Float32, []int{5})

	half := raw.View(array.Float16, []int{1}, false, make([]byte, 2))
	err = encode(io.Discard, []named{{"h", half}}, nil)
	if err == nil || !strings.Contains(err.Error(), `tensor "h": unsupported dtype float16`) {
		t.Errorf("writing float16: %v", err)
	}
}
