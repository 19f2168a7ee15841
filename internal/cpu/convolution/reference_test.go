package convolution

import (
	"fmt"
	"testing"

	"weft/internal/array"
	"weft/internal/cpu/cputest"
	"weft/internal/cpu/tile"
	"weft/internal/numbers"
)

// A trial is a convolution that is compared with its definition.
type trial[E tile.Element] struct {
	Geometry           // as given
	full      Geometry // with defaults filled in
	inC, outC int      // channels of a group
	oh, ow    int
	of        [2]array.DType
	threads   int
	x, dy     testImage[E]
	w         []E
}

func (m testImage[E]) clone() testImage[E] {
	m.data = append([]E(nil), m.data...)
	return m
}

// recall is compute, or what it gave for the same operand in an image and weights.
func (c *trial[E]) recall(what string, m testImage[E], compute func() []E) []E {
	return cputest.Recall(&wanted, fmt.Sprintf("%s %+v %v", what, c.full, m.strides()), [][]E{m.data, c.w}, compute)
}

// compare fails unless m has what is wanted, times -2 behind an epilogue, and what lies between
// its elements is as before.
func (c *trial[E]) compare(t *testing.T, what string, m, before testImage[E], shape [4]int, want []E, withEpilogue bool) {
	t.Helper()
	p := 0
	for i := range shape[0] {
		for j := range shape[1] {
			for y := range shape[2] {
				for x := range shape[3] {
					v := want[p]
					if p++; withEpilogue {
						v *= -2
					}
					if got := *m.get(i, j, y, x); !cputest.SameBits(got, v) {
						t.Fatalf("%s of %v, %+v, %d threads, strides %v: element %d,%d,%d,%d is %v, not %v", what, c.of, c.Geometry, c.threads, m.Image, i, j, y, x, got, v)
					}
					*before.get(i, j, y, x) = *m.get(i, j, y, x)
				}
			}
		}
	}
	for i := range m.data {
		if !cputest.SameBits(m.data[i], before.data[i]) {
			t.Fatalf("%s of %+v: memory between the elements changed", what, c.Geometry)
		}
	}
}

func (c *trial[E]) weight(o, ch, kh, kw int) E { return c.w[((o*c.inC+ch)*c.KH+kh)*c.KW+kw] }

// source is the element of x that a tap meets, 0 in the padding.
func (c *trial[E]) source(n, ch, oy, ox, kh, kw int) E {
	iy, ix := oy*c.full.StrideH+kh*c.full.DilationH-c.PadH, ox*c.full.StrideW+kw*c.full.DilationW-c.PadW
	if iy < 0 || iy >= c.H || ix < 0 || ix >= c.W {
		return 0
	}
	return *c.x.get(n, ch, iy, ix)
}

// forward is the convolution. With Winograd's algorithm images whose results are finite follow it.
func (c *trial[E]) forward(useWinograd bool) []E {
	all := make([]E, c.N*c.O*c.oh*c.ow)
	terms := c.inC * c.KH * c.KW
	patch, sums := make([]E, 0, terms), make([]E, c.outC)
	for group := range c.full.Groups {
		var winograd func(n, o, y, x int) float32
		exact := make([]bool, c.N) // images that Winograd's algorithm computes
		if useWinograd {
			winograd, exact = refWinograd(c.N, c.inC, c.outC, c.oh, c.ow, func(n, ch, y, x int) float32 {
				return float32(c.source(n, group*c.inC+ch, y, x, 0, 0))
			}, func(o, ch, y, x int) float32 { return float32(c.weight(group*c.outC+o, ch, y, x)) })
		}
		for at := range c.N * c.oh * c.ow {
			n, oy, ox := at/(c.oh*c.ow), at/c.ow%c.oh, at%c.ow
			if exact[n] {
				for o := range sums {
					sums[o] = E(winograd(n, o, oy, ox))
				}
			} else {
				patch = c.patch(patch[:0], n, group, oy, ox)
				cputest.RefDots(sums, patch, c.w[group*c.outC*terms:], numbers.KBlock, true)
			}
			for o, v := range sums {
				all[((n*c.O+group*c.outC+o)*c.oh+oy)*c.ow+ox] = v
			}
		}
	}
	return all
}

// patch appends the elements of a group that a result is the sum over, in the order of weights.
func (c *trial[E]) patch(to []E, n, group, oy, ox int) []E {
	for ch := range c.inC {
		for kh := range c.KH {
			for kw := range c.KW {
				to = append(to, c.source(n, group*c.inC+ch, oy, ox, kh, kw))
			}
		}
	}
	return to
}

// A refTap is an output channel and a place of the kernel.
type refTap struct{ o, kh, kw int }

// tapsAt are the taps of a group by which an element of the input can meet a result.
func (c *trial[E]) tapsAt(group, iy, ix int) (taps []refTap) {
	for o := group * c.outC; o < (group+1)*c.outC; o++ {
		for kh := range c.KH {
			for kw := range c.KW {
				if (iy+c.PadH-kh*c.full.DilationH)%c.full.StrideH == 0 && (ix+c.PadW-kw*c.full.DilationW)%c.full.StrideW == 0 {
					taps = append(taps, refTap{o, kh, kw})
				}
			}
		}
	}
	return taps
}

// slope is the element of dy that an element of the input meets by a tap, 0 outside.
func (c *trial[E]) slope(n, iy, ix int, q refTap) E {
	oy, ox := iy+c.PadH-q.kh*c.full.DilationH, ix+c.PadW-q.kw*c.full.DilationW
	if oy, ox = oy/c.full.StrideH, ox/c.full.StrideW; oy >= 0 && oy < c.oh && ox >= 0 && ox < c.ow {
		return *c.dy.get(n, q.o, oy, ox)
	}
	return 0
}

// gradInput is the gradient of the input, with Winograd's algorithm as forward.
func (c *trial[E]) gradInput(useWinograd bool) []E {
	all := make([]E, c.N*c.C*c.H*c.W)
	sums := make([]E, c.inC)
	for group := range c.full.Groups {
		var winograd func(n, o, y, x int) float32
		exact := make([]bool, c.N)
		if useWinograd {
			winograd, exact = refWinograd(c.N, c.outC, c.inC, c.H, c.W, func(n, o, y, x int) float32 {
				y, x = y+c.PadH-2, x+c.PadW-2
				if y < 0 || y >= c.oh || x < 0 || x >= c.ow {
					return 0
				}
				return float32(*c.dy.get(n, group*c.outC+o, y, x))
			}, func(ch, o, y, x int) float32 { return float32(c.weight(group*c.outC+o, ch, 2-y, 2-x)) })
		}
		for at := range c.H * c.W {
			iy, ix := at/c.W, at%c.W
			taps := c.tapsAt(group, iy, ix)
			weights := make([]E, 0, c.inC*len(taps))
			for ch := range c.inC {
				for _, q := range taps {
					weights = append(weights, c.weight(q.o, ch, q.kh, q.kw))
				}
			}
			slopes := make([]E, len(taps))
			for n := range c.N {
				if exact[n] {
					for ch := range sums {
						sums[ch] = E(winograd(n, ch, iy, ix))
					}
				} else {
					for p, q := range taps {
						slopes[p] = c.slope(n, iy, ix, q)
					}
					cputest.RefDots(sums, slopes, weights, numbers.KBlock, true)
				}
				for ch, v := range sums {
					all[((n*c.C+group*c.inC+ch)*c.H+iy)*c.W+ix] = v
				}
			}
		}
	}
	return all
}

// gradWeight is the gradient of the weights, pixels in ascending order.
func (c *trial[E]) gradWeight() []E {
	all := make([]E, len(c.w))
	terms := c.N * c.oh * c.ow
	slopes := make([]E, 0, c.O*terms)
	for o := range c.O {
		for at := range terms {
			slopes = append(slopes, *c.dy.get(at/(c.oh*c.ow), o, at/c.ow%c.oh, at%c.ow))
		}
	}
	pixels, sums := make([]E, terms), make([]E, c.outC)
	for group := range c.full.Groups {
		for at := range c.inC * c.KH * c.KW {
			ch, kh, kw := at/(c.KH*c.KW), at/c.KW%c.KH, at%c.KW
			for p := range pixels {
				pixels[p] = c.source(p/(c.oh*c.ow), group*c.inC+ch, p/c.ow%c.oh, p%c.ow, kh, kw)
			}
			cputest.RefDots(sums, pixels, slopes[group*c.outC*terms:], numbers.KBlock, false)
			for o, v := range sums {
				all[(((group*c.outC+o)*c.inC+ch)*c.KH+kh)*c.KW+kw] = v
			}
		}
	}
	return all
}
