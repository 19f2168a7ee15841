package docs

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"weft/internal/op"
)

//go:generate go test -run "TestNames|TestPyTorchNames|TestNumPyNames|TestDecisions|TestRewrites|TestOperatorsOfONNX" . -update

var update = flag.Bool("update", false, "write tables and lists into the pages")

// A nameRow is a line of names.txt.
type nameRow struct {
	subject            string
	torch, numpy, weft string // "" if there is none
	note               string
}

func readNames(t *testing.T) (rows []nameRow) {
	text, err := os.ReadFile("names.txt")
	if err != nil {
		t.Fatal(err)
	}
	subject := ""
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if s, ok := strings.CutPrefix(line, "## "); ok {
			subject = s
			continue
		}
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		f := strings.Split(" "+line+" ", " | ")
		if len(f) == 3 {
			f = append(f, "")
		}
		if len(f) != 4 {
			t.Fatalf("names.txt: %q has %d parts, want PyTorch | NumPy | weft | note", line, len(f))
		}
		for i := range f {
			if f[i] = strings.Trim(f[i], " |"); f[i] == "-" && i < 3 {
				f[i] = ""
			}
		}
		rows = append(rows, nameRow{subject, f[0], f[1], f[2], f[3]})
	}
	return rows
}

// exported returns the exported names of the module's packages: "Sum" for a method of Tensor or a
// function of package weft, "Generator.Choice" for methods of other types, "nn.MSE" elsewhere; and
// constants and variables if values is set.
func exported(t *testing.T, values bool) map[string]bool {
	names := map[string]bool{}
	for _, dir := range []string{"", "nn", "optim", "distributions", "models", "data", "train", "train/live", "plot", "data/transforms", "ragged/arrow/parquet", "checkpoint", "npy", "safetensors", "torchfile", "hf", "dlpack", "sym", "kernel", "ragged", "records", "linalg", "fft", "sparse", "special", "signal", "ndimage", "table", "polynomial", "sci/optimize", "sci/integrate", "sci/interpolate", "sci/stats"} {
		files, err := filepath.Glob(filepath.Join("..", dir, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		before := ""
		if dir != "" {
			before = path.Base(dir) + "."
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range f.Decls {
				switch d := d.(type) {
				case *ast.FuncDecl:
					if !d.Name.IsExported() {
						continue
					}
					of := ""
					if d.Recv != nil {
						x := d.Recv.List[0].Type
						if p, ok := x.(*ast.StarExpr); ok {
							x = p.X
						}
						if p, ok := x.(*ast.IndexExpr); ok {
							x = p.X
						}
						if of = fmt.Sprint(x) + "."; of == "Tensor." {
							of = ""
						}
					}
					names[before+of+d.Name.Name] = true
				case *ast.GenDecl:
					for _, s := range d.Specs {
						if s, ok := s.(*ast.TypeSpec); ok && s.Name.IsExported() {
							names[before+s.Name.Name] = true
						}
						if s, ok := s.(*ast.ValueSpec); ok && values {
							for _, n := range s.Names {
								if n.IsExported() {
									names[before+n.Name] = true
								}
							}
						}
					}
				}
			}
		}
	}
	return names
}

// table returns a page's table of names. other gives the name in the library that the reader comes
// from.
func table(rows []nameRow, library string, other func(nameRow) string) string {
	ops := map[string]*op.Def{}
	for _, d := range op.Table() {
		ops[strings.ToLower(strings.ReplaceAll(d.Name, "_", ""))] = d
	}
	var b strings.Builder
	subject, missing, there := "", 0, 0
	code := func(s string) string { return "`" + strings.ReplaceAll(s, ", ", "`, `") + "`" }
	for _, r := range rows {
		name := other(r)
		if name == "" {
			continue
		}
		if r.subject != subject {
			subject = r.subject
			fmt.Fprintf(&b, "\n### %s\n\n| %s | weft | ONNX | |\n|---|---|---|---|\n", subject, library)
		}
		weft, onnx := "**missing**", ""
		if r.weft != "" {
			weft = code(r.weft)
			there++
			if d := ops[strings.ToLower(r.weft)]; d != nil && d.ONNX != "" {
				onnx = code(d.ONNX)
			}
		} else {
			missing++
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", strings.ReplaceAll(name, "|", "\\|"), weft, onnx, r.note)
	}
	return fmt.Sprintf("\n%d names of %s have one in weft; %d names that people ask for are missing.\n%s\n", there, library, missing, &b)
}

// TestNames holds the tables of names to names.txt and the op table, and names.txt to the exported
// names: each name of weft in it exists, and what it calls missing does not exist by that name. Each
// operation with a method of its own has a row.
func TestNames(t *testing.T) {
	rows, there := readNames(t), exported(t, false)
	if len(rows) < 200 {
		t.Errorf("names.txt has only %d rows", len(rows))
	}
	plain := func(s string) string { return strings.ToLower(strings.ReplaceAll(s, "_", "")) }
	byPlain := map[string]string{}
	for n := range there {
		byPlain[plain(n)] = n
	}
	listed := map[string]bool{}
	for _, r := range rows {
		if r.weft == "" {
			for _, name := range strings.Split(r.torch+", "+r.numpy, ", ") {
				if n := byPlain[plain(name)]; n != "" && n != "FloorDiv" {
					t.Errorf("names.txt says that weft has no %s, and there is %s", name, n)
				}
			}
			continue
		}
		for n := range strings.SplitSeq(r.weft, ", ") {
			if listed[n] = true; !there[n] {
				t.Errorf("names.txt has %s, which weft does not", n)
			}
		}
	}
	for _, d := range op.Table() {
		if n := byPlain[plain(d.Name)]; n != "" && !listed[n] && !strings.HasPrefix(d.Name, "segment_") {
			t.Errorf("the operation %s has no row in names.txt: say what %s is called elsewhere, or \"-\"", d.Name, n)
		}
	}
	for page, part := range map[string]string{
		"from-pytorch.md": table(rows, "PyTorch", func(r nameRow) string { return r.torch }),
		"from-numpy.md":   table(rows, "NumPy", func(r nameRow) string { return r.numpy }),
	} {
		writeTable(t, page, "names", part)
	}
}
