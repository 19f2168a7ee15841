package main

import (
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"weft"
)

// A savedCase is a function that is saved and built.
type savedCase struct {
	name    string
	inputs  []string
	flags   []string
	calls   [][]*weft.Tensor
	lengths [][]int // free ones, by call
	f       func(x ...*weft.Tensor) []*weft.Tensor
}

// wave has float32 elements without a pattern.
func wave(shape ...int) *weft.Tensor {
	n := 1
	for _, s := range shape {
		n *= s
	}
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(math.Sin(float64(i*i))) * 3
	}
	return weft.FromSlice(x, shape...)
}

// savedCases are functions, and the tensors that calls of one of them write.
func savedCases() (cases []savedCase, momentum map[string]*weft.Tensor) {
	bias := weft.FromSlice([]float32{0.5, -1, 2})
	calls := func(sizes ...int) (all [][]*weft.Tensor, lengths [][]int) {
		for _, n := range sizes {
			all, lengths = append(all, []*weft.Tensor{wave(n, 3)}), append(lengths, []int{n})
		}
		return all, lengths
	}
	some, lengths := calls(50, 1, 2, 3, 17, 0, 1000)
	many, manyLengths := calls(50, 0, 1, 2, 16, 17, 33, 128, 129, 1000, 100003)
	smooth := func(x ...*weft.Tensor) []*weft.Tensor {
		y := x[0].Add(bias).Softmax(1)
		return []*weft.Tensor{y, y.Mul(x[0]).Mean(1), x[0]}
	}
	v, w, g := weft.Zeros(3), wave(3), weft.NewGenerator(7)
	return []savedCase{
		{"momentum", nil, nil, [][]*weft.Tensor{{wave(40, 3)}, {wave(40, 3)}, {wave(40, 3)}}, nil, func(x ...*weft.Tensor) []*weft.Tensor {
			noisy := x[0].Add(g.Randn(40, 3)).Sub(w)
			v.MulAssign(0.9).AddAssign(noisy.Mean(0))
			w.AddAssign(v.Mul(0.1))
			return []*weft.Tensor{noisy.Mul(noisy).Mean(), g.Rand(5)}
		}},
		{"bell", nil, nil, [][]*weft.Tensor{{wave(20)}}, nil, func(x ...*weft.Tensor) []*weft.Tensor {
			return []*weft.Tensor{x[0].Mul(x[0]).Neg().Exp()}
		}},
		{"columns", []string{"x[n 3]"}, []string{"--length", "n=50"}, some[:1], nil, func(x ...*weft.Tensor) []*weft.Tensor {
			return []*weft.Tensor{x[0].Add(bias).Softmax(1), x[0].Sum(0)}
		}},
		{"sums", []string{"x[n 3]"}, nil, many, manyLengths, func(x ...*weft.Tensor) []*weft.Tensor {
			z := x[0].Sub(x[0].Mean(0))
			return []*weft.Tensor{x[0].Sum(0), z.Mul(z).Mean(0), x[0].Tanh().Abs().Add(0.5).Prod(0)}
		}},
		{"smooth", []string{"x[n 3]"}, nil, some, lengths, smooth},
		{"mean", []string{"x[n]"}, nil, [][]*weft.Tensor{{wave(20)}, {wave(0)}, {wave(1)}, {wave(2)}, {wave(100000)}}, [][]int{{20}, {0}, {1}, {2}, {100000}}, func(x ...*weft.Tensor) []*weft.Tensor {
			return []*weft.Tensor{x[0].Mul(x[0]).Mean(), x[0].Sub(x[0].Mean())}
		}},
		{"names", []string{"steps[type 3]", "weight.0[type 3]"}, nil, [][]*weft.Tensor{{wave(20, 3), wave(20, 3)}}, [][]int{{20}}, func(x ...*weft.Tensor) []*weft.Tensor {
			return []*weft.Tensor{x[0].Mul(x[1]).Sum(1)}
		}},
		{"single", nil, nil, [][]*weft.Tensor{{wave(1)}}, nil, func(x ...*weft.Tensor) []*weft.Tensor {
			return []*weft.Tensor{x[0].Abs().Add(1).Sqrt()}
		}},
		{"nothing", []string{"x[n]"}, nil, [][]*weft.Tensor{{wave(20)}, {wave(0)}, {wave(1)}}, [][]int{{20}, {0}, {1}}, func(x ...*weft.Tensor) []*weft.Tensor {
			return []*weft.Tensor{x[0].Lt(x[0]).All().To(weft.Float32), x[0].Lt(x[0]).To(weft.Float32).Prod()}
		}},
		{"long", nil, nil, [][]*weft.Tensor{{wave(100000), wave(100000)}}, nil, func(x ...*weft.Tensor) []*weft.Tensor {
			return []*weft.Tensor{x[0].Mul(x[1]).Mean(), x[0].Tanh().Sub(x[1])}
		}},
	}, map[string]*weft.Tensor{"v": v, "w.fast": w}
}

// savedMisuse calls a package with wrong lengths, and from several goroutines at once.
const savedMisuse = `
	message := func(f func()) {
		defer func() { fmt.Println(recover()) }()
		f()
	}
	message(func() { mean.Mean(make([]float32, 1), make([]float32, 4), make([]float32, 3), 4) })
	message(func() { mean.Mean(nil, nil, nil, -1) })
	x, y, z := wave(50000), make([]float32, 1), make([]float32, 50000)
	mean.Mean(y, z, x, len(x))
	var all sync.WaitGroup
	var other atomic.Int64
	for range 16 {
		all.Go(func() {
			y1, z1 := make([]float32, 1), make([]float32, 50000)
			mean.Mean(y1, z1, x, len(x))
			if y[0] != y1[0] || z[49999] != z1[49999] {
				other.Add(1)
			}
		})
	}
	all.Wait()
	fmt.Println(other.Load(), "of 16 goroutines differ")
`

// savedHelpers are functions of the program that calls the packages: inputs as wave makes them, and the
// bits of results.
const savedHelpers = `
func wave(n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(math.Sin(float64(i*i))) * 3
	}
	return x
}

func show(name string, all ...[]float32) {
	for _, x := range all {
		fmt.Print(name)
		for _, v := range x {
			fmt.Printf("%08x", math.Float32bits(v))
		}
		fmt.Println()
	}
}
`

// bitsOf prints the bits of elements.
func bitsOf(x []float32) string {
	var s strings.Builder
	for _, v := range x {
		fmt.Fprintf(&s, "%08x", math.Float32bits(v))
	}
	return s.String()
}

// TestBuildSaved builds saved programs: the packages pass their tests, are right for other processors,
// and have the bits of the functions that were saved.
func TestBuildSaved(t *testing.T) {
	t.Chdir(t.TempDir())
	var want, imports, calls strings.Builder
	cases, momentum := savedCases()
	for _, c := range cases {
		f := weft.Compile(c.f)
		var weights map[string]*weft.Tensor
		if c.name == "momentum" {
			weights = momentum
		}
		var example []any
		for _, x := range c.calls[0] {
			example = append(example, x)
		}
		if err := f.Save(c.name+".weft", example, weft.SaveOpts{Inputs: c.inputs, Weights: weights}); err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		if code := run(append([]string{"build", c.name + ".weft", "-o", "out/" + c.name}, c.flags...), strings.NewReader(""), &out, &out); code != ok {
			t.Fatalf("%s: %s", c.name, out.String())
		}
		fmt.Fprintf(&imports, "\t\"built/out/%s\"\n", c.name)
		on := c.name
		if weights != nil {
			on = "state"
			fmt.Fprintf(&calls, "{\nstate := %s.NewState()\n", c.name)
		}
		for k, args := range c.calls {
			var names []string
			calls.WriteString("{\n")
			for i, y := range f.Func()(args...) {
				want.WriteString(c.name + bitsOf(weft.Data[float32](y)) + "\n")
				names = append(names, fmt.Sprint("y", i))
				fmt.Fprintf(&calls, "y%d := make([]float32, %d)\n", i, y.Size())
			}
			results := strings.Join(names, ", ")
			for _, x := range args {
				names = append(names, fmt.Sprintf("wave(%d)", x.Size()))
			}
			if c.lengths != nil {
				names = append(names, strings.Trim(strings.ReplaceAll(fmt.Sprint(c.lengths[k]), " ", ", "), "[]"))
			}
			fmt.Fprintf(&calls, "%s.%s(%s)\nshow(%q, %s)\n}\n", on, strings.ToUpper(c.name[:1])+c.name[1:], strings.Join(names, ", "), c.name, results)
		}
		if weights != nil {
			calls.WriteString("show(\"\", state.V, state.WFast)\n}\n")
			want.WriteString(bitsOf(weft.Data[float32](weights["v"])) + "\n" + bitsOf(weft.Data[float32](weights["w.fast"])) + "\n")
		}
	}
	calls.WriteString(savedMisuse)
	want.WriteString("mean: Mean: x has 3 elements, want 4: float32[n]\nmean: Mean: n is -1, a negative length\n0 of 16 goroutines differ\n")
	main := "package main\n\nimport (\n\t\"fmt\"\n\t\"math\"\n\t\"sync\"\n\t\"sync/atomic\"\n\n" + imports.String() + ")\n" + savedHelpers + "\nfunc main() {\n" + calls.String() + "}\n"
	for name, text := range map[string]string{"go.mod": "module built\n\ngo 1.26\n", "main.go": main} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if testing.Short() {
		return
	}
	tool, err := exec.LookPath("go")
	if err != nil {
		t.Skip("SKIPPED: there is no go tool: ", err)
	}
	for _, args := range [][]string{{"test", "-vet=all", "./out/..."}, {"run", "."}} {
		cmd := exec.Command(tool, args...)
		cmd.Env = append(os.Environ(), "GOFLAGS="+os.Getenv("GOFLAGS")+" -mod=mod", "CGO_ENABLED=0")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("go %v: %v\n%s", args, err, out)
		}
		for i, line := range strings.Split(want.String(), "\n") {
			if got := strings.Split(string(out), "\n"); args[0] == "run" && (i >= len(got) || got[i] != line) {
				t.Errorf("line %d: %.60s, want %.60s", i, got[i], line)
			}
		}
	}
	for _, c := range cases {
		elsewhere(t, filepath.Join("out", c.name))
	}
}

// TestBuildSavedAgain builds another program into a folder: files that only the first one had are gone, and
// files of the user stay.
func TestBuildSavedAgain(t *testing.T) {
	t.Chdir(t.TempDir())
	names := func() (list []string) {
		files, err := os.ReadDir("net")
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			list = append(list, f.Name())
		}
		return list
	}
	x := wave(3, 3)
	for _, c := range []struct {
		f    func(x *weft.Tensor) *weft.Tensor
		want string
	}{
		{func(x *weft.Tensor) *weft.Tensor { return x.Add(wave(3, 3)).Exp() }, "[mine.go net.bin net.go net_amd64.go net_amd64.s net_kernels.go net_other.go net_run.go net_test.go]"},
		{func(x *weft.Tensor) *weft.Tensor { return x.MatMul(x) }, "[mine.go net.go net_amd64.go net_amd64.s net_other.go net_test.go]"},
	} {
		if err := weft.Compile(c.f).Save("net.weft", []any{x}); err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		if code := run([]string{"build", "net.weft", "-o", "net"}, strings.NewReader(""), &out, &out); code != ok {
			t.Fatal(out.String())
		}
		if err := os.WriteFile("net/mine.go", []byte("package net\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(names()); got != c.want {
			t.Errorf("the folder has %s, want %s", got, c.want)
		}
	}
}
