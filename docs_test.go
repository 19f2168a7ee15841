package weft_test

import (
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"weft/internal/op"
)

// section is the part of a document under a heading.
func section(t *testing.T, file, heading string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	_, part, ok := strings.Cut(string(text), "\n## "+heading+"\n")
	if !ok {
		t.Fatalf("%s has no section %q", file, heading)
	}
	part, _, _ = strings.Cut(part, "\n## ")
	return part
}

// firstCells are the words in backquotes in the first cells of a section's tables.
func firstCells(part string) map[string]bool {
	out := map[string]bool{}
	quoted := regexp.MustCompile("`([^`]*)`")
	for line := range strings.Lines(part) {
		if cell, _, ok := strings.Cut(strings.TrimPrefix(line, "| "), " |"); ok && strings.HasPrefix(line, "| ") {
			for _, m := range quoted.FindAllStringSubmatch(cell, -1) {
				out[m[1]] = true
			}
		}
	}
	return out
}

// TestArchitectureMapListsFolders holds the map of docs/architecture.md to the folders with Go files: each is on it, but for
// those inside examples and bench, and it has no other.
func TestArchitectureMapListsFolders(t *testing.T) {
	onMap := firstCells(section(t, "docs/architecture.md", "The map"))
	there := map[string]bool{}
	err := filepath.WalkDir(".", func(p string, d fs.DirEntry, err error) error {
		p = filepath.ToSlash(p)
		switch name := path.Base(p); {
		case err != nil:
			return err
		case d.IsDir() && p != "." && (strings.HasPrefix(name, ".") || name == "testdata"):
			return fs.SkipDir
		case strings.HasSuffix(p, ".go"):
			dir := path.Dir(p)
			for _, whole := range []string{"examples", "bench"} {
				if strings.HasPrefix(dir, whole+"/") {
					dir = whole
				}
			}
			there[dir] = true
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for dir := range there {
		if !onMap[dir] {
			t.Errorf("%s is missing in the map of docs/architecture.md: say there what lives in it", dir)
		}
	}
	for dir := range onMap {
		if !there[dir] {
			t.Errorf("the map of docs/architecture.md has %s, which is not a folder with Go files", dir)
		}
	}
}

// TestArchitectureLayersOfImports holds the layers of docs/architecture.md to the imports: a package imports packages of
// its own layer or of lower ones.
func TestArchitectureLayersOfImports(t *testing.T) {
	quoted := regexp.MustCompile("`([^`]*)`")
	layer := map[string]int{}
	for line := range strings.Lines(section(t, "docs/architecture.md", "The layers")) {
		if cells := strings.Split(line, " | "); strings.HasPrefix(line, "| ") && len(cells) == 2 {
			for _, m := range quoted.FindAllStringSubmatch(cells[1], -1) {
				layer[m[1]] = len(layer) + 1
			}
			for _, m := range quoted.FindAllStringSubmatch(cells[1], -1) {
				layer[m[1]] = len(layer)
			}
		}
	}
	if len(layer) < 20 {
		t.Fatalf("only %d packages are on the list", len(layer))
	}
	for dir := range layer {
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s has no files: %v", dir, err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
			if err != nil {
				t.Fatal(err)
			}
			for _, i := range f.Imports {
				name, ok := strings.CutPrefix(strings.Trim(i.Path.Value, `"`), "weft")
				if !ok {
					continue
				}
				if name = strings.TrimPrefix(name, "/"); name == "" {
					name = "."
				}
				if at, on := layer[name]; on && at < layer[dir] {
					t.Errorf("%s imports %s, which is of a higher layer", file, name)
				}
			}
		}
	}
}

// TestEnvironmentVariablesAreDocumented holds the table of TESTING.md to the WEFT_ variables that code reads.
func TestEnvironmentVariablesAreDocumented(t *testing.T) {
	listed := firstCells(section(t, "TESTING.md", "Variables"))
	read := map[string]string{}
	name := regexp.MustCompile(`WEFT_[A-Z0-9_]*[A-Z0-9]`)
	err := filepath.WalkDir(".", func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if base := filepath.Base(p); filepath.Ext(p) != ".go" && filepath.Ext(p) != ".py" && base != "run" || strings.HasPrefix(p, ".git"+string(filepath.Separator)) {
			return nil
		}
		text, err := os.ReadFile(p)
		for _, v := range name.FindAllString(string(text), -1) {
			read[v] = p
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for v, p := range read {
		if !listed[v] && p != "docs_test.go" {
			t.Errorf("%s, in %s, is missing in the table of TESTING.md", v, p)
		}
	}
	for v := range listed {
		if read[v] == "" {
			t.Errorf("TESTING.md lists %s, which nothing reads", v)
		}
	}
}

// TestDocumentedTestCommands holds the commands of documents to the tests: each pattern of a go test
// command finds one in each of its packages.
func TestDocumentedTestCommands(t *testing.T) {
	command := regexp.MustCompile("go test(?: -C (\\S+))?[^`\n]*? -(?:run|fuzz) '?([A-Z][A-Za-z0-9|]*)'?([^`&#\n]*)[`#\n]")
	tests := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w*)\(`)
	checked := 0
	files := []string{"README.md", "TESTING.md", "ROADMAP.md", "CONTRIBUTING.md"}
	for _, pages := range []string{"docs/*.md", "docs/decisions/*.md"} {
		found, err := filepath.Glob(pages)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range command.FindAllStringSubmatch(string(text), -1) {
			pattern := regexp.MustCompile(m[2])
			for _, dir := range strings.Fields(m[3]) {
				if !strings.HasPrefix(dir, ".") || strings.HasSuffix(dir, "...") {
					continue
				}
				files, err := filepath.Glob(filepath.Join(m[1], dir, "*_test.go"))
				if err != nil {
					t.Fatal(err)
				}
				found := false
				for _, f := range files {
					source, err := os.ReadFile(f)
					if err != nil {
						t.Fatal(err)
					}
					for _, name := range tests.FindAllSubmatch(source, -1) {
						found = found || pattern.Match(name[1])
					}
				}
				checked++
				if !found {
					t.Errorf("%s: no test of %s is found by %q", file, filepath.Join(m[1], dir), m[2])
				}
			}
		}
	}
	if checked < 15 {
		t.Errorf("only %d commands were checked", checked)
	}
}

// elsewhere are operations without a method or function of their name, and what reaches
// them.
var elsewhere = map[string]string{
	"cast":             "To",
	"copy":             "Clone",
	"iota":             "CrossEntropy",
	"powint":           "Pow",
	"frexp_mantissa":   "Frexp",
	"frexp_exponent":   "Frexp",
	"kernel":           "Expr",
	"loop":             "Expr", // and package sym
	"branch":           "Expr", // and package sym
	"count_true":       "NonZero",
	"matmul2":          "MatMul",
	"term":             "MatMul", // of a column with a row
	"conv2d_core":      "Conv2d",
	"conv2d_input":     "Conv2d",    // its gradient
	"conv2d_weight":    "Conv2d",    // its gradient
	"max_pool2d_place": "MaxPool2d", // its gradient
	"max_pool2d_pick":  "MaxPool2d", // the gradient of that
	"window_mean":      "AvgPool2d",
	"window_spread":    "AvgPool2d",  // its gradient
	"mask_place":       "MaskSelect", // its gradient
	"scatter_sum":      "ScatterAdd",
	"interleave":       "AvgPool2d", // its gradient
	"place":            "Slice",     // its gradient
	"runs":             "Unique",
	"scan_sum":         "CumSum",
	"scan_prod":        "CumProd",
	"recurrence":       "CumProd", // its gradient
	"ravel_index":      "Index",
	"index_copy":       "IndexPut",
	"scatter_min":      "ScatterReduce",
	"scatter_max":      "ScatterReduce",
	"scatter_prod":     "ScatterReduce",
	"reduce_sum":       "Sum",
	"reduce_prod":      "Prod",
	"reduce_min":       "Min",
	"reduce_max":       "Max",
	"reduce_all":       "All",
	"reduce_any":       "Any",
	"reduce_argmin":    "ArgMin",
	"reduce_argmax":    "ArgMax",
	"qr_triangle":      "QR",
	"correlate1d":      "Correlate",

	"pivots_to_permutation": "LU",

	"sparse_matmul":  "MatMul",
	"sparse_sampled": "Sampled",
}

// subjects are packages whose functions reach operations of their names.
var subjects = []string{"signal", "linalg", "fft", "sparse"}

// ofLists are operations on items of lists, which package ragged reaches.
const ofLists = "segment_"

// ofLayers is the operation that package nn reaches.
const ofLayers = "embedding_bag"

// TestOperationsHaveMethods fails where an operation cannot be reached: each has an
// exported function or method of package weft, or of a package of its subject, of its name, or is part of
// another that has.
func TestOperationsHaveMethods(t *testing.T) {
	plain := func(s string) string { return strings.ToLower(strings.ReplaceAll(s, "_", "")) }
	exported := map[string]bool{}
	for _, dir := range append([]string{"."}, subjects...) {
		for _, f := range sourceFiles(t, token.NewFileSet(), dir) {
			for _, d := range f.Decls {
				if d, ok := d.(*ast.FuncDecl); ok && d.Name.IsExported() {
					exported[plain(d.Name.Name)] = true
				}
			}
		}
	}
	for _, d := range op.Table() {
		if strings.HasPrefix(d.Name, ofLists) || d.Name == ofLayers {
			continue
		}
		other, listed := elsewhere[d.Name]
		switch direct := exported[plain(d.Name)]; {
		case !direct && !listed:
			t.Errorf("%s has no method or function in package weft", d.Name)
		case direct && listed:
			t.Errorf("%s has a method of its own and is listed as part of %s", d.Name, other)
		case listed && !exported[plain(other)]:
			t.Errorf("%s is listed as part of %s, which there is not", d.Name, other)
		}
	}
	for name := range elsewhere {
		if op.Lookup(name) == nil {
			t.Errorf("%s, listed as part of %s, is not an operation", name, elsewhere[name])
		}
	}
}

// TestSkipsAreLoud holds every test that is left out to a reason that begins with SKIPPED,
// for which the output of a run can be searched.
func TestSkipsAreLoud(t *testing.T) {
	skip := regexp.MustCompile(`\.Skipf?\((.*)|\.SkipNow\(`)
	err := filepath.WalkDir(".", func(p string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(p, "_test.go") {
			return err
		}
		text, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		for _, m := range skip.FindAllStringSubmatch(string(text), -1) {
			if !strings.HasPrefix(m[1], `"SKIPPED: `) && p != "docs_test.go" {
				t.Errorf("%s leaves a test out without saying SKIPPED and why: %s", p, m[0])
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

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

// TestPackageMapListsExports holds the map in the package comment to what is exported: each name of the
// package, and each method of Tensor, is in it once, and it has no other.
func TestPackageMapListsExports(t *testing.T) {
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

// The lines of README.md that begin a program of one's own work as they stand, in an empty
// folder beside the module, and print what the page says.
func TestReadmeProgram(t *testing.T) {
	part := section(t, "README.md", "In a program of your own")
	_, rest, ok := strings.Cut(part, "```bash\n")
	script, after, ok2 := strings.Cut(rest, "```")
	_, says, ok3 := strings.Cut(after, "It prints `")
	want, _, ok4 := strings.Cut(says, "`")
	if !ok || !ok2 || !ok3 || !ok4 {
		t.Fatal("README.md has no lines, or not what they print")
	}
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("SKIPPED: there is no bash: ", err)
	}
	root, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	// The module is where it is, since Go compiles everything again for another path of it.
	if !strings.Contains(script, "../weft") {
		t.Fatal("README.md does not have the module in ../weft")
	}
	script = strings.ReplaceAll(script, "../weft", root)
	// The page's first lines of Go run in the same folder.
	script += "mkdir first\ncat > first/main.go <<'END'\n" + firstLines(t) + "END\ngo run ./first > first.out\n"
	cmd := exec.Command(bash, "-e")
	cmd.Dir, cmd.Stdin = t.TempDir(), strings.NewReader(script)
	cmd.Env = append(os.Environ(), "GOWORK=off")
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, said.String())
	}
	if got := strings.TrimSpace(string(out)); got != want {
		t.Errorf("prints %q, README.md says %q", got, want)
	}
}

// firstLines is a program of the first Go code in README.md.
func firstLines(t *testing.T) string {
	page, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(page), "```go\n")
	body, _, ok2 := strings.Cut(rest, "```")
	if !ok || !ok2 {
		t.Fatal("README.md has no Go code")
	}
	return "package main\n\nimport (\n\t\"fmt\"\n\n\t\"weft\"\n)\n\nfunc main() {\n" + body + "}\n"
}

// TestInlinedFunctions holds what go fix inlines into programs to exported names: a body that
// has others stays where it is.
func TestInlinedFunctions(t *testing.T) {
	folders, err := filepath.Glob("*/")
	if err != nil {
		t.Fatal(err)
	}
	var files []*ast.File
	for _, dir := range append(folders, ".") {
		files = append(files, sourceFiles(t, token.NewFileSet(), dir)...)
	}
	found := 0
	for _, f := range files {
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Doc == nil {
				continue
			}
			inline := false
			for _, c := range fn.Doc.List {
				inline = inline || strings.HasPrefix(c.Text, "//go:fix inline")
			}
			if !inline {
				continue
			}
			found++
			ast.Inspect(fn.Body, func(n ast.Node) bool {
				if s, ok := n.(*ast.SelectorExpr); ok && !s.Sel.IsExported() {
					t.Errorf("the body of %s has %s, which other packages cannot call", fn.Name.Name, s.Sel.Name)
				}
				return true
			})
			if len(fn.Body.List) != 1 {
				t.Errorf("the body of %s is not one statement", fn.Name.Name)
			}
		}
	}
	if found == 0 {
		t.Error("no function is inlined by go fix")
	}
}

// Every exported type that holds something, which is one with methods on its pointer, says in its
// documentation what goroutines may do with it, or its package does for all.
func TestDocsSayWhatGoroutinesMayDo(t *testing.T) {
	found := 0
	for _, folder := range []string{".", "nn", "optim", "distributions", "data", "train", "train/live", "plot", "sym", "kernel", "ragged", "records", "viewer", "npy", "safetensors", "onnx", "checkpoint", "dlpack", "half"} {
		set := token.NewFileSet()
		//lint:ignore SA1019 go/doc takes its packages, and build tags do not matter here
		pkgs, err := parser.ParseDir(set, folder, func(f fs.FileInfo) bool { return !strings.HasSuffix(f.Name(), "_test.go") }, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		says := func(text string) bool {
			return strings.Contains(text, "goroutine") || strings.Contains(text, "concurrent use")
		}
		for _, p := range pkgs {
			var files []*ast.File
			for _, f := range p.Files {
				files = append(files, f)
			}
			d, err := doc.NewFromFiles(set, files, folder)
			if err != nil {
				t.Fatal(err)
			}
			for _, typ := range d.Types {
				holds := false
				for _, m := range typ.Methods {
					holds = holds || strings.HasPrefix(m.Recv, "*")
				}
				if !holds || strings.HasSuffix(typ.Name, "Error") {
					continue
				}
				found++
				if !says(typ.Doc) && !says(d.Doc) {
					t.Errorf("%s: %s.%s does not say what goroutines may do with it", set.Position(typ.Decl.Pos()), d.Name, typ.Name)
				}
			}
		}
	}
	if found < 40 {
		t.Errorf("only %d types were looked at", found)
	}
}

// TestRootStaysSmall holds the root to at most 60 Go files. Its tests are outside of the package, and
// each test file has fewer than 800 lines.
func TestRootStaysSmall(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	if len(files) > 60 {
		t.Errorf("the root has %d Go files, want at most 60: put a test into the file of its subject, or into internal/core", len(files))
	}
	for _, f := range files {
		if !strings.HasSuffix(f, "_test.go") {
			continue
		}
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains("\n"+string(text), "\npackage weft_test\n") {
			t.Errorf("%s is not of package weft_test", f)
		}
		if n := strings.Count(string(text), "\n"); n >= 800 {
			t.Errorf("%s has %d lines, want fewer than 800: a file has one subject", f, n)
		}
	}
}
