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

// MaxLazyChain is the maximum number of waiting operations in a chain: a larger kernel gains little.
const MaxLazyChain = 32

// minLazySize is the minimum number of elements of a result that waits: a smaller kernel takes less
// time than looking up the kernel of a chain.
const minLazySize = 2048

// Lazy does what weft.Scope.Lazy says.
func (s *Scope) Lazy() *Scope {
	s.notNil("lazy")
	s.run = &Run{Scope: s, Lazy: true}
	return s
}

// lazyOp is a waiting operation: its result was not used yet.
type lazyOp struct {
	p      *Planned
	nums   []exec.Number
	Args   []lazyArg  // the tensor operands
	stream *Stream    // nil for the default one
	out    array.View // the result: its storage has no memory before it is computed

	Count int          // operations that wait, this one included
	users atomic.Int32 // operations that wait for this one

	mu   sync.Mutex // held to compute the result
	done atomic.Bool
}

// lazyArg is a tensor operand of a waiting operation.
type lazyArg struct {
	V       array.View
	version uint32
}

// LazyReaders has the waiting operations by the storages that they read, so that a write into one
// computes them before. It keeps nothing alive.
var LazyReaders = lazyReaders{By: map[weak.Pointer[array.Storage]][]weak.Pointer[lazyOp]{}, Limit: 64}

type lazyReaders struct {
	Mu      sync.Mutex
	By      map[weak.Pointer[array.Storage]][]weak.Pointer[lazyOp]
	Entries int  // the length of all lists together
	Limit   int  // the number of entries at which operations that no longer wait are removed
	some    bool // there are entries, so that array.Deferring is on
}

// deferOp makes out, the result of p, wait. It reports false if p is to be computed now.
func (p *Planned) deferOp(ops []Operand, out *Tensor) bool {
	gather := p.def == op.IndexSelect || p.def == op.Gather
	if p.def.Class != op.Pointwise && !gather || p.def == op.Iota || array.Size(p.Shape) < minLazySize {
		return false
	}
	w := &lazyOp{p: p, stream: out.run.Stream, Count: 1}
	for i := range ops {
		if ops[i].T == nil {
			w.nums = ops[i].numbers(w.nums)
			continue
		}
		t := ops[i].T
		t.Check(p.def.Name)
		if t.v.Store.Lent() {
			return false // a holder of its slice may write at any time
		}
		w.Args = append(w.Args, lazyArg{t.v, t.v.Store.Version()})
		if d := LazyOpOf(t.v.Store); d != nil {
			w.Count += d.Count
		}
	}
	if err := p.Compiled().Fits(w.nums); err != nil {
		failed(p.def.Name, err)
	}
	if w.Count > MaxLazyChain {
		for i := range w.Args {
			w.Args[i].V.Store.Ready()
		}
		w.Count = 1
	}
	for i := range w.Args {
		if d := LazyOpOf(w.Args[i].V.Store); d != nil {
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
func (w *lazyOp) ready() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.done.Load() {
		w.out.Store.Settle(w.compute().Store)
		w.done.Store(true)
	}
}

// fuseReduction computes out, the result of the reduction p, and the operations that its operands
// wait for as one kernel. It reports false if no operand waits.
func (p *Planned) fuseReduction(ops []Operand, out *Tensor) bool {
	if p.def.Class != op.Reduce && p.def.Over == op.NoAxes {
		return false
	}
	w := &lazyOp{p: p, stream: out.run.Stream, Count: 1}
	for i := range ops {
		if ops[i].T == nil {
			return false
		}
		t := ops[i].T
		t.Check(p.def.Name)
		w.Args = append(w.Args, lazyArg{t.v, t.v.Store.Version()})
		if d := LazyOpOf(t.v.Store); d != nil {
			w.Count += d.Count
		}
	}
	if w.Count == 1 {
		return false
	}
	out.v = w.compute()
	return true
}

// LazyOpOf returns the waiting operation that computes a storage, nil if there is none.
func LazyOpOf(st *array.Storage) *lazyOp {
	w, _ := st.Waits().(*lazyOp)
	return w
}

// note enters w among the readers of its operands' storages.
func (w *lazyOp) note() {
	LazyReaders.Mu.Lock()
	defer LazyReaders.Mu.Unlock()
	if LazyReaders.Entries >= LazyReaders.Limit {
		LazyReaders.Entries = 0
		for st, list := range LazyReaders.By {
			list = slices.DeleteFunc(list, func(r weak.Pointer[lazyOp]) bool {
				w := r.Value()
				return w == nil || w.done.Load()
			})
			if st.Value() == nil || len(list) == 0 {
				delete(LazyReaders.By, st)
				continue
			}
			LazyReaders.By[st] = list
			LazyReaders.Entries += len(list)
		}
		LazyReaders.Limit = max(64, 2*LazyReaders.Entries)
	}
	me := weak.Make(w)
	for i := range w.Args {
		st := weak.Make(w.Args[i].V.Store)
		LazyReaders.By[st] = append(LazyReaders.By[st], me)
		LazyReaders.Entries++
	}
	LazyReaders.deferring()
}

// deferring turns [array.Deferring] on while there are entries. Requires that the caller holds Mu.
func (r *lazyReaders) deferring() {
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

// ComputeReaders computes the waiting operations that read a storage that is about to change.
func ComputeReaders(st *array.Storage) {
	if !array.Deferring.On() {
		return
	}
	LazyReaders.Mu.Lock()
	key := weak.Make(st)
	list := LazyReaders.By[key]
	delete(LazyReaders.By, key)
	LazyReaders.Entries -= len(list)
	LazyReaders.deferring()
	LazyReaders.Mu.Unlock()
	for _, r := range list {
		if w := r.Value(); w != nil && !w.out.Store.Released() {
			_ = Try(w.ready) // the user of the result gets the error, not the writer
		}
	}
}

// chain is a waiting operation and the waiting operations upstream of it, as one graph.
type chain struct {
	ops    []*lazyOp      // in topological order
	from   [][]lazySource // the operands of each operation
	at     map[*lazyOp]int
	leaves []array.View
	nums   []exec.Number
	key    []byte
	stored []int // operations whose results are stored, the last one first
}

// lazySource is where an operand comes from: an operation of the chain, or a leaf.
type lazySource struct {
	waits bool // an operation of the chain
	at    int  // its index in ops, or the leaf's in leaves
}

// collect adds w and the operations that it waits for, and returns w's index. The key identifies
// planned operations by their addresses, which are not used again while a plan holds them.
func (c *chain) collect(w *lazyOp) int {
	if i, ok := c.at[w]; ok {
		return i
	}
	from := make([]lazySource, len(w.Args))
	for i := range w.Args {
		v := &w.Args[i].V
		if d := LazyOpOf(v.Store); d != nil {
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

// leaf returns the index of an operand among the leaves; it computes one that waits.
func (c *chain) leaf(w *lazyOp, i int) int {
	v := w.operand(i)
	for k := range c.leaves {
		if c.leaves[k].Same(v) {
			return k
		}
	}
	c.leaves = append(c.leaves, *v)
	return len(c.leaves) - 1
}

// operand returns operand i, computed. Code that writes or releases memory calls ComputeReaders
// before, so the elements are as they were when the operation was called; else it panics.
func (w *lazyOp) operand(i int) *array.View {
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

// windowOnto returns the node for v, a view of d's result x: x itself, reshaped or expanded. It
// reports false for other views. With a nil x it only reports.
func windowOnto(x *ir.Node, d *lazyOp, v *array.View) (*ir.Node, bool) {
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
	// Expanded along axes.
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

// lazyPlan is the kernel of a chain. It is compiled at the chain's second sighting.
type lazyPlan struct {
	met  atomic.Bool
	once sync.Once
	c    *exec.Compiled
	ops  []*Planned // kept alive, so that their addresses identify them
}

// chains caches the kernels of chains by key.
var chains = cache.NewKeyed[string, *lazyPlan](1 << 12)

// compute returns the result.
func (w *lazyOp) compute() array.View {
	c := &chain{at: map[*lazyOp]int{}}
	if w.Count > 1 {
		c.collect(w)
	}
	if len(c.ops) < 2 {
		return w.computeAlone()
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
		return w.computeAlone()
	}
	lp.once.Do(func() { lp.c = c.plan() })
	ins := make([]*array.View, len(c.leaves))
	for i := range ins {
		ins[i] = &c.leaves[i]
	}
	outs := make([]array.View, len(c.stored))
	RunPlan(w.p.def.Name, w.stream, lp.c, ins, c.nums, outs)
	for k, i := range c.stored {
		o := c.ops[i]
		if o == w {
			continue
		}
		if adopted := o.adopt(outs[k].Store); !adopted { // it was computed meanwhile
			Free(outs[k].Store)
		}
	}
	return outs[0]
}

// adopt makes st, which holds w's result, the memory of w.out. It reports false if the result is
// computed or being computed.
func (w *lazyOp) adopt(st *array.Storage) bool {
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

// computeAlone computes the result by the operation's own kernel.
func (w *lazyOp) computeAlone() array.View {
	ins := make([]*array.View, len(w.Args))
	for i := range ins {
		ins[i] = w.operand(i)
	}
	var out [1]array.View
	RunPlan(w.p.def.Name, w.stream, w.p.Compiled(), ins, w.nums, out[:])
	return out[0]
}

// plan compiles the kernel of the chain.
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
