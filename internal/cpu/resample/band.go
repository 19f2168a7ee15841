package resample

import (
	"math"
)

// A Band is a matrix whose rows have few weights besides 0, side by side: element i of a result is the sum
// of Taps elements from First[i] on, each times its weight.
type Band struct {
	From  int // elements of the axis that is resized
	Taps  int // at most From
	First []int
	// Weights has Taps weights for each element of the result.
	Weights []float64
	most    float64
}

// A Curve says what weight a pixel has.
type Curve struct {
	Cubic     bool // through four pixels (Keys, 1981), otherwise a tent
	Antialias bool // as wide as the step from pixel to pixel of the result, where that is above 1
}

// weight returns the weight of a pixel at a distance, in pixels.
func (c Curve) weight(d float64) float64 {
	d = math.Abs(d)
	if !c.Cubic {
		return max(1-d, 0)
	}
	a := -0.75
	if c.Antialias {
		a = -0.5
	}
	switch {
	case d < 1:
		return float64(float64(float64(float64((a+2)*d)-(a+3))*d)*d) + 1
	case d < 2:
		return float64(float64(float64(float64(float64(d-5)*d)+8)*d)-4) * a
	}
	return 0
}

// New returns the weights of n results of an axis of from pixels. Requires that both are above 0.
func (c Curve) New(from, n int) *Band {
	step := float64(from) / float64(n)
	support := 1.0
	if c.Cubic {
		support = 2
	}
	if c.Antialias {
		support *= max(step, 1)
	}
	b := &Band{From: from, Taps: min(int(math.Ceil(support))*2+1, from), First: make([]int, n)}
	b.Weights = make([]float64, n*b.Taps)
	for i := range n {
		if c.Antialias {
			b.wide(c, i, step, support)
		} else {
			b.plain(c, i, step, int(support))
		}
	}
	return b
}

// wide sets the weights of element i under a curve as wide as the step. Their sum is 1.
func (b *Band) wide(c Curve, i int, step, support float64) {
	centre, shrink := float64(step*(float64(i)+0.5)), 1/max(step, 1)
	lo := max(int(centre-support+0.5), 0)
	n := min(int(centre+support+0.5), b.From) - lo
	n = min(max(n, 0), b.Taps)
	row, sum := b.row(i, lo), 0.0
	for j := range n {
		row[j] = c.weight((float64(j+lo) - centre + 0.5) * shrink)
		sum += row[j]
	}
	for j := range n {
		if sum != 0 {
			row[j] /= sum
		}
		b.most = max(b.most, row[j])
	}
}

// plain sets the weights of element i between its neighbours. Pixels beyond the border are those at it.
func (b *Band) plain(c Curve, i int, step float64, support int) {
	at := float64(step*(float64(i)+0.5)) - 0.5
	if !c.Cubic {
		at = max(at, 0)
	}
	whole := min(int(math.Floor(at)), b.From-1)
	part := min(max(at-float64(whole), 0), 1)
	lo := whole - support + 1
	start := min(max(lo, 0), b.From-1)
	row := b.row(i, start)
	for j := range 2 * support {
		k := min(max(lo+j, 0), b.From-1) - start
		row[k] += c.weight(float64(j+1-support) - part)
		b.most = max(b.most, row[k])
	}
}

// row returns the weights of element i from pixel lo on.
func (b *Band) row(i, lo int) []float64 {
	b.First[i] = min(lo, b.From-b.Taps)
	return b.Weights[i*b.Taps+lo-b.First[i] : (i+1)*b.Taps]
}

// Floats returns the weights as float32.
func (b *Band) Floats() []float32 {
	w := make([]float32, len(b.Weights))
	for i, v := range b.Weights {
		w[i] = float32(v)
	}
	return w
}

// Whole returns the weights as whole numbers below 2^15, and the number of bits that they are shifted by:
// at most 22, as in Pillow.
func (b *Band) Whole() (w []int16, bits int) {
	for bits < 22 && int(0.5+b.most*float64(int(1)<<(bits+1))) < 1<<15 {
		bits++
	}
	w = make([]int16, len(b.Weights))
	for i, v := range b.Weights {
		v *= float64(int(1) << bits)
		w[i] = int16(v + math.Copysign(0.5, v))
	}
	return w, bits
}
