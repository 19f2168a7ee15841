package sparse

import (
	"weft"
	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/cpu/sparse"
	"weft/internal/par"
)

// rowPattern returns the pattern of a matrix of compressed rows.
func (m *Matrix) rowPattern() *sparse.Pattern {
	return &sparse.Pattern{Off: m.offsets.Ints(), Idx: m.index(), Cols: m.cols}
}

// Dot returns the product of m, [rows k], and b, [k cols], in compressed rows, coalesced. An entry is stored
// where the patterns allow one, even if it is 0. Gradients of both are at their entries.
func (m *Matrix) Dot(b *Matrix) *Matrix {
	const name = "sparse.dot"
	defer array.Named(name).End()
	m.notNil(name, "m")
	b.notNil(name, "b")
	if m.cols != b.rows {
		array.Failf(name, "b", "is [%d %d], want %d rows for a matrix [%d %d]", b.rows, b.cols, m.cols, m.rows, m.cols)
	}
	x, y := m.To(CSR), b.To(CSR)
	core.CheckHeap(name, (par.Threads()+1)*b.cols+m.rows, array.Int64)
	p := sparse.ProductPattern(x.rowPattern(), y.rowPattern())
	out := &Matrix{format: CSR, rows: m.rows, cols: b.cols, pattern: compressedPattern(p.Idx, p.Off, true)}
	out.values = masked(out, x, y)
	return out
}

// masked returns the elements of x*y at the entries of a mask, all in compressed rows.
func masked(mask, x, y *Matrix) *weft.Tensor {
	at, px, py := mask.rowPattern(), x.rowPattern(), y.rowPattern()
	c := &computation{name: "sparse.dot",
		shape: func([]*weft.Tensor) []int { return []int{len(at.Idx)} },
		run: func(args []array.View, out *array.View) error {
			switch out.DType {
			case array.Float32:
				maskedOf[float32](args, out, at, px, py)
			case array.Float64:
				maskedOf[float64](args, out, at, px, py)
			case array.Complex64:
				maskedOf[complex64](args, out, at, px, py)
			default:
				maskedOf[complex128](args, out, at, px, py)
			}
			return nil
		},
		back: func(v []*weft.Tensor, _, dy *weft.Tensor) []*weft.Tensor {
			a, b := x.with(v[0]), y.with(v[1])
			g := (&Matrix{format: CSR, rows: mask.rows, cols: mask.cols, pattern: mask.pattern}).with(dy)
			return []*weft.Tensor{masked(x, g, b.H().To(CSR)), masked(y, a.H().To(CSR), g)}
		}}
	u, v := meet(x.values, y.values)
	return inFull(u.DType(), func(d weft.DType) *weft.Tensor { return c.of(u.To(d), v.To(d)) })
}

// inFull computes with float32 in the place of float16 and bfloat16, and rounds once.
func inFull(d weft.DType, f func(d weft.DType) *weft.Tensor) *weft.Tensor {
	if d.Half() {
		return f(weft.Float32).To(d)
	}
	return f(d)
}

func maskedOf[T float32 | float64 | complex64 | complex128](args []array.View, out *array.View, mask, x, y *sparse.Pattern) {
	sparse.Masked(core.Slice[T](out), core.Slice[T](&args[0]), core.Slice[T](&args[1]), mask, x, y)
}
