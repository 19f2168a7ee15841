package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"weft"
	"weft/kernel"
	"weft/npy"
)

// kernelRun is what the command line of kernel asks for.
type kernelRun struct {
	outputs []string
	grads   []string
	stencil string
	leading bool
	times   int
	explain bool

	opts kernel.StencilOpts
}

func newKernel() *cobra.Command {
	k := &kernelRun{}
	cmd := &cobra.Command{
		Use:   "kernel FILE.go:FUNC [NAME=FILE.npy | NAME=NUMBER]...",
		Short: "Run a Go function over arrays from .npy files",
		Long: `Run a Go function of scalars over arrays from .npy files and numbers, compiled
for this processor. Arguments are given by the names of the function's
parameters; they broadcast.

A function whose first parameter is a neighbourhood (kernel.Near1 to Near6) runs
as a stencil. What it reads beyond the array makes a result part of the border,
which is cval; --stencil says otherwise, as a list of
  mode=constant|wrap|reflect|mirror|nearest   what is read outside, as in SciPy's
                                              ndimage: constant reads cval
  mode=border|valid                           cval there; a smaller result
  cval=NUMBER                                 0 if it is not given
  neighborhood=-3:3x-1:1                      the offsets that are read, where the
                                              source does not tell

Without -o the results are printed; -o is given once for each result.`,
		Example: `  weft kernel escape.go:Escape cr=re.npy ci=im.npy -o n.npy
  weft kernel blur.go:Blur a=picture.npy --stencil mode=reflect -o out.npy
  weft kernel model.go:Loss x=x.npy w=0.5 --grad x:dx.npy --time 100`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return failf("kernel: a function is missing, such as: weft kernel file.go:Func x=x.npy")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			err := k.run(cmd.OutOrStdout(), args[0], args[1:])
			var f failure
			if err != nil && !errors.As(err, &f) {
				err = failure{err}
			}
			return err
		},
	}
	f := cmd.Flags()
	f.StringArrayVarP(&k.outputs, "output", "o", nil, "write a result to this .npy `file`; once for each result")
	f.StringArrayVar(&k.grads, "grad", nil, "write the gradient of the sum of all results by `name:file.npy`; may be repeated")
	f.StringVar(&k.stencil, "stencil", "", "how a stencil treats borders: `mode=...,cval=...,neighborhood=...`")
	f.BoolVar(&k.leading, "leading", false, "align shapes at the first axis, as MATLAB does")
	f.IntVar(&k.times, "time", 0, "compute it this many `times` more and print the median time of a call")
	f.BoolVar(&k.explain, "explain", false, "print the source, the loop program and the machine code")
	if err := cmd.MarkFlagFilename("output", "npy"); err != nil {
		panic(err)
	}
	return cmd
}

func (k *kernelRun) run(w io.Writer, where string, bindings []string) error {
	f, err := lookup(where)
	if err != nil {
		return err
	}
	if k.times < 0 {
		return fmt.Errorf("kernel: --time %d is negative", k.times)
	}
	if err := k.options(f); err != nil {
		return err
	}
	if n := f.Results(); len(k.outputs) > n {
		return fmt.Errorf("kernel: %s has %d results, -o is given %d times", f.Name(), n, len(k.outputs))
	}
	vars, err := k.read(f, bindings)
	if err != nil {
		return err
	}
	grads, err := k.leaves(f, vars)
	if err != nil {
		return err
	}
	var ys []*weft.Tensor
	if err := weft.Try(func() { ys = k.call(f, vars) }); err != nil {
		return err
	}
	for i, y := range ys {
		switch {
		case i < len(k.outputs):
			if err := npy.WriteFile(k.outputs[i], y); err != nil {
				return fmt.Errorf("write result %d to %s: %w", i, k.outputs[i], plain(err))
			}
		case len(k.outputs) == 0:
			if _, err := fmt.Fprintf(w, "%v\n", y); err != nil {
				return fmt.Errorf("print the result: %w", err)
			}
		}
	}
	if err := k.backward(ys, grads); err != nil {
		return err
	}
	if k.explain {
		var s string
		if err := weft.Try(func() { s = f.Explain(k.arguments(f, vars)...) }); err != nil {
			return err
		}
		fmt.Fprintf(w, "\n%s\n", strings.TrimRight(s, "\n"))
	}
	if k.times > 0 {
		return k.measure(w, f, vars)
	}
	return nil
}

// lookup finds FILE.go:FUNC.
func lookup(where string) (*kernel.Func, error) {
	i := strings.LastIndexByte(where, ':')
	if i <= 0 || i == len(where)-1 {
		return nil, fmt.Errorf("kernel: %q is not FILE.go:FUNC", where)
	}
	file, name := where[:i], where[i+1:]
	dir, base := filepath.Split(file)
	if dir == "" {
		dir = "."
	}
	if _, err := os.Stat(file); err != nil {
		return nil, fmt.Errorf("%s: %w", file, plain(err))
	}
	s, err := kernel.ParseFS(exactly{os.DirFS(dir), base}, base)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return s.Lookup(name)
}

// exactly is a file system whose file may have a name that looks like a pattern.
type exactly struct {
	fs.FS
	name string
}

// Glob implements [fs.GlobFS].
func (e exactly) Glob(string) ([]string, error) { return []string{e.name}, nil }

// scipy are the modes by the names of SciPy's ndimage, and two of our own.
var scipy = map[string]kernel.Border{
	"constant": kernel.Fill, "wrap": kernel.Wrap, "reflect": kernel.Reflect, "mirror": kernel.Mirror, "nearest": kernel.Nearest,
	"border": kernel.Constant, "valid": kernel.Valid,
}

// options reads --stencil.
func (k *kernelRun) options(f *kernel.Func) error {
	if k.stencil == "" {
		return nil
	}
	if !f.IsStencil() {
		return fmt.Errorf("kernel: --stencil: the first parameter of %s is no neighbourhood", f.Name())
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
			b, ok := scipy[value]
			if !ok {
				return fmt.Errorf("kernel: --stencil: mode %q is none of constant, wrap, reflect, mirror, nearest, border, valid", value)
			}
			k.opts.Border = b
		case "cval":
			x, ok := parseNumber(value)
			if !ok {
				return fmt.Errorf("kernel: --stencil: cval %q is no number", value)
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

// read reads the values of the function's parameters.
func (k *kernelRun) read(f *kernel.Func, bindings []string) (map[string]any, error) {
	params := f.Params()
	vars := map[string]any{}
	for _, b := range bindings {
		name, value, ok := strings.Cut(b, "=")
		switch {
		case !ok || name == "" || value == "":
			return nil, fmt.Errorf("kernel: %q is not NAME=FILE.npy or NAME=NUMBER", b)
		case vars[name] != nil:
			return nil, fmt.Errorf("kernel: %s is given twice", name)
		case !slices.Contains(params, name):
			return nil, fmt.Errorf("kernel: %s has no parameter %s; it has %s", f.Name(), name, list(params))
		}
		if x, ok := parseNumber(value); ok {
			vars[name] = x
			continue
		}
		t, err := npy.ReadFile(value)
		if errors.Is(err, fs.ErrNotExist) && !strings.ContainsAny(value, "./\\") {
			return nil, fmt.Errorf("%s: %s is neither a number nor a file", name, value)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		vars[name] = t
	}
	var missing []string
	for _, n := range params {
		if vars[n] == nil {
			missing = append(missing, n)
		}
	}
	if missing != nil {
		return nil, fmt.Errorf("kernel: no value for %s: give %s=FILE.npy or %s=NUMBER", list(missing), missing[0], missing[0])
	}
	return vars, nil
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
			return nil, fmt.Errorf("kernel: --grad %s: %s has no parameter %s; it has %s", g, f.Name(), name, list(f.Params()))
		}
		t, isArray := x.(*weft.Tensor)
		switch {
		case !isArray:
			return nil, fmt.Errorf("kernel: --grad %s: %s is a number; only an array has a gradient", g, name)
		case !t.DType().Float() && !t.DType().Complex():
			return nil, fmt.Errorf("kernel: --grad %s: %s has elements of %s; only floats have gradients", g, name, t.DType())
		}
		out = append(out, gradient{name, file, t.RequireGrad()})
	}
	return out, nil
}

// backward writes the gradients of the sum of the results that are floats.
func (k *kernelRun) backward(ys []*weft.Tensor, grads []gradient) error {
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
			return err
		}
	}
	for i, g := range grads {
		d := ds[i]
		if d == nil { // no result depends on it, or by steps, as in floor
			d = weft.ZerosLike(g.leaf)
		}
		if err := npy.WriteFile(g.file, d); err != nil {
			return fmt.Errorf("write the gradient of %s to %s: %w", g.name, g.file, plain(err))
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
	_, err := fmt.Fprintf(w, "\nmedian of %d: %v a call, %.3g GB/s (%d bytes read and written)\n", k.times, roundTo3(time.Duration(ns)), float64(bytes)/ns, bytes)
	return err
}
