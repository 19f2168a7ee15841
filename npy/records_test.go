package npy

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"weft"
	"weft/internal/core"
	"weft/records"
)

// A recordsCase is what testdata/make_records.py says of a file.
type recordsCase struct {
	Shape  []int
	Size   int
	Fields []struct {
		Name   string
		Offset int
		Shape  []int
		Values []float64
	}
}

// recordsFiles returns the members of testdata/records.zip.
func recordsFiles(t *testing.T) map[string][]byte {
	z, err := zip.OpenReader("testdata/records.zip")
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	out := map[string][]byte{}
	for _, m := range z.File {
		r, err := m.Open()
		if err != nil {
			t.Fatal(err)
		}
		if out[m.Name], err = io.ReadAll(r); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// converted are the files whose records have another layout in memory, with their size there.
var converted = map[string]int{"packed": 24, "nestedpacked": 20, "fortranpacked": 16, "kinds": 48}

// values returns the elements of a tensor as NumPy wrote them down.
func values(x *weft.Tensor) []float64 {
	if !x.DType().Complex() {
		return weft.Data[float64](x.To(weft.Float64))
	}
	var out []float64
	for _, z := range weft.Data[complex128](x.To(weft.Complex128)) {
		out = append(out, real(z), imag(z))
	}
	return out
}

// checkRecords compares records with what NumPy says of its file.
func checkRecords(t *testing.T, name string, a *records.Array, want recordsCase) {
	t.Helper()
	size, other := converted[name]
	if !other {
		size = want.Size
	}
	if got := a.Layout(); got.Size != size || !slices.Equal(a.Shape(), want.Shape) {
		t.Errorf("%s: records of %d bytes and shape %v, want %d and %v", name, got.Size, a.Shape(), size, want.Shape)
	}
	for _, f := range want.Fields {
		x := a.Field(f.Name)
		if got := values(x); !slices.Equal(x.Shape(), f.Shape) || !slices.Equal(got, f.Values) {
			t.Errorf("%s: field %s is %v %v, want %v %v", name, f.Name, x.Shape(), got, f.Shape, f.Values)
		}
	}
}

// Every structured array that NumPy wrote is read, mapped and read again with its values; where
// records lie as in the file, the file that is written is NumPy's, byte for byte.
func TestRecordsAsNumPyWritesThem(t *testing.T) {
	files, n := recordsFiles(t), 0
	for name, data := range files {
		name, ok := strings.CutSuffix(name, ".npy")
		if !ok || strings.HasPrefix(name, "refused/") {
			continue
		}
		n++
		var want recordsCase
		if err := json.Unmarshal(files[name+".json"], &want); err != nil {
			t.Fatal(err)
		}
		rest := bytes.NewReader(append(slices.Clone(data), "rest"...))
		a, err := ReadRecords(rest)
		if err != nil || rest.Len() != 4 {
			t.Errorf("%s: %v, %d bytes are left", name, err, rest.Len())
			continue
		}
		checkRecords(t, name, a, want)
		var again bytes.Buffer
		if err := WriteRecords(&again, a); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if _, other := converted[name]; !other && !strings.Contains("swapped fortran titles", name) && !bytes.Equal(again.Bytes(), data) {
			t.Errorf("%s: the file is\n%q, want\n%q", name, again.Bytes(), data)
		}
		back, err := ReadRecords(&again)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		checkRecords(t, name, back, want)

		path := filepath.Join(t.TempDir(), "x.npy")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		for _, mode := range []MapMode{ReadOnly, CopyOnWrite} {
			m, err := MapRecords(path, mode)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			checkRecords(t, name, m, want)
			if m.Len() > 0 {
				if err := weft.Try(func() { m.Assign(0) }); (err == nil) != (mode == CopyOnWrite) {
					t.Errorf("%s, mode %d: a write gives %v", name, mode, err)
				}
			}
			m.Bytes().Release()
		}
		writeThrough(t, name, path, want)
	}
	if n != 16 {
		t.Errorf("%d files", n)
	}
}

// writeThrough maps a file for writing: what is written is in the file, or the file is refused.
func writeThrough(t *testing.T, name, path string, want recordsCase) {
	m, err := MapRecords(path, ReadWrite)
	if _, other := converted[name]; other || name == "swapped" || !core.Reached(0) && slices.Index(want.Shape, 0) < 0 {
		if !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("%s: mapped for writing: %v", name, err)
		}
		return
	}
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return
	}
	m.Assign(3)
	m.Bytes().Release()
	a, err := ReadRecordsFile(path)
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return
	}
	for _, f := range want.Fields {
		if got := a.Field(f.Name).Eq(3).All().ItemInt(); got != 1 {
			t.Errorf("%s: %s is %v in the file", name, f.Name, a.Field(f.Name))
		}
	}
}

// An archive has records as files have them.
func TestRecordsOfAnArchive(t *testing.T) {
	a, err := OpenArchive("testdata/records.zip")
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	var want recordsCase
	if err := json.Unmarshal(recordsFiles(t)["nested.json"], &want); err != nil {
		t.Fatal(err)
	}
	got, err := a.Records("nested")
	if err != nil {
		t.Fatal(err)
	}
	checkRecords(t, "nested", got, want)
	if _, err := a.Records("none"); err == nil {
		t.Error("an array that is not there was read")
	}
}

func TestRecordsThatAreRefused(t *testing.T) {
	files := recordsFiles(t)
	for name, want := range map[string]string{"strings": `"|S5" of field "name"`, "dates": `"<M8[s]" of field "when"`, "dotted": `has a dot`} {
		_, err := ReadRecords(bytes.NewReader(files["refused/"+name+".npy"]))
		if err == nil || !strings.Contains(err.Error(), want) || errors.Is(err, errors.ErrUnsupported) != (name != "dotted") {
			t.Errorf("%s: %v", name, err)
		}
	}
	var plain bytes.Buffer
	if err := Write(&plain, weft.Zeros(2)); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadRecords(&plain); err == nil || !strings.Contains(err.Error(), "not structured") {
		t.Error(err)
	}
	vertices := files["vertices.npy"]
	for n := range len(vertices) {
		if _, err := ReadRecords(bytes.NewReader(vertices[:n])); err == nil {
			t.Fatalf("%d of %d bytes are read", n, len(vertices))
		}
	}
	v := records.Zeros(records.LayoutOf[struct{ X float32 }](), 2)
	type quoted struct {
		X float32 `records:"it's"`
	}
	for want, f := range map[string]func() error{
		"the writer is nil": func() error { return WriteRecords(nil, v) },
		"the array is nil":  func() error { return WriteRecords(io.Discard, nil) },
		"cannot tell":       func() error { return WriteRecords(io.Discard, records.Zeros(records.LayoutOf[quoted]())) },
		"the reader is nil": func() error { _, err := ReadRecords(nil); return err },
		"no such file":      func() error { _, err := ReadRecordsFile("testdata/none.npy"); return err },
		"bfloat16": func() error {
			return WriteRecords(io.Discard, records.Zeros(records.Packed(records.Field{Name: "x", DType: weft.BFloat16})))
		},
	} {
		if err := f(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q in it", err, want)
		}
	}
}

// Padding of a Go slice may hold anything: files have zeros there, at any depth and in views.
func TestPaddingIsWrittenAsZeros(t *testing.T) {
	type inner struct {
		A uint8
		B float64
	}
	type outer struct {
		Key uint8
		In  [2]inner
	}
	a := records.Zeros(records.LayoutOf[outer](), 50, 40)
	a.Bytes().Assign(0xff)
	a.Field("Key").Assign(1)
	a.Field("In.A").Assign(2)
	a.Field("In.B").Assign(0)
	var f bytes.Buffer
	if err := WriteRecords(&f, a.T()); err != nil {
		t.Fatal(err)
	}
	data := f.Bytes()[f.Len()-2000*40:]
	for i, b := range data {
		want := byte(0)
		switch i % 40 {
		case 0:
			want = 1
		case 8, 24:
			want = 2
		}
		if b != want {
			t.Fatalf("byte %d of a record is %d, want %d", i%40, b, want)
		}
	}
	if a.Bytes().At(0, 0, 1).ItemInt() != 0xff {
		t.Error("writing changed the records")
	}
}

func ExampleWriteRecordsFile() {
	type star struct {
		Name     uint32
		Position [3]float64
	}
	path := filepath.Join(os.TempDir(), "stars.npy")
	defer os.Remove(path)
	stars := []star{{Name: 1, Position: [3]float64{1, 2, 3}}, {Name: 2}}
	if err := WriteRecordsFile(path, records.FromSlice(stars)); err != nil {
		fmt.Println(err)
	}
	a, err := ReadRecordsFile(path)
	fmt.Println(a, err)
	fmt.Println(a.Layout())
	// Output:
	// [(1, [1. 2. 3.]) (2, [0. 0. 0.])] <nil>
	// Name: uint32, Position: float64[3] at 8
}
