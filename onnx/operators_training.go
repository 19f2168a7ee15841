package onnx

import (
	"errors"
	"slices"

	"weft"
	"weft/internal/core"
)

// Optimizers and gradients as operators, of ai.onnx.preview.training.
var trainingOperators = []operator{
	{name: "Adagrad", run: adagrad},
	{name: "Adam", run: adam},
	{name: "Gradient", run: gradient},
	{name: "Momentum", run: momentum},
}

// updates reads what an optimizer updates. The first two inputs are the learning rate and the number of steps. The
// others are lists of equal length, one after the other: weights, gradients, and the optimizer's own lists. step
// returns the new weight and the new items of the optimizer's lists for one weight.
func (c *call) updates(lists int, step func(x []*weft.Tensor) []*weft.Tensor) []Value {
	in := c.all()
	n := (len(in) - 2) / lists
	if n < 1 || len(in) != 2+n*lists {
		c.fail("there are %d inputs: want two and then %d for each tensor", len(in), lists)
	}
	out := make([]*weft.Tensor, n*(lists-1))
	for i := range n {
		x := make([]*weft.Tensor, lists)
		for k := range x {
			x[k] = in[2+k*n+i]
		}
		for k, y := range step(x) {
			from := x[0] // the list of gradients has no result
			if k > 0 {
				from = x[k+1]
			}
			out[k*n+i] = y.To(from.DType())
		}
	}
	return tensors(out...)
}

// adagrad is the method of Duchi, Hazan and Singer (2011).
func adagrad(c *call) []Value {
	rate, t := c.tensor(0), c.tensor(1)
	norm, eps, decay := c.attrFloat("norm_coefficient", 0), c.attrFloat("epsilon", 1e-6), c.attrFloat("decay_factor", 0)
	rate = rate.Div(t.To(rate.DType()).Mul(decay).Add(1))
	return c.updates(3, func(x []*weft.Tensor) []*weft.Tensor {
		g := x[0].Mul(norm).Add(x[1])
		h := x[2].Add(g.Square())
		return []*weft.Tensor{x[0].Sub(rate.Mul(g).Div(h.Sqrt().Add(eps))), h}
	})
}

// adam is the method of Kingma and Ba (2014). The first step, of number 0, has no correction of the bias.
func adam(c *call) []Value {
	rate, t := c.tensor(0), c.tensor(1)
	alpha, beta, eps := c.attrFloat("alpha", 0.9), c.attrFloat("beta", 0.999), c.attrFloat("epsilon", 1e-6)
	norm, post := c.attrFloat("norm_coefficient", 0), c.attrFloat("norm_coefficient_post", 0)
	steps := t.To(weft.Float64)
	power := func(x float64) *weft.Tensor { return weft.FullOf(weft.Float64, x).Pow(steps) }
	corrected := power(beta).RSub(1).Sqrt().Div(power(alpha).RSub(1))
	rate = rate.Mul(weft.Where(steps.Gt(0), corrected, 1.0).To(rate.DType()))
	return c.updates(4, func(x []*weft.Tensor) []*weft.Tensor {
		g := x[0].Mul(norm).Add(x[1])
		v := x[2].Mul(alpha).Add(g.Mul(1 - alpha))
		h := x[3].Mul(beta).Add(g.Square().Mul(1 - beta))
		y := x[0].Sub(rate.Mul(v.Div(h.Sqrt().Add(eps))))
		return []*weft.Tensor{y.Mul(1 - post), v, h}
	})
}

// momentum is stochastic gradient descent with a running mean of gradients, or with Nesterov's.
func momentum(c *call) []Value {
	rate, t := c.tensor(0), c.tensor(1)
	for _, name := range []string{"alpha", "beta", "norm_coefficient", "mode"} {
		c.need(name)
	}
	alpha, beta, norm := c.attrFloat("alpha", 0), c.attrFloat("beta", 0), c.attrFloat("norm_coefficient", 0)
	mode := c.attrString("mode", "")
	if mode != "standard" && mode != "nesterov" {
		c.fail("attribute %q is %q: want standard or nesterov", "mode", mode)
	}
	// The first gradient counts whole.
	share := weft.Where(t.Gt(0), beta, 1.0).To(rate.DType())
	return c.updates(3, func(x []*weft.Tensor) []*weft.Tensor {
		g := x[0].Mul(norm).Add(x[1])
		v := x[2].Mul(alpha).Add(share.Mul(g))
		along := v
		if mode == "nesterov" {
			along = g.Add(v.Mul(alpha))
		}
		return []*weft.Tensor{x[0].Sub(rate.Mul(along)), v}
	})
}

// gradient is that of the value y, summed, with respect to the values xs. The nodes between are run again, with
// inputs in place of the values xs and zs.
func gradient(c *call) []Value {
	c.need("y")
	c.need("xs")
	xs, zs, y := c.attrStrings("xs"), c.attrStrings("zs"), c.attrString("y", "")
	if len(c.in) != len(xs)+len(zs) {
		c.fail("there are %d inputs: xs and zs name %d values", len(c.in), len(xs)+len(zs))
	}
	g := c.x.m.graph
	if !slices.Contains(g.nodes, c.node) {
		c.fail("the node is in a subgraph: its values cannot be differentiated")
	}
	slot := func(name string) int {
		i := slices.Index(g.names, name)
		if i < 0 || name == "" {
			c.fail("the graph has no value %q", name)
		}
		return i
	}
	var grads []*weft.Tensor
	core.Recording(true, func() {
		env := c.x.environment(g)
		given := map[int]bool{}
		vars := make([]*weft.Tensor, len(xs))
		for i, name := range slices.Concat(xs, zs) {
			at := slot(name)
			given[at], env[at] = true, c.value(i)
			if i >= len(xs) {
				continue
			}
			if vars[i] = c.tensor(i); !vars[i].RequiresGrad() {
				vars[i] = vars[i].Detach().RequireGrad()
			}
			env[at] = TensorOf(vars[i])
		}
		out := slot(y)
		for _, n := range nodesOf(g, given, out) {
			if err := c.x.node(n, env); errors.Is(err, errHost) {
				panic(failure{errHost})
			} else if err != nil {
				panic(failure{inNode(n, err)})
			}
		}
		t := env[out].tensor
		if t == nil {
			c.fail("the value %q is not a tensor that is computed from %v and %v", y, xs, zs)
		}
		o := weft.GradOpts{Create: true, AllowUnused: true, Seeds: []*weft.Tensor{weft.OnesLike(t)}}
		grads = weft.GradAll([]*weft.Tensor{t}, vars, o)
		for i := range grads {
			if grads[i] == nil {
				grads[i] = weft.ZerosLike(vars[i])
			}
		}
	})
	return tensors(grads...)
}

// nodesOf are the nodes of a graph that a slot depends on, but for what is given.
func nodesOf(g *graph, given map[int]bool, out int) []*node {
	need := map[int]bool{out: true}
	var list []*node
	for _, n := range slices.Backward(g.nodes) {
		if !slices.ContainsFunc(n.out, func(slot int) bool { return slot >= 0 && need[slot] && !given[slot] }) {
			continue
		}
		list = append(list, n)
		for _, slot := range n.reads {
			need[slot] = true
		}
	}
	slices.Reverse(list)
	return list
}
