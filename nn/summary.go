package nn

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"text/tabwriter"
	"unicode/utf8"

	"weft"
	"weft/internal/array"
)

// Summary is a table of the layers of a module that have tensors of their own: their
// names and types, the tensors with their shapes, and how many numbers those hold. The
// last lines add up what is trained, what is not (frozen parameters and buffers, such as running
// statistics, which PyTorch's counts of parameters leave out), and all.
//
// With inputs of the module's Forward it is a table of the calls of layers, in their order, as
// torchinfo's: the shapes of the inputs, what each returns, the numbers that it holds and its multiply-adds (MACs) in matrix products, convolutions and
// attention. A layer with others inside has what they do not. Forward runs on tensors without memory:
// nothing is computed or changed, and inputs may be zeros of the right shape. It runs in the mode, training or not,
// that the module is in. Layers of a user that do not go through [Call] are not seen themselves.
//
//	fmt.Print(nn.Summary(net, weft.Zeros(1, 3, 224, 224)))
//
// It panics with *weft.Error if the module has no Forward of that number of tensors, or if Forward reads
// elements.
func Summary(m any, inputs ...*weft.Tensor) string {
	if len(inputs) > 0 {
		return summaryOfCalls(m, inputs)
	}
	defer array.Named("summary").End()
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "layer\ttype\ttensors\tnumbers")
	lines, totals := ownTensors(m)
	for _, l := range lines {
		fmt.Fprintf(w, "%s\t%s\t%s\t%d\n", l.name, l.typ, strings.Join(l.tensors, ", "), l.count)
	}
	fmt.Fprintf(w, "trained\t\t\t%d\n", totals.trained)
	fmt.Fprintf(w, "not trained\t\t\t%d\n", totals.rest)
	fmt.Fprintf(w, "all\t\t\t%d\n", totals.trained+totals.rest)
	w.Flush()
	return ruled(b.String())
}

// totalLines are the last lines of a table: trained, not trained, all.
const totalLines = 3

// ruled returns a table with lines behind its head and before its totals.
func ruled(table string) string {
	lines := strings.Split(strings.TrimSuffix(table, "\n"), "\n")
	width := 0
	for i, l := range lines {
		lines[i] = strings.TrimRight(l, " ")
		width = max(width, utf8.RuneCountInString(lines[i]))
	}
	rule := strings.Repeat("-", width)
	lines = slices.Insert(lines, len(lines)-totalLines, rule)
	return strings.Join(slices.Insert(lines, 1, rule), "\n") + "\n"
}

// A layerLine is a layer with tensors of its own.
type layerLine struct {
	name, typ string
	tensors   []string
	count     int
}

// numberCounts are the numbers of elements of a module's tensors.
type numberCounts struct{ trained, rest int }

// ownTensors returns the layers of a module that have tensors of their own.
func ownTensors(m any) (lines []*layerLine, totals numberCounts) {
	byName := map[string]*layerLine{}
	types := map[string]string{}
	walk := walker{seen: map[step]bool{}}
	walk.value = func(name string, v reflect.Value) bool {
		if v.Kind() == reflect.Struct {
			if _, ok := types[name]; !ok { // of an embedded struct: the one that has it
				types[name] = v.Type().String()
			}
		}
		return true
	}
	walk.walk("", reflect.ValueOf(m))
	for name, t := range tensors(m) {
		owner, part := "", name
		// The longest name of a layer that is a part of the tensor's.
		for i := len(name) - 1; i >= 0; i-- {
			if _, ok := types[name[:i]]; ok && name[i] == '.' {
				owner, part = name[:i], name[i+1:]
				break
			}
		}
		l := byName[owner]
		if l == nil {
			l = &layerLine{name: owner, typ: types[owner]}
			byName[owner], lines = l, append(lines, l)
		}
		l.tensors = append(l.tensors, part+" "+array.ShapeString(t.Shape()))
		l.count += t.Size()
		if t.RequiresGrad() {
			totals.trained += t.Size()
		} else {
			totals.rest += t.Size()
		}
	}
	return lines, totals
}

// summaryOfCalls is [Summary] with inputs.
func summaryOfCalls(m any, inputs []*weft.Tensor) string {
	forward := forwardOf(m, inputs)
	lines, totals := ownTensors(m)
	numbers := map[string]*layerLine{}
	for _, l := range lines {
		numbers[l.name] = l
	}
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "layer\ttype\tresult\tnumbers\tMACs")
	fmt.Fprintf(w, "input\t\t%s\t\t\n", shapesOf(inputs))
	called := map[string]bool{}
	calls := dryCalls(m, inputs, forward)
	for i, c := range calls {
		if c.skipped {
			continue
		}
		count := "0"
		if l := numbers[c.path]; l != nil && (i == 0 || c.path != "") {
			if count = fmt.Sprint(l.count); called[c.path] {
				count = "as above"
			}
			called[c.path] = true
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%d\n", c.path, c.typ, shapesOf(c.out), count, c.macs-c.inside)
	}
	for _, l := range lines {
		if !called[l.name] {
			fmt.Fprintf(w, "%s\t%s\tnot called\t%d\t\n", l.name, l.typ, l.count)
		}
	}
	fmt.Fprintf(w, "trained\t\t\t%d\t\n", totals.trained)
	fmt.Fprintf(w, "not trained\t\t\t%d\t\n", totals.rest)
	fmt.Fprintf(w, "all\t\t\t%d\t%d\n", totals.trained+totals.rest, calls[0].macs)
	w.Flush()
	return ruled(b.String())
}

// dryCalls returns the calls of a module's layers.
func dryCalls(m any, inputs []*weft.Tensor, forward func(in []*weft.Tensor) []*weft.Tensor) (calls []*layerCall) {
	var e *array.Error
	if err := weft.Try(func() { calls = record(m, inputs, forward) }); errors.As(err, &e) {
		if e.Op == "compile" && e.Layer == "" {
			array.Failf("summary", "m", "has a Forward that cannot run on tensors without memory: %s", e.Msg)
		}
		panic(e)
	}
	return calls
}

// shapesOf are the shapes of results.
func shapesOf(ts []*weft.Tensor) string {
	var list []string
	for _, t := range ts {
		if t != nil {
			list = append(list, array.ShapeString(sizes(t)))
		}
	}
	return strings.Join(list, ", ")
}

// forwardOf returns the Forward of a module as a function of lists.
func forwardOf(m any, inputs []*weft.Tensor) func(in []*weft.Tensor) []*weft.Tensor {
	for i, x := range inputs {
		if x == nil {
			array.Failf("summary", "inputs", "have nil as tensor %d", i)
		}
	}
	v := reflect.ValueOf(m)
	f := reflect.Value{}
	if v.IsValid() {
		f = v.MethodByName("Forward")
	}
	ok := f.IsValid() && (f.Type().NumIn() == len(inputs) || f.Type().IsVariadic() && len(inputs) >= f.Type().NumIn()-1)
	for i := range inputs {
		if ok && !(f.Type().IsVariadic() && i >= f.Type().NumIn()-1) {
			ok = f.Type().In(i) == tensorType
		}
	}
	if !ok {
		array.Failf("summary", "m", "is a %T, which has no Forward of %s", m, array.Count(len(inputs), "tensor"))
	}
	return func(in []*weft.Tensor) (out []*weft.Tensor) {
		args := make([]reflect.Value, len(in))
		for i, x := range in {
			args[i] = reflect.ValueOf(x)
		}
		for _, y := range f.Call(args) {
			if t, ok := y.Interface().(*weft.Tensor); ok {
				out = append(out, t)
			}
		}
		return out
	}
}
