package interpolate

import (
	"fmt"

	"weft"
	"weft/internal/array"
)

// values describes values with some axes.
func values(rest []int) string {
	if len(rest) == 0 {
		return "numbers"
	}
	return "values of shape " + array.ShapeString(rest)
}

// scatteredText describes points of shape [n k] with values.
func scatteredText(name string, points *weft.Tensor, rest []int) string {
	return fmt.Sprintf("interpolate.%s of %s at %d points of %d coordinates", name, values(rest), points.Dim(0), points.Dim(1))
}

// String says what the spline is, not its numbers.
func (b *BSpline) String() string {
	low, high := b.base()
	return fmt.Sprintf("interpolate.BSpline of degree %d for %s: %d coefficients, from %v to %v", b.k, values(b.rest), b.c.Dim(0), low, high)
}

// String says what the spline is, not its numbers.
func (u *UnivariateSpline) String() string {
	low, high := u.base()
	return fmt.Sprintf("interpolate.UnivariateSpline of degree %d: %d coefficients, from %v to %v, residual %v", u.k, u.c.Dim(0), low, high, u.residual)
}

// String says what the curve is, not its numbers.
func (c *Curve) String() string {
	return fmt.Sprintf("interpolate.Curve through %d points, from %v to %v", c.x.Size(), c.x.At(0).Item(), c.x.At(-1).Item())
}

// String says what is interpolated, not its numbers.
func (g *RegularGridInterpolator) String() string {
	sizes := make([]int, len(g.points))
	for i, p := range g.points {
		sizes[i] = p.Size()
	}
	return fmt.Sprintf("interpolate.RegularGridInterpolator of %s on a grid of %s points", values(g.rest), array.ShapeString(sizes))
}

// String says what is interpolated, not its numbers.
func (r *RBFInterpolator) String() string {
	return scatteredText("RBFInterpolator", r.points, r.rest)
}

// String says what is interpolated, not its numbers.
func (l *LinearNDInterpolator) String() string {
	return scatteredText("LinearNDInterpolator", l.points, l.rest)
}

// String says what is interpolated, not its numbers.
func (c *CloughTocher2DInterpolator) String() string {
	return scatteredText("CloughTocher2DInterpolator", c.linear.points, c.linear.rest)
}

// String says what is interpolated, not its numbers.
func (n *NearestNDInterpolator) String() string {
	return fmt.Sprintf("interpolate.NearestNDInterpolator of %s at %d points of %d coordinates", values(n.rest), len(n.order), n.k)
}
