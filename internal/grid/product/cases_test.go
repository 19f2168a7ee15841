package product_test

import (
	"math/rand/v2"
	"testing"

	"weft/internal/array"
	"weft/internal/grid/compare"
	"weft/internal/grid/product"
)

var types = [][3]array.DType{
	{array.Float32, array.Float32, array.Float32}, {array.Float64, array.Float64, array.Float64}, {array.Float32, array.BFloat16, array.BFloat16},
	{array.Float32, array.Float32, array.Float16}, {array.Float32, array.Float16, array.BFloat16},
}

// Sizes around the sizes of tiles, of vectors and of blocks of terms.
var (
	sides = []int{0, 1, 2, 3, 4, 7, 8, 9, 12, 15, 16, 17, 31, 33, 63, 64, 65, 80, 127, 128, 129, 130}
	terms = []int{0, 1, 2, 3, 4, 7, 8, 9, 15, 16, 17, 24, 31, 32, 33, 64, 255, 256, 257, 272, 513}
)

// randomCase returns a product of at most work multiply-adds, as the tiles count them.
func randomCase(chance *rand.Rand, work int) testCase {
	for {
		t := types[chance.IntN(len(types))]
		c := testCase{d: t[0], of: [2]array.DType{t[1], t[2]}, tile: product.Tiles[chance.IntN(len(product.Tiles))]}
		c.m, c.n, c.k = sides[chance.IntN(len(sides))], sides[chance.IntN(len(sides))], terms[chance.IntN(len(terms))]
		c.apart = chance.IntN(2) == 0
		c.values, c.aligned = values(chance.IntN(int(numValues))), chance.IntN(2) == 0
		c.kinds = [3]int{chance.IntN(numKinds), chance.IntN(numKinds), chance.IntN(broadcast)}
		for range max(0, chance.IntN(9)-3) {
			c.batch = append(c.batch, chance.IntN(4))
		}
		m, n := c.tile.Size(c.d)
		size := up(c.m, m) * up(c.n, n) * up(max(c.k, 1), product.Depth) * array.Size(c.batch)
		if size <= work {
			return c
		}
	}
}

// up rounds up to a multiple.
func up(a, b int) int { return (a + b - 1) / b * b }

// Random products have the CPU's bits, and nothing else is written: 60 of each capability, or WEFT_PRODUCTS.
func TestRandomProducts(t *testing.T) {
	n := compare.Count(t, "WEFT_PRODUCTS", 60)
	chance := rand.New(rand.NewPCG(1, uint64(n)))
	for _, major := range []int{8, 9} {
		g := newGPU(t, major)
		for range n {
			g.check(chance, randomCase(chance, 1<<20))
		}
	}
}

// Each tile, in each way to read and write it, where the last vector is cut and where it is whole, of
// one block of terms and several. A sum of -0 shows what is added to it.
func TestTiles(t *testing.T) {
	chance := rand.New(rand.NewPCG(3, 2))
	kinds := [][3]int{{padded, padded, padded}, {padded, transposed, plain}, {transposed, padded, transposed}, {transposed, transposed, padded}, {odd, odd, odd}}
	for _, major := range []int{8, 9} {
		g := newGPU(t, major)
		for _, d := range []array.DType{array.Float32, array.Float64} {
			for _, i := range product.Tiles {
				m, n := i.Size(d)
				for j, k := range kinds {
					c := testCase{d: d, of: [2]array.DType{d, d}, tile: i, m: m, n: n, k: 24, kinds: k, aligned: true, values: usual}
					if j == 0 || j == 2 {
						c.m, c.n, c.k = m-1, n-1, 23
					}
					g.check(chance, c)
				}
				for _, k := range []int{0, 255, 257, 513} {
					c := testCase{d: d, of: [2]array.DType{d, d}, tile: i, m: m / 4, n: n / 8, k: k, values: tiny}
					if k > 512 {
						c.values = usual
					}
					if k > 257 && m*n > 64*64 {
						continue // the simulator takes its time
					}
					g.check(chance, c)
					if c.apart = k > 256; c.apart {
						g.check(chance, c)
					}
				}
			}
		}
	}
}

// Products beyond the limits of a launch are several, which have the same bits.
func TestSplitProducts(t *testing.T) {
	chance := rand.New(rand.NewPCG(5, 2))
	g := newGPU(t, 9)
	for i := range 30 {
		back := product.SetLimits(1<<30, 1)
		if i%2 > 0 {
			back()
			back = product.SetLimits(20, 1<<24)
		}
		g.check(chance, randomCase(chance, 1<<18))
		back()
	}
	defer product.SetLimits(20, 1<<24)()
	for _, of := range [][2]array.DType{{array.Float32, array.Float16}, {array.BFloat16, array.Float32}} {
		g.check(chance, testCase{d: array.Float32, of: of, tile: product.Medium, m: 45, n: 41, k: 9, values: usual})
	}
}
