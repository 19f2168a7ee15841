package nn_test

import (
	"testing"

	"weft"
	"weft/nn"
)

// A cache holds what was appended, in order: with and without gradients, beyond its first room, and
// after rows were selected. A copy that goes on differently leaves the original alone.
func TestKVCacheAppends(t *testing.T) {
	g := weft.NewGenerator(1)
	same := func(what string, got *weft.Tensor, want ...*weft.Tensor) {
		t.Helper()
		if w := weft.Cat(want, 2); !got.AllClose(w, weft.CloseOpts{Relative: new(0.0), Absolute: new(0.0)}) {
			t.Errorf("%s: %v, want %v", what, got, w)
		}
	}
	draw := func(steps int) (k, v *weft.Tensor) { return g.Randn(2, 3, steps, 4), g.Randn(2, 3, steps, 5) }
	var c nn.KVCache
	var ks, vs []*weft.Tensor
	for _, steps := range []int{1, 3, 0, 60, 1, 1, 200, 1} {
		k, v := draw(steps)
		ks, vs = append(ks, k), append(vs, v)
		keys, values := c.Append(k, v)
		same("keys", keys, ks...)
		same("values", values, vs...)
	}
	if c.Len() != 267 {
		t.Errorf("%d keys, want 267", c.Len())
	}
	before, other := c.Keys.Clone(), c
	k, v := draw(1)
	c.Append(k, v)
	k2, v2 := draw(2)
	other.Append(k2, v2)
	same("keys beside a copy", c.Keys, before, k)
	same("keys of the copy", other.Keys, before, k2)

	c.Select(weft.From([]int64{1, 0, 1}))
	same("selected keys", c.Keys, weft.Cat([]*weft.Tensor{before, k}, 2).IndexSelect(0, weft.From([]int64{1, 0, 1})))
	k, v = g.Randn(3, 3, 1, 4), g.Randn(3, 3, 1, 5)
	was := c.Keys
	c.Append(k, v)
	same("keys behind selected ones", c.Keys, was, k)

	k.RequireGrad()
	c.Append(k, v)
	c.Keys.Sum().Backward()
	if k.Grad() == nil || k.Grad().Sum().Item() != 3*3*4 {
		t.Errorf("gradient %v, want ones", k.Grad())
	}
	for what, f := range map[string]func(){
		"rows":   func() { c.Append(draw(1)) },
		"nil":    func() { c.Append(nil, v) },
		"steps":  func() { c.Append(k, g.Randn(3, 3, 2, 5)) },
		"dtypes": func() { c.Append(k.To(weft.Float64), v.To(weft.Float64)) },
	} {
		if weft.Try(f) == nil {
			t.Errorf("%s are not refused", what)
		}
	}
}

// A compiled step with a cache that it captures gives what an eager one gives.
func TestKVCacheCompiled(t *testing.T) {
	g := weft.NewGenerator(2)
	k, v, k2, v2 := g.Randn(1, 2, 3, 4), g.Randn(1, 2, 3, 4), g.Randn(1, 2, 1, 4), g.Randn(1, 2, 1, 4)
	var c nn.KVCache
	c.Append(k, v)
	f := weft.Compile(func(k2, v2 *weft.Tensor) *weft.Tensor {
		d := c
		keys, values := d.Append(k2, v2)
		return keys.Add(values)
	})
	got, err := f.Call(k2, v2)
	keys, values := c.Append(k2, v2)
	if err != nil || !got.AllClose(keys.Add(values)) {
		t.Errorf("%v %v, want %v", got, err, keys.Add(values))
	}
}
