package weft

import (
	"testing"

	"weft/internal/cpu"
)

// trainingStep is a step of descent of a function of parameters, whose gradients it forgets.
func trainingStep(params []*Tensor, loss func(x, y *Tensor) *Tensor) func(x, y *Tensor) *Tensor {
	for _, p := range params {
		p.RequireGrad()
	}
	return func(x, y *Tensor) *Tensor {
		l := loss(x, y)
		l.Backward()
		for _, p := range params {
			WithoutGrad(func() { p.SubAssign(p.Grad().Mul(0.01)) })
			p.SetGrad(nil)
		}
		return l
	}
}

// mlpStep is a step of 784-500-10.
func mlpStep() func(x, y *Tensor) *Tensor {
	w1, b1, w2, b2 := noise(2, .05, 500, 784), noise(3, .05, 500), noise(4, .05, 10, 500), noise(5, .05, 10)
	return trainingStep([]*Tensor{w1, b1, w2, b2}, func(x, y *Tensor) *Tensor {
		return CrossEntropy(x.Linear(w1, b1).Tanh().Linear(w2, b2), y)
	})
}

// lenetStep is a step of LeNet-5 on pictures of 32x32.
func lenetStep() func(x, y *Tensor) *Tensor {
	w1, b1 := noise(2, .2, 6, 1, 5, 5), noise(3, .2, 6)
	w2, b2 := noise(4, .1, 16, 6, 5, 5), noise(5, .1, 16)
	w3, b3 := noise(6, .05, 120, 400), noise(7, .05, 120)
	w4, b4 := noise(8, .1, 84, 120), noise(9, .1, 84)
	w5, b5 := noise(10, .1, 10, 84), noise(11, .1, 10)
	pool := PoolOpts{Window: [2]int{2, 2}}
	return trainingStep([]*Tensor{w1, b1, w2, b2, w3, b3, w4, b4, w5, b5}, func(x, y *Tensor) *Tensor {
		h := x.Conv2d(w1, b1, ConvOpts{}).Tanh().MaxPool2d(pool)
		h = h.Conv2d(w2, b2, ConvOpts{}).Tanh().MaxPool2d(pool).Flatten(1)
		return CrossEntropy(h.Linear(w3, b3).Tanh().Linear(w4, b4).Tanh().Linear(w5, b5), y)
	})
}

// A compiled step that is given a batch of another size is traced and planned again, but all
// kernels of its plan are there already: numbers that depend on the size are arguments. LeNet
// starts where arrays of short rows are large enough for kernels of their own.
func TestNewBatchCompilesNothing(t *testing.T) {
	pictures := func(n int) *Tensor { return noise(1, 1, n, 1, 32, 32) }
	rows := func(n int) *Tensor { return noise(1, 1, n, 784) }
	for _, c := range []struct {
		name  string
		step  func(x, y *Tensor) *Tensor
		x     func(n int) *Tensor
		sizes []int // the first compiles
	}{{"MLP", mlpStep(), rows, []int{60, 50, 61, 33, 64, 40, 49}}, {"LeNet", lenetStep(), pictures, []int{24, 31, 32, 60, 25}}} {
		step := Compile(c.step)
		for i, n := range c.sizes {
			x, y := c.x(n), Arange(n).Mod(10).To(Int64)
			before := cpu.Counters.Compiled.Load()
			if _, err := step.Call(x, y); err != nil {
				t.Fatal(err)
			}
			if made := cpu.Counters.Compiled.Load() - before; i == 0 && made == 0 {
				t.Errorf("%s: the first step compiles no kernel: what is counted?", c.name)
			} else if i > 0 && made > 0 {
				t.Errorf("%s: %d kernels compiled for a batch of %d after those of %v", c.name, made, n, c.sizes[:i])
			}
		}
	}
}

// Columns of heights that make trees of all sizes, of truth values and of the greatest: the row
// that decides is found wherever it is.
func TestTreesOfColumns(t *testing.T) {
	onBackends(t, func(t *testing.T) {
		for rows := 16; rows <= 160; rows += 16 {
			for at := 5; at < rows; at += 16 {
				x := Zeros(rows, 3)
				x.At(at).Fill(1)
				for name, y := range map[string]*Tensor{"any": x.To(Bool).Any(0), "max": x.Max(0), "all": x.Mul(-1).Add(1).To(Bool).All(0).LogicalNot(), "int64": x.To(Int64).Sum(0)} {
					if y.To(Float64).Sum().Item() != 3 {
						t.Fatalf("%s of %d rows with one at %d: %v", name, rows, at, y)
					}
				}
			}
		}
	})
}
