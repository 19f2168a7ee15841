package onnx

import (
	"weft"
)

// Recurrent layers: RNN, GRU and LSTM.
var recurrentOperators = []operator{
	{name: "GRU", run: recurrent(3, 1, []string{"Sigmoid", "Tanh"}, gruCell)},
	{name: "LSTM", run: recurrent(4, 2, []string{"Sigmoid", "Tanh", "Tanh"}, lstmCell)},
	{name: "RNN", run: recurrent(1, 1, []string{"Tanh"}, rnnCell)},
}

// A recurrentDirection is a recurrent layer in one direction.
type recurrentDirection struct {
	r     *weft.Tensor   // [gates*hidden, hidden]
	rb    *weft.Tensor   // [gates*hidden], 0 if it is not given
	peep  []*weft.Tensor // of an LSTM: input, output, forget; nil for none
	f     []func(x *weft.Tensor) *weft.Tensor
	parts []int // hidden for each gate

	linear bool // of a GRU: the reset gate is after the product
	couple bool // of an LSTM: the forget gate is 1 less the input gate
}

// part is gate i of all gates, the last axis.
func (w *recurrentDirection) part(x *weft.Tensor, i int) *weft.Tensor {
	n := w.parts[0]
	return x.Slice(weft.Ellipsis, weft.Range(i*n, (i+1)*n))
}

// A cell is one step: in are the input's products for all gates, with their bias.
type cell func(w *recurrentDirection, in *weft.Tensor, state []*weft.Tensor) []*weft.Tensor

func rnnCell(w *recurrentDirection, in *weft.Tensor, state []*weft.Tensor) []*weft.Tensor {
	return []*weft.Tensor{w.f[0](in.Add(state[0].MatMul(w.r.T())).Add(w.rb))}
}

// gruCell has the gates update, reset and hidden.
func gruCell(w *recurrentDirection, in *weft.Tensor, state []*weft.Tensor) []*weft.Tensor {
	h, n := state[0], w.parts[0]
	first := weft.Range(0, 2*n)
	rest := weft.Range(2*n, 3*n)
	both := w.f[0](in.Slice(weft.All, first).Add(h.MatMul(w.r.Slice(first).T())).Add(w.rb.Slice(first)))
	z, r := w.part(both, 0), w.part(both, 1)
	rh, rb := w.r.Slice(rest).T(), w.rb.Slice(rest)
	var inner *weft.Tensor
	if w.linear {
		inner = r.Mul(h.MatMul(rh).Add(rb))
	} else {
		inner = r.Mul(h).MatMul(rh).Add(rb)
	}
	g := w.f[1](in.Slice(weft.All, rest).Add(inner))
	return []*weft.Tensor{z.RSub(1).Mul(g).Add(z.Mul(h))}
}

// lstmCell has the gates input, output, forget and cell.
func lstmCell(w *recurrentDirection, in *weft.Tensor, state []*weft.Tensor) []*weft.Tensor {
	all := in.Add(state[0].MatMul(w.r.T())).Add(w.rb)
	i, o, f, g := w.part(all, 0), w.part(all, 1), w.part(all, 2), w.f[1](w.part(all, 3))
	c := state[1]
	if w.peep != nil {
		i, f = i.Add(w.peep[0].Mul(c)), f.Add(w.peep[2].Mul(c))
	}
	i = w.f[0](i)
	if w.couple {
		f = i.RSub(1)
	} else {
		f = w.f[0](f)
	}
	c = f.Mul(c).Add(i.Mul(g))
	if w.peep != nil {
		o = o.Add(w.peep[1].Mul(c))
	}
	return []*weft.Tensor{w.f[0](o).Mul(w.f[2](c)), c}
}

// recurrent is a layer of a cell whose state has parts. Its outputs are the first one.
func recurrent(gates, states int, names []string, step cell) func(c *call) []Value {
	return func(c *call) []Value {
		x, w, r, b, lengths := c.tensor(0), c.tensor(1), c.tensor(2), c.optional(3), c.optional(4)
		d := x.DType()
		batchFirst := c.attrBool("layout", false)
		c.attrInt("output_sequence", 0)
		if x.Rank() != 3 || w.Rank() != 3 || r.Rank() != 3 {
			c.fail("the input and the weights have %d, %d and %d axes: want 3", x.Rank(), w.Rank(), r.Rank())
		}
		swap := func(t *weft.Tensor) *weft.Tensor {
			if batchFirst {
				return t.Transpose(0, 1)
			}
			return t
		}
		x = swap(wide(x))
		steps, batch, hidden := x.Dim(0), x.Dim(1), c.attrInt("hidden_size", r.Dim(2))
		direction := c.attrString("direction", "forward")
		directions := map[string]int{"forward": 1, "reverse": 1, "bidirectional": 2}[direction]
		if directions == 0 {
			c.fail("attribute %q is %q", "direction", direction)
		}
		fits := func(t *weft.Tensor, shape ...int) *weft.Tensor {
			if t != nil && !same(t.Shape(), shape) {
				c.fail("an input has the shape %v: want %v", t.Shape(), shape)
			}
			return t
		}
		fits(w, directions, gates*hidden, x.Dim(2))
		fits(r, directions, gates*hidden, hidden)
		fits(b, directions, 2*gates*hidden)
		fits(lengths, batch)
		init := make([]*weft.Tensor, states)
		for i := range init {
			if init[i] = c.optional(5 + i); init[i] == nil {
				init[i] = x.Device().ZerosOf(x.DType(), directions, batch, hidden)
			} else {
				init[i] = fits(swap(wide(init[i])), directions, batch, hidden)
			}
		}
		var peep *weft.Tensor
		if states == 2 {
			peep = fits(c.optional(7), directions, 3*hidden)
		}
		functions := c.activations(names, directions)
		l := recurrentDirection{parts: []int{hidden}}
		switch gates {
		case 3:
			l.linear = c.attrBool("linear_before_reset", false)
		case 4:
			l.couple = c.attrBool("input_forget", false)
		}
		outs, ends := make([]*weft.Tensor, directions), make([][]*weft.Tensor, states)
		for k := range directions {
			l.r, l.f = wide(r).At(k), functions[k]
			in := x
			back := k == 1 || direction == "reverse"
			if back {
				in = reversed(in, lengths)
			}
			in = in.Reshape(steps*batch, x.Dim(2)).MatMul(wide(w).At(k).T()).Reshape(steps, batch, gates*hidden)
			l.rb = x.Device().ZerosOf(x.DType(), gates*hidden)
			if b != nil {
				row := wide(b).At(k)
				in, l.rb = in.Add(row.Slice(weft.Range(0, gates*hidden))), row.Slice(weft.Range(gates*hidden, 2*gates*hidden))
			}
			if peep != nil {
				l.peep = wide(peep).At(k).Split(0, hidden, hidden, hidden)
			}
			begin := make([]*weft.Tensor, states)
			for i := range begin {
				begin[i] = init[i].At(k)
			}
			y, last := l.run(step, in, lengths, begin)
			if back {
				y = reversed(y, lengths)
			}
			outs[k] = y
			for i := range ends {
				ends[i] = append(ends[i], last[i])
			}
		}
		y := weft.Stack(outs, 1)
		if batchFirst {
			y = y.Permute(2, 0, 1, 3)
		}
		out := []*weft.Tensor{y.To(d)}
		for _, e := range ends {
			out = append(out, swap(weft.Stack(e, 0)).To(d))
		}
		return tensors(out...)
	}
}

// run runs the steps of one direction: outputs [steps batch hidden] and the last state. What is behind the end of a
// sequence is 0 in the outputs, and does not count in the state.
func (w recurrentDirection) run(step cell, in, lengths *weft.Tensor, begin []*weft.Tensor) (y *weft.Tensor, last []*weft.Tensor) {
	steps := in.Dim(0)
	if steps == 0 {
		return in.Device().ZerosOf(in.DType(), 0, in.Dim(1), w.parts[0]), begin
	}
	last, outs := weft.ScanSteps(steps, func(i *weft.Tensor, state []*weft.Tensor) (next, out []*weft.Tensor) {
		next = step(&w, in.IndexSelect(0, i.Reshape(1)).Squeeze(0), state)
		h := next[0]
		if lengths != nil {
			on := lengths.To(weft.Int64).Gt(i).Unsqueeze(1)
			h = weft.Where(on, h, 0)
			for j := range next {
				next[j] = weft.Where(on, next[j], state[j])
			}
		}
		return next, []*weft.Tensor{h}
	}, begin)
	return outs[0], last
}

// reversed has the steps of each sequence of x [steps batch ...] in reverse order.
func reversed(x, lengths *weft.Tensor) *weft.Tensor {
	if lengths == nil {
		return x.Flip(0)
	}
	at := x.Device().ArangeOf(weft.Int64, x.Dim(0)).Unsqueeze(1)
	n := lengths.To(weft.Int64).Unsqueeze(0)
	index := weft.Where(at.Lt(n), n.Sub(1).Sub(at), at)
	return x.TakeAlongAxis(0, index.Unsqueeze(2))
}

// activations are the functions of each direction by name, with the numbers of those that have some. They clip what
// they are given, but for that of an LSTM's cell, as ONNX Runtime does.
func (c *call) activations(defaults []string, directions int) [][]func(x *weft.Tensor) *weft.Tensor {
	names := c.attrStrings("activations")
	if names == nil {
		for range directions {
			names = append(names, defaults...)
		}
	}
	if len(names) < directions*len(defaults) {
		c.fail("attribute %q has %d names: want %d", "activations", len(names), directions*len(defaults))
	}
	alphas, betas := c.attrFloats("activation_alpha"), c.attrFloats("activation_beta")
	next := func(list *[]float32, def float64) float64 {
		if len(*list) == 0 {
			return def
		}
		v := (*list)[0]
		*list = (*list)[1:]
		return float64(v)
	}
	clip := c.attrFloat("clip", 0)
	out := make([][]func(x *weft.Tensor) *weft.Tensor, directions)
	for i, name := range names[:directions*len(defaults)] {
		var f func(x *weft.Tensor) *weft.Tensor
		switch name {
		case "Relu":
			f = (*weft.Tensor).Relu
		case "Tanh":
			f = (*weft.Tensor).Tanh
		case "Sigmoid":
			f = (*weft.Tensor).Sigmoid
		case "Softsign":
			f = func(x *weft.Tensor) *weft.Tensor { return x.Div(x.Abs().Add(1)) }
		case "Softplus":
			f = (*weft.Tensor).Softplus
		case "LeakyRelu":
			alpha := next(&alphas, 0.01)
			f = func(x *weft.Tensor) *weft.Tensor { return leakyReluOf(x, alpha) }
		case "ThresholdedRelu":
			alpha := next(&alphas, 1)
			f = func(x *weft.Tensor) *weft.Tensor { return thresholdedReluOf(x, alpha) }
		case "Elu":
			alpha := next(&alphas, 1)
			f = func(x *weft.Tensor) *weft.Tensor { return eluOf(x, alpha) }
		case "Affine":
			alpha, beta := next(&alphas, 1), next(&betas, 0)
			f = func(x *weft.Tensor) *weft.Tensor { return x.Mul(alpha).Add(beta) }
		case "ScaledTanh":
			alpha, beta := next(&alphas, 1), next(&betas, 1)
			f = func(x *weft.Tensor) *weft.Tensor { return x.Mul(beta).Tanh().Mul(alpha) }
		case "HardSigmoid":
			alpha, beta := next(&alphas, 0.2), next(&betas, 0.5)
			f = func(x *weft.Tensor) *weft.Tensor { return hardSigmoidOf(x, alpha, beta) }
		default:
			c.fail("activation %q is not one of ONNX's", name)
		}
		if clip > 0 && i%len(defaults) < 2 {
			plain := f
			f = func(x *weft.Tensor) *weft.Tensor { return plain(x.Clamp(-clip, clip)) }
		}
		out[i/len(defaults)] = append(out[i/len(defaults)], f)
	}
	return out
}
