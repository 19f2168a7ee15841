package saved

import (
	"encoding/json"
	"reflect"
	"testing"

	"weft/internal/ir"
	"weft/internal/op"
)

// TestParametersOfAllOperations writes and reads the parameters of every sample of the op table: what
// comes back has the same key.
func TestParametersOfAllOperations(t *testing.T) {
	n := 0
	for _, d := range op.Table() {
		list := []ir.Attrs{d.Attrs}
		for _, s := range d.Samples {
			list = append(list, s.Attrs)
		}
		for _, a := range list {
			if a == nil {
				continue
			}
			if !Known(a) {
				t.Errorf("%s has parameters of type %T, which no file can hold: register them in token.go", d.Name, a)
				break
			}
			b, err := json.Marshal(attrTokens(a))
			if err != nil {
				t.Fatal(err)
			}
			var in []token
			if err := json.Unmarshal(b, &in); err != nil {
				t.Fatalf("%s: %s: %v", d.Name, b, err)
			}
			dec := decoder{in: in, env: &env{}}
			back := dec.attrs()
			if len(dec.in) > 0 || reflect.TypeOf(back) != reflect.TypeOf(a) || string(back.AppendKey(nil)) != string(a.AppendKey(nil)) {
				t.Errorf("%s: %v comes back as %v from %s", d.Name, a, back, b)
			}
			n++
		}
	}
	if n < 100 {
		t.Errorf("only %d parameters", n)
	}
}

// TestEarlierFields reads a transform as files wrote it before it had several axes.
func TestEarlierFields(t *testing.T) {
	dec := decoder{in: []token{{kind: tokenText, text: "fourier"}, {int: 1}, {int: 1}, {}, {int: int64(op.ByRoot)}}, env: &env{}}
	want := op.Fourier{Axis: 1, Inverse: true, Norm: op.ByRoot}
	if got := dec.attrs(); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// TestFit finds expressions for numbers that depend on lengths.
func TestFit(t *testing.T) {
	k := &known{}
	n, m := []int64{9, 10, 12, 15, 19}, []int64{10, 22, 40, 13, 28}
	k.add(Atom{-1, 0}, n)
	k.add(Atom{-1, 1}, m)
	for name, f := range map[string]func(n, m int64) int64{
		"n": func(n, m int64) int64 { return n }, "3n": func(n, m int64) int64 { return 3 * n }, "n-1": func(n, m int64) int64 { return n - 1 },
		"7-2m": func(n, m int64) int64 { return 7 - 2*m }, "nm": func(n, m int64) int64 { return n * m }, "4nm+3": func(n, m int64) int64 { return 4*n*m + 3 },
		"nnm": func(n, m int64) int64 { return n * n * m }, "n/2": func(n, m int64) int64 { return n / 2 }, "ceil(n/4)": func(n, m int64) int64 { return (n + 3) / 4 },
		"ceil(3n/4)": func(n, m int64) int64 { return (3*n + 3) / 4 }, "(n-3)/2+1": func(n, m int64) int64 { return (n-3)/2 + 1 }, "nm/2": func(n, m int64) int64 { return n * m / 2 },
	} {
		v := make([]int64, len(n))
		for i := range n {
			v[i] = f(n[i], m[i])
		}
		e := k.fit(v)
		if e == nil {
			t.Errorf("%s: no expression", name)
			continue
		}
		for _, x := range [][2]int{{100, 7}, {33, 50}, {64, 64}, {3, 5}} {
			if got := (&env{lengths: x[:]}).eval(e); got != f(int64(x[0]), int64(x[1])) {
				t.Errorf("%s of %v is %d by %+v, want %d", name, x, got, *e, f(int64(x[0]), int64(x[1])))
			}
		}
	}
	if e := k.fit([]int64{2, 3, 5, 8, 14}); e != nil {
		t.Errorf("numbers without a rule are %+v", *e)
	}
}
