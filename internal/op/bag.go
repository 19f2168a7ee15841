package op

import (
	"math"

	"weft/internal/array"
	"weft/internal/ir"
)

// EmbeddingBag combines the rows of a table at the indices of each bag.
var EmbeddingBag *Def

// BagMode is the reduction of the rows of a bag.
type BagMode int

// The modes of EmbeddingBag.
const (
	BagMean BagMode = iota
	BagSum
	BagMax
)

// Bags are the attributes of EmbeddingBag.
type Bags struct {
	Mode    BagMode
	Padding int  // the index that every bag skips; -1 for none
	Ends    bool // the last offset is the end of the last bag, not the beginning of one
}

// AppendKey implements ir.Attrs.
func (a Bags) AppendKey(k []byte) []byte {
	return ir.Flag(ir.Int(ir.Int(k, int(a.Mode)), a.Padding), a.Ends)
}

func init() {
	f, i := array.Float64, array.Int64
	lists := func(a Bags) Sample { // ascending offsets come last
		return Sample{Shapes: [][]int{{10, 3}, {9}, {4}}, DTypes: []array.DType{f, i, i}, Max: 9, Ascending: true, Attrs: a}
	}
	weighted := Sample{Shapes: [][]int{{10, 17}, {9}, {9}, {4}}, DTypes: []array.DType{f, i, f, i}, Max: 9, Ascending: true, Attrs: Bags{BagSum, 1, true}}
	EmbeddingBag = define(Def{Name: "embedding_bag", Class: Composite, Arity: -1, Attrs: Bags{Padding: -1},
		Doc:      "The sum, mean or greatest of the rows of a table [rows width] at the indices of each bag; 0 for an empty bag. Arguments: the table; indices, [bags n] or a vector; optionally a factor for each index; after a vector the offset at which each bag begins.",
		Composed: Composed{Compose: func(x []*node, a ir.Attrs) *node { return composeBags(x, a.(Bags)) }},
		Conformance: Conformance{Samples: []Sample{lists(Bags{BagMean, -1, false}), lists(Bags{BagSum, 2, true}), lists(Bags{BagMax, 2, false}), weighted,
			{Shapes: [][]int{{5, 20}, {3, 4}}, DTypes: []array.DType{f, i}, Max: 5, Attrs: Bags{BagMean, 1, false}},
			{Shapes: [][]int{{5, 20}, {3, 4}, {3, 4}}, DTypes: []array.DType{f, i, f}, Max: 5, Attrs: Bags{BagSum, -1, false}},
			{Shapes: [][]int{{5, 20}, {3, 0}}, DTypes: []array.DType{f, i}, Max: 5, Attrs: Bags{BagMax, -1, false}}}}})
}

// composeBags gathers rows, masks the rows of the padding and reduces the rest bag by bag. The
// planner makes one kernel of these, which reads the table in place.
func composeBags(x []*node, a Bags) *node {
	c := &Call{Def: EmbeddingBag, Args: x, Attrs: a}
	c.count(2, 4)
	w, at, rest := x[0], x[1], x[2:]
	if len(w.Shape) != 2 || !w.DType.Float() {
		c.Failf("weight", "is %s, want floats [rows width]", array.TypeString(w.DType, w.Shape))
	}
	checkIndex(c, 1, 0, 2)
	var off *node
	switch len(at.Shape) {
	case 1:
		if len(rest) == 0 {
			c.Failf("offsets", "is missing: a vector of indices needs the offset at which each bag begins")
		}
		off, rest = bagOffsets(c, rest[len(rest)-1], at.Shape[0], a.Ends), rest[:len(rest)-1]
	case 2:
		n := full(at.Graph, 0, array.Int64, []int{at.Shape[0] + 1})
		off = mul(Apply(Iota, Axis(0), n), num(n, float64(at.Shape[1])))
		at = reshape(at, []int{at.Size()})
	default:
		c.Failf("x", "has shape %s, want [bags n], or a vector with offsets", array.ShapeString(at.Shape))
	}
	rows := Apply(IndexSelect, Axis(0), w, at)
	if w.DType.Half() && a.Mode != BagMax {
		rows = Convert(rows, array.Float32) // rounded once, at the end
	}
	column := []int{at.Shape[0], 1}
	var counts *node // 1 for each index that its bag counts, nil if all do
	var padding *node
	if a.Padding >= 0 {
		padding = reshape(apply(Eq, at, num(at, float64(a.Padding))), column)
		none := 0.0
		if a.Mode == BagMax {
			none = math.Inf(-1)
		}
		rows = where(padding, num(rows, none), rows)
		counts = Convert(reshape(apply(LogicalNot, padding), column[:1]), array.Int64)
	}
	if len(rest) > 0 {
		f := rest[0]
		switch {
		case a.Mode != BagSum:
			c.Failf("PerSampleWeights", "is given: weights require the mode BagSum")
		case f.Size() != at.Size() || !array.Equal(f.Shape, x[1].Shape):
			c.Failf("PerSampleWeights", "has shape %s, want that of the indices, %s", array.ShapeString(f.Shape), array.ShapeString(x[1].Shape))
		case f.DType != w.DType:
			c.Failf("PerSampleWeights", "has elements of type %s, the table %s: want the same", f.DType, w.DType)
		}
		f = Convert(reshape(f, column), rows.DType)
		if padding != nil {
			f = where(padding, num(f, 0), f)
		}
		rows = mul(rows, f)
	}
	if a.Mode == BagSum {
		return Convert(Apply(segmentSum, nil, rows, off), w.DType)
	}
	var n *node // indices of each bag, [bags 1]
	if counts == nil {
		n = itemLengths(full(at.Graph, 0, array.Int64, []int{off.Shape[0] - 1, 1}), off)
	} else {
		n = reshape(Apply(segmentSum, nil, counts, off), []int{off.Shape[0] - 1, 1})
	}
	if a.Mode == BagMean {
		s := Apply(segmentSum, nil, rows, off)
		return Convert(div(s, Convert(apply(Maximum, n, num(n, 1)), s.DType)), w.DType)
	}
	m := Apply(segmentMax, nil, rows, off)
	return where(apply(Gt, n, num(n, 0)), m, num(m, 0))
}

// bagOffsets returns the offsets of bags, int64, with the end of the last.
func bagOffsets(c *Call, off *node, n int, ends bool) *node {
	if off.DType.Category() != array.CatInt {
		c.Failf("offsets", "has elements of type %s, want integers", off.DType)
	}
	if len(off.Shape) != 1 || ends && off.Shape[0] == 0 {
		c.Failf("offsets", "has shape %s, want one dimension", array.ShapeString(off.Shape))
	}
	off = Convert(off, array.Int64)
	if ends {
		return off
	}
	return Apply(Cat, Axis(0), off, full(off.Graph, float64(n), array.Int64, []int{1}))
}
