package optim

import (
	"math"

	"weft"
	"weft/internal/array"
)

// A search evaluates a loss along a direction from some parameters.
type search struct {
	l           *LBFGS
	closure     func() *weft.Tensor
	from, along *weft.Tensor // flat
}

// A point is a step along the direction, with the loss there, its gradient, and the product of
// that and the direction.
type point struct {
	at, loss float64
	grad     *weft.Tensor
	slope    float64
}

// evaluate returns the loss and a flat copy of its gradient where the parameters are.
func (s *search) evaluate() (loss float64, g *weft.Tensor) {
	t := s.closure()
	if t == nil || t.Size() != 1 {
		array.Failf("lbfgs", "closure", "returns no loss of one element")
	}
	loss = t.Item()
	list := make([]*weft.Tensor, len(s.l.params))
	borrow(s.l.params, false, func(grads []grad) {
		for i, p := range s.l.params {
			if grads[i].t == nil {
				list[i] = p.t.Device().ZerosOf(p.t.DType(), p.t.Size())
			} else {
				list[i] = grads[i].t.Detach().Flatten(0)
			}
		}
		g = weft.Cat(list, 0).Detach()
	})
	return loss, g
}

// move puts the parameters at a step along the direction.
func (s *search) move(step float64) {
	to := s.from.Add(s.along.Mul(step))
	at := 0
	for _, p := range s.l.params {
		n := p.t.Size()
		p.w.Assign(to.Slice(weft.Range(at, at+n)).Reshape(sizes(p.t)...))
		at += n
	}
}

func (s *search) try(step float64) point {
	s.move(step)
	loss, g := s.evaluate()
	return point{step, loss, g, dot(g, s.along)}
}

// greatest is the greatest magnitude of an element.
func (s *search) greatest(x *weft.Tensor) float64 {
	if x.Size() == 0 {
		return 0
	}
	return x.Abs().Max().Item()
}

const (
	wolfeLoss  = 1e-4 // the part of the slope at the beginning by which the loss must fall
	wolfeSlope = 0.9  // the part of it that the slope may still have
)

// wolfe looks for a step that fulfils the strong Wolfe conditions, beginning with length, and
// returns the loss and the gradient there, the step and how many evaluations it took, most at
// the most and one more. start is the point of no step.
//
// First steps become longer until two enclose a step that is good enough; then that interval
// becomes smaller. Both go to the least of the cubic polynomial with the values and slopes of
// two points, kept away from what is known.
func (s *search) wolfe(start point, length float64, most int, tolerance float64) (float64, *weft.Tensor, float64, int) {
	high := func(p point) bool { return p.loss > start.loss+float64(float64(wolfeLoss*p.at)*start.slope) }
	flat := func(p point) bool { return math.Abs(p.slope) <= -wolfeSlope*start.slope }
	now, last := s.try(length), start
	evals, rounds := 1, 0
	var ends [2]point // of the interval
	for {
		if rounds >= most {
			ends = [2]point{start, now}
			break
		}
		if high(now) || rounds > 1 && now.loss >= last.loss {
			ends = [2]point{last, now}
			break
		}
		if flat(now) {
			return now.loss, now.grad, now.at, evals
		}
		if now.slope >= 0 {
			ends = [2]point{last, now}
			break
		}
		step := cubic(last, now, now.at+float64(0.01*(now.at-last.at)), now.at*10)
		if math.IsNaN(step) || math.IsInf(step, 0) {
			rounds = most
			continue
		}
		last, now = now, s.try(step)
		evals++
		rounds++
	}
	best := lower(ends)
	size, stuck := s.greatest(s.along), false
	for ; rounds < most; rounds++ {
		left, right := min(ends[0].at, ends[1].at), max(ends[0].at, ends[1].at)
		if (right-left)*size < tolerance {
			break
		}
		step := cubic(ends[0], ends[1], left, right)
		// Not twice in a row close to an end, and never at one.
		margin := float64(0.1 * (right - left))
		if min(right-step, step-left) < margin {
			if stuck || step >= right || step <= left {
				if math.Abs(step-right) < math.Abs(step-left) {
					step = right - margin
				} else {
					step = left + margin
				}
				stuck = false
			} else {
				stuck = true
			}
		} else {
			stuck = false
		}
		now = s.try(step)
		evals++
		if high(now) || now.loss >= ends[best].loss {
			ends[1-best] = now
			best = lower(ends)
			continue
		}
		done := flat(now)
		if !done && now.slope*(ends[1-best].at-ends[best].at) >= 0 {
			ends[1-best] = ends[best]
		}
		ends[best] = now
		if done {
			break
		}
	}
	p := ends[best]
	return p.loss, p.grad, p.at, evals
}

// lower is which end has the lower loss.
func lower(ends [2]point) int {
	if ends[0].loss <= ends[1].loss {
		return 0
	}
	return 1
}

// cubic returns the least place, between from and to, of the cubic polynomial through two
// points with their slopes, and the middle where it has none.
func cubic(p, q point, from, to float64) float64 {
	d := p.slope + q.slope - 3*(p.loss-q.loss)/(p.at-q.at)
	square := float64(d*d) - float64(p.slope*q.slope)
	if !(square >= 0) {
		return (from + to) / 2
	}
	if p.at > q.at {
		p, q = q, p
	}
	root := math.Sqrt(square)
	at := q.at - float64((q.at-p.at)*((q.slope+root-d)/(q.slope-p.slope+float64(2*root))))
	return min(max(at, from), to)
}
