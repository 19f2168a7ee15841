package kerneltest

import (
	"fmt"
	"strings"
)

// statement writes a statement, or a few.
func (g *gen) statement() {
	g.budget--
	g.cost += g.mult
	depth := len(g.scopes)
	if len(g.loops) > 0 && g.once(7) {
		g.leaveEarly()
		return
	}
	switch k := g.n(20); {
	case k < 4:
		g.declaration()
	case k < 9 || depth > 5:
		g.assignment()
	case k < 12:
		g.conditional()
	case k < 15:
		g.loop()
	case k < 17:
		g.choice()
	case k < 18:
		switch g.n(6) {
		case 0:
			g.line("{")
			g.enter()
			g.some()
			g.exit()
			g.line("}")
		case 1:
			g.local()
		case 2:
			t := g.number()
			x, y := g.operand(t, 2), g.operand(t, 2)
			a := g.declareName()
			g.names++
			b := fmt.Sprintf("v%d", g.names)
			g.line("var %s, %s %s = %s, %s", a, b, t.name, x, y)
			g.line("_, _ = %s, %s", a, b)
			g.declare(a, t, false)
			g.declare(b, t, false)
		default:
			g.assignment()
		}
	default:
		g.leaveEarly()
	}
}

// local declares a constant or a type in a block of its own.
func (g *gen) local() {
	g.line("{")
	g.enter()
	g.names++
	if t := g.number(); g.once(2) {
		name := fmt.Sprintf("c%d", g.names)
		globals := g.globals
		if g.once(2) {
			g.line("const %s = %d", name, g.n(20)+1)
			t = nil
		} else {
			g.line("const %s %s = %s", name, t.name, g.literal(t))
		}
		g.globals = []global{{name, t}}
		g.some()
		g.globals = globals
	} else {
		u := &shape{name: fmt.Sprintf("U%d", g.names), basic: t.basic}
		g.line("type %s %s", u.name, t.name)
		x := g.expr(t, 1)
		name := g.declareName()
		g.line("%s := %s", name, g.convert(u, t, x))
		g.line("_ = %s", name)
		g.declare(name, u, false)
		g.some()
	}
	g.exit()
	g.line("}")
}

// some writes a few statements.
func (g *gen) some() {
	if g.budget <= 0 {
		g.assignment()
	}
	for range 1 + g.n(3) {
		if g.budget > 0 {
			g.statement()
		}
	}
}

func (g *gen) declaration() {
	t := g.any()
	if g.generic != nil && g.once(3) {
		t = g.generic
	}
	switch g.n(9) {
	case 0:
		name := g.declareName()
		g.line("var %s %s", name, t.name)
		g.declare(name, t, false)
		g.line("_ = %s", name)
	case 1:
		x := g.operand(t, 2)
		name := g.declareName()
		g.line("var %s %s = %s", name, t.name, x)
		g.declare(name, t, false)
		g.line("_ = %s", name)
	case 2, 4:
		// All results of one call.
		for _, i := range g.r.Perm(len(g.helpers)) {
			h := g.helpers[i]
			if h.generic || !g.affordable(h) {
				continue
			}
			x := g.callOf(h, 2)
			var names []string
			for range h.results {
				g.names++
				names = append(names, fmt.Sprintf("v%d", g.names))
			}
			g.line("%s := %s", strings.Join(names, ", "), x)
			for i, name := range names {
				g.declare(name, h.results[i], false)
				g.line("_ = %s", name)
			}
			return
		}
		fallthrough
	case 3:
		u := g.any()
		x, y := g.expr(t, 2), g.expr(u, 2)
		a := g.declareName()
		g.names++
		b := fmt.Sprintf("v%d", g.names)
		g.line("%s, %s := %s, %s", a, b, x, y)
		g.declare(a, t, false)
		g.declare(b, u, false)
		g.line("_, _ = %s, %s", a, b)
	default:
		x := g.expr(t, 3)
		name := g.declareName()
		g.line("%s := %s", name, x)
		g.declare(name, t, false)
		g.line("_ = %s", name)
	}
}

// assignable returns a place and its type.
func (g *gen) assignable(fits func(*shape) bool) (string, *shape) {
	var vars []variable
	for _, v := range g.visible() {
		if !v.readOnly {
			vars = append(vars, v)
		}
	}
	for range 20 {
		if len(vars) == 0 {
			break
		}
		v := vars[g.n(len(vars))]
		s, t := v.name, v.t
		for (t.elem != nil || t.fields != nil) && !g.once(4) {
			if t.elem != nil {
				s += "[" + g.index(t.n) + "]"
				t = t.elem
			} else {
				f := t.fields[g.n(len(t.fields))]
				s += "." + f.name
				t = f.t
			}
		}
		if fits(t) {
			return s, t
		}
	}
	return "", nil
}

func (g *gen) assignment() {
	all := func(*shape) bool { return true }
	switch g.n(8) {
	case 0, 1:
		at, t := g.assignable(func(t *shape) bool { return t.isNumber() || t.isComplex() })
		if t == nil {
			break
		}
		if t.isInt() {
			switch op := g.pick("+", "-", "*", "/", "%", "&", "|", "^", "&^", "<<", ">>"); op {
			case "/", "%":
				y := g.divisor(t, 2)
				if g.o.Plain {
					g.line("%s = %s", at, g.divide(t, op, at, y))
				} else {
					g.line("%s %s= %s", at, op, y)
				}
			case "<<", ">>":
				y := g.expr(g.integer(), 1)
				if g.o.Plain {
					g.line("%s = %s", at, g.shiftBy(at, op, y))
				} else {
					g.line("%s %s= %s", at, op, y)
				}
			default:
				g.line("%s %s= %s", at, op, g.operand(t, 2))
			}
			return
		}
		switch op := g.pick("+", "-", "*", "/"); op {
		case "/":
			g.line("%s /= %s", at, g.divisor(t, 2))
		default:
			g.line("%s %s= %s", at, op, g.operand(t, 2))
		}
		return
	case 2:
		if at, t := g.assignable(func(t *shape) bool { return t.isNumber() || t.isComplex() || t.basic == "generic" }); t != nil {
			g.line("%s%s", at, g.pick("++", "--"))
			return
		}
	case 3:
		a, t := g.assignable(all)
		b, u := g.assignable(all)
		if t == nil || strings.HasPrefix(a, b) || strings.HasPrefix(b, a) {
			break
		}
		g.line("%s, %s = %s, %s", a, b, g.operand(t, 2), g.operand(u, 2))
		return
	}
	if at, t := g.assignable(all); t != nil {
		g.line("%s = %s", at, g.operand(t, 3))
	}
}

func (g *gen) condition() string { return g.boolean(g.of("bool"), 2) }

func (g *gen) conditional() {
	init := ""
	g.scopes = append(g.scopes, nil)
	if g.once(4) {
		t := g.number()
		x := g.expr(t, 2)
		name := g.declareName()
		g.declare(name, t, false)
		init = fmt.Sprintf("%s := %s; ", name, g.paren(x))
		g.line("if %s%s %s %s {", init, name, g.pick("<", ">", "=="), g.operandParen(t))
	} else {
		g.line("if %s {", g.paren(g.condition()))
	}
	g.enter()
	g.some()
	g.exit()
	for g.once(4) && g.budget > 0 {
		g.line("} else if %s {", g.paren(g.condition()))
		g.enter()
		g.some()
		g.exit()
	}
	if g.once(2) {
		g.line("} else {")
		g.enter()
		g.some()
		g.exit()
	}
	g.line("}")
	g.scopes = g.scopes[:len(g.scopes)-1]
}

// paren keeps composite literals out of the heads of statements.
func (g *gen) paren(x string) string {
	if strings.Contains(x, "{") {
		return "(" + x + ")"
	}
	return x
}

func (g *gen) operandParen(t *shape) string { return g.paren(g.operand(t, 2)) }

// nest writes the body of a loop or switch through write, with a label if something inside
// uses it. The head comes from write, too.
func (g *gen) nest(isSwitch bool, write func()) {
	g.labels++
	g.loops = append(g.loops, loopInfo{label: fmt.Sprintf("L%d", g.labels), isSwitch: isSwitch})
	before := g.out.String()
	g.out.Reset()
	write()
	text := g.out.String()
	l := g.loops[len(g.loops)-1]
	g.loops = g.loops[:len(g.loops)-1]
	g.out.Reset()
	g.out.WriteString(before)
	if l.used {
		g.out.WriteString(l.label + ":\n")
	}
	g.out.WriteString(text)
}

func (g *gen) loop() {
	n := 2 + g.n(5)
	if g.cost+g.mult*n > 250 || g.budget < 2 {
		g.assignment()
		return
	}
	g.mult *= n
	defer func() { g.mult /= n }()
	g.scopes = append(g.scopes, nil)
	defer func() { g.scopes = g.scopes[:len(g.scopes)-1] }()
	body := func() {
		g.enter()
		g.some()
		if g.once(2) {
			g.assignment()
		}
		g.exit()
		g.line("}")
	}
	start := func(t *shape, name string) {
		g.declare(name, t, true)
	}
	// bound is n, or a number up to n that depends on the element.
	bound := func(t *shape) string {
		if g.once(2) {
			return fmt.Sprint(n)
		}
		return "(" + g.expr(t, 1) + "&3)"
	}
	ints := g.integer()
	g.nest(false, func() {
		switch k := g.n(9); k {
		case 0, 1:
			name := g.declareName()
			start(ints, name)
			b := bound(ints)
			cond := fmt.Sprintf("%s < %s", name, b)
			if g.once(4) {
				cond += " && " + g.paren(g.condition())
			}
			g.line("for %s := %s(0); %s; %s {", name, ints.name, cond, g.pick(name+"++", name+" += 2", name+"++"))
			body()
		case 2:
			name := g.declareName()
			b := bound(ints)
			start(ints, name)
			g.line("for %s := %s(%s); %s > 0; %s-- {", name, ints.name, b, name, name)
			body()
		case 3:
			// A condition of the element's own, and a counter that ends it.
			name := g.declareName()
			start(g.of("int"), name)
			g.line("for %s := 0; %s < %d && %s; %s++ {", name, name, n, g.paren(g.condition()), name)
			body()
		case 4:
			g.names++
			name := fmt.Sprintf("v%d", g.names)
			g.line("for %s := 0; ; {", name)
			start(g.of("int"), name)
			g.enter()
			g.line("%s++", name)
			g.line("if %s > %d || %s {", name, n, g.paren(g.condition()))
			g.line("\tbreak")
			g.line("}")
			g.some()
			g.exit()
			g.line("}")
		case 5:
			name := g.declareName()
			if g.once(2) {
				g.line("for %s := range %d {", name, n)
				start(g.of("int"), name)
			} else {
				g.line("for %s := range %s {", name, g.expr(ints, 1)+"&3")
				start(ints, name)
			}
			g.line("\t_ = %s", name)
			body()
		case 6:
			g.line("for range %s {", g.pick(fmt.Sprint(n), g.paren(g.leaf(g.of("int32")))+"&3"))
			body()
		case 7:
			t := g.of(g.pick("float32", "float64"))
			name := g.declareName()
			start(t, name)
			g.line("for %s := %s(0); %s < %d; %s += %s {", name, t.name, name, n, name, g.pick("0.75", "1.5", "1"))
			body()
		default:
			for _, v := range g.visible() {
				if v.t.elem != nil && v.t.n <= n {
					g.names += 2
					i, x := fmt.Sprintf("v%d", g.names-1), fmt.Sprintf("v%d", g.names)
					g.line("for %s, %s := range %s {", i, x, v.name)
					g.line("\t_, _ = %s, %s", i, x)
					start(g.of("int"), i)
					g.declare(x, v.t.elem, false)
					body()
					return
				}
			}
			g.line("for range %d {", n)
			body()
		}
	})
}

// choice writes a switch.
func (g *gen) choice() {
	g.scopes = append(g.scopes, nil)
	defer func() { g.scopes = g.scopes[:len(g.scopes)-1] }()
	g.nest(true, func() {
		var cases []string
		if g.once(3) {
			g.line("switch {")
			for range 1 + g.n(3) {
				list := g.condition()
				if g.once(3) {
					list += ", " + g.condition()
				}
				cases = append(cases, "case "+list+":")
			}
		} else {
			t := g.number()
			x := g.paren(g.expr(t, 2))
			if t.isInt() && g.once(2) {
				x = "(" + x + " & 3)"
			}
			if g.once(3) {
				name := g.declareName()
				g.declare(name, t, false)
				g.line("switch %s := %s; %s {", name, x, name)
			} else {
				g.line("switch %s {", x)
			}
			values := []string{"0", "1", "2", "3", "4", "7", "100"}
			for len(values) > 2 && len(cases) < 4 && !g.once(5) {
				list := values[0]
				values = values[1+g.n(2):]
				if g.once(4) {
					list += ", " + g.expr(t, 1)
				} else if g.once(4) {
					list += ", " + values[0]
					values = values[1:]
				}
				cases = append(cases, "case "+list+":")
			}
		}
		if g.once(2) {
			at := g.n(len(cases) + 1)
			cases = append(cases[:at], append([]string{"default:"}, cases[at:]...)...)
		}
		for i, c := range cases {
			g.line("%s", c)
			g.enter()
			if !g.once(6) {
				g.some()
			}
			if i+1 < len(cases) && g.once(4) {
				g.line("fallthrough")
			}
			g.exit()
		}
		g.line("}")
	})
}

// leaveEarly writes a conditional return, break or continue.
func (g *gen) leaveEarly() {
	g.line("if %s {", g.paren(g.condition()))
	g.enter()
	if g.once(2) && g.budget > 0 {
		g.statement()
	}
	kind := g.n(3)
	if len(g.loops) == 0 {
		kind = 0
	}
	switch kind {
	case 0:
		g.giveBack()
	case 1:
		if g.once(2) {
			at := g.n(len(g.loops))
			g.loops[at].used = true
			g.line("break %s", g.loops[at].label)
		} else {
			g.line("break")
		}
	case 2:
		var real []int
		for i, l := range g.loops {
			if !l.isSwitch {
				real = append(real, i)
			}
		}
		if len(real) == 0 {
			g.line("break")
			break
		}
		at := real[g.n(len(real))]
		if at == real[len(real)-1] && g.once(2) {
			g.line("continue")
		} else {
			g.loops[at].used = true
			g.line("continue %s", g.loops[at].label)
		}
	}
	g.exit()
	g.line("}")
}
