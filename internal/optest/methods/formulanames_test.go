package methods_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode"

	"weft"
	"weft/internal/formula"
	"weft/sym"
)

// notInFormulas are methods that work element by element and have no function in formulas, and why.
var notInFormulas = map[string]string{}

func leaveOut(why string, names ...string) {
	for _, n := range names {
		notInFormulas[n] = why
	}
}

func init() {
	leaveOut("operands the other way round", "RSub", "RDiv")
	leaveOut("has several results", "Frexp", "Modf", "DivMod")
	leaveOut("has a parameter that is a Go number", "RoundTo")
	leaveOut("looks at other elements of other arguments", "IndexPut", "IndexPutAdd", "IsIn", "Unwrap")
}

// An elementwiseMethod is a method of tensors that works element by element: its call with tensors of one type and
// otherwise usual arguments.
type elementwiseMethod struct {
	name  string
	args  []*weft.Tensor
	plain []any // arguments that are not tensors
	call  func(args []*weft.Tensor) []*weft.Tensor
}

// elements are arguments of each category.
var elements = [][]*weft.Tensor{
	{weft.FromSlice([]float64{0.3, -1.6, 2.5, 0.8}, 2, 2), weft.FromSlice([]float64{1.75, 0.4, -0.9, 0.25}, 2, 2), weft.FromSlice([]float64{0.6, 2.2, 1.1, -3}, 2, 2)},
	{weft.FromSlice([]int64{6, 3, 1, 4}, 2, 2), weft.FromSlice([]int64{1, 2, 3, 5}, 2, 2), weft.FromSlice([]int64{2, 1, 7, 3}, 2, 2)},
	{weft.FromSlice([]complex128{0.3 + 1i, -1.6 - 2i, 2.5i, 0.8 - 0.1i}, 2, 2), weft.FromSlice([]complex128{1i, -0.6 + 2i, 0.5, 0.4 + 0.3i}, 2, 2), weft.FromSlice([]complex128{2, -1i, 3 + 0.5i, 0.7 + 0.3i}, 2, 2)},
}

// elementwiseMethods finds the methods of tensors that compute each element of a result from the arguments' elements at its
// place.
func elementwiseMethods() (out []elementwiseMethod) {
	tensor, number := reflect.TypeFor[*weft.Tensor](), reflect.TypeFor[any]()
	for i := range tensor.NumMethod() {
		m := tensor.Method(i)
		for _, args := range elements {
			e := elementwiseMethod{name: m.Name}
			takes := []int{} // by parameter: the tensor, or -1
			for k := range m.Type.NumIn() {
				switch p := m.Type.In(k); {
				case m.Type.IsVariadic() && k == m.Type.NumIn()-1:
				case (p == tensor || p == number) && len(e.args) < len(args):
					takes = append(takes, len(e.args))
					e.args = append(e.args, args[len(e.args)])
				case p.Kind() == reflect.Float64:
					takes, e.plain = append(takes, -1), append(e.plain, 0.0)
				case p.Kind() == reflect.Int:
					takes, e.plain = append(takes, -1), append(e.plain, 1)
				}
			}
			if n := m.Type.NumIn(); len(takes) != n && !(m.Type.IsVariadic() && len(takes) == n-1) || m.Type.NumOut() == 0 {
				continue
			}
			e.call = func(args []*weft.Tensor) (out []*weft.Tensor) {
				var in []reflect.Value
				plain := e.plain
				for _, k := range takes {
					if k >= 0 {
						in = append(in, reflect.ValueOf(args[k]))
						continue
					}
					in, plain = append(in, reflect.ValueOf(plain[0])), plain[1:]
				}
				for _, r := range m.Func.Call(in) {
					t, _ := r.Interface().(*weft.Tensor)
					out = append(out, t)
				}
				return out
			}
			if e.elementwise() {
				out = append(out, e)
				break
			}
		}
	}
	return out
}

// elementwise reports that results have the arguments' shape, depend on the elements of their place alone, and are
// not the first argument.
func (e elementwiseMethod) elementwise() (ok bool) {
	err := weft.Try(func() {
		copies := func(part func(x *weft.Tensor) *weft.Tensor) (out []*weft.Tensor) {
			for _, a := range e.args {
				out = append(out, part(a).Clone())
			}
			return out
		}
		in := copies(func(x *weft.Tensor) *weft.Tensor { return x })
		whole := e.call(in)
		for i, x := range in {
			if weft.Digest(x) != weft.Digest(e.args[i]) {
				return // it writes into an argument
			}
		}
		if w := whole[0]; w != nil && weft.Digest(w.Contiguous()) == weft.Digest(e.args[0]) {
			return // the elements stay
		}
		for i := range 2 {
			for j := range 2 {
				at := func(x *weft.Tensor) *weft.Tensor { return x.Slice(weft.Range(i, i+1), weft.Range(j, j+1)) }
				for k, one := range e.call(copies(at)) {
					if w := whole[k]; w == nil || !slices.Equal(w.Shape(), e.args[0].Shape()) || weft.Digest(one.Contiguous()) != weft.Digest(at(w).Contiguous()) {
						return
					}
				}
			}
		}
		ok = true
	})
	return ok && err == nil
}

// formulaName returns the function of formulas that has a method's name; "" if there is none.
func formulaName(method string) string {
	var snake strings.Builder
	for i, r := range method {
		if unicode.IsUpper(r) && i > 0 {
			snake.WriteByte('_')
		}
		snake.WriteRune(unicode.ToLower(r))
	}
	for _, name := range []string{strings.ToLower(method), snake.String()} {
		if slices.Contains(formula.Functions(), name) {
			return name
		}
	}
	return ""
}

// TestElementwiseMethodsEverywhere finds the methods that work element by element and compares formulas, compiled
// functions and Vmap with them. Variables of package sym have the method too.
func TestElementwiseMethodsEverywhere(t *testing.T) {
	found := map[string]bool{}
	for _, e := range elementwiseMethods() {
		found[e.name] = true
		if notInFormulas[e.name] != "" {
			continue
		}
		want := e.call(e.args)
		same := func(how string, got []*weft.Tensor) {
			for i, w := range want {
				if got[i].DType() != w.DType() || weft.Digest(got[i].Contiguous()) != weft.Digest(w.Contiguous()) {
					t.Errorf("%s of %v in %s: %v, want %v", e.name, e.args[0].DType(), how, got[i], w)
				}
			}
		}
		same("a compiled function", weft.Compile(func(args []*weft.Tensor) []*weft.Tensor { return e.call(args) }).Func()(e.args))
		for i := range want {
			rows := weft.Vmap(func(x ...*weft.Tensor) *weft.Tensor { return e.call(x)[i] })(e.args...)
			if weft.Digest(rows.Contiguous()) != weft.Digest(want[i].Contiguous()) {
				t.Errorf("%s of %v by Vmap: %v, want %v", e.name, e.args[0].DType(), rows, want[i])
			}
		}
		if _, ok := reflect.TypeFor[*sym.Var]().MethodByName(e.name); !ok {
			t.Errorf("variables of package sym have no %s", e.name)
		}
		name := formulaName(e.name)
		if name == "" {
			t.Errorf("formulas have no function for %s", e.name)
			continue
		}
		args := make([]any, len(e.args))
		for i, a := range e.args {
			args[i] = a
		}
		err := weft.Try(func() {
			text := name + "(" + strings.Join([]string{"x", "y", "z"}[:len(args)], ", ") + ")"
			same("the formula "+text, []*weft.Tensor{weft.Expr(text, args...)})
		})
		if err != nil {
			t.Errorf("%s in a formula: %v", e.name, err)
		}
	}
	for name, why := range notInFormulas {
		if _, ok := reflect.TypeFor[*weft.Tensor]().MethodByName(name); !ok {
			t.Errorf("there is no method %s, which is left out since %s", name, why)
		}
	}
	if len(found) < 90 {
		t.Errorf("found only %d methods", len(found))
	}
}
