package arrow

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	apache "github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"weft"
	"weft/ragged"
)

// Texts, times, dictionaries, complex numbers: what pyarrow says is in its file is read, is
// written again in the same types, and pyarrow reads the same again.
func TestTypesOfPyArrow(t *testing.T) {
	b, err := os.ReadFile("testdata/types.json")
	if err != nil {
		t.Fatal(err)
	}
	var want map[string][]any
	if err := json.Unmarshal(b, &want); err != nil {
		t.Fatal(err)
	}
	refused := map[string]string{
		"money": "decimal(10, 2)", "nothing": "null", "map": "map<utf8, int32, items_nullable>", "text in structs.name": "utf8 in a struct",
	}
	read := func(path string, all bool) []Batch {
		t.Helper()
		batches, err := ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		got := map[string][]any{}
		for i, b := range batches {
			seen := 0
			for _, c := range b {
				if u := (*UnsupportedError)(nil); errors.As(c.Err, &u) {
					seen++
					if c.List != nil || c.Tensor != nil || refused[u.Field] != u.Type || !strings.HasPrefix(u.Field, c.Name) || !strings.Contains(c.Err.Error(), u.Field) {
						t.Errorf("column %q is refused by %v", c.Name, c.Err)
					}
					continue
				}
				if c.Name == "complex" {
					if c.Tensor.DType() != weft.Complex64 {
						t.Errorf("complex numbers are %s", c.Tensor.DType())
					}
					re, im := weft.Data[float32](c.Tensor.Real()), weft.Data[float32](c.Tensor.Imag())
					for k := range re {
						var x any = []any{float64(re[k]), float64(im[k])}
						if c.Valid[0] != nil && !weft.Data[bool](c.Valid[0])[k] {
							x = nil
						}
						got[c.Name] = append(got[c.Name], x)
					}
					continue
				}
				got[c.Name] = append(got[c.Name], values(c)...)
			}
			if all != (seen == len(refused)) {
				t.Errorf("%d columns of batch %d are refused, want %d", seen, i, len(refused))
			}
		}
		checkColumns(t, path, got, want)
		return batches
	}
	batches := read("testdata/types.arrow", true)
	types := map[string]string{}
	for i := range batches {
		batches[i] = slices.DeleteFunc(batches[i], func(c Column) bool { return c.Err != nil })
		for _, c := range batches[i] {
			types[c.Name] = c.Type
		}
	}
	path := filepath.Join(t.TempDir(), "types.arrow")
	if err := WriteFile(path, batches, ArrayOpts{Layout: List}); err != nil {
		t.Fatal(err)
	}
	again := read(path, false)
	// Dictionaries and views are written as what they stand for.
	for name, s := range map[string]string{
		"words": "utf8", "no words": "utf8", "codes": "int64", "list of words": "list<item: utf8, nullable>",
		"view": "large_utf8", "binary view": "large_binary",
	} {
		types[name] = s
	}
	for _, c := range again[0] {
		if c.Type != types[c.Name] {
			t.Errorf("column %q is written as %s, want %s", c.Name, c.Type, types[c.Name])
		}
	}
	var kinds []map[string]string
	if !checkReading(t, want, path) || !pyarrow(t, &kinds, "types", path, "testdata/types.arrow") {
		return
	}
	for _, name := range []string{"string", "large", "binary", "large binary", "strings", "bytes", "list of bytes", "stamp", "stamps", "date", "date64", "time", "time64", "span", "events"} {
		if k := kinds[0][name]; k == "" || k != kinds[1][name] {
			t.Errorf("pyarrow reads column %q as %s, it was %s", name, k, kinds[1][name])
		}
	}
}

// Slices of arrays of every type beside numbers come back as they were.
func TestSlicesOfTypes(t *testing.T) {
	text := `["one", "", null, "two words", "ä€", "a text of more than twelve bytes"]`
	for _, c := range []struct {
		d    apache.DataType
		text string
		as   apache.DataType // what it comes back as, nil: the same
	}{
		{apache.BinaryTypes.String, text, nil},
		{apache.BinaryTypes.LargeString, text, nil},
		{apache.BinaryTypes.StringView, text, apache.BinaryTypes.LargeString},
		{apache.BinaryTypes.Binary, `["AAA=", "", null, "/w==", "AQ==", "Ag=="]`, nil},
		{apache.LargeListOf(apache.BinaryTypes.String), `[["a", "bc"], [], null, [null, ""], ["de"], []]`, nil},
		{apache.FixedSizeListOf(2, apache.BinaryTypes.String), `[["a", "bc"], ["d", "e"], null, [null, ""], ["de", "f"], ["g", "h"]]`, apache.LargeListOf(apache.BinaryTypes.String)},
		{&apache.FixedSizeBinaryType{ByteWidth: 3}, `["AAAA", "AAAB", null, "AAAC", "AAAD", "////"]`, nil},
		{apache.FixedWidthTypes.Timestamp_us, `["1970-01-01T00:00:00Z", "1970-01-01T00:00:00.000001Z", null, "2024-02-29T00:00:00Z", "1969-12-31T00:00:00Z", "2000-01-01T01:02:03Z"]`, nil},
		{apache.FixedWidthTypes.Date32, `["1970-01-01", "1970-01-02", null, "2024-02-29", "1969-12-31", "2000-01-01"]`, nil},
		{apache.FixedWidthTypes.Duration_ns, `[1, 2, null, -4, 5, 6]`, nil},
		{apache.FixedWidthTypes.MonthInterval, `[{"months": 1}, {"months": 2}, null, {"months": 4}, {"months": 5}, {"months": 6}]`, nil},
		{apache.LargeListOf(apache.FixedSizeListOf(2, apache.FixedWidthTypes.Time32s)), `[[["00:00:01", "00:00:02"]], [], null, [["00:00:03", "00:00:04"], ["00:00:05", "00:00:06"]], [], []]`, nil},
		{&apache.DictionaryType{IndexType: apache.PrimitiveTypes.Int8, ValueType: apache.BinaryTypes.String}, text, apache.BinaryTypes.String},
		{&apache.DictionaryType{IndexType: apache.PrimitiveTypes.Uint16, ValueType: apache.PrimitiveTypes.Float64}, `[1, 2, null, 1, 2, 3]`, apache.PrimitiveTypes.Float64},
	} {
		want := c.as
		if want == nil {
			want = c.d
		}
		checkSlices(t, c.d, c.text, func(slice string, _ Column, back apache.Array, _ any) {
			if !apache.TypeEqual(back.DataType(), want) {
				t.Errorf("%s comes back as %s, want %s", slice, back.DataType(), want)
			}
		})
	}
}

// Numbers that Arrow has no type for go by extension types, whose storage others read.
func TestNumbersOfOurs(t *testing.T) {
	for _, d := range []weft.DType{weft.Complex64, weft.Complex128, weft.BFloat16} {
		for _, shape := range [][]int{{6}, {6, 1}, {3, 2}, {0}} {
			n := 1
			for _, k := range shape {
				n *= k
			}
			x := weft.Arange(float64(n)).Reshape(shape...).To(d)
			if d.Complex() {
				x = x.Mul(weft.FullOf(d, complex(1, -2)))
			}
			valid := weft.OnesOf(weft.Bool, shape...)
			if x.Size() > 0 {
				valid.Reshape(-1).At(1).Assign(false)
			}
			a, err := ToArray(Column{Tensor: x, Valid: []*weft.Tensor{valid}}, ArrayOpts{})
			if err != nil {
				t.Fatal(err)
			}
			for lo := range a.Len() + 1 {
				c, err := FromArray(array.NewSlice(a, int64(lo), int64(a.Len())))
				if err != nil {
					t.Fatal(err)
				}
				got, want := c.Tensor, x.Slice(weft.Range(lo, shape[0]))
				if len(shape) > 1 { // lists of one length
					got, want = c.List.Data(), want.Reshape(-1)
				}
				if got.DType() != d || weft.Digest(got) != weft.Digest(want) {
					t.Errorf("%s %v from %d: %v, want %v", d, shape, lo, got, want)
				}
			}
		}
		l := ragged.FromSizes(weft.Arange(6.0).To(d), []int{1, 0, 3, 2})
		a, err := ToArray(Column{List: l}, ArrayOpts{})
		if err != nil {
			t.Fatal(err)
		}
		c, err := FromArray(a)
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(c.List); got != fmt.Sprint(l) || c.List.DType() != d {
			t.Errorf("%s: %s, want %v", d, got, l)
		}
	}
	// A complex number with a null part is null.
	parts := built(t, apache.FixedSizeListOf(2, apache.PrimitiveTypes.Float32), `[[1, 2], [3, null], null, [null, 6], [7, 8]]`)
	whole := array.NewExtensionArrayWithStorage(&number{apache.ExtensionBase{Storage: parts.DataType()}, weft.Complex64}, parts)
	for lo, want := range []string{"[true false false false true]", "[false false false true]", "[false false true]", "[false true]"} {
		c, err := FromArray(array.NewSlice(whole, int64(lo), 5))
		if err != nil || c.Valid[0] == nil || fmt.Sprint(weft.Data[bool](c.Valid[0])) != want {
			t.Errorf("from %d on: %v, %v, want %s", lo, c.Valid, err, want)
		}
	}
	// As pyarrow's users make them: pairs of floats, which are two numbers to us as well.
	c, err := FromArray(built(t, apache.FixedSizeListOf(2, apache.PrimitiveTypes.Float32), `[[1, 2], [3, 4]]`))
	if err != nil || c.List == nil || c.List.Rows() != 4 {
		t.Errorf("pairs of floats: %v, %v", c, err)
	}
}

// What does not fit its type is refused by an error that names the column.
func TestMeaningsThatDoNotFit(t *testing.T) {
	l := ragged.Of([][]uint8{{'a'}, {0xff, 'b'}})
	cut := ragged.FromSizes(weft.FromSlice([]uint8("aäb")), []int{2, 2})
	as := func(d apache.DataType) []apache.DataType { return []apache.DataType{d} }
	for name, c := range map[string]struct {
		c   Column
		msg string
	}{
		"not UTF-8":        {Column{List: l, As: as(apache.BinaryTypes.String)}, "text 1 is not in UTF-8"},
		"cut UTF-8":        {Column{List: cut, As: as(apache.BinaryTypes.LargeString)}, "text 0 is not in UTF-8"},
		"text of floats":   {Column{List: ragged.Of([][]float32{{1}}), As: as(apache.BinaryTypes.String)}, "want uint8"},
		"text of pairs":    {Column{List: ragged.FromSizes(weft.ZerosOf(weft.Uint8, 4, 2), 2), As: as(apache.BinaryTypes.Binary)}, "no more dimensions"},
		"null bytes":       {Column{List: l, Valid: []*weft.Tensor{nil, weft.ZerosOf(weft.Bool, 3)}, As: as(apache.BinaryTypes.Binary)}, "cannot be null"},
		"text of a tensor": {Column{Tensor: weft.ZerosOf(weft.Uint8, 3), As: as(apache.BinaryTypes.String)}, "unsupported type utf8"},
		"views":            {Column{List: l, As: as(apache.BinaryTypes.BinaryView)}, "unsupported type binary_view"},
		"times of floats":  {Column{Tensor: weft.Ones(3), As: as(apache.FixedWidthTypes.Timestamp_s)}, "want int64"},
		"dates of int64":   {Column{Tensor: weft.ZerosOf(weft.Int64, 3), As: as(apache.FixedWidthTypes.Date32)}, "want int32"},
		"bytes":            {Column{Tensor: weft.ZerosOf(weft.Uint8, 3, 2), As: as(&apache.FixedSizeBinaryType{ByteWidth: 3})}, "last dimension"},
		"decimals":         {Column{Tensor: weft.ZerosOf(weft.Int64, 3), As: as(&apache.Decimal128Type{Precision: 3})}, "unsupported type decimal"},
		"two":              {Column{Tensor: weft.Ones(3), As: make([]apache.DataType, 2)}, "want 1"},
		"two of a list":    {Column{List: l, As: make([]apache.DataType, 2)}, "want 1"},
	} {
		c.c.Name = "the column"
		_, err := ToArray(c.c, ArrayOpts{})
		if err == nil || !strings.Contains(err.Error(), c.msg) || !strings.Contains(err.Error(), `"the column"`) {
			t.Errorf("%s: %v, want %q", name, err, c.msg)
		}
	}
}

// Offsets, indices and views that lead outside are refused.
func TestHostileTypes(t *testing.T) {
	data := func(d apache.DataType, n int, buffers ...[]byte) *array.Data {
		bs := []*memory.Buffer{nil}
		for _, b := range buffers {
			bs = append(bs, memory.NewBufferBytes(b))
		}
		return array.NewData(d, n, bs, nil, 0, 0)
	}
	words := data(apache.BinaryTypes.String, 2, []byte{0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0}, []byte("ab"))
	dict := func(index ...byte) *array.Data {
		d := data(&apache.DictionaryType{IndexType: apache.PrimitiveTypes.Int8, ValueType: apache.BinaryTypes.String}, len(index), index)
		d.SetDictionary(words)
		return d
	}
	// A byte that is less than 0 is no index, however many values there are.
	many := data(&apache.DictionaryType{IndexType: apache.PrimitiveTypes.Int8, ValueType: apache.PrimitiveTypes.Int8}, 2, []byte{0, 0xff})
	many.SetDictionary(data(apache.PrimitiveTypes.Int8, 300, make([]byte, 300)))
	most := data(&apache.DictionaryType{IndexType: apache.PrimitiveTypes.Uint8, ValueType: apache.PrimitiveTypes.Int8}, 2, []byte{0, 0xff})
	most.SetDictionary(many.Dictionary())
	view := func(n, k, at byte) []byte {
		return []byte{n, 0, 0, 0, 'a', 'b', 'c', 'd', k, 0, 0, 0, at, 0, 0, 0}
	}
	views := apache.BinaryTypes.BinaryView
	long := make([]byte, 20)
	for name, c := range map[string]struct {
		d  *array.Data
		ok bool
	}{
		"text":                {words, true},
		"text beyond":         {data(apache.BinaryTypes.String, 1, []byte{0, 0, 0, 0, 3, 0, 0, 0}, []byte("ab")), false},
		"text backwards":      {data(apache.BinaryTypes.String, 1, []byte{2, 0, 0, 0, 1, 0, 0, 0}, []byte("ab")), false},
		"few offsets":         {data(apache.BinaryTypes.String, 2, []byte{0, 0, 0, 0, 1, 0, 0, 0}, []byte("ab")), false},
		"no bytes":            {data(apache.BinaryTypes.String, 1, []byte{0, 0, 0, 0, 0, 0, 0, 0}), true},
		"indices":             {dict(0, 1, 1), true},
		"index beyond":        {dict(0, 2), false},
		"negative index":      {dict(0, 0xff), false},
		"negative, of many":   {many, false},
		"index of many":       {most, true},
		"view":                {data(views, 2, slices.Concat(view(3, 0, 0), view(20, 0, 0)), long), true},
		"view beyond":         {data(views, 1, view(20, 0, 1), long), false},
		"view of no buffer":   {data(views, 1, view(20, 1, 0), long), false},
		"view, negative":      {data(views, 1, []byte{0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, long), false},
		"few views":           {data(views, 2, view(3, 0, 0), long), false},
		"few bytes":           {data(&apache.FixedSizeBinaryType{ByteWidth: 3}, 2, long[:5]), false},
		"bytes of none":       {data(&apache.FixedSizeBinaryType{ByteWidth: 0}, 2, nil), true},
		"bytes less than 0":   {data(&apache.FixedSizeBinaryType{ByteWidth: -1}, 2, long), false},
		"few halves":          {data(numbersOfOurs[weft.BFloat16], 3, long[:5]), false},
		"complex, no parts":   {data(numbersOfOurs[weft.Complex64], 3), false},
		"dictionary, missing": {data(&apache.DictionaryType{IndexType: apache.PrimitiveTypes.Int8, ValueType: apache.BinaryTypes.String}, 1, []byte{0}), false},
	} {
		_, err := fromData(c.d)
		if c.ok != (err == nil) || err != nil && !errors.As(err, new(*FormatError)) {
			t.Errorf("%s: %v", name, err)
		}
	}
	parts := data(apache.PrimitiveTypes.Float32, 4, make([]byte, 16))
	for n, ok := range map[int]bool{2: true, 3: false} {
		d := array.NewData(numbersOfOurs[weft.Complex64], n, []*memory.Buffer{nil}, []apache.ArrayData{parts}, 0, 0)
		if _, err := fromData(d); ok != (err == nil) {
			t.Errorf("%d complex numbers of 4 parts: %v", n, err)
		}
	}
}
