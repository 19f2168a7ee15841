package nn

import (
	"slices"

	"weft"
	"weft/internal/array"
	"weft/internal/core"
)

// KVCache has projected keys and values, [batch, heads, keys, width/heads], of one attention layer,
// or the caches of a stack of layers: a text that grows is attended to without computing its
// beginning again. The zero value is empty. It becomes the cache of a layer or of a stack by its first
// call.
//
// Keys and Values are views of memory with room behind them, so that a step writes its own keys
// alone. Where gradients are recorded, and in compiled functions, each step copies all.
type KVCache struct {
	Keys, Values *weft.Tensor
	// Layers are the caches of the layers of a stack of several, which has no keys itself.
	Layers []*KVCache
	// Fixed keeps the keys and values of the first call. Later calls attend to these, and their own
	// keys and values are not used: so a decoder projects the memory once. It does not go with Causal.
	Fixed bool

	room *kvRoom
}

// kvRoom is the memory behind the keys and values of caches. A cache may write behind its keys only
// if they are the last that the room has: copies of a cache may go on differently.
type kvRoom struct {
	keys, values         *weft.Tensor // [batch, heads, capacity, width]
	lastKeys, lastValues *weft.Tensor // the longest views
}

// Len returns the number of keys, of the first layer in a stack, and 0 if Keys does not have four axes.
func (c *KVCache) Len() int {
	defer array.Named("kvcache").End()
	if c != nil && len(c.Layers) > 0 {
		c = c.Layers[0]
	}
	if c == nil || c.Keys == nil || c.Keys.Rank() != 4 {
		return 0
	}
	return c.Keys.Dim(2)
}

// layer returns the cache of layer i in a stack of n, whose operation has that name. The cache of one
// layer is that of the stack.
func (c *KVCache) layer(name string, i, n int) *KVCache {
	switch {
	case c == nil || n == 1 && len(c.Layers) == 0:
		return c
	case c.Keys != nil || c.Values != nil:
		array.Failf(name, "Cache", "has the keys of one layer, want caches of %d layers", n)
	case len(c.Layers) == 0:
		for range n {
			c.Layers = append(c.Layers, &KVCache{Fixed: c.Fixed})
		}
	case len(c.Layers) != n || slices.Contains(c.Layers, nil):
		array.Failf(name, "Cache", "has caches of %d layers, none nil: want %d", len(c.Layers), n)
	}
	return c.Layers[i]
}

// fixed reports whether the keys and values of c are all that a call for so large a batch attends to.
func (c *KVCache) fixed(name string, batch int, causal bool) bool {
	switch {
	case c == nil || !c.Fixed:
		return false
	case causal:
		array.Failf(name, "Causal", "does not go with a fixed cache: its keys are not steps of the queries")
	case c.Keys == nil && c.Values == nil && len(c.Layers) == 0:
		return false
	case c.Len() == 0 || c.Values == nil || c.Values.Rank() != 4 || c.Values.Dim(2) != c.Len() || c.Keys.Dim(0) != batch:
		array.Failf(name, "Cache", "does not have fixed keys and values [%d heads keys width]", batch)
	}
	return true
}

// Append puts keys and values [batch, heads, steps, width/heads] behind those that are there, and
// returns all. It panics with *weft.Error if shapes or element types do not fit.
func (c *KVCache) Append(k, v *weft.Tensor) (keys, values *weft.Tensor) {
	const name = "kv_cache"
	defer array.Named(name).End()
	if c == nil {
		array.Failf(name, "Cache", "is nil")
	}
	if len(c.Layers) > 0 {
		array.Failf(name, "Cache", "is of a stack of %d layers, want that of one layer", len(c.Layers))
	}
	for i, old := range []*weft.Tensor{c.Keys, c.Values} {
		x := []*weft.Tensor{k, v}[i]
		switch {
		case x == nil || x.Rank() != 4 || x.Dim(2) != k.Dim(2):
			array.Failf(name, []string{"k", "v"}[i], "is not [batch heads steps width]")
		case (old == nil) != (c.Keys == nil):
			array.Failf(name, "Cache", "has keys or values alone")
		case old == nil:
		case old.Rank() != 4 || old.Dim(0) != x.Dim(0) || old.Dim(1) != x.Dim(1) || old.Dim(3) != x.Dim(3) || old.Dim(2) != c.Keys.Dim(2):
			array.Failf(name, "Cache", "has shape %s, which does not go before %s", array.ShapeString(old.Shape()), array.ShapeString(x.Shape()))
		case old.DType() != x.DType():
			array.Failf(name, "Cache", "has elements of type %s, want %s", old.DType(), x.DType())
		}
	}
	switch {
	case core.TracingHere() != nil || recorded(k, v, c.Keys, c.Values):
		if c.Keys != nil {
			k, v = weft.Cat([]*weft.Tensor{c.Keys, k}, 2), weft.Cat([]*weft.Tensor{c.Values, v}, 2)
		}
		c.Keys, c.Values, c.room = k, v, nil
	default:
		c.write(k, v)
	}
	return c.Keys, c.Values
}

// recorded reports whether one of some tensors, or nil, takes part in gradients.
func recorded(ts ...*weft.Tensor) bool {
	for _, t := range ts {
		if t != nil && t.RequiresGrad() {
			return true
		}
	}
	return false
}

// leastRoom is the number of keys that the first room of a cache has, at least.
const leastRoom = 64

// write puts k and v behind the cache's keys and values in its room, or in a room of twice the size.
func (c *KVCache) write(k, v *weft.Tensor) {
	n := c.Len()
	end := n + k.Dim(2)
	r := c.room
	if r == nil || r.lastKeys != c.Keys || r.lastValues != c.Values || r.keys.Dim(2) < end {
		r = &kvRoom{keys: roomLike(k, end), values: roomLike(v, end)}
		if n > 0 {
			keysOf(r.keys, 0, n).Assign(c.Keys)
			keysOf(r.values, 0, n).Assign(c.Values)
		}
	}
	keysOf(r.keys, n, end).Assign(k)
	keysOf(r.values, n, end).Assign(v)
	c.Keys, c.Values, c.room = keysOf(r.keys, 0, end), keysOf(r.values, 0, end), r
	r.lastKeys, r.lastValues = c.Keys, c.Values
}

// roomLike returns memory for keys like x, at least for a number of them.
func roomLike(x *weft.Tensor, keys int) *weft.Tensor {
	return x.Device().ZerosOf(x.DType(), x.Dim(0), x.Dim(1), max(2*keys, leastRoom), x.Dim(3))
}

// keysOf returns the keys of x from one number to another.
func keysOf(x *weft.Tensor, from, to int) *weft.Tensor {
	return x.Slice(weft.All, weft.All, weft.Range(from, to))
}

// Select replaces the rows of the batch by those with the given numbers, integers [rows]. Beam search
// goes on so with the best of its texts.
func (c *KVCache) Select(rows *weft.Tensor) {
	defer array.Named("kv_cache").End()
	if c == nil {
		return
	}
	for _, l := range append([]*KVCache{c}, c.Layers...) {
		if l != nil && l.Keys != nil {
			l.Keys, l.Values, l.room = l.Keys.IndexSelect(0, rows), l.Values.IndexSelect(0, rows), nil
		}
	}
}

// String returns the types of keys and values, and the number of layers.
func (c *KVCache) String() string {
	var layers any
	if len(c.Layers) > 0 {
		layers = len(c.Layers)
	}
	return array.Describe("nn.KVCache", "Keys", c.Keys, "Values", c.Values, "Layers", layers, "Fixed", c.Fixed)
}
