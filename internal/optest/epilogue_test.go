package optest

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"weft/internal/array"
	"weft/internal/device"
	"weft/internal/ir"
	"weft/internal/op"
	"weft/internal/par"
)

// TestEpilogues compares matmuls and convolutions of all kinds, followed by elementwise operations,
// with the same graph computed node by node. The elementwise operations must run as epilogues.
func TestEpilogues(t *testing.T) {
	epilogues := map[string]func(y *ir.Node, input func(shape ...int) *ir.Node) []*ir.Node{
		"bias and gelu": func(y *ir.Node, input func(shape ...int) *ir.Node) []*ir.Node {
			b := input(y.Shape[len(y.Shape)-1])
			if len(y.Shape) == 4 {
				b = input(1, y.Shape[1], 1, 1)
			}
			return []*ir.Node{op.Apply(op.Gelu, nil, op.Apply(op.Add, nil, y, b))}
		},
		"bias and bounds": func(y *ir.Node, input func(shape ...int) *ir.Node) []*ir.Node {
			b := input(y.Shape[len(y.Shape)-1])
			if len(y.Shape) == 4 {
				b = input(1, y.Shape[1], 1, 1)
			}
			low, high := y.Graph.Number(-0.25, y.DType, false), y.Graph.Number(0.5, y.DType, false)
			return []*ir.Node{op.Apply(op.Minimum, nil, op.Apply(op.Maximum, nil, op.Apply(op.Add, nil, y, b), low), high)}
		},
		"residual": func(y *ir.Node, input func(shape ...int) *ir.Node) []*ir.Node {
			return []*ir.Node{op.Apply(op.Relu, nil, op.Apply(op.Add, nil, input(y.Shape...), y))}
		},
		"descent": func(y *ir.Node, input func(shape ...int) *ir.Node) []*ir.Node {
			return []*ir.Node{op.Apply(op.Sub, nil, input(y.Shape...), op.Apply(op.Mul, nil, y, y.Graph.Number(0.1, y.DType, false)))}
		},
		"conversion": func(y *ir.Node, input func(shape ...int) *ir.Node) []*ir.Node {
			return []*ir.Node{op.Apply(op.Cast, op.To(array.Float32+array.Float64-y.DType), y)}
		},
		"several results": func(y *ir.Node, input func(shape ...int) *ir.Node) []*ir.Node {
			z := op.Apply(op.Mul, nil, y, input(y.Shape[len(y.Shape)-1]))
			return []*ir.Node{op.Apply(op.Gt, nil, z, y.Graph.Number(0, y.DType, false)), op.Apply(op.Relu, nil, z), y}
		},
	}
	routines := append(routineCases(op.MatMul2), routineCases(op.Lookup("conv2d_core"))...)
	routines = append(routines, routineCases(op.Lookup("conv2d_input"))...)
	routines = append(routines, routineCases(op.Linear)...)
	each(t, func(t *testing.T, dev device.Device, caps Caps) {
		s := newSuite(t, dev, caps)
		defer s.mem.Close()
		defer par.SetThreads(par.SetThreads(1))
		for i, c := range routines {
			for k, name := range slices.Sorted(maps.Keys(epilogues)) {
				if (i+k)%2 == 1 && os.Getenv("WEFT_EXHAUSTIVE") != "1" {
					continue // each routine in turn
				}
				epilogue := epilogues[name]
				par.SetThreads([]int{1, 2, 5}[i%3])
				r := rand.New(rand.NewPCG(3, uint64(i)))
				g := &Graph{X: append([]*Array(nil), c.X...)}
				if name == "residual" { // what Winograd's algorithm leaves to the direct sum
					x := *c.X[0]
					x.F = slices.Clone(x.F)
					x.F[len(x.F)-1] = math.Inf(1)
					g.X[0] = &x
				}
				graph := ir.New()
				var args []*ir.Node
				for k, x := range c.X {
					args = append(args, graph.Input(k, x.DType, x.Shape))
				}
				y := op.Apply(c.Def, c.Attrs, args...)
				g.Outs = epilogue(y, func(shape ...int) *ir.Node {
					g.X = append(g.X, Random(r, y.DType, shape, [2]float64{}, 0))
					return graph.Input(len(g.X)-1, y.DType, shape)
				})
				before := dev.Counters().Epilogues.Load()
				s.fused(fmt.Sprintf("%s of %s", name, &c), g, allContiguous, func(k int) Layout {
					if k == 0 && dev.Counters().Epilogues.Load() == before { // what is contiguous has run
						t.Errorf("%s of %s ran no epilogue\n%s", name, &c, g)
					}
					return Layout(i+k) % numLayouts
				})
			}
		}
	})
}
