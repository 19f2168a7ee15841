package nn

import (
	"math"

	"weft"
	"weft/internal/array"
)

// RNN is a recurrent network (Elman, Finding structure in time, 1990). With x the input and h the
// output of the step before:
//
//	h' = tanh(W_ih x + b_ih + W_hh h + b_hh)
//
// Its fields are as in [LSTM], with hidden rows of weights and biases, and without a projection.
type RNN struct {
	rnn  `nn:""`
	Relu bool // max(z, 0) in place of tanh(z)
}

// NewRNN returns a network of float32 parameters.
func NewRNN(in, hidden int, opts ...RNNOpts) *RNN {
	return &RNN{rnn: newRNN("rnn", 1, in, hidden, opts)}
}

// Forward maps [steps, batch, in] to [steps, batch, hidden], both ways side by side if
// there are two, beginning with zeros. All is computed in the type in which x and the
// parameters meet.
func (n *RNN) Forward(x *weft.Tensor) *weft.Tensor {
	y, _ := n.Run(x, nil)
	return y
}

// Run is Forward that begins with outputs h, [layers*ways, batch, hidden], zeros if nil,
// and also returns the last ones.
func (n *RNN) Run(x, h *weft.Tensor, opts ...RunOpts) (y, hEnd *weft.Tensor) {
	out := CallAll(n, []*weft.Tensor{x, h}, func(in []*weft.Tensor) []*weft.Tensor {
		if n == nil || n.Params == nil {
			failNil("rnn", "NewRNN")
		}
		return n.run(in[0], someState(in[1]), 1, elman(n.Relu), opts)
	})
	return out[0], out[1]
}

// elman is the cell of an RNN: recorded operations.
func elman(relu bool) cell {
	return func(steps *weft.Tensor, w cellWeights, state []*weft.Tensor) []*weft.Tensor {
		h := state[0]
		var hs []*weft.Tensor
		for _, x := range steps.Unbind(0) {
			if h = x.Add(h.Linear(w.hh, nil)); relu {
				h = h.Relu()
			} else {
				h = h.Tanh()
			}
			hs = append(hs, h)
		}
		return []*weft.Tensor{weft.Stack(hs, 0)}
	}
}

// cellParams are the parameters of one step.
type cellParams struct {
	WeightIH *weft.Tensor // [gates*hidden, in]
	WeightHH *weft.Tensor // [gates*hidden, hidden]
	BiasIH   *weft.Tensor // [gates*hidden], nil for none, as BiasHH
	BiasHH   *weft.Tensor
}

func newCell(name string, gates, in, hidden int, opts []Opts) (p cellParams) {
	defer array.Named(name).End()
	o := array.Options(name, opts)
	if in < 1 || hidden < 1 {
		array.Failf(name, "", "has %d inputs and %d hidden units: want 1 or more", in, hidden)
	}
	bound := 1 / math.Sqrt(float64(hidden))
	if o.Weight == nil {
		o.Weight = Uniform(-bound, bound)
	}
	if o.Bias == nil {
		o.Bias = Uniform(-bound, bound)
	}
	p.WeightIH, p.WeightHH = o.weight(gates*hidden, in), o.weight(gates*hidden, hidden)
	p.BiasIH, p.BiasHH = o.bias(gates*hidden, p.WeightIH), o.bias(gates*hidden, p.WeightHH)
	return p
}

// step takes one step of a network of one layer: x is [batch, in] or [in], parts of state have
// hidden in place of in.
func (p *cellParams) step(name string, gates int, c cell, x *weft.Tensor, state []*weft.Tensor, keeps int) []*weft.Tensor {
	defer array.Named(name).End()
	if p.WeightIH == nil || p.WeightHH == nil || p.WeightHH.Rank() != 2 {
		array.Failf(name, "WeightHH", "is not [%d*hidden hidden]", gates)
	}
	if x == nil {
		array.Failf(name, "x", "is nil")
	}
	if x.Rank() != 1 && x.Rank() != 2 {
		array.Failf(name, "x", "has shape %s, want [batch in] or [in]", array.ShapeString(x.Shape()))
	}
	alone := x.Rank() == 1
	if alone {
		x = x.Unsqueeze(0)
	}
	r := rnn{Params: map[string]*weft.Tensor{"weight_ih_l0": p.WeightIH, "weight_hh_l0": p.WeightHH}, Hidden: p.WeightHH.Dim(1), Layers: 1, name: name, gates: gates}
	if p.BiasIH != nil {
		r.Params["bias_ih_l0"] = p.BiasIH
	}
	if p.BiasHH != nil {
		r.Params["bias_hh_l0"] = p.BiasHH
	}
	var begin []*weft.Tensor
	for i, s := range state {
		want := []int{x.Dim(0), r.Hidden}
		if alone {
			want = want[1:]
		}
		if s == nil || !array.Equal(sizes(s), want) {
			array.Failf(name, []string{"h", "c"}[i], "is not %s", array.TypeString(x.DType(), want))
		}
		begin = append(begin, s.Reshape(1, x.Dim(0), r.Hidden))
	}
	end := r.run(x.Unsqueeze(0), begin, keeps, c, nil)[1:]
	for i, s := range end {
		if s = s.Squeeze(0); alone {
			s = s.Squeeze(0)
		}
		end[i] = own(s)
	}
	return end
}

// RNNCell is one step of an [RNN] of one layer. Its fields are WeightIH [hidden, in], WeightHH
// [hidden, hidden], and BiasIH and BiasHH, [hidden] or nil.
type RNNCell struct {
	cellParams `nn:""`
	Relu       bool // max(z, 0) in place of tanh(z)
}

// NewRNNCell returns a cell of float32 parameters, all drawn between -1/sqrt(hidden) and
// 1/sqrt(hidden) unless opts say otherwise.
func NewRNNCell(in, hidden int, opts ...Opts) *RNNCell {
	return &RNNCell{cellParams: newCell("rnn_cell", 1, in, hidden, opts)}
}

// Step maps inputs x, [batch, in] or [in], and the outputs h of the step before, [batch, hidden] or
// [hidden] and zeros if nil, to the outputs.
func (c *RNNCell) Step(x, h *weft.Tensor) *weft.Tensor {
	return CallAll(c, []*weft.Tensor{x, h}, func(in []*weft.Tensor) []*weft.Tensor {
		if c == nil {
			failNil("rnn_cell", "NewRNNCell")
		}
		return c.step("rnn_cell", 1, elman(c.Relu), in[0], someState(in[1]), 1)
	})[0]
}

// LSTMCell is one step of an [LSTM] of one layer. Its fields are WeightIH [4*hidden, in], WeightHH
// [4*hidden, hidden], and BiasIH and BiasHH, [4*hidden] or nil.
type LSTMCell struct {
	cellParams `nn:""`
}

// NewLSTMCell returns a cell of float32 parameters, all drawn between -1/sqrt(hidden) and
// 1/sqrt(hidden) unless opts say otherwise.
func NewLSTMCell(in, hidden int, opts ...Opts) *LSTMCell {
	return &LSTMCell{newCell("lstm_cell", 4, in, hidden, opts)}
}

// Step maps inputs x, [batch, in] or [in], and outputs h and memories c of the step before, [batch,
// hidden] or [hidden] and zeros if both are nil, to outputs and memories.
func (l *LSTMCell) Step(x, h, c *weft.Tensor) (hNext, cNext *weft.Tensor) {
	end := CallAll(l, []*weft.Tensor{x, h, c}, func(in []*weft.Tensor) []*weft.Tensor {
		if l == nil {
			failNil("lstm_cell", "NewLSTMCell")
		}
		return l.step("lstm_cell", 4, lstm, in[0], someState(in[1:]...), 2)
	})
	return end[0], end[1]
}

// GRUCell is one step of a [GRU] of one layer. Its fields are WeightIH [3*hidden, in], WeightHH
// [3*hidden, hidden], and BiasIH and BiasHH, [3*hidden] or nil.
type GRUCell struct {
	cellParams `nn:""`
}

// NewGRUCell returns a cell of float32 parameters, all drawn between -1/sqrt(hidden) and
// 1/sqrt(hidden) unless opts say otherwise.
func NewGRUCell(in, hidden int, opts ...Opts) *GRUCell {
	return &GRUCell{newCell("gru_cell", 3, in, hidden, opts)}
}

// Step maps inputs x, [batch, in] or [in], and the outputs h of the step before, [batch, hidden] or
// [hidden] and zeros if nil, to the outputs.
func (c *GRUCell) Step(x, h *weft.Tensor) *weft.Tensor {
	return CallAll(c, []*weft.Tensor{x, h}, func(in []*weft.Tensor) []*weft.Tensor {
		if c == nil {
			failNil("gru_cell", "NewGRUCell")
		}
		return c.step("gru_cell", 3, gru, in[0], someState(in[1]), 1)
	})[0]
}

// someState returns the parts of a state, or nil if all are nil.
func someState(parts ...*weft.Tensor) []*weft.Tensor {
	for _, p := range parts {
		if p != nil {
			return parts
		}
	}
	return nil
}
