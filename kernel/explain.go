package kernel

import (
	"io"
	"strconv"
	"strings"

	"weft"
	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/formula"
	"weft/internal/gokernel"
	"weft/internal/graphtext"
	"weft/internal/htmlview"
	"weft/internal/ir"
	"weft/internal/op"
)

// Explain returns what runs for these arguments of [Func.Map], or of [Func.Stencil] where
// the function is a stencil: the source, the graph, the loop program and its machine code. In
// the two last, lines of the source stand above what comes from them. The head of the machine
// code says how many lanes a vector has and how many integers were found to fit in 4 bytes.
// It names what is slow, with its line: gathers, divisions, roots, loops under masks, spills.
// Then it names the loops that all lanes run together. Last come the variables that stay in 8
// bytes, as Go's int does where nothing proves that 4 hold it, with their line and the reason.
func (f *Func) Explain(args ...any) string {
	f.check()
	def, ops := f.runs(args)
	return f.f.Text() + "\n\n" + f.quoted(core.Explain(def, nil, ops...))
}

// runs returns the operation that computes the function of these arguments, and its operands.
func (f *Func) runs(args []any) (*op.Def, []core.Operand) {
	if !f.IsStencil() {
		r, _, xs := f.mapping(args)
		return r.def, r.operands(xs)
	}
	s := f.stencil(args)
	b := s.interior()
	if b.empty() {
		array.Failf(f.f.Name(), "", "has border alone in shape %v: nothing runs", s.shape)
	}
	r, xs := s.prepare(b)
	return r.def, r.operands(xs)
}

// View writes a page of HTML that shows what runs for these arguments of [Func.Map], or of
// [Func.Stencil] where the function is a stencil. Under "passes" the source, the graph, the plan,
// the loop program and the machine code stand side by side: a line of the source under the mouse
// marks what comes from it. View runs the function some times for the time of each kernel, unless
// a [weft.Profile] runs. The page is one file that loads nothing. The error is that of Map, or of
// w.
func (f *Func) View(w io.Writer, args ...any) error {
	if w == nil {
		return array.Errorf("view", "w", "is nil")
	}
	var page *htmlview.Page
	err := weft.Try(func() {
		f.check()
		def, ops := f.runs(args)
		var names graphtext.Names
		if params := f.taken; len(params) == len(ops) && !f.IsStencil() {
			for i, p := range params {
				if ops[i].T != nil {
					names.Inputs = append(names.Inputs, p.Name)
				} else {
					names.Scalars = append(names.Scalars, p.Name)
				}
			}
		}
		source := htmlview.Source{Text: f.f.Text(), First: f.f.Pos().Line}
		page = core.Lookup(def, nil, ops).Page(f.f.Name(), source, names, ops)
	})
	if err != nil {
		return err
	}
	return page.Write(w)
}

// quoted puts the text of the source's lines behind their numbers: "; line 12" becomes
// "; line 12: return x * y".
func (f *Func) quoted(s string) string {
	lines, first := strings.Split(f.f.Text(), "\n"), f.f.Pos().Line
	var b strings.Builder
	for text := range strings.Lines(s) {
		text = strings.TrimSuffix(text, "\n")
		b.WriteString(text)
		if number, ok := strings.CutPrefix(strings.TrimSpace(text), "; line "); ok {
			if n, err := strconv.Atoi(number); err == nil && n >= first && n-first < len(lines) {
				b.WriteString(": " + strings.TrimSpace(lines[n-first]))
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// ExprFunc is called by [weft.Expr], and lets formulas call f by the name that it has in
// [weft.Vars]. Programs do not call it: the value of the name is f itself.
//
//	weft.Expr("2*f(x, y) + 1", weft.Vars{"f": f, "x": x, "y": y})
func (f *Func) ExprFunc() any {
	f.check()
	return &formula.Func{Name: f.f.Name(), Attrs: called{f}, Compose: f.call}
}

// called is what a formula tells functions apart by.
type called struct{ f *Func }

// AppendKey implements [ir.Attrs].
func (c called) AppendKey(k []byte) []byte {
	k = c.f.f.AppendKey(k)
	if c.f.vjp != nil {
		k = c.f.vjp.f.AppendKey(append(k, "vjp"...))
	}
	return k
}

// call composes the function over nodes.
func (f *Func) call(xs []*ir.Node) []*ir.Node {
	name := f.f.Name()
	params := f.taken
	if len(xs) != len(params) {
		array.Failf(name, "", "takes %s, got %d", array.Count(len(params), "argument"), len(xs))
	}
	if n := len(f.f.Results()); n != 1 {
		array.Failf(name, "", "has %d results: a formula has values of one", n)
	}
	as := make([]argument, len(xs))
	open := map[int]array.DType{}
	for i, p := range params {
		as[i] = argument{p: &params[i], dtype: p.DType}
		switch x := xs[i]; {
		case x.Weak:
		case p.DType == array.Invalid:
			as[i].dtype = x.DType
			if d, ok := open[p.TypeParam]; ok {
				x = &ir.Node{DType: array.Promote(d, x.DType)}
			}
			open[p.TypeParam] = x.DType
		case x.DType != p.DType:
			array.Failf(name, p.Name, "is %s, got %s", p.Type, x.DType)
		}
	}
	for i := range as {
		a := &as[i]
		if d, ok := open[a.p.TypeParam]; ok && a.dtype == array.Invalid {
			a.dtype = d
		} else if a.dtype == array.Invalid {
			a.dtype = xs[i].DType
		}
	}
	in := f.instance(as)
	if takesRandom(in) {
		array.Failf(name, "", "asks for random numbers, which a formula has none of: Map gives them")
	}
	var shapes [][]int
	for i, p := range params {
		if p.Role == gokernel.Scalar {
			shapes = append(shapes, xs[i].Shape)
		}
	}
	if len(xs) == 0 {
		array.Failf(name, "", "takes no arguments: it is a constant")
	}
	shape := array.Broadcast(name, shapes...)
	fr := frame{g: xs[0].Graph, args: xs, shape: shape, extents: shape}
	b := f.gradient(in, as, in.Returns())
	return joined(op.ApplyAll(op.Kernel, b, fr.inputs(f, in)...), in.Returns())
}
