package ahead

import (
	"fmt"
	"go/token"
	"math"
	"slices"
	"sort"
	"strings"
	"text/template"

	"weft/internal/array"
	"weft/internal/device"
	"weft/internal/exec"
	"weft/internal/gosource"
	"weft/internal/ir"
	"weft/internal/jit"
	"weft/internal/loop"
	"weft/internal/plan"
	"weft/internal/raw"
	"weft/internal/rewrite"
	"weft/internal/saved"
	"weft/internal/x86"
)

// A saved program is built from its plan: each step of the plan becomes a line of Go that runs a
// kernel. A kernel is a loop program as Go source and as machine code.

// model is what plans of built programs are made by: the package runs on any processor. Copies between
// different axes are kernels.
var model = device.Model{Costs: device.Costs{
	Line: 64, Band: 1 << 20, Rows: 24 << 10, Far: 4 << 20,
	Transpose: math.MaxInt, TransposedEpilogue: math.MaxInt, ReadTogether: 4 << 20, Gather: 64,
	WakeMulAdds: 1 << 20, PartRows: 16, PartElements: 1 << 16,
	ShortRow: 0, ShortElements: math.MaxInt, ShortWork: math.MaxInt,
	Recompute: 6, RecomputeOps: 4, RecomputeBroadcast: 16, Store: 64,
}}

// GraphOpts are the options of [WriteGraph].
type GraphOpts struct {
	Package, Name string // of the package and its function
	Lengths       map[string]int
}

// An argument is an array of the function as templates see it.
type argument struct {
	Name, Type string // of the slice, of its elements
	What       string // the type as text
	Size       int
	DType      array.DType
}

// A constant is a part of the file of constants.
type constant struct{ At, Bytes, Width int }

// A graphKernel is a distinct loop program.
type graphKernel struct {
	Number                    int
	Does, Source              string
	Scalars, Axes, Lane, Bufs int
	Moves                     []string // by buffer: bits of the axes along which it moves
	Reduces                   bool
	Cost                      int
	Codes                     []code
	program                   *loop.Program
	unitExtent                int
}

// A graphStep runs a kernel.
type graphStep struct {
	Kernel   int
	Does     string
	Words    []string
	Pointers []string
}

type graphUnit struct {
	GraphOpts
	Args, Results []argument
	Constants     []constant
	Slots         []string // the Go expression of each slot
	Arena         int      // words
	Kernels       []*graphKernel
	Steps         []graphStep
	Source        string
	Imports       []string
	Ptrs, Words   int
	Scratch       int
	Fuel          int
	data          []byte
}

// WriteGraph returns the files of a package for a saved program.
func WriteGraph(p *saved.Program, o GraphOpts) (map[string][]byte, error) {
	if !token.IsIdentifier(o.Package) || o.Package == "main" || !token.IsIdentifier(o.Name) || !token.IsExported(o.Name) {
		return nil, fmt.Errorf("build: %q and %q cannot be the names of a package and a function", o.Package, o.Name)
	}
	u := &graphUnit{GraphOpts: o, Ptrs: loop.MaxBufs, Words: loop.MaxWords, Fuel: fuel}
	var err error
	if e := array.Try(func() { err = u.plan(p) }); e != nil {
		err = e
	}
	if err != nil {
		return nil, fmt.Errorf("build: %w", err)
	}
	return u.files()
}

// plan plans the program and describes what it does.
func (u *graphUnit) plan(p *saved.Program) error {
	if len(p.Writes) > 0 {
		return fmt.Errorf("%s writes tensors", p.Name)
	}
	lengths := make([]int, len(p.Lengths))
	for i, name := range p.Lengths {
		n, ok := u.Lengths[name]
		if !ok {
			return fmt.Errorf("the length %s is free", name)
		}
		lengths[i] = n
	}
	g := ir.New()
	var sigs []plan.Sig
	outs := p.Build(g, lengths, func(i int) *ir.Node {
		t := p.TypeOf(i, lengths)
		return g.Input(i, t.DType, t.Shape)
	}, func(_ ir.Op, a ir.Attrs, d array.DType, weak bool) *ir.Node {
		n := &p.Numbers[p.NumberAt(a)]
		text := n.Value
		switch {
		case n.Kind == "formula" && n.Formula.Do == saved.DoConstant:
			text = n.Formula.Value
		case n.Kind != "constant":
			array.Failf(p.Name, "", "has numbers that change from call to call: draws, or a count of steps")
		}
		return number(g, exec.Number{Float: saved.Constant(text), Kind: array.CatFloat}, d, weak)
	})
	for i := range p.Sources {
		t := p.TypeOf(i, lengths)
		sigs = append(sigs, plan.Sig{DType: t.DType, Shape: t.Shape, Strides: array.RowMajor(t.Shape)})
	}
	pl := plan.Build(rewrite.RunRules(outs, p.Rewrites(), nil).Outs, sigs, nil, &model)
	if err := buildable(pl); err != nil {
		return err
	}
	for i := range p.Inputs {
		in := &p.Inputs[i]
		d, _ := array.ParseDType(in.DType)
		shape := make([]int, len(in.Shape))
		for a, s := range in.Shape {
			if shape[a] = s.Size; s.Free {
				shape[a] = lengths[s.Size]
			}
		}
		u.Args = append(u.Args, argumentOf(in.Name, d, shape))
	}
	for i := range p.Outputs {
		o := &p.Outputs[i]
		if o.Result < 0 {
			return fmt.Errorf("result %s is an argument", o.Name)
		}
		u.Results = append(u.Results, argumentOf(o.Name, outs[o.Result].DType, outs[o.Result].Shape))
	}
	u.slots(p, pl)
	return u.steps(pl)
}

// number is a number of the program as a node.
func number(g *ir.Graph, x exec.Number, d array.DType, weak bool) *ir.Node {
	if d.Float() {
		return g.Node(ir.Const, ir.Value{Float: x.Real(d)}, d, nil, weak)
	}
	bits := int64(x.Bits(d))
	if rest := 64 - 8*d.Size(); rest > 0 && !d.Unsigned() && d != array.Bool {
		bits = bits << rest >> rest
	}
	return g.Node(ir.Const, ir.Value{Int: bits}, d, nil, weak)
}

// buildable returns an error that lists the operations which are not loop programs.
func buildable(pl *plan.Plan) error {
	counts := map[string]int{}
	for _, s := range pl.Steps {
		switch {
		case s.Kernel == nil:
			counts[s.Node.Op.OpName()]++
		case s.Kernel.Ragged != nil:
			counts[s.Kernel.Ragged.Node.Op.OpName()+" over items"]++
		}
	}
	if len(counts) == 0 {
		return nil
	}
	var list []string
	for name, n := range counts {
		if n > 1 {
			name = fmt.Sprintf("%d %s", n, name)
		}
		list = append(list, name)
	}
	sort.Strings(list)
	return fmt.Errorf("these operations are not loop programs, which alone can be built: %s", strings.Join(list, ", "))
}

// goElement is the Go type of elements of d.
func goElement(d array.DType) string {
	switch d {
	case array.Float16, array.BFloat16:
		return "uint16"
	}
	return d.String()
}

func argumentOf(name string, d array.DType, shape []int) argument {
	what := strings.ReplaceAll(array.TypeString(d, shape), ",", "")
	if reserved[name] || graphReserved[name] || token.IsKeyword(name) {
		name += "_"
	}
	return argument{Name: name, Type: goElement(d), What: what, Size: array.Size(shape), DType: d}
}

// graphReserved are names that the templates of graphs use.
var graphReserved = map[string]bool{"vector": true, "slot": true, "wants": true, "kernels": true, "memories": true, "memory": true, "constant": true, "run": true}

// slots says where the memory of the plan is.
func (u *graphUnit) slots(p *saved.Program, pl *plan.Plan) {
	u.Slots = make([]string, len(pl.Slots))
	for i, source := range p.Sources {
		if source >= 0 {
			u.Slots[i] = "unsafe.Pointer(unsafe.SliceData(" + u.Args[source].Name + "))"
			continue
		}
		if pl.Slots[i].Last < 0 {
			continue
		}
		u.Slots[i] = fmt.Sprintf("constant(%d)", len(u.Constants))
		v := &p.State[^source].View
		u.constant(v)
	}
	for i, o := range pl.Outs {
		u.Slots[o.Slot] = "unsafe.Pointer(unsafe.SliceData(" + u.Results[i].Name + "))"
	}
	u.Arena = (pl.Arena + 7) / 8
	for i := pl.Inputs + len(pl.Outs); i < len(pl.Slots); i++ {
		u.Slots[i] = fmt.Sprintf("unsafe.Add(memory, %d)", pl.Slots[i].Offset)
	}
}

// constant adds the elements of an array to the file of constants.
func (u *graphUnit) constant(v *array.View) {
	if len(u.data) == 0 {
		u.data = []byte("// Code generated by weft build: arrays.\n")
	}
	for len(u.data)%8 != 0 {
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
}

// steps describes the steps of a plan and their kernels.
func (u *graphUnit) steps(pl *plan.Plan) error {
	numbers := map[string]int{}
	for i := range pl.Steps {
		k := pl.Steps[i].Kernel
		key := k.Prog.Key()
		n, ok := numbers[key]
		if !ok {
			n = len(u.Kernels)
			numbers[key] = n
			if err := u.kernel(k); err != nil {
				return err
			}
		}
		s := graphStep{Kernel: n, Does: strings.Join(strings.Fields(k.Prog.Name), " ")}
		for _, w := range k.Words[2:k.Prog.Words()] {
			s.Words = append(s.Words, literal(w))
		}
		for _, o := range k.Binds {
			at := fmt.Sprintf("slot[%d]", o.Slot)
			if o.Offset != 0 {
				at = fmt.Sprintf("unsafe.Add(%s, %d)", at, o.Offset*o.DType.Size())
			}
			s.Pointers = append(s.Pointers, at)
		}
		if len(k.Around) > 0 {
			return fmt.Errorf("%s has more axes than a kernel", s.Does)
		}
		u.Steps = append(u.Steps, s)
	}
	return nil
}

func literal(w uint64) string {
	if w > 1<<32 {
		return fmt.Sprintf("%#x", w)
	}
	return fmt.Sprint(w)
}

// kernel adds a kernel.
func (u *graphUnit) kernel(k *plan.Kernel) error {
	p := k.Prog
	g := &graphKernel{Number: len(u.Kernels), Does: strings.Join(strings.Fields(p.Name), " "), Scalars: len(p.Scalars), Axes: len(p.Axes), Lane: p.Lane, Bufs: len(p.Bufs), Cost: k.Cost, program: p}
	g.Reduces = p.Axes[p.Lane].Kind == loop.Reduce
	for _, b := range p.Bufs {
		bits := 0
		for a, s := range b.Steps {
			if s != loop.Zero {
				bits |= 1 << a
			}
		}
		g.Moves = append(g.Moves, fmt.Sprintf("%#b", bits))
	}
	for _, isa := range []jit.ISA{jit.AVX2, jit.AVX512} {
		c, err := x86.Compile(p, isa)
		if err != nil {
			return err
		}
		u.Scratch = max(u.Scratch, (c.Scratch+64)&^63)
		g.Codes = append(g.Codes, code{ISA: fmt.Sprintf("kernel%d%s", g.Number, isa), Lines: data(c.Code), Size: len(c.Code)})
	}
	u.Kernels = append(u.Kernels, g)
	return nil
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
	u.Source, u.Imports = helpers+text.String(), append(imports, "unsafe")
	slices.Sort(u.Imports)
	base := u.Base()
	out, err := (&unit{}).render(u, base, map[string]*template.Template{
		".go": graphMain, "_kernels.go": graphKernels, "_run.go": graphRun, "_amd64.go": graphAMD64, "_other.go": graphOther, "_amd64.s": assembly, "_test.go": graphTest,
	})
	if err == nil && len(u.data) > 0 {
		out[base+".bin"] = u.data
	}
	return out, err
}

// Base is the name of the files without their ends.
func (u *graphUnit) Base() string { return strings.ToLower(strings.ReplaceAll(u.Name, "_", "")) }

// Params are the parameters of the function.
func (u *graphUnit) Params() string {
	var s []string
	for _, a := range slices.Concat(u.Results, u.Args) {
		s = append(s, a.Name+" []"+a.Type)
	}
	return strings.Join(s, ", ")
}

// Names are its arguments.
func (u *graphUnit) Names() string {
	var s []string
	for _, a := range slices.Concat(u.Results, u.Args) {
		s = append(s, a.Name)
	}
	return strings.Join(s, ", ")
}

// All are the results and arguments.
func (u *graphUnit) All() []argument { return slices.Concat(u.Results, u.Args) }

// Join lists expressions.
func (s graphStep) WordList() string    { return strings.Join(s.Words, ", ") }
func (s graphStep) PointerList() string { return strings.Join(s.Pointers, ", ") }
func (k *graphKernel) MoveList() string { return strings.Join(k.Moves, ", ") }
