package weft

import (
	"bufio"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// edges are the functions of testdata/gradients.txt.
var edges = map[string]func(x []*Tensor) *Tensor{
	"square2": power(2), "cube": power(3), "one": power(1), "zero": power(0), "minus": power(-1), "half": power(0.5), "threehalf": power(1.5),
	"mul":           func(x []*Tensor) *Tensor { return x[0].Mul(x[1]) },
	"div":           func(x []*Tensor) *Tensor { return x[0].Div(x[1]) },
	"atan2":         func(x []*Tensor) *Tensor { return x[0].Atan2(x[1]) },
	"pow":           func(x []*Tensor) *Tensor { return x[0].Pow(x[1]) },
	"maximum":       func(x []*Tensor) *Tensor { return x[0].Maximum(x[1]) },
	"minimum":       func(x []*Tensor) *Tensor { return x[0].Minimum(x[1]) },
	"remainder":     func(x []*Tensor) *Tensor { return x[0].Mod(x[1]) },
	"hypot":         func(x []*Tensor) *Tensor { return x[0].Mul(x[0]).Add(x[1].Mul(x[1])).Sqrt() },
	"clamp":         func(x []*Tensor) *Tensor { return x[0].Clamp(x[1], x[2]) },
	"clamp_numbers": func(x []*Tensor) *Tensor { return x[0].Clamp(-1, 2) },
	"where":         func(x []*Tensor) *Tensor { return Where(x[0].Gt(0), x[0].Log(), ZerosLike(x[0])) },
	"where_plain": func(x []*Tensor) *Tensor {
		return Where(FromSlice([]bool{true, false, true}), x[0], x[1])
	},
	"prod": rows(func(x *Tensor) *Tensor { return x.Prod(1) }), "max": rows(func(x *Tensor) *Tensor { return x.Max(1) }), "min": rows(func(x *Tensor) *Tensor { return x.Min(1) }),
	"var": rows(func(x *Tensor) *Tensor { return x.Var(1) }), "std": rows(func(x *Tensor) *Tensor { return x.Std(1) }),
	"svar": rows(func(x *Tensor) *Tensor { return x.SampleVar(1) }), "sstd": rows(func(x *Tensor) *Tensor { return x.SampleStd(1) }),
	"var1": column(func(x *Tensor) *Tensor { return x.Var(1) }), "std1": column(func(x *Tensor) *Tensor { return x.Std(1) }),
	"svar1": column(func(x *Tensor) *Tensor { return x.SampleVar(1) }), "sstd1": column(func(x *Tensor) *Tensor { return x.SampleStd(1) }),
	"logsumexp":         rows(func(x *Tensor) *Tensor { return x.LogSumExp(1) }),
	"softmax":           rows(func(x *Tensor) *Tensor { return x.Softmax(1).Mul(vec(1, 2, 4)) }),
	"log_softmax":       rows(func(x *Tensor) *Tensor { return x.LogSoftmax(1).Mul(vec(1, 2, 4)) }),
	"norm":              rows(func(x *Tensor) *Tensor { return x.Mul(x).Sum(1).Sqrt() }),
	"cross_entropy":     rows(func(x *Tensor) *Tensor { return CrossEntropy(x, FromSlice([]int64{1, 2, 1, 0, 0, 0})) }),
	"cross_entropy_hit": rows(func(x *Tensor) *Tensor { return CrossEntropy(x, FromSlice([]int64{0, 0, 0, 0, 0, 0})) }),
}

var overRows = map[string]bool{"prod": true, "max": true, "min": true, "var": true, "std": true, "svar": true, "sstd": true, "logsumexp": true,
	"softmax": true, "log_softmax": true, "norm": true, "cross_entropy": true, "cross_entropy_hit": true}

// differs says why a gradient is not PyTorch's on purpose; empty if it must be.
func differs(name string, at []float64, got float64) string {
	has := func(is func(x float64) bool) bool { return slices.ContainsFunc(at, is) }
	special := has(func(x float64) bool { return x-x != 0 }) // NaN or infinite
	switch name {
	case "relu", "maximum", "minimum", "clamp":
		if has(math.IsNaN) && got == 0 {
			return "nothing flows through a comparison with NaN"
		}
		if name == "clamp" && (at[0] == at[1] || at[0] == at[2]) {
			return "at a bound x has all of it, whether the bound is a tensor or a number"
		}
	case "clamp_numbers":
		if (at[0] == -1 || at[0] == 2) && got == 1 {
			return "as with bounds that are tensors"
		}
	case "half", "threehalf":
		if at[0] < 0 && special && got == got {
			return "a power of -Inf is one of Inf, as C has it"
		}
	case "prod", "var", "svar":
		if special {
			return "quotients and sums of infinities"
		}
		if name == "prod" && at[0] == 1e300 && got > 0 {
			return "the product overflows before a factor is taken out"
		}
	case "logsumexp":
		if at[0] == 1e300 && got == 0.5 {
			return "the sum has two equal terms"
		}
	}
	return ""
}

func power(y float64) func(x []*Tensor) *Tensor {
	return func(x []*Tensor) *Tensor { return x[0].Pow(y) }
}

func rows(f func(x *Tensor) *Tensor) func(x []*Tensor) *Tensor {
	return func(x []*Tensor) *Tensor { return f(x[0].Reshape(-1, 3)) }
}

func column(f func(x *Tensor) *Tensor) func(x []*Tensor) *Tensor {
	return func(x []*Tensor) *Tensor { return f(x[0].Reshape(-1, 1)) }
}

func init() {
	for name, f := range map[string]func(*Tensor) *Tensor{"abs": (*Tensor).Abs, "sqrt": (*Tensor).Sqrt, "rsqrt": (*Tensor).Rsqrt, "reciprocal": (*Tensor).Reciprocal, "square": (*Tensor).Square,
		"exp": (*Tensor).Exp, "expm1": (*Tensor).Expm1, "exp2": (*Tensor).Exp2, "log": (*Tensor).Log, "log1p": (*Tensor).Log1p, "log2": (*Tensor).Log2, "log10": (*Tensor).Log10,
		"sin": (*Tensor).Sin, "cos": (*Tensor).Cos, "tan": (*Tensor).Tan, "asin": (*Tensor).Asin, "acos": (*Tensor).Acos, "atan": (*Tensor).Atan, "sinh": (*Tensor).Sinh, "cosh": (*Tensor).Cosh,
		"tanh": (*Tensor).Tanh, "erf": (*Tensor).Erf, "sigmoid": (*Tensor).Sigmoid, "relu": (*Tensor).Relu, "gelu": (*Tensor).Gelu, "silu": (*Tensor).Silu, "softplus": (*Tensor).Softplus} {
		edges[name] = func(x []*Tensor) *Tensor { return f(x[0]) }
	}
}

// Gradients are PyTorch's also where a function ends, has a corner, or is not finite:
// not NaN where there is a number.
func TestGradientsAtEdges(t *testing.T) {
	f, err := os.Open("testdata/gradients.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var name string
	var xs, want [][]float64
	done := 0
	check := func() {
		if name == "" {
			return
		}
		fn := edges[name]
		if fn == nil {
			t.Errorf("%s is not known", name)
			return
		}
		done++
		in := make([]*Tensor, len(xs))
		for i := range xs {
			in[i] = FromSlice(xs[i]).RequireGrad()
		}
		fn(in).Sum().Backward()
		for i := range in {
			for k, got := range Data[float64](in[i].Grad()) {
				w := want[i][k]
				if same := got == w || got != got && w != w || math.Abs(got-w) <= 1e-12*math.Abs(w)+1e-15; same {
					continue
				}
				at := make([]float64, len(xs))
				for j := range xs {
					at[j] = xs[j][k]
				}
				if overRows[name] {
					at = xs[0][k/3*3 : k/3*3+3]
				}
				if differs(name, at, got) != "" {
					continue
				}
				t.Errorf("%s at %v: gradient %d (element %d) is %v, want %v", name, at, i, k, got, w)
			}
		}
	}
	for s := bufio.NewScanner(f); s.Scan(); {
		kind, rest, _ := strings.Cut(s.Text(), " ")
		var v []float64
		if kind == "x" || kind == "g" {
			for _, w := range strings.Fields(rest) {
				x, err := strconv.ParseFloat(w, 64)
				if err != nil {
					t.Fatal(err)
				}
				v = append(v, x)
			}
		}
		switch kind {
		case "#":
		case "x":
			xs = append(xs, v)
		case "g":
			want = append(want, v)
		default:
			check()
			name, xs, want = kind, nil, nil
		}
	}
	check()
	if done != len(edges) {
		t.Errorf("%d of %d functions were checked", done, len(edges))
	}
}
