package convolution

import (
	"math"
	"math/rand/v2"
	"testing"
	"unsafe"

	"weft/internal/array"
	"weft/internal/cpu/cputest"
	"weft/internal/jit"
	"weft/internal/numbers"
)

// refWinograd returns the results of a convolution by Winograd's algorithm, before the
// epilogue, and for which images they are all finite. source gives the element that tap
// 0, 0 of output y, x reads.
func refWinograd(n, inC, outC, h, w int, source func(n, c, y, x int) float32, weight func(o, c, i, j int) float32) (func(n, o, y, x int) float32, []bool) {
	transform := func(v []float32, size int, combine func(v []float32) []float32) []float32 {
		var columns [][]float32
		for j := range size {
			var column []float32
			for i := range size {
				column = append(column, v[i*size+j])
			}
			columns = append(columns, combine(column))
		}
		var all []float32
		for i := range columns[0] {
			var row []float32
			for j := range size {
				row = append(row, columns[j][i])
			}
			all = append(all, combine(row)...)
		}
		return all
	}
	var weights [16][]float32 // by result and channel
	for i := range outC {
		for c := range inC {
			var v []float32
			for t := range 9 {
				v = append(v, weight(i, c, t/3, t%3))
			}
			for m, u := range transform(v, 3, func(v []float32) []float32 {
				s := v[0] + v[2]
				return []float32{v[0], (s + v[1]) / 2, (s - v[1]) / 2, v[2]}
			}) {
				weights[m] = append(weights[m], u)
			}
		}
	}
	results := make([]float32, n*outC*h*w)
	dots := make([]float32, 16*outC)
	finite := make([]bool, n)
	for i := range n {
		finite[i] = true
		for y := 0; y < h; y += 2 {
			for x := 0; x < w; x += 2 {
				var pixels [16][]float32
				for c := range inC {
					var v []float32
					for t := range 16 {
						v = append(v, source(i, c, y+t/4, x+t%4))
					}
					for m, u := range transform(v, 4, func(v []float32) []float32 {
						return []float32{v[0] - v[2], v[1] + v[2], v[2] - v[1], v[1] - v[3]}
					}) {
						pixels[m] = append(pixels[m], u)
					}
				}
				for m := range pixels {
					cputest.RefDots(dots[m*outC:][:outC], pixels[m], weights[m], numbers.KBlock, false)
				}
				for o := range outC {
					var sums []float32
					for m := range pixels {
						sums = append(sums, dots[m*outC+o])
					}
					for t, v := range transform(sums, 4, func(v []float32) []float32 {
						return []float32{v[0] + v[1] + v[2], v[1] - v[2] - v[3]}
					}) {
						if y+t/2 < h && x+t%2 < w {
							results[((i*outC+o)*h+y+t/2)*w+x+t%2] = v
							finite[i] = finite[i] && v-v == 0
						}
					}
				}
			}
		}
	}
	return func(n, o, y, x int) float32 { return results[((n*outC+o)*h+y)*w+x] }, finite
}

// Shapes that Winograd's algorithm computes, and some beside them.
func TestWinograd(t *testing.T) {
	cputest.EveryISA(t, func(t *testing.T, isa jit.ISA) {
		r := rand.New(rand.NewPCG(10, 10))
		for _, g := range []Geometry{
			{N: 3, C: 32, O: 32, H: 12, W: 12, PadH: 1, PadW: 1},
			{N: 2, C: 64, O: 32, H: 15, W: 9},
			{N: 1, C: 32, O: 64, H: 8, W: 37, PadH: 1, PadW: 2},
			{N: 1, C: 32, O: 32, H: 3, W: 18, PadH: 3, PadW: 0},
			{N: 1, C: 288, O: 32, H: 7, W: 7, PadH: 1, PadW: 1},
			{N: 1, C: 32, O: 32, H: 100, W: 6, PadH: 1, PadW: 1},
			{N: 1, C: 32, O: 32, H: 6, W: 5, PadH: 1, PadW: 1},
			{N: 1, C: 31, O: 32, H: 6, W: 6, PadH: 1, PadW: 1},
		} {
			g.KH, g.KW = 3, 3
			testConv[float32](t, r, g)
		}
		g := Geometry{N: 2, C: 32, O: 32, H: 7, W: 8, KH: 3, KW: 3, PadH: 1, PadW: 1}
		testConvOf(t, r, g, 2, tiny[float32], cputest.Random[float32])
		testConvOf(t, r, g, 2, wild[float32], cputest.Random[float32])
		testConvOf(t, r, g, 2, huge, cputest.Random[float32])
		g.N = 1
		testConvOf(t, r, g, 2, cputest.Random[float32], wild[float32])
	})
}

// huge returns numbers whose sums may be infinite.
func huge(r *rand.Rand, n int) []float32 {
	s := cputest.Random[float32](r, n)
	for range n / 100 {
		s[r.IntN(n)] = float32(math.Copysign(3e38, r.NormFloat64()))
	}
	return s
}

// The error of Winograd's algorithm against that of the sum that it replaces.
func TestWinogradError(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 11))
	for _, g := range []Geometry{
		{N: 1, C: 64, O: 64, H: 20, W: 20, KH: 3, KW: 3, PadH: 1, PadW: 1},
		{N: 1, C: 256, O: 32, H: 14, W: 14, KH: 3, KW: 3, PadH: 1, PadW: 1},
	} {
		x, w := cputest.Random[float32](r, g.C*g.H*g.W), cputest.Random[float32](r, g.O*g.C*9)
		for i := range x {
			x[i] = max(x[i], 0)
		}
		y, direct := make([]float32, g.O*g.H*g.W), make([]float32, g.O*g.H*g.W)
		out := func(s []float32) Image { return ContiguousImage(unsafe.Pointer(&s[0]), g.O, g.H, g.W) }
		source := ContiguousImage(unsafe.Pointer(&x[0]), g.C, g.H, g.W)
		Convolution{ISA: cputest.UnderTest, DType: array.Float32, Geometry: g, Threads: 1}.Forward(out(y), source, unsafe.Pointer(&w[0]))
		c := Convolution{ISA: cputest.UnderTest, DType: array.Float32, Geometry: g, Threads: 1}
		c.check("test")
		c.directForward(out(direct), source, unsafe.Pointer(&w[0]))
		var worst, worstDirect, square, squareDirect float64
		for i := range y {
			o, oy, ox := i/(g.H*g.W), i/g.W%g.H, i%g.W
			// The exact result, and the sum over the pixels of its tile, by the greatest weight of a channel.
			var sum, bound float64
			for c := range g.C {
				var weight, pixels float64
				for k := range 9 {
					v := float64(w[(o*g.C+c)*9+k])
					weight = max(weight, math.Abs(v))
					if sy, sx := oy+k/3-1, ox+k%3-1; sy >= 0 && sy < g.H && sx >= 0 && sx < g.W {
						sum += v * float64(x[(c*g.H+sy)*g.W+sx])
					}
				}
				for k := range 16 {
					if sy, sx := oy&^1+k/4-1, ox&^1+k%4-1; sy >= 0 && sy < g.H && sx >= 0 && sx < g.W {
						pixels += math.Abs(float64(x[(c*g.H+sy)*g.W+sx]))
					}
				}
				bound += weight * pixels
			}
			const eps = 1.0 / (1 << 23)
			e, d := math.Abs(float64(y[i])-sum)/(eps*bound), math.Abs(float64(direct[i])-sum)/(eps*bound)
			worst, worstDirect = max(worst, e), max(worstDirect, d)
			square, squareDirect = square+e*e, squareDirect+d*d
		}
		t.Logf("%d channels: at most %.3g eps of the tile, direct %.3g; root of the mean of squares %.2f of the direct sum's", g.C, worst, worstDirect, math.Sqrt(square/squareDirect))
		if worst > 0.5 || square > 9*squareDirect {
			t.Errorf("%d channels: error %g eps of the tile (direct %g), mean %g of the direct sum's", g.C, worst, worstDirect, math.Sqrt(square/squareDirect))
		}
	}
}
