package ndimage

import (
	"slices"

	"weft/internal/array"
	"weft/internal/par"
)

// A column is what a place along the last axis needs of a row: two elements and their weights.
type column struct {
	u, v int // u is -1 for a place outside
	p, q float64
}

// bilinear writes what sample writes, with the same bits, for order 1 along two axes. It reports false for other work.
func (s *sampling) bilinear(x, places, y []float64) bool {
	if s.order != 1 || len(s.in) != 2 || s.mode == GridConstant || s.pad != 0 || slices.Max(s.slopes) > 0 {
		return false
	}
	strides := array.RowMajor(s.in)
	if s.matrix == nil {
		par.Run(len(y), sampleGrain, 0, func(_, begin, end int) { s.bilinearAt(x, places, y, strides, begin, end) })
		return true
	}
	lines := s.tables(strides)
	if lines == nil {
		return false
	}
	columns := make([]column, len(lines[1]))
	for j, k := range lines[1] {
		if columns[j] = (column{k.at[0], k.at[1], k.weight[0], k.weight[1]}); !k.inside {
			columns[j].u = -1
		}
	}
	outside, n := s.cval, s.in[1]
	par.Run(len(lines[0]), max(1, sampleGrain/len(columns)), 0, func(_, begin, end int) {
		for i := begin; i < end; i++ {
			line, k := y[i*len(columns):][:len(columns)], &lines[0][i]
			if !k.inside {
				for j := range line {
					line[j] = outside
				}
				continue
			}
			up, down := x[k.at[0]:][:n], x[k.at[1]:][:n]
			p, q := k.weight[0], k.weight[1]
			for j := range line {
				c := &columns[j]
				if c.u < 0 {
					line[j] = outside
					continue
				}
				a := float64(c.p*up[c.u]) + float64(c.q*up[c.v])
				b := float64(c.p*down[c.u]) + float64(c.q*down[c.v])
				line[j] = float64(p*a) + float64(q*b)
			}
		}
	})
	return true
}

// bilinearAt is bilinear for places from begin to below end.
func (s *sampling) bilinearAt(x, places, y []float64, strides []int, begin, end int) {
	row, col := places[:len(y)], places[len(y):][:len(y)]
	height, width, n := float64(s.in[0]-1), float64(s.in[1]-1), s.in[1]
	var a, b knot
	for i := begin; i < end; i++ {
		if c, d := row[i], col[i]; c >= 0 && c < height && d >= 0 && d < width {
			k, l := int(c), int(d)
			t, u := c-float64(k), d-float64(l)
			up, down := x[k*n+l:][:2], x[k*n+l+n:][:2]
			p := float64((1-u)*up[0]) + float64(u*up[1])
			q := float64((1-u)*down[0]) + float64(u*down[1])
			y[i] = float64((1-t)*p) + float64(t*q)
			continue
		}
		s.knot(&a, 0, row[i], strides[0])
		s.knot(&b, 1, col[i], strides[1])
		if y[i] = s.cval; a.inside && b.inside {
			y[i] = planar(x, &a, &b, 1)
		}
	}
}
