package methods_test

import (
	"fmt"
	"testing"

	"weft"
	"weft/internal/tensortest"
)

// TestLoopGradientBits: gradients of loops have the bits of the tape of a Go loop, compiled too: by what steps
// capture and use once or more, before and after the loop, by states that are kept and by indexed rows.
func TestLoopGradientBits(t *testing.T) {
	g := weft.NewGenerator(9)
	x, w, u, b := g.Randn(7, 4, 5), g.Randn(5, 6), g.Randn(6, 6).Mul(0.4), g.Randn(6)
	big := g.Randn(80, 80).Mul(0.1)
	type in = []*weft.Tensor
	scan := func(n int, init in, f func(i *weft.Tensor, s in) (in, in)) (in, in) {
		return weft.ScanSteps(n, f, init)
	}
	at := func(x, i *weft.Tensor) *weft.Tensor { return x.IndexSelect(0, i.Reshape(1)).Reshape(x.Shape()[1:]...) }
	zero := func() *weft.Tensor { return weft.Zeros(4, 6) }
	rnn := func(p in) (in, in) {
		return scan(7, in{zero()}, func(i *weft.Tensor, s in) (in, in) {
			h := at(p[0], i).MatMul(p[1]).Add(s[0].MatMul(p[2])).Add(p[3]).Tanh()
			return in{h}, in{h}
		})
	}
	for what, f := range map[string]func(p in) *weft.Tensor{
		"last state": func(p in) *weft.Tensor { last, _ := rnn(p); return last[0].Square().Sum() },
		"kept":       func(p in) *weft.Tensor { _, o := rnn(p); return o[0].Square().Sum() },
		"kept and last": func(p in) *weft.Tensor {
			last, o := rnn(p)
			return o[0].Exp().Sum().Add(last[0].Mul(3).Sum())
		},
		"used around": func(p in) *weft.Tensor {
			before := p[2].Sin().Sum()
			last, o := rnn(p)
			return o[0].Square().Sum().Add(before).Add(p[1].Square().Sum()).Add(p[2].Exp().Sum()).Add(last[0].MatMul(p[2]).Sum()).Add(p[3].Sum())
		},
		"used twice": func(p in) *weft.Tensor {
			last, o := scan(5, in{zero()}, func(i *weft.Tensor, s in) (in, in) {
				h := s[0].MatMul(p[2]).Add(p[3]).Sin()
				k := h.MatMul(p[2]).Mul(p[3].Exp()).Sub(p[3])
				return in{k.Sigmoid()}, in{h.Mul(p[3]).Sum(1), k}
			})
			return last[0].Square().Sum().Add(o[0].Square().Sum()).Add(o[1].Sin().Sum())
		},
		"two states": func(p in) *weft.Tensor {
			last, o := scan(6, in{zero(), zero()}, func(i *weft.Tensor, s in) (in, in) {
				z := at(p[0], i).MatMul(p[1]).Add(s[0].MatMul(p[2]))
				c := z.Sigmoid().Mul(s[1]).Add(z.Add(p[3]).Tanh())
				h := z.Sin().Mul(c.Tanh())
				return in{h, c}, in{h}
			})
			return last[1].Mean().Add(o[0].Square().Sum())
		},
		"only kept": func(p in) *weft.Tensor {
			_, o := scan(6, in{zero(), zero()}, func(i *weft.Tensor, s in) (in, in) {
				c := s[1].Mul(p[3]).Add(s[0].MatMul(p[2])).Tanh()
				h := c.Sigmoid().Mul(p[3])
				return in{h, c}, in{h.Sum(1)}
			})
			return o[0].Square().Sum()
		},
		"large": func(p in) *weft.Tensor {
			last, _ := scan(5, in{weft.Ones(3, 80)}, func(i *weft.Tensor, s in) (in, in) {
				return in{s[0].MatMul(p[4]).Tanh().Add(p[4].Slice(weft.Range(0, 3)))}, nil
			})
			return last[0].Square().Sum().Add(p[4].Square().Sum())
		},
		"windows": func(p in) *weft.Tensor {
			last, _ := scan(4, in{zero()}, func(i *weft.Tensor, s in) (in, in) {
				a, b := p[2].Slice(weft.All, weft.Range(0, 3)), p[2].Slice(weft.All, weft.Range(3, 6))
				return in{weft.Cat(in{s[0].MatMul(b).Sin(), s[0].MatMul(a).Add(1).Relu()}, 1)}, nil
			})
			return last[0].Square().Sum()
		},
		"transposed outside": func(p in) *weft.Tensor {
			m := p[2].T()
			last, _ := scan(4, in{zero()}, func(i *weft.Tensor, s in) (in, in) { return in{s[0].MatMul(m).Add(p[3]).Tanh()}, nil })
			return last[0].Square().Sum().Add(p[3].Exp().Sum())
		},
		"branch": func(p in) *weft.Tensor {
			last, _ := scan(4, in{zero()}, func(i *weft.Tensor, s in) (in, in) {
				return in{weft.Cond(i.Mod(2).Eq(0), func() in { return in{s[0].Add(p[3]).MatMul(p[2])} }, func() in { return in{s[0].Mul(p[3]).Sub(p[3])} })[0]}, nil
			})
			return last[0].Square().Sum()
		},
		"rows also later": func(p in) *weft.Tensor {
			last, _ := scan(4, in{weft.Zeros(4, 5)}, func(i *weft.Tensor, s in) (in, in) { return in{at(p[0], i.Mul(2).Mod(3)).Mul(s[0].Add(1)).Sin()}, nil })
			return last[0].Square().Sum().Add(p[0].Exp().Sum())
		},
		"loop inside": func(p in) *weft.Tensor {
			last, _ := scan(3, in{zero()}, func(i *weft.Tensor, s in) (in, in) {
				mid, _ := scan(3, in{s[0]}, func(i *weft.Tensor, s in) (in, in) {
					return in{s[0].MatMul(p[2]).Add(p[3]).Tanh()}, nil
				})
				return in{mid[0].MatMul(p[2]).Add(p[3])}, nil
			})
			return last[0].Square().Sum()
		},
		"while": func(p in) *weft.Tensor {
			return weft.While(func(s in) *weft.Tensor { return s[0].Sum().Lt(60) }, func(s in) in {
				return in{s[0].Add(p[3].Square()).Add(s[0].MatMul(p[2]).Sigmoid())}
			}, in{zero()}, weft.WhileOpts{Max: 40})[0].Square().Sum().Add(p[3].Exp().Sum())
		},
	} {
		run := func(p in) in {
			q := make(in, len(p))
			for i := range p {
				q[i] = p[i].Detach().RequireGrad()
			}
			out := in{}
			for i, d := range weft.Grad(f(q), q, weft.GradOpts{AllowUnused: true}) {
				if d == nil {
					d = weft.Zeros(p[i].Shape()...)
				}
				out = append(out, d)
			}
			return out
		}
		p := in{x, w, u, b, big}
		plain := run(p)
		c := weft.Compile(run).Func()(p)
		for i := range plain {
			tensortest.SameBits(t, fmt.Sprint(what, ", argument ", i), c[i], plain[i])
		}
	}
}
