package linalg

import "weft/internal/cpu/eigen"

const (
	tallRatio = 2  // rows for each column from which reduction to a triangle pays
	tallCols  = 17 // fewer columns are decomposed by plane rotations, to the accuracy of each column
	// Elements outside of this range may overflow or underflow in a reduction that does not scale.
	tallLeast, tallMost = 0x1p-400, 0x1p400
)

// svdTall decomposes a matrix with many more rows than columns, or the reverse, by way of the triangle of a QR
// factorization. Products of blocks do most of the work then, where a bidiagonal reduction reads the whole
// matrix for each column. u has rows x k elements and vh k x cols; both are empty for values alone. It leaves x and
// reports done == false where another way is better.
//
// Source: Chan, "An improved algorithm for computing the singular value decomposition", ACM TOMS 8, 1982.
func svdTall[T wide](m *eigen.Machine, rows, cols int, x []T, values []float64, u, vh []T) (done, converged bool) {
	high, k := max(rows, cols), min(rows, cols)
	if k < tallCols || high < tallRatio*k || !moderate(x) {
		return false, false
	}
	s, free := alloc[T](high*k + 3*k*k)
	defer free()
	a, r, left, right := matrix[T]{s[:high*k], high, k, k}, s[high*k:][:k*k], s[high*k+k*k:][:k*k], s[high*k+2*k*k:]
	if rows >= cols {
		copy(a.x, x)
	} else {
		adjoint(a.x, x, rows, cols)
	}
	on := kit[T]{m.ISA, m.Threads}
	h := on.qr(a)
	defer h.free()
	clear(r)
	for i := range k {
		copy(r[i*k+i:(i+1)*k], a.row(i)[i:])
	}
	if len(u) == 0 {
		return true, eigen.Singular(m, k, k, r, values, nil, 0, nil, 0)
	}
	if !eigen.Singular(m, k, k, r, values, left, k, right, k) {
		return true, false
	}
	clear(a.x)
	copy(a.x, left)
	for i := len(h.blocks) - 1; i >= 0; i-- {
		b := h.blocks[i]
		on.reflect(b.v, b.t, false, a.sub(b.at, 0, high-b.at, k))
	}
	if rows >= cols {
		copy(u, a.x)
		copy(vh, right)
	} else {
		adjoint(u, right, k, k)
		adjoint(vh, a.x, high, k)
	}
	eigen.FixPhases(rows, k, cols, u, vh)
	return true, true
}

// moderate reports that the square of the largest element neither overflows nor loses digits.
func moderate[T wide](x []T) bool {
	most := 0.0
	for _, v := range x {
		most = max(most, magnitude(v))
	}
	return most > tallLeast && most < tallMost
}

// adjoint writes the conjugate transpose of a rows x cols matrix.
func adjoint[T wide](to, from []T, rows, cols int) {
	for i := range rows {
		for j, v := range from[i*cols : (i+1)*cols] {
			to[j*rows+i] = conj(v)
		}
	}
}
