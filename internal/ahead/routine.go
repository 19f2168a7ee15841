package ahead

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"text/template"

	"weft/aot"
	"weft/internal/core"
	"weft/internal/ir"
	"weft/internal/op"
	"weft/internal/plan"
)

// A program with products, convolutions or other routines is built as a table for package aot, which
// has the routines. Kernels are the same as in a package that imports nothing.

// runtimePath is the import path of package aot in the module that this program was built from.
var runtimePath = reflect.TypeFor[aot.Program]().PkgPath()

// A form is the Go expression of a routine, with a verb %s for each of its numbers.
type form func(n *ir.Node) (text string, numbers []int)

// routines are the forms of routines that package aot has.
var routines = map[ir.RoutineID]form{
	ir.RoutineMatMul:         plainly("MatMul"),
	ir.RoutineCopy:           plainly("Copy"),
	ir.RoutineConv2d:         ofGeometry("Conv2d"),
	ir.RoutineConv2dInput:    ofGeometry("Conv2dInput"),
	ir.RoutineConv2dWeight:   ofGeometry("Conv2dWeight"),
	ir.RoutineMaxPool2d:      ofWindows("MaxPool"),
	ir.RoutineMaxPool2dPlace: ofWindows("MaxPoolPlace"),
	ir.RoutineMaxPool2dPick:  ofWindows("MaxPoolPick"),
	ir.RoutineWindowMean:     ofWindows("MeanPool"),
	ir.RoutineWindowSpread:   ofWindows("MeanPoolGrad"),
	ir.RoutineArgMax:         ofAxis("ArgMax"),
	ir.RoutineArgMin:         ofAxis("ArgMin"),
	ir.RoutineIndexSelect:    ofAxis("IndexSelect"),
	ir.RoutineIndexCopy:      ofAxis("IndexCopy"),
	ir.RoutineIndexAdd:       ofAxis("IndexAdd"),
	ir.RoutineGather:         ofAxis("Gather"),
	ir.RoutineScatter:        ofAxis("Scatter"),
	ir.RoutineScatterSum:     ofAxis("ScatterSum"),
	ir.RoutineScatterMax:     ofExtreme("ScatterMax"),
	ir.RoutineScatterMin:     ofExtreme("ScatterMin"),
	ir.RoutineScatterProd:    ofExtreme("ScatterProd"),
	ir.RoutineScanSum:        ofScan("ScanSum"),
	ir.RoutineScanProd:       ofAxis("ScanProd"),
	ir.RoutineRecurrence:     ofScan("Recurrence"),
	ir.RoutineMaskSelect:     plainly("MaskSelect"),
	ir.RoutineMaskPlace:      plainly("MaskPlace"),
	ir.RoutinePlaces: func(n *ir.Node) (string, []int) {
		a := n.Attrs.(op.PlacesOf)
		return fmt.Sprintf("aot.Places(%q, %%s%s)", a.Op, strings.Repeat(", %s", len(a.All))), append([]int{a.Size}, a.All...)
	},
	ir.RoutineCheckRange: func(n *ir.Node) (string, []int) {
		r := n.Attrs.(core.RangeCheck)
		return fmt.Sprintf("aot.CheckRange(aot.Range{Op: %q, Arg: %q, Text: %q, Rows: %t, Min: %%s, Max: %%s})", r.Op, r.Arg, strings.ReplaceAll(r.Text, "%", "%%"), r.Rows), []int{int(r.Min), int(r.Max)}
	},
	ir.RoutineRavel: func(n *ir.Node) (string, []int) {
		a := n.Attrs.(op.Raveling)
		text := fmt.Sprintf("aot.RavelIndex(aot.Ravel{Op: %q, Sizes: %s, Args: %s, Axes: %s, Ranks: %s})", a.Of(), verbs(a.Sizes), verbs(a.Args), verbs(a.Axes), verbs(a.Ranks))
		return text, slices.Concat(a.Sizes, a.Args, a.Axes, a.Ranks)
	},
}

// verbs is the literal of a list of numbers, a verb each.
func verbs(list []int) string {
	return "[]int{" + strings.TrimPrefix(strings.Repeat(", %s", len(list)), ", ") + "}"
}

func plainly(name string) form {
	return func(*ir.Node) (string, []int) { return "aot." + name, nil }
}

func ofGeometry(name string) form {
	return func(n *ir.Node) (string, []int) {
		g := op.Geometry(n)
		return "aot." + name + "(aot.Geometry{N: %s, C: %s, H: %s, W: %s, O: %s, KH: %s, KW: %s, StrideH: %s, StrideW: %s, PadH: %s, PadW: %s, DilationH: %s, DilationW: %s, Groups: %s})",
			[]int{g.N, g.C, g.H, g.W, g.O, g.KH, g.KW, g.StrideH, g.StrideW, g.PadH, g.PadW, g.DilationH, g.DilationW, g.Groups}
	}
}

func ofWindows(name string) form {
	return func(n *ir.Node) (string, []int) {
		w := op.Windows(n)
		return fmt.Sprintf("aot.%s(aot.Pool{Window: [2]int{%%s, %%s}, Stride: [2]int{%%s, %%s}, Pad: [2]int{%%s, %%s}, Sum: %t})", name, w.Sum),
			slices.Concat(w.Window[:], w.Stride[:], w.Pad[:])
	}
}

func ofAxis(name string) form {
	return func(n *ir.Node) (string, []int) {
		axis := 0
		switch a := n.Attrs.(type) {
		case op.Axis:
			axis = int(a)
		case op.Target:
			axis = a.Axis
		}
		return "aot." + name + "(%s)", []int{axis}
	}
}

func ofExtreme(name string) form {
	return func(n *ir.Node) (string, []int) {
		a := n.Attrs.(op.Extreme)
		return fmt.Sprintf("aot.%s(%%s, %t)", name, a.Alone), []int{a.Axis}
	}
}

func ofScan(name string) form {
	return func(n *ir.Node) (string, []int) {
		a := n.Attrs.(op.Scan)
		return fmt.Sprintf("aot.%s(%%s, %t)", name, a.Reverse), []int{a.Axis}
	}
}

// A routineStep is a step as templates see it: parts of Go literals.
type routineStep struct {
	loopText
	Does, Routine string
	Args, Outs    []string
	Launch        string
}

// operands are the operands of a step.
func operands(s *plan.Step) []plan.Operand {
	all := slices.Concat(s.Args, s.Outs)
	if k := launched(s); k != nil {
		all = append(all, k.Binds...)
	}
	return all
}

// routineStep describes step i of a program with routines.
func (u *graphUnit) routineStep(f *fitter, all []*trial, i int) (r routineStep, err error) {
	first := &all[0].plan.Steps[i]
	r.Does = doing(first)
	fail := false
	fit := func(get func(s *plan.Step) int) string {
		values := make([]int64, len(all))
		for t := range all {
			values[t] = int64(get(&all[t].plan.Steps[i]))
		}
		x, ok := f.fit(values)
		fail = fail || !ok
		return x
	}
	if first.Node != nil {
		form := routines[op.RoutineOf(first.Node)]
		text, numbers := form(first.Node)
		args := make([]any, len(numbers))
		for k := range numbers {
			args[k] = fit(func(s *plan.Step) int { _, numbers := form(s.Node); return numbers[k] })
		}
		r.Routine = fmt.Sprintf(text, args...)
		for j := range first.Args {
			r.Args = append(r.Args, viewOf(fit, func(s *plan.Step) *plan.Operand { return &s.Args[j] }, &first.Args[j]))
		}
		for j := range first.Outs {
			r.Outs = append(r.Outs, viewOf(fit, func(s *plan.Step) *plan.Operand { return &s.Outs[j] }, &first.Outs[j]))
		}
	}
	if fail {
		return r, fmt.Errorf("a number of step %d (%s) is not a polynomial of the free lengths: fix one with --length", i, r.Does)
	}
	if k := launched(first); k != nil {
		s, err := u.step(f, all, i)
		if err != nil {
			return r, err
		}
		r.Launch, r.loopText = launchOf(&s, k), s.loopText
	}
	return r, nil
}

// viewOf is the literal of a view of an operand, which of finds in a step.
func viewOf(fit func(get func(s *plan.Step) int) string, of func(s *plan.Step) *plan.Operand, first *plan.Operand) string {
	list := func(get func(o *plan.Operand) []int) string {
		var all []string
		for axis := range get(first) {
			all = append(all, fit(func(s *plan.Step) int { return get(of(s))[axis] }))
		}
		return "[]int{" + strings.Join(all, ", ") + "}"
	}
	return fmt.Sprintf("{Slot: %d%s, Type: %q, Shape: %s, Strides: %s}", first.Slot, unlessZero("Offset", fit(func(s *plan.Step) int { return of(s).Offset })), first.DType.String(),
		list(func(o *plan.Operand) []int { return o.Shape }), list(func(o *plan.Operand) []int { return o.Strides }))
}

// unlessZero is a field of a literal that begins before, "" for 0.
func unlessZero(field, x string) string {
	if x == "0" {
		return ""
	}
	return ", " + field + ": " + x
}

// launchOf is the literal of a launch.
func launchOf(s *graphStep, k *plan.Kernel) string {
	var operands, around []string
	for _, b := range s.Binds {
		operands = append(operands, fmt.Sprintf("{Slot: %d%s}", b.Slot, unlessZero("Bytes", b.At)))
	}
	for a, n := range s.Around {
		var steps []string
		for _, b := range s.Binds {
			steps = append(steps, b.Around[a])
		}
		around = append(around, fmt.Sprintf("{Extent: %s, Bytes: []int{%s}}", n, strings.Join(steps, ", ")))
	}
	text := fmt.Sprintf("&aot.Launch{Kernel: %d, Words: []uint64{%s}, Operands: []aot.Operand{%s}", s.Kernel, s.WordList(), strings.Join(operands, ", "))
	if len(s.Numbers) > 0 {
		text += ", Numbers: []aot.Number{"
		for i, n := range s.Numbers {
			text += map[bool]string{true: ", "}[i > 0] + fmt.Sprintf("{Word: %d, From: %d, Single: %t}", n.Word, n.From, n.Single)
		}
		text += "}"
	}
	text += unlessZero("Columns", fmt.Sprint(k.Columns)) + unlessZero("Result", fmt.Sprint(k.Result))
	if len(around) > 0 {
		text += fmt.Sprintf(", Around: []aot.Around{%s}", strings.Join(around, ", "))
	}
	return text + "}"
}

// routineFiles are the templates of a package with routines, by the ends of files.
func routineFiles(kernels bool) map[string]*template.Template {
	files := map[string]*template.Template{".go": routineMain, "_amd64.go": routineAMD64, "_other.go": routineOther, "_amd64.s": routineAssembly, "_test.go": graphTest}
	if kernels {
		files["_kernels.go"] = graphKernels
	}
	return files
}
