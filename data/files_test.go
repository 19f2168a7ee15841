package data_test

import (
	"bytes"
	"encoding/binary"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"weft"
	"weft/data"
	"weft/internal/tensortest"
)

// wanted is what testdata/files.py wrote into its files.
func wanted(t *testing.T) (v map[string]json.RawMessage) {
	t.Helper()
	if err := json.Unmarshal(file(t, "files.json"), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func file(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestReadIDX(t *testing.T) {
	want := wanted(t)
	for name, d := range map[string]weft.DType{"u8": weft.Uint8, "i8": weft.Int8, "i16": weft.Int16, "i32": weft.Int32, "f32": weft.Float32, "f64": weft.Float64} {
		path := filepath.Join("testdata", "idx-"+name)
		if name == "u8" {
			path += ".gz"
		}
		x, err := data.ReadIDXFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var v []float64
		if err := json.Unmarshal(want["idx-"+name], &v); err != nil {
			t.Fatal(err)
		}
		if x.DType() != d || !slices.Equal(x.Shape(), []int{2, 3}) {
			t.Errorf("%s: %s%v", name, x.DType(), x.Shape())
		}
		tensortest.Near(t, name, x.Flatten(0), v, 0)
	}
	b := file(t, "idx-i16")
	for n := range b {
		if x, err := data.ReadIDX(bytes.NewReader(b[:n])); err == nil {
			t.Errorf("%d of %d bytes are %v", n, len(b), x)
		}
	}
	huge := append([]byte{0, 0, 8, 3}, bytes.Repeat([]byte{0xff}, 12)...)
	if _, err := data.ReadIDX(bytes.NewReader(huge)); err == nil || !strings.Contains(err.Error(), "overflows") {
		t.Errorf("a huge shape: %v", err)
	}
	if _, err := data.ReadIDX(bytes.NewReader([]byte{0, 0, 8, 1, 0x7f, 0xff, 0xff, 0xff, 1})); err == nil {
		t.Error("a file of one byte has 2147483647")
	}
}

func TestReadCIFAR(t *testing.T) {
	b := file(t, "cifar.bin")
	x, y, err := data.ReadCIFAR(bytes.NewReader(b), 1)
	if err != nil || !slices.Equal(x.Shape(), []int{2, 3, 32, 32}) || !slices.Equal(weft.Data[int64](y), []int64{7, 8}) {
		t.Fatalf("%v, %v", y, err)
	}
	for _, at := range [][4]int{{0, 0, 0, 0}, {1, 2, 31, 30}, {1, 1, 5, 9}} {
		i := at[1]*1024 + at[2]*32 + at[3]
		if got, want := x.At(at[:]...).ItemInt(), int64((at[0]*31+i*7+i/256)%256); got != want {
			t.Errorf("pixel %v is %d, want %d", at, got, want)
		}
	}
	if _, _, err := data.ReadCIFAR(bytes.NewReader(b[1:]), 1); err == nil {
		t.Error("a byte less is read")
	}
}

func TestReadWAV(t *testing.T) {
	var want [][]float64
	if err := json.Unmarshal(wanted(t)["wav"], &want); err != nil {
		t.Fatal(err)
	}
	for _, bits := range []int{8, 16, 24, 32} {
		b := file(t, fmt.Sprintf("sound%d.wav", bits))
		x, rate, err := data.ReadWAV(bytes.NewReader(b))
		if err != nil || rate != 8000 {
			t.Fatalf("%d bits: rate %d, %v", bits, rate, err)
		}
		tensortest.Near(t, fmt.Sprint(bits, " bits"), x.Flatten(0), slices.Concat(want...), 0)
		for n := range b {
			if _, _, err := data.ReadWAV(bytes.NewReader(b[:n])); err == nil {
				t.Errorf("%d of %d bytes are read", n, len(b))
			}
		}
	}
	// Floats behind a chunk of odd length, which is padded.
	var b bytes.Buffer
	b.WriteString("RIFF....WAVEnote\x03\x00\x00\x00abc\x00fmt \x10\x00\x00\x00")
	for _, v := range []any{uint16(3), uint16(1), uint32(44100), uint32(4 * 44100), uint16(4), uint16(32)} {
		binary.Write(&b, binary.LittleEndian, v)
	}
	b.WriteString("data\x08\x00\x00\x00")
	binary.Write(&b, binary.LittleEndian, []float32{0.25, -1.5})
	x, rate, err := data.ReadWAV(&b)
	if err != nil || rate != 44100 {
		t.Fatal(rate, err)
	}
	tensortest.Near(t, "floats", x.Flatten(0), []float64{0.25, -1.5}, 0)
}

func TestReadCSV(t *testing.T) {
	c, err := data.ReadCSV(bytes.NewReader(file(t, "table.csv")))
	if err != nil || len(c) != 3 || c[0].Name != "name" || !slices.Equal(c[0].Texts, []string{"a, b", `say "c"`, "d\ne"}) || c[0].Numbers != nil {
		t.Fatalf("%+v, %v", c, err)
	}
	tensortest.Near(t, "x", c[1].Numbers, []float64{1, math.NaN(), 1000}, 0)
	tensortest.Near(t, "y", c[2].Numbers, []float64{2.5, -3, math.NaN()}, 0)
	c, err = data.ReadCSV(strings.NewReader("1;2\n3;x\n"), data.CSVOpts{NoHeader: true, Comma: ";"})
	if err != nil || c[1].Name != "1" || !slices.Equal(c[1].Texts, []string{"2", "x"}) || c[0].Numbers.At(1).Item() != 3 {
		t.Errorf("%+v, %v", c, err)
	}
	if _, err := data.ReadCSV(strings.NewReader("a,b\n1\n")); err == nil || !strings.Contains(err.Error(), "line 2") {
		t.Errorf("a short line: %v", err)
	}
}

// TestCSVOfSpreadsheets reads what pandas reads alike: a byte order mark, numbers of Go's syntax that are texts, and a
// table without rows.
func TestCSVOfSpreadsheets(t *testing.T) {
	read := func(text string) []data.Column {
		columns, err := data.ReadCSV(strings.NewReader(text))
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		return columns
	}
	if c := read("\ufeffa,b\r\n1,x\r\n")[0]; c.Name != "a" || c.Numbers == nil {
		t.Errorf("after a byte order mark: column %q, numbers %v", c.Name, c.Numbers)
	}
	for _, text := range []string{"2020_01", "0x10", "0x1p-2", "1_0.5"} {
		if c := read("a\n" + text + "\n")[0]; c.Texts == nil || c.Texts[0] != text {
			t.Errorf("%q became %v", text, c.Numbers)
		}
	}
	for _, c := range read("a,b\n") {
		if c.Texts == nil || len(c.Texts) != 0 {
			t.Errorf("column %q of no rows: %v", c.Name, c)
		}
	}
}

// TestCSVTypes: types are told by name, kept as texts, or inferred as pandas infers them.
func TestCSVTypes(t *testing.T) {
	const table = "id,zip,ok,x,n,mixed,big,none\n1,007, true ,1.5,4,1,9223372036854775807,\n-2,123,FALSE,,,a,1,\n"
	show := func(opts ...data.CSVOpts) string {
		c, err := data.ReadCSV(strings.NewReader(table), opts...)
		if err != nil {
			return err.Error()
		}
		var out []string
		for _, c := range c {
			if c.Numbers == nil {
				out = append(out, fmt.Sprintf("%q", c.Texts))
			} else {
				out = append(out, fmt.Sprint(c.Numbers.DType(), c.Numbers))
			}
		}
		return strings.Join(out, "; ")
	}
	types := func(name string, d weft.DType) data.CSVOpts {
		return data.CSVOpts{Types: map[string]weft.DType{name: d}}
	}
	for _, c := range []struct{ got, want string }{
		{show(), `float64 [ 1. -2.]; float64 [  7. 123.]; [" true " "FALSE"]; float64 [1.5 nan]; float64 [ 4. nan]; ["1" "a"]; float64 [9.22337204e+18 1.00000000e+00]; ["" ""]`},
		{show(data.CSVOpts{Infer: true, Texts: []string{"zip"}}), `int64 [ 1 -2]; ["007" "123"]; bool [ true false]; float64 [1.5 nan]; float64 [ 4. nan]; ["1" "a"]; int64 [9223372036854775807                   1]; ["" ""]`},
		{show(data.CSVOpts{Texts: []string{"id", "x"}, Types: map[string]weft.DType{"zip": weft.Uint8, "ok": weft.Bool, "n": weft.Float32, "none": weft.Float16}}),
			`["1" "-2"]; uint8 [  7 123]; bool [ true false]; ["1.5" ""]; float32 [ 4. nan]; ["1" "a"]; float64 [9.22337204e+18 1.00000000e+00]; float16 [nan nan]`},
		{show(data.CSVOpts{Missing: []string{"1", "-2", "a"}, Types: map[string]weft.DType{"id": weft.Float32}}),
			`float32 [nan nan]; float64 [  7. 123.]; [" true " "FALSE"]; float64 [1.5 nan]; float64 [ 4. nan]; ["" ""]; float64 [9.22337204e+18            nan]; ["" ""]`},
		{show(types("id", weft.Uint16)), `data: CSV: column "id": row 1: "-2" is not uint16`},
		{show(types("n", weft.Int64)), `data: CSV: column "n": row 1: the field is missing, and int64 has no value for that: read the column as a float, where it is NaN`},
		{show(types("mixed", weft.Int8)), `data: CSV: column "mixed": row 1: "a" is not int8: if it stands for a missing value, name it in CSVOpts.Missing and read the column as a float, where it is NaN`},
		{show(types("big", weft.Int32)), `data: CSV: column "big": row 0: "9223372036854775807" is not int32`},
		{show(types("mixed", weft.Float32)), `data: CSV: column "mixed": row 1: "a" is not float32: if it stands for a missing value, name it in CSVOpts.Missing`},
		{show(types("x", weft.Bool)), `data: CSV: column "x": row 0: "1.5" is not bool`},
		{show(types("age", weft.Bool)), `data: CSV: there is no column "age"`},
		{show(data.CSVOpts{Texts: []string{"age"}}), `data: CSV: there is no column "age"`},
	} {
		if c.got != c.want {
			t.Errorf("got %s\nwant %s", c.got, c.want)
		}
	}
	for want, o := range map[string]data.CSVOpts{
		"read_csv: Types: has complex64": types("id", weft.Complex64), "read_csv: Types: has invalid": types("id", weft.DType(0)),
		"which Texts has too": {Texts: []string{"id"}, Types: map[string]weft.DType{"id": weft.Int8}},
	} {
		if err := tensortest.Try(func() { show(o) }); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func TestLines(t *testing.T) {
	open := func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader("one\r\ntwo\n\nfour")), nil }
	l := data.NewStreamLoader(data.Lines(open), data.Collate[[]string], data.LoaderOpts{Batch: new(3), Workers: 2})
	for range 2 {
		var got [][]string
		for b, err := range l.Batches(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, b)
		}
		if fmt.Sprint(len(got), got) != "2 [[one two ] [four]]" {
			t.Errorf("%q", got)
		}
	}
	for _, err := range data.Lines(func() (io.ReadCloser, error) { return nil, os.ErrNotExist })(0) {
		if err != os.ErrNotExist {
			t.Errorf("a missing file: %v", err)
		}
	}
}

// TestPictures compares pictures of the standard library with their tensors, there and back.
func TestPictures(t *testing.T) {
	m := image.NewNRGBA(image.Rect(2, 3, 5, 5))
	for y := 3; y < 5; y++ {
		for x := 2; x < 5; x++ {
			m.Set(x, y, color.NRGBA{uint8(40 * x), uint8(50 * y), uint8(x * y), uint8(100 + x)})
		}
	}
	v := data.FromImage(m, data.PictureOpts{Alpha: true})
	if !slices.Equal(v.Shape(), []int{4, 2, 3}) || v.At(1, 1, 0).ItemInt() != 200 || v.At(3, 0, 2).ItemInt() != 104 {
		t.Errorf("%v", v)
	}
	back := data.ToImage(v).(*image.NRGBA)
	if back.Bounds() != image.Rect(0, 0, 3, 2) || !bytes.Equal(back.Pix, m.Pix) {
		t.Errorf("%v, want %v", back, m)
	}
	gray := image.NewGray(image.Rect(0, 0, 2, 1))
	gray.Pix = []uint8{7, 200}
	if g := data.FromImage(gray, data.PictureOpts{Gray: true}); !slices.Equal(weft.Data[uint8](g), gray.Pix) {
		t.Errorf("gray: %v", g)
	}
	f := data.ToImage(weft.FromSlice([]float32{0, 0.5, 1, 2, -1, float32(math.NaN())}, 1, 2, 3)).(*image.Gray)
	if !bytes.Equal(f.Pix, []uint8{0, 128, 255, 255, 0, 0}) {
		t.Errorf("floats: %v", f.Pix)
	}
	for name, f := range map[string]func(){
		"nil picture": func() { data.FromImage(nil) }, "nil tensor": func() { data.ToImage(nil) },
		"channels": func() { data.ToImage(weft.Zeros(2, 3, 3)) }, "integers": func() { data.ToImage(weft.ZerosOf(weft.Int64, 1, 3, 3)) },
	} {
		if weft.Try(f) == nil {
			t.Errorf("%s: no error", name)
		}
	}

	root := t.TempDir()
	write := func(name string, encode func(w io.Writer) error) {
		path := filepath.Join(root, name)
		os.MkdirAll(filepath.Dir(path), 0o755)
		w, err := os.Create(path)
		if err == nil {
			err = encode(w)
		}
		if err != nil {
			t.Fatal(err)
		}
		w.Close()
	}
	write("cats/b.png", func(w io.Writer) error { return png.Encode(w, m) })
	write("cats/more/a.JPG", func(w io.Writer) error { return jpeg.Encode(w, m, nil) })
	write("dogs/x.png", func(w io.Writer) error { return png.Encode(w, m) })
	write("dogs/notes.txt", func(w io.Writer) error { return nil })
	write("dogs/broken.png", func(w io.Writer) error { _, err := w.Write([]byte("no picture")); return err })
	d, classes, err := data.PictureFolder(root)
	if err != nil || !slices.Equal(classes, []string{"cats", "dogs"}) || d.Len() != 4 {
		t.Fatalf("%v, %v", classes, err)
	}
	p, err := d.Get(0)
	if err != nil || p.Label != 0 || weft.Digest(p.X) != weft.Digest(v.Slice(weft.Range(0, 3))) {
		t.Errorf("%v, %v", p, err)
	}
	if p, err = d.Get(3); err != nil || p.Label != 1 || filepath.Base(p.Path) != "x.png" {
		t.Errorf("%v, %v", p, err)
	}
	if _, err = d.Get(2); err == nil || !strings.Contains(err.Error(), "broken.png") {
		t.Errorf("a broken file: %v", err)
	}
	if _, _, err = data.PictureFolder(filepath.Join(root, "cats", "more")); err == nil {
		t.Error("a folder without folders has classes")
	}
}

// TestReadCSVKeepsReturnsInQuotes has the texts that Python's csv and pandas read. Each chunk size puts the end of a
// read between other bytes.
func TestReadCSVKeepsReturnsInQuotes(t *testing.T) {
	const text = "\xef\xbb\xbfname,\"text\r\nhere\"\r\n\"a\"\"\r\n\"\"b\",x\r\n\"\r\r\n\r\",\"\n\r\n\"\r\n\r\nc,\"d\"\r\n"
	want := []data.Column{{Name: "name", Texts: []string{"a\"\r\n\"b", "\r\r\n\r", "c"}}, {Name: "text\r\nhere", Texts: []string{"x", "\n\r\n", "d"}}}
	for name, r := range map[string]io.Reader{"whole": strings.NewReader(text), "bytes": iotest.OneByteReader(strings.NewReader(text)), "halves": iotest.HalfReader(strings.NewReader(text))} {
		got, err := data.ReadCSV(r)
		if err != nil {
			t.Error(name, err)
			continue
		}
		for i, w := range want {
			if got[i].Name != w.Name || !slices.Equal(got[i].Texts, w.Texts) {
				t.Errorf("%s: column %d is %q %q, want %q %q", name, i, got[i].Name, got[i].Texts, w.Name, w.Texts)
			}
		}
	}
	for _, text := range []string{"a,b\r\n1\r\n", "a\n\"b\r\nc", "a\n\"b\r\n\" c\n", "a\r\n\"b\"\r"} {
		_, got := data.ReadCSV(strings.NewReader(text))
		_, err := csv.NewReader(strings.NewReader(text)).ReadAll()
		if (got == nil) != (err == nil) || err != nil && !strings.Contains(got.Error(), err.Error()) {
			t.Errorf("%q: error %v, want %v", text, got, err)
		}
	}
}
