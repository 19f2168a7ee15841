package sym

import (
	"fmt"
	"math"

	"weft"
	"weft/internal/array"
)

// VerifyOpts are the options of [VerifyGrad].
type VerifyOpts struct {
	Seed     uint64   // of the projection
	Step     *float64 // of differences, more than 0; nil means 1e-5 for float64, else 1e-2
	Absolute *float64 // an element may be off by Absolute; nil means 1e-5 for float64, else 1e-2
	Relative *float64 // and by Relative times the larger one; nil as for Absolute
}

// VerifyGrad compares the gradient of a random projection of f with central differences, at
// points of floats. The error names the argument and the element that differ most.
func VerifyGrad(f func(x []*Var) *Var, points []*weft.Tensor, opts ...VerifyOpts) error {
	return weft.Try(func() { verify(f, points, array.Options("verifygrad", opts)) })
}

func verify(f func(x []*Var) *Var, points []*weft.Tensor, o VerifyOpts) {
	const name = "verifygrad"
	if f == nil || len(points) == 0 {
		array.Failf(name, "", "wants a function and points")
	}
	x, inputs, given := make([]*Var, len(points)), make([]any, len(points)), make([]any, len(points))
	wide := true
	for i, p := range points {
		if p == nil || !p.DType().Float() {
			array.Failf(name, "points", "number %d holds no floats", i)
		}
		x[i] = New(fmt.Sprint("x", i), p.DType(), p.Shape()...)
		inputs[i], given[i] = x[i], p.Detach().Clone()
		wide = wide && p.DType() == weft.Float64
	}
	h, tolerance := 1e-5, 1e-5
	if !wide {
		h, tolerance = 1e-2, 1e-2
	}
	if h = array.Or(o.Step, h); !(h > 0) {
		array.Failf(name, "Step", "is %v, want more than 0", h)
	}
	absolute, relative := array.Or(o.Absolute, tolerance), array.Or(o.Relative, tolerance)
	y := f(x)
	y.notNil(name)
	streams := NewRandomStreams(o.Seed)
	at := typical(y, x, inputs, given)
	weights, err := must(Function(In(), Out(streams.UniformLike(Const(at), 0.5, 1.5)))).Call()
	if err != nil {
		panic(err)
	}
	cost := y.Mul(weights[0].On(at.Device())).Sum()
	fn := must(Function(In(inputs...), Out(cost), IgnoreUnused))
	grads, err := must(Function(In(inputs...), Out(Grad(cost, x, GradOpts{Disconnected: true})...), IgnoreUnused)).Call(given...)
	if err != nil {
		panic(err)
	}
	value := func() float64 {
		out, err := fn.Call(given...)
		if err != nil {
			panic(err)
		}
		return out[0].Item()
	}
	worst, where := 0.0, ""
	for i, p := range given {
		flat, g := p.(*weft.Tensor).Reshape(-1), grads[i].Contiguous().Reshape(-1)
		for k := range flat.Size() {
			e := flat.At(k)
			old := e.Item()
			e.Assign(old + h)
			hi := value()
			e.Assign(old - h)
			lo := value()
			e.Assign(old)
			want, got := (hi-lo)/(2*h), g.At(k).Item()
			off := 0.0
			if got != want { // where both tolerances are 0, too
				off = math.Abs(got-want) / (absolute + relative*max(math.Abs(got), math.Abs(want)))
			}
			if !(off <= worst) {
				worst, where = off, fmt.Sprintf("of argument %d, element %d is %v, by differences %v", i, k, got, want)
			}
		}
	}
	if !(worst <= 1) {
		array.Failf(name, "", "the gradient %s", where)
	}
}

// typical is y at the points.
func typical(y *Var, x []*Var, inputs, given []any) *weft.Tensor {
	out, err := must(Function(In(inputs...), Out(y), IgnoreUnused)).Call(given...)
	if err != nil {
		panic(err)
	}
	return out[0]
}

func must(f *Fn, err error) *Fn {
	if err != nil {
		panic(err)
	}
	return f
}
