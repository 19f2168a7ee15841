package sym_test

import (
	"math"
	"testing"

	"weft"
	"weft/sym"
)

// A model is a loss of parameters, examples and targets, written for tensors and for
// variables.
type model struct {
	name   string
	params [][]int // shapes
	x, y   []int
	class  int // targets are integers below it
	loss   func(p []*weft.Tensor, x, y *weft.Tensor) *weft.Tensor
	sym    func(p []*sym.Var, x, y *sym.Var) *sym.Var
}

var models = []model{
	{"logistic regression", [][]int{{20}, {}}, []int{8, 20}, []int{8}, 0,
		func(p []*weft.Tensor, x, y *weft.Tensor) *weft.Tensor {
			q := weft.Expr("1 / (1 + exp(-dot(x, w) - b))", x, p[0], p[1])
			return weft.Expr("mean(-y*log(q) - (1-y)*log(1-q)) + 0.01*sum(w*w)", weft.Vars{"y": y, "q": q, "w": p[0]})
		},
		func(p []*sym.Var, x, y *sym.Var) *sym.Var {
			q := sym.Expr("1 / (1 + exp(-dot(x, w) - b))", x, p[0], p[1])
			return sym.Expr("mean(-y*log(q) - (1-y)*log(1-q)) + 0.01*sum(w*w)", weft.Vars{"y": y, "q": q, "w": p[0]})
		}},
	{"perceptron", [][]int{{12, 16}, {16}, {16, 5}, {5}}, []int{9, 12}, []int{9}, 5,
		func(p []*weft.Tensor, x, y *weft.Tensor) *weft.Tensor {
			return weft.CrossEntropy(x.MatMul(p[0]).Add(p[1]).Tanh().MatMul(p[2]).Add(p[3]), y)
		},
		func(p []*sym.Var, x, y *sym.Var) *sym.Var {
			return sym.CrossEntropy(x.MatMul(p[0]).Add(p[1]).Tanh().MatMul(p[2]).Add(p[3]), y)
		}},
	{"convolutions", [][]int{{4, 1, 3, 3}, {4}, {16, 3}}, []int{5, 1, 6, 6}, []int{5}, 3,
		func(p []*weft.Tensor, x, y *weft.Tensor) *weft.Tensor {
			h := x.Conv2d(p[0], p[1], weft.ConvOpts{}).MaxPool2d(weft.PoolOpts{Window: [2]int{2, 2}, Stride: new([2]int{2, 2})}).Relu()
			return weft.CrossEntropy(h.Flatten(1).MatMul(p[2]), y)
		},
		func(p []*sym.Var, x, y *sym.Var) *sym.Var {
			h := x.Conv2d(p[0], p[1], weft.ConvOpts{}).MaxPool2d(weft.PoolOpts{Window: [2]int{2, 2}, Stride: new([2]int{2, 2})}).Relu()
			return sym.CrossEntropy(h.Flatten(1).MatMul(p[2]), y)
		}},
	{"attention", [][]int{{8, 8}, {8, 8}, {8, 8}, {8}}, []int{3, 6, 8}, []int{3, 6, 8}, 0,
		func(p []*weft.Tensor, x, y *weft.Tensor) *weft.Tensor {
			n := x.Sub(x.MeanKeep(-1)).Mul(x.VarKeep(-1).Add(1e-5).Rsqrt()).Mul(p[3])
			q, k, v := n.MatMul(p[0]), n.MatMul(p[1]), n.MatMul(p[2])
			a := q.MatMul(k.Transpose(1, 2)).Div(math.Sqrt(8)).Softmax(-1)
			return a.MatMul(v).Add(x).Gelu().Sub(y).Square().Mean()
		},
		func(p []*sym.Var, x, y *sym.Var) *sym.Var {
			n := x.Sub(x.MeanKeep(-1)).Mul(x.VarKeep(-1).Add(1e-5).Rsqrt()).Mul(p[3])
			q, k, v := n.MatMul(p[0]), n.MatMul(p[1]), n.MatMul(p[2])
			a := q.MatMul(k.Transpose(1, 2)).Div(math.Sqrt(8)).Softmax(-1)
			return a.MatMul(v).Add(x).Gelu().Sub(y).Square().Mean()
		}},
}

// TestModelsMatchEager trains the same models eagerly, compiled and through sym: compiled to the bit,
// sym, which computes more accurate forms, nearly so.
func TestModelsMatchEager(t *testing.T) {
	const steps = 5
	for _, m := range models {
		t.Run(m.name, func(t *testing.T) {
			start := func() []*weft.Tensor {
				g := weft.NewGenerator(9)
				var ps []*weft.Tensor
				for _, s := range m.params {
					ps = append(ps, g.RandnOf(weft.Float64, s...).Mul(0.3))
				}
				return ps
			}
			data := weft.NewGenerator(10)
			x := data.RandnOf(weft.Float64, m.x...)
			y := data.RandnOf(weft.Float64, m.y...)
			if m.class > 0 {
				y = data.Randint(0, int64(m.class), m.y...)
			} else if m.name == "logistic regression" {
				y = y.Gt(0).To(weft.Float64)
			}
			step := func(ps []*weft.Tensor) func(x, y *weft.Tensor) *weft.Tensor {
				for _, p := range ps {
					p.RequireGrad()
				}
				return func(x, y *weft.Tensor) *weft.Tensor {
					loss := m.loss(ps, x, y)
					for i, g := range weft.Grad(loss, ps) {
						weft.WithoutGrad(func() { ps[i].SubAssign(g.Mul(0.1)) })
					}
					return loss
				}
			}
			eager, compiled, symbolic := start(), start(), start()
			run, c := step(eager), weft.Compile(step(compiled))
			var vars []*sym.Var
			for _, p := range symbolic {
				vars = append(vars, sym.Shared("p", p))
			}
			xs, ys := sym.New("x", weft.Float64, m.x...), sym.New("y", y.DType(), m.y...)
			loss := m.sym(vars, xs, ys)
			updates := sym.Updates{}
			for i, g := range sym.Grad(loss, vars) {
				updates[vars[i]] = vars[i].Sub(g.Mul(0.1))
			}
			f, err := sym.Function(sym.In(xs, ys), sym.Out(loss), updates)
			if err != nil {
				t.Fatal(err)
			}
			for k := range steps {
				want := run(x, y)
				got, err := c.Call(x, y)
				if err != nil {
					t.Fatal(err)
				}
				out, err := f.Call(x, y)
				if err != nil {
					t.Fatal(err)
				}
				if digest(got) != digest(want) {
					t.Errorf("step %d: compiled %v, eager %v", k, got, want)
				}
				if d := math.Abs(out[0].Item() - want.Item()); !(d <= 1e-12*(1+math.Abs(want.Item()))) {
					t.Errorf("step %d: sym %v, eager %v", k, out[0], want)
				}
			}
			for i := range eager {
				if digest(compiled[i]) != digest(eager[i].Detach()) {
					t.Errorf("parameter %d: compiled %v, eager %v", i, compiled[i], eager[i])
				}
				if !symbolic[i].AllClose(eager[i].Detach(), weft.CloseOpts{Relative: new(1e-11), Absolute: new(1e-12)}) {
					t.Errorf("parameter %d: sym %v, eager %v", i, symbolic[i], eager[i])
				}
			}
		})
	}
}
