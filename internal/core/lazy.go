package core

import (
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"
	"weak"

	"weft/internal/array"
	"weft/internal/cache"
	"weft/internal/device"
	"weft/internal/exec"
	"weft/internal/ir"
	"weft/internal/op"
	"weft/internal/plan"
)

// Deferred fusion: elementwise operations and gathers on lazy tensors wait. The first use of a
// result runs the chain that leads to it as one kernel. That stores the result, and values that the
// tape or several waiting operations need. Results that nobody uses are not computed.

// LazyMost is the maximum number of operations in a waiting chain: a larger kernel gains little.
const LazyMost = 32

// lazyLeast is the number of elements from which waiting pays: a smaller kernel takes less time
// than looking up the kernel of a chain.
const lazyLeast = 2048

// Lazy does what weft.Scope.Lazy says.
func (s *Scope) Lazy() *Scope {
	s.notNil("lazy")
	s.run = &Run{Scope: s, Lazy: true}
	return s
}

// A waiting is an operation whose result was not used yet.
type waiting struct {
	p    *Planned
	nums []exec.Number
	Args []waitingArg // of tensors
	out  array.View   // where the result will be: its storage has no memory before

	Count int          // operations that wait, this one included
	users atomic.Int32 // operations that wait for this one

	mu   sync.Mutex // held to compute the result
	done atomic.Bool
}

// A waitingArg is a tensor operand.
type waitingArg struct {
	V       array.View
	version uint32
}

// Readers are the storages that waiting operations read, so that a write can have these
// computed before it. It holds nothing alive.
var Readers = waitingReaders{By: map[weak.Pointer[array.Storage]][]weak.Pointer[waiting]{}, Limit: 64}

type waitingReaders struct {
	Mu      sync.Mutex
	By      map[weak.Pointer[array.Storage]][]weak.Pointer[waiting]
	Entries int  // in all the lists together
	Limit   int  // of entries, at which those that wait no longer are looked for
	some    bool // array.Deferring is on for these
}

// later makes out, the result of p, wait; it reports false if p is to be computed now.
func (p *Planned) later(ops []Operand, out *Tensor) bool {
	gather := p.def == op.IndexSelect || p.def == op.Gather
	if p.def.Class != op.Pointwise && !gather || p.def == op.Iota || array.Size(p.Shape) < lazyLeast {
		return false
	}
	w := &waiting{p: p, Count: 1}
	for i := range ops {
		if ops[i].T == nil {
			w.nums = ops[i].numbers(w.nums)
			continue
		}
		t := ops[i].T
		t.Check(p.def.Name)
		if t.v.Store.Lent() {
			return false // who has a slice of it may write at any time
		}
		w.Args = append(w.Args, waitingArg{t.v, t.v.Store.Version()})
		if d := WaitingIn(t.v.Store); d != nil {
			w.Count += d.Count
		}
	}
	if err := p.Compiled().Fits(w.nums); err != nil {
		failed(p.def.Name, err)
	}
	if w.Count > LazyMost {
		for i := range w.Args {
			w.Args[i].V.Store.Ready()
		}
		w.Count = 1
	}
	for i := range w.Args {
		if d := WaitingIn(w.Args[i].V.Store); d != nil {
			d.users.Add(1)
		}
	}
	st := &array.Storage{Bytes: array.Size(p.Shape) * p.DType.Size(), Device: p.Device}
	w.out = array.View{Store: st, DType: p.DType, Shape: p.Shape, Strides: array.RowMajor(p.Shape)}
	st.Wait(w, w.ready)
	out.v = w.out
	w.note()
	return true
}

// ready computes the result, once.
func (w *waiting) ready() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.done.Load() {
		w.out.Store.Settle(w.compute().Store)
		w.done.Store(true)
	}
}

// reduced computes out, the result of p, a reduction, with what its operands wait for as one
// kernel; it reports false if they wait for nothing.
func (p *Planned) reduced(ops []Operand, out *Tensor) bool {
	if p.def.Class != op.Reduce && p.def.Over == op.NoAxes {
		return false
	}
	w := &waiting{p: p, Count: 1}
	for i := range ops {
		if ops[i].T == nil {
			return false
		}
		t := ops[i].T
		t.Check(p.def.Name)
		w.Args = append(w.Args, waitingArg{t.v, t.v.Store.Version()})
		if d := WaitingIn(t.v.Store); d != nil {
			w.Count += d.Count
		}
	}
	if w.Count == 1 {
		return false
	}
	out.v = w.compute()
	return true
}

// WaitingIn returns the operation whose result a storage waits for, nil if there is none.
func WaitingIn(st *array.Storage) *waiting {
	w, _ := st.Waits().(*waiting)
	return w
}

// note enters w among the readers of what it reads.
func (w *waiting) note() {
	Readers.Mu.Lock()
	defer Readers.Mu.Unlock()
	if Readers.Entries >= Readers.Limit {
		Readers.Entries = 0
		for st, list := range Readers.By {
			list = slices.DeleteFunc(list, func(r weak.Pointer[waiting]) bool {
				w := r.Value()
				return w == nil || w.done.Load()
			})
			if st.Value() == nil || len(list) == 0 {
				delete(Readers.By, st)
				continue
			}
			Readers.By[st] = list
			Readers.Entries += len(list)
		}
		Readers.Limit = max(64, 2*Readers.Entries)
	}
	me := weak.Make(w)
	for i := range w.Args {
		st := weak.Make(w.Args[i].V.Store)
		Readers.By[st] = append(Readers.By[st], me)
		Readers.Entries++
	}
	Readers.deferring()
}

// deferring turns [array.Deferring] on while storages are read by what waits. The caller holds mu.
func (r *waitingReaders) deferring() {
	switch some := len(r.By) > 0; {
	case some && !r.some:
		array.Deferring.Enter()
	case !some && r.some:
		array.Deferring.Leave()
	default:
		return
	}
	r.some = !r.some
}

// ComputeReaders computes what waits and reads a storage that is about to change.
func ComputeReaders(st *array.Storage) {
	if !array.Deferring.On() {
		return
	}
	Readers.Mu.Lock()
	key := weak.Make(st)
	list := Readers.By[key]
	delete(Readers.By, key)
	Readers.Entries -= len(list)
	Readers.deferring()
	Readers.Mu.Unlock()
	for _, r := range list {
		if w := r.Value(); w != nil && !w.out.Store.Released() {
			_ = Try(w.ready) // who uses the result is told, not who writes
		}
	}
}

// A chain is a waiting operation with those that it waits for, as one graph.
type chain struct {
	ops    []*waiting     // each after those that it waits for
	from   [][]lazySource // of each its operands
	at     map[*waiting]int
	leaves []array.View
	nums   []exec.Number
	key    []byte
	stored []int // operations whose results are stored, the last one first
}

// A lazySource is where an operand comes from: an operation of the chain, or a leaf.
type lazySource struct {
	waits bool
	at    int
}

// collect adds w and what it waits for. The key tells chains apart: planned operations by
// their addresses, which last as long as a plan that holds them.
func (c *chain) collect(w *waiting) int {
	if i, ok := c.at[w]; ok {
		return i
	}
	from := make([]lazySource, len(w.Args))
	for i := range w.Args {
		v := &w.Args[i].V
		if d := WaitingIn(v.Store); d != nil {
			if _, ok := windowOnto(nil, d, v); ok {
				from[i] = lazySource{true, c.collect(d)}
				continue
			}
		}
		from[i] = lazySource{false, c.leaf(w, i)}
	}
	i := len(c.ops)
	c.ops, c.from, c.at[w] = append(c.ops, w), append(c.from, from), i
	c.nums = append(c.nums, w.nums...)
	c.key = ir.Int(c.key, int(uintptr(unsafe.Pointer(w.p))))
	for _, s := range from {
		c.key = ir.Flag(ir.Int(c.key, s.at), s.waits)
	}
	return i
}

// leaf returns the number of an operand that is there.
func (c *chain) leaf(w *waiting, i int) int {
	v := w.there(i)
	for k := range c.leaves {
		if c.leaves[k].Same(v) {
			return k
		}
	}
	c.leaves = append(c.leaves, *v)
	return len(c.leaves) - 1
}

// there returns operand i, computed. That it is as it was when the operation was called is
// seen to by who writes or gives back memory.
func (w *waiting) there(i int) *array.View {
	a := &w.Args[i]
	switch {
	case a.V.Store.Released():
		array.Failf(w.p.def.Name, "", "an operand, %s, was released before the lazy result was used", array.TypeString(a.V.DType, a.V.Shape))
	case a.V.Store.Version() != a.version:
		array.Failf(w.p.def.Name, "", "an operand, %s, was modified before the lazy result was used", array.TypeString(a.V.DType, a.V.Shape))
	}
	a.V.Store.Ready()
	return &a.V
}

// windowOnto returns what v shows of the result of d, which x is (nil: whether it can).
func windowOnto(x *ir.Node, d *waiting, v *array.View) (*ir.Node, bool) {
	o := &d.out
	switch {
	case v.DType != o.DType || v.Offset != 0:
		return nil, false
	case v.Contiguous() && v.Size() == o.Size():
		if x == nil || array.Equal(v.Shape, o.Shape) {
			return x, true
		}
		return op.Apply(op.Reshape, op.Shape(v.Shape), x), true
	}
	// Repeated along axes.
	k := len(v.Shape) - len(o.Shape)
	if k < 0 {
		return nil, false
	}
	for a, n := range v.Shape {
		switch {
		case (a < k || o.Shape[a-k] == 1) && v.Strides[a] == 0:
		case a >= k && n == o.Shape[a-k] && v.Strides[a] == o.Strides[a-k]:
		default:
			return nil, false
		}
	}
	if x == nil {
		return nil, true
	}
	return op.Apply(op.Expand, op.Shape(v.Shape), x), true
}

// A lazyPlan is the kernel of a chain, from the second time that it is met.
type lazyPlan struct {
	met  atomic.Bool
	once sync.Once
	c    *exec.Compiled
	ops  []*Planned // held, so that their addresses mean nothing else
}

// chains has the kernels of chains.
var chains = cache.NewKeyed[string, *lazyPlan](1 << 12)

// compute returns the result.
func (w *waiting) compute() array.View {
	c := &chain{at: map[*waiting]int{}}
	if w.Count > 1 {
		c.collect(w)
	}
	if len(c.ops) < 2 {
		return w.alone()
	}
	for i := len(c.ops) - 1; i >= 0; i-- {
		if o := c.ops[i]; o == w || o.users.Load() > 1 || o.out.Store.Saved() {
			c.stored = append(c.stored, i)
			c.key = ir.Int(c.key, i)
		}
	}
	lp, _ := chains.Get(string(c.key), func() (*lazyPlan, error) {
		lp := &lazyPlan{}
		for _, o := range c.ops {
			lp.ops = append(lp.ops, o.p)
		}
		return lp, nil
	})
	if !lp.met.Swap(true) {
		return w.alone()
	}
	lp.once.Do(func() { lp.c = c.plan() })
	ins := make([]*array.View, len(c.leaves))
	for i := range ins {
		ins[i] = &c.leaves[i]
	}
	outs := make([]array.View, len(c.stored))
	RunPlan(w.p.def.Name, lp.c, ins, c.nums, outs)
	for k, i := range c.stored {
		o := c.ops[i]
		if o == w {
			continue
		}
		if taken := o.take(outs[k].Store); !taken { // it was computed meanwhile
			Free(outs[k].Store)
		}
	}
	return outs[0]
}

// take makes st, which has the result, the memory of w's; it reports false if that is
// there or on its way.
func (w *waiting) take(st *array.Storage) bool {
	if !w.mu.TryLock() {
		return false
	}
	defer w.mu.Unlock()
	if w.done.Load() {
		return false
	}
	w.out.Store.Settle(st)
	w.done.Store(true)
	return true
}

// alone computes the result by its own kernel.
func (w *waiting) alone() array.View {
	ins := make([]*array.View, len(w.Args))
	for i := range ins {
		ins[i] = w.there(i)
	}
	var out [1]array.View
	RunPlan(w.p.def.Name, w.p.Compiled(), ins, w.nums, out[:])
	return out[0]
}

// plan makes the kernel of the chain.
func (c *chain) plan() *exec.Compiled {
	g := ir.New()
	leaves := make([]*ir.Node, len(c.leaves))
	sigs := make([]plan.Sig, len(c.leaves))
	for i := range c.leaves {
		v := &c.leaves[i]
		leaves[i], sigs[i] = g.Input(i, v.DType, v.Shape), plan.SigOf(v)
	}
	nodes := make([]*ir.Node, len(c.ops))
	nums := 0
	for i, w := range c.ops {
		args := make([]*ir.Node, 0, len(w.p.Sigs))
		k := 0
		for j := range w.p.Sigs {
			if s := &w.p.Sigs[j]; s.num {
				args = append(args, s.number(g, &nums))
				continue
			}
			if from := c.from[i][k]; from.waits {
				x, _ := windowOnto(nodes[from.at], c.ops[from.at], &w.Args[k].V)
				args = append(args, x)
			} else {
				args = append(args, leaves[from.at])
			}
			k++
		}
		nodes[i] = op.Apply(w.p.def, w.p.A, args...)
	}
	outs := make([]*ir.Node, len(c.stored))
	for k, i := range c.stored {
		outs[k] = nodes[i]
	}
	return Compile("lazy", plan.Build(outs, sigs, nil, device.Get(c.ops[0].p.Device).Model()), c.ops[0].p.Device)
}
