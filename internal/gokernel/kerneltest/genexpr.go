package kerneltest

import (
	"fmt"
	"strings"
)

// operand is an expression of type t, which may be a constant.
func (g *gen) operand(t *shape, depth int) string {
	if g.once(4) && t.basic != "" {
		return g.constant(t)
	}
	return g.expr(t, depth)
}

// constant is a constant that goes where type t is wanted: a literal or the name of one.
func (g *gen) constant(t *shape) string {
	if t.isInt() && g.once(8) {
		for _, v := range g.visible() {
			if v.t.elem != nil && same(t, g.of("int")) {
				return "len(" + v.name + ")"
			}
		}
	}
	if len(g.globals) > 0 && g.once(3) && t.basic != "bool" && t.basic != "generic" {
		c := g.globals[g.n(len(g.globals))]
		if c.t == nil || same(c.t, t) {
			return c.name
		}
	}
	return g.literal(t)
}

// divisor is an operand that is no constant zero.
func (g *gen) divisor(t *shape, depth int) string {
	if g.once(3) {
		return g.pick("1", "2", "3", "5", "7", "10", "100")
	}
	return g.expr(t, depth)
}

// literal is a constant of type t.
func (g *gen) literal(t *shape) string {
	switch {
	case t.basic == "bool":
		return g.pick("true", "false")
	case t.basic == "generic":
		return g.pick("0", "1", "2", "3", "7", "100")
	case t.isInt():
		bits := t.bits()
		if t.isUnsigned() {
			return g.pick("0", "1", "2", "3", "7", "0x10", "100", fmt.Sprintf("(1<<%d - 1)", bits), fmt.Sprintf("(1 << %d)", bits-1), fmt.Sprintf("(1<<%d + 1)", bits/2), fmt.Sprint(g.n(256)))
		}
		return g.pick("0", "1", "2", "3", "(-1)", "(-2)", "7", "'d'", "100", fmt.Sprintf("(-1 << %d)", bits-1), fmt.Sprintf("(1<<%d - 1)", bits-1), fmt.Sprintf("(1 << %d)", bits/2), fmt.Sprint(g.n(128)))
	case t.isComplex():
		return g.pick("0", "1", "1i", "2i", "(1 + 2i)", "(0.5 - 1.25i)", "3", "0.1", "(-1e3 + 0.1i)", "(1e-3 - 1i)")
	case t.basic == "float32":
		return g.pick("0", "1", "2", "0.5", "0.1", "(-1)", "(-0.75)", "3", "1e-3", "1e30", "1e-30", "0x1p-126", "16777216", "100", "1.0000001", "3.4028234e38", "(1.0 / 3)")
	}
	return g.pick("0", "1", "2", "0.5", "0.1", "(-1)", "(-0.75)", "3", "1e-3", "1e30", "1e-300", "0x1p-1022", "9007199254740993", "100", "1e300", "(1.0 / 3)")
}

// expr is an expression of type t that is no constant.
func (g *gen) expr(t *shape, depth int) string {
	if depth <= 0 || g.once(5) {
		return g.leaf(t)
	}
	if g.once(5) {
		if s := g.call(t, depth-1); s != "" {
			return s
		}
	}
	d := depth - 1
	switch {
	case t.elem != nil || t.fields != nil:
		return g.composite(t, d)
	case t.basic == "bool":
		return g.boolean(t, d)
	case t.basic == "generic":
		switch g.n(6) {
		case 0:
			return fmt.Sprintf("%s(%s, %s)", g.pick("min", "max"), g.expr(t, d), g.expr(t, d))
		case 1:
			return "-" + g.leaf(t)
		}
		x, y := g.expr(t, d), g.operand(t, d)
		return fmt.Sprintf("(%s %s %s)", x, g.pick("+", "-", "*"), y)
	case t.isComplex():
		switch g.n(6) {
		case 0:
			f := g.of("float64")
			if t.basic == "complex64" {
				f = g.of("float32")
			}
			x, y := g.expr(f, d), g.operand(f, d)
			if g.once(2) {
				x, y = y, x
			}
			return g.named2(t, "complex("+x+", "+y+")")
		case 1:
			if s := g.conversion(t, d); s != "" {
				return s
			}
		case 2:
			return "-" + g.leaf(t)
		}
		return g.arithmetic(t, d, "+", "-", "*", "/")
	case t.isFloat():
		switch g.n(10) {
		case 6:
			// What a compiler might contract.
			return fmt.Sprintf("(%s*%s %s %s)", g.leaf(t), g.leaf(t), g.pick("+", "-"), g.expr(t, d))
		case 0, 1:
			return g.mathCall(t, d)
		case 2:
			if s := g.conversion(t, d); s != "" {
				return s
			}
		case 3:
			c := g.of("complex128")
			if t.basic == "float32" {
				c = g.of("complex64")
			}
			return g.named2(t, g.pick("real", "imag")+"("+g.expr(c, d)+")")
		case 4:
			return g.pick("-", "+") + g.leaf(t)
		case 5:
			return g.minMax(t, d)
		}
		return g.arithmetic(t, d, "+", "-", "*", "/", "+", "-", "*")
	}
	switch g.n(10) {
	case 0, 1:
		if s := g.conversion(t, d); s != "" {
			return s
		}
	case 2:
		return g.pick("-", "^", "+") + g.leaf(t)
	case 3, 4:
		return g.shift(t, g.expr(t, d), d, g.pick("<<", ">>"))
	case 5:
		return g.minMax(t, d)
	case 6:
		return g.bitsCall(t, d)
	}
	switch op := g.pick("+", "-", "*", "/", "%", "&", "|", "^", "&^", "+", "-", "*"); op {
	case "/", "%":
		return g.divide(t, op, g.expr(t, d), g.divisor(t, d))
	default:
		return g.arithmetic(t, d, op)
	}
}

// named2 converts to t if that is a named type.
func (g *gen) named2(t *shape, x string) string {
	if t.name != t.basic {
		return t.name + "(" + x + ")"
	}
	return x
}

// arithmetic is a binary expression.
func (g *gen) arithmetic(t *shape, d int, ops ...string) string {
	op := g.pick(ops...)
	x, y := g.expr(t, d), g.operand(t, d)
	if op == "/" {
		y = g.divisor(t, d)
	} else if g.once(2) {
		x, y = y, x
	}
	return fmt.Sprintf("(%s %s %s)", x, op, y)
}

// divide is a quotient or remainder of integers.
func (g *gen) divide(t *shape, op, x, y string) string {
	if !g.o.Plain {
		return fmt.Sprintf("(%s %s %s)", x, op, y)
	}
	return fmt.Sprintf("%s(%s, %s)", map[string]string{"/": "plainDiv", "%": "plainRem"}[op], x, y)
}

// shift is x shifted by a count.
func (g *gen) shift(t *shape, x string, d int, op string) string {
	count := g.pick("1", "2", "3", "7", "8", "15", "31", "63", "64", "70")
	if !g.once(3) {
		count = g.expr(g.integer(), d)
	}
	return g.shiftBy(x, op, count)
}

func (g *gen) shiftBy(x, op, count string) string {
	if !g.o.Plain {
		return fmt.Sprintf("(%s %s (%s))", x, op, count)
	}
	return fmt.Sprintf("%s(%s, %s)", map[string]string{"<<": "plainShl", ">>": "plainShr"}[op], x, count)
}

func (g *gen) minMax(t *shape, d int) string {
	list := []string{g.expr(t, d), g.operand(t, d)}
	if g.once(3) {
		list = append(list, g.operand(t, d))
	}
	return g.pick("min", "max") + "(" + strings.Join(list, ", ") + ")"
}

// conversion is a number of another type, converted.
func (g *gen) conversion(t *shape, d int) string {
	for range 20 {
		from := g.scalar()
		if same(from, t) || from.isComplex() != t.isComplex() || from.basic == "bool" {
			continue
		}
		return g.convert(t, from, g.expr(from, d))
	}
	return ""
}

func (g *gen) convert(t, from *shape, x string) string {
	if g.o.Plain && from.isFloat() && t.isInt() {
		return fmt.Sprintf("%s(plain_%s(float64(%s)))", t.name, t.basic, x)
	}
	return t.name + "(" + x + ")"
}

// leaf is a variable, or one of another type converted.
func (g *gen) leaf(t *shape) string {
	if g.external != nil && g.once(3) {
		for _, a := range g.external {
			if same(a.t, t) {
				return g.read(a)
			} else if t.name == "int" && g.once(4) {
				return fmt.Sprintf("%s.Dim(%d)", a.name, g.n(a.rank))
			}
		}
	}
	if g.elem && g.once(4) {
		switch t.name {
		case "int":
			return g.pick("e.Index(0)", "e.Index(1)", "e.Dim(0)", "e.Dim(1)")
		case "float32":
			return "e.Rand()"
		case "float64":
			return "e.Rand64()"
		}
	}
	if p := g.places(t, false); len(p) > 0 {
		return p[g.n(len(p))]
	}
	switch {
	case t.elem != nil || t.fields != nil:
		return g.composite(t, 0)
	case t.basic == "generic":
		return "N(p0)"
	case t.basic == "bool":
		return g.comparison(t, 0)
	case t.isComplex():
		f := g.of("float64")
		if t.basic == "complex64" {
			f = g.of("float32")
		}
		return g.named2(t, "complex("+g.leaf(f)+", "+g.literal(f)+")")
	}
	var from []variable
	for _, v := range g.visible() {
		if v.t.isNumber() {
			from = append(from, v)
		}
	}
	v := from[g.n(len(from))]
	return g.convert(t, v.t, v.name)
}

// read reads an array at indices that may be outside.
func (g *gen) read(a array) string {
	var list []string
	for range a.rank {
		i := "int(" + g.leaf(g.of(g.pick("int32", "int8", "uint8", "int16"))) + ")"
		if g.once(3) {
			i = fmt.Sprint(g.n(8) - 2)
		}
		list = append(list, i)
	}
	return a.name + ".At(" + strings.Join(list, ", ") + ")"
}

func (g *gen) composite(t *shape, d int) string {
	if p := g.places(t, false); len(p) > 0 && g.once(2) {
		return p[g.n(len(p))]
	}
	var list []string
	if t.elem != nil {
		keyed := g.once(3)
		for i := range t.n {
			if g.once(5) && keyed {
				continue
			}
			x := g.operand(t.elem, d)
			if keyed {
				x = fmt.Sprintf("%d: %s", i, x)
			}
			list = append(list, x)
		}
		return t.name + "{" + strings.Join(list, ", ") + "}"
	}
	keyed := g.once(2)
	for _, f := range t.fields {
		if keyed && g.once(4) {
			continue
		}
		x := g.operand(f.t, d)
		if keyed {
			x = f.name + ": " + x
		}
		list = append(list, x)
	}
	return t.name + "{" + strings.Join(list, ", ") + "}"
}

func (g *gen) boolean(t *shape, d int) string {
	switch g.n(5) {
	case 0:
		return g.named2(t, fmt.Sprintf("(%s %s %s)", g.expr(t, d), g.pick("&&", "||", "==", "!="), g.expr(t, d)))
	case 1:
		return "!" + g.leaf(t)
	case 2:
		if g.once(2) {
			f := g.of("float64")
			return g.named2(t, g.pick("math.IsNaN("+g.expr(f, d)+")", "math.IsInf("+g.expr(f, d)+", "+g.pick("0", "1", "-1")+")"))
		}
	}
	return g.comparison(t, d)
}

// comparison compares two of a type of its own.
func (g *gen) comparison(t *shape, d int) string {
	of := g.number()
	if g.generic != nil && g.once(3) {
		of = g.generic
	}
	op := g.pick("<", "<=", ">", ">=", "==", "!=")
	if d > 0 && g.once(6) {
		of = g.any()
		op = g.pick("==", "!=")
	}
	x := g.expr(of, d)
	if of.elem != nil || of.fields != nil {
		// A composite literal may not stand in the head of a statement by itself.
		return g.named2(t, fmt.Sprintf("((%s) %s (%s))", x, op, g.expr(of, d)))
	}
	y := g.operand(of, d)
	if g.once(3) {
		x, y = y, x
	}
	return g.named2(t, fmt.Sprintf("(%s %s %s)", x, op, y))
}

// mathCall is a function of package math whose result is exact or rounded once.
func (g *gen) mathCall(t *shape, d int) string {
	f := g.of("float64")
	arg := func() string {
		if same(t, f) {
			return g.expr(t, d)
		}
		return "float64(" + g.expr(t, d) + ")"
	}
	var s string
	switch g.n(9) {
	case 8:
		// Of what stands there, which is seldom infinite: the one rounding shows.
		x, y := g.leaf(f), g.leaf(f)
		s = "math.FMA(" + x + ", " + y + ", -" + g.leaf(f) + ")"
	case 0, 1:
		s = "math.Sqrt(" + arg() + ")"
	case 2:
		s = "math.FMA(" + arg() + ", " + arg() + ", " + arg() + ")"
	case 3, 4:
		x := arg()
		if g.once(2) {
			x = "float64(" + g.leaf(g.of("int8")) + ")/2"
		}
		s = "math." + g.pick("Abs", "Floor", "Ceil", "Trunc", "Trunc", "Round", "RoundToEven") + "(" + x + ")"
	case 5:
		s = "math." + g.pick("Max", "Min") + "(" + arg() + ", " + arg() + ")"
	case 6:
		// The sign of NaN is not determined: that of an integer is.
		s = "math.Copysign(" + arg() + ", float64(" + g.expr(g.of("int32"), d) + "))"
	case 7:
		if t.basic == "float32" {
			return g.named2(t, "math.Float32frombits("+g.expr(g.of("uint32"), d)+")")
		}
		return g.named2(t, "math.Float64frombits("+g.expr(g.of("uint64"), d)+")")
	}
	if !same(t, f) {
		s = t.name + "(" + s + ")"
	}
	return s
}

// bitsCall is a function of package math/bits.
func (g *gen) bitsCall(t *shape, d int) string {
	w := g.pick("", "8", "16", "32", "64")
	u := g.of("uint" + w)
	switch g.n(3) {
	case 0:
		return g.convertTo(t, u, "bits.RotateLeft"+w+"("+g.expr(u, d)+", "+g.pick("1", "-3", "7", "13", g.leaf(g.of("int")))+")")
	case 1:
		f := "Reverse"
		if w != "8" && g.once(2) {
			f = "ReverseBytes"
		}
		return g.convertTo(t, u, "bits."+f+w+"("+g.expr(u, d)+")")
	}
	return g.convertTo(t, g.of("int"), "bits."+g.pick("LeadingZeros", "TrailingZeros", "OnesCount", "Len")+w+"("+g.expr(u, d)+")")
}

func (g *gen) convertTo(t, from *shape, x string) string {
	if same(t, from) {
		return x
	}
	return g.convert(t, from, x)
}

// affordable reports that a helper may be called here.
func (g *gen) affordable(h helper) bool { return g.cost+g.mult*h.cost < 600 }

// call is a call of a helper that gives one value of type t, or "".
func (g *gen) call(t *shape, d int) string {
	for _, i := range g.r.Perm(len(g.helpers)) {
		h := g.helpers[i]
		if len(h.results) != 1 || !g.affordable(h) {
			continue
		}
		gives := h.results[0]
		if gives == nil {
			gives = g.of(h.instance())
		}
		switch {
		case same(gives, t):
			return g.callOf(h, d)
		case gives.isNumber() && t.isNumber() && g.once(2):
			return g.convert(t, gives, g.callOf(h, d))
		}
	}
	return ""
}

// instance is the type that a generic function is called with.
func (h *helper) instance() string {
	return strings.TrimSuffix(h.name[strings.Index(h.name, "[")+1:], "]")
}

func (g *gen) callOf(h helper, d int) string {
	g.cost += g.mult * (h.cost + 1)
	var args []string
	for _, t := range h.params {
		if t == nil {
			t = g.of(h.instance())
		}
		args = append(args, g.operand(t, d-1))
	}
	if h.name[0] != '.' {
		return h.name + "(" + strings.Join(args, ", ") + ")"
	}
	if p := g.places(h.params[0], false); len(p) > 0 {
		return p[g.n(len(p))] + h.name + "(" + strings.Join(args[1:], ", ") + ")"
	}
	// A constant has no method, a literal does.
	x := g.expr(h.params[0], 0)
	return "(" + x + ")" + h.name + "(" + strings.Join(args[1:], ", ") + ")"
}
