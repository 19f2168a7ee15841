package transforms

import (
	"math"

	"weft"
	"weft/internal/array"
	"weft/nn"
)

// WarpOpts are the options of [Perspective] and [Elastic].
type WarpOpts struct {
	Interpolation *nn.InterpolateMode // ModeNearest or ModeLinear; nil means ModeLinear
	Fill          []float64           // what is outside, one number or one for each channel; nil means 0
}

// Perspective moves the corners of a picture, or four other points of it, to other places, and all
// pixels with them, as a camera sees a plane. Points are pixels from the left and the top, corners in the
// order top left, top right, bottom right, bottom left. The size stays. It panics with *weft.Error if
// three points lie on a line, or an option or x does not fit.
func Perspective(x *weft.Tensor, from, to [4][2]float64, opts ...WarpOpts) *weft.Tensor {
	const name = "perspective"
	defer array.Named(name).End()
	o := array.Options(name, opts)
	h, w := picture(name, x)
	corners(name, "from", from)
	corners(name, "to", to)
	p := projection(from, to)
	for _, v := range p {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			array.Failf(name, "to", "are %v for %v, which no perspective has", to, from)
		}
	}
	array.CheckShape(name, []int{h, w, 2}, weft.Float64)
	if x.Size() == 0 {
		return x
	}
	d := asFloat(x).DType()
	along := func(n int) *weft.Tensor { return x.Device().Linspace(0.5, float64(n)-0.5, n).To(d) }
	place := func(a []float64, n int) *weft.Tensor {
		return weft.Expr("(a*x + b*y + c) / (n/2) / (g*x + h*y + 1) - 1", weft.Vars{"x": along(w), "y": along(h).Reshape(h, 1),
			"a": a[0], "b": a[1], "c": a[2], "g": p[6], "h": p[7], "n": n})
	}
	grid := weft.Stack([]*weft.Tensor{place(p[:3], w), place(p[3:6], h)}, 2)
	return sampled(name, x, grid, array.Or(o.Interpolation, nn.ModeLinear), o.Fill)
}

// corners refuses points with three on a line.
func corners(name, arg string, p [4][2]float64) {
	for i := range p {
		a, b, c := p[i], p[(i+1)%4], p[(i+2)%4]
		if area := (b[0]-a[0])*(c[1]-a[1]) - (b[1]-a[1])*(c[0]-a[0]); area == 0 || math.IsNaN(area) || math.IsInf(area, 0) {
			array.Failf(name, arg, "are %v, want four points, no three on a line", p)
		}
	}
}

// projection returns a to h for which (a*x+b*y+c, d*x+e*y+f) / (g*x+h*y+1) maps the points to onto from, by
// elimination with pivots. Numbers are rounded to float32, as torchvision does.
func projection(from, to [4][2]float64) (p [8]float64) {
	var m [8][9]float64
	for i := range from {
		x, y, u, v := to[i][0], to[i][1], from[i][0], from[i][1]
		m[2*i] = [9]float64{x, y, 1, 0, 0, 0, -u * x, -u * y, u}
		m[2*i+1] = [9]float64{0, 0, 0, x, y, 1, -v * x, -v * y, v}
	}
	for k := range m {
		best := k
		for i := k; i < len(m); i++ {
			if math.Abs(m[i][k]) > math.Abs(m[best][k]) {
				best = i
			}
		}
		m[k], m[best] = m[best], m[k]
		for i := range m {
			if i == k {
				continue
			}
			factor := m[i][k] / m[k][k]
			for j := k; j < len(m[i]); j++ {
				m[i][j] -= float64(factor * m[k][j])
			}
		}
	}
	for k := range p {
		p[k] = float64(float32(m[k][8] / m[k][k]))
	}
	return p
}

// RandomPerspective moves the corners of pictures inwards at random, with probability P.
type RandomPerspective struct {
	Distortion    *float64            // the most that a corner moves, as a part of half the picture from 0 to 1; nil means 0.5
	P             *float64            // nil means 0.5
	Interpolation *nn.InterpolateMode // as in [WarpOpts]
	Fill          []float64           // as in [WarpOpts]
}

// Apply implements [Transform].
func (t RandomPerspective) Apply(x *weft.Tensor, g *weft.Generator) *weft.Tensor {
	const name = "random_perspective"
	defer array.Named(name).End()
	h, w := picture(name, x)
	distortion := array.Or(t.Distortion, 0.5)
	if !(distortion >= 0 && distortion <= 1) {
		array.Failf(name, "Distortion", "is %v, want 0 to 1", distortion)
	}
	if !happens(name, t.P, 0.5, g) || h < 2 || w < 2 {
		return x
	}
	most := func(n int) int { return int(distortion*float64(n/2)) + 1 }
	near := func(n int) float64 { return float64(below(g, most(n))) }
	far := func(n int) float64 { return float64(n - 1 - below(g, most(n))) }
	right, bottom := float64(w-1), float64(h-1)
	from := [4][2]float64{{0, 0}, {right, 0}, {right, bottom}, {0, bottom}}
	var to [4][2]float64
	to[0] = [2]float64{near(w), near(h)}
	to[1] = [2]float64{far(w), near(h)}
	to[2] = [2]float64{far(w), far(h)}
	to[3] = [2]float64{near(w), far(h)}
	if !convex(to) {
		return x // a picture of few pixels, whose corners have met
	}
	return Perspective(x, from, to, WarpOpts{t.Interpolation, t.Fill})
}

// convex reports whether points in clockwise order of a picture make a proper quadrilateral.
func convex(p [4][2]float64) bool {
	for i := range p {
		a, b, c := p[i], p[(i+1)%4], p[(i+2)%4]
		if (b[0]-a[0])*(c[1]-b[1])-(b[1]-a[1])*(c[0]-b[0]) <= 0 {
			return false
		}
	}
	return true
}

// Elastic moves pixels by displacements [height, width, 2], to the left and up, where 2 is the whole width or
// height. It panics with *weft.Error if an option, displacement or x does not fit.
func Elastic(x, displacement *weft.Tensor, opts ...WarpOpts) *weft.Tensor {
	const name = "elastic"
	defer array.Named(name).End()
	o := array.Options(name, opts)
	h, w := picture(name, x)
	array.Given(name, "displacement", displacement != nil)
	if s := displacement.Shape(); !displacement.DType().Float() || !array.Equal(s, []int{h, w, 2}) {
		array.Failf(name, "displacement", "is %s, want floats [%d, %d, 2]", array.TypeString(displacement.DType(), s), h, w)
	}
	if x.Size() == 0 {
		return x
	}
	d := asFloat(x).DType()
	along := func(n int) *weft.Tensor {
		end := float64(n-1) / float64(n)
		return x.Device().Linspace(-end, end, n).To(d)
	}
	identity := weft.Stack([]*weft.Tensor{along(w).Reshape(1, w).Expand(h, w), along(h).Reshape(h, 1).Expand(h, w)}, 2)
	return sampled(name, x, identity.Add(displacement.To(d)), array.Or(o.Interpolation, nn.ModeLinear), o.Fill)
}

// ElasticTransform moves the pixels of pictures by random displacements that are blurred, so that neighbours
// move alike (Simard et al., Best practices for convolutional neural networks, 2003). Pictures are larger
// than 4 times Sigma.
type ElasticTransform struct {
	Alpha         []float64           // the strength in pixels, along the width and the height, or one number; nil means 50
	Sigma         []float64           // the deviation of the blur in pixels, along the width and the height, or one number; nil means 5, 0 is none
	Interpolation *nn.InterpolateMode // as in [WarpOpts]
	Fill          []float64           // as in [WarpOpts]
}

// Apply implements [Transform].
func (t ElasticTransform) Apply(x *weft.Tensor, g *weft.Generator) *weft.Tensor {
	const name = "elastic_transform"
	defer array.Named(name).End()
	h, w := picture(name, x)
	alpha, sigma := both(name, "Alpha", t.Alpha, 50), both(name, "Sigma", t.Sigma, 5)
	if x.Size() == 0 {
		return x
	}
	g = generator(g).On(x.Device())
	d := asFloat(x).DType()
	parts := make([]*weft.Tensor, 2)
	for i, n := range []int{w, h} {
		v := g.RandOf(d, 1, h, w).Mul(2).Sub(1)
		if s := sigma[i]; s > 0 {
			size := int(8*s+1) | 1
			if size/2 >= min(h, w) {
				array.Failf(name, "Sigma", "is %v: the blur of %d pixels needs a picture larger than %d, not %d times %d", s, size, size/2, h, w)
			}
			v = blurred(v, size, size, sigma[0], sigma[1])
		}
		parts[i] = v.Mul(alpha[i]/float64(n)).Reshape(h, w)
	}
	return Elastic(x, weft.Stack(parts, 2), WarpOpts{t.Interpolation, t.Fill})
}

// both returns the numbers of an option along the width and the height.
func both(name, option string, v []float64, otherwise float64) [2]float64 {
	if v == nil {
		return [2]float64{otherwise, otherwise}
	}
	for _, a := range v {
		if !(a >= 0) || a > 1e6 {
			array.Failf(name, option, "has %v, want 0 to 1e6", a)
		}
	}
	if len(v) != 1 && len(v) != 2 {
		array.Failf(name, option, "has %d numbers, want 1 or 2", len(v))
	}
	return [2]float64{v[0], v[len(v)-1]}
}
