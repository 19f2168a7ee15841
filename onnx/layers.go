package onnx

import (
	"slices"
	"sync/atomic"

	"weft/internal/core"
	"weft/internal/packed"
)

// Networks are made of layers that differ in their weights alone. In a model with free sizes each layer is a piece of its
// own, and one program runs all of them: it is given the weights as arguments. So a new size traces, rewrites and plans
// one layer in place of all. Nothing is assumed of sizes: the program for a size is traced with that size.

const (
	// minLayerNodes is the number of nodes from which a layer is a piece of its own: a call of a program takes as long as
	// some nodes.
	minLayerNodes = 16
	// minLayers is the number of equal layers that share a program.
	minLayers = 3
	// maxLayerNodes bounds the search for layers, and maxLayered the graphs that are searched.
	maxLayerNodes = 1 << 10
	maxLayered    = 1 << 14
	// maxSearch bounds the search of a graph, in comparisons of two nodes of some 10 ns. Listing what a node reads takes as
	// long as listCost of them.
	maxSearch = 1 << 26
	listCost  = 128
)

// A repeat is a number of equal layers, one behind the other, of some nodes each.
type repeat struct{ from, nodes, count int }

// hasFreeSizes reports that inputs may have a size that the file does not tell.
func hasFreeSizes(inputs []Port) bool {
	return slices.ContainsFunc(inputs, func(p Port) bool {
		return p.Type.Kind == NoValue || p.Type.Kind == TensorKind && (p.Type.Shape == nil || slices.Contains(p.Type.Shape, -1))
	})
}

// findLayers looks for equal layers between the nodes that run by themselves. It leaves out nodes that only give a weight
// another name, and moves what is not part of the first layer before it.
func (g *graph) findLayers() {
	gradient := func(n *node) bool { return n.domain == domainTraining && n.op.name == "Gradient" } // knows values by names
	if !g.free || len(g.nodes) > maxLayered || slices.ContainsFunc(g.nodes, gradient) {
		return
	}
	g.search = maxSearch
	g.dropNames()
	from := 0
	for i := 0; i <= len(g.nodes); i++ {
		if i < len(g.nodes) && !g.nodes[i].op.eager {
			continue
		}
		i = g.layersBetween(from, i)
		from = i + 1
	}
}

// layersBetween looks for equal layers among nodes from to to: for the run that covers most nodes, then before and behind
// it. It returns where the nodes end then, since some are moved, copied and dropped.
func (g *graph) layersBetween(from, to int) (end int) {
	r, covered := g.repeat(from, to)
	if covered == 0 {
		return to
	}
	before := len(g.repeats)
	begin := g.layersBetween(from, r.from)
	to += begin - r.from
	next := begin + covered
	if r.count > 0 {
		next = begin + r.nodes*r.count
		r.from = begin
		r = g.equalLayers(r) // layers before may have changed what these read
	}
	if r.count >= minLayers {
		if len(g.repeats) > before {
			from = g.repeats[len(g.repeats)-1].end()
		}
		nodes := len(g.nodes)
		r = g.hoist(g.first(from, r))
		g.repeats = append(g.repeats, r)
		to += len(g.nodes) - nodes
		next = r.end()
	}
	return g.layersBetween(next, to)
}

func (r repeat) end() int { return r.from + r.nodes*r.count }

// dropNames has nodes read the weights that Identity nodes give other names. torch.onnx writes equal weights once, and
// such nodes for the others.
func (g *graph) dropNames() {
	names := map[int]int{}
	for _, n := range g.nodes {
		if w := n.in; n.domain == "" && n.op.name == "Identity" && len(w) == 1 && w[0] >= 0 && w[0] < len(g.weights) && g.weights[w[0]] != "" {
			names[n.out[0]] = w[0]
		}
	}
	for _, n := range g.nodes { // subgraphs know slots by their own numbers
		if slices.ContainsFunc(n.attrs, func(a attribute) bool { return a.graph != nil }) {
			for _, slot := range n.reads {
				delete(names, slot)
			}
		}
	}
	for _, slot := range g.outputs {
		delete(names, slot)
	}
	for _, n := range g.nodes {
		for _, list := range [][]int{n.in, n.reads} {
			for i, slot := range list {
				if to, ok := names[slot]; ok {
					list[i] = to
				}
			}
		}
	}
	g.nodes = slices.DeleteFunc(g.nodes, func(n *node) bool {
		_, ok := names[n.out[0]]
		return ok
	})
}

// first finds the layer before the layers of r among the nodes from number from on. Other nodes may stand between its own,
// such as nodes of a mask that all layers read. It moves these before it.
func (g *graph) first(from int, r repeat) repeat {
	layer := g.before(from, r)
	if layer == nil || !inOrder(layer) {
		return r
	}
	others, ok := g.others(from, r.from, layer)
	all := repeat{from + len(others), r.nodes, r.count + 1}
	old := g.nodes
	g.nodes = slices.Concat(old[:from], others, layer, old[r.from:])
	if !ok || g.equalLayers(all) != all {
		g.nodes = old
		return r
	}
	return all
}

// inOrder reports that no node reads what a later one makes.
func inOrder(nodes []*node) bool {
	later := map[int]bool{}
	for _, n := range slices.Backward(nodes) {
		for _, slot := range n.out {
			later[slot] = true
		}
		if slices.ContainsFunc(n.reads, func(slot int) bool { return later[slot] }) {
			return false
		}
	}
	return true
}

// before returns the nodes of the layer before the first of r, in the order of that one; nil if it is not found. It goes from
// what a layer reads of the one before to what that is computed from.
func (g *graph) before(from int, r repeat) []*node {
	makers := map[int]int{} // by slot
	for i, n := range g.nodes[from : r.from+r.nodes] {
		for _, slot := range n.out {
			makers[slot] = from + i
		}
	}
	var todo [][2]int // a node of the first layer of r, and one that may be the same
	pair := func(slot, as int) {
		a, made := makers[slot]
		if b, before := makers[as]; made && a >= r.from && before && b < r.from {
			todo = append(todo, [2]int{a - r.from, b})
		}
	}
	inputs, next := g.piece(r.from, r.from+r.nodes, false).ins, g.piece(r.from+r.nodes, r.from+2*r.nodes, false).ins
	for i, slot := range next {
		pair(slot, inputs[i])
	}
	layer, taken := make([]*node, r.nodes), map[int]bool{}
	for len(todo) > 0 {
		a, b := todo[len(todo)-1][0], todo[len(todo)-1][1]
		todo = todo[:len(todo)-1]
		n, m := g.nodes[r.from+a], g.nodes[b]
		if layer[a] == m {
			continue
		}
		if layer[a] != nil || taken[b] || n.like != m.like {
			return nil
		}
		layer[a], taken[b] = m, true
		for i, slot := range n.in {
			pair(slot, m.in[i])
		}
	}
	if slices.Contains(layer, nil) {
		return nil
	}
	return layer
}

// maxCopied is the number of nodes of a layer that are computed once more for nodes before it: sizes, as a rule.
const maxCopied = 8

// others returns the nodes from to to that are not of a layer. What these need of the layer is computed by copies of its
// nodes. ok is false if there would be many.
func (g *graph) others(from, to int, layer []*node) (list []*node, ok bool) {
	inside, makers := map[*node]bool{}, map[int]*node{}
	for _, n := range layer {
		inside[n] = true
		for _, slot := range n.out {
			makers[slot] = n
		}
	}
	needed := map[*node]bool{}
	for _, n := range slices.Backward(g.nodes[from:to]) {
		if inside[n] && !needed[n] {
			continue
		}
		for _, slot := range n.reads {
			if m := makers[slot]; m != nil {
				needed[m] = true
			}
		}
	}
	if len(needed) > maxCopied {
		return nil, false
	}
	names := map[int]int{} // slots of the layer as slots of copies
	for _, n := range g.nodes[from:to] {
		if inside[n] && !needed[n] {
			continue
		}
		c, ok := n.renamed(names)
		if !ok {
			return nil, false
		}
		if inside[n] {
			c.out = slices.Clone(n.out)
			for i, slot := range c.out {
				if slot >= 0 {
					g.names = append(g.names, g.names[slot])
					c.out[i] = len(g.names) - 1
					names[slot] = c.out[i]
				}
			}
		}
		list = append(list, c)
	}
	return list, true
}

// renamed returns a copy of n that reads other slots in place of some. ok is false if a subgraph of n reads one of these,
// which knows slots by numbers of its own.
func (n *node) renamed(names map[int]int) (c *node, ok bool) {
	list := func(slots []int) []int {
		slots = slices.Clone(slots)
		for i, slot := range slots {
			if to, ok := names[slot]; ok {
				slots[i] = to
			}
		}
		return slots
	}
	m := *n
	m.in, m.reads = list(n.in), list(n.reads)
	return &m, slices.Equal(m.reads, n.reads) || !slices.ContainsFunc(n.attrs, func(a attribute) bool { return a.graph != nil })
}

// hoist computes what all layers compute of the same slots once, before the first, as one program of all layers would.
func (g *graph) hoist(r repeat) repeat {
	names, moved := g.invariant(r)
	if len(moved) == 0 || r.nodes-len(moved) < minLayerNodes {
		return r
	}
	old, rest := g.nodes, []*node(nil)
	for i, n := range old[r.from:] {
		if i < r.nodes*r.count && slices.Contains(moved, old[r.from+i%r.nodes]) {
			continue
		}
		c, ok := n.renamed(names)
		if !ok {
			return r
		}
		rest = append(rest, c)
	}
	g.nodes = slices.Concat(old[:r.from], moved, rest)
	less := repeat{r.from + len(moved), r.nodes - len(moved), r.count}
	if g.equalLayers(less) != less {
		g.nodes = old
		return r
	}
	return less
}

// invariant returns the nodes of the first layer that compute the same in all, and what it calls the slots of the others.
func (g *graph) invariant(r repeat) (names map[int]int, list []*node) {
	consts := map[int]bool{}
	for _, c := range g.consts {
		consts[c.slot] = true
	}
	names = map[int]int{}
	for j, n := range g.nodes[r.from : r.from+r.nodes] {
		same := true
		for k := 1; k < r.count && same; k++ {
			m := g.nodes[r.from+k*r.nodes+j]
			for i, slot := range n.in {
				to, renamed := names[m.in[i]]
				same = same && (slot == m.in[i] || consts[slot] || renamed && to == slot)
			}
			same = same && !slices.ContainsFunc(m.out, func(slot int) bool { return slices.Contains(g.outputs, slot) })
		}
		if !same {
			continue
		}
		list = append(list, n)
		for k := 1; k < r.count; k++ {
			for o, slot := range g.nodes[r.from+k*r.nodes+j].out {
				if slot >= 0 {
					names[slot] = n.out[o]
				}
			}
		}
	}
	return names, list
}

// compiledPieces returns nodes from to to as pieces that run as programs.
func (g *graph) compiledPieces(from, to int) []*piece {
	var list []*piece
	for _, r := range g.repeats {
		if r.from < from || r.end() > to {
			continue
		}
		if r.from > from {
			list = append(list, g.piece(from, r.from, false))
		}
		list = append(list, g.layers(r)...)
		from = r.end()
	}
	if from < to {
		list = append(list, g.piece(from, to, false))
	}
	return list
}

// repeat returns the layers in the run of alike nodes that covers most of the nodes from to to, and the number of nodes of
// that run, 0 if there is none. If layers of the run are not equal, best.count is 0.
func (g *graph) repeat(from, to int) (best repeat, covered int) {
	for period := minLayerNodes; period <= min((to-from)/minLayers, maxLayerNodes) && g.search > 0; period++ {
		g.search -= to - from
		run := 0
		for i := from; i+period < to; i++ {
			if n := g.nodes[i]; n.like != nil && n.like == g.nodes[i+period].like {
				run++
			} else {
				run = 0
			}
			if run >= (minLayers-1)*period && run+period > covered {
				covered, best = run+period, repeat{i + 1 - run, period, 0}
			}
		}
	}
	if covered > 0 {
		if r, ok := g.cut(best.from, best.nodes, covered); ok {
			return r, covered
		}
	}
	return best, covered
}

// cut chooses where the layers of a run of nodes begin: where the fewest values go from one layer to the next, and of
// those places where most nodes read them, since such a value lies in memory in any plan.
func (g *graph) cut(from, period, covered int) (best repeat, ok bool) {
	last, reads := g.lastReads(from)
	fewest, most := 0, 0
	for first := from; first < from+period; first++ {
		if (from+covered-first)/period < minLayers || g.search <= 0 {
			break
		}
		crossing, readers := 0, 0
		g.search -= first + period - from
		for _, n := range g.nodes[from : first+period] {
			for _, slot := range n.out {
				if slot >= 0 && last[slot] >= first+period {
					crossing++
					readers += reads[slot]
				}
			}
		}
		if ok && (crossing > fewest || crossing == fewest && readers <= most) {
			continue
		}
		g.search -= covered * listCost
		if r := g.equalLayers(repeat{first, period, (from + covered - first) / period}); r.count >= minLayers {
			best, fewest, most, ok = r, crossing, readers, true
		}
	}
	return best, ok
}

// lastReads returns, by slot, the last node from number from on that reads it, and how many do. Outputs of the graph are
// read behind all nodes.
func (g *graph) lastReads(from int) (last, reads []int) {
	last, reads = make([]int, len(g.names)), make([]int, len(g.names))
	for i, n := range g.nodes[from:] {
		for _, slot := range n.reads {
			last[slot] = from + i
			reads[slot]++
		}
	}
	for _, slot := range g.outputs {
		last[slot] = len(g.nodes)
	}
	return last, reads
}

// equalLayers returns the longest run of layers of r that are equal.
func (g *graph) equalLayers(r repeat) (best repeat) {
	consts := map[int]*Value{}
	for i := range g.consts {
		consts[g.consts[i].slot] = &g.consts[i].value
	}
	var first []layerRead
	now := repeat{r.from, r.nodes, 0}
	for k := range r.count {
		at := r.from + k*r.nodes
		reads := g.layerReads(at, r.nodes, consts)
		if now.count == 0 || !slices.Equal(first, reads) {
			now, first = repeat{at, r.nodes, 0}, reads
		}
		if now.count++; now.count > best.count {
			best = now
		}
	}
	return best
}

// A layerRead says what an input of a node of a layer is. Layers with equal lists of them compute the same of what they
// read from outside.
type layerRead struct {
	node, out int    // of the layer, which make it; -1 of others
	outside   int    // its number among the slots that the layer reads from outside; -1 of others
	weight    string // the type of a weight, or the element type of a constant
	constant  any    // a constant: its tensor, or its slot
}

// layerReads lists the inputs of the nodes of a layer.
func (g *graph) layerReads(from, nodes int, consts map[int]*Value) []layerRead {
	made, outside := map[int]layerRead{}, map[int]int{}
	var list []layerRead
	for i, n := range g.nodes[from : from+nodes] {
		for _, slot := range n.in {
			x, inside := made[slot]
			c := consts[slot]
			switch {
			case slot < 0:
				x = layerRead{-1, -1, -1, "", nil} // Clip may have the same bound as the lower one or the upper
			case inside:
			case c != nil && c.kind == TensorKind:
				x = layerRead{-1, -1, -1, c.elem.String(), c.tensor}
			case c != nil:
				x = layerRead{-1, -1, -1, "", slot}
			default:
				k, ok := outside[slot]
				if !ok {
					k = len(outside)
					outside[slot] = k
				}
				x = layerRead{-1, -1, k, g.weightTypes[slot], nil}
			}
			list = append(list, x)
		}
		for o, slot := range n.out {
			if slot >= 0 {
				made[slot] = layerRead{i, o, -1, "", nil}
			}
		}
	}
	return list
}

// layers returns equal layers as pieces, which share a program. They make what any of them must make.
func (g *graph) layers(r repeat) []*piece {
	type place struct{ node, out int }
	var list []*piece
	var outs []place
	shared := &atomic.Pointer[program]{}
	for k := range r.count {
		from := r.from + k*r.nodes
		p := g.piece(from, from+r.nodes, false)
		p.layer, p.program = true, shared
		p.ins = g.reads(p)
		for i, n := range g.nodes[from:p.to] {
			for o, slot := range n.out {
				if slot >= 0 && slices.Contains(p.outs, slot) && !slices.Contains(outs, place{i, o}) {
					outs = append(outs, place{i, o})
				}
			}
		}
		list = append(list, p)
	}
	for _, p := range list {
		p.outs = p.outs[:0]
		for _, at := range outs {
			p.outs = append(p.outs, g.nodes[p.from+at.node].out[at.out])
		}
	}
	return list
}

// keepPacked lets routines keep packed copies of the weights that programs are given as arguments, as of those that
// programs capture.
func (g *graph) keepPacked(fixed []Value) {
	for _, p := range g.pieces() {
		if !p.layer {
			continue
		}
		for _, slot := range p.ins {
			if v := &fixed[slot]; v.kind == TensorKind {
				packed.Keep((*core.Tensor)(v.tensor).View().Store)
			}
		}
	}
}

// release gives back the memory of what a piece was the last to read, if nothing else in the frame lies in it.
func (g *graph) release(f *frames, p *piece, env []Value) {
	for _, slot := range p.done {
		v := &env[slot]
		if v.kind != TensorKind || v.known {
			continue
		}
		store := (*core.Tensor)(v.tensor).View().Store
		alone := !f.stores[store]
		for _, other := range f.between {
			alone = alone && (other == slot || !holds(env[other:other+1], v.tensor))
		}
		if alone {
			v.tensor.Release()
			*v = Value{}
		}
	}
}

// lasts notes which piece is the last that reads what pieces make. Nodes between programs may have results in the memory
// of what they read, so that nothing is noted then.
func (g *graph) lasts(list []*piece) {
	if slices.ContainsFunc(list, func(p *piece) bool { return p.eager }) {
		return
	}
	last, _ := g.lastReads(0)
	for i, p := range list {
		for _, slot := range p.outs {
			for _, q := range list[i+1:] {
				if last[slot] >= q.from && last[slot] < q.to {
					q.done = append(q.done, slot)
				}
			}
		}
	}
}

// between returns the slots of what pieces give one another, inputs and results of the graph among them.
func (g *graph) between() []int {
	list := slices.Clone(g.inputs)
	for _, p := range g.pieces() {
		list = append(list, p.outs...)
	}
	return list
}
