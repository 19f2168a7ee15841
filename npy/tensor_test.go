package npy_test

import (
	"bytes"
	"errors"
	"io"
	"path/filepath"
	"slices"
	"testing"

	"weft"
	"weft/internal/tensortest"
	"weft/npy"
)

// file is what numpy.save writes for np.array([[1, 2, 3], [4, 5, 6]], order),
// little-endian int32: the layout of NEP 1, written out.
func file(fortran string, data ...byte) []byte {
	head := "{'descr': '<i4', 'fortran_order': " + fortran + ", 'shape': (2, 3), }"
	for (10+len(head)+1)%64 != 0 {
		head += " "
	}
	head += "\n"
	b := append([]byte("\x93NUMPY\x01\x00"), byte(len(head)), byte(len(head)>>8))
	b = append(b, head...)
	for _, x := range data {
		b = append(b, x, 0, 0, 0)
	}
	return b
}

func TestTensor(t *testing.T) {
	tensortest.SkipLate(t, "the host's copy is in row-major order")
	rows, columns := file("False", 1, 2, 3, 4, 5, 6), file("True", 1, 4, 2, 5, 3, 6)
	want := []int32{1, 2, 3, 4, 5, 6}
	for _, b := range [][]byte{rows, columns} {
		x, err := npy.Read(bytes.NewReader(b))
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(x.Shape(), []int{2, 3}) || !slices.Equal(weft.Data[int32](x), want) {
			t.Errorf("%v of shape %v", weft.Data[int32](x), x.Shape())
		}
		// A tensor read keeps its order when it is written again.
		var out bytes.Buffer
		if err := npy.Write(&out, x); err != nil || !bytes.Equal(out.Bytes(), b) {
			t.Errorf("wrote %q, %v, want %q", out.Bytes(), err, b)
		}
		// It is a tensor as any other.
		if got := x.Mul(2).Sum().ItemInt(); got != 42 {
			t.Errorf("twice its sum is %d", got)
		}
	}
	// A strided view is written row-major, a transposed one as it lies.
	x := weft.FromSlice([]int32{0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6}, 2, 6)
	for _, v := range []*weft.Tensor{x.Slice(weft.All, weft.Range(1, 6, 2)), weft.FromSlice([]int32{6, 5, 4, 3, 2, 1}).Slice(weft.Range(weft.End, weft.Begin, -1)).Reshape(2, 3)} {
		var out bytes.Buffer
		if err := npy.Write(&out, v); err != nil || !bytes.Equal(out.Bytes(), rows) {
			t.Errorf("a view: wrote %q, %v", out.Bytes(), err)
		}
	}
}

func TestTensorFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.npy")
	x := weft.FromSlice([]float64{1, 2, 3, 4}, 2, 2)
	if err := npy.WriteFile(path, x.T()); err != nil {
		t.Fatal(err)
	}
	y, err := npy.ReadFile(path)
	if err != nil || !slices.Equal(weft.Data[float64](y), []float64{1, 3, 2, 4}) {
		t.Errorf("%v, %v", y, err)
	}
	if _, err := npy.ReadFile(path + "x"); err == nil {
		t.Error("a file that is not there is read")
	}
	if _, err := npy.Read(bytes.NewReader(file("False", 1, 2))); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("a short file: %v", err)
	}
	x.Release()
	if err := npy.WriteFile(path, x); !errors.As(err, new(*weft.Error)) {
		t.Error("a released tensor is written")
	}
	if z, err := npy.ReadFile(path); err != nil || z.Size() != 4 {
		t.Errorf("a refused tensor changed the file: %v", err)
	}
}
