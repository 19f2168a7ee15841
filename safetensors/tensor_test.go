package safetensors_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"weft"
	"weft/safetensors"
)

// TestTensorBytes compares with a file written out by the format's description.
func TestTensorBytes(t *testing.T) {
	head := `{"__metadata__":{"by":"hand"},"a":{"dtype":"I64","shape":[1],"data_offsets":[0,8]},"b":{"dtype":"U8","shape":[2,2],"data_offsets":[8,12]}}`
	for len(head)%8 != 0 {
		head += " "
	}
	want := binary.LittleEndian.AppendUint64(nil, uint64(len(head)))
	want = append(want, head...)
	want = append(want, 7, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4)

	a, b := weft.FromSlice([]int64{7}), weft.FromSlice([]uint8{1, 3, 2, 4}, 2, 2).T()
	var out bytes.Buffer
	if err := safetensors.Write(&out, map[string]*weft.Tensor{"b": b, "a": a}, map[string]string{"by": "hand"}); err != nil || !bytes.Equal(out.Bytes(), want) {
		t.Errorf("wrote\n%q, %v, want\n%q", out.Bytes(), err, want)
	}
	f, err := safetensors.Read(bytes.NewReader(want), int64(len(want)))
	if err != nil {
		t.Fatal(err)
	}
	x, err := f.Tensor("b")
	if err != nil || !slices.Equal(x.Shape(), []int{2, 2}) || !slices.Equal(weft.Data[uint8](x), []uint8{1, 2, 3, 4}) {
		t.Errorf("%v, %v", x, err)
	}
	if _, err := f.Tensor("c"); err == nil {
		t.Error("a tensor that is not there is read")
	}
}

func TestTensorFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.safetensors")
	in := map[string]*weft.Tensor{
		"scalar": weft.Scalar(2.5), "empty": weft.Zeros(0, 3), "bool": weft.FromSlice([]bool{true, false}),
		"double": weft.FromSlice([]float64{1, 2, 3}).Slice(weft.Range(weft.End, weft.Begin, -1)), "int": weft.FromSlice([]int32{-1}),
	}
	if err := safetensors.WriteFile(path, in, nil); err != nil {
		t.Fatal(err)
	}
	out, meta, err := safetensors.ReadFile(path)
	if err != nil || len(meta) != 0 || !slices.Equal(slices.Sorted(maps.Keys(in)), slices.Sorted(maps.Keys(out))) {
		t.Fatalf("%v, metadata %v, %v", out, meta, err)
	}
	for name, x := range in {
		y := out[name]
		if x.DType() != y.DType() || !slices.Equal(x.Shape(), y.Shape()) || x.Ne(y).Any().ItemInt() != 0 {
			t.Errorf("%s differs", name)
		}
	}
	if got := weft.Data[float64](out["double"]); !slices.Equal(got, []float64{3, 2, 1}) {
		t.Errorf("a reversed view came back as %v", got)
	}
}

func TestUnsupportedTensor(t *testing.T) {
	head := `{"h":{"dtype":"F6_E2M3","shape":[4],"data_offsets":[0,3]}}`
	b := binary.LittleEndian.AppendUint64(nil, uint64(len(head)))
	b = append(append(b, head...), 0, 0, 0)
	f, err := safetensors.Read(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	var e *safetensors.UnsupportedError
	if _, err := f.Tensor("h"); !errors.As(err, &e) || !errors.Is(err, errors.ErrUnsupported) || e.DType != "F6_E2M3" {
		t.Errorf("error %v", err)
	}
}

// TestReadFileBesideOtherTypes reads tensors beside some of types that are not supported, or that
// nobody knows yet, and is told of those. Floats of 8 bits are bytes.
func TestReadFileBesideOtherTypes(t *testing.T) {
	head := `{"e":{"dtype":"F8_E4M3","shape":[2,1],"data_offsets":[0,2]},"half":{"dtype":"F4","shape":[8],"data_offsets":[2,6]},"x":{"dtype":"U8","shape":[2],"data_offsets":[6,8]},` +
		`"new":{"dtype":"F99_E1","shape":[7],"data_offsets":[8,11]},"y":{"dtype":"F32","shape":[],"data_offsets":[11,15]}}`
	b := binary.LittleEndian.AppendUint64(nil, uint64(len(head)))
	b = append(append(b, head...), 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 0, 0, 0x80, 0x3f)
	path := filepath.Join(t.TempDir(), "mixed.safetensors")
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	got, _, err := safetensors.ReadFile(path)
	var left *safetensors.LeftOutError
	if !errors.As(err, &left) || !errors.Is(err, errors.ErrUnsupported) || left.Path != path || len(left.Tensors) != 2 ||
		err.Error() != "safetensors: "+path+`: left out "half" of dtype F4, "new" of dtype F99_E1` {
		t.Errorf("what was left out: %v", err)
	}
	if !slices.Equal(slices.Sorted(maps.Keys(got)), []string{"e", "x", "y"}) {
		t.Fatalf("%v, %v", got, err)
	}
	if e := got["e"]; e.DType() != weft.Uint8 || !slices.Equal(e.Shape(), []int{2, 1}) || !slices.Equal(weft.Data[uint8](e), []uint8{1, 2}) {
		t.Errorf("bytes of floats of 8 bits: %v", e)
	}
	if x := weft.Data[uint8](got["x"]); !slices.Equal(x, []uint8{7, 8}) || got["y"].Item() != 1 {
		t.Errorf("x is %v, y %v", x, got["y"])
	}
	f, err := safetensors.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if !slices.Equal(f.Names(), []string{"e", "half", "x", "new", "y"}) {
		t.Errorf("names %q", f.Names())
	}
	for name, dtype := range map[string]string{"half": "F4", "new": "F99_E1"} {
		var e *safetensors.UnsupportedError
		if _, err := f.Tensor(name); !errors.As(err, &e) || e.Name != name || e.DType != dtype {
			t.Errorf("%s: %v", name, err)
		}
		if info, ok := f.Info(name); !ok || info.DType != dtype {
			t.Errorf("%s is listed as %v", name, info)
		}
	}
}
