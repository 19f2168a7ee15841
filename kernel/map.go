package kernel

import (
	"slices"

	"weft"
	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/gokernel"
	"weft/internal/ir"
	"weft/internal/op"
)

// MapOpts are the options of [Func.Map], given behind its arguments.
type MapOpts struct {
	// Leading aligns shapes at their first axis, as MATLAB does, instead of at the last.
	Leading bool
	// Out, if not nil, are tensors that receive the results, one a result, of their shape
	// and element type. No gradient is recorded.
	Out []*weft.Tensor
	// Shape is that of the results of a kernel without arguments; else arguments
	// broadcast to it as well. Without tensors as arguments the kernel runs on the device
	// of Out, or on the CPU.
	Shape []int
	// Generator gives the random numbers of kernel.Elem; nil means weft.DefaultGenerator.
	Generator *weft.Generator
}

// Map computes the function for every element of its arguments, which are tensors and Go
// numbers that broadcast, and returns its one result. A [MapOpts] may stand behind the
// arguments. Arrays that the function reads by index take no part in broadcasting. A
// parameter of a certain type takes tensors of that element type alone; type parameters
// take that of the arguments. Gradients are recorded as of every operation. That of an array
// which the function reads by index is added up where it was read, the same bits on any
// number of threads; reads in a loop whose number of rounds is not a constant are refused.
func (f *Func) Map(args ...any) *weft.Tensor {
	f.check()
	if n := len(f.f.Results()); n != 1 {
		array.Failf(f.f.Name(), "", "has %d results: MapAll returns them", n)
	}
	return f.MapAll(args...)[0]
}

// MapAll is [Func.Map] for functions with any number of results.
func (f *Func) MapAll(args ...any) []*weft.Tensor {
	r, out, xs := f.mapping(args)
	return r.run(out, xs)
}

// mapping returns what runs Map, where results go, and the arguments.
func (f *Func) mapping(args []any) (r *runner, out []*weft.Tensor, xs []any) {
	f.check()
	var opts MapOpts
	if n := len(args) - 1; n >= 0 {
		switch o := args[n].(type) {
		case MapOpts:
			opts, args = o, args[:n]
		case *MapOpts:
			if o != nil {
				opts = *o
			}
			args = args[:n]
		}
	}
	var room [6]argument
	as := f.arguments(room[:0], args)
	if len(as) == 0 && opts.Shape == nil {
		array.Failf(f.f.Name(), "Shape", "is needed: no argument gives a shape")
	}
	if opts.Leading {
		alignRanks(as, &opts)
	}
	var few [16]byte
	k := append(key(few[:0], as), 'm')
	if opts.Shape != nil {
		k = append(k, 's')
	}
	r = f.made.find(k)
	if r == nil {
		r = f.made.add(k, f.mapper(as, opts.Shape != nil))
	}
	xs = slices.Clip(args)
	if opts.Leading {
		xs = make([]any, len(as))
		for i := range as {
			xs[i] = as[i].any()
		}
	}
	if r.random {
		seed, draw := state(opts.Generator)
		xs = append(xs, seed, draw)
	}
	if opts.Shape != nil {
		xs = append(xs, deviceOf(as, opts.Out).Full(false).Expand(opts.Shape...))
	}
	if opts.Out != nil && len(opts.Out) != len(f.f.Results()) {
		array.Failf(f.f.Name(), "Out", "has %d tensors for %d results", len(opts.Out), len(f.f.Results()))
	}
	return r, opts.Out, xs
}

// alignRanks appends axes of size 1 to the tensors that broadcast, and to opts.Shape, so that all
// have the same rank.
func alignRanks(as []argument, opts *MapOpts) {
	rank := len(opts.Shape)
	for _, a := range as {
		if a.t != nil && a.p.Role == gokernel.Scalar {
			rank = max(rank, a.t.Rank())
		}
	}
	for i := range as {
		if a := &as[i]; a.t != nil && a.p.Role == gokernel.Scalar {
			a.t = a.t.Reshape(padded((*core.Tensor)(a.t).Sizes(), rank)...)
		}
	}
	if opts.Shape != nil {
		opts.Shape = padded(opts.Shape, rank)
	}
}

func padded(shape []int, rank int) []int {
	shape = append([]int(nil), shape...)
	for len(shape) < rank {
		shape = append(shape, 1)
	}
	return shape
}

// mapper composes the function over broadcast arguments; shaped says that the last one is
// there for its shape alone.
func (f *Func) mapper(as []argument, shaped bool) *runner {
	in := f.instance(as)
	params := f.taken
	b := f.gradient(in, as, in.Returns())
	r := newRunner(f.f.Name(), func(xs []*ir.Node) []*ir.Node {
		var shapes [][]int
		for i, p := range params {
			if p.Role == gokernel.Scalar {
				shapes = append(shapes, xs[i].Shape)
			}
		}
		if shaped {
			shapes = append(shapes, xs[len(xs)-1].Shape)
		}
		shape := array.Broadcast(f.f.Name(), shapes...)
		fr := frame{g: xs[0].Graph, args: xs[:len(params)], shape: shape, extents: shape, more: xs[len(params):]}
		args := fr.inputs(f, in)
		if shaped {
			fr.widen(in, args)
		}
		return joined(op.ApplyAll(op.Kernel, b, args...), in.Returns())
	}, nil)
	r.random = takesRandom(in)
	return r
}
