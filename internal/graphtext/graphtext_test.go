package graphtext_test

import (
	"strings"
	"testing"

	"weft/internal/array"
	"weft/internal/graphtext"
	"weft/internal/ir"
	"weft/internal/op"
)

func small() ([]*ir.Node, graphtext.Names) {
	g := ir.New()
	x, w := g.Input(0, array.Float32, []int{5, 3}), g.Input(1, array.Float32, []int{3, 2})
	p := op.Apply(op.MatMul, nil, x, w)
	e := op.Apply(op.Exp, nil, p)
	y := op.Apply(op.Div, nil, e, op.Apply(op.Add, nil, e, g.Scalar(0, array.Float32, true)))
	return []*ir.Node{y, op.Transpose(p, 0, 1)}, graphtext.Names{
		Inputs: []string{"x", "w"}, Scalars: []string{"c"},
		Note: func(n *ir.Node) string {
			if n == e {
				return `model.go:7 "e"`
			}
			return ""
		},
	}
}

func TestGolden(t *testing.T) {
	outs, names := small()
	for _, c := range []struct{ what, got, want string }{
		{"formula", graphtext.Formula(outs, names), `t1 = dot(x, w)
t2 = exp(t1)
out0 = t2 / (t2 + c)
out1 = permute[1 0](t1)
`},
		{"tree", graphtext.Tree(outs, names), `out0:
div #1 float32[5 2]
├─ exp #2 float32[5 2], read 2 times  model.go:7 "e"
│  └─ matmul2 #3 float32[5 2], read 2 times
│     ├─ x #4 float32[5 3]
│     └─ w #5 float32[3 2]
└─ add #6 float32[5 2]
   ├─ exp #2 ^
   └─ c #7 float32[]
out1:
permute[1 0] #8 float32[2 5]
└─ matmul2 #3 ^
`},
		{"dot", graphtext.DOT(outs, names), `digraph weft {
  node [shape=box, fontname=monospace];
  n0 [label="x\nfloat32[5 3]", shape=ellipse];
  n1 [label="w\nfloat32[3 2]", shape=ellipse];
  n2 [label="matmul2\nfloat32[5 2]"];
  n0 -> n2 [label="0"];
  n1 -> n2 [label="1"];
  n3 [label="exp\nfloat32[5 2]\nmodel.go:7 \"e\""];
  n2 -> n3;
  n5 [label="c\nfloat32[]", shape=ellipse];
  n6 [label="add\nfloat32[5 2]"];
  n3 -> n6 [label="0"];
  n5 -> n6 [label="1"];
  n7 [label="div\nfloat32[5 2]"];
  n3 -> n7 [label="0"];
  n6 -> n7 [label="1"];
  n8 [label="permute[1 0]\nfloat32[2 5]"];
  n2 -> n8;
  o0 [label="out0", shape=ellipse];
  n7 -> o0;
  o1 [label="out1", shape=ellipse];
  n8 -> o1;
}
`},
	} {
		if c.got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.what, c.got, c.want)
		}
	}
}

// The text of a graph is linear in its size, however deep it is and however much of it is
// shared.
func TestTextIsLinear(t *testing.T) {
	g := ir.New()
	x := g.Input(0, array.Float32, []int{2})
	n := 20000
	for i := range n {
		x = op.Apply(op.Add, nil, op.Apply(op.Sin, nil, x), x) // as a tree: 2^n leaves
		if i%2 == 0 {
			x = op.Apply(op.Exp, nil, x)
		}
	}
	outs := []*ir.Node{x}
	for what, s := range map[string]string{"tree": graphtext.Tree(outs, graphtext.Names{}), "formula": graphtext.Formula(outs, graphtext.Names{}), "dot": graphtext.DOT(outs, graphtext.Names{})} {
		if len(s) > 1000*n {
			t.Errorf("%s: %d bytes for %d nodes", what, len(s), len(g.Nodes))
		}
		if at := strings.Count(s, "sin"); at != n && at != 2*n {
			t.Errorf("%s shows %d of %d nodes", what, at, n)
		}
	}
}

// A name of a line is none that the caller has given.
func TestNamesStayApart(t *testing.T) {
	g := ir.New()
	a := op.Apply(op.Exp, nil, g.Input(0, array.Float32, []int{2}))
	s := graphtext.Formula([]*ir.Node{op.Apply(op.Mul, nil, a, a)}, graphtext.Names{Inputs: []string{"t1"}})
	if want := ("t2 = exp(t1)\nout = t2 * t2\n"); s != want {
		t.Errorf("%s, want %s", s, want)
	}
}

// What has several results is written once, whatever reads them.
func TestSeveralResults(t *testing.T) {
	r := op.ApplyAll(op.Sort, op.Sorting{}, ir.New().Input(0, array.Float32, []int{3}))
	s := graphtext.Formula([]*ir.Node{op.Apply(op.Exp, nil, r[0]), r[1], op.Apply(op.Neg, nil, r[0])}, graphtext.Names{Inputs: []string{"x"}})
	if strings.Count(s, "sort") != 1 {
		t.Error(s)
	}
}

func TestNothing(t *testing.T) {
	if graphtext.Tree(nil, graphtext.Names{})+graphtext.Formula(nil, graphtext.Names{}) != "" {
		t.Error("of nothing there is text")
	}
}
