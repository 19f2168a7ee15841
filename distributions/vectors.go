package distributions

import (
	"weft"
	"weft/internal/array"
	"weft/internal/core"
)

// Distributions of vectors.

// Dirichlet is the distribution of k probabilities that add up to 1, with density proportional to the
// product of x_i^(Concentration_i-1).
type Dirichlet struct {
	batch
	Concentration *weft.Tensor
}

// NewDirichlet returns distributions with concentrations of shape [batch... k]. It panics with
// *weft.Error where one is not above 0 or there is no axis of classes.
func NewDirichlet(concentration *weft.Tensor) Dirichlet {
	b := newBatch("distributions.dirichlet", 1, parameter{"concentration", "a", concentration, positive})
	return Dirichlet{b, b.of("a")}
}

// EventShape implements [Distribution].
func (d Dirichlet) EventShape() []int {
	d.made()
	return []int{d.Concentration.Dim(-1)}
}

// Sample implements [Distribution].
func (d Dirichlet) Sample(g *weft.Generator, shape ...int) *weft.Tensor {
	return sample(d.RSample, g, shape)
}

// RSample implements [Reparameterized].
func (d Dirichlet) RSample(g *weft.Generator, shape ...int) *weft.Tensor {
	d.made()
	g, shape = d.draws(g, shape, d.Concentration.Dim(-1))
	return g.DirichletOf(d.dtype, d.Concentration, shape...)
}

// LogProb implements [Distribution]. It takes x to add up to 1.
func (d Dirichlet) LogProb(x *weft.Tensor) *weft.Tensor {
	d.made()
	d.events("log_prob", x, d.Concentration.Dim(-1))
	return d.formula("where(amin(x, -1) < 0, -inf, sum((a-1)*log(where((a == 1) && (x == 0) || (x < 0), 1, x)), -1) + "+
		"lgamma(sum(a, -1)) - sum(lgamma(a), -1))", x)
}

// Entropy implements [Entropic].
func (d Dirichlet) Entropy() *weft.Tensor {
	d.made()
	return d.formula("sum(lgamma(a), -1) - lgamma(sum(a, -1)) + sum(a-1, -1)*digamma(sum(a, -1)) - sum((a-1)*digamma(a), -1)", nil)
}

// Mean implements [Distribution].
func (d Dirichlet) Mean() *weft.Tensor { return d.formula("a/sum_keep(a, -1)", nil) }

// Variance implements [Distribution].
func (d Dirichlet) Variance() *weft.Tensor {
	return d.formula("a*(sum_keep(a, -1)-a)/(pow(sum_keep(a, -1), 2)*(sum_keep(a, -1)+1))", nil)
}

// MultivariateNormal is the normal distribution of vectors with mean Loc and covariance
// ScaleTril times its transpose.
type MultivariateNormal struct {
	batch
	Loc, ScaleTril *weft.Tensor
	inverse        *weft.Tensor // of ScaleTril
}

// NewMultivariateNormal returns distributions with means loc [batch... k] and covariances [batch... k
// k]. It panics with *weft.Error where shapes do not fit or a covariance is not positive definite; only
// its lower triangle is read. It computes a Cholesky factor and its inverse by halves of the matrix, in
// the order of k steps, which suits small k.
func NewMultivariateNormal(loc, covariance *weft.Tensor) MultivariateNormal {
	d := newMultivariateNormal(loc, "covariance", covariance)
	d.ScaleTril, d.inverse = cholesky(d.ScaleTril)
	d.ScaleTril = d.definite(d.ScaleTril, "covariance", "is not positive definite")
	return d
}

// NewMultivariateNormalTril is [NewMultivariateNormal] with lower triangular factors of the
// covariances, whose diagonals are above 0. What lies above the diagonals is not read.
func NewMultivariateNormalTril(loc, scaleTril *weft.Tensor) MultivariateNormal {
	d := newMultivariateNormal(loc, "scaleTril", scaleTril)
	d.ScaleTril = d.ScaleTril.Tril(0)
	d.inverse = invert(d.ScaleTril)
	d.definite(diagonal(d.ScaleTril).Log(), "scaleTril", "has a diagonal that is not above 0")
	return d
}

// newMultivariateNormal has the matrix as its ScaleTril.
func newMultivariateNormal(loc *weft.Tensor, arg string, matrix *weft.Tensor) MultivariateNormal {
	const name = "distributions.multivariate_normal"
	m := newBatch(name, 2, parameter{arg, "t", matrix, anyNumber})
	b := newBatch(name, 1, parameter{"loc", "m", loc, anyNumber})
	k := loc.Dim(-1)
	if s := matrix.Shape(); s[len(s)-1] != k || s[len(s)-2] != k {
		array.Failf(name, arg, "has shape %s, want [... %d %d]", array.ShapeString(s), k, k)
	}
	b.shape = array.Broadcast(name, b.shape, m.shape)
	b.dtype = array.Promote(b.dtype, m.dtype)
	return MultivariateNormal{batch: b, Loc: b.of("m").To(b.dtype), ScaleTril: m.of("t").To(b.dtype)}
}

// definite returns t, which must be finite.
func (d MultivariateNormal) definite(t *weft.Tensor, arg, text string) *weft.Tensor {
	if core.TracingViews((*core.Tensor)(t).View()) == nil && t.Detach().IsFinite().All().Item() == 0 {
		array.Failf(d.name, arg, "%s", text)
	}
	return t
}

// halves are the corners a11, a21 and a22 of matrices in the last two axes.
func halves(a *weft.Tensor) (a11, a21, a22 *weft.Tensor) {
	n := a.Dim(-1)
	rows := a.Split(-2, n/2, n-n/2)
	below := rows[1].Split(-1, n/2, n-n/2)
	return rows[0].Split(-1, n/2, n-n/2)[0], below[0], below[1]
}

// joined is the lower triangular matrix of its corners.
func joined(a11, a21, a22 *weft.Tensor) *weft.Tensor {
	above := weft.ZerosLike(a21.Transpose(-1, -2))
	return weft.Cat([]*weft.Tensor{weft.Cat([]*weft.Tensor{a11, above}, -1), weft.Cat([]*weft.Tensor{a21, a22}, -1)}, -2)
}

// cholesky returns the lower triangular l with l times its transpose = a, and the inverse of l, by
// halves: Golub and Van Loan, Matrix Computations, 4.2.9.
func cholesky(a *weft.Tensor) (l, inverse *weft.Tensor) {
	if a.Dim(-1) < 2 {
		l = a.Sqrt()
		return l, l.Reciprocal()
	}
	a11, a21, a22 := halves(a)
	l11, i11 := cholesky(a11)
	l21 := a21.MatMul(i11.Transpose(-1, -2))
	l22, i22 := cholesky(a22.Sub(l21.MatMul(l21.Transpose(-1, -2))))
	return joined(l11, l21, l22), joined(i11, i22.MatMul(l21).MatMul(i11).Neg(), i22)
}

// invert returns the inverse of lower triangular matrices, by halves.
func invert(l *weft.Tensor) *weft.Tensor {
	if l.Dim(-1) < 2 {
		return l.Reciprocal()
	}
	l11, l21, l22 := halves(l)
	i11, i22 := invert(l11), invert(l22)
	return joined(i11, i22.MatMul(l21).MatMul(i11).Neg(), i22)
}

// diagonal is the diagonal of the last two axes.
func diagonal(a *weft.Tensor) *weft.Tensor {
	n := a.Dim(-1)
	return a.Mul(a.Device().EyeOf(a.DType(), n)).Sum(-1)
}

// EventShape implements [Distribution].
func (d MultivariateNormal) EventShape() []int {
	d.made()
	return []int{d.Loc.Dim(-1)}
}

// Sample implements [Distribution].
func (d MultivariateNormal) Sample(g *weft.Generator, shape ...int) *weft.Tensor {
	return sample(d.RSample, g, shape)
}

// RSample implements [Reparameterized].
func (d MultivariateNormal) RSample(g *weft.Generator, shape ...int) *weft.Tensor {
	d.made()
	g, shape = d.draws(g, shape, d.Loc.Dim(-1))
	return times(d.ScaleTril, g.RandnOf(d.dtype, shape...)).Add(d.Loc)
}

// times is the product of matrices and vectors in the last axes.
func times(a, x *weft.Tensor) *weft.Tensor { return a.MatMul(x.Unsqueeze(-1)).Squeeze(-1) }

// LogProb implements [Distribution].
func (d MultivariateNormal) LogProb(x *weft.Tensor) *weft.Tensor {
	d.made()
	k := d.Loc.Dim(-1)
	d.events("log_prob", x, k)
	z := times(d.inverse, x.To(d.dtype).Sub(d.Loc))
	return weft.Expr("-0.5*sum(z*z, -1) - sum(log(t), -1) - 0.9189385332046727*k", weft.Vars{"z": z, "t": diagonal(d.ScaleTril), "k": float64(k)})
}

// Entropy implements [Entropic].
func (d MultivariateNormal) Entropy() *weft.Tensor {
	d.made()
	return expand(weft.Expr("sum(log(t) + 1.4189385332046727, -1)", diagonal(d.ScaleTril)), d.shape)
}

// Mean implements [Distribution].
func (d MultivariateNormal) Mean() *weft.Tensor {
	d.made()
	return expand(d.Loc, append(d.BatchShape(), d.Loc.Dim(-1)))
}

// Variance implements [Distribution].
func (d MultivariateNormal) Variance() *weft.Tensor {
	d.made()
	return expand(d.ScaleTril.Square().Sum(-1), append(d.BatchShape(), d.Loc.Dim(-1)))
}

// Covariance is the covariance in the shape [batch... k k].
func (d MultivariateNormal) Covariance() *weft.Tensor {
	d.made()
	k := d.Loc.Dim(-1)
	return expand(d.ScaleTril.MatMul(d.ScaleTril.Transpose(-1, -2)), append(d.BatchShape(), k, k))
}
