package hostile

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"weft"
	"weft/internal/array"
)

var tracedPackages = []string{"weft", "nn", "kernel", "linalg", "fft", "sparse", "special", "signal", "ndimage", "polynomial"}

// tracedTargets are the functions and methods that compute tensors of tensors and leave no trace
// elsewhere.
func tracedTargets() (out []*target) {
	tensor, list, anything := typ[*weft.Tensor](), typ[[]*weft.Tensor](), typ[[]any]()
	for i := range targets {
		tg := &targets[i]
		t := tg.fn.Type()
		takes, gives := false, t.NumOut() > 0
		for i := range t.NumIn() {
			takes = takes || t.In(i) == tensor || t.In(i) == list || t.In(i) == anything
		}
		for i := range t.NumOut() {
			gives = gives && (t.Out(i) == tensor || t.Out(i) == list)
		}
		name, _, _ := strings.Cut(tg.name, ".")
		if takes && gives && slices.Contains(tracedPackages, name) && !writes(tg.name) {
			out = append(out, tg)
		}
	}
	return out
}

// tensorsOf are the tensors of arguments and of lists of arguments, each once.
func tensorsOf(args []reflect.Value) (ts []*weft.Tensor) {
	for _, a := range args {
		if a.Kind() == reflect.Interface {
			a = a.Elem()
		}
		if !a.IsValid() {
			continue
		}
		switch x := a.Interface().(type) {
		case *weft.Tensor:
			if x != nil && !isZero(x) {
				ts = append(ts, x)
			}
		case []*weft.Tensor:
			for _, t := range x {
				if t != nil && !isZero(t) {
					ts = append(ts, t)
				}
			}
		case []any:
			for _, t := range x {
				if t, ok := t.(*weft.Tensor); ok && t != nil && !isZero(t) {
					ts = append(ts, t)
				}
			}
		}
	}
	return ts
}

// replaced are the arguments with other tensors in the places of tensorsOf.
func replaced(args []reflect.Value, ts []*weft.Tensor) []reflect.Value {
	next := func(t *weft.Tensor) *weft.Tensor {
		if t == nil || isZero(t) {
			return t
		}
		t, ts = ts[0], ts[1:]
		return t
	}
	out := make([]reflect.Value, len(args))
	for i, a := range args {
		out[i] = a
		v := a
		if v.Kind() == reflect.Interface {
			v = v.Elem()
		}
		if !v.IsValid() {
			continue
		}
		switch x := v.Interface().(type) {
		case *weft.Tensor:
			out[i] = reflect.ValueOf(next(x))
		case []*weft.Tensor:
			list := slices.Clone(x)
			for k, t := range list {
				list[k] = next(t)
			}
			out[i] = reflect.ValueOf(list)
		case []any:
			list := slices.Clone(x)
			for k, t := range list {
				if t, ok := t.(*weft.Tensor); ok {
					list[k] = next(t)
				}
			}
			out[i] = reflect.ValueOf(list)
		}
		if a.Kind() == reflect.Interface {
			out[i] = out[i].Convert(a.Type())
		}
	}
	return out
}

func results(outs []reflect.Value) (ts []*weft.Tensor) {
	for _, o := range outs {
		switch x := o.Interface().(type) {
		case *weft.Tensor:
			ts = append(ts, x)
		case []*weft.Tensor:
			ts = append(ts, x...)
		}
	}
	return ts
}

func digestOf(ts []*weft.Tensor) string {
	d := &digester{h: fnv.New64a(), seen: map[any]bool{}}
	for _, t := range ts {
		d.put("%s%v", t.DType(), t.Shape())
		d.tensor(t.Clone())
	}
	return fmt.Sprint(d.h.Sum64())
}

// tracedRefused are what compiled and mapped functions refuse, unless arguments say otherwise, and a
// word of the reason: the shape of the result depends on elements, or examples would share a draw.
var tracedRefused = map[string]string{
	"compiled weft.Tensor.BinCount":         "elements are known only when it is called",
	"compiled weft.Tensor.Histogram":        "elements are known only when it is called",
	"compiled weft.Tensor.IndexPutAdd":      "elements are known only when it is called",
	"compiled weft.Tensor.MaskSelect":       "elements are known only when it is called",
	"compiled weft.Tensor.NonZero":          "elements are known only when it is called",
	"compiled weft.Tensor.RepeatInterleave": "elements are known only when it is called",
	"compiled weft.Tensor.Unique":           "elements are known only when it is called",
	"mapped weft.Tensor.BinCount":           "elements are known only when it is called",
	"mapped weft.Tensor.Histogram":          "elements are known only when it is called",
	"mapped weft.Tensor.NonZero":            "elements are known only when it is called",
	"mapped weft.Tensor.Unique":             "elements are known only when it is called",
	"compiled weft.ArgWhere":                "elements are known only when it is called",
	"mapped weft.ArgWhere":                  "elements are known only when it is called",
	"compiled weft.HistogramDD":             "elements are known only when it is called",
	"mapped weft.HistogramDD":               "elements are known only when it is called",
	"compiled weft.Intersect1D":             "elements are known only when it is called",
	"mapped weft.Intersect1D":               "elements are known only when it is called",
	"compiled weft.SetDiff1D":               "elements are known only when it is called",
	"mapped weft.SetDiff1D":                 "elements are known only when it is called",
	"compiled weft.SetXor1D":                "elements are known only when it is called",
	"mapped weft.SetXor1D":                  "elements are known only when it is called",
	"compiled weft.Union1D":                 "elements are known only when it is called",
	"mapped weft.Union1D":                   "elements are known only when it is called",
	"compiled weft.UniqueAxis":              "elements are known only when it is called",
	"mapped weft.UniqueAxis":                "elements are known only when it is called",
	"compiled weft.UniqueConsecutive":       "elements are known only when it is called",
	"mapped weft.UniqueConsecutive":         "elements are known only when it is called",
	"compiled linalg.NullSpace":             "elements are known only when it is called",
	"mapped linalg.NullSpace":               "elements are known only when it is called",
	"compiled linalg.Orth":                  "elements are known only when it is called",
	"mapped linalg.Orth":                    "elements are known only when it is called",
	"compiled ndimage.IterateStructure":     "elements are known only when it is called",
	"mapped ndimage.IterateStructure":       "elements are known only when it is called",
	"compiled ndimage.Maximum":              "elements are known only when it is called",
	"mapped ndimage.Maximum":                "elements are known only when it is called",
	"compiled ndimage.Median":               "elements are known only when it is called",
	"mapped ndimage.Median":                 "elements are known only when it is called",
	"compiled ndimage.Minimum":              "elements are known only when it is called",
	"mapped ndimage.Minimum":                "elements are known only when it is called",
	"compiled signal.FindPeaks":             "elements are known only when it is called",
	"mapped signal.FindPeaks":               "elements are known only when it is called",
	"compiled signal.PeakProminences":       "elements are known only when it is called",
	"mapped signal.PeakProminences":         "elements are known only when it is called",
	"compiled signal.PeakWidths":            "elements are known only when it is called",
	"mapped signal.PeakWidths":              "elements are known only when it is called",
	"compiled signal.SOSFiltFilt":           "elements are known only when it is called",
	"mapped signal.SOSFiltFilt":             "elements are known only when it is called",
	"compiled signal.TF2SOS":                "elements are known only when it is called",
	"mapped signal.TF2SOS":                  "elements are known only when it is called",
	"compiled weft.Tensor.ViewAs":           "is not defined in compiled functions",
	"mapped weft.Tensor.ViewAs":             "is not defined in compiled functions",
	"mapped weft.Generator.Shuffle":         "draws random numbers",
	"mapped weft.Generator.Bernoulli":       "draws random numbers",
	"mapped weft.Generator.Choice":          "draws random numbers",
	"mapped weft.Generator.Multinomial":     "draws random numbers",
	"mapped weft.Generator.Permutation":     "draws random numbers",
	"mapped weft.Tensor.Dropout":            "draws random numbers",
	"mapped nn.GumbelSoftmax":               "draws random numbers",
	"mapped nn.RandomMask":                  "draws random numbers",
	"mapped nn.RandomStructuredMask":        "draws random numbers",
}

// A tracedCall is one call that gave tensors.
type tracedCall struct {
	tg   *target
	args []reflect.Value
	ts   []*weft.Tensor
	want string
	n    int // results

	generators []*weft.Generator
	states     []weft.GeneratorState
}

// reset brings the generators back to where they were.
func (c *tracedCall) reset() {
	weft.Seed(7)
	for i, g := range c.generators {
		g.SetState(c.states[i])
	}
}

// tracedCalls are calls of a target with small arguments that give tensors, the same each time.
func tracedCalls(tg *target, most int) (out []tracedCall) {
	h := fnv.New64a()
	h.Write([]byte(tg.name))
	for k := range uint64(60) {
		if len(out) == most {
			break
		}
		seed := h.Sum64() + k
		g := &gen{r: rand.New(rand.NewPCG(seed, 0x770ef7)), m: &memory{live: map[*block]bool{}}, dir: "."}
		args, thrown := g.arguments(tg)
		if thrown != nil || g.endless || steps(tg, args) > 1<<8 {
			continue
		}
		var ts []*weft.Tensor
		_, thrown = safely(func() {
			for _, t := range tensorsOf(args) {
				if t.Size() > 1<<12 {
					panic("large")
				}
				ts = append(ts, t.Detach().Clone())
			}
		})
		if thrown != nil || len(ts) == 0 {
			continue
		}
		c := tracedCall{tg: tg, args: args, ts: ts}
		for _, a := range args {
			if g, ok := a.Interface().(*weft.Generator); ok && g != nil {
				c.generators, c.states = append(c.generators, g), append(c.states, g.State())
			}
		}
		call := func() (string, int) {
			c.reset()
			outs, thrown := guarded(tg, replaced(args, ts))
			if thrown != nil {
				return "", 0
			}
			d := ""
			_, thrown = safely(func() { d = digestOf(results(outs)) })
			if thrown != nil {
				d = ""
			}
			return d, len(results(outs))
		}
		if c.want, c.n = call(); c.want == "" || c.n == 0 {
			continue
		}
		if again, _ := call(); again != c.want {
			continue // a draw of a generator that goes on
		}
		out = append(out, c)
	}
	return out
}

// run makes the call of other tensors, which panics as the call does.
func (c *tracedCall) run(ts []*weft.Tensor) []*weft.Tensor {
	outs, thrown := guarded(c.tg, replaced(c.args, ts))
	if thrown != nil {
		panic(thrown.value)
	}
	return results(outs)
}

// mapped makes the call of two equal examples of the first tensor.
func (c *tracedCall) mapped(ts []*weft.Tensor) (out []*weft.Tensor) {
	many := weft.Stack([]*weft.Tensor{ts[0], ts[0]}, 0)
	for i := range c.n {
		out = append(out, weft.Vmap(func(x ...*weft.Tensor) *weft.Tensor {
			return c.run(append([]*weft.Tensor{x[0]}, ts[1:]...))[i]
		})(many))
	}
	return out
}

// Everything that computes tensors of tensors gives in a compiled function, of its arguments and
// of what it captures, what it gives outside, and for examples at once what it gives for each; or
// it is refused by a typed error that says why.
func TestTracedCallsMatchEager(t *testing.T) {
	ways := map[string]func(c *tracedCall) ([]*weft.Tensor, error){
		"compiled": func(c *tracedCall) (out []*weft.Tensor, err error) {
			err = weft.Try(func() { out = weft.Compile(c.run).Func()(c.ts) })
			return out, err
		},
		"captured": func(c *tracedCall) (out []*weft.Tensor, err error) {
			err = weft.Try(func() { out = weft.Compile(func() []*weft.Tensor { return c.run(c.ts) }).Func()() })
			return out, err
		},
		"mapped": func(c *tracedCall) (out []*weft.Tensor, err error) {
			err = weft.Try(func() {
				for _, y := range c.mapped(c.ts) {
					if a, b := y.Slice(weft.Index(0)), y.Slice(weft.Index(1)); digestOf([]*weft.Tensor{a}) != digestOf([]*weft.Tensor{b}) {
						panic(fmt.Sprintf("examples differ: %v", y))
					}
					out = append(out, y.Slice(weft.Index(0)))
				}
			})
			return out, err
		},
		"mapped in compiled": func(c *tracedCall) (out []*weft.Tensor, err error) {
			err = weft.Try(func() {
				for _, y := range weft.Compile(c.mapped).Func()(c.ts) {
					out = append(out, y.Slice(weft.Index(1)))
				}
			})
			return out, err
		},
	}
	calls := 0
	for _, tg := range tracedTargets() {
		most := 2
		if i := slices.Index(tracedPackages, strings.Split(tg.name, ".")[0]); i > 2 {
			most = 1 // compositions of what the others call
		}
		for _, c := range tracedCalls(tg, most) {
			calls++
			for way, f := range ways {
				if strings.HasPrefix(way, "mapped") && slices.ContainsFunc(c.ts, func(t *weft.Tensor) bool { return t.Rank() == array.MaxRank }) {
					continue
				}
				var outs []*weft.Tensor
				var err error
				c.reset()
				if _, thrown := safely(func() { outs, err = f(&c) }); thrown != nil {
					t.Errorf("%s %s: %v", way, tg.name, thrown.value)
					continue
				}
				if err == nil {
					if got := digestOf(outs); got != c.want {
						t.Errorf("%s %s gives other values than outside", way, tg.name)
					}
					continue
				}
				name, known := tg.name, false
				for _, way := range map[string][]string{"compiled": {"compiled"}, "captured": {"compiled"}, "mapped": {"mapped"}, "mapped in compiled": {"compiled", "mapped"}}[way] {
					why := tracedRefused[way+" "+name]
					known = known || why != "" && strings.Contains(err.Error(), why)
				}
				if !known {
					t.Errorf("%s %s: %v", way, name, err)
				}
			}
		}
	}
	if t.Log(calls, "calls"); calls < 700 {
		t.Errorf("only %d calls", calls)
	}
}
