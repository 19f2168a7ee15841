package nn_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"weft"
	"weft/nn"
)

type towers struct {
	Left, Right *nn.Linear
	Body        nn.Sequential
	Inner       nn.Linear
	Scale       *weft.Tensor
	Block       struct{ Out *nn.Embedding } // no Forward
}

func newTowers() *towers {
	l := nn.NewLinear(2, 2)
	return &towers{Left: l, Right: l, Body: nn.Sequential{nn.NewLinear(2, 1), nn.Sequential{&nn.Dropout{P: 0.5}}}, Inner: *nn.NewLinear(1, 1), Scale: weft.Ones(1)}
}

func TestModulesAndChildren(t *testing.T) {
	m := newTowers()
	var all, direct []string
	for name, layer := range nn.Modules(m) {
		all = append(all, fmt.Sprintf("%s %T", name, layer))
	}
	for name := range nn.Children(m) {
		direct = append(direct, name)
	}
	if want := []string{" *nn_test.towers", "left *nn.Linear", "body nn.Sequential", "body.0 *nn.Linear", "body.1 nn.Sequential", "body.1.0 *nn.Dropout", "inner *nn.Linear", "block *struct { Out *nn.Embedding }"}; !slices.Equal(all, want) {
		t.Errorf("modules %q\nwant %q", all, want)
	}
	if want := []string{"left", "body", "inner", "block"}; !slices.Equal(direct, want) {
		t.Errorf("children %q, want %q", direct, want)
	}
	for name, layer := range nn.Modules(m) {
		if name == "inner" && layer != any(&m.Inner) {
			t.Error("a layer that is a field is given as a copy")
		}
	}
}

func TestParametersToVectorAndBack(t *testing.T) {
	m := newTowers()
	v := nn.ParametersToVector(m)
	if v.Size() != 4+2+2+1+1+1 || !v.RequiresGrad() {
		t.Fatalf("the vector is %v, gradient %v", v.Shape(), v.RequiresGrad())
	}
	v.Mul(v).Sum().Backward()
	if g := m.Inner.Weight.Grad(); g.Sub(m.Inner.Weight.Mul(2)).Abs().Max().Item() != 0 {
		t.Errorf("gradient %v", g)
	}
	nn.VectorToParameters(weft.Arange[int](11).To(weft.Float32), m)
	if got := weft.Data[float32](nn.ParametersToVector(m)); !slices.Equal(got, []float32{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}) || !m.Left.Weight.IsLeaf() {
		t.Errorf("parameters %v", got)
	}
	if n := nn.ParametersToVector(struct{}{}).Size(); n != 0 {
		t.Errorf("no parameters give %d elements", n)
	}
	if err := weft.Try(func() { nn.VectorToParameters(weft.Ones(10), m) }); err == nil || !strings.Contains(err.Error(), "vectortoparameters: v: has shape [10], the parameters 11 elements") {
		t.Error(err)
	}
}

func TestWithState(t *testing.T) {
	m := newTowers()
	before := weft.Data[float32](m.Left.Weight)
	w := weft.From([][]float32{{1, 2}, {3, 4}}).RequireGrad()
	given := w.Mul(2) // not a leaf
	f := nn.WithState(m, map[string]*weft.Tensor{"left.weight": given})
	if f.Left != f.Right || f.Left.Weight != given || f.Left.Bias != m.Left.Bias || f.Scale != m.Scale {
		t.Error("the module's tensors are not those given and m's own")
	}
	f.Left.Forward(weft.From([][]float32{{1, 10}})).Sum().Backward()
	if g := weft.Data[float32](w.Grad()); !slices.Equal(g, []float32{2, 20, 2, 20}) || m.Left.Weight.Grad() != nil || m.Left.Bias.Grad() == nil {
		t.Errorf("gradient %v", g)
	}
	if !slices.Equal(before, weft.Data[float32](m.Left.Weight)) {
		t.Error("the module changed")
	}
	for want, s := range map[string]map[string]*weft.Tensor{
		`has "up", which the module does not have`:       {"up": w},
		`has nil as "scale"`:                             {"scale": nil},
		`has float32[1] as "left.bias", want float32[2]`: {"left.bias": weft.Ones(1)},
	} {
		if err := weft.Try(func() { nn.WithState(m, s) }); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

func ExampleModules() {
	net := nn.Sequential{nn.NewLinear(2, 3), nn.Func((*weft.Tensor).Relu), nn.NewLinear(3, 1)}
	for name, layer := range nn.Modules(net) {
		if l, ok := layer.(*nn.Linear); ok {
			weft.WithoutGrad(func() { l.Weight.Fill(1) })
			fmt.Println(name, l.Weight)
		}
	}
	// Output:
	// 0 [[1. 1.]
	//  [1. 1.]
	//  [1. 1.]]
	// 2 [[1. 1. 1.]]
}

func ExampleChildren() {
	net := nn.Sequential{nn.NewLinear(2, 3), nn.Sequential{nn.NewLinear(3, 1)}}
	for name := range nn.Children(net) {
		fmt.Println(name)
	}
	// Output:
	// 0
	// 1
}

func ExampleWithState() {
	l := nn.NewLinear(2, 1)
	y := nn.WithState(l, map[string]*weft.Tensor{"weight": weft.Ones(1, 2), "bias": weft.Ones(1)}).Forward(weft.Ones(1, 2))
	fmt.Println(y)
	// Output: [[3.]]
}

func ExampleParametersToVector() {
	l := nn.NewLinear(2, 1)
	nn.VectorToParameters(weft.From([]float32{1, 2, 3}), l)
	fmt.Println(l.Weight, l.Bias, nn.ParametersToVector(l))
	// Output: [[1. 2.]] [3.] [1. 2. 3.]
}
