package records_test

import (
	"fmt"

	"weft"
	"weft/records"
)

type vertex struct {
	Position [2]float32 `records:"position"`
	Color    [3]float32 `records:"color"`
}

// The vertex buffer of Rougier's "From Python to Numpy": the array knows which bytes were written.
func Example() {
	v := records.Zeros(records.LayoutOf[vertex](), 3, 3)
	copied := records.Zeros(v.Layout(), 3, 3)
	d := v.Track(weft.TrackOpts{OneInterval: true})
	d.Flush(copied.Bytes().Sink())

	v.Field("position").At(0, 0).Assign(0)
	v.Field("position").At(1, 1).Assign(0)
	fmt.Println(d.Pending())
	n, _ := d.Flush(copied.Bytes().Sink())
	fmt.Println(n, "of", d.Bytes(), "bytes")
	// Output:
	// [{0 88}]
	// 88 of 180 bytes
}

func ExampleFromSlice() {
	data := []vertex{{Color: [3]float32{1, 0.5, 0}}, {Color: [3]float32{0, 0, 1}}}
	v := records.FromSlice(data) // on the same memory
	v.Field("position").Assign(weft.From([][]float32{{1, 2}, {3, 4}}))
	v.At(-1).Assign(vertex{Position: [2]float32{5, 6}})
	fmt.Println(v)
	fmt.Println(v.Field("color").Sum(0))
	// Output:
	// [([1. 2.], [1.  0.5 0. ]) ([5. 6.], [0. 0. 0.])]
	// [1.  0.5 0. ]
}

func ExampleArray_Sort() {
	type reading struct {
		Sensor int32
		Value  float32
	}
	r := records.From([]reading{{2, 0.5}, {1, 3}, {2, 0.25}})
	fmt.Println(r.Sort(0, "Sensor", "Value"))
	// Output: [(1, 3.0) (2, 0.25) (2, 0.5)]
}
