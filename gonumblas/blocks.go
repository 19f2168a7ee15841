package gonumblas

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"
)

// Sizes below which gonum's own code computes. Tests set them to 1.
var (
	smallProduct  = 512     // multiply-adds of a product
	smallUpdate   = 1 << 11 // multiply-adds of a product that is scaled or added to something
	triangleBlock = 64      // rows of a block on the diagonal of a symmetric result
	solveBlock    = 32      // rows of a triangular matrix in equations
)

// fits reports whether a slice of length elements holds a rows x cols matrix.
func fits(rows, cols, stride, length int) bool {
	return stride >= max(1, cols) && length >= (rows-1)*stride+cols
}

func transposes(t blas.Transpose) bool { return t == blas.Trans || t == blas.ConjTrans }

// known reports whether t is a transpose.
func known(t blas.Transpose) bool { return t == blas.NoTrans || transposes(t) }

func factorOf[T element](x []T, stride int, t blas.Transpose) factor[T] {
	return factor[T]{matrix[T]{x, stride}, transposes(t), t == blas.ConjTrans && isComplex[T]()}
}

// fitsFactor is fits for a rows x cols factor.
func fitsFactor(t blas.Transpose, rows, cols, stride, length int) bool {
	if transposes(t) {
		rows, cols = cols, rows
	}
	return fits(rows, cols, stride, length)
}

// gemm computes c = alpha*op(a)*op(b) + beta*c. It returns false, and computes nothing, if the call is for gonum's own
// code, as all functions here do: it is small, trivial or invalid.
func gemm[T element](tA, tB blas.Transpose, m, n, k int, alpha T, a []T, lda int, b []T, ldb int, beta T, c []T, ldc int) bool {
	if m <= 0 || n <= 0 || k <= 0 || alpha == 0 || m*n*k < smallProduct || !known(tA) || !known(tB) ||
		!fitsFactor(tA, m, k, lda, len(a)) || !fitsFactor(tB, k, n, ldb, len(b)) || !fits(m, n, ldc, len(c)) {
		return false
	}
	if (alpha != 1 || beta != 0) && m*n*k < smallUpdate {
		return false
	}
	multiply(matrix[T]{c, ldc}, m, n, k, alpha, factorOf(a, lda, tA), factorOf(b, ldb, tB), beta)
	return true
}

// symm computes c = alpha*a*b + beta*c, or with the matrix on the right alpha*b*a + beta*c, with a triangle of a symmetric or
// Hermitian matrix.
func symm[T element](hermitian bool, s blas.Side, ul blas.Uplo, m, n int, alpha T, a []T, lda int, b []T, ldb int, beta T, c []T, ldc int) bool {
	size := n
	if s == blas.Left {
		size = m
	}
	if s != blas.Left && s != blas.Right || ul != blas.Lower && ul != blas.Upper || m <= 0 || n <= 0 || alpha == 0 || m*n*size < smallProduct ||
		!fits(size, size, lda, len(a)) || !fits(m, n, ldb, len(b)) || !fits(m, n, ldc, len(c)) {
		return false
	}
	t, free := scratch[T](size * size)
	defer free()
	full := factor[T]{matrix: matrix[T]{t, size}}
	mirror(full.matrix, matrix[T]{a, lda}, size, ul == blas.Lower, hermitian)
	other := factor[T]{matrix: matrix[T]{b, ldb}}
	if s == blas.Left {
		multiply(matrix[T]{c, ldc}, m, n, size, alpha, full, other, beta)
	} else {
		multiply(matrix[T]{c, ldc}, m, n, size, alpha, other, full, beta)
	}
	return true
}

// mirror writes all of a symmetric or Hermitian matrix, given one triangle in a.
func mirror[T element](to, a matrix[T], n int, lower, hermitian bool) {
	for i := range n {
		row := to.x[i*to.stride:][:n]
		from, until := i, n
		if lower {
			from, until = 0, i+1
		}
		copy(row[from:until], a.x[i*a.stride:][from:until])
		if hermitian {
			row[i] = realPart(row[i])
		}
	}
	const block = 32 // of rows and columns, so that lines are used whole
	for i0 := 0; i0 < n; i0 += block {
		for j0 := 0; j0 <= i0; j0 += block {
			for i := i0; i < min(i0+block, n); i++ {
				for j := j0; j < min(j0+block, i); j++ {
					p, q := &to.x[i*to.stride+j], &to.x[j*to.stride+i]
					if !lower {
						p, q = q, p
					}
					if *q = *p; hermitian {
						*q = conj(*p)
					}
				}
			}
		}
	}
}

// rank computes a triangle of c = alpha*a*a^T + beta*c, or with b of alpha*a*b^T + alpha*b*a^T + beta*c, op(a) being n x k; of
// Hermitian matrices with conjugate transposes, the second term times conj(alpha).
func rank[T element](hermitian, two bool, ul blas.Uplo, t blas.Transpose, n, k int, alpha T, a []T, lda int, b []T, ldb int, beta T, c []T, ldc int) bool {
	switch {
	case n <= 0 || k <= 0 || alpha == 0 || n*n*k < 2*smallProduct || ul != blas.Lower && ul != blas.Upper || !known(t):
		return false
	case hermitian && t == blas.Trans || !hermitian && isComplex[T]() && t == blas.ConjTrans:
		return false
	case !fitsFactor(t, n, k, lda, len(a)) || two && !fitsFactor(t, n, k, ldb, len(b)) || !fits(n, n, ldc, len(c)):
		return false
	}
	r := ranker[T]{hermitian: hermitian, two: two, lower: ul == blas.Lower, k: k, alpha: alpha, beta: beta}
	fa := factorOf(a, lda, t)
	fb := fa
	if two {
		fb = factorOf(b, ldb, t)
	}
	r.update(matrix[T]{c, ldc}, n, fa, fb)
	return true
}

// A ranker is what the blocks of an update of rank k have in common.
type ranker[T element] struct {
	hermitian, two, lower bool
	k                     int
	alpha, beta           T
}

// update updates n rows and columns of a triangle by halves.
func (r *ranker[T]) update(c matrix[T], n int, a, b factor[T]) {
	if n <= triangleBlock {
		r.diagonal(c, n, a, b)
		return
	}
	h := (n/2 + triangleBlock - 1) / triangleBlock * triangleBlock
	a2, b2 := a.from(h, 0), b.from(h, 0)
	r.update(c, h, a, b)
	r.update(c.from(h, h), n-h, a2, b2)
	block := func(c matrix[T], m, n int, a, a2, b, b2 factor[T]) {
		multiply(c, m, n, r.k, r.alpha, a, b2.turned(r.hermitian), r.beta)
		if r.two {
			alpha := r.alpha
			if r.hermitian {
				alpha = conj(alpha)
			}
			multiply(c, m, n, r.k, alpha, b, a2.turned(r.hermitian), 1)
		}
	}
	if r.lower {
		block(c.from(h, 0), n-h, h, a2, a, b2, b)
	} else {
		block(c.from(0, h), h, n-h, a, a2, b, b2)
	}
}

// diagonal updates a block on the diagonal.
func (r *ranker[T]) diagonal(c matrix[T], n int, a, b factor[T]) {
	s, free := scratch[T](n * n)
	defer free()
	t := matrix[T]{s, n}
	multiply(t, n, n, r.k, r.alpha, a, b.turned(r.hermitian), 0)
	for i := range n {
		from, until := i, n
		if r.lower {
			from, until = 0, i+1
		}
		row := c.x[i*c.stride:]
		for j := from; j < until; j++ {
			x := s[i*n+j]
			if r.two {
				y := s[j*n+i]
				if r.hermitian {
					y = conj(y)
				}
				x += y
			}
			if r.beta != 0 {
				x += r.beta * row[j]
			}
			row[j] = x
		}
		if r.hermitian {
			row[i] = realPart(row[i])
		}
	}
}

// A triangular is gonum's own method for products with triangular matrices, or for their equations.
type triangular[T element] func(_ gonum.Implementation, s blas.Side, ul blas.Uplo, t blas.Transpose, d blas.Diag, m, n int, alpha T, a []T, lda int, b []T, ldb int)

// A trianguler is what the blocks of a product with a triangular matrix, or of equations, have in common.
type trianguler[T element] struct {
	side   blas.Side
	uplo   blas.Uplo
	t      blas.Transpose
	diag   blas.Diag
	solves bool
	lower  bool // op(a) is lower triangular
	other  int  // the size of b that is not a's
	alpha  T
	own    triangular[T]
}

// triangle computes b = alpha*op(a)*b or alpha*b*op(a), or solves op(a)*x = alpha*b or x*op(a) = alpha*b in b.
func triangle[T element](solves bool, own triangular[T], s blas.Side, ul blas.Uplo, tA blas.Transpose, d blas.Diag, m, n int, alpha T, a []T, lda int, b []T, ldb int) bool {
	size, other := n, m
	if s == blas.Left {
		size, other = m, n
	}
	if s != blas.Left && s != blas.Right || ul != blas.Lower && ul != blas.Upper || !known(tA) || d != blas.Unit && d != blas.NonUnit ||
		m <= 0 || n <= 0 || alpha == 0 || size <= solveBlock || m*n*size < 2*smallProduct || !fits(size, size, lda, len(a)) || !fits(m, n, ldb, len(b)) {
		return false
	}
	r := trianguler[T]{side: s, uplo: ul, t: tA, diag: d, solves: solves, lower: (ul == blas.Lower) != transposes(tA), other: other, alpha: alpha, own: own}
	if solves && alpha != 1 {
		eachRow(m, n, func(i int) {
			row := b[i*ldb:][:n]
			combine(row, row, alpha, 0)
		})
		r.alpha = 1
	}
	r.run(factorOf(a, lda, tA), size, matrix[T]{b, ldb})
	return true
}

// run computes with a of size n by halves. In a product a half of b is overwritten when the other has got its part; in
// equations a half that is solved goes to the other side.
func (r *trianguler[T]) run(a factor[T], n int, b matrix[T]) {
	if n <= solveBlock {
		r.diagonal(a, n, b)
		return
	}
	h := (n/2 + solveBlock - 1) / solveBlock * solveBlock
	a2, b2 := a.from(h, h), b
	if r.side == blas.Left {
		b2 = b.from(h, 0)
	} else {
		b2 = b.from(0, h)
	}
	// The rows or columns of b that the block beside the diagonal multiplies are the first or the second half.
	fromFirst := r.lower == (r.side == blas.Left)
	beside := a.from(0, h)
	if r.lower {
		beside = a.from(h, 0)
	}
	first := func() { r.run(a, h, b) }
	second := func() { r.run(a2, n-h, b2) }
	across := func() {
		to, of, rows, inner := b2, b, n-h, h
		if !fromFirst {
			to, of, rows, inner = b, b2, h, n-h
		}
		alpha := r.alpha
		if r.solves {
			alpha = -1
		}
		if r.side == blas.Left {
			multiply(to, rows, r.other, inner, alpha, beside, factor[T]{matrix: of}, 1)
		} else {
			multiply(to, r.other, rows, inner, alpha, factor[T]{matrix: of}, beside, 1)
		}
	}
	steps := [3]func(){first, across, second}
	if fromFirst != r.solves {
		steps[0], steps[2] = second, first
	}
	for _, f := range steps {
		f()
	}
}

// diagonal computes with a block on the diagonal, by gonum's own code, on several threads.
func (r *trianguler[T]) diagonal(a factor[T], n int, b matrix[T]) {
	const width = 64
	eachRow((r.other+width-1)/width, width*n*n, func(i int) {
		i *= width
		w := min(width, r.other-i)
		if r.side == blas.Left {
			r.own(own, r.side, r.uplo, r.t, r.diag, n, w, r.alpha, a.x, a.stride, b.x[i:], b.stride)
		} else {
			r.own(own, r.side, r.uplo, r.t, r.diag, w, n, r.alpha, a.x, a.stride, b.x[i*b.stride:], b.stride)
		}
	})
}
