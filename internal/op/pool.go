package op

import (
	"math"
	"slices"

	"weft/internal/array"
	"weft/internal/ir"
)

// Pooling over the last two axes, and the opposite of its windows.
var MaxPool2d, maxPoolPlace, maxPoolPick, AvgPool2d, windowMean, windowSpread, Interleave *Def

func init() {
	Interleave = define(Def{Name: "interleave", Class: Concat, Arity: -1, Attrs: Interleaving{},
		Doc: "The opposite of the windows of a pooling without overlap: argument ky*kw+kx goes to rows ky, ky+kh, ... and columns kx, kx+kw, ... of the last two axes; what no argument reaches is 0.",
		Typing: Typing{Infer: func(c *Call) (array.DType, []int) {
			x, a, r := c.Args[0], c.Attrs.(Interleaving), len(c.Args[0].Shape)
			if r < 2 {
				c.Failf("", "takes two dimensions or more, got %s", array.ShapeString(x.Shape))
			}
			for i, y := range c.Args {
				if y.DType != x.DType || !array.Equal(y.Shape, x.Shape) {
					c.Failf("", "part %d is %s, part 0 %s", i, array.TypeString(y.DType, y.Shape), array.TypeString(x.DType, x.Shape))
				}
			}
			parts := 1
			for i, every := range a.Every {
				if every < 1 || every > a.Size[i] && len(c.Args) > 0 || x.Shape[r-2+i] > a.Size[i]/every {
					c.Failf("", "%d of every %d do not fit in %d", x.Shape[r-2+i], every, a.Size[i])
				}
				parts *= every
			}
			if parts != len(c.Args) {
				c.Failf("", "has %d parts, want %d", len(c.Args), parts)
			}
			return x.DType, append(append([]int(nil), x.Shape[:r-2]...), a.Size[:]...)
		}},
		Derivative: Derivative{VJP: func(v *VJP) {
			every := v.Node.Attrs.(Interleaving).Every
			for i, x := range v.X {
				v.Set(i, func() *node {
					return window(v.DY, i/every[1], i%every[1], every, x.Shape[len(x.Shape)-2], x.Shape[len(x.Shape)-1])
				})
			}
		}},
		Conformance: Conformance{Samples: []Sample{{Shapes: [][]int{{2, 2, 3}, {2, 2, 3}}, Attrs: Interleaving{[2]int{1, 2}, [2]int{2, 7}}}}}})
	pool := func(kh, kw, sh, sw, ph, pw int) Pool {
		return Pool{Window: [2]int{kh, kw}, Stride: [2]int{sh, sw}, Pad: [2]int{ph, pw}}
	}
	poolSamples := []Sample{{Shapes: [][]int{{2, 3, 6, 8}}, Attrs: pool(2, 2, 2, 2, 0, 0)},
		{Shapes: [][]int{{1, 2, 7, 7}}, Attrs: pool(3, 3, 2, 2, 0, 0)},
		{Shapes: [][]int{{1, 2, 7, 7}}, Attrs: pool(3, 2, 2, 1, 1, 1)},
		{Shapes: [][]int{{1, 2, 7, 5}}, Attrs: pool(2, 2, 2, 2, 0, 0)},
		{Shapes: [][]int{{2, 13, 12}}, Attrs: pool(9, 8, 2, 3, 3, 4)}}
	MaxPool2d = define(Def{Name: "max_pool2d", Class: Routine, Arity: 1, Attrs: unitPool, ONNX: "MaxPool",
		Doc: "The greatest element of each window of the last two axes. Padding is with -Inf. The gradient goes to the first greatest.",
		Typing: Typing{Wide: true,
			Infer: func(c *Call) (array.DType, []int) {
				return c.Args[0].DType, maxPoolShape(c)
			}},
		ByRoutine: ByRoutine{Routine: ir.RoutineMaxPool2d, Contiguous: true},
		Derivative: Derivative{VJP: func(v *VJP) {
			v.Set(0, func() *node { return Apply(maxPoolPlace, v.Node.Attrs, v.X[0], v.Y, v.DY) })
		}},
		Conformance: Conformance{Samples: poolSamples}})
	// Where the maximum is does not depend on x but at jumps: no gradient but that
	// of the last argument.
	nowhere := []Sample{{Shapes: [][]int{{0, 4, 4}, {0, 2, 2}, {0, 2, 2}}, Attrs: pool(2, 2, 2, 2, 0, 0)}}
	maxPoolPlace = define(Def{Name: "max_pool2d_place", Class: Routine, Arity: 3, Attrs: unitPool,
		Doc: "Zeros of the shape of x, to which each element of the third argument is added at the first place of its window in x that has the maximum, which the second argument gives.",
		Typing: Typing{Wide: true,
			Infer: func(c *Call) (array.DType, []int) {
				c.floats(3, 3)
				s := maxPoolShape(c)
				c.sameShape("y", c.Args[1].Shape, s)
				c.sameShape("dy", c.Args[2].Shape, s)
				return c.Args[0].DType, c.Args[0].Shape
			}},
		ByRoutine:   ByRoutine{Routine: ir.RoutineMaxPool2dPlace, Contiguous: true},
		Derivative:  Derivative{VJP: func(v *VJP) { v.Set(2, func() *node { return Apply(maxPoolPick, v.Node.Attrs, v.X[0], v.X[1], v.DY) }) }},
		Conformance: Conformance{Samples: nowhere}})
	nowhere = []Sample{{Shapes: [][]int{{0, 4, 4}, {0, 2, 2}, {0, 4, 4}}, Attrs: pool(2, 2, 2, 2, 0, 0)}}
	maxPoolPick = define(Def{Name: "max_pool2d_pick", Class: Routine, Arity: 3, Attrs: unitPool,
		Doc: "The elements of the third argument where max_pool2d_place adds.",
		Typing: Typing{Wide: true,
			Infer: func(c *Call) (array.DType, []int) {
				c.floats(3, 3)
				c.sameShape("y", c.Args[1].Shape, maxPoolShape(c))
				c.sameShape("dx", c.Args[2].Shape, c.Args[0].Shape)
				return c.Args[1].DType, c.Args[1].Shape
			}},
		ByRoutine: ByRoutine{Routine: ir.RoutineMaxPool2dPick, Contiguous: true},
		Derivative: Derivative{VJP: func(v *VJP) {
			v.Set(2, func() *node { return Apply(maxPoolPlace, v.Node.Attrs, v.X[0], v.X[1], v.DY) })
		}},
		Conformance: Conformance{Samples: nowhere}})
	AvgPool2d = define(Def{Name: "avg_pool2d", Class: Composite, Arity: 1, Attrs: unitPool, ONNX: "AveragePool",
		Doc: "The mean of each window of the last two axes, zeros of the padding counted.",
		Composed: Composed{Compose: func(x []*node, a ir.Attrs) *node {
			p, y := a.(Pool), x[0]
			oh, ow := windowCounts("avg_pool2d", y, p)
			switch stages := p.stages(); {
			case !poolable(y):
				r := len(y.Shape)
				return full(y.Graph, 0, y.DType, append(y.Shape[:r-2:r-2], oh, ow))
			case len(stages) == 1:
				return Apply(windowMean, p, y)
			default:
				for _, stage := range stages {
					y = sums(y, stage)
				}
				return scale(y, 1/float64(p.Window[0]*p.Window[1]))
			}
		}},
		Typing: Typing{Wide: true},
		Derivative: Derivative{VJP: func(v *VJP) {
			v.Set(0, func() *node {
				p, shape := v.Node.Attrs.(Pool), v.X[0].Shape
				stages := p.stages()
				switch {
				case !poolable(v.X[0]):
					return full(v.X[0].Graph, 0, v.DY.DType, shape)
				case len(stages) == 1:
					return Apply(windowSpread, PoolGrad{p, [2]int(shape[len(shape)-2:])}, v.DY)
				}
				dx := scale(v.DY, 1/float64(p.Window[0]*p.Window[1]))
				for i, stage := range slices.Backward(stages) {
					shape := shape
					if i > 0 { // what the first stage gave
						shape = append(shape[:len(shape)-2:len(shape)-2], v.Node.Shape[len(shape)-2], shape[len(shape)-1])
					}
					dx = unpool(dx, shape, stage)
				}
				return dx
			})
		}},
		Conformance: Conformance{Samples: poolSamples}})
	windowMean = define(Def{Name: "window_mean", Class: Routine, Arity: 1, Attrs: unitPool,
		Doc: "avg_pool2d of windows with few places, or sums instead of means.",
		Typing: Typing{Wide: true,
			Infer: func(c *Call) (array.DType, []int) {
				x := c.Args[0]
				oh, ow := windowCounts("avg_pool2d", x, c.Attrs.(Pool))
				return x.DType, append(append([]int(nil), x.Shape[:len(x.Shape)-2]...), oh, ow)
			}},
		ByRoutine: ByRoutine{Routine: ir.RoutineWindowMean, Contiguous: true},
		Derivative: Derivative{VJP: func(v *VJP) {
			v.Set(0, func() *node {
				s := v.X[0].Shape
				return Apply(windowSpread, PoolGrad{v.Node.Attrs.(Pool), [2]int(s[len(s)-2:])}, v.DY)
			})
		}},
		Conformance: Conformance{Samples: append([]Sample{{Shapes: [][]int{{2, 13, 12}}, Attrs: Pool{[2]int{9, 1}, [2]int{2, 1}, [2]int{3, 0}, true}}}, poolSamples...)}})
	windowSpread = define(Def{Name: "window_spread", Class: Routine, Arity: 1, Attrs: PoolGrad{unitPool, [2]int{2, 2}},
		Doc: "The gradient of window_mean: each element is spread over the places of its window.",
		Typing: Typing{Wide: true,
			Infer: func(c *Call) (array.DType, []int) {
				a, dy := c.Attrs.(PoolGrad), c.Args[0]
				c.floats(1, 1)
				r := len(dy.Shape)
				if r < 2 {
					c.Failf("", "takes two dimensions or more, got %s", array.ShapeString(dy.Shape))
				}
				for i, n := range a.Size {
					if want := windowCount("window_spread", n, a.Pool.Window[i], a.Pool.Stride[i], a.Pool.Pad[i]); want != dy.Shape[r-2+i] {
						c.Failf("", "has %d windows, want %d", dy.Shape[r-2+i], want)
					}
				}
				return dy.DType, append(append([]int(nil), dy.Shape[:r-2]...), a.Size[:]...)
			}},
		ByRoutine: ByRoutine{Routine: ir.RoutineWindowSpread, Contiguous: true},
		Derivative: Derivative{VJP: func(v *VJP) {
			v.Set(0, func() *node { return Apply(windowMean, v.Node.Attrs.(PoolGrad).Pool, v.DY) })
		}},
		Conformance: Conformance{Samples: []Sample{{Shapes: [][]int{{2, 3, 3, 4}}, Attrs: PoolGrad{pool(2, 2, 2, 2, 0, 0), [2]int{6, 8}}},
			{Shapes: [][]int{{1, 2, 4, 9}}, Attrs: PoolGrad{pool(3, 2, 2, 1, 1, 1), [2]int{7, 8}}}}}})
}

// poolable reports whether x has a picture that is not empty, as routines of pooling want.
func poolable(x *node) bool {
	r := len(x.Shape)
	return x.Shape[r-2] > 0 && x.Shape[r-1] > 0
}

var unitPool = Pool{Window: [2]int{1, 1}, Stride: [2]int{1, 1}}

// maxPadded is the most lines or columns of a picture with its padding: places in it
// are counted in 32 bits.
const maxPadded = math.MaxInt32

// StepWithin returns the step of a window over size elements with padding on both sides, at
// most the padded size: a longer step reaches beyond the elements just as well.
func StepWithin(step, size, pad int) int { return min(step, max(size+2*pad, 1)) }

// Windows returns the windows of a pooling node or of a gradient of one, with strides as StepWithin
// gives them.
func Windows(n *node) Pool {
	shape := n.Shape // of the pictures
	a, forward := n.Attrs.(Pool)
	if forward {
		shape = n.Args[0].Shape
	} else {
		a = n.Attrs.(PoolGrad).Pool
	}
	size := shape[len(shape)-2:]
	a.Stride = [2]int{StepWithin(a.Stride[0], size[0], a.Pad[0]), StepWithin(a.Stride[1], size[1], a.Pad[1])}
	return a
}

func windowCount(name string, size, window, stride, pad int) int {
	if window < 1 || stride < 1 || pad < 0 {
		array.Failf(name, "", "window %d, stride %d, padding %d: want at least 1, 1, 0", window, stride, pad)
	}
	padded := array.AddSizes(name, size, pad, pad)
	if padded > maxPadded {
		array.Failf(name, "", "%d with padding %d is longer than %d", size, pad, maxPadded)
	}
	if padded < window {
		array.Failf(name, "", "a window of %d does not fit in %d with padding %d", window, size, pad)
	}
	return (padded-window)/stride + 1
}

// maxPoolShape is the shape of max_pool2d of the first argument.
func maxPoolShape(c *Call) []int {
	x := c.Args[0]
	oh, ow := windowCounts("max_pool2d", x, c.Attrs.(Pool))
	r := len(x.Shape)
	if x.Shape[r-2] == 0 || x.Shape[r-1] == 0 {
		array.Failf("max_pool2d", "", "of empty pictures: shape %s", array.ShapeString(x.Shape))
	}
	return append(append([]int(nil), x.Shape[:r-2]...), oh, ow)
}

// window is the strided part of x that holds element (ky, kx) of every window.
func window(x *node, ky, kx int, stride [2]int, oh, ow int) *node {
	return Apply(Slice, AllOf(x.Shape).lastTwo([2]int{ky, kx}, stride, [2]int{oh, ow}), x)
}

// lastTwo is the window with other parts of the last two axes.
func (w Window) lastTwo(start, step, count [2]int) Window {
	r := len(w.Start)
	copy(w.Start[r-2:], start[:])
	copy(w.Step[r-2:], step[:])
	copy(w.Count[r-2:], count[:])
	return w
}

func padLast(x *node, ph, pw int, fill float64) *node {
	if ph == 0 && pw == 0 {
		return x
	}
	pads := make([]int, 2*len(x.Shape))
	n := len(pads)
	pads[n-4], pads[n-3], pads[n-2], pads[n-1] = ph, ph, pw, pw
	return Apply(Pad, Padding{pads, fill}, x)
}

// windowCounts returns how many windows there are, vertical and horizontal.
func windowCounts(name string, x *node, a Pool) (oh, ow int) {
	if len(x.Shape) < 2 {
		array.Failf(name, "", "takes two dimensions or more, got %s", array.ShapeString(x.Shape))
	}
	needFloat(name, x)
	r := len(x.Shape)
	oh = windowCount(name, x.Shape[r-2], a.Window[0], a.Stride[0], a.Pad[0])
	ow = windowCount(name, x.Shape[r-1], a.Window[1], a.Stride[1], a.Pad[1])
	if a.Pad[0] >= a.Window[0] || a.Pad[1] >= a.Window[1] {
		array.Failf(name, "", "padding %dx%d is not smaller than the window %dx%d", a.Pad[0], a.Pad[1], a.Window[0], a.Window[1])
	}
	return oh, ow
}

// maxPlaces is the number of places in a window up to which they are added one by
// one.
const maxPlaces = 64

// stages returns the poolings that give sums over windows when applied one after the other: p
// itself, or a vertical and a horizontal one if a window has more than maxPlaces places.
func (p Pool) stages() []Pool {
	if p.Window[0]*p.Window[1] <= maxPlaces {
		return []Pool{p}
	}
	return []Pool{
		{Window: [2]int{p.Window[0], 1}, Stride: [2]int{p.Stride[0], 1}, Pad: [2]int{p.Pad[0], 0}},
		{Window: [2]int{1, p.Window[1]}, Stride: [2]int{1, p.Stride[1]}, Pad: [2]int{0, p.Pad[1]}},
	}
}

// maxParts is the maximum window size of a stage that is a graph of single additions, in one
// kernel. Beyond it planning would take longer than the routine.
const maxParts = 256

// sums adds up the elements of each window of a stage; padding counts as 0.
func sums(x *node, p Pool) *node {
	places := p.Window[0] * p.Window[1]
	if places > maxParts {
		p.Sum = true
		return Apply(windowMean, p, x)
	}
	oh, ow := windowCounts("avg_pool2d", x, p)
	x = padLast(x, p.Pad[0], p.Pad[1], 0)
	var sum *node
	for i := range places {
		part := window(x, i/p.Window[1], i%p.Window[1], p.Stride, oh, ow)
		if sum == nil {
			sum = part
		} else {
			sum = add(sum, part)
		}
	}
	return sum
}

// unpool is the gradient of sums, for an argument of a shape.
func unpool(dy *node, shape []int, a Pool) *node {
	r := len(shape)
	places := a.Window[0] * a.Window[1]
	if places > maxParts {
		a.Sum = true
		return Apply(windowSpread, PoolGrad{a, [2]int(shape[r-2:])}, dy)
	}
	h, w := shape[r-2]+2*a.Pad[0], shape[r-1]+2*a.Pad[1]
	full := append([]int(nil), shape...)
	full[r-2], full[r-1] = h, w
	var sum *node
	if a.Window == a.Stride {
		sum = Apply(Interleave, Interleaving{a.Window, [2]int{h, w}}, slices.Repeat([]*node{dy}, places)...)
	} else {
		for i := range places {
			at := [2]int{i / a.Window[1], i % a.Window[1]}
			one := placeIn(dy, AllOf(dy.Shape).lastTwo(at, a.Stride, [2]int(dy.Shape[r-2:])), full)
			if sum == nil {
				sum = one
			} else {
				sum = add(sum, one)
			}
		}
	}
	if a.Pad == [2]int{} {
		return sum
	}
	sum = Narrow(sum, r-2, a.Pad[0], shape[r-2])
	return Narrow(sum, r-1, a.Pad[1], shape[r-1])
}

func interleavePart(n *node, out array.View, i int) array.View {
	every, s := n.Attrs.(Interleaving).Every, n.Args[i].Shape
	at := [2]int{i / every[1], i % every[1]}
	return AllOf(s).lastTwo(at, every, [2]int(s[len(s)-2:])).on(out)
}
