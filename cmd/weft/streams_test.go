package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"

	"weft"
	"weft/npy"
)

// TestPipes chains commands by standard input and output.
func TestPipes(t *testing.T) {
	files(t)
	array, err := os.ReadFile("a.npy")
	if err != nil {
		t.Fatal(err)
	}
	do := func(in []byte, args ...string) (int, []byte, string) {
		var out, errs bytes.Buffer
		code := run(args, bytes.NewReader(in), &out, &errs)
		return code, out.Bytes(), errs.String()
	}
	code, doubled, said := do(array, "eval", "2*a", "a=-", "-o", "-")
	if code != ok {
		t.Fatal(said)
	}
	code, got, said := do(doubled, "kernel", "k.go:Axpy", "a=1", "x=-", "y=1", "-o", "-")
	if code != ok {
		t.Fatal(said)
	}
	x, err := npy.Read(bytes.NewReader(got))
	if err != nil || !slices.Equal(weft.Data[float32](x), []float32{3, 5, 7, 9, 11, 13}) {
		t.Errorf("2a + 1 is %v, %v", x, err)
	}
	if code, got, said := do([]byte(kernelSource), "kernel", "-:Axpy", "a=2", "x=b.npy", "y=1"); code != ok || string(got) != "[21. 41. 61.]\n" {
		t.Errorf("a kernel from standard input: exit %d, %q %s", code, got, said)
	}
	if code, _, said := do(array, "eval", "a+b", "a=-", "b=-"); code != misuse || !strings.Contains(said, "standard input is a already") {
		t.Errorf("two arrays from standard input: exit %d, %s", code, said)
	}
	if code, _, said := do([]byte(kernelSource), "kernel", "-:Axpy", "a=2", "x=-", "y=1"); code != misuse || !strings.Contains(said, "standard input is the source already") {
		t.Errorf("a source and an array from standard input: exit %d, %s", code, said)
	}
	if code, _, said := do([]byte(buildSource), "build", "-:Escape", "-o", "escape"); code != ok {
		t.Errorf("build from standard input: exit %d, %s", code, said)
	}
	if code, page, said := do(nil, "view", "2*a", "a=a.npy", "-o", "-"); code != ok || !bytes.HasPrefix(page, []byte("<!doctype html>")) {
		t.Errorf("a page to standard output: exit %d, %.50q %s", code, page, said)
	}
}

// TestOutputReplacesArraysOnly writes over what is there: an array, also the input, is
// replaced; anything else keeps its bytes.
func TestOutputReplacesArraysOnly(t *testing.T) {
	files(t)
	var out bytes.Buffer
	for range 2 {
		if code := run([]string{"eval", "2*b", "b=b.npy", "-o", "b.npy"}, strings.NewReader(""), &out, &out); code != ok {
			t.Fatal(out.String())
		}
	}
	if x, err := npy.ReadFile("b.npy"); err != nil || !slices.Equal(weft.Data[float32](x), []float32{40, 80, 120}) {
		t.Errorf("the input that is the output holds %v, %v", x, err)
	}
	for _, name := range []string{"k.go", "text.npy", "pair.npz"} {
		before, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, args := range []string{"eval a a=1 -o ", "eval b+0 b=b.npy -o x.npy --grad b:", "kernel k.go:Split x=1 -o ", "view a a=1 -o "} {
			if code := run(strings.Fields(args+name), strings.NewReader(""), &out, &out); code != failed {
				t.Errorf("weft %s%s: exit %d", args, name, code)
			}
		}
		if after, err := os.ReadFile(name); err != nil || !bytes.Equal(before, after) {
			t.Errorf("%s was written to: %v", name, err)
		}
	}
}

// TestJSONIsJSON reads what --json prints with the standard decoder: each line is a value,
// and the number of elements of a result is the product of its shape.
func TestJSONIsJSON(t *testing.T) {
	files(t)
	if err := npy.WriteFile("odd.npy", weft.FromSlice([]float64{0.1, 1e300, -1.5, 5e-324}, 2, 2).Div(weft.FromSlice([]float64{1, 0}))); err != nil {
		t.Fatal(err)
	}
	if err := npy.WriteFile("u.npy", weft.FromSlice([]uint64{1<<64 - 1, 0})); err != nil {
		t.Fatal(err)
	}
	for _, args := range []string{"info --json", "eval x x=odd.npy --json --time 2", "eval x x=u.npy --json", "eval a==a a=a.npy --json", "eval x x=1 --json", "kernel k.go:Split x=b.npy --json", "kernel k.go:Turn z=-Inf+2i on=false --json"} {
		var out, errs bytes.Buffer
		if code := run(strings.Fields(args), strings.NewReader(""), &out, &errs); code != ok || errs.Len() > 0 {
			t.Errorf("weft %s: exit %d, %s", args, code, &errs)
		}
		for line := range strings.Lines(out.String()) {
			var x map[string]any
			if err := json.Unmarshal([]byte(line), &x); err != nil {
				t.Errorf("weft %s printed %s: %v", args, line, err)
			}
		}
	}
	var out bytes.Buffer
	run([]string{"eval", "x", "x=u.npy", "--json"}, strings.NewReader(""), &out, &out)
	if want := `{"dtype": "uint64", "shape": [2], "data": [18446744073709551615, 0]}` + "\n"; out.String() != want {
		t.Errorf("%s, want %s", &out, want)
	}
}

// fullDisk is an output that takes nothing.
type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) {
	return 0, &fs.PathError{Op: "write", Path: "/dev/stdout", Err: errors.New("no space left on device")}
}

// TestUnwritableOutputFails runs commands whose output cannot be written: that is failed work,
// not a wrong command line.
func TestUnwritableOutputFails(t *testing.T) {
	files(t)
	for _, args := range []string{"", "-h", "--version", "help eval", "eval -h", "info", "info --short", "info --json", "eval 1", "eval 1 --json",
		"eval a a=a.npy -o -", "eval a a=1 -o x.npy --explain", "eval a+1 a=1 -o x.npy --time 1", "eval a+1 a=1 -o x.npy --time 1 --json",
		"kernel k.go:Split x=1", "kernel k.go:Split x=1 -o x.npy --time 1", "view a a=1 -o -"} {
		var errs bytes.Buffer
		code := run(strings.Fields(args), strings.NewReader(""), fullDisk{}, &errs)
		if said := errs.String(); code != failed || !strings.HasSuffix(said, "standard output: no space left on device\n") {
			t.Errorf("weft %s: exit %d, %s", args, code, said)
		}
	}
}
