package weft

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/formula"
	"weft/internal/ir"
	"weft/internal/op"
)

// Dot is the sum of the products of two vectors of equal size, each product rounded, in the
// order of Sum: many sums side by side, where a product of matrices has one chain. Element
// types meet by promotion; Bool is refused.
func (t *Tensor) Dot(x *Tensor) *Tensor {
	t.c().Check("dot")
	x.c().CheckArgument("dot", "x")
	return (*Tensor)(core.Apply(op.Dot, nil, core.Operand{T: t.c()}, core.Operand{T: x.c()}))
}

// Outer is the matrix of the products of each element of t with each of x, both vectors:
// [n] and [m] give [n m].
func (t *Tensor) Outer(x *Tensor) *Tensor {
	defer array.Named("outer").End()
	t.c().Check("outer")
	x.c().CheckArgument("outer", "x")
	if t.Rank() != 1 || x.Rank() != 1 {
		array.Failf("outer", "", "takes two vectors, got %s and %s", array.ShapeString(t.v().Shape), array.ShapeString(x.v().Shape))
	}
	return t.Unsqueeze(1).Mul(x)
}

// TensorDot sums the products of elements of t and x over pairs of axes: axes of t, and as
// many of x, of the same sizes, which may count from the back. The result has the other axes
// of t and then the other axes of x.
func (t *Tensor) TensorDot(x *Tensor, axes, xAxes []int) *Tensor {
	t.c().Check("tensordot")
	x.c().CheckArgument("tensordot", "x")
	if len(axes) != len(xAxes) {
		array.Failf("tensordot", "axes", "are %d of the receiver and %d of the argument", len(axes), len(xAxes))
	}
	a, b := term{of: t}, term{of: x}
	var out []int
	for i := range t.Rank() {
		a.labels = append(a.labels, i)
	}
	for i := range x.Rank() {
		b.labels = append(b.labels, t.Rank()+i)
	}
	used := map[int]bool{}
	for i := range axes {
		k, l := array.Axis("tensordot", axes[i], t.Rank()), array.Axis("tensordot", xAxes[i], x.Rank())
		if t.v().Shape[k] != x.v().Shape[l] || used[k] || b.labels[l] < t.Rank() {
			array.Failf("tensordot", "axes", "%v of shape %s do not fit %v of shape %s", axes, array.ShapeString(t.v().Shape), xAxes, array.ShapeString(x.v().Shape))
		}
		used[k], b.labels[l] = true, k
	}
	for _, l := range slices.Concat(a.labels, b.labels) {
		if !used[l] {
			out = append(out, l)
		}
	}
	ts := core.Meet("tensordot", core.Inner([]*Tensor{t, x}))
	a.of, b.of = (*Tensor)(ts[0]), (*Tensor)(ts[1])
	return contract([]term{a, b}, out)
}

// Einsum sums products of elements in Einstein's notation, as NumPy and PyTorch have it. It has
// a letter for each axis of each tensor, commas between tensors, and behind an arrow the letters
// of the result. "ij,jk->ik" is the product of matrices, "bij,bjk->bik" of
// batches of them, "ii" the trace, "ij->ji" a transposition. Axes with the same letter have
// the same size, or 1; what the result does not have is summed over. A letter twice on one
// tensor is its diagonal. An ellipsis stands for any further axes, which broadcast. Without
// an arrow the result has the axes of the ellipsis and then the letters that occur once, in
// the order of the alphabet, capitals first. Spaces do not count.
//
// Element types meet by promotion. Tensors are multiplied two at a time, the pair with the
// fewest products first, as a product of matrices where both share an axis that is summed
// over. So bits equal MatMul, Mul and Sum. Gradients flow through these operations.
//
// It panics with an [*Error] that points at the column of the formula if that is none, does
// not have as many tensors and axes as it is given, or if sizes differ.
func Einsum(text string, ts ...*Tensor) *Tensor {
	defer array.Named("einsum").End()
	ts = core.Outer[Tensor](core.Meet("einsum", core.Inner(ts)))
	if ts[0].v().DType == Bool {
		array.Failf("einsum", "", "is not defined for bool")
	}
	e := notation{formula: text, sizes: map[int]int{}}
	in, _, explicit := strings.Cut(text, "->")
	var terms []term
	from := 0
	for part := range strings.SplitSeq(in, ",") {
		if len(terms) == len(ts) {
			e.failf(from-1, "the formula has more tensors than the %d that are given", len(ts))
		}
		t := ts[len(terms)]
		labels, at := e.axes(from, part, t.Rank())
		e.sized(labels, at, t.v().Shape)
		terms = append(terms, term{t, labels})
		from += len(part) + 1
	}
	if len(terms) < len(ts) {
		e.failf(len(in), "the formula has %d tensors, %d are given", len(terms), len(ts))
	}
	if explicit {
		out, at := e.axes(len(in)+2, text[len(in)+2:], -1)
		for i, l := range out {
			if _, ok := e.sizes[l]; !ok {
				e.failf(at[i], "%q of the result is on no tensor", rune(l))
			}
			if slices.Contains(out[:i], l) {
				e.failf(at[i], "%q is twice on the result", rune(l))
			}
		}
		return contract(terms, out)
	}
	var out []int
	times := map[int]int{}
	for _, t := range terms {
		for _, l := range t.labels {
			if times[l]++; times[l] == 1 {
				out = append(out, l)
			}
		}
	}
	out = slices.DeleteFunc(out, func(l int) bool { return l >= 0 && times[l] > 1 })
	slices.Sort(out) // axes of the ellipsis have numbers below 0
	return contract(terms, out)
}

// A notation is a formula of Einsum while it is read.
type notation struct {
	formula string
	further int         // the most axes that an ellipsis stands for
	sizes   map[int]int // of labels
}

func (e *notation) failf(at int, format string, args ...any) {
	panic(formula.ErrorAt("einsum", e.formula, at, Misuse, fmt.Sprintf(format, args...)))
}

// axes returns the labels of a term, and where in the formula each is: letters as they are,
// axes of the ellipsis as -1 for the last and so on. The term begins at byte from; rank is
// that of its tensor, -1 for the result.
func (e *notation) axes(from int, s string, rank int) (labels, at []int) {
	letters, dots := 0, false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z':
			letters++
		case c == ' ':
		case strings.HasPrefix(s[i:], "...") && !dots:
			dots = true
			i += 2
		default:
			r, _ := utf8.DecodeRuneInString(s[i:])
			e.failf(from+i, "%q is not a letter, comma, ellipsis or arrow", r)
		}
	}
	further := e.further
	if rank >= 0 {
		further = rank - letters
		if further < 0 || further > 0 && !dots {
			begin := len(s) - len(strings.TrimLeft(s, " "))
			e.failf(from+begin, "%q is of %d axes, the tensor has %d", strings.TrimSpace(s), letters, rank)
		}
		e.further = max(e.further, further)
	}
	labels = []int{}
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case ' ':
		case '.':
			for k := range further {
				labels, at = append(labels, k-further), append(at, from+i)
			}
			i += 2
		default:
			labels, at = append(labels, int(s[i])), append(at, from+i)
		}
	}
	return labels, at
}

// sized takes down the sizes of a tensor's axes: those with the same letter are the same, or 1
// on one of two tensors.
func (e *notation) sized(labels, at, shape []int) {
	own := map[int]int{}
	for i, l := range labels {
		size := shape[i]
		name := "the ellipsis"
		if l >= 0 {
			name = fmt.Sprintf("letter %q", rune(l))
		}
		if n, ok := own[l]; ok && n != size {
			e.failf(at[i], "axes of sizes %d and %d of one tensor have the same %s", n, size, name)
		}
		own[l] = size
		if n, ok := e.sizes[l]; ok && n != 1 && size != 1 && n != size {
			e.failf(at[i], "axes of sizes %d and %d have the same %s", n, size, name)
		}
		if n, ok := e.sizes[l]; !ok || n == 1 {
			e.sizes[l] = size
		}
	}
}

// A term is a tensor with a label for each axis; axes with the same label run together.
type term struct {
	of     *Tensor
	labels []int
}

// sizesOf returns the size of each label, which broadcasts.
func sizesOf(terms []term) map[int]int {
	sizes := map[int]int{}
	for _, t := range terms {
		for i, l := range t.labels {
			if n, ok := sizes[l]; !ok || n == 1 {
				sizes[l] = t.of.v().Shape[i]
			}
		}
	}
	return sizes
}

// contract multiplies the terms and sums over the labels that are not in out.
func contract(terms []term, out []int) *Tensor {
	sizes := sizesOf(terms)
	given := make([]*Tensor, len(terms))
	for i, t := range terms {
		given[i] = t.of
	}
	terms = slices.Clone(terms)
	for i := range terms {
		terms[i] = terms[i].diagonals().squeezed(sizes)
	}
	// wanted are the labels that something else than the terms i and k has.
	wanted := func(i, k int) []int {
		w := slices.Clone(out)
		for j, t := range terms {
			if j != i && j != k {
				w = append(w, t.labels...)
			}
		}
		return w
	}
	for i := range terms {
		terms[i] = terms[i].summed(wanted(i, i))
	}
	for len(terms) > 1 {
		var pair [2]int
		best := -1.0
		for i := range terms {
			for k := i + 1; k < len(terms); k++ {
				cost := 1.0
				for _, l := range union(terms[i].labels, terms[k].labels) {
					cost *= float64(sizes[l])
				}
				if best < 0 || cost < best {
					best, pair = cost, [2]int{i, k}
				}
			}
		}
		i, k := pair[0], pair[1]
		terms[i] = terms[i].times(terms[k], wanted(i, k))
		terms = slices.Delete(terms, k, k+1)
	}
	t := terms[0].summed(out)
	order := make([]int, len(out))
	for i, l := range out {
		order[i] = slices.Index(t.labels, l)
	}
	return t.of.Permute(order...).apart(given...)
}

func union(a, b []int) []int {
	u := slices.Clone(a)
	for _, l := range b {
		if !slices.Contains(u, l) {
			u = append(u, l)
		}
	}
	return u
}

// diagonals makes one axis of those with the same label.
func (t term) diagonals() term {
	for i := 0; i < len(t.labels); i++ {
		k := i + 1 + slices.Index(t.labels[i+1:], t.labels[i])
		if k == i {
			continue
		}
		order, labels := []int{}, []int{}
		for j, l := range t.labels {
			if j != i && j != k {
				order, labels = append(order, j), append(labels, l)
			}
		}
		t = term{t.of.Permute(append(order, i, k)...).Diagonal(0), append(labels, t.labels[i])}
		i = -1
	}
	return t
}

// squeezed leaves out axes of size 1 along which another term has more elements.
func (t term) squeezed(sizes map[int]int) term {
	var axes, labels []int
	for i, l := range t.labels {
		if t.of.v().Shape[i] == 1 && sizes[l] != 1 {
			axes = append(axes, i)
		} else {
			labels = append(labels, l)
		}
	}
	if axes == nil {
		return t
	}
	return term{t.of.Squeeze(axes...), labels}
}

// summed sums over the labels that are not wanted.
func (t term) summed(wanted []int) term {
	var axes, labels []int
	for i, l := range t.labels {
		if slices.Contains(wanted, l) {
			labels = append(labels, l)
		} else {
			axes = append(axes, i)
		}
	}
	if axes == nil {
		return t
	}
	return term{(*Tensor)(core.WithAttrs(op.Sum, op.Reduction{Axes: axes, DType: t.of.v().DType}, t.of.c())), labels}
}

// times is the product of two terms, summed over the labels that are not wanted.
func (t term) times(u term, wanted []int) term {
	t, u = t.summed(append(slices.Clone(wanted), u.labels...)), u.summed(append(slices.Clone(wanted), t.labels...))
	var batch, sum, rows, columns []int
	for _, l := range t.labels {
		switch {
		case !slices.Contains(u.labels, l):
			rows = append(rows, l)
		case slices.Contains(wanted, l):
			batch = append(batch, l)
		default:
			sum = append(sum, l)
		}
	}
	for _, l := range u.labels {
		if !slices.Contains(t.labels, l) {
			columns = append(columns, l)
		}
	}
	labels := slices.Concat(batch, rows, columns)
	shape := append(t.sizes(batch, rows), u.sizes(columns)...)
	b, m, k, n := array.Size(t.sizes(batch)), array.Size(t.sizes(rows)), array.Size(t.sizes(sum)), array.Size(u.sizes(columns))
	x := t.ordered(batch, rows, sum)
	y := u.ordered(batch, sum, columns)
	var r *Tensor
	switch {
	case sum == nil:
		r = x.Reshape(b, m, 1).Mul(y.Reshape(b, 1, n))
	case b == 1 && m == 1 && n == 1:
		r = x.Reshape(k).Dot(y.Reshape(k))
	case !x.v().DType.Float():
		r = (*Tensor)(core.WithAttrs(op.Sum, op.Reduction{Axes: []int{2}, DType: x.v().DType}, x.Reshape(b, m, k, 1).Mul(y.Reshape(b, 1, k, n)).c()))
	case batch == nil:
		r = x.Reshape(m, k).MatMul(y.Reshape(k, n))
	default:
		r = x.Reshape(b, m, k).MatMul(y.Reshape(b, k, n))
	}
	return term{r.Reshape(shape...), labels}
}

// sizes returns the sizes of the labels that the term has.
func (t term) sizes(groups ...[]int) []int {
	s := []int{}
	for _, g := range groups {
		for _, l := range g {
			s = append(s, t.of.v().Shape[slices.Index(t.labels, l)])
		}
	}
	return s
}

// ordered is the term's tensor with the axes in the order of labels, which are all it has.
func (t term) ordered(groups ...[]int) *Tensor {
	var order []int
	for _, l := range slices.Concat(groups...) {
		order = append(order, slices.Index(t.labels, l))
	}
	return t.of.Permute(order...)
}

// ConvOpts are the options of a convolution.
type ConvOpts struct {
	Stride   *[2]int // vertical, horizontal; nil means 1
	Padding  [2]int  // zeros on both sides, vertical and horizontal
	Dilation *[2]int // steps between the taps of a filter, vertical and horizontal; nil means 1
	// Groups is how many parts channels are in: filters of the first part see the first
	// part of the channels, and so on. If Groups is the number of channels, the convolution is depthwise.
	// Nil means 1.
	Groups *int
}

// Conv2d cross-correlates pictures t [N C H W] with filters w [O C/Groups KH KW] and adds
// bias [O] if not nil: the result is [N O OH OW]. Floats; Float16 and BFloat16 are summed in
// float32 and rounded once. With padding P,
// dilation D and stride S, OH is (H + 2P - D*(KH-1) - 1)/S + 1 rounded down. It panics with
// [*Error] if shapes do not fit, a group would be of no whole number of channels or a size is
// out of range.
//
// Float32 with 3x3 filters, stride 1 and numbers of channels that are multiples of 32 (of a
// group) may be computed by Winograd's F(2x2, 3x3), whose rounding errors are relative to the
// pixels of a tile of 4x4 rather than those under a filter.
func (t *Tensor) Conv2d(w, bias *Tensor, opts ...ConvOpts) *Tensor {
	o := array.Options("conv2d", opts)
	return convolve(op.Conv2d, convAttrs(o.Stride, o.Padding, o.Dilation, o.Groups), t, w, bias)
}

// Conv1dOpts are the options of a convolution of rows.
type Conv1dOpts struct {
	Stride   *int // nil means 1
	Padding  int  // zeros on both sides
	Dilation *int // steps between the taps of a filter; nil means 1
	Groups   *int // as in ConvOpts
}

// Conv1d is [Tensor.Conv2d] of rows t [N C L] with filters w [O C/Groups K]: the result is
// [N O OL]. Float32 and Float64.
func (t *Tensor) Conv1d(w, bias *Tensor, opts ...Conv1dOpts) *Tensor {
	o := array.Options("conv1d", opts)
	a := op.Conv{Stride: [2]int{1, array.Or(o.Stride, 1)}, Pad: [2]int{0, o.Padding}, Dilation: [2]int{1, array.Or(o.Dilation, 1)}, Groups: array.Or(o.Groups, 1)}
	return convolve(op.Conv1d, a, t, w, bias)
}

// ConvTransposeOpts are the options of a transposed convolution: the options of the convolution
// that it transposes, and OutputPadding, by which the result exceeds the least size.
type ConvTransposeOpts struct {
	Stride        *[2]int // vertical, horizontal; nil means 1
	Padding       [2]int  // as much less of the result on all sides
	OutputPadding [2]int  // rows and columns at the end, less than the stride or the dilation
	Dilation      *[2]int // nil means 1
	Groups        *int    // nil means 1
}

// ConvTranspose2d is the transpose of [Tensor.Conv2d], its gradient for the pictures. Each
// pixel of t [N C H W] times the filters w [C O/Groups KH KW] is added to the result
// [N O OH OW] where it lies, then bias [O] if not nil. With stride S, padding P,
// dilation D and output padding E, OH is (H-1)*S - 2P + D*(KH-1) + E + 1. Float32 and
// Float64. It panics with [*Error] if shapes do not fit or a size is out of range.
func (t *Tensor) ConvTranspose2d(w, bias *Tensor, opts ...ConvTransposeOpts) *Tensor {
	o := array.Options("conv_transpose2d", opts)
	a := op.ConvTranspose{Conv: convAttrs(o.Stride, o.Padding, o.Dilation, o.Groups), OutPad: o.OutputPadding}
	return convolve(op.ConvTranspose2d, a, t, w, bias)
}

func convolve(d *op.Def, a ir.Attrs, t, w, bias *Tensor) *Tensor {
	t.c().NotNil(d.Name)
	w.c().Argument(d.Name, "w")
	if bias == nil {
		return (*Tensor)(core.WithAttrs(d, a, t.c(), w.c()))
	}
	return (*Tensor)(core.WithAttrs(d, a, t.c(), w.c(), bias.c()))
}

func convAttrs(stride *[2]int, pad [2]int, dilation *[2]int, groups *int) op.Conv {
	one := [2]int{1, 1}
	return op.Conv{Stride: array.Or(stride, one), Pad: pad, Dilation: array.Or(dilation, one), Groups: array.Or(groups, 1)}
}

// PoolOpts are the options of pooling over the last two axes.
type PoolOpts struct {
	Window  [2]int  // vertical, horizontal
	Stride  *[2]int // nil means the window's size
	Padding [2]int  // on both sides, less than the window
}

func (o PoolOpts) attrs() op.Pool {
	return op.Pool{Window: o.Window, Stride: array.Or(o.Stride, o.Window), Pad: o.Padding}
}

// MaxPool2d is the greatest element of each window of the last two axes. The
// gradient goes to the first greatest.
func (t *Tensor) MaxPool2d(o PoolOpts) *Tensor {
	return (*Tensor)(core.WithAttrs(op.MaxPool2d, o.attrs(), t.c()))
}

// AvgPool2d is the mean of each window of the last two axes, zeros of the padding
// counted.
func (t *Tensor) AvgPool2d(o PoolOpts) *Tensor {
	return (*Tensor)(core.WithAttrs(op.AvgPool2d, o.attrs(), t.c()))
}

// CrossEntropy is the mean over rows of the negative log-likelihood of integer
// targets [N] under the softmax of logits [N C]. It panics if a target is not in
// [0, C).
func CrossEntropy(logits, target *Tensor) *Tensor {
	logits.c().Check("cross_entropy")
	target.c().Check("cross_entropy")
	if logits.Rank() == 2 && target.Rank() == 1 && target.v().DType.Integer() {
		last := int64(logits.v().Shape[1]) - 1
		target = (*Tensor)(core.RangeCheck{Op: "cross_entropy", Arg: "target", Max: last, Text: "%d of row %d is not a class: want 0 to %d", Rows: true}.Of(target.c()))
	}
	return (*Tensor)(core.WithAttrs(op.CrossEntropy, nil, logits.c(), target.c()))
}

// Cross is the cross product of vectors of three elements along the last axis; the others broadcast, and types
// meet by promotion. It panics with *[Error] where a last axis is not of three elements. NumPy's cross.
func (t *Tensor) Cross(x *Tensor) *Tensor {
	const name = "cross"
	defer array.Named(name).End()
	t.c().Check(name)
	x.c().CheckArgument(name, "x")
	for i, v := range []*Tensor{t, x} {
		if s := v.v().Shape; len(s) == 0 || s[len(s)-1] != 3 {
			array.Failf(name, []string{"", "x"}[i], "has shape %s, want three elements along the last axis", array.ShapeString(s))
		}
	}
	part := func(v *Tensor, i int) *Tensor { return v.Slice(Ellipsis, Index(i%3)) }
	parts := make([]*Tensor, 3)
	for i := range parts {
		parts[i] = part(t, i+1).Mul(part(x, i+2)).Sub(part(t, i+2).Mul(part(x, i+1)))
	}
	return Stack(parts, -1)
}

// Trace is the sum of diagonal number k of the last two axes, which the result does not have; k > 0 is above the
// main one. Types are as for [Tensor.Sum]. It panics with *[Error] for fewer than two axes. NumPy's trace.
func (t *Tensor) Trace(k int) *Tensor {
	defer array.Named("trace").End()
	return t.Diagonal(k).Sum(-1)
}

// VDot is the sum of the products of the elements of t, conjugated, and of x, both flattened. Types meet by
// promotion. It panics with *[Error] where sizes differ, and for Bool. NumPy's vdot.
func (t *Tensor) VDot(x *Tensor) *Tensor {
	const name = "vdot"
	defer array.Named(name).End()
	t.c().Check(name)
	x.c().CheckArgument(name, "x")
	if t.v().DType.Complex() {
		t = t.Conj()
	}
	return t.Reshape(t.Size()).Dot(x.Reshape(x.Size()))
}

// Inner is the sum of the products of elements along the last axes, which are of one size: in the result the
// other axes of x follow t's. Types meet by promotion. A number multiplies. NumPy's inner.
func (t *Tensor) Inner(x *Tensor) *Tensor {
	const name = "inner"
	defer array.Named(name).End()
	t.c().Check(name)
	x.c().CheckArgument(name, "x")
	if t.Rank() == 0 || x.Rank() == 0 {
		return t.Mul(x)
	}
	return t.TensorDot(x, []int{-1}, []int{-1})
}

// Cdist is the distance of each row of t to each row of x in the norm of order p (2 for Euclid's, 1 for sums of
// magnitudes, infinite for the greatest): [... n d] and [... m d] give [... n m]. Axes before broadcast, and types meet
// by promotion; integers give float32. Differences are squared and added in one pass, without the cancellation of
// |t|^2 - 2*t*x + |x|^2. The gradient where rows are equal is 0. It panics with *[Error] where sizes differ, and for
// complex numbers. SciPy's spatial.distance.cdist and PyTorch's cdist.
func (t *Tensor) Cdist(x *Tensor, p float64) *Tensor {
	const name = "cdist"
	defer array.Named(name).End()
	t.c().Check(name)
	x.c().CheckArgument(name, "x")
	return (*Tensor)(core.Apply(op.Cdist, op.Measure{Order: p}, core.Operand{T: t.c()}, core.Operand{T: x.c()}))
}

// Pdist is the distances of pairs of different rows of the matrix t in the norm of order p, a vector: of row 0 to
// rows 1, 2 and so on, of row 1 to those behind it. Types and errors are as for [Tensor.Cdist]. SciPy's
// spatial.distance.pdist and PyTorch's pdist.
func (t *Tensor) Pdist(p float64) *Tensor {
	const name = "pdist"
	defer array.Named(name).End()
	t.c().Check(name)
	if t.Rank() != 2 {
		array.Failf(name, "", "takes a matrix, got shape %s", array.ShapeString(t.v().Shape))
	}
	n := t.v().Shape[0]
	i, j := TriuIndices(n, n, 1)
	return t.Cdist(t, p).Reshape(n*n).IndexSelect(0, i.Mul(n).Add(j).On(t.Device()))
}
