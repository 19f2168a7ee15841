package linalg

import (
	"math"

	"weft"
	"weft/internal/array"
	"weft/internal/op"
)

// An Ord names a norm of matrices.
type Ord string

const (
	Fro    Ord = "fro"  // Frobenius's: the square root of the sum of squares of magnitudes
	One    Ord = "1"    // the greatest sum of magnitudes of a column
	NegOne Ord = "-1"   // the least such sum
	Inf    Ord = "inf"  // the greatest sum of magnitudes of a row
	NegInf Ord = "-inf" // the least such sum
	Two    Ord = "2"    // the largest singular value
	NegTwo Ord = "-2"   // the smallest singular value
	Nuc    Ord = "nuc"  // the sum of the singular values
)

// VectorNormOpts are the options of [VectorNorm].
type VectorNormOpts struct {
	Ord  *float64 // 2 if not given
	Axes []int    // counted from the back if negative; all if not given
	Keep bool     // the axes stay, with size 1
}

// VectorNorm returns norms of vectors: (sum |x|^p)^(1/p) over axes, where p is Ord. An infinite order gives
// the greatest magnitude, minus infinity the least, 0 the number of elements that are not 0. Results are
// floats. Gradients are as for [weft.Tensor.Norm].
//
// It panics with *[weft.Error] where an axis is out of range.
func VectorNorm(x *weft.Tensor, opts ...VectorNormOpts) *weft.Tensor {
	const name = "linalg.vector_norm"
	defer array.Named(name).End()
	o := array.Options(name, opts)
	x = numbers(name, "x", x)
	p := 2.0
	if o.Ord != nil {
		p = *o.Ord
	}
	if o.Keep {
		return x.NormKeep(p, o.Axes...)
	}
	return x.Norm(p, o.Axes...)
}

// MatrixNormOpts are the options of [MatrixNorm].
type MatrixNormOpts struct {
	Ord  Ord  // Fro if not given
	Keep bool // the last two axes stay, with size 1
}

// MatrixNorm returns norms of matrices, [... m n], in the shape of the axes before the last two. Results are
// floats.
//
// The gradient of Nuc is the polar factor of a, whose derivative exists for every a of full rank and is not finite
// for others. Two and NegTwo have derivatives where the extreme singular value is not repeated.
//
// It panics with *[weft.Error] where the norm is not known, where a is no matrix, or where a least sum or value is over
// nothing. Greatest ones over nothing are 0, as in NumPy.
func MatrixNorm(a *weft.Tensor, opts ...MatrixNormOpts) *weft.Tensor {
	const name = "linalg.matrix_norm"
	defer array.Named(name).End()
	o := array.Options(name, opts)
	return matrixNorm(name, matrix(name, "a", a), o)
}

func matrixNorm(name string, a *weft.Tensor, o MatrixNormOpts) *weft.Tensor {
	var y *weft.Tensor
	switch o.Ord {
	case "", Fro:
		y = a.NormKeep(2, -2, -1)
	case One:
		y = greatest(a.Abs().SumKeep(-2), -1)
	case NegOne:
		y = a.Abs().SumKeep(-2).MinKeep(-1)
	case Inf:
		y = greatest(a.Abs().SumKeep(-1), -2)
	case NegInf:
		y = a.Abs().SumKeep(-1).MinKeep(-2)
	case Two:
		y = greatest(SVDVals(a), -1).Unsqueeze(-1)
	case NegTwo:
		y = SVDVals(a).MinKeep(-1).Unsqueeze(-1)
	case Nuc:
		y = applyAll(op.NuclearNorm, nil, a)[0].Unsqueeze(-1)
	default:
		array.Failf(name, "Ord", "%q is not the name of a norm", string(o.Ord))
	}
	if !o.Keep {
		y = y.Squeeze(-1).Squeeze(-1)
	}
	return y
}

// greatest returns the greatest numbers along an axis that stays, 0 where there are none. The numbers are not negative.
func greatest(x *weft.Tensor, axis int) *weft.Tensor {
	if x.Dim(axis) == 0 {
		return x.SumKeep(axis)
	}
	return x.MaxKeep(axis)
}

// Cond returns the condition numbers of matrices in a norm, [Two] if none is given: floats in the shape of the
// axes before the last two. With Two and NegTwo it is the ratio of the extreme singular values of matrices
// [... m n]. In other norms matrices are square, [... n n], and it is the norm times that of the inverse.
//
// That of a singular matrix is +Inf in every norm but NegTwo, where it is 0. That of zeros is +Inf, as in NumPy.
// It panics with *[weft.Error] for other shapes, matrices without elements and norms that are not known.
func Cond(a *weft.Tensor, ord ...Ord) *weft.Tensor {
	const name = "linalg.cond"
	defer array.Named(name).End()
	o := MatrixNormOpts{Ord: Two}
	switch {
	case len(ord) > 1:
		array.Failf(name, "ord", "%d norms, want one", len(ord))
	case len(ord) == 1 && ord[0] != "":
		o.Ord = ord[0]
	}
	a = matrix(name, "a", a)
	if d := a.DType(); d.Half() {
		return Cond(unhalved(a), o.Ord).To(d)
	}
	if o.Ord == Two || o.Ord == NegTwo {
		return condOfSingular(a, o.Ord)
	}
	a = square(name, "a", a)
	f, _ := factors(a.Detach())
	singular := f.Diagonal(0).Eq(0).Any(-1)
	eye := a.Device().EyeOf(a.DType(), a.Dim(-1))
	regular := weft.Where(singular.Unsqueeze(-1).Unsqueeze(-1), eye, a)
	return matrixNorm(name, regular, o).Mul(matrixNorm(name, inverse(regular), o)).MaskedFill(singular, math.Inf(1))
}

// condOfSingular returns the ratio of the extreme singular values, the larger one divided by the smaller one in Two.
func condOfSingular(a *weft.Tensor, ord Ord) *weft.Tensor {
	if a.Dim(-1) == 0 || a.Dim(-2) == 0 {
		array.Failf("linalg.cond", "a", "has shape %s, want matrices with elements", array.ShapeString(a.Shape()))
	}
	s := SVDVals(a)
	most, least := s.Max(-1), s.Min(-1)
	if ord == NegTwo {
		most, least = least, most
	}
	return most.Div(least).MaskedFill(s.Eq(0).All(-1), math.Inf(1))
}

// MatrixPower returns square matrices, [... n n], to a power: the identity for 0, of inverses for negative
// ones.
//
// It panics with *[weft.Error] where a matrix is singular and the power negative, or a has other shapes.
func MatrixPower(a *weft.Tensor, power int) *weft.Tensor {
	const name = "linalg.matrix_power"
	defer array.Named(name).End()
	a = square(name, "a", a)
	if power == math.MinInt {
		array.Failf(name, "power", "%d is out of range", power)
	}
	if power < 0 {
		a, power = inverse(a), -power
	}
	var y *weft.Tensor
	for p := power; p > 0; p /= 2 {
		if p%2 == 1 {
			if y == nil {
				y = a
			} else {
				y = y.MatMul(a)
			}
		}
		if p > 1 {
			a = a.MatMul(a)
		}
	}
	switch {
	case y == nil:
		return a.Device().EyeOf(a.DType(), a.Dim(-1)).Expand(a.Shape()...).Clone()
	case power == 1:
		return y.Clone()
	}
	return y
}

// MultiDot returns the product of matrices in the order of factors that takes the fewest multiplications.
// The first and the last may be vectors: a row and a column, whose axis the result lacks.
//
// It panics with *[weft.Error] where there are fewer than two, or shapes do not fit.
func MultiDot(ts ...*weft.Tensor) *weft.Tensor {
	const name = "linalg.multi_dot"
	defer array.Named(name).End()
	if len(ts) < 2 {
		array.Failf(name, "", "takes two matrices or more, got %d", len(ts))
	}
	ms := make([]*weft.Tensor, len(ts))
	for i, t := range ts {
		ms[i] = numbers(name, "ts", t)
		if r, end := t.Rank(), i == 0 || i == len(ts)-1; r != 2 && !(r == 1 && end) {
			array.Failf(name, "ts", "%d has shape %s, want a matrix", i, array.ShapeString(t.Shape()))
		}
	}
	row, col := ms[0].Rank() == 1, ms[len(ms)-1].Rank() == 1
	if row {
		ms[0] = ms[0].Unsqueeze(0)
	}
	if col {
		ms[len(ms)-1] = ms[len(ms)-1].Unsqueeze(1)
	}
	sizes := []int{ms[0].Dim(0)}
	for i, m := range ms {
		if m.Dim(0) != sizes[i] && i > 0 {
			array.Failf(name, "ts", "%d has shape %s, want %d rows", i, array.ShapeString(ts[i].Shape()), sizes[i])
		}
		sizes = append(sizes, m.Dim(1))
	}
	split := order(sizes)
	var product func(i, j int) *weft.Tensor
	product = func(i, j int) *weft.Tensor {
		if i == j {
			return ms[i]
		}
		k := split[i][j]
		return product(i, k).MatMul(product(k+1, j))
	}
	y := product(0, len(ms)-1)
	if col {
		y = y.Squeeze(-1)
	}
	if row {
		y = y.Squeeze(0)
	}
	return y
}

// order is where to split products of matrices i to j of sizes[i] x sizes[i+1] each. Source: Cormen,
// Leiserson, Rivest and Stein, "Introduction to Algorithms", section 14.2.
func order(sizes []int) [][]int {
	n := len(sizes) - 1
	cost, split := make([][]float64, n), make([][]int, n)
	for i := range n {
		cost[i], split[i] = make([]float64, n), make([]int, n)
	}
	for length := 1; length < n; length++ {
		for i := 0; i+length < n; i++ {
			j := i + length
			cost[i][j] = math.Inf(1)
			for k := i; k < j; k++ {
				if c := cost[i][k] + cost[k+1][j] + float64(float64(sizes[i])*float64(sizes[k+1])*float64(sizes[j+1])); c < cost[i][j] {
					cost[i][j], split[i][j] = c, k
				}
			}
		}
	}
	return split
}
