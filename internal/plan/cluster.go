package plan

import (
	"slices"
	"sync"

	"weft/internal/array"
	"weft/internal/device"
	"weft/internal/ir"
	"weft/internal/loop"
	"weft/internal/numbers"
	"weft/internal/op"
)

// A cluster is a set of nodes that become one kernel, or a single node that is not
// in a kernel (a routine, a view op).
type cluster struct {
	seq     int      // clusters in the order in which they were begun
	level   int      // greater than the level of every cluster that this one reads
	single  *ir.Node // the node that is not in a kernel
	head    *cluster // the routine whose epilogue the kernel is
	nodes   []*ir.Node
	again   []*ir.Node // the nodes among them that are recomputed: they belong to another cluster
	shape   []int      // the shape of elementwise values
	lo, hi  int        // the reduced axes [lo, hi), -1 if nothing is reduced
	offsets *ir.Node   // the offsets of the list if the first axis is ragged, else nil
	perRow  []int      // the shape of a value that has one element per row
	col     bool       // axes follow the reduced ones
	parts   bool       // long rows are cut into parts; nothing uses the results inside
	near    bool       // a node reads near its element, where the argument lies: it is not copied
	heavy   bool       // it has a heavy node
	shared  int        // arrays it reads that share the buffer of another array; they must not be copied one by one

	// What fills the frame of a kernel; not kept for a single node.
	reads  []*ir.Node // arrays and numbers of the caller that nodes take from outside, each once
	arrays int        // of these
	stored int        // nodes that are read outside, or are outputs

	walkID int // of the last walk that visited it
}

// A nodeInfo is what the planner knows of a node.
type nodeInfo struct {
	in        *cluster   // nil: a leaf, or not wanted, or its turn is to come
	users     []*ir.Node // in graph order, one for each argument that the node is
	clustered int        // leading users already assigned to a cluster
	outside   int        // users outside the node's cluster; each cluster that recomputes a user counts it once more
	inner     int        // users in the other cluster, during unite alone; else 0
	stage     int        // most reductions of its cluster on a path to its value
	heavy     bool       // its value is expensive, so it is computed only once
	row       bool       // it has one value per row of its cluster, not one per element
	out       bool       // it is an output of the graph
	again     []*cluster // clusters that recompute it

	place *Operand // where its value is
	copy  *Operand // in row-major order, if its windows are read across
	dst   *Operand // where it must be, if it is an output
}

// Bounds of a kernel, below the bounds of the loop language: buffers and scalars fill
// the frame; code longer than some hundred operations gains nothing from
// fusion, and takes more than its share of time to compile.
const (
	maxBufs    = 14
	maxNumbers = 32
	maxNodes   = 128
)

// Bounds of the search for a cluster, for each node: planning takes time in
// proportion to the graph. What they leave apart could have been one kernel only
// if it lies far apart or has very many users.
const (
	maxSiblings = 64   // users of an argument whose clusters are tried
	maxBudget   = 1024 // users followed to find out what depends on what
	maxChain    = 8    // nodes followed to the reduction that they are for
)

// levelGap is the distance of levels that leaves room for those that come between.
const levelGap = 1 << 20

func (b *planner) info(n *ir.Node) *nodeInfo { return &b.infos[n.ID] }

func (b *planner) in(n *ir.Node) *cluster { return b.infos[n.ID].in }

// full reports that a node of the cluster has a value at each element, not each
// row.
func (b *planner) full(c *cluster, n *ir.Node) bool {
	return !b.info(n).row && array.Equal(shapeOf(n), c.shape)
}

func isReduce(n *ir.Node) bool {
	d := op.Of(n)
	return d != nil && d.Class == op.Reduce
}

// combines reports a reduction, of axes or of items.
func combines(n *ir.Node) bool { return isReduce(n) || isSegment(n) && n.Op != op.SegmentExpand }

// cluster puts each node into a cluster, greedily in graph order.
func (b *planner) cluster() {
	nodes := b.outs[0].Graph.Nodes[:len(b.reach)]
	b.infos = make([]nodeInfo, len(nodes))
	all := 0
	for id, n := range nodes {
		if b.reach[id] {
			for _, a := range n.Args {
				b.info(a).outside++
				all++
			}
		}
	}
	room := make([]*ir.Node, all)
	for id := range b.infos {
		s := &b.infos[id]
		s.users, room = room[:0:s.outside], room[s.outside:]
	}
	for id, n := range nodes {
		if b.reach[id] {
			for _, a := range n.Args {
				s := b.info(a)
				s.users = append(s.users, n)
			}
		}
	}
	for _, n := range b.outs {
		b.info(n).out = true
	}
	for id, n := range nodes {
		if !b.reach[id] || n.Op == ir.Input || isScalar(n) {
			continue
		}
		if b.in(n) != nil {
			continue // a result, which came with the node that it is of
		}
		c := b.begin(n)
		if d := op.Of(n); d != nil && (d.Class == op.Pointwise || d.Class == op.Reduce || d.Class == op.Segment) {
			c = b.join(n, c)
		} else {
			c.single = n
		}
		if c != nil {
			c.seq = len(b.clusters)
			b.clusters = append(b.clusters, c)
		}
	}
	b.recompute()
	if b.on.Epilogue {
		b.epilogues()
	}
}

// begin makes a cluster of a node.
func (b *planner) begin(n *ir.Node) *cluster {
	c := &cluster{nodes: []*ir.Node{n}, lo: -1, hi: -1, shape: shapeOf(n), stored: 1}
	s := b.info(n)
	s.in = c
	d := op.Of(n)
	if d != nil && d.Class == op.Pointwise && n.Results != nil {
		// Its results are values of the same kernel.
		c.nodes = append(c.nodes, s.users...)
		c.stored, s.clustered, s.outside = len(s.users), len(s.users), 0
	}
	heavy := n.Op == op.Kernel && op.CostOf(n) >= b.on.Store
	for i, a := range n.Args {
		t := b.info(a)
		t.clustered++
		if t.in != nil {
			c.level = max(c.level, t.in.level+levelGap)
		}
		seen := op.SeenBy(n, i)
		c.near = c.near || seen == op.Near || seen == op.AlongAxis
	}
	c.heavy = heavy
	for _, m := range c.nodes {
		b.info(m).in, b.info(m).heavy = c, heavy
	}
	return c
}

// shapeOf is the shape of the value of n, or of its values if it has several.
func shapeOf(n *ir.Node) []int {
	if n.Results != nil {
		return n.Results[0].Shape
	}
	return n.Shape
}

// join puts the node of the fresh cluster c into the best cluster that takes it.
// It returns c if none does, else nil.
func (b *planner) join(n *ir.Node, c *cluster) *cluster {
	for i, a := range n.Args {
		if a.Op != ir.Const && !slices.Contains(n.Args[:i], a) {
			c.read(a)
		}
	}
	b.budget = maxBudget
	for _, ragged := range [...]bool{true, false} { // a cluster over a list takes in others, not the reverse
		for _, a := range n.Args {
			d := b.in(a)
			if d == nil || ragged != (d.offsets != nil) || !b.take(d, n, c) {
				continue
			}
			for _, x := range n.Args {
				if e := b.in(x); e != nil && e != d {
					b.absorb(d, e)
				}
			}
			return nil
		}
	}
	for _, d := range b.siblings(n, c) {
		if b.take(d, n, c) {
			return nil
		}
	}
	if isReduce(n) {
		c.shape = n.Args[0].Shape
		c.reduce(n, &b.on.Costs)
		s := b.info(n)
		s.row, s.stage = true, 1
	}
	if isSegment(n) {
		b.beginRagged(n, c)
	}
	return c
}

// read notes an argument from outside.
func (c *cluster) read(a *ir.Node) {
	if isScalar(a) {
		// a word
	} else if oneBuffer(a, c.reads) {
		c.shared++
	} else {
		c.arrays++
	}
	c.reads = append(c.reads, a)
}

// siblings returns the kernels that read an array that n reads, or compute the other part
// of a complex number, the latest first, but not that of n.
func (b *planner) siblings(n *ir.Node, c *cluster) []*cluster {
	b.walkID++
	c.walkID = b.walkID
	found := b.found[:0]
	look := func(u *ir.Node) {
		if d := b.in(u); d != nil && d.single == nil && d.walkID != b.walkID {
			d.walkID = b.walkID
			found = append(found, d)
		}
	}
	for _, a := range n.Args {
		if isScalar(a) {
			continue
		}
		s := b.info(a)
		users := s.users[max(s.clustered-maxSiblings, 0):s.clustered]
		b.statVisits += len(users)
		for _, u := range users {
			look(u)
		}
	}
	users := b.info(n).users
	for _, u := range users[:min(len(users), maxSiblings)] {
		if u.Op == op.Complex {
			look(u.Args[0])
		}
	}
	slices.SortFunc(found, func(x, y *cluster) int { return y.seq - x.seq })
	b.found = found
	return found
}

// reduce makes the cluster one that reduces the axes of n.
func (c *cluster) reduce(n *ir.Node, costs *device.Costs) {
	g := n.Attrs.(op.Group)
	c.lo, c.hi = g.Lo, g.Hi
	c.col = array.Size(c.shape[c.hi:]) != 1
	rows := array.Size(c.shape[:c.lo])
	c.parts = !c.col && rows <= costs.PartRows && array.Size(c.shape[c.lo:c.hi]) >= costs.PartElements
	c.perRow = slices.Clone(c.shape)
	for i := c.lo; i < c.hi; i++ {
		c.perRow[i] = 1
	}
}

// blocked reports that the reductions are made of parts.
func (c *cluster) blocked() bool {
	return c.parts || c.col && array.Size(c.shape[c.lo:c.hi]) > numbers.ColumnBlock
}

// take adds n, which is alone in the cluster one, to c if that makes one kernel of
// them without a cycle.
func (b *planner) take(c *cluster, n *ir.Node, one *cluster) bool {
	if c.single != nil {
		return false
	}
	var row, fits bool // whether n has one value a row of c
	switch {
	case c.offsets != nil || isSegment(n):
		row, fits = b.takeItems(c, n, one)
	case isReduce(n):
		row, fits = true, b.reductionFits(c, n)
	default:
		row, fits = b.elementwiseFits(c, n)
	}
	if !fits {
		return false
	}
	// Elementwise nodes of a cluster that becomes a column or is cut into parts keep
	// working: they do not read the result.
	set := row && isReduce(n) && c.offsets == nil && c.lo < 0
	if (one.near || one.shared > 0) && c.lo >= 0 && several(c.shape[c.lo:c.hi]) {
		return false
	}
	stage, heavy := 0, b.info(n).heavy
	for _, a := range n.Args {
		if b.in(a) == c {
			stage = max(stage, b.info(a).stage)
			heavy = heavy || b.info(a).heavy
		}
	}
	for _, a := range n.Args {
		if s := b.info(a); s.in == c && s.heavy && !s.row && s.stage < stage {
			return false // another pass would compute it again
		}
	}
	if !b.unite(c, one) {
		return false
	}
	if combines(n) {
		stage++
		heavy = false
	}
	for _, m := range one.nodes {
		s := b.info(m)
		s.stage, s.row, s.heavy = stage, row, heavy && !row
	}
	if set {
		c.reduce(n, &b.on.Costs)
	}
	if isSegment(n) && c.offsets == nil {
		c.makeRagged(n)
	}
	return true
}

// reductionFits reports that a reduction can be computed in the passes of c.
func (b *planner) reductionFits(c *cluster, n *ir.Node) bool {
	x := n.Args[0]
	if !array.Equal(x.Shape, c.shape) {
		return false
	}
	g := n.Attrs.(op.Group)
	if (c.near || c.shared > 0) && several(c.shape[g.Lo:g.Hi]) {
		return false
	}
	inside := b.in(x) == c
	switch {
	case c.lo < 0:
	case c.lo != g.Lo || c.hi != g.Hi:
		return false
	case inside && b.info(x).row:
		return false
	case (c.col || c.parts) && inside && b.info(x).stage > 0:
		return false
	}
	return true
}

// elementwiseFits reports that an elementwise node can be computed in c, and whether it has
// one value a row there.
func (b *planner) elementwiseFits(c *cluster, n *ir.Node) (row, fits bool) {
	shape, full := shapeOf(n), false
	for _, a := range n.Args {
		if b.in(a) != c || n.Op == op.Iota {
			continue // an index takes nothing but the shape from its argument
		}
		if b.info(a).row {
			row = true
		} else {
			full = true
			if !array.Equal(a.Shape, shape) {
				return false, false // broadcast of an elementwise value: it must be stored
			}
		}
	}
	if !row && !full && c.lo >= 0 && b.elsewhere(n, c) {
		return false, false
	}
	switch {
	case row && c.blocked():
		return false, false // a part's result is not the row's
	case row && c.col && (full || !array.Equal(shape, c.perRow)):
		return false, false
	case row && !full && array.Equal(shape, c.perRow):
		// One value a row. Other arguments must be broadcastable to it.
		return true, straight(n)
	}
	return false, array.Equal(shape, c.shape)
}

// elsewhere reports that the value of an elementwise node, which shares nothing with the
// cluster c of a reduction but what both read, is there for a reduction of other axes alone:
// c would have to store it.
func (b *planner) elsewhere(n *ir.Node, c *cluster) bool {
	for range maxChain {
		s := b.info(n)
		if s.out || len(s.users) != 1 {
			return false
		}
		u := s.users[0]
		if isReduce(u) {
			g := u.Attrs.(op.Group)
			return array.Equal(n.Shape, c.shape) && (g.Lo != c.lo || g.Hi != c.hi)
		}
		if d := op.Of(u); d == nil || d.Class != op.Pointwise {
			return false
		}
		n = u
	}
	return false
}

// absorb makes one cluster of c and the elementwise cluster d, if that leaves no
// cycle.
func (b *planner) absorb(c, d *cluster) {
	if c.offsets != nil && b.absorbItems(c, d) {
		return
	}
	if d.single != nil || d.lo >= 0 || d.offsets != nil || !array.Equal(c.shape, d.shape) {
		return
	}
	if c.offsets != nil && !b.elementsOfList(c, d) {
		return
	}
	if c.lo >= 0 || c.offsets != nil {
		if c.lo >= 0 && (d.near || d.shared > 0) && several(c.shape[c.lo:c.hi]) {
			return
		}
		for _, n := range c.nodes {
			if d.heavy && b.info(n).stage > 0 && b.full(c, n) {
				return // which may compute it in another pass
			}
		}
		// Values a row must not meet nodes that were not made for them, nor be
		// computed from values of an element.
		for _, n := range c.nodes {
			if combines(n) || !b.info(n).row {
				continue
			}
			for _, a := range n.Args {
				if b.in(a) == d {
					return
				}
			}
		}
		for _, a := range d.reads {
			if b.in(a) == c {
				return
			}
		}
	}
	if !b.unite(c, d) {
		return
	}
	b.clusters[d.seq] = nil
	for i := 0; c.heavy && i < len(c.nodes); i++ {
		n := c.nodes[i]
		s := b.info(n)
		for _, a := range n.Args {
			if t := b.info(a); t.in == c && t.heavy && !s.row && !combines(n) {
				s.heavy = true
			}
		}
	}
}

// unite moves the nodes of d to c, unless they would be too much for a kernel, or
// a cluster between the two would depend on one and be needed by the other.
func (b *planner) unite(c, d *cluster) bool {
	if len(c.nodes)+len(d.nodes) > maxNodes {
		return false
	}
	// What is read from outside of both.
	both := cluster{reads: b.reads[:0], stored: c.stored + d.stored}
	touched := b.touched[:0]
	apart := false // one reads whole what the other computes by element
	for _, pair := range [2][2]*cluster{{c, d}, {d, c}} {
		e, other := pair[0], pair[1]
		between := false
		for _, a := range e.reads {
			if b.in(a) == other {
				between = true
			} else if e == c || !slices.Contains(c.reads, a) {
				both.read(a)
			}
		}
		b.statVisits += len(e.reads)
		if !between {
			continue
		}
		b.statVisits += len(e.nodes)
		for _, n := range e.nodes {
			for i, a := range n.Args {
				if b.in(a) == other {
					apart = apart || op.SeenBy(n, i) != op.ByElement
					s := b.info(a)
					if s.inner == 0 {
						touched = append(touched, s)
					}
					s.inner++
				}
			}
		}
	}
	b.reads, b.touched = both.reads, touched
	// Values that only the other reads need not be stored.
	for _, s := range touched {
		if !s.out && s.outside == s.inner {
			both.stored--
		}
	}
	lo, hi := c.lo, c.hi
	if n := d.nodes[0]; isReduce(n) && lo < 0 {
		lo, hi = n.Attrs.(op.Group).Lo, n.Attrs.(op.Group).Hi
	}
	if both.shared > 0 && lo >= 0 && several(c.shape[lo:hi]) {
		apart = true // they would be copied one by one
	}
	bufs := both.arrays + both.stored
	if c.offsets != nil || isSegment(d.nodes[0]) {
		bufs += both.shared // each has a buffer there
	}
	level, ok := 0, !apart && bufs <= maxBufs && len(both.reads)-both.arrays-both.shared <= maxNumbers
	if ok {
		level, ok = b.level(c, d, both.reads)
	}
	for _, s := range touched {
		if ok {
			s.outside -= s.inner
		}
		s.inner = 0
	}
	if !ok {
		return false
	}
	c.level = level
	c.shared = both.shared
	c.near, c.heavy = c.near || d.near, c.heavy || d.heavy
	c.reads, c.arrays, c.stored = append(c.reads[:0], both.reads...), both.arrays, both.stored
	for _, n := range d.nodes {
		b.info(n).in = c
	}
	sorted := c.nodes[len(c.nodes)-1].ID < d.nodes[0].ID
	c.nodes = append(c.nodes, d.nodes...)
	if !sorted {
		slices.SortFunc(c.nodes, func(x, y *ir.Node) int { return x.ID - y.ID })
	}
	return true
}

// level returns the level of a cluster made of c and d, which would read these
// nodes, having lifted what depends on it above that; and whether it can be: no
// cluster lies between.
func (b *planner) level(c, d *cluster, reads []*ir.Node) (int, bool) {
	if c.level > d.level {
		c, d = d, c
	}
	level := c.level
	for _, a := range reads {
		if e := b.in(a); e != nil {
			level = max(level, e.level+1)
		}
	}
	if level == c.level {
		return level, true // all that d reads, but c, is lower than c
	}
	// What depends on the lower one: if d does through others, one of them is read
	// by d, so that it is lower than this level.
	b.walkID++
	c.walkID = b.walkID
	found := append(b.above[:0], c)
	defer func() { b.above = found }()
	for i := 0; i < len(found); i++ {
		for part := found[i]; part != nil; part = part.head {
			for _, n := range part.nodes {
				s := b.info(n)
				if b.budget -= 1 + s.clustered; b.budget < 0 {
					return 0, false
				}
				b.statVisits += 1 + s.clustered
				for _, u := range s.users[:s.clustered] {
					e := b.in(u)
					if e == d && i > 0 {
						return 0, false
					}
					if e != d && e.walkID != b.walkID && e.level <= level+maxBudget {
						e.walkID = b.walkID
						found = append(found, e)
					}
				}
			}
		}
	}
	// At most maxBudget clusters are lifted, by one each, so that they do not reach the clusters
	// that were left out.
	up := found[1:]
	slices.SortFunc(up, func(x, y *cluster) int { return x.level - y.level })
	at := level
	for _, e := range up {
		at = max(at+1, e.level)
		e.level = at
	}
	return level, true
}

// order returns the clusters so that each comes after those that it reads,
// otherwise in the order in which they were begun.
func (b *planner) order() []*cluster {
	b.walkID++
	var order []*cluster
	// The clusters that are begun, with what is left to do before each.
	type begun struct {
		c  *cluster
		lo int // its part of before
	}
	var open []begun
	var before []*cluster // the last one first
	push := func(c *cluster) {
		c.walkID = b.walkID
		lo := len(before)
		reads := c.reads
		if c.single != nil {
			reads = c.single.Args
		}
		for _, a := range reads {
			if d := b.in(a); d != nil && d.walkID != b.walkID {
				before = append(before, d)
			}
		}
		slices.SortFunc(before[lo:], func(x, y *cluster) int { return y.seq - x.seq })
		open = append(open, begun{c, lo})
	}
	// What writes into the memory of inputs comes when nothing else reads them.
	clusters := b.clusters
	if b.into != nil {
		clusters = nil
		var late []*cluster
		for _, c := range b.clusters {
			if b.late(c) {
				late = append(late, c)
			} else {
				clusters = append(clusters, c)
			}
		}
		clusters = append(clusters, late...)
	}
	for _, c := range clusters {
		if c == nil || c.walkID == b.walkID {
			continue
		}
		for push(c); len(open) > 0; {
			top := open[len(open)-1]
			if n := len(before); n > top.lo {
				d := before[n-1]
				before = before[:n-1]
				if d.walkID != b.walkID {
					push(d)
				}
				continue
			}
			order = append(order, top.c)
			open = open[:len(open)-1]
		}
	}
	if b.into != nil {
		order = b.forward(order)
	}
	return order
}

// several reports more than one axis that is longer than 1.
func several(shape []int) bool {
	long := 0
	for _, n := range shape {
		if n != 1 {
			long++
		}
	}
	return long > 1
}

// straights remembers straight by operation and type.
var straights sync.Map // straightKey -> bool

type straightKey struct {
	op    ir.Op
	dtype array.DType
}

// straight reports that an elementwise operation is computed without a loop, so
// that it can stand between the passes of a row.
func straight(n *ir.Node) bool {
	if n.Op == op.Kernel {
		return straightLine(n) // another one for each body
	}
	key := straightKey{n.Op, n.Args[0].DType}
	if ok, known := straights.Load(key); known {
		return ok.(bool)
	}
	ok := straightLine(n)
	straights.Store(key, ok)
	return ok
}

func straightLine(n *ir.Node) bool {
	kb := loop.NewBuilder("trial", []loop.Axis{{Kind: loop.Reduce}}, 0)
	args := make([]loop.Value, len(n.Args))
	for i, a := range n.Args {
		if op.SeenBy(n, i) != op.ByElement {
			return false
		}
		args[i] = kb.Load(kb.Buf(a.DType, false, loop.Zero))
	}
	types := n.Results
	if types == nil {
		types = []ir.Type{{DType: n.DType}}
	}
	for i, y := range values(kb, n, args, nil) {
		kb.Store(kb.Buf(types[i].DType, true, loop.Zero), y)
	}
	_, err := kb.Done()
	return err == nil
}

// values writes an elementwise operation; window gives what is not seen by element.
func values(kb *loop.Builder, n *ir.Node, x []loop.Value, window func(i int) op.Access) []loop.Value {
	d := op.Of(n)
	if d.ExprAll == nil {
		return []loop.Value{d.Expr(kb, n, x)}
	}
	return d.ExprAll(&op.Emit{B: kb, Node: n, X: x, Window: window})
}
