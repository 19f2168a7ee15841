// Package integrate computes integrals and solves initial value problems of functions of tensors. Results carry
// gradients with respect to tensors that the functions use.
package integrate

import (
	"context"
	"fmt"
	"math"
	"slices"

	"weft"
	"weft/internal/array"
)

// AccuracyError says why a tolerance was not met. What was computed is returned beside it.
type AccuracyError struct {
	Op     string // the function, such as "integrate.quad"
	Reason string
	Err    error // the cause of a context that ended the computation, such as context.Canceled; otherwise nil
}

func (e *AccuracyError) Error() string { return e.Op + ": " + e.Reason }

// Unwrap returns Err.
func (e *AccuracyError) Unwrap() error { return e.Err }

// QuadOpts are the options of [Quad].
type QuadOpts struct {
	EpsAbs  *float64        // absolute tolerance; nil: 1.49e-8
	EpsRel  *float64        // relative tolerance; nil: 1.49e-8
	Limit   int             // the most intervals; 1000 if it is 0
	Points  []float64       // where f or its derivatives jump, between finite bounds
	Context context.Context // ends the computation after a round, if it is not nil
}

// Nodes and weights of the rule of Gauss and Kronrod with 21 nodes, from the outermost to the middle, and weights of Gauss's
// rule at every second node (Piessens et al., "QUADPACK", 1983).
var (
	kronrodNodes = [11]float64{0.995657163025808080735527280689003, 0.973906528517171720077964012084452, 0.930157491355708226001207180059508,
		0.865063366688984510732096688423493, 0.780817726586416897063717578345042, 0.679409568299024406234327365114874,
		0.562757134668604683339000099272694, 0.433395394129247190799265943165784, 0.294392862701460198131126603103866, 0.148874338981631210884826001129720, 0}
	kronrodWeights = [11]float64{0.011694638867371874278064396062192, 0.032558162307964727478818972459390, 0.054755896574351996031381300244580,
		0.075039674810919952767043140916190, 0.093125454583697605535065465083366, 0.109387158802297641899210590325805,
		0.123491976262065851077958109585166, 0.134709217311473325928054001771707, 0.142775938577060080797094273138717,
		0.147739104901338491374841515972068, 0.149445554002916905664936468389821}
	gaussWeights = [5]float64{0.066671344308688137593568809893332, 0.149451349150580593145863396957658, 0.219086362515982043995534934228163,
		0.269266719309996355091226921569469, 0.295524224714752870173815619188769}
)

// nodes is the number of nodes of the rule.
const nodes = 21

// rule holds the nodes from -1 to 1 with their weights.
var rule = func() (r struct{ x, kronrod, gauss [nodes]float64 }) {
	for i := range nodes {
		k := min(i, nodes-1-i)
		r.x[i], r.kronrod[i] = kronrodNodes[k], kronrodWeights[k]
		if i < nodes/2 {
			r.x[i] = -r.x[i]
		}
		if k%2 == 1 {
			r.gauss[i] = gaussWeights[k/2]
		}
	}
	return r
}()

// An interval is a part of the range, with the estimate of the integral's error there.
type interval struct{ a, b, value, err float64 }

// Quad returns the integral of f from a to b, a float64 of shape [], and an estimate of its error. f gets points, float64 of
// one axis, and returns as many numbers: it is called with all points of a round of halvings at once. The bounds may be
// infinite. Intervals with large errors are halved until the tolerances are met; the sum over all points of the last round
// carries gradients with respect to what f uses. f is not evaluated at the bounds.
//
// It returns an [*AccuracyError] and the best value where Limit intervals do not suffice, f is not finite or the
// context ends, and panics with a [*weft.Error] for bad arguments. SciPy's quad.
func Quad(f func(x *weft.Tensor) *weft.Tensor, a, b float64, opts ...QuadOpts) (value *weft.Tensor, estimate float64, err error) {
	const name = "integrate.quad"
	array.Given(name, "f", f != nil)
	o := array.Options(name, opts)
	absolute, relative := tolerance(name, "EpsAbs", o.EpsAbs), tolerance(name, "EpsRel", o.EpsRel)
	if o.Limit < 0 {
		array.Failf(name, "Limit", "is %d: want a number of intervals", o.Limit)
	}
	most := o.Limit
	if most == 0 {
		most = 1000
	}
	if math.IsNaN(a) || math.IsNaN(b) {
		array.Failf(name, "a", "and b are %v and %v: want numbers", a, b)
	}
	if a == b {
		return weft.ZerosOf(weft.Float64), 0, nil
	}
	q := newQuadrature(name, f, a, b, o.Points)
	for fresh := q.intervals; ; {
		if err := q.evaluate(fresh); err != nil {
			return q.sum(), math.Inf(1), err
		}
		q.intervals = append(q.done, fresh...)
		var total, wrong float64
		for _, i := range q.intervals {
			total += i.value
			wrong += i.err
		}
		goal := max(absolute, relative*math.Abs(total))
		if wrong <= goal {
			return q.sum(), wrong, nil
		}
		if ctx := o.Context; ctx != nil && ctx.Err() != nil {
			cause := context.Cause(ctx)
			return q.sum(), wrong, &AccuracyError{Op: name, Reason: "the context ended: " + cause.Error(), Err: cause}
		}
		if fresh = q.halve(goal, most); len(fresh) == 0 {
			return q.sum(), wrong, &AccuracyError{Op: name, Reason: fmt.Sprintf("the error is about %.3g with %d intervals", wrong, len(q.intervals))}
		}
	}
}

func tolerance(name, arg string, x *float64) float64 {
	if x == nil {
		return 1.49e-8
	}
	if !(*x >= 0) {
		array.Failf(name, arg, "is %v: want 0 or more", *x)
	}
	return *x
}

// A quadrature is the range as intervals of a variable t, and how x follows from it.
type quadrature struct {
	name            string
	f               func(x *weft.Tensor) *weft.Tensor
	intervals, done []interval
	sign, from      float64
	infinite        bool // x = from + (1-t)/t, or its mirror image at from
	below, both     bool // only the mirror image counts, or both do
}

func newQuadrature(name string, f func(x *weft.Tensor) *weft.Tensor, a, b float64, points []float64) *quadrature {
	q := &quadrature{name: name, f: f, sign: 1}
	switch left, right := math.IsInf(a, 0), math.IsInf(b, 0); {
	case left && right:
		q.infinite, q.both = true, true
		if a > b {
			q.sign = -1
		}
	case right:
		q.infinite, q.from, q.below = true, a, b < 0
		if b < 0 {
			q.sign = -1
		}
	case left:
		q.infinite, q.from, q.below = true, b, a < 0
		if a > 0 {
			q.sign = -1
		}
	}
	if q.infinite {
		if len(points) > 0 {
			array.Failf(name, "Points", "are given with infinite bounds")
		}
		q.intervals = []interval{{a: 0, b: 1}}
		return q
	}
	all := []float64{a}
	points = slices.Clone(points)
	slices.Sort(points)
	if a > b {
		slices.Reverse(points)
	}
	for _, p := range points {
		if !(p > min(a, b) && p < max(a, b)) {
			array.Failf(name, "Points", "has %v, which is not between %v and %v", p, a, b)
		}
		all = append(all, p)
	}
	all = append(all, b)
	for i := range len(all) - 1 {
		q.intervals = append(q.intervals, interval{a: all[i], b: all[i+1]})
	}
	return q
}

// points returns the points of intervals, and the factors that weigh f there.
func (q *quadrature) points(list []interval) (x, w []float64) {
	for _, i := range list {
		middle, half := (i.a+i.b)/2, (i.b-i.a)/2
		for _, node := range rule.x {
			t := middle + half*node
			if !q.infinite {
				x, w = append(x, t), append(w, half)
				continue
			}
			u := (1 - t) / t
			x, w = append(x, q.from+u), append(w, q.sign*half/(t*t))
		}
	}
	return x, w
}

// values returns f at points, or where they are mirrored, times the factors, as a tensor.
func (q *quadrature) values(x, w []float64) *weft.Tensor {
	at := weft.FromSlice(slices.Clone(x))
	one := func(at *weft.Tensor) *weft.Tensor {
		y := q.f(at)
		if y == nil || !array.Equal(y.Shape(), at.Shape()) || y.DType().Complex() {
			array.Failf(q.name, "f", "does not return a real number for each point")
		}
		return y.To(weft.Float64)
	}
	mirrored := func() *weft.Tensor { return one(at.Neg().Add(2 * q.from)) }
	var y *weft.Tensor
	switch {
	case q.both:
		y = one(at).Add(mirrored())
	case q.below:
		y = mirrored()
	default:
		y = one(at)
	}
	return y.Mul(weft.FromSlice(slices.Clone(w)))
}

// evaluate computes the integrals over fresh intervals and their errors, as QUADPACK estimates them.
func (q *quadrature) evaluate(fresh []interval) error {
	x, w := q.points(fresh)
	var y []float64
	weft.WithoutGrad(func() { y = weft.Data[float64](q.values(x, w)) })
	for k := range fresh {
		i := &fresh[k]
		y := y[k*nodes:][:nodes]
		var kronrod, gauss, absolute, spread float64
		for j, v := range y {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return &AccuracyError{Op: q.name, Reason: fmt.Sprintf("f is not finite near %v", x[k*nodes+j])}
			}
			kronrod += rule.kronrod[j] * v
			gauss += rule.gauss[j] * v
			absolute += rule.kronrod[j] * math.Abs(v)
		}
		for j, v := range y {
			spread += rule.kronrod[j] * math.Abs(v-kronrod/2)
		}
		i.value, i.err = kronrod, math.Abs(kronrod-gauss)
		if spread != 0 && i.err != 0 {
			i.err = spread * min(1, math.Pow(200*i.err/spread, 1.5))
		}
		i.err = max(i.err, 50*0x1p-52*absolute)
	}
	return nil
}

// halve returns the halves of intervals with more than their share of the error, at most to Limit intervals in all. The
// others go to done.
func (q *quadrature) halve(goal float64, most int) (fresh []interval) {
	slices.SortFunc(q.intervals, func(x, y interval) int { return int(math.Copysign(1, y.err-x.err)) })
	n := len(q.intervals)
	q.done = nil
	for k, i := range q.intervals {
		middle := (i.a + i.b) / 2
		if k > 0 && i.err <= goal/float64(n) || n+len(fresh)/2 >= most || middle == i.a || middle == i.b {
			q.done = append(q.done, i)
			continue
		}
		fresh = append(fresh, interval{a: i.a, b: middle}, interval{a: middle, b: i.b})
	}
	return fresh
}

// sum returns the integral as a tensor.
func (q *quadrature) sum() *weft.Tensor {
	x, w := q.points(q.intervals)
	for k := range w {
		w[k] *= rule.kronrod[k%nodes]
	}
	return q.values(x, w).Sum()
}
