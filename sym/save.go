package sym

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"weft"
	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/ir"
)

// Functions as files, which run without the variables that made them.

// exampleLength is the length for which free axes are traced first. Many sizes divide it.
// exampleLengthOfSizes is that of a function with sizes that are values, which are shorter then.
const (
	exampleLength        = 8
	exampleLengthOfSizes = 40
)

// Save writes the function to the file at path, as [weft.Compiled.Save] does: [weft.LoadProgram] and the
// command weft run read it. Shared variables and generators go on in the program from where they are
// now. So do default values of inputs. Inputs and results have the names of their variables, and shared variables too, where
// [weft.SaveOpts] gives no others.
//
// Axes of length [Any] are free. Which of them have one length is found by trying: all have their own,
// or the first axes of all inputs have one, n, or all axes do, or some have the length of an axis of a
// weight. Inputs of the options, such as "x[n 784]", says it instead; a number there fixes a length.
//
// Sizes that are values, such as bounds of slices and counts, are computed in each call of the program.
//
// The error is that of a file, or an *[weft.Error]: an [Op] or another function in Go, a count of what has
// such a size itself, or a graph that differs with the lengths.
func (f *Fn) Save(path string, opts ...weft.SaveOpts) error {
	o := array.Options("save", opts)
	var p *core.Unwritten
	err := weft.Try(func() {
		f.notNil()
		run := f.run.Load()
		if run == nil {
			array.Failf(f.label(), "", "was freed")
		}
		if f.family != nil && len(f.family.open) > 0 {
			v := f.family.open[0]
			array.Failf("save", v.label(), "is a shared variable whose sizes may change, which a file cannot hold%s", v.where())
		}
		p = f.program(run, &o)
		for i := range f.inputs {
			if t, ok := f.inputs[i].Value.(*weft.Tensor); ok {
				p.AddDefault(i, (*core.Tensor)(t))
			}
		}
	})
	if err != nil {
		return err
	}
	return p.Write(path, o.File, func(name string) bool {
		return o.Weights[name] != nil || slices.ContainsFunc(f.allShared(), func(v *Var) bool { return v.name == name })
	})
}

// program returns the function as data.
func (f *Fn) program(run *core.Func, o *weft.SaveOpts) *core.Unwritten {
	names := core.SaveNames{Outputs: o.Outputs, Name: func(t *core.Tensor) string {
		for name, w := range o.Weights {
			if (*core.Tensor)(w).Layout().Store == t.Layout().Store {
				return name
			}
		}
		return run.Label(t.Layout().Store)
	}}
	if len(names.Outputs) == 0 {
		names.Outputs = identifiers(f.outputs.names, "y")
	}
	if len(o.Inputs) > 0 {
		names.Inputs = o.Inputs
		return core.Save(f.example(o.Inputs), names, f.recorder(run))
	}
	var first error
	for _, length := range f.guesses() {
		var p *core.Unwritten
		err := weft.Try(func() {
			names.Inputs = f.patterns(length)
			p = core.Save(f.example(names.Inputs), names, f.recorder(run))
		})
		if err == nil {
			return p
		}
		if first == nil {
			first = err
		}
	}
	panic(first)
}

// recorder traces the function for a file. Sizes that are values have numbers in the trace, and graphs of
// their own that compute them.
func (f *Fn) recorder(run *core.Func) core.Recorder {
	return func(types []ir.Type, fixed func(i int) int) *core.TracedGraph {
		if f.family == nil {
			return run.Record(types)
		}
		var c *supply
		g := run.RecordAs(types, func(args []*core.Tensor) []*core.Tensor {
			c = &supply{fixed: fixed}
			return f.family.body(args, c)
		})
		for i, s := range c.sizes {
			if s.in == nil {
				array.Failf("save", "", "%s has a size that follows from elements in a way that no file holds", f.label())
			}
			g.AddSize(c.values[i], run.RecordAs(types, func(args []*core.Tensor) []*core.Tensor { return f.sizeOf(args, s) }))
		}
		return g
	}
}

// sizeOf computes a size from arguments.
func (f *Fn) sizeOf(args []*core.Tensor, s size) []*core.Tensor {
	var line uintptr
	defer func() { // with the line of the operation
		x := recover()
		if e, ok := x.(*weft.Error); ok {
			c := *e
			c.Msg += at(line)
			x = &c
		}
		if x != nil {
			panic(x)
		}
	}()
	n := s.in(func(v *Var) *weft.Tensor {
		r := newReplay([]*Var{v}, &line)
		r.choose(&f.choice)
		for i, p := range f.inputs {
			r.values[p.Var] = core.Outer[weft.Tensor](args)[i].Detach()
		}
		return r.value(v).Detach()
	})
	return core.Inner([]*weft.Tensor{n.To(weft.Int64).Clone()})
}

// maxGuesses bounds the ways in which lengths are tried.
const maxGuesses = 100

// allShared returns the shared variables that the function reads or writes.
func (f *Fn) allShared() []*Var {
	all := append(order(append(slices.Clone(f.outputs.vars), f.next...)), f.shared...)
	return slices.DeleteFunc(all, func(v *Var) bool { return v.role != shared })
}

// guesses are ways to name or fix the axes that have any length. Lengths that are fixed are sizes of
// other variables, such as weights.
func (f *Fn) guesses() []func(name string, axis int) string {
	own := func(name string, axis int) string { return fmt.Sprintf("%s_%d", name, axis) }
	rows := func(name string, axis int) string {
		if axis == 0 {
			return "n"
		}
		return own(name, axis)
	}
	list := []func(name string, axis int) string{own, rows, func(string, int) string { return "n" }}
	axes := 0 // that are not the first of an input
	for _, p := range f.inputs {
		for axis, n := range p.Var.shape {
			if n == Any && axis > 0 {
				axes++
			}
		}
	}
	var known []int
	for _, v := range order(append(slices.Clone(f.outputs.vars), f.next...)) {
		for _, n := range v.shape {
			if n != Any && !slices.Contains(known, n) {
				known = append(known, n)
			}
		}
	}
	for code := 1; axes > 0 && code < maxGuesses; code++ { // its digits are which size each axis has, 0 for none
		digits, rest := make([]int, axes), code
		for i := range digits {
			digits[i], rest = rest%(len(known)+1), rest/(len(known)+1)
		}
		if rest > 0 {
			break
		}
		for _, first := range []func(string, int) string{own, rows} {
			at := map[string]int{}
			list = append(list, func(name string, axis int) string {
				if axis == 0 {
					return first(name, axis)
				}
				key := own(name, axis)
				if _, ok := at[key]; !ok {
					at[key] = digits[len(at)]
				}
				if k := at[key]; k > 0 {
					return strconv.Itoa(known[k-1])
				}
				return key
			})
		}
	}
	return list
}

// identifiers returns names, with prefix and a number in the place of those that no file can have.
func identifiers(names []string, prefix string) []string {
	out := make([]string, len(names))
	seen := map[string]bool{}
	for i, name := range names {
		if !core.IsIdentifier(name) || seen[name] {
			if name = prefix; len(names) > 1 {
				name = fmt.Sprint(prefix, i)
			}
		}
		seen[name] = true
		out[i] = name
	}
	return out
}

// patterns describes the inputs, with a name for each axis that has any length.
func (f *Fn) patterns(length func(name string, axis int) string) []string {
	names := make([]string, len(f.inputs))
	for i, p := range f.inputs {
		names[i] = p.Name
	}
	names = identifiers(names, "x")
	for i, p := range f.inputs {
		var sizes []string
		for axis, n := range p.Var.shape {
			if n == Any {
				sizes = append(sizes, length(names[i], axis))
			} else {
				sizes = append(sizes, strconv.Itoa(n))
			}
		}
		names[i] += "[" + strings.Join(sizes, " ") + "]"
	}
	return names
}

// example returns types of arguments for descriptions of the inputs.
func (f *Fn) example(patterns []string) []ir.Type {
	if len(patterns) != len(f.inputs) {
		array.Failf("save", "Inputs", "are %d, the function has %s", len(patterns), array.Count(len(f.inputs), "input"))
	}
	types := make([]ir.Type, len(f.inputs))
	for i, p := range f.inputs {
		_, rest, _ := strings.Cut(strings.TrimSuffix(strings.TrimSpace(patterns[i]), "]"), "[")
		sizes := strings.FieldsFunc(rest, func(r rune) bool { return r == ',' || r == ' ' })
		t := ir.Type{DType: p.Var.dtype, Shape: make([]int, len(p.Var.shape))}
		for axis, n := range p.Var.shape {
			if n == Any {
				if n = exampleLength; f.family != nil {
					n = exampleLengthOfSizes
				}
				if axis >= len(sizes) {
					array.Failf("save", "Inputs", "%q does not say what the length of axis %d is: it is any", patterns[i], axis)
				}
				if k, err := strconv.Atoi(sizes[axis]); err == nil {
					n = k
				}
			}
			t.Shape[axis] = n
		}
		types[i] = t
	}
	return types
}
