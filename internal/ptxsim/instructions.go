package ptxsim

// A compiler checks the modifiers and operands of an instruction, and returns what executes it.
type compiler func(b *builder, x *inst) step

// instructions holds all instructions by name. What is not here a text may not have.
var instructions map[string]compiler

// flowInstructions compile what changes the flow of control, by filling in an ins.
var flowInstructions = map[string]func(b *builder, x *inst, in *ins){
	"bra": compileBranch, "ret": compileLeave, "exit": compileLeave, "bar": compileBarrier,
}

func init() {
	instructions = map[string]compiler{
		"bra": nil, "ret": nil, "exit": nil, "bar": nil,
		"mov": compileMov, "ld": compileLoad, "st": compileStore, "cvta": compileCvta,
		"add": compileAdd, "sub": compileAdd, "mul": compileMul, "mad": compileMad, "fma": compileFma,
		"div": compileDiv, "rem": compileRem, "sqrt": compileSqrt, "rcp": compileSqrt,
		"neg": compileNeg, "abs": compileNeg, "min": compileMin, "max": compileMin, "copysign": compileCopysign,
		"and": compileLogic, "or": compileLogic, "xor": compileLogic, "not": compileLogic, "cnot": compileBits,
		"shl": compileShift, "shr": compileShift, "shf": compileFunnel,
		"brev": compileBits, "clz": compileBits, "popc": compileBits,
		"bfe": compileBfe, "bfi": compileBfi, "prmt": compilePrmt, "lop3": compileLop3,
		"setp": compileSetp, "set": compileSet, "selp": compileSelp, "slct": compileSlct, "testp": compileTestp,
		"cvt": compileCvt, "membar": compileFence, "fence": compileFence,
		"shfl": compileShuffle, "vote": compileVote, "activemask": compileActive, "mma": compileMMA,
		"atom": compileAtom, "red": compileAtom, "trap": compileTrap,
	}
}

func compileBranch(b *builder, x *inst, in *ins) {
	in.uniform = x.take("uni") != ""
	x.count(1)
	if x.ops[0].kind != opSymbol {
		fail(x.line, "bra needs a label")
	}
	in.kind = branch
	b.jumps[len(b.k.code)] = jump{x.line, x.ops[0].name}
}

func compileLeave(b *builder, x *inst, in *ins) {
	x.take("uni")
	x.count(0)
	in.kind = leave
}

func compileBarrier(b *builder, x *inst, in *ins) {
	if x.take("warp") != "" {
		in.exec = b.warpBarrier(x)
		return
	}
	x.need("sync")
	x.count(1)
	in.kind, in.id = barrier, int32(b.number(x, 0))
	if in.id < 0 || in.id > 15 {
		fail(x.line, "barrier %d", in.id)
	}
}

func (b *builder) warpBarrier(x *inst) step {
	x.need("sync")
	x.count(1)
	members := b.src(x, 0, u32)
	return func(w *warp, m uint32) {
		w.together(m, &w.r[members])
		w.epoch = (w.epoch + 1) & epochMask
	}
}

func compileFence(b *builder, x *inst) step {
	if x.name == "membar" {
		x.need("cta", "gl", "sys")
	} else {
		x.take("sc", "acq_rel")
		x.need("cta", "gpu", "sys")
	}
	x.count(0)
	return func(*warp, uint32) {}
}

func compileTrap(b *builder, x *inst) step {
	x.count(0)
	return func(w *warp, m uint32) { w.fault(firstLane(m), 0, "the kernel trapped") }
}

// An eval computes one lane of an instruction. Registers hold values without sign, zero above
// their width; so must the result.
type eval func(a, b, c uint64) uint64

// lanes returns the step that computes f in each lane.
func lanes(d, a, b, c int, f eval) step {
	return func(w *warp, m uint32) {
		D, A, B, C := &w.r[d], &w.r[a], &w.r[b], &w.r[c]
		if m == allLanes {
			for i := range D {
				D[i] = f(A[i], B[i], C[i])
			}
			return
		}
		for i := range D {
			if m>>i&1 != 0 {
				D[i] = f(A[i], B[i], C[i])
			}
		}
	}
}

// unary, binary and ternary compile instructions whose operands have one type.
func (b *builder) unary(x *inst, t typ, f eval) step {
	x.count(2)
	return lanes(b.dst(x, 0, t), b.src(x, 1, t), 0, 0, f)
}

func (b *builder) binary(x *inst, t typ, f eval) step {
	x.count(3)
	return lanes(b.dst(x, 0, t), b.src(x, 1, t), b.src(x, 2, t), 0, f)
}

func (b *builder) ternary(x *inst, t typ, f eval) step {
	x.count(4)
	return lanes(b.dst(x, 0, t), b.src(x, 1, t), b.src(x, 2, t), b.src(x, 3, t), f)
}

// compileMov copies a register, a constant, a special register or the address of a variable, and
// packs and unpacks vectors.
func compileMov(b *builder, x *inst) step {
	t := x.takeType("b16", "b32", "b64", "u16", "u32", "u64", "s16", "s32", "s64", "f32", "f64", "pred")
	x.count(2)
	switch {
	case t == pred:
		d, p := b.dstPred(x, x.ops[0]), b.srcPred(x, x.ops[1])
		return func(w *warp, m uint32) { w.setPred(d, m, p.get(w)) }
	case x.ops[1].kind == opSpecial:
		if !t.fits(x.ops[1].typ) {
			fail(x.line, "%s is of type %s", x.ops[1].name, x.ops[1].typ)
		}
		return lanes(b.dst(x, 0, t), x.ops[1].reg, 0, 0, identity)
	case x.ops[1].kind == opSymbol:
		if t.float() || t.bits < 32 {
			fail(x.line, "an address as %s", t)
		}
		a, _ := b.address(x, x.ops[1])
		return lanes(b.dst(x, 0, t), a, 0, 0, identity)
	case x.ops[1].kind == opList:
		return b.pack(x, t)
	case x.ops[0].kind == opList:
		return b.unpack(x, t)
	}
	return b.unary(x, t, identity)
}

func identity(a, _, _ uint64) uint64 { return a }

// part returns the type of an element of a vector that a mov packs to t.
func (x *inst) part(t typ, n int) typ {
	if t.class != 'b' || (n != 2 && n != 4) || t.bits/n < 16 {
		fail(x.line, "%d parts of %s", n, t)
	}
	return typ{'b', t.bits / n}
}

func (b *builder) pack(x *inst, t typ) step {
	list := x.ops[1].list
	e := x.part(t, len(list))
	var src [4]int
	for i, o := range list {
		src[i] = b.srcOf(x, o, e, e.fits)
	}
	s := e.bits
	return func(d int) step {
		if len(list) == 2 {
			return lanes(d, src[0], src[1], 0, func(a, b, _ uint64) uint64 { return a | b<<s })
		}
		return func(w *warp, m uint32) {
			for i := range 32 {
				if m>>i&1 != 0 {
					w.r[d][i] = w.r[src[0]][i] | w.r[src[1]][i]<<s | w.r[src[2]][i]<<(2*s) | w.r[src[3]][i]<<(3*s)
				}
			}
		}
	}(b.dst(x, 0, t))
}

func (b *builder) unpack(x *inst, t typ) step {
	list := x.ops[0].list
	e := x.part(t, len(list))
	dst := make([]int, len(list))
	for i, o := range list {
		dst[i] = -1
		if o.kind != opSink {
			dst[i] = b.dstOf(x, o, e, e.fits)
		}
	}
	a := b.src(x, 1, t)
	return func(w *warp, m uint32) {
		from := w.r[a] // a copy: a part may be the source
		for j, d := range dst {
			if d < 0 {
				continue
			}
			for i := range 32 {
				if m>>i&1 != 0 {
					w.r[d][i] = from[i] >> (j * e.bits) & e.ones()
				}
			}
		}
	}
}

// compileCvta converts addresses between a space and the generic one, which are the same numbers for
// global memory. Others are refused: kernels name the space of each access.
func compileCvta(b *builder, x *inst) step {
	x.take("to")
	x.need("global")
	x.need("u64")
	return b.unary(x, u64, identity)
}

func (w *warp) setPred(d int, m, bits uint32) {
	if d >= 0 {
		w.p[d] = w.p[d]&^m | bits&m
		w.pwrote[d] |= m
	}
}
