package optest

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"weft/internal/array"
	"weft/internal/device"
	"weft/internal/ir"
	"weft/internal/op"
	"weft/internal/par"
	"weft/internal/plan"
)

// modelled is a device with another model.
type modelled struct {
	device.Device
	model device.Model
}

func (d *modelled) Model() *device.Model { return &d.model }

// models returns the model of a device, and models that are far from any processor.
func models(dev device.Device) map[string]device.Model {
	own := *dev.Model()
	const never = 1 << 50
	tiny := device.Model{Caps: own.Caps, Costs: device.Costs{
		Line: 16, Band: 1, Rows: 1, Far: 1, Transpose: 1, TransposedEpilogue: 1, ReadTogether: 1, Gather: 1,
		WakeMulAdds: 1, PartRows: never, PartElements: 1, ShortRow: 256, ShortElements: 1, ShortWork: 1,
		Recompute: never, RecomputeOps: 32, RecomputeBroadcast: 1, Store: 1,
	}}
	huge := device.Model{Caps: own.Caps, Costs: device.Costs{
		Line: 4096, Band: never, Rows: never, Far: never, Transpose: never, TransposedEpilogue: never, ReadTogether: never, Gather: never,
		WakeMulAdds: never, PartElements: never, ShortElements: never, ShortWork: never, RecomputeBroadcast: never, Store: never,
	}}
	line, apart := own, own
	line.Line = 128
	apart.Epilogue = false
	return map[string]device.Model{"own": own, "tiny": tiny, "huge": huge, "lines of 128 bytes": line, "no epilogues": apart}
}

// costly are graphs that costs cut differently: long and short rows, columns, products with what
// follows them, transposes, gathers and recomputed values.
func costly() map[string]*Graph {
	const f = array.Float32
	graphs := map[string]*Graph{}
	add := func(name string, build func(in func(d array.DType, shape ...int) *ir.Node) []*ir.Node) {
		g, r := ir.New(), rand.New(rand.NewPCG(1, uint64(len(name))))
		out := &Graph{}
		out.Outs = build(func(d array.DType, shape ...int) *ir.Node {
			x := Random(r, d, shape, [2]float64{}, shape[0])
			if d == array.Int64 {
				for i := range x.I {
					x.I[i] = int64(i*7) % 40
				}
			}
			out.X = append(out.X, x)
			return g.Input(len(out.X)-1, d, shape)
		})
		graphs[name] = out
	}
	apply := func(d *op.Def, x ...*ir.Node) *ir.Node { return op.Apply(d, nil, x...) }
	last := func(d *op.Def, axis int, x *ir.Node) *ir.Node {
		return op.Apply(d, op.Reduction{Axes: []int{axis}, Keep: true}, x)
	}
	add("long rows", func(in func(array.DType, ...int) *ir.Node) []*ir.Node {
		x := in(f, 3, 70_001)
		return []*ir.Node{last(op.Sum, 1, apply(op.Exp, x)), apply(op.Sub, x, last(op.Max, 1, x))}
	})
	add("short rows", func(in func(array.DType, ...int) *ir.Node) []*ir.Node {
		x := in(f, 900, 37)
		return []*ir.Node{apply(op.Div, x, last(op.Sum, 1, apply(op.Square, x)))}
	})
	add("columns", func(in func(array.DType, ...int) *ir.Node) []*ir.Node {
		x := in(f, 100, 33)
		return []*ir.Node{apply(op.Sub, x, last(op.Sum, 0, apply(op.Tanh, x))), last(op.Sum, 0, x)}
	})
	add("products", func(in func(array.DType, ...int) *ir.Node) []*ir.Node {
		x, w, b := in(f, 70, 300), in(f, 40, 300), in(f, 40)
		y := apply(op.Relu, apply(op.Linear, x, w, b))
		z := apply(op.Tanh, apply(op.Linear, apply(op.Exp, x), w, b))
		return []*ir.Node{y, z, last(op.Sum, 1, apply(op.Mul, y, z))}
	})
	add("epilogues", func(in func(array.DType, ...int) *ir.Node) []*ir.Node {
		x, w, b := in(f, 70, 300), in(f, 40, 300), in(f, 40)
		return []*ir.Node{apply(op.Relu, apply(op.Linear, x, w, b)), apply(op.Tanh, apply(op.MatMul2, x, in(f, 300, 5)))}
	})
	add("transposes", func(in func(array.DType, ...int) *ir.Node) []*ir.Node {
		x, y := in(f, 300, 800), in(f, 800, 300)
		return []*ir.Node{apply(op.Add, apply(op.Exp, op.Apply(op.Permute, op.Order{1, 0}, x)), y)}
	})
	add("gathers", func(in func(array.DType, ...int) *ir.Node) []*ir.Node {
		x, at := in(f, 40, 24), in(array.Int64, 60)
		return []*ir.Node{apply(op.Exp, op.Apply(op.IndexSelect, op.Axis(0), x, at))}
	})
	add("recomputed", func(in func(array.DType, ...int) *ir.Node) []*ir.Node {
		x, y := in(f, 64, 50), in(f, 64, 50)
		slope := apply(op.Sub, apply(op.Sub, x, y), last(op.Sum, 1, y))
		return []*ir.Node{apply(op.Mul, slope, x), last(op.Sum, 0, apply(op.Mul, slope, y)), last(op.Sum, 1, slope)}
	})
	for seed := range uint64(24) {
		used := map[*op.Def]int{}
		g := RandomGraph(seed, used)
		g.addEpilogues(seed)
		g.addLists(seed, used)
		g.addPlaces(seed, used)
		graphs[fmt.Sprintf("random %d", seed)] = g
	}
	return graphs
}

// TestCostsKeepBits computes graphs by plans that are made for costs far from each other, on one
// thread and on 64, and compares the bits. The plans differ.
func TestCostsKeepBits(t *testing.T) {
	graphs := costly()
	each(t, func(t *testing.T, dev device.Device, _ Caps) {
		plans := map[string]int{}
		defer par.SetThreads(par.SetThreads(1))
		for name, g := range graphs {
			if len(g.Outs) == 0 {
				continue
			}
			var ins []plan.Sig
			for _, x := range g.X {
				ins = append(ins, plan.Sig{DType: x.DType, Shape: x.Shape, Strides: array.RowMajor(x.Shape)})
			}
			own := plan.Build(g.Outs, ins, nil, dev.Model()).String()
			want, err := Compute(dev, g.Outs, g.X)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			for model, m := range models(dev) {
				d := &modelled{dev, m}
				if plan.Build(g.Outs, ins, nil, &d.model).String() != own {
					plans[model]++
				}
				for _, threads := range []int{1, 64} {
					par.SetThreads(threads)
					got, err := Compute(d, g.Outs, g.X)
					par.SetThreads(1)
					if err != nil {
						t.Fatalf("%s, %s, %d threads: %v", name, model, threads, err)
					}
					for i := range got {
						if s := Same(want[i], got[i]); s != "" {
							t.Errorf("%s, %s, %d threads: result %d differs: %s", name, model, threads, i, s)
						}
					}
				}
			}
		}
		for model, least := range map[string]int{"tiny": 10, "huge": 10, "no epilogues": 1} {
			if plans[model] < least {
				t.Errorf("%s: %d plans differ from the device's own, want %d or more", model, plans[model], least)
			}
		}
	})
}

// TestNoEpilogueWithoutIt plans products and convolutions for a device whose routines run no
// epilogue. No step has one, and the bits are the same as with epilogues.
func TestNoEpilogueWithoutIt(t *testing.T) {
	for _, name := range []string{"epilogues", "transposes"} {
		g := costly()[name]
		var ins []plan.Sig
		for _, x := range g.X {
			ins = append(ins, plan.Sig{DType: x.DType, Shape: x.Shape, Strides: array.RowMajor(x.Shape)})
		}
		with, without := &modelled{oracle, *oracle.Model()}, &modelled{oracle, *oracle.Model()}
		with.model.TransposedEpilogue, without.model.TransposedEpilogue = 1, 1
		without.model.Epilogue = false
		epilogues := func(d *modelled) (n int) {
			for _, s := range plan.Build(g.Outs, ins, nil, &d.model).Steps {
				if s.Epilogue != nil {
					n++
				}
			}
			return n
		}
		if n := epilogues(with); n == 0 {
			t.Errorf("%s: the plan has no epilogue to begin with", name)
		}
		if n := epilogues(without); n != 0 {
			t.Errorf("%s: the plan has %d epilogues on a device without them", name, n)
		}
		before := oracle.Counters().Epilogues.Load()
		got, err := Compute(without, g.Outs, g.X)
		if err != nil {
			t.Fatal(err)
		}
		if n := oracle.Counters().Epilogues.Load() - before; n != 0 {
			t.Errorf("%s: %d pieces of epilogues ran on a device without them", name, n)
		}
		want, err := Compute(with, g.Outs, g.X)
		if err != nil {
			t.Fatal(err)
		}
		for i := range want {
			if s := Same(want[i], got[i]); s != "" {
				t.Errorf("%s: result %d differs: %s", name, i, s)
			}
		}
	}
}
