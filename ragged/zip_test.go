package ragged

import (
	"fmt"
	"strings"
	"testing"

	"weft"
)

func TestZip(t *testing.T) {
	x := FromSizes([]float32{1, 2, 3, 4}, []int{1, 3})
	y := FromSizes(weft.Arange(8).Reshape(4, 2), []int{1, 3})
	l := Zip([]string{"x", "y"}, x, y)
	if got := fmt.Sprint(l.Fields(), l.Len(), l.Rows()); got != "[x y] 2 4" {
		t.Error(got)
	}
	l.Field("x").Data().Fill(7) // the same memory
	if got := x.At(1).Sum().Item(); got != 21 {
		t.Errorf("the sum is %v", got)
	}
	nested := FromOffsets([]int32{1, 2, 3}, []int{0, 2}, []int{0, 1, 3})
	if got := Zip([]string{"a", "b"}, nested, nested).Field("b").At(0, 1).Sum().Item(); got != 5 {
		t.Errorf("the sum is %v", got)
	}
	for _, c := range []struct {
		names []string
		lists []*List
		msg   string
	}{
		{nil, nil, "want one for each"},
		{[]string{"x"}, []*List{x, y}, "want one for each"},
		{[]string{"x", "x"}, []*List{x, y}, "there twice"},
		{[]string{"", "x"}, []*List{x, y}, "is empty"},
		{[]string{"x", "z"}, []*List{x, FromSizes([]float32{1, 2, 3, 4}, 2)}, "different lengths"},
		{[]string{"x", "z"}, []*List{x, FromSizes([]float32{1}, 1)}, "different lengths"},
		{[]string{"x", "z"}, []*List{x, nested}, "different lengths"},
		{[]string{"x", "l"}, []*List{x, l}, "rows are structs"},
		{[]string{"x", "n"}, []*List{x, nil}, "nil"},
	} {
		if err := weft.Try(func() { Zip(c.names, c.lists...) }); err == nil || !strings.Contains(err.Error(), c.msg) {
			t.Errorf("%v: got error %v, want one with %q", c.names, err, c.msg)
		}
	}
}

// Columns that belong together become one list of structs.
func ExampleZip() {
	x := FromSizes([]float32{1, 2, 3}, []int{1, 2})
	id := FromSizes([]int64{7, 8, 9}, []int{1, 2})
	l := Zip([]string{"x", "id"}, x, id)
	fmt.Println(l.Fields(), l.Field("id").At(1))
	// Output: [x id] [8 9]
}
