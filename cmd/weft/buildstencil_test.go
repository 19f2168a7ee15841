package main

import (
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"weft"
	"weft/kernel"
)

const stencilSource = `package k

import "weft/kernel"

// Blur weighs.
func Blur(a kernel.Near2[float32], w float32) float32 {
	return w*a.At(0, 0) + (1-w)/4*(a.At(0, 1)+a.At(1, 0)+a.At(0, -1)+a.At(-2, 0))
}

func Middle[T float32 | float64](a kernel.Near2[T]) (T, T) {
	return kernel.Median(a.Slice(-1, 2, -1, 2)), kernel.Sum(a.Row(1).Slice(0, 3))
}

func Spin(z kernel.Near1[complex64], k int) complex64 {
	return z.At(-1)*z.At(2) + complex(float32(k), float32(z.Dim(0)))
}

func Trail(a kernel.Near1[float64]) float64 { return kernel.Mean(a.Slice(-99, 1)) }

func Cube(a, b kernel.Near3[int16]) (int16, bool) {
	return a.At(1, 0, -1) + b.At(0, 2, 0), a.At(0, 0, 0) > b.At(0, 0, 1)
}

func Moving(a kernel.Near1[float64], n int) float64 { return a.At(n) }
func Between(a kernel.Near1[float64]) float64 { return a.At(1) }
func Scaled(a kernel.Near1[float64]) float64 { return Keep * a.At(1) }
const Keep = 2
func Special(a kernel.Near1[float64]) float64 { return kernel.Erfcx(a.At(1)) }
func Named(a kernel.Near1[float64]) float64 { return kernel.Erfcx(stirling(a.At(1))) }
func stirling(x float64) float64 { return x }
func Table(a kernel.Near1[float64], b kernel.Clamped1[float64]) float64 { return a.At(1) + b.At(2) }
func Placed(a kernel.Near1[float64], e kernel.Elem) float64 { return a.At(1) * float64(e.Index(0)) }
`

const stencilMain = `package main

import (
	"fmt"
	"math"

	"built/out/blur"
)

func main() {
	shape := [2]int{9, 70}
	a := make([]float32, 9*70)
	for i := range a {
		a[i] = float32(math.Sin(float64(i * i)))
	}
	dst := make([]float32, len(a))
	for b := blur.Keep; b <= blur.Nearest; b++ {
		blur.BlurStencil(dst, a, shape, 0.3, blur.Edge{Border: b, Value: 0.5})
		for _, v := range dst {
			fmt.Printf("%08x", math.Float32bits(v))
		}
		fmt.Println()
	}
	blur.BlurIterate(5, a, shape, 0.3, blur.Edge{Border: blur.Mirror})
	for _, v := range a {
		fmt.Printf("%08x", math.Float32bits(v))
	}
	fmt.Println(blur.Neighborhood)
}
`

// What a stencil is built to passes its tests, is right for other processors, and has the bits of
// kernel.Stencil and kernel.Iterate for every border.
func TestBuildStencil(t *testing.T) {
	t.Chdir(t.TempDir())
	write := func(name, text string) {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("go.mod", "module built\n\ngo 1.26\n")
	for _, dir := range []string{"src", "main"} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	write("src/k.go", stencilSource)
	write("main/main.go", stencilMain)
	build := func(f, dir string) (int, string) {
		var out strings.Builder
		code := run([]string{"build", "src/k.go:" + f, "-o", dir}, strings.NewReader(""), &out, &out)
		return code, out.String()
	}
	dirs := map[string]string{"Blur": "blur", "Middle[float32]": "middle", "Spin": "spin", "Trail": "trail", "Cube": "cube", "Special": "special"}
	for f, dir := range dirs {
		if code, out := build(f, filepath.Join("out", dir)); code != ok {
			t.Fatalf("%s: %s", f, out)
		}
	}
	for f, want := range map[string]string{"Moving": "not constant", "Scaled": "declares Keep", "Named": "declares stirling", "Table": "kernel.Clamped1", "Placed": "kernel.Elem"} {
		if code, out := build(f, "none"); code == ok || !strings.Contains(out, want) {
			t.Errorf("%s: exit %d: %s", f, code, out)
		}
	}
	if testing.Short() {
		return
	}
	tool, err := exec.LookPath("go")
	if err != nil {
		t.Skip("SKIPPED: there is no go tool: ", err)
	}
	call := func(args ...string) string {
		cmd := exec.Command(tool, args...)
		cmd.Env = append(os.Environ(), "GOFLAGS="+os.Getenv("GOFLAGS")+" -mod=mod", "CGO_ENABLED=0")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("go %v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	call("test", "-vet=all", "./out/...")
	for _, dir := range dirs {
		elsewhere(t, filepath.Join("out", dir))
	}
	if got, want := call("run", "./main"), blurred(); got != want {
		for i, line := range strings.Split(want, "\n") {
			if strings.Split(got, "\n")[i] != line {
				t.Errorf("border %d differs from weft's", i)
			}
		}
	}
}

// blurred is what stencilMain prints, by package kernel.
func blurred() string {
	f := kernel.MustParse(stencilSource).Func("Blur")
	x := make([]float32, 9*70)
	for i := range x {
		x[i] = float32(math.Sin(float64(i * i)))
	}
	a := weft.FromSlice(x, 9, 70)
	var s strings.Builder
	show := func(y *weft.Tensor) {
		for _, v := range weft.Data[float32](y) {
			fmt.Fprintf(&s, "%08x", math.Float32bits(v))
		}
	}
	out := weft.Zeros(9, 70)
	show(f.Stencil(a, 0.3, kernel.StencilOpts{Out: []*weft.Tensor{out}}))
	for _, b := range []kernel.Border{kernel.Constant, kernel.Fill, kernel.Wrap, kernel.Reflect, kernel.Mirror, kernel.Nearest} {
		s.WriteString("\n")
		show(f.Stencil(a, 0.3, kernel.StencilOpts{Border: b, Cval: 0.5}))
	}
	s.WriteString("\n")
	y, _ := f.Iterate(5, a, 0.3, kernel.IterateOpts{StencilOpts: kernel.StencilOpts{Border: kernel.Mirror}})
	show(y[0])
	fmt.Fprintln(&s, f.Neighborhood())
	return s.String()
}

const formulaMain = `package main

import (
	"fmt"
	"math"

	"built/out/bell"
	"built/out/energy"
	"built/out/most"
)

func main() {
	x, y := make([]float64, 10000), []float64{1.5}
	for i := range x {
		x[i] = math.Sin(float64(i * i))
	}
	dst := make([]float64, len(x))
	bell.BellSlice(dst, x)
	fmt.Println(dst[77], energy.EnergyMean(x, y), most.MostMax(x))
}
`

// Formulas are built, with what reduces them, and give what weft.Expr gives.
func TestBuildFormula(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{"go.mod": "module built\n\ngo 1.26\n", "main.go": formulaMain} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	build := func(args ...string) (int, string) {
		var out strings.Builder
		code := run(append([]string{"build"}, args...), strings.NewReader(""), &out, &out)
		return code, out.String()
	}
	for _, args := range [][]string{{"exp(-x*x)*sin(x)", "-o", "out/bell"}, {"mean(x*x + y)", "-o", "out/energy"}, {"max(abs(x) - 1/3)", "-o", "out/most"}, {"prod(clamp(x, 0.9, 1.1))", "-o", "out/p", "--type", "float32", "--name", "Growth"}} {
		if code, out := build(args...); code != ok {
			t.Fatalf("%v: %s", args, out)
		}
	}
	for text, want := range map[string]string{"softmax(x, 0)": "softmax", "x +": "operand", "k.go": "FILE.go:FUNC"} {
		if code, out := build(text, "-o", "none"); code == ok || !strings.Contains(out, want) {
			t.Errorf("%s: exit %d: %s", text, code, out)
		}
	}
	if code, _ := build("x*x", "-o", "none", "--type", "int8"); code == ok {
		t.Error("int8 was built")
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
		if args[0] == "test" {
			continue
		}
		x := make([]float64, 10000)
		for i := range x {
			x[i] = math.Sin(float64(i * i))
		}
		v := weft.Vars{"x": weft.FromSlice(x), "y": 1.5}
		want := []float64{weft.Data[float64](weft.Expr("exp(-x*x)*sin(x)", v))[77], weft.Expr("mean(x*x + y)", v).Item(), weft.Expr("max(abs(x) - 1/3)", v).Item()}
		var got [3]float64
		if _, err := fmt.Sscan(string(out), &got[0], &got[1], &got[2]); err != nil {
			t.Fatal(err)
		}
		for i := range want {
			limit := 0.0 // as vector code has the bits
			if runtime.GOARCH != "amd64" {
				limit = 1e-14
			}
			if !(math.Abs(got[i]-want[i]) <= limit) {
				t.Errorf("number %d is %v, weft has %v", i, got[i], want[i])
			}
		}
	}
	for _, dir := range []string{"bell", "energy", "most", "p"} {
		elsewhere(t, filepath.Join("out", dir))
	}
}
