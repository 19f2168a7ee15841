package weft_test

import (
	"fmt"
	"go/ast"
	"go/doc"
	"go/types"
	"math"
	"strings"
	"testing"

	"weft"
)

// untyped are the constructors whose arguments say the element type in full: Go's types, or tensors.
var untyped = map[string]bool{
	"From":                  true,
	"FromSlice":             true,
	"Generator.Bernoulli":   true,
	"Generator.Choice":      true,
	"Generator.Multinomial": true,
	"Generator.Permutation": true,
	"Expr":                  true, // formulas of what is given
	"FullLike":              true,
}

// TestConstructorsTakeTheirType finds functions of the package and methods of Generator that return
// a tensor and take none, and wants a form of each whose name ends in Of and that takes the element
// type first, then the same arguments.
func TestConstructorsTakeTheirType(t *testing.T) {
	p := rootPackage(t)
	forms := map[string]string{} // the types of the arguments, by name
	collect := func(prefix string, fs []*doc.Func) {
		for _, f := range fs {
			r := f.Decl.Type.Results
			if r == nil || len(r.List) != 1 || types.ExprString(r.List[0].Type) != "*Tensor" || !ast.IsExported(f.Name) {
				continue
			}
			var args []string
			for _, x := range f.Decl.Type.Params.List {
				for range max(1, len(x.Names)) {
					args = append(args, types.ExprString(x.Type))
				}
			}
			if all := strings.Join(args, ", "); !strings.Contains(all, "Tensor") {
				forms[prefix+f.Name] = all
			}
		}
	}
	collect("", p.Funcs)
	for _, x := range p.Types {
		collect("", x.Funcs)
		if x.Name == "Generator" {
			collect("Generator.", x.Methods)
		}
	}
	for name, args := range forms {
		if untyped[name] || strings.HasSuffix(name, "Of") {
			continue
		}
		want := "DType"
		if args != "" {
			want += ", " + args
		}
		if got := forms[name+"Of"]; got != want {
			t.Errorf("%s(%s) has %sOf(%s), want %sOf(%s)", name, args, name, got, name, want)
		}
	}
	if len(forms) < 30 {
		t.Errorf("only %d constructors were found", len(forms))
	}
}

var everyType = []weft.DType{weft.Bool, weft.Uint8, weft.Int8, weft.Int16, weft.Int32, weft.Int64, weft.Uint16, weft.Uint32, weft.Uint64,
	weft.Float16, weft.BFloat16, weft.Float32, weft.Float64, weft.Complex64, weft.Complex128}

// TestTypedConstructors makes every constructor of every type and compares elements with the
// formula in float64, converted by To.
func TestTypedConstructors(t *testing.T) {
	same := func(name string, d weft.DType, got *weft.Tensor, want []float64) {
		t.Helper()
		w := weft.From(want).To(d)
		if got.DType() != d || got.Rank() != 1 || weft.Digest(got) != weft.Digest(w) {
			t.Errorf("%s of %s is %v of %s, want %v", name, d, got, got.DType(), w)
		}
	}
	for _, d := range everyType {
		same("scalar", d, weft.ScalarOf(d, 1.1).Reshape(1), []float64{1.1})
		same("full", d, weft.FullOf(d, 2.7, 2), []float64{2.7, 2.7})
		same("eye", d, weft.EyeOf(d, 2).Flatten(0), []float64{1, 0, 0, 1})
		if d == weft.Bool {
			for name, f := range map[string]func() *weft.Tensor{
				"arange":   func() *weft.Tensor { return weft.ArangeOf(d, 2) },
				"linspace": func() *weft.Tensor { return weft.LinspaceOf(d, 0, 1, 2) },
			} {
				if err := weft.Try(func() { f() }); err == nil || !strings.HasPrefix(err.Error(), name+": dtype:") {
					t.Errorf("%s of bool: %v", name, err)
				}
			}
			continue
		}
		same("arange of ints", d, weft.ArangeOf(d, 3, 12, 4), []float64{3, 7, 11})
		same("arange of floats", d, weft.ArangeOf(d, 0.1, 1, 0.3), []float64{0.1, 0.1 + 0.3, 0.1 + 2*0.3})
		same("linspace", d, weft.LinspaceOf(d, 0.1, 2, 3), []float64{0.1, float64(0.1*0.5) + float64(2*0.5), 2})
		same("linspace of one", d, weft.LinspaceOf(d, 3, 9, 1), []float64{3})
		same("empty arange", d, weft.ArangeOf(d, 0), []float64{})
	}
	for _, x := range []float64{0.1, 1.0 / 3, math.Pi} {
		if got := weft.ScalarOf(weft.Float64, x).Item(); got != x {
			t.Errorf("%v as float64 is %v", x, got)
		}
	}
	if err := weft.Try(func() { weft.ArangeOf(weft.Uint8, 300) }); err == nil || !strings.HasPrefix(err.Error(), "arange:") {
		t.Errorf("numbers to 299 as uint8: %v", err)
	}
	if err := weft.Try(func() { weft.RandpermOf(weft.Uint8, 257) }); err == nil || !strings.HasPrefix(err.Error(), "randperm:") {
		t.Errorf("a permutation of 257 as uint8: %v", err)
	}
	g := weft.NewGenerator(3)
	for _, d := range []weft.DType{weft.Float16, weft.BFloat16, weft.Float32, weft.Float64} {
		for name, c := range map[string]struct {
			x        *weft.Tensor
			mean, at float64
		}{
			"uniform":     {g.UniformOf(d, 2, 4, 40000), 3, 0.03},
			"normal":      {g.NormalOf(d, -1, 2, 40000), -1, 0.06},
			"exponential": {g.ExponentialOf(d, 0.5, 40000), 2, 0.06},
		} {
			if m := c.x.To(weft.Float64).Mean().Item(); c.x.DType() != d || math.Abs(m-c.mean) > c.at {
				t.Errorf("%s of %s has type %s and mean %v, want %v", name, d, c.x.DType(), m, c.mean)
			}
		}
	}
	if got := fmt.Sprint(weft.Scalar(2.5).DType(), weft.Scalar(1).DType(), weft.Scalar(true).DType(), weft.Scalar(1i).DType(), weft.Full(1, 2).DType(), weft.Full(0.5, 2).DType(), weft.Arange(3).DType(), weft.Arange(3.0).DType(), weft.Linspace(0, 1, 2).DType(), weft.Eye(2).DType()); got != "float32 int64 bool complex64 int64 float32 int64 float32 float32 float32" {
		t.Errorf("types where none is given are %s", got)
	}
}
