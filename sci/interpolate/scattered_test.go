package interpolate

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"weft"
)

// griddata is what testdata/scattered.py wrote.
var griddata = func() (s struct {
	Points, Values, Targets, Linear, Nearest, Rescaled, Cubic, Three, ThreeTargets [][]float64
	ThreeNearest                                                                   []float64
	Triangles                                                                      [][]int64
}) {
	text, err := os.ReadFile("testdata/scattered.json")
	if err == nil {
		err = json.Unmarshal(text, &s)
	}
	if err != nil {
		panic(err)
	}
	return s
}()

// TestGridData compares with SciPy's griddata, and triangles with its Delaunay.
func TestGridData(t *testing.T) {
	p, v, x := weft.From(griddata.Points), weft.From(griddata.Values), weft.From(griddata.Targets)
	near(t, "linear", GridData(p, v, x, GridDataOpts{FillValue: new(-7.0)}), griddata.Linear, 1e-12)
	near(t, "rescaled", GridData(p, v, x, GridDataOpts{FillValue: new(-7.0), Rescale: true}), griddata.Rescaled, 1e-12)
	near(t, "cubic", GridData(p, v, x, GridDataOpts{Method: CloughTocher, FillValue: new(-7.0)}), griddata.Cubic, 1e-10)
	near(t, "nearest", GridData(p, v, x, GridDataOpts{Method: Nearest}), griddata.Nearest, 0)
	near(t, "three", NewNearestNDInterpolator(weft.From(griddata.Three), weft.ArangeOf(weft.Float64, 30)).At(weft.From(griddata.ThreeTargets)), griddata.ThreeNearest, 0)
	var list [][]int64
	d := weft.Data[int64](Delaunay(p))
	for i := 0; i < len(d); i += 3 {
		list = append(list, slices.Sorted(slices.Values(d[i:i+3])))
	}
	slices.SortFunc(list, slices.Compare)
	if fmt.Sprint(list) != fmt.Sprint(griddata.Triangles) {
		t.Errorf("%v, SciPy's %v", list, griddata.Triangles)
	}
	if y := GridData(p, v, x); fmt.Sprint(y.Shape()) != "[55 2]" || y.Slice(weft.Range(53, 55)).IsNaN().All().Item() == 0 {
		t.Error(y)
	}
}

// TestCloughTocher holds that the function goes through the points and is what it was where that is a plane, that
// slopes pass edges, and gradients to places and values; a point is there twice.
func TestCloughTocher(t *testing.T) {
	p := weft.From(griddata.Points)
	p = weft.Cat([]*weft.Tensor{p, p.Slice(weft.Range(0, 1))}, 0)
	plane := p.MatMul(weft.From([]float64{2, -0.5})).Add(3)
	inner := weft.From(griddata.Points).Mul(0.5)
	if d := NewCloughTocher2DInterpolator(p, plane).At(inner).Sub(inner.MatMul(weft.From([]float64{2, -0.5})).Add(3)).Abs().Max().Item(); d > 1e-11 {
		t.Error(d)
	}
	v := weft.From(griddata.Values)
	c := NewCloughTocher2DInterpolator(weft.From(griddata.Points), v)
	if d := c.At(weft.From(griddata.Points)).Sub(v).Abs().Max().Item(); d > 1e-12 {
		t.Error(d)
	}
	// Slopes on both sides of every edge, and of the lines from corners to centroids, are equal.
	d := Delaunay(weft.From(griddata.Points))
	corner := func(k int) *weft.Tensor {
		return weft.From(griddata.Points).IndexSelect(0, d.Slice(weft.All, weft.Range(k, k+1)).Reshape(-1))
	}
	for k := range 3 {
		i, j, o := corner(k), corner((k+1)%3), corner((k+2)%3)
		for _, end := range []*weft.Tensor{j, i.Add(j).Add(o).Div(3)} {
			at := i.Mul(0.7).Add(end.Mul(0.3))
			slopes := func(side float64) *weft.Tensor {
				x := at.Add(o.Sub(at).Mul(side)).RequireGrad(true)
				y := c.At(x).Sum(1)
				return weft.Grad(y.Sum(), []*weft.Tensor{x})[0].Add(y.Detach().Mul(0).Reshape(-1, 1)) // NaN outside of the hull
			}
			jump := slopes(1e-8).Sub(slopes(-1e-8))
			if d := weft.Where(jump.IsNaN(), 0, jump).Abs().Max().Item(); d > 2e-3 {
				t.Error(k, d)
			}
		}
	}
	few := weft.From([][]float64{{0, 0}, {1, 0.1}, {0.2, 1}, {1.3, 1.1}, {0.6, 0.4}})
	err := weft.GradCheck(func(x ...*weft.Tensor) *weft.Tensor { return NewCloughTocher2DInterpolator(few, x[0]).At(x[1]) },
		[]*weft.Tensor{weft.From([]float64{1, 2, 0, 3, 1}), weft.From([][]float64{{0.4, 0.3}, {0.9, 0.8}, {0.3, 0.6}})})
	if err != nil {
		t.Error(err)
	}
}

// meshes are points whose triangulations rounding decides wrongly: on circles, lines, nearly on lines, twice there, and
// of all sizes.
func meshes() map[string][]float64 {
	r := rand.New(rand.NewPCG(1, 2))
	sets := map[string][]float64{}
	for range 60 {
		a := 2 * math.Pi * r.Float64()
		sets["circle"] = append(sets["circle"], math.Cos(a), math.Sin(a))
		sets["underflow"] = append(sets["underflow"], math.Cos(a)*0x1p-267, math.Sin(a)*0x1p-267)
		sets["random"] = append(sets["random"], r.Float64(), r.Float64())
		x := r.Float64()
		sets["line"] = append(sets["line"], 0.1+x, 0.1+x+float64(r.IntN(3))*0x1p-53)
		sets["twice"] = append(sets["twice"], float64(r.IntN(7)), float64(r.IntN(7)))
		sets["sizes"] = append(sets["sizes"], math.Ldexp(r.NormFloat64(), r.IntN(2000)-1000), math.Ldexp(r.NormFloat64(), r.IntN(2000)-1000))
		sets["denormal"] = append(sets["denormal"], float64(r.IntN(9))*5e-324, float64(r.IntN(9))*5e-324)
		sets["greatest"] = append(sets["greatest"], (2*r.Float64()-1)*math.MaxFloat64, (2*r.Float64()-1)*math.MaxFloat64)
		sets["far"] = append(sets["far"], 1e15+float64(r.IntN(5)), -1e15+float64(r.IntN(5)))
		sets["axes"] = append(sets["axes"], float64(r.IntN(2))*float64(r.IntN(100)), float64(r.IntN(100)))
	}
	for i := range 6 {
		for j := range 8 {
			sets["grid"] = append(sets["grid"], float64(i)*0.1, float64(j)*0.1)
		}
	}
	sets["triangle"] = []float64{0, 0, 1, 0, 0, 1}
	sets["hull"] = []float64{0, 0, 4, 0, 2, 0, 1, 0, 3, 0, 2, 5e-324}
	return sets
}

// TestPredicatesAreExact compares orientations and circles of points of meshes with determinants of rational numbers.
func TestPredicatesAreExact(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	times := func(a, b *big.Rat) *big.Rat { return new(big.Rat).Mul(a, b) }
	less := func(a, b *big.Rat) *big.Rat { return new(big.Rat).Sub(a, b) }
	for name, x := range meshes() {
		for range 20 {
			var p [8]float64
			var d [8]*big.Rat // from the fourth point
			for i := 3; i >= 0; i-- {
				k := r.IntN(len(x) / 2)
				for axis := range 2 {
					p[2*i+axis] = x[2*k+axis]
					d[2*i+axis] = new(big.Rat).SetFloat64(x[2*k+axis])
					if i < 3 {
						d[2*i+axis].Sub(d[2*i+axis], d[6+axis])
					}
				}
			}
			cross := func(i, j int) *big.Rat { return less(times(d[2*i], d[2*j+1]), times(d[2*i+1], d[2*j])) }
			if got, want := orientation(p[0], p[1], p[2], p[3], p[6], p[7]), cross(0, 1).Sign(); got != want {
				t.Fatalf("%s: orientation of %v is %d, want %d", name, p, got, want)
			}
			sum := new(big.Rat)
			for i := range 3 {
				square := times(d[2*i], d[2*i])
				square.Add(square, times(d[2*i+1], d[2*i+1]))
				sum.Add(sum, square.Mul(square, cross((i+1)%3, (i+2)%3)))
			}
			if got := inCircle(&p); got != sum.Sign() {
				t.Fatalf("%s: circle of %v has %d, want %d", name, p, got, sum.Sign())
			}
		}
	}
}

// TestDelaunayIsExact holds that no point is inside the circle of a triangle, that neighbours share their edges, and
// that triangles and hull have the numbers of Euler's formula, for points that rounding decides wrongly.
func TestDelaunayIsExact(t *testing.T) {
	for name, x := range meshes() {
		m := triangulate(x)
		if m == nil {
			t.Errorf("%s: on a line", name)
			continue
		}
		points := m.curve()
		hull, far := 0, int32(len(x)/2)
		used := map[int32]bool{far: true}
		for k, v := range m.v {
			if m.infinite(int32(k)) {
				hull++
			} else if m.orient(v[0], v[1], v[2]) <= 0 {
				t.Fatalf("%s: %v turns right", name, v)
			}
			for i := range 3 {
				used[v[i]] = true
				other := m.near[k][i]
				j := slices.Index(m.near[other][:], int32(k))
				if j < 0 || m.v[other][(j+1)%3] != v[(i+2)%3] || m.v[other][(j+2)%3] != v[(i+1)%3] {
					t.Fatalf("%s: %v is not beside %v", name, v, m.v[other])
				}
			}
			for _, p := range points {
				if !slices.Contains(v[:], p) && m.conflict(int32(k), p) {
					t.Fatalf("%s: %d is in conflict with %v", name, p, v)
				}
			}
		}
		if len(used) != len(points)+1 || len(m.v) != 2*(len(points)+1)-4 {
			t.Errorf("%s: %d triangles and %d of the hull, %d of %d points", name, len(m.v)-hull, hull, len(used)-1, len(points))
		}
	}
}

// TestLinearND holds that linear functions are met on triangles of points in order, that edges and corners of the hull
// are inside, and gradients.
func TestLinearND(t *testing.T) {
	x := meshes()["grid"]
	p := weft.FromSlice(x, len(x)/2, 2)
	plane := func(p *weft.Tensor) *weft.Tensor { return p.MatMul(weft.From([]float64{2, -3})).Add(1) }
	l := NewLinearNDInterpolator(p, plane(p))
	r := rand.New(rand.NewPCG(3, 4))
	var at []float64
	for range 300 {
		at = append(at, r.Float64()*0.5, r.Float64()*0.7)
	}
	for i := range 100 { // edges of the hull
		at = append(at, 0, float64(i)*0.007, float64(5)*0.1, float64(i)*0.0069, float64(i)*0.005, float64(7)*0.1)
	}
	where := weft.FromSlice(at, len(at)/2, 2)
	near(t, "plane", l.At(where), weft.Data[float64](plane(where)), 1e-13)
	near(t, "points", l.At(p), weft.Data[float64](plane(p)), 1e-14)
	outside := weft.From([][]float64{{-1e-9, 0}, {1.2, 1}, {math.NaN(), 0}, {0, math.Inf(1)}, {1e300, -1e300}})
	if y := l.At(outside); y.IsNaN().All().Item() == 0 {
		t.Error(y)
	}
	g := weft.Jacobian(func(x *weft.Tensor) *weft.Tensor { return l.At(x) }, weft.From([]float64{0.33, 0.47}))
	near(t, "slope", g.Reshape(-1), []float64{2, -3}, 1e-12)
	s := weft.Jacobian(func(v *weft.Tensor) *weft.Tensor {
		return GridData(p, v, weft.From([]float64{0.33, 0.47}))
	}, plane(p))
	near(t, "shares", s.Reshape(-1).Sum().Reshape(1), []float64{1}, 1e-12)
	if y := l.At(weft.ZerosOf(weft.Float64, 0, 2)); fmt.Sprint(y.Shape()) != "[0]" {
		t.Error(y)
	}
}

// TestScatteredMistakes compares what is said of bad arguments.
func TestScatteredMistakes(t *testing.T) {
	p, v := weft.From([][]float64{{0, 0}, {1, 0}, {0, 1}}), weft.From([]float64{1, 2, 3})
	for want, f := range map[string]func(){
		"interpolate.delaunay: points: are all on a line":                                func() { Delaunay(weft.From([][]float64{{0, 0}, {0.1, 0.1}, {0.3, 0.3}})) },
		"interpolate.delaunay: points: is nil":                                           func() { Delaunay(nil) },
		"interpolate.delaunay: points: has shape [1 3]: want 2":                          func() { Delaunay(weft.Ones(1, 3)) },
		"interpolate.newlinearndinterpolator: values: is nil":                            func() { NewLinearNDInterpolator(p, nil) },
		"interpolate.newlinearndinterpolator: points: are all on a line":                 func() { NewLinearNDInterpolator(weft.Ones(5, 2), weft.Ones(5)) },
		"interpolate.newlinearndinterpolator: points: has coordinates that":              func() { NewLinearNDInterpolator(p.Div(0), v) },
		"interpolate.newlinearndinterpolator: points: is float32 of shape [0 ":           func() { NewLinearNDInterpolator(weft.Zeros(0, 2), weft.Zeros(0)) },
		"interpolate.newnearestndinterpolator: values: is float32 of shape [2":           func() { NewNearestNDInterpolator(p, weft.Ones(2)) },
		"interpolate.griddata: Method: \"no\" is unknown: want linear, nearest or cubic": func() { GridData(p, v, p, GridDataOpts{Method: "no"}) },
		"interpolate.griddata: x: is nil":                                                func() { GridData(p, v, nil) },
		"interpolate.griddata: x: is float64 of shape [3]: want real numbers":            func() { GridData(p, v, v) },
		"interpolate.griddata: x: is float64 of shape [3 1]: want real numbers, 2 along": func() { GridData(p, v, v.Reshape(3, 1), GridDataOpts{Rescale: true}) },
		"interpolate.griddata: x: is complex64":                                          func() { GridData(p, v, p.To(weft.Complex64), GridDataOpts{Rescale: true}) },
		"interpolate.griddata: x: is float64 of shape [3 3]":                             func() { GridData(p, v, weft.OnesOf(weft.Float64, 3, 3), GridDataOpts{Method: Nearest}) },
		"interpolate.at: x: is complex64":                                                func() { NewNearestNDInterpolator(p, v).At(weft.ZerosOf(weft.Complex64, 2)) },
	} {
		if err := weft.Try(f); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, not %s", err, want)
		}
	}
	if y := NewNearestNDInterpolator(p, v).At(weft.From([][]float64{{math.NaN(), 0}, {0.9, 0.2}})); !math.IsNaN(y.At(0).Item()) || y.At(1).Item() != 2 {
		t.Error(y)
	}
}

// TestScatteredScale holds that powers of two times all coordinates change nothing, up to the ends of float64.
func TestScatteredScale(t *testing.T) {
	var x []float64
	for i := range 40 {
		x = append(x, math.Sin(float64(i*i)), math.Cos(float64(3*i+1)))
	}
	points := weft.FromSlice(x, 40, 2)
	values := points.Square().Sum(1)
	at := points.Slice(weft.Range(0, 20)).Add(points.Slice(weft.Range(20, 40))).Div(2)
	for _, scale := range []float64{0x1p-1000, 0x1p-600, 0x1p-520, 0x1p-300, 0x1p-100, 0x1p300, 0x1p515, 0x1p600, 0x1p1022} {
		p, x := points.Mul(scale), at.Mul(scale).RequireGrad(true)
		if got, want := Delaunay(p).String(), Delaunay(points).String(); got != want {
			t.Errorf("triangles at scale %g: %s, not %s", scale, got, want)
		}
		for _, o := range []GridDataOpts{{}, {Method: CloughTocher}, {Method: Nearest}, {Rescale: true}, {Rescale: true, Method: CloughTocher}} {
			got, want := GridData(p, values, x, o), GridData(points, values, at, o)
			if d := got.Sub(want).Abs().Max().Item(); !(d < 1e-12) {
				t.Errorf("%v at scale %g: off by %g, %v", o, scale, d, got)
			}
		}
		y := GridData(p, values, x)
		y.Sum().Backward()
		plain := at.Detach().RequireGrad(true)
		GridData(points, values, plain).Sum().Backward()
		if d := x.Grad().Mul(scale).Sub(plain.Grad()).Abs().Max().Item(); !(d < 1e-10) && scale > 0x1p-1000 {
			t.Errorf("gradients at scale %g are off by %g", scale, d)
		}
	}
	far := GridData(points, values, weft.From([][]float64{{1e300, 1}, {0, -1e200}}), GridDataOpts{Method: Nearest})
	if far.IsFinite().All().Item() == 0 {
		t.Error(far)
	}
	wide := weft.From([][]float64{{-1.5e308, -1e308}, {1.5e308, -1e308}, {0, 1.7e308}})
	if v := GridData(wide, weft.From([]float64{1, 2, 3}), weft.From([]float64{0, 0}), GridDataOpts{Rescale: true}).Item(); !(v > 1 && v < 3) {
		t.Error(v)
	}
	if v := GridData(wide, weft.From([]float64{1, 2, 3}), weft.From([]float64{0, 0})).Item(); !(v > 1 && v < 3) {
		t.Error(v)
	}
}

func ExampleGridData() {
	points := weft.From([][]float64{{0, 0}, {2, 0}, {0, 2}, {2, 2.5}})
	values := weft.From([]float64{0, 2, 4, 7}) // x + 2y
	fmt.Println(GridData(points, values, weft.From([][]float64{{0.5, 0.5}, {1.5, 1}, {9, 9}})))
	// Output: [1.5 3.5 nan]
}

func ExampleNewLinearNDInterpolator() {
	l := NewLinearNDInterpolator(weft.From([][]float64{{0, 0}, {1, 0}, {0, 1}}), weft.From([]float64{1, 2, 4}))
	fmt.Println(l.At(weft.From([]float64{0.25, 0.25})))
	// Output: 2.0
}

func ExampleNewNearestNDInterpolator() {
	n := NewNearestNDInterpolator(weft.From([][]float64{{0, 0, 0}, {1, 1, 1}}), weft.From([]float64{5, 6}))
	fmt.Println(n.At(weft.From([][]float64{{0.2, 0.9, 0.1}, {0.9, 0.9, 0}})))
	// Output: [5. 6.]
}

func ExampleDelaunay() {
	fmt.Println(Delaunay(weft.From([][]float64{{0, 0}, {1, 0}, {0, 1}})).Shape())
	// Output: [1 3]
}

func ExampleNewCloughTocher2DInterpolator() {
	points := weft.From([][]float64{{0, 0}, {1, 0}, {0, 1}, {1, 1}, {0.5, 0.4}})
	c := NewCloughTocher2DInterpolator(points, points.Square().Sum(1))
	fmt.Printf("%.3f\n", weft.Data[float64](c.At(weft.From([][]float64{{0.5, 0.4}, {0.75, 0.5}}))))
	// Output: [0.410 0.869]
}
