package optest

import (
	"weft/internal/array"
	"weft/internal/ir"
)

// References of linear filters: sums by their definition in float64, over results and arguments before, not
// over states.

// realRows refuses what is not floats of one type, and returns the number of rows: what the axes before the
// last count.
func realRows(x []*Array) int {
	for _, a := range x {
		if !a.DType.Float() || a.DType != x[0].DType {
			panic(refusal{})
		}
	}
	s := x[0].Shape
	return array.Size(s[:len(s)-1])
}

// rowsOf returns rows of size n.
func rowsOf(x *Array, r, n int) []float64 { return x.F[r*n:][:n] }

// recur filters x by the difference equation, from a state, and returns the state behind the end.
func recur(x, b, a, zi []float64) (y, zf []float64) {
	m, n := len(zi), len(x)
	b, a = append(append([]float64{}, b...), make([]float64, m)...), append(append([]float64{1}, a...), make([]float64, m)...)
	// Numbers behind the end are zeros: the state is what they would give.
	y = make([]float64, n+m)
	for i := range y {
		for k := 0; k <= m; k++ {
			if j := i - k; j >= 0 && j < n {
				y[i] += b[k] * x[j]
				if k > 0 {
					y[i] -= a[k] * y[j]
				}
			}
		}
		if i < m {
			y[i] += zi[i]
		}
	}
	return y[:n], y[n:]
}

func init() {
	several["lfilter"] = func(x []*Array, _ ir.Attrs) []Result {
		y, zf := New(x[0].DType, x[0].Shape), New(x[0].DType, x[3].Shape)
		size := func(i int) int { return x[i].Shape[len(x[i].Shape)-1] }
		for r := range realRows(x) {
			u, z := recur(rowsOf(x[0], r, size(0)), rowsOf(x[1], r, size(1)), rowsOf(x[2], r, size(2)), rowsOf(x[3], r, size(3)))
			copy(rowsOf(y, r, size(0)), u)
			copy(rowsOf(zf, r, size(3)), z)
		}
		return []Result{inUnits(y, 20), inUnits(zf, 20)}
	}
	several["sosfilt"] = func(x []*Array, _ ir.Attrs) []Result {
		y, zf := New(x[0].DType, x[0].Shape), New(x[0].DType, x[2].Shape)
		n, s := x[0].Shape[len(x[0].Shape)-1], x[1].Shape[len(x[1].Shape)-2]
		for r := range realRows(x) {
			u := rowsOf(x[0], r, n)
			for i := range s {
				c := rowsOf(x[1], r*s+i, 5)
				var z []float64
				u, z = recur(u, c[:3], c[3:], rowsOf(x[2], r*s+i, 2))
				copy(rowsOf(zf, r*s+i, 2), z)
			}
			copy(rowsOf(y, r, n), u)
		}
		return []Result{inUnits(y, 20), inUnits(zf, 20)}
	}
	references["correlate1d"] = func(x []*Array, _ ir.Attrs) Result {
		l, m := x[0].Shape[len(x[0].Shape)-1], x[1].Shape[len(x[1].Shape)-1]
		p := l - m + 1
		y := New(x[0].DType, append(append([]int{}, x[0].Shape[:len(x[0].Shape)-1]...), p))
		for r := range realRows(x) {
			for k := range p {
				for i := range m {
					y.F[r*p+k] += x[0].F[r*l+i+k] * x[1].F[r*m+i]
				}
			}
		}
		return inUnits(y, 20)
	}
}
