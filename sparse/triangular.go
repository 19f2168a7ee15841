package sparse

import (
	"weft"
	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/cpu/sparse"
)

// SolveTriangularOpts are the options of [SolveTriangular].
type SolveTriangularOpts struct {
	Lower        bool // a is lower triangular; it is upper triangular if not given
	UnitDiagonal bool // the diagonal of a is ones, and is not read
	Adjoint      bool // the equations are a^H * x = b
}

// SolveTriangular returns the solution x of a*x = b for a triangular matrix a, [n n], and b [n] or [n k]. It
// reads one triangle of a. The gradient of a's values is at their entries in that triangle.
//
// It panics with *[weft.Error] where an element of the diagonal is 0 or not stored, or shapes do not fit.
func SolveTriangular(a *Matrix, b *weft.Tensor, opts ...SolveTriangularOpts) *weft.Tensor {
	const name = "sparse.solvetriangular"
	defer array.Named(name).End()
	o := array.Options(name, opts)
	a.notNil(name, "a")
	if a.rows != a.cols {
		array.Failf(name, "a", "is [%d %d], want a square matrix", a.rows, a.cols)
	}
	(*core.Tensor)(b).CheckArgument(name, "b")
	if r := b.Rank(); r < 1 || r > 2 || b.Dim(0) != a.rows {
		array.Failf(name, "b", "has shape %s, want %d rows", array.ShapeString(b.Shape()), a.rows)
	}
	m := a.To(CSR).Coalesce()
	v, x := meet(m.values, floats(b))
	t := sparse.Triangle{Lower: o.Lower, Unit: o.UnitDiagonal, Transposed: o.Adjoint}
	return inFull(v.DType(), func(d weft.DType) *weft.Tensor {
		v := v.To(d)
		if o.Adjoint {
			v = conjugate(v)
		}
		return solve(m.with(v), x.To(d), t)
	})
}

// conjugate is x, or its conjugate if it is complex.
func conjugate(x *weft.Tensor) *weft.Tensor {
	if x.DType().Complex() {
		return x.Conj()
	}
	return x
}

// solve solves equations of a coalesced matrix of compressed rows, or of its transpose.
func solve(m *Matrix, b *weft.Tensor, t sparse.Triangle) *weft.Tensor {
	p := m.rowPattern()
	c := &computation{name: "sparse.solvetriangular",
		shape: func(x []*weft.Tensor) []int { return x[1].Shape() },
		run: func(args []array.View, out *array.View) error {
			i := 0
			switch out.DType {
			case array.Float32:
				i = solved[float32](args, out, p, t)
			case array.Float64:
				i = solved[float64](args, out, p, t)
			case array.Complex64:
				i = solved[complex64](args, out, p, t)
			default:
				i = solved[complex128](args, out, p, t)
			}
			if i >= 0 {
				return array.Errorf("sparse.solvetriangular", "a", "the matrix is singular: element (%d, %d) is 0", i, i)
			}
			return nil
		},
		back: func(x []*weft.Tensor, y, dy *weft.Tensor) []*weft.Tensor {
			back := t
			back.Transposed = !t.Transposed
			db := solve(m.with(conjugate(x[0])), dy, back)
			u, w := db, conjugate(y)
			if t.Transposed {
				u, w = w, u
			}
			if u.Rank() == 1 {
				u, w = u.Unsqueeze(1), w.Unsqueeze(1)
			}
			return []*weft.Tensor{m.Sampled(u, w).values.Neg().Mul(m.inTriangle(t, u.DType())), db}
		}}
	return c.of(m.values, b)
}

func solved[T float32 | float64 | complex64 | complex128](args []array.View, out *array.View, p *sparse.Pattern, t sparse.Triangle) int {
	x := core.Slice[T](out)
	copy(x, core.Slice[T](&args[1]))
	width := 1
	if len(out.Shape) == 2 {
		width = out.Shape[1]
	}
	return sparse.Solve(x, core.Slice[T](&args[0]), p, width, t)
}

// inTriangle is 1 for entries of the triangle that counts, 0 for others.
func (m *Matrix) inTriangle(t sparse.Triangle, d weft.DType) *weft.Tensor {
	off, idx := m.offsets.Ints(), m.index()
	out := make([]float32, len(idx))
	for i := range len(off) - 1 {
		for k := off[i]; k < off[i+1]; k++ {
			if j := int(idx[k]); j == i && !t.Unit || j < i && t.Lower || j > i && !t.Lower {
				out[k] = 1
			}
		}
	}
	return weft.FromSlice(out).To(d)
}
