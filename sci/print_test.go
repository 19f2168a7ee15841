package sci

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// unprinted are types of other modules that have hidden fields and no String method yet, by package.
var unprinted = map[string]string{
	"..":               "Compiled Event FuncContext Program Segment Tracked",
	"../aot":           "Call Plan Program Slice",
	"../data":          "LoaderOf",
	"../distributions": "MultivariateNormal TransformedDistribution",
	"../kernel":        "Elem Func Source",
	"../models":        "DDPMAttention Diffusion GNMTMemory InvertedResidual Llama ResNet",
	"../nn":            "AlphaDropout ChannelDropout Dropout KVCache Lazy RRelu SpectralNorm",
	"../npy":           "Archive",
	"../onnx":          "Model",
	"../optim":         "Average LBFGS Method Plateau Scaler Scheduler",
	"../plot":          "Axes Figure",
	"../ragged":        "Collection Tracked",
	"../safetensors":   "File",
	"../sparse":        "Factorization",
	"../sym":           "Fn MRGStreams Outputs RandomStreams Span",
	"../table":         "Agg Groups",
	"../tokenizers":    "AddedToken DecodeStream Tokenizer",
	"../torchfile":     "Dict",
	"../train":         "Events Metric Progress TrainerOf",
	"../train/live":    "Page",
	"../viewer":        "Mesh Points",
}

// TestTypesPrint finds exported structs with hidden fields and without a method String, Error or Format, in all
// packages: they print as pointers or as all of their numbers. Types that have had none so far are listed above, and
// leave that list when they get one.
func TestTypesPrint(t *testing.T) {
	hidden, printed := map[string][]string{}, map[string]bool{}
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() && (slices.Contains([]string{"internal", "testdata", "bench", "examples", "cmd", "gen", "shared"}, name) || strings.HasPrefix(name, ".") && path != "..") {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		dir := filepath.ToSlash(filepath.Dir(path))
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.GenDecl:
				hidden[dir] = append(hidden[dir], hiding(d)...)
			case *ast.FuncDecl:
				if d.Recv != nil && slices.Contains([]string{"String", "Error", "Format"}, d.Name.Name) {
					printed[dir+" "+receiver(d.Recv.List[0].Type)] = true
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(hidden) < 20 {
		t.Errorf("only %d packages have such types", len(hidden))
	}
	for dir, names := range hidden {
		known := strings.Fields(unprinted[dir])
		for _, name := range names {
			if has, listed := printed[dir+" "+name], slices.Contains(known, name); !has && !listed {
				t.Errorf("%s: %s has hidden fields and no String method", dir, name)
			} else if has && listed {
				t.Errorf("%s: %s has a String method: take it from the list", dir, name)
			}
		}
	}
	for dir, names := range unprinted {
		for _, name := range strings.Fields(names) {
			if !slices.Contains(hidden[dir], name) {
				t.Error(fmt.Sprint(dir, ": ", name, " is listed, and is not such a type"))
			}
		}
	}
}

// hiding returns the names of exported structs with hidden fields.
func hiding(d *ast.GenDecl) (names []string) {
	for _, s := range d.Specs {
		spec, ok := s.(*ast.TypeSpec)
		if !ok || !spec.Name.IsExported() {
			continue
		}
		st, ok := spec.Type.(*ast.StructType)
		if !ok {
			continue
		}
		if slices.ContainsFunc(st.Fields.List, func(f *ast.Field) bool {
			return slices.ContainsFunc(f.Names, func(n *ast.Ident) bool { return !n.IsExported() })
		}) {
			names = append(names, spec.Name.Name)
		}
	}
	return names
}

// receiver returns the name of a receiver's type.
func receiver(t ast.Expr) string {
	for {
		switch x := t.(type) {
		case *ast.StarExpr:
			t = x.X
		case *ast.IndexExpr:
			t = x.X
		case *ast.IndexListExpr:
			t = x.X
		case *ast.Ident:
			return x.Name
		default:
			return ""
		}
	}
}
