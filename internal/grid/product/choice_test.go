package product_test

import (
	"encoding/json"
	"os"
	"sync"
	"testing"

	"weft/internal/array"
	"weft/internal/grid"
	"weft/internal/grid/product"
)

// h200 is the GPU of testdata/h200.json.
var h200 = product.GPU{Units: 132, Major: 9, Shared: 227 << 10}

// plainProduct returns a product of whole matrices.
func plainProduct(d array.DType, m, n, k int, order string) product.Product {
	p := product.Product{DType: d, Of: [2]array.DType{d, d}, M: m, N: n, K: k,
		A: product.Mat{Addr: 1 << 20, Row: k, Col: 1}, B: product.Mat{Addr: 1 << 30, Row: n, Col: 1}, C: product.Mat{Addr: 1 << 31, Row: n, Col: 1}}
	if order[0] == 't' {
		p.A.Row, p.A.Col = 1, m
	}
	if order[1] == 't' {
		p.B.Row, p.B.Col = 1, k
	}
	return p
}

// variantOf returns the variant of matrices whose kernel a launch runs, for capability 9.0.
func variantOf(l grid.Launch) product.Variant { return variants()[l.Name] }

var variants = sync.OnceValue(func() map[string]product.Variant {
	all := map[string]product.Variant{}
	for _, v := range product.Variants(true) {
		all[v.Name()] = v
	}
	return all
})

// chosen returns the tile of a product's launches, and whether blocks of terms are apart.
func chosen(p product.Product, g product.GPU) (t product.Tile, apart bool) {
	scratch := uint64(0)
	if p.Scratch(g) > 0 {
		scratch = 1 << 32
	}
	list := p.Launches(g, scratch)
	return variantOf(list[0]).Tile, variantOf(list[len(list)-1]).Add
}

// The tile that is chosen takes at most 10 % more time than the best one, as measured.
func TestChosenTileIsNearTheBest(t *testing.T) {
	text, err := os.ReadFile("testdata/h200.json")
	if err != nil {
		t.Fatal(err)
	}
	type shape struct {
		DType   string
		M, N, K int
		Order   string
	}
	var file struct {
		MS []struct {
			shape
			Tile string
			MS   float64
		}
	}
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	figures := map[shape]map[string]float64{}
	for _, x := range file.MS {
		if figures[x.shape] == nil {
			figures[x.shape] = map[string]float64{}
		}
		figures[x.shape][x.Tile] = x.MS
	}
	dtypes := map[string]array.DType{"float32": array.Float32, "float64": array.Float64}
	judged := 0
	for s, ms := range figures {
		tile, apart := chosen(plainProduct(dtypes[s.DType], s.M, s.N, s.K, s.Order), h200)
		name := tile.String()
		if apart {
			name += " apart"
		}
		took, ok := ms[name]
		if !ok {
			if s.Order == "nn" {
				t.Errorf("%v: %s is not measured", s, name)
			}
			continue // large tiles of float64 are measured in order nn
		}
		judged++
		for other, x := range ms {
			if took > 1.1*x {
				t.Errorf("%v: %s takes %.4f ms, %s takes %.4f", s, name, took, other, x)
			}
		}
	}
	if judged < 30 {
		t.Errorf("%d shapes are judged, want 30", judged)
	}
}

// The choice follows shared memory, the batch and the number of columns.
func TestChoice(t *testing.T) {
	little := h200
	little.Shared = 99 << 10
	for _, c := range []struct {
		what    string
		d       array.DType
		m, n, k int
		batch   int
		g       product.GPU
		want    product.Tile
	}{
		{"much shared memory", array.Float64, 4096, 4096, 4096, 1, h200, product.Large},
		{"little shared memory", array.Float64, 4096, 4096, 4096, 1, little, product.Compact},
		{"one block of terms", array.Float64, 4096, 4096, 256, 1, little, product.Large},
		{"little shared memory", array.Float32, 4096, 4096, 4096, 1, little, product.Large},
		{"a batch", array.Float32, 1024, 1024, 64, 8, h200, product.Large},
		{"few tiles", array.Float32, 200, 200, 64, 1, h200, product.Medium},
		{"one row", array.Float32, 1, 4096, 64, 1, h200, product.Thin},
		{"few columns", array.Float32, 4096, 16, 64, 1, h200, product.Thin},
	} {
		p := plainProduct(c.d, c.m, c.n, c.k, "nn")
		p.Batch = product.Batch{Count: []int{c.batch}, A: []int{c.m * c.k}, B: []int{0}, C: []int{c.m * c.n}}
		if got, _ := chosen(p, c.g); got != c.want {
			t.Errorf("%s: %v %dx%dx%d: %v tiles, want %v", c.what, c.d, c.m, c.n, c.k, got, c.want)
		}
	}
}

// No kernel that is chosen takes more shared memory than a block of threads may have.
func TestChosenKernelsFitSharedMemory(t *testing.T) {
	for _, shared := range []int{99 << 10, 163 << 10, 227 << 10} {
		for _, d := range []array.DType{array.Float32, array.Float64} {
			for _, k := range []int{64, 256, 1024} {
				for _, n := range []int{1, 64, 500, 1024, 4096} {
					g := product.GPU{Units: 132, Major: 9, Shared: shared}
					p := plainProduct(d, n, n, k, "nn")
					for _, scratch := range []uint64{0, 1 << 32} {
						for _, l := range p.Launches(g, scratch) {
							if got := l.Lower().Shared; got > shared {
								t.Errorf("%s: %d bytes of shared memory, at most %d", l.Name, got, shared)
							}
						}
					}
				}
			}
		}
	}
}
