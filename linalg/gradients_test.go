package linalg_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"weft"
	"weft/linalg"
)

// A place is a matrix at which gradients are tested. what names its properties: square, hermitian, definite, regular
// (of full rank), distinct (values), fixed (differences keep the rank).
type place struct {
	what string
	x    *weft.Tensor
	h    float64 // step of differences, 1e-3 if 0
}

func (p place) is(what string) bool {
	for w := range strings.FieldsSeq(what) {
		if w == "some" && p.x.Size() > 0 {
			continue
		}
		if !strings.Contains(" "+p.what+" ", " "+w+" ") {
			return false
		}
	}
	return true
}

// places are special matrices.
func places(d weft.DType) map[string]place {
	g := weft.NewGenerator(31)
	q, _ := linalg.QR(randomOf(g, d, 3, 3).Add(weft.EyeOf(d, 3).Mul(2)))
	with := func(w ...float64) *weft.Tensor {
		a := q.Mul(weft.From(w).To(d)).MatMul(adjoint(q))
		return a.Add(adjoint(a)).Div(2)
	}
	general := randomOf(g, d, 3, 3).Add(weft.EyeOf(d, 3).Mul(4))
	long := randomOf(g, d, 4, 2).Add(weft.EyeOf(d, 4).Slice(weft.All, weft.Range(0, 2)).Mul(3))
	pair, _ := linalg.QR(long)
	return map[string]place{
		"identity":      {what: "square hermitian definite regular", x: weft.EyeOf(d, 3)},
		"diagonal":      {what: "square hermitian definite regular distinct", x: weft.From([]float64{1, 3, 2}).Diag(0).To(d)},
		"unitary":       {what: "square regular", x: q},
		"repeated":      {what: "square hermitian definite regular", x: with(2, 2, 1)},
		"signs":         {what: "square hermitian regular", x: with(2, -2, 2)},
		"hermitian":     {what: "square hermitian definite regular distinct", x: with(1, 2, 4)},
		"rank 2":        {what: "square hermitian fixed", x: with(2, 2, 0)},
		"rank 1":        {what: "square hermitian fixed", x: weft.OnesOf(d, 3, 3)},
		"near singular": {what: "square hermitian definite regular distinct", x: with(2, 1, 1e-2), h: 1e-5},
		"general":       {what: "square regular distinct", x: general},
		"defective":     {what: "square regular", x: weft.From([][]float64{{2, 1, 0}, {0, 2, 1}, {0, 0, 2}}).To(d)},
		"exchange":      {what: "square regular hermitian", x: weft.From([][]float64{{0, 0, 1}, {0, 1, 0}, {1, 0, 0}}).To(d)},
		"single":        {what: "square hermitian definite regular distinct", x: weft.FullOf(d, 2.0, 1, 1)},
		"empty":         {what: "square hermitian definite regular distinct", x: weft.ZerosOf(d, 0, 0)},
		"no batch":      {what: "square hermitian definite regular distinct", x: weft.ZerosOf(d, 0, 3, 3)},
		"batch":         {what: "square regular distinct", x: weft.Stack([]*weft.Tensor{general, general.Mul(0.5)}, 0)},
		"tall":          {what: "tall regular distinct", x: long},
		"tall equal":    {what: "tall regular", x: pair},
		"wide":          {what: "regular distinct", x: adjoint(long).Contiguous()},
		"wide equal":    {what: "regular", x: adjoint(pair).Contiguous()},
		"tall rank 1":   {what: "tall fixed", x: weft.OnesOf(d, 4, 2)},
		"no rows":       {what: "regular distinct", x: weft.ZerosOf(d, 0, 3)},
		"no columns":    {what: "tall regular distinct", x: weft.ZerosOf(d, 3, 0)},
	}
}

// A differentiable is a function with the properties that matrices need. It is given the matrix and a right side.
type differentiable struct {
	wants string
	f     func(a, b *weft.Tensor) []*weft.Tensor
}

func single(f func(a, b *weft.Tensor) *weft.Tensor) func(a, b *weft.Tensor) []*weft.Tensor {
	return func(a, b *weft.Tensor) []*weft.Tensor { return []*weft.Tensor{f(a, b)} }
}

func ofMatrix(f func(a *weft.Tensor) *weft.Tensor) func(a, b *weft.Tensor) []*weft.Tensor {
	return func(a, _ *weft.Tensor) []*weft.Tensor { return []*weft.Tensor{f(a)} }
}

// withSigns are factors q and r with a positive diagonal of r: QR's signs are others where a column is 0 below the diagonal.
func withSigns(q, r *weft.Tensor) []*weft.Tensor {
	k := min(r.Dim(-1), r.Dim(-2))
	d := r.Slice(weft.Ellipsis, weft.Range(0, k)).Diagonal(0).Detach()
	d = d.Div(d.Abs())
	if r.DType().Complex() {
		d = d.Conj()
	}
	r = r.Mul(d.Unsqueeze(-1))
	if r.DType().Complex() {
		d = d.Conj()
	}
	return []*weft.Tensor{q.Slice(weft.Ellipsis, weft.Range(0, k)).Mul(d.Unsqueeze(-2)), r}
}

func norm(o linalg.Ord) func(a, b *weft.Tensor) []*weft.Tensor {
	return ofMatrix(func(a *weft.Tensor) *weft.Tensor { return linalg.MatrixNorm(a, linalg.MatrixNormOpts{Ord: o}) })
}

var allGradients = map[string]differentiable{
	"cholesky":       {wants: "definite", f: ofMatrix(func(a *weft.Tensor) *weft.Tensor { return linalg.Cholesky(a) })},
	"cholesky solve": {wants: "definite", f: single(func(a, b *weft.Tensor) *weft.Tensor { return linalg.CholeskySolve(linalg.Cholesky(a), b) })},
	"solve triangular": {wants: "square regular", f: func(a, b *weft.Tensor) []*weft.Tensor {
		a = a.Add(weft.EyeOf(a.DType(), a.Dim(-1)).Mul(5))
		return []*weft.Tensor{linalg.SolveTriangular(a, b), linalg.SolveTriangular(a, b, linalg.SolveTriangularOpts{Lower: true, Adjoint: true})}
	}},
	"lu": {wants: "regular", f: func(a, _ *weft.Tensor) []*weft.Tensor {
		_, l, u := linalg.LU(a)
		return []*weft.Tensor{l, u}
	}},
	"lu solve": {wants: "square regular", f: func(a, b *weft.Tensor) []*weft.Tensor {
		f, p := linalg.LUFactor(a)
		return []*weft.Tensor{linalg.LUSolve(f, p, b), linalg.LUSolve(f, p, b, linalg.LUSolveOpts{Adjoint: true})}
	}},
	"solve": {wants: "square regular", f: single(linalg.Solve)},
	"inv":   {wants: "square regular", f: ofMatrix(linalg.Inv)},
	"det":   {wants: "square regular", f: ofMatrix(linalg.Det)},
	"slogdet": {wants: "square regular", f: func(a, _ *weft.Tensor) []*weft.Tensor {
		sign, size := linalg.SlogDet(a)
		if !a.DType().Complex() {
			return []*weft.Tensor{size}
		}
		return []*weft.Tensor{sign, size}
	}},
	"qr": {wants: "regular", f: func(a, _ *weft.Tensor) []*weft.Tensor {
		q, r := linalg.QR(a)
		return withSigns(q, r)
	}},
	"qr triangle": {wants: "regular", f: single(func(a, _ *weft.Tensor) *weft.Tensor { r := triangle(tensors{a}); return withSigns(r, r)[1] })},
	"eigh": {wants: "hermitian distinct", f: func(a, _ *weft.Tensor) []*weft.Tensor {
		w, v := linalg.Eigh(a)
		return []*weft.Tensor{w, sizes(v), v.Mul(w.Cos().Unsqueeze(-2)).MatMul(adjoint(v))}
	}},
	"eigh values":   {wants: "hermitian", f: ofMatrix(func(a *weft.Tensor) *weft.Tensor { w, _ := linalg.Eigh(a); return w.Exp().Sum(-1) })},
	"eigenvalues":   {wants: "hermitian", f: ofMatrix(func(a *weft.Tensor) *weft.Tensor { return linalg.EigValsH(a).Sin().Sum(-1) })},
	"eigenvalues 1": {wants: "hermitian distinct", f: ofMatrix(func(a *weft.Tensor) *weft.Tensor { return linalg.EigValsH(a) })},
	"svd": {wants: "regular distinct", f: func(a, _ *weft.Tensor) []*weft.Tensor {
		u, s, vh := linalg.SVD(a, linalg.SVDOpts{Thin: true})
		return []*weft.Tensor{s, sizes(u), sizes(vh), u.Mul(s.Cos().Unsqueeze(-2)).MatMul(vh)}
	}},
	"svd all": {wants: "regular distinct", f: func(a, _ *weft.Tensor) []*weft.Tensor {
		u, s, vh := linalg.SVD(a)
		k := s.Dim(-1)
		return []*weft.Tensor{sizes(u.Slice(weft.Ellipsis, weft.Range(0, k))), s, sizes(vh.Slice(weft.Ellipsis, weft.Range(0, k), weft.All))}
	}},
	"svd values":        {wants: "", f: ofMatrix(func(a *weft.Tensor) *weft.Tensor { _, s, _ := linalg.SVD(a); return s.Cos().Sum(-1) })},
	"singular values":   {wants: "", f: ofMatrix(func(a *weft.Tensor) *weft.Tensor { return linalg.SVDVals(a).Cos().Sum(-1) })},
	"singular values 1": {wants: "regular distinct", f: ofMatrix(linalg.SVDVals)},
	"odd values":        {wants: "regular", f: ofMatrix(func(a *weft.Tensor) *weft.Tensor { return linalg.SVDVals(a).Exp().Sum(-1) })},
	"pinv":              {wants: "", f: ofMatrix(func(a *weft.Tensor) *weft.Tensor { return linalg.PInv(a) })},
	"lstsq": {wants: "", f: func(a, b *weft.Tensor) []*weft.Tensor {
		x, r, _, _ := linalg.LstSq(a, b)
		return []*weft.Tensor{x, r}
	}},
	"lstsq qr": {wants: "regular", f: func(a, b *weft.Tensor) []*weft.Tensor {
		x, r, _, _ := linalg.LstSq(a, b, linalg.LstSqOpts{FullRank: true})
		return []*weft.Tensor{x, r}
	}},
	"eig": {wants: "square distinct", f: func(a, _ *weft.Tensor) []*weft.Tensor {
		w, v := linalg.Eig(a)
		return []*weft.Tensor{sizes(w).Mul(w.Real()).Sum(-1), sizes(v).Mul(sizes(w).Unsqueeze(-2)).Sum(-1)}
	}},
	"eigvals":    {wants: "square distinct", f: ofMatrix(func(a *weft.Tensor) *weft.Tensor { w := linalg.EigVals(a); return w.Mul(w).Mul(w).Sum(-1) })},
	"expm":       {wants: "square", f: ofMatrix(linalg.Expm)},
	"logm":       {wants: "square definite", f: ofMatrix(linalg.Logm)},
	"sqrtm":      {wants: "square definite", f: ofMatrix(linalg.Sqrtm)},
	"polar tall": {wants: "tall regular", f: func(a, _ *weft.Tensor) []*weft.Tensor { u, p := linalg.Polar(a); return []*weft.Tensor{u, p} }},
	"polar":      {wants: "square regular", f: func(a, _ *weft.Tensor) []*weft.Tensor { u, p := linalg.Polar(a); return []*weft.Tensor{u, p} }},
	"fro":        {wants: "", f: norm(linalg.Fro)},
	"nuc":        {wants: "regular", f: norm(linalg.Nuc)},
	"two":        {wants: "some regular distinct", f: norm(linalg.Two)},
	"cond fro":   {wants: "square regular", f: ofMatrix(func(a *weft.Tensor) *weft.Tensor { return linalg.Cond(a, linalg.Fro) })},
	"cond 2":     {wants: "some square regular distinct", f: ofMatrix(func(a *weft.Tensor) *weft.Tensor { return linalg.Cond(a, linalg.Two) })},
	"power":      {wants: "square", f: ofMatrix(func(a *weft.Tensor) *weft.Tensor { return linalg.MatrixPower(a, 5) })},
	"power -2":   {wants: "square regular", f: ofMatrix(func(a *weft.Tensor) *weft.Tensor { return linalg.MatrixPower(a, -2) })},
	"kron":       {wants: "", f: ofMatrix(func(a *weft.Tensor) *weft.Tensor { return linalg.Kron(a, a) })},
}

// TestGradientsAtSpecialMatrices compares first and second derivatives of every function along a direction with
// differences of fourth order.
func TestGradientsAtSpecialMatrices(t *testing.T) {
	for _, d := range []weft.DType{weft.Float64, weft.Complex128} {
		for name, p := range places(d) {
			if d.Complex() && slices.Contains([]string{"diagonal", "signs", "rank 1", "exchange", "single", "no batch", "no rows", "no columns", "tall rank 1", "wide equal"}, name) {
				continue // as of real elements
			}
			g := weft.NewGenerator(32)
			e, v := randomOf(g, d, p.x.Shape()...), randomOf(g, d, p.x.Shape()...)
			s := p.x.Shape()
			b := randomOf(g, d, append(append([]int{}, s[:len(s)-1]...), 2)...)
			if p.is("fixed") {
				n := p.x.Dim(-2)
				e = randomOf(g, d, n, n).MatMul(p.x)
			}
			for of, f := range allGradients {
				if !p.is(f.wants) {
					continue
				}
				e, v := e, v
				if strings.Contains(f.wants, "hermitian") || strings.Contains(f.wants, "definite") {
					e, v = e.Add(adjoint(e)).Div(2), v.Add(adjoint(v)).Div(2)
				}
				compareDerivatives(t, d.String()+" "+name+" "+of, p, f, e, v, b)
			}
		}
	}
}

func compareDerivatives(t *testing.T, name string, p place, f differentiable, e, v, b *weft.Tensor) {
	t.Helper()
	loss := func(a *weft.Tensor) *weft.Tensor { return weighted(f.f(a, b)) }
	slope := func(a *weft.Tensor) *weft.Tensor {
		return inner(weft.Grad(loss(a), []*weft.Tensor{a}, weft.GradOpts{Create: true})[0], v)
	}
	h := p.h
	if h == 0 {
		h = 1e-3
	}
	at := func(k float64) *weft.Tensor { return p.x.Add(e.Mul(k * h)).Detach().RequireGrad() }
	for order, f := range map[string]func(a *weft.Tensor) *weft.Tensor{"first": loss, "second": slope} {
		err := weft.Try(func() {
			x := at(0)
			y := f(x)
			if !y.RequiresGrad() { // linear
				return
			}
			got := inner(weft.Grad(y, []*weft.Tensor{x})[0], e).Item()
			want := (8*(f(at(1)).Item()-f(at(-1)).Item()) - (f(at(2)).Item() - f(at(-2)).Item())) / (12 * h)
			size := math.Max(math.Abs(y.Item())*1e-2, 1) / (h * 1e3)
			if !(math.Abs(got-want) <= 1e-8*math.Max(size, math.Abs(want))) {
				t.Errorf("%s, %s derivative: %v, differences give %v", name, order, got, want)
			}
		})
		if err != nil {
			t.Errorf("%s, %s derivative: %v", name, order, err)
		}
	}
}
