package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"time"

	"weft"
	"weft/kernel"
)

// kernelRun is what the command line of kernel asks for.
type kernelRun struct {
	device  string
	outputs list
	grads   list
	stencil string
	leading bool
	times   int
	explain bool
	json    bool

	opts kernel.StencilOpts
}

func newKernel() *command {
	k := &kernelRun{}
	f := newFlags()
	f.Var(&k.outputs, "output", "write a result to this .npy `file`; once for each result")
	f.Var(&k.grads, "grad", "write the gradient of the sum of all results by `name:file.npy`; may be repeated")
	f.StringVar(&k.stencil, "stencil", "", "how a stencil treats borders: `mode=...,cval=...,neighborhood=...`")
	f.BoolVar(&k.leading, "leading", false, "align shapes at the first axis, as MATLAB does")
	f.IntVar(&k.times, "time", 0, "compute it this many `times` more and print the median time of a call")
	f.BoolVar(&k.explain, "explain", false, "print the source, the loop program and the machine code")
	f.StringVar(&k.device, "device", "", deviceHelp)
	f.BoolVar(&k.json, "json", false, "print the results, and the time, as JSON, a value a line")
	return &command{
		name:     "kernel",
		operands: "FILE.go:FUNC [NAME=VALUE]...",
		flags:    f,
		short:    "Run a Go function over arrays from .npy files",
		long: `Run a Go function of scalars over arrays from .npy files and numbers, compiled
for this processor. Arguments are given by the names of the function's
parameters; they broadcast. The source is a file, or standard input as -:FUNC.

` + valueHelp + `

A function whose first parameter is a neighbourhood (kernel.Near1 to Near6) runs
as a stencil. What it reads beyond the array makes a result part of the border,
which is cval; --stencil says otherwise, as a list of
  mode=constant                     results there are cval
  mode=fill                         cval is read outside (SciPy's "constant")
  mode=wrap|reflect|mirror|nearest  what is read outside, as in SciPy's ndimage
  mode=valid                        the result is smaller
  cval=NUMBER                       0 if it is not given
  neighborhood=-3:3x-1:1            the offsets that are read, where the source
                                    does not tell
The modes have the names of kernel.Border.

Without -o the results are printed; -o is given once for each result.
` + outputHelp + `

The exit status is 0 on success, 1 if the work failed (a source, a file or a
value that is wrong) and 2 if the command line was wrong.`,
		usage: `  weft kernel escape.go:Escape cr=re.npy ci=im.npy -o n.npy
  weft kernel blur.go:Blur a=picture.npy --stencil mode=reflect -o out.npy
  weft kernel model.go:Loss x=x.npy w=0.5 --grad x:dx.npy --time 100`,
		check: func(args []string) error {
			if len(args) == 0 {
				return errors.New("a function is missing, such as: weft kernel file.go:Func x=x.npy")
			}
			return nil
		},
		run: func(s *streams, args []string) error { return k.run(s, args[0], args[1:]) },
	}
}

func (k *kernelRun) run(s *streams, where string, bindings []string) error {
	if k.json && k.explain {
		return errors.New("kernel: --explain prints text: it does not go with --json")
	}
	f, err := lookup(s, where)
	if err != nil {
		return err
	}
	if err := k.options(f); err != nil {
		return err
	}
	if n := f.Results(); len(k.outputs) > n {
		return fmt.Errorf("kernel: %s has %d results, -o is given %d times", f.Name(), n, len(k.outputs))
	}
	vars, err := s.values("kernel", f.Name(), "parameter", f.Params(), bindings, nil)
	if err != nil {
		return err
	}
	if err := moveTo(k.device, vars); err != nil {
		return err
	}
	grads, err := k.leaves(f, vars)
	if err != nil {
		return err
	}
	if err := s.claimArrays("kernel", len(k.outputs) == 0 || k.explain || k.times > 0, append(placesOf(grads), k.outputs...)...); err != nil {
		return err
	}
	var ys []*weft.Tensor
	if err := weft.Try(func() { ys = k.call(f, vars) }); err != nil {
		return failure{err}
	}
	for i, y := range ys {
		switch {
		case i < len(k.outputs):
			if err := s.write(fmt.Sprintf("result %d", i), k.outputs[i], y); err != nil {
				return err
			}
		case len(k.outputs) == 0:
			if err := printResult(s.out, y, k.json); err != nil {
				return failf("print the result: %w", err)
			}
		}
	}
	if err := k.backward(s, ys, grads); err != nil {
		return err
	}
	if k.explain {
		var text string
		if err := weft.Try(func() { text = f.Explain(k.arguments(f, vars)...) }); err != nil {
			return failure{err}
		}
		fmt.Fprintf(s.out, "\n%s\n", strings.TrimRight(text, "\n"))
	}
	if k.times > 0 {
		return k.measure(s.out, f, vars)
	}
	return nil
}

// lookup finds FILE.go:FUNC, or -:FUNC in standard input.
func lookup(s *streams, where string) (*kernel.Func, error) {
	file, name, ok := cutLast(where, ":")
	if !ok || file == "" || name == "" {
		return nil, fmt.Errorf("kernel: %q is not FILE.go:FUNC", where)
	}
	var source *kernel.Source
	if file == stdin {
		text, err := s.source()
		if err != nil {
			return nil, err
		}
		if source, err = kernel.Parse(string(text)); err != nil {
			return nil, failf("standard input: %w", err)
		}
	} else {
		dir, base := filepath.Split(file)
		if _, err := os.Stat(file); err != nil {
			return nil, failf("%s: %w", file, plain(err))
		}
		var err error
		source, err = kernel.ParseFS(exactly{os.DirFS(cmp.Or(dir, ".")), base}, base)
		switch {
		case err != nil && strings.HasPrefix(err.Error(), base+":"): // a position, without the folder
			return nil, failf("%s%w", dir, err)
		case err != nil:
			return nil, failf("%s: %w", file, plain(err))
		}
	}
	f, err := source.Lookup(name)
	if err != nil {
		return nil, failure{err}
	}
	return f, nil
}

// maxSource is more than any source of kernels that compiles.
const maxSource = 8 << 20

// source reads the source of kernels from standard input.
func (s *streams) source() ([]byte, error) {
	r, err := s.take("the source")
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(r, maxSource+1))
	if err != nil {
		return nil, failf("standard input: %w", plain(err))
	}
	if len(text) > maxSource {
		return nil, failf("standard input has more than %d bytes, the limit of kernel source", maxSource)
	}
	return text, nil
}

// exactly is a file system whose file may have a name that looks like a pattern.
type exactly struct {
	fs.FS
	name string
}

// Glob implements [fs.GlobFS].
func (e exactly) Glob(string) ([]string, error) { return []string{e.name}, nil }

// border is the border of a name, that of [kernel.Border.String].
func border(name string) (kernel.Border, error) {
	var names []string
	for b := kernel.Constant; b <= kernel.Valid; b++ {
		if b.String() == name {
			return b, nil
		}
		names = append(names, b.String())
	}
	return 0, fmt.Errorf("kernel: --stencil: mode %q is none of %s", name, listed(names))
}

// options reads --stencil.
func (k *kernelRun) options(f *kernel.Func) error {
	if k.stencil == "" {
		return nil
	}
	if !f.IsStencil() {
		return fmt.Errorf("kernel: --stencil: the first parameter of %s is not a neighbourhood", f.Name())
	}
	if k.leading {
		return errors.New("kernel: --leading is not for stencils")
	}
	for _, item := range strings.Split(k.stencil, ",") {
		name, value, ok := strings.Cut(item, "=")
		if !ok {
			return fmt.Errorf("kernel: --stencil: %q is none of mode=NAME, cval=NUMBER, neighborhood=-1:1x-1:1", item)
		}
		switch name {
		case "mode":
			b, err := border(value)
			if err != nil {
				return err
			}
			k.opts.Border = b
		case "cval":
			x, ok := parseNumber(value)
			if !ok {
				return fmt.Errorf("kernel: --stencil: cval %q is not a number", value)
			}
			k.opts.Cval = x
		case "neighborhood":
			for _, r := range strings.Split(value, "x") {
				lo, hi, ok := strings.Cut(r, ":")
				l, err := strconv.Atoi(lo)
				h, err2 := strconv.Atoi(hi)
				if !ok || err != nil || err2 != nil {
					return fmt.Errorf("kernel: --stencil: neighborhood %q is not like -3:3x-1:1", value)
				}
				k.opts.Neighborhood = append(k.opts.Neighborhood, [2]int{l, h})
			}
		default:
			return fmt.Errorf("kernel: --stencil has no option %s; it has mode, cval, neighborhood", name)
		}
	}
	return nil
}

// arguments returns the values in the order of the parameters, and the options.
func (k *kernelRun) arguments(f *kernel.Func, vars map[string]any) []any {
	var args []any
	for _, n := range f.Params() {
		args = append(args, vars[n])
	}
	if f.IsStencil() {
		return append(args, k.opts)
	}
	return append(args, kernel.MapOpts{Leading: k.leading})
}

func (k *kernelRun) call(f *kernel.Func, vars map[string]any) []*weft.Tensor {
	if f.IsStencil() {
		return f.StencilAll(k.arguments(f, vars)...)
	}
	return f.MapAll(k.arguments(f, vars)...)
}

// leaves marks the arrays whose gradients are wanted.
func (k *kernelRun) leaves(f *kernel.Func, vars map[string]any) ([]gradient, error) {
	var out []gradient
	for _, g := range k.grads {
		name, file, ok := strings.Cut(g, ":")
		if !ok || name == "" || file == "" {
			return nil, fmt.Errorf("kernel: --grad %q is not NAME:FILE.npy", g)
		}
		x, known := vars[name]
		if !known {
			return nil, fmt.Errorf("kernel: --grad %s: %s has no parameter %s; it has %s", g, f.Name(), name, listed(f.Params()))
		}
		t, isArray := x.(*weft.Tensor)
		switch {
		case !isArray:
			return nil, fmt.Errorf("kernel: --grad %s: %s is a number; only an array has a gradient", g, name)
		case !t.DType().Float() && !t.DType().Complex():
			return nil, failf("kernel: --grad %s: %s has elements of %s; only floats have gradients", g, name, t.DType())
		}
		out = append(out, gradient{name, file, t.RequireGrad()})
	}
	return out, nil
}

// backward writes the gradients of the sum of the results that are floats.
func (k *kernelRun) backward(s *streams, ys []*weft.Tensor, grads []gradient) error {
	if len(grads) == 0 {
		return nil
	}
	var sums, leaves []*weft.Tensor
	for _, y := range ys {
		if y.DType().Float() && y.RequiresGrad() {
			sums = append(sums, y.Sum())
		}
	}
	for _, g := range grads {
		leaves = append(leaves, g.leaf)
	}
	ds := make([]*weft.Tensor, len(grads))
	if len(sums) > 0 {
		if err := weft.Try(func() { ds = weft.GradAll(sums, leaves, weft.GradOpts{AllowUnused: true}) }); err != nil {
			return failure{err}
		}
	}
	for i, g := range grads {
		d := ds[i]
		if d == nil { // no result depends on it, or by steps, as in floor
			d = weft.ZerosLike(g.leaf)
		}
		if err := s.write("the gradient of "+g.name, g.file, d); err != nil {
			return err
		}
	}
	return nil
}

// measure prints the median time of a call.
func (k *kernelRun) measure(w io.Writer, f *kernel.Func, vars map[string]any) error {
	quiet := map[string]any{}
	bytes := 0
	for n, x := range vars {
		if t, ok := x.(*weft.Tensor); ok {
			bytes += t.Size() * t.DType().Size()
			x = t.Detach()
		}
		quiet[n] = x
	}
	for _, y := range k.call(f, quiet) {
		bytes += y.Size() * y.DType().Size()
		y.Release()
	}
	var each []float64
	for range k.times {
		start := time.Now()
		ys := k.call(f, quiet)
		each = append(each, float64(time.Since(start)))
		for _, y := range ys {
			y.Release()
		}
	}
	sort.Float64s(each)
	ns := each[len(each)/2]
	if k.json {
		_, err := fmt.Fprintf(w, `{"times": %d, "nanoseconds": %.1f, "bytes": %d}`+"\n", k.times, ns, bytes)
		return err
	}
	_, err := fmt.Fprintf(w, "\nmedian of %d: %v a call, %.3g GB/s (%d bytes read and written)\n", k.times, roundTo3(time.Duration(ns)), float64(bytes)/ns, bytes)
	return err
}
