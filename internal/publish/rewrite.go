package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// A release is the module under another path.
type release struct {
	path, version string
	old           string   // the path that the module has
	nested        []string // folders of the modules to publish, "" for the root

	// What write looks for in texts.
	imports, packages, requires *regexp.Regexp
}

var (
	paths    = regexp.MustCompile(`^[a-z0-9][a-z0-9-]*(\.[a-z0-9-]+)+(/[A-Za-z0-9._~-]*[A-Za-z0-9_~-])+$`)
	versions = regexp.MustCompile(`^v([0-9]+)\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?$`)
	major    = regexp.MustCompile(`/v([0-9]+)$`)
)

// private matches the folders of modules that nobody outside needs, which get no version.
var private = regexp.MustCompile(`(^|/)(bench|examples|internal|testdata)/`)

// What a published module says otherwise, and a module published before: the paragraph of
// docs/stability.md on the path, and the README's words on the version.
var (
	homeless = regexp.MustCompile("(?s)(?:The module has no home yet|The module is `).*?\\n(?:\\n|$)")
	young    = regexp.MustCompile(`Young: (?:no version has been released|this is v\S+), nobody`)
)

// check refuses what go get would not take.
func (r *release) check() error {
	if !paths.MatchString(r.path) {
		return fmt.Errorf("%q is not a path that go get accepts: it begins with the name of a host, such as example.org/you/weft", r.path)
	}
	v := versions.FindStringSubmatch(r.version)
	if v == nil {
		return fmt.Errorf("%q is not a version such as v0.1.0", r.version)
	}
	want := ""
	if v[1] != "0" && v[1] != "1" {
		want = v[1]
	}
	got := ""
	if m := major.FindStringSubmatch(r.path); m != nil {
		got = m[1]
	}
	if got != want {
		return fmt.Errorf("the path of version %s must end with /v%s from v2 on, and not before: %s", r.version, v[1], r.path)
	}
	return nil
}

// files lists what belongs to the module in root: what git knows, or all files without it.
func files(root string) ([]string, error) {
	var list []string
	c := exec.Command("git", "ls-files", "--cached", "--others", "--exclude-standard")
	c.Dir = root
	if out, err := c.Output(); err == nil && len(out) > 0 {
		for name := range strings.Lines(string(out)) {
			name = strings.TrimSpace(name)
			// A file that was removed and not committed is in the list, too.
			if info, err := os.Lstat(filepath.Join(root, name)); err == nil && info.Mode().IsRegular() {
				list = append(list, name)
			}
		}
		return list, nil
	}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.Name() == ".git" {
			return fs.SkipDir
		}
		if d.Type().IsRegular() {
			name, err := filepath.Rel(root, path)
			if err != nil {
				return err
			}
			list = append(list, filepath.ToSlash(name))
		}
		return nil
	})
	return list, err
}

// write copies the module in root to out, which is empty or not there, under the new path.
func (r *release) write(root, out string) error {
	if there, err := os.ReadDir(out); err == nil && len(there) > 0 {
		return fmt.Errorf("the folder %s is not empty", out)
	}
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		return err
	}
	m := regexp.MustCompile(`(?m)^module (\S+)`).FindSubmatch(mod)
	if m == nil {
		return fmt.Errorf("%s/go.mod names no module", root)
	}
	r.old = string(m[1])
	list, err := files(root)
	if err != nil {
		return err
	}
	folders := map[string]bool{}
	for _, name := range list {
		if folder, _, ok := strings.Cut(name, "/"); ok && !strings.HasPrefix(folder, ".") {
			folders[regexp.QuoteMeta(folder)] = true
		}
		if dir, ok := strings.CutSuffix(name, "go.mod"); ok && !private.MatchString(dir) {
			r.nested = append(r.nested, strings.TrimSuffix(dir, "/"))
		}
	}
	slices.Sort(r.nested)
	var any []string
	for f := range folders {
		any = append(any, f)
	}
	slices.Sort(any)
	old := regexp.QuoteMeta(r.old)
	// The root package in a declaration of imports, also in source within strings.
	r.imports = regexp.MustCompile(`(?m)((?:^|\bimport|\bimport \(|;|\\n|\\t)[ \t]*(?:[\w.]+ )?\\?["\x60])` + old + `(\\?["\x60][ \t]*(?:$|//|;|\\n|\)))`)
	// A package below it, wherever it is named.
	r.packages = regexp.MustCompile(`(^|[^\w./-])` + old + `/(` + strings.Join(any, "|") + `)\b`)
	// Modules in go.mod.
	r.requires = regexp.MustCompile(`(?m)^((?:module |require |replace |\t)?)` + old + `(/[\w/]+)?( v[0-9]\S*)?($| )`)
	for _, name := range list {
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			return err
		}
		info, err := os.Stat(filepath.Join(root, name))
		if err != nil {
			return err
		}
		to := filepath.Join(out, name)
		if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
			return err
		}
		if err := os.WriteFile(to, r.rewrite(name, text), info.Mode().Perm()|0o200); err != nil {
			return err
		}
	}
	return nil
}

// rewrite is a file with the new path.
func (r *release) rewrite(name string, text []byte) []byte {
	switch {
	case filepath.Base(name) == "go.mod":
		return r.requires.ReplaceAllFunc(text, func(m []byte) []byte {
			p := r.requires.FindSubmatch(m)
			version := ""
			if len(p[3]) > 0 {
				version = " " + r.version
			}
			return fmt.Appendf(nil, "%s%s%s%s%s", p[1], r.path, p[2], version, p[4])
		})
	case strings.HasSuffix(name, ".go") || strings.HasSuffix(name, ".md") || strings.HasPrefix(name, ".ci/"):
		text = r.imports.ReplaceAll(text, []byte("${1}"+r.path+"${2}"))
		text = r.packages.ReplaceAll(text, []byte("${1}"+r.path+"/${2}"))
		if name == "docs/stability.md" {
			text = homeless.ReplaceAll(text, []byte("The module is `"+r.path+"`: `go get "+r.path+"@"+r.version+"` takes it.\n\n"))
		}
		if name == "README.md" {
			text = young.ReplaceAll(text, []byte("Young: this is "+r.version+", nobody"))
			text = bytes.ReplaceAll(text, []byte(r.old+"@v0.0.0 -replace "+r.old+"="), []byte(r.path+"@v0.0.0 -replace "+r.path+"="))
			text = bytes.ReplaceAll(text, []byte("The module has no public address yet, so `-replace` says which folder it is in."),
				[]byte("`-replace` says which folder the module is in; `go get "+r.path+"@"+r.version+"` takes the published one."))
		}
	}
	return text
}
