package sym_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"weft"
	"weft/internal/tensortest"
	"weft/sym"
)

type words map[string]int

// number looks a word up and gives its number as a tensor, and the words with it.
var number = &sym.Op{Name: "number",
	Results: func([]sym.Type) []sym.Type { return []sym.Type{{DType: weft.Int64}, {Object: true}} },
	ForwardAny: func(x []any) ([]any, error) {
		known, word := x[0].(words), x[1].(string)
		if word == "" {
			return nil, errors.New("an empty word")
		}
		more := words{}
		for k, n := range known {
			more[k] = n
		}
		if _, ok := more[word]; !ok {
			more[word] = len(more)
		}
		return []any{weft.ScalarOf(weft.Int64, more[word]), more}, nil
	}}

// Go values go between operations, into and out of functions, and through shared variables.
func TestObjects(t *testing.T) {
	word, known := sym.Object("word"), sym.SharedObject("known", words{"a": 0})
	out := number.Apply(known, word)
	f, err := sym.Function(sym.In(sym.Param{Var: word, Value: "zero"}), sym.Out(out[0].Mul(10), known, word, out[1]), sym.Updates{known: out[1]})
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range []struct {
		args []any
		n    float64
		want string
	}{{[]any{"b"}, 10, "map[a:0]"}, {[]any{sym.Args{"word": "a"}}, 0, "map[a:0 b:1]"}, {nil, 20, "map[a:0 b:1]"}, {[]any{"b"}, 10, "map[a:0 b:1 zero:2]"}} {
		got, err := f.CallAny(c.args...)
		if err != nil {
			t.Fatal(err)
		}
		tensortest.Near(t, "number", got[0].(*weft.Tensor), []float64{c.n}, 0)
		if s := fmt.Sprint(got[1]); s != c.want {
			t.Errorf("call %d read %s, want %s", i, s, c.want)
		}
		if fmt.Sprint(got[3]) != fmt.Sprint(known.Object()) {
			t.Errorf("call %d gave %v, the variable is %v", i, got[3], known.Object())
		}
	}
	other := sym.SharedObject("other", words{})
	g, err := f.Copy(sym.CopyOpts{Swap: map[*sym.Var]*sym.Var{known: other}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := g.CallAny("new"); err != nil || fmt.Sprint(other.Object()) != "map[new:0]" || len(known.Object().(words)) != 3 {
		t.Errorf("%v: the copy updates %v, the original is %v", err, other.Object(), known.Object())
	}
	known.SetValue(words{"x": 0, "y": 1})
	var result struct {
		N     *weft.Tensor
		Words words
	}
	h, err := sym.Function(sym.In(word), sym.OutFields(struct{ N, Words *sym.Var }{out[0], known}))
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Into(&result, "y"); err != nil || result.N.ItemInt() != 1 || len(result.Words) != 2 {
		t.Errorf("%v: %v", err, result)
	}
}

// Two shared values are exchanged: both are read before one is written.
func TestObjectsExchanged(t *testing.T) {
	a, b := sym.SharedObject("a", 1), sym.SharedObject("b", "two")
	f, err := sym.Function(sym.In(), sym.Out(), sym.Updates{a: b, b: a})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		if _, err := f.Call(); err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprintf("%v %v", a.Object(), b.Object()); got != []string{"two 1", "1 two"}[i%2] {
			t.Errorf("after call %d: %s", i, got)
		}
	}
}

// Calls at the same time lose no update. A step of a loop takes a Go value from outside, and makes one.
func TestObjectsConcurrent(t *testing.T) {
	list := sym.SharedObject("list", []int(nil))
	x := sym.Scalar("x", weft.Int64)
	add := &sym.Op{Name: "add", Results: func([]sym.Type) []sym.Type { return []sym.Type{{Object: true}} }, ForwardAny: func(x []any) ([]any, error) {
		return []any{append(slices.Clone(x[0].([]int)), int(x[1].(*weft.Tensor).ItemInt()))}, nil
	}}
	length := &sym.Op{Name: "length", Results: func([]sym.Type) []sym.Type { return []sym.Type{{DType: weft.Int64}} }, ForwardAny: func(x []any) ([]any, error) {
		return []any{weft.ScalarOf(weft.Int64, len(x[0].([]int)))}, nil
	}}
	steps := sym.Scan(sym.ScanOpts{Initial: []any{x}, Steps: new(3)}, func(s sym.Step) sym.Next {
		return sym.Next{H: []*sym.Var{s.H[0].Add(length.Apply(add.Apply(list, s.H[0])[0])[0])}}
	})
	f, err := sym.Function(sym.In(x), sym.Out(steps.Last[0]), sym.Updates{list: add.Apply(list, x)[0]})
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			for range 20 {
				out, err := f.Call(i)
				if err != nil {
					t.Error(err)
					return
				}
				if n := out[0].ItemInt() - int64(i); n%3 != 0 || n < 3 || n > 3*320 {
					t.Errorf("three steps add %d", n)
				}
			}
		})
	}
	wg.Wait()
	if got := list.Object().([]int); len(got) != 320 {
		t.Errorf("%d of 320 updates are there", len(got))
	}
}

func TestObjectErrors(t *testing.T) {
	o, s, x := sym.Object("o"), sym.SharedObject("s", 1), sym.Vector("x", weft.Float64)
	same := &sym.Op{Name: "same", ForwardAny: func(x []any) ([]any, error) { return x[:1], nil }}
	wrong := &sym.Op{Name: "wrong", Results: func([]sym.Type) []sym.Type { return []sym.Type{{DType: weft.Float64, Shape: []int{2}}} }, ForwardAny: func(x []any) ([]any, error) { return []any{"text"}, nil }}
	function := func(in sym.Inputs, out sym.Outputs, opts ...sym.Option) *sym.Fn {
		f, err := sym.Function(in, out, opts...)
		if err != nil {
			panic(err)
		}
		return f
	}
	for _, c := range []struct {
		want string
		f    func()
	}{
		{"Go value", func() { o.Add(1) }},
		{"Go value", func() { x.Mul(s) }},
		{"Go value", func() { same.Apply(o)[0].Sum() }},
		{"Go value", func() {
			sym.Scan(sym.ScanOpts{Initial: []any{o}, Steps: new(2)}, func(s sym.Step) sym.Next { return sym.Next{H: s.H} })
		}},
		{"Go value", func() {
			sym.Scan(sym.ScanOpts{Steps: new(2)}, func(sym.Step) sym.Next { return sym.Next{Out: []*sym.Var{o}} })
		}},
		{"Go value", func() {
			sym.Scan(sym.ScanOpts{Steps: new(2)}, func(sym.Step) sym.Next { return sym.Next{Updates: sym.Updates{s: o}} })
		}},
		{"Go value", func() {
			sym.IfElse(x.Sum().Gt(0), func() []*sym.Var { return []*sym.Var{o} }, func() []*sym.Var { return []*sym.Var{s} })
		}},
		{"Go value", func() { sym.Grad(x.Sum(), []*sym.Var{o}) }},
		{"Go value", func() { sym.Vmap(func(x ...*sym.Var) *sym.Var { return x[0] })(o) }},
		{"Go value", func() { o.SetTestValue(1) }},
		{"Go value", func() { s.SetDefaultUpdate(o) }},
		{"Go value", func() { s.Tensor() }},
		{"want ForwardAny", func() {
			(&sym.Op{Name: "f", Results: func([]sym.Type) []sym.Type { return []sym.Type{{Object: true}} }, Forward: func(x []*weft.Tensor) ([]*weft.Tensor, error) { return x, nil }}).Apply(x)
		}},
		{"not one of", func() { (&sym.Op{Name: "f"}).Apply(x) }},
		{"no gradients", func() {
			(&sym.Op{Name: "f", ForwardAny: same.ForwardAny, Backward: func(x, y, dy []*weft.Tensor) []*weft.Tensor { return dy }}).Apply(x)
		}},
		{"not a shared", func() { o.Object() }},
		{"its update", func() { function(sym.In(x), sym.Out(), sym.Updates{s: x}) }},
		{"what replaces it", func() { function(sym.In(x), sym.Out(same.Apply(o)[0]), sym.Givens{o: x}) }},
	} {
		if err := weft.Try(c.f); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %q", err, c.want)
		}
	}
	if _, err := function(sym.In(o), sym.Out(same.Apply(o)[0])).Call(1); err == nil || !strings.Contains(err.Error(), "CallAny") {
		t.Errorf("Call gives %v", err)
	}
	if _, err := function(sym.In(o), sym.Out(wrong.Apply(o)[0])).Call(1); err == nil || !strings.Contains(err.Error(), "another type") {
		t.Errorf("a result of another type gives %v", err)
	}
	if _, err := function(sym.In(o), sym.Out(o)).Call(1, 2); err == nil {
		t.Error("two arguments are taken for one")
	}
	word := sym.Object("word")
	_, err := function(sym.In(word), sym.Out(number.Apply(sym.SharedObject("", words{}), word)[0])).Call("")
	if err == nil || !strings.Contains(err.Error(), "an empty word") {
		t.Errorf("an error of the operation gives %v", err)
	}
}
