// Command go is the benchmarks' side of what else there is in Go: gonum, GoMLX with
// its pure Go backend, and plain loops. Its argument is the library to measure. It
// is a module of its own so that weft depends on none of them.
package main

import (
	"fmt"
	"os"
	"runtime/debug"
	"strings"

	"weft/bench/worker"
)

// libraries maps each library to what fills worker.Cases.
var libraries = map[string]func(){"gonum": gonum, "gomlx": gomlx, "go": loops}

func main() {
	if len(os.Args) != 2 || libraries[os.Args[1]] == nil {
		fmt.Fprintln(os.Stderr, "usage: go gonum|gomlx|go")
		os.Exit(2)
	}
	lib := os.Args[1]
	versions := map[string]string{}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range info.Deps {
			if strings.HasSuffix(m.Path, "/"+lib) {
				versions[lib] = m.Version
			}
		}
	}
	libraries[lib]()
	worker.Main(lib, versions)
}

// exp is the formula that is measured beside the four simple ones.
const exp = "exp(-x*x)*sin(x)+log1p(abs(x))"

// inputs of a formula: a and b, or x as a.
func inputs[T worker.Float](name string, n int) (a, b []T) {
	if name == exp {
		return worker.Uniform[T](n, 1, -4, 4), nil
	}
	return worker.Uniform[T](n, 1, -1, 1), worker.Uniform[T](n, 2, -1, 1)
}

// products maps the works of one product to their shapes; "matmul" is square.
var products = map[string][3]int{
	"matmul": {}, "matmul 64x784x500": {64, 784, 500}, "matmul 784x60x500": {784, 60, 500},
	"matmul 60x500x10": {60, 500, 10}, "matmul 8x4096x4096": {8, 4096, 4096},
	"matmul 1x4096x4096": {1, 4096, 4096}, "matmul 4096x4096x1": {4096, 4096, 1},
}

func shapeOf(name string, n int) (m, k, l int) {
	if s := products[name]; s[0] > 0 {
		return s[0], s[1], s[2]
	}
	return n, n, n
}

// largest is the greatest square product that is measured: beyond, a run takes
// seconds.
const largest = 1024

// byType returns the maker of a case for both element types; one may be nil.
func byType(f32, f64 func(p worker.Params) *worker.Case) func(worker.Params) (*worker.Case, error) {
	return func(p worker.Params) (*worker.Case, error) {
		f := f32
		if p.DType == "float64" {
			f = f64
		}
		if f == nil {
			return nil, fmt.Errorf("not for %s", p.DType)
		}
		return f(p), nil
	}
}

// product is byType for a matrix product.
func product(name string, f32, f64 func(p worker.Params) *worker.Case) {
	all := byType(f32, f64)
	worker.Cases[name] = func(p worker.Params) (*worker.Case, error) {
		if m, k, l := shapeOf(name, p.N); m*k*l > largest*largest*largest {
			return nil, fmt.Errorf("not for products of %dx%dx%d", m, k, l)
		}
		return all(p)
	}
}
