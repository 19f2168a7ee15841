package hostile

import (
	"weft"
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
