package nn_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"weft"
	"weft/internal/tensortest"
	"weft/nn"
	"weft/ragged"
)

// bagCase is one call of EmbeddingBag, with bags of known begin and end.
type bagCase struct {
	table   *weft.Tensor // float64 [rows width]
	at      []int64
	begin   []int64 // of each bag, and the end of the last
	mode    nn.BagMode
	padding *int
	factors []float64 // nil for 1
}

func (c bagCase) String() string {
	return fmt.Sprintf("mode %d, %d bags of %d indices, width %d, padding %v, factors %v", c.mode, len(c.begin)-1, len(c.at), c.table.Dim(1), c.padding != nil, c.factors != nil)
}

// call runs the layer. It returns the factors, if any, as a leaf.
func (c bagCase) call(table *weft.Tensor, last bool) (y, factors *weft.Tensor) {
	e := &nn.EmbeddingBag{Weight: table, Mode: c.mode, PaddingIdx: c.padding, IncludeLastOffset: last}
	var o nn.BagOpts
	if c.factors != nil {
		o.PerSampleWeights = nn.Param(weft.FromSlice(c.factors, len(c.at)).To(table.DType()))
	}
	begin := c.begin
	if !last {
		begin = begin[:len(begin)-1]
	}
	return e.Bags(weft.FromSlice(c.at, len(c.at)), weft.FromSlice(begin, len(begin)), o), o.PerSampleWeights
}

// formula is the definition in float64, with the gradients of the table and of the factors for
// the gradient dy of the result. Maxima that are equal share theirs.
func (c bagCase) formula(dy []float64) (y, dTable, dFactors []float64) {
	x, width := weft.Data[float64](c.table), c.table.Dim(1)
	y = make([]float64, (len(c.begin)-1)*width)
	dTable, dFactors = make([]float64, len(x)), make([]float64, len(c.at))
	for k := range y {
		bag, j := k/width, k%width
		var in []int
		for i := c.begin[bag]; i < c.begin[bag+1]; i++ {
			if c.padding == nil || int(c.at[i]) != *c.padding {
				in = append(in, int(i))
			}
		}
		value := func(i int) float64 { return x[int(c.at[i])*width+j] }
		if len(in) == 0 {
			continue
		}
		greatest, ties := math.Inf(-1), 0.0
		for _, i := range in {
			greatest = max(greatest, value(i))
		}
		for _, i := range in {
			if value(i) == greatest {
				ties++
			}
		}
		for _, i := range in {
			f := 1.0
			switch {
			case c.mode == nn.BagMean:
				f = 1 / float64(len(in))
			case c.mode == nn.BagMax && value(i) == greatest:
				f = 1 / ties
			case c.mode == nn.BagMax:
				f = 0
			case c.factors != nil:
				f = c.factors[i]
				dFactors[i] += dy[k] * value(i)
			}
			y[k] += f * value(i)
			dTable[int(c.at[i])*width+j] += f * dy[k]
		}
	}
	return y, dTable, dFactors
}

// bagCases are bags of several sizes, empty ones among them, over tables on both sides of the
// width from which rows are read in the kernel of the reduction.
func bagCases() (all []bagCase) {
	r := rand.New(rand.NewPCG(1, 2))
	g := weft.NewGenerator(3)
	for _, width := range []int{1, 3, 16, 64, 257} {
		for _, begin := range [][]int64{{0, 3, 3, 11, 12}, {0, 0, 40, 40}, {0, 500, 600}, {0}, {0, 0}} {
			for _, mode := range []nn.BagMode{nn.BagMean, nn.BagSum, nn.BagMax} {
				for _, padding := range []*int{nil, new(2)} {
					c := bagCase{table: g.RandnOf(weft.Float64, 9, width), begin: begin, mode: mode, padding: padding, at: make([]int64, begin[len(begin)-1])}
					for i := range c.at {
						c.at[i] = r.Int64N(9)
					}
					all = append(all, c)
					if mode == nn.BagSum {
						c.factors = make([]float64, len(c.at))
						for i := range c.factors {
							c.factors[i] = r.NormFloat64()
						}
						all = append(all, c)
					}
				}
			}
		}
	}
	return all
}

func allNear(a, b []float64) bool {
	for i := range a {
		if !(math.Abs(a[i]-b[i]) <= 1e-11*(1+math.Abs(b[i]))) {
			return false
		}
	}
	return len(a) == len(b)
}

func TestEmbeddingBagOfFormula(t *testing.T) {
	for i, c := range bagCases() {
		table := nn.Param(c.table.Clone())
		y, factors := c.call(table, i%2 == 0)
		dy := weft.NewGenerator(4).RandnOf(weft.Float64, y.Shape()...)
		want, dTable, dFactors := c.formula(weft.Data[float64](dy))
		if !allNear(weft.Data[float64](y), want) {
			t.Fatalf("%s: not the formula", c)
		}
		y.Mul(dy).Sum().Backward()
		if !allNear(weft.Data[float64](table.Grad()), dTable) {
			t.Fatalf("%s: gradient of the table: not the formula", c)
		}
		if factors != nil && !allNear(weft.Data[float64](factors.Grad()), dFactors) {
			t.Fatalf("%s: gradient of the factors: not the formula", c)
		}
	}
}

// TestEmbeddingBagGradientByDifferences moves each element of the table both ways.
func TestEmbeddingBagGradientByDifferences(t *testing.T) {
	const h = 1e-6
	for _, c := range bagCases() {
		if c.table.Dim(1) != 16 || len(c.at) == 0 || len(c.at) > 50 {
			continue
		}
		sum := func(x *weft.Tensor) *weft.Tensor { y, _ := c.call(x, true); return y.Square().Sum() }
		table := nn.Param(c.table.Clone())
		sum(table).Backward()
		grad, x := weft.Data[float64](table.Grad()), weft.Data[float64](c.table)
		for i := range x {
			at := func(d float64) float64 {
				z := append([]float64(nil), x...)
				z[i] += d
				return sum(weft.FromSlice(z, c.table.Shape()...)).Item()
			}
			if d := (at(h) - at(-h)) / (2 * h); math.Abs(d-grad[i]) > 1e-6*(1+math.Abs(d)) {
				t.Fatalf("%s: gradient %d is %g, differences give %g", c, i, grad[i], d)
			}
		}
	}
}

// TestEmbeddingBagBits compares the bits of the fused call with the bits of IndexSelect and a
// reduction, of the compiled call, and of indices with two axes.
func TestEmbeddingBagBits(t *testing.T) {
	g := weft.NewGenerator(5)
	for _, d := range []weft.DType{weft.Float16, weft.BFloat16, weft.Float32, weft.Float64} {
		for _, width := range []int{8, 16, 33, 64, 300} {
			table, at := g.Randn(50, width).To(d), g.Randint(0, 50, 30*20)
			begin := weft.Arange(0, 601, 20)
			rows := table.IndexSelect(0, at)
			for _, weight := range []*weft.Tensor{table, table.T().Clone().T()} {
				for mode, want := range map[nn.BagMode]*weft.Tensor{
					nn.BagSum: ragged.FromOffsets(rows, begin).Sum(), nn.BagMean: ragged.FromOffsets(rows, begin).Mean(), nn.BagMax: ragged.FromOffsets(rows, begin).Max(),
				} {
					e := &nn.EmbeddingBag{Weight: weight, Mode: mode, IncludeLastOffset: true}
					compiled, err := weft.Compile(func(x, offsets *weft.Tensor) *weft.Tensor { return e.Bags(x, offsets) }).Call(at, begin)
					if err != nil {
						t.Fatal(err)
					}
					for name, y := range map[string]*weft.Tensor{"offsets": e.Bags(at, begin), "int32": e.Bags(at.To(weft.Int32), begin.To(weft.Int16)), "two axes": e.Forward(at.Reshape(30, 20)), "compiled": compiled} {
						if weft.Digest(y) != weft.Digest(want) {
							t.Errorf("%s, %s, width %d, mode %d: not the bits of rows taken first", name, d, width, mode)
						}
					}
				}
			}
		}
	}
}

// TestEmbeddingBagPadding shows that the padding row is not read: NaN in it does not spread.
func TestEmbeddingBagPadding(t *testing.T) {
	e := nn.NewEmbeddingBag(4, 16, nn.EmbeddingBagOpts{PaddingIdx: new(1)})
	if weft.Data[float32](e.Weight.At(1).Abs().Sum())[0] != 0 {
		t.Error("the row of the padding does not begin as zeros")
	}
	e.Weight.Detach().Slice(weft.Index(1)).Fill(math.NaN())
	for _, e.Mode = range []nn.BagMode{nn.BagMean, nn.BagSum, nn.BagMax} {
		e.Weight.SetGrad(nil)
		y := e.Forward(weft.FromSlice([]int64{0, 1, 1, 1}, 2, 2))
		if y.At(0).IsNaN().Any().ItemInt() != 0 || weft.Digest(y.At(0).Detach()) != weft.Digest(e.Weight.At(0).Detach()) || y.At(1).Abs().Sum().Item() != 0 {
			t.Errorf("mode %d: %v", e.Mode, y)
		}
		y.Sum().Backward()
		if g := e.Weight.Grad(); g.At(0).Sum().Item() != 16 || g.Slice(weft.Range(1, 4)).Abs().Sum().Item() != 0 {
			t.Errorf("mode %d: gradient %v", e.Mode, g)
		}
	}
}

func TestEmbeddingBagMisuse(t *testing.T) {
	tensortest.SkipLate(t, "the errors come at the next wait")
	at, begin := weft.FromSlice([]int64{0, 1, 2}), weft.FromSlice([]int64{0, 2})
	for want, f := range map[string]func(e *nn.EmbeddingBag){
		"embedding_bag: x: is nil": func(e *nn.EmbeddingBag) { e.Bags(nil, begin) },
		"embedding_bag: x: has elements of type float32, want integers: indices of rows":                   func(e *nn.EmbeddingBag) { e.Bags(weft.Ones(3), begin) },
		"embedding_bag: x: has -1, want 0 to 4":                                                            func(e *nn.EmbeddingBag) { e.Bags(at.Sub(1), begin) },
		"embedding_bag: offsets: is nil: call Bags with the offset at which each bag of the vector begins": func(e *nn.EmbeddingBag) { e.Forward(at) },
		"embedding_bag: offsets: are for a vector of indices, x has shape [1 3]":                           func(e *nn.EmbeddingBag) { e.Bags(at.Reshape(1, 3), begin) },
		"embedding_bag: offsets: begin at 1, want 0":                                                       func(e *nn.EmbeddingBag) { e.Bags(at, begin.Add(1)) },
		"embedding_bag: PerSampleWeights: is given: weights require the mode BagSum":                       func(e *nn.EmbeddingBag) { e.Bags(at, begin, nn.BagOpts{PerSampleWeights: weft.Ones(3)}) },
		"embedding_bag: PerSampleWeights: has shape [2], want that of the indices, [3]": func(e *nn.EmbeddingBag) {
			e.Mode = nn.BagSum
			e.Bags(at, begin, nn.BagOpts{PerSampleWeights: weft.Ones(2)})
		},
		"embedding_bag: Mode: is 7, want BagMean, BagSum or BagMax": func(e *nn.EmbeddingBag) { e.Mode = 7; e.Bags(at, begin) },
		"embedding_bag: PaddingIdx: is 5, want 0 to 4":              func(e *nn.EmbeddingBag) { e.PaddingIdx = new(5); e.Bags(at, begin) },
		"embedding_bag: offsets: is empty: IncludeLastOffset needs the end of the last bag": func(e *nn.EmbeddingBag) {
			e.IncludeLastOffset = true
			e.Bags(at, begin.Slice(weft.Range(0, 0)))
		},
	} {
		err := weft.Try(func() { f(nn.NewEmbeddingBag(5, 16)) })
		if e := (*weft.Error)(nil); !errors.As(err, &e) || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
	compiled := weft.Compile(func(x, offsets *weft.Tensor) *weft.Tensor { return nn.NewEmbeddingBag(5, 16).Bags(x, offsets) })
	for _, offsets := range [][]int64{{1, 2}, {-1, 2}, {0, 4}, {2, 1}, {math.MinInt64, 0}, {0, math.MaxInt64}} {
		x := weft.FromSlice(offsets)
		_, err := compiled.Call(at, x)
		for _, err := range []error{err, weft.Try(func() { nn.NewEmbeddingBag(5, 16).Bags(at, x) })} {
			if e := (*weft.Error)(nil); !errors.As(err, &e) || e.Op != "embedding_bag" || e.Arg != "offsets" {
				t.Errorf("offsets %v: %v, want an error of offsets", offsets, err)
			}
		}
	}
	for _, f := range []func(e *nn.EmbeddingBag){
		func(e *nn.EmbeddingBag) { e.Bags(at.Add(3), begin) },
		func(e *nn.EmbeddingBag) { e.Bags(at, weft.FromSlice([]int64{0, 4})) },
		func(e *nn.EmbeddingBag) { e.Bags(at, weft.FromSlice([]int64{0, 2, 1})) },
	} {
		err := weft.Try(func() { f(nn.NewEmbeddingBag(5, 16)) })
		if e := (*weft.Error)(nil); !errors.As(err, &e) || e.Op != "embedding_bag" {
			t.Errorf("%v, want an error of embedding_bag", err)
		}
	}
}
