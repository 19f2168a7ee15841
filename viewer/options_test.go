package viewer

import (
	"encoding/json"
	"errors"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"weft"
)

// told returns what a page is told of its points, and the number of ranges that come for two
// writes 60 bytes apart.
func told(t *testing.T, o PointsOpts) []float64 {
	x := weft.Zeros(9, 3)
	s := httptest.NewServer(NewPoints(x, o))
	t.Cleanup(s.Close)
	c := connect(t, s.URL, 9*3*4)
	var hello struct{ Size float64 }
	if err := json.Unmarshal([]byte(c.hello()), &hello); err != nil {
		t.Fatal(err)
	}
	c.draw() // all of it
	x.Slice(weft.Index(0)).Assign(1)
	x.Slice(weft.Index(6)).Assign(1)
	return []float64{hello.Size, float64(c.draw())}
}

// TestPointsOptsOfZero sets each option to nothing, to its default and to 0: nothing is the
// default, and 0 is refused or means 0.
func TestPointsOptsOfZero(t *testing.T) {
	for name, c := range map[string]struct {
		opts PointsOpts
		want []float64
	}{
		"nothing":      {PointsOpts{}, []float64{2, 1}},
		"size 2":       {PointsOpts{Size: new(2.0)}, []float64{2, 1}},
		"size 5":       {PointsOpts{Size: new(5.0)}, []float64{5, 1}},
		"default cost": {PointsOpts{Cost: &weft.Cost{Latency: time.Microsecond, PerSecond: 100e6}}, []float64{2, 1}},
		"free calls":   {PointsOpts{Cost: &weft.Cost{}}, []float64{2, 2}},
	} {
		if got := told(t, c.opts); !slices.Equal(got, c.want) {
			t.Errorf("%s: size and ranges are %v, want %v", name, got, c.want)
		}
	}
	err := weft.Try(func() { NewPoints(weft.Zeros(9, 3), PointsOpts{Size: new(0.0)}) })
	var e *weft.Error
	if !errors.As(err, &e) || !strings.Contains(e.Arg, "Size") {
		t.Errorf("size 0 gives %v, want an error that names it", err)
	}
}
