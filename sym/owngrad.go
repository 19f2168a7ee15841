package sym

import (
	"weft"
)

// ownGradient computes an operation whose gradient a function gives: back returns the gradients
// of the arguments x, or nil, from them, the results and the gradients of the results. Those are
// zeros where nothing depends on a result, and nil for a result that holds no floats.
//
// The tape knows Go functions of one result. Several results are parts of one vector.
func ownGradient(name string, x []*weft.Tensor, forward func(x []*weft.Tensor) []*weft.Tensor, back func(x, y, dy []*weft.Tensor) []*weft.Tensor) []*weft.Tensor {
	var ys []*weft.Tensor
	var p packing
	f := &weft.Func{Name: name,
		Forward: func(c *weft.FuncContext, x ...*weft.Tensor) *weft.Tensor {
			ys = forward(x)
			p = packingOf(ys)
			y := p.pack(ys)
			c.Save(x...)
			c.Save(y)
			for i := range ys {
				if !p.has[i] {
					c.Save(ys[i])
				}
			}
			return y
		},
		Backward: func(c *weft.FuncContext, dy *weft.Tensor) []*weft.Tensor {
			saved := make([]*weft.Tensor, len(x))
			for i := range saved {
				saved[i] = c.Saved(i)
			}
			y := p.unpack(c.Saved(len(x)))
			at := len(x) + 1
			for i := range y {
				if !p.has[i] {
					y[i] = c.Saved(at)
					at++
				}
			}
			return back(saved, y, p.unpack(dy))
		}}
	out := p.unpack(f.Apply(x...))
	for i, y := range out {
		if y == nil {
			out[i] = ys[i].Detach()
		}
	}
	return out
}

// A packing is how the results that hold floats are parts of one tensor.
type packing struct {
	like  []*weft.Tensor
	has   []bool // by result: it holds floats
	dtype weft.DType
	count int
}

// packingOf finds a type that holds the elements of all results exactly.
func packingOf(ys []*weft.Tensor) packing {
	p := packing{like: ys, has: make([]bool, len(ys))}
	for i, y := range ys {
		d := y.DType()
		if p.has[i] = d.Differentiable(); !p.has[i] {
			continue
		}
		switch {
		case p.count == 0:
			p.dtype = d
		case p.dtype == d:
		case p.dtype.Complex() || d.Complex():
			p.dtype = weft.Complex128
		default:
			p.dtype = weft.Float64
		}
		p.count++
	}
	return p
}

// pack returns the results that hold floats as one tensor: a vector, unless it is one result.
func (p *packing) pack(ys []*weft.Tensor) *weft.Tensor {
	var parts []*weft.Tensor
	for i, y := range ys {
		switch {
		case p.has[i] && p.count == 1:
			return y
		case p.has[i]:
			parts = append(parts, y.To(p.dtype).Reshape(y.Size()))
		}
	}
	if len(parts) == 0 {
		return ys[0]
	}
	return weft.Cat(parts, 0)
}

// unpack returns the results in a tensor, nil for those that hold no floats.
func (p *packing) unpack(t *weft.Tensor) []*weft.Tensor {
	out := make([]*weft.Tensor, len(p.like))
	at := 0
	for i, y := range p.like {
		switch {
		case p.has[i] && p.count == 1:
			out[i] = t
		case p.has[i]:
			n := y.Size()
			part := t.Slice(weft.Range(at, at+n)).Reshape(sizes(y)...)
			if at += n; p.dtype.Complex() && !y.DType().Complex() {
				part = part.Real()
			}
			out[i] = part.To(y.DType())
		}
	}
	return out
}
