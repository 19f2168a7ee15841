package sym_test

import (
	"fmt"
	"testing"

	"weft"
	"weft/sym"
)

// TestSizedOperations compares operations of symbolic sizes with the same of numbers, over lengths.
func TestSizedOperations(t *testing.T) {
	x := sym.Vector("x", weft.Float64)
	k := sym.Scalar("k", weft.Int64)
	n := x.Len(0)
	cases := []struct {
		name string
		v    *sym.Var
		want func(x *weft.Tensor, n, k int) *weft.Tensor
	}{
		{"len", n.Mul(2).Add(k), func(_ *weft.Tensor, n, k int) *weft.Tensor { return weft.ScalarOf(weft.Int64, 2*n+k) }},
		{"zeros", sym.Zeros(n, k), func(_ *weft.Tensor, n, k int) *weft.Tensor { return weft.Zeros(n, k) }},
		{"zeros of", sym.ZerosOf(weft.Int32, k.Add(1), 2), func(_ *weft.Tensor, n, k int) *weft.Tensor { return weft.ZerosOf(weft.Int32, k+1, 2) }},
		{"ones", sym.Ones(n.Sub(k).Maximum(0)), func(_ *weft.Tensor, n, k int) *weft.Tensor { return weft.Ones(max(n-k, 0)) }},
		{"ones of", sym.OnesOf(weft.Float64, 3, k), func(_ *weft.Tensor, n, k int) *weft.Tensor { return weft.OnesOf(weft.Float64, 3, k) }},
		{"full", sym.Full(2.5, k), func(_ *weft.Tensor, n, k int) *weft.Tensor { return weft.Full(2.5, k) }},
		{"full of a variable", sym.FullOf(weft.Float64, x.Sum(), k, n), func(x *weft.Tensor, n, k int) *weft.Tensor { return x.Sum().Expand(k, n) }},
		{"eye", sym.Eye(k), func(_ *weft.Tensor, n, k int) *weft.Tensor { return weft.Eye(k) }},
		{"arange", sym.Arange(k), func(_ *weft.Tensor, n, k int) *weft.Tensor { return weft.Arange(k) }},
		{"arange with a start", sym.Arange(k, n), func(_ *weft.Tensor, n, k int) *weft.Tensor { return weft.Arange(k, n) }},
		{"arange backwards", sym.Arange(n, k.Neg(), -2), func(_ *weft.Tensor, n, k int) *weft.Tensor { return weft.Arange(n, -k, -2) }},
		{"reshape", x.Reshape(1, n), func(x *weft.Tensor, n, k int) *weft.Tensor { return x.Reshape(1, n) }},
		{"expand", x.Expand(k, n), func(x *weft.Tensor, n, k int) *weft.Tensor { return x.Expand(k, n) }},
		{"expand keeping", x.Unsqueeze(1).Expand(-1, k), func(x *weft.Tensor, n, k int) *weft.Tensor { return x.Unsqueeze(1).Expand(-1, k) }},
		{"tile", x.Tile(k), func(x *weft.Tensor, n, k int) *weft.Tensor { return x.Tile(k) }},
		{"repeat", x.Repeat(2, k), func(x *weft.Tensor, n, k int) *weft.Tensor { return x.Repeat(2, k) }},
		{"repeat each", x.RepeatInterleave(0, k), func(x *weft.Tensor, n, k int) *weft.Tensor { return x.RepeatInterleave(0, k) }},
		{"repeat by counts", x.RepeatInterleave(0, sym.Arange(n).Mod(3)), func(x *weft.Tensor, n, k int) *weft.Tensor {
			counts := make([]int, n)
			for i := range counts {
				counts[i] = i % 3
			}
			return x.RepeatInterleave(0, counts)
		}},
		{"nonzero", x.NonZero(), func(x *weft.Tensor, n, k int) *weft.Tensor { return x.NonZero() }},
		{"mask", x.MaskSelect(x.Gt(0)), func(x *weft.Tensor, n, k int) *weft.Tensor { return x.MaskSelect(x.Gt(0)) }},
		{"mask that broadcasts", x.Unsqueeze(1).Expand(-1, 2).MaskSelect(x.Unsqueeze(1).Gt(0)), func(x *weft.Tensor, n, k int) *weft.Tensor {
			return x.Unsqueeze(1).Expand(-1, 2).MaskSelect(x.Unsqueeze(1).Gt(0))
		}},
		{"slice to", x.Slice(sym.Range(0, k)), func(x *weft.Tensor, n, k int) *weft.Tensor { return x.Slice(weft.Range(0, k)) }},
		{"slice from", x.Slice(sym.Range(k, weft.End)), func(x *weft.Tensor, n, k int) *weft.Tensor { return x.Slice(weft.Range(k, weft.End)) }},
		{"slice from the back", x.Slice(sym.Range(k.Neg(), weft.End)), func(x *weft.Tensor, n, k int) *weft.Tensor { return x.Slice(weft.Range(-k, weft.End)) }},
		{"slice by steps", x.Slice(sym.Range(k, n, 2)), func(x *weft.Tensor, n, k int) *weft.Tensor { return x.Slice(weft.Range(k, n, 2)) }},
		{"slice backwards", x.Slice(sym.Range(k, weft.Begin, -1)), func(x *weft.Tensor, n, k int) *weft.Tensor { return x.Slice(weft.Range(k, weft.Begin, -1)) }},
		{"slice of an axis", x.Expand(3, n).Slice(weft.Index(1), sym.Range(k, n)), func(x *weft.Tensor, n, k int) *weft.Tensor { return x.Slice(weft.Range(k, n)) }},
		{"slice behind an ellipsis", x.Expand(3, n).Slice(weft.Ellipsis, weft.NewAxis, sym.Range(0, k)), func(x *weft.Tensor, n, k int) *weft.Tensor {
			return x.Expand(3, n).Slice(weft.Ellipsis, weft.NewAxis, weft.Range(0, k))
		}},
		{"narrow", x.Narrow(0, n.Sub(k).Maximum(0), n.Minimum(k)), func(x *weft.Tensor, n, k int) *weft.Tensor { return x.Slice(weft.Range(max(n-k, 0), n)) }},
		{"narrow by data", x.Narrow(0, x.Lt(0).Sum(), x.Ge(0).Sum()), func(x *weft.Tensor, n, k int) *weft.Tensor {
			return x.Slice(weft.Range(int(x.Lt(0).Sum().ItemInt()), n))
		}},
	}
	for _, c := range cases {
		in := []any{}
		used := sym.IgnoreUnused
		in = append(in, x, k)
		f := function(t, sym.In(in...), sym.Out(c.v), used)
		for _, n := range []int{0, 1, 2, 5} {
			for _, k := range []int{0, 1, 2, 5} {
				x := weft.Arange(n).To(weft.Float64).Sub(1)
				want := c.want(x, n, k)
				what := fmt.Sprintf("%s for %d, %d", c.name, n, k)
				same(t, what, results(t, f, x, k)[0], want)
				same(t, what+" uncompiled", eagerly(t, f, x, k)[0], want)
				if got := c.v.Shape(); len(got) != want.Rank() {
					t.Fatalf("%s is %v", what, c.v)
				} else {
					for i, n := range got {
						if n != sym.Any && n != want.Dim(i) {
							t.Errorf("%s: the variable is %v, its value %v", what, got, want.Shape())
						}
					}
				}
			}
		}
	}
}
