package weft_test

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Memory is touched by the device that has it and by host.go: nothing else takes an
// address of a storage, but for what compares memory for Debug.
func TestWhoTouchesMemory(t *testing.T) {
	allowed := func(path string) bool {
		for _, p := range []string{"internal/core/host.go", "internal/core/debug.go", "internal/exec/checked.go", "internal/array/", "aot/", "internal/cpu/", "internal/cudart/", "internal/device/deferred/", "internal/optest/", "bench/"} {
			if strings.HasPrefix(path, p) {
				return true
			}
		}
		return strings.HasSuffix(path, "_test.go")
	}
	files := token.NewFileSet()
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || allowed(filepath.ToSlash(path)) {
			return err
		}
		f, err := parser.ParseFile(files, path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(f, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) > 0 {
				return true
			}
			sel, ok := call.Fun.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			x, _ := sel.X.(*ast.SelectorExpr)
			ofView := x != nil && (x.Sel.Name == "v" || x.Sel.Name == "Store")
			if sel.Sel.Name == "Host" || sel.Sel.Name == "Ptr" && ofView {
				t.Errorf("%s takes the address of memory", files.Position(call.Pos()))
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Every function that writes into the memory of arrays, or hands it to who may, opens a
// write, by which the bytes are marked that it touches, or stands here with the reason why
// it need not. Whoever adds a way to write sees this fail; what runs kernels asks the same
// of each write when tests run (dirty.Verify).
func TestWhoWritesMemory(t *testing.T) {
	const fresh, reads, inside = "it writes into memory that it has just made", "it reads", "its callers open the write"
	need := map[string]string{
		"vjp.go run":                 fresh,
		"create.go complexOf":        fresh,
		"create.go fill":             inside,
		"create.go full":             fresh,
		"create.go filled":           fresh,
		"create.go from":             fresh,
		"format.go tensor":           reads,
		"device.go MemoryStats":      "it asks for figures of the memory",
		"check.go CallHost":          inside,
		"random.go CallHost":         inside,
		"page.go Page":               fresh,
		"debug.go debugged":          inside,
		"debug.go copyWithStep":      fresh,
		"debug.go copiesWithStrides": fresh,
		"dispatch.go applyOne":       fresh,
		"dispatch.go applyAll":       fresh,
		"dispatch.go compute":        inside,
		"fused.go run":               inside,
		"fused.go trace":             "a call of what is traced opens the writes",
		"lazy.go ready":              fresh,
		"lazy.go fuseReduction":      fresh,
		"lazy.go compute":            fresh,
		"lazy.go computeAlone":       fresh,
		"host.go download":           "it writes into memory of the host",
		"host.go upload":             fresh,
		"host.go deliver":            inside,
		"host.go putBack":            inside,
		"host.go moved":              fresh,
		"host.go readBytes":          "it writes into a Go slice",
		"host.go Bytes":              "its callers read",
		"check.go outside":           "reads",
		"inplace.go laidOut":         fresh,
		"inplace.go copyViews":       inside,
		"inplace.go copyInto":        inside,
		"host.go copyChanged":        inside,
		"random.go draw":             fresh,
		"stream.go ones":             fresh,
		"sparse.go IntoRows":         "putRows opens it",
		"dispatch.go traced":         fresh,
		"tensor.go CopyTo":           "it writes into a Go slice",
	}
	writers := map[string]bool{"runPlan": true, "RunDirect": true, "copyViews": true, "copyInto": true, "putRows": true, "RunAll": true, "compute": true, "slice": true, "bytesOf": true, "Memory": true}
	opens := map[string]bool{"openWrite": true, "openWrites": true, "Enter": true, "Lend": true}
	files, _ := filepath.Glob("*.go")
	engine, _ := filepath.Glob("internal/core/*.go")
	files = append(files, engine...)
	small := func(name string) string { return strings.ToLower(name[:1]) + name[1:] }
	found := 0
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		set := token.NewFileSet()
		f, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			var writes token.Pos
			opened := false
			ast.Inspect(fn, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if !ok {
					return true
				}
				callee := call.Fun
				if ix, ok := callee.(*ast.IndexExpr); ok {
					callee = ix.X
				}
				name := ""
				switch c := callee.(type) {
				case *ast.Ident:
					name = c.Name
				case *ast.SelectorExpr:
					x, _ := c.X.(*ast.Ident)
					if name = c.Sel.Name; x != nil && x.Name == "core" {
						break
					}
					switch name {
					case "slice", "putRows", "Slice", "SliceAs":
						name = "" // methods of those names
					}
				}
				opened = opened || opens[name] || name != "" && opens[small(name)]
				ofStream := false // of what a device.Ref says
				for _, a := range call.Args {
					c, ok := a.(*ast.CompositeLit)
					if !ok {
						continue
					}
					s, ok := c.Type.(*ast.SelectorExpr)
					ofStream = ofStream || ok && s.Sel.Name == "Ref"
				}
				if (writers[name] || name != "" && writers[small(name)] || ofStream) && !writes.IsValid() {
					writes = call.Pos()
				}
				return true
			})
			key := filepath.Base(path) + " " + fn.Name.Name
			if need[key] == "" {
				key = filepath.Base(path) + " " + small(fn.Name.Name)
			}
			switch {
			case !writes.IsValid():
			case opened:
				found++
			case need[key] == "":
				t.Errorf("%s: %s writes into memory, or may, and opens no write: bytes of a tracked array would change and not be marked", set.Position(writes), fn.Name.Name)
			default:
				delete(need, key)
			}
		}
	}
	for key := range need {
		t.Errorf("%s no longer writes without opening a write: take it off the list", key)
	}
	if found < 7 {
		t.Errorf("only %d functions open a write: this test no longer sees them", found)
	}
	// Nothing else in the module runs plans or asks devices to write. What they say of costs is free.
	onDevice := regexp.MustCompile(`\bdevice\.(Get|Ref|Stream|Launch|Call|Replace|Register|Device)\b`)
	allowed := []string{"internal/core/", "internal/exec/", "internal/cpu/", "internal/cudart/", "internal/device/", "internal/grid/gridtest/", "cuda/", "examples/internal/late/", "internal/optest/", "internal/tensortest/", "internal/formula/", "bench/", ".git/"}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		p := filepath.ToSlash(path)
		if err != nil || d.IsDir() || !strings.HasSuffix(p, ".go") || strings.HasSuffix(p, "_test.go") || !strings.Contains(p, "/") ||
			slices.ContainsFunc(allowed, func(dir string) bool { return strings.HasPrefix(p, dir) }) {
			return err
		}
		src, err := os.ReadFile(path)
		if bytes.Contains(src, []byte(`"weft/internal/exec"`)) {
			t.Errorf("%s uses internal/exec, by which memory can be written and not marked: go through package weft", path)
		}
		if bytes.Contains(src, []byte(`"weft/internal/device"`)) {
			for _, use := range onDevice.FindAllString(string(src), -1) {
				t.Errorf("%s uses %s, by which memory can be written and not marked: go through package weft", path, use)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
