package weft

import (
	"math"
	"reflect"
	"slices"

	"weft/internal/array"
	"weft/internal/core"
)

// RequireGrad marks t, of floats or complex numbers, as a leaf: [Tensor.Backward] adds its
// gradient to [Tensor.Grad]. It returns t. RequireGrad(false) removes the mark and the gradient.
// It panics if t was computed from tensors that need gradients ([Tensor.Detach] returns a tensor
// that can be marked), or if its elements are integers or bool.
func (t *Tensor) RequireGrad(on ...bool) *Tensor { return (*Tensor)(t.c().RequireGrad(on...)) }

// RequiresGrad reports whether gradients flow through t: it is a leaf ([Tensor.RequireGrad]), or
// was computed from one with gradients recorded.
func (t *Tensor) RequiresGrad() bool { return t.c().RequiresGrad() }

// IsLeaf reports that t was not computed from tensors that need gradients: it is a leaf itself,
// or needs none.
func (t *Tensor) IsLeaf() bool {
	t.c().NotNil("isleaf")
	n := t.c().Node()
	return n == nil || n.Leaf != nil
}

// Grad returns the gradient that backward passes have added up in a leaf, nil
// before the first.
func (t *Tensor) Grad() *Tensor {
	t.c().NotNil("grad")
	if t.c().Hist() == nil || t.c().Hist().LeafGrad == nil {
		return nil
	}
	t.c().Hist().Enter()
	t.c().Hist().Mu.Lock()
	defer t.c().Hist().Mu.Unlock()
	t.c().Hist().Touch(true)
	t.c().Hist().Fill()
	t.c().Hist().Mine = false
	return (*Tensor)(t.c().Hist().Grad)
}

// BorrowGrad calls f with the gradient of a leaf, if it has one, and reports that.
// f must not keep it: unlike [Tensor.Grad] this leaves the memory to the leaf, which
// gives it back at once when the gradient is forgotten. Optimizers read gradients
// this way.
func BorrowGrad(t *Tensor, f func(g *Tensor)) bool {
	t.c().NotNil("borrowgrad")
	if f == nil {
		array.Failf("borrowgrad", "f", "is nil")
	}
	return core.Lend(t.c(), func(h *core.History) *Tensor { h.Fill(); return (*Tensor)(h.Grad) }, f)
}

// SetGrad replaces the gradient of a leaf by g, of its shape and type; nil forgets it, as before
// the first backward pass, and gives its memory back. It panics with *[Error] if t is not a leaf,
// or shape, type or device differ.
func (t *Tensor) SetGrad(g *Tensor) { t.c().SetGrad(g.c()) }

// Detach returns t without its history, sharing its memory: a view that no gradient flows
// through. What is computed from it and from tensors that need gradients is recorded as always,
// and a leaf can be made of it with [Tensor.RequireGrad].
func (t *Tensor) Detach() *Tensor { return (*Tensor)(t.c().Detach()) }

// NoGrad returns t without its history.
//
// Deprecated: Use [Tensor.Detach], or [WithoutGrad] around a computation. The command go fix
// replaces calls of NoGrad.
//
//go:fix inline
func (t *Tensor) NoGrad() *Tensor { return t.Detach() }

// GradOpts are the options of [Grad] and [BackwardWith].
type GradOpts struct {
	// Retain keeps the saved values, so that the same tape can be walked again.
	Retain bool
	// Create records the gradient computation itself, for second derivatives; it
	// implies Retain.
	Create bool
	// AllowUnused makes Grad return nil for an input that no output depends on,
	// instead of panicking.
	AllowUnused bool
	// Seeds are the gradients of the outputs; nil means 1, for outputs of one
	// element.
	Seeds []*Tensor
}

func (o *GradOpts) walk() core.WalkOpts {
	return core.WalkOpts{Retain: o.Retain, Create: o.Create, AllowUnused: o.AllowUnused, Seeds: core.Inner(o.Seeds)}
}

// Backward computes the gradients of t, which has one element, and adds them to
// the Grad of each leaf it was computed from.
func (t *Tensor) Backward() { BackwardWith([]*Tensor{t}, GradOpts{}) }

// BackwardWith computes the gradients of several outputs and adds them to the
// Grad of each leaf.
func BackwardWith(outputs []*Tensor, opts ...GradOpts) {
	o := array.Options("backward", opts)
	core.Walk("backward", core.Inner(outputs), nil, o.walk())
}

// Grad returns the gradients of the outputs with respect to the inputs, without
// touching the Grad of leaves.
func Grad(output *Tensor, inputs []*Tensor, opts ...GradOpts) []*Tensor {
	return GradAll([]*Tensor{output}, inputs, opts...)
}

// GradAll is [Grad] for several outputs, whose gradients are added up: one tensor for each
// input, of its shape and type. Leaves keep theirs as they are.
func GradAll(outputs, inputs []*Tensor, opts ...GradOpts) []*Tensor {
	o := array.Options("grad", opts)
	if inputs == nil {
		inputs = []*Tensor{}
	}
	return core.Outer[Tensor](core.Walk("grad", core.Inner(outputs), core.Inner(inputs), o.walk()))
}

// WithoutGrad calls f and records nothing for gradients meanwhile: the results of operations
// inside f are constants to a later [Tensor.Backward]. It is torch.no_grad:
//
//	weft.WithoutGrad(func() { w.SubAssign(w.Grad().Mul(0.1)) })
//
// Inside f a leaf may be written in place, and [Tensor.RequireGrad] makes leaves as it does
// outside. The state ends with f, also when f panics. It does not stay with tensors: outside, a
// tensor made inside is a constant like any other. Calls nest. The state holds for the calling
// goroutine only: goroutines that f starts record.
//
// [VJP], [JVP], [Jacobian], [Hessian] and passes with [GradOpts].Create record what they
// differentiate inside f too; their results are constants unless Create is given. A function
// from [Compile] is traced separately for calls inside and outside. WithoutGrad panics with
// *[Error] if f is nil.
func WithoutGrad(f func()) {
	if f == nil {
		array.Failf("withoutgrad", "f", "is nil")
	}
	core.Recording(false, f)
}

// Recompute returns f such that what its gradient needs is not kept but computed again: f runs a second
// time when a backward pass reaches it. That is gradient checkpointing, torch.utils.checkpoint. Values and
// gradients have the same bits, for less memory and one more run:
//
//	h = weft.Recompute(block.Forward)(h)
//
// f is a function of tensors, and of structs, arrays, slices and maps of them; other arguments and results
// may be of any type. Only its arguments are kept; parameters and other tensors that f captures get
// gradients as always. Both runs make the same random draws and f must do the same operations in both.
// Writes in place into tensors from outside, such as running means, are done once; f must not write into its
// arguments. Other effects of Go code happen in each run. Calls may be nested: what an inner one keeps the
// outer one computes again.
//
// Inside functions of [Compile] the second run is part of the program, after the gradients that it waits
// for. Inside [WithoutGrad], and in functions of [Vmap], [Cond], [While] and [ScanSteps], f runs as it is.
// Recompute panics with *[Error] if f is not a function, and a backward pass does where f does something
// else the second time, or what f has read was written since.
func Recompute[F any](f F) F {
	v := reflect.ValueOf(f)
	if v.Kind() != reflect.Func || v.IsNil() {
		array.Failf("recompute", "f", "is %T: want a function of tensors", f)
	}
	return reflect.MakeFunc(v.Type(), func(in []reflect.Value) []reflect.Value {
		return core.Recompute[Tensor](v, in)
	}).Interface().(F)
}

// Autocast calls f, in which products run in d, Float16 or BFloat16: MatMul, Linear, Attention and convolutions
// convert float32 arguments first. It is torch.autocast:
//
//	weft.Autocast(weft.BFloat16, func() { loss = nn.CrossEntropy(net.Forward(x), y) })
//	loss.Backward()
//
// Powers, exponentials, logarithms, sums, norms, Softmax, LogSoftmax, LogSumExp and CrossEntropy convert
// arguments of 16 bits to float32. So do the losses of package nn and its layers that normalise or resize,
// which compute as a whole in float32; batch and instance norms round their results to the type of x. All other operations take what they get, and promote. float64 stays. A
// parameter is converted once in a scope; gradients arrive in its own type, and backward passes run as if
// outside. Formulas, kernels, [Func] and writes in place are left alone: convert for them with To.
//
// Scopes nest, the innermost counts, and Float32 ends one for f. A scope ends with f, also when f panics, and
// holds for the calling goroutine only. A function from [Compile] is traced separately for calls inside.
// Autocast panics with *[Error] if f is nil or d is another type.
func Autocast(d DType, f func()) {
	switch {
	case f == nil:
		array.Failf("autocast", "f", "is nil")
	case d != Float16 && d != BFloat16 && d != Float32:
		array.Failf("autocast", "d", "is %s: want float16, bfloat16, or float32 for none", d)
	}
	core.Autocast(d, f)
}

// DetectAnomaly calls f, in which backward passes panic with *[Error] at the first gradient with NaN. The error
// names the operation whose gradient has it, and where that was called, if DetectAnomaly did that call too.
// It is torch.autograd.detect_anomaly:
//
//	weft.DetectAnomaly(func() { loss(net.Forward(x)).Backward() })
//
// The gradient of an operation of a layer of package nn also has the layer's path ([Error].Layer). So have the
// errors of passes that find a value written in place or released, also when they run after DetectAnomaly. Of
// second derivatives ([GradOpts].Create) the error names the operation that was differentiated first. Seeds,
// hooks and sums of several gradients are checked as well. A pass that panics leaves the gradients of some
// leaves added.
//
// Calls take several times as long: each keeps its line, and each gradient is read on the host. Outside it
// costs nothing. Passes inside functions of [Compile] are not checked: [Compiled.Debug] with NaN does that and
// names lines too. The state ends with f, also when f panics, and holds for the calling goroutine only.
// DetectAnomaly panics with *[Error] if f is nil.
func DetectAnomaly(f func()) {
	if f == nil {
		array.Failf("detectanomaly", "f", "is nil")
	}
	core.DetectAnomaly(f)
}

// SparseGrad makes a leaf keep its gradient as the rows that have one, where it is
// read by [Tensor.IndexSelect] along the first axis alone, as a table of embeddings is:
// a step then touches the rows that were used and no others. [BorrowRows] reads such a
// gradient; [Tensor.Grad] and [BorrowGrad] turn it into an array of t's shape, zeros
// elsewhere, and so does whatever else adds to it. It returns t, and panics with *[Error]
// unless t is a leaf with an axis.
func (t *Tensor) SparseGrad() *Tensor {
	t.c().Check("sparsegrad")
	n := t.c().Node()
	if n == nil || n.Leaf == nil {
		array.Failf("sparsegrad", "", "the tensor is not a leaf that requires a gradient: only those keep one")
	}
	if t.Rank() == 0 {
		array.Failf("sparsegrad", "", "a tensor of no axes has no rows")
	}
	n.Leaf.Sparse.Store(true)
	return t
}

// BorrowRows calls f with the gradient of a leaf, if the leaf keeps one as rows
// ([Tensor.SparseGrad]), and reports that: places holds the numbers of the rows that
// have a gradient, int64, ascending and each once, values [len(places), ...] the rows
// themselves. f may write into values, as clipping does, and must keep neither.
func BorrowRows(t *Tensor, f func(places, values *Tensor)) bool {
	t.c().NotNil("borrowrows")
	if f == nil {
		array.Failf("borrowrows", "f", "is nil")
	}
	return core.Lend(t.c(), func(h *core.History) *core.RowGrad { return h.Rows }, func(g *core.RowGrad) { f((*Tensor)(g.Places), (*Tensor)(g.Values)) })
}

// Hook makes backward passes call f with the gradient of t, of t's shape and type. That is the sum
// over all uses of t. The pass goes on with what f returns, or with dy if that is nil. f may keep dy
// and must not write into it. Of several hooks the earliest comes first, each with the result of the
// one before. remove ends it. It is torch's Tensor.register_hook:
//
//	y.Hook(func(dy *weft.Tensor) *weft.Tensor { return dy.Clamp(-1, 1) })
//
// Passes with [GradOpts].Create record what f computes, others do not. [Jacobian] calls f for each
// row. [GradAll] calls f only on the way to its inputs. In a pass inside a function of [Compile],
// f is traced like the function: hooks added to captured tensors after the trace are not seen.
//
// Hook panics with *[Error] if f is nil, if t requires no gradient, and inside functions of [Vmap],
// [Cond], [While], [ScanSteps] and package sym. So does the pass if f returns another shape, type or
// device. No pass through t may run while Hook does, unless t is a leaf.
func (t *Tensor) Hook(f func(dy *Tensor) *Tensor) (remove func()) {
	t.c().NotNil("hook")
	if f == nil {
		array.Failf("hook", "f", "is nil")
	}
	return t.c().Hook(func(dy *core.Tensor) *core.Tensor { return f((*Tensor)(dy)).c() })
}

// PostAccumulateGradHook makes each backward pass call f with t, a leaf, when the pass has added all
// of its gradient to it. [Tensor.Grad] is then what the pass leaves there, while gradients of other
// leaves may still come. f may read and replace it, or use it for a step and clear it. remove ends
// it. It is torch's Tensor.register_post_accumulate_grad_hook:
//
//	w.PostAccumulateGradHook(func(w *weft.Tensor) { send(w.Grad()) })
//
// [Grad] and [GradAll] add nothing to leaves and call no such hook. Inside a function of [Compile]
// it behaves as [Tensor.Hook] does. It panics with *[Error] if f is nil or t is not a leaf that
// requires a gradient.
func (t *Tensor) PostAccumulateGradHook(f func(t *Tensor)) (remove func()) {
	t.c().NotNil("postaccumulategradhook")
	if f == nil {
		array.Failf("postaccumulategradhook", "f", "is nil")
	}
	return t.c().PostAccumulateGradHook(func() { f(t) })
}

// GradCheckOpts are the options of [GradCheck] and [GradGradCheck].
type GradCheckOpts struct {
	Eps      *float64 // the step of the differences; default 1e-6
	Absolute *float64 // default 1e-5
	Relative *float64 // default 1e-3
}

// GradCheck compares the gradients that backward passes give f with central differences, at x: float64 or
// complex128 tensors, and others that stay as they are. It is torch.autograd.gradcheck:
//
//	err := weft.GradCheck(func(x ...*weft.Tensor) *weft.Tensor { return attend(x[0], x[1]) }, []*weft.Tensor{q, k})
//
// f gets copies of x, which require gradients in float64 and complex128, and must use these. It returns one
// tensor or several, in float64 or complex128 where they have gradients. Each derivative may be off by
// Absolute + Relative times the difference. The *[Error] names the input, the result, the elements and both
// numbers. It is also returned where f gives different results for the same x, or results of other shapes near
// it, and where no result has a gradient by an input, which f then does not use. A step that crosses a kink, as
// of a Relu at 0, gives an error too. f runs twice for each element of x, and backward once for each element of
// the results.
func GradCheck[R *Tensor | []*Tensor](f func(x ...*Tensor) R, x []*Tensor, opts ...GradCheckOpts) error {
	const name = "gradcheck"
	return Try(func() {
		g := several(name, f)
		gradCheck(name, g, x, array.Options(name, opts))
		requireUse(name, g, x)
	})
}

// GradGradCheck is [GradCheck] of the gradients of f by x, multiplied by random numbers: it compares second
// derivatives, of passes with [GradOpts].Create, with differences of first ones. It is
// torch.autograd.gradgradcheck.
func GradGradCheck[R *Tensor | []*Tensor](f func(x ...*Tensor) R, x []*Tensor, opts ...GradCheckOpts) error {
	const name = "gradgradcheck"
	return Try(func() {
		g, o := several(name, f), array.Options(name, opts)
		requireUse(name, g, x)
		given, of := checked(name, x), NewGenerator(1)
		for _, y := range needing(differentiable(g(given...))) {
			v := of.RandnOf(y.DType().Part(), y.Shape()...)
			if y.DType().Complex() {
				v = Complex(v, of.RandnOf(y.DType().Part(), y.Shape()...))
			}
			given = append(given, v)
		}
		gradCheck(name, func(all ...*Tensor) (out []*Tensor) {
			at, seeds := all[:len(x)], all[len(x):]
			leaves := differentiable(at)
			for i, d := range GradAll(needing(differentiable(g(at...))), leaves, GradOpts{Create: true, AllowUnused: true, Seeds: seeds}) {
				if d == nil {
					d = ZerosLike(leaves[i])
				}
				out = append(out, d)
			}
			return out
		}, given, o)
	})
}

// requireUse refuses an f without a gradient by one of its inputs. All of its derivatives by that input would
// be 0, by differences too, so that a function of what it was not given would be found right unseen.
func requireUse(name string, f func(x ...*Tensor) []*Tensor, x []*Tensor) {
	leaves := checked(name, x)
	ys := needing(f(leaves...))
	var seeds []*Tensor
	for _, y := range ys {
		seeds = append(seeds, OnesLike(y.Detach()))
	}
	wanted := needing(leaves)
	grads := make([]*Tensor, len(wanted))
	if len(ys) > 0 {
		grads = GradAll(ys, wanted, GradOpts{AllowUnused: true, Seeds: seeds})
	}
	for i, g := range grads {
		if g == nil {
			array.Failf(name, "f", "has no result with a gradient by input %d: it must use the tensors that it is given, and not in a compiled function, whose gradients stay inside", slices.Index(leaves, wanted[i]))
		}
	}
}

// several is f as a function of several results.
func several[R *Tensor | []*Tensor](name string, f func(x ...*Tensor) R) func(x ...*Tensor) []*Tensor {
	if f == nil {
		array.Failf(name, "f", "is nil")
	}
	return func(x ...*Tensor) []*Tensor {
		var ys []*Tensor
		switch r := any(f(x...)).(type) {
		case *Tensor:
			ys = []*Tensor{r}
		case []*Tensor:
			ys = r
		}
		for k, y := range ys {
			y.c().Check(name)
			if d := y.DType(); d != Float64 && d != Complex128 && y.RequiresGrad() {
				array.Failf(name, "f", "has result %d in %s, whose differences would measure its rounding: want float64 or complex128", k, d)
			}
		}
		return ys
	}
}

// differentiable returns the tensors among ts that have gradients in double precision.
func differentiable(ts []*Tensor) (some []*Tensor) {
	for _, t := range ts {
		if d := t.DType(); d == Float64 || d == Complex128 {
			some = append(some, t)
		}
	}
	return some
}

func needing(ts []*Tensor) (some []*Tensor) {
	for _, t := range ts {
		if t.RequiresGrad() {
			some = append(some, t)
		}
	}
	return some
}

// checked returns copies of x that are leaves where they hold float64 or complex128. It refuses x without
// one, and with other floats, whose differences would measure their rounding.
func checked(name string, x []*Tensor) []*Tensor {
	out := make([]*Tensor, len(x))
	for i, t := range x {
		t.c().Check(name)
		out[i] = t.Detach().Clone()
		switch d := t.DType(); {
		case d == Float64 || d == Complex128:
			out[i].RequireGrad()
		case d.Differentiable():
			array.Failf(name, "x", "input %d holds %s, whose differences would measure its rounding: want float64 or complex128", i, d)
		}
	}
	if len(differentiable(out)) == 0 {
		array.Failf(name, "x", "has no tensor of float64 or complex128")
	}
	return out
}

func gradCheck(name string, f func(x ...*Tensor) []*Tensor, x []*Tensor, o GradCheckOpts) {
	eps, abs, rel := array.Or(o.Eps, 1e-6), array.Or(o.Absolute, 1e-5), array.Or(o.Relative, 1e-3)
	if !(eps > 0) || !(abs >= 0) || !(rel >= 0) {
		array.Failf(name, "opts", "have Eps %v, Absolute %v, Relative %v: want a step above 0 and tolerances from 0", eps, abs, rel)
	}
	leaves := checked(name, x)
	ys, again := f(leaves...), f(leaves...)
	sameForm(name, ys, again)
	at := func(i, element int, step complex128) []*Tensor { // results with that element of input i moved
		moved := slices.Clone(leaves)
		c := leaves[i].Detach().Clone()
		if d := c.Reshape(-1).At(element); c.DType().Complex() {
			d.AddAssign(step)
		} else {
			d.AddAssign(real(step))
		}
		moved[i] = c.RequireGrad()
		out := f(moved...)
		sameForm(name, ys, out)
		return out
	}
	for k, y := range ys {
		if Digest(y) != Digest(again[k]) {
			array.Failf(name, "f", "gives different values of result %d for the same inputs", k)
		}
		if y.DType() == Float64 || y.DType() == Complex128 {
			for _, seed := range units(y) {
				checkResult(name, y, k, seed, leaves, at, eps, abs, rel)
			}
		}
	}
}

// sameForm refuses results of f that differ in number, type or shape from those at x.
func sameForm(name string, ys, others []*Tensor) {
	if len(ys) != len(others) {
		array.Failf(name, "f", "has %s and then %d: want the same number at and near x", array.Count(len(ys), "result"), len(others))
	}
	for k, y := range ys {
		if z := others[k]; y.DType() != z.DType() || !slices.Equal(y.Shape(), z.Shape()) {
			array.Failf(name, "f", "has result %d as %s%s and then %s%s: want the same at and near x", k, y.DType(), array.ShapeString(y.Shape()), z.DType(), array.ShapeString(z.Shape()))
		}
	}
}

// checkResult compares the gradients of the real part of result k, or for the seed i of the imaginary one.
func checkResult(name string, y *Tensor, k int, seed complex128, leaves []*Tensor, at func(i, element int, step complex128) []*Tensor, eps, abs, rel float64) {
	part := func(t *Tensor) []float64 {
		switch t = t.Detach(); {
		case seed == 1i:
			t = t.Imag()
		case t.DType().Complex():
			t = t.Real()
		}
		return Data[float64](t.To(Float64).Contiguous().Reshape(-1))
	}
	byPasses := make([][]*Tensor, y.Size()) // by element of y and input
	for e := range byPasses {
		byPasses[e] = make([]*Tensor, len(leaves))
		if !y.RequiresGrad() {
			continue
		}
		v := ZerosLike(y.Detach())
		if one := v.Reshape(-1).At(e); y.DType().Complex() {
			one.Fill(seed)
		} else {
			one.Fill(1)
		}
		wanted := needing(leaves)
		for i, g := range GradAll([]*Tensor{y}, wanted, GradOpts{Retain: true, AllowUnused: true, Seeds: []*Tensor{v}}) {
			byPasses[e][slices.Index(leaves, wanted[i])] = g
		}
	}
	for i, x := range leaves {
		if !x.RequiresGrad() {
			continue
		}
		for element := range x.Size() {
			for _, side := range units(x) {
				h := complex(eps, 0) * side
				up, down := part(at(i, element, h)[k]), part(at(i, element, -h)[k])
				for e := range up {
					want, got := (up[e]-down[e])/(2*eps), 0.0
					if g := byPasses[e][i]; g != nil {
						z := g.Detach().Contiguous().Reshape(-1).At(element).To(Complex128).ItemComplex()
						if got = real(z); side == 1i {
							got = imag(z)
						}
					}
					if !(math.Abs(got-want) <= abs+rel*math.Abs(want)) {
						array.Failf(name, "x", "the derivative of result %d, element %v, by input %d, element %v, is %v by Backward and %v by differences%s",
							k, core.IndexOf(e, y.Shape()), i, core.IndexOf(element, x.Shape()), got, want, partNames(seed, side))
					}
				}
			}
		}
	}
}

// units are 1, and of complex numbers i.
func units(t *Tensor) []complex128 {
	if t.DType().Complex() {
		return []complex128{1, 1i}
	}
	return []complex128{1}
}

// partNames says which parts of complex numbers a derivative is of, and by.
func partNames(seed, side complex128) string {
	if seed == 1 && side == 1 {
		return ""
	}
	names := map[complex128]string{1: "real", 1i: "imaginary"}
	return ", of the " + names[seed] + " part by the " + names[side] + " one"
}
