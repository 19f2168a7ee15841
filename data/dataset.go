package data

import (
	"context"
	"fmt"

	"weft"
	"weft/internal/array"
	"weft/internal/core"
)

// A Dataset is a sequence of examples. A loader calls its methods from one
// goroutine at a time, which is not the training loop's; with several workers from several.
type Dataset interface {
	// Len is the number of examples. It must not change.
	Len() int
	// Get returns example i, from 0 to Len()-1: input and target, without a
	// batch axis. y may be nil if it is for all examples.
	Get(i int) (x, y *weft.Tensor, err error)
}

// A Batcher is a Dataset that returns several examples at once, joined along a
// new first axis: loaders call Batch instead of Get. It may keep index but not
// write to it.
type Batcher interface {
	Batch(index []int64) (x, y *weft.Tensor, err error)
}

// Tensors is the dataset of the rows of x and y, which have the same number of
// them; y may be nil. It panics with *weft.Error if they have not.
func Tensors(x, y *weft.Tensor) Dataset {
	if x == nil {
		array.Failf("tensors", "x", "is nil: only y may be")
	}
	if x.Rank() == 0 || y != nil && (y.Rank() == 0 || y.Dim(0) != x.Dim(0)) {
		shape := "nil"
		if y != nil {
			shape = array.ShapeString(y.Shape())
		}
		array.Failf("tensors", "", "x has shape %s, y %s: want a first axis of the same size, the examples", array.ShapeString(x.Shape()), shape)
	}
	d := &rows{x: x.Detach()}
	if y != nil {
		d.y = y.Detach()
	}
	return d
}

type rows struct{ x, y *weft.Tensor }

func (d *rows) Len() int { return d.x.Dim(0) }

func (d *rows) Get(i int) (x, y *weft.Tensor, err error) {
	if i < 0 || i >= d.Len() {
		return nil, nil, fmt.Errorf("data: example %d of %d", i, d.Len())
	}
	if d.y != nil {
		y = d.y.At(i).Detach()
	}
	return d.x.At(i), y, nil
}

func (d *rows) Batch(index []int64) (x, y *weft.Tensor, err error) {
	i := weft.FromSlice(index).On(d.x.Device())
	if d.y != nil {
		y = plain(d.y.IndexSelect(0, i.On(d.y.Device())))
	}
	return plain(d.x.IndexSelect(0, i)), y, nil
}

// plain returns t for use as any other tensor: gradients flow past it.
func plain(t *weft.Tensor) *weft.Tensor {
	return (*weft.Tensor)(core.FromView(*(*core.Tensor)(t).Layout()))
}

// join makes a batch of single examples.
func join(ctx context.Context, d Dataset, index []int64) (x, y *weft.Tensor, err error) {
	if b, ok := d.(Batcher); ok {
		return b.Batch(index)
	}
	var xs, ys []*weft.Tensor
	for _, i := range index {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		x, y, err := d.Get(int(i))
		switch {
		case err != nil:
			return nil, nil, &ItemError{int(i), err}
		case x == nil:
			return nil, nil, fmt.Errorf("data: example %d has no input", i)
		case len(xs) > 0 && (y == nil) != (len(ys) == 0):
			return nil, nil, fmt.Errorf("data: example %d has a target and others have none, or the reverse", i)
		}
		xs = append(xs, x)
		if y != nil {
			ys = append(ys, y)
		}
	}
	if x, err = stackedTensors(xs); err == nil && len(ys) > 0 {
		y, err = stackedTensors(ys)
	}
	if err != nil {
		return nil, nil, ofItem(fmt.Errorf("data: examples do not join: %w", err), index)
	}
	return x, y, nil
}
