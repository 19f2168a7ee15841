package plan

import (
	"testing"

	"weft/internal/array"
	"weft/internal/ir"
	"weft/internal/loop"
	"weft/internal/numbers"
	"weft/internal/op"
)

// Constants are arguments of programs, so that others need no program of their own: but for a
// few numbers, and where the code depends on them.
func TestConstants(t *testing.T) {
	num := func(x *ir.Node, f float64) *ir.Node { return x.Graph.Number(f, x.DType, false) }
	for _, c := range []struct {
		name   string
		of     func(x *ir.Node, c float64) *ir.Node
		values [2]float64
		same   bool
	}{
		{"factor", func(x *ir.Node, c float64) *ir.Node { return apply(op.Mul, x, num(x, c)) }, [2]float64{0.3, 7}, true},
		{"divisor of a row", func(x *ir.Node, c float64) *ir.Node {
			return apply(op.Div, axes(op.Sum, true, x, 1), num(x, c))
		}, [2]float64{60, 64}, true},
		{"number of an axis", func(x *ir.Node, c float64) *ir.Node {
			return apply(op.Lt, op.Apply(op.Iota, op.Axis(1), x), x.Graph.Number(c, array.Int64, false))
		}, [2]float64{60, -50}, true},
		{"special factor", func(x *ir.Node, c float64) *ir.Node { return apply(op.Mul, x, num(x, c)) }, [2]float64{3, 2}, false},
		{"limit", func(x *ir.Node, c float64) *ir.Node { return apply(op.Minimum, x, num(x, c)) }, [2]float64{3, 5}, false},
	} {
		var keys [2]string
		var words [2][]uint64
		for i, v := range c.values {
			p := kernels(one(func(x []*ir.Node) *ir.Node { return c.of(x[0], v) }), []int{50, 70})
			k := p.Steps[0].Kernel
			keys[i], words[i] = string(k.Prog.Key()), k.Words
		}
		if same := keys[0] == keys[1]; same != c.same {
			t.Errorf("%s: one program for %v: %t, want %t", c.name, c.values, same, c.same)
		}
		if c.same && len(words[0]) == len(words[1]) {
			differ := 0
			for i := range words[0] {
				if words[0][i] != words[1][i] {
					differ++
				}
			}
			if differ != 1 {
				t.Errorf("%s: %d words differ, want the constant's alone", c.name, differ)
			}
		}
	}
}

// More constants than a frame has room for are partly in the program.
func TestManyConstants(t *testing.T) {
	p := kernels(one(func(x []*ir.Node) *ir.Node {
		y := x[0]
		for i := range 100 {
			d := op.Mul
			if i%2 > 0 {
				d = op.Add
			}
			y = apply(d, y, y.Graph.Number(1.5+float64(i), y.DType, false))
		}
		return y
	}), []int{2, 3, 2, 3, 2, 3, 500})
	for _, s := range p.Steps {
		if n, most := len(s.Kernel.Prog.Scalars), loop.ScalarRoom(len(s.Kernel.Prog.Axes)); n > most-maxNumbers || n == 0 {
			t.Errorf("%d scalars, there is room for %d and those of the caller", n, most-maxNumbers)
		}
	}
}

// Columns of all heights are combined by as many programs as there are sizes of trees.
func TestTreePrograms(t *testing.T) {
	trees := map[string]bool{}
	for rows := numbers.ColumnBlock + 1; rows < 20*numbers.ColumnBlock; rows++ {
		p := kernels(one(func(x []*ir.Node) *ir.Node { return axes(op.Sum, false, x[0], 0) }), []int{rows, 30})
		for _, s := range p.Steps {
			if s.Kernel.Prog.Name == "tree" {
				trees[string(s.Kernel.Prog.Key())] = true
			}
		}
	}
	if len(trees) == 0 || len(trees) > 4 { // whole groups have two layouts
		t.Errorf("%d programs", len(trees))
	}
}
