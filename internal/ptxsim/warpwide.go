package ptxsim

import "math"

// together checks the lanes of an instruction that lanes execute with each other: each executing lane
// is in its mask, and no lane of the mask is missing, unless it left the kernel.
func (w *warp) together(m uint32, members *[32]uint64) {
	for i := range members {
		if m>>i&1 == 0 {
			continue
		}
		mask := uint32(members[i])
		if mask>>i&1 == 0 {
			w.fault(i, 0, "the lane is not in the mask %#x", mask)
		}
		if missing := mask &^ m &^ w.exited; missing != 0 {
			w.fault(i, 0, "lanes %#x of the mask are missing, in divergent code", missing)
		}
	}
}

func compileShuffle(b *builder, x *inst) step {
	x.need("sync")
	mode := x.need("up", "down", "bfly", "idx")
	t := x.takeType("b32")
	x.count(5)
	first, second := x.ops[0], operand{kind: opSink}
	if first.kind == opPair {
		first, second = first.list[0], first.list[1]
	}
	d, p := b.dstOf(x, first, t, t.fits), b.dstPred(x, second)
	a, by, clamp, members := b.src(x, 1, t), b.src(x, 2, u32), b.src(x, 3, u32), b.src(x, 4, u32)
	return func(w *warp, m uint32) {
		w.together(m, &w.r[members])
		from := w.r[a]
		var inRange uint32
		for i := range 32 {
			if m>>i&1 == 0 {
				continue
			}
			j, ok := shuffleLane(mode, i, int(w.r[by][i]&31), int(w.r[clamp][i]))
			if ok {
				inRange |= 1 << i
			} else {
				j = i
			}
			if m>>j&1 == 0 {
				w.fault(i, 0, "a shuffle from lane %d, which does not take part", j)
			}
			w.scratch[0][i] = from[j]
		}
		for i := range 32 {
			if m>>i&1 != 0 {
				w.r[d][i] = w.scratch[0][i]
			}
		}
		w.setPred(p, m, inRange)
	}
}

// shuffleLane returns the lane that lane i reads, and whether it is in its segment. Names are as
// in the manual.
func shuffleLane(mode string, i, bval, c int) (int, bool) {
	cval, mask := c&31, c>>8&31
	maxLane, minLane := i&mask|cval&^mask, i&mask
	switch mode {
	case "up":
		return i - bval, i-bval >= maxLane
	case "down":
		return i + bval, i+bval <= maxLane
	case "bfly":
		return i ^ bval, i^bval <= maxLane
	}
	j := minLane | bval&^mask
	return j, j <= maxLane
}

func compileVote(b *builder, x *inst) step {
	x.need("sync")
	mode := x.need("all", "any", "uni", "ballot")
	x.count(3)
	p, members := b.srcPred(x, x.ops[1]), b.src(x, 2, u32)
	if mode == "ballot" {
		d := b.dst(x, 0, x.takeType("b32"))
		return func(w *warp, m uint32) {
			w.together(m, &w.r[members])
			for i := range 32 {
				if m>>i&1 != 0 {
					w.r[d][i] = uint64(p.get(w) & uint32(w.r[members][i]) & m)
				}
			}
		}
	}
	x.need("pred")
	d := b.dstPred(x, x.ops[0])
	return func(w *warp, m uint32) {
		w.together(m, &w.r[members])
		var r uint32
		bits := p.get(w)
		for i := range 32 {
			group := uint32(w.r[members][i]) & m
			yes := bits&group != 0
			if mode == "all" {
				yes = bits&group == group
			} else if mode == "uni" {
				yes = bits&group == group || bits&group == 0
			}
			if yes {
				r |= 1 << i
			}
		}
		w.setPred(d, m, r)
	}
}

func compileActive(b *builder, x *inst) step {
	t := x.takeType("b32")
	x.count(1)
	d := b.dst(x, 0, t)
	return func(w *warp, m uint32) {
		for i := range 32 {
			if m>>i&1 != 0 {
				w.r[d][i] = uint64(m)
			}
		}
	}
}

// compileMMA multiplies matrices of float64. Each element of the result is the chain of fused
// multiply-adds in ascending order of k. Lane l with g = l/4 and t = l%4 holds of A the elements
// (g+8*(i%rows), t+4*(i/rows)) with rows = m/8, of B (t+4*i, g), of C and D (g+8*(i/2), 2*t+i%2).
func compileMMA(b *builder, x *inst) step {
	x.need("sync")
	x.need("aligned")
	shape := x.need("m8n8k4", "m16n8k4", "m16n8k8", "m16n8k16")
	x.need("row")
	x.need("col")
	for range 4 {
		x.need("f64")
	}
	rows, depth := 8, map[string]int{"m8n8k4": 4, "m16n8k4": 4, "m16n8k8": 8, "m16n8k16": 16}[shape]
	if shape != "m8n8k4" {
		rows = 16
		if b.m.target < 90 {
			fail(x.line, "mma of %s needs sm_90", shape)
		}
	}
	x.count(4)
	regs := func(i, n int, write bool) []int {
		o := x.ops[i]
		list := o.list
		if o.kind != opList {
			list = []operand{o}
		}
		if len(list) != n {
			fail(x.line, "operand %d of mma of %s has %d registers, not %d", i+1, shape, len(list), n)
		}
		r := make([]int, n)
		for j, e := range list {
			if write {
				r[j] = b.dstOf(x, e, f64, f64.fits)
			} else {
				r[j] = b.srcOf(x, e, f64, f64.fits)
			}
		}
		return r
	}
	d := regs(0, rows/4, true)
	a, bb, c := regs(1, rows*depth/32, false), regs(2, depth/4, false), regs(3, rows/4, false)
	return func(w *warp, m uint32) { w.mma(m, rows, depth, d, a, bb, c) }
}

func (w *warp) mma(m uint32, rows, depth int, d, a, b, c []int) {
	if m != allLanes {
		w.fault(firstLane(m), 0, "mma in divergent code: lanes %#x", m)
	}
	var A [16][16]float64
	var B [16][8]float64
	var D [16][8]float64
	for l := range 32 {
		g, t := l/4, l%4
		for i, r := range a {
			A[g+8*(i%(rows/8))][t+4*(i/(rows/8))] = to64(w.r[r][l])
		}
		for i, r := range b {
			B[t+4*i][g] = to64(w.r[r][l])
		}
		for i, r := range c {
			D[g+8*(i/2)][2*t+i%2] = to64(w.r[r][l])
		}
	}
	for i := range rows {
		for j := range 8 {
			s := D[i][j]
			for k := range depth {
				s = math.FMA(A[i][k], B[k][j], s)
			}
			D[i][j] = s
		}
	}
	for l := range 32 {
		g, t := l/4, l%4
		for i, r := range d {
			w.r[r][l] = from64(D[g+8*(i/2)][2*t+i%2])
		}
	}
}
