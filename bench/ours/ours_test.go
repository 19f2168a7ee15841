package main

import (
	"math"
	"slices"
	"strings"
	"testing"

	"weft/bench/worker"
)

func TestCopy(t *testing.T) {
	c, err := worker.Cases["copy"](worker.Params{N: 100, DType: "float64"})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := c.Check(), worker.Summary(worker.Uniform[float64](100, 1, -1, 1)); !slices.Equal(got, want) {
		t.Errorf("check of the copy %v, of its source %v", got, want)
	}
	if b := copyBandwidth(1<<13, 1); !(b > 0) || math.IsInf(b, 0) {
		t.Errorf("bandwidth %v", b)
	}
}

// Each case runs, in all its formulations, and its check says something. Cases
// whose size is not free are too large for a test.
func TestCases(t *testing.T) {
	for name, n := range map[string]int{
		"gelu(x)": 100, "softmax 4096x1000": 2, "layer norm 4096x1024": 2, "sum axis 0": 8, "argmax axis 1": 8,
		"transpose copy": 8, "broadcast add": 8, "gather rows of 128": 8, "scatter-add rows of 128": 8, "mask select": 99,
		"where": 99, "max pool 64x112^2 3x3 by 2": 1, "matmul": 8, "matmul 60x500x10": 60, "conv 6x14^2 to 16 5x5": 1,
		"conv 6x14^2 to 16 5x5 and back": 1, "types 2*a+3*b": 99, "types a%b": 99, "types to uint8": 99, "types matmul": 8, "types linear of a row": 8, "scalar chain": 10,
		"mandelbrot": 20, "jacobi": 9, "mean 3x3": 9, "7 points": 5, "mean of 31": 99, "jacobi 100 steps": 9, "black-scholes": 99,
		"mean and variance axis 0": 9, "mean and variance axis 1": 9, "prefix sum": 99, "kernel of 16": 16,
		"ragged sum": 20, "ragged max": 20, "ragged softmax": 20, "ragged 2*l+v": 20,
		"sum of rows of 10": 9, "max of rows of 17": 9, "logsumexp of rows of 32": 9, "softmax of rows of 40": 9, "x[::-1]": 99, "x[::-2]": 99, "stack of two on the last axis": 99,
		"x[:,::2] = y": 10, "all of a mask": 99, "any(x>2)": 99, "sigmoid(x)*tanh(y)": 99, "sin(x)*cos(x)+y": 99,
		"add 16": 16, "expr 16": 16, "item": 1, "plain a+b": 16, "plain outer": 16, "plain a+row": 16, "plain a+column": 16, "plain cat": 16, "plain chain of ten": 4000, "plain chain in a scope": 4000, "plain chain, lazy": 4000, "plain slice of 16": 16, "plain x[3]": 100,
		"plain reshape": 1000, "plain x[10:20]=0": 10, "plain zeros of 16": 16, "plain batch of 8x8": 3, "plain chain with gradient": 16, "loader of 8, items wait": 5, "loader of 8, items compute": 5, "ragged sort": 20, "ragged pad": 20, "ragged unpad": 20, "ragged index": 20, "ragged appends": 20, "ragged insert, delete": 20,
		"mlp step": 2, "logistic step": 4, "lenet step": 2, "compiled mlp step": 2, "compiled deep mlp step": 1, "compiled lenet step": 1, "compiled logistic step": 4,
		"lstm 64 to 128 and back": 2, "batch norm 64x28^2 and back": 1, "layer norm 512 and back": 3, "attention 8x256x64 and back": 1, "causal attention 8x1024x64 and back": 1, "recommender step": 5,
		"max pool 64x28^2 3x3 by 1 and back": 1, "avg pool 64x56^2 3x3 by 2 and back": 1, "conv 16x56^2 to 32 5x5 and back": 1, "matmul 1x1000x1000": 1000,
		"sparse by a vector": 90, "sparse by 64 columns": 90, "to channels first 3x224^2": 1, "sgd with momentum of 1e5": 2, "adam of 1e4": 2, "lion of 1e5": 2, "ema of 1e5": 2,
	} {
		c, err := worker.Cases[name](worker.Params{N: n, DType: "float32", Threads: 1})
		if err != nil {
			t.Fatal(err)
		}
		c.Run()
		for _, form := range worker.Also[name] {
			c.Also[form]()
		}
		if s := c.Check(); len(s) == 0 || slices.ContainsFunc(s, math.IsNaN) {
			t.Errorf("%s: check %v", name, s)
		}
	}
}

// The step is compiled, also for another batch, and each kind of graph is rewritten and planned in
// each size.
func TestCompiling(t *testing.T) {
	v, err := compiling([]int{100, 200}, 1)
	if err != nil || len(v) != 12 {
		t.Errorf("%v: %v", v, err)
	}
	for name, ns := range v {
		if !(ns > 0) && !strings.HasSuffix(name, "kernels") || math.IsInf(ns, 0) {
			t.Errorf("%s: %v ns", name, ns)
		}
	}
}

// Each kind of graph is planned in each size.
func TestPlanning(t *testing.T) {
	v, err := planning([]int{100, 200}, 1)
	if err != nil || len(v) != 8 {
		t.Errorf("%v: %v", v, err)
	}
	for name, ns := range v {
		if !(ns > 0) || math.IsInf(ns, 0) {
			t.Errorf("%s: %v ns a node", name, ns)
		}
	}
}
