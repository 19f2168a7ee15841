package ragged

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"weft"
	"weft/internal/array"
	"weft/internal/formula"
	"weft/internal/ir"
	"weft/internal/op"
	"weft/kernel"
	"weft/nn"
)

// A fused formula is computed of rows and of one value an item by one plan.
type fused struct {
	f     *formula.Variant
	key   string // of the formula and of the functions that it calls
	items []int  // by argument: the argument that has the offsets of its items, -1 for none
	rows  int
}

// AppendKey implements [ir.Attrs].
func (a fused) AppendKey(k []byte) []byte {
	k = append(ir.Int(ir.Int(k, a.rows), len(a.key)), a.key...)
	for _, i := range a.items {
		k = ir.Int(k, i)
	}
	return k
}

var fusedDef = &op.Def{Name: "ragged_expr", Hash: 0x7a66ed, Class: op.Composite, Arity: -1,
	Composed: op.Composed{Compose: func(x []*ir.Node, attrs ir.Attrs) *ir.Node {
		a := attrs.(fused)
		args := slices.Clone(x[:len(a.items)])
		for i, off := range a.items {
			if off >= 0 {
				args[i] = op.Apply(op.SegmentExpand, op.Rows(a.rows), args[i], x[off])
			}
		}
		return op.Apply(a.f.Def, nil, args...)
	}}}

// Expr computes a formula, in the language of [weft.Expr], over the rows of lists as one fused
// operation:
//
//	z := ragged.Expr("2*l + v", weft.Vars{"l": l, "v": v})
//
// Values of names are what [List.Add] takes; one at least is a list, and the deepest has the items
// of the result. Functions are as in weft.Expr; those that reduce see all rows, [rows, inner...],
// and the result must have as many. Gradients flow to all arguments.
func Expr(text string, vars weft.Vars) *List {
	const name = "expr"
	var l *List
	rank := 0
	funcs := map[string]*formula.Func{}
	key := text
	for _, v := range slices.Sorted(maps.Keys(vars)) {
		switch x := vars[v].(type) {
		case *List:
			if x == nil {
				array.Failf(name, v, "is a nil list")
			}
			x.single(name)
			x.check(name)
			if l == nil || len(x.outer) > len(l.outer) {
				l = x
			}
			rank = max(rank, x.rank())
		case interface{ ExprFunc() any }:
			f, ok := x.ExprFunc().(*formula.Func)
			if !ok || f == nil || f.Compose == nil {
				array.Failf(name, v, "is not a function that a formula can call")
			}
			funcs[v] = f
			k := append([]byte(key), v...)
			if f.Attrs != nil {
				k = f.Attrs.AppendKey(append(k, 0))
			}
			key = string(k)
		}
	}
	if l == nil {
		array.Failf(name, "", "no value of a name is a list: weft.Expr computes formulas of tensors")
	}
	parsed, err := formula.Parse(text, funcs)
	if err != nil {
		formula.CheckCalls(text, vars)
		panic(err)
	}
	a := fused{f: parsed.Variant(0), key: key, rows: l.rows}
	var args []*weft.Tensor
	offsets := map[*partition]int{}
	var parts []*weft.Tensor
	for i, v := range parsed.Names {
		x, ok := vars[v]
		if !ok {
			panic(parsed.Errorf(i, "%s has no value", v))
		}
		switch x.(type) {
		case *List, *weft.Tensor:
		default:
			var n *weft.Tensor
			if weft.Try(func() { n = weft.Scalar(x) }) != nil {
				panic(parsed.Errorf(i, "%s is %T: want a list, a tensor or a Go number", v, x))
			}
			x = n
		}
		o := l.operand(name, x, rank)
		items := -1
		if o.items != nil {
			k, ok := offsets[o.items]
			if !ok {
				k = len(parsed.Names) + len(parts)
				offsets[o.items], parts = k, append(parts, o.items.tensor())
			}
			items = k
		}
		args, a.items = append(args, o.x.(*weft.Tensor)), append(a.items, items)
	}
	t := apply(fusedDef, a, append(args, parts...)...)[0]
	if t.Rank() == 0 || t.Dim(0) != l.rows {
		array.Failf(name, "", "%q gives %s, want %d rows", text, array.ShapeString(t.Shape()), l.rows)
	}
	return l.with(column{live: t})
}

// Map returns a list of the same items whose rows are f of the list's rows and of further
// arguments, which are what [List.Add] takes, element by element: one fused operation. f has one
// result and takes no random numbers.
func (l *List) Map(f *kernel.Func, args ...any) *List {
	l.single("map")
	if f == nil {
		array.Failf("map", "f", "is nil")
	}
	vars := weft.Vars{"f": f, "x": l}
	var b strings.Builder
	b.WriteString("f(x")
	for i, x := range args {
		v := "x" + strconv.Itoa(i)
		vars[v] = x
		b.WriteString(", " + v)
	}
	return Expr(b.String()+")", vars)
}

// MatMul returns a list of the same items whose rows, [inner..., k], are multiplied by one matrix
// [k, m]: see [weft.Tensor.MatMul].
func (l *List) MatMul(w *weft.Tensor) *List {
	c := l.single("matmul")
	l.check("matmul")
	if w == nil || w.Rank() != 2 {
		array.Failf("matmul", "w", "is not a matrix")
	}
	if l.rank() == 0 {
		array.Failf("matmul", "", "rows are numbers, want vectors or more")
	}
	return l.with(column{live: c.live.MatMul(w)})
}

// Attention is softmax(q k^T * scale) v in each item: the rows of an item of q, vectors [width], see
// the rows of the same item of k and v, as in [nn.ScaledDotProductAttention]; rows of shape [heads,
// width] do so head by head. The items of k and v have the same lengths, q may have others. Items of
// similar length are computed together, so that little is padding. opts may set all but Mask. A row
// that sees none gets zeros.
func Attention(q, k, v *List, opts ...nn.AttentionOpts) *List {
	const name = "attention"
	for i, l := range []*List{q, k, v} {
		what := [...]string{"q", "k", "v"}[i]
		if l == nil {
			array.Failf(name, what, "is nil")
		}
		l.single(name)
		l.check(name)
		if r := l.rank(); len(l.outer) > 0 || r < 1 || r > 2 || r != q.rank() {
			array.Failf(name, what, "has depth %d and rows of shape %s, want depth 1 and rows [width] or [heads, width]", len(l.outer)+1, array.ShapeString(l.cols[0].live.Shape()[1:]))
		}
	}
	if q.Len() != k.Len() {
		array.Failf(name, "k", "has %d items, q %d", k.Len(), q.Len())
	}
	k.samePartition(name, "v", v)
	if len(opts) > 0 && opts[0].Mask != nil {
		array.Failf(name, "Mask", "is given: items say what a row sees")
	}
	// Items whose lengths have as many binary digits go together.
	var order []int64
	var groups []int
	oq, ok := q.part.Ints(), k.part.Ints()
	by := map[[2]int][]int64{}
	for i := range q.Len() {
		d := [2]int{digits(oq[i+1] - oq[i]), digits(ok[i+1] - ok[i])}
		by[d] = append(by[d], int64(i))
	}
	for _, d := range slices.SortedFunc(maps.Keys(by), func(a, b [2]int) int { return slices.Compare(a[:], b[:]) }) {
		order, groups = append(order, by[d]...), append(groups, len(by[d]))
	}
	if len(groups) <= 1 {
		return attend(q, k, v, opts)
	}
	at := weft.FromSlice(order).On(q.device())
	q, k, v = q.take(at), k.take(at), v.take(at)
	var done []*List
	for first := 0; len(groups) > 0; groups = groups[1:] {
		part := func(l *List) *List { return l.items(first, first+groups[0]) }
		done = append(done, attend(part(q), part(k), part(v), opts))
		first += groups[0]
	}
	back := make([]int64, len(order))
	for i, k := range order {
		back[k] = int64(i)
	}
	return Concat(done, 0).take(weft.FromSlice(back).On(q.device()))
}

// digits is the number of binary digits.
func digits(n int64) (d int) {
	for ; n > 0; n /= 2 {
		d++
	}
	return d
}

// attend is Attention of items that are padded to the longest.
func attend(q, k, v *List, opts []nn.AttentionOpts) *List {
	heads := q.rank() == 2
	o := array.Options("ragged.attention", opts)
	dense := func(l *List) (x, mask *weft.Tensor) {
		x, mask = l.ToPadded(0, max(l.longest(), 1)) // one at least, which none sees
		if heads {
			x = x.Transpose(1, 2)
		}
		return x, mask
	}
	x, _ := dense(q)
	y, mask := dense(k)
	z, _ := dense(v)
	mask = mask.Unsqueeze(1)
	if heads {
		mask = mask.Unsqueeze(1)
	}
	o.Mask = mask
	out := nn.ScaledDotProductAttention(x, y, z, o)
	if heads {
		out = out.Transpose(1, 2)
	}
	return q.with(column{live: apply(op.SegmentUnpad, op.Rows(q.rows), out, q.part.tensor())[0]})
}
