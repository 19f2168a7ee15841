package weft_test

import (
	"fmt"
	"os"
	"time"

	"weft"
)

// Of a million points some move: only their bytes go to the copy.
func ExampleTrack() {
	points := weft.Zeros(1_000_000, 3)
	copied := weft.Zeros(1_000_000, 3)
	d := weft.Track(points)
	n, _ := d.Flush(copied.Sink())
	fmt.Println("at first", n, "bytes")

	points.Slice(weft.Range(100, 110)).AddAssign(1)
	points.Slice(weft.Index(-1), weft.Index(2)).Assign(5)
	fmt.Println(d.Pending())
	n, _ = d.Flush(copied.Sink())
	fmt.Println("then", n, "bytes; same:", weft.Digest(points) == weft.Digest(copied))
	// Output:
	// at first 12000000 bytes
	// [{1200 1320} {11999996 12000000}]
	// then 124 bytes; same: true
}

// One interval, as a vertex buffer has it, and as many as are worth a transfer.
func ExampleTrackOpts() {
	for _, o := range []weft.TrackOpts{
		{OneInterval: true},
		{Cost: &weft.Cost{Latency: time.Microsecond, PerSecond: 10e6}}, // 10 bytes
		{Cost: &weft.Cost{Latency: time.Microsecond, PerSecond: 10e6}, Item: new(20)},
	} {
		vertices := weft.Zeros(3, 3, 5) // a position of two, a color of three
		d := weft.Track(vertices, o)
		d.Flush(weft.Zeros(3, 3, 5).Sink())
		position := vertices.Slice(weft.Ellipsis, weft.Range(0, 2))
		position.Slice(weft.Index(0), weft.Index(0)).Assign(1)
		position.Slice(weft.Index(1), weft.Index(1)).Assign(2)
		fmt.Println(d.Pending())
	}
	// Output:
	// [{0 88}]
	// [{0 8} {80 88}]
	// [{0 20} {80 100}]
}

// A file is a sink; what failed is sent by the next flush.
func ExampleTracked_Flush() {
	f, err := os.CreateTemp("", "tracked")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.Remove(f.Name())
	x := weft.Arange(6)
	d := weft.Track(x, weft.TrackOpts{Cost: &weft.Cost{Latency: 1, PerSecond: 1e9}})
	n, err := d.Flush(f)
	fmt.Println(n, err)
	x.At(4).Assign(40)
	f.Close()
	n, err = d.Flush(f)
	fmt.Println(n, err != nil, d.Pending())
	again, _ := os.OpenFile(f.Name(), os.O_RDWR, 0)
	n, err = d.Flush(again)
	again.Close()
	data, _ := os.ReadFile(f.Name())
	fmt.Println(n, err, data[32:40])
	// Output:
	// 48 <nil>
	// 0 true [{32 40}]
	// 8 <nil> [40 0 0 0 0 0 0 0]
}

// Writes that weft does not see are marked by hand.
func ExampleTracked_Mark() {
	data := make([]float32, 100)
	x := weft.FromSlice(data)
	d := weft.Track(x)
	d.Flush(weft.Zeros(100).Sink())
	data[7] = 1
	d.Mark(x.At(7))
	fmt.Println(d.Pending())
	// Output: [{28 32}]
}

// The cost of a sink's transfers is measured by sending what the array holds.
func ExampleTracked_Measure() {
	d := weft.Track(weft.Zeros(1 << 16))
	cost, err := d.Measure(weft.Zeros(1 << 16).Sink())
	fmt.Println(cost.Latency > 0, cost.PerSecond > 0, err)
	// Output: true true <nil>
}

// The bytes of one array follow those of another.
func ExampleTensor_Sink() {
	x, y := weft.Arange(4), weft.Arange(4)
	d := weft.Track(x)
	x.At(2).Assign(9)
	d.Flush(y.Sink())
	fmt.Println(y)
	// Output: [0 1 9 3]
}
