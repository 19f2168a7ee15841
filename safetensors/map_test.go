package safetensors_test

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"weft"
	"weft/safetensors"
)

// A mapped file has the tensors of a read one; writes do not reach it, and it may be closed and removed.
func TestMap(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.safetensors")
	tensors := map[string]*weft.Tensor{"f": weft.Arange(6).To(weft.Float32).Reshape(2, 3), "i": weft.From([]int64{1, 2}), "b": weft.From([]bool{true, false}),
		"h": weft.Ones(3).To(weft.BFloat16), "empty": weft.Zeros(0, 2), "u": weft.From([]uint8{7})}
	if err := safetensors.WriteFile(path, tensors, nil); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	f, err := safetensors.Map(path)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]*weft.Tensor{}
	for _, name := range f.Names() {
		if got[name], err = f.Tensor(name); err != nil {
			t.Fatal(err)
		}
		if weft.Digest(got[name]) != weft.Digest(tensors[name]) {
			t.Errorf("%s is %v", name, got[name])
		}
	}
	got["f"].Fill(9)
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	after, err := os.ReadFile(path)
	if err != nil || string(after) != string(before) {
		t.Error("a write changed the file")
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if x := weft.Data[float32](got["f"].Add(1)); x[5] != 10 {
		t.Errorf("%v", x)
	}
	if _, err := safetensors.Map(path); !os.IsNotExist(err) {
		t.Errorf("no file: %v", err)
	}
	if err := os.WriteFile(path, []byte("no safetensors"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := safetensors.Map(path); err == nil {
		t.Error("another file")
	}
}

// float8 is a file of all codes of a format.
func float8(t *testing.T, format string) *safetensors.File {
	t.Helper()
	head := `{"x":{"dtype":"` + format + `","shape":[16,16],"data_offsets":[0,256]},"i":{"dtype":"I8","shape":[1],"data_offsets":[256,257]}}`
	file := append([]byte{byte(len(head)), 0, 0, 0, 0, 0, 0, 0}, head...)
	for i := range 257 {
		file = append(file, byte(i))
	}
	path := filepath.Join(t.TempDir(), "x")
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := safetensors.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// Floats of 8 bits convert to equal floats of every type that has all their values.
func TestFloatsOf8Bits(t *testing.T) {
	for format, greatest := range map[string]float64{"F8_E4M3": 448, "F8_E5M2": 57344, "F8_E4M3FNUZ": 240, "F8_E5M2FNUZ": 57344, "F8_E8M0": math.Ldexp(1, 127)} {
		f := float8(t, format)
		exact, err := f.Floats("x", weft.Float64)
		if err != nil {
			t.Fatal(err)
		}
		want := weft.Data[float64](exact)
		finite := slices.DeleteFunc(slices.Clone(want), func(x float64) bool { return math.IsNaN(x) || math.IsInf(x, 0) })
		if !slices.Equal(exact.Shape(), []int{16, 16}) || slices.Max(finite) != greatest {
			t.Errorf("%s: shape %v, greatest %v, want %v", format, exact.Shape(), slices.Max(finite), greatest)
		}
		for _, to := range []weft.DType{weft.Float32, weft.BFloat16, weft.Float16} {
			x, err := f.Floats("x", to)
			if format == "F8_E8M0" && to == weft.Float16 {
				if err == nil {
					t.Error("2^127 became a float16")
				}
				continue
			}
			if err != nil || x.DType() != to {
				t.Fatal(format, err)
			}
			for i, got := range weft.Data[float64](x.To(weft.Float64)) {
				if got != want[i] && !(math.IsNaN(got) && math.IsNaN(want[i])) {
					t.Errorf("%s as %s: code %#x is %v, want %v", format, to, i, got, want[i])
				}
			}
		}
		if _, err := f.Floats("x", weft.Int8); err == nil {
			t.Error("floats became integers")
		}
		if _, err := f.Floats("i", weft.Float32); err == nil {
			t.Error("integers became floats")
		}
		if _, err := f.Floats("none", weft.Float32); err == nil {
			t.Error("no tensor")
		}
	}
}
