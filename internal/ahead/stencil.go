package ahead

import (
	"fmt"
	"go/token"
	"strings"
	"text/template"

	"weft/internal/array"
	"weft/internal/gokernel"
	"weft/internal/loop"
	"weft/internal/op"
)

// A stencil is built as machine code for rows: the last axis is the program's axis, and offsets
// along the others are strides, which are scalar arguments. Plain Go walks the rows, and copies
// arrays with their border where elements outside are read.

// An array of a stencil as templates see it.
type plane struct {
	Name, Type string // of the slice, of its elements
	Value      string // the expression of x, a float64, as an element
	Parts      []part
}

// A word is a word of the frame and the Go expression that it holds.
type word struct {
	Word int
	Expr string
}

type stencilUnit struct {
	unit
	Rank         int
	Lo, Hi       []int
	Planes, Outs []plane
	Numbers      []string // parameters that are numbers, as Go declares them
	NumberList   []string // their names
	Words1       []word   // what scalar arguments are
	Call         string   // the arguments of the function
	Windows      string   // the types of neighbourhoods
	States       int      // results that are the first arrays of the next step; 0 if they cannot be
}

// writeStencil returns the files of a package for a function of neighbourhoods.
func writeStencil(pkg string, f *gokernel.Func, args []array.DType) (map[string][]byte, error) {
	in, err := f.Instantiate(args)
	if err != nil {
		return nil, err
	}
	u := &stencilUnit{unit: unit{Package: pkg, Func: f.Name(), Chunk: chunk, Fuel: fuel, Ptrs: loop.MaxBufs, Words: loop.MaxWords}}
	u.Name = exported(u.Func)
	u.Type = typeArgs(f, args)
	if u.Lo, u.Hi, err = reach(f, in); err != nil {
		return nil, err
	}
	u.Rank = len(u.Lo)
	p, err := u.program(f, in)
	if err != nil {
		return nil, err
	}
	uses, err := u.take(f, p)
	if err != nil {
		return nil, err
	}
	if u.Windows, err = windows(u.Rank, u.Source, uses); err != nil {
		return nil, err
	}
	return render(u, u.Func, map[string]*template.Template{".go": stencilPlain, "_amd64.go": stencilAMD64, "_other.go": stencilOther, "_test.go": stencilTest, "_amd64.s": assembly})
}

// reach is the neighbourhood of the function.
func reach(f *gokernel.Func, in *gokernel.Instance) (lo, hi []int, err error) {
	rank := f.Params()[0].Rank
	lo, hi = make([]int, rank), make([]int, rank)
	for _, o := range in.Loads() {
		at := o.At
		if !o.Constant {
			if o.Open || o.Low == nil {
				return nil, nil, fmt.Errorf("build: %s reads %s at offsets that are not constant", f.Name(), f.Params()[o.Param].Name)
			}
			at = append(at, o.Low, o.High)
		}
		for _, d := range at {
			for k, i := range d {
				lo[k], hi[k] = min(lo[k], i), max(hi[k], i)
			}
		}
	}
	return lo, hi, nil
}

// A rowProgram is the program over one row while it is written.
type rowProgram struct {
	u                *stencilUnit
	b                *loop.Builder
	in               *gokernel.Instance
	strides, extents []loop.Value
	values           map[[2]int]loop.Value // numbers, by parameter and part
	bufs             map[[2]int]int        // neighbourhoods
}

// program is the function over one row.
func (u *stencilUnit) program(f *gokernel.Func, in *gokernel.Instance) (*loop.Program, error) {
	b := loop.NewBuilder(u.Func, []loop.Axis{{Kind: loop.Parallel}}, 0)
	r := &rowProgram{u: u, b: b, in: in, values: map[[2]int]loop.Value{}, bufs: map[[2]int]int{}}
	for k := range u.Rank - 1 {
		r.strides = append(r.strides, r.argument(loop.I64, fmt.Sprintf("uint64(stride[%d])", k)))
	}
	r.strides = append(r.strides, b.Int(loop.I64, 1))
	for k := range u.Rank {
		r.extents = append(r.extents, r.argument(loop.I64, fmt.Sprintf("uint64(shape[%d])", k)))
	}
	r.parameters(f)
	r.results(f)
	if n := len(b.Program().Bufs); n > loop.MaxBufs {
		return nil, fmt.Errorf("build: %s takes %d arrays: %d is the most", u.Func, n, loop.MaxBufs)
	}
	if err := r.body(); err != nil {
		return nil, err
	}
	p, err := b.Done()
	if err != nil {
		return nil, err
	}
	for i := range u.Words1 {
		u.Words1[i].Word = p.ScalarWord(u.Words1[i].Word)
	}
	for _, list := range [][]plane{u.Planes, u.Outs} {
		for _, pl := range list {
			for k := range pl.Parts {
				pl.Parts[k].Word = p.StrideWord(pl.Parts[k].Buf, 0)
			}
		}
	}
	return p, nil
}

// argument is a scalar argument that the Go expression gives.
func (r *rowProgram) argument(t loop.Type, expr string) loop.Value {
	k := r.b.ScalarArg(t)
	r.u.Words1 = append(r.u.Words1, word{k, expr})
	return r.b.Scalar(k)
}

// parameters declares what the function takes.
func (r *rowProgram) parameters(f *gokernel.Func) {
	u := r.u
	var call []string
	for i, q := range f.Params() {
		d, name := r.in.Args()[i], q.Name
		if reserved[name] || stencilReserved[name] {
			name = fmt.Sprint("arg", i)
		}
		if q.Role == gokernel.Near {
			pl := plane{Name: name, Type: element(q, d), Value: valueOf(element(q, d), d)}
			for k := range 1 + btoi(d.Complex()) {
				buf := r.b.Buf(partOf(d), false, stepOf(d))
				r.bufs[[2]int{i, k}] = buf
				pl.Parts = append(pl.Parts, part{Buf: buf, Offset: k * partOf(d).Size(), Step: d.Size()})
			}
			u.Planes = append(u.Planes, pl)
			call = append(call, fmt.Sprintf("Near%d[%s]{%s, at + i, stride, shape}", u.Rank, pl.Type, name))
			continue
		}
		typ := q.Type
		if q.TypeParam >= 0 {
			typ = d.String()
		}
		u.Numbers = append(u.Numbers, name+" "+typ)
		u.NumberList = append(u.NumberList, name)
		call = append(call, name)
		for k := range 1 + btoi(d.Complex()) {
			n := partOf(d).Size()
			expr := fmt.Sprintf("*(*uint%d)(unsafe.Add(unsafe.Pointer(&%s), %d))", 8*n, name, k*n)
			if n < 8 {
				expr = "uint64(" + expr + ")"
			}
			r.values[[2]int{i, k}] = r.argument(loop.TypeOf(partOf(d)), expr)
		}
	}
	u.Call = strings.Join(call, ", ")
}

// results declares what the function returns.
func (r *rowProgram) results(f *gokernel.Func) {
	u, returns := r.u, r.in.Returns()
	u.States = len(returns)
	for i, d := range returns {
		o := plane{Name: "dst", Type: f.Results()[i].Type}
		if len(returns) > 1 {
			o.Name = fmt.Sprint("dst", i)
		}
		if f.Results()[i].DType == array.Invalid {
			o.Type = d.String()
		}
		o.Value = valueOf(o.Type, d)
		for k := range 1 + btoi(d.Complex()) {
			o.Parts = append(o.Parts, part{Buf: r.b.Buf(partOf(d), true, stepOf(d)), Offset: k * partOf(d).Size(), Step: d.Size()})
		}
		u.Outs = append(u.Outs, o)
		if i >= len(u.Planes) || u.Planes[i].Type != o.Type {
			u.States = 0
		}
	}
}

// body writes the function between loads and stores.
func (r *rowProgram) body() error {
	inputs := r.in.Inputs()
	x := make([]loop.Value, len(inputs))
	for k, i := range inputs {
		x[k] = loop.NoValue
		switch {
		case i.Kind == gokernel.DimOf:
			x[k] = r.extents[i.Axis]
		case i.Kind == gokernel.Argument && i.Role == gokernel.Scalar:
			x[k] = r.values[[2]int{i.Param, i.Part}]
		case i.Kind != gokernel.Argument:
			return fmt.Errorf("build: %s asks for indices or random numbers", r.u.Func)
		}
	}
	window := func(k int) op.Access {
		i := inputs[k]
		a := op.Access{Buf: r.bufs[[2]int{i.Param, i.Part}], Strides: r.strides, Extents: r.extents}
		if r.in.Args()[i.Param].Complex() { // a part is every other element
			a.Strides = nil
			for _, s := range r.strides {
				a.Strides = append(a.Strides, r.b.Mul(s, r.b.Int(loop.I64, 2)))
			}
		}
		return a
	}
	r.b.Pass(func() {
		out := r.in.EmitKernel(&op.Emit{B: r.b, X: x, Window: window})
		for _, o := range r.u.Outs {
			for _, q := range o.Parts {
				r.b.Store(q.Buf, out[0])
				out = out[1:]
			}
		}
	})
	return nil
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

func partOf(d array.DType) array.DType {
	if d.Complex() {
		return d.Part()
	}
	return d
}

func stepOf(d array.DType) loop.Step {
	if d.Complex() {
		return loop.By2
	}
	return loop.Unit
}

// element is the Go type of the elements of a neighbourhood.
func element(p gokernel.Param, d array.DType) string {
	if p.TypeParam >= 0 {
		return d.String()
	}
	_, typ, _ := strings.Cut(p.Type, "[")
	return strings.TrimSuffix(typ, "]")
}

// valueOf is the Go expression of x, a float64, as a value of a type.
func valueOf(typ string, d array.DType) string {
	switch {
	case d == array.Bool:
		return typ + "(x != 0)"
	case d.Complex():
		return typ + "(complex(x, 0))"
	}
	return typ + "(x)"
}

// Params are the parameters in front of the shape.
func (u *stencilUnit) Params() string {
	var s []string
	for _, p := range append(append([]plane(nil), u.Outs...), u.Planes...) {
		s = append(s, p.Name+" []"+p.Type)
	}
	return strings.Join(s, ", ")
}

// Names are the arguments in front of the shape.
func (u *stencilUnit) Names() string {
	var s []string
	for _, p := range append(append([]plane(nil), u.Outs...), u.Planes...) {
		s = append(s, p.Name)
	}
	return strings.Join(s, ", ")
}

// PlaneParams are the parameters that are arrays.
func (u *stencilUnit) PlaneParams() string {
	var s []string
	for _, p := range u.Planes {
		s = append(s, p.Name+" []"+p.Type)
	}
	return strings.Join(s, ", ")
}

// NumberParams and NumberNames are the parameters that are numbers, each behind a comma.
func (u *stencilUnit) NumberParams() string { return behind(u.Numbers) }

func (u *stencilUnit) NumberNames() string { return behind(u.NumberList) }

func behind(list []string) string {
	s := ""
	for _, x := range list {
		s += ", " + x
	}
	return s
}

// List is a Go literal of numbers.
func (u *stencilUnit) List(x []int) string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(x), " ", ", "), "[]")
}

// DstAt are the places of results in row i.
func (u *stencilUnit) DstAt() string {
	var s []string
	for _, o := range u.Outs {
		s = append(s, o.Name+"[i]")
	}
	return strings.Join(s, ", ")
}

// Rows are the results and arrays of one row: of n elements from d, and from at on.
func (u *stencilUnit) Rows() string {
	var s []string
	for _, o := range u.Outs {
		s = append(s, o.Name+"[d:d+n]")
	}
	for _, p := range u.Planes {
		s = append(s, p.Name)
	}
	return strings.Join(s, ", ")
}

// stencilReserved are names that the templates of stencils use, beside reserved.
var stencilReserved = map[string]bool{"shape": true, "stride": true, "edge": true, "row": true, "d": true, "k": true, "x": true, "lo": true, "hi": true, "count": true, "first": true, "steps": true, "next": true, "whole": true, "src": true, "v": true, "to": true, "inside": true, "dstStride": true, "place": true}

// windows is the text of the types of package kernel that the source uses.
func windows(rank int, source string, uses []string) (string, error) {
	var s strings.Builder
	for n := rank; n >= 1; n-- {
		var names, terms, bounds, lo, hi, at []string
		for k := range n {
			names = append(names, fmt.Sprint("d", k))
			terms = append(terms, fmt.Sprintf("d%d*a.stride[%d]", k, k))
			bounds = append(bounds, fmt.Sprintf("lo%d, hi%d", k, k))
			lo, hi, at = append(lo, fmt.Sprint("lo", k)), append(hi, fmt.Sprint("hi", k)), append(at, fmt.Sprintf("d[%d]", k))
		}
		terms[n-1] = fmt.Sprintf("d%d", n-1)
		fmt.Fprintf(&s, `
// A Near%d is the neighbourhood of an element of an array, read by offsets from its place.
type Near%d[T any] struct {
	data          []T
	at            int
	stride, shape [%d]int
}

// At returns the element at that offset.
func (a Near%d[T]) At(%s int) T { return a.data[a.at+%s] }

// Dim returns the length of an axis of the array.
func (a Near%d[T]) Dim(axis int) int { return a.shape[axis] }

// Slice returns the elements at offsets from lo to below hi along each axis.
func (a Near%d[T]) Slice(%s int) Seq[T] {
	return between([]int{%s}, []int{%s}, func(d ...int) T { return a.At(%s) })
}
`, n, n, n, n, strings.Join(names, ", "), strings.Join(terms, "+"), n, n, strings.Join(bounds, ", "), strings.Join(lo, ", "), strings.Join(hi, ", "), strings.Join(at, ", "))
		if n > 1 {
			fmt.Fprintf(&s, `
// Row returns the neighbourhood in the row of that offset.
func (a Near%d[T]) Row(d int) Near%d[T] {
	return Near%d[T]{a.data, a.at + d*a.stride[0], [%d]int(a.stride[1:]), [%d]int(a.shape[1:])}
}
`, n, n-1, n-1, n-1, n-1)
		}
	}
	s.WriteString(seqText)
	for _, name := range uses {
		text, ok := functionTexts[name]
		if !ok && !strings.HasPrefix(name, "Near") && name != "Seq" {
			return "", fmt.Errorf("build: kernel.%s cannot be part of a package that imports nothing of weft", name)
		}
		s.WriteString(text)
	}
	for _, name := range []string{"Border", "Edge", "Seq", "Near1", "Near2", "Near3", "Near4", "Near5", "Near6", "Keep", "Constant", "Fill", "Wrap", "Reflect", "Mirror", "Nearest", "between", "padded", "eachRow", "stridesOf"} {
		if declares(source, name) {
			return "", fmt.Errorf("build: the source declares %s, which is a name of the package", name)
		}
	}
	for _, name := range uses {
		if declares(source, name) {
			return "", fmt.Errorf("build: the source declares %s, which is a name of the package", name)
		}
	}
	return s.String(), nil
}

// declares reports a top-level declaration of a name.
func declares(source, name string) bool {
	for _, kind := range []string{"func ", "type ", "const "} {
		for _, line := range strings.Split(source, "\n") {
			if rest, ok := strings.CutPrefix(line, kind+name); ok && (rest == "" || !token.IsIdentifier("a"+rest[:1])) {
				return true
			}
		}
	}
	return false
}
