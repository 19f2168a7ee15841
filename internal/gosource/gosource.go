// Package gosource prints loop programs (package loop) as Go source that computes the same bits: for
// packages that import nothing of weft, where there is no machine code.
//
// A program becomes a function of a frame, the argument block of machine code: pointers and words in
// their places ([loop.Frame]). The printed text names the type frame and its fields ptr and word, which
// the package around it declares. It reads and writes memory by unsafe pointers, as machine code does.
//
// Lanes run one after the other. A product is converted to its own type, so that Go does not contract
// it with a sum.
package gosource

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"weft/internal/array"
	"weft/internal/loop"
	"weft/internal/numbers"
)

// A line is left out, or other stands in its place, unless the variable that it declares is read below
// it.
type line struct{ text, declares, other string }

// Go types of values.
var goTypes = [...]string{loop.B: "bool", loop.I8: "int8", loop.I16: "int16", loop.I32: "int32", loop.I64: "int64", loop.F32: "float32", loop.F64: "float64"}

// A printer is a function on its way to text.
type printer struct {
	p       *loop.Program
	name    string
	lines   []line
	used    map[string]bool // helpers and packages
	users   loop.Users
	names   []string                // by value: the expression that stands for it
	results map[loop.Value][]string // variables of the results of loops and ifs
	reduces []loop.Value            // of the pass at hand
	pass    bool                    // inside a pass
	walked  []bool                  // serial axes of loops around
}

// Print returns the text of a function of a verified program. used gets the names of what it uses: see
// [Helpers].
func Print(name string, p *loop.Program, used map[string]bool) string {
	w := &printer{p: p, name: name, used: used, names: make([]string, len(p.Ins)), results: map[loop.Value][]string{}, walked: make([]bool, len(p.Axes))}
	w.users.Count(p)
	w.tables()
	w.line("// %s computes %s.", name, describe(p.Name))
	w.line("func %s(f *frame) {", name)
	w.arguments()
	w.p.Walk(p.Body, func(v loop.Value, in *loop.Ins) {
		if in.Op == loop.OpReduce && in.Type != loop.B {
			w.use("reduction")
			w.line("var r%d reduction[%s]", v, goTypes[in.Type])
		}
	})
	for a := range p.Lane {
		w.each(a)
	}
	w.row()
	w.block(p.Body)
	for range p.Lane {
		w.line("}")
	}
	w.line("}")
	return w.text()
}

var (
	identifier = regexp.MustCompile(`[a-z]\w*`)
	qualified  = regexp.MustCompile(`\b(math|bits|unsafe)\.[A-Z]`) // a name of a package
)

// text joins the lines that are needed.
func (w *printer) text() string {
	read, kept := map[string]bool{}, []string{}
	for _, l := range slices.Backward(w.lines) {
		if l.declares != "" && !read[l.declares] {
			l.text = l.other
		}
		if l.text == "" {
			continue
		}
		kept = append(kept, l.text)
		delete(read, l.declares) // an index is declared by several loops
		for _, id := range identifier.FindAllString(l.text, -1) {
			if id != l.declares {
				read[id] = true
			}
		}
	}
	slices.Reverse(kept)
	text := strings.Join(kept, "\n") + "\n"
	for _, m := range qualified.FindAllStringSubmatch(text, -1) {
		w.used[m[1]] = true
	}
	return text
}

// describe returns the operations of a program's name on one line.
func describe(name string) string {
	if s := strings.Join(strings.Fields(name), " "); s != "" {
		return s
	}
	return "a kernel"
}

func (w *printer) line(format string, args ...any) {
	w.lines = append(w.lines, line{text: fmt.Sprintf(format, args...)})
}

// declare adds the declaration of a variable, which is left out if nothing reads it.
func (w *printer) declare(name, format string, args ...any) {
	w.lines = append(w.lines, line{name + " := " + fmt.Sprintf(format, args...), name, ""})
}

// each begins a loop over an axis.
func (w *printer) each(axis int) {
	i := fmt.Sprint("i", axis)
	w.lines = append(w.lines, line{fmt.Sprintf("for %s := range n%d {", i, axis), i, fmt.Sprintf("for range n%d {", axis)})
}

// use notes a helper and returns its name.
func (w *printer) use(name string) string {
	w.used[name] = true
	return name
}

// tables declares the tables that lookups read, as bits.
func (w *printer) tables() {
	for i, t := range w.p.Tables {
		bits := "uint32"
		if t.Type == loop.F64 {
			bits = "uint64"
		}
		w.line("var %sTable%d = [%d]%s{", w.name, i, len(t.Bits), bits)
		for _, x := range t.Bits {
			w.line("%#x,", x)
		}
		w.line("}\n")
	}
}

// arguments reads extents and strides.
func (w *printer) arguments() {
	p := w.p
	for a := range p.Axes {
		if p.Axes[a].Offsets == 0 {
			w.declare(fmt.Sprint("n", a), "int(f.word[%d])", p.ExtentWord(a))
		}
	}
	for b := range p.Bufs {
		for a, s := range p.Bufs[b].Steps {
			if s == loop.Any {
				w.declare(fmt.Sprintf("s%d_%d", b, a), "int(f.word[%d])", p.StrideWord(b, a))
			}
		}
	}
}

// row begins the body of a row: offsets of buffers, and the extent of the ragged axis.
func (w *printer) row() {
	p := w.p
	ragged := p.Ragged()
	if ragged >= 0 {
		of := p.Axes[ragged].Offsets - 1
		at := fmt.Sprintf("f.ptr[%d]", of)
		if terms := w.terms(of, 0, p.Lane); len(terms) > 0 {
			at = fmt.Sprintf("unsafe.Add(%s, %s)", at, strings.Join(terms, "+"))
		}
		w.line("item := *(*[2]int64)(%s)", at)
		w.line("n%d := int(item[1] - item[0])", ragged)
	}
	for b := range p.Bufs {
		terms := w.terms(b, 0, p.Lane)
		if ragged >= 0 {
			if s := w.stride(b, ragged); s != "" {
				terms = append(terms, "int(item[0])*"+s)
			}
		}
		if len(terms) > 0 {
			w.declare(fmt.Sprint("o", b), "%s", strings.Join(terms, " + "))
		}
	}
}

// terms are what the axes from one to below another add to a buffer's offset.
func (w *printer) terms(buf, from, to int) (terms []string) {
	for a := from; a < to; a++ {
		if s := w.stride(buf, a); s != "" {
			terms = append(terms, fmt.Sprintf("i%d*%s", a, s))
		}
	}
	return terms
}

// stride is the expression of a buffer's stride along an axis in bytes, "" for none.
func (w *printer) stride(buf, axis int) string {
	b := &w.p.Bufs[buf]
	switch s := b.Steps[axis]; {
	case s == loop.Zero:
		return ""
	case s == loop.Any:
		return fmt.Sprintf("s%d_%d", buf, axis)
	default:
		return fmt.Sprint(s.Elements() * b.DType.Size())
	}
}

// address is the place of a buffer's element here, or of the one at a number of elements from it.
func (w *printer) address(buf int, at loop.Value) string {
	p := w.p
	var terms []string
	if r := p.Ragged(); len(w.terms(buf, 0, p.Lane)) > 0 || r >= 0 && w.stride(buf, r) != "" {
		terms = append(terms, fmt.Sprint("o", buf))
	}
	if w.pass {
		terms = append(terms, w.terms(buf, p.Lane, p.Lane+1)...)
	}
	for a := p.Lane + 1; a < len(p.Axes); a++ {
		if w.walked[a] {
			terms = append(terms, w.terms(buf, a, a+1)...)
		}
	}
	if at != loop.NoValue {
		t := fmt.Sprintf("int(%s)", w.names[at])
		if n := p.Bufs[buf].DType.Size(); n > 1 {
			t += fmt.Sprintf("*%d", n)
		}
		terms = append(terms, t)
	}
	if len(terms) == 0 {
		return fmt.Sprintf("f.ptr[%d]", buf)
	}
	return fmt.Sprintf("unsafe.Add(f.ptr[%d], %s)", buf, strings.Join(terms, "+"))
}

// block prints a block.
func (w *printer) block(b []loop.Value) {
	for _, v := range b {
		w.instruction(v, &w.p.Ins[v])
	}
}

func (w *printer) instruction(v loop.Value, in *loop.Ins) {
	if w.users.Dead(v) && in.Op != loop.OpOut {
		return
	}
	p := w.p
	switch in.Op {
	case loop.OpPass:
		w.passOf(p.Region(in))
	case loop.OpLoop:
		w.loop(v, p.Region(in))
	case loop.OpIf:
		w.branch(v, p.Region(in))
	case loop.OpOut:
		w.names[v] = w.results[in.A][in.Imm]
	case loop.OpStore, loop.OpStoreAt:
		at := loop.NoValue
		if in.Op == loop.OpStoreAt {
			at = in.B
		}
		typ, value := w.stored(int(in.Imm), in.A)
		w.line("*(*%s)(%s) = %s", typ, w.address(int(in.Imm), at), value)
	case loop.OpReduce:
		w.reduce(v, in)
	default:
		w.names[v] = fmt.Sprint("v", v)
		w.declare(w.names[v], "%s", w.expression(in))
	}
}

// passOf prints a pass. Its reductions are variables outside it.
func (w *printer) passOf(r *loop.Region) {
	p := w.p
	w.reduces = w.reduces[:0]
	for _, v := range r.Body {
		in := &p.Ins[v]
		if in.Op != loop.OpReduce {
			continue
		}
		w.names[v] = fmt.Sprint("v", v)
		if in.Type == loop.B {
			w.line("v%d := %t", v, loop.Reduction(in.Imm) == loop.And)
			w.line("_ = v%d", v)
			continue
		}
		w.reduces = append(w.reduces, v)
		w.line("r%d.open(n%d, %d, %s)", v, p.Lane, lanesOf(in.Type), w.identity(in))
	}
	reduces := w.reduces
	w.pass = true
	w.each(p.Lane)
	w.block(r.Body)
	if len(reduces) > 0 {
		w.line("if i%d%%%d == %d || i%d == n%d-1 {", p.Lane, numbers.Block, numbers.Block-1, p.Lane, p.Lane)
		for _, v := range reduces {
			in := &p.Ins[v]
			w.line("r%d.close(%d, %s)", v, lanesOf(in.Type), w.combiner(in))
			w.line("r%d.open(n%d-i%d-1, %d, %s)", v, p.Lane, p.Lane, lanesOf(in.Type), w.identity(in))
		}
		w.line("}")
	}
	w.line("}")
	w.pass = false
	for _, v := range reduces {
		in := &p.Ins[v]
		w.line("v%d := r%d.result(%s, %s)", v, v, w.identity(in), w.combiner(in))
		w.line("_ = v%d", v)
	}
}

func lanesOf(t loop.Type) int { return numbers.VirtualBytes / t.Size() }

// reduce adds the value of a lane to its reduction.
func (w *printer) reduce(v loop.Value, in *loop.Ins) {
	x := w.names[in.A]
	if in.Type == loop.B {
		sign := "&&"
		if loop.Reduction(in.Imm) == loop.Or {
			sign = "||"
		}
		w.line("v%d = v%d %s %s", v, v, sign, x)
		return
	}
	lane := fmt.Sprintf("r%d.lanes[i%d%%%d]", v, w.p.Lane, lanesOf(in.Type))
	w.line("%s = %s", lane, w.binary(opsOf[loop.Reduction(in.Imm)], in.Type, lane, x))
}

var opsOf = [...]loop.Op{loop.Sum: loop.OpAdd, loop.Prod: loop.OpMul, loop.Min: loop.OpMin, loop.Max: loop.OpMax, loop.MinU: loop.OpMinU, loop.MaxU: loop.OpMaxU}

// combiner is the function of a reduction.
func (w *printer) combiner(in *loop.Ins) string {
	t := goTypes[in.Type]
	switch r := loop.Reduction(in.Imm); {
	case r == loop.Sum:
		return w.use("sum") + "[" + t + "]"
	case r == loop.Prod:
		return w.use("product") + "[" + t + "]"
	case in.Type.Float() && r == loop.Min:
		return w.use("lesser") + "[" + t + "]"
	case in.Type.Float():
		return w.use("greater") + "[" + t + "]"
	default:
		return fmt.Sprintf("func(a, b %s) %s { return %s }", t, t, w.binary(opsOf[r], in.Type, "a", "b"))
	}
}

// identity is the value of a reduction of no elements.
func (w *printer) identity(in *loop.Ins) string {
	t := in.Type
	bits := 8 * t.Size()
	switch r := loop.Reduction(in.Imm); {
	case r == loop.Sum || r == loop.MaxU:
		return "0"
	case r == loop.Prod:
		return "1"
	case r == loop.MinU:
		return "-1"
	case t.Float():
		return fmt.Sprintf("%s(math.Inf(%d))", goTypes[t], map[bool]int{true: 1, false: -1}[r == loop.Min])
	case r == loop.Min:
		return fmt.Sprintf("1<<%d - 1", bits-1)
	default:
		return fmt.Sprintf("-1 << %d", bits-1)
	}
}

// loop prints a loop. Its results are the variables of its parameters.
func (w *printer) loop(v loop.Value, r *loop.Region) {
	for i, q := range r.Params {
		w.names[q] = fmt.Sprint("v", q)
		w.line("v%d := %s", q, w.names[r.Init[i]])
		w.line("_ = v%d", q)
		w.results[v] = append(w.results[v], w.names[q])
	}
	if r.Axis >= 0 {
		w.walked[r.Axis] = true
		w.each(r.Axis)
	} else {
		w.line("for {")
	}
	w.block(r.Head)
	if r.Cond != loop.NoValue {
		w.line("if !%s {\nbreak\n}", w.names[r.Cond])
	}
	w.block(r.Body)
	var to, from []string
	for i, q := range r.Params {
		if r.Next[i] != q {
			to, from = append(to, w.names[q]), append(from, w.names[r.Next[i]])
		}
	}
	if len(to) > 0 {
		w.line("%s = %s", strings.Join(to, ", "), strings.Join(from, ", "))
	}
	w.line("}")
	if r.Axis >= 0 {
		w.walked[r.Axis] = false
	}
}

// branch prints an if.
func (w *printer) branch(v loop.Value, r *loop.Region) {
	for i, x := range r.Next {
		name := fmt.Sprintf("v%d_%d", v, i)
		w.line("var %s %s", name, goTypes[w.p.Ins[x].Type])
		w.line("_ = %s", name)
		w.results[v] = append(w.results[v], name)
	}
	yield := func(values []loop.Value) {
		for i, x := range values {
			w.line("%s = %s", w.results[v][i], w.names[x])
		}
	}
	w.line("if %s {", w.names[r.Cond])
	w.block(r.Body)
	yield(r.Next)
	if len(r.Else) > 0 || len(r.ElseNext) > 0 {
		w.line("} else {")
		w.block(r.Else)
		yield(r.ElseNext)
	}
	w.line("}")
}

// loaded is the expression of an element of a buffer as a value.
func (w *printer) loaded(buf int, at string) string {
	d, t := w.p.Bufs[buf].DType, w.p.TypeOf(buf)
	switch {
	case d == array.Bool:
		return fmt.Sprintf("*(*uint8)(%s) != 0", at)
	case d == array.Float16:
		return fmt.Sprintf("%s(*(*uint16)(%s))", w.use("fromFloat16"), at)
	case d == array.BFloat16:
		return fmt.Sprintf("%s(*(*uint16)(%s))", w.use("fromBFloat16"), at)
	case t.Size() > d.Size():
		return fmt.Sprintf("%s(*(*%s)(%s))", goTypes[t], d, at)
	}
	return fmt.Sprintf("*(*%s)(%s)", goTypes[t], at)
}

// stored is a value as an element of a buffer, and the Go type of that.
func (w *printer) stored(buf int, v loop.Value) (typ, value string) {
	d, x := w.p.Bufs[buf].DType, w.names[v]
	switch t := w.p.TypeOf(buf); {
	case d == array.Float16:
		return "uint16", fmt.Sprintf("%s(%s)", w.use("toFloat16"), x)
	case d == array.BFloat16:
		return "uint16", fmt.Sprintf("%s(%s)", w.use("toBFloat16"), x)
	case t.Size() > d.Size() && d != array.Bool:
		return d.String(), fmt.Sprintf("%s(%s)", d, x)
	default:
		return goTypes[t], x
	}
}
