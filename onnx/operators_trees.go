package onnx

import (
	"math"
	"runtime"
	"slices"
	"sync"
	"weak"

	"weft"
)

// Ensembles of decision trees, which are walked on the host.
var treeOperators = []operator{
	{name: "TreeEnsemble", run: treeEnsemble, eager: true},
	{name: "TreeEnsembleClassifier", run: treeClassifier, eager: true},
	{name: "TreeEnsembleRegressor", run: treeRegressor, eager: true},
}

// Modes are the comparisons of nodes, numbered as TreeEnsemble numbers them.
var treeModes = []string{"BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ", "BRANCH_MEMBER", "LEAF"}

const (
	modeMember = 6
	modeLeaf   = 7
)

type treeNode struct {
	mode    uint8
	missing bool // NaN goes where the comparison holds
	feature int
	split   float64
	yes, no int
	members []float64
	votes   []vote // of a leaf
}

type vote struct {
	target int
	weight float64
}

// A forest is an ensemble as it is walked.
type forest struct {
	nodes    []treeNode
	roots    []int
	features int    // that nodes compare
	asked    uint64 // the attributes that it was made of
}

// forests are the forests of nodes that ran, so that attributes are read once.
var forests sync.Map // of weak.Pointer[node]

// forest returns the node's forest, made at the first run.
func (c *call) forest(make func() *forest) *forest {
	p := weak.Make(c.node)
	if f, ok := forests.Load(p); ok {
		c.asked |= f.(*forest).asked
		return f.(*forest)
	}
	f := make()
	f.asked = c.asked
	for i, n := range f.nodes {
		if n.mode == modeLeaf {
			continue
		}
		if n.feature < 0 || n.yes < 0 || n.yes >= len(f.nodes) || n.no < 0 || n.no >= len(f.nodes) {
			c.fail("node %d compares feature %d and leads to the nodes %d and %d of %d", i, n.feature, n.yes, n.no, len(f.nodes))
		}
		f.features = max(f.features, n.feature+1)
	}
	if _, had := forests.LoadOrStore(p, f); !had {
		runtime.AddCleanup(c.node, func(p weak.Pointer[node]) { forests.Delete(p) }, p)
	}
	return f
}

// goes reports whether x goes where the comparison holds.
func (n *treeNode) goes(x float64) bool {
	if math.IsNaN(x) && n.missing {
		return true
	}
	switch n.mode {
	case 0:
		return x <= n.split
	case 1:
		return x < n.split
	case 2:
		return x >= n.split
	case 3:
		return x > n.split
	case 4:
		return x == n.split
	case 5:
		return x != n.split
	}
	return slices.Contains(n.members, x)
}

// leaf is the leaf that a row of features comes to, nil where nodes lead in a circle.
func (f *forest) leaf(root int, row []float64) *treeNode {
	n := &f.nodes[root]
	for range len(f.nodes) {
		if n.mode == modeLeaf {
			return n
		}
		if n.goes(row[n.feature]) {
			n = &f.nodes[n.yes]
		} else {
			n = &f.nodes[n.no]
		}
	}
	if n.mode == modeLeaf {
		return n
	}
	return nil
}

// scores are, for rows of input 0, the votes of all trees put together, and whether a target had a vote.
func (c *call) scores(f *forest, targets int, aggregate string) (y []float64, voted []bool, rows int) {
	shape := c.value(0).Shape()
	if len(shape) == 1 {
		shape = []int{1, shape[0]}
	}
	if len(shape) != 2 || shape[1] < f.features {
		c.fail("the input is %v: want rows of at least %d features", c.value(0), f.features)
	}
	x, rows, width := c.floats(0), shape[0], shape[1]
	c.hostTable(rows, targets)
	y, voted = make([]float64, rows*targets), make([]bool, rows*targets)
	var circle sync.Once
	failed := false
	walk := func(from, to int) {
		for r := from; r < to; r++ {
			for _, root := range f.roots {
				leaf := f.leaf(root, x[r*width:(r+1)*width])
				if leaf == nil {
					circle.Do(func() { failed = true })
					return
				}
				for _, v := range leaf.votes {
					at := r*targets + v.target
					switch {
					case !voted[at]:
						y[at] = v.weight
					case aggregate == "MIN":
						y[at] = min(y[at], v.weight)
					case aggregate == "MAX":
						y[at] = max(y[at], v.weight)
					default:
						y[at] += v.weight
					}
					voted[at] = true
				}
			}
		}
	}
	const grain = 1 << 12 // trees walked by a goroutine
	var group sync.WaitGroup
	step := max(grain/max(len(f.roots), 1), (rows+runtime.GOMAXPROCS(0)-1)/runtime.GOMAXPROCS(0), 1)
	for from := 0; from < rows; from += step {
		group.Go(func() { walk(from, min(from+step, rows)) })
	}
	group.Wait()
	if failed {
		c.fail("the nodes of a tree lead in a circle")
	}
	if aggregate == "AVERAGE" {
		for i := range y {
			y[i] /= float64(max(len(f.roots), 1))
		}
	}
	return y, voted, rows
}

// numbers are an attribute of floats, or of the same name with "_as_tensor".
func (c *call) numbers(name string) []float64 {
	var out []float64
	for _, x := range c.attrFloats(name) {
		out = append(out, float64(x))
	}
	if v := c.attrValue(name + "_as_tensor"); v.kind != NoValue {
		out = c.numbersOf(v)
	}
	return out
}

// numbersOf are the elements of a tensor that is known.
func (c *call) numbersOf(v Value) []float64 {
	d := call{node: c.node, x: c.x, in: []Value{v}}
	return d.floats(0)
}

// listedForest makes a forest of nodes that tree and node identify, and of votes in attributes that begin with
// prefix.
func (c *call) listedForest(prefix string, targets int) *forest {
	type id struct{ tree, node int }
	trees, ids, features := c.attrInts("nodes_treeids"), c.attrInts("nodes_nodeids"), c.attrInts("nodes_featureids")
	modes, splits, missing := c.attrStrings("nodes_modes"), c.numbers("nodes_values"), c.attrInts("nodes_missing_value_tracks_true")
	yes, no := c.attrInts("nodes_truenodeids"), c.attrInts("nodes_falsenodeids")
	c.numbers("nodes_hitrates")
	n := len(ids)
	if len(trees) != n || len(features) != n || len(modes) != n || len(splits) != n || len(yes) != n || len(no) != n || missing != nil && len(missing) != n {
		c.fail("the attributes of %d nodes have different lengths", n)
	}
	f := &forest{nodes: make([]treeNode, n)}
	at := make(map[id]int, n)
	for i := range n {
		at[id{trees[i], ids[i]}] = i
	}
	child := make([]bool, n)
	find := func(tree, node int) int {
		i, ok := at[id{tree, node}]
		if !ok {
			c.fail("tree %d has no node %d", tree, node)
		}
		child[i] = true
		return i
	}
	for i := range n {
		mode := slices.Index(treeModes, modes[i])
		if mode < 0 || mode == modeMember {
			c.fail("node %d has the mode %q", i, modes[i])
		}
		f.nodes[i] = treeNode{mode: uint8(mode), feature: features[i], split: splits[i], missing: missing != nil && missing[i] != 0}
		if mode != modeLeaf {
			f.nodes[i].yes, f.nodes[i].no = find(trees[i], yes[i]), find(trees[i], no[i])
		}
	}
	for i := range n {
		if !child[i] {
			f.roots = append(f.roots, i)
		}
	}
	trees, ids = c.attrInts(prefix+"_treeids"), c.attrInts(prefix+"_nodeids")
	to, weights := c.attrInts(prefix+"_ids"), c.numbers(prefix+"_weights")
	if len(trees) != len(ids) || len(to) != len(ids) || len(weights) != len(ids) {
		c.fail("the attributes of %d votes have different lengths", len(ids))
	}
	for i := range ids {
		leaf, ok := at[id{trees[i], ids[i]}]
		if !ok || to[i] < 0 || to[i] >= targets {
			c.fail("vote %d is of node %d of tree %d for target %d of %d", i, ids[i], trees[i], to[i], targets)
		}
		f.nodes[leaf].votes = append(f.nodes[leaf].votes, vote{to[i], weights[i]})
	}
	return f
}

func treeRegressor(c *call) []Value {
	targets, aggregate, base := c.attrInt("n_targets", 1), c.attrString("aggregate_function", "SUM"), c.numbers("base_values")
	post := c.attrString("post_transform", "NONE")
	f := c.forest(func() *forest { return c.listedForest("target", targets) })
	if !slices.Contains([]string{"SUM", "AVERAGE", "MIN", "MAX"}, aggregate) || len(base) != 0 && len(base) != targets {
		c.fail("%d targets are aggregated by %q with %d base values", targets, aggregate, len(base))
	}
	y, _, rows := c.scores(f, targets, aggregate)
	for i := range y {
		if base != nil {
			y[i] += base[i%targets]
		}
	}
	return tensors(c.transformed(weft.FromSlice(y, rows, targets).To(weft.Float32), post))
}

func treeClassifier(c *call) []Value {
	l := c.labels("classlabels_int64s", "classlabels_strings")
	base, post, n := c.numbers("base_values"), c.attrString("post_transform", "NONE"), l.count()
	f := c.forest(func() *forest { return c.listedForest("class", n) })
	y, voted, rows := c.scores(f, n, "SUM")
	one, positive := f.oneClass()
	if one >= 0 && n == 2 {
		return c.binaryTrees(l, y, rows, one, positive, base, post)
	}
	if len(base) != 0 && len(base) != n {
		c.fail("there are %d base values for %d classes", len(base), n)
	}
	best := make([]int64, rows)
	for r := range rows {
		greatest := math.Inf(-1)
		for j := range n {
			at := r*n + j
			if base != nil {
				y[at] += base[j]
			}
			if (voted[at] || base != nil) && y[at] > greatest {
				best[r], greatest = int64(j), y[at]
			}
		}
	}
	return []Value{l.of(c, weft.FromSlice(best, rows)), TensorOf(c.transformed(weft.FromSlice(y, rows, n).To(weft.Float32), post))}
}

// oneClass is the class that all votes are for, -1 if they are for several, and whether no vote is negative.
func (f *forest) oneClass() (class int, positive bool) {
	class, positive = -1, true
	for _, n := range f.nodes {
		for _, v := range n.votes {
			if class >= 0 && v.target != class {
				return -1, false
			}
			class, positive = v.target, positive && v.weight >= 0
		}
	}
	return class, positive
}

// binaryTrees classifies by one score for two classes: a probability where votes are positive, else a number
// whose sign decides.
func (c *call) binaryTrees(l labels, y []float64, rows, one int, positive bool, base []float64, post string) []Value {
	scores, best := make([]float64, rows), make([]int64, rows)
	for r := range rows {
		scores[r] = y[2*r+one]
		switch len(base) {
		case 0:
		case 1:
			scores[r] += base[0]
		default:
			scores[r] += base[1]
		}
		if positive && scores[r] > 0.5 || !positive && scores[r] > 0 {
			best[r] = 1
		}
	}
	s := weft.FromSlice(scores, rows, 1).To(weft.Float32)
	var left, right *weft.Tensor
	switch {
	case post == "PROBIT":
		right = c.transformed(s, post)
		left = right.Neg()
	case positive:
		left, right = s.RSub(1), s
	case post == "LOGISTIC":
		left, right = s.Neg().Sigmoid(), s.Sigmoid()
	default:
		left, right = s.Neg(), s
	}
	return []Value{l.of(c, weft.FromSlice(best, rows)), TensorOf(weft.Cat([]*weft.Tensor{left, right}, 1))}
}

// treeEnsemble is the operator of set 5, which numbers nodes and leaves by their place.
func treeEnsemble(c *call) []Value {
	targets, aggregate, post := c.attrInt("n_targets", 1), c.attrInt("aggregate_function", 1), c.attrInt("post_transform", 0)
	f := c.forest(func() *forest { return c.placedForest(targets) })
	names, transforms := []string{"AVERAGE", "SUM", "MIN", "MAX"}, []string{"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"}
	if aggregate < 0 || aggregate >= len(names) || post < 0 || post >= len(transforms) {
		c.fail("attribute %q is %d and %q is %d", "aggregate_function", aggregate, "post_transform", post)
	}
	y, _, rows := c.scores(f, targets, names[aggregate])
	d := c.value(0).tensor.DType()
	if !d.Float() {
		d = weft.Float32
	}
	return tensors(c.transformed(weft.FromSlice(y, rows, targets).To(d), transforms[post]))
}

func (c *call) placedForest(targets int) *forest {
	roots, features, missing := c.attrInts("tree_roots"), c.attrInts("nodes_featureids"), c.attrInts("nodes_missing_value_tracks_true")
	yes, no, yesLeaf, noLeaf := c.attrInts("nodes_truenodeids"), c.attrInts("nodes_falsenodeids"), c.attrInts("nodes_trueleafs"), c.attrInts("nodes_falseleafs")
	to := c.attrInts("leaf_targetids")
	values := func(name string) []float64 {
		v := c.attrValue(name)
		if v.kind == NoValue {
			return nil
		}
		return c.numbersOf(v)
	}
	modes, splits, weights, members := values("nodes_modes"), values("nodes_splits"), values("leaf_weights"), values("membership_values")
	c.attrValue("nodes_hitrates")
	n := len(features)
	if len(yes) != n || len(no) != n || len(yesLeaf) != n || len(noLeaf) != n || len(modes) != n || len(splits) != n || missing != nil && len(missing) != n || len(to) != len(weights) {
		c.fail("the attributes of %d nodes and %d leaves have different lengths", n, len(to))
	}
	f := &forest{nodes: make([]treeNode, n+len(to)), roots: roots}
	for i := range n {
		x := treeNode{mode: uint8(modes[i]), feature: features[i], split: splits[i], yes: yes[i], no: no[i], missing: missing != nil && missing[i] != 0}
		if modes[i] < 0 || modes[i] > modeMember {
			c.fail("node %d has the mode %v", i, modes[i])
		}
		if yesLeaf[i] != 0 {
			x.yes += n
		}
		if noLeaf[i] != 0 {
			x.no += n
		}
		if x.mode == modeMember {
			end := slices.IndexFunc(members, math.IsNaN)
			if end < 0 {
				end = len(members)
			}
			x.members, members = members[:end], members[min(end+1, len(members)):]
		}
		f.nodes[i] = x
	}
	for i, target := range to {
		if target < 0 || target >= targets {
			c.fail("leaf %d is for target %d of %d", i, target, targets)
		}
		f.nodes[n+i] = treeNode{mode: modeLeaf, votes: []vote{{target, weights[i]}}}
	}
	for _, r := range roots {
		if r < 0 || r >= n {
			c.fail("a root is node %d of %d", r, n)
		}
	}
	return f
}
