package nn_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"weft"
	"weft/nn"
	"weft/optim"
)

type tied struct {
	In, Out *weft.Tensor // the same
	Layers  []nn.Layer
	Named   map[string]*nn.Linear
	Self    *tied
	Any     any
	Numbers []int
	Nil     *nn.Linear
	Norm    *nn.BatchNorm1d
	hidden  int
}

// A copy has the values and the shape of what it is of, and memory of its own.
func TestCopy(t *testing.T) {
	m := &tied{In: nn.Param(weft.Ones(2)), Numbers: []int{1, 2}, hidden: 3, Norm: nn.NewBatchNorm1d(2),
		Layers: []nn.Layer{nn.NewLinear(2, 2), &nn.Dropout{P: 0.5, Generator: weft.NewGenerator(1)}, nn.Relu{}},
		Named:  map[string]*nn.Linear{"a": nn.NewLinear(1, 1)}, Any: nn.NewEmbedding(3, 2, nn.EmbeddingOpts{Sparse: true})}
	m.Out, m.Self = m.In, m
	m.Any.(*nn.Embedding).Weight.SparseGrad()
	m.In.Square().Sum().Backward()
	nn.Eval(m)
	nn.Freeze(m.Named)
	c := nn.Copy(m)
	if c == m || c.Self != c || c.In != c.Out || c.In == m.In || c.In.Grad() != nil || !c.In.IsLeaf() || !c.In.RequiresGrad() {
		t.Fatalf("%+v", c)
	}
	if c.hidden != 3 || !slices.Equal(c.Numbers, m.Numbers) || c.Layers[2] != m.Layers[2] || c.Layers[1].(*nn.Dropout).Generator != m.Layers[1].(*nn.Dropout).Generator {
		t.Errorf("%+v", c)
	}
	if c.Named["a"].Weight.RequiresGrad() || !c.Layers[0].(*nn.Linear).Weight.RequiresGrad() {
		t.Error("what was frozen is not, or the other way round")
	}
	x := weft.Ones(4)
	if !slices.Equal(weft.Data[float32](c.Layers[1].Forward(x)), weft.Data[float32](x)) {
		t.Error("the copy is in training, what it is of is not")
	}
	if e := c.Any.(*nn.Embedding); true {
		e.Forward(weft.FromSlice([]int64{1})).Sum().Backward()
		if !weft.BorrowRows(e.Weight, func(p, v *weft.Tensor) {}) {
			t.Error("the gradient is not kept as rows")
		}
	}
	a, b := nn.State(m), nn.State(c)
	if len(a) != len(b) {
		t.Fatalf("%d tensors, want %d", len(b), len(a))
	}
	for name, x := range a {
		if b[name] == nil || !slices.Equal(weft.Data[float32](x.To(weft.Float32)), weft.Data[float32](b[name].To(weft.Float32))) {
			t.Errorf("%s: other values", name)
			continue
		}
		b[name].Detach().Fill(9)
		if x.Eq(9).Any().ItemInt() != 0 {
			t.Errorf("%s: the same memory", name)
		}
	}
	m.Numbers[0] = 7
	if c.Numbers[0] != 1 {
		t.Error("numbers are shared")
	}
	if nn.Copy[any](nil) != nil || nn.Copy[*tied](nil) != nil || nn.Copy(5) != 5 {
		t.Error("nothing and numbers are not copied as they are")
	}
	if s := nn.Copy(nn.Sequential{nn.NewLinear(1, 1)}); len(s) != 1 || s[0] == nil {
		t.Errorf("%v", s)
	}
}

// What is frozen is no parameter, gets no gradient and is left alone by optimizers that
// had it; what never was one does not become one.
func TestFreeze(t *testing.T) {
	l, b := nn.NewLinear(3, 2), nn.NewBatchNorm1d(2)
	m := []any{l, b}
	opt := optim.NewSGD(nn.Params(m), optim.SGDOpts{LR: new(0.1), Momentum: 0.9})
	step := func() {
		opt.ZeroGrad()
		b.Forward(l.Forward(weft.Randn(5, 3))).Square().Sum().Add(l.Bias.Sum()).Backward()
		opt.Step()
	}
	step()
	nn.Freeze(l)
	before := weft.Data[float32](l.Weight)
	if l.Weight.Grad() != nil || l.Weight.RequiresGrad() || !l.Weight.IsLeaf() {
		t.Error("not frozen")
	}
	step()
	if !slices.Equal(weft.Data[float32](l.Weight), before) || l.Weight.Grad() != nil {
		t.Error("a frozen parameter was trained")
	}
	var names []string
	for name := range nn.Params(m) {
		names = append(names, name)
	}
	if !slices.Equal(names, []string{"1.weight", "1.bias"}) || len(nn.State(m)) != 7 {
		t.Errorf("parameters %q", names)
	}
	l.Weight.Zero() // as any other tensor
	nn.Unfreeze(m)
	if !l.Weight.RequiresGrad() || b.RunningMean.RequiresGrad() {
		t.Error("not as before")
	}
	step()
	if slices.Equal(weft.Data[float32](l.Weight), make([]float32, 6)) {
		t.Error("not trained again")
	}
	// Written to with a history, a frozen leaf is no leaf any more.
	w := nn.Param(weft.Ones(2))
	w.RequireGrad(false)
	w.Assign(l.Bias.Mul(2))
	if w.IsLeaf() || !w.RequiresGrad() {
		t.Error("what was computed is a leaf")
	}
	l.Weight.RequireGrad(false)
	if l.Weight.RequireGrad(); !l.Weight.RequiresGrad() {
		t.Error("RequireGrad leaves it frozen")
	}
}

func TestSummary(t *testing.T) {
	g := nn.NewGRU(2, 3)
	s := nn.Summary(map[string]any{"net": nn.Sequential{g, nn.Relu{}, nn.NewBatchNorm2d(4)}, "free": weft.Zeros(5)})
	for _, want := range []string{"net.0 ", "nn.GRU", "bias_hh_l0 [9], bias_ih_l0 [9], weight_hh_l0 [9 3], weight_ih_l0 [9 2] ", " 63\n",
		"nn.BatchNorm2d", "running_var [4], num_batches_tracked []", "free [5]", "\ntrained ", " 71\n", " 14\n"} {
		if !strings.Contains(s, want) {
			t.Errorf("no %q in\n%s", want, s)
		}
	}
}

func ExampleOn() {
	net := nn.On(nn.NewLinear(3, 2), weft.CPU) // a GPU: weft.CUDA(0)
	fmt.Println(net.Weight.Device() == weft.CPU, net.Forward(weft.Ones(4, 3)).Shape())
	// Output: true [4 2]
}
