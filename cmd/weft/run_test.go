package main

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"weft"
	"weft/npy"
	"weft/optim"
	"weft/sym"
)

// TestRunSavedProgram saves functions and runs them by the command: the files it writes hold what the
// functions give, and a step goes on from where --save left it.
func TestPathsWithColons(t *testing.T) {
	for s, want := range map[string]bool{`C:\x\l.npy`: true, "./a:b.npy": true, "foo:l.npy": false, "y:l.npy": false} {
		name, file, _ := strings.Cut(s, ":")
		if got := isPath(name, file); got != want {
			t.Errorf("isPath(%q, %q) is %v, want %v", name, file, got, want)
		}
	}
}

func TestRunSavedProgram(t *testing.T) {
	files(t)
	w := weft.FromSlice([]float32{1, -2, 3})
	f := weft.Compile(func(x *weft.Tensor, s *weft.Tensor) (*weft.Tensor, *weft.Tensor) {
		y := x.Mul(w).Mul(s)
		return y, y.Sum(1)
	})
	x := weft.FromSlice([]float32{1, 2, 3, 4, 5, 6}, 2, 3)
	err := f.Save("f.weft", []any{x, weft.Full(float32(2))}, weft.SaveOpts{Inputs: []string{"x[n 3]", "scale"}, Outputs: []string{"all", "sum"}, Weights: map[string]*weft.Tensor{"w": w}})
	if err != nil {
		t.Fatal(err)
	}
	command := func(want int, args ...string) string {
		t.Helper()
		var out, errs bytes.Buffer
		if code := run(args, strings.NewReader(""), &out, &errs); code != want {
			t.Fatalf("weft %q: exit code %d: %s", args, code, &errs)
		}
		return out.String() + errs.String()
	}
	command(ok, "run", "f.weft", "x=a.npy", "scale=2", "-o", "sum:s.npy", "-o", "all:y.npy")
	y, sum := x.Mul(w).Mul(float32(2)), x.Mul(w).Mul(float32(2)).Sum(1)
	for name, want := range map[string]*weft.Tensor{"y.npy": y, "s.npy": sum} {
		got, err := npy.ReadFile(name)
		if err != nil || weft.Digest(got) != weft.Digest(want) {
			t.Errorf("%s is %v, %v; want %v", name, got, err, want)
		}
	}
	if s := command(ok, "run", "f.weft", "x=a.npy", "scale=1", "--json"); strings.Count(s, "\n") != 2 || !strings.Contains(s, `"data": [[1, -4, 9], [4, -10, 18]]`) {
		t.Errorf("printed %s", s)
	}
	s := command(ok, "info", "f.weft")
	for _, want := range []string{"input        x float32[n 3]\n", "output       sum float32[n]\n", "tensor       w float32[3]\n", "2 mul"} {
		if !strings.Contains(s, want) {
			t.Errorf("info says %s, want %q", s, want)
		}
	}
	if s := command(ok, "view", "f.weft", "x=a.npy", "scale=2", "-o", "-"); !strings.Contains(s, "scale") || !strings.Contains(s, "reduce_sum") {
		t.Errorf("the page has neither scale nor reduce_sum: %.300s", s)
	}
	total := weft.Zeros()
	step := weft.Compile(func(x *weft.Tensor) *weft.Tensor { total.AddAssign(x.Sum()); return total })
	if err := step.Save("step.weft", []any{x}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"21.0", "42.0", "63.0"} {
		if s := command(ok, "run", "step.weft", "x=a.npy", "--save", "step.weft"); s != want+"\n" {
			t.Errorf("a step gives %q, want %s", s, want)
		}
	}
	trainByCommand(t, func(args ...string) string { return command(ok, args...) })
	a := sym.Scalar("a", weft.Float32)
	doubled, err := sym.Function(sym.In(sym.Vector("x", weft.Float32), sym.Param{Var: a, Value: 2}), sym.Out(a.Mul(3)), sym.IgnoreUnused)
	if err != nil {
		t.Fatal(err)
	}
	if err := doubled.Save("default.weft"); err != nil {
		t.Fatal(err)
	}
	if s := command(ok, "run", "default.weft", "x=b.npy") + command(ok, "run", "default.weft", "x=b.npy", "a=5"); s != "6.0\n15.0\n" {
		t.Errorf("with and without a default value: %q", s)
	}
	if s := command(ok, "info", "default.weft"); !strings.Contains(s, "input        a float32[], may be left out\n") {
		t.Errorf("info says %s", s)
	}
	if err := os.WriteFile("bad.weft", []byte("weft.pr\n12345"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args string
		code int
		want string
	}{
		{"run", misuse, "a file is missing"},
		{"run none.weft", failed, "none.weft"},
		{"run bad.weft", failed, "bad.weft: loadprogram: "},
		{"run f.weft x=a.npy", misuse, "no value for scale"},
		{"run f.weft x=a.npy scale=1 z=2", misuse, "f.weft has no input z"},
		{"run f.weft x=b.npy scale=1", failed, "x: is float32[3], want float32[n 3]"},
		{"run f.weft x=a.npy scale=1 -o a.npy -o b.npy -o c.npy", misuse, "2 results"},
		{"run f.weft x=a.npy scale=1 -o foo:l.npy", misuse, "f.weft has no result foo; it has all, sum"},
		{"run f.weft x=a.npy scale=1 --save a.npy", failed, "is not replaced"},
		{"view bad.weft -o page.html", failed, "bad.weft: loadprogram: "},
		{"view f.weft x=a.npy -o page.html", misuse, "no value for scale"},
		{"info bad.weft", failed, "bad.weft: loadprogram: "},
	} {
		if s := command(c.code, strings.Fields(c.args)...); !strings.Contains(s, c.want) {
			t.Errorf("weft %s: %s, want %q", c.args, s, c.want)
		}
	}
}

// trainByCommand goes on with a step of Adam from call to call of the command, with the bits of the step.
func trainByCommand(t *testing.T, command func(args ...string) string) {
	t.Helper()
	w := weft.FromSlice([]float32{1, -2, 3}).RequireGrad()
	opt := optim.NewAdam(func(yield func(string, *weft.Tensor) bool) { yield("w", w) }, optim.AdamOpts{LR: new(0.1)})
	step := weft.Compile(func(x *weft.Tensor) *weft.Tensor {
		opt.ZeroGrad()
		loss := x.MatMul(w).Square().Sum()
		loss.Backward()
		opt.Step()
		return loss.Detach()
	})
	x := weft.FromSlice([]float32{1, 2, 3, 4, 5, 6}, 2, 3)
	if _, err := step.Call(x); err != nil {
		t.Fatal(err)
	}
	if err := step.Save("adam.weft", []any{x}); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		want, err := step.Call(x)
		if err != nil {
			t.Fatal(err)
		}
		command("run", "adam.weft", "x=a.npy", "--save", "adam.weft", "-o", "loss.npy")
		if got, err := npy.ReadFile("loss.npy"); err != nil || weft.Digest(got) != weft.Digest(want) {
			t.Errorf("a loss of %v, %v; want %v", got, err, want)
		}
	}
}
