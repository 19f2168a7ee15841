package ptxsim

import "math"

// A comparison compares two values.
type comparison func(a, b uint64) bool

// comparisonOf returns the comparison of a modifier for a type.
func (x *inst) comparisonOf(name string, t typ) comparison {
	allowed := map[byte]string{'b': " eq ne ", 'u': " eq ne lt le gt ge lo ls hi hs ", 's': " eq ne lt le gt ge ",
		'f': " eq ne lt le gt ge equ neu ltu leu gtu geu num nan "}[t.class]
	if !containsWord(allowed, name) {
		fail(x.line, "%s.%s of %s", x.name, name, t)
	}
	// less, equal, greater, unordered
	holds := map[string][4]bool{
		"eq": {false, true, false, false}, "ne": {true, false, true, false},
		"lt": {true, false, false, false}, "le": {true, true, false, false},
		"gt": {false, false, true, false}, "ge": {false, true, true, false},
		"lo": {true, false, false, false}, "ls": {true, true, false, false},
		"hi": {false, false, true, false}, "hs": {false, true, true, false},
		"equ": {false, true, false, true}, "neu": {true, false, true, true},
		"ltu": {true, false, false, true}, "leu": {true, true, false, true},
		"gtu": {false, false, true, true}, "geu": {false, true, true, true},
		"num": {true, true, true, false}, "nan": {false, false, false, true},
	}[name]
	switch {
	case t.class == 'f' && t.bits == 32:
		return func(a, b uint64) bool { return holds[orderFloats(float64(to32(a)), float64(to32(b)))] }
	case t.class == 'f':
		return func(a, b uint64) bool { return holds[orderFloats(to64(a), to64(b))] }
	case t.class == 's':
		return func(a, b uint64) bool { return holds[order(t.sign(a), t.sign(b))] }
	}
	return func(a, b uint64) bool { return holds[order(a, b)] }
}

func containsWord(s, w string) bool {
	for i := 0; i+len(w)+2 <= len(s); i++ {
		if s[i] == ' ' && s[i+1:i+1+len(w)] == w && s[i+1+len(w)] == ' ' {
			return true
		}
	}
	return false
}

func order[T int64 | uint64](a, b T) int {
	switch {
	case a < b:
		return 0
	case a == b:
		return 1
	}
	return 2
}

func orderFloats(a, b float64) int {
	switch {
	case a < b:
		return 0
	case a == b:
		return 1
	case a > b:
		return 2
	}
	return 3
}

var comparedTypes = append([]string{"b16", "b32", "b64", "f32", "f64"}, integerTypes...)

// comparedMods reads the comparison, the combination and the type of a setp or set; td is the type
// of a set's result.
func (b *builder) comparedMods(x *inst, set bool) (cmp, combine string, t, td typ) {
	if len(x.mods) == 0 {
		fail(x.line, "%s without comparison", x.name)
	}
	cmp = x.mods[0]
	x.mods = x.mods[1:]
	combine = x.take("and", "or", "xor")
	if set {
		td = x.takeType("u32", "s32", "f32")
	}
	return cmp, combine, x.takeType(comparedTypes...), td
}

// compareLanes returns the lanes of m in which a comparison holds.
func compareLanes(w *warp, m uint32, a, b int, f comparison) uint32 {
	A, B := &w.r[a], &w.r[b]
	var r uint32
	for i := range A {
		if m>>i&1 != 0 && f(A[i], B[i]) {
			r |= 1 << i
		}
	}
	return r
}

// combination returns how a comparison meets the predicate behind it.
func (b *builder) combination(x *inst, combine string, i int) func(w *warp, r uint32) uint32 {
	if combine == "" {
		x.count(i)
		return func(_ *warp, r uint32) uint32 { return r }
	}
	x.count(i + 1)
	p := b.srcPred(x, x.ops[i])
	switch combine {
	case "and":
		return func(w *warp, r uint32) uint32 { return r & p.get(w) }
	case "or":
		return func(w *warp, r uint32) uint32 { return r | p.get(w) }
	}
	return func(w *warp, r uint32) uint32 { return r ^ p.get(w) }
}

func compileSetp(b *builder, x *inst) step {
	cmp, combine, t, _ := b.comparedMods(x, false)
	f := x.comparisonOf(cmp, t)
	join := b.combination(x, combine, 3)
	first, second := x.ops[0], operand{kind: opSink}
	if first.kind == opPair {
		first, second = first.list[0], first.list[1]
	}
	p, q := b.dstPred(x, first), b.dstPred(x, second)
	u, v := b.src(x, 1, t), b.src(x, 2, t)
	return func(w *warp, m uint32) {
		r := compareLanes(w, m, u, v, f)
		yes, no := join(w, r), join(w, ^r)
		w.setPred(p, m, yes)
		w.setPred(q, m, no)
	}
}

func compileSet(b *builder, x *inst) step {
	cmp, combine, t, td := b.comparedMods(x, true)
	f := x.comparisonOf(cmp, t)
	join := b.combination(x, combine, 3)
	d, u, v := b.dst(x, 0, td), b.src(x, 1, t), b.src(x, 2, t)
	yes := uint64(0xffffffff)
	if td == f32 {
		yes = uint64(math.Float32bits(1))
	}
	return func(w *warp, m uint32) {
		r := join(w, compareLanes(w, m, u, v, f))
		for i := range 32 {
			if m>>i&1 != 0 {
				w.r[d][i] = yes * uint64(r>>i&1)
			}
		}
	}
}

func compileSelp(b *builder, x *inst) step {
	t := x.takeType(comparedTypes...)
	x.count(4)
	d, u, v, p := b.dst(x, 0, t), b.src(x, 1, t), b.src(x, 2, t), b.srcPred(x, x.ops[3])
	return func(w *warp, m uint32) {
		D, U, V, c := &w.r[d], &w.r[u], &w.r[v], p.get(w)
		for i := range D {
			if m>>i&1 == 0 {
				continue
			}
			if c>>i&1 != 0 {
				D[i] = U[i]
			} else {
				D[i] = V[i]
			}
		}
	}
}

// compileSlct selects a where c is not negative. -0 is not, NaN is.
func compileSlct(b *builder, x *inst) step {
	t := x.takeType(comparedTypes...)
	tc := x.takeType("s32", "f32")
	x.count(4)
	return lanes(b.dst(x, 0, t), b.src(x, 1, t), b.src(x, 2, t), b.src(x, 3, tc), func(a, b, c uint64) uint64 {
		if tc == s32 && int32(c) >= 0 || tc == f32 && to32(c) >= 0 {
			return a
		}
		return b
	})
}

func compileTestp(b *builder, x *inst) step {
	op := x.need("finite", "infinite", "number", "notanumber", "normal", "subnormal")
	t := x.takeType("f32", "f64")
	x.count(2)
	p, a := b.dstPred(x, x.ops[0]), b.src(x, 1, t)
	exponent, fraction := uint64(0x7f800000), uint64(0x7fffff)
	if t == f64 {
		exponent, fraction = 0x7ff<<52, 1<<52-1
	}
	test := func(v, _ uint64) bool {
		e, f := v&exponent, v&fraction
		switch op {
		case "finite":
			return e != exponent
		case "infinite":
			return e == exponent && f == 0
		case "number":
			return e != exponent || f == 0
		case "notanumber":
			return e == exponent && f != 0
		case "normal":
			return e != exponent && e != 0
		}
		return e == 0 && f != 0
	}
	return func(w *warp, m uint32) { w.setPred(p, m, compareLanes(w, m, a, a, test)) }
}
