package rewrite_test

import (
	"math/rand/v2"
	"os"
	"runtime/debug"
	"strconv"
	"testing"

	"weft/internal/array"
	"weft/internal/cpu"
	"weft/internal/device"
	"weft/internal/ir"
	"weft/internal/jit"
	"weft/internal/op"
	"weft/internal/optest"
	"weft/internal/rewrite"
)

// Graphs are made and dropped by the thousand, while little is live: with room for four
// times as much a fifth of the time is saved. GOGC decides where it is set.
func TestMain(m *testing.M) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
	os.Exit(m.Run())
}

// A grower makes graphs full of what rules look for: constants that change nothing, the
// same twice, what undoes each other, windows on windows.
type grower struct {
	r    *rand.Rand
	g    *ir.Graph
	pool []*node
	x    []*optest.Array
}

var growerTypes = []array.DType{array.Float32, array.Float32, array.Float32, array.Float64, array.Float16, array.Int32, array.Int32, array.Uint8, array.Bool}

// grow returns outputs of a random graph and values of its inputs.
func grow(seed uint64) ([]*node, []*optest.Array) {
	m := &grower{r: rand.New(rand.NewPCG(seed, 11)), g: ir.New()}
	rows, cols := 1+m.r.IntN(4), 1+m.r.IntN(6)
	shapes := [][]int{{rows, cols}, {rows, cols}, {cols}, {rows, 1}, {1, cols}, {}}
	main := growerTypes[m.r.IntN(len(growerTypes))]
	for i := range 3 + m.r.IntN(3) {
		d := main
		if m.r.IntN(4) == 0 {
			d = growerTypes[m.r.IntN(len(growerTypes))]
		}
		m.pool = append(m.pool, m.g.Input(i, d, shapes[m.r.IntN(len(shapes))]))
	}
	m.x = values(m.r, m.pool, seed%2 == 0)
	for range 3 + m.r.IntN(30) {
		array.Try(func() {
			n := m.step()
			if n == nil || n.Size() > 1<<10 {
				return
			}
			m.pool = append(m.pool, n)
		})
	}
	outs := []*node{m.pool[len(m.pool)-1]}
	for range m.r.IntN(3) {
		outs = append(outs, m.any())
	}
	return outs, m.x
}

func (m *grower) any() *node {
	if m.r.IntN(3) == 0 {
		return m.pool[m.r.IntN(len(m.pool))]
	}
	return m.pool[len(m.pool)-1-m.r.IntN(min(3, len(m.pool)))]
}

// constant is a number in the type of x, sometimes as an array.
func (m *grower) constant(x *node) *node {
	f := []float64{0, 1, -1, 2, minusZero, 0.5, 3}[m.r.IntN(7)]
	if x.DType == array.Bool {
		f = float64(m.r.IntN(2))
	} else if x.DType.Unsigned() && f < 0 {
		f = 4
	}
	if n := num(x, f); m.r.IntN(4) > 0 {
		return n
	} else {
		return op.Apply(op.Expand, op.Shape(x.Shape), n)
	}
}

func (m *grower) step() *node {
	r, x := m.r, m.any()
	y := m.any()
	switch r.IntN(4) {
	case 0:
		y = m.constant(x)
	case 1:
		y = x
	}
	if r.IntN(2) == 0 {
		x, y = y, x
	}
	rank, axis := len(x.Shape), 0
	if rank > 0 {
		axis = r.IntN(rank)
	}
	switch k := r.IntN(36); {
	case k == 35 && rank > 0 && x.Size() > 0:
		return m.pairs(x, y, axis)
	case k == 31 && rank > 0:
		return m.joined(x, axis)
	case k == 32 && rank > 0 && x.Shape[axis] > 0:
		return m.selected(x, axis)
	case k == 33:
		return m.summed(x, axis)
	case k == 34 && rank == 1:
		return m.diagonal(x)
	case k == 34 && rank == 2 && x.DType.Float(): // a batch of products
		z := op.Apply(op.Expand, op.Shape{2, x.Shape[0], x.Shape[1]}, x)
		return apply(op.MatMul, apply(op.Neg, z), op.Apply(op.Expand, op.Shape{2, x.Shape[1], x.Shape[0]}, op.Transpose(x, 0, 1)))
	case k == 30 && x.Size() > 0:
		return m.written(x)
	case k < 7:
		return apply(m.pick(op.Add, op.Sub, op.Mul, op.Div, op.Add, op.Sub, op.Mul, op.Maximum, op.Minimum, op.FloorDiv, op.Pow), x, y)
	case k < 10:
		return apply(m.pick(op.Neg, op.Neg, op.Abs, op.Square, op.Relu, op.Sign, op.Floor, op.Round, op.Reciprocal, op.Sqrt), x)
	case k < 12:
		return apply(m.pick(op.Exp, op.Log, op.Sigmoid, op.Log1p, op.Expm1, op.Softplus, op.Tanh, op.Erf), x)
	case k < 14:
		return apply(m.pick(op.Eq, op.Ne, op.Lt, op.Le, op.Gt, op.Ge), x, y)
	case k < 16:
		return apply(m.pick(op.LogicalAnd, op.LogicalOr, op.LogicalXor, op.BitAnd, op.BitOr, op.BitXor), x, y)
	case k == 16:
		return apply(m.pick(op.LogicalNot, op.BitNot), x)
	case k < 19:
		return op.Apply(op.Where, nil, m.any(), x, y)
	case k < 21:
		if r.IntN(8) == 0 && !x.Weak {
			return m.g.Node(op.Cast, nil, x.DType, x.Shape, false, x) // to the same type
		}
		return op.Convert(x, growerTypes[r.IntN(len(growerTypes))])
	case k == 21:
		return op.Apply(op.PowInt, op.Power(r.IntN(4)), x)
	case k == 22 && rank > 1 && x.Shape[(axis+1)%rank] > 1 && r.IntN(4) == 0: // a part of a reduction
		other := (axis + 1) % rank
		return op.Narrow(op.Apply(m.pick(op.Sum, op.Max), op.Reduction{Axes: []int{axis}, Keep: true}, x), other, r.IntN(2), x.Shape[other]-1)
	case k == 22 && rank > 0:
		return op.Apply(m.pick(op.Sum, op.Max, op.Min, op.Prod, op.Any, op.All), op.Reduction{Axes: []int{axis}, Keep: r.IntN(2) == 0}, x)
	case k == 23 && rank > 1:
		if rank == 2 && x.DType.Float() && r.IntN(4) == 0 { // of a product that nothing else uses
			x = apply(op.MatMul, apply(op.Abs, x), op.Transpose(x, 0, 1))
		}
		return op.Transpose(x, 0, rank-1)
	case k == 24:
		return op.Apply(op.Reshape, op.Shape([][]int{{x.Size()}, {1, x.Size()}, {x.Size(), 1}}[r.IntN(3)]), x)
	case k == 25 && rank > 0 && x.Shape[axis] > 0:
		lo := r.IntN(x.Shape[axis])
		return op.Narrow(x, axis, lo, 1+r.IntN(x.Shape[axis]-lo))
	case k == 26 && rank > 0:
		start, step := make([]int, rank), make([]int, rank)
		for i, n := range x.Shape {
			step[i] = 1
			if i == axis && n > 0 {
				start[i], step[i] = n-1, -1
			}
		}
		return op.Apply(op.Slice, op.Window{Start: start, Step: step, Count: append([]int(nil), x.Shape...)}, x)
	case k == 27:
		s := x.Shape
		if r.IntN(2) == 0 {
			s = append([]int{2}, s...)
		}
		return op.Apply(op.Expand, op.Shape(s), x)
	case k == 28 && rank > 0:
		if r.IntN(6) == 0 { // x put into all of an array
			return op.Apply(op.Pad, op.Padding{Pads: make([]int, 2*rank), Value: 2}, x)
		}
		if r.IntN(3) == 0 && rank < 3 {
			return op.Apply(op.Pad, op.Padding{Pads: []int{1, 0, 0, 1}[:2*rank], Value: 2}, x)
		}
		return op.Apply(op.Cat, op.Axis(axis), x, op.Convert(y, x.DType))
	case k == 29 && r.IntN(2) == 0:
		return apply(m.pick(op.Maximum, op.Minimum), apply(op.Neg, x), apply(op.Neg, y))
	case k == 29 && rank == 2 && x.DType.Float():
		if r.IntN(2) == 0 && x.Size() > 0 { // of a column with a row
			return apply(op.MatMul, op.Narrow(x, 1, 0, 1), op.Narrow(x, 0, 0, 1))
		}
		return apply(op.MatMul, x, op.Transpose(op.Convert(x, x.DType), 0, 1))
	}
	return nil
}

// pairs makes two of what rules look for in pairs.
func (m *grower) pairs(x, y *node, axis int) *node {
	r := m.r
	y = op.Convert(y, x.DType)
	switch r.IntN(6) {
	case 0:
		return op.Apply(op.Prod, op.Reduction{Axes: []int{axis}, Keep: r.IntN(2) == 0}, apply(op.Neg, x))
	case 1:
		c := apply(op.Gt, x, y)
		return apply(m.pick(op.Add, op.Sub, op.Mul), op.Apply(op.Where, nil, c, x, y), op.Apply(op.Where, nil, c, m.constant(x), x))
	case 2:
		return apply(op.Neg, op.Apply(op.Expand, op.Shape(append([]int{2}, x.Shape...)), apply(op.Neg, x)))
	case 3:
		return apply(m.pick(op.Mul, op.Div), apply(op.Abs, x), apply(op.Abs, y))
	case 4: // written at indices
		at := op.Apply(op.Expand, op.Shape{2}, m.g.Number(float64(r.IntN(x.Shape[axis])), array.Int64, false))
		part := func() *node {
			s := append([]int(nil), x.Shape...)
			s[axis] = 2
			return op.Apply(op.Expand, op.Shape(s), m.constant(x))
		}
		return op.Apply(op.IndexCopy, op.Axis(axis), part(), at, op.Apply(op.IndexCopy, op.Axis(axis), part(), at, x))
	}
	z := op.Apply(op.Expand, op.Shape(x.Shape), num(x, 3))
	if r.IntN(2) == 0 {
		x = op.Narrow(x, axis, 0, 1)
		return op.Apply(op.Cat, op.Axis(axis), x, x)
	}
	w := op.StridedWindow{Offset: 0, Shape: []int{1}, Strides: []int{1}}
	return apply(op.Add, x, op.Apply(op.Put, w, z, op.Apply(op.Expand, op.Shape{1}, num(x, 3))))
}

// joined joins parts of x, x with itself, and windows of x.
func (m *grower) joined(x *node, axis int) *node {
	r := m.r
	parts := []*node{x}
	if n := x.Shape[axis]; n > 1 {
		parts = []*node{op.Narrow(x, axis, 0, 1), op.Narrow(x, axis, 1, n-1)}
		if r.IntN(3) == 0 {
			parts[1] = op.Narrow(x, axis, n-1, 1)
		}
	}
	if r.IntN(3) == 0 {
		parts = append(parts, op.Narrow(x, axis, 0, 0))
	}
	if r.IntN(2) == 0 {
		parts[0] = op.Apply(op.Cat, op.Axis(axis), x, x)
	}
	return op.Apply(op.Cat, op.Axis(axis), parts...)
}

// selected reads x at indices that are known.
func (m *grower) selected(x *node, axis int) *node {
	r := m.r
	at := op.Apply(op.Iota, op.Axis(0), op.Apply(op.Expand, op.Shape{x.Shape[axis]}, num(x, 1)))
	if r.IntN(2) == 0 {
		at = op.Apply(op.Expand, op.Shape{1 + r.IntN(3)}, m.g.Number(float64(-1-r.IntN(x.Shape[axis])), array.Int64, false))
	}
	return op.Apply(op.IndexSelect, op.Axis(axis), x, at)
}

// summed sums integers, and integers with factors and signs.
func (m *grower) summed(x *node, axis int) *node {
	r := m.r
	rank := len(x.Shape)
	z := op.Convert(apply(op.Relu, x), array.Int64)
	if x.DType == array.Bool || rank == 0 {
		return nil
	}
	c := op.Apply(op.Sum, op.Reduction{Axes: []int{axis}, Keep: true}, z)
	switch r.IntN(4) {
	case 3:
		z = apply(op.Mul, apply(op.Mul, z, num(z, 3)), num(z, 5))
	case 0:
		z = apply(op.Neg, z)
	case 1:
		z = apply(op.Mul, z, c)
	}
	z = op.Apply(op.Sum, op.Reduction{Axes: []int{rank - 1}, Keep: true}, z)
	if rank > 1 && r.IntN(2) == 0 {
		z = op.Apply(op.Lookup("reduce_sum"), op.Group{Lo: 0, Hi: 1}, z)
	}
	return z
}

// diagonal reads the diagonal of a matrix of x, or a part of a complex number.
func (m *grower) diagonal(x *node) *node {
	r := m.r
	if x.DType == array.Float32 && r.IntN(2) == 0 {
		z := m.g.Node(op.Complex, nil, array.Complex64, x.Shape, false, x, apply(op.Neg, x))
		return m.g.Node(m.pick(op.Real, op.Imag), nil, array.Float32, x.Shape, false, z)
	}
	n := x.Shape[0]
	z := op.Apply(op.Place, op.Placement{Shape: []int{n, n + 1}, View: op.Offset(1), Fill: 2}, x)
	return op.Apply(op.Diagonal, op.Offset(r.IntN(2)), z)
}

// written writes into a part of x, and reads it.
func (m *grower) written(x *node) *node {
	r := m.r
	k := 1 + r.IntN(x.Size())
	lo, step := r.IntN(x.Size()-k+1), 1
	if r.IntN(3) == 0 {
		lo, step = lo+k-1, -1
	}
	w := op.StridedWindow{Offset: lo, Shape: []int{k}, Strides: []int{step}}
	part := op.Convert(m.any(), x.DType)
	if r.IntN(4) == 0 {
		part = x
	}
	part = op.Apply(op.Reshape, op.Shape{part.Size()}, part)
	for part.Size() < k {
		part = op.Apply(op.Cat, op.Axis(0), part, part)
	}
	if r.IntN(4) == 0 {
		part = op.Apply(op.Strided, w, op.Apply(op.Reshape, op.Shape{x.Size()}, x))
	}
	for range 1 + r.IntN(2) {
		x = op.Apply(op.Put, w, x, op.Narrow(part, 0, 0, k))
	}
	m.pool = append(m.pool, x)
	if r.IntN(2) == 0 {
		w.Offset = r.IntN(x.Size())
		w.Shape = []int{1}
	}
	return op.Apply(op.Strided, w, op.Apply(op.Reshape, op.Shape{x.Size()}, x))
}

func (m *grower) pick(defs ...*op.Def) *op.Def { return defs[m.r.IntN(len(defs))] }

// devices are the oracle and the best that the processor has.
func best() device.Device {
	all := jit.ISAs()
	return cpu.New(all[len(all)-1])
}

// missingFactor bounds the search for graphs that rules fire on: TestRandom draws at most this
// multiple of its number of graphs for the rules that no graph has shown.
const missingFactor = 10

// TestRandom compares random graphs before and after rewriting. A graph that exact rules rewrote
// and a device compiled has the bits that the interpreter gives for the original graph. Graphs
// rewritten by rules of other levels can be planned and run. Each exact rule fires on some graph.
func TestRandom(t *testing.T) {
	dev := best()
	fired := map[string]int{}
	used := map[*op.Def]int{}
	number := 4000
	if testing.Short() {
		number = 300
	}
	if n, err := strconv.Atoi(os.Getenv("WEFT_GRAPHS")); err == nil {
		number = n
	}
	for seed := range uint64(number) {
		if seed%4 != 3 {
			outs, x := grow(seed)
			checkRewritten(t, dev, seed, outs, x, fired)
		} else if g := optest.RandomGraph(seed, used); len(g.Outs) > 0 {
			checkRewritten(t, dev, seed, g.Outs, g.X, fired)
		}
	}
	if number < 4000 {
		return
	}
	// RandomGraph draws from the table of operations: a new operation changes all its graphs. The
	// graphs of grow do not depend on the table, so the search below keeps finding what it found.
	for seed := uint64(number); seed < uint64(missingFactor*number) && len(missing(fired)) > 0; seed++ {
		outs, x := grow(seed)
		checkRewritten(t, dev, seed, outs, x, fired)
	}
	for _, name := range missing(fired) {
		t.Errorf("the rule %q fires on no graph: let step build one", name)
	}
}

// missing returns the exact rules that have not fired. It leaves out the rules of TestControlRandom,
// whose graphs have loops and branches.
func missing(fired map[string]int) (names []string) {
	elsewhere := map[string]bool{}
	for _, w := range controlRows {
		elsewhere[w.rule] = true
	}
	for _, r := range rewrite.Rules() {
		if r.Level == rewrite.Exact && fired[r.Name] == 0 && !elsewhere[r.Name] {
			names = append(names, r.Name)
		}
	}
	return names
}

// checkRewritten rewrites a graph at every level, checks the results, and counts in fired how
// often each exact rule fired.
func checkRewritten(t *testing.T, dev device.Device, seed uint64, outs []*node, x []*optest.Array, fired map[string]int) {
	t.Helper()
	want := compute(t, outs, x)
	res := rewrite.Run(outs, rewrite.Exact)
	for _, u := range res.Report.Rules {
		fired[u.Name] += u.Count
	}
	if guilty := differs(t, dev, outs, res.Outs, x, want); guilty != "" {
		t.Fatalf("seed %d: %s\n%s\nbecomes\n%s%s", seed, guilty, outs[0].Graph, res.Outs[0].Graph, blame(t, outs, x))
	}
	for _, l := range []rewrite.Level{rewrite.Stable, rewrite.Fast} {
		if _, err := optest.Compute(dev, rewrite.Run(outs, l).Outs, x); err != nil {
			t.Fatalf("seed %d, %s: %v\n%s", seed, l, err, outs[0].Graph)
		}
	}
}

func differs(t *testing.T, dev device.Device, outs, rewritten []*node, x, want []*optest.Array) string {
	t.Helper()
	got, err := optest.Compute(dev, rewritten, x)
	if err != nil {
		return err.Error()
	}
	for i := range got {
		if got[i].DType != want[i].DType || !array.Equal(got[i].Shape, want[i].Shape) {
			return "another type"
		}
		if d := optest.Same(want[i], got[i]); d != "" {
			return d
		}
	}
	return ""
}

// blame names the rules without which the graph keeps its bits.
func blame(t *testing.T, outs []*node, x []*optest.Array) string {
	t.Helper()
	want := compute(t, outs, x)
	s := ""
	var exact []*rewrite.Rule
	for _, r := range rewrite.Rules() {
		if r.Level == rewrite.Exact {
			exact = append(exact, r)
		}
	}
	for i, r := range exact {
		rest := append(append([]*rewrite.Rule(nil), exact[:i]...), exact[i+1:]...)
		if differs(t, oracle, outs, rewrite.RunRules(outs, rest, nil).Outs, x, want) == "" {
			s += "\nwithout the rule \"" + r.Name + "\" the bits are right"
		}
	}
	return s
}
