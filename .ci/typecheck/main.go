// Command typecheck checks the types of packages, and of all that they import, for each platform. That takes a
// tenth of the time of compiling them.
//
//	go run ./.ci/typecheck [-test] linux/arm64,windows/amd64 ./...
package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// A listed package has what go list prints about it. ImportMap maps imports of a test's variant to the packages that
// they mean there.
type listed struct {
	ImportPath, Dir       string
	GoFiles, XTestGoFiles []string
	ImportMap             map[string]string
	Standard              bool
	Error                 *struct{ Err string }
}

func main() {
	tests := flag.Bool("test", false, "check tests too")
	flag.Parse()
	var wg sync.WaitGroup
	var faults atomic.Int64
	for platform := range strings.SplitSeq(flag.Arg(0), ",") {
		wg.Go(func() {
			goos, arch, _ := strings.Cut(platform, "/")
			list, err := packages(goos, arch, *tests, flag.Args()[1:])
			if err != nil {
				fmt.Println(err)
				faults.Add(1)
				return
			}
			n := check(list, arch)
			fmt.Printf("%s: %d packages, %d errors\n", platform, len(list), n)
			faults.Add(int64(n))
		})
	}
	wg.Wait()
	if faults.Load() > 0 {
		os.Exit(1)
	}
}

// packages lists the packages of patterns for a platform, each after those that it imports.
func packages(goos, arch string, tests bool, patterns []string) (list []listed, err error) {
	args := append([]string{"list", "-deps", fmt.Sprintf("-test=%v", tests), "-json=ImportPath,Dir,GoFiles,ImportMap,Standard,Error"}, patterns...)
	c := exec.Command("go", args...)
	c.Env = append(os.Environ(), "GOOS="+goos, "GOARCH="+arch, "CGO_ENABLED=0")
	c.Stderr = os.Stderr
	out, err := c.Output()
	if err != nil {
		return nil, fmt.Errorf("go list for %s/%s: %w", goos, arch, err)
	}
	for d := json.NewDecoder(bytes.NewReader(out)); d.More(); {
		var p listed
		if err := d.Decode(&p); err != nil {
			return nil, err
		}
		if p.Error != nil {
			return nil, fmt.Errorf("%s: %s", p.ImportPath, p.Error.Err)
		}
		if !strings.HasSuffix(p.ImportPath, ".test") { // main packages of tests, which have no source
			list = append(list, p)
		}
	}
	return list, nil
}

// An importer finds packages that were checked. names is the ImportMap of the package that imports.
type importer struct {
	checked map[string]*types.Package
	names   map[string]string
}

func (i importer) Import(path string) (*types.Package, error) {
	if path == "unsafe" {
		return types.Unsafe, nil
	}
	if other, ok := i.names[path]; ok {
		path = other
	}
	if p := i.checked[path]; p != nil {
		return p, nil
	}
	return nil, fmt.Errorf("%s was not checked", path)
}

// check checks packages, prints their errors and counts them. Requires: each comes after those that it imports.
// Bodies of functions of the standard library are left out: their types are known to hold.
func check(list []listed, arch string) (faults int) {
	checked := map[string]*types.Package{}
	for _, p := range list {
		if p.ImportPath == "unsafe" {
			continue
		}
		fset := token.NewFileSet()
		var files []*ast.File
		for _, name := range slices.Sorted(slices.Values(p.GoFiles)) {
			f, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
			if err != nil {
				fmt.Println(err)
				faults++
			}
			files = append(files, f)
		}
		config := types.Config{
			IgnoreFuncBodies: p.Standard,
			Importer:         importer{checked, p.ImportMap},
			Sizes:            types.SizesFor("gc", arch),
			Error: func(err error) {
				fmt.Println(err)
				faults++
			},
		}
		path, _, _ := strings.Cut(p.ImportPath, " ")
		checked[p.ImportPath], _ = config.Check(path, fset, files, nil)
	}
	return faults
}
