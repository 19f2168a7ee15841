package kerneltest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// A Kernel is a random kernel.
type Kernel struct {
	Src    string   // the whole source; the kernel is Name
	Name   string   // of the function
	Params []string // types of its parameters
	Arg    string   // the type for its type parameter, if it has one
}

// Options say how a kernel is drawn.
type Options struct {
	Prefix string // of names outside functions
	// Plain has no package clause and no imports, and calls functions that [PlainHelpers]
	// declares where Go panics or leaves the result open: so it can be compiled as Go.
	Plain bool
	// Arrays gives it parameters that are read by index and, to some, kernel.Elem, for
	// results of two dimensions.
	Arrays bool
}

// Generate draws the kernel of a seed. It computes the same under all options, but Arrays.
func Generate(seed uint64, o Options) Kernel {
	g := &gen{r: rand.New(rand.NewPCG(seed, 12)), o: o}
	return g.kernel()
}

// ArrayTypes are the types of arrays that may be read outside, without their rank.
var ArrayTypes = []string{"Clamped", "Wrapped", "Zeroed"}

// A shape is what a type is made of.
type shape struct {
	name   string // as the source writes it
	basic  string // of a number or bool: the type below
	fields []field
	elem   *shape // of an array
	n      int
	method string // a method without arguments that gives one basic
	gives  *shape
}

type field struct {
	name string
	t    *shape
}

func (t *shape) isInt() bool {
	return strings.HasPrefix(t.basic, "int") || strings.HasPrefix(t.basic, "uint")
}
func (t *shape) isUnsigned() bool { return strings.HasPrefix(t.basic, "uint") }
func (t *shape) isFloat() bool    { return strings.HasPrefix(t.basic, "float") }
func (t *shape) isComplex() bool  { return strings.HasPrefix(t.basic, "complex") }
func (t *shape) isNumber() bool   { return t.isInt() || t.isFloat() }

// bits is the width of an integer.
func (t *shape) bits() int {
	n := 64
	fmt.Sscanf(strings.TrimLeft(t.basic, "uint"), "%d", &n)
	return n
}

type variable struct {
	name     string
	t        *shape
	readOnly bool // a loop counts with it
}

// A helper is a function that kernels call.
type helper struct {
	name    string
	params  []*shape
	results []*shape
	cost    int
	generic bool // of one type parameter, of a number, which parameters and results that are nil have
}

type gen struct {
	r        *rand.Rand
	o        Options
	out      strings.Builder
	indent   int
	basics   []*shape
	types    []*shape // structs, arrays and named types
	helpers  []helper
	globals  []global
	scopes   [][]variable
	results  []*shape
	named    bool // results have names
	names    int
	arg      string // the type argument of the kernel
	mult     int    // how often a statement may run
	cost     int    // of the function so far
	budget   int    // statements left
	loops    []loopInfo
	labels   int
	generic  *shape  // the type parameter's, inside a generic function
	external []array // that the function at hand reads
	elem     bool    // it has a parameter e with rank axes
}

// A global is a constant of the file.
type global struct {
	name string
	t    *shape // nil: untyped, a small integer
}

// A loopInfo is a loop or switch around.
type loopInfo struct {
	label    string
	isSwitch bool
	used     bool
}

// An array is a parameter that is read by index.
type array struct {
	name string
	rank int
	t    *shape
}

func (g *gen) n(n int) int             { return g.r.IntN(n) }
func (g *gen) once(n int) bool         { return g.r.IntN(n) == 0 }
func (g *gen) pick(s ...string) string { return s[g.r.IntN(len(s))] }

func (g *gen) line(format string, args ...any) {
	g.out.WriteString(strings.Repeat("\t", g.indent))
	fmt.Fprintf(&g.out, format, args...)
	g.out.WriteByte('\n')
}

var basicNames = []string{"int32", "float32", "float64", "int64", "int", "uint8", "int8", "int16", "uint16", "uint32", "uint64", "uint", "complex64", "complex128", "bool"}

func (g *gen) kernel() Kernel {
	for _, b := range basicNames {
		g.basics = append(g.basics, &shape{name: b, basic: b})
	}
	g.declareTypes()
	for range g.n(4) {
		g.function(g.name("f"), false)
	}
	name := g.name("K")
	params := g.function(name, true)
	k := Kernel{Name: name, Params: params, Arg: g.arg}
	var head strings.Builder
	if !g.o.Plain {
		head.WriteString("package k\n\n")
		if strings.Contains(g.out.String(), "math.") {
			head.WriteString("import \"math\"\n")
		}
		if strings.Contains(g.out.String(), "bits.") {
			head.WriteString("import \"math/bits\"\n")
		}
		if g.external != nil {
			head.WriteString("import \"weft/kernel\"\n")
		}
	}
	k.Src = head.String() + g.out.String()
	return k
}

func (g *gen) name(s string) string {
	g.names++
	return fmt.Sprintf("%s%s%d", g.o.Prefix, s, g.names)
}

func (g *gen) basic() *shape {
	if g.once(3) {
		return g.basics[g.n(3)]
	}
	return g.basics[g.n(len(g.basics))]
}

// number is the type of an integer or float.
func (g *gen) number() *shape {
	for {
		if t := g.scalar(); t.isNumber() {
			return t
		}
	}
}

func (g *gen) integer() *shape {
	for {
		if t := g.basic(); t.isInt() {
			return t
		}
	}
}

// of returns the predeclared type of a name.
func (g *gen) of(name string) *shape { return g.basics[slices.Index(basicNames, name)] }

// scalar is a basic type or a named one over it.
func (g *gen) scalar() *shape {
	if g.once(6) {
		for range 4 {
			if t := g.any(); t.basic != "" {
				return t
			}
		}
	}
	return g.basic()
}

// any is any type.
func (g *gen) any() *shape {
	if len(g.types) > 0 && g.once(4) {
		return g.types[g.n(len(g.types))]
	}
	if g.once(12) {
		return g.arrayOf(g.basic())
	}
	return g.basic()
}

func (g *gen) arrayOf(t *shape) *shape {
	n := 1 + g.n(5)
	return &shape{name: fmt.Sprintf("[%d]%s", n, t.name), elem: t, n: n}
}

func (g *gen) declareTypes() {
	for range g.n(3) {
		c := global{name: g.name("c")}
		if g.once(2) {
			c.t = g.basic()
			g.line("const %s %s = %s\n", c.name, c.t.name, g.literal(c.t))
		} else {
			g.line("const %s = %d\n", c.name, 1+g.n(20))
		}
		g.globals = append(g.globals, c)
	}
	for range g.n(4) {
		switch t := (&shape{name: g.name("T")}); g.n(3) {
		case 0:
			t.basic = g.basic().basic
			g.line("type %s %s\n", t.name, t.basic)
			g.types = append(g.types, t)
			if g.once(2) {
				g.method(t)
			}
		case 1:
			e := g.any()
			a := g.arrayOf(e)
			t.elem, t.n = e, a.n
			g.line("type %s %s\n", t.name, a.name)
			g.types = append(g.types, t)
		case 2:
			g.line("type %s struct {", t.name)
			if len(g.types) > 0 && g.once(3) {
				// An embedded field goes by the name of its type; its own fields are hidden or promoted.
				e := g.types[g.n(len(g.types))]
				t.fields = append(t.fields, field{e.name, e})
				g.line("\t%s", e.name)
			}
			for i := range 1 + g.n(4) {
				f := field{fmt.Sprintf("F%d", i), g.any()}
				t.fields = append(t.fields, f)
				g.line("\t%s %s", f.name, f.t.name)
			}
			g.line("}\n")
			g.types = append(g.types, t)
			if g.once(2) {
				g.method(t)
			}
		}
	}
}

// method gives a type a method.
func (g *gen) method(t *shape) {
	gives := g.number()
	if gives == t {
		return
	}
	name := "M" + strings.TrimPrefix(t.name, g.o.Prefix)
	g.begin(6)
	g.results = []*shape{gives}
	g.scopes = [][]variable{{{name: "recv", t: t}, {name: "p", t: g.basics[g.n(3)]}}}
	g.line("func (recv %s) %s(p %s) %s {", t.name, name, g.scopes[0][1].t.name, gives.name)
	g.body()
	g.line("}\n")
	if g.cost < 200 {
		t.method, t.gives = name, gives
		g.helpers = append(g.helpers, helper{name: "." + name, params: []*shape{t, g.scopes[0][1].t}, results: g.results, cost: g.cost})
	}
}

// begin starts a function of at most the given number of statements.
func (g *gen) begin(statements int) {
	g.mult, g.cost, g.budget, g.loops, g.labels, g.named, g.generic = 1, 0, statements, nil, 0, false, nil
}

// function writes a function, and returns the types of its parameters.
func (g *gen) function(name string, isKernel bool) []string {
	g.begin(3 + g.n(8))
	if isKernel {
		g.begin(6 + g.n(16))
	}
	var h helper
	h.name = name
	typeParams := ""
	if isKernel && g.once(8) || !isKernel && g.once(4) {
		g.generic = &shape{name: "N", basic: "generic"}
		h.generic = true
		typeParams = "[N " + g.pick("int32 | float32 | float64 | uint8", "~int8 | ~int16 | ~int64 | ~float32 | ~uint32", "float32 | float64") + "]"
	}
	draw := func() *shape {
		switch {
		case g.generic != nil && g.once(2):
			return g.generic
		case isKernel:
			return g.basic()
		}
		return g.any()
	}
	g.scopes = [][]variable{nil}
	var params, types []string
	for i := range 1 + g.n(4) {
		t := draw()
		if i == 0 {
			// There is a number to make others from.
			for t.basic == "" || !t.isNumber() {
				if t = g.basic(); isKernel && g.once(2) {
					t = g.number()
					for !slices.Contains(g.basics, t) {
						t = g.number()
					}
				}
			}
		}
		v := variable{name: fmt.Sprintf("p%d", i), t: t}
		g.scopes[0] = append(g.scopes[0], v)
		h.params = append(h.params, t)
		params = append(params, v.name+" "+t.name)
		types = append(types, t.name)
	}
	if h.generic && !slices.Contains(h.params, g.generic) {
		v := variable{name: "pn", t: g.generic}
		g.scopes[0] = append(g.scopes[0], v)
		h.params = append(h.params, v.t)
		params, types = append(params, "pn N"), append(types, "N")
	}
	if isKernel && g.o.Arrays {
		names, kinds := g.arrays()
		params, types = append(params, names...), append(types, kinds...)
	}
	g.results = nil
	var results []string
	g.named = g.once(3)
	for i := range 1 + g.n(3)*g.n(2) {
		t := draw()
		g.results = append(g.results, t)
		if g.named {
			v := variable{name: fmt.Sprintf("r%d", i), t: t}
			g.scopes[0] = append(g.scopes[0], v)
			results = append(results, v.name+" "+t.name)
		} else {
			results = append(results, t.name)
		}
	}
	h.results = g.results
	g.line("func %s%s(%s) (%s) {", name, typeParams, strings.Join(params, ", "), strings.Join(results, ", "))
	g.body()
	g.line("}\n")
	h.cost = g.cost
	if isKernel && g.generic != nil {
		k := g.pick("float32", "float64")
		if strings.Contains(typeParams, "~int8") {
			k = "float32"
		}
		g.arg = k
		for i := range types {
			if types[i] == "N" {
				types[i] = k
			}
		}
	}
	if h.cost < 300 && !isKernel {
		g.offer(h, typeParams)
	}
	return types
}

// arrays draws the arrays that a kernel is given, and whether it knows the element.
func (g *gen) arrays() (params, types []string) {
	for i := range 1 + g.n(2) {
		a := array{name: fmt.Sprintf("grid%d", i), rank: 1 + g.n(2), t: g.basics[g.n(len(g.basics))]}
		kind := g.pick(ArrayTypes...)
		t := fmt.Sprintf("kernel.%s%d[%s]", kind, a.rank, a.t.name)
		params, types = append(params, a.name+" "+t), append(types, t)
		g.external = append(g.external, a)
	}
	if g.once(2) {
		params, types = append(params, "e kernel.Elem"), append(types, "kernel.Elem")
		g.elem = true
	}
	return params, types
}

// offer lets later functions call the helper h.
func (g *gen) offer(h helper, typeParams string) {
	if g.generic != nil {
		replace := func(list []*shape) (out []*shape) {
			for _, t := range list {
				if t == g.generic {
					t = nil
				}
				out = append(out, t)
			}
			return out
		}
		h.params, h.results = replace(h.params), replace(h.results)
		// What the function's constraint has in any case.
		if strings.Contains(typeParams, "~int8") {
			h.name += "[float32]"
		} else if g.once(2) {
			h.name += "[float64]"
		} else {
			h.name += "[float32]"
		}
	}
	g.helpers = append(g.helpers, h)
}

// body writes statements and the return at the end.
func (g *gen) body() {
	g.indent++
	for range g.n(4) {
		g.declaration()
	}
	for g.budget > 0 {
		g.statement()
	}
	g.giveBack()
	g.indent--
}

// giveBack writes a return.
func (g *gen) giveBack() {
	if g.named && g.once(3) {
		g.line("return")
		return
	}
	if len(g.results) > 1 && g.once(5) {
		for _, h := range g.helpers {
			if !h.generic && slices.Equal(h.results, g.results) && g.affordable(h) {
				g.line("return %s", g.callOf(h, 1))
				return
			}
		}
	}
	var list []string
	for _, t := range g.results {
		if g.once(8) {
			list = append(list, g.operand(t, 2))
		} else {
			list = append(list, g.expr(t, 3))
		}
	}
	g.line("return %s", strings.Join(list, ", "))
}

// visible are the variables in reach.
func (g *gen) visible() []variable {
	var out []variable
	seen := map[string]bool{}
	for i := len(g.scopes) - 1; i >= 0; i-- {
		for k := len(g.scopes[i]) - 1; k >= 0; k-- {
			if v := g.scopes[i][k]; !seen[v.name] {
				seen[v.name] = true
				out = append(out, v)
			}
		}
	}
	return out
}

// declareName names a new variable of the innermost scope; it may hide one further out.
func (g *gen) declareName() string {
	if g.once(4) {
		inner := g.scopes[len(g.scopes)-1]
		for _, v := range g.visible() {
			here := slices.ContainsFunc(inner, func(w variable) bool { return w.name == v.name })
			if !here && !strings.HasPrefix(v.name, "r") && v.name != "p0" && v.name != "p" && !strings.HasPrefix(v.name, "grid") && g.once(3) {
				return v.name
			}
		}
	}
	if g.once(20) {
		// What Go declares may be hidden.
		name := g.pick("cap", "copy", "new", "any", "string", "append", "print", "byte", "nil", "k")
		if !slices.ContainsFunc(g.scopes[len(g.scopes)-1], func(w variable) bool { return w.name == name }) {
			return name
		}
	}
	g.names++
	return fmt.Sprintf("v%d", g.names)
}

func (g *gen) declare(name string, t *shape, readOnly bool) {
	s := &g.scopes[len(g.scopes)-1]
	*s = append(*s, variable{name, t, readOnly})
}

func (g *gen) enter() { g.scopes = append(g.scopes, nil); g.indent++ }
func (g *gen) exit()  { g.scopes = g.scopes[:len(g.scopes)-1]; g.indent-- }

// places are what may be assigned to: variables and what they are made of, or, if to is
// false, what may be read.
func (g *gen) places(t *shape, to bool) []string {
	var out []string
	var add func(text string, of *shape, depth int)
	add = func(text string, of *shape, depth int) {
		if same(of, t) {
			out = append(out, text)
		}
		if depth == 0 {
			return
		}
		for _, f := range of.fields {
			add(text+"."+f.name, f.t, depth-1)
		}
		if of.elem != nil {
			add(text+"["+g.index(of.n)+"]", of.elem, depth-1)
		}
	}
	for _, v := range g.visible() {
		if !(to && v.readOnly) {
			add(v.name, v.t, 2)
		}
	}
	return out
}

// same reports that two types are identical.
func same(a, b *shape) bool { return a.name == b.name }

// index is an index below n.
func (g *gen) index(n int) string {
	if n == 1 || g.once(2) {
		return fmt.Sprint(g.n(n))
	}
	for _, v := range g.visible() {
		if v.t.isInt() && g.once(2) {
			switch {
			case n&(n-1) == 0:
				return fmt.Sprintf("%s&%d", v.name, n-1)
			case v.t.isUnsigned():
				return fmt.Sprintf("%s%%%d", v.name, n)
			}
		}
	}
	return fmt.Sprint(g.n(n))
}
