package hostile

import (
	"weft"
	"weft/ragged"
	"weft/records"
)

// A hostileRecord has a field of each kind: elements, arrays, records.
type hostileRecord struct {
	A int32
	B [2]float32
	C struct{ X, Y float64 }
}

func init() {
	makers[typ[*records.Array]()] = func(g *gen) any { return g.records() }
	makers[typ[records.Layout]()] = func(g *gen) any { return g.layout() }
	makers[typ[[]records.Field]()] = func(g *gen) any { return g.layout().Fields }
	makers[typ[*ragged.Records]()] = func(g *gen) any { return g.recordList() }
	makers[typ[*ragged.Collection]()] = func(g *gen) any { return g.collection() }
	makers[typ[*ragged.Tracked]()] = func(g *gen) any {
		if g.chance(10) {
			return pick(g, nil, &ragged.Tracked{})
		}
		return ragged.Of([][]float32{{1}, {2, 3}}).Track()
	}
	makers[typ[ragged.Buffer]()] = func(g *gen) any { return pick[ragged.Buffer](g, nil, buffer{&places{left: g.r.IntN(9)}}) }
}

// layout is a layout of records, refused at times.
func (g *gen) layout() records.Layout {
	l := records.LayoutOf[hostileRecord]()
	switch g.r.IntN(8) {
	case 0:
		return records.Layout{}
	case 1:
		l.Size = g.integer()
	case 2:
		l.Fields[g.r.IntN(3)].Offset = g.integer()
	case 3:
		l.Fields[g.r.IntN(3)].Shape = []int{g.integer()}
	case 4:
		l.Fields[0].DType = g.dtype()
	case 5:
		return records.Aligned(records.Field{Name: g.text() + "x", DType: g.dtype()})
	}
	return l
}

// records are records, nil at times.
func (g *gen) records() *records.Array {
	shape := [][]int{{}, {3}, {2, 3}, {0}, {1, 4, 2}}[g.r.IntN(5)]
	switch g.r.IntN(8) {
	case 0:
		return pick(g, nil, &records.Array{})
	case 1:
		return records.Zeros(records.Packed(records.Field{Name: "x", DType: weft.Float32}), shape...)
	}
	a := records.Zeros(records.LayoutOf[hostileRecord](), shape...)
	if g.chance(3) {
		return a.T()
	}
	return a
}

// A buffer is a sink that is resized.
type buffer struct{ *places }

func (b buffer) Resize(int) error {
	if b.left == 0 {
		return errThrown
	}
	return nil
}

// recordList is a list of records, nil at times.
func (g *gen) recordList() *ragged.Records {
	if g.chance(10) {
		return pick(g, nil, &ragged.Records{})
	}
	l := ragged.OfRecords([][]hostileRecord{{{A: 1}, {A: 2}}, {}, {{A: 3}}})
	if g.chance(3) {
		return l.Range(0, 2)
	}
	return l
}

// collection is a collection of some items, nil at times.
func (g *gen) collection() *ragged.Collection {
	if g.chance(10) {
		return pick(g, nil, &ragged.Collection{})
	}
	l := records.LayoutOf[hostileRecord]()
	c := ragged.NewCollection(l, ragged.CollectionOpts{Uniforms: l, Number: "A"})
	c.Append(make([]hostileRecord, 3), ragged.ItemOpts{Indices: []int{2, 1, 0}})
	c.Append(make([]hostileRecord, 2))
	return c
}
