package sparse

import (
	"fmt"
	"math"
	"slices"

	"weft"
	"weft/internal/array"
	"weft/internal/core"
	"weft/linalg"
)

// Which says which eigenvalues of a matrix are wanted.
type Which uint8

const (
	LargestMagnitude  Which = iota // the default
	SmallestMagnitude              // converges slowly
	LargestAlgebraic
	SmallestAlgebraic
)

// EigshOpts are the options of [Eigsh] and [Svds].
type EigshOpts struct {
	Which   Which
	Vectors *int         // Lanczos vectors that are kept, more than k; 2k+1 or 20 if nil, whichever is more
	Tol     *float64     // relative error of eigenvalues, 1e-14 if nil, 1e-6 for elements of 32-bit floats
	MaxIter *int         // restarts, 1000 if nil
	V0      *weft.Tensor // the vector to begin with; a random one, always the same, if nil
}

// Eigsh returns k eigenvalues, ascending, of a symmetric or Hermitian operator on vectors [n], and their
// eigenvectors, the columns of [n k]. like gives n and the element type: a vector. Results have no gradient.
// The error matches [ErrNotConverged] where some values have not converged; the results are the last then.
//
// Eigenvalues come as often as they are multiple: after convergence a search from a random vector looks for missed
// ones. With [SmallestMagnitude] between eigenvalues of both signs that search takes at most 20 restarts more than the
// search before took, and may miss copies.
//
// Source: Wu and Simon, "Thick-restart Lanczos method for large symmetric eigenvalue problems", 2000, with full
// orthogonalization.
func Eigsh(a Operator, like *weft.Tensor, k int, opts ...EigshOpts) (values, vectors *weft.Tensor, err error) {
	const name = "sparse.eigsh"
	o := array.Options(name, opts)
	array.Given(name, "a", a != nil)
	like = numbers(name, "like", like, 1).Detach()
	s, err := newLanczos(name, like, k, o)
	if err != nil {
		return nil, nil, err
	}
	s.a = (&solver{name: name}).checked("a", a)
	weft.WithoutGrad(func() { values, vectors, err = s.run() })
	return values, vectors, err
}

// A lanczos is the state of the iteration.
type lanczos struct {
	name  string
	a     Operator
	o     EigshOpts
	k, m  int // wanted values, kept vectors
	n     int
	tol   float64
	most  int // restarts
	d     weft.DType
	basis []*weft.Tensor
	t     []scalar // the projected matrix [m m]: its lower triangle counts
	next  *weft.Tensor
	beta  float64

	found    []float64    // wanted values before the search for missed ones; nil before the first
	vectors  *weft.Tensor // with SmallestMagnitude: the vectors of found
	until    int          // with SmallestMagnitude: the last restart of the search for missed values
	searches int
	fresh    bool // restart goes on from a random vector
}

func newLanczos(name string, like *weft.Tensor, k int, o EigshOpts) (*lanczos, error) {
	n := like.Dim(0)
	if k < 1 || k > n {
		array.Failf(name, "k", "is %d, want 1 to %d", k, n)
	}
	if o.Which > SmallestAlgebraic {
		array.Failf(name, "Which", "is %d, which is not known", o.Which)
	}
	m, most := max(2*k+1, 20), 1000
	if o.Vectors != nil {
		if m = *o.Vectors; m <= k && m < n {
			array.Failf(name, "Vectors", "is %d, want more than k, %d", m, k)
		}
	}
	m = min(m, n)
	if o.MaxIter != nil {
		if most = *o.MaxIter; most < 0 {
			array.Failf(name, "MaxIter", "is %d, want a number from 0 on", most)
		}
	}
	d := like.DType()
	if d.Half() {
		array.Failf(name, "like", "is %s: iterations need float32 or float64", d)
	}
	tol := 1e-14
	if d == weft.Float32 || d == weft.Complex64 {
		tol = 1e-6
	}
	if o.Tol != nil {
		if tol = *o.Tol; !(tol >= 0) {
			array.Failf(name, "Tol", "is %g, want a number from 0 on", tol)
		}
	}
	array.CheckShape(name, []int{m, m}, weft.Complex128)
	core.CheckHeap(name, 2*m*m, array.Complex128)
	s := &lanczos{name: name, o: o, k: k, m: m, n: n, d: d, tol: tol, most: most, t: make([]scalar, m*m)}
	v := o.V0
	if v != nil {
		if v = numbers(name, "V0", v, 1); v.Dim(0) != n {
			array.Failf(name, "V0", "has shape %s, want [%d]", array.ShapeString(v.Shape()), n)
		}
	} else {
		v = s.random()
	}
	s.next, s.beta = unit(v.Detach().To(d))
	if s.beta == 0 {
		array.Failf(name, "V0", "is zeros")
	}
	return s, nil
}

// random is a vector that is always the same.
func (s *lanczos) random() *weft.Tensor {
	return weft.NewGenerator(uint64(20000+len(s.basis))).RandnOf(weft.Float64, s.n).To(s.d)
}

// orthogonal takes the basis out of w, and returns what of it was there.
func (s *lanczos) orthogonal(w *weft.Tensor) (*weft.Tensor, []scalar) {
	h := make([]scalar, len(s.basis))
	for range 2 {
		for i, v := range s.basis {
			c := dot(v, w)
			h[i] += c
			w = plus(w, -c, v)
		}
	}
	return w, h
}

// extend makes the basis full.
func (s *lanczos) extend() {
	for len(s.basis) < s.m {
		s.basis = append(s.basis, s.next)
		j := len(s.basis) - 1
		w := s.a(s.next)
		scale := length(w)
		w, h := s.orthogonal(w)
		for i, c := range h {
			s.t[j*s.m+i] = conj(c)
		}
		s.t[j*s.m+j] = complex(real(h[j]), 0)
		s.next, s.beta = unit(w)
		if s.beta <= 1e-15*scale || s.beta == 0 { // the basis is invariant: go on with another vector
			s.beta = 0
			if len(s.basis) < s.n {
				w, _ := s.orthogonal(s.random())
				s.next, _ = unit(w)
			}
		}
	}
}

// run iterates until the wanted values converge.
func (s *lanczos) run() (values, vectors *weft.Tensor, err error) {
	for round := 0; ; round++ {
		s.extend()
		theta, y, err := s.ritz()
		if err != nil {
			return nil, nil, err
		}
		order := s.order(theta)
		worst := 0.0
		for _, i := range order[:s.k] {
			worst = max(worst, s.residual(theta, y, i))
		}
		converged := worst <= s.tol || s.m == s.n
		if converged && round < s.most && !s.complete(theta, y, order) {
			if s.fresh && s.o.Which == SmallestMagnitude {
				s.vectors, s.until = s.wanted(y, order), min(2*round+20, s.most)
			}
			s.restart(theta, y, order)
			continue
		}
		if math.IsNaN(worst) {
			return nil, nil, fmt.Errorf("%s: %w: a vector is not finite", s.name, ErrNotConverged)
		}
		if !converged && s.vectors != nil && round >= s.until { // values from before the search
			slices.Sort(s.found)
			return weft.FromSlice(s.found).To(realOf(s.d)), s.vectors, nil
		}
		if converged || round == s.most {
			v := make([]float64, s.k)
			for i, j := range order[:s.k] {
				v[i] = theta[j]
			}
			slices.Sort(v)
			values = weft.FromSlice(v).To(realOf(s.d))
			vectors = s.wanted(y, order)
			if !converged {
				err = fmt.Errorf("%s: %w: after %d restarts the relative error is %.3g, more than %.3g", s.name, ErrNotConverged, round, worst, s.tol)
			}
			return values, vectors, err
		}
		s.restart(theta, y, order)
	}
}

func realOf(d weft.DType) weft.DType {
	if d.Complex() {
		return d.Part()
	}
	return d
}

// ritz returns the eigenvalues of the projected matrix, ascending, and its eigenvectors.
func (s *lanczos) ritz() (theta []float64, y []scalar, err error) {
	if err := weft.Try(func() {
		w, v := linalg.Eigh(weft.FromSlice(slices.Clone(s.t), s.m, s.m), linalg.EighOpts{})
		theta, y = weft.Data[float64](w), weft.Data[complex128](v)
	}); err != nil {
		return nil, nil, fmt.Errorf("%s: %w: %w", s.name, ErrNotConverged, err)
	}
	return theta, y, nil
}

// order returns the eigenvalues from the most wanted on.
func (s *lanczos) order(theta []float64) []int {
	order := make([]int, len(theta))
	for i := range order {
		order[i] = i
	}
	key := func(i int) float64 {
		switch s.o.Which {
		case LargestMagnitude:
			return -math.Abs(theta[i])
		case SmallestMagnitude:
			return math.Abs(theta[i])
		case LargestAlgebraic:
			return -theta[i]
		}
		return theta[i]
	}
	slices.SortStableFunc(order, func(i, j int) int {
		switch a, b := key(i), key(j); {
		case a < b:
			return -1
		case a > b:
			return 1
		}
		return 0
	})
	return order
}

// wanted returns the wanted vectors, in the order of ascending values.
func (s *lanczos) wanted(y []scalar, order []int) *weft.Tensor {
	columns := slices.Clone(order[:s.k])
	slices.Sort(columns)
	return s.combined(y, columns)
}

// rotate puts combinations of the basis in its place, whose factors are columns of y.
func (s *lanczos) rotate(y []scalar, columns []int) {
	p := s.combined(y, columns)
	s.basis = s.basis[:0]
	for c := range columns {
		s.basis = append(s.basis, p.Slice(weft.All, weft.Range(c, c+1)).Reshape(s.n).Contiguous())
	}
}

// combined returns combinations of the basis, whose factors are columns of y.
func (s *lanczos) combined(y []scalar, columns []int) *weft.Tensor {
	v := weft.Stack(s.basis, 1)
	f := make([]complex128, s.m*len(columns))
	for i := range s.m {
		for c, j := range columns {
			f[i*len(columns)+c] = y[i*s.m+j]
		}
	}
	factors := weft.FromSlice(f, s.m, len(columns))
	if s.d.Complex() {
		factors = factors.To(s.d)
	} else {
		factors = factors.Real().To(s.d)
	}
	return v.MatMul(factors)
}

// residual returns the norm of the residual of Ritz vector i, relative to its value.
func (s *lanczos) residual(theta []float64, y []scalar, i int) float64 {
	return abs(y[(s.m-1)*s.m+i]) * s.beta / max(math.Abs(theta[i]), math.Pow(0x1p-52, 2.0/3))
}

// complete reports whether no eigenvalue was missed. The Krylov space of one vector has one vector of each
// eigenspace, so copies of a multiple eigenvalue come from rounding alone, too late. So the search goes on beside the
// wanted vectors, from a random one, until the next eigenvalue lies apart from them. This repeats if they changed.
// Requires: the wanted vectors have converged.
func (s *lanczos) complete(theta []float64, y []scalar, order []int) bool {
	if s.m == s.n {
		return true
	}
	least := 0.0 // values below have no digits to compare
	if s.o.Which == SmallestMagnitude {
		for _, v := range theta {
			least = max(least, 0x1p-40*math.Abs(v))
		}
	}
	wanted := make([]float64, s.k)
	for c, i := range order[:s.k] {
		wanted[c] = theta[i]
	}
	if s.found != nil {
		last, next := theta[order[s.k-1]], order[s.k]
		gap := math.Abs(last - theta[next])
		if s.o.Which == LargestMagnitude || s.o.Which == SmallestMagnitude {
			gap = math.Abs(math.Abs(last) - math.Abs(theta[next]))
		}
		near := math.Sqrt(s.tol) // a Ritz value's error is about the square of its residual
		if r := s.residual(theta, y, next) * math.Abs(theta[next]); r > max(gap/2, near*max(math.Abs(last), least)) {
			return false
		}
		same := true
		for c, v := range wanted {
			same = same && math.Abs(v-s.found[c]) <= near*max(math.Abs(v), least)
		}
		if s.searches++; same || s.searches == s.k {
			return true
		}
	}
	s.found, s.fresh = wanted, true
	return false
}

// restart keeps the most wanted Ritz vectors.
func (s *lanczos) restart(theta []float64, y []scalar, order []int) {
	keep := slices.Clone(order[:min(s.k+(s.m-s.k)/2, s.m-1)])
	if s.fresh { // the others' residuals have a part along next, which goes
		keep = keep[:s.k]
	}
	s.rotate(y, keep)
	if s.fresh {
		w, _ := s.orthogonal(s.random())
		s.next, _ = unit(w)
		s.fresh = false
	}
	clear(s.t)
	for c, j := range keep {
		s.t[c*s.m+c] = complex(theta[j], 0)
	}
}

// Svds returns the k greatest singular values, descending, of an operator on vectors [cols] whose conjugate
// transpose is adjoint, and singular vectors: u [rows k] and vh [k cols]. like gives cols and the element type.
// It takes the eigenvalues of the product of both, so that a value s has an error of about s0²/s times that of
// the element type, s0 being the greatest. Errors are as for [Eigsh].
func Svds(a, adjoint Operator, like *weft.Tensor, k int, opts ...EigshOpts) (u, s, vh *weft.Tensor, err error) {
	const name = "sparse.svds"
	o := array.Options(name, opts)
	array.Given(name, "a", a != nil)
	array.Given(name, "adjoint", adjoint != nil)
	o.Which = LargestAlgebraic
	like = numbers(name, "like", like, 1).Detach()
	l, err := newLanczos(name, like, k, o)
	if err != nil {
		return nil, nil, nil, err
	}
	l.a = (&solver{name: name}).checked("adjoint", func(x *weft.Tensor) *weft.Tensor { return adjoint(a(x)) })
	weft.WithoutGrad(func() {
		var vectors *weft.Tensor
		if _, vectors, err = l.run(); vectors == nil {
			return
		}
		var us, rows []*weft.Tensor
		var sizes []float64
		for c := k - 1; c >= 0; c-- {
			v := vectors.Slice(weft.All, weft.Range(c, c+1)).Reshape(vectors.Dim(0)).Contiguous()
			w, n := unit(a(v))
			us, rows, sizes = append(us, w), append(rows, v), append(sizes, n)
		}
		u, s = weft.Stack(us, 1), weft.FromSlice(sizes).To(realOf(l.d))
		vh = conjugate(weft.Stack(rows, 0))
	})
	return u, s, vh, err
}
