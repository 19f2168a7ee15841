package optest

import (
	"math"

	"weft/internal/array"
	"weft/internal/ir"
	"weft/internal/op"
)

// index returns the coordinates of flat index i.
func index(shape []int, i int) []int {
	out := make([]int, len(shape))
	for k := len(shape) - 1; k >= 0; k-- {
		out[k] = i % shape[k]
		i /= shape[k]
	}
	return out
}

// flat is the opposite of index.
func flat(shape, idx []int) int {
	n := 0
	for k := range shape {
		n = n*shape[k] + idx[k]
	}
	return n
}

// put copies element j of y to element i of a.
func (a *Array) put(i int, y *Array, j int) {
	if a.F != nil {
		a.F[i] = y.F[j]
	} else {
		a.I[i] = y.I[j]
	}
}

// pick builds an array of a shape whose element at idx is that of x at from(idx).
func pick(x *Array, shape []int, from func(idx []int) []int) Result {
	out := New(x.DType, shape)
	for i := range out.Size() {
		out.put(i, x, flat(x.Shape, from(index(shape, i))))
	}
	return Result{Array: out, Exact: true}
}

// scatter builds an array of fill with element idx of x at to(idx).
func scatter(x *Array, shape []int, fill float64, to func(idx []int) []int) Result {
	out := New(x.DType, shape)
	for i := range out.Size() {
		out.set(i, fill, int64(fill))
	}
	for i := range x.Size() {
		out.put(flat(shape, to(index(x.Shape, i))), x, i)
	}
	return Result{Array: out, Exact: true}
}

func init() {
	references["reshape"] = func(x []*Array, a ir.Attrs) Result {
		return Result{Array: &Array{x[0].DType, append([]int{}, a.(op.Shape)...), x[0].F, x[0].I}, Exact: true}
	}
	references["copy"] = func(x []*Array, _ ir.Attrs) Result { return Result{Array: x[0], Exact: true} }
	references["permute"] = func(x []*Array, a ir.Attrs) Result {
		order := a.(op.Order)
		shape := make([]int, len(order))
		for i, k := range order {
			shape[i] = x[0].Shape[k]
		}
		return pick(x[0], shape, func(idx []int) []int {
			from := make([]int, len(idx))
			for i, k := range order {
				from[k] = idx[i]
			}
			return from
		})
	}
	references["expand"] = func(x []*Array, a ir.Attrs) Result {
		return Result{Array: broadcast(x[0], a.(op.Shape)), Exact: true}
	}
	steps := func(w op.Window, idx []int) []int {
		from := make([]int, len(idx))
		for i := range idx {
			from[i] = w.Start[i] + idx[i]*w.Step[i]
		}
		return from
	}
	references["slice"] = func(x []*Array, a ir.Attrs) Result {
		w := a.(op.Window)
		return pick(x[0], w.Count, func(idx []int) []int { return steps(w, idx) })
	}
	diag := func(k int, idx []int) []int {
		r := len(idx) - 1
		return append(append([]int(nil), idx[:r]...), idx[r]+max(-k, 0), idx[r]+max(k, 0))
	}
	references["diagonal"] = func(x []*Array, a ir.Attrs) Result {
		s, k := x[0].Shape, int(a.(op.Offset))
		r := len(s) - 2
		n := 0
		for i := range s[r] {
			if j := i + k; j >= 0 && j < s[r+1] {
				n++
			}
		}
		return pick(x[0], append(append([]int(nil), s[:r]...), n), func(idx []int) []int { return diag(k, idx) })
	}
	references["place"] = func(x []*Array, a ir.Attrs) Result {
		p := a.(op.Placement)
		return scatter(x[0], p.Shape, p.Fill, func(idx []int) []int {
			if k, ok := p.View.(op.Offset); ok {
				return diag(int(k), idx)
			}
			return steps(p.View.(op.Window), idx)
		})
	}
	triangle := func(keep func(row, column int) bool) reference {
		return func(x []*Array, a ir.Attrs) Result {
			out := New(x[0].DType, x[0].Shape)
			r, k := len(x[0].Shape), int(a.(op.Offset))
			for i := range out.Size() {
				if idx := index(x[0].Shape, i); keep(idx[r-2]+k, idx[r-1]) {
					out.put(i, x[0], i)
				}
			}
			return Result{Array: out, Exact: true}
		}
	}
	references["tril"] = triangle(func(row, column int) bool { return column <= row })
	references["triu"] = triangle(func(row, column int) bool { return column >= row })
	references["pad"] = func(x []*Array, a ir.Attrs) Result {
		p, shape := a.(op.Padding), append([]int(nil), x[0].Shape...)
		for i := range shape {
			shape[i] += p.Pads[2*i] + p.Pads[2*i+1]
		}
		return scatter(x[0], shape, p.Value, func(idx []int) []int {
			to := append([]int(nil), idx...)
			for i := range to {
				to[i] += p.Pads[2*i]
			}
			return to
		})
	}
	references["cat"] = func(x []*Array, a ir.Attrs) Result {
		axis, shape := int(a.(op.Axis)), append([]int(nil), x[0].Shape...)
		shape[axis] = 0
		for _, y := range x {
			shape[axis] += y.Shape[axis]
		}
		out := New(x[0].DType, shape)
		at := 0
		for _, y := range x {
			for i := range y.Size() {
				idx := index(y.Shape, i)
				idx[axis] += at
				out.put(flat(shape, idx), y, i)
			}
			at += y.Shape[axis]
		}
		return Result{Array: out, Exact: true}
	}
	references["interleave"] = func(x []*Array, a ir.Attrs) Result {
		r, by := len(x[0].Shape), a.(op.Interleaving)
		shape := append(append([]int(nil), x[0].Shape[:r-2]...), by.Size[:]...)
		out := New(x[0].DType, shape)
		for k, y := range x {
			for i := range y.Size() {
				idx := index(y.Shape, i)
				idx[r-2] = idx[r-2]*by.Every[0] + k/by.Every[1]
				idx[r-1] = idx[r-1]*by.Every[1] + k%by.Every[1]
				out.put(flat(shape, idx), y, i)
			}
		}
		return Result{Array: out, Exact: true}
	}
	pool := func(average bool) reference {
		return func(x []*Array, a ir.Attrs) Result {
			s, p := x[0].Shape, a.(op.Pool)
			r := len(s)
			shape := append([]int(nil), s...)
			for k := range 2 {
				shape[r-2+k] = (s[r-2+k]+2*p.Pad[k]-p.Window[k])/p.Stride[k] + 1
			}
			out := New(x[0].DType, shape)
			bound := make([]float64, out.Size())
			for i := range out.Size() {
				idx := index(shape, i)
				oy, ox := idx[r-2], idx[r-1]
				top, sum, abs := math.Inf(-1), 0.0, 0.0
				for ky := range p.Window[0] {
					for kx := range p.Window[1] {
						y, z := oy*p.Stride[0]+ky-p.Pad[0], ox*p.Stride[1]+kx-p.Pad[1]
						if y < 0 || y >= s[r-2] || z < 0 || z >= s[r-1] {
							continue
						}
						idx[r-2], idx[r-1] = y, z
						v := x[0].F[flat(s, idx)]
						top = math.Max(top, v)
						sum += v
						abs += math.Abs(v)
					}
				}
				out.F[i] = top
				if n := float64(p.Window[0] * p.Window[1]); average {
					over := n
					if p.Sum {
						over = 1
					}
					out.F[i] = sum / over
					bound[i] = abs / over * eps(out.DType) * (n + 3)
				}
			}
			return Result{Array: out, Bound: bound}
		}
	}
	references["max_pool2d"], references["avg_pool2d"], references["window_mean"] = pool(false), pool(true), pool(true)

	biased := func(r Result, bias *Array) Result {
		b := broadcast(bias, r.Shape)
		for i := range r.Size() {
			r.F[i] += b.F[i]
			r.Bound[i] += 2 * eps(r.DType) * (math.Abs(b.F[i]) + math.Abs(r.F[i]))
		}
		return r
	}
	references["term"] = func(x []*Array, _ ir.Attrs) Result {
		y, d := meeting(x)
		if d.Complex() {
			panic(refusal{})
		}
		if !d.Float() {
			d = array.Float32
			for i := range y {
				y[i] = convert(broadcast(x[i], y[i].Shape), d) // at once, as a quotient
			}
		}
		out := New(d, y[0].Shape)
		for i := range out.F {
			if a, b := y[0].F[i], y[1].F[i]; d == array.Float64 {
				out.F[i] = math.FMA(a, b, 0)
			} else {
				out.F[i] = roundTo(d, float64(a*b)+0) // the product of two such numbers is exact
			}
		}
		return Result{Array: out, Exact: true}
	}
	references["matmul2"] = func(x []*Array, _ ir.Attrs) Result {
		return batchedProduct(x[0], x[1])
	}
	references["matmul"] = func(x []*Array, _ ir.Attrs) Result { return numpyMatMul(x[0], x[1]) }
	references["linear"] = func(x []*Array, _ ir.Attrs) Result {
		if x[0].F == nil && x[1].F == nil {
			panic(refusal{})
		}
		from := convert(x[1], promote(x[:2]))
		o, n := from.Shape[0], from.Shape[1]
		w := New(from.DType, []int{n, o})
		for i := range o {
			for k := range n {
				w.F[k*o+i] = from.F[i*n+k]
			}
		}
		y := numpyMatMul(x[0], w)
		if len(x) == 2 {
			return y
		}
		return biased(y, x[2])
	}
	references["conv2d_core"] = func(x []*Array, a ir.Attrs) Result { return plainConv(x[0], x[1], nil, convInts(a)) }
	references["conv2d"] = func(x []*Array, a ir.Attrs) Result {
		if len(x) == 3 {
			return plainConv(x[0], x[1], x[2], convInts(a))
		}
		return plainConv(x[0], x[1], nil, convInts(a))
	}
	references["conv1d"] = func(x []*Array, a ir.Attrs) Result {
		row := func(x *Array) *Array {
			return &Array{x.DType, []int{x.Shape[0], x.Shape[1], 1, x.Shape[2]}, x.F, x.I}
		}
		var b *Array
		if len(x) == 3 {
			b = x[2]
		}
		r := plainConv(row(x[0]), row(x[1]), b, convInts(a))
		r.Shape = []int{r.Shape[0], r.Shape[1], r.Shape[3]}
		return r
	}
	references["conv_transpose2d"] = func(x []*Array, a ir.Attrs) Result {
		if x[0].F == nil || x[1].F == nil {
			panic(refusal{})
		}
		t := a.(op.ConvTranspose)
		shape := []int{x[0].Shape[0], x[1].Shape[1] * t.Conv.Groups, 0, 0}
		for i := range 2 {
			shape[2+i] = (x[0].Shape[2+i]-1)*t.Conv.Stride[i] - 2*t.Conv.Pad[i] + t.Conv.Dilation[i]*(x[1].Shape[2+i]-1) + t.OutPad[i] + 1
		}
		d := promote(x)
		r := convAdjoint(New(d, shape), convert(x[1], d), convert(x[0], d), convInts(t.Conv), 0)
		if len(x) == 3 {
			addBias(&r, x[2])
		}
		return r
	}
	references["conv2d_input"] = func(x []*Array, a ir.Attrs) Result {
		return convAdjoint(New(x[0].DType, a.(op.ConvGrad).Shape), x[1], x[0], convInts(a), 0)
	}
	references["conv2d_weight"] = func(x []*Array, a ir.Attrs) Result {
		return convAdjoint(x[0], New(x[0].DType, a.(op.ConvGrad).Shape), x[1], convInts(a), 1)
	}
}

// convInts are stride, padding and dilation of a convolution, vertical and horizontal, and its
// groups.
func convInts(a ir.Attrs) []int {
	c, forward := a.(op.Conv)
	if !forward {
		c = a.(op.ConvGrad).Conv
	}
	return []int{c.Stride[0], c.Stride[1], c.Pad[0], c.Pad[1], c.Dilation[0], c.Dilation[1], c.Groups}
}

// A tally adds products and bounds the error of any order of additions.
type tally struct{ sum, abs float64 }

func (t *tally) add(x, y float64) {
	t.sum += x * y
	t.abs += math.Abs(x * y)
}

func (t *tally) bound(d array.DType, n int) float64 {
	return t.abs * (eps(d) + 0x1p-53) * float64(n+2)
}

// batchedProduct is the matrix product of equal batches.
func batchedProduct(x, y *Array) Result {
	r := len(x.Shape)
	m, k, n := x.Shape[r-2], x.Shape[r-1], y.Shape[r-1]
	out := Result{Array: New(x.DType, append(append([]int(nil), x.Shape[:r-1]...), n))}
	out.Bound = make([]float64, out.Size())
	for i := range out.Size() {
		b, row, col := i/(m*n), i/n%m, i%n
		if x.F == nil {
			v := int64(0)
			for j := range k {
				v += x.I[(b*m+row)*k+j] * y.I[(b*k+j)*n+col]
			}
			out.set(i, 0, v)
			continue
		}
		var t tally
		for j := range k {
			t.add(x.F[(b*m+row)*k+j], y.F[(b*k+j)*n+col])
		}
		out.F[i], out.Bound[i] = t.sum, t.bound(x.DType, k)
	}
	return out
}

func numpyMatMul(x, y *Array) Result {
	d := promote([]*Array{x, y})
	if d == array.Bool {
		panic(refusal{})
	}
	x, y = convert(x, d), convert(y, d)
	xs, ys := x.Shape, y.Shape
	row, col := len(xs) == 1, len(ys) == 1
	if row {
		xs = []int{1, xs[0]}
	}
	if col {
		ys = []int{ys[0], 1}
	}
	m, k, n := xs[len(xs)-2], xs[len(xs)-1], ys[len(ys)-1]
	batch := shapeOf([]*Array{{Shape: xs[:len(xs)-2]}, {Shape: ys[:len(ys)-2]}})
	x = broadcast(&Array{d, xs, x.F, x.I}, append(append([]int(nil), batch...), m, k))
	y = broadcast(&Array{d, ys, y.F, y.I}, append(append([]int(nil), batch...), k, n))
	r := batchedProduct(x, y)
	r.Shape = append([]int{}, batch...)
	if !row {
		r.Shape = append(r.Shape, m)
	}
	if !col {
		r.Shape = append(r.Shape, n)
	}
	return r
}

// eachTap calls f with the flat indices of picture, filter and result of every
// product of a convolution.
func eachTap(x, w, y []int, p []int, f func(xi, wi, yi int)) {
	for i := range array.Size(y) {
		o := index(y, i)
		for c := range w[1] {
			for ky := range w[2] {
				for kx := range w[3] {
					iy, ix := o[2]*p[0]+ky*p[4]-p[2], o[3]*p[1]+kx*p[5]-p[3]
					if iy < 0 || iy >= x[2] || ix < 0 || ix >= x[3] {
						continue
					}
					f(flat(x, []int{o[0], o[1]/(w[0]/p[6])*w[1] + c, iy, ix}), flat(w, []int{o[1], c, ky, kx}), i)
				}
			}
		}
	}
}

func tallied(d array.DType, shape []int, each func(add func(i int, x, y float64))) Result {
	r := Result{Array: New(d, shape)}
	t := make([]tally, r.Size())
	n := make([]int, r.Size())
	each(func(i int, x, y float64) {
		t[i].add(x, y)
		n[i]++
	})
	r.Bound = make([]float64, r.Size())
	for i := range t {
		r.F[i], r.Bound[i] = t[i].sum, t[i].bound(d, n[i])
	}
	return r
}

func plainConv(x, w, b *Array, p []int) Result {
	if x.F == nil || w.F == nil {
		panic(refusal{})
	}
	d := promote([]*Array{x, w})
	y := []int{x.Shape[0], w.Shape[0], (x.Shape[2]+2*p[2]-(w.Shape[2]-1)*p[4]-1)/p[0] + 1, (x.Shape[3]+2*p[3]-(w.Shape[3]-1)*p[5]-1)/p[1] + 1}
	r := tallied(d, y, func(add func(i int, x, y float64)) {
		eachTap(x.Shape, w.Shape, y, p, func(xi, wi, yi int) { add(yi, x.F[xi], w.F[wi]) })
	})
	if b != nil {
		addBias(&r, b)
	}
	return r
}

// addBias adds an element for each channel.
func addBias(r *Result, b *Array) {
	for i := range r.Size() {
		v := b.F[index(r.Shape, i)[1]]
		r.F[i] += v
		r.Bound[i] += 2 * eps(r.DType) * (math.Abs(v) + math.Abs(r.F[i]))
	}
}

// convAdjoint is the gradient of a convolution for its picture (which 0) or its
// filter (1), whose values are not read.
func convAdjoint(x, w, dy *Array, p []int, which int) Result {
	shape := x.Shape
	if which == 1 {
		shape = w.Shape
	}
	return tallied(dy.DType, shape, func(add func(i int, x, y float64)) {
		eachTap(x.Shape, w.Shape, dy.Shape, p, func(xi, wi, yi int) {
			if which == 0 {
				add(xi, w.F[wi], dy.F[yi])
			} else {
				add(wi, x.F[xi], dy.F[yi])
			}
		})
	})
}
