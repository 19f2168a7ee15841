package sym

import (
	"fmt"
	"slices"
	"sync/atomic"

	"weft"
	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/ir"
)

// An apply is one operation of variables.
type apply struct {
	name string
	args []*Var
	// run computes the results of tensors, in order of args.
	run  func(r *replay, args []*weft.Tensor) []*weft.Tensor
	outs []*Var
	pc   uintptr

	// Instead of run for derivatives and others that need the variables themselves.
	eval func(r *replay) []*weft.Tensor
	// again makes the same operation of other variables.
	again func(args []*Var) []*Var
	// derivative marks what goes back through the tape, to the arguments from number wrt on.
	derivative bool
	wrt        int
	apart      bool              // no gradient flows to the arguments
	random     []*weft.Generator // by which each run draws anew
	was        atomic.Uint64     // how many test values there were when it was tried for them
	folding    *folding          // unless nil: it is computed from constants alone
	written    []written         // the arguments as the user wrote them; nil: args
	bodies     []*body           // what a loop or branch runs
	branch     *branch           // unless nil: it is an IfElse

	size  func(r *replay) size // unless nil: the result as a size
	lens  int                  // how many of the last args are sizes, whose tensors run does not get
	sized bool                 // sizes are variables, here or in a body
}

// written is an argument of an operation as the user wrote it: a variable among its arguments, or
// a Go value, which at -1 says.
type written struct {
	at    int
	value any
}

// asVar makes a variable of an argument of an operation: a *Var, or a tensor, which is a
// constant.
func asVar(opName string, x any) *Var {
	switch x := x.(type) {
	case *Var:
		x.notNil(opName)
		return x
	case *weft.Tensor:
		return tensorVar(opName, "", x, constant)
	}
	array.Failf(opName, "", "takes a *sym.Var, a *weft.Tensor or a Go number, not %T", x)
	return nil
}

// An op collects the variables among the arguments of an operation while it is made.
type operation struct {
	name   string
	args   []*Var
	random []*weft.Generator // by which each run draws anew
	opaque bool              // each call does it, whatever the arguments are

	written []written
}

// draws notes a generator by which the operation draws, nil for the default one.
func (o *operation) draws(g *weft.Generator) {
	if g == nil {
		g = weft.DefaultGenerator()
	}
	o.random = append(o.random, g)
}

// arg notes a variable and returns how to find its tensor.
func (o *operation) arg(x any) func(ts []*weft.Tensor) *weft.Tensor {
	if v, ok := x.(*Var); ok && v == nil {
		array.Failf(o.name, "", "argument %d is a nil variable", len(o.args))
	}
	i := len(o.args)
	o.args, o.written = append(o.args, asVar(o.name, x)), append(o.written, written{at: i})
	return func(ts []*weft.Tensor) *weft.Tensor { return ts[i] }
}

// plain notes an argument that is a Go value.
func (o *operation) plain(x any) { o.written = append(o.written, written{-1, x}) }

// optional is arg for what may be nil.
func (o *operation) optional(x *Var) func(ts []*weft.Tensor) *weft.Tensor {
	if x == nil {
		return func([]*weft.Tensor) *weft.Tensor { return nil }
	}
	return o.arg(x)
}

// any is arg for what may be a variable, a tensor, or anything else, which stays.
func (o *operation) any(x any) func(ts []*weft.Tensor) any {
	switch x := x.(type) {
	case *Var, *weft.Tensor:
		f := o.arg(x)
		return func(ts []*weft.Tensor) any { return f(ts) }
	}
	o.plain(x)
	return func([]*weft.Tensor) any { return x }
}

// list is arg for several.
func (o *operation) list(xs []*Var) func(ts []*weft.Tensor) []*weft.Tensor {
	i := len(o.args)
	for _, x := range xs {
		o.arg(x)
	}
	return func(ts []*weft.Tensor) []*weft.Tensor { return ts[i : i+len(xs)] }
}

// anys is any for several.
func (o *operation) anys(xs []any) func(ts []*weft.Tensor) []any {
	fs := make([]func(ts []*weft.Tensor) any, len(xs))
	for i, x := range xs {
		fs[i] = o.any(x)
	}
	return func(ts []*weft.Tensor) []any {
		out := make([]any, len(fs))
		for i, f := range fs {
			out[i] = f(ts)
		}
		return out
	}
}

// one makes the operation, which has one result.
func (o *operation) one(f func(ts []*weft.Tensor) *weft.Tensor, hints ...any) *Var {
	return o.several(func(ts []*weft.Tensor) []*weft.Tensor { return []*weft.Tensor{f(ts)} }, hints...)[0]
}

// several makes the operation; hints are numbers among its arguments, which sizes may have to
// fit.
func (o *operation) several(f func(ts []*weft.Tensor) []*weft.Tensor, hints ...any) []*Var {
	a := &apply{name: o.name, args: o.args, written: o.written, random: o.random, pc: array.Caller(), run: func(_ *replay, ts []*weft.Tensor) []*weft.Tensor { return f(ts) }}
	a.again = func(args []*Var) []*Var {
		return (&operation{name: o.name, args: args, written: o.written, random: o.random, opaque: o.opaque}).several(f, hints...)
	}
	if len(o.random) == 0 && !o.opaque {
		a.fold()
	}
	return a.make(infer(a, f, hints))
}

// make gives the operation its results.
func (a *apply) make(types []ir.Type) []*Var {
	for i, t := range types {
		a.outs = append(a.outs, &Var{dtype: t.DType, shape: t.Shape, pc: a.pc, id: ids.Add(1), from: a, out: i})
	}
	if len(a.outs) > 0 {
		a.try()
	}
	return a.outs
}

// rename is the variable itself, under a name.
func rename(v *Var, name string) *Var {
	o := operation{name: "as"}
	x := o.arg(v)
	a := &apply{name: "as", args: o.args, pc: v.pc, run: func(_ *replay, ts []*weft.Tensor) []*weft.Tensor { return []*weft.Tensor{x(ts)} }}
	a.again = func(args []*Var) []*Var { return []*Var{rename(args[0], name)} }
	a.fold()
	n := a.make([]ir.Type{{DType: v.dtype, Shape: v.shape}})[0]
	n.name = name
	return n
}

// infer finds the types of the results: it runs the operation on tensors without memory, with
// choices of sizes in the place of unknown ones. What is the same with all is known.
func infer(a *apply, f func(ts []*weft.Tensor) []*weft.Tensor, hints []any) []ir.Type {
	unknown := 0
	for _, v := range a.args {
		for _, n := range v.shape {
			if n == Any {
				unknown++
			}
		}
	}
	run := func(ts []*core.Tensor) []*core.Tensor { return core.Inner(f(core.Outer[weft.Tensor](ts))) }
	try := func(sizes []int) (outs []ir.Type, err error) {
		k, types := 0, typesOf(a.args)
		for i, v := range a.args {
			for d, n := range v.shape {
				if n == Any {
					types[i].Shape[d] = sizes[k]
					k++
				}
			}
		}
		err = weft.Try(func() { outs = core.Infer(types, run) })
		return outs, err
	}
	if unknown == 0 {
		outs, err := try(nil)
		a.check(err)
		return outs
	}
	first, second := slices.Repeat([]int{sizeA}, unknown), slices.Repeat([]int{sizeB}, unknown)
	one, err := try(first)
	if err != nil {
		// Some sizes must equal sizes of other arguments, or fit numbers.
		sizes, found := a.search(unknown, hints, func(sizes []int) bool {
			outs, err := try(sizes)
			one = outs
			return err == nil
		})
		if !found {
			a.check(err)
		}
		for i, n := range sizes {
			if first[i] = n; n != sizeA {
				second[i] = n
			}
		}
	}
	two, err := try(second)
	if err != nil {
		return vary(one, func(_, _, n int) bool { return n == sizeA })
	}
	if len(one) != len(two) {
		array.Failf(a.name, "", "the number of results depends on sizes that are not known%s: give them to sym.New", at(a.pc))
	}
	for i := range one {
		if len(one[i].Shape) != len(two[i].Shape) {
			array.Failf(a.name, "", "the number of dimensions of the result depends on sizes that are not known%s: give them to sym.New", at(a.pc))
		}
	}
	one = vary(one, func(i, d, n int) bool { return n != two[i].Shape[d] })
	// What cuts a size to another, such as a slice, gives less of nothing.
	for i, n := range second {
		if n == sizeB {
			second[i] = 0
		}
	}
	none, err := try(second)
	if err != nil || !slices.EqualFunc(one, none, func(x, y ir.Type) bool { return len(x.Shape) == len(y.Shape) }) {
		return one
	}
	return vary(one, func(i, d, n int) bool { return n != none[i].Shape[d] })
}

// vary returns types in which the sizes that varies holds for are not known: of type i, axis d.
func vary(types []ir.Type, varies func(i, d, n int) bool) []ir.Type {
	for i := range types {
		types[i].Shape = slices.Clone(types[i].Shape)
		for d, n := range types[i].Shape {
			if varies(i, d, n) {
				types[i].Shape[d] = Any
			}
		}
	}
	return types
}

// Sizes that stand for unknown ones.
const (
	sizeA = 24
	sizeB = 36
)

// maxTries bounds the search for sizes that fit.
const maxTries = 2000

// search looks for sizes among those that occur in arguments and in numbers.
func (a *apply) search(unknown int, hints []any, fits func(sizes []int) bool) ([]int, bool) {
	var choices []int
	add := func(n int) {
		if n > 0 && n < 1<<20 && !slices.Contains(choices, n) {
			choices = append(choices, n)
		}
	}
	add(sizeA)
	for _, v := range a.args {
		for _, n := range v.shape {
			add(n)
		}
	}
	for _, h := range hints {
		switch h := h.(type) {
		case int:
			add(h)
		case []int:
			product, sum := 1, 0
			for _, n := range h {
				add(n)
				if n > 0 {
					product, sum = min(product*n, 1<<20), sum+n
				}
			}
			add(product)
			add(sum)
		}
	}
	add(1)
	sizes := make([]int, unknown)
	tries := 0
	var walk func(k int) bool
	walk = func(k int) bool {
		if k == unknown {
			tries++
			return fits(sizes)
		}
		for _, n := range choices {
			sizes[k] = n
			if walk(k + 1) {
				return true
			}
			if tries >= maxTries {
				break
			}
		}
		return false
	}
	return sizes, walk(0)
}

// check panics with an error of making the operation: with the variables and the line.
func (a *apply) check(err error) {
	if err == nil {
		return
	}
	e, ok := err.(*weft.Error)
	if !ok {
		panic(err)
	}
	c := *e
	c.Msg += a.of() + at(a.pc)
	panic(&c)
}

// of names the arguments for messages.
func (a *apply) of() string {
	s := ""
	for i, v := range a.args {
		if i == 0 {
			s = ", of "
		} else {
			s += ", "
		}
		s += fmt.Sprint(v)
	}
	return s
}
