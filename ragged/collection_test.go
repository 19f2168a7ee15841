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

type corner struct {
	Place [3]float32
	Item  uint32
}

type look struct {
	Color [4]float32
	Width float32
}

// A thing is what an item of a collection has, on its own.
type thing struct {
	points  []corner
	indices []int
	look    look
}

// things returns n things of random sizes.
func things(r *rand.Rand, n int) []thing {
	out := make([]thing, n)
	for i := range out {
		x := &out[i]
		for range r.IntN(5) {
			x.points = append(x.points, corner{Place: [3]float32{r.Float32(), r.Float32()}})
		}
		for range r.IntN(6) {
			if len(x.points) > 0 {
				x.indices = append(x.indices, r.IntN(len(x.points)))
			}
		}
		x.look = look{Color: [4]float32{r.Float32()}, Width: float32(i)}
	}
	return out
}

// checkCollection compares the three memories with what things lie behind one another make.
func checkCollection(t *testing.T, what string, c *Collection, want []thing) {
	t.Helper()
	var points []corner
	var indices []uint32
	var looks []look
	for i, x := range want {
		for _, k := range x.indices {
			indices = append(indices, uint32(len(points)+k))
		}
		for _, p := range x.points {
			p.Item = uint32(i)
			points = append(points, p)
		}
		looks = append(looks, x.look)
	}
	if got := records.Data[corner](c.Vertices().Data()); !slices.Equal(got, points) {
		t.Fatalf("%s: vertices %v, want %v", what, got, points)
	}
	if got := weft.Data[uint32](c.Indices().Data()); !slices.Equal(got, indices) {
		t.Fatalf("%s: indices %v, want %v", what, got, indices)
	}
	if got := records.Data[look](c.Uniforms()); !slices.Equal(got, looks) {
		t.Fatalf("%s: uniforms %v, want %v", what, got, looks)
	}
	for i, x := range want {
		if c.Vertices().At(i).Len() != len(x.points) || c.Indices().At(i).Dim(0) != len(x.indices) {
			t.Fatalf("%s: item %d has %d vertices and %d indices", what, i, c.Vertices().At(i).Len(), c.Indices().At(i).Dim(0))
		}
	}
	if c.Len() != len(want) {
		t.Fatalf("%s: %d items, want %d", what, c.Len(), len(want))
	}
}

// Items that are inserted, replaced and removed at random match a slice of things, and so do
// buffers elsewhere.
func TestCollectionIsEditedAsASlice(t *testing.T) {
	tensortest.SkipLate(t, "sizes change on the CPU alone")
	r := rand.New(rand.NewPCG(5, 6))
	c := NewCollection(records.LayoutOf[corner](), CollectionOpts{Uniforms: records.LayoutOf[look](), Number: "Item"})
	tv, ti, tu := c.Track()
	var bv, bi, bu copyOf
	var want []thing
	for k := range 250 {
		what := ""
		at := r.IntN(len(want) + 1)
		switch op := r.IntN(6); {
		case op < 2 || len(want) < 3:
			what = "insert"
			x := things(r, 1)[0]
			c.Insert(at, x.points, ItemOpts{Indices: x.indices, Uniforms: x.look})
			want = slices.Insert(want, at, x)
		case op == 2:
			what = "append several"
			x := things(r, 3)
			var points []corner
			var sizes []int
			var indices [][]int
			var looks []look
			for _, y := range x {
				points, sizes = append(points, y.points...), append(sizes, len(y.points))
				indices, looks = append(indices, y.indices), append(looks, y.look)
			}
			c.Append(points, ItemOpts{Sizes: sizes, Indices: indices, Uniforms: looks})
			want = append(want, x...)
		case op == 3 && at < len(want):
			what = "set"
			x := things(r, 1)[0]
			c.Set(at-len(want), records.FromSlice(x.points), ItemOpts{Indices: append([]int{}, x.indices...), Uniforms: x.look})
			want[at] = x
		case op == 4 && at < len(want):
			what = "set vertices"
			x := append(slices.Clone(want[at].points), corner{})
			c.Set(at, x)
			want[at].points = x
		case at < len(want):
			what = "delete"
			c.Delete(at)
			want = slices.Delete(want, at, at+1)
		}
		checkCollection(t, fmt.Sprint("edit ", k, ": ", what), c, want)
		if k%5 == 0 && c.Len() > 0 {
			c.Uniforms().At(-1).Field("Width").Assign(k)
			want[len(want)-1].look.Width = float32(k)
			for d, b := range map[*Tracked]*copyOf{tv: &bv, ti: &bi, tu: &bu} {
				if _, err := d.Flush(b); err != nil {
					t.Fatal(err)
				}
			}
			for name, x := range map[string][2][]byte{
				"vertices": {bv.data, weft.Data[uint8](c.Vertices().Data().Bytes().Reshape(-1))},
				"uniforms": {bu.data, weft.Data[uint8](c.Uniforms().Bytes().Reshape(-1))},
			} {
				if !slices.Equal(x[0][:len(x[1])], x[1]) {
					t.Fatalf("edit %d: the buffer of %s is not the collection's", k, name)
				}
			}
			if n := c.Indices().Rows(); n > 0 {
				if got := weft.FromSlice(bi.data[:4*n]); weft.Digest(got) != weft.Digest(weft.FromSlice(bytesOfIndices(c))) {
					t.Fatalf("edit %d: the buffer of indices is not the collection's", k)
				}
			}
		}
	}
	c.Clear()
	checkCollection(t, "cleared", c, nil)
}

// bytesOfIndices are the indices as little-endian bytes.
func bytesOfIndices(c *Collection) (out []byte) {
	for _, k := range weft.Data[uint32](c.Indices().Data()) {
		out = append(out, byte(k), byte(k>>8), byte(k>>16), byte(k>>24))
	}
	return out
}

// As glumpy appends: vertices that are divided equally have the same indices and uniforms each.
func TestCollectionOfEqualItems(t *testing.T) {
	tensortest.SkipLate(t, "sizes change on the CPU alone")
	c := NewCollection(records.LayoutOf[corner](), CollectionOpts{Uniforms: records.LayoutOf[look](), Number: "Item"})
	c.Append(make([]corner, 8), ItemOpts{Sizes: 4, Indices: []int64{0, 1, 2, 0, 2, 3}, Uniforms: look{Width: 2}})
	if got := c.Indices().String(); got != "[ [0 1 2 0 2 3] [4 5 6 4 6 7] ]" {
		t.Error(got)
	}
	if got := fmt.Sprint(c.Uniforms().Field("Width"), c.Vertices().Data().Field("Item")); got != "[2. 2.] [0 0 0 0 1 1 1 1]" {
		t.Error(got)
	}
	c.Append([]corner{}, ItemOpts{})
	c.Delete(0)
	if got := c.Indices().String(); got != "[ [0 1 2 0 2 3] [] ]" || c.Len() != 2 {
		t.Error(got)
	}
	plain := NewCollection(records.LayoutOf[corner]())
	plain.Append(make([]corner, 2))
	if got := plain.Vertices().String(); got != "[ [([0. 0. 0.], 0) ([0. 0. 0.], 0)] ]" {
		t.Error(got)
	}
	if v, i, u := plain.Track(); v == nil || i == nil || u != nil {
		t.Error(v, i, u)
	}
}

// What is refused leaves the collection as it was.
func TestMistakesWithCollections(t *testing.T) {
	tensortest.SkipLate(t, "sizes change on the CPU alone")
	c := NewCollection(records.LayoutOf[corner](), CollectionOpts{Uniforms: records.LayoutOf[look](), Number: "Item"})
	r := rand.New(rand.NewPCG(7, 8))
	want := []thing{{points: make([]corner, 3), indices: []int{2, 1}, look: things(r, 1)[0].look}}
	c.Append(want[0].points, ItemOpts{Indices: want[0].indices, Uniforms: want[0].look})
	small := NewCollection(records.LayoutOf[struct{ N int8 }](), CollectionOpts{Number: "N"})
	var none *Collection
	two := make([]corner, 2)
	for _, x := range []struct {
		f    func()
		want string
	}{
		{func() { none.Len() }, "len: the collection is nil"},
		{func() { new(Collection).Append(two) }, "append: the collection is nil"},
		{func() { NewCollection(records.Layout{}) }, "collection: layout: has no fields"},
		{func() { NewCollection(records.LayoutOf[corner](), CollectionOpts{Number: "Place"}) }, `Number: the field "Place" is float32[3] in each vertex`},
		{func() { NewCollection(records.LayoutOf[corner](), CollectionOpts{Number: "x"}) }, `"x" is none of the fields`},
		{func() { small.Append(make([]struct{ N int8 }, 129), ItemOpts{Sizes: 1}) }, `more than the field "N" of int8 can number`},
		{func() { small.Uniforms() }, "uniforms: the collection has no uniforms"},
		{func() { small.Append(make([]struct{ N int8 }, 1), ItemOpts{Uniforms: look{}}) }, "append: the collection has no uniforms"},
		{func() { c.Insert(2, two) }, "insert: index: 2 is out of range for 1 items"},
		{func() { c.Append(two, ItemOpts{Indices: []int{2}}) }, "append: Indices: number 0 of item 0 is 2, out of range for its 2 vertices"},
		{func() { c.Append(two, ItemOpts{Indices: []int{-1}}) }, "is -1, out of range"},
		{func() { c.Append(two, ItemOpts{Indices: [][]int{{0}, {0}}}) }, "Indices: are of 2 items, the vertices of 1"},
		{func() { c.Append(two, ItemOpts{Sizes: 3}) }, "cannot be divided"},
		{func() { c.Append(two, ItemOpts{Uniforms: make([]look, 3)}) }, "Uniforms: have the shape [3] for 1 items"},
		{func() { c.Append(two, ItemOpts{Uniforms: corner{}}) }, `append: Uniforms: there is no field "Color" in {Place`},
		{func() { c.Append(corner{}) }, "vertices: have the shape [], want one axis"},
		{func() { c.Append([][]corner{two}) }, "append: vertices: are [][]ragged.corner"},
		{func() { c.Append(nil) }, "append: vertices: is nil"},
		{func() { c.Append([]look{{}}) }, `append: vertices: there is no field "Place" in {Color`},
		{func() { c.Set(0, two) }, "set: Indices: number 0 of item 0 is 2"},
		{func() { c.Set(0, two, ItemOpts{Sizes: 1}) }, "set: Sizes"},
		{func() { c.Set(1, two) }, "set: index: 1 is out of range"},
		{func() { c.Delete(-2) }, "delete: index: -2 is out of range"},
		{func() { c.Vertices().Append(two) }, "shares its items"},
		{func() { c.Indices().Delete(0) }, "shares its items"},
	} {
		err := weft.Try(x.f)
		if err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%v, want %q in it", err, x.want)
		}
		checkCollection(t, x.want, c, want)
	}
}

// glumpy's tests of collections, by their names. docs/glumpy.txt lists all of its tests.
func TestCollectionsOfGlumpy(t *testing.T) {
	tensortest.SkipLate(t, "sizes change on the CPU alone")
	type spot struct{ Position [2]float32 }
	type tint struct{ Color [3]float32 }
	indices := []int{0, 1, 2, 0, 2, 3}
	empty := func() *Collection {
		return NewCollection(records.LayoutOf[spot](), CollectionOpts{Uniforms: records.LayoutOf[tint]()})
	}
	square := func(c *Collection) { c.Append(make([]spot, 4), ItemOpts{Indices: indices, Uniforms: tint{}}) }
	ten := func() *Collection {
		c := empty()
		c.Append(make([]spot, 40), ItemOpts{Sizes: 4, Indices: indices, Uniforms: tint{}})
		return c
	}
	numbers := func(c *Collection, item int) []uint32 { return weft.Data[uint32](c.Indices().At(item).Contiguous()) }
	moved := func(by int) (v []uint32) {
		for _, k := range indices {
			v = append(v, uint32(k+by))
		}
		return v
	}
	for _, x := range []struct {
		name  string
		make  func() *Collection
		items int
		by    func(item int) int // what the indices of an item are moved by
	}{
		{"init", empty, 0, nil},
		{"append one item", func() *Collection { c := empty(); square(c); square(c); return c }, 2, func(i int) int { return 4 * i }},
		{"append several item 1", ten, 10, func(i int) int { return 4 * i }},
		{"delete one item", func() *Collection { c := empty(); square(c); square(c); c.Delete(0); return c }, 1, func(int) int { return 0 }},
		{"delete several item", func() *Collection {
			c := ten()
			for range 9 {
				c.Delete(0)
			}
			return c
		}, 1, func(int) int { return 0 }},
	} {
		c := x.make()
		if c.Len() != x.items {
			t.Errorf("%s: %d items, want %d", x.name, c.Len(), x.items)
		}
		for i := range c.Len() {
			if got := numbers(c, i); !slices.Equal(got, moved(x.by(i))) {
				t.Errorf("%s: the indices of item %d are %v", x.name, i, got)
			}
		}
	}
	// One index for each item.
	c := NewCollection(records.LayoutOf[spot]())
	c.Append(make([]spot, 40), ItemOpts{Sizes: 4, Indices: []int{0}})
	for i := range 10 {
		if got := numbers(c, i); !slices.Equal(got, []uint32{uint32(4 * i)}) {
			t.Errorf("append several item 2: the index of item %d is %v", i, got)
		}
	}
}
