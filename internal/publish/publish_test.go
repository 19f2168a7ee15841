package main

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestPublish writes the module under another path and gets it from a proxy of files in an empty
// folder. By default what a program imports is listed, and not compiled anew under that path;
// WEFT_PUBLISH=1 runs the programs.
func TestPublish(t *testing.T) {
	how := "list"
	if os.Getenv("WEFT_PUBLISH") != "" {
		how = "run"
	}
	r := release{path: "example.org/You/arrays", version: "v0.3.1"}
	out := filepath.Join(t.TempDir(), "out")
	if err := r.write("../..", out); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(r.nested, []string{"", "cuda", "gonumblas", "ragged/arrow", "sci", "viewer"}) {
		t.Errorf("modules in %q", r.nested)
	}
	if err := r.write("../..", out); err == nil {
		t.Error("a folder that is not empty is written into")
	}
	// What is true of the module before it is published is not said of the copy.
	for name, want := range map[string]string{"README.md": "Young: this is v0.3.1, nobody", "docs/stability.md": "`go get example.org/You/arrays@v0.3.1` takes it."} {
		text, err := os.ReadFile(filepath.Join(out, name))
		if err != nil || !strings.Contains(string(text), want) {
			t.Errorf("%s lacks %q: %v", name, want, err)
		}
		for _, before := range []string{"no home", "no version has been released", "no public address", "internal/publish"} {
			if strings.Contains(string(text), before) {
				t.Errorf("%s says %q", name, before)
			}
		}
	}
	s, err := r.serve(out, t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range proofs {
		var absent *absentError
		if err := s.prove(p, how); errors.As(err, &absent) {
			t.Logf("%s is not proven: %v", p.inside, err)
		} else if err != nil {
			t.Error(err)
		}
	}
}

// TestRewriteOfPaths compares rewritten files: import paths change, other text does not.
func TestRewriteOfPaths(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":     "module old.org/w\n\ngo 1.26.0\n",
		"sub/go.mod": "module old.org/w/sub\n\ngo 1.26.0\n\nrequire (\n\tgithub.com/w v1.0.0\n\told.org/w v0.0.0\n)\n\nreplace old.org/w => ..\n",
		"nn/a.go": `package nn

import (
	"os/w"

	"old.org/w"
	w "old.org/w" // by another name
	"old.org/w/sub/x"
)

import "old.org/w"

const program, name = "w", "old.org/w/elsewhere"
const source = "import \"old.org/w\"\nimport \"old.org/w/nn\"" // of package old.org/w/nn, not of ../old.org/w/nn
`,
		"README.md": "get w: `go mod edit -require old.org/w@v0.0.0 -replace old.org/w=../w`\n\timport \"old.org/w/nn\"\n",
		"data.txt":  "old.org/w/nn",
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	r := release{path: "a.b/c", version: "v1.2.3"}
	out := filepath.Join(t.TempDir(), "out")
	if err := r.write(dir, out); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"go.mod":     "module a.b/c\n\ngo 1.26.0\n",
		"sub/go.mod": "module a.b/c/sub\n\ngo 1.26.0\n\nrequire (\n\tgithub.com/w v1.0.0\n\ta.b/c v1.2.3\n)\n\nreplace a.b/c => ..\n",
		"nn/a.go": `package nn

import (
	"os/w"

	"a.b/c"
	w "a.b/c" // by another name
	"a.b/c/sub/x"
)

import "a.b/c"

const program, name = "w", "old.org/w/elsewhere"
const source = "import \"a.b/c\"\nimport \"a.b/c/nn\"" // of package a.b/c/nn, not of ../old.org/w/nn
`,
		"README.md": "get w: `go mod edit -require a.b/c@v0.0.0 -replace a.b/c=../w`\n\timport \"a.b/c/nn\"\n",
		"data.txt":  "old.org/w/nn",
	} {
		got, err := os.ReadFile(filepath.Join(out, name))
		if err != nil || string(got) != want {
			t.Errorf("%s: %v\n%s\nwant\n%s", name, err, got, want)
		}
	}
}

// TestCheckRefusesAsGoGet tries paths and versions that go get refuses.
func TestCheckRefusesAsGoGet(t *testing.T) {
	for _, c := range []struct {
		path, version string
		ok            bool
	}{
		{"example.org/you/weft", "v0.1.0", true},
		{"github.com/You/weft", "v1.9.0-rc.1", true},
		{"example.org/weft/v2", "v2.0.0", true},
		{"weft", "v0.1.0", false},
		{"you/weft", "v0.1.0", false},
		{"example.org", "v0.1.0", false},
		{"example.org/you/weft/", "v0.1.0", false},
		{"example.org/you/we ft", "v0.1.0", false},
		{"https://example.org/you/weft", "v0.1.0", false},
		{"example.org/you/weft", "0.1.0", false},
		{"example.org/you/weft", "v0.1", false},
		{"example.org/you/weft", "v2.0.0", false},
		{"example.org/you/weft/v2", "v1.0.0", false},
	} {
		err := (&release{path: c.path, version: c.version}).check()
		if (err == nil) != c.ok {
			t.Errorf("%s %s: %v", c.path, c.version, err)
		}
		if err != nil && !strings.Contains(err.Error(), c.path) && !strings.Contains(err.Error(), c.version) {
			t.Errorf("%s %s: the error names neither: %v", c.path, c.version, err)
		}
	}
}
