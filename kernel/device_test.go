package kernel_test

import (
	"fmt"
	"testing"

	"weft"
	"weft/internal/cpu"
	"weft/internal/device"
	"weft/internal/device/deferred"
	"weft/internal/jit"
	"weft/internal/mem"
	"weft/internal/tensortest"
	"weft/kernel"
)

// late is a second device, whose memory the host does not reach.
var late = func() weft.Device {
	d := deferred.New(cpu.NewIn(mem.NewPool(), jit.Chosen().ISA), cpu.New(jit.Chosen().ISA))
	device.Register(d)
	dev, err := weft.DeviceByName(d.Name())
	if err != nil {
		panic(err)
	}
	return dev
}()

// TestDeviceBits calls each entry point with tensors of the CPU and of a second device: the results
// are on the device of the tensors, with the same bits.
func TestDeviceBits(t *testing.T) {
	type tensors = []*weft.Tensor
	one := func(x *weft.Tensor) tensors { return tensors{x} }
	f := func(name string) *kernel.Func { return kernels.Func(name) }
	double := func(seed uint32, shape ...int) *weft.Tensor {
		return tensortest.Noise(seed, 1, shape...).To(weft.Float64)
	}
	type entry struct {
		name string
		args tensors
		call func(dev weft.Device, x tensors) tensors
	}
	entries := []entry{
		{"map", tensors{tensortest.Noise(1, 1, 4, 5), tensortest.Noise(2, 1, 5)}, func(_ weft.Device, x tensors) tensors {
			return one(f("Hypot3").Map(x[0], x[1], 2))
		}},
		{"map of several results", tensors{weft.Arange(7).To(weft.Int32)}, func(_ weft.Device, x tensors) tensors { return f("DivMod").MapAll(x[0], 3) }},
		{"map of an array", tensors{tensortest.Noise(1, 1, 4, 5), tensortest.Noise(2, 3, 6)}, func(_ weft.Device, x tensors) tensors {
			return one(f("Bilinear").Map(x[0], x[1], 1.5))
		}},
		{"map of complex", tensors{weft.Complex(tensortest.Noise(1, 1, 6), tensortest.Noise(2, 1, 6))}, func(_ weft.Device, x tensors) tensors {
			return one(f("Rotate").Map(x[0], complex(1, 2)))
		}},
		{"map into out", tensors{tensortest.Noise(1, 1, 4, 5)}, func(dev weft.Device, x tensors) tensors {
			out := dev.Zeros(5, 4).T()
			f("Sum").Map(x[0], 1, kernel.MapOpts{Out: tensors{out}})
			return tensors{out}
		}},
		{"map of a shape", tensors{tensortest.Noise(1, 1, 1)}, func(_ weft.Device, x tensors) tensors {
			return one(f("Noisy").Map(x[0], kernel.MapOpts{Shape: []int{3, 4}, Generator: weft.NewGenerator(2)}))
		}},
		{"map of a shape alone", nil, func(dev weft.Device, _ tensors) tensors {
			out := dev.ZerosOf(weft.Int32, 2, 3)
			f("Place").Map(kernel.MapOpts{Shape: []int{2, 3}, Out: tensors{out}})
			return tensors{out}
		}},
		{"gradient of map", tensors{double(1, 3, 4), double(2, 4)}, func(_ weft.Device, x tensors) tensors {
			a, b := x[0].RequireGrad(), x[1].RequireGrad()
			y := f("Cube").MapAll(a, b)
			y[0].Sum().Add(y[1].Sum()).Backward()
			return tensors{a.Grad(), b.Grad()}
		}},
		{"reduce", tensors{double(1, 40, 6)}, func(_ weft.Device, x tensors) tensors {
			return one(f("Sum").Reduce(x[0], kernel.ReduceOpts{Axes: []int{0}}))
		}},
		{"reduce of nothing", tensors{weft.ZerosOf(weft.Float64, 0, 3)}, func(_ weft.Device, x tensors) tensors {
			return one(f("Sum").Reduce(x[0], kernel.ReduceOpts{Axes: []int{0}, Identity: []any{2.5}}))
		}},
		{"map and reduce", tensors{double(1, 300)}, func(_ weft.Device, x tensors) tensors {
			return kernel.MapReduce(f("One"), f("Moments"), x[0])
		}},
		{"gradient of reduce", tensors{double(1, 5, 3)}, func(_ weft.Device, x tensors) tensors {
			a := x[0].RequireGrad()
			f("Sum").Reduce(a, kernel.ReduceOpts{Axes: []int{1}}).Square().Sum().Backward()
			return tensors{a.Grad()}
		}},
		{"scan", tensors{double(1, 3, 50)}, func(_ weft.Device, x tensors) tensors {
			return one(f("Last").Scan(x[0], kernel.ScanOpts{Axis: 1, Reverse: true}))
		}},
		{"scan of several", tensors{double(1, 50), double(2, 50)}, func(_ weft.Device, x tensors) tensors { return f("Affine").ScanAll(x[0], x[1]) }},
		{"stencil of several", tensors{tensortest.Noise(1, 1, 9), tensortest.Noise(2, 1, 9)}, func(_ weft.Device, x tensors) tensors {
			return f("Two").StencilAll(x[0], x[1], 3)
		}},
		{"stencil of border alone", tensors{double(1, 1, 2)}, func(_ weft.Device, x tensors) tensors { return one(f("Uneven").Stencil(x[0])) }},
		{"gradient of a stencil of border alone", tensors{double(1, 1, 2)}, func(_ weft.Device, x tensors) tensors {
			a := x[0].RequireGrad()
			f("Uneven").Stencil(a).Sum().Backward()
			return tensors{a.Grad()}
		}},
		{"stencil with large integers outside", tensors{weft.Arange(9)}, func(_ weft.Device, x tensors) tensors {
			return one(f("Box").Stencil(x[0], kernel.StencilOpts{Border: kernel.Fill, Cval: 1<<53 + 1, Neighborhood: [][2]int{{-2, 1}}}))
		}},
		{"stencil into out", tensors{double(1, 6, 7)}, func(dev weft.Device, x tensors) tensors {
			out := dev.FullOf(weft.Float64, 3, 6, 7)
			f("Uneven").Stencil(x[0], kernel.StencilOpts{Out: tensors{out}})
			return tensors{out}
		}},
		{"stencil by a function", tensors{double(1, 6, 7)}, func(_ weft.Device, x tensors) tensors {
			return one(f("Uneven").Stencil(x[0], kernel.StencilOpts{BorderFunc: func(i, n int) int { return 0 }}))
		}},
		{"iterate", tensors{tensortest.Noise(1, 1, 9, 8)}, func(_ weft.Device, x tensors) tensors {
			y, _ := f("Diffuse").Iterate(5, x[0], kernel.StencilOpts{Border: kernel.Wrap})
			return y
		}},
	}
	for b := kernel.Constant; b <= kernel.Valid; b++ {
		opts := kernel.StencilOpts{Border: b, Cval: 7}
		entries = append(entries,
			entry{fmt.Sprint("stencil, ", b), tensors{double(1, 6, 7)}, func(_ weft.Device, x tensors) tensors { return one(f("Uneven").Stencil(x[0].T(), opts)) }},
			entry{fmt.Sprint("gradient of stencil, ", b), tensors{double(1, 6, 7)}, func(_ weft.Device, x tensors) tensors {
				a := x[0].RequireGrad()
				f("Uneven").Stencil(a, opts).Square().Sum().Backward()
				return tensors{a.Grad()}
			}})
	}
	pages := tensors{double(1, 2, 3, 3).Add(weft.Eye(3)), double(2, 2, 3, 3)}
	for op := kernel.MatMul; op <= kernel.RightDivide; op++ {
		entries = append(entries, entry{fmt.Sprint("pages, ", op), pages, func(_ weft.Device, x tensors) tensors {
			if op == kernel.MatMul || op >= kernel.LeftDivide {
				return one(kernel.PageMap(op, x[0], x[1]))
			}
			return one(kernel.PageMap(op, x[0]))
		}})
	}
	for _, e := range entries {
		t.Run(e.name, func(t *testing.T) {
			call := func(dev weft.Device) tensors {
				x := make(tensors, len(e.args))
				for i, a := range e.args {
					x[i] = a.Clone().On(dev)
				}
				return e.call(dev, x)
			}
			want, got := call(weft.CPU), call(late)
			for i, w := range want {
				g := got[i]
				if g.Device() != late {
					t.Errorf("result %d is on %s, want %s", i, g.Device(), late)
				}
				if g.DType() != w.DType() || fmt.Sprint(g.Shape()) != fmt.Sprint(w.Shape()) || weft.Digest(g.Detach().On(weft.CPU)) != weft.Digest(w.Detach()) {
					t.Errorf("result %d is %v, want %v", i, g, w)
				}
			}
		})
	}
}
