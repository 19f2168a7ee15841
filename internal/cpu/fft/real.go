package fft

import (
	"runtime"
	"unsafe"

	"weft/internal/cpu/codegen"
	"weft/internal/par"
)

// Real rows of even length n are read as complex rows of half the length m. With their transform Z,
// E = (Z[k] + conj Z[m-k])/2 and O = (Z[k] - conj Z[m-k])/2i, which are the transforms of the even and of
// the odd elements,
//
//	Y[k] = E + w[k] O, Y[m-k] = conj(E - w[k] O)
//
// where w are the n-th roots of unity. The way back is the same with factors that are inverse.

// realRoots are the n-th roots of unity up to n/4, for rows of n = 2*p.n real numbers.
func (p *plan) realRoots() unsafe.Pointer {
	p.real.once.Do(func() { p.real.w = p.table(roots(2 * p.n)[:2*(p.n/2+1)]) })
	return p.real.w
}

// mirrorRoots are the same from k = 1 on, in vectors for [realJob.halves].
func (p *plan) mirrorRoots() unsafe.Pointer {
	p.mirror.once.Do(func() {
		w := roots(2 * p.n)
		over := cover{p.n / 2, p.lanes()}
		var x []float64
		for r := range over.runs(1) {
			at, _, _ := over.run(r, 1)
			for part := range 2 {
				for lane := range p.lanes() {
					x = append(x, w[2*(1+at+column(p.isa, p.size, lane))+part])
				}
			}
		}
		p.mirror.w = p.table(x)
	})
	return p.mirror.w
}

// RealRows transforms rows of N real numbers to the first N/2+1 numbers of their transforms. Inverse does
// not count.
func (t Transform) RealRows(dst, src unsafe.Pointer, rows int) {
	if t.Size == 4 {
		realRows(t, 2*(t.N/2+1), dst, src, rows, forwardReal[float32], forwardOdd[float32])
	} else {
		realRows(t, 2*(t.N/2+1), dst, src, rows, forwardReal[float64], forwardOdd[float64])
	}
}

// HalfRows transforms rows of N/2+1 complex numbers to N real numbers, whose transforms begin with them
// but for a factor N. Inverse does not count.
func (t Transform) HalfRows(dst, src unsafe.Pointer, rows int) {
	t.Inverse = true
	if t.Size == 4 {
		realRows(t, 2*(t.N/2+1), src, dst, rows, inverseReal[float32], inverseOdd[float32])
	} else {
		realRows(t, 2*(t.N/2+1), src, dst, rows, inverseReal[float64], inverseOdd[float64])
	}
}

// A realJob transforms rows between real numbers and halves of their transforms.
type realJob struct {
	p       *plan
	t       Transform
	s       *scratch // of the plan
	single  *steps   // if rows are transformed one by one
	ahead   rowAhead // of single
	z       unsafe.Pointer
	spill   unsafe.Pointer
	w       unsafe.Pointer
	threads int
}

// realRows runs even or odd over groups of rows of halves, which have h numbers, and of real numbers.
func realRows[T float](t Transform, h int, half, plain unsafe.Pointer, rows int, even, odd func(j *realJob, half, plain []T, rows int)) {
	n := t.N
	if rows == 0 || n == 0 {
		return
	}
	f, m := even, n/2
	if n%2 == 1 {
		f, m = odd, n
	}
	p := planFor(t.ISA, t.Size, m)
	defer runtime.KeepAlive(p)
	var w unsafe.Pointer
	if n%2 == 0 {
		w = p.realRoots()
	}
	group := p.groupOf(rows)
	units, cost := (rows+group-1)/group, 2*nanoseconds(m)*group
	threads := codegen.Threads(units * cost)
	inner := 1
	if units == 1 {
		inner = threads
	}
	par.Run(units, max(20000/max(cost, 1), 1), threads, func(_, begin, end int) {
		s, memory := pool.Get().(*scratch), realPool.Get().(*scratch)
		defer pool.Put(s)
		defer realPool.Put(memory)
		size := 4 * group * m * t.Size
		z := memory.at(size + maxSpills*p.block()/2)
		j := &realJob{p: p, t: t, s: s, z: z, spill: unsafe.Add(z, size), w: w, threads: inner}
		if p.single() && end-begin > 1 {
			j.single = p.steps(t, s)
			defer j.single.forget()
		}
		for u := begin; u < end; u++ {
			count := min(group, rows-u*group)
			halves, reals := unsafe.Slice((*T)(unsafe.Add(half, u*group*h*t.Size)), count*h), unsafe.Slice((*T)(unsafe.Add(plain, u*group*n*t.Size)), count*n)
			to, from, step := uintptr(unsafe.Pointer(&halves[0])), uintptr(unsafe.Pointer(&reals[0])), n
			if t.Inverse {
				to, from, step = from, to, h
			}
			j.ahead = rowAhead{to, from + uintptr(step*t.Size)}
			f(j, halves, reals, count)
		}
	})
}

// transform runs the complex transform of rows that lie one behind the other.
func (j *realJob) transform(dst, src unsafe.Pointer, rows int) {
	row := 2 * j.p.n * j.p.size
	if j.single != nil {
		j.single.run(dst, src, j.ahead)
	} else if rows == 1 && !j.p.direct() {
		j.p.row(j.t, dst, src, j.s, j.threads)
	} else {
		j.p.group(j.t, dst, src, rows, row, row, j.s, nil, nil)
	}
}

// pairs runs a pass over the elements k and m-k of columns of transforms, in place.
func (j *realJob) pairs(radix int, x, spill unsafe.Pointer, blocks int) {
	p := j.p
	row := blocks * p.block()
	if p.n < 2 {
		return
	}
	at, step := unsafe.Add(x, row), (p.n-2)*row
	run(key{isa: p.isa, size: p.size, radix: radix, tw: whole, loads: true, stores: true}, &frame{src: at, dst: at, tw: unsafe.Add(j.w, 2*p.size),
		srcStep: step, dstStep: step, srcOuter: row, dstOuter: row, srcTurn: 2 * row, dstTurn: 2 * row, outer: p.n / 2, inner: blocks, spill: spill})
}

// mirrors reports that halves takes the length: its pairs fill a vector.
func (p *plan) mirrors() bool { return p.n/2 >= p.lanes() }

// halves runs a pass over the elements k and m-k of one row, from k = 1 on. Source and destination do not
// overlap. Requires mirrors.
func (j *realJob) halves(radix int, dst, src unsafe.Pointer) {
	p := j.p
	lanes, block, item := p.lanes(), p.block(), 2*p.size
	over := cover{p.n / 2, lanes}
	for r := range over.runs(over.full()) {
		at, count, before := over.run(r, over.full())
		step := (p.n - 2*(1+at) - lanes + 1) * item
		run(key{isa: p.isa, size: p.size, radix: radix, tw: varying, loads: true, stores: true}, &frame{src: unsafe.Add(src, (1+at)*item), dst: unsafe.Add(dst, (1+at)*item),
			tw: unsafe.Add(p.mirrorRoots(), before*block), srcStep: step, dstStep: step, srcOuter: block, dstOuter: block, srcTurn: 2 * block, dstTurn: 2 * block, outer: count, inner: 1, spill: j.spill})
	}
}

// together reports that rows are transformed as columns, which the passes of pairs can run on.
func (j *realJob) together(rows int) bool { return rows > 1 && j.p.groupRows() > 1 }

func forwardReal[T float](j *realJob, half, plain []T, rows int) {
	m := j.p.n
	if size := j.p.size; j.together(rows) {
		j.p.group(j.t, unsafe.Pointer(&half[0]), unsafe.Pointer(&plain[0]), rows, 2*(m+1)*size, 2*m*size, j.s, nil, func(x, spill unsafe.Pointer, blocks int) { j.pairs(toHalf, x, spill, blocks) })
		for r := range rows {
			y := half[2*r*(m+1):][:2*(m+1)]
			y[0], y[1], y[2*m], y[2*m+1] = y[0]+y[1], 0, y[0]-y[1], 0
		}
		return
	}
	j.transform(j.z, unsafe.Pointer(&plain[0]), rows)
	w := unsafe.Slice((*T)(j.w), 2*(m/2+1))
	for r := range rows {
		z := unsafe.Slice((*T)(unsafe.Add(j.z, 2*r*m*j.p.size)), 2*m)
		y := half[2*r*(m+1):][:2*(m+1)]
		y[0], y[1], y[2*m], y[2*m+1] = z[0]+z[1], 0, z[0]-z[1], 0
		if j.p.mirrors() {
			j.halves(toHalf, unsafe.Pointer(&y[0]), unsafe.Pointer(&z[0]))
			continue
		}
		for k := 1; k <= m/2; k++ {
			a, b, c, d := z[2*k], z[2*k+1], z[2*(m-k)], z[2*(m-k)+1]
			er, ei, or, oi := (a+c)/2, (b-d)/2, (b+d)/2, (c-a)/2
			tr, ti := times(or, oi, w[2*k], w[2*k+1])
			y[2*(m-k)], y[2*(m-k)+1] = er-tr, ti-ei
			y[2*k], y[2*k+1] = er+tr, ei+ti
		}
	}
}

func inverseReal[T float](j *realJob, half, plain []T, rows int) {
	m := j.p.n
	if size := j.p.size; j.together(rows) {
		j.p.group(j.t, unsafe.Pointer(&plain[0]), unsafe.Pointer(&half[0]), rows, 2*m*size, 2*(m+1)*size, j.s, func(x, spill unsafe.Pointer, blocks int) {
			first := unsafe.Slice((*T)(x), 2*rows)
			for r := range rows {
				y := half[2*r*(m+1):][:2*(m+1)]
				first[2*r], first[2*r+1] = y[0]+y[2*m], y[0]-y[2*m]
			}
			j.pairs(fromHalf, x, spill, blocks)
		}, nil)
		return
	}
	w := unsafe.Slice((*T)(j.w), 2*(m/2+1))
	for r := range rows {
		z := unsafe.Slice((*T)(unsafe.Add(j.z, 2*r*m*j.p.size)), 2*m)
		y := half[2*r*(m+1):][:2*(m+1)]
		z[0], z[1] = y[0]+y[2*m], y[0]-y[2*m]
		if j.p.mirrors() {
			j.halves(fromHalf, unsafe.Pointer(&z[0]), unsafe.Pointer(&y[0]))
			continue
		}
		for k := 1; k <= m/2; k++ {
			a, b, c, d := y[2*k], y[2*k+1], y[2*(m-k)], y[2*(m-k)+1]
			er, ei, dr, di := a+c, b-d, a-c, b+d
			tr, ti := times(-di, dr, w[2*k], -w[2*k+1])
			z[2*(m-k)], z[2*(m-k)+1] = er-tr, ti-ei
			z[2*k], z[2*k+1] = er+tr, ei+ti
		}
	}
	j.transform(unsafe.Pointer(&plain[0]), j.z, rows)
}

func forwardOdd[T float](j *realJob, half, plain []T, rows int) {
	n := j.p.n
	x, z := unsafe.Slice((*T)(j.z), 2*n*rows), unsafe.Slice((*T)(unsafe.Add(j.z, 2*n*rows*j.p.size)), 2*n*rows)
	for i, v := range plain {
		x[2*i], x[2*i+1] = v, 0
	}
	j.transform(unsafe.Pointer(&z[0]), unsafe.Pointer(&x[0]), rows)
	for r := range rows {
		copy(half[r*(n+1):][:n+1], z[2*n*r:])
		half[r*(n+1)+1] = 0
	}
}

func inverseOdd[T float](j *realJob, half, plain []T, rows int) {
	n := j.p.n
	x, z := unsafe.Slice((*T)(j.z), 2*n*rows), unsafe.Slice((*T)(unsafe.Add(j.z, 2*n*rows*j.p.size)), 2*n*rows)
	for r := range rows {
		to, y := x[2*n*r:][:2*n], half[r*(n+1):][:n+1]
		copy(to, y)
		to[1] = 0
		for k := 1; k <= n/2; k++ {
			to[2*(n-k)], to[2*(n-k)+1] = y[2*k], -y[2*k+1]
		}
	}
	j.transform(unsafe.Pointer(&z[0]), unsafe.Pointer(&x[0]), rows)
	for i := range plain {
		plain[i] = z[2*i]
	}
}
