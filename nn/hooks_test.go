package nn_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"weft"
	"weft/nn"
)

// scale is a layer of a user with two arguments.
type scale struct{ By *weft.Tensor }

func (s *scale) Apply(x, y *weft.Tensor) *weft.Tensor {
	return nn.CallAll(s, []*weft.Tensor{x, y}, func(in []*weft.Tensor) []*weft.Tensor {
		return []*weft.Tensor{in[0].Mul(s.By).Add(in[1])}
	})[0]
}

// kept returns a hook that appends the first result of each call to a list.
func kept(list *[]*weft.Tensor) func(in, out []*weft.Tensor) []*weft.Tensor {
	return func(_, out []*weft.Tensor) []*weft.Tensor {
		*list = append(*list, out[0])
		return nil
	}
}

// Forward hooks see and replace what layers inside a module take and return, in order, until they are
// removed.
func TestForwardHooks(t *testing.T) {
	net := newTorchNet()
	x := weft.Rand(2, 2, 2, 3)
	plain := net.Forward(x)
	var block, place, attended, list []*weft.Tensor
	conv := net.Layer1[1].(*torchBlock).Conv1
	removes := []func(){
		nn.HookForward(conv, kept(&block)),
		nn.HookForward(&net.Layer1[0], kept(&place)), // of a user, without nn.Call
		nn.HookForward(net.SelfAttn, kept(&attended)),
		nn.HookForward(net.Layer1, kept(&list)),
	}
	if y := net.Forward(x); y.Eq(plain).All().ItemInt() != 1 {
		t.Errorf("hooks that return nil change the result")
	}
	if len(block) != 1 || len(place) != 1 || len(attended) != 1 || len(list) != 1 {
		t.Fatalf("hooks ran %d %d %d %d times, want once", len(block), len(place), len(attended), len(list))
	}
	if want := conv.Forward(place[0]); len(block) != 2 || block[0].Eq(want).All().ItemInt() != 1 {
		t.Errorf("the convolution gave %v, want %v", block[0], want)
	}
	for _, remove := range removes {
		remove()
		remove() // again
	}
	net.Forward(x)
	if len(block) != 2 || len(list) != 1 {
		t.Error("a removed hook ran")
	}

	remove := nn.HookForwardPre(net.FC, func(in []*weft.Tensor) []*weft.Tensor { return []*weft.Tensor{in[0].Mul(0)} })
	double := nn.HookForward(net.FC, func(_, out []*weft.Tensor) []*weft.Tensor { return []*weft.Tensor{out[0].Mul(2)} })
	more := nn.HookForward(net.FC, func(_, out []*weft.Tensor) []*weft.Tensor { return []*weft.Tensor{out[0].Add(1)} })
	want := net.FC.Bias.Mul(2).Add(1).ExpandAs(plain)
	if y := net.Forward(x); y.Eq(want).All().ItemInt() != 1 {
		t.Errorf("replaced: %v, want %v", y, want)
	}
	compiled := weft.Compile(net.Forward)
	if y, err := compiled.Call(x); err != nil || y.Eq(want).All().ItemInt() != 1 {
		t.Errorf("compiled: %v %v, want %v", y, err, want)
	}
	remove()
	double()
	more()
	if y := net.Forward(x); y.Eq(plain).All().ItemInt() != 1 {
		t.Error("removed hooks change the result")
	}
}

// Each of several goroutines sees the calls of its own model alone.
func TestHooksOfGoroutines(t *testing.T) {
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			net := nn.Sequential{nn.NewLinear(3, 3, nn.Opts{Weight: nn.Constant(float64(i))}), nn.Relu{}}
			var seen []*weft.Tensor
			remove := nn.HookForward(&net[1], kept(&seen))
			defer remove()
			for range 20 {
				net.Forward(weft.Ones(1, 3))
			}
			if len(seen) != 20 {
				t.Errorf("model %d: %d calls, want 20", i, len(seen))
			}
			for _, y := range seen {
				if got := y.Sub(net[0].(*nn.Linear).Bias.Add(float64(3 * i)).Relu()).Abs().Max().Item(); got > 1e-5 {
					t.Errorf("model %d: off by %v", i, got)
				}
			}
		})
	}
	wg.Wait()
}

// Backward hooks see the gradients that the chain rule gives for arguments and results of one call, and
// replace the former.
func TestBackwardHooks(t *testing.T) {
	l := &scale{nn.Param(weft.FromSlice([]float64{2, 3}))}
	x, y := nn.Param(weft.FromSlice([]float64{1, 1})), nn.Param(weft.FromSlice([]float64{4, 5}))
	var dIn, dOut [][]float64
	values := func(ts []*weft.Tensor) (list [][]float64) {
		for _, d := range ts {
			if list = append(list, nil); d != nil {
				list[len(list)-1] = weft.Data[float64](d)
			}
		}
		return list
	}
	remove := nn.HookBackward(l, func(in, out []*weft.Tensor) []*weft.Tensor {
		dIn, dOut = values(in), values(out)
		return nil
	})
	run := func() {
		x.SetGrad(nil)
		y.SetGrad(nil)
		l.By.SetGrad(nil)
		l.Apply(x, y).Add(x.Mul(100)).Square().Sum().Backward()
	}
	run()
	r := []float64{2 * (2 + 4 + 100), 2 * (3 + 5 + 100)}
	if want := [][]float64{r}; !slices.EqualFunc(dOut, want, slices.Equal) {
		t.Errorf("gradients of results %v, want %v", dOut, want)
	}
	if want := [][]float64{{2 * r[0], 3 * r[1]}, r}; !slices.EqualFunc(dIn, want, slices.Equal) {
		t.Errorf("gradients of arguments %v, want %v", dIn, want)
	}
	if got, want := weft.Data[float64](x.Grad()), []float64{102 * r[0], 103 * r[1]}; !slices.Equal(got, want) {
		t.Errorf("gradient of x %v, want %v", got, want)
	}
	zero := nn.HookBackward(l, func(in, _ []*weft.Tensor) []*weft.Tensor {
		return []*weft.Tensor{in[0].Mul(0), in[1]}
	})
	run()
	if got, want := weft.Data[float64](x.Grad()), []float64{100 * r[0], 100 * r[1]}; !slices.Equal(got, want) {
		t.Errorf("with a hook that replaces: gradient of x %v, want %v", got, want)
	}
	if got := weft.Data[float64](l.By.Grad()); !slices.Equal(got, r) {
		t.Errorf("with a hook that replaces: gradient of the parameter %v, want %v", got, r)
	}
	zero()
	x.RequireGrad(false)
	y.RequireGrad(false)
	dIn = nil
	l.Apply(x, y).Sum().Backward()
	if want := [][]float64{nil, nil}; !slices.EqualFunc(dIn, want, slices.Equal) || len(dOut) != 1 || dOut[0][1] != 1 {
		t.Errorf("arguments without gradients: %v %v", dIn, dOut)
	}
	remove()
	dOut = nil
	l.Apply(x, y).Sum().Backward()
	if dOut != nil {
		t.Error("a removed hook ran")
	}
}

func TestHooksRefuse(t *testing.T) {
	l := nn.NewLinear(2, 2)
	seq := nn.Sequential{nn.Relu{}}
	two := func(_, _ []*weft.Tensor) []*weft.Tensor { return make([]*weft.Tensor, 2) }
	relu := &nn.Relu{}
	pool := &nn.MaxPool2d{}
	for _, c := range []struct {
		op, arg string
		f       func()
	}{
		{"hookforward", "f", func() { nn.HookForward(l, nil) }},
		{"hookforwardpre", "f", func() { nn.HookForwardPre(l, nil) }},
		{"hookbackward", "f", func() { nn.HookBackward(l, nil) }},
		{"hookforward", "layer", func() { nn.HookForward(nil, two) }},
		{"hookforward", "layer", func() { nn.HookForward((*nn.Linear)(nil), two) }},
		{"hookforward", "layer", func() { nn.HookForward(relu, two) }},
		{"hookforward", "layer", func() { nn.HookForward(pool, two) }},
		{"hookforward", "layer", func() { nn.HookForward(nn.Relu{}, two) }},
		{"hookforward", "layer", func() { nn.HookForward(nn.Sequential{}, two) }},
		{"hookforward", "f", func() { defer nn.HookForward(l, two)(); l.Forward(weft.Ones(1, 2)) }},
		{"hookforward", "f", func() {
			defer nn.HookForward(&seq[0], func(_, _ []*weft.Tensor) []*weft.Tensor { return []*weft.Tensor{nil} })()
			seq.Forward(weft.Ones(1, 2))
		}},
	} {
		var e *weft.Error
		if err := weft.Try(c.f); !errors.As(err, &e) || e.Op != c.op || e.Arg != c.arg {
			t.Errorf("%v, want an error of %s: %s", err, c.op, c.arg)
		}
	}
}

// forest is a module of a user, whose layers lie in lists, maps and fields.
type forest struct {
	Layers []*tree
	Heads  map[string]nn.Sequential
	Pool   nn.MaxPool2d
	LSTM   *nn.LSTM
	Coder  *nn.TransformerEncoder
	Own    *ownLayer
}

type tree struct{ FC *nn.Linear }

// ownLayer fails by itself, in an operation of package weft.
type ownLayer struct{ Weight *weft.Tensor }

func (o *ownLayer) Forward(x *weft.Tensor) *weft.Tensor { return nn.Call(o, x, (*ownLayer).forward) }

func (o *ownLayer) forward(x *weft.Tensor) *weft.Tensor { return x.MatMul(o.Weight) }

func newForest() *forest {
	d := &forest{Heads: map[string]nn.Sequential{"a": {nn.Relu{}, nn.NewConv2d(1, 2, 3), nn.Glu{}, nn.Relu{}}},
		Pool: nn.MaxPool2d{Window: [2]int{2, 2}}, LSTM: nn.NewLSTM(2, 3), Own: &ownLayer{nn.Param(weft.Zeros(2, 2))},
		Coder: nn.NewTransformerEncoder(nn.NewTransformerEncoderLayer(4, 2), 2)}
	for range 4 {
		d.Layers = append(d.Layers, &tree{nn.NewLinear(2, 2)})
	}
	return d
}

// Errors of layers name their paths in the module whose parameters were asked for, or in the outermost
// layer that the call went through.
func TestErrorsNameThePath(t *testing.T) {
	d, other := newForest(), newForest()
	for range nn.Params(d) {
		break
	}
	seq := nn.Sequential{nn.Sequential{nn.NewLinear(2, 4), nn.Identity{}}, nn.Relu{}, nn.NewLinear(3, 2)}
	x := weft.Zeros(5, 3)
	for _, c := range []struct {
		want string
		f    func()
	}{
		{"layers.3.fc: linear: ", func() { d.Layers[3].FC.Forward(x) }},
		{"heads.a.1: conv2d: ", func() { d.Heads["a"].Forward(x) }},
		{"heads.a.2: glu: ", func() { d.Heads["a"][2:].Forward(x) }},
		{"pool: max_pool2d: ", func() { d.Pool.Forward(weft.Zeros(3)) }},
		{"lstm: lstm: x: ", func() { d.LSTM.Forward(x) }},
		{"coder.layers.1.self_attn: multihead_attention: ", func() { d.Coder.Layers[1].Forward(x) }},
		{"coder.layers.0.self_attn: multihead_attention: ", func() { d.Coder.Forward(x) }},
		{"own: matmul: ", func() { d.Own.Forward(x) }},
		{"linear: ", func() { other.Layers[0].FC.Forward(x) }}, // nobody asked for its parameters
		{"2: linear: ", func() { seq.Forward(weft.Zeros(1, 2)) }},
		{"0.0: linear: ", func() { seq.Forward(x) }},
		{"layers.0.fc: linear: ", func() {
			if _, err := weft.Compile(d.Layers[0].FC.Forward).Call(x); err != nil {
				panic(err)
			}
		}},
	} {
		var e *weft.Error
		err := weft.Try(c.f)
		if !errors.As(err, &e) || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("error %v, want %q", err, c.want)
		} else if path, _, _ := strings.Cut(c.want, ": "); e.Layer != path && e.Layer != "" {
			t.Errorf("layer %q, want %q", e.Layer, path)
		}
	}
}

func ExampleHookForward() {
	net := &Net{Conv: nn.NewConv2d(1, 4, 3), FC: nn.NewLinear(4*6*6, 10)}
	var features *weft.Tensor
	remove := nn.HookForward(net.Conv, func(in, out []*weft.Tensor) []*weft.Tensor {
		features = out[0]
		return nil
	})
	net.Forward(weft.Zeros(2, 1, 8, 8))
	remove()
	fmt.Println(features.Shape())
	// Output: [2 4 6 6]
}

func ExampleHookForwardPre() {
	net := nn.NewLinear(2, 1, nn.Opts{Weight: nn.Constant(1), NoBias: true})
	defer nn.HookForwardPre(net, func(in []*weft.Tensor) []*weft.Tensor { return []*weft.Tensor{in[0].Clamp(-1, 1)} })()
	fmt.Println(net.Forward(weft.FromSlice([]float32{5, -0.5}, 1, 2)))
	// Output: [[0.5]]
}

func ExampleHookBackward() {
	net := nn.NewLinear(2, 1, nn.Opts{Weight: nn.Constant(3), NoBias: true})
	defer nn.HookBackward(net, func(dIn, dOut []*weft.Tensor) []*weft.Tensor {
		fmt.Println(dIn[0], dOut[0])
		return nil
	})()
	net.Forward(weft.Ones(1, 2).RequireGrad()).Sum().Backward()
	// Output: [[3. 3.]] [[1.]]
}

// Gated is a layer of a user. Hooks, Summary and errors know it.
type Gated struct{ Value, Gate *nn.Linear }

func (g *Gated) Forward(x *weft.Tensor) *weft.Tensor { return nn.Call(g, x, (*Gated).forward) }

func (g *Gated) forward(x *weft.Tensor) *weft.Tensor {
	return g.Value.Forward(x).Mul(g.Gate.Forward(x).Sigmoid())
}

func ExampleCall() {
	net := &Gated{Value: nn.NewLinear(3, 2), Gate: nn.NewLinear(3, 2)}
	fmt.Print(nn.Summary(net, weft.Zeros(5, 3)))
	// Output:
	// layer        type           result  numbers  MACs
	// -------------------------------------------------
	// input                       [5 3]
	//              nn_test.Gated  [5 2]   0        0
	// value        nn.Linear      [5 2]   8        30
	// gate         nn.Linear      [5 2]   8        30
	// -------------------------------------------------
	// trained                             16
	// not trained                         0
	// all                                 16       60
}

func ExampleCallAll() {
	layer := &scale{weft.FromSlice([]float32{10})}
	defer nn.HookForward(layer, func(in, out []*weft.Tensor) []*weft.Tensor {
		fmt.Println(len(in), out[0])
		return nil
	})()
	layer.Apply(weft.Ones(1), weft.Ones(1))
	// Output: 2 [11.]
}
