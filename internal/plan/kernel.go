package plan

import (
	"math"
	"slices"

	"weft/internal/array"
	"weft/internal/ir"
	"weft/internal/loop"
	"weft/internal/numbers"
	"weft/internal/op"
)

// A class of dimension: around the rows, reduced, or behind the reduced ones.
type dimClass uint8

const (
	outer dimClass = iota
	run
	trail
)

type dim struct {
	size  int
	class dimClass
	axis  int // the axis of the rectangle when only that one is in it, reducedAxes, else -1
	scale int // elements of the axis that an index of this dimension is worth
	first int // index of its first element
}

// reducedAxes is the [dim.axis] of the dimension that the reduced axes are walked as, and of
// that of its blocks.
const reducedAxes = -2

// An access is an operand walked over the dimensions of a kernel.
type access struct {
	o       Operand
	strides []int // elements, by dim
	write   bool
	buf     int
	fixed   bool    // it is read at offsets of the node's own
	base    *access // what shares its buffer with this one; nil: none
	by      int     // elements from that
	far     bool    // by is made of strides
}

// A kernel is a loop program in the making.
type kernel struct {
	b        *planner
	name     string
	shape    []int
	lo, hi   int
	acc      []*access
	keep     []int   // axes, or reducedAxes, whose indices are values: they do not merge with others
	cut      int     // axes from this one on must not merge with those before it
	epilogue bool    // the kernel is the epilogue of the last step
	user     bool    // what it computes is in part a user's
	does     string  // names of the operations, for people
	nodes    []int32 // numbers of what it computes
	flops    int64
	keptDims int      // number of leading axes that are dimensions even if they have one element
	offsets  int      // the operand of the offsets that rows of the kernel lie at, -1: none
	into     **Kernel // where the kernel goes; nil: it is a step

	dims    []dim
	kb      *loop.Builder
	lane    int // axis of the program
	serial  int // axis of the program that walks a column, -1
	progDim []int
	around  []int // dimensions that the program has no axes for
	scalars []scalar
	cost    int
}

// A scalar is an argument of a kernel: a number of the caller, or one that the plan knows.
type scalar struct {
	n     *ir.Node // nil for the latter, which the others tell apart
	of    int      // operand, or type of a constant
	what  uint8
	axis  int
	value int64
}

func newKernel(b *planner, name string, shape []int, lo, hi int) *kernel {
	return &kernel{b: b, name: name, shape: shape, lo: lo, hi: hi, offsets: -1}
}

// computes notes what the kernel computes.
func (k *kernel) computes(nodes []*ir.Node) {
	k.does, k.nodes = " "+does(nodes), make([]int32, len(nodes))
	for i, n := range nodes {
		k.nodes[i] = int32(n.ID)
	}
}

// operand registers an operand, which has the kernel's shape, and returns its
// number.
func (k *kernel) operand(o Operand, write bool) int {
	if !write {
		for i, a := range k.acc {
			if !a.write && a.o.Slot == o.Slot && a.o.Offset == o.Offset && a.o.DType == o.DType && array.Equal(a.strides, o.Strides) {
				return i
			}
		}
	}
	k.acc = append(k.acc, &access{o: o, strides: o.Strides, write: write, buf: -1})
	return len(k.acc) - 1
}

// keepIndex keeps the index along an axis, for [kernel.index].
func (k *kernel) keepIndex(axis int) {
	if k.reduces(axis) {
		axis = reducedAxes
	}
	k.keep = append(k.keep, axis)
}

// reduces reports a reduced axis.
func (k *kernel) reduces(axis int) bool { return axis >= k.lo && axis < k.hi }

// index returns the index of the element along an axis. The reduced axes are one dimension:
// their indices are digits of its index.
func (k *kernel) index(axis int) loop.Value {
	of := axis
	if k.reduces(axis) {
		of = reducedAxes
	}
	v := loop.NoValue
	for a, d := range k.progDim {
		if d := k.dims[d]; d.axis == of {
			i := k.kb.Index(a)
			if d.scale > 1 {
				i = k.kb.Mul(i, k.kb.Int(loop.I64, int64(d.scale)))
			}
			if v != loop.NoValue {
				i = k.kb.Add(v, i)
			}
			v = i
		}
	}
	if v == loop.NoValue || k.shape[axis] == 1 {
		return k.kb.Int(loop.I64, 0)
	}
	if of != reducedAxes {
		return v
	}
	// Integers of 4 bytes, if they suffice, are divided twice as fast.
	t := loop.I64
	if array.Size(k.shape[k.lo:k.hi]) <= math.MaxInt32 {
		t = loop.I32
	}
	v = k.kb.Cvt(t, v)
	if array.Size(k.shape[k.lo:axis]) > 1 {
		v = k.kb.RemU(v, k.kb.Cvt(t, k.word(0, 'i', axis, array.Size(k.shape[axis:k.hi]))))
	}
	if inner := array.Size(k.shape[axis+1 : k.hi]); inner > 1 {
		v = k.kb.QuoU(v, k.kb.Cvt(t, k.word(0, 'i', axis+1, inner)))
	}
	return k.kb.Cvt(loop.I64, v)
}

// collapse drops dimensions of size 1 and merges neighbours that every operand
// walks as one. The reduced axes always become one dimension, whose order is that in which
// [loop.OpReduce] and the serial loop of columns combine: the emitter copies what cannot be
// walked so.
func (k *kernel) collapse() {
	var dims []dim
	st := make([][]int, len(k.acc))
	prev := 0 // the axis before that is longer than 1
	for a, n := range k.shape {
		c := outer
		switch {
		case a >= k.lo && a < k.hi:
			c = run
		case k.lo >= 0 && a >= k.hi:
			c = trail
		}
		if n == 1 && a >= k.keptDims {
			continue
		}
		if c == run && k.emptyRun() {
			// One dimension without elements, whatever the sizes of the others: their
			// strides say nothing.
			if m := len(dims); m == 0 || dims[m-1].class != run {
				dims = append(dims, dim{0, run, reducedAxes, 1, 0})
				for i := range k.acc {
					st[i] = append(st[i], 0)
				}
			}
			continue
		}
		split := prev < k.cut && a >= k.cut
		prev = a
		axis := a
		if c == run {
			axis = reducedAxes
		}
		if m := len(dims); m > 0 && dims[m-1].class == c && !split && (c == run || !slices.Contains(k.keep, a) && !slices.Contains(k.keep, dims[m-1].axis)) {
			fits := true
			for _, x := range k.acc {
				fits = fits && st2(x, a-1, k.shape) == x.strides[a]*n
			}
			if !fits && c == run {
				array.Failf(k.name, "", "an operand does not walk the reduced axes of %s as one", array.ShapeString(k.shape))
			}
			if fits {
				dims[m-1].size *= n
				if c != run {
					axis = -1
				}
				dims[m-1].axis = axis
				for i, x := range k.acc {
					st[i][m-1] = x.strides[a]
				}
				continue
			}
		}
		dims = append(dims, dim{n, c, axis, 1, 0})
		for i, x := range k.acc {
			st[i] = append(st[i], x.strides[a])
		}
	}
	for i, x := range k.acc {
		x.strides = st[i]
	}
	k.dims = dims
}

// emptyRun reports a reduction of no elements.
func (k *kernel) emptyRun() bool {
	return k.lo >= 0 && k.offsets < 0 && array.Size(k.shape[k.lo:k.hi]) == 0
}

// st2 is the stride of the nearest axis at or before a that is longer than 1.
func st2(x *access, a int, shape []int) int {
	for ; a >= 0; a-- {
		if shape[a] != 1 {
			return x.strides[a]
		}
	}
	return 0
}

// count returns the number of dimensions of a class.
func (k *kernel) count(c dimClass) int {
	n := 0
	for _, d := range k.dims {
		if d.class == c {
			n++
		}
	}
	return n
}

// insert adds a dimension with one stride an operand.
func (k *kernel) insert(at int, d dim, strides func(x *access) int) {
	k.dims = append(k.dims[:at], append([]dim{d}, k.dims[at:]...)...)
	for _, x := range k.acc {
		s := strides(x)
		x.strides = append(append(append([]int(nil), x.strides[:at]...), s), x.strides[at:]...)
	}
}

// Verify makes [Build] verify all loop programs that it makes. They are right by
// construction; tests set it. Those that kernels of users are part of are always verified,
// before their integers are narrowed and behind it.
var Verify bool

// build makes the program: body gets a builder whose axes follow the dimensions.
// Point and row kernels end in the lane axis; a column kernel has its last
// trailing dimension as lanes and the reduced one as a serial axis.
func (k *kernel) build(body func(kb *loop.Builder)) {
	if k.dims == nil {
		k.collapse()
	}
	if k.lo < 0 || k.count(run) == 0 && k.count(trail) == 0 {
		if len(k.dims) == 0 || k.lo >= 0 {
			cl := outer
			if k.lo >= 0 {
				cl = run
			}
			k.insert(len(k.dims), dim{1, cl, -1, 1, 0}, func(*access) int { return 0 })
		}
	}
	col := k.count(trail) > 0
	// Order of the program's axes.
	var order []int
	runDim := -1
	for i, d := range k.dims {
		if d.class == run {
			runDim = i
			if col {
				continue
			}
		}
		order = append(order, i)
	}
	k.lane = len(order) - 1
	k.serial = -1
	axes := make([]loop.Axis, len(order))
	if k.lo >= 0 && !col {
		axes[k.lane].Kind = loop.Reduce
		if n := k.dims[order[k.lane]].size; k.offsets < 0 && n <= k.b.on.ShortRow && array.Size(k.shape) >= k.b.on.ShortElements {
			axes[k.lane].Extent = n
		}
	}
	if col {
		k.serial = len(order)
		axes = append(axes, loop.Axis{Kind: loop.Serial, Bound: numbers.ColumnBlock})
		if k.offsets >= 0 {
			axes[k.serial].Bound = 0
		}
		if runDim < 0 {
			k.insert(0, dim{1, run, reducedAxes, 1, 0}, func(*access) int { return 0 })
			for i := range order {
				order[i]++
			}
			runDim = 0
		}
		order = append(order, runDim)
	}
	if more := len(axes) - loop.MaxAxes; more > 0 {
		order, axes = k.peel(order, more), axes[more:]
		for _, d := range k.around {
			if k.dims[d].size == 0 {
				return // nothing to compute
			}
		}
	}
	k.progDim = order
	k.kb = loop.NewBuilder(k.name+k.does, axes, k.lane)
	if k.offsets >= 0 {
		axes[slices.Index(k.progDim, runDim)].Offsets = k.buf(k.offsets) + 1
	}
	body(k.kb)
	prog := k.kb.Finish()
	if n := k.dims[order[k.lane]].size; k.user && k.lo < 0 && k.offsets < 0 && !k.epilogue && n <= k.b.on.ShortRow && array.Size(k.shape)*k.cost >= k.b.on.ShortWork && loops(prog) {
		axes[k.lane].Extent = n
	}
	if Verify || k.user {
		k.verify(prog)
	}
	if k.user || len(k.keep) > 0 { // what has integers of 8 bytes that 4 may suffice for
		narrow, _ := loop.Narrow(prog)
		if narrow != prog && (Verify || k.user) {
			k.verify(narrow)
		}
		if prog = narrow; !k.user {
			prog.Kept = nil // those are for the author of a kernel
		}
	}
	k.finish(prog)
}

// loops reports a program with a loop that waits for itself: of short rows all vectors are to
// run side by side, and one vector at a time what is left of longer ones takes as long.
func loops(p *loop.Program) bool {
	for i := range p.Ins {
		if in := &p.Ins[i]; in.Op == loop.OpLoop && p.Region(in).Axis < 0 {
			return true
		}
	}
	return false
}

// verify refuses a program that breaks the rules which backends rely on.
func (k *kernel) verify(p *loop.Program) {
	if err := loop.Verify(p); err != nil {
		panic(&array.Error{Op: k.name, Msg: "gives a program that breaks the rules of the loop language", Err: err})
	}
}

// peel moves many outer axes out of the loop program into [Kernel.Around], because a program
// holds at most [loop.MaxAxes]. Axes whose indices are values stay in the program.
func (k *kernel) peel(order []int, many int) []int {
	rest := make([]int, 0, len(order))
	for i, d := range order {
		if len(k.around) < many && i < k.lane && !slices.Contains(k.keep, k.dims[d].axis) {
			k.around = append(k.around, d)
		} else {
			rest = append(rest, d)
		}
	}
	if len(k.around) < many {
		array.Failf(k.name, "", "shape %s: the indices of more than %d axes are wanted at once", array.ShapeString(k.shape), loop.MaxAxes-2)
	}
	k.lane -= many
	if k.serial >= 0 {
		k.serial -= many
	}
	return rest
}

// buf returns the program's buffer for an operand.
func (k *kernel) buf(i int) int {
	x := k.acc[i]
	if x.buf < 0 {
		steps := make([]loop.Step, len(k.progDim))
		for a, d := range k.progDim {
			if s := x.strides[d]; a == k.lane {
				steps[a] = loop.StepOf(s)
			} else if s != 0 {
				steps[a] = loop.Any
			}
			if axis := &k.kb.Program().Axes[a]; x.write && axis.Kind == loop.Parallel && steps[a] == loop.Zero && k.dims[d].size <= 1 {
				axis.Bound = 1
			}
		}
		x.buf = k.kb.Buf(x.o.DType, x.write, steps...)
		for _, y := range k.acc {
			if steps[k.lane].Elements() >= 2 && x.write && y.write && y.buf >= 0 && y.o.Slot == x.o.Slot && y.o.DType == x.o.DType && y.o.Offset+1 == x.o.Offset && slices.Equal(y.strides, x.strides) {
				k.kb.Program().Bufs[x.buf].Pair = y.buf + 1 // parts of complex numbers, or channels
			}
		}
	}
	return x.buf
}

// number is a Go number or constant as a value.
func (k *kernel) number(n *ir.Node) loop.Value {
	t := loop.TypeOf(n.DType)
	if n.Op == ir.Const {
		if n.DType.Float() {
			return k.kb.Float(t, op.Nearest(n.DType, n.Value().Float))
		}
		if t == loop.B {
			return k.kb.Bool(n.Value().Int != 0)
		}
		return k.kb.Int(t, n.Value().Int)
	}
	return k.scalar(scalar{n: n}, t)
}

// constant is a constant that n takes as an argument of the program: what is computed with 1/n
// for a mean of n elements is the same program for all n. It is NoValue where the number is to
// be seen by who compiles the program, or is no constant.
func (k *kernel) constant(n, x *ir.Node) loop.Value {
	if x.Op != ir.Const || k.user || x.DType == array.Bool || !op.AnyNumber(n) {
		return loop.NoValue
	}
	t := loop.TypeOf(x.DType)
	a := scalar{of: int(t), what: 'c', value: x.Value().Int}
	if x.DType.Float() {
		f := op.Nearest(x.DType, x.Value().Float)
		switch f {
		case 0, 0.5, 1, -1, 2:
			return loop.NoValue
		}
		if a.value = int64(math.Float64bits(f)); t == loop.F32 {
			a.value = int64(math.Float32bits(float32(f)))
		}
	} else {
		switch a.value {
		case 0, 1, -1, 2:
			return loop.NoValue
		}
		a.value = int64(uint64(a.value) << (64 - 8*t.Size()) >> (64 - 8*t.Size()))
	}
	if !k.room(a) {
		return loop.NoValue
	}
	return k.scalar(a, t)
}

// room reports whether the program has room for a scalar of the plan beside the caller's scalars.
func (k *kernel) room(a scalar) bool {
	return slices.Contains(k.scalars, a) || len(k.scalars)+maxNumbers < loop.ScalarRoom(len(k.progDim))
}

// scalar is a scalar argument as a value.
func (k *kernel) scalar(x scalar, t loop.Type) loop.Value {
	i := slices.Index(k.scalars, x)
	if i < 0 {
		i = k.kb.ScalarArg(t)
		k.scalars = append(k.scalars, x)
	}
	return k.kb.Scalar(i)
}

// finish binds the program to its operands.
func (k *kernel) finish(p *loop.Program) {
	out := &Kernel{Prog: p, Words: make([]uint64, p.Words()), Extents: make([]int, len(p.Axes)), Cost: max(k.cost, 1), Flops: k.flops, Nodes: k.nodes, Binds: make([]Operand, len(p.Bufs))}
	for a, d := range k.progDim {
		out.Extents[a] = k.dims[d].size
		out.Words[p.ExtentWord(a)] = uint64(k.dims[d].size)
		out.Words[p.StartWord(a)] = uint64(k.dims[d].first)
	}
	for _, x := range k.acc {
		if x.buf < 0 {
			continue
		}
		out.Binds[x.buf] = x.o
		for a, d := range k.progDim {
			out.Words[p.StrideWord(x.buf, a)] = uint64(x.strides[d] * x.o.DType.Size())
		}
	}
	for _, d := range k.around {
		a := Around{Extent: k.dims[d].size, Strides: make([]int, len(p.Bufs))}
		for _, x := range k.acc {
			if x.buf >= 0 {
				a.Strides[x.buf] = x.strides[d]
			}
		}
		out.Around = append(out.Around, a)
	}
	for i, x := range k.scalars {
		n := x.n
		if n == nil {
			out.Words[p.ScalarWord(i)] = uint64(x.value)
			continue
		}
		a := ScalarArg{Arg: n.Arg(), Word: p.ScalarWord(i), DType: n.DType, Test: n.Op == ir.Between}
		a.Min, a.Max = n.Bounds()
		out.Scalars = append(out.Scalars, a)
	}
	switch {
	case k.into != nil:
		*k.into = out
		return
	case k.epilogue && len(out.Around) == 0:
		k.b.setEpilogue(out, array.Size(k.shape[k.cut:]))
		return
	}
	k.b.step(Step{Kernel: out})
}
