package nn

import (
	"fmt"
	"math"

	"weft"
	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/op"
)

// RNNOpts are the options of [NewRNN], [NewLSTM] and [NewGRU].
type RNNOpts struct {
	Layers        *int // one on top of the other, 1 or more; nil means 1
	Bidirectional bool // each layer also reads from the end, and gives both results side by side
	BatchFirst    bool // [batch, steps, ...] rather than [steps, batch, ...]
	NoBias        bool
	// Dropout is the probability with which elements between layers are set to 0 in
	// training.
	Dropout float64
	// Projection is the width of the outputs of an LSTM, smaller than its hidden units, which
	// another matrix maps to it; 0 for none.
	Projection int
	Weight     Init            // draws weights and biases; nil is between -1/sqrt(hidden) and 1/sqrt(hidden)
	Generator  *weft.Generator // what they, and Dropout, are drawn from; nil is the default generator
}

// rnn is what recurrent networks have in common.
type rnn struct {
	// Params are the weights under PyTorch's names: weight_ih_l0 [gates*hidden, in],
	// weight_hh_l0 [gates*hidden, hidden], bias_ih_l0 and bias_hh_l0 [gates*hidden], the
	// same with l1 for the second layer, and with _reverse behind that for the way from the
	// end.
	Params        map[string]*weft.Tensor `nn:""`
	Hidden        int
	Projection    int // the width of outputs, 0 for Hidden
	Layers        int
	Bidirectional bool
	BatchFirst    bool
	Drop          *Dropout // between layers, nil for none

	name  string
	gates int
}

// maxLayers bounds a loop that a mistaken number would make endless.
const maxLayers = 1 << 12

func newRNN(name string, gates, in, hidden int, opts []RNNOpts) rnn {
	defer array.Named(name).End()
	o := array.Options(name, opts)
	layers := array.Or(o.Layers, 1)
	if in < 1 || hidden < 1 {
		array.Failf(name, "", "has %d inputs and %d hidden units: want 1 or more", in, hidden)
	}
	if layers < 1 || layers > maxLayers {
		array.Failf(name, "Layers", "are %d, want 1 to %d", layers, maxLayers)
	}
	if o.Projection < 0 || o.Projection >= hidden || o.Projection > 0 && gates != 4 {
		array.Failf(name, "Projection", "is %d, want 0 to %d, and 0 unless the network is an LSTM", o.Projection, hidden-1)
	}
	r := rnn{Params: map[string]*weft.Tensor{}, Hidden: hidden, Projection: o.Projection, Layers: layers,
		Bidirectional: o.Bidirectional, BatchFirst: o.BatchFirst, name: name, gates: gates}
	if o.Dropout != 0 {
		r.Drop = &Dropout{P: o.Dropout, Generator: o.Generator}
	}
	if o.Weight == nil {
		bound := 1 / math.Sqrt(float64(hidden))
		o.Weight = Uniform(-bound, bound)
	}
	for l := range r.Layers {
		for d := range r.ways() {
			for _, w := range []struct {
				name  string
				shape []int
			}{{"weight_ih", []int{gates * hidden, in}}, {"weight_hh", []int{gates * hidden, r.width()}},
				{"bias_ih", []int{gates * hidden}}, {"bias_hh", []int{gates * hidden}}, {"weight_hr", []int{o.Projection, hidden}}} {
				if w.shape[0] > 0 && (!o.NoBias || len(w.shape) == 2) {
					r.Params[weightName(w.name, l, d)] = Param(o.Weight(o.Generator, w.shape...))
				}
			}
		}
		in = r.width() * r.ways()
	}
	return r
}

func weightName(name string, layer, way int) string {
	return fmt.Sprintf("%s_l%d%s", name, layer, []string{"", "_reverse"}[way])
}

func (r *rnn) ways() int {
	if r.Bidirectional {
		return 2
	}
	return 1
}

// width returns the width of the outputs of one way.
func (r *rnn) width() int {
	if r.Projection > 0 {
		return r.Projection
	}
	return r.Hidden
}

// A cell runs one layer one way: steps [steps, batch, gates*hidden] are what the inputs give, biases
// of both sides added, state is what the layer begins with. It returns what each part of the state
// is after each step, [steps, batch, hidden]. The first part are the outputs.
type cell func(steps *weft.Tensor, w cellWeights, state []*weft.Tensor) []*weft.Tensor

// cellWeights are the weights by which outputs count in the next step.
type cellWeights struct {
	hh *weft.Tensor // [gates*hidden, width]
	b  *weft.Tensor // [gates*hidden], nil for none
	hr *weft.Tensor // [width, hidden], nil for none
}

// RunOpts are the options of Run of [RNN], [LSTM] and [GRU].
type RunOpts struct {
	// Lengths are the numbers of steps of the sequences of a batch, [batch] integers from 1 to
	// the steps of x; nil: all have all steps. Outputs behind a sequence's end are zeros, its
	// final state is that of its last step, and the way from the end begins there. What x has
	// behind the end counts for nothing.
	Lengths *weft.Tensor
}

// run passes x through all layers; state, parts of type x's or the parameters', is zeros if nil. All
// is computed in the type in which x and the parameters meet. The results are the outputs, then the state
// at the end.
func (r *rnn) run(x *weft.Tensor, state []*weft.Tensor, keeps int, c cell, opts []RunOpts) []*weft.Tensor {
	defer array.Named(r.name).End()
	o := array.Options(r.name, opts)
	if x == nil {
		array.Failf(r.name, "x", "is nil")
	}
	if x.Rank() == 2 && o.Lengths == nil {
		return r.runSingle(x, state, keeps, c)
	}
	if x.Rank() != 3 {
		array.Failf(r.name, "x", "has shape %s, want [steps batch in] (BatchFirst: [batch steps in])", array.ShapeString(x.Shape()))
	}
	if r.BatchFirst {
		x = x.Transpose(0, 1)
	}
	if x.Dim(0) == 0 {
		array.Failf(r.name, "x", "has shape %s: there are no steps", array.ShapeString(x.Shape()))
	}
	dtype := r.meet(x)
	state = r.begin(x, state, keeps, dtype)
	x = x.To(dtype)
	s := newSequences(r.name, x, o.Lengths)
	x = s.cut(x)
	ends := make([][]*weft.Tensor, keeps)
	for l := range r.Layers {
		var ys []*weft.Tensor
		for d := range r.ways() {
			in := x
			if d == 1 {
				in = s.reverse(in)
			}
			steps, w := r.project(in, l, d)
			var begin []*weft.Tensor
			for _, part := range state {
				begin = append(begin, part.Slice(weft.Index(l*r.ways()+d)))
			}
			all := c(steps, w, begin)
			for i, part := range all {
				ends[i] = append(ends[i], s.last(part))
			}
			y := all[0]
			if d == 1 {
				y = s.reverse(y)
			}
			ys = append(ys, y)
		}
		if x = ys[0]; len(ys) == 2 {
			x = weft.Cat(ys, 2)
		}
		x = s.cut(x)
		if r.Drop != nil && l+1 < r.Layers {
			x = r.Drop.Forward(x)
		}
	}
	if r.BatchFirst {
		x = x.Transpose(0, 1)
	}
	out := []*weft.Tensor{x}
	for _, e := range ends {
		out = append(out, weft.Stack(e, 0))
	}
	return out
}

// runSingle is run of x [steps, in], without a batch: the state has none either.
func (r *rnn) runSingle(x *weft.Tensor, state []*weft.Tensor, keeps int, c cell) []*weft.Tensor {
	axis := 1
	if r.BatchFirst {
		axis = 0
	}
	var begin []*weft.Tensor
	for i, s := range state {
		if s == nil || s.Rank() != 2 {
			array.Failf(r.name, "state", "%d is %s, want two axes, as x has", i, describe(s))
		}
		begin = append(begin, s.Unsqueeze(1))
	}
	out := r.run(x.Unsqueeze(axis), begin, keeps, c, nil)
	out[0] = own(out[0].Squeeze(axis))
	for i := range out[1:] {
		out[1+i] = own(out[1+i].Squeeze(1))
	}
	return out
}

// begin returns the state that layers begin with in type dtype, zeros if state is nil.
func (r *rnn) begin(x *weft.Tensor, state []*weft.Tensor, keeps int, dtype weft.DType) []*weft.Tensor {
	out := make([]*weft.Tensor, keeps)
	for i := range out {
		want := []int{r.Layers * r.ways(), x.Dim(1), r.Hidden}
		if i == 0 {
			want[2] = r.width()
		}
		if state == nil {
			out[i] = x.Device().ZerosOf(dtype, want...)
			continue
		}
		s := state[i]
		if s == nil || s.DType() != x.DType() && s.DType() != dtype || !array.Equal(sizes(s), want) {
			array.Failf(r.name, "state", "%d is not %s", i, array.TypeString(x.DType(), want))
		}
		out[i] = s.To(dtype)
	}
	return out
}

// project returns what the inputs of a layer give to its gates, and its other weights, in the type
// of in.
func (r *rnn) project(in *weft.Tensor, layer, way int) (steps *weft.Tensor, w cellWeights) {
	dtype := in.DType()
	wi, wh := r.weight("weight_ih", layer, way), r.weight("weight_hh", layer, way)
	bi, bh := r.Params[weightName("bias_ih", layer, way)], r.Params[weightName("bias_hh", layer, way)]
	if (bi == nil) != (bh == nil) {
		array.Failf(r.name, "Params", "have one of the biases of layer %d", layer)
	}
	if wh.Rank() != 2 || wh.Dim(0) != r.gates*r.Hidden || wh.Dim(1) != r.width() || wi.Rank() != 2 || wi.Dim(0) != wh.Dim(0) {
		array.Failf(r.name, "Params", "of layer %d have shapes %s and %s", layer, array.ShapeString(wi.Shape()), array.ShapeString(wh.Shape()))
	}
	wi, w.hh = wi.To(dtype), wh.To(dtype)
	if r.Projection > 0 {
		w.hr = r.weight("weight_hr", layer, way).To(dtype)
		if !array.Equal(sizes(w.hr), []int{r.Projection, r.Hidden}) {
			array.Failf(r.name, "Params", "weight_hr of layer %d has shape %s, want [%d %d]", layer, array.ShapeString(w.hr.Shape()), r.Projection, r.Hidden)
		}
	}
	if bi != nil {
		bi, w.b = bi.To(dtype), bh.To(dtype)
		if r.gates != 3 {
			bi = bi.Add(w.b)
		}
	}
	return in.Linear(wi, bi), w
}

func (r *rnn) weight(name string, layer, way int) *weft.Tensor {
	name = weightName(name, layer, way)
	w := r.Params[name]
	if w == nil {
		array.Failf(r.name, "Params", "have no %s", name)
	}
	return w
}

// meet returns the type in which x meets the parameters.
func (r *rnn) meet(x *weft.Tensor) weft.DType {
	d := x.DType()
	for _, w := range r.Params {
		if w != nil {
			d = array.Promote(d, w.DType())
		}
	}
	if !d.Float() {
		array.Failf(r.name, "x", "has elements of type %s, want floats", x.DType())
	}
	return d
}

// LSTM is a recurrent network with long short-term memory (Hochreiter and Schmidhuber,
// Long short-term memory, 1997). With x the input, h the output and c the memory of the
// step before, * elementwise and gates one behind the other in the weights:
//
//	i, f, o = sigmoid(W_ih x + b_ih + W_hh h + b_hh)    the first, second and fourth part
//	g       = tanh(...)                                 the third part
//	c'      = f*c + i*g
//	h'      = o*tanh(c')
//
// Its field Params has the weights and biases by PyTorch's names: weight_ih_l0 [4*hidden, in],
// weight_hh_l0 [4*hidden, hidden], bias_ih_l0 and bias_hh_l0 [4*hidden]. Names have l1 for the
// second layer, and _reverse behind that for the way from the end. With a projection the outputs are
// W_hr h', weight_hr_l0 is [Projection, hidden] and weight_hh_l0 [4*hidden, Projection] (Sak et al.,
// Long short-term memory based recurrent neural network architectures, 2014). Hidden, Projection,
// Layers, Bidirectional and BatchFirst are as in [RNNOpts]. Drop is the [Dropout] between layers or nil.
type LSTM struct {
	rnn `nn:""`
}

// NewLSTM returns a network of float32 parameters.
func NewLSTM(in, hidden int, opts ...RNNOpts) *LSTM {
	return &LSTM{newRNN("lstm", 4, in, hidden, opts)}
}

// Forward maps [steps, batch, in] to [steps, batch, hidden], both ways side by side if
// there are two, beginning with zeros. All is computed in the type in which x and the
// parameters meet.
func (n *LSTM) Forward(x *weft.Tensor) *weft.Tensor {
	y, _, _ := n.Run(x, nil, nil)
	return y
}

// Run is Forward that begins with outputs h and memories c, [layers*ways, batch, hidden],
// zeros if both are nil, and also returns what they are at the end.
func (n *LSTM) Run(x, h, c *weft.Tensor, opts ...RunOpts) (y, hEnd, cEnd *weft.Tensor) {
	out := CallAll(n, []*weft.Tensor{x, h, c}, func(in []*weft.Tensor) []*weft.Tensor {
		if n == nil || n.Params == nil {
			failNil("lstm", "NewLSTM")
		}
		run := cell(lstm)
		if n.Projection > 0 {
			run = projectedLSTM
		}
		return n.run(in[0], someState(in[1:]...), 2, run, opts)
	})
	return out[0], out[1], out[2]
}

// GRU is a recurrent network with gated recurrent units (Cho et al., Learning phrase
// representations using RNN encoder-decoder, 2014). With x the input, h the output of the
// step before, * elementwise and gates one behind the other in the weights:
//
//	r, z = sigmoid(W_ih x + b_ih + W_hh h + b_hh)       the first and second part
//	n    = tanh(W_ih x + b_ih + r*(W_hh h + b_hh))      the third part
//	h'   = (1-z)*n + z*h
//
// Its fields are as in [LSTM], with 3*hidden rows of weights and biases.
type GRU struct {
	rnn `nn:""`
}

// NewGRU returns a network of float32 parameters.
func NewGRU(in, hidden int, opts ...RNNOpts) *GRU {
	return &GRU{newRNN("gru", 3, in, hidden, opts)}
}

// Forward maps [steps, batch, in] to [steps, batch, hidden], both ways side by side if
// there are two, beginning with zeros. All is computed in the type in which x and the
// parameters meet.
func (n *GRU) Forward(x *weft.Tensor) *weft.Tensor {
	y, _ := n.Run(x, nil)
	return y
}

// Run is Forward that begins with outputs h, [layers*ways, batch, hidden], zeros if nil,
// and also returns the last ones.
func (n *GRU) Run(x, h *weft.Tensor, opts ...RunOpts) (y, hEnd *weft.Tensor) {
	out := CallAll(n, []*weft.Tensor{x, h}, func(in []*weft.Tensor) []*weft.Tensor {
		if n == nil || n.Params == nil {
			failNil("gru", "NewGRU")
		}
		return n.run(in[0], someState(in[1]), 1, gru, opts)
	})
	return out[0], out[1]
}

// The steps of a layer are one function on the tape: what its gradient needs lies in one
// array, and the gradient of its weights is one product over all steps.

// lstm is the cell of an LSTM. The result of the function is outputs, then memories,
// [2, steps, batch, hidden].
func lstm(steps *weft.Tensor, w cellWeights, state []*weft.Tensor) []*weft.Tensor {
	out := (&weft.Func{Name: "lstm", Forward: lstmForward, Backward: lstmBackward}).Apply(steps, w.hh, state[0], state[1])
	return []*weft.Tensor{out.Slice(weft.Index(0)), out.Slice(weft.Index(1))}
}

// projectedLSTM is the cell of an LSTM whose outputs are projected: recorded operations.
func projectedLSTM(steps *weft.Tensor, w cellWeights, state []*weft.Tensor) []*weft.Tensor {
	return lstmSteps(steps, w.hh, w.hr, state[0], state[1])
}

func lstmForward(f *weft.FuncContext, in ...*weft.Tensor) *weft.Tensor {
	steps, w, h, c := in[0], in[1], in[2].Contiguous(), in[3].Contiguous()
	n, batch, hidden := steps.Dim(0), steps.Dim(1), w.Dim(1)
	out, gates := unset(steps, 2, n, batch, hidden), unset(steps, n, 4*batch, hidden)
	wt := w.T()
	for t := range n {
		at := weft.Index(t)
		z := h.MatMul(wt)
		next, memory := out.Slice(weft.Index(0), at), out.Slice(weft.Index(1), at)
		lstmStep.Into(core.Inner([]*weft.Tensor{next, memory, gates.Slice(at)}), operands("lstm", steps.Slice(at), z, c))
		z.Release()
		h, c = next, memory
	}
	f.Save(steps, w, in[2], in[3], out, gates)
	return out
}

// unset returns uninitialised memory of the type of x; the steps write every element.
func unset(x *weft.Tensor, shape ...int) *weft.Tensor {
	return (*weft.Tensor)(core.Make((*core.Tensor)(x).View().Store.Device, x.DType(), shape))
}

// part returns part i of n equal parts of the columns of x.
func part(x *node, i, n int) *node {
	size := x.Shape[1] / n
	return op.Narrow(x, 1, i*size, size)
}

// Arguments: what the inputs give, what the outputs of the step before give, memory.
// Results: output, memory, the gates one below the other.
var lstmStep = core.NewFused("lstm", func(x []*node) []*node {
	// Parts are added rather than sums taken apart, which would have to lie in memory.
	z := func(i int) *node { return add(part(x[0], i, 4), part(x[1], i, 4)) }
	i, f, g, o := apply(op.Sigmoid, z(0)), apply(op.Sigmoid, z(1)), apply(op.Tanh, z(2)), apply(op.Sigmoid, z(3))
	c := add(mul(f, x[2]), mul(i, g))
	return []*node{mul(o, apply(op.Tanh, c)), c, op.Apply(op.Cat, op.Axis(0), i, f, g, o)}
})

// Arguments: gradients of the output, of the memory from outside, of the output and of
// the memory from the step behind, the gates, the memory and that of the step before.
// Results: gradients of the sums and of the memory before.
var lstmBack = core.NewFused("lstm_gradient", func(x []*node) []*node {
	dh, i, f, g, o := add(x[0], x[2]), x[4], x[5], x[6], x[7]
	c := apply(op.Tanh, x[8])
	dc := add(add(x[1], x[3]), mul(mul(dh, o), sub(oneLike(c), apply(op.Square, c))))
	sigmoid := func(dy, y *node) *node { return mul(dy, mul(y, sub(oneLike(y), y))) }
	z := op.Apply(op.Cat, op.Axis(1), sigmoid(mul(dc, g), i), sigmoid(mul(dc, x[9]), f), mul(mul(dc, i), sub(oneLike(g), apply(op.Square, g))), sigmoid(mul(dh, c), o))
	return []*node{z, mul(dc, f)}
})

func lstmBackward(f *weft.FuncContext, dout *weft.Tensor) []*weft.Tensor {
	w, h0, c0, out := f.Saved(1), f.Saved(2), f.Saved(3), f.Saved(4)
	if f.Create {
		return byParts(f, dout, lstmParts, f.Saved(0), w, h0, c0)
	}
	n, batch, hidden := out.Dim(1), out.Dim(2), out.Dim(3)
	gates := f.Saved(5).Reshape(n, 4, batch, hidden)
	d := w.DType()
	w = columns(w)
	dsteps := unset(w, n, batch, 4*hidden)
	dh, dc, dcBefore := w.Device().ZerosOf(d, batch, hidden), w.Device().ZerosOf(d, batch, hidden), unset(w, batch, hidden)
	for t := n - 1; t >= 0; t-- {
		at, before := weft.Index(t), c0
		if t > 0 {
			before = out.Slice(weft.Index(1), weft.Index(t-1))
		}
		args := append([]*weft.Tensor{dout.Slice(weft.Index(0), at), dout.Slice(weft.Index(1), at), dh, dc}, gates.Slice(at).Unbind(0)...)
		dz := dsteps.Slice(at)
		lstmBack.Into(core.Inner([]*weft.Tensor{dz, dcBefore}), operands("lstm_gradient", append(args, out.Slice(weft.Index(1), at), before)...))
		dc, dcBefore = dcBefore, dc
		dh.Release()
		dh = dz.MatMul(w)
	}
	return []*weft.Tensor{dsteps, recurrent(dsteps, h0, out.Slice(weft.Index(0))), dh, dc}
}

// columns returns w with its columns in memory one after the other, which a few rows are
// multiplied by without packing them anew each step.
func columns(w *weft.Tensor) *weft.Tensor { return w.T().Contiguous().T() }

// byParts returns the gradient computed by recorded operations: slower, and with derivatives of
// any order.
func byParts(f *weft.FuncContext, dout *weft.Tensor, compute func(in []*weft.Tensor) *weft.Tensor, in ...*weft.Tensor) []*weft.Tensor {
	var need []*weft.Tensor
	for i, x := range in {
		if f.Need[i] {
			need = append(need, x)
		}
	}
	some := weft.Grad(compute(in), need, weft.GradOpts{Create: true, Seeds: []*weft.Tensor{dout}})
	out := make([]*weft.Tensor, len(in))
	for i := range in {
		if f.Need[i] {
			out[i], some = some[0], some[1:]
		}
	}
	return out
}

func lstmParts(in []*weft.Tensor) *weft.Tensor {
	return weft.Stack(lstmSteps(in[0], in[1], nil, in[2], in[3]), 0)
}

// lstmSteps returns outputs and memories after each step by recorded operations; hr projects outputs
// unless it is nil.
func lstmSteps(steps, w, hr, h, c *weft.Tensor) []*weft.Tensor {
	var hs, cs []*weft.Tensor
	for _, x := range steps.Unbind(0) {
		z := x.Add(h.Linear(w, nil)).Chunk(1, 4)
		c = z[1].Sigmoid().Mul(c).Add(z[0].Sigmoid().Mul(z[2].Tanh()))
		h = z[3].Sigmoid().Mul(c.Tanh())
		if hr != nil {
			h = h.Linear(hr, nil)
		}
		hs, cs = append(hs, h), append(cs, c)
	}
	return []*weft.Tensor{weft.Stack(hs, 0), weft.Stack(cs, 0)}
}

func gruParts(in []*weft.Tensor) *weft.Tensor {
	steps, w, b, h := in[0], in[1], in[2], in[3]
	var hs []*weft.Tensor
	for _, x := range steps.Unbind(0) {
		x, m := x.Chunk(1, 3), h.Linear(w, b).Chunk(1, 3)
		z := x[1].Add(m[1]).Sigmoid()
		n := x[2].Add(x[0].Add(m[0]).Sigmoid().Mul(m[2])).Tanh()
		h = n.Add(z.Mul(h.Sub(n)))
		hs = append(hs, h)
	}
	return weft.Stack(hs, 0)
}

// recurrent is the gradient of the weights by which outputs count in the next step, whose
// sums have gradients dz [steps, batch, gates*hidden].
func recurrent(dz, h0, y *weft.Tensor) *weft.Tensor {
	n, hidden := y.Dim(0), y.Dim(2)
	before := h0.Unsqueeze(0)
	if n > 1 {
		before = weft.Cat([]*weft.Tensor{before, y.Slice(weft.Range(0, n-1))}, 0)
	}
	return dz.Reshape(-1, dz.Dim(2)).T().MatMul(before.Reshape(-1, hidden))
}

// gru is the cell of a GRU.
func gru(steps *weft.Tensor, w cellWeights, state []*weft.Tensor) []*weft.Tensor {
	b := w.b
	if b == nil {
		b = w.hh.Device().ZerosOf(w.hh.DType(), w.hh.Dim(0))
	}
	return []*weft.Tensor{(&weft.Func{Name: "gru", Forward: gruForward, Backward: gruBackward}).Apply(steps, w.hh, b, state[0])}
}

func gruForward(f *weft.FuncContext, in ...*weft.Tensor) *weft.Tensor {
	steps, w, b, h := in[0], in[1], in[2], in[3].Contiguous()
	n, batch, hidden := steps.Dim(0), steps.Dim(1), w.Dim(1)
	out, gates := unset(steps, n, batch, hidden), unset(steps, n, 4, batch, hidden)
	for t := range n {
		at := weft.Index(t)
		z := h.Linear(w, b)
		next := out.Slice(at)
		gruStep.Into(core.Inner(append([]*weft.Tensor{next}, gates.Slice(at).Unbind(0)...)), operands("gru", steps.Slice(at), z, h))
		z.Release()
		h = next
	}
	f.Save(steps, w, b, in[3], out, gates)
	return out
}

// Arguments: what the inputs give, what the outputs of the step before give, those.
// Results: output, the gates, the third part of what the outputs before give.
var gruStep = core.NewFused("gru", func(x []*node) []*node {
	r := apply(op.Sigmoid, add(part(x[0], 0, 3), part(x[1], 0, 3)))
	z := apply(op.Sigmoid, add(part(x[0], 1, 3), part(x[1], 1, 3)))
	m := part(x[1], 2, 3)
	n := apply(op.Tanh, add(part(x[0], 2, 3), mul(r, m)))
	return []*node{add(mul(sub(oneLike(z), z), n), mul(z, x[2])), r, z, n, m}
})

// Arguments: gradients of the output from outside and from the step behind, the gates,
// the third part of what the outputs before give, those. Results: gradients of what the
// inputs and what the outputs before give, and of the outputs before in the result.
var gruBack = core.NewFused("gru_gradient", func(x []*node) []*node {
	dh, r, z, n, m := add(x[0], x[1]), x[2], x[3], x[4], x[5]
	sigmoid := func(dy, y *node) *node { return mul(dy, mul(y, sub(oneLike(y), y))) }
	dn := mul(mul(dh, sub(oneLike(z), z)), sub(oneLike(n), apply(op.Square, n)))
	dr, dz := sigmoid(mul(dn, m), r), sigmoid(mul(dh, sub(x[6], n)), z)
	return []*node{op.Apply(op.Cat, op.Axis(1), dr, dz, dn), op.Apply(op.Cat, op.Axis(1), dr, dz, mul(dn, r)), mul(dh, z)}
})

func gruBackward(f *weft.FuncContext, dout *weft.Tensor) []*weft.Tensor {
	w, h0, out, gates := f.Saved(1), f.Saved(3), f.Saved(4), f.Saved(5)
	if f.Create {
		return byParts(f, dout, gruParts, f.Saved(0), w, f.Saved(2), h0)
	}
	n, batch, hidden := out.Dim(0), out.Dim(1), out.Dim(2)
	d := w.DType()
	w = columns(w)
	dsteps, dsums := unset(w, n, batch, 3*hidden), unset(w, n, batch, 3*hidden)
	dh := w.Device().ZerosOf(d, batch, hidden)
	for t := n - 1; t >= 0; t-- {
		at, before := weft.Index(t), h0
		if t > 0 {
			before = out.Slice(weft.Index(t - 1))
		}
		args := append([]*weft.Tensor{dout.Slice(at), dh}, gates.Slice(at).Unbind(0)...)
		direct, dz := unset(w, batch, hidden), dsums.Slice(at)
		gruBack.Into(core.Inner([]*weft.Tensor{dsteps.Slice(at), dz, direct}), operands("gru_gradient", append(args, before)...))
		dh.Release()
		dh = dz.MatMul(w).AddAssign(direct)
		direct.Release()
	}
	return []*weft.Tensor{dsteps, recurrent(dsums, h0, out), dsums.Sum(0, 1), dh}
}
