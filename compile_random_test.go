package weft_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"

	"weft"
)

// A randomProgram is a function of tensors made of random steps, which read and write two
// arguments, two captured tensors, a leaf, views of all of them and what steps before made.
type randomProgram struct {
	seed     uint64
	captured [2]*weft.Tensor
	leaf     *weft.Tensor
	draws    *weft.Generator
	log      []string
}

func newRandomProgram(seed uint64) *randomProgram {
	g := weft.NewGenerator(seed)
	return &randomProgram{seed: seed, captured: [2]*weft.Tensor{g.Randn(4, 6), g.RandnOf(weft.Float64, 6)}, leaf: g.Randn(6, 4).RequireGrad(), draws: g}
}

// run is the program: results are up to four tensors.
func (p *randomProgram) run(x, y *weft.Tensor) []*weft.Tensor {
	r := rand.New(rand.NewPCG(p.seed, 1))
	p.log = p.log[:0]
	pool := []*weft.Tensor{x, y, p.captured[0].Detach(), p.captured[1].Detach(), p.leaf}
	pick := func() *weft.Tensor { return pool[r.IntN(len(pool))] }
	float := func() *weft.Tensor {
		t := pick()
		for !t.DType().Float() {
			t = pick()
		}
		return t
	}
	number := func() any { return []any{2, -1, 0.5, 0.0, 1.75}[r.IntN(5)] }
	view := func(t *weft.Tensor) *weft.Tensor {
		switch r.IntN(8) {
		case 0:
			return t.T()
		case 1:
			return t.Flatten(0)
		case 2:
			return t.Slice(weft.Range(r.IntN(2), weft.End, 1+r.IntN(2)))
		case 3:
			return t.Slice(weft.Ellipsis, weft.Range(weft.End, weft.Begin, -1-r.IntN(2)))
		case 4:
			return t.Slice(weft.Index(-1))
		case 5:
			return t.Diagonal(r.IntN(3) - 1)
		case 6:
			return t.Unsqueeze(0)
		default:
			return t.Slice(weft.Ellipsis, weft.Range(1, 3))
		}
	}
	for range 4 + r.IntN(14) {
		what, before := r.IntN(16), len(pool)
		err := weft.Try(func() {
			var t *weft.Tensor
			switch what {
			case 0:
				t = float().Add(float())
			case 1:
				t = float().Mul(number())
			case 2:
				t = float().Sub(float()).Tanh()
			case 3:
				a := float()
				t = a.MatMul(a.T())
			case 4:
				t = float().Sum(0)
			case 5:
				t = float().Softmax(-1)
			case 6:
				a := pick()
				t = weft.Where(a.Gt(0), a, number())
			case 7:
				t = view(pick())
			case 8:
				t = view(view(pick()))
			case 9: // a write into a view
				a := view(pick())
				if a.RequiresGrad() && a.IsLeaf() {
					a = a.Detach()
				}
				switch r.IntN(4) {
				case 0:
					a.Assign(number())
				case 1:
					a.AddAssign(float().Sum())
				case 2:
					a.MulAssign(number())
				default:
					a.Assign(view(float()))
				}
			case 10: // a write into a whole
				a := pick()
				weft.WithoutGrad(func() { a.SubAssign(a.Mean().Mul(0.25)) })
			case 11:
				a := pick()
				t = weft.Cat([]*weft.Tensor{a, a.Neg()}, 0)
			case 12:
				a := float()
				t = a.IndexSelect(0, weft.FromSlice([]int64{0, -1, 0}))
			case 13:
				t = p.draws.Rand(6).Add(float())
			case 14:
				t = float().To([]weft.DType{weft.Float64, weft.Int32, weft.Float32, weft.Float16}[r.IntN(4)])
			case 15:
				t = float().CumSum(0).Reshape(-1)
			}
			if t != nil && t.Size() <= 4096 {
				pool = append(pool, t)
			}
		})
		line := fmt.Sprintf("%d: %d tensors", what, before)
		if err != nil {
			line, _, _ = strings.Cut(err.Error(), " (at ")
		}
		p.log = append(p.log, line)
	}
	if r.IntN(2) == 0 {
		t := pool[len(pool)-1]
		for i := len(pool) - 1; i > 0 && !t.RequiresGrad(); i-- {
			t = pool[i]
		}
		err := weft.Try(func() {
			if r.IntN(2) == 0 {
				p.leaf.SetGrad(nil)
			}
			t.To(weft.Float64).Square().Mean().Backward()
		})
		if err != nil {
			text, _, _ := strings.Cut(err.Error(), ": it is at version")
			p.log = append(p.log, text)
		}
	}
	var out []*weft.Tensor
	for i := len(pool) - 1; i >= 0 && len(out) < 4; i-- {
		out = append(out, pool[i].Detach())
	}
	return out
}

// TestCompileRandom runs random programs eagerly and compiled, several times one after the
// other: results and what was written are the same bits, and what fails fails in the same way.
func TestCompileRandom(t *testing.T) {
	n := 300
	if s := os.Getenv("WEFT_PROGRAMS"); s != "" {
		n, _ = strconv.Atoi(s)
	}
	for seed := range uint64(n) {
		eager, traced := newRandomProgram(seed), newRandomProgram(seed)
		c := weft.Compile(traced.run)
		f := c.Func()
		g := weft.NewGenerator(seed + 1)
		for call := range 3 {
			x, y := g.Randn(4, 6), g.RandnOf(weft.Float64, 2, 6)
			x2, y2 := x.Clone(), y.Clone()
			want := eager.run(x, y)
			var got []*weft.Tensor
			err := weft.Try(func() { got = f(x2, y2) })
			if late := strings.Contains(strings.Join(eager.log, "\n"), "is out of range for size"); late {
				// A place is looked at in the call, which fails as a whole, if a result needs it.
				if err != nil && !strings.Contains(err.Error(), "is out of range for size") {
					t.Errorf("seed %d, call %d: %v\n%s", seed, call, err, strings.Join(eager.log, "\n"))
				}
				break
			}
			if err != nil {
				t.Errorf("seed %d, call %d: %v\n%s", seed, call, err, strings.Join(eager.log, "\n"))
				break
			}
			if a, b := strings.Join(eager.log, "\n"), strings.Join(traced.log, "\n"); a != b {
				t.Errorf("seed %d, call %d: eagerly\n%s\ntraced\n%s", seed, call, a, b)
			}
			for i := range want {
				sameBits(t, fmt.Sprintf("seed %d, call %d: result %d", seed, call, i), got[i], want[i])
			}
			for i, w := range eager.captured {
				sameBits(t, fmt.Sprintf("seed %d, call %d: captured %d", seed, call, i), traced.captured[i], w)
			}
			sameBits(t, fmt.Sprintf("seed %d, call %d: leaf", seed, call), traced.leaf, eager.leaf)
			sameBits(t, fmt.Sprintf("seed %d, call %d: argument 0", seed, call), x2, x)
			sameBits(t, fmt.Sprintf("seed %d, call %d: argument 1", seed, call), y2, y)
			if a, b := eager.leaf.Grad(), traced.leaf.Grad(); (a == nil) != (b == nil) {
				t.Errorf("seed %d, call %d: a gradient eagerly %v, compiled %v", seed, call, a != nil, b != nil)
			} else if a != nil {
				sameBits(t, fmt.Sprintf("seed %d, call %d: gradient", seed, call), b, a)
			}
			if t.Failed() {
				t.Log(strings.Join(eager.log, "\n"))
				break
			}
		}
		if t.Failed() {
			return
		}
	}
}
