package parquet_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"weft"
	"weft/data"
	"weft/ragged/arrow"
	"weft/ragged/arrow/parquet"
)

var types = map[string]weft.DType{
	"i8": weft.Int8, "u8": weft.Uint8, "i16": weft.Int16, "u16": weft.Uint16, "i32": weft.Int32, "u32": weft.Uint32, "i64": weft.Int64, "u64": weft.Uint64,
	"f16": weft.Float16, "f32": weft.Float32, "f64": weft.Float64, "bool": weft.Bool, "null int": weft.Float64, "null float": weft.Float32,
	"date": weft.Int32, "when": weft.Int64, "money": weft.Float64, "point.x": weft.Int32, "point.y": weft.Float64,
}

// TestColumnsMatchPyarrow of every type, and compression, in one group of rows and in several.
func TestColumnsMatchPyarrow(t *testing.T) {
	b, err := os.ReadFile("testdata/table.json")
	if err != nil {
		t.Fatal(err)
	}
	var want map[string][]any
	if err := json.Unmarshal(b, &want); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"plain", "snappy", "zstd", "gzip", "brotli"} {
		columns, err := parquet.ReadFile("testdata/" + file + ".parquet")
		if err != nil {
			t.Error(err)
			continue
		}
		if len(columns) != len(want) {
			t.Errorf("%s: %d columns, want %d", file, len(columns), len(want))
		}
		for _, c := range columns {
			if got := listed(c); fmt.Sprint(got) != fmt.Sprint(want[c.Name]) {
				t.Errorf("%s: %q is %v, want %v", file, c.Name, got, want[c.Name])
			}
			if c.Numbers != nil && c.Numbers.DType() != types[c.Name] {
				t.Errorf("%s: %q is of %s, want %s", file, c.Name, c.Numbers.DType(), types[c.Name])
			}
		}
	}
}

// listed returns the fields of a column as JSON has them: nil for NaN and for texts of null columns that
// are empty, and large integers as texts.
func listed(c data.Column) (out []any) {
	for _, s := range c.Texts {
		if s == "" && strings.HasPrefix(c.Name, "null") {
			out = append(out, nil)
		} else {
			out = append(out, s)
		}
	}
	if c.Numbers == nil {
		return out
	}
	for i := range c.Numbers.Dim(0) {
		x := c.Numbers.At(i)
		switch {
		case x.DType() == weft.Bool:
			out = append(out, x.ItemInt() == 1)
		case c.Name == "i64" || c.Name == "u64":
			out = append(out, fmt.Sprint(x))
		case math.IsNaN(x.Item()):
			out = append(out, nil)
		default:
			out = append(out, x.Item())
		}
	}
	return out
}

// TestDecimalsAsPyarrowStoresThem reads decimals in byte arrays of 4 to 16 bytes.
func TestDecimalsAsPyarrowStoresThem(t *testing.T) {
	columns, err := parquet.ReadFile("testdata/decimals.parquet")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range columns {
		want := []float64{-1.25, 0.01, -0.01, 99999.99, math.NaN(), 7}
		if c.Name == "d38" {
			want[5] = -1234567890123456789012345678901234.56
		}
		for i, v := range weft.Data[float64](c.Numbers) {
			if !(math.Abs(v-want[i]) <= 5e-16*math.Abs(want[i]) || v != v && want[i] != want[i]) {
				t.Errorf("%s: element %d is %v, want %v", c.Name, i, v, want[i])
			}
		}
	}
	if len(columns) != 4 {
		t.Errorf("%d columns, want 4", len(columns))
	}
}

func TestGroupsAndColumns(t *testing.T) {
	b, err := os.ReadFile("testdata/plain.parquet")
	if err != nil {
		t.Fatal(err)
	}
	var rows []int
	for columns, err := range parquet.Groups(bytes.NewReader(b), int64(len(b)), parquet.Opts{Columns: []string{"text", "i8"}}) {
		if err != nil || len(columns) != 2 || columns[0].Name != "i8" || len(columns[1].Texts) != columns[0].Numbers.Dim(0) {
			t.Fatal(columns, err)
		}
		rows = append(rows, len(columns[1].Texts))
	}
	if fmt.Sprint(rows) != "[3 3 1]" {
		t.Errorf("groups of %v rows", rows)
	}
}

// TestLists: columns of lists, in one piece and by groups of rows.
func TestLists(t *testing.T) {
	want := map[string]string{
		"n": "[1 2 3 4] <nil>", "ints": "<nil> [ [1] [] [2 3] [7] ]", "null": "<nil> [ [] [1.5 nan] [] [2.] ]",
		"fixed": "<nil> [ [0 1] [1 2] [2 3] [3 4] ]", "point.xs": "<nil> [ [] [true] [true true] [true true true] ]",
		"null int": "<nil> [ [1. nan] [3.] [] [] ]",
	}
	types := map[string]weft.DType{"ints": weft.Int64, "null": weft.Float32, "fixed": weft.Uint8, "point.xs": weft.Bool, "null int": weft.Float64}
	var o parquet.Opts
	for name := range want {
		o.Columns = append(o.Columns, name)
	}
	columns, err := parquet.ReadFile("testdata/lists.parquet", o)
	if err != nil || len(columns) != len(want) {
		t.Fatal(columns, err)
	}
	for _, c := range columns {
		if got := fmt.Sprint(c.Numbers, " ", c.Lists); got != want[c.Name] || c.Lists != nil && c.Lists.DType() != types[c.Name] {
			t.Errorf("%q is %s, want %s", c.Name, got, want[c.Name])
		}
	}
	b, err := os.ReadFile("testdata/lists.parquet")
	if err != nil {
		t.Fatal(err)
	}
	var sizes []string
	for columns, err := range parquet.Groups(bytes.NewReader(b), int64(len(b)), parquet.Opts{Columns: []string{"ints"}}) {
		if err != nil {
			t.Fatal(err)
		}
		sizes = append(sizes, fmt.Sprint(columns[0].Lists))
	}
	if fmt.Sprint(sizes) != "[[ [1] [] [2 3] ] [ [7] ]]" {
		t.Errorf("groups are %v", sizes)
	}
}

// TestBrokenFiles: an error for every cut, changed byte, missing column and type without a counterpart.
func TestBrokenFiles(t *testing.T) {
	b, err := os.ReadFile("testdata/snappy.parquet")
	if err != nil {
		t.Fatal(err)
	}
	for n := 0; n < len(b); n += 97 {
		if _, err := parquet.Read(bytes.NewReader(b[:n]), int64(n)); err == nil {
			t.Errorf("%d of %d bytes are read", n, len(b))
		}
	}
	for n := 0; n < len(b); n += 31 {
		changed := bytes.Clone(b)
		changed[n] ^= 0xff
		parquet.Read(bytes.NewReader(changed), int64(len(b))) // an error or other numbers
	}
	var format *arrow.FormatError
	if _, err := parquet.Read(strings.NewReader("PAR1 nothing PAR1"), 17); !errors.As(err, &format) {
		t.Errorf("nothing: %v", err)
	}
	for _, name := range []string{"texts", "deep.list.element.list.element"} {
		var unsupported *arrow.UnsupportedError
		if _, err := parquet.ReadFile("testdata/lists.parquet", parquet.Opts{Columns: []string{name}}); !errors.As(err, &unsupported) || unsupported.Field != name {
			t.Errorf("%s: %v", name, err)
		}
	}
	if b, err = os.ReadFile("testdata/lists.parquet"); err != nil {
		t.Fatal(err)
	}
	for n := 0; n < len(b); n += 7 {
		changed := bytes.Clone(b)
		changed[n] ^= 0x11
		parquet.Read(bytes.NewReader(changed), int64(len(b)), parquet.Opts{Columns: []string{"ints", "null"}}) // an error or other numbers
	}
	if _, err := parquet.ReadFile("testdata/snappy.parquet", parquet.Opts{Columns: []string{"i8", "i9"}}); err == nil || !strings.Contains(err.Error(), `"i9"`) {
		t.Errorf("a missing column: %v", err)
	}
	if _, err := parquet.ReadFile(filepath.Join(t.TempDir(), "no")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
	if _, err := parquet.Read(nil, 3); err == nil {
		t.Error("nil is read")
	}
}

// Columns of a file, by name.
func ExampleReadFile() {
	table, err := parquet.ReadFile("testdata/snappy.parquet", parquet.Opts{Columns: []string{"f64", "text", "null int"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, c := range table {
		fmt.Println(c.Name, c.Numbers, c.Texts)
	}
	// Output:
	// f64 [0.         0.16666667 0.33333333 0.5        0.66666667 0.83333333
	//  1.        ] []
	// text <nil> [ a bc äöü a bc z]
	// null int [ 0. nan  2.  3. nan  5.  6.] []
}

// Rows of different length.
func ExampleReadFile_lists() {
	table, err := parquet.ReadFile("testdata/lists.parquet", parquet.Opts{Columns: []string{"ints"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	tokens := table[0].Lists
	fmt.Println(tokens, tokens.Sizes(), tokens.DType())
	// Output: [ [1] [] [2 3] [7] ] [1 0 2 1] int64
}

func FuzzRead(f *testing.F) {
	for _, name := range []string{"plain", "snappy", "lists"} {
		b, err := os.ReadFile("testdata/" + name + ".parquet")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		columns, err := parquet.Read(bytes.NewReader(b), int64(len(b)))
		for _, c := range columns {
			kinds := 0
			for _, there := range []bool{c.Numbers != nil, c.Texts != nil, c.Lists != nil} {
				if there {
					kinds++
				}
			}
			if err == nil && kinds != 1 {
				t.Errorf("%q is of %d kinds", c.Name, kinds)
			}
		}
	})
}
