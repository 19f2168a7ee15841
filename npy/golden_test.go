package npy

import (
	"archive/zip"
	"bytes"
	"errors"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unsafe"

	"weft/half"
	"weft/internal/array"
	"weft/internal/raw"
)

// imaginary is the imaginary part of element k.
func imaginary(k int) float64 { return float64(k) - 2.5 }

// golden calls f for every member of testdata/golden.zip.
func golden(t testing.TB, f func(name string, data []byte)) {
	z, err := zip.OpenReader("testdata/golden.zip")
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	for _, m := range z.File {
		r, err := m.Open()
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		f(m.Name, b)
	}
}

// value returns the bits of element k, as testdata/make_golden.py defines it.
func value(d array.DType, k int) uint64 {
	f := float64(float64(k)*0.1) - 1.7
	if k < 5 {
		f = []float64{math.Inf(1), math.Inf(-1), math.Copysign(0, -1), 1.0 / 3, 1e-310}[k]
	}
	size := d.Size()
	switch {
	case d == array.Bool:
		if k%3 == 1 {
			return 1
		}
		return 0
	case d.Integer() && d.Unsigned():
		low := uint64(k*37+5) % 256
		return low<<(8*size-8) | low
	case d.Integer():
		x := uint64((k - 3) * map[int]int{1: 13, 2: 1<<11 + 13, 4: 1<<27 + 13, 8: 1<<58 + 13}[size])
		return x << (64 - 8*size) >> (64 - 8*size)
	case d == array.Float16:
		return uint64(half.NewFloat16(f))
	case d == array.BFloat16:
		return uint64(half.NewBFloat16(float32(f)))
	case d == array.Float32:
		return uint64(math.Float32bits(float32(f)))
	case d == array.Complex64:
		return uint64(math.Float32bits(float32(f))) | uint64(math.Float32bits(float32(imaginary(k))))<<32
	}
	return math.Float64bits(f) // of complex128 the real part
}

// elems returns the bits of every element in row-major order.
func elems(v *array.View) []uint64 {
	out := make([]uint64, 0, v.Size())
	index := make([]int, len(v.Shape))
	for range v.Size() {
		off := v.Offset
		for i, x := range index {
			off += x * v.Strides[i]
		}
		p := unsafe.Add(v.Store.Host(), off*v.DType.Size())
		switch v.DType.Size() {
		case 1:
			out = append(out, uint64(*(*uint8)(p)))
		case 2:
			out = append(out, uint64(*(*uint16)(p)))
		case 4:
			out = append(out, uint64(*(*uint32)(p)))
		default:
			out = append(out, *(*uint64)(p))
			if v.DType == array.Complex128 {
				out = append(out, *(*uint64)(unsafe.Add(p, 8)))
			}
		}
		for i := len(index) - 1; i >= 0; i-- {
			if index[i]++; index[i] < v.Shape[i] {
				break
			}
			index[i] = 0
		}
	}
	return out
}

// sample returns an array with the values of the golden files.
func sample(d array.DType, shape []int, fortran bool) array.View {
	n := array.Size(shape)
	v := raw.View(d, shape, fortran, make([]byte, n*d.Size()))
	index := make([]int, len(shape))
	for k := range n {
		off := 0
		for i, x := range index {
			off += x * v.Strides[i]
		}
		p := unsafe.Add(v.Store.Host(), off*d.Size())
		switch x := value(d, k); d.Size() {
		case 1:
			*(*uint8)(p) = uint8(x)
		case 2:
			*(*uint16)(p) = uint16(x)
		case 4:
			*(*uint32)(p) = uint32(x)
		default:
			*(*uint64)(p) = x
			if d == array.Complex128 {
				*(*float64)(unsafe.Add(p, 8)) = imaginary(k)
			}
		}
		for i := len(index) - 1; i >= 0; i-- {
			if index[i]++; index[i] < shape[i] {
				break
			}
			index[i] = 0
		}
	}
	return v
}

func checkView(t *testing.T, name string, v *array.View, d array.DType, shape []int) {
	t.Helper()
	if v.DType != d || !array.Equal(v.Shape, shape) {
		t.Errorf("%s: got %s, want %s", name, array.TypeString(v.DType, v.Shape), array.TypeString(d, shape))
		return
	}
	for k, x := range elems(v) {
		want := value(d, k)
		if d == array.Complex128 { // two words each
			if want = value(d, k/2); k%2 == 1 {
				want = math.Float64bits(imaginary(k / 2))
			}
		}
		if x != want {
			t.Errorf("%s: element %d is %#x, want %#x", name, k, x, want)
			return
		}
	}
}

func TestGolden(t *testing.T) {
	read, rewritten := 0, 0
	golden(t, func(name string, data []byte) {
		part := strings.Split(strings.TrimSuffix(name, ".npy"), "/")
		if part[0] == "unsupported" {
			return
		}
		d, _ := array.ParseDType(names[part[1][1:]])
		shape := []int{}
		if part[3] != "0d" {
			for s := range strings.SplitSeq(part[3], "x") {
				n, err := strconv.Atoi(s)
				if err != nil {
					t.Fatal(err)
				}
				shape = append(shape, n)
			}
		}
		// A reader that hides its length, and hands out little at a time, too.
		for _, r := range []io.Reader{bytes.NewReader(data), io.MultiReader(&dribble{data})} {
			v, err := decode(r)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				return
			}
			checkView(t, name, &v, d, shape)
			read++
		}
		if part[0] == "1" && part[1][0] != 'b' {
			v := sample(d, shape, part[2] == "F")
			var out bytes.Buffer
			if err := encode(&out, &v); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if !bytes.Equal(out.Bytes(), data) {
				t.Errorf("%s: wrote\n%q, NumPy writes\n%q", name, out.Bytes(), data)
			}
			rewritten++
		}
	})
	// 25 types, 2 orders, 3 small shapes in one version and one in three; of
	// the types 14 are little-endian. And 2 of many dimensions.
	if read != 2*(25*2*6+2) || rewritten != 14*2*4+2 {
		t.Errorf("%d files read, %d rewritten", read, rewritten)
	}
}

// dribble reads its data a few bytes at a time.
type dribble struct{ data []byte }

func (d *dribble) Read(p []byte) (int, error) {
	if len(d.data) == 0 {
		return 0, io.EOF
	}
	n := copy(p[:min(len(p), 7)], d.data)
	d.data = d.data[n:]
	return n, nil
}

func TestUnsupported(t *testing.T) {
	want := map[string]string{
		"lM8_ns": "datetime64", "lm8_s": "timedelta64", "-S3": `"|S3"`, "lU3": `"<U3"`, "-V5": `"|V5"`,
		"object":     "object (pickled Python objects are never read)",
		"structured": "structured", "unicode-field": "structured",
	}
	golden(t, func(name string, data []byte) {
		kind, found := strings.CutPrefix(name, "unsupported/")
		if !found {
			return
		}
		kind = strings.TrimSuffix(kind, ".npy")
		_, err := decode(bytes.NewReader(data))
		var e *UnsupportedError
		if !errors.As(err, &e) || !errors.Is(err, errors.ErrUnsupported) || e.DType != want[kind] {
			t.Errorf("%s: got error %v, want one about %s", name, err, want[kind])
		}
		delete(want, kind)
	})
	if len(want) > 0 {
		t.Errorf("not in the file: %v", want)
	}
	v := raw.View(array.BFloat16, []int{1}, false, make([]byte, 2))
	if err := encode(io.Discard, &v); err == nil || err.Error() != "npy: unsupported dtype bfloat16" {
		t.Errorf("writing bfloat16: %v", err)
	}
}

// held are the element types that files of this format hold: NumPy has no bfloat16.
func held() []array.DType {
	return slices.DeleteFunc(array.DTypes(), func(d array.DType) bool { return d == array.BFloat16 })
}
