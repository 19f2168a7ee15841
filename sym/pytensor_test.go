package sym_test

import (
	"fmt"
	"math"
	"os"
	"slices"
	"testing"

	"weft"
	"weft/internal/tensortest"
	"weft/sym"
)

// These tests say anew what PyTensor's tests assert. docs/pytensor.txt has the names of those.

// pySlice returns what range(n)[start:stop:step] gives in Python; nil stands for None.
func pySlice(n int, start, stop *int, step int) (at []int) {
	clamp := func(p *int, none, lo, hi int) int {
		if p == nil {
			return none
		}
		k := *p
		if k < 0 {
			k += n
		}
		return max(lo, min(k, hi))
	}
	if step > 0 {
		for i, end := clamp(start, 0, 0, n), clamp(stop, n, 0, n); i < end; i += step {
			at = append(at, i)
		}
		return at
	}
	for i, end := clamp(start, n-1, -1, n-1), clamp(stop, -1, -1, n-1); i > end; i += step {
		at = append(at, i)
	}
	return at
}

// rowsAt are rows of a matrix of three columns that counts from 0.
func rowsAt(at []int) []float64 {
	v := []float64{}
	for _, i := range at {
		v = append(v, float64(3*i), float64(3*i+1), float64(3*i+2))
	}
	return v
}

// pick returns the elements of list at places.
func pick(list, at []int) (r []int) {
	for _, i := range at {
		r = append(r, list[i])
	}
	return r
}

// bound is a bound of a slice that may be left out: none is the position that stands for it.
func bound(p *int, none int) any {
	if p == nil {
		return none
	}
	return *p
}

// TestPyTensorSlices compares slices of slices, and elements of slices, with Python's: bounds are numbers or
// variables, positive, negative and beyond the ends, of matrices from 0 to 7 rows.
func TestPyTensorSlices(t *testing.T) {
	x := sym.New("x", weft.Float64, sym.Any, 3)
	var v [4]*sym.Var
	for i := range v {
		v[i] = sym.Scalar(fmt.Sprint("v", i), weft.Int64)
	}
	value := func(rows int) *weft.Tensor { return matrix(rows, 3) }
	// Two slices of variable bounds, then one reversed and one of variable bounds.
	twice := function(t, sym.In(x, v[0], v[1], v[2], v[3]), sym.Out(
		x.Slice(sym.Range(v[0], v[1])).Slice(sym.Range(v[2], v[3])),
		x.Slice(weft.Range(weft.End, weft.Begin, -1)).Slice(sym.Range(v[2], v[3]))))
	at := []int{-9, -4, -1, 0, 2, 5, 9}
	for k := range 120 {
		rows := []int{0, 1, 4, 7}[k%4]
		b := []int{at[k%7], at[(k/2)%7], at[(k/5)%7], at[(3*k+k/7)%7]}
		all := pySlice(rows, nil, nil, 1)
		first := pick(all, pySlice(rows, &b[0], &b[1], 1))
		backwards := pySlice(rows, nil, nil, -1)
		got := results(t, twice, value(rows), b[0], b[1], b[2], b[3])
		tensortest.Near(t, fmt.Sprintf("%d rows: x[%d:%d][%d:%d]", rows, b[0], b[1], b[2], b[3]), got[0], rowsAt(pick(first, pySlice(len(first), &b[2], &b[3], 1))), 0)
		tensortest.Near(t, fmt.Sprintf("%d rows: x[::-1][%d:%d]", rows, b[2], b[3]), got[1], rowsAt(pick(backwards, pySlice(rows, &b[2], &b[3], 1))), 0)
	}
	// Slices of numbers with steps, in eager code and in functions.
	steps := []struct {
		start, stop *int
		step        int
	}{{nil, nil, 1}, {nil, nil, -1}, {nil, nil, -4}, {new(1), new(4), 2}, {new(7), new(1), -1}, {nil, new(-2), 3}, {new(-3), nil, 1}, {new(5), nil, -2}}
	var outs []*sym.Var
	for _, a := range steps {
		for _, b := range steps {
			y := x.Slice(weft.Range(bound(a.start, weft.Begin).(int), bound(a.stop, weft.End).(int), a.step))
			if a.step < 0 {
				y = x.Slice(weft.Range(bound(a.start, weft.End).(int), bound(a.stop, weft.Begin).(int), a.step))
			}
			if b.step < 0 {
				y = y.Slice(weft.Range(bound(b.start, weft.End).(int), bound(b.stop, weft.Begin).(int), b.step))
			} else {
				y = y.Slice(weft.Range(bound(b.start, weft.Begin).(int), bound(b.stop, weft.End).(int), b.step))
			}
			outs = append(outs, y)
		}
	}
	f := function(t, sym.In(x), sym.Out(outs...))
	for _, rows := range []int{0, 1, 3, 12} {
		for i, got := range results(t, f, value(rows)) {
			a, b := steps[i/len(steps)], steps[i%len(steps)]
			first := pySlice(rows, a.start, a.stop, a.step)
			tensortest.Near(t, fmt.Sprintf("%d rows, slices %d", rows, i), got, rowsAt(pick(first, pySlice(len(first), b.start, b.stop, b.step))), 0)
		}
	}
}

// TestPyTensorElements: the last of x[v:], x[::-1][v], elements of stacked numbers; one that is not there is an
// error.
func TestPyTensorElements(t *testing.T) {
	tensortest.SkipLate(t, "the errors come at the next wait")
	x, v := sym.New("x", weft.Float64, sym.Any, 3), sym.Scalar("v", weft.Int64)
	last := function(t, sym.In(x, v), sym.Out(x.Slice(sym.Range(v, weft.End)).Slice(weft.Index(-1))))
	element := function(t, sym.In(x, v), sym.Out(x.Slice(weft.Range(weft.End, weft.Begin, -1)).Index(v)))
	for rows := range 4 {
		for b := -5; b < 5; b++ {
			kept := pySlice(rows, &b, nil, 1)
			r, err := last.Call(matrix(rows, 3), b)
			if (err != nil) != (len(kept) == 0) {
				t.Errorf("%d rows: x[%d:][-1] gives %v", rows, b, err)
			} else if err == nil {
				tensortest.Near(t, "last", r[0], rowsAt(kept[len(kept)-1:]), 0)
			}
			r, err = element.Call(matrix(rows, 3), b)
			if inside := b >= -rows && b < rows; inside != (err == nil) {
				t.Errorf("%d rows: x[::-1][%d] gives %v", rows, b, err)
			} else if inside {
				tensortest.Near(t, "element", r[0], rowsAt([]int{(2*rows - 1 - b) % rows}), 0)
			}
		}
	}
	a, b, c := sym.Scalar("a", weft.Float64), sym.Scalar("b", weft.Float64), sym.Scalar("c", weft.Float64)
	list := sym.Stack([]*sym.Var{a, b, c}, 0)
	i := sym.Vector("i", weft.Int64)
	got := results(t, function(t, sym.In(a, b, c, i), sym.Out(list.Index(i), list.Slice(weft.Range(0, 3, 2)), list.Exp().Slice(weft.Index(0)), list.Exp())), 1.0, 2.0, 4.0, weft.FromSlice([]int64{2, 0, -1}))
	e := []float64{math.E, math.Exp(2), math.Exp(4)}
	for k, want := range [][]float64{{4, 1, 4}, {1, 4}, e[:1], e} {
		tensortest.Near(t, fmt.Sprint("list ", k), got[k], want, 1e-13)
	}
}

// TestPyTensorSizes: lengths as values, and what is computed from them, for matrices of any size.
func TestPyTensorSizes(t *testing.T) {
	x, y := sym.Matrix("x", weft.Float64), sym.Vector("y", weft.Float64)
	s := sym.Scalar("s", weft.Int64)
	n, m := x.Len(0), x.Len(1)
	f := function(t, sym.In(x, y, s), sym.Out(
		n.Lt(0), n.Ge(0), n.Maximum(0), n.Minimum(0), n.Add(y.Len(0)).Lt(0), n.Eq(0), n.Eq(-1),
		sym.Where(n.Le(0), 0, n), sym.Where(m.Le(0), 0, m), x.Add(1).Exp().Len(0), y.Unsqueeze(0).Len(0), x.T().Len(0), x.Sum(0).Len(0)), sym.IgnoreUnused)
	shapes := function(t, sym.In(x, s), sym.Out(x.Reshape(n, m), x.Reshape(n.Mul(m)), x.Exp().Slice(sym.Range(0, n)),
		x.Exp().Slice(sym.Range(0, n), sym.Range(0, m)), x.Exp().Slice(sym.Range(s, weft.End)), x.Exp().Slice(weft.All, sym.Range(0, n)), x.Exp().Slice(sym.Range(0, m))))
	rest := function(t, sym.In(x), sym.Out(x.Reshape(n, -1)))
	for _, c := range [][3]int{{0, 5, 2}, {3, 0, 1}, {1, 1, 0}, {4, 3, 7}, {2, 5, 1}} {
		rows, cols := c[0], c[1]
		one := func(b bool) float64 { return map[bool]float64{true: 1}[b] }
		X, Y := matrix(rows, cols), weft.ZerosOf(weft.Float64, c[2])
		want := []float64{0, 1, float64(rows), 0, 0, one(rows == 0), 0, float64(rows), float64(cols), float64(rows), 1, float64(cols), float64(cols)}
		for i, got := range results(t, f, X, Y, 1) {
			tensortest.Near(t, fmt.Sprintf("%v: size %d", c, i), got.To(weft.Float64), want[i:i+1], 0)
		}
		part := func(from, to, right int) (v []float64) {
			v = []float64{}
			for i := from; i < min(to, rows); i++ {
				for j := range min(right, cols) {
					v = append(v, math.Exp(float64(i*cols+j)))
				}
			}
			return v
		}
		plain := weft.Data[float64](X)
		if len(plain) > 0 { // else any length fits
			tensortest.Near(t, "x.Reshape(n, -1)", results(t, rest, X)[0], plain, 0)
		}
		for i, want := range [][]float64{plain, plain, part(0, rows, cols), part(0, rows, cols), part(min(1, rows), rows, cols), part(0, rows, rows), part(0, cols, cols)} {
			if got := results(t, shapes, X, 1)[i]; got.Size() == 0 && len(want) == 0 {
				continue
			} else {
				tensortest.Near(t, fmt.Sprintf("%v: shape %d", c, i), got, want, 1e-13*math.Exp(11))
			}
		}
	}
}

// TestPyTensorWrites: parts that are set and added to, at numbers, variables and arrays of indices, and read
// back, with gradients. The reference is a loop.
func TestPyTensorWrites(t *testing.T) {
	x, v := sym.New("x", weft.Float64, 4, 3), sym.Vector("v", weft.Float64)
	i, n := sym.Vector("i", weft.Int64), sym.Scalar("n", weft.Int64)
	c := sym.Scalar("c", weft.Float64)
	X := matrix(4, 3)
	rows := func() (r [][]float64) {
		for k := range 4 {
			r = append(r, []float64{float64(3 * k), float64(3*k + 1), float64(3*k + 2)})
		}
		return r
	}
	flat := func(r [][]float64) []float64 { return slices.Concat(r...) }
	V, I := []float64{10, 20, 30}, []int64{2, 0, 2, -1}
	up := sym.Arange(n)
	set, add := x.IndexPut(v, i), x.IndexPutAdd(v, i)
	outs := []*sym.Var{
		x.IndexPut(v, 1), x.IndexPut(v, 1).Index(1), x.IndexPutAdd(v, -1),
		x.IndexPut(c, up), x.IndexPutAdd(c, up), x.IndexPut(c, up).Index(up),
		set, set.Index(i), add, add.Index(i),
		x.IndexPutAdd(0, i), sym.ZerosLike(x).IndexPutAdd(v, i), sym.ZerosLike(x).IndexPut(0, i),
		x.IndexPut(x.Index(i).Add(3), i), x.IndexPut(v, weft.Range(0, 4, 2)), x.IndexPut(c, weft.All, weft.Range(1, 3)),
		x.To(weft.Int8).IndexPut(v.Add(0.7).To(weft.Int8), 1).Index(1),
		x.IndexPutAdd(0, i, i.Mul(0)), x.IndexPutAdd(c, i, i.Mul(0).Add(1)),
	}
	got := call(t, []*sym.Var{x, v, i, n, c}, outs, X, weft.FromSlice(V), weft.FromSlice(I), 3, 7.0)
	at := func(k int64) int { return int(k+4) % 4 }
	loop := func(f func(r [][]float64)) []float64 { r := rows(); f(r); return flat(r) }
	each := func(f func(row []float64)) func(r [][]float64) {
		return func(r [][]float64) {
			for _, k := range I {
				f(r[at(k)])
			}
		}
	}
	put := func(row []float64) { copy(row, V) }
	sum := func(row []float64) {
		for j := range row {
			row[j] += V[j]
		}
	}
	upTo := func(f func(x float64) float64) func(r [][]float64) {
		return func(r [][]float64) {
			for _, row := range r[:3] {
				for j := range row {
					row[j] = f(row[j])
				}
			}
		}
	}
	seven, plus := func(float64) float64 { return 7 }, func(x float64) float64 { return x + 7 }
	added := rows()
	each(sum)(added)
	var read []float64
	for _, k := range I {
		read = append(read, added[at(k)]...)
	}
	zero := func(f func(r [][]float64)) []float64 {
		r := [][]float64{make([]float64, 3), make([]float64, 3), make([]float64, 3), make([]float64, 3)}
		f(r)
		return flat(r)
	}
	want := [][]float64{
		loop(func(r [][]float64) { put(r[1]) }), V, loop(func(r [][]float64) { sum(r[3]) }),
		loop(upTo(seven)), loop(upTo(plus)), slices.Repeat([]float64{7}, 9),
		loop(each(put)), slices.Repeat(V, 4), flat(added), read,
		flat(rows()), zero(each(sum)), make([]float64, 12),
		loop(func(r [][]float64) {
			old := rows()
			for _, k := range I {
				for j := range 3 {
					r[at(k)][j] = old[at(k)][j] + 3
				}
			}
		}),
		loop(func(r [][]float64) { put(r[0]); put(r[2]) }),
		loop(func(r [][]float64) {
			for _, row := range r {
				row[1], row[2] = 7, 7
			}
		}),
		V,
		flat(rows()), loop(func(r [][]float64) {
			for _, k := range I {
				r[at(k)][1] += 7
			}
		}),
	}
	for k := range outs {
		tensortest.Near(t, fmt.Sprint("write ", k), got[k].To(weft.Float64), want[k], 0)
	}
	// A sum of several reads: each adds to the gradient of where it read.
	j := sym.Vector("j", weft.Int64)
	cost := c.Sub(x.Index(i).Add(x.Index(j)).Add(x.Index(1)).Sum()).Square()
	r := call(t, []*sym.Var{x, i, j, c}, append([]*sym.Var{cost}, sym.Grad(cost, []*sym.Var{x})...), X, weft.FromSlice(I), weft.FromSlice([]int64{1, 1, 3, 0}), 5.0)
	count, total := []float64{0, 4, 0, 0}, 0.0 // x[1] is read once and broadcast to four rows
	for k := range I {
		count[at(I[k])]++
		count[[]int{1, 1, 3, 0}[k]]++
	}
	grad := []float64{}
	for k, row := range rows() {
		for _, x := range row {
			total += count[k] * x
		}
	}
	for k := range 4 {
		grad = append(grad, slices.Repeat([]float64{-2 * (5 - total) * count[k]}, 3)...)
	}
	tensortest.Near(t, "cost", r[0], []float64{(5 - total) * (5 - total)}, 1e-9)
	tensortest.Near(t, "gradient", r[1], grad, 1e-9)
}

// TestPyTensorValues: what rewriting makes of expressions whose plain evaluation overflows or gives NaN.
// References are written in another way.
func TestPyTensorValues(t *testing.T) {
	if os.Getenv("WEFT_COMPILE") == "off" {
		t.Skip("SKIPPED: with WEFT_COMPILE=off nothing is rewritten")
	}
	inf, nan := math.Inf(1), math.NaN()
	x, y := sym.Vector("x", weft.Float64), sym.Vector("y", weft.Float64)
	slope := func(c *sym.Var) *sym.Var { return sym.Grad(c.Sum(), []*sym.Var{x})[0] }
	values := func(v ...float64) []float64 { return v }
	softplus := func(v float64) float64 { return max(v, 0) + math.Log1p(math.Exp(-math.Abs(v))) }
	logErfc := func(v float64) float64 { // for large v
		s := 1.0
		for k, term := 1, 1.0; k < 8; k++ {
			term *= -float64(2*k-1) / (2 * v * v)
			s += term
		}
		return -v*v - math.Log(v*math.Sqrt(math.Pi)) + math.Log(s)
	}
	each := func(v []float64, f func(v float64) float64) (r []float64) {
		for _, v := range v {
			r = append(r, f(v))
		}
		return r
	}
	rows := []struct {
		name    string
		y       *sym.Var
		x, with []float64
		want    []float64
	}{
		{"log(exp(x)+exp(y))", x.Exp().Add(y.Exp()).Log(), values(10, 10000, -inf, inf, inf, -10000), values(10, 10000, -inf, inf, -inf, -9999),
			values(10+math.Ln2, 10000+math.Ln2, -inf, inf, inf, -9999+math.Log1p(math.Exp(-1)))},
		{"log(exp(x)+exp(y)+exp(x-y)+exp(x+y))", x.Exp().Add(y.Exp()).Add(x.Sub(y).Exp()).Add(x.Add(y).Exp()).Log(), values(1e6, 0), values(1e6, 0), values(2e6, math.Log(4))},
		{"log(sum(exp(x)))", x.Exp().Sum().Log(), values(-100, 100), nil, values(100)},
		{"of -Inf", x.Exp().Sum().Log(), values(-inf, -inf), nil, values(-inf)},
		{"of Inf", x.Exp().Sum().Log(), values(inf, -inf), nil, values(inf)},
		{"near 1", x.Exp().Sum().Log(), values(1, 1.0001, 0.9999), nil, values(1 + math.Log(1+math.Exp(0.0001)+math.Exp(-0.0001)))},
		{"of 800", x.Add(800).Exp().Mean().Log(), values(0, math.Ln2), nil, values(800 + math.Log(1.5))},
		{"log1p(-sigmoid(x))", x.Sigmoid().Neg().Log1p(), values(37, 800, -800), nil, values(-softplus(37), -800, 0)},
		{"log(1-sigmoid(x))", sym.OnesLike(x).Sub(x.Sigmoid()).Log(), values(50, -50, 1), nil, values(-softplus(50), -softplus(-50), -softplus(1))},
		{"its gradient", slope(sym.OnesLike(x).Sub(x.Sigmoid()).Log()), values(50, 800, 0), nil, values(-1, -1, -0.5)},
		{"through a view", x.Sigmoid().Unsqueeze(1).RSub(1).Log().Squeeze(1), values(50, 800, -3), nil, values(-softplus(50), -800, -softplus(-3))},
		{"a sum through a view", x.Unsqueeze(0).Unsqueeze(0).Exp().Sum(2).T().Log().Squeeze(0), values(1000, 1000), nil, values(1000 + math.Ln2)},
		{"log(sigmoid(x))", x.Sigmoid().Log(), values(-800, 800, 2), nil, values(-800, 0, -softplus(-2))},
		{"log(1+exp(x))", x.Exp().Add(1).Log(), values(800, -800, 0), nil, values(800, 0, math.Ln2)},
		{"log(erfc(x))", x.Erfc().Log(), values(30, 100, 1e3, -9, 0), nil, append(each(values(30, 100, 1e3), logErfc), math.Ln2, 0)},
		{"its gradient", slope(x.Erfc().Log()), values(30, 100, -30), nil, append(each(values(30, 100), func(v float64) float64 { return -2 / math.Sqrt(math.Pi) * math.Exp(-v*v-logErfc(v)) }), 0)},
		{"where(x>0, y, 0)*log(x)", sym.Where(x.Gt(0), y, 0).Mul(x.Log()), values(2, 0, -1), values(3, 5, 7), values(3*math.Ln2, 0, 0)},
		{"where(x>0, y, 0)/x", sym.Where(x.Gt(0), y, 0).Div(x), values(2, 0), values(3, 5), values(1.5, 0)},
		{"sum(log(10^x))", slope(sym.Const(weft.ScalarOf(weft.Float64, 10.0)).Pow(x).Log()), values(-42, -2.1, 0, 12), nil, each(values(0, 0, 0, 0), func(float64) float64 { return math.Ln10 })},
		{"log(softmax(x))", x.Softmax(0).Log(), values(1000, 0, -1000), nil, values(0, -1000, -2000)},
		{"its gradient", sym.Grad(x.Softmax(0).Log().Mul(y).Sum(), []*sym.Var{x})[0], values(1000, 0, -1000), values(1, 2, 3), values(1-6, 2, 3)},
		{"exp(x)/sum(exp(x))", x.Exp().Div(x.Exp().Sum()), values(1000, 1000, -1000), nil, values(0.5, 0.5, 0)},
		{"its gradient", sym.Grad(x.Exp().Div(x.Exp().Sum()).Mul(y).Sum(), []*sym.Var{x})[0], values(1000, 1000), values(1, 3), values(0.5*(1-2), 0.5*(3-2))},
		{"exp(log(x))", x.Log().Exp(), values(-1, 0, 1e300), nil, values(nan, 0, 1e300)},
		{"sqrt(x*x)", x.Mul(x).Sqrt(), values(-1e200, 3), nil, values(1e200, 3)},
	}
	for _, c := range rows {
		with := c.with
		if with == nil {
			with = make([]float64, len(c.x))
		}
		got := call(t, []*sym.Var{x, y}, []*sym.Var{c.y}, weft.FromSlice(c.x), weft.FromSlice(with))[0]
		v := weft.Data[float64](got.Contiguous())
		for i, w := range c.want {
			if i >= len(v) || !(math.Abs(v[i]-w) <= 1e-12*max(1, math.Abs(w)) || v[i] == w || v[i] != v[i] && w != w) {
				t.Errorf("%s at %v gives %v, want %v", c.name, c.x, v, c.want)
				break
			}
		}
	}
	// Gradients of what is undone cancel in fast functions.
	f := function(t, sym.In(x), sym.Out(slope(x.Exp().Log())), sym.Fast)
	tensortest.Near(t, "gradient of log(exp(x))", results(t, f, weft.FromSlice([]float64{1000, -1000}))[0], []float64{1, 1}, 0)
}
