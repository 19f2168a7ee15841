package safetensors

import (
	"bytes"
	"encoding/binary"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"weft/half"
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
	size, bits := d.Size(), uint64(0)
	switch {
	case d == array.Bool:
		if k%3 == 1 {
			bits = 1
		}
	case d.Integer() && d.Unsigned():
		bits = uint64(k*37+5) % 256
		bits |= bits << (8*size - 8)
	case d.Integer():
		bits = uint64((k - 3) * map[int]int{1: 13, 2: 1<<11 + 13, 4: 1<<27 + 13, 8: 1<<58 + 13}[size])
	case d == array.Float16:
		bits = uint64(half.NewFloat16(f))
	case d == array.BFloat16:
		bits = uint64(half.NewBFloat16(float32(f)))
	case d == array.Float32:
		bits = uint64(math.Float32bits(float32(f)))
	case d == array.Complex64:
		bits = uint64(math.Float32bits(float32(f))) | uint64(math.Float32bits(float32(k)-2.5))<<32
	default:
		bits = math.Float64bits(f)
	}
	return append(b, le.AppendUint64(nil, bits)[:size]...)
}

// held are the element types that files of this format hold: all but complex128.
func held() []array.DType {
	return slices.DeleteFunc(array.DTypes(), func(d array.DType) bool { return d == array.Complex128 })
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
	for _, d := range held() {
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
	if want := len(held()) * len(shapes); len(f.entries) != want {
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
	for name, kind := range map[string]string{"float8_e4m3fn": "F8_E4M3", "float8_e5m2": "F8_E5M2"} {
		e := f.entries[f.index[name]]
		if e.kind.name != kind || !array.Equal(e.shape, []int{2, 3}) {
			t.Errorf("%s is listed as %s%v", name, e.kind.name, e.shape)
		}
		v, err := f.view(name)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if v.DType != array.Uint8 || !array.Equal(v.Shape, e.shape) || len(memory(t, &v)) != 6 {
			t.Errorf("%s: its bytes are %s%v", name, v.DType, v.Shape)
		}
	}
	v, err := f.view("float32")
	if err != nil {
		t.Fatal(err)
	}
	checkView(t, "float32", &v, array.Float32, []int{5})

	wide := raw.View(array.Complex128, []int{1}, false, make([]byte, 16))
	err = encode(io.Discard, []named{{"h", wide}}, nil)
	if err == nil || !strings.Contains(err.Error(), `tensor "h": unsupported dtype complex128`) {
		t.Errorf("writing complex128: %v", err)
	}
}
