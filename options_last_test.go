package weft_test

import (
	"go/ast"
	"go/doc"
	"go/token"
	"go/types"
	"path/filepath"
	"strings"
	"testing"

	"weft"
	"weft/nn"
)

// plainOptions are the functions whose options are an argument like others, since nothing can be
// done without them.
var plainOptions = map[string]string{
	"weft.Tensor.AvgPool2d": "there is no pooling without a window",
	"weft.Tensor.MaxPool2d": "there is no pooling without a window",
	"sym.Var.AvgPool2d":     "as of tensors",
	"sym.Var.MaxPool2d":     "as of tensors",
	"sym.Scan":              "they say what is looped over, and the step comes last",
}

// TestOptionsAreLastAndVariadic walks the exported functions: a struct of options must be the last
// parameter and variadic. So a call without options need not write an empty struct. kernel's
// options come with the arrays of a variadic function and are left out.
func TestOptionsAreLastAndVariadic(t *testing.T) {
	found := 0
	for _, dir := range []string{".", "nn", "optim", "data", "ragged", "ragged/arrow", "sym", "npy", "safetensors", "checkpoint", "viewer", "dlpack", "kernel"} {
		fset := token.NewFileSet()
		p, err := doc.NewFromFiles(fset, sourceFiles(t, fset, dir), "weft/"+dir)
		if err != nil {
			t.Fatal(err)
		}
		pkg := filepath.Base(dir)
		if dir == "." {
			pkg = "weft"
		}
		check := func(name string, f *doc.Func) {
			params := f.Decl.Type.Params.List
			for i, x := range params {
				typ := types.ExprString(x.Type)
				if !strings.HasSuffix(typ, "Opts") && !(pkg == "optim" && strings.TrimLeft(typ, ".") == "O") {
					continue
				}
				found++
				variadic := i == len(params)-1 && strings.HasPrefix(typ, "...")
				if _, plain := plainOptions[name]; plain == variadic {
					t.Errorf("%s takes %s as parameter %d of %d: want ...Opts last, or a reason in this test", name, typ, i+1, len(params))
				}
			}
		}
		for _, f := range p.Funcs {
			check(pkg+"."+f.Name, f)
		}
		for _, x := range p.Types {
			for _, f := range x.Funcs {
				check(pkg+"."+f.Name, f)
			}
			for _, f := range x.Methods {
				if ast.IsExported(f.Name) {
					check(pkg+"."+x.Name+"."+f.Name, f)
				}
			}
		}
	}
	if found < 70 {
		t.Errorf("only %d functions with options were found", found)
	}
}

// TestTwoStructsOfOptions gives more options than one.
func TestTwoStructsOfOptions(t *testing.T) {
	for name, f := range map[string]func(){
		"sort":   func() { weft.Ones(3).Sort(0, weft.SortOpts{}, weft.SortOpts{Descending: true}) },
		"linear": func() { nn.NewLinear(2, 3, nn.Opts{}, nn.Opts{}) },
		"conv2d": func() { weft.Ones(1, 1, 3, 3).Conv2d(weft.Ones(1, 1, 1, 1), nil, weft.ConvOpts{}, weft.ConvOpts{}) },
	} {
		if err := weft.Try(f); err == nil || err.Error() != name+": opts: are 2 structs, want one" {
			t.Errorf("%s: %v", name, err)
		}
	}
}
