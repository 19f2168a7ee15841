package main

import (
	"errors"
	"fmt"
	"io"
	"sort"
	"strings"
	"text/tabwriter"
	"time"

	"weft"
)

// evaluation is what the command line of eval asks for.
type evaluation struct {
	output  text
	grads   list
	times   int
	explain bool
	json    bool
	device  string
}

func newEval() *command {
	e := &evaluation{}
	f := newFlags()
	f.Var(&e.output, "output", "write the result to this .npy `file`")
	f.Var(&e.grads, "grad", "write the gradient of the sum of the result by `name:file.npy`; may be repeated")
	f.IntVar(&e.times, "time", 0, "compute it this many `times` more and print the median time of a call")
	f.BoolVar(&e.explain, "explain", false, "print the kernels: loop language and machine code")
	f.StringVar(&e.device, "device", "", deviceHelp)
	f.BoolVar(&e.json, "json", false, "print the result, and the time, as JSON, a value a line")
	return &command{
		name:     "eval",
		operands: "FORMULA [NAME=VALUE]...",
		flags:    f,
		short:    "Compute a formula over arrays from .npy files",
		long: `Compute a formula over arrays from .npy files and numbers, compiled as one piece.

A formula is a Go expression: + - * / % with true division, == != < <= > >=,
&& || !, & | ^ &^ << >> of integers, parentheses, numbers, pi, e, true, false, and calls: elementwise
functions (exp, log1p, abs, pow(x, y), where(c, x, y), ...), reductions over
all elements or over axes (sum(x), mean(x, 0), max_keep(x, 1), argmax(x, 1),
...), softmax(x, axis), dot(a, b), conversions (float64(x)). Powers are written
pow(a, 2).

` + valueHelp + `

Without -o the result is printed. ` + outputHelp + `

The exit status is 0 on success, 1 if the work failed (a formula or a file that
is wrong) and 2 if the command line was wrong.`,
		usage: `  weft eval 'exp(-x*x)*sin(x)' x=samples.npy -o out.npy
  weft eval 'mean(pow(p - y, 2))' p=p.npy y=y.npy --grad p:dp.npy
  weft eval '2*a + 3*b' a=a.npz:left b=0.5 --time 1000 --explain
  weft eval 'sum(x, 1)' x=- --json < x.npy`,
		check: func(args []string) error {
			if len(args) == 0 {
				return errors.New("a formula is missing, such as: weft eval '2*a + b' a=a.npy b=1.5")
			}
			return nil
		},
		run: func(s *streams, args []string) error { return e.run(s, args[0], args[1:]) },
	}
}

func (e *evaluation) run(s *streams, text string, bindings []string) error {
	if e.json && e.explain {
		return errors.New("eval: --explain prints text: it does not go with --json")
	}
	f, err := weft.ParseExpr(text)
	if err != nil {
		return failure{err}
	}
	vars, err := s.values("eval", "the formula", "", f.Names(), bindings, nil)
	if err != nil {
		return err
	}
	if err := moveTo(e.device, vars); err != nil {
		return err
	}
	grads, err := e.leaves(f, vars)
	if err != nil {
		return err
	}
	places := placesOf(grads)
	if e.output != "" {
		places = append(places, string(e.output))
	}
	if err := s.claimArrays("eval", e.output == "" || e.explain || e.times > 0, places...); err != nil {
		return err
	}
	result, err := f.Eval(weft.Vars(vars))
	if err != nil {
		return failure{err}
	}
	if e.output != "" {
		if err := s.write("the result", string(e.output), result); err != nil {
			return err
		}
	} else if err := printResult(s.out, result, e.json); err != nil {
		return failf("print the result: %w", err)
	}
	if err := backward(s, result, grads); err != nil {
		return err
	}
	if e.explain {
		text, err := f.Explain(weft.Vars(vars))
		if err != nil {
			return failure{err}
		}
		fmt.Fprintf(s.out, "\n%s\n", strings.TrimRight(text, "\n"))
	}
	if e.times > 0 {
		return e.measure(s.out, f, vars)
	}
	return nil
}

// A gradient is asked for by --grad.
type gradient struct {
	name, file string
	leaf       *weft.Tensor
}

// placesOf are the places that gradients are written to.
func placesOf(grads []gradient) (out []string) {
	for _, g := range grads {
		out = append(out, g.file)
	}
	return out
}

// leaves marks the arrays whose gradients are wanted.
func (e *evaluation) leaves(f *weft.Formula, vars map[string]any) ([]gradient, error) {
	var out []gradient
	for _, g := range e.grads {
		name, file, ok := strings.Cut(g, ":")
		if !ok || name == "" || file == "" {
			return nil, fmt.Errorf("eval: --grad %q is not NAME:FILE.npy", g)
		}
		x, known := vars[name]
		if !known {
			return nil, fmt.Errorf("eval: --grad %s: the formula has no %s; its names are %s", g, name, listed(f.Names()))
		}
		t, isArray := x.(*weft.Tensor)
		if !isArray {
			return nil, fmt.Errorf("eval: --grad %s: %s is a number; only an array has a gradient", g, name)
		}
		if !t.DType().Float() {
			return nil, failf("--grad %s: %s has elements of %s; only floats have gradients", g, name, t.DType())
		}
		out = append(out, gradient{name, file, t.RequireGrad()})
	}
	return out, nil
}

// backward writes the gradients of the sum of the result.
func backward(s *streams, result *weft.Tensor, grads []gradient) error {
	if len(grads) == 0 {
		return nil
	}
	if !result.DType().Float() {
		return failf("--grad: the result is of %s, which has no gradient", result.DType())
	}
	ds := make([]*weft.Tensor, len(grads))
	if result.RequiresGrad() {
		leaves := make([]*weft.Tensor, len(grads))
		for i, g := range grads {
			leaves[i] = g.leaf
		}
		err := weft.Try(func() { ds = weft.Grad(result.Sum(), leaves, weft.GradOpts{AllowUnused: true}) })
		if err != nil {
			return failure{err}
		}
	}
	for i, g := range grads {
		d := ds[i]
		if d == nil { // the result does not depend on it, or by steps, as in floor
			d = weft.ZerosLike(g.leaf)
		}
		if err := s.write("the gradient of "+g.name, g.file, d); err != nil {
			return err
		}
	}
	return nil
}

// sample is the least time that one reading of the clock is spread over.
const sample = 20 * time.Microsecond

// measure prints the median time of a call. Short calls are timed in groups.
func (e *evaluation) measure(w io.Writer, f *weft.Formula, vars map[string]any) error {
	times := e.times
	quiet := weft.Vars{}
	for n, x := range vars {
		if t, ok := x.(*weft.Tensor); ok {
			x = t.Detach()
		}
		quiet[n] = x
	}
	operations, bytes, err := f.Work(quiet)
	if err != nil {
		return failure{err}
	}
	call := func() error {
		r, err := f.Eval(quiet)
		if err != nil {
			return failure{err}
		}
		r.Release()
		return nil
	}
	start := time.Now()
	if err := call(); err != nil {
		return err
	}
	group := max(1, min(times, int(sample/max(time.Since(start), 1))))
	var each []float64
	for left := times; left > 0; left -= group {
		group = min(group, left)
		start := time.Now()
		for range group {
			if err := call(); err != nil {
				return err
			}
		}
		each = append(each, float64(time.Since(start))/float64(group))
	}
	sort.Float64s(each)
	ns := each[len(each)/2]
	if e.json {
		_, err := fmt.Fprintf(w, `{"times": %d, "nanoseconds": %.1f, "bytes": %d, "operations": %d}`+"\n", times, ns, bytes, operations)
		return err
	}
	t := tabwriter.NewWriter(w, 0, 0, 1, ' ', 0)
	fmt.Fprintf(t, "\nmedian of %d\t%v a call\n", times, roundTo3(time.Duration(ns)))
	fmt.Fprintf(t, "memory\t%.3g GB/s (%d bytes read and written)\n", float64(bytes)/ns, bytes)
	fmt.Fprintf(t, "arithmetic\t%.3g GFLOP/s (%d operations)\n", float64(operations)/ns, operations)
	return t.Flush()
}

// roundTo3 rounds to three digits.
func roundTo3(d time.Duration) time.Duration {
	unit := time.Duration(1)
	for d/unit >= 1000 {
		unit *= 10
	}
	return d.Round(unit)
}
