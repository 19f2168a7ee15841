package main

import (
	"bytes"
	"context"
	"debug/elf"
	"errors"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"weft"
	"weft/internal/jit"
	"weft/npy"
)

// files makes the arrays that the tests compute with, in a new directory that
// becomes the current one.
func files(t *testing.T) {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, x := range map[string]*weft.Tensor{
		"a.npy":     weft.FromSlice([]float32{1, 2, 3, 4, 5, 6}, 2, 3),
		"b.npy":     weft.FromSlice([]float32{10, 20, 30}),
		"c.npy":     weft.FromSlice([]float64{1, 2, 3, 4}),
		"n.npy":     weft.FromSlice([]int64{7, 8}),
		"empty.npy": weft.ZerosOf(weft.Float64, 0, 3),
	} {
		if err := npy.WriteFile(name, x); err != nil {
			t.Fatal(err)
		}
	}
	good, err := os.ReadFile("a.npy")
	if err != nil {
		t.Fatal(err)
	}
	huge := bytes.Replace(good, []byte("(2, 3)"), []byte("(2147483647, 2147483647)"), 1)
	for name, data := range map[string][]byte{"short.npy": good[:len(good)-3], "text.npy": []byte("1 2 3\n"), "none.npy": nil, "huge.npy": huge} {
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// commands are command lines with what they print and return.
var commands = []struct {
	args           string
	code           int
	stdout, stderr string // patterns of the whole output
}{
	{"eval 1+2*3", 0, `7\n`, ``},
	{"eval 2*a+b a=a.npy b=b.npy", 0, `\[\[12\. 24\. 36\.\]\n \[18\. 30\. 42\.\]\]\n`, ``},
	{"eval a/b a=1 b=4", 0, `0\.25\n`, ``},
	{"eval a+b a=true b=-2", 0, `-1\n`, ``},
	{"eval a*b a=1e-3 b=0x10", 0, `0\.016\n`, ``},
	{"eval sum(a,1) a=a.npy", 0, `\[ 6\. 15\.\]\n`, ``},
	{"eval n%4 n=n.npy", 0, `\[3 0\]\n`, ``},
	{"eval a*2 a=empty.npy", 0, `\[\]\n`, ``},
	{"eval dot(a,b) a=a.npy b=b.npy -o out.npy", 0, ``, ``},
	{"eval x x=out.npy", 0, `\[140\. 320\.\]\n`, ``},
	{"eval sum(pow(a,3))*b a=a.npy b=2 --grad a:g.npy -o out.npy", 0, ``, ``},
	{"eval g g=g.npy", 0, `\[\[  6\.  24\.  54\.\]\n \[ 96\. 150\. 216\.\]\]\n`, ``},
	{"eval where(a>1,b,0)+0*a a=a.npy b=b.npy --grad a:g.npy --grad b:h.npy -o out.npy", 0, ``, ``},
	{"eval h h=h.npy", 0, `\[1\. 2\. 2\.\]\n`, ``},
	{"eval floor(b) b=b.npy --grad b:z.npy -o out.npy", 0, ``, ``},
	{"eval z z=z.npy", 0, `\[0\. 0\. 0\.\]\n`, ``},
	{"eval b*b+floor(c) b=b.npy c=b.npy --grad c:z.npy --grad b:y.npy -o out.npy", 0, ``, ``},
	{"eval z+y z=z.npy y=y.npy", 0, `\[20\. 40\. 60\.\]\n`, ``},
	{"eval -- -a a=3", 0, `-3\n`, ``},
	{"eval a+1 a=c.npy --time 7", 0, `\[2\. 3\. 4\. 5\.\]\n\nmedian of 7 +[0-9.]+[nµm]s a call\nmemory +\S+ GB/s \(64 bytes read and written\)\narithmetic +\S+ GFLOP/s \(4 operations\)\n`, ``},
	{"info --short", 0, `weft \S+, backend (off|avx2|avx512)\n`, ``},
	{"--version", 0, `weft \S+\n`, ``},

	{"frob", 2, ``, `weft: unknown command "frob" for "weft"\n`},
	{"info more", 2, ``, `weft: unknown command "more" for "weft info"\n`},
	{"eval", 2, ``, `weft: eval: a formula is missing, such as: .*\n`},
	{"eval a --frob", 2, ``, `weft: unknown flag: --frob \(a formula that begins with - .*\)\n`},
	{"eval -a a=3", 2, ``, `weft: unknown shorthand flag: 'a' in -a \(a formula that begins with - goes in parentheses or behind --\)\n`},
	{"eval 1 --time x", 2, ``, `weft: invalid argument "x" for "--time" flag: .*\n`},
	{"eval 1 --time -1", 2, ``, `weft: eval: --time -1 is negative\n`},
	{"eval a+b a=1", 2, ``, `weft: eval: no value for b: give b=FILE.npy or b=NUMBER\n`},
	{"eval a a=1 b=2", 2, ``, `weft: eval: the formula has no b; its names are a\n`},
	{"eval a a=1 a=2", 2, ``, `weft: eval: a is given twice\n`},
	{"eval a a", 2, ``, `weft: eval: "a" is not NAME=FILE.npy or NAME=NUMBER\n`},
	{"eval a a=a.npy --grad a", 2, ``, `weft: eval: --grad "a" is not NAME:FILE.npy\n`},
	{"eval a a=a.npy --grad z:z.npy", 2, ``, `weft: eval: --grad z:z.npy: the formula has no z; its names are a\n`},
	{"eval a a=1 --grad a:z.npy", 2, ``, `weft: eval: --grad a:z.npy: a is a number; only an array has a gradient\n`},

	{"eval 2*sine(a) a=1", 1, ``, `weft: expr: column 3: unknown function sine: did you mean sin\?\n\t2\*sine\(a\)\n\t  \^\n`},
	{"eval a**2 a=1", 1, ``, `weft: expr: column 2: there is no \*\*: a power is written pow\(a, 2\)\n\ta\*\*2\n\t \^\n`},
	{"eval a+c a=a.npy c=c.npy", 1, ``, `weft: expr: column 2: add: shapes do not broadcast: \[2 3\] and \[4\]\n\ta\+c\n\t \^\n`},
	{"eval a a=missing.npy", 1, ``, `weft: a: open missing.npy: .*\n`},
	{"eval a a=missing", 1, ``, `weft: a: missing is neither a number nor a file\n`},
	{"eval a a=.", 1, ``, `weft: a: .*\n`},
	{"eval a a=short.npy", 1, ``, `weft: a: short.npy: npy: .*\n`},
	{"eval a a=text.npy", 1, ``, `weft: a: text.npy: npy: .*\n`},
	{"eval a a=none.npy", 1, ``, `weft: a: none.npy: npy: .*\n`},
	{"eval a a=huge.npy", 1, ``, `weft: a: huge.npy: npy: .*\n`},
	{"eval a a=a.npy -o missing/out.npy", 1, ``, `weft: write the result to missing/out.npy: .*\n`},
	{"eval a>1 a=a.npy --grad a:g.npy -o out.npy", 1, ``, `weft: --grad: the result is of bool, which has no gradient\n`},
	{"eval n*2 n=n.npy --grad n:g.npy -o out.npy", 1, ``, `weft: --grad n:g.npy: n has elements of int64; only floats have gradients\n`},
}

func check(t *testing.T, args string, code, want int, out, errs, stdout, stderr string) {
	t.Helper()
	if code != want {
		t.Errorf("weft %s: exit code %d, want %d\n%s%s", args, code, want, out, errs)
	}
	for _, o := range []struct{ name, got, want string }{{"output", out, stdout}, {"errors", errs, stderr}} {
		if !regexp.MustCompile(`^` + o.want + `$`).MatchString(o.got) {
			t.Errorf("weft %s: %s\n%s\nwant %s", args, o.name, o.got, o.want)
		}
	}
}

func TestCommands(t *testing.T) {
	files(t)
	for _, c := range commands {
		var out, errs bytes.Buffer
		code := run(strings.Fields(c.args), &out, &errs)
		check(t, c.args, code, c.code, out.String(), errs.String(), c.stdout, c.stderr)
	}
}

func TestInfo(t *testing.T) {
	var out, errs bytes.Buffer
	if code := run([]string{"info"}, &out, &errs); code != 0 || errs.Len() > 0 {
		t.Fatalf("exit code %d: %s", code, &errs)
	}
	backend := jit.Chosen().ISA
	want := []string{`(?m)^weft +\S`, `(?m)^system +` + runtime.GOOS + "/" + runtime.GOARCH + `$`, `(?m)^features +\S`,
		`(?m)^backend +` + backend.String() + `: .`, `(?m)^threads +[1-9]`}
	if backend == jit.Portable {
		want = append(want, `(?m)^limits +not measured`)
	} else {
		want = append(want, `(?m)^reading +[1-9]\d* GB/s from 16 KiB, .* 128 MiB, one thread$`, `(?m)^fma +[1-9]\d* GFLOP/s float32, [1-9]\d* GFLOP/s float64, one thread$`)
	}
	for _, w := range want {
		if !regexp.MustCompile(w).Match(out.Bytes()) {
			t.Errorf("no line %s in\n%s", w, &out)
		}
	}
}

func TestExplain(t *testing.T) {
	files(t)
	var out, errs bytes.Buffer
	if code := run([]string{"eval", "3*a+b", "a=a.npy", "b=0.5", "--explain"}, &out, &errs); code != 0 {
		t.Fatal(errs.String())
	}
	want := []string{"[[ 3.5", "kernel point", "load.f32", "mul.f32", "add.f32", "store"}
	switch b := jit.Chosen().ISA; b {
	case jit.Portable:
		want = append(want, "interpreted")
	default:
		want = append(want, "vmulps", "vaddps")
	}
	for _, w := range want {
		if !strings.Contains(strings.ToLower(out.String()), w) {
			t.Errorf("no %s in\n%s", w, &out)
		}
	}
}

// What is written reads back with the bits that were computed.
func TestFilesHoldTheResult(t *testing.T) {
	files(t)
	var errs bytes.Buffer
	if code := run(strings.Fields("eval exp(a)/3 a=c.npy -o out.npy"), &errs, &errs); code != 0 {
		t.Fatal(errs.String())
	}
	x, err := npy.ReadFile("out.npy")
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range weft.Data[float64](x) {
		if want := math.Exp(float64(i+1)) / 3; math.Abs(v-want) > 4e-16*want {
			t.Errorf("%v, want %v", v, want)
		}
	}
}

func TestCompletion(t *testing.T) {
	files(t)
	if err := os.Mkdir("sub", 0o700); err != nil {
		t.Fatal(err)
	}
	sep := string(filepath.Separator)
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"eval", "alpha*b", ""}, "alpha= b="},
		{[]string{"eval", "alpha*b", "al"}, "alpha="},
		{[]string{"eval", "alpha*b", "b=s"}, "b=short.npy b=sub" + sep},
		{[]string{"eval", "alpha*", ""}, ""},
		{[]string{"eval", "a", "a=nowhere" + sep}, ""},
	} {
		var out bytes.Buffer
		run(append([]string{"__completeNoDesc"}, c.args...), &out, &bytes.Buffer{})
		lines := strings.Fields(out.String())
		if got := strings.Join(lines[:len(lines)-1], " "); got != c.want {
			t.Errorf("%q: %q, want %q", c.args, got, c.want)
		}
	}
	var out bytes.Buffer
	if code := run([]string{"completion", "bash"}, &out, &out); code != 0 || !strings.Contains(out.String(), "__start_weft") {
		t.Errorf("completion bash: exit code %d", code)
	}
}

// TestBinary builds the command as users do and runs it as a process.
func TestBinary(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED: builds a program")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	path := filepath.Join(t.TempDir(), "weft.exe")
	build := exec.CommandContext(ctx, "go", "build", "-o", path, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	st, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if st.Size() >= 25<<20 {
		t.Errorf("the binary has %d bytes", st.Size())
	}
	if runtime.GOOS == "linux" {
		f, err := elf.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range f.Progs {
			if p.Type == elf.PT_INTERP || p.Type == elf.PT_DYNAMIC {
				t.Error("the binary is not static")
			}
		}
		f.Close()
	}
	files(t)
	for _, c := range commands {
		cmd := exec.CommandContext(ctx, path, strings.Fields(c.args)...)
		var out, errs bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &errs
		err := cmd.Run()
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) {
			t.Fatal(err)
		}
		check(t, c.args, cmd.ProcessState.ExitCode(), c.code, out.String(), errs.String(), c.stdout, c.stderr)
	}
	for _, b := range jit.ISAs() {
		cmd := exec.CommandContext(ctx, path, "info", "--short")
		cmd.Env = append(os.Environ(), "WEFT_JIT="+b.String())
		out, err := cmd.Output()
		if err != nil || !strings.HasSuffix(string(out), "backend "+b.String()+"\n") {
			t.Errorf("WEFT_JIT=%s: %s %v", b, out, err)
		}
	}
}
