package methods_test

import (
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"

	"weft"
	"weft/internal/tensortest"
)

// exactSum adds float64 numbers without rounding: a fixed-point number of 2^-1074
// in digits of 32 bits, which are carried before they overflow.
type exactSum struct {
	digit [70]int64
	adds  int
}

func (s *exactSum) add(x float64) {
	b := math.Float64bits(x)
	m, e := b&(1<<52-1), int(b>>52&0x7ff)
	if e == 0x7ff {
		panic("not a finite number")
	}
	if e > 0 {
		m |= 1 << 52
		e--
	}
	hi, lo := bits.Mul64(m, 1<<(e%32))
	d := s.digit[e/32:]
	p, q, r := int64(lo&0xffffffff), int64(lo>>32), int64(hi)
	if x < 0 {
		p, q, r = -p, -q, -r
	}
	d[0] += p
	d[1] += q
	d[2] += r
	if s.adds++; s.adds == 1<<30 {
		s.carry()
	}
}

func (s *exactSum) carry() {
	c := int64(0)
	for i := range s.digit {
		c += s.digit[i]
		s.digit[i] = c & 0xffffffff
		c >>= 32
	}
	s.digit[len(s.digit)-1] += c << 32
	s.adds = 0
}

// distance is |s - x|.
func (s *exactSum) distance(x float64) float64 {
	t := *s
	t.add(-x)
	sum := new(big.Int)
	for _, d := range slices.Backward(t.digit[:]) {
		sum.Lsh(sum, 32).Add(sum, big.NewInt(d))
	}
	f := new(big.Float).SetInt(sum.Abs(sum))
	r, _ := f.SetMantExp(f, -1074).Float64()
	return r
}

// sumRoundings is the largest number of additions that round on the way of an
// element to its place in the result: h of the package comment.
func sumRoundings(d weft.DType, shape, axes []int) int {
	levels := func(n, block int) int { return bits.Len(uint((n+block-1)/block) - 1) }
	in := make([]bool, len(shape))
	for _, a := range axes {
		in[a] = true
	}
	total := 0
	for hi := len(shape); hi > 0; {
		if !in[hi-1] {
			hi--
			continue
		}
		lo, n := hi, 1
		for lo > 0 && in[lo-1] {
			lo--
			n *= shape[lo]
		}
		rest := 1
		for a := hi; a < len(shape); a++ {
			if !in[a] {
				rest *= shape[a]
			}
		}
		if rest == 1 {
			lanes := 256 / d.Size()
			total += (min(n, 4096)+lanes-1)/lanes - 1 + bits.Len(uint(lanes)) - 1 + levels(n, 4096)
		} else {
			total += min(n, 16) - 1 + levels(n, 16)
		}
		hi = lo
	}
	return total
}

// sumPatterns are ways to fill an array that sums find hard.
var sumPatterns = []struct {
	name string
	fill func(r *rand.Rand, x []float64)
}{
	{"tenths", func(_ *rand.Rand, x []float64) {
		for i := range x {
			x[i] = 0.1
		}
	}},
	{"uniform", func(r *rand.Rand, x []float64) {
		for i := range x {
			x[i] = r.Float64()
		}
	}},
	{"any exponent", func(r *rand.Rand, x []float64) {
		for i := range x {
			x[i] = math.Ldexp(r.Float64()-0.5, r.IntN(120)-60)
		}
	}},
	{"one large, then small", func(r *rand.Rand, x []float64) {
		for i := range x {
			x[i] = 0x1p-25 * (1 + r.Float64())
		}
		if len(x) > 0 {
			x[0] = 1
		}
	}},
	{"opposites far apart", func(r *rand.Rand, x []float64) {
		// The sum is some 2^-40 of the sum of the magnitudes.
		h := len(x) / 2
		for i := range h {
			x[i] = math.Ldexp(r.Float64(), r.IntN(40))
			x[len(x)-1-i] = -x[i]
		}
		r.Shuffle(len(x)/4, func(i, j int) { x[i], x[j] = x[j], x[i] })
		for range 1 + len(x)/1000 {
			x[r.IntN(len(x))] += r.Float64()
		}
	}},
	{"opposites in one lane", func(r *rand.Rand, x []float64) {
		for i := range x {
			v := math.Ldexp(1+float64(i/128)*0x1p-20, 30)
			if i/64%2 == 1 {
				v = -v
			}
			x[i] = v + r.Float64()
		}
	}},
	{"subnormal", func(r *rand.Rand, x []float64) {
		for i := range x {
			x[i] = (r.Float64() - 0.5) * 0x1p-1030
		}
	}},
}

// TestSumBound compares sums with exact ones on every backend and over axes and
// layouts of every kind. WEFT_SUM sets the number of elements, a million if not
// set; from ten million on, sums over all axes alone are tried.
func TestSumBound(t *testing.T) {
	n := 200_000
	if s := os.Getenv("WEFT_SUM"); s != "" {
		var err error
		if n, err = strconv.Atoi(s); err != nil {
			t.Fatal(err)
		}
	}
	if testing.Short() {
		n = 100_000
	}
	k := n / 1000
	cases := []struct{ shape, axes []int }{
		{[]int{n}, []int{0}}, {[]int{k, 1000}, []int{0, 1}},
		{[]int{k, 1000}, []int{0}}, {[]int{k, 1000}, []int{1}}, {[]int{1000, k}, []int{0}}, {[]int{7, n / 7}, []int{1}}, {[]int{n / 7, 7}, []int{0}},
		{[]int{k, 50, 20}, []int{1}}, {[]int{k, 50, 20}, []int{0, 2}}, {[]int{k, 50, 20}, []int{0, 1}}, {[]int{50, k, 20}, []int{1, 2}},
	}
	if n >= 1e7 {
		cases = cases[:2]
	}
	layouts := []struct {
		name string
		of   func(x []float64, d weft.DType, shape []int) *weft.Tensor
	}{
		{"rows", func(x []float64, d weft.DType, shape []int) *weft.Tensor { return weft.FromSlice(x, shape...).To(d) }},
		{"columns", func(x []float64, d weft.DType, shape []int) *weft.Tensor {
			return weft.FromSlice(x, shape...).To(d).T().Contiguous().T()
		}},
		{"every third, backwards", func(x []float64, d weft.DType, shape []int) *weft.Tensor {
			t := weft.FromSlice(x, shape...).To(d)
			last := len(shape) - 1
			wide := append(slices.Clone(shape[:last]), 3*shape[last])
			spans := make([]weft.Span, len(shape))
			for i := range spans {
				spans[i] = weft.All
			}
			spans[last] = weft.Range(weft.End, weft.Begin, -3)
			w := weft.ZerosOf(d, wide...).Slice(spans...)
			return w.Assign(t)
		}},
	}
	worst := map[weft.DType]float64{}
	x := make([]float64, n)
	for _, pattern := range sumPatterns {
		for _, d := range []weft.DType{weft.Float32, weft.Float64} {
			r := rand.New(rand.NewPCG(1, uint64(d)))
			pattern.fill(r, x)
			if d == weft.Float32 {
				for i := range x {
					if pattern.name == "subnormal" {
						x[i] *= 0x1p890
					}
					x[i] = float64(float32(x[i]))
				}
			}
			unit := 0x1p-24
			if d == weft.Float64 {
				unit = 0x1p-53
			}
			for _, c := range cases {
				exact, magnitude := exactSums(x, c.shape, c.axes)
				h := float64(sumRoundings(d, c.shape, c.axes))
				bound := h * unit / (1 - h*unit)
				first := "" // one digest for all layouts and backends
				for _, layout := range layouts {
					if layout.name != "rows" && n >= 1e7 {
						continue
					}
					size := 1
					for _, s := range c.shape {
						size *= s
					}
					a := layout.of(x[:size], d, c.shape)
					name := fmt.Sprint(pattern.name, ", ", d, c.shape, " over ", c.axes, ", ", layout.name)
					tensortest.OnBackends(t, func(t *testing.T) {
						got := a.Sum(c.axes...).To(weft.Float64)
						if s := weft.Digest(got); s == first {
							return
						} else if first != "" {
							t.Errorf("%s: other bits than in rows or on another backend", name)
						} else {
							first = s
						}
						for i, g := range weft.Data[float64](got) {
							e := exact[i].distance(g)
							if m := magnitude[i]; e > bound*m {
								t.Fatalf("%s: element %d is %v off, more than %v of %v", name, i, e, bound, m)
							} else if m > 0 {
								worst[d] = max(worst[d], e/(bound*m))
							}
						}
					})
				}
			}
		}
	}
	t.Logf("at most %.2f of the bound for float32, %.2f for float64", worst[weft.Float32], worst[weft.Float64])
}

// exactSums adds the elements of an array in row-major order over axes, and their
// magnitudes.
func exactSums(x []float64, shape, axes []int) ([]exactSum, []float64) {
	n, out := 1, 1
	stride := make([]int, len(shape)) // of the result, 0 along the axes
	for a := len(shape) - 1; a >= 0; a-- {
		n *= shape[a]
		if !slices.Contains(axes, a) {
			stride[a] = out
			out *= shape[a]
		}
	}
	sums, magnitude := make([]exactSum, out), make([]float64, out)
	index := make([]int, len(shape))
	at := 0
	for _, v := range x[:n] {
		sums[at].add(v)
		magnitude[at] += math.Abs(v)
		for a := len(shape) - 1; a >= 0; a-- {
			at += stride[a]
			if index[a]++; index[a] < shape[a] {
				break
			}
			at -= stride[a] * shape[a]
			index[a] = 0
		}
	}
	return sums, magnitude
}

// One accumulator would break the bound: the test can tell.
func TestSumBoundIsTight(t *testing.T) {
	const n = 1_000_000
	var s exactSum
	naive := float32(0)
	for range n {
		s.add(float64(float32(0.1)))
		naive += 0.1
	}
	h := float64(sumRoundings(weft.Float32, []int{n}, []int{0}))
	bound := h * 0x1p-24 * n * 0.1
	if e := s.distance(float64(naive)); e < 100*bound {
		t.Errorf("adding one by one is %v off, the bound %v", e, bound)
	}
	if e := s.distance(math.Float64frombits(0)); math.Abs(e-n*float64(float32(0.1))) > 1e-6 {
		t.Errorf("the exact sum is %v", e)
	}
}

// Sums over the first axis add rows in ascending order in blocks of 16, and the blocks by
// neighbours. A loop in the test does the same and gives the same bits.
func TestSumOrderOfColumns(t *testing.T) {
	const cols = 5
	for _, n := range []int{1, 2, 15, 16, 17, 33, 50, 80, 90, 100, 128, 130, 1000} {
		r := rand.New(rand.NewPCG(3, uint64(n)))
		x := make([]float32, n*cols)
		for i := range x {
			x[i] = float32(math.Ldexp(r.Float64()-0.5, r.IntN(30)))
		}
		want := make([]float32, cols)
		for c := range want {
			var level []float32
			for lo := 0; lo < n; lo += 16 {
				s := x[lo*cols+c]
				for i := lo + 1; i < min(lo+16, n); i++ {
					s += x[i*cols+c]
				}
				level = append(level, s)
			}
			for len(level) > 1 {
				var up []float32
				for pair := range slices.Chunk(level, 2) {
					s := pair[0]
					if len(pair) == 2 {
						s += pair[1]
					}
					up = append(up, s)
				}
				level = up
			}
			want[c] = level[0]
		}
		tensortest.OnBackends(t, func(t *testing.T) {
			if got := weft.Data[float32](weft.FromSlice(x, n, cols).Sum(0)); !slices.Equal(got, want) {
				t.Errorf("%d rows: %v, want %v", n, got, want)
			}
		})
	}
}
