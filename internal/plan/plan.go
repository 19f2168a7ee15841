// Package plan turns a tensor graph with known shapes into a list of steps: fused
// kernels in the loop language, routines, and the memory they need. Everything
// that depends on shapes and strides is decided here once; running a plan only
// fills in addresses and numbers.
//
// # What fuses
//
// A cluster of nodes becomes one kernel over one rectangle:
//   - point: elementwise nodes of equal shape;
//   - row: those, plus reductions over the last axes, what is computed from
//     their results a row, and elementwise nodes that these are broadcast back
//     into (softmax, layer norm);
//   - column: those, plus reductions over axes that others follow.
//
// # The order of a reduction
//
// A row reduction has the order of loop.OpReduce. A column reduction adds rows
// in ascending order in blocks of numbers.ColumnBlock rows and combines the blocks by
// the same tree of neighbours. Which of the two it is depends on the logical
// shape alone: axes of size 1 aside, whether an axis follows the reduced ones.
package plan

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"weft/internal/array"
	"weft/internal/device"
	"weft/internal/ir"
	"weft/internal/loop"
	"weft/internal/op"
)

// A Sig describes an array without its memory.
type Sig struct {
	DType   array.DType
	Shape   []int
	Strides []int
}

// SigOf returns the signature of a view.
func SigOf(v *array.View) Sig { return Sig{v.DType, v.Shape, v.Strides} }

// An Operand is a view on a slot.
type Operand struct {
	Slot    int
	Offset  int // elements
	DType   array.DType
	Shape   []int
	Strides []int
}

func (o *Operand) view() array.View {
	return array.View{DType: o.DType, Offset: o.Offset, Shape: o.Shape, Strides: o.Strides}
}

func (o *Operand) with(v array.View) Operand {
	return Operand{o.Slot, v.Offset, v.DType, v.Shape, v.Strides}
}

// A Slot is memory that a plan uses: first the inputs, then the outputs, then
// temporaries.
type Slot struct {
	Bytes  int // of outputs and temporaries
	Last   int // index of the last step that uses it, -1 for none
	Offset int // of a temporary, in bytes of the arena
}

// A ScalarArg is a Go number passed to a kernel.
type ScalarArg struct {
	Arg   int // which of the caller's numbers
	Word  int // of the frame
	DType array.DType
	// Min and Max bound an integer that is accepted: beyond the limits of DType it is
	// the nearest. With Test the kernel gets whether it lies between them.
	Min, Max int64
	Test     bool
}

// A Step is a kernel, or a routine when Node is set.
type Step struct {
	Kernel     *Kernel
	Epilogue   *Kernel  // the kernel that the routine runs on each finished piece of its result, or nil
	Node       *ir.Node // the routine's node
	Args       []Operand
	Outs       []Operand // of a routine, contiguous, one per result; Slot is -1 for unused results of a loop
	Concurrent int       // number of steps from this one on, all kernels or all products, that are launched together
}

// A Kernel is a loop program bound to operands.
type Kernel struct {
	Prog    *loop.Program
	Binds   []Operand // one per buffer of Prog; only slot and offset matter
	Words   []uint64  // the frame's words; scalars are filled in at each run
	Extents []int
	Scalars []ScalarArg
	Cost    int // rough number of vector instructions per element
	Around  []Around
	Looped  *Looped     // of a kernel that a loop around it runs, else nil
	Ragged  *RaggedAxis // of a kernel over the items of a list, else nil
	Columns int         // of an epilogue: number of last axes that walk the columns of the routine's result
	Result  uint32      // of an epilogue: bits of the buffers that read the routine's result, 0 if other steps read it too
	Nodes   []int32     // numbers of the nodes that it computes, which it keeps no graph for
	Flops   int64       // arithmetic operations; if several kernels compute the same nodes, the first one has them
}

// Bytes returns the bytes that the kernel reads and writes, each element of an operand once.
func (k *Kernel) Bytes() int64 {
	sum := int64(0)
	for i, b := range k.Prog.Bufs {
		n := int64(b.DType.Size())
		for a, s := range b.Steps {
			if s != loop.Zero {
				n *= int64(k.Extents[a])
			}
		}
		for _, a := range k.Around {
			if a.Strides[i] != 0 {
				n *= int64(a.Extent)
			}
		}
		sum += n
	}
	return sum
}

// A RaggedAxis describes a kernel over the items of a list. Rows of the program's first axis are
// items, and one more axis is ragged (loop.Axis.Offsets).
type RaggedAxis struct {
	Node *ir.Node // the first operation over items, for errors
	Rows int      // offsets must be at most this
	// Outside computes rows that are in no item: its first axis are the rows. Nil if nothing is
	// computed for rows.
	Outside *Kernel
}

// Around is an axis outside a kernel's program, which holds at most [loop.MaxAxes]. The program
// is launched once for each index of it.
type Around struct {
	Extent  int
	Strides []int // elements, one a buffer
}

// A Plan is a graph made ready to run.
type Plan struct {
	Inputs int
	Slots  []Slot
	Steps  []Step
	Outs   []Operand
	Arena  int // bytes of the temporaries, which share one block
	Live   int // the most that are alive at a time, which no arena can be smaller than
	// InPlace holds when outputs may be written while inputs that are exactly
	// the same memory are still read: elementwise plans.
	InPlace bool
}

// Build plans outs. ins describes the inputs of the graph in order. dst, when
// not nil, gives the layout of the memory that the caller provides for each
// output (nil Shape: none).
//
// The model of the device that will run the plan decides how the graph is cut, and no bit of a
// result.
func Build(outs []*ir.Node, ins, dst []Sig, on *device.Model) *Plan {
	return build(outs, ins, dst, nil, on).p
}

func build(outs []*ir.Node, ins, dst []Sig, into []int, on *device.Model) *planner {
	b := &planner{p: &Plan{Inputs: len(ins)}, on: on}
	outs = op.Formulas(outs, func(n *ir.Node) bool { return on.Scores > 0 && op.Scores(n) >= on.Scores })
	b.outs = b.takeGathers(op.TakeHalves(outs))
	b.reach = ir.Reach(b.outs)
	for range ins {
		b.p.Slots = append(b.p.Slots, Slot{Last: -1})
	}
	b.ins = ins
	if slices.ContainsFunc(into, func(i int) bool { return i >= 0 }) {
		b.into = into
	}
	b.cluster()
	b.assign(dst)
	b.emit()
	b.intoInput()
	b.finish()
	return b
}

type planner struct {
	p     *Plan
	on    *device.Model
	ins   []Sig
	into  []int // the input whose memory each output is given, -1 for none; nil if none is given
	outs  []*ir.Node
	reach []bool

	infos        []nodeInfo // by node ID
	clusters     []*cluster // in the order in which they were begun; nil: absorbed
	walkID       int        // number of the current walk over clusters
	budget       int        // users that may still be visited for the current node
	readsWindows bool       // a kernel reads arguments otherwise than by element: their memory is not written meanwhile
	statVisits   int        // nodes and users visited so far, for tests

	origins map[*ir.Node]int // of nodes of the planner's own: the number of what they stand for

	// Scratch of one function each.
	found, above []*cluster
	reads        []*ir.Node
	touched      []*nodeInfo
}

// assign gives every output its slot.
func (b *planner) assign(dst []Sig) {
	for i, n := range b.outs {
		slot := len(b.p.Slots)
		b.p.Slots = append(b.p.Slots, Slot{Bytes: n.Size() * n.DType.Size(), Last: -1})
		o := Operand{Slot: slot, DType: n.DType, Shape: n.Shape, Strides: array.RowMajor(n.Shape)}
		if dst != nil && dst[i].Shape != nil {
			o.Strides = dst[i].Strides
			if v := o.view(); n.Op == op.Put && b.into != nil && b.into[i] >= 0 && !v.Contiguous() {
				o.Strides = array.RowMajor(n.Shape) // which Put needs; intoInput copies it
			}
		}
		b.p.Outs = append(b.p.Outs, o)
		if at := b.info(n); at.dst == nil {
			at.dst = &o
		}
		// A reshaped result is computed in its place.
		m := n
		for m.Op == op.Reshape {
			m = m.Args[0]
		}
		if at := b.info(m); m != n && at.dst == nil && m.Op != ir.Input && !isScalar(m) && !isView(m) {
			if v := o.view(); v.Contiguous() {
				at.dst = &Operand{Slot: slot, DType: n.DType, Shape: m.Shape, Strides: array.RowMajor(m.Shape)}
			}
		}
	}
	if len(b.outs) == 0 {
		return
	}
	// Outer ones first: what they are put together of may be put together itself.
	nodes := b.outs[0].Graph.Nodes[:len(b.reach)]
	for _, n := range slices.Backward(nodes) {
		if b.reach[n.ID] && (n.Op == op.Complex || n.Op == op.Cat) {
			b.assignParts(n)
		}
	}
}

// assignParts has parts of complex numbers and of concatenated arrays computed in their places.
// Not parts that others read as well, which may want them contiguous, nor those that go into a
// row by less than a line of the cache: a copy of whole rows is faster then.
func (b *planner) assignParts(n *ir.Node) {
	home := b.home(n)
	parts, _, _ := op.Parts(n, home.view())
	for i, a := range n.Args {
		if a.Op == ir.Input || isScalar(a) || isView(a) || b.info(a).dst != nil {
			continue
		}
		if n.Op == op.Cat {
			axis := int(n.Attrs.(op.Axis))
			if len(b.info(a).users) != 1 || axis > 0 && array.Size(a.Shape[axis:])*a.DType.Size() < b.on.Line {
				continue
			}
		}
		o := home.with(parts[i])
		b.info(a).dst = &o
	}
}

// temp returns a new contiguous temporary.
func (b *planner) temp(d array.DType, shape []int) Operand {
	b.p.Slots = append(b.p.Slots, Slot{Bytes: array.Size(shape) * d.Size(), Last: -1})
	return Operand{Slot: len(b.p.Slots) - 1, DType: d, Shape: shape, Strides: array.RowMajor(shape)}
}

// home returns where the value of n goes when it is computed: its output slot
// or a temporary.
func (b *planner) home(n *ir.Node) Operand {
	s := b.info(n)
	if s.place == nil {
		if s.place = s.dst; s.place == nil {
			o := b.temp(n.DType, n.Shape)
			s.place = &o
		}
	}
	return *s.place
}

// value returns where the value of n can be read, computing windows.
func (b *planner) value(n *ir.Node) Operand {
	// From the first node on the way to n that has a place.
	var windows []*ir.Node
	for ; isView(n); n = n.Args[0] {
		if b.info(n).place != nil {
			break
		}
		windows = append(windows, n)
	}
	if b.info(n).place == nil {
		var x Operand
		switch {
		case n.Op == ir.Input:
			i := n.Arg()
			x = Operand{Slot: i, DType: n.DType, Shape: n.Shape, Strides: b.ins[i].Strides}
		case isScalar(n):
			// A window on a number, such as its expansion.
			x = b.temp(n.DType, n.Shape)
			b.fill(x, n)
		default:
			panic(fmt.Sprintf("plan: %s has no place yet", n))
		}
		b.info(n).place = &x
	}
	x := b.info(n).place
	for i := len(windows) - 1; i >= 0; i-- {
		y := b.window(windows[i], *x)
		x = &y
		b.info(windows[i]).place = x
	}
	return *x
}

// window returns where the value of n, a window, can be read, its argument being at x.
func (b *planner) window(n *ir.Node, x Operand) Operand {
	if n.Op != op.Reshape {
		return x.with(op.Of(n).View(x.view(), n))
	}
	v := x.view()
	w, ok := v.Reshape(n.Shape)
	if !ok {
		c := b.temp(n.DType, n.Args[0].Shape)
		b.copy(c, x)
		v = c.view()
		w, _ = v.Reshape(n.Shape)
		x = c
	}
	return x.with(w)
}

// isView reports a view op: a node whose result is a window on its argument.
func isView(n *ir.Node) bool {
	d := op.Of(n)
	return d != nil && d.Class == op.View
}

func isScalar(n *ir.Node) bool {
	return n.Op == ir.Scalar || n.Op == ir.Between || n.Op == ir.Const
}

// nothing reports that no output has an element, so that nothing needs to be
// computed, unless by a routine, which may refuse its arguments.
func (b *planner) nothing() bool {
	for _, n := range b.outs {
		if n.Size() > 0 {
			return false
		}
	}
	for _, c := range b.clusters {
		if c != nil && c.single != nil {
			if d := op.Of(c.single); d != nil && (d.Class == op.Routine || d.Class == op.Control) {
				return false
			}
		}
	}
	return true
}

// emit writes the steps.
func (b *planner) emit() {
	if b.nothing() {
		return
	}
	order := b.order()
	b.p.Steps = make([]Step, 0, len(order))
	for _, c := range order {
		if c.head != nil {
			b.emitWithEpilogue(c)
			continue
		}
		if c.single != nil {
			b.emitSingle(c.single)
			continue
		}
		b.emitCluster(c)
	}
	for i, n := range b.outs {
		want := b.p.Outs[i]
		if isView(n) {
			b.value(n)
		}
		if o := b.info(n).place; o != nil && o.Slot == want.Slot {
			continue
		}
		// An input, a window, a number or the same node twice.
		if isScalar(n) {
			b.fill(want, n)
			continue
		}
		b.copy(want, b.value(n))
	}
}

func (b *planner) emitSingle(n *ir.Node) {
	if n.Op == ir.Result {
		return // the step of the node that it is a result of has put it in its place
	}
	d := op.Of(n)
	switch d.Class {
	case op.View:
		// Windows are taken when they are read.
	case op.Concat:
		out := b.home(n)
		parts, covered, fill := op.Parts(n, out.view())
		if !covered {
			g := n.Graph
			if v := out.view(); n.DType.Complex() {
				b.fill(out.with(v.Part(0)), g.Number(fill, n.DType.Part(), false))
				b.fill(out.with(v.Part(1)), g.Number(0, n.DType.Part(), false))
			} else {
				b.fill(out, g.Number(fill, n.DType, false))
			}
		}
		if b.alternate(n, out, parts) {
			break
		}
		for i, w := range parts {
			if array.Size(w.Shape) == 0 {
				continue
			}
			to := out.with(w)
			if at := b.info(n.Args[i]).place; at != nil && at.Slot == to.Slot && at.Offset == to.Offset {
				continue // it was computed there
			}
			b.copy(to, b.value(n.Args[i]))
		}
	case op.Routine, op.Control:
		s := Step{Node: n}
		for _, a := range n.Args {
			if isScalar(a) {
				t := b.temp(a.DType, nil)
				b.fill(t, a)
				s.Args = append(s.Args, t)
				continue
			}
			o := b.value(a)
			if v := o.view(); d.Contiguous && !v.Contiguous() {
				t := b.temp(o.DType, o.Shape)
				b.copy(t, o)
				o = t
			}
			s.Args = append(s.Args, o)
		}
		// Routines write contiguous memory.
		results := []*ir.Node{n}
		if n.Results != nil {
			results = b.results(n)
		}
		for i, r := range results {
			if r == nil { // nobody uses it
				t := n.Results[i]
				if d == op.Loop {
					s.Outs = append(s.Outs, Operand{Slot: -1})
					continue
				}
				s.Outs = append(s.Outs, b.temp(t.DType, t.Shape))
				continue
			}
			o := b.home(r)
			if v := o.view(); !v.Contiguous() {
				o = b.temp(r.DType, r.Shape)
			}
			s.Outs = append(s.Outs, o)
		}
		s.Node = b.traced(n)
		b.step(s)
		for i, r := range results {
			if r != nil && s.Outs[i].Slot != b.home(r).Slot {
				b.copy(b.home(r), s.Outs[i])
			}
		}
	default:
		panic("plan: " + d.Name + " cannot be computed")
	}
}

// traced returns n with the number of the node that it replaces, for errors.
func (b *planner) traced(n *ir.Node) *ir.Node {
	id, ok := b.origins[n]
	if !ok {
		return n
	}
	own := *n
	own.ID = id
	return &own
}

// results returns the values of a node that has several, in order, nil for one that
// nobody uses.
func (b *planner) results(n *ir.Node) []*ir.Node {
	out := make([]*ir.Node, len(n.Results))
	for _, u := range b.info(n).users {
		out[u.Arg()] = u
	}
	return out
}

// step appends a step and notes which slots it uses.
func (b *planner) step(s Step) {
	b.p.Steps = append(b.p.Steps, s)
	at := len(b.p.Steps) - 1
	if s.Kernel != nil {
		for _, o := range s.Kernel.Binds {
			b.p.Slots[o.Slot].Last = at
		}
		return
	}
	for _, o := range s.Args {
		b.p.Slots[o.Slot].Last = at
	}
	for _, o := range s.Outs {
		if o.Slot >= 0 {
			b.p.Slots[o.Slot].Last = at
		}
	}
}

// copy adds a step that copies src, broadcast, to dst: a kernel, or the routine
// for sources and destinations that run along different axes.
func (b *planner) copy(dst, src Operand) {
	v := src.view()
	src = src.with(v.BroadcastTo(dst.Shape))
	if dst, src = asKernelTypes(dst, src); b.crosses(dst, src) {
		b.step(Step{Node: &ir.Node{Op: op.Copy, DType: dst.DType, Shape: dst.Shape}, Args: []Operand{src}, Outs: []Operand{dst}})
		return
	}
	k := newKernel(b, "copy", dst.Shape, -1, -1)
	x := k.operand(src, false)
	y := k.operand(dst, true)
	k.build(func(kb *loop.Builder) {
		kb.Pass(func() { kb.Store(k.buf(y), kb.Load(k.buf(x))) })
	})
}

// asKernelTypes returns the operands of a copy with element types that kernels have: integers or
// parts instead of complex numbers.
func asKernelTypes(dst, src Operand) (Operand, Operand) {
	switch v, w := src.view(), dst.view(); dst.DType {
	case array.Complex64: // 8 bytes, whatever they mean
		dst.DType, src.DType = array.Int64, array.Int64
	case array.Complex128:
		dst, src = dst.with(w.Scalars()), src.with(v.Scalars())
	}
	return dst, src
}

// alternate stacks arrays along the axis on which the result runs, so that their elements
// alternate there: two to four of wide elements with one kernel, others by way of memory where
// one lies behind the other. It reports whether it did.
func (b *planner) alternate(n *ir.Node, out Operand, parts []array.View) bool {
	if n.Op != op.Cat || len(parts) < 2 || n.Size() == 0 {
		return false
	}
	axis, size := int(n.Attrs.(op.Axis)), n.DType.Size()
	if n.Shape[axis] != len(parts) || out.Strides[axis] != 1 {
		return false
	}
	for _, w := range parts {
		if w.Shape[axis] != 1 {
			return false
		}
	}
	if len(parts) > 4 || size < 4 {
		return b.stackAcross(n, out, axis)
	}
	var k *kernel
	var from, to []int
	for i, w := range parts {
		dst, src := asKernelTypes(out.with(w), b.value(n.Args[i]))
		if b.crosses(dst, src) {
			return false
		}
		if k == nil {
			k = newKernel(b, "copy", dst.Shape, -1, -1)
		}
		from = append(from, k.operand(src, false))
		to = append(to, k.operand(dst, true))
	}
	k.build(func(kb *loop.Builder) {
		kb.Pass(func() {
			var v []loop.Value
			for _, x := range from {
				v = append(v, kb.Load(k.buf(x)))
			}
			for i, y := range to {
				kb.Store(k.buf(y), v[i])
			}
		})
	})
	return true
}

// stackAcross copies the arrays one behind the other and transposes that, if the result is large
// enough for the routine. It reports whether it did.
func (b *planner) stackAcross(n *ir.Node, out Operand, axis int) bool {
	each := slices.Clone(n.Shape)
	each[axis] = 1
	between := Operand{DType: n.DType, Shape: n.Shape, Strides: array.RowMajor(each)}
	between.Strides[axis] = array.Size(each)
	if to, from := asKernelTypes(out, between); n.DType.Size() > 8 || !b.crosses(to, from) {
		return false
	}
	between.Slot = b.temp(n.DType, n.Shape).Slot
	for i, a := range n.Args {
		part := between
		part.Shape, part.Offset = each, i*between.Strides[axis]
		b.copy(part, b.value(a))
	}
	b.copy(out, between)
	return true
}

// crosses reports that a copy from src to dst, of equal shapes, is a transpose: the
// axis along which src runs is another than that of dst.
func (b *planner) crosses(dst, src Operand) bool {
	if array.Size(dst.Shape)*dst.DType.Size() < b.on.Transpose {
		return false
	}
	from, to := -1, -1
	for a, n := range dst.Shape {
		if n == 1 {
			continue
		}
		if src.Strides[a] == 1 {
			from = a
		}
		if dst.Strides[a] == 1 {
			to = a
		}
	}
	return from >= 0 && to >= 0 && from != to
}

// fill adds a kernel that stores a number everywhere.
func (b *planner) fill(dst Operand, n *ir.Node) {
	k := newKernel(b, "fill", dst.Shape, -1, -1)
	y := k.operand(dst, true)
	k.build(func(kb *loop.Builder) {
		v := k.number(n)
		kb.Pass(func() { kb.Store(k.buf(y), v) })
	})
}

func (b *planner) finish() {
	if len(b.p.Steps) == 1 && b.p.Steps[0].Kernel != nil {
		k := b.p.Steps[0].Kernel
		p := k.Prog
		b.p.InPlace = !b.readsWindows && p.Axes[p.Lane].Kind == loop.Parallel && len(p.Axes) == p.Lane+1
		for i := range k.Binds {
			b.p.InPlace = b.p.InPlace && b.inPlace(&k.Binds[i])
		}
	}
	b.passing()
	b.beside()
	b.arena()
	b.findConcurrent()
}

// inPlace reports that what is read or written at o are the elements of an input or of an
// output in their places, or a part of those that are complex, unless the array is repeated or
// neither.
func (b *planner) inPlace(o *Operand) bool {
	var in Sig
	switch k := o.Slot - b.p.Inputs; {
	case k < 0:
		in = b.ins[o.Slot]
	case k < len(b.p.Outs):
		in = Sig{DType: b.p.Outs[k].DType, Shape: b.p.Outs[k].Shape, Strides: b.p.Outs[k].Strides}
	default:
		return true
	}
	times := 1
	if in.DType.Complex() && !o.DType.Complex() {
		times = 2
	}
	if o.Offset >= times || o.Offset < 0 {
		return false
	}
	if array.Size(in.Shape) != array.Size(o.Shape) {
		return o.Slot < b.p.Inputs // not all of the output's memory is read
	}
	x, y := array.View{Shape: in.Shape, Strides: in.Strides}, array.View{Shape: o.Shape, Strides: slices.Clone(o.Strides)}
	for a := range y.Strides {
		y.Strides[a] /= times
	}
	if !array.Equal(in.Shape, o.Shape) {
		return x.Contiguous() && y.Contiguous()
	}
	for a, n := range in.Shape {
		if n > 1 && x.Strides[a] != y.Strides[a] {
			return false
		}
	}
	return true
}

// String shows the steps with their kernels.
func (p *Plan) String() string {
	var s strings.Builder
	for i, st := range p.Steps {
		if st.Kernel == nil {
			fmt.Fprintf(&s, "step %d: routine %s", i, st.Node.Op.OpName())
			for _, a := range st.Args {
				fmt.Fprintf(&s, " s%d%s", a.Slot, array.ShapeString(a.Shape))
			}
			s.WriteString(" ->")
			for _, o := range st.Outs {
				if o.Slot < 0 {
					s.WriteString(" -")
					continue
				}
				fmt.Fprintf(&s, " s%d%s", o.Slot, array.ShapeString(o.Shape))
			}
			s.WriteString("\n")
			if st.Epilogue != nil {
				st.Epilogue.write(&s, fmt.Sprintf("epilogue %d", i))
			}
			continue
		}
		st.Kernel.write(&s, fmt.Sprintf("step %d", i))
	}
	return s.String()
}

func (k *Kernel) write(s *strings.Builder, name string) {
	fmt.Fprintf(s, "%s: extents %v, buffers", name, k.Extents)
	for _, o := range k.Binds {
		fmt.Fprintf(s, " s%d", o.Slot)
	}
	for i, t := range k.Prog.Scalars {
		w := k.Prog.ScalarWord(i)
		if slices.ContainsFunc(k.Scalars, func(a ScalarArg) bool { return a.Word == w }) {
			continue
		}
		fmt.Fprintf(s, ", scalar %d is ", i)
		switch t {
		case loop.F32:
			fmt.Fprint(s, math.Float32frombits(uint32(k.Words[w])))
		case loop.F64:
			fmt.Fprint(s, math.Float64frombits(k.Words[w]))
		default:
			fmt.Fprint(s, int64(k.Words[w])<<(64-8*t.Size())>>(64-8*t.Size()))
		}
	}
	fmt.Fprintf(s, "\n%s", k.Prog)
	if k.Ragged != nil && k.Ragged.Outside != nil {
		k.Ragged.Outside.write(s, name+", rows in no item")
	}
}
