package loopgen

import (
	"math"
	"math/rand/v2"
	"slices"

	"weft/internal/array"
	"weft/internal/loop"
)

// A generator builds one program. vals holds the values in reach, by type.
type generator struct {
	r       *rand.Rand
	b       *loop.Builder
	c       *Case
	l       Language
	dtypes  []array.DType
	types   []loop.Type // that may occur, B first
	numbers []loop.Type
	axes    []loop.Axis
	lane    int
	ragged  bool   // the lane axis is that of items
	walked  []bool // axes whose index is defined here
	vals    [loop.I16 + 1][]loop.Value
	bufs    []bufInfo
	tables  [loop.F64 + 1][][]float64
	depth   int // loops and ifs around
	loops   int
	budget  int // instructions left to draw in this pass
	work    int // about how often an instruction may run for a lane
	around  int // how often the innermost loop body runs for a lane
}

var types = []loop.Type{loop.B, loop.I8, loop.I16, loop.I32, loop.I64, loop.F32, loop.F64}

// has reports that an operation of a type may be drawn.
func (g *generator) has(op loop.Op, t loop.Type) bool { return g.l.has(Item{Op: op, Type: t}) }

// op draws an operation of type t.
func (g *generator) op(t loop.Type, from ...loop.Op) loop.Op {
	for {
		if op := pick(g.r, from...); g.has(op, t) {
			return op
		}
	}
}

// scope runs f; what f defines is out of reach afterwards.
func (g *generator) scope(f func()) {
	var n [len(g.vals)]int
	for t := range g.vals {
		n[t] = len(g.vals[t])
	}
	f()
	for t := range g.vals {
		g.vals[t] = g.vals[t][:n[t]]
	}
}

func (g *generator) add(v loop.Value) loop.Value {
	t := g.b.Type(v)
	g.vals[t] = append(g.vals[t], v)
	return v
}

// chance is true once in n times.
func (g *generator) chance(n int) bool { return g.r.IntN(n) == 0 }

// any returns a value of type t, one in reach if there is one; mostly a recent
// one.
func (g *generator) any(t loop.Type) loop.Value {
	v := g.vals[t]
	if len(v) == 0 || g.chance(12) {
		return g.add(g.constant(t))
	}
	if g.chance(2) {
		return v[len(v)-1-g.r.IntN(min(len(v), 4))]
	}
	return v[g.r.IntN(len(v))]
}

func (g *generator) constant(t loop.Type) loop.Value {
	x := bits(g.r, t)
	if len(g.c.Scalars) < 8 && g.chance(4) {
		g.c.Scalars = append(g.c.Scalars, x)
		return g.b.Scalar(g.b.ScalarArg(t))
	}
	if n := len(g.c.Scalars); n > 0 && g.chance(6) {
		for i := range n {
			if v := g.b.Program().Scalars[i]; v == t {
				return g.b.Scalar(i)
			}
		}
	}
	return g.b.ConstBits(t, x)
}

// row draws the body of the program.
func (g *generator) row() {
	// Values of the row before, between and behind the passes.
	uniform := func(n int) {
		g.around = 1
		for range g.r.IntN(n) {
			g.value(pick(g.r, g.types...))
		}
		if g.chance(4) {
			g.budget = pick(g.r, 2, 4, 8)
			g.statements()
		}
	}
	reduce := g.axes[g.lane].Kind == loop.Reduce
	passes := pick(g.r, 1, 1, 1, 2)
	if reduce {
		passes = pick(g.r, 1, 2, 2, 3)
	}
	spill := g.chance(6)
	for i := range passes {
		uniform(6)
		var sums []loop.Value
		g.walked[g.lane] = true
		g.b.Pass(func() {
			g.scope(func() {
				g.budget = pick(g.r, 3, 6, 12, 20, 40)
				g.around = 1
				if spill {
					g.manyLive()
				}
				g.statements()
				if reduce && (i == 0 || g.chance(2)) {
					for range 1 + g.r.IntN(4) {
						sums = append(sums, g.reduce())
					}
				}
				if !reduce || g.chance(2) {
					for range 1 + g.r.IntN(3) {
						g.store(pick(g.r, g.types...))
					}
				}
				if g.r.IntN(3) > 0 {
					g.foldAll()
				}
			})
		})
		g.walked[g.lane] = false
		for _, s := range sums {
			g.add(s)
		}
		for _, s := range sums {
			if g.r.IntN(3) > 0 {
				g.storeValue(s)
			}
		}
	}
	uniform(6)
	for range g.r.IntN(3) {
		g.store(pick(g.r, g.types...))
	}
}

// manyLive draws more values than there are registers and uses them all
// afterwards.
func (g *generator) manyLive() {
	t := pick(g.r, g.numbers...)
	var v []loop.Value
	for range 20 + g.r.IntN(30) {
		v = append(v, g.value(t))
	}
	g.statements()
	sum := v[0]
	for _, x := range v[1:] {
		if t.Int() {
			sum = g.b.Xor(g.b.Add(sum, sum), x)
		} else {
			sum = g.b.Sub(x, g.b.Mul(sum, g.b.Float(t, 0.5)))
		}
	}
	g.add(sum)
	g.storeValue(sum)
}

// foldAll makes everything in reach of one type visible in an output.
func (g *generator) foldAll() {
	t := pick(g.r, g.types...)
	v := g.vals[t]
	if len(v) < 2 {
		return
	}
	sum := v[0]
	for _, x := range v[1:] {
		switch {
		case t.Float():
			// The fold goes on behind a NaN.
			sum = g.b.Select(g.b.Lt(g.b.Abs(sum), g.b.Float(t, 1e30)), g.b.Add(g.b.Mul(sum, g.b.Float(t, -0.75)), x), x)
		case t == loop.B:
			sum = g.b.Xor(sum, x)
		default:
			sum = g.b.Add(g.b.Mul(sum, g.b.Int(t, 31)), x)
		}
	}
	g.storeValue(sum)
}

func (g *generator) reduce() loop.Value {
	t := pick(g.r, g.types...)
	if t == loop.B {
		return g.b.Reduce(pick(g.r, loop.And, loop.Or), g.any(t))
	}
	x := g.any(t)
	if t.Float() && g.chance(2) {
		// Keep to numbers, or sums are NaN all the time.
		x = g.b.Select(g.b.Lt(g.b.Abs(x), g.b.Float(t, 1e6)), x, g.b.Float(t, 0.25))
	}
	kind := pick(g.r, loop.Sum, loop.Sum, loop.Prod, loop.Min, loop.Max)
	if t.Int() && g.chance(3) {
		kind = pick(g.r, loop.MinU, loop.MaxU)
	}
	if !g.l.has(Item{Op: loop.OpReduce, Type: t, Kind: kind}) {
		kind = loop.Sum
	}
	return g.b.Reduce(kind, x)
}

func (g *generator) statements() {
	for g.budget > 0 {
		g.budget--
		switch n := g.r.IntN(24); {
		case n < 3 && g.depth < 3:
			g.ifs()
		case n < 6 && g.loops < 3 && g.depth < 4:
			g.loop()
		case n == 6:
			g.store(pick(g.r, g.types...))
		default:
			g.value(pick(g.r, g.types...))
		}
	}
}

// nested draws the statements of a block.
func (g *generator) nested(f func() []loop.Value) (out []loop.Value) {
	budget := g.budget
	g.budget = g.r.IntN(min(budget, 8) + 1)
	g.scope(func() {
		g.statements()
		out = f()
	})
	g.budget = budget / 2
	return out
}

func (g *generator) ifs() {
	var yields []loop.Type
	for range g.r.IntN(4) {
		yields = append(yields, pick(g.r, g.types...))
	}
	branch := func() []loop.Value {
		return g.nested(func() []loop.Value {
			var out []loop.Value
			for _, t := range yields {
				out = append(out, g.any(t))
			}
			if len(yields) == 0 || g.chance(4) {
				g.store(pick(g.r, g.types...))
			}
			return out
		})
	}
	cond := g.any(loop.B)
	if g.chance(2) {
		cond = g.value(loop.B)
	}
	if cond = g.varying(cond); len(g.c.Scalars) < 8 && g.chance(4) { // the same for all lanes
		g.c.Scalars = append(g.c.Scalars, uint64(g.r.IntN(2)))
		cond = g.b.Scalar(g.b.ScalarArg(loop.B))
	}
	els := branch
	if len(yields) == 0 && g.chance(2) {
		els = nil
	}
	g.depth++
	out := g.b.If(cond, branch, els)
	g.depth--
	for _, v := range out {
		g.add(v)
	}
}

// loop draws a loop: over a serial axis, with a condition, or both.
func (g *generator) loop() {
	axis := -1
	for a := g.lane + 1; a < len(g.axes); a++ {
		if !g.walked[a] && g.chance(2) {
			axis = a
		}
	}
	limit := 1 + g.r.IntN(9)
	if axis >= 0 {
		limit = max(g.c.Extents[axis], 1)
	}
	if g.around*limit > 200 || g.around*limit*20 > g.work {
		return
	}
	conditional := axis < 0 || g.chance(2)

	// The first value counts where nothing else ends the loop.
	counts := g.counting()
	shared := g.chance(3) // all lanes make the same number of trips
	var init []loop.Value
	if conditional && axis < 0 {
		init = append(init, g.b.Int(counts, 0))
	}
	for range g.r.IntN(4) {
		init = append(init, g.any(pick(g.r, g.types...)))
	}
	next := func(v []loop.Value) []loop.Value {
		return g.nested(func() []loop.Value {
			if g.chance(3) {
				g.store(pick(g.r, g.types...))
			}
			var out []loop.Value
			for i, x := range v {
				t := g.b.Type(x)
				switch {
				case i == 0 && conditional && axis < 0:
					out = append(out, g.b.Add(x, g.b.Int(counts, 1)))
				case g.chance(5): // values change places
					out = append(out, g.sameType(v, t))
				case t.Int() && !shared && g.chance(2):
					out = append(out, g.varying(g.any(t)))
				default:
					out = append(out, g.any(t))
				}
			}
			return out
		})
	}
	saved := g.around
	g.around *= limit
	g.depth++
	g.loops++
	if axis >= 0 {
		g.walked[axis] = true
	}
	var out []loop.Value
	g.scope(func() {
		if !conditional {
			out = g.b.For(axis, init, func(v []loop.Value) []loop.Value {
				for _, x := range v {
					g.add(x)
				}
				return next(v)
			})
			return
		}
		if len(init) == 0 { // so that the region can be found below
			init = append(init, g.any(counts))
		}
		out = g.b.While(init, func(v []loop.Value) loop.Value {
			for _, x := range v {
				g.add(x)
			}
			for range g.r.IntN(4) {
				g.value(pick(g.r, g.types...))
			}
			if g.chance(12) {
				g.store(pick(g.r, g.types...))
			}
			goOn := g.mostlyTrue()
			if g.chance(2) {
				goOn = g.varying(goOn)
			}
			if shared && axis < 0 {
				return g.b.Lt(v[0], g.shared(counts, limit))
			}
			if axis >= 0 {
				return goOn
			}
			return g.b.And(g.b.Lt(v[0], g.b.Int(counts, int64(limit))), goOn)
		}, next)
		p := g.b.Program()
		p.Region(&p.Ins[p.Ins[out[0]].A]).Axis = axis
	})
	if axis >= 0 {
		g.walked[axis] = false
	}
	g.loops--
	g.depth--
	g.around = saved
	for _, v := range out {
		g.add(v)
		if conditional && !shared && g.chance(3) {
			g.storeValue(v)
		}
	}
}

// varying makes x, an integer or truth value, differ from lane to lane most of the time; not
// where that took integers that the language lacks.
func (g *generator) varying(x loop.Value) loop.Value {
	if !g.b.InPass() || g.chance(4) || !g.has(loop.OpIndex, loop.I64) {
		return x
	}
	i := g.b.Index(g.lane)
	if t := g.b.Type(x); t != loop.B {
		return g.b.Add(x, g.b.Cvt(t, i))
	}
	bit := g.b.Int(loop.I64, 1<<g.r.IntN(4))
	return g.b.Xor(x, g.b.Ne(g.b.And(i, bit), g.b.Int(loop.I64, 0)))
}

// shared draws a number up to limit that lanes share.
func (g *generator) shared(t loop.Type, limit int) loop.Value {
	x := uint64(g.r.IntN(limit + 1))
	if len(g.c.Scalars) >= 8 || g.chance(2) {
		return g.b.ConstBits(t, x)
	}
	g.c.Scalars = append(g.c.Scalars, x)
	return g.b.Scalar(g.b.ScalarArg(t))
}

// counting draws a type to count in: I32 or I64 if there are such values.
func (g *generator) counting() loop.Type {
	t := pick(g.r, loop.I32, loop.I64)
	if !slices.Contains(g.types, t) {
		i := slices.IndexFunc(g.types, loop.Type.Int)
		return g.types[i]
	}
	return t
}

// mostlyTrue is a condition that differs from lane to lane and holds more often
// than not.
func (g *generator) mostlyTrue() loop.Value {
	switch g.r.IntN(6) {
	case 0:
		return g.b.Bool(true)
	case 1:
		return g.any(loop.B)
	case 2:
		return g.value(loop.B)
	}
	t := g.counting()
	x := g.any(t)
	return g.b.Ne(g.b.And(g.b.Mul(x, g.b.Int(t, 0x9e3779b)), g.b.Int(t, 0x1c000)), g.b.Int(t, 0))
}

// sameType picks one of v that has type t.
func (g *generator) sameType(v []loop.Value, t loop.Type) loop.Value {
	var fit []loop.Value
	for _, x := range v {
		if g.b.Type(x) == t {
			fit = append(fit, x)
		}
	}
	return pick(g.r, fit...)
}

var (
	compares = []loop.Op{loop.OpEq, loop.OpNe, loop.OpLt, loop.OpLe}
	compareU = []loop.Op{loop.OpLtU, loop.OpLeU}
	arith    = []loop.Op{loop.OpAdd, loop.OpSub, loop.OpMul, loop.OpMin, loop.OpMax}
	floatOps = []loop.Op{loop.OpDiv, loop.OpFma, loop.OpFma, loop.OpSqrt, loop.OpFloor, loop.OpCeil, loop.OpTrunc, loop.OpRint, loop.OpLogB, loop.OpScaleB, loop.OpLookup, loop.OpLookup}
	intOps   = []loop.Op{loop.OpQuo, loop.OpRem, loop.OpShl, loop.OpShr, loop.OpShrU, loop.OpAnd, loop.OpOr, loop.OpXor, loop.OpNot,
		loop.OpQuoU, loop.OpRemU, loop.OpMinU, loop.OpMaxU, loop.OpMulHi, loop.OpMulHiU, loop.OpRotL, loop.OpPopCount, loop.OpLzCnt, loop.OpTzCnt}
	logicOps = []loop.Op{loop.OpAnd, loop.OpOr, loop.OpXor, loop.OpNot}
)

// value draws an instruction of type t.
func (g *generator) value(t loop.Type) loop.Value {
	return g.add(g.instruction(t))
}

func (g *generator) instruction(t loop.Type) loop.Value {
	b := g.b
	switch g.r.IntN(20) {
	case 0:
		return g.constant(t)
	case 1, 2, 3:
		return g.load(t)
	case 4:
		if g.l.has(Item{Op: loop.OpLoadAt}) {
			return g.loadAt(t)
		}
		return g.load(t)
	case 5, 6:
		return b.Select(g.any(loop.B), g.any(t), g.any(t))
	}
	if t == loop.B {
		switch g.r.IntN(4) {
		case 0:
			return g.operate(g.op(t, logicOps...), t)
		case 1:
			return b.Binary(pick(g.r, loop.OpEq, loop.OpNe), g.any(t), g.any(t))
		}
		from := pick(g.r, g.numbers...)
		op := g.op(from, compares...)
		if u := pick(g.r, compareU...); from.Int() && g.chance(3) && g.has(u, from) {
			op = u
		}
		return b.Binary(op, g.any(from), g.any(from))
	}
	switch g.r.IntN(10) {
	case 0, 1:
		from := pick(g.r, g.types...)
		if from == t {
			from = loop.B
		}
		sign := g.r.IntN(4)
		if !g.l.has(Item{Op: loop.OpCvt, Type: t, From: from, Sign: signOf(t, from, sign)}) {
			sign = 0
		}
		return b.CvtSigned(t, g.any(from), sign)
	case 2:
		return g.reinterpret(t)
	case 3:
		if t == loop.I64 && g.chance(3) {
			return g.index()
		}
		return g.operate(g.op(t, loop.OpNeg, loop.OpAbs), t)
	case 4, 5, 6:
		return g.operate(g.op(t, arith...), t)
	}
	if t == loop.F32 && g.chance(6) {
		d := pick(g.r, array.Float16, array.BFloat16)
		if g.l.has(Item{Op: loop.OpRound, Type: t, DType: d}) {
			return b.Round(d, g.any(t))
		}
	}
	if t.Float() {
		return g.operate(g.op(t, floatOps...), t)
	}
	op := g.op(t, intOps...)
	if op >= loop.OpShl && op <= loop.OpRotL && g.r.IntN(3) > 0 {
		return b.Binary(op, g.any(t), b.Int(t, int64(g.r.IntN(8*t.Size()+6)-3)))
	}
	return g.operate(op, t)
}

func (g *generator) operate(op loop.Op, t loop.Type) loop.Value {
	switch op {
	case loop.OpNeg, loop.OpAbs, loop.OpNot, loop.OpPopCount, loop.OpLzCnt, loop.OpTzCnt, loop.OpSqrt, loop.OpFloor, loop.OpCeil, loop.OpTrunc, loop.OpRint:
		return g.b.Unary(op, g.any(t))
	case loop.OpFma:
		return g.b.Fma(g.any(t), g.any(t), g.any(t))
	case loop.OpLookup:
		return g.b.Lookup(g.table(t), g.any(intOf(t)))
	case loop.OpLogB:
		return g.b.LogB(g.normal(t))
	case loop.OpScaleB:
		i, bound := intOf(t), int64(loop.ScaleBound(t))
		return g.b.ScaleB(g.near1(t), g.b.Cvt(t, g.b.Rem(g.any(i), g.b.Int(i, bound+1))))
	}
	return g.b.Binary(op, g.any(t), g.any(t))
}

// table draws a table, or takes one that is there already.
func (g *generator) table(t loop.Type) []float64 {
	if len(g.tables[t]) > 0 && g.chance(3) {
		return pick(g.r, g.tables[t]...)
	}
	x := make([]float64, loop.TableBytes/t.Size()*pick(g.r, 1, 1, 2))
	for i := range x {
		x[i] = math.Float64frombits(bits(g.r, loop.F64))
		if t == loop.F32 {
			x[i] = float64(math.Float32frombits(uint32(bits(g.r, t))))
		}
	}
	g.tables[t] = append(g.tables[t], x)
	return x
}

// normal draws a positive normal number.
func (g *generator) normal(t loop.Type) loop.Value {
	i, shift := intOf(t), int64(23)
	if t == loop.F64 {
		shift = 52
	}
	x := g.b.ShrU(g.any(i), g.b.Int(i, 2)) // below 2
	return g.b.Bits(t, g.b.Add(x, g.b.Int(i, 1<<shift)))
}

// near1 draws a number of either sign from 1 to below 2 in magnitude.
func (g *generator) near1(t loop.Type) loop.Value {
	i, keep, one := intOf(t), int64(math.MinInt32|1<<23-1), int64(127<<23)
	if t == loop.F64 {
		keep, one = math.MinInt64|1<<52-1, 1023<<52
	}
	return g.b.Bits(t, g.b.Or(g.b.And(g.any(i), g.b.Int(i, keep)), g.b.Int(i, one)))
}

// intOf is the integer type as wide as t.
func intOf(t loop.Type) loop.Type {
	if t == loop.F32 {
		return loop.I32
	}
	return loop.I64
}

// reinterpret draws an OpBits. A NaN is made the NaN before its bits are looked
// at.
func (g *generator) reinterpret(t loop.Type) loop.Value {
	switch t {
	case loop.F32:
		return g.b.Bits(t, g.any(loop.I32))
	case loop.F64:
		return g.b.Bits(t, g.any(loop.I64))
	case loop.I8, loop.I16:
		return g.operate(g.op(t, intOps...), t)
	}
	from := loop.F32
	if t == loop.I64 {
		from = loop.F64
	}
	x := g.any(from)
	return g.b.Bits(t, g.b.Select(g.b.Eq(x, x), x, g.b.ConstBits(from, canonicalNaN(from))))
}

func canonicalNaN(t loop.Type) uint64 {
	if t == loop.F32 {
		return 0x7fc00000
	}
	return 0x7ff8 << 48
}

// index draws the index of an axis that is being walked.
func (g *generator) index() loop.Value {
	var axes []int
	for a, w := range g.walked {
		if w {
			axes = append(axes, a)
		}
	}
	if len(axes) == 0 {
		return g.b.Int(loop.I64, 3)
	}
	return g.b.Index(pick(g.r, axes...))
}

// dtype draws an element type that is computed as t; Invalid if there is none.
func (g *generator) dtype(t loop.Type) array.DType {
	fit := []array.DType{}
	for _, d := range g.dtypes {
		if loop.TypeOf(d) == t {
			fit = append(fit, d)
		}
	}
	if len(fit) == 0 {
		return array.Invalid
	}
	return pick(g.r, fit...)
}

// inMemory is the type in which values of type t are loaded and stored: t itself if
// there are such elements.
func (g *generator) inMemory(t loop.Type) loop.Type {
	if slices.ContainsFunc(g.dtypes, func(d array.DType) bool { return loop.TypeOf(d) == t }) {
		return t
	}
	return loop.I32
}
