package npy

import (
	"archive/zip"
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"weft"
	"weft/internal/core"
	"weft/internal/tensortest"
)

// structured returns the files that NumPy wrote, by name.
func structured(t testing.TB) map[string][]byte {
	z, err := zip.OpenReader("testdata/structured.zip")
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	files := map[string][]byte{}
	for _, m := range z.File {
		r, err := m.Open()
		if err != nil {
			t.Fatal(err)
		}
		if files[strings.TrimSuffix(m.Name, ".npy")], err = io.ReadAll(r); err != nil {
			t.Fatal(err)
		}
	}
	return files
}

// The columns of every file of NumPy: names, types, shapes, and whether they are views
// of the records. Field k of record i is 10*k + i, which make_archives.py wrote.
var columnsOfNumPy = map[string]struct {
	names, types []string
	shapes       [][]int
	views        string // v: a view, c: a copy, -: no tensor
}{
	"packedC":  {[]string{"a", "b", "c"}, []string{"<f4", "<i2", "|u1"}, [][]int{{3}, {3}, {3}}, "ccv"},
	"alignedC": {[]string{"a", "b", "c"}, []string{"|u1", "<f8", "<i2"}, [][]int{{3}, {3}, {3}}, "vvv"},
	"bigC":     {[]string{"a", "b", "c"}, []string{">f4", "<f4", ">c8"}, [][]int{{3}, {3}, {3}}, "cvc"},
	"arraysC":  {[]string{"a", "b", "c"}, []string{"<f4", "<i8", "<f4"}, [][]int{{3, 2, 3}, {3, 1}, {3}}, "vcv"},
	"nestedC":  {[]string{"p.x", "p.y", "q.r.s"}, []string{"<f4", "<f4", "<i4"}, [][]int{{3, 2}, {3, 2}, {3}}, "vvv"},
	"textC":    {[]string{"name", "x", "code", "raw", "t"}, []string{"<U5", "<f4", "|S4", "|V2", "<M8[s]"}, [][]int{nil, {3}, nil, nil, nil}, "-c---"},
	"titlesC":  {[]string{"a", "b"}, []string{"<f4", "<f4"}, [][]int{{3}, {3}}, "vv"},
	"latinC":   {[]string{"höhe"}, []string{"<f4"}, [][]int{{3}}, "v"},
	"chineseC": {[]string{"高", "x"}, []string{"<f4", "<i4"}, [][]int{{3}, {3}}, "vv"},
	"matrixC":  {[]string{"a", "b"}, []string{"<f4", "<i4"}, [][]int{{2, 3}, {2, 3}}, "vv"},
	"matrixF":  {[]string{"a", "b"}, []string{"<f4", "<i4"}, [][]int{{2, 3}, {2, 3}}, "vv"},
	"flagsC":   {[]string{"a", "b"}, []string{"|b1", "<f2"}, [][]int{{3}, {3}}, "cc"},
	"noneC":    {[]string{"a", "b"}, []string{"<f4", "<i4"}, [][]int{{0}, {0}}, "cc"},
	"zerodC":   {[]string{"a", "b"}, []string{"<f4", "<i4"}, [][]int{{}, {}}, "vv"},
}

func checkColumns(t *testing.T, name string, cols []Column, mapped bool) {
	t.Helper()
	want := columnsOfNumPy[name]
	if len(cols) != len(want.names) {
		t.Errorf("%s: %d columns, want %d", name, len(cols), len(want.names))
		return
	}
	for k, c := range cols {
		if c.Name != want.names[k] || c.DType != want.types[k] {
			t.Errorf("%s: column %d is %q of %s, want %q of %s", name, k, c.Name, c.DType, want.names[k], want.types[k])
		}
		kind := want.views[k]
		if c.Tensor == nil {
			if kind != '-' {
				t.Errorf("%s: column %q has no tensor", name, c.Name)
			}
			continue
		}
		if !slices.Equal(c.Tensor.Shape(), want.shapes[k]) {
			t.Errorf("%s: column %q has shape %v, want %v", name, c.Name, c.Tensor.Shape(), want.shapes[k])
		}
		records := 1
		for _, n := range c.Tensor.Shape()[:len(cols[0].shapeOfRecords(want.shapes))] {
			records *= n
		}
		x := c.Tensor
		if x.DType().Complex() {
			x = x.Real()
		}
		got := weft.Data[float64](x.To(weft.Float64).Reshape(-1))
		for i, x := range got {
			y := float64(10*k + i/max(len(got)/max(records, 1), 1))
			if c.Tensor.DType() == weft.Bool && y != 0 {
				y = 1
			}
			if x != y {
				t.Errorf("%s: element %d of column %q is %v, want %v", name, i, c.Name, x, y)
				break
			}
		}
		if v := (*core.Tensor)(c.Tensor).Read(); len(got) > 0 && !mapped {
			whole := v.Store.Bytes != v.Size()*v.DType.Size()
			if len(want.names) > 1 && whole != (kind == 'v') {
				t.Errorf("%s: column %q is a view: %v, want %c", name, c.Name, whole, kind)
			}
		}
	}
}

// shapeOfRecords is the shape of the array: what the shapes of all columns begin with.
func (Column) shapeOfRecords(shapes [][]int) []int {
	least := shapes[0]
	for _, s := range shapes {
		if s != nil && (least == nil || len(s) < len(least)) {
			least = s
		}
	}
	return least
}

func TestColumnsOfNumPy(t *testing.T) {
	tensortest.SkipLate(t, "columns are copied to the device")
	files := structured(t)
	if len(files) != len(columnsOfNumPy) {
		t.Errorf("%d files, %d are known", len(files), len(columnsOfNumPy))
	}
	for name, data := range files {
		for _, r := range []io.Reader{bytes.NewReader(data), io.MultiReader(&dribble{data})} {
			cols, err := ReadColumns(r)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			checkColumns(t, name, cols, false)
		}
		path := filepath.Join(t.TempDir(), "x.npy")
		if err := os.WriteFile(path, data, 0o666); err != nil {
			t.Fatal(err)
		}
		for _, mode := range []MapMode{ReadOnly, CopyOnWrite} {
			cols, err := MapColumns(path, mode)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			checkColumns(t, name, cols, true)
			for _, c := range cols {
				if c.Tensor == nil {
					continue
				}
				err := weft.Try(func() { c.Tensor.Fill(0) })
				if (err != nil) != (mode == ReadOnly) {
					t.Errorf("%s: writing column %q in mode %d: %v", name, c.Name, mode, err)
				}
			}
		}
		if again, err := os.ReadFile(path); err != nil || !bytes.Equal(again, data) {
			t.Errorf("%s: the file changed (%v)", name, err)
		}
		cols, err := ReadColumnsFile(path)
		if err != nil {
			t.Fatal(err)
		}
		checkColumns(t, name, cols, false)
	}
}

// What NumPy writes of packed records is written byte for byte.
func TestWriteColumns(t *testing.T) {
	for name, data := range structured(t) {
		if strings.Contains("packedC arraysC latinC chineseC noneC flagsC", name) == false || name == "latinC" {
			continue // aligned, big-endian or nested; NumPy writes Latin-1 in version 1
		}
		cols, err := ReadColumns(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if err := WriteColumns(&out, cols); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if !bytes.Equal(out.Bytes(), data) {
			t.Errorf("%s: wrote\n%q, NumPy writes\n%q", name, out.Bytes(), data)
		}
	}
	// More rows than are put together at a time, of views.
	n := 3*recordBytes/12 + 5
	x := weft.Arange[int](4*n).Reshape(2*n, 2).Slice(weft.Range(0, weft.End, 2)).To(weft.Int32)
	y := weft.Arange[int](n).Slice(weft.Range(weft.End, weft.Begin, -1)).To(weft.Float32)
	path := filepath.Join(t.TempDir(), "x.npy")
	if err := WriteColumnsFile(path, []Column{{Name: "x", Tensor: x}, {Name: "y", Tensor: y}}); err != nil {
		t.Fatal(err)
	}
	cols, err := ReadColumnsFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(weft.Data[int32](cols[0].Tensor), weft.Data[int32](x)) || !slices.Equal(weft.Data[float32](cols[1].Tensor), weft.Data[float32](y)) {
		t.Error("columns changed")
	}
}

func TestWriteColumnsRefuses(t *testing.T) {
	x := weft.Zeros(3)
	for _, c := range []struct {
		cols []Column
		msg  string
	}{
		{[]Column{{Name: "a", Tensor: x}, {Name: "b", Tensor: weft.Zeros(4)}}, "as many rows"},
		{[]Column{{Name: "a", Tensor: weft.Scalar(1)}}, "as many rows"},
		{[]Column{{Name: "a", Tensor: x}, {Name: "a", Tensor: x}}, "there twice"},
		{[]Column{{Tensor: x}}, "is empty"},
		{[]Column{{Name: "a'", Tensor: x}}, "cannot tell plainly"},
		{[]Column{{Name: "a\n", Tensor: x}}, "cannot tell plainly"},
		{[]Column{{Name: "\xff", Tensor: x}}, "cannot tell plainly"},
		{[]Column{{Name: "a"}}, `nil`},
		{[]Column{{Name: "a", Tensor: x.To(weft.BFloat16)}}, "unsupported dtype bfloat16"},
		{[]Column{{Name: strings.Repeat("a", 1<<16), Tensor: x}}, "at most"},
	} {
		if err := WriteColumns(io.Discard, c.cols); err == nil || !strings.Contains(err.Error(), c.msg) || !strings.HasPrefix(err.Error(), "npy: ") {
			t.Errorf("got error %v, want one with %q", err, c.msg)
		}
	}
	var out bytes.Buffer
	if err := WriteColumns(&out, nil); err != nil {
		t.Fatal(err)
	}
	if cols, err := ReadColumns(&out); err != nil || len(cols) != 0 {
		t.Errorf("no columns: %v, %v", cols, err)
	}
}

func TestHostileRecords(t *testing.T) {
	record := func(descr string) []byte {
		return file(3, "{'descr': "+descr+", 'fortran_order': False, 'shape': (1,), }", strings.Repeat("1", 64))
	}
	for _, c := range []struct{ descr, msg string }{
		{"[", "is expected"},
		{"[(", "is expected"},
		{"[('a'", "does not begin with a byte order"},
		{"[('a', ", "a string is expected"},
		{"[('a')]", "where ',' is expected"},
		{"[('a', '<f4'", "is expected"},
		{"[('a', '<f4')", "is expected"},
		{"['a', '<f4']", "where '(' is expected"},
		{"[('a', '<f4', 3)]", "where '(' is expected"},
		{"[('a', '<f4', (3,), 4)]", "where ')' is expected"},
		{"[('a', '<f4', (-3,))]", "negative"},
		{"[(('a', 'b', 'c'), '<f4')]", "where ')' is expected"},
		{"[(3, '<f4')]", "a string is expected"},
		{"[('a', '')]", "is not a dtype"},
		{"[('a', '<')]", "is not a dtype"},
		{"[('a', '|Sx')]", "is not a dtype"},
		{"[('a', '|S')]", "is not a dtype"},
		{"[('a', '|S-4')]", "is not a dtype"},
		{"[('a', '|O')]", "pickled Python objects"},
		{"[('a', '|O8')]", "pickled Python objects"},
		{"[('a', 'O8')]", "does not begin with a byte order"},
		{"[('a', '|V99999999999999999999')]", "is not a dtype"},
		{"[('a', '<U9999999999999999999')]", "is not a dtype"},
		{"[('a', '<U4294967295')]", "unexpected EOF"},
		{"[('a', '<f4', (9223372036854775807,))]", "overflows"},
		{"[('a', '<f4', (4294967296, 4294967296, 0))]", "overflows"},
		{"[('a', '<f4', (1099511627776,)), ('b', '<f4', (1099511627776,))]", "unexpected EOF"},
		{"[('a', '|u1', (4611686018427387903,)), ('b', '|u1', (4611686018427387903,))]", "overflows"},
		{"[('a', [('b', '|u1', (4294967296,))], (4294967296,))]", "overflows"},
		{"[('a', '|u1', (0, 4611686018427387903))]", "overflows"},
		{"[('a', '<f4', (1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1))]", "more than 16 dimensions"},
		{"[('a', [('b', '|u1', (1,1,1,1,1,1,1,1,1))], (1,1,1,1,1,1,1,1))]", "more than 16 dimensions"},
		{strings.Repeat("[('a', ", 9000), "nested more than 16 deep"},
		{"[('\xff', '<f4')]", "invalid UTF-8"},
		{"[('\x01', '<f4')]", "without escapes"},
		{"[('a\\n', '<f4')]", "without escapes"},
		{"('<f4', (2,))", "unsupported dtype structured"},
		{"'<f4'", "is not structured"},
	} {
		data := record(c.descr)
		for _, r := range []io.Reader{bytes.NewReader(data), io.MultiReader(bytes.NewReader(data))} {
			_, err := ReadColumns(r)
			if err == nil || !strings.Contains(err.Error(), c.msg) || !strings.HasPrefix(err.Error(), "npy: ") {
				t.Errorf("%.60s: got error %v, want one with %q", c.descr, err, c.msg)
				continue
			}
			if !errors.As(err, new(*FormatError)) && !errors.As(err, new(*UnsupportedError)) && !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Errorf("%.60s: %v is an error of the wrong type: %T", c.descr, err, err)
			}
		}
	}
	for _, nothing := range []string{"[]", "[('a', '<f4', (0,))]", "[('', '|V4')]", "[('a', '|S0')]", "[('a', [])]"} {
		if _, err := ReadColumns(bytes.NewReader(record(nothing))); err != nil {
			t.Errorf("%s: %v", nothing, err)
		}
	}
}

func FuzzReadColumns(f *testing.F) {
	for _, data := range structured(f) {
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		cols, err := ReadColumns(bytes.NewReader(data))
		again, err2 := ReadColumns(io.MultiReader(bytes.NewReader(data)))
		if (err == nil) != (err2 == nil) {
			t.Fatalf("with a length: %v, without: %v", err, err2)
		}
		if err != nil {
			return
		}
		for i, c := range cols {
			if c.Tensor == nil {
				continue
			}
			if n := c.Tensor.Size() * c.Tensor.DType().Size(); n > len(data) {
				t.Fatalf("column %q: %d bytes from %d", c.Name, n, len(data))
			}
			if !slices.Equal(bytesOf(t, c.Tensor), bytesOf(t, again[i].Tensor)) {
				t.Fatal("the two readers differ")
			}
		}
	})
}

// bytesOf returns the elements as bytes.
func bytesOf(t testing.TB, x *weft.Tensor) []byte {
	var out bytes.Buffer
	if err := Write(&out, x.Contiguous()); err != nil && !errors.Is(err, errors.ErrUnsupported) {
		t.Fatal(err)
	}
	return out.Bytes()
}
