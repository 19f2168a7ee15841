package ahead

import (
	"fmt"
	"go/token"
	"slices"
	"strings"
	"text/template"

	"weft/aot"
	"weft/internal/array"
	"weft/internal/gosource"
	"weft/internal/jit"
	"weft/internal/loop"
	"weft/internal/plan"
	"weft/internal/raw"
	"weft/internal/saved"
	"weft/internal/x86"
)

// A saved program is built from its plan: each step of the plan becomes a line of Go that runs a
// kernel. A kernel is a loop program as Go source and as machine code. Numbers of the plan that depend
// on free lengths become expressions of them.

// GraphOpts are the options of [WriteGraph].
type GraphOpts struct {
	Package, Name string         // of the package and its function
	Lengths       map[string]int // free lengths that are fixed
}

// An argument is an array of the function as templates see it.
type argument struct {
	Name, Type string // of the slice, of its elements
	What       string // the type as text
	Size       string // the number of elements, a Go expression
	Index      bool   // elements may be indices
	Bytes      int    // of an element
}

// A constant is a part of the file of constants.
type constant struct{ At, Bytes, Width int }

// A graphKernel is a distinct loop program.
type graphKernel struct {
	Number              int
	Does                string
	Scalars, Axes, Lane int
	Moves               []string // by buffer: bits of the axes along which it moves
	Sizes               []string // by buffer: bytes of an element
	Reduces             bool
	Cost                int
	Codes               []code
	Scratch             int // bytes that machine code uses at most
	program             *loop.Program
}

// A graphStep runs a kernel.
type graphStep struct {
	loopText
	Kernel  int
	Does    string
	Words   []string
	Places  []string
	Around  []string     // extents of axes around the kernel
	Binds   []bind       // places by slot, for a program with routines
	Numbers []callNumber // words that are numbers of the call, for a program with routines
}

// A layout is the steps for some lengths.
type layout struct {
	Func    string
	When    string // the lengths for which it is, a Go condition; "" for all others
	Refuses bool   // the program does not take these lengths
	at      []int  // what it fixes of the lengths: 0 and 1, -1 for those that are free
	plan    *plan.Plan
	Parts   []string // bytes of the parts of temporary memory
	Slots   []string
	Steps   []graphStep
	Table   []routineStep // the steps of a program with routines
	Divides []divide
}

type graphUnit struct {
	GraphOpts
	Free          []string // names of free lengths
	Args, Results []argument
	Copies        [][2]string // results that are arguments, or other results
	Written       []string    // arguments that calls write
	State         graphState
	Constants     []constant
	Layouts       []*layout
	Kernels       []*graphKernel
	Tests         []string // lengths as elements of Go literals
	Source        string
	Imports       []string
	Ptrs, Words   int
	Scratch       int
	Fuel          int
	UsesMath      bool
	Runtime       string // the import path of package aot, for a program with routines

	of      *saved.Program
	data    []byte
	numbers map[string]int // of kernels by their keys
	placed  map[int]int    // constants by state
}

// WriteGraph returns the files of a package for a saved program.
func WriteGraph(p *saved.Program, o GraphOpts) (map[string][]byte, error) {
	if !token.IsIdentifier(o.Package) || o.Package == "main" || !token.IsIdentifier(o.Name) || !token.IsExported(o.Name) {
		return nil, fmt.Errorf("build: %q and %q cannot be the names of a package and a function", o.Package, o.Name)
	}
	u := &graphUnit{GraphOpts: o, Ptrs: loop.MaxBufs, Words: loop.MaxWords, Fuel: fuel, of: p, numbers: map[string]int{}, placed: map[int]int{}}
	var err error
	if e := array.Try(func() { err = u.describe(p) }); e != nil {
		err = e
	}
	if err != nil {
		return nil, fmt.Errorf("build: %w", err)
	}
	return u.files()
}

// maxFree is the number of lengths that may be free: each triples the layouts.
const maxFree = aot.MaxLengths

// describe plans the program and describes what it does.
func (u *graphUnit) describe(p *saved.Program) error {
	z := sizing{p: p}
	for _, name := range p.Lengths {
		n, ok := u.Lengths[name]
		if !ok {
			n = -1
			u.Free = append(u.Free, u.unused(name))
		}
		z.fixed = append(z.fixed, n)
	}
	switch {
	case len(p.Sizes) > 0:
		return fmt.Errorf("%s has sizes that are values, which it computes in each call", p.Name)
	case len(u.Free) > maxFree:
		return fmt.Errorf("%s has %d free lengths, %d at most can be built: fix some with --length", p.Name, len(u.Free), maxFree)
	}
	all, multiple, err := z.trials()
	if err != nil {
		return err
	}
	if all[0].hasRoutines() {
		u.Runtime = runtimePath
	}
	f := newFitter(u.Free, all)
	if err := u.arguments(p, f, all); err != nil {
		return err
	}
	if err := u.state(p); err != nil {
		return err
	}
	general, err := u.layout(p, f, all)
	if err != nil {
		return err
	}
	general.Func, general.plan = "steps", all[0].plan
	if multiple {
		general.Divides = append(general.Divides, u.multiples(z)...)
	}
	u.Layouts = []*layout{general}
	for _, at := range special(len(u.Free)) {
		z.at = at
		if err := u.special(z); err != nil {
			return err
		}
	}
	u.tests(all)
	return nil
}

// multiples are the numbers that must divide the free lengths, for a program that takes multiples of its
// example.
func (u *graphUnit) multiples(z sizing) (all []divide) {
	for k, i := range z.free() {
		if n := int64(z.p.Example[i]); n > 1 && !z.fixes(k) {
			all = append(all, divide{u.Free[k], n})
		}
	}
	return all
}

// special lists what is fixed of a number of lengths: each is 0, 1 or free, which is -1, and one at least
// is fixed. Those with fewer free lengths follow.
func special(lengths int) (all [][]int) {
	every := [][]int{nil}
	for range lengths {
		var longer [][]int
		for _, l := range every {
			for n := -1; n < 2; n++ {
				longer = append(longer, append(slices.Clone(l), n))
			}
		}
		every = longer
	}
	free := func(l []int) (n int) {
		for _, x := range l {
			if x < 0 {
				n++
			}
		}
		return n
	}
	slices.SortStableFunc(every, func(a, b []int) int { return free(b) - free(a) })
	return every[1:]
}

// special adds the layout for lengths of 0 and 1, if it computes otherwise for them than the layout that
// they have without it: which order a reduction has depends on which axes are longer than 1, and
// reductions of nothing are constants.
func (u *graphUnit) special(z sizing) error {
	var when []string
	for i, name := range u.Free {
		if z.fixes(i) {
			when = append(when, fmt.Sprintf("%s == %d", name, z.at[i]))
		}
	}
	other := u.Layouts[slices.IndexFunc(u.Layouts, func(l *layout) bool { return l.takes(z.at) })]
	all, multiple, err := z.trials()
	l := &layout{Refuses: true}
	switch {
	case err != nil && other.Refuses:
		return nil
	case err != nil:
	case !other.Refuses && computesLike(other.plan, all[0].plan):
		return nil
	default:
		if l, err = u.layout(z.p, newFitter(u.Free, all), all); err != nil {
			return err
		}
		if l.plan = all[0].plan; multiple {
			l.Divides = append(l.Divides, u.multiples(z)...)
		}
	}
	l.Func, l.When, l.at = fmt.Sprint("steps", len(u.Layouts)), strings.Join(when, " && "), z.at
	u.Layouts = slices.Insert(u.Layouts, 0, l) // more conditions first
	return nil
}

// takes reports that a layout is for fixed values of some lengths.
func (l *layout) takes(at []int) bool {
	for i, n := range l.at {
		if n >= 0 && n != at[i] {
			return false
		}
	}
	return true
}

// goElement is the Go type of elements of d.
func goElement(d array.DType) string {
	switch d {
	case array.Float16, array.BFloat16:
		return "uint16"
	}
	return d.String()
}

// arguments describes the arrays of the function.
func (u *graphUnit) arguments(p *saved.Program, f *fitter, all []*trial) error {
	one := func(name string, at func(t *trial) (array.DType, []int)) (argument, error) {
		d, first := at(all[0])
		a := argument{Name: u.unused(name), Type: goElement(d), Index: d.Integer(), Bytes: d.Size()}
		var sizes []string
		total := make([]int64, len(all))
		for axis := range first {
			values := make([]int64, len(all))
			for i, t := range all {
				_, shape := at(t)
				values[i], total[i] = int64(shape[axis]), int64(array.Size(shape))
			}
			s, ok := f.fit(values)
			if !ok {
				return a, fmt.Errorf("the size of axis %d of %s is not a polynomial of the free lengths: fix one with --length", axis, name)
			}
			sizes = append(sizes, s)
		}
		for i, t := range all {
			_, shape := at(t)
			total[i] = int64(array.Size(shape))
		}
		var ok bool
		if a.Size, ok = f.fit(total); !ok {
			return a, fmt.Errorf("the size of %s is not a polynomial of the free lengths: fix one with --length", name)
		}
		a.What = d.String() + "[" + strings.Join(sizes, " ") + "]"
		return a, nil
	}
	for i := range p.Inputs {
		a, err := one(p.Inputs[i].Name, func(t *trial) (array.DType, []int) { x := p.TypeOf(i, t.lengths); return x.DType, x.Shape })
		if err != nil {
			return err
		}
		u.Args = append(u.Args, a)
	}
	for i := range p.Outputs {
		a, err := one(p.Outputs[i].Name, func(t *trial) (array.DType, []int) { x := t.results[i]; return x.DType, x.Shape })
		if err != nil {
			return err
		}
		u.Results = append(u.Results, a)
		o := &p.Outputs[i]
		if o.Result < 0 {
			u.Copies = append(u.Copies, [2]string{a.Name, u.Args[o.Input].Name})
		} else if k := slices.IndexFunc(p.Outputs[:i], func(x saved.Output) bool { return x.Result == o.Result }); k >= 0 {
			u.Copies = append(u.Copies, [2]string{a.Name, u.Results[k].Name})
		}
	}
	return nil
}

// layout describes the steps of a plan, given for several lengths.
func (u *graphUnit) layout(p *saved.Program, f *fitter, all []*trial) (*layout, error) {
	if err := same(all); err != nil {
		return nil, err
	}
	l := &layout{}
	if err := u.slots(p, f, all, l); err != nil {
		return nil, err
	}
	for i := range all[0].plan.Steps {
		if u.Runtime != "" {
			r, err := u.routineStep(f, all, i)
			if err != nil {
				return nil, err
			}
			l.Table = append(l.Table, r)
			continue
		}
		s, err := u.step(f, all, i)
		if err != nil {
			return nil, err
		}
		l.Steps = append(l.Steps, s)
	}
	l.Divides = f.divides
	return l, nil
}

// constant returns the number of an array in the file of constants.
func (u *graphUnit) constant(state int, v *array.View) int {
	if n, ok := u.placed[state]; ok {
		return n
	}
	u.placed[state] = len(u.Constants)
	if len(u.data) == 0 {
		u.data = []byte("// Code generated by weft build: arrays.\n")
	}
	for len(u.data)%64 != 0 {
		u.data = append(u.data, 0)
	}
	var b strings.Builder
	if err := raw.Write(&b, v); err != nil {
		panic(err)
	}
	width := v.DType.Size()
	if v.DType.Complex() {
		width /= 2
	}
	u.Constants = append(u.Constants, constant{len(u.data), b.Len(), width})
	u.data = append(u.data, b.String()...)
	return u.placed[state]
}

// step describes the kernel of step i.
func (u *graphUnit) step(f *fitter, all []*trial, i int) (s graphStep, err error) {
	k := launched(&all[0].plan.Steps[i])
	call := loopsHere
	if u.Runtime != "" {
		call = loopsOfAOT
	}
	around, err := f.loop(all, i, call)
	if err != nil {
		return s, err
	}
	f = f.within(all, i)
	each := func(get func(k *plan.Kernel) int) (string, error) {
		values := make([]int64, len(all))
		for t := range all {
			values[t] = int64(get(launched(&all[t].plan.Steps[i])))
		}
		s, ok := f.fit(values)
		if !ok {
			return "", fmt.Errorf("a number of step %d (%s) is not a polynomial of the free lengths: fix one with --length", i, oneLine(k.Prog.Name))
		}
		return s, nil
	}
	number, err := u.kernel(k)
	if err != nil {
		return s, err
	}
	s = graphStep{Kernel: number, Does: oneLine(k.Prog.Name), loopText: around}
	for w := 2; w < k.Prog.Words(); w++ {
		if a := scalarWord(k, w); a != nil {
			x, n, err := numberWord(u.of, a)
			if err != nil {
				return s, err
			}
			if u.Runtime != "" {
				n.Word = w - 2
				s.Numbers, x = append(s.Numbers, n), "0"
			}
			u.UsesMath = u.UsesMath || strings.Contains(x, "math.")
			s.Words = append(s.Words, x)
			continue
		}
		values := make([]uint64, len(all))
		for t := range all {
			values[t] = launched(&all[t].plan.Steps[i]).Words[w]
		}
		kind := loop.None
		if at := w - k.Prog.ScalarWord(0); at < len(k.Prog.Scalars) {
			kind = k.Prog.Scalars[at]
		}
		x, ok := f.word(values, kind)
		if !ok {
			return s, fmt.Errorf("a number of step %d (%s) depends on the free lengths in no way that is known: fix one with --length", i, s.Does)
		}
		u.UsesMath = u.UsesMath || strings.Contains(x, "math.")
		s.Words = append(s.Words, x)
	}
	for a := range k.Around {
		n, err := each(func(k *plan.Kernel) int { return k.Around[a].Extent })
		if err != nil {
			return s, err
		}
		s.Around = append(s.Around, n)
	}
	for b := range k.Binds {
		size := k.Binds[b].DType.Size()
		at, err := each(func(k *plan.Kernel) int { return k.Binds[b].Offset * size })
		if err != nil {
			return s, err
		}
		o := bind{Slot: k.Binds[b].Slot, At: at}
		for a := range k.Around {
			by, err := each(func(k *plan.Kernel) int { return k.Around[a].Strides[b] * size })
			if err != nil {
				return s, err
			}
			o.Around = append(o.Around, by)
			if by != "0" {
				at += fmt.Sprintf(" + around%d*%s", a, by)
			}
		}
		s.Binds = append(s.Binds, o)
		s.Places = append(s.Places, fmt.Sprintf("{slot[%d], %s}", k.Binds[b].Slot, strings.TrimPrefix(at, "0 + ")))
	}
	return s, nil
}

// A bind is a place of a buffer: a slot, and Go expressions of bytes.
type bind struct {
	Slot   int
	At     string
	Around []string // strides of axes around the kernel
}

// kernel returns the number of a kernel.
func (u *graphUnit) kernel(k *plan.Kernel) (int, error) {
	p := k.Prog
	key := p.Key()
	if n, ok := u.numbers[key]; ok {
		return n, nil
	}
	g := &graphKernel{Number: len(u.Kernels), Does: oneLine(p.Name), Scalars: len(p.Scalars), Axes: len(p.Axes), Lane: p.Lane, Cost: k.Cost, program: p}
	g.Reduces = p.Axes[p.Lane].Kind == loop.Reduce
	for _, b := range p.Bufs {
		bits := 0
		for a, s := range b.Steps {
			if s != loop.Zero {
				bits |= 1 << a
			}
		}
		g.Moves, g.Sizes = append(g.Moves, fmt.Sprintf("%#b", bits)), append(g.Sizes, fmt.Sprint(b.DType.Size()))
	}
	for _, isa := range []jit.ISA{jit.AVX2, jit.AVX512} {
		c, err := x86.Compile(p, isa)
		if err != nil {
			return 0, err
		}
		g.Scratch = max(g.Scratch, c.Scratch)
		u.Scratch = max(u.Scratch, (c.Scratch+64)&^63)
		g.Codes = append(g.Codes, code{ISA: fmt.Sprintf("kernel%d%s", g.Number, isa), Lines: data(c.Code), Size: len(c.Code)})
	}
	u.numbers[key] = g.Number
	u.Kernels = append(u.Kernels, g)
	return g.Number, nil
}

// tests chooses lengths for the test of the package: few elements, but more than one block of a row.
func (u *graphUnit) tests(all []*trial) {
	if len(u.Free) == 0 {
		u.Tests = []string{""}
		return
	}
	for _, t := range all {
		total := 0
		for _, x := range t.results {
			total += array.Size(x.Shape)
		}
		if total < 1<<16 && len(u.Tests) < 5 {
			u.Tests = append(u.Tests, strings.Trim(strings.ReplaceAll(fmt.Sprint(t.free), " ", ", "), "[]"))
		}
	}
	one := strings.TrimSuffix(strings.Repeat("1, ", len(u.Free)), ", ")
	if !slices.ContainsFunc(u.Layouts, func(l *layout) bool { return l.Refuses }) && len(u.Layouts[len(u.Layouts)-1].Divides) == 0 {
		u.Tests = append(u.Tests, one, strings.ReplaceAll(one, "1", "0"))
	}
}

// Codes are the machine codes of all kernels.
func (u *graphUnit) Codes() (all []code) {
	for _, k := range u.Kernels {
		all = append(all, k.Codes...)
	}
	return all
}

// files renders the package.
func (u *graphUnit) files() (map[string][]byte, error) {
	used := map[string]bool{}
	var text strings.Builder
	for _, k := range u.Kernels {
		text.WriteString("\n" + gosource.Print(fmt.Sprint("kernel", k.Number), k.program, used))
	}
	helpers, imports := gosource.Helpers(used)
	u.Source, u.Imports = helpers+text.String(), imports
	base := u.Base()
	texts := map[string]*template.Template{
		".go": graphMain, "_kernels.go": graphKernels, "_state.go": graphStateText, "_run.go": graphRun, "_amd64.go": graphAMD64, "_other.go": graphOther, "_amd64.s": assembly, "_test.go": graphTest,
	}
	if u.Runtime != "" {
		texts = routineFiles(len(u.Kernels) > 0)
		texts["_state.go"] = graphStateText
	}
	out, err := render(u, base, texts)
	if !u.State.Any() {
		delete(out, base+"_state.go")
	}
	if err == nil && len(u.data) > 0 {
		out[base+".bin"] = u.data
	}
	return out, err
}
