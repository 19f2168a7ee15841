package nn_test

import (
	"math"
	"strings"
	"testing"

	"weft"
	"weft/nn"
)

// Values and gradients of the recurrent networks, cells and padded batches of testdata/recurrent.py
// are PyTorch's, of compiled functions too.
func TestRecurrentMatchesPyTorch(t *testing.T) { compareWithTorch(t, "recurrent", recurrentCases) }

func TestCompiledRecurrentMatchesPyTorch(t *testing.T) {
	compareCompiled(t, "recurrent", recurrentCases)
}

func recurrentCases(map[string]*weft.Tensor) map[string]torchCase {
	// Arguments that are missing are nil; padded batches have lengths behind the inputs.
	run := func(module any, padded bool, f func(x []*weft.Tensor, o nn.RunOpts) []*weft.Tensor) torchCase {
		return torchCase{module: module, tolerance: 24, f: func(x ...*weft.Tensor) []*weft.Tensor {
			var o nn.RunOpts
			if padded {
				o.Lengths = x[1]
				x = append(x[:1:1], x[2:]...)
			}
			return f(append(x[:len(x):len(x)], nil, nil), o)
		}}
	}
	rnn := func(n *nn.RNN, padded bool) torchCase {
		return run(n, padded, func(x []*weft.Tensor, o nn.RunOpts) []*weft.Tensor {
			y, h := n.Run(x[0], x[1], o)
			return []*weft.Tensor{y, h}
		})
	}
	lstm := func(n *nn.LSTM, padded bool) torchCase {
		return run(n, padded, func(x []*weft.Tensor, o nn.RunOpts) []*weft.Tensor {
			y, h, c := n.Run(x[0], x[1], x[2], o)
			return []*weft.Tensor{y, h, c}
		})
	}
	gru := func(n *nn.GRU, padded bool) torchCase {
		return run(n, padded, func(x []*weft.Tensor, o nn.RunOpts) []*weft.Tensor {
			y, h := n.Run(x[0], x[1], o)
			return []*weft.Tensor{y, h}
		})
	}
	cell := func(c interface {
		Step(x, h *weft.Tensor) *weft.Tensor
	}) torchCase {
		return run(c, false, func(x []*weft.Tensor, _ nn.RunOpts) []*weft.Tensor { return []*weft.Tensor{c.Step(x[0], x[1])} })
	}
	memoryCell := func(c *nn.LSTMCell) torchCase {
		return run(c, false, func(x []*weft.Tensor, _ nn.RunOpts) []*weft.Tensor {
			h, m := c.Step(x[0], x[1], x[2])
			return []*weft.Tensor{h, m}
		})
	}
	relu, reluCell := nn.NewRNN(5, 4, nn.RNNOpts{NoBias: true}), nn.NewRNNCell(5, 4, nn.Opts{NoBias: true})
	relu.Relu, reluCell.Relu = true, true
	return map[string]torchCase{
		"rnn":                   rnn(nn.NewRNN(5, 4), false),
		"rnn relu":              rnn(relu, false),
		"rnn deep":              rnn(nn.NewRNN(5, 4, nn.RNNOpts{Layers: new(2), Bidirectional: true, BatchFirst: true}), false),
		"lstm projected":        lstm(nn.NewLSTM(5, 4, nn.RNNOpts{Projection: 3}), false),
		"lstm projected deep":   lstm(nn.NewLSTM(5, 4, nn.RNNOpts{Layers: new(2), Bidirectional: true, Projection: 2, NoBias: true}), false),
		"rnn padded":            rnn(nn.NewRNN(3, 2, nn.RNNOpts{Bidirectional: true}), true),
		"lstm padded":           lstm(nn.NewLSTM(3, 4), true),
		"lstm padded deep":      lstm(nn.NewLSTM(3, 2, nn.RNNOpts{Layers: new(2), Bidirectional: true, BatchFirst: true}), true),
		"lstm padded projected": lstm(nn.NewLSTM(3, 4, nn.RNNOpts{Bidirectional: true, Projection: 2}), true),
		"gru padded":            gru(nn.NewGRU(3, 2, nn.RNNOpts{Layers: new(2), Bidirectional: true}), true),
		"gru padded first":      gru(nn.NewGRU(3, 2, nn.RNNOpts{BatchFirst: true}), true),
		"rnn cell":              cell(nn.NewRNNCell(5, 4)),
		"rnn cell relu":         cell(reluCell),
		"gru cell":              cell(nn.NewGRUCell(5, 4)),
		"gru cell alone":        cell(nn.NewGRUCell(5, 4, nn.Opts{NoBias: true})),
		"lstm cell":             memoryCell(nn.NewLSTMCell(5, 4)),
		"lstm cell alone":       memoryCell(nn.NewLSTMCell(5, 4, nn.Opts{NoBias: true})),
	}
}

// What stands behind the end of a sequence changes no result, not even if it is NaN.
func TestRecurrentIgnoresPadding(t *testing.T) {
	g := weft.NewGenerator(1)
	n := nn.NewGRU(2, 3, nn.RNNOpts{Bidirectional: true, Generator: g})
	x := g.Randn(3, 2, 2)
	o := nn.RunOpts{Lengths: weft.FromSlice([]int32{2, 3})}
	y, h := n.Run(x, nil, o)
	far := x.Clone()
	far.Slice(weft.Index(2), weft.Index(0)).Fill(math.NaN())
	far.RequireGrad()
	y2, h2 := n.Run(far, nil, o)
	if weft.Digest(y, h) != weft.Digest(y2.Detach(), h2.Detach()) {
		t.Error("padding changes results")
	}
	y2.Sum().Add(h2.Sum()).Backward()
	if d := far.Grad().Slice(weft.Index(2), weft.Index(0)).Abs().Max().Item(); d != 0 {
		t.Errorf("the gradient of padding is %v", d)
	}
}

func TestRecurrentMisuse(t *testing.T) {
	x := weft.Zeros(3, 2, 4)
	lengths := func(l *weft.Tensor) func() {
		return func() {
			y, _ := nn.NewGRU(4, 2).Run(x, nil, nn.RunOpts{Lengths: l})
			weft.Data[float32](y) // waits for devices that work late
		}
	}
	for _, c := range []struct {
		want string
		f    func()
	}{
		{"gru: Lengths: are int64[3], want integers [2]", lengths(weft.FromSlice([]int64{1, 2, 3}))},
		{"gru: Lengths: are float32[2], want integers [2]", lengths(weft.Zeros(2))},
		{"gru: Lengths: have 4, want 1 to the steps of x", lengths(weft.FromSlice([]int64{1, 4}))},
		{"gru: Lengths: have 0, want 1 to the steps of x", lengths(weft.FromSlice([]int64{0, 3}))},
		{"gru: Projection: is 1, want", func() { nn.NewGRU(4, 2, nn.RNNOpts{Projection: 1}) }},
		{"rnn: Projection: is 1, want", func() { nn.NewRNN(4, 2, nn.RNNOpts{Projection: 1}) }},
		{"lstm: Projection: is 2, want 0 to 1", func() { nn.NewLSTM(4, 2, nn.RNNOpts{Projection: 2}) }},
		{"lstm: state: 0 is not float32[1 2 1]", func() { nn.NewLSTM(4, 2, nn.RNNOpts{Projection: 1}).Run(x, weft.Zeros(1, 2, 2), weft.Zeros(1, 2, 2)) }},
		{"rnn_cell: x: has shape [3 2 4], want [batch in] or [in]", func() { nn.NewRNNCell(4, 2).Step(x, nil) }},
		{"lstm_cell: c: is not float32[3 2]", func() { nn.NewLSTMCell(4, 2).Step(weft.Zeros(3, 4), weft.Zeros(3, 2), nil) }},
		{"gru_cell: h: is not float32[2]", func() { nn.NewGRUCell(4, 2).Step(weft.Zeros(4), weft.Zeros(1, 2)) }},
		{"gru_cell: has 0 inputs", func() { nn.NewGRUCell(0, 2) }},
	} {
		if err := weft.Try(c.f); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}
