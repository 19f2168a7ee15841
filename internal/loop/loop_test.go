package loop

import (
	"strings"
	"testing"

	"weft/internal/array"
)

// softmax is the row program of the package comment, with a stand-in for exp.
func softmax() *Builder {
	b := NewBuilder("softmax", []Axis{{Kind: Parallel}, {Kind: Reduce}}, 1)
	x := b.Buf(array.Float32, false, Any, Unit)
	y := b.Buf(array.Float32, true, Any, Unit)
	var m, s Value
	b.Pass(func() { m = b.Reduce(Max, b.Load(x)) })
	b.Pass(func() { s = b.Reduce(Sum, b.Abs(b.Sub(b.Load(x), m))) })
	r := b.Div(b.Float(F32, 1), s)
	b.Pass(func() { b.Store(y, b.Mul(b.Abs(b.Sub(b.Load(x), m)), r)) })
	return b
}

func mandelbrot() *Builder {
	b := NewBuilder("mandelbrot", []Axis{{Kind: Parallel}}, 0)
	cr := b.Buf(array.Float32, false, Unit)
	ci := b.Buf(array.Float32, false, Unit)
	out := b.Buf(array.Int32, true, Unit)
	b.Pass(func() {
		r, i := b.Load(cr), b.Load(ci)
		zero := b.Float(F32, 0)
		res := b.While([]Value{zero, zero, b.Int(I32, 0)}, func(v []Value) Value {
			zz := b.Add(b.Mul(v[0], v[0]), b.Mul(v[1], v[1]))
			return b.And(b.Le(zz, b.Float(F32, 4)), b.Lt(v[2], b.Int(I32, 200)))
		}, func(v []Value) []Value {
			re := b.Add(b.Sub(b.Mul(v[0], v[0]), b.Mul(v[1], v[1])), r)
			im := b.Add(b.Mul(b.Float(F32, 2), b.Mul(v[0], v[1])), i)
			return []Value{re, im, b.Add(v[2], b.Int(I32, 1))}
		})
		b.Store(out, res[2])
	})
	return b
}

// TestKeyAndText demands that a key is stable and differs by program, and that the text has what
// was built.
func TestKeyAndText(t *testing.T) {
	for _, b := range []*Builder{softmax(), mandelbrot()} {
		p, err := b.Done()
		if err != nil {
			t.Fatalf("%v\n%s", err, b.Program())
		}
		if again, _ := b.Done(); again.Key() != p.Key() || p.Key() == "" {
			t.Error("key is not stable")
		}
	}
	if softmax().Program().Key() == mandelbrot().Program().Key() {
		t.Error("different programs have one key")
	}
	s := softmax().Program().String()
	for _, want := range []string{"axis 1: reduce lane", "buf 1: float32 write [s 1]", "reduce.f32 max", "store 1"} {
		if !strings.Contains(s, want) {
			t.Errorf("%q is missing in\n%s", want, s)
		}
	}
}

func lookup() *Builder {
	b := NewBuilder("lookup", []Axis{{Kind: Parallel}}, 0)
	in, out := b.Buf(array.Int32, false, Unit), b.Buf(array.Float32, true, Unit)
	table := make([]float64, 32)
	for i := range table {
		table[i] = float64(i % 16)
	}
	b.Pass(func() { b.Store(out, b.Lookup(table, b.Load(in))) })
	return b
}

// TestEqualTablesAreOne demands that equal tables are kept once, and that the key and the text of a
// program depend on their entries.
func TestEqualTablesAreOne(t *testing.T) {
	p := lookup().Program()
	if n := len(p.Tables); n != 1 {
		t.Errorf("%d tables, want 1 of two equal halves", n)
	}
	q := lookup().Program()
	q.Tables[0].Bits[7]++
	for _, of := range []func(*Program) string{(*Program).Key, (*Program).String} {
		if of(p) != of(lookup().Program()) || of(p) == of(q) {
			t.Error("the key or the text does not follow the tables")
		}
	}
	if s := p.String(); !strings.Contains(s, "table 0: f32 [0 (0x00000000) 1 (0x3f800000)") || !strings.Contains(s, "lookup.f32 0, v") {
		t.Errorf("no table in\n%s", s)
	}
}

// TestCommonSubexpressions demands that equal pure instructions are one within their scope only,
// also when there are more than the table begins with.
func TestCommonSubexpressions(t *testing.T) {
	b := NewBuilder("shared", []Axis{{Kind: Parallel}}, 0)
	out := b.Buf(array.Int32, true, Unit)
	b.Pass(func() {
		first := b.Int(I32, 0)
		for i := range int64(3000) {
			b.Int(I32, i)
		}
		if b.Int(I32, 0) != first {
			t.Error("a constant is there twice")
		}
		x := b.Load(out)
		var inside Value
		y := b.If(b.Lt(x, first), func() []Value {
			inside = b.Add(x, first)
			last := b.Int(I32, 2999)
			if b.Add(x, first) != inside || b.Int(I32, 2999) != last {
				t.Error("not shared inside an if")
			}
			return []Value{inside}
		}, func() []Value { return []Value{x} })
		if b.Add(x, first) == inside {
			t.Error("a value of an if is shared outside")
		}
		b.Store(out, y[0])
	})
	if _, err := b.Done(); err != nil {
		t.Error(err)
	}
}

// Each mutation breaks one rule, and the verifier must say so.
func TestVerifyRefuses(t *testing.T) {
	find := func(p *Program, op Op) *Ins {
		for i := range p.Ins {
			if p.Ins[i].Op == op {
				return &p.Ins[i]
			}
		}
		t.Fatalf("no %s", op)
		return nil
	}
	for name, c := range map[string]struct {
		make  func() *Builder
		spoil func(p *Program)
		want  string
	}{
		"type":   {softmax, func(p *Program) { find(p, OpSub).Type = F64 }, "want f64"},
		"future": {softmax, func(p *Program) { find(p, OpSub).A = Value(len(p.Ins) - 1) }, "not in reach"},
		"number": {softmax, func(p *Program) {
			first := p.Region(&p.Ins[p.Body[0]])
			p.Ins = append(p.Ins, *find(p, OpLoad))
			late := Value(len(p.Ins) - 1)
			first.Body = append([]Value{late}, first.Body...)
			find(p, OpReduce).A = late
		}, "higher number"},
		"reduce early":                  {softmax, func(p *Program) { find(p, OpReduce).A = 1 }, "not in reach"},
		"read-only":                     {softmax, func(p *Program) { p.Bufs[1].Write = false }, "read-only"},
		"no axis":                       {softmax, func(p *Program) { p.Axes[1].Kind = Serial }, "lane axis is serial"},
		"lane kind":                     {softmax, func(p *Program) { p.Axes[1].Kind = Parallel }, "reduce over"},
		"unit":                          {softmax, func(p *Program) { p.Bufs[0].Steps[0] = Unit }, "step"},
		"buffer":                        {softmax, func(p *Program) { find(p, OpLoad).Imm = 9 }, "buffer 9"},
		"two places":                    {mandelbrot, func(p *Program) { p.Body = append(p.Body, p.Body[0]) }, "two places"},
		"cond type":                     {mandelbrot, func(p *Program) { p.Region(find(p, OpLoop)).Cond = p.Region(find(p, OpLoop)).Params[0] }, "want b"},
		"carried":                       {mandelbrot, func(p *Program) { r := p.Region(find(p, OpLoop)); r.Next = r.Next[1:] }, "carries"},
		"next type":                     {mandelbrot, func(p *Program) { r := p.Region(find(p, OpLoop)); r.Next[2] = r.Next[0] }, "want i32"},
		"endless":                       {mandelbrot, func(p *Program) { r := p.Region(find(p, OpLoop)); r.Cond, r.Head = NoValue, nil }, "without end"},
		"out":                           {mandelbrot, func(p *Program) { find(p, OpOut).Imm = 3 }, "does not exist"},
		"no region":                     {mandelbrot, func(p *Program) { find(p, OpLoop).Imm = 9 }, "region 9"},
		"surplus":                       {mandelbrot, func(p *Program) { find(p, OpMul).C = 0 }, "surplus"},
		"table":                         {lookup, func(p *Program) { find(p, OpLookup).Imm = 1 }, "table 1 of type f32"},
		"table type":                    {lookup, func(p *Program) { p.Tables[0].Type = F64 }, "16 entries of type f64"},
		"table size":                    {lookup, func(p *Program) { p.Tables[0].Bits = p.Tables[0].Bits[1:] }, "15 entries"},
		"entry":                         {lookup, func(p *Program) { p.Tables[0].Bits[1] = 1 << 32 }, "does not fit f32"},
		"place":                         {lookup, func(p *Program) { find(p, OpLookup).A = find(p, OpSelect).A }, "want i32"},
		"row stored into one element":   {softmax, func(p *Program) { p.Bufs[find(p, OpStore).Imm].Steps[0] = Zero }, "does not step on parallel axis 0"},
		"lanes stored into one element": {mandelbrot, func(p *Program) { p.Bufs[find(p, OpStore).Imm].Steps[p.Lane] = Zero }, "does not step on parallel axis"},
		"bool order":                    {mandelbrot, func(p *Program) { find(p, OpLe).A = p.Region(find(p, OpLoop)).Cond }, "compares"},
	} {
		b := c.make()
		c.spoil(b.Program())
		if _, err := b.Done(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
}
