package weft

import (
	"math"
	"slices"
	"strings"
	"testing"

	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/formula"
	"weft/internal/ir"
	"weft/internal/loop"
	"weft/internal/op"
)

// A cubes is a kernel of this test: s*x^3 and x+y, x and y by element; its derivatives
// by order.
type cubes struct{ order int }

func (c cubes) AppendKey(k []byte) []byte { return ir.Int(append(k, "test cubes"...), c.order) }
func (c cubes) Name() string              { return "cubes" }
func (c cubes) Cost() int                 { return 5 }
func (c cubes) Params() []op.Param {
	f := array.Float64
	return []op.Param{{Name: "x", DType: f}, {Name: "y", DType: f}, {Name: "s", DType: f}}
}
func (c cubes) Results() []array.DType {
	return slices.Repeat([]array.DType{array.Float64}, len(c.emit(loop.NewBuilder("", []loop.Axis{{}}, 0), 0, 0, 0)))
}
func (c cubes) EmitKernel(e *op.Emit) []loop.Value { return c.emit(e.B, e.X[0], e.X[1], e.X[2]) }

func (c cubes) emit(b *loop.Builder, x, y, s loop.Value) []loop.Value {
	n := func(v float64) loop.Value { return b.Float(loop.F64, v) }
	if b.Program().Name == "" { // only to count
		x, y, s = n(1), n(2), n(3)
	}
	cube := b.Mul(b.Mul(x, x), b.Mul(x, s))
	square := b.Mul(n(3), b.Mul(b.Mul(x, x), s))
	switch c.order {
	case 0:
		return []loop.Value{cube, b.Add(x, y)}
	case 1: // of both by x, y and s
		return []loop.Value{square, n(0), b.Mul(b.Mul(x, x), x), n(1), n(1), n(0)}
	}
	return nil
}

func (c cubes) Partials(results, args []bool) op.Body {
	if c.order == 1 {
		return cubesSecond{cubes{2}, slices.Clone(results), slices.Clone(args)}
	}
	return cubesSecond{cubes{1}, slices.Clone(results), slices.Clone(args)}
}

// cubesSecond is a choice of derivatives.
type cubesSecond struct {
	cubes
	results, args []bool
}

func (c cubesSecond) AppendKey(k []byte) []byte {
	k = c.cubes.AppendKey(k)
	for _, list := range [][]bool{c.results, c.args} {
		k = append(k, ';')
		for _, b := range list {
			k = ir.Flag(k, b)
		}
	}
	return k
}

func (c cubesSecond) Results() []array.DType {
	n := 0
	for _, r := range c.results {
		for _, a := range c.args {
			if r && a {
				n++
			}
		}
	}
	return slices.Repeat([]array.DType{array.Float64}, n)
}

func (c cubesSecond) EmitKernel(e *op.Emit) (out []loop.Value) {
	b, x, s := e.B, e.X[0], e.X[2]
	n := func(v float64) loop.Value { return b.Float(loop.F64, v) }
	all := c.emit(b, x, e.X[1], s)
	if c.order == 2 { // of the first derivatives that c.results names
		zero := n(0)
		square := b.Mul(n(3), b.Mul(x, x))
		all = []loop.Value{b.Mul(n(6), b.Mul(x, s)), zero, square, zero, zero, zero, square, zero, zero, zero, zero, zero, zero, zero, zero, zero, zero, zero}
	}
	for i, r := range c.results {
		for j, a := range c.args {
			if r && a {
				out = append(out, all[3*i+j])
			}
		}
	}
	return out
}

// eagerDef applies a kernel to arguments after converting them.
var eagerDef = &op.Def{Name: "test.map", Hash: 77, Class: op.Composite, Arity: -1,
	ComposeAll: func(args []*ir.Node, a ir.Attrs) []*ir.Node { return composeBody(args, a.(op.Body)) }}

func composeBody(args []*ir.Node, b op.Body) []*ir.Node {
	args = slices.Clone(args)
	for i, p := range b.Params()[:min(len(args), len(b.Params()))] {
		args[i] = op.Convert(args[i], p.DType)
	}
	return op.ApplyAll(op.Kernel, b, args...)
}

// applied computes d of tensors and Go numbers, into dst if there is any.
func applied(d *op.Def, a ir.Attrs, dst []*Tensor, args ...any) []*Tensor {
	return core.Outer[Tensor](core.Call(d, a, core.Inner(dst), asOperands(d.Name, args)...))
}

func asOperands(opName string, args []any) []core.Operand {
	ops := make([]core.Operand, len(args))
	for i, x := range args {
		ops[i] = core.AsOperand[Tensor](opName, "", x)
	}
	return ops
}

func cubed(args ...any) []*Tensor { return applied(eagerDef, cubes{}, nil, args...) }

func TestEagerKernels(t *testing.T) {
	onBackends(t, func(t *testing.T) {
		x := FromSlice([]float64{1, 2, -3}, 3)
		y := FromSlice([]float64{10, 20}, 2, 1)
		out := cubed(x, y, 2)
		if got := Data[float64](out[0]); !slices.Equal(got, []float64{2, 16, -54, 2, 16, -54}) {
			t.Errorf("cubes: %v", got)
		}
		if got := Data[float64](out[1]); !slices.Equal(got, []float64{11, 12, 7, 21, 22, 17}) {
			t.Errorf("sums: %v", got)
		}
		// Gradients: of sum(s*x^3 * (x+y)) to second order, against the formula.
		x.RequireGrad()
		y.RequireGrad()
		s := Scalar(2.0).To(Float64).RequireGrad()
		out = cubed(x, y, s)
		loss := out[0].Mul(out[1]).Sum()
		text := "sum(s*x*x*x*(x+y))"
		vars := Vars{"x": x, "y": y, "s": s}
		want := Expr(text, vars)
		opts := GradOpts{Create: true}
		got, ref := Grad(loss, []*Tensor{x, y, s}, opts), Grad(want, []*Tensor{x, y, s}, opts)
		near := func(what string, a, b *Tensor) {
			t.Helper()
			p, q := Data[float64](a), Data[float64](b)
			for i := range p {
				if len(p) != len(q) || math.Abs(p[i]-q[i]) > 1e-9 {
					t.Errorf("%s: %v, want %v", what, p, q)
					return
				}
			}
		}
		for i, name := range []string{"x", "y", "s"} {
			near("gradient by "+name, got[i], ref[i])
			second := GradOpts{AllowUnused: true, Retain: true}
			a, b := Grad(got[i].Mul(got[i]).Sum(), []*Tensor{x, y, s}, second), Grad(ref[i].Mul(ref[i]).Sum(), []*Tensor{x, y, s}, second)
			for j := range a {
				if a[j] == nil || b[j] == nil {
					if a[j] != nil && a[j].Mul(a[j]).Sum().Item() != 0 || b[j] != nil && b[j].Mul(b[j]).Sum().Item() != 0 {
						t.Errorf("second gradient %d of %s: %v, want %v", j, name, a[j], b[j])
					}
					continue
				}
				near("second gradient by "+name, a[j], b[j])
			}
		}
		if out := cubed(x.Detach(), y.Detach(), 2); out[0].RequiresGrad() {
			t.Error("a gradient is recorded without")
		}
		if got := cubed(x, y, s); !got[1].RequiresGrad() {
			t.Error("no gradient is recorded")
		}
		// A formula calls it.
		f := caller{Name: "first", Attrs: cubes{}, Compose: func(args []*ir.Node) []*ir.Node { return composeBody(args, cubes{})[:1] }}
		z := Expr("1 + f(x, y, 2)*f(x, y, k)", Vars{"f": &f, "x": x, "y": y, "k": 3})
		near("formula", z.Detach(), Expr("1 + 6*x*x*x*x*x*x + 0*y", Vars{"x": x, "y": y}).Detach())
		near("gradient of a formula", Grad(z.Sum(), []*Tensor{x})[0], Grad(Expr("sum(1 + 6*x*x*x*x*x*x + 0*y)", Vars{"x": x, "y": y}), []*Tensor{x})[0])
		// Another function of the same name is another formula.
		g := caller{Name: "second", Attrs: cubesSecond{cubes{1}, []bool{true, false}, []bool{true, false, false}},
			Compose: func(args []*ir.Node) []*ir.Node { return []*ir.Node{args[0]} }}
		if got := Data[float64](Expr("1 + f(x, y, 2)*f(x, y, k)", Vars{"f": &g, "x": x.Detach(), "y": 1, "k": 3})); !slices.Equal(got, []float64{2, 5, 10}) {
			t.Errorf("another function: %v", got)
		}
		if err := Try(func() { Expr("h(x)", Vars{"h": &f, "x": x}) }); err == nil || !strings.Contains(err.Error(), "takes 3 arguments, got 1\n\th(x)\n\t^") {
			t.Errorf("wrong number of arguments: %v", err)
		}
		both := caller{Name: "both", Attrs: cubes{}, Compose: func(args []*ir.Node) []*ir.Node { return composeBody(args, cubes{}) }}
		if err := Try(func() { Expr("b(x, x, x)", Vars{"b": &both, "x": x}) }); err == nil || !strings.Contains(err.Error(), "gives 2 results") {
			t.Errorf("two results: %v", err)
		}
	})
}

type caller formula.Func

func (c *caller) ExprFunc() any { return (*formula.Func)(c) }

// TestEagerInto writes results into tensors of any layout, that overlap arguments or each
// other, and refuses what does not fit.
func TestEagerInto(t *testing.T) {
	onBackends(t, func(t *testing.T) {
		x := FromSlice([]float64{1, 2, -3, 4, 5, 6}, 2, 3)
		wantCube, wantSum := Data[float64](cubed(x, 1, 1)[0]), Data[float64](cubed(x, 1, 1)[1])
		for name, place := range map[string]func() (*Tensor, *Tensor, *Tensor){ // argument and places
			"apart": func() (*Tensor, *Tensor, *Tensor) { return x.Clone(), Zeros(2, 3).To(Float64), Zeros(2, 3).To(Float64) },
			"transposed": func() (*Tensor, *Tensor, *Tensor) {
				return x.Clone(), Zeros(3, 2).To(Float64).T(), Zeros(3, 2).To(Float64).T()
			},
			"steps": func() (*Tensor, *Tensor, *Tensor) {
				return x.Clone(), Zeros(2, 6).To(Float64).Slice(All, Range(0, 6, 2)), Zeros(4, 3).To(Float64).Slice(Range(0, 4, 2))
			},
			"in place": func() (*Tensor, *Tensor, *Tensor) { y := x.Clone(); return y, y, Zeros(2, 3).To(Float64) },
			"shifted": func() (*Tensor, *Tensor, *Tensor) {
				m := Zeros(9).To(Float64)
				y := m.Slice(Range(1, 7)).Reshape(2, 3)
				y.Assign(x)
				return y, m.Slice(Range(0, 6)).Reshape(2, 3), Zeros(2, 3).To(Float64)
			},
		} {
			in, a, b := place()
			version := a.v().Store.Version()
			applied(eagerDef, cubes{}, []*Tensor{a, b}, in, 1, 1)
			if got := Data[float64](a); !slices.Equal(got, wantCube) {
				t.Errorf("%s: %v, want %v", name, got, wantCube)
			}
			if got := Data[float64](b); !slices.Equal(got, wantSum) {
				t.Errorf("%s: %v, want %v", name, got, wantSum)
			}
			if a.v().Store.Version() == version {
				t.Errorf("%s: the write was not counted", name)
			}
		}
		z := func() *Tensor { return Zeros(2, 3).To(Float64) }
		leaf := x.Clone().RequireGrad()
		for name, f := range map[string]func(){
			"too few":      func() { applied(eagerDef, cubes{}, []*Tensor{z()}, x, 1, 1) },
			"type":         func() { applied(eagerDef, cubes{}, []*Tensor{z(), Zeros(2, 3)}, x, 1, 1) },
			"shape":        func() { applied(eagerDef, cubes{}, []*Tensor{z(), Zeros(3).To(Float64)}, x, 1, 1) },
			"expanded":     func() { applied(eagerDef, cubes{}, []*Tensor{z(), Zeros(3).To(Float64).Expand(2, 3)}, x, 1, 1) },
			"nil":          func() { applied(eagerDef, cubes{}, []*Tensor{z(), nil}, x, 1, 1) },
			"gradient":     func() { applied(eagerDef, cubes{}, []*Tensor{z(), z()}, leaf, 1, 1) },
			"leaf":         func() { applied(eagerDef, cubes{}, []*Tensor{leaf, z()}, x, 1, 1) },
			"no arguments": func() { applied(eagerDef, cubes{}, nil) },
			"count":        func() { cubed(x, 1) },
			"no function":  func() { Expr("f(x)", Vars{"f": noFunction{}, "x": x}) },
		} {
			if err := Try(f); err == nil {
				t.Errorf("%s: not refused", name)
			}
		}
	})
	if s := core.Explain(eagerDef, cubes{}, asOperands("cubes", []any{Zeros(2).To(Float64), 1, 1})...); !strings.Contains(s, "kernel point") {
		t.Errorf("explained: %s", s)
	}
}

type noFunction struct{}

func (noFunction) ExprFunc() any { return 1 }
