package weft_test

import (
	"go/ast"
	"go/doc"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// rootPackage is the documentation of package weft.
func rootPackage(t *testing.T) *doc.Package {
	t.Helper()
	fset := token.NewFileSet()
	p, err := doc.NewFromFiles(fset, sourceFiles(t, fset, "."), "weft")
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestPackageMap holds the map in the package comment to what is exported: each name of the
// package, and each method of Tensor, is in it once, and it has no other.
func TestPackageMap(t *testing.T) {
	p := rootPackage(t)
	_, text, ok := strings.Cut(p.Doc, "\n# Map\n")
	if !ok {
		t.Fatal("the package comment has no map")
	}
	text, _, _ = strings.Cut(text, "\n# ")
	on := map[string]int{}
	for _, m := range regexp.MustCompile(`\[([A-Z]\w*(?:\.\w+)?)\]`).FindAllStringSubmatch(text, -1) {
		on[m[1]]++
	}
	there := map[string]bool{}
	values := func(vs []*doc.Value) {
		for _, v := range vs {
			for _, n := range v.Names {
				if ast.IsExported(n) {
					there[n] = true
				}
			}
		}
	}
	funcs := func(before string, fs []*doc.Func) {
		for _, f := range fs {
			there[before+f.Name] = true
		}
	}
	values(p.Consts)
	values(p.Vars)
	funcs("", p.Funcs)
	for _, x := range p.Types {
		there[x.Name] = true
		values(x.Consts)
		values(x.Vars)
		funcs("", x.Funcs)
		if x.Name == "Tensor" {
			funcs("Tensor.", x.Methods)
		}
	}
	for n := range there {
		if on[n] != 1 {
			t.Errorf("%s is %d times in the map of the package comment (doc.go), want once, under its subject", n, on[n])
		}
	}
	for n := range on {
		if !there[n] {
			t.Errorf("the map of the package comment has %s, which is not exported", n)
		}
	}
}

// TestDocsSayEnough finds comments of Tensor's methods, and of functions that give tensors,
// that say less than a sentence and a half, and comments of reductions that leave out axes, or
// what there is for NaN or for no elements.
func TestDocsSayEnough(t *testing.T) {
	p := rootPackage(t)
	axes := regexp.MustCompile(`\baxes\b|\baxis\b|flattened`)
	checked := 0
	check := func(f *doc.Func) {
		checked++
		text := strings.Join(strings.Fields(f.Doc), " ")
		if len(text) < 75 {
			t.Errorf("the comment of %s says too little (shapes, types, errors): %q", f.Name, text)
		}
		if !strings.HasPrefix(text, f.Name+" ") {
			t.Errorf("the comment of %s begins with %.30q", f.Name, text)
		}
		reduces := false
		for _, field := range f.Decl.Type.Params.List {
			for _, n := range field.Names {
				reduces = reduces || n.Name == "axes" || n.Name == "axis"
			}
		}
		if reduces && !axes.MatchString(text) {
			t.Errorf("the comment of %s does not say what axes are: %q", f.Name, text)
		}
		if strings.HasSuffix(f.Name, "Keep") || !reduces || f.Decl.Type.Params.List[len(f.Decl.Type.Params.List)-1].Names[0].Name != "axes" {
			return
		}
		if _, variadic := f.Decl.Type.Params.List[len(f.Decl.Type.Params.List)-1].Type.(*ast.Ellipsis); variadic && regexp.MustCompile(`^(Sum|Prod|Mean|Var|Std|Min|Max|SampleVar|SampleStd|All|Any|LogSumExp)$`).MatchString(f.Name) {
			for _, word := range []string{"NaN", "no elem|of no|no element", "panics"} {
				if !regexp.MustCompile(word).MatchString(text) {
					t.Errorf("the comment of %s has nothing of %q: %q", f.Name, word, text)
				}
			}
		}
	}
	for _, x := range p.Types {
		if x.Name != "Tensor" {
			continue
		}
		for _, f := range x.Methods {
			check(f)
		}
		for _, f := range x.Funcs {
			check(f)
		}
	}
	if checked < 250 {
		t.Errorf("only %d comments were looked at", checked)
	}
}

// TestExampleCount wants two examples for each that there were before the face was made whole.
func TestExampleCount(t *testing.T) {
	names, err := filepath.Glob("example*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		n += len(regexp.MustCompile(`(?m)^func Example`).FindAll(text, -1))
	}
	if n < 2*76 {
		t.Errorf("%d examples, want %d or more", n, 2*76)
	}
}
