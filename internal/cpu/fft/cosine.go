package fft

import (
	"math"
	"unsafe"
)

// A Cosine is a form of a cosine transform.
type Cosine struct {
	Third bool    // type 3, not type 2
	Sine  bool    // the sine transform: signs of odd elements change, and coefficients are in reverse order
	First float64 // factor of the coefficient of frequency 0, of sines the last one; 0 means 1
}

// CosineRows transforms rows of N real numbers. Type 2 has y[k] = 2 * sum of x[j]*cos(pi*k*(2j+1)/2n), type 3
// y[k] = x[0] + 2 * sum from j = 1 of x[j]*cos(pi*j*(2k+1)/2n). Inverse does not count.
//
// Source: J. Makhoul, "A fast cosine transform in one and two dimensions", IEEE Trans. ASSP 28, 1980. With
// V, the transform of a row's even elements followed by its odd ones backwards, and t[k] = exp(-i pi k/2n),
//
//	y[k] = 2 Re(t[k] V[k]), y[n-k] = -2 Im(t[k] V[k])
func (t Transform) CosineRows(c Cosine, dst, src unsafe.Pointer, rows int) {
	if t.Inverse = c.Third; t.Size == 4 {
		cosineRows[float32](t, c, dst, src, rows)
	} else {
		cosineRows[float64](t, c, dst, src, rows)
	}
}

func cosineRows[T float](t Transform, c Cosine, dst, src unsafe.Pointer, rows int) {
	if c.First == 0 {
		c.First = 1
	}
	form := func(f func(j *realJob, c Cosine, half, plain []T, rows int)) func(j *realJob, half, plain []T, rows int) {
		return func(j *realJob, half, plain []T, rows int) { f(j, c, half, plain, rows) }
	}
	if c.Third {
		realRows(t, t.N, src, dst, rows, form(inverseCosine[T]), form(inverseCosineOdd[T]))
	} else {
		realRows(t, t.N, dst, src, rows, form(forwardCosine[T]), form(forwardCosineOdd[T]))
	}
}

// sign is the factor of odd elements.
func (c Cosine) sign() int {
	if c.Sine {
		return -1
	}
	return 1
}

// cosineRoots are the cosine and the sine of pi*k/2n by turns, up to k = n/2. Length n is that of the plan if
// it is odd, else twice that.
func (p *plan) cosineRoots(n int) unsafe.Pointer {
	table := &p.cosines[1-n%2]
	table.once.Do(func() { table.w = p.table(conjugates(firstRoots(4*n, n/2+1))) })
	return table.w
}

// conjugates changes the sign of imaginary parts.
func conjugates(w []float64) []float64 {
	for i := 1; i < len(w); i += 2 {
		w[i] = -w[i]
	}
	return w
}

// mirrorCosineRoots are factors from k = 1 on in vectors for toCosine and fromCosine: a root of unity as in
// mirrorRoots, then the numbers of cosineRoots for k and n/2-k.
func (p *plan) mirrorCosineRoots() unsafe.Pointer {
	p.mirrorCosines.once.Do(func() {
		m := p.n
		w, c := firstRoots(2*m, m/2+1), conjugates(firstRoots(8*m, m+1))
		over := cover{m / 2, p.lanes()}
		var x []float64
		for r := range over.runs(1) {
			at, _, _ := over.run(r, 1)
			for factor := range 3 {
				for part := range 2 {
					for lane := range p.lanes() {
						k := 1 + at + column(p.isa, p.size, lane)
						x = append(x, [...]float64{w[2*k+part], c[2*k+part], c[2*(m-k)+part]}[factor])
					}
				}
			}
		}
		p.mirrorCosines.w = p.table(x)
	})
	return p.mirrorCosines.w
}

// reorder runs gather, or spread with back, on one row of an even length.
func reorder[T float](j *realJob, c Cosine, dst, src []T, back bool) {
	p, sign := j.p, T(c.sign())
	m, lanes, block := p.n, p.lanes(), p.block()
	if m < lanes {
		if back {
			for i := range m {
				dst[2*i], dst[2*i+1] = src[i], src[2*m-1-i]*sign
			}
		} else {
			for i := range m {
				dst[i], dst[2*m-1-i] = src[2*i], src[2*i+1]*sign
			}
		}
		return
	}
	over := cover{m, lanes}
	for r := range over.runs(over.full()) {
		at, count, _ := over.run(r, over.full())
		f := frame{outer: count, inner: 1, spill: j.spill}
		*(*T)(unsafe.Pointer(&f.scale)) = sign
		step := (2*m - 2*at - lanes) * p.size
		if back {
			f.src, f.dst, f.srcOuter, f.dstOuter, f.srcStep, f.srcTurn = unsafe.Pointer(&src[at]), unsafe.Pointer(&dst[2*at]), block/2, block, step, block
			run(key{isa: p.isa, size: p.size, radix: spread, scaled: true, stores: true}, &f)
		} else {
			f.src, f.dst, f.srcOuter, f.dstOuter, f.dstStep, f.dstTurn = unsafe.Pointer(&src[2*at]), unsafe.Pointer(&dst[at]), block, block/2, step, block
			run(key{isa: p.isa, size: p.size, radix: gather, scaled: true, loads: true}, &f)
		}
	}
}

// cosines runs toCosine from z to y, or fromCosine from y to z with back, from k = 1 on. Requires mirrors.
func cosines[T float](j *realJob, c Cosine, y, z []T, back bool) {
	p := j.p
	m, lanes, block, size := p.n, p.lanes(), p.block(), p.size
	over := cover{m / 2, lanes}
	for r := range over.runs(over.full()) {
		at, count, before := over.run(r, over.full())
		first := 1 + at
		if c.Sine {
			first = at
		}
		step := m - 2*(1+at) - lanes + 1
		f := frame{tw: unsafe.Add(p.mirrorCosineRoots(), 3*before*block), apart: m * size, outer: count, inner: 1, spill: j.spill}
		k := key{isa: p.isa, size: size, tw: varying}
		if back {
			f.src, f.srcOuter, f.srcStep, f.srcTurn = unsafe.Pointer(&y[first]), block/2, step*size, block
			f.dst, f.dstOuter, f.dstStep, f.dstTurn = unsafe.Pointer(&z[2*(1+at)]), block, 2*step*size, 2*block
			k.radix, k.stores, k.swapIn = fromCosine, true, c.Sine
		} else {
			f.src, f.srcOuter, f.srcStep, f.srcTurn = unsafe.Pointer(&z[2*(1+at)]), block, 2*step*size, 2*block
			f.dst, f.dstOuter, f.dstStep, f.dstTurn = unsafe.Pointer(&y[first]), block/2, step*size, block
			k.radix, k.loads, k.swapOut = toCosine, true, c.Sine
		}
		run(k, &f)
	}
}

// place returns the function from frequencies to places in a row of n.
func (c Cosine) place(n int) func(k int) int {
	if c.Sine {
		return func(k int) int { return n - 1 - k }
	}
	return func(k int) int { return k }
}

// turned are the real part and the negative imaginary part of re + i*im times the conjugate of c + i*s.
func turned[T float](re, im, c, s T) (T, T) { return T(re*c) + T(im*s), T(re*s) - T(im*c) }

func forwardCosine[T float](j *realJob, c Cosine, half, plain []T, rows int) {
	m := j.p.n
	n := 2 * m
	v, all := unsafe.Slice((*T)(j.z), n*rows), unsafe.Slice((*T)(unsafe.Add(j.z, n*rows*j.p.size)), n*rows)
	for r := range rows {
		reorder(j, c, v[r*n:][:n], plain[r*n:][:n], false)
	}
	j.transform(unsafe.Pointer(&all[0]), unsafe.Pointer(&v[0]), rows)
	w, roots, place := unsafe.Slice((*T)(j.w), 2*(m/2+1)), unsafe.Slice((*T)(j.p.cosineRoots(n)), 2*(m+1)), c.place(n)
	for r := range rows {
		z, y := all[r*n:][:n], half[r*n:][:n]
		y[place(0)], y[place(m)] = T((z[0]+z[1])*2)*T(c.First), (z[0]-z[1])*T(math.Sqrt2)
		if j.p.mirrors() {
			cosines(j, c, y, z, false)
			continue
		}
		for k := 1; k <= m/2; k++ {
			ar, ai, br, bi := z[2*k], z[2*k+1], z[2*(m-k)], z[2*(m-k)+1]
			er, ei, or, oi := ar+br, ai-bi, ai+bi, br-ar
			tr, ti := times(or, oi, w[2*k], w[2*k+1])
			y[place(m-k)], y[place(m+k)] = turned(er-tr, ti-ei, roots[2*(m-k)], roots[2*(m-k)+1])
			y[place(k)], y[place(n-k)] = turned(er+tr, ei+ti, roots[2*k], roots[2*k+1])
		}
	}
}

func inverseCosine[T float](j *realJob, c Cosine, half, plain []T, rows int) {
	m := j.p.n
	n := 2 * m
	v, all := unsafe.Slice((*T)(j.z), n*rows), unsafe.Slice((*T)(unsafe.Add(j.z, n*rows*j.p.size)), n*rows)
	w, roots, place := unsafe.Slice((*T)(j.w), 2*(m/2+1)), unsafe.Slice((*T)(j.p.cosineRoots(n)), 2*(m+1)), c.place(n)
	for r := range rows {
		z, y := all[r*n:][:n], half[r*n:][:n]
		first, middle := y[place(0)]*T(c.First), y[place(m)]*T(math.Sqrt2)
		z[0], z[1] = first+middle, first-middle
		if j.p.mirrors() {
			cosines(j, c, y, z, true)
			continue
		}
		for k := 1; k <= m/2; k++ {
			ar, ai := turned(y[place(k)], y[place(n-k)], roots[2*k], roots[2*k+1])
			br, bi := turned(y[place(m-k)], y[place(m+k)], roots[2*(m-k)], roots[2*(m-k)+1])
			er, ei, dr, di := ar+br, ai-bi, ar-br, ai+bi
			tr, ti := times(-di, dr, w[2*k], -w[2*k+1])
			z[2*(m-k)], z[2*(m-k)+1] = er-tr, ti-ei
			z[2*k], z[2*k+1] = er+tr, ei+ti
		}
	}
	j.transform(unsafe.Pointer(&v[0]), unsafe.Pointer(&all[0]), rows)
	for r := range rows {
		reorder(j, c, plain[r*n:][:n], v[r*n:][:n], true)
	}
}

func forwardCosineOdd[T float](j *realJob, c Cosine, half, plain []T, rows int) {
	n := j.p.n
	v, all := unsafe.Slice((*T)(j.z), 2*n*rows), unsafe.Slice((*T)(unsafe.Add(j.z, 2*n*rows*j.p.size)), 2*n*rows)
	clear(v)
	for r := range rows {
		x, v := plain[r*n:][:n], v[2*r*n:][:2*n]
		for i := 0; i < n; i += 2 {
			v[i] = x[i]
		}
		for i := 1; i < n; i += 2 {
			v[2*n-1-i] = x[i] * T(c.sign())
		}
	}
	j.transform(unsafe.Pointer(&all[0]), unsafe.Pointer(&v[0]), rows)
	roots, place := unsafe.Slice((*T)(j.p.cosineRoots(n)), 2*(n/2+1)), c.place(n)
	for r := range rows {
		z, y := all[2*r*n:][:2*n], half[r*n:][:n]
		y[place(0)] = T(z[0]*2) * T(c.First)
		for k := 1; k <= n/2; k++ {
			a, b := turned(z[2*k], z[2*k+1], roots[2*k], roots[2*k+1])
			y[place(k)], y[place(n-k)] = 2*a, 2*b
		}
	}
}

func inverseCosineOdd[T float](j *realJob, c Cosine, half, plain []T, rows int) {
	n := j.p.n
	v, all := unsafe.Slice((*T)(j.z), 2*n*rows), unsafe.Slice((*T)(unsafe.Add(j.z, 2*n*rows*j.p.size)), 2*n*rows)
	roots, place := unsafe.Slice((*T)(j.p.cosineRoots(n)), 2*(n/2+1)), c.place(n)
	for r := range rows {
		z, y := all[2*r*n:][:2*n], half[r*n:][:n]
		z[0], z[1] = y[place(0)]*T(c.First), 0
		for k := 1; k <= n/2; k++ {
			a, b := turned(y[place(k)], y[place(n-k)], roots[2*k], roots[2*k+1])
			z[2*k], z[2*k+1], z[2*(n-k)], z[2*(n-k)+1] = a, b, a, -b
		}
	}
	j.transform(unsafe.Pointer(&v[0]), unsafe.Pointer(&all[0]), rows)
	for r := range rows {
		x, v := plain[r*n:][:n], v[2*r*n:][:2*n]
		for i := 0; i < n; i += 2 {
			x[i] = v[i]
		}
		for i := 1; i < n; i += 2 {
			x[i] = v[2*(n-1-i/2)] * T(c.sign())
		}
	}
}
