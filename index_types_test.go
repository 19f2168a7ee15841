package weft_test

import (
	"strings"
	"testing"

	"weft"
	"weft/nn"
	"weft/ragged"
)

// indexed are the operations that take indices, by the name in their errors.
var indexed = []struct {
	name   string
	signed bool // places may count from the back
	f      func(x, places *weft.Tensor) *weft.Tensor
}{
	{"index", true, func(x, p *weft.Tensor) *weft.Tensor { return x.Index(p) }},
	{"index", true, func(x, p *weft.Tensor) *weft.Tensor { return x.Index(weft.All, p) }},
	{"index_select", true, func(x, p *weft.Tensor) *weft.Tensor { return x.IndexSelect(0, p) }},
	{"index_add", true, func(x, p *weft.Tensor) *weft.Tensor { return x.IndexAdd(0, p, x) }},
	{"index_put", true, func(x, p *weft.Tensor) *weft.Tensor { return x.IndexPut(7, p) }},
	{"index_put_add", true, func(x, p *weft.Tensor) *weft.Tensor { return x.IndexPutAdd(7, p) }},
	{"gather", true, func(x, p *weft.Tensor) *weft.Tensor { return x.Gather(1, p.Expand(3, 3)) }},
	{"take_along_axis", true, func(x, p *weft.Tensor) *weft.Tensor { return x.TakeAlongAxis(0, p.Reshape(1, 3)) }},
	{"scatter", true, func(x, p *weft.Tensor) *weft.Tensor { return x.Scatter(0, p.Reshape(1, 3), 5) }},
	{"scatter_add", true, func(x, p *weft.Tensor) *weft.Tensor { return x.ScatterAdd(0, p.Reshape(1, 3), weft.Ones(1, 3)) }},
	{"scatter_reduce", true, func(x, p *weft.Tensor) *weft.Tensor {
		return x.ScatterReduce(0, p.Reshape(1, 3), weft.Ones(1, 3), weft.ScatterOpts{Reduce: weft.ScatterMax})
	}},
	{"repeat_interleave", false, func(x, p *weft.Tensor) *weft.Tensor { return x.RepeatInterleave(0, p) }},
	{"bincount", false, func(x, p *weft.Tensor) *weft.Tensor { return p.BinCount(nil, 3) }},
	{"cross_entropy", false, func(x, p *weft.Tensor) *weft.Tensor { return weft.CrossEntropy(x, p) }},
	{"cross_entropy", false, func(x, p *weft.Tensor) *weft.Tensor { return nn.CrossEntropy(x, p) }},
	{"nll", false, func(x, p *weft.Tensor) *weft.Tensor { return nn.NLL(x, p) }},
	{"embedding_bag", false, func(x, p *weft.Tensor) *weft.Tensor {
		return (&nn.EmbeddingBag{Weight: x}).Bags(p, weft.Zeros(1).To(weft.Int64))
	}},
	{"embedding", false, func(x, p *weft.Tensor) *weft.Tensor { return (&nn.Embedding{Weight: x}).Forward(p) }},
	{"index", true, func(x, p *weft.Tensor) *weft.Tensor {
		list := ragged.FromSizes(x.Flatten(0), weft.From([]int64{9}))
		return list.Index(ragged.FromSizes(p, weft.From([]int64{3}))).Data().Clone()
	}},
}

// TestPlacesOfEveryType gives each operation that takes indices integers of every type: the results
// equal the results by int64, eagerly and compiled.
func TestPlacesOfEveryType(t *testing.T) {
	x := weft.Arange(0.0, 9).Reshape(3, 3)
	for i, c := range indexed {
		lists := [][]int64{{2, 0, 1}}
		if c.signed {
			lists = append(lists, []int64{-1, 0, -2})
		}
		for _, list := range lists {
			p := weft.From(list)
			want := weft.Digest(c.f(x, p))
			for _, d := range everyType {
				if !d.Integer() || list[0] < 0 && d.Unsigned() {
					continue
				}
				if got := c.f(x, p.To(d)); weft.Digest(got) != want {
					t.Errorf("%s at %v of %s is %v, want %v", c.name, list, d, got, c.f(x, p))
				}
				if c.name == "repeat_interleave" || c.name == "bincount" || i == len(indexed)-1 {
					continue // the shape depends on the elements, or the list is made in the function
				}
				got, err := weft.Compile(func(x, p *weft.Tensor) *weft.Tensor { return c.f(x, p) }).Call(x, p.To(d))
				if err == nil && weft.Digest(got) != want {
					t.Errorf("compiled, %s at %v of %s is %v, want %v", c.name, list, d, got, c.f(x, p))
				}
				if err != nil {
					t.Errorf("compiled, %s of %s: %v", c.name, d, err)
				}
			}
		}
	}
}

// TestPlacesRefused gives indices out of range, and tensors that are not of integers: the error
// names the operation that was called.
func TestPlacesRefused(t *testing.T) {
	x := weft.Arange(0.0, 9).Reshape(3, 3)
	for _, c := range indexed {
		for what, p := range map[string]*weft.Tensor{
			"uint64 beyond int64": weft.FromSlice([]uint64{1, 1<<64 - 1, 0}),
			"too large":           weft.From([]int64{0, 1 << 62, 0}),
			"floats":              weft.Ones(3),
		} {
			err := weft.Try(func() { weft.Data[float32](c.f(x, p).To(weft.Float32)) })
			if err == nil && c.name == "cross_entropy" && what == "floats" {
				continue // probabilities
			}
			if err == nil || !strings.Contains(err.Error(), c.name+":") {
				t.Errorf("%s at %s: %v", c.name, what, err)
			}
		}
	}
}
