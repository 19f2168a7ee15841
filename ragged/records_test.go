package ragged

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"weft"
	"weft/internal/tensortest"
	"weft/records"
)

type vertex struct {
	Position [2]float32
	Color    [4]uint8
}

// vertices returns n vertices that differ from all others with another first number.
func vertices(first, n int) []vertex {
	out := make([]vertex, n)
	for i := range out {
		out[i] = vertex{[2]float32{float32(first), float32(i)}, [4]uint8{uint8(first), uint8(i), 1, 2}}
	}
	return out
}

// checkRecords compares a list of records with slices.
func checkRecords(t *testing.T, what string, r *Records, want [][]vertex) {
	t.Helper()
	var flat []vertex
	if r.Len() != len(want) {
		t.Fatalf("%s: %d items, want %d", what, r.Len(), len(want))
	}
	for i, w := range want {
		flat = append(flat, w...)
		if got := records.Data[vertex](r.At(i)); !slices.Equal(got, w) {
			t.Fatalf("%s: item %d is %v, want %v", what, i, got, w)
		}
		for k := range w {
			if got := r.Field("Color").At(i).At(k, 1).ItemInt(); got != int64(w[k].Color[1]) {
				t.Fatalf("%s: color of record %d of item %d is %d, want %d", what, k, i, got, w[k].Color[1])
			}
		}
	}
	if got := records.Data[vertex](r.Data()); !slices.Equal(got, flat) || r.Rows() != len(flat) {
		t.Fatalf("%s: records %v, want %v", what, got, flat)
	}
}

// A copyOf is a buffer in Go memory.
type copyOf struct {
	data    []byte
	resized int
	sent    int
}

func (c *copyOf) Resize(n int) error {
	c.data, c.resized = make([]byte, n), c.resized+1
	return nil
}

func (c *copyOf) WriteAt(p []byte, off int64) (int, error) {
	c.sent += len(p)
	return copy(c.data[off:], p), nil
}

// Random edits of a list of records match slices, and a buffer that is flushed now and then has the
// records, whether the list has moved or not.
func TestRecordsAreEditedAsSlices(t *testing.T) {
	tensortest.SkipLate(t, "sizes change on the CPU alone")
	r := rand.New(rand.NewPCG(3, 4))
	want := [][]vertex{vertices(0, 2), {}, vertices(1, 3)}
	l := OfRecords(want)
	d := l.Track(weft.TrackOpts{Cost: &weft.Cost{}})
	b := &copyOf{}
	for k := range 400 {
		at := r.IntN(len(want) + 1)
		some := vertices(k+2, r.IntN(4))
		what := ""
		switch op := r.IntN(8); {
		case op == 0 || len(want) == 0:
			what = "append a slice"
			l.Append(some)
			want = append(want, some)
		case op == 1:
			what = "insert records"
			l.Insert(at, records.FromSlice(some))
			want = slices.Insert(want, at, some)
		case op == 2:
			what = "insert several items"
			l.Insert(at, [][]vertex{some, {}, some[:len(some)/2]})
			want = slices.Insert(want, at, some, []vertex{}, some[:len(some)/2])
		case op == 3:
			what = "insert with sizes"
			l.Insert(at, vertices(k, 4), []int{1, 3})
			want = slices.Insert(want, at, vertices(k, 4)[:1], vertices(k, 4)[1:])
		case op == 4 && at < len(want):
			what = "set"
			l.Set(at-len(want), some)
			want[at] = some
		case op == 5 && at < len(want):
			what = "set to one record"
			one := vertices(k, 1)[0]
			l.Set(at, one)
			want[at] = slices.Repeat([]vertex{one}, len(want[at]))
		case op == 6 && at < len(want):
			what = "append a list"
			l.Append(l.Range(at, at+1).Clone())
			want = append(want, want[at])
		case at < len(want):
			what = "delete"
			l.Delete(at)
			want = slices.Delete(want, at, at+1)
		}
		checkRecords(t, fmt.Sprint("edit ", k, ": ", what), l, want)
		if k%3 == 0 {
			if n := l.Rows(); n > 0 {
				l.Data().At(r.IntN(n)).Field("Position").Assign(k)
				want = want[:0]
				for i := range l.Len() {
					want = append(want, records.Data[vertex](l.At(i)))
				}
			}
			if _, err := d.Flush(b); err != nil || len(d.Pending()) > 0 {
				t.Fatal(err, d.Pending())
			}
			if live := weft.Data[uint8](l.Data().Bytes().Reshape(-1)); !slices.Equal(b.data[:len(live)], live) {
				t.Fatalf("edit %d: the buffer has other records", k)
			}
			if len(b.data) != d.Bytes() {
				t.Fatalf("the buffer has %d bytes, the list's memory %d", len(b.data), d.Bytes())
			}
		}
	}
	if b.resized < 2 || b.resized > 20 {
		t.Errorf("the buffer was resized %d times", b.resized)
	}
	// Nothing moves: one record is sent.
	l.Append(vertices(1, 1))
	d.Flush(b)
	b.sent, b.resized = 0, 0
	l.Data().At(0).Assign(vertices(9, 1)[0])
	if n, err := d.Flush(b); n != 12 || err != nil || b.resized != 0 {
		t.Errorf("%d bytes were sent: %v", n, err)
	}
}

// Other layouts are converted by names; views share memory, copies do not.
func TestRecordsOfOtherLayouts(t *testing.T) {
	tensortest.SkipLate(t, "sizes change on the CPU alone")
	type swapped struct {
		Color    [4]uint8
		_        [4]byte
		Position [2]float32
	}
	l := OfRecords([][]vertex{vertices(1, 2)})
	l.Append([]swapped{{Color: [4]uint8{5}, Position: [2]float32{6, 7}}})
	l.Append(OfRecords([][]swapped{{}, {{Color: [4]uint8{8}}}}))
	want := [][]vertex{vertices(1, 2), {{[2]float32{6, 7}, [4]uint8{5}}}, {}, {{Color: [4]uint8{8}}}}
	checkRecords(t, "other layouts", l, want)
	checkRecords(t, "taken", l.Take([]int{3, 0}), [][]vertex{want[3], want[0]})
	checkRecords(t, "range", l.Range(1, 3), want[1:3])
	copied := l.Clone()
	l.Range(0, 1).Data().Field("Position").Assign(0)
	l.Field("Color").Set(0, 3)
	if got := records.Data[vertex](l.At(0)); got[1] != (vertex{Color: [4]uint8{3, 3, 3, 3}}) {
		t.Error(got)
	}
	checkRecords(t, "copy", copied, want)
	for i, a := range l.All() {
		if a.Len() != len(want[i]) {
			t.Errorf("item %d has %d records", i, a.Len())
		}
	}
	if got := fmt.Sprint(weft.Data[int64](l.Sizes()), weft.Data[int64](l.Offsets())); got != "[2 1 0 1] [0 2 3 3 4]" {
		t.Error(got)
	}
	if got := OfRecords([][]struct{ X int8 }{{{1}, {2}}, {}}).String(); got != "[ [(1) (2)] [] ]" {
		t.Error(got)
	}
	// On the memory of a slice, until sizes change.
	data := vertices(4, 3)
	on := RecordsFromSizes(records.FromSlice(data), []int{1, 2})
	on.At(1).Field("Position").Assign(9)
	if data[2].Position != [2]float32{9, 9} {
		t.Error(data)
	}
	on.Append(vertices(5, 1))
	on.At(1).Field("Position").Assign(10)
	if data[2].Position != [2]float32{9, 9} {
		t.Error("the slice was written to after a change of sizes")
	}
}

func TestMistakesWithRecords(t *testing.T) {
	tensortest.SkipLate(t, "sizes change on the CPU alone")
	l := OfRecords([][]vertex{vertices(1, 2)})
	columns := Of([][]vertex{vertices(1, 2)})
	var none *Records
	for _, c := range []struct {
		f    func()
		want string
	}{
		{func() { none.Len() }, "len: the list is nil"},
		{func() { new(Records).Append(nil) }, "append: the list is nil"},
		{func() { OfRecords(3) }, "ofrecords: x: is int, want slices of slices of structs"},
		{func() { OfRecords([][]int{{1}}) }, "ofrecords: x: is []int"},
		{func() { l.Append(nil) }, "append: x: is nil"},
		{func() { l.Append([]struct{ Position [2]float32 }{{}}) }, `append: there is no field "Color"`},
		{func() { l.Set(1, vertex{}) }, "set: index: 1 is out of range for 1 items"},
		{func() { l.Delete(1) }, "delete: index: 1 is out of range"},
		{func() { l.At(-2) }, "at: index: -2 is out of range"},
		{func() { l.Field("x") }, `field: name: "x" is none of the fields`},
		{func() { l.Range(0, 1).Append(vertices(1, 1)) }, "append: the list shares its items with another list"},
		{func() { RecordsFromSizes(l.Data(), []int{1}) }, "cannot be divided"},
		{func() { RecordsFromSizes(l.Data().Reshape(1, 2), []int{1}) }, "want one axis"},
		{func() { EmptyRecords(records.Layout{}) }, "emptyrecords: layout: has no fields"},
		{func() { columns.Track() }, "track: rows are structs"},
		{func() { l.Track().Flush(nil) }, "flush: b: is nil"},
		{func() { (*Tracked)(nil).Pending() }, "pending: the Tracked is nil"},
	} {
		err := weft.Try(c.f)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q in it", err, c.want)
		}
	}
	e := EmptyRecords(l.Layout())
	e.Append(vertices(2, 2))
	checkRecords(t, "appended to none", e, [][]vertex{vertices(2, 2)})
	e.Clear()
	checkRecords(t, "cleared", e, nil)
	e.Reserve(10, 100)
	e.Append(vertices(2, 2))
	e.DeleteRange(0, weft.End)
	checkRecords(t, "deleted", e, nil)
}
