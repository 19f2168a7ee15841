package weft_test

import (
	"fmt"
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
		{Cost: weft.Cost{Latency: time.Microsecond, PerSecond: 10e6}}, // 10 bytes
		{Cost: weft.Cost{Latency: time.Microsecond, PerSecond: 10e6}, Item: 20},
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
