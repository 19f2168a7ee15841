package kerneltest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// goRows is how often each kernel is called.
const goRows = 24

// TestGo compares the evaluator with what the Go compiler makes of the same kernels: it
// is the proof of the oracle.
func TestGo(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED: compiles a program")
	}
	const n = 200
	from := seedFrom(t)
	var b strings.Builder
	b.WriteString(goHead)
	b.WriteString(PlainHelpers())
	calls := func(seed uint64, params []string) [][]any {
		r := rand.New(rand.NewPCG(seed, 2))
		rows := make([][]any, goRows)
		for i := range rows {
			for _, p := range params {
				rows[i] = append(rows[i], Input(r, p))
			}
		}
		return rows
	}
	kernels := make([]Kernel, n)
	for i := range kernels {
		seed := from + uint64(i)
		k := Generate(seed, Options{Prefix: fmt.Sprintf("k%d", i), Plain: true})
		kernels[i] = k
		b.WriteString(k.Src)
		fmt.Fprintf(&b, "func run%d() {\n", i)
		for _, row := range calls(seed, k.Params) {
			var args []string
			for _, a := range row {
				args = append(args, goLiteral(a))
			}
			name := k.Name
			if k.Arg != "" {
				name += "[" + k.Arg + "]"
			}
			fmt.Fprintf(&b, "\tshow(%s(%s))\n", name, strings.Join(args, ", "))
		}
		b.WriteString("}\n\n")
	}
	b.WriteString("func main() {\n")
	for i := range n {
		fmt.Fprintf(&b, "\trun%d()\n", i)
	}
	b.WriteString("}\n")
	dir := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module kernels\n\ngo 1.26\n", "main.go": b.String()} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	// Without inlining and tables for debuggers, which take a fifth of the time.
	cmd := exec.Command("go", "run", "-gcflags=-l", "-ldflags=-s -w", ".")
	cmd.Dir = dir
	// Version 1 has no fused multiply-add to contract to.
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOAMD64=v1", "GOFLAGS=", "GOWORK=off")
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%.4000s", err, errs.String())
	}
	lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	if len(lines) != n*goRows {
		t.Fatalf("%d lines, want %d", len(lines), n*goRows)
	}
	for i := range n {
		seed := from + uint64(i)
		k := Generate(seed, Options{})
		p, err := Load(k.Src, "")
		if err != nil {
			t.Fatal(err)
		}
		for j, row := range calls(seed, k.Params) {
			got, err := p.Call(k.Name, steps, k.Arg, row...)
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			if text, want := goShow(got), lines[i*goRows+j]; text != want {
				t.Errorf("seed %d: %s(%v) = %s, as Go %s\n%s", seed, k.Name, row, text, want, k.Src)
				break
			}
		}
	}
}

const goHead = `package main

import (
	"fmt"
	"math"
	"math/bits"
	"reflect"
)

var _ = bits.Len

func show(values ...any) {
	for _, v := range values {
		text(reflect.ValueOf(v))
	}
	fmt.Println()
}

func number(f float64) {
	if f != f {
		fmt.Print("NaN ")
	} else {
		fmt.Printf("%x ", math.Float64bits(f))
	}
}

func text(v reflect.Value) {
	switch {
	case v.CanFloat():
		number(v.Float())
	case v.CanComplex():
		number(real(v.Complex()))
		number(imag(v.Complex()))
	default:
		fmt.Print(v, " ")
	}
}
`

// goShow is what show of that program prints.
func goShow(values []any) string {
	var b strings.Builder
	number := func(f float64) {
		if f != f {
			b.WriteString("NaN ")
		} else {
			fmt.Fprintf(&b, "%x ", math.Float64bits(f))
		}
	}
	for _, v := range values {
		switch x := v.(type) {
		case float32:
			number(float64(x))
		case float64:
			number(x)
		case complex64:
			number(float64(real(x)))
			number(float64(imag(x)))
		case complex128:
			number(real(x))
			number(imag(x))
		default:
			fmt.Fprint(&b, v, " ")
		}
	}
	return b.String()
}

// goLiteral is an argument as Go source.
func goLiteral(v any) string {
	switch x := v.(type) {
	case float32:
		return fmt.Sprintf("math.Float32frombits(%#x)", math.Float32bits(x))
	case float64:
		return fmt.Sprintf("math.Float64frombits(%#x)", math.Float64bits(x))
	case complex64:
		return "complex(" + goLiteral(real(x)) + ", " + goLiteral(imag(x)) + ")"
	case complex128:
		return "complex(" + goLiteral(real(x)) + ", " + goLiteral(imag(x)) + ")"
	}
	return fmt.Sprintf("%T(%v)", v, v)
}
