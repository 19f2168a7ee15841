package methods_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"weft"
	"weft/kernel"
	"weft/sym"
)

// placeKernels read the index of the element, in each way that kernels have.
var placeKernels = kernel.MustParse(`package k

import "weft/kernel"

func First(e kernel.Elem, x float64) float64  { return x + float64(e.Index(0)%5) }
func Second(e kernel.Elem, x float64) float64 { return x * float64(e.Index(1)%3) }
func Turned(e kernel.Elem, x float64, g kernel.Wrapped2[float64]) float64 {
	return x - g.At(e.Index(1)+1, e.Index(0)-1)
}
func Drawn(e kernel.Elem, x float64) float64 {
	if e.Rand64() < 0.5 {
		return -x
	}
	return x
}
func Above(a kernel.Near2[float64]) float64 { return a.At(0, 0) - a.At(-1, 1) }
`)

// A grid is a row-major array of the reference, which is plain Go.
type grid struct {
	shape []int
	x     []float64
}

// each calls f with each index, in order.
func (g grid) each(f func(at []int, i int)) {
	at := make([]int, len(g.shape))
	for i := range g.x {
		f(at, i)
		for a := len(at) - 1; a >= 0; a-- {
			if at[a]++; at[a] < g.shape[a] {
				break
			}
			at[a] = 0
		}
	}
}

func (g grid) at(at ...int) float64 {
	i := 0
	for a, k := range at {
		i = i*g.shape[a] + k
	}
	return g.x[i]
}

// with returns a grid of a shape whose elements are f of their indices.
func with(shape []int, f func(at []int) float64) grid {
	n := 1
	for _, s := range shape {
		n *= s
	}
	g := grid{shape, make([]float64, n)}
	g.each(func(at []int, i int) { g.x[i] = f(at) })
	return g
}

// reduced is the reduction of some axes by sums, greatest elements, or variances.
func (g grid) reduced(axes []int, how string) grid {
	var shape []int
	for a, n := range g.shape {
		if !slices.Contains(axes, a) {
			shape = append(shape, n)
		}
	}
	n := 0
	sum := with(shape, func([]int) float64 { return 0 })
	square, greatest := with(shape, func([]int) float64 { return 0 }), with(shape, func([]int) float64 { return math.Inf(-1) })
	g.each(func(at []int, i int) {
		j := 0
		for a, k := range at {
			if !slices.Contains(axes, a) {
				j = j*g.shape[a] + k
			}
		}
		sum.x[j] += g.x[i]
		square.x[j] += g.x[i] * g.x[i]
		greatest.x[j] = max(greatest.x[j], g.x[i])
	})
	n = len(g.x) / max(len(sum.x), 1)
	switch how {
	case "sum":
		return sum
	case "max":
		return greatest
	}
	for j, s := range sum.x {
		sum.x[j] = (square.x[j] - s/float64(n)*s) / float64(n)
	}
	return sum
}

// A placed operation gives elements that depend on their index.
type placed struct {
	name    string
	rank    int // least
	tensor  func(x *weft.Tensor) *weft.Tensor
	vari    func(x *sym.Var) *sym.Var // nil where package sym has no such operation
	formula string                    // the same as a formula of x and kernels; "" where there is none
	grid    func(x grid) grid
}

// placeSeed is the seed of the generator by which placed operations draw.
const placeSeed = 11

func placedOperations() []placed {
	f := placeKernels.Func
	// each makes a reference of elements that depend on x at their place and on the place.
	each := func(y func(x float64, e *kernel.Elem) float64) func(x grid) grid {
		return func(x grid) grid {
			return with(x.shape, func(at []int) float64 {
				return y(x.at(at...), &kernel.Elem{Place: at, Shape: x.shape, Seed: placeSeed})
			})
		}
	}
	// below returns how many places an element lies below the diagonal.
	below := func(e *kernel.Elem) int { n := len(e.Shape); return e.Index(n-2) - e.Index(n-1) }
	// table is what the kernel Turned reads: 7 rows of one element.
	table := func(x *weft.Tensor) *weft.Tensor {
		return x.Flatten(0).Slice(weft.Range(0, 1)).Reshape(1, 1).Add(weft.Arange[int](7).To(weft.Float64).Reshape(7, 1))
	}
	rows := func(n int) []int64 { return []int64{int64(n) - 1, 0, int64(n) / 2, 0, int64(n) / 3} }
	return []placed{
		{"tril", 2, func(x *weft.Tensor) *weft.Tensor { return x.Tril(0) }, func(x *sym.Var) *sym.Var { return x.Tril(0) }, "",
			each(func(x float64, e *kernel.Elem) float64 {
				if below(e) < 0 {
					return 0
				}
				return x
			})},
		{"triu", 2, func(x *weft.Tensor) *weft.Tensor { return x.Triu(2).Mul(2) }, func(x *sym.Var) *sym.Var { return x.Triu(2).Mul(2) }, "",
			each(func(x float64, e *kernel.Elem) float64 {
				if below(e) > -2 {
					return 0
				}
				return 2 * x
			})},
		{"index of the first axis", 1, func(x *weft.Tensor) *weft.Tensor { return f("First").Map(x) }, nil, "First(x)",
			each(func(x float64, e *kernel.Elem) float64 { return x + float64(e.Index(0)%5) })},
		{"index of the second axis", 2, func(x *weft.Tensor) *weft.Tensor { return f("Second").Map(x) }, nil, "Second(x)",
			each(func(x float64, e *kernel.Elem) float64 { return x * float64(e.Index(1)%3) })},
		{"gather at an index", 2, func(x *weft.Tensor) *weft.Tensor { return f("Turned").Map(x, table(x)) }, nil, "Turned(x, at)",
			func(x grid) grid {
				return with(x.shape, func(at []int) float64 { return x.at(at...) - x.x[0] - float64((at[1]+1)%7) })
			}},
		{"random number", 1, func(x *weft.Tensor) *weft.Tensor {
			return f("Drawn").Map(x, kernel.MapOpts{Generator: weft.NewGenerator(placeSeed)})
		}, nil, "", each(func(x float64, e *kernel.Elem) float64 {
			if e.Rand64() < 0.5 {
				return -x
			}
			return x
		})},
		{"neighbour", 2, func(x *weft.Tensor) *weft.Tensor {
			if n := len(x.Shape()); n > 2 {
				x = x.Reshape(-1, x.Dim(n-1))
			}
			return f("Above").Stencil(x)
		}, nil, "", func(x grid) grid {
			n := x.shape[len(x.shape)-1]
			x = grid{[]int{len(x.x) / n, n}, x.x}
			return with(x.shape, func(at []int) float64 {
				if at[0] == 0 || at[1] == n-1 {
					return 0
				}
				return x.at(at...) - x.at(at[0]-1, at[1]+1)
			})
		}},
		{"rows at indices", 1, func(x *weft.Tensor) *weft.Tensor {
			return x.IndexSelect(0, weft.FromSlice(rows(x.Dim(0)))).Add(1)
		}, nil, "", func(x grid) grid {
			r := rows(x.shape[0])
			return with(append([]int{len(r)}, x.shape[1:]...), func(at []int) float64 {
				return x.at(append([]int{int(r[at[0]])}, at[1:]...)...) + 1
			})
		}},
	}
}

// A change is what lies between a placed operation and its reduction.
type change struct {
	name   string
	tensor func(x *weft.Tensor) *weft.Tensor
	vari   func(x *sym.Var, shape []int) *sym.Var
	grid   func(x grid) grid
}

func weights(n int) []float64 {
	w := make([]float64, n)
	for i := range w {
		w[i] = float64(i%3) - 1
	}
	return w
}

// factor is the least factor of n above 1, or 1.
func factor(n int) int {
	for k := 2; k <= n; k++ {
		if n%k == 0 {
			return k
		}
	}
	return 1
}

func split(shape []int) []int {
	k := factor(shape[0])
	return append([]int{shape[0] / k, k}, shape[1:]...)
}

func joined(shape []int) []int {
	if len(shape) < 2 {
		return shape
	}
	return append([]int{shape[0] * shape[1]}, shape[2:]...)
}

var changes = []change{
	{"as it is", func(x *weft.Tensor) *weft.Tensor { return x }, func(x *sym.Var, _ []int) *sym.Var { return x }, func(x grid) grid { return x }},
	{"weighted", func(x *weft.Tensor) *weft.Tensor { return x.Mul(weft.FromSlice(weights(x.Dim(-1)))) },
		func(x *sym.Var, shape []int) *sym.Var {
			return x.Mul(sym.Const(weft.FromSlice(weights(shape[len(shape)-1]))))
		},
		func(x grid) grid {
			w := weights(x.shape[len(x.shape)-1])
			return with(x.shape, func(at []int) float64 { return x.at(at...) * w[at[len(at)-1]] })
		}},
	{"permuted", func(x *weft.Tensor) *weft.Tensor { return x.Transpose(0, -1).Add(1) },
		func(x *sym.Var, _ []int) *sym.Var { return x.Transpose(0, -1).Add(1) },
		func(x grid) grid {
			shape := slices.Clone(x.shape)
			n := len(shape) - 1
			shape[0], shape[n] = shape[n], shape[0]
			return with(shape, func(at []int) float64 {
				back := slices.Clone(at)
				back[0], back[n] = at[n], at[0]
				return x.at(back...) + 1
			})
		}},
	{"split", func(x *weft.Tensor) *weft.Tensor { return x.Reshape(split(x.Shape())...) },
		func(x *sym.Var, shape []int) *sym.Var { return x.Reshape(split(shape)) },
		func(x grid) grid { return grid{split(x.shape), x.x} }},
	{"flattened", func(x *weft.Tensor) *weft.Tensor { return x.Reshape(joined(x.Shape())...).Neg() },
		func(x *sym.Var, shape []int) *sym.Var { return x.Reshape(joined(shape)).Neg() },
		func(x grid) grid {
			y := grid{joined(x.shape), slices.Clone(x.x)}
			for i := range y.x {
				y.x[i] = -y.x[i]
			}
			return y
		}},
	{"cut", func(x *weft.Tensor) *weft.Tensor { return x.Slice(weft.Ellipsis, weft.Range(1, weft.End)) },
		func(x *sym.Var, _ []int) *sym.Var { return x.Slice(weft.Ellipsis, weft.Range(1, weft.End)) },
		func(x grid) grid {
			shape := slices.Clone(x.shape)
			shape[len(shape)-1]--
			return with(shape, func(at []int) float64 {
				from := slices.Clone(at)
				from[len(from)-1]++
				return x.at(from...)
			})
		}},
}

// placeShapes have axes around the bounds at which reductions change: one element, rows of up
// to 256, blocks of 4096, parts of 32768.
var placeShapes = [][]int{
	{1}, {7}, {257}, {4097}, {32769}, {70001},
	{1, 5}, {5, 1}, {3, 4}, {256, 256}, {129, 33}, {2, 32773}, {2100, 16}, {33, 4097}, {4097, 3},
	{2, 3, 4}, {1, 9, 1}, {40, 17, 64}, {3, 64, 300}, {130, 4, 66}, {20, 4100, 2},
	{2, 3, 4, 5}, {3, 2, 65, 66}, {8, 4, 32, 33}, {2, 1, 17, 1200}, {17, 1, 1, 9},
}

// Reductions of operations that depend on the element's index, over every set of axes, equal a
// reference in plain Go. They run eagerly, compiled, as formulas, by package sym, in bodies of
// scans and under Vmap. Debug runs each kernel by the interpreter too. Elements are small integers,
// whose sums are exact in any order.
func TestReductionsOfIndices(t *testing.T) {
	all := placeCombinations()
	n := 2 * len(all)
	if s := os.Getenv("WEFT_PROGRAMS"); s != "" {
		n, _ = strconv.Atoi(s)
	}
	ops := placedOperations()
	for i := range n {
		if c := newPlaceCase(i, all[i%len(all)], ops); c != nil {
			c.compare(t)
		}
		if t.Failed() {
			break
		}
	}
}

// A placeCombination is a shape and the axes of a reduction.
type placeCombination struct{ shape, axes []int }

// placeCombinations returns every set of axes of every shape.
func placeCombinations() (all []placeCombination) {
	for _, shape := range placeShapes {
		for set := 1; set < 1<<len(shape); set++ {
			var axes []int
			for a := range shape {
				if set>>a&1 == 1 {
					axes = append(axes, a)
				}
			}
			all = append(all, placeCombination{shape, axes})
		}
	}
	return all
}

// A placeCase is a reduction of an operation on elements by their index.
type placeCase struct {
	i    int
	name string
	o    placed
	ch   change
	how  string
	axes []int
	x, y grid // the argument, and what the operation makes of it
	want grid
	in   *weft.Tensor // x
}

// newPlaceCase draws case i; nil if nothing is left to reduce.
func newPlaceCase(i int, of placeCombination, ops []placed) *placeCase {
	r := rand.New(rand.NewPCG(uint64(i), 26))
	c := &placeCase{i: i}
	c.o, c.ch = ops[r.IntN(len(ops))], changes[r.IntN(len(changes))]
	for c.o.rank > len(of.shape) {
		c.o = ops[r.IntN(len(ops))]
	}
	c.how = []string{"sum", "max", "variance"}[r.IntN(3)]
	c.x = with(of.shape, func([]int) float64 { return float64(r.IntN(9) - 4) })
	c.y = c.o.grid(c.x)
	moved := c.ch.grid(c.y)
	for _, a := range of.axes {
		if a < len(moved.shape) {
			c.axes = append(c.axes, a)
		}
	}
	if len(c.axes) == 0 || len(moved.x) == 0 {
		return nil
	}
	c.want = moved.reduced(c.axes, c.how)
	c.name = fmt.Sprintf("case %d: %v, %s, %s, %s over axes %v of %v", i, of.shape, c.o.name, c.ch.name, c.how, c.axes, moved.shape)
	c.in = weft.FromSlice(c.x.x, c.x.shape...)
	if r.IntN(2) == 0 && len(of.shape) > 1 { // the same elements, in another order in memory
		c.in = c.in.Transpose(0, -1).Clone().Transpose(0, -1)
	}
	return c
}

// compare computes the case in every way.
func (c *placeCase) compare(t *testing.T) {
	t.Helper()
	c.tensors(t)
	if c.o.formula != "" && c.ch.name == "as it is" && c.how != "variance" {
		c.formula(t)
	}
	if c.o.vari != nil && c.i%2 == 0 {
		c.graphs(t)
	}
}

// check compares a result with the reference.
func (c *placeCase) check(t *testing.T, path string, got *weft.Tensor, err error) {
	t.Helper()
	if err != nil {
		t.Errorf("%s, %s: %v", c.name, path, err)
		return
	}
	if !slices.Equal(got.Shape(), c.want.shape) && len(c.want.shape)+len(got.Shape()) > 0 {
		t.Errorf("%s, %s: shape %v, want %v", c.name, path, got.Shape(), c.want.shape)
		return
	}
	for j, y := range weft.Data[float64](got) {
		if w := c.want.x[j]; !(math.Abs(y-w) <= 0) && !(c.how == "variance" && math.Abs(y-w) <= 1e-12*(1+w)) {
			t.Errorf("%s, %s: element %d is %v, want %v", c.name, path, j, y, w)
			return
		}
	}
}

// result returns the reduction of tensors.
func (c *placeCase) result(x *weft.Tensor) *weft.Tensor {
	y := c.ch.tensor(c.o.tensor(x))
	switch c.how {
	case "sum":
		return y.Sum(c.axes...)
	case "max":
		return y.Max(c.axes...)
	}
	return y.Var(c.axes...)
}

// tensors computes eagerly, compiled, and in some cases with Debug or Vmap.
func (c *placeCase) tensors(t *testing.T) {
	t.Helper()
	in := c.in
	c.check(t, "eager", c.result(in), nil)
	compiled := weft.Compile(c.result)
	got, err := compiled.Call(in)
	c.check(t, "compiled", got, err)
	if c.i%8 == 0 {
		got, err = compiled.Debug(weft.DebugOpts{Verify: true}).Call(in)
		c.check(t, "debug", got, err)
	}
	if c.i%8 == 1 && c.o.name != "random number" && c.o.name != "neighbour" {
		got = weft.Vmap(func(x ...*weft.Tensor) *weft.Tensor { return c.result(x[0]) })(weft.Stack([]*weft.Tensor{in, in}, 0))
		c.check(t, "vmap", got.Slice(weft.Index(1)), nil)
		c.check(t, "vmap", got.Slice(weft.Index(0)), nil)
	}
}

// formula computes by a formula.
func (c *placeCase) formula(t *testing.T) {
	t.Helper()
	text := fmt.Sprintf("%s(%s, %s)", map[string]string{"sum": "sum", "max": "amax"}[c.how], c.o.formula, strings.Trim(strings.ReplaceAll(fmt.Sprint(c.axes), " ", ", "), "[]"))
	at := weft.ScalarOf(weft.Float64, c.x.x[0]).Add(weft.Arange[int](7).To(weft.Float64).Reshape(7, 1))
	vars := weft.Vars{"x": c.in, "at": at, "First": placeKernels.Func("First"), "Second": placeKernels.Func("Second"), "Turned": placeKernels.Func("Turned")}
	c.check(t, "formula", weft.Expr(text, vars), nil)
}

// graphs computes by package sym, by itself and in the body of a scan.
func (c *placeCase) graphs(t *testing.T) {
	t.Helper()
	v := sym.New("x", weft.Float64, c.x.shape...)
	body := func(x *sym.Var) *sym.Var {
		z := c.ch.vari(c.o.vari(x), c.y.shape)
		switch c.how {
		case "sum":
			return z.Sum(c.axes...)
		case "max":
			return z.Max(c.axes...)
		}
		return z.Var(c.axes...)
	}
	fn, err := sym.Function(sym.In(v), sym.Out(body(v)))
	if err != nil {
		t.Fatal(c.name, err)
	}
	var got *weft.Tensor
	res, err := fn.Call(c.in)
	if err == nil {
		got = res[0]
	}
	c.check(t, "sym", got, err)
	seq := sym.New("xs", weft.Float64, append([]int{2}, c.x.shape...)...)
	scan := sym.Scan(sym.ScanOpts{Sequences: []any{seq}}, func(s sym.Step) sym.Next { return sym.Next{Out: []*sym.Var{body(s.X[0])}} })
	if fn, err = sym.Function(sym.In(seq), sym.Out(scan.Out[0])); err != nil {
		t.Fatal(c.name, err)
	}
	res, err = fn.Call(weft.Stack([]*weft.Tensor{c.in, c.in}, 0))
	if err == nil {
		got = res[0].Slice(weft.Index(1))
	}
	c.check(t, "scan", got, err)
}

// The epilogue of a matrix product gets the index of each element in the whole result.
func TestMatMulEpilogueIndices(t *testing.T) {
	for i, shape := range [][]int{{5, 7}, {130, 70}, {3, 65, 64}, {2, 3, 33, 300}, {1, 600, 600}} {
		r := rand.New(rand.NewPCG(uint64(i), 27))
		n := len(shape)
		rows, cols := shape[n-2], shape[n-1]
		a := with(append(slices.Clone(shape[:n-1]), 3), func([]int) float64 { return float64(r.IntN(5) - 2) })
		b := with([]int{3, cols}, func([]int) float64 { return float64(r.IntN(5) - 2) })
		ab := with(shape, func(at []int) (s float64) {
			from := slices.Clone(at)
			for k := range 3 {
				from[n-1] = k
				s += a.at(from...) * b.at(k, at[n-1])
			}
			return s
		})
		for _, o := range placedOperations() {
			if o.name == "gather at an index" || o.name == "rows at indices" || o.name == "neighbour" {
				continue // read whole arrays
			}
			want := o.grid(ab)
			f := func(x, y *weft.Tensor) []*weft.Tensor {
				z := o.tensor(x.MatMul(y)).Add(1)
				return []*weft.Tensor{z, z.Sum()}
			}
			x, y := weft.FromSlice(a.x, a.shape...), weft.FromSlice(b.x, b.shape...)
			got := weft.Compile(f).Func()(x, y)
			sum := 0.0
			for j, v := range weft.Data[float64](got[0]) {
				sum += v
				if v != want.x[j]+1 {
					t.Errorf("%s of a product of %v: element [%d %d] is %v, want %v", o.name, shape, j/cols%rows, j%cols, v, want.x[j]+1)
					break
				}
			}
			if s := got[1].Item(); s != sum {
				t.Errorf("%s of a product of %v: the sum is %v, want %v", o.name, shape, s, sum)
			}
		}
	}
}
