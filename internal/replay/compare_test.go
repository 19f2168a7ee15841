package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"weft/internal/jit"
)

func set(rs ...jit.Record) kernels {
	ks := kernels{}
	for _, r := range rs {
		ks[r] = []string{"x.test"}
	}
	return ks
}

func TestCompare(t *testing.T) {
	add := jit.Record{ISA: "avx2", Form: "kernel", Text: "v0 = add\n", Code: "01", Size: 4}
	mul := jit.Record{ISA: "avx2", Form: "kernel", Text: "v0 = mul\n", Code: "02", Size: 4}
	program := jit.Record{ISA: "off", Form: "program", Text: "v0 = add\n"}
	wide, other, named, others := add, add, add, program
	wide.ISA = "avx512"
	other.Code = "03"
	named.Text = "v0 = plus\n"
	others.Text = "v0 = plus\n"
	for _, c := range []struct {
		name    string
		was, is kernels
		want    [5]int // same, changed, renamed, added, removed
		print   string
	}{
		{"Equal", set(add, mul, program), set(program, mul, add), [5]int{3}, "equal: 3 kernels\n"},
		{"ChangedCode", set(add, mul), set(other, mul), [5]int{1, 1}, "changed: avx2 kernel of x.test: code 03 of 4 bytes, was 01 of 4\n    v0 = add\n"},
		{"ChangedCodeOfAnother", set(add, mul), set(other, named, mul), [5]int{1, 1, 0, 1}, "changed: avx2 kernel"},
		{"SecondCode", set(add, mul), set(add, other, mul), [5]int{2, 0, 0, 1}, "added: avx2 kernel"},
		{"OtherISA", set(add), set(wide), [5]int{0, 0, 0, 1, 1}, "added: avx512 kernel"},
		{"ChangedText", set(add), set(named), [5]int{0, 0, 1}, "renamed: avx2 kernel of x.test: code 01 of 4 bytes, was 01 of 4\n    v0 = plus\nwas\n    v0 = add\n"},
		{"ChangedProgram", set(program), set(others), [5]int{0, 0, 0, 1, 1}, "removed: off program"},
		{"Removed", set(add, mul), set(mul), [5]int{1, 0, 0, 0, 1}, "removed: avx2 kernel"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := compare(c.was, c.is)
			if got := [5]int{d.same, len(d.changed), len(d.renamed), len(d.added), len(d.removed)}; got != c.want {
				t.Errorf("same, changed, renamed, added, removed are %v, want %v", got, c.want)
			}
			if want := c.name == "Equal"; d.equal() != want {
				t.Errorf("equal is %v, want %v", d.equal(), want)
			}
			var b strings.Builder
			if d.print(&b); !strings.Contains(b.String(), c.print) {
				t.Errorf("printed %q, want %q in it", b.String(), c.print)
			}
		})
	}
}

// TestMergeKeepsKernelsOfKilledProcess reads files of two processes before and after they are
// merged. One process was killed while it wrote.
func TestMergeKeepsKernelsOfKilledProcess(t *testing.T) {
	dir := t.TempDir()
	line := `{"ISA":"avx2","Form":"kernel","Text":"add","Code":"01","Size":4}` + "\n"
	for name, text := range map[string]string{"b.test-12.jsonl": line, "a.test-3.jsonl": line + line[:20], "a.test-4.jsonl": line + strings.Replace(line, "01", "02", 1)} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	check := func() kernels {
		ks, err := read(dir)
		if err != nil {
			t.Fatal(err)
		}
		add := jit.Record{ISA: "avx2", Form: "kernel", Text: "add", Code: "01", Size: 4}
		if makers := strings.Join(ks[add], " "); len(ks) != 2 || makers != "a.test b.test" {
			t.Fatalf("%d kernels, one of them of %q, want 2, of a.test b.test", len(ks), makers)
		}
		return ks
	}
	if err := merge(dir, check()); err != nil {
		t.Fatal(err)
	}
	check()
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != 1 {
		t.Fatalf("%v after merging: %v", files, err)
	}
}
