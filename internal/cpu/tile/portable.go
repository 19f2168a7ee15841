package tile

import (
	"math"
	"sync"
	"unsafe"

	"weft/half"
	"weft/internal/array"
	"weft/internal/fma"
	"weft/internal/numbers"
	"weft/internal/par"
)

// Element is the type of an operand's elements.
type Element interface{ float32 | float64 }

// PortableTile is how many columns portable code computes at a time: their sums stay in the
// L1 cache, and a block of B's rows, as float64, in the L2 cache.
const PortableTile = 256

// A Scratch is the scratch memory of one task of a portable product. Elements of both types are
// converted to float64 there once. Then one instruction loads an element of B and multiplies
// it.
type Scratch struct {
	B      []float64 // a block: terms one after the other, width columns each
	a, acc []float64
	From   []int32 // for every term of b: columns before From and from To on hold zeros
	To     []int32
}

var Scratches = sync.Pool{New: func() any {
	return &Scratch{
		a: make([]float64, numbers.KBlock), acc: make([]float64, PortableTile),
		From: make([]int32, numbers.KBlock), To: make([]int32, numbers.KBlock),
	}
}}

// scratchB returns memory for n elements of B.
func (s *Scratch) scratchB(n int) []float64 {
	if cap(s.B) < n {
		s.B = make([]float64, n)
	}
	return s.B[:n]
}

// PortableOperands packs the factors of a product C = A*B for portable code.
type PortableOperands interface {
	// PackA writes len(dst) terms of row i, from term k on.
	PackA(dst []float64, i, k int)
	// PackB writes to s.B, which is large enough, the columns j to j+width-1 of n terms from
	// term k on, fills in s.from and s.to, and returns the magnitudes of elements that
	// include these, if they are float32.
	PackB(s *Scratch, k, n, j, width int) Magnitudes
}

// Magnitudes bound the absolute values of float32 numbers: their bits as float64,
// shifted left by one, which have the order of the values.
type Magnitudes struct {
	low  uint64 // of the least that is not 0, less 1
	high uint64
}

var NoMagnitudes = Magnitudes{low: math.MaxUint64}

func (m *Magnitudes) Add(x float64) {
	u := math.Float64bits(x) << 1
	m.low = min(m.low, u-1) // 0 wraps to the end
	m.high = max(m.high, u)
}

// tame reports whether a sum of products of elements within a and within b can never be a
// subnormal that is not exact, a zero of negative sign, or infinity. If ea and eb are the least
// exponents of the factors, products are multiples of 2^(ea+eb-46), and so are all sums. If
// that is a multiple of the least float32, sums below the normal range are exact.
func tame(a, b Magnitudes) bool {
	const inf = 0x7ff << 53
	exponent := func(u uint64) int { return int(u>>53) - 1023 }
	switch {
	case a.high >= inf || b.high >= inf:
		return false
	case a.high == 0 || b.high == 0:
		return true
	}
	const (
		least  = -149 + 46
		growth = 3 + 8 // a product is below 2^(ea+eb+2), kBlock of them, rounded
	)
	return exponent(a.low+1)+exponent(b.low+1) >= least && exponent(a.high)+exponent(b.high)+growth <= 127
}

// Block computes one block of n terms from term k on, for rows i0 to i1-1 and width columns from
// column j on. It calls put with the sums of each row.
func (s *Scratch) Block(op PortableOperands, single bool, k, n, i0, i1, j, width int, put func(i int, sums []float64)) {
	s.B = s.scratchB(n * width)
	var mb Magnitudes
	if n > 0 {
		mb = op.PackB(s, k, n, j, width)
	}
	a, acc := s.a[:n], s.acc[:width]
	for i := i0; i < i1; i++ {
		clear(acc)
		if n == 0 {
			put(i, acc)
			continue
		}
		op.PackA(a, i, k)
		if !single {
			for p, x := range a {
				fma64s(acc, s.B[p*width:], x)
			}
		} else {
			ma := NoMagnitudes
			for _, x := range a {
				ma.Add(x)
			}
			if tame(ma, mb) {
				s.tame32(acc, a)
			} else {
				for p, x := range a {
					wild32(acc, s.B[p*width:], x)
				}
			}
		}
		put(i, acc)
	}
}

// tame32 adds the products of a with the rows of B to acc. It skips products with 0: sums start
// from +0 and are never -0, so adding a zero changes nothing.
func (s *Scratch) tame32(acc, a []float64) {
	width := len(acc)
	first := -1
	for p, x := range a {
		if x == 0 || s.From[p] >= s.To[p] {
			continue
		}
		if first < 0 {
			first = p
			continue
		}
		lo, hi := min(s.From[first], s.From[p]), max(s.To[first], s.To[p])
		fmaPair32(acc[lo:hi], s.B[first*width+int(lo):], s.B[p*width+int(lo):], a[first], x)
		first = -1
	}
	if first >= 0 {
		lo, hi := s.From[first], s.To[first]
		wild32(acc[lo:hi], s.B[first*width+int(lo):], a[first])
	}
}

// fmaPair32 adds a*x and then b*y to acc, each rounded once to float32. The operands
// are float32 numbers and tame.
func fmaPair32(acc, x, y []float64, a, b float64) {
	for {
		n := easyPair32(acc, x, y, a, b)
		if n == len(acc) {
			return
		}
		v := fma.Float32(float32(a), float32(x[n]), float32(acc[n]))
		acc[n] = float64(fma.Float32(float32(b), float32(y[n]), v))
		acc, x, y = acc[n+1:], x[n+1:], y[n+1:]
	}
}

// easyPair32 is fmaPair32 up to the first element whose sum in float64 is halfway between two
// float32. It returns the index of that element, where rounding twice could differ.
//
// A sum is rounded to 24 bits by Veltkamp's splitting (Dekker, "A floating-point
// technique for extending the available precision", Numer. Math. 18, 1971), which
// is exact to nearest but for ties, and cheaper than conversion to float32 and back.
// The conversions to float64 keep the compiler from contracting what must be
// rounded; the products by a and b are exact.
func easyPair32(acc, x, y []float64, a, b float64) int {
	x, y = x[:len(acc)], y[:len(acc)]
	var splitter float64 = 1<<29 + 1
	for j, c := range acc {
		s := a*x[j] + c
		g := float64(s * splitter)
		t := b*y[j] + (g - float64(g-s))
		if halfway32(s) || halfway32(t) {
			return j
		}
		g = float64(t * splitter)
		acc[j] = g - float64(g-t)
	}
	return len(acc)
}

// halfway32 reports whether s, in the normal range of float32, is halfway between two
// of them: its low 29 bits are 1 and zeros.
func halfway32(s float64) bool { return uint32(math.Float64bits(s))<<3 == 1<<31 }

// wild32 adds a*x to acc, rounded once to float32, for any float32 numbers.
func wild32(acc, x []float64, a float64) {
	for {
		n := easy32(acc, x, a)
		if n == len(acc) {
			return
		}
		acc[n] = float64(fma.Float32(float32(a), float32(x[n]), float32(acc[n])))
		acc, x = acc[n+1:], x[n+1:]
	}
}

// easy32 is wild32 up to the first element that needs a careful rounding. It returns the index
// of that element.
func easy32(acc, x []float64, a float64) int {
	x = x[:len(acc)]
	for j, c := range acc {
		s := a*x[j] + c
		// A sum of 0 is exact.
		if fma.Hard32(s) && s != 0 {
			return j
		}
		acc[j] = float64(float32(s))
	}
	return len(acc)
}

// fma64s adds a*x to acc.
func fma64s(acc, x []float64, a float64) {
	x = x[:len(acc)]
	for j, c := range acc {
		acc[j] = math.FMA(a, x[j], c)
	}
}

// A PortableResult is the layout of a result in memory: element (i, j) is at
// i*Row + j/Width*High + j%Width*Step elements from Ptr.
type PortableResult struct {
	Ptr                    unsafe.Pointer
	Row, Width, High, Step int
	Positive               bool // sums of blocks that are zero are +0
	Add                    bool // sums are added to what is there
}

// put adds a block's sums to row i from column j on.
func put[E Element](r *PortableResult, i, j int, sums []float64, add bool) {
	size := int(unsafe.Sizeof(E(0)))
	for len(sums) > 0 {
		x := j % r.Width
		run := sums[:min(len(sums), r.Width-x)]
		// No pointer may be moved past the last element, not even without use.
		start := unsafe.Add(r.Ptr, (i*r.Row+j/r.Width*r.High+x*r.Step)*size)
		for at, s := range run {
			p := unsafe.Add(start, at*r.Step*size)
			v := E(s)
			if v == 0 && r.Positive {
				v = 0
			}
			if add {
				v += *(*E)(p)
			}
			*(*E)(p) = v
		}
		sums, j = sums[len(run):], j+len(run)
	}
}

// PortableGrain is about how many multiply-adds a chunk of a threaded portable product has:
// some 50 µs.
const PortableGrain = 64 << 10

// PortableProducts computes count products of m x n elements with sums of k terms, in Go. item
// returns the operands of product i and the layout of its result. done may be nil; otherwise it
// is called for each rectangle of a result as soon as it is finished.
func PortableProducts[E Element](count, m, n, k, threads int, item func(i int) (PortableOperands, PortableResult), done func(i, m0, m1, n0, n1 int)) {
	if threads <= 0 {
		threads = par.Threads()
	}
	if count*m*n*max(k, 1) < 2*PortableGrain {
		threads = 1
	}
	// Columns are cut first: every cut through rows packs B once more.
	tilesM, tilesN := 1, Ceil(n, PortableTile)
	for threads > 1 && count*tilesM*tilesN < 2*threads {
		if n/tilesN >= 128 {
			tilesN *= 2
		} else if m/tilesM >= 16 {
			tilesM *= 2
		} else {
			break
		}
	}
	rows, width := Ceil(m, tilesM), Ceil(n, tilesN)
	grain := max(1, PortableGrain/(rows*width*max(k, 1)))
	par.Run(count*tilesM*tilesN, grain, threads, func(_, begin, end int) {
		s := Scratches.Get().(*Scratch)
		defer Scratches.Put(s)
		for ; begin < end; begin++ {
			op, to := item(begin / (tilesM * tilesN))
			i0 := begin / tilesN % tilesM * rows
			j0 := begin % tilesN * width
			i1, w := min(i0+rows, m), min(width, n-j0)
			if i0 >= i1 || w <= 0 {
				continue
			}
			for k0 := 0; k0 < k || k0 == 0; k0 += numbers.KBlock {
				kk := min(numbers.KBlock, k-k0)
				s.Block(op, unsafe.Sizeof(E(0)) == 4, k0, kk, i0, i1, j0, w, func(i int, sums []float64) {
					put[E](&to, i, j0, sums, k0 > 0 || to.Add)
				})
			}
			if done != nil {
				done(begin/(tilesM*tilesN), i0, i1, j0, j0+w)
			}
		}
	})
}

// matOperands are two matrices, and the types of their elements.
type matOperands[E Element] struct {
	a, b Mat
	of   [2]array.DType
}

func (o *matOperands[E]) PackA(dst []float64, i, k int) {
	Widen[E](o.of[0], dst, 1, o.a.Offset(i*o.a.Row+k*o.a.Col, o.of[0].Size()).Ptr, o.a.Col, len(dst))
}

func (o *matOperands[E]) PackB(s *Scratch, k, n, j, width int) Magnitudes {
	d := o.of[1]
	src := o.b.Offset(k*o.b.Row+j*o.b.Col, d.Size())
	if o.b.Col == 1 {
		for p := range n {
			Widen[E](d, s.B[p*width:], 1, src.Offset(p*o.b.Row, d.Size()).Ptr, o.b.Col, width)
		}
	} else {
		for c := range width {
			Widen[E](d, s.B[c:], width, src.Offset(c*o.b.Col, d.Size()).Ptr, o.b.Row, n)
		}
	}
	for p := range n {
		s.From[p], s.To[p] = 0, int32(width)
	}
	m := NoMagnitudes
	if unsafe.Sizeof(E(0)) == 4 {
		for _, x := range s.B[:n*width] {
			m.Add(x)
		}
	}
	return m
}

// Widen copies n elements to every pitch-th element of dst. They lie step elements apart from
// src on. Their type d is E, float16 or bfloat16.
func Widen[E Element](d array.DType, dst []float64, pitch int, src unsafe.Pointer, step, n int) {
	switch d {
	case array.Float16:
		widenHalf[half.Float16](dst, pitch, src, step, n)
	case array.BFloat16:
		widenHalf[half.BFloat16](dst, pitch, src, step, n)
	default:
		widenFloat[E](dst, pitch, src, step, n)
	}
}

func widenHalf[H interface{ Float32() float32 }](dst []float64, pitch int, src unsafe.Pointer, step, n int) {
	for i := range n {
		dst[i*pitch] = float64((*(*H)(unsafe.Add(src, i*step*2))).Float32())
	}
}

func widenFloat[E Element](dst []float64, pitch int, src unsafe.Pointer, step, n int) {
	if pitch == 1 && step == 1 {
		dst = dst[:n]
		for i, v := range unsafe.Slice((*E)(src), n) {
			dst[i] = float64(v)
		}
		return
	}
	at := 0
	for i := range n {
		dst[at] = float64(*(*E)(unsafe.Add(src, i*step*int(unsafe.Sizeof(E(0))))))
		at += pitch
	}
}

// PortableMats is PortableProducts for matrices. item returns the matrices of product i. The
// element types of the factors are of: E, float16 or bfloat16. With add the products are added to the results.
func PortableMats[E Element](count, m, n, k, threads int, of [2]array.DType, add bool, item func(i int) (a, b, c Mat), done func(i, m0, m1, n0, n1 int)) {
	// Long rows of sums, so that the loops over them are long.
	flip := n < m && n < 64
	if flip {
		m, n = n, m
		of[0], of[1] = of[1], of[0]
		if flipped := done; done != nil {
			done = func(i, n0, n1, m0, m1 int) { flipped(i, m0, m1, n0, n1) }
		}
	}
	PortableProducts[E](count, m, n, k, threads, func(i int) (PortableOperands, PortableResult) {
		a, b, c := item(i)
		if flip {
			a, b, c = b.T(), a.T(), c.T()
		}
		return &matOperands[E]{a, b, of}, PortableResult{Ptr: c.Ptr, Row: c.Row, Width: n, Step: c.Col, Add: add}
	}, done)
}
