package ragged

import (
	"math"

	"weft"
	"weft/internal/array"
	"weft/records"
)

// A Collection is items that a graphics processor draws together, each with vertices, indices of
// them and uniforms. The vertices of all items lie side by side in one buffer, and so do the indices
// and the uniforms. Items are edited like a list's: indices, which count in the vertices of
// all items, and the numbers of items follow. [NewCollection] makes one; the zero Collection is not
// one. As a list, it is for one goroutine at a time.
type Collection struct {
	vertices *Records
	indices  *List    // uint32
	uniforms *Records // one record an item; nil without
	number   string
}

// CollectionOpts are the options of [NewCollection].
type CollectionOpts struct {
	// Uniforms is the layout of what the vertices of an item share, such as a color or a
	// transform: one record an item. Without fields there are none.
	Uniforms records.Layout
	// Number is the field of vertices, one number each, that the collection sets to the number
	// of the vertex's item, by which a shader finds its uniforms. Empty means none.
	Number string
}

// ItemOpts are what items have besides vertices, for [Collection.Insert].
type ItemOpts struct {
	// Sizes divides the vertices into several items, as [FromSizes] does; nil means one item.
	Sizes any
	// Indices are numbers of vertices of the item, from 0 on: []int, []int64 or a tensor of
	// integers of one dimension, the same for each item; or a slice of []int, one for each
	// item. Nil means none.
	Indices any
	// Uniforms are a struct or a record, the same for each item, or slices or records of one
	// dimension, one for each item. Nil means zeros.
	Uniforms any
}

// NewCollection returns a collection without items for vertices of a layout. It panics with
// *weft.Error if a layout is not possible or Number is not a field of one number.
func NewCollection(vertices records.Layout, opts ...CollectionOpts) *Collection {
	const op = "collection"
	defer array.Named(op).End()
	o := array.Options(op, opts)
	c := &Collection{vertices: EmptyRecords(vertices), indices: Empty(weft.Uint32), number: o.Number}
	if len(o.Uniforms.Fields) > 0 {
		c.uniforms = EmptyRecords(o.Uniforms)
	}
	if o.Number != "" {
		if f := c.vertices.Data().Field(o.Number); f.Rank() != 1 || f.DType() == weft.Bool {
			array.Failf(op, "Number", "the field %q is %s in each vertex, want one number", o.Number, array.TypeString(f.DType(), f.Shape()[1:]))
		}
	}
	return c
}

// check refuses nil and the zero Collection.
func (c *Collection) check(op string) {
	if c == nil || c.vertices == nil {
		array.Failf(op, "", "the collection is nil or the zero Collection: NewCollection makes one")
	}
}

// Len returns the number of items.
func (c *Collection) Len() int {
	c.check("len")
	return c.vertices.Len()
}

// Vertices returns the vertices of all items, on the collection's memory. Values may be changed,
// sizes may not.
func (c *Collection) Vertices() *Records {
	c.check("vertices")
	return c.vertices.Range(0, weft.End)
}

// Indices returns the indices of all items, uint32, which count in the vertices of all items, on the
// collection's memory. Values may be changed, sizes may not.
func (c *Collection) Indices() *List {
	c.check("indices")
	return c.indices.Range(0, weft.End)
}

// Uniforms returns one record an item, of shape [items], on the collection's memory. As a texture it
// has a row for each item. It panics with *weft.Error if the collection has no uniforms.
func (c *Collection) Uniforms() *records.Array {
	const op = "uniforms"
	c.check(op)
	c.withUniforms(op)
	return c.uniforms.Data()
}

func (c *Collection) withUniforms(op string) {
	if c.uniforms == nil {
		array.Failf(op, "", "the collection has no uniforms: CollectionOpts has their layout")
	}
}

// Track makes the collection know which bytes of its three memories are written: see [List.Track].
// uniforms is nil if there are none.
func (c *Collection) Track(opts ...weft.TrackOpts) (vertices, indices, uniforms *Tracked) {
	const op = "track"
	defer array.Named(op).End()
	c.check(op)
	if c.uniforms != nil {
		uniforms = c.uniforms.Track(opts...)
	}
	return c.vertices.Track(opts...), c.indices.Track(opts...), uniforms
}

// Append adds items behind the last: see [Collection.Insert].
func (c *Collection) Append(vertices any, opts ...ItemOpts) {
	c.check("append")
	c.insert("append", c.Len(), vertices, opts)
}

// Insert adds items before item at, which may count from the back; at [Collection.Len] it appends.
// vertices are a slice of structs or records of one dimension. It costs what moves in the lists, and
// a pass over the indices and numbers of later items. An error leaves the collection as it was.
func (c *Collection) Insert(at int, vertices any, opts ...ItemOpts) {
	c.check("insert")
	c.insert("insert", at, vertices, opts)
}

func (c *Collection) insert(op string, at int, vertices any, opts []ItemOpts) {
	defer array.Named(op).End()
	o := array.Options(op, opts)
	n := c.Len()
	if at < 0 && at >= -n {
		at += n
	}
	if at < 0 || at > n {
		array.Failf(op, "index", "%d is out of range for %d items", at, n)
	}
	a := c.vertices.records(op, "vertices", vertices)
	if a.Rank() != 1 {
		array.Failf(op, "vertices", "have the shape %s, want one axis", array.ShapeString(a.Shape()))
	}
	if all := c.vertices.Rows() + a.Len(); all > math.MaxUint32 {
		array.Failf(op, "vertices", "are %d together, more than indices of 32 bits count", all)
	}
	var sizes any = []int{a.Len()}
	if o.Sizes != nil {
		sizes = o.Sizes
	}
	part := divided(op, sizes, weft.CPU, a.Len()).Ints()
	items := len(part) - 1
	lists := indicesOf(op, o.Indices, part)
	if c.number != "" {
		if d := c.vertices.Data().Field(c.number).DType(); d.Integer() {
			if _, most := d.Limits(); int64(n+items-1) > most {
				array.Failf(op, "vertices", "are of %d items, more than the field %q of %s can number", n+items, c.number, d)
			}
		}
	}
	var shared *records.Array
	if c.uniforms != nil {
		shared = c.uniforms.each(op, o.Uniforms, items)
	} else if o.Uniforms != nil {
		c.withUniforms(op)
	}

	first := c.start(at)
	for i := range lists {
		for k := range lists[i] {
			lists[i][k] += uint32(first) + uint32(part[i])
		}
	}
	c.vertices.rows.Insert(at, a.Bytes(), sizes)
	if items > 0 {
		c.indices.Insert(at, lists)
		if shared != nil {
			c.uniforms.Insert(at, shared, 1)
		}
	}
	c.shift(at+items, a.Len(), items)
	c.numberItems(at, at+items)
}

// records returns x as records of the list's layout.
func (r *Records) records(op, arg string, x any) *records.Array {
	defer nameArgument(arg)
	t, ok := r.value(op, x).(*weft.Tensor)
	if !ok {
		array.Failf(op, arg, "are %T: want a slice of structs, or records of one dimension", x)
	}
	return records.Over(r.layout, t)
}

// each returns x as one record for each of n items.
func (r *Records) each(op string, x any, n int) *records.Array {
	out := records.Zeros(r.layout, n)
	if x != nil {
		a := r.records(op, "Uniforms", x)
		if a.Rank() > 1 || a.Rank() == 1 && a.Len() != n {
			array.Failf(op, "Uniforms", "have the shape %s for %d items", array.ShapeString(a.Shape()), n)
		}
		out.Assign(a)
	}
	return out
}

// nameArgument is deferred. It puts the name of an argument into an *Error about a value that has no
// better name.
func nameArgument(arg string) {
	switch e := recover().(type) {
	case nil:
	case *weft.Error:
		if e.Arg == "" || e.Arg == "x" {
			named := *e
			named.Arg = arg
			e = &named
		}
		panic(e)
	default:
		panic(e)
	}
}

// indicesOf returns the indices of each item, from the item's first vertex on. part are the offsets
// of the items.
func indicesOf(op string, x any, part []int64) [][]uint32 {
	out := make([][]uint32, len(part)-1)
	each, several := x.([][]int)
	if several && len(each) != len(out) {
		array.Failf(op, "Indices", "are of %d items, the vertices of %d", len(each), len(out))
	}
	for i := range out {
		var list []int64
		switch {
		case several:
			list = integers(op, "Indices", each[i])
		case x != nil:
			list = integers(op, "Indices", x)
		}
		n := part[i+1] - part[i]
		out[i] = make([]uint32, len(list))
		for k, v := range list {
			if v < 0 || v >= n {
				array.Failf(op, "Indices", "number %d of item %d is %d, out of range for its %d vertices", k, i, v, n)
			}
			out[i][k] = uint32(v)
		}
	}
	return out
}

// start returns the number of the first vertex of an item, or of all vertices.
func (c *Collection) start(item int) int {
	c.vertices.rows.check("collection")
	return int(c.vertices.rows.part.Ints()[item])
}

// shift adds to the indices of items from one on, by whose number of vertices they moved, and to the
// numbers of these items.
func (c *Collection) shift(from, vertices, items int) {
	c.indices.check("collection")
	if l := c.indices.Data().Slice(weft.Range(int(c.indices.part.Ints()[from]), weft.End)); vertices != 0 && l.Size() > 0 {
		l.AddAssign(weft.Scalar(int64(vertices)).To(weft.Uint32)) // modulo 2^32: it may be negative
	}
	if c.number != "" && items != 0 {
		if f := c.vertices.Data().Slice(weft.Range(c.start(from), weft.End)).Field(c.number); f.Size() > 0 {
			f.AddAssign(weft.Scalar(int64(items)).To(f.DType()))
		}
	}
}

// numberItems writes the numbers of items lo to hi-1 into their vertices.
func (c *Collection) numberItems(lo, hi int) {
	if c.number == "" {
		return
	}
	for i := lo; i < hi; i++ {
		if f := c.vertices.At(i).Field(c.number); f.Size() > 0 {
			f.Assign(i)
		}
	}
}

// Set gives item i, which may count from the back, other vertices, and what opts have: without
// Indices or Uniforms the item keeps its own. It panics with *weft.Error if indices that are kept do
// not fit.
func (c *Collection) Set(i int, vertices any, opts ...ItemOpts) {
	const op = "set"
	defer array.Named(op).End()
	c.check(op)
	o := array.Options(op, opts)
	i = resolveIndex(op, i, c.Len())
	if o.Sizes != nil {
		array.Failf(op, "Sizes", "are given for one item")
	}
	a := c.vertices.records(op, "vertices", vertices)
	if a.Rank() != 1 {
		array.Failf(op, "vertices", "have the shape %s, want one axis", array.ShapeString(a.Shape()))
	}
	first, old := c.start(i), c.start(i+1)-c.start(i)
	if o.Indices == nil {
		o.Indices = c.indices.At(i).To(weft.Int64).Sub(first)
	}
	list := indicesOf(op, o.Indices, []int64{0, int64(a.Len())})[0]
	for k := range list {
		list[k] += uint32(first)
	}
	var shared *records.Array
	if o.Uniforms != nil {
		c.withUniforms(op)
		shared = c.uniforms.each(op, o.Uniforms, 1)
	}
	c.vertices.rows.Set(i, a.Bytes())
	c.indices.Set(i, list)
	if shared != nil {
		c.uniforms.Data().At(i).Assign(shared.At(0))
	}
	c.shift(i+1, a.Len()-old, 0)
	c.numberItems(i, i+1)
}

// Delete removes item i, which may count from the back.
func (c *Collection) Delete(i int) {
	const op = "delete"
	defer array.Named(op).End()
	c.check(op)
	i = resolveIndex(op, i, c.Len())
	n := c.start(i+1) - c.start(i)
	c.vertices.Delete(i)
	c.indices.Delete(i)
	if c.uniforms != nil {
		c.uniforms.Delete(i)
	}
	c.shift(i, -n, -1)
}

// Clear removes all items. The memory stays reserved.
func (c *Collection) Clear() {
	c.check("clear")
	c.vertices.Clear()
	c.indices.Clear()
	if c.uniforms != nil {
		c.uniforms.Clear()
	}
}

// String returns the numbers of items and of vertices.
func (c *Collection) String() string {
	return array.Describe("ragged.Collection", "Items", c.Len(), "Vertices", c.Vertices().Data().Len())
}
