package optest

import (
	"fmt"
	"math"

	"weft/internal/array"
	"weft/internal/ir"
	"weft/internal/loop"
	"weft/internal/op"
)

// Bodies of kernels for tests: each is written over loop values and in plain Go.

// A body computes an element. Its name, which says what it computes, and the type are its
// key.
type body struct {
	name    string
	d       array.DType // of what it computes with
	params  []op.Param
	results []array.DType
	cost    int
	emit    func(e *op.Emit) []loop.Value
	// plain is the same of one element: x are the elements of arguments, at reads a whole
	// one, shape is that of one.
	plain    func(x []cell, at func(arg int, index []int) cell, shape func(arg int) []int) []cell
	partials func(results, args []bool) *body
}

// A cell is an element: a float, or an integer or truth value.
type cell struct {
	f float64
	i int64
}

// A scattering is a body whose first argument is read whole and gets its gradient where it
// was read.
type scattering struct{ *body }

// VJP implements op.Adjoint.
func (b scattering) VJP(v *op.VJP) {
	dys, table := v.DYs, v.X[0]
	v.Set(0, func() *ir.Node {
		if table.Size() == 0 {
			return table
		}
		flat := v.X[0].Graph.Number(0, array.Uint64, false)
		for a, n := range table.Shape {
			number := func(x int) *ir.Node { return v.X[0].Graph.Number(float64(x), array.Uint64, false) }
			i := op.Apply(op.Mod, nil, op.Apply(op.Add, nil, op.Convert(v.X[1], array.Uint64), number(a)), number(n))
			flat = op.Apply(op.Add, nil, op.Apply(op.Mul, nil, flat, number(n)), i)
		}
		flat = op.Apply(op.Expand, op.Shape(dys[0].Shape), flat)
		line := op.Shape{dys[0].Size()}
		d := op.Apply(op.Lookup("index_add"), op.Target{Axis: 0, Shape: []int{table.Size()}}, op.Apply(op.Reshape, line, dys[0]), op.Convert(op.Apply(op.Reshape, line, flat), array.Int64))
		return op.Apply(op.Reshape, op.Shape(table.Shape), d)
	})
}

func (b *body) AppendKey(k []byte) []byte {
	return append(append(append(k, "test "...), b.name...), byte(b.d))
}
func (b *body) Name() string                       { return b.name }
func (b *body) Params() []op.Param                 { return b.params }
func (b *body) Results() []array.DType             { return b.results }
func (b *body) Cost() int                          { return b.cost }
func (b *body) EmitKernel(e *op.Emit) []loop.Value { return b.emit(e) }
func (b *body) String() string                     { return fmt.Sprintf("%s of %s", b.name, b.d) }
func (b *body) Partials(results, args []bool) (p op.Body) {
	if b.partials != nil {
		if d := b.partials(results, args); d != nil {
			return d
		}
	}
	return nil
}

func param(name string, seen op.Seen, d array.DType) op.Param {
	return op.Param{Name: name, Seen: seen, DType: d}
}

// polarBody gives length and product of two numbers: sqrt(x*x+y*y), x*y+y.
func polarBody(d array.DType) *body {
	r := func(x float64) float64 { return inLoop(d, x) }
	b := &body{name: "polar", d: d, results: []array.DType{d, d}, cost: 20,
		params: []op.Param{param("x", op.ByElement, d), param("y", op.ByElement, d)},
		emit: func(e *op.Emit) []loop.Value {
			b, x, y := e.B, e.X[0], e.X[1]
			return []loop.Value{b.Sqrt(b.Add(b.Mul(x, x), b.Mul(y, y))), b.Add(b.Mul(x, y), y)}
		},
		plain: func(x []cell, _ func(int, []int) cell, _ func(int) []int) []cell {
			x0, x1 := x[0].f, x[1].f
			return []cell{{f: r(math.Sqrt(r(r(x0*x0) + r(x1*x1))))}, {f: r(r(x0*x1) + x1)}}
		}}
	b.partials = func(results, args []bool) *body {
		p := &body{name: fmt.Sprint("polar by ", results, args), d: d, params: b.params, cost: 30}
		for i := range results {
			for j := range args {
				if results[i] && args[j] {
					p.results = append(p.results, d)
				}
			}
		}
		// Of the length x/r and y/r, of the product y and x+1.
		p.emit = func(e *op.Emit) (out []loop.Value) {
			b, x, y := e.B, e.X[0], e.X[1]
			length := b.Sqrt(b.Add(b.Mul(x, x), b.Mul(y, y)))
			all := [2][2]loop.Value{{b.Div(x, length), b.Div(y, length)}, {y, b.Add(x, b.Number(b.Type(x), 1))}}
			return picked(all, results, args)
		}
		p.partials = func(r2, a2 []bool) *body { return polarSecond(d, b.params, results, args, r2, a2) }
		return p
	}
	return b
}

// picked are the elements of a table whose row and column are wanted.
func picked[T any](all [2][2]T, results, args []bool) (out []T) {
	for i := range results {
		for j := range args {
			if results[i] && args[j] {
				out = append(out, all[i][j])
			}
		}
	}
	return out
}

// polarSecond is the derivative of the partial derivatives of polarBody.
func polarSecond(d array.DType, params []op.Param, results, args, r2, a2 []bool) *body {
	p := &body{name: fmt.Sprint("polar by ", results, args, " by ", r2, a2), d: d, params: params, cost: 30}
	for _, r := range r2 {
		for _, a := range a2 {
			if r && a {
				p.results = append(p.results, d)
			}
		}
	}
	p.emit = func(e *op.Emit) (out []loop.Value) {
		b, x, y := e.B, e.X[0], e.X[1]
		s := b.Add(b.Mul(x, x), b.Mul(y, y))
		cube := b.Mul(s, b.Sqrt(s))
		zero, one := b.Number(b.Type(x), 0), b.Number(b.Type(x), 1)
		xx, xy, yy := b.Div(b.Mul(y, y), cube), b.Neg(b.Div(b.Mul(x, y), cube)), b.Div(b.Mul(x, x), cube)
		first := picked([2][2][2]loop.Value{{{xx, xy}, {xy, yy}}, {{zero, one}, {one, zero}}}, results, args)
		for i, row := range first {
			for j, v := range row {
				if r2[i] && a2[j] {
					out = append(out, v)
				}
			}
		}
		return out
	}
	return p
}

// powerBody is c*x^n by a loop of n rounds, n a float, and n; its derivative is one too.
func powerBody(d array.DType, order int) *body {
	r := func(x float64) float64 { return inLoop(d, x) }
	b := &body{name: fmt.Sprint("power", order), d: d, results: []array.DType{d, array.Int32}, cost: 100,
		params: []op.Param{param("x", op.ByElement, d), param("n", op.ByElement, array.Int32)},
		emit: func(e *op.Emit) []loop.Value {
			b, x := e.B, e.X[0]
			t := b.Type(x)
			n := b.And(e.X[1], b.Int(loop.I32, 7))
			c := b.Number(t, 1)
			for k := range order {
				c = b.Mul(c, b.Cvt(t, b.Sub(n, b.Int(loop.I32, int64(k)))))
			}
			out := b.While([]loop.Value{c, b.Int(loop.I32, int64(order))}, func(v []loop.Value) loop.Value { return b.Lt(v[1], n) },
				func(v []loop.Value) []loop.Value {
					return []loop.Value{b.Mul(v[0], x), b.Add(v[1], b.Int(loop.I32, 1))}
				})
			return []loop.Value{out[0], out[1]}
		},
		plain: func(x []cell, _ func(int, []int) cell, _ func(int) []int) []cell {
			n := x[1].i & 7
			c := 1.0
			for k := range order {
				c = r(c * float64(n-int64(k)))
			}
			i := int64(order)
			for ; i < n; i++ {
				c = r(c * x[0].f)
			}
			return []cell{{f: c}, {i: i}}
		}}
	b.partials = func(results, args []bool) *body {
		next := powerBody(d, order+1)
		if !results[0] || !args[0] {
			return nil
		}
		both := next.emit
		next.emit = func(e *op.Emit) []loop.Value { return both(e)[:1] }
		next.results, next.name = next.results[:1], next.name+" alone"
		return next
	}
	return b
}

// escapeBody counts the rounds of z = z*z + c until |z| > 2, at most 20: the number as
// int32, whether it got out as bool, and the last |z| as float16.
func escapeBody(d array.DType) *body {
	r := func(x float64) float64 { return inLoop(d, x) }
	return &body{name: "escape", d: d, results: []array.DType{array.Int32, array.Bool, array.Float16}, cost: 150,
		params: []op.Param{param("re", op.ByElement, d), param("im", op.ByElement, d)},
		emit: func(e *op.Emit) []loop.Value {
			b := e.B
			t := b.Type(e.X[0])
			four := b.Number(t, 4)
			square := func(v []loop.Value) loop.Value { return b.Add(b.Mul(v[0], v[0]), b.Mul(v[1], v[1])) }
			out := b.While([]loop.Value{b.Number(t, 0), b.Number(t, 0), b.Int(loop.I32, 0)}, func(v []loop.Value) loop.Value {
				return b.And(b.Le(square(v), four), b.Lt(v[2], b.Int(loop.I32, 20)))
			}, func(v []loop.Value) []loop.Value {
				xy := b.Mul(v[0], v[1])
				return []loop.Value{b.Add(b.Sub(b.Mul(v[0], v[0]), b.Mul(v[1], v[1])), e.X[0]), b.Add(b.Add(xy, xy), e.X[1]), b.Add(v[2], b.Int(loop.I32, 1))}
			})
			last := square(out)
			h := last
			if t == loop.F64 {
				h = b.Cvt(loop.F32, last)
			}
			return []loop.Value{out[2], b.Lt(four, last), h}
		},
		plain: func(x []cell, _ func(int, []int) cell, _ func(int) []int) []cell {
			re, im, n := 0., 0., int64(0)
			square := func() float64 { return r(r(re*re) + r(im*im)) }
			for ; square() <= 4 && n < 20; n++ {
				xy := r(re * im)
				re, im = r(r(r(re*re)-r(im*im))+x[0].f), r(r(xy+xy)+x[1].f)
			}
			out := int64(0)
			if square() > 4 {
				out = 1
			}
			return []cell{{i: n}, {i: out}, {f: roundTo(array.Float16, square())}}
		}}
}

// lookBody reads a table of any rank, seen whole, at the sum of an index and each axis'
// number, modulo the extents: the element, and the product of the extents.
func lookBody(d array.DType) *body {
	return &body{name: "look", d: d, results: []array.DType{d, array.Int64}, cost: 20,
		params: []op.Param{param("table", op.Whole, d), param("i", op.ByElement, array.Int64)},
		emit: func(e *op.Emit) []loop.Value {
			b := e.B
			w := e.Window(0)
			off, size := b.Int(loop.I64, 0), b.Int(loop.I64, 1)
			for a, n := range w.Extents {
				at := b.RemU(b.Add(e.X[1], b.Int(loop.I64, int64(a))), n)
				off = b.Add(off, b.Mul(at, w.Strides[a]))
				size = b.Mul(size, n)
			}
			x := b.If(b.Lt(b.Int(loop.I64, 0), size), func() []loop.Value {
				return []loop.Value{b.LoadAt(w.Buf, off)}
			}, func() []loop.Value {
				t := loop.TypeOf(d)
				if t == loop.B {
					return []loop.Value{b.Bool(false)}
				}
				return []loop.Value{b.Number(t, 0)}
			})
			return []loop.Value{x[0], size}
		},
		plain: func(x []cell, at func(int, []int) cell, shape func(int) []int) []cell {
			s := shape(0)
			index, size := make([]int, len(s)), 1
			for a, n := range s {
				if n > 0 {
					index[a] = int((uint64(x[1].i) + uint64(a)) % uint64(n))
				}
				size *= n
			}
			if size == 0 {
				return []cell{{}, {}}
			}
			y := at(0, index)
			return []cell{y, {i: int64(size)}}
		}}
}

// nearBody is the sum of the element itself and of those near it at the given places, an
// index an axis, in that order.
func nearBody(d array.DType, places ...[]int) *body {
	r := func(x float64) float64 { return inLoop(d, x) }
	return &body{name: fmt.Sprint("near", places), d: d, results: []array.DType{d}, cost: 10,
		params: []op.Param{param("x", op.Near, d)},
		emit: func(e *op.Emit) []loop.Value {
			b := e.B
			w := e.Window(0)
			sum := b.Load(w.Buf)
			for _, p := range places {
				off := b.Int(loop.I64, 0)
				for a, i := range p {
					off = b.Add(off, b.Mul(w.Strides[a], b.Int(loop.I64, int64(i))))
				}
				sum = b.Add(sum, b.LoadAt(w.Buf, off))
			}
			return []loop.Value{sum}
		},
		plain: func(x []cell, at func(int, []int) cell, _ func(int) []int) []cell {
			sum := x[0].f
			for _, p := range places {
				sum = r(sum + at(0, p).f)
			}
			return []cell{{f: sum}}
		}}
}

// A kernelCase is a kernel and shapes of its arguments.
type kernelCase struct {
	body   op.Body
	shapes [][]int
	max    int // of integers
}

func (k kernelCase) types() (d []array.DType) {
	for _, p := range k.body.Params() {
		d = append(d, p.DType)
	}
	return d
}

// kernelCases are kernels on arguments of many shapes.
func kernelCases() (out []kernelCase) {
	for _, d := range []array.DType{array.Float32, array.Float64} {
		for _, s := range pointShapes[2] {
			out = append(out, kernelCase{polarBody(d), s, 0}, kernelCase{powerBody(d, 0), s, 8}, kernelCase{escapeBody(d), s, 0})
		}
	}
	for _, d := range realTypes() {
		for _, s := range [][][]int{{{133}, {133}}, {{5, 7}, {3, 20}}, {{}, {9}}, {{4}, {}}, {{0, 3}, {5}}, {{3}, {0}}, {{2, 3, 4}, {2, 1, 3}}, {{2, 1, 2, 2}, {70}}} {
			out = append(out, kernelCase{scattering{lookBody(d)}, s, 0})
		}
	}
	return out
}

// inLoop rounds what was computed of elements of type d in float64 as the loop
// language computes with it: in float32 where it is not float64.
func inLoop(d array.DType, x float64) float64 {
	if d == array.Float64 {
		return x
	}
	return float64(float32(x))
}

// cellAt is an element of an array.
func (a *Array) cellAt(i int) cell {
	if a.F != nil {
		return cell{f: a.F[i]}
	}
	return cell{i: a.I[i]}
}

// plainly computes a kernel in plain Go. places gives where an array seen near is read.
func (b *body) plainly(x []*Array, near func(arg, element int, index []int) cell) []Result {
	if len(x) != len(b.params) {
		panic(refusal{})
	}
	var shapes [][]int
	for i, p := range b.params {
		if x[i].DType != p.DType {
			panic(refusal{})
		}
		if p.Seen != op.Whole {
			shapes = append(shapes, x[i].Shape)
		}
	}
	shape := broadcastOf(shapes)
	out := make([]Result, len(b.results))
	for i, d := range b.results {
		out[i] = Result{Array: New(d, shape), Exact: true}
	}
	index := make([]int, len(shape))
	for e := range array.Size(shape) {
		for a, rest := len(shape)-1, e; a >= 0; a-- {
			index[a], rest = rest%shape[a], rest/shape[a]
		}
		cells := make([]cell, len(x))
		for i, p := range b.params {
			if p.Seen == op.Whole {
				continue
			}
			at := 0
			for a, n := range x[i].Shape {
				at *= n
				if n > 1 {
					at += index[len(shape)-len(x[i].Shape)+a]
				}
			}
			cells[i] = x[i].cellAt(at)
		}
		read := func(arg int, index []int) cell {
			if b.params[arg].Seen == op.Near {
				return near(arg, e, index)
			}
			at := 0
			for a, n := range x[arg].Shape {
				at = at*n + index[a]
			}
			return x[arg].cellAt(at)
		}
		for i, c := range b.plain(cells, read, func(arg int) []int { return x[arg].Shape }) {
			out[i].set(e, c.f, c.i)
		}
	}
	return out
}

// broadcastOf is the shape of arrays that broadcast.
func broadcastOf(shapes [][]int) []int {
	var out []int
	for _, s := range shapes {
		for len(out) < len(s) {
			out = append([]int{1}, out...)
		}
	}
	for _, s := range shapes {
		for i, n := range s {
			j := len(out) - len(s) + i
			if out[j] == 1 {
				out[j] = n
			} else if n != 1 && n != out[j] {
				panic(refusal{})
			}
		}
	}
	return out
}

func init() {
	several["kernel"] = func(x []*Array, a ir.Attrs) []Result {
		if s, ok := a.(scattering); ok {
			a = s.body
		}
		return a.(*body).plainly(x, nil)
	}
}
