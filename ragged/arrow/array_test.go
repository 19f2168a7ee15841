package arrow

import (
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	apache "github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"weft"
	"weft/ragged"
)

// built parses what Arrow's own JSON builder makes: an oracle that is not ours.
func built(t *testing.T, d apache.DataType, text string) apache.Array {
	t.Helper()
	a, _, err := array.FromJSON(memory.DefaultAllocator, d, strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// Slices have an offset, on every level; what is not in them is not seen.
func TestSlices(t *testing.T) {
	i32, f32 := apache.PrimitiveTypes.Int32, apache.PrimitiveTypes.Float32
	lists := `[[1], null, [2, 3], [], [4, null, 5], [6]]`
	structs := `[[{"x": 1, "v": [1, 2]}], [], [{"x": null, "v": [3, 4]}, {"x": 3, "v": [5, 6]}], null, [null, {"x": 4, "v": null}], []]`
	for _, c := range []struct {
		d    apache.DataType
		text string
	}{
		{apache.ListOf(i32), lists},
		{apache.LargeListOf(f32), lists},
		{apache.ListViewOf(i32), lists},
		{apache.LargeListViewOf(i32), lists},
		{apache.FixedSizeListOf(2, i32), `[[1, 2], null, [3, null], [4, 5], [6, 7], [8, 9]]`},
		{apache.ListOf(apache.LargeListOf(i32)), `[[[1], []], null, [[2, 3]], [null, [4]], [], [[5], [6, 7]]]`},
		{apache.ListOf(apache.FixedSizeListOf(2, i32)), `[[[1, 2]], [], [[3, 4], [5, 6]], null, [[7, null]], [[8, 9]]]`},
		{apache.FixedSizeListOf(2, apache.FixedSizeListOf(1, i32)), `[[[1], [2]], [[3], [4]], [[5], [6]], [[7], [8]], [[9], [10]], [[11], [12]]]`},
		{apache.FixedSizeListOf(1, apache.ListOf(i32)), `[[[1]], [[]], [[2, 3]], null, [[4]], [[5]]]`},
		{apache.ListOf(apache.FixedWidthTypes.Boolean), `[[true], [false, true], null, [null], [true, true, false], []]`},
		{apache.ListOf(apache.StructOf(apache.Field{Name: "x", Type: i32, Nullable: true}, apache.Field{Name: "v", Type: apache.FixedSizeListOf(2, f32), Nullable: true})), structs},
		{i32, `[1, 2, null, 4, 5, 6]`},
	} {
		checkSlices(t, c.d, c.text, func(slice string, col Column, _ apache.Array, want any) {
			if got := jsonOf(t, values(col)); !equal(got, want) {
				t.Errorf("%s is %v, want %v", slice, got, want)
			}
		})
	}
}

// checkSlices takes each slice of six items through a column and back: Arrow's JSON of what
// we make is that of the slice. look sees the column, the array and what is in the slice.
func checkSlices(t *testing.T, d apache.DataType, text string, look func(slice string, c Column, back apache.Array, want any)) {
	t.Helper()
	whole := built(t, d, text)
	for lo := range 7 {
		for hi := lo; hi <= 6; hi++ {
			a := array.NewSlice(whole, int64(lo), int64(hi))
			slice := fmt.Sprintf("%s [%d:%d]", d, lo, hi)
			b, err := a.MarshalJSON()
			if err != nil {
				t.Fatal(err)
			}
			want := parsed(t, b)
			if want == nil {
				want = []any{} // of months Arrow's JSON of none is null
			}
			col, err := FromArray(a)
			if err != nil {
				t.Fatalf("%s: %v", slice, err)
			}
			back, err := ToArray(col, ArrayOpts{})
			if err != nil {
				t.Fatalf("%s: %v", slice, err)
			}
			look(slice, col, back, want)
			if b, err = back.MarshalJSON(); err != nil {
				t.Fatal(err)
			}
			got := parsed(t, b)
			if got == nil {
				got = []any{}
			}
			if !equal(got, want) {
				t.Errorf("%s comes back as %v, want %v", slice, got, want)
			}
			back.Release()
		}
	}
}

// Memory is shared both ways, and lives as long as somebody needs it.
func TestZeroCopy(t *testing.T) {
	a := built(t, apache.LargeListOf(apache.PrimitiveTypes.Float32), `[[1], [2, 3]]`)
	c, err := FromArray(a)
	if err != nil {
		t.Fatal(err)
	}
	values := a.(*array.LargeList).ListValues().(*array.Float32).Float32Values()
	values[1] = 7
	if got := c.List.Data().Sum().Item(); got != 11 {
		t.Errorf("the sum is %v: the memory is not Arrow's", got)
	}
	var e *weft.Error
	if err := weft.Try(func() { c.List.Data().Fill(0) }); !errors.As(err, &e) {
		t.Errorf("Arrow's memory is written: %v", err)
	}
	a.Release()
	a, values = nil, nil
	for range 3 {
		runtime.GC()
	}
	if got := c.List.Data().Sum().Item(); got != 11 {
		t.Errorf("the sum is %v after Arrow's array is gone", got)
	}

	x := weft.Arange(5000.0)
	l := ragged.FromSizes(x, 2)
	b, err := ToArray(Column{List: l}, ArrayOpts{Layout: FixedSizeList})
	if err != nil {
		t.Fatal(err)
	}
	x.Slice(weft.Index(0)).Fill(9)
	numbers := b.(*array.FixedSizeList).ListValues().(*array.Float32)
	if got := numbers.Value(0); got != 9 {
		t.Errorf("the first number is %v: the memory is not the tensor's", got)
	}
	if err := weft.Try(x.Release); err == nil {
		t.Error("memory that Arrow uses is released")
	}
	b.Release()
	if err := weft.Try(x.Release); err != nil {
		t.Errorf("after Arrow's release: %v", err)
	}
	// What nobody releases goes with the collector.
	y := weft.Arange(5000.0)
	if _, err := ToArray(Column{Tensor: y}, ArrayOpts{}); err != nil {
		t.Fatal(err)
	}
	for i := 0; weft.Try(y.Release) != nil; i++ {
		if i == 100 {
			t.Fatal("memory stays lent")
		}
		runtime.GC()
	}
}

// Arrays that Arrow's own types do not check: every layout that leads outside is refused.
func TestHostileArrays(t *testing.T) {
	i32 := apache.PrimitiveTypes.Int32
	ints := func(x ...int32) *memory.Buffer { return memory.NewBufferBytes(apache.Int32Traits.CastToBytes(x)) }
	child := func(n int) apache.ArrayData {
		return array.NewData(i32, n, []*memory.Buffer{nil, ints(1, 2, 3)}, nil, 0, 0)
	}
	list := func(n, offset int, o *memory.Buffer, c ...apache.ArrayData) *array.Data {
		return array.NewData(apache.ListOf(i32), n, []*memory.Buffer{nil, o}, c, 0, offset)
	}
	for name, d := range map[string]*array.Data{
		"ends behind the child":    list(1, 0, ints(0, 4), child(3)),
		"begins before the child":  list(1, 0, ints(-1, 2), child(3)),
		"descends":                 list(2, 0, ints(0, 3, 1), child(3)),
		"offsets are short":        list(3, 0, ints(0, 1), child(3)),
		"offsets are missing":      list(1, 0, nil, child(3)),
		"offset is negative":       list(1, -1, ints(0, 1), child(3)),
		"offset is huge":           list(1, 1<<62, ints(0, 1), child(3)),
		"length is huge":           list(1<<62, 0, ints(0, 1), child(3)),
		"no child":                 list(1, 0, ints(0, 1)),
		"two children":             list(1, 0, ints(0, 1), child(3), child(3)),
		"child is shorter":         list(1, 0, ints(0, 5), child(5)),
		"child's length is huge":   list(1, 0, ints(0, 1<<31-1), child(1<<40)),
		"fixed is longer":          array.NewData(apache.FixedSizeListOf(2, i32), 2, []*memory.Buffer{nil}, []apache.ArrayData{child(3)}, 0, 0),
		"fixed overflows":          array.NewData(apache.FixedSizeListOf(1<<31-1, i32), 1<<33, []*memory.Buffer{nil}, []apache.ArrayData{child(3)}, 0, 0),
		"inner fixed overflows":    array.NewData(apache.ListOf(apache.FixedSizeListOf(1<<31-1, i32)), 1, []*memory.Buffer{nil, ints(0, 1)}, []apache.ArrayData{array.NewData(apache.FixedSizeListOf(1<<31-1, i32), 1<<40, []*memory.Buffer{nil}, []apache.ArrayData{child(3)}, 0, 0)}, 0, 0),
		"validity is short":        array.NewData(apache.ListOf(i32), 100, []*memory.Buffer{memory.NewBufferBytes([]byte{1}), ints(make([]int32, 101)...)}, []apache.ArrayData{child(3)}, 50, 0),
		"view leads outside":       array.NewData(apache.ListViewOf(i32), 1, []*memory.Buffer{nil, ints(2), ints(2)}, []apache.ArrayData{child(3)}, 0, 0),
		"view of negative size":    array.NewData(apache.ListViewOf(i32), 1, []*memory.Buffer{nil, ints(2), ints(-1)}, []apache.ArrayData{child(3)}, 0, 0),
		"view without sizes":       array.NewData(apache.ListViewOf(i32), 1, []*memory.Buffer{nil, ints(2)}, []apache.ArrayData{child(3)}, 0, 0),
		"plain numbers are short":  array.NewData(i32, 4, []*memory.Buffer{nil, ints(1, 2, 3)}, nil, 0, 0),
		"plain numbers are none":   array.NewData(i32, 4, nil, nil, 0, 0),
		"struct without its field": array.NewData(apache.ListOf(apache.StructOf(apache.Field{Name: "x", Type: i32})), 1, []*memory.Buffer{nil, ints(0, 1)}, []apache.ArrayData{array.NewData(apache.StructOf(apache.Field{Name: "x", Type: i32}), 1, []*memory.Buffer{nil}, nil, 0, 0)}, 0, 0),
	} {
		_, err := func() (c Column, err error) {
			defer caught(&err)
			return fromData(d)
		}()
		if !errors.As(err, new(*FormatError)) {
			t.Errorf("%s: %v (%T)", name, err, err)
		}
	}
	for name, a := range map[string]apache.Array{
		"texts in structs":  built(t, apache.ListOf(apache.StructOf(apache.Field{Name: "x", Type: apache.BinaryTypes.String})), `[[{"x": "a"}]]`),
		"decimals":          built(t, apache.ListOf(&apache.Decimal128Type{Precision: 5, Scale: 2}), `[["1.25"]]`),
		"structs alone":     built(t, apache.StructOf(apache.Field{Name: "x", Type: i32}), `[{"x": 1}]`),
		"lists in structs":  built(t, apache.ListOf(apache.StructOf(apache.Field{Name: "x", Type: apache.ListOf(i32)})), `[[{"x": [1]}]]`),
		"structs in struct": built(t, apache.ListOf(apache.StructOf(apache.Field{Name: "x", Type: apache.StructOf(apache.Field{Name: "y", Type: i32})})), `[[{"x": {"y": 1}}]]`),
		"days and times":    built(t, apache.FixedWidthTypes.DayTimeInterval, `[{"days": 1, "milliseconds": 1}]`),
		"map":               built(t, apache.MapOf(i32, i32), `[[{"key": 1, "value": 2}]]`),
	} {
		if _, err := FromArray(a); !errors.As(err, new(*UnsupportedError)) || !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := FromArray(nil); err == nil {
		t.Error("nil is an array")
	}
}

// A list view may name the same rows many times: what that takes is asked for first.
func TestManyViews(t *testing.T) {
	n := 1 << 20
	numbers := memory.NewBufferBytes(make([]byte, 4*n))
	sizes := make([]int32, n)
	for i := range sizes {
		sizes[i] = int32(n)
	}
	child := array.NewData(apache.PrimitiveTypes.Int32, n, []*memory.Buffer{nil, numbers}, nil, 0, 0)
	d := array.NewData(apache.ListViewOf(apache.PrimitiveTypes.Int32), n, []*memory.Buffer{nil, numbers, memory.NewBufferBytes(apache.Int32Traits.CastToBytes(sizes))}, []apache.ArrayData{child}, 0, 0)
	if _, err := fromData(d); !errors.As(err, new(*FormatError)) {
		t.Errorf("%v", err)
	}
}

func Example() {
	l := ragged.Of([][]float32{{1}, {}, {2, 3}})
	a, err := ToArray(Column{List: l}, ArrayOpts{}) // lies in the memory of l
	if err != nil {
		fmt.Println(err)
		return
	}
	defer a.Release()
	fmt.Println(a.DataType(), a)
	c, err := FromArray(a)
	fmt.Println(c.List, err)
	// Output:
	// large_list<item: float32, nullable> [[1] [] [2 3]]
	// [ [1.] [] [2. 3.] ] <nil>
}

func ExampleReadFile() {
	batches, err := ReadFile("testdata/lists.arrow") // by pyarrow
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, c := range batches[0][:3] {
		fmt.Println(c.Name, c.Type, c.List.Sizes())
	}
	// Output:
	// float list<item: float32, nullable> [1 0 3 1 4 0]
	// large large_list<item: int64, nullable> [1 0 3 1 4 0]
	// fixed fixed_size_list<item: float64, nullable>[2] [2 2 2 2 2 2]
}

func parsed(t *testing.T, b []byte) any {
	t.Helper()
	var x any
	if err := json.Unmarshal(b, &x); err != nil {
		t.Fatal(err)
	}
	return x
}

// jsonOf takes a value through JSON.
func jsonOf(t *testing.T, x any) any {
	b, err := json.Marshal(x)
	if err != nil {
		t.Fatal(err)
	}
	return parsed(t, b)
}
