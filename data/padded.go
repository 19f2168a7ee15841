package data

import (
	"fmt"
	"reflect"
	"slices"

	"weft"
)

// A Collater is a part of a batch that is made of items in its own way. [Collate] calls the method of a
// new one, a pointer.
type Collater interface {
	// Collate sets the receiver. items is a slice of what the items of the batch have in its place.
	Collate(items any) error
}

// collater returns the Collater that to is, or points to, and nil for others. A nil pointer is set.
func collater(to reflect.Value) Collater {
	if c, ok := to.Addr().Interface().(Collater); ok {
		return c
	}
	if to.Kind() != reflect.Pointer || !to.Type().Implements(reflect.TypeFor[Collater]()) {
		return nil
	}
	to.Set(reflect.New(to.Type().Elem()))
	return to.Interface().(Collater)
}

// Padded is sequences of different length in one tensor, filled up at their ends: what [Collate] makes of
// tensors and slices of numbers.
type Padded struct {
	X       *weft.Tensor // [batch, the longest, ...]
	Lengths *weft.Tensor // int64 [batch]
}

// Collate implements [Collater]: it fills up with 0.
func (p *Padded) Collate(items any) error {
	list, ok := items.([]*weft.Tensor)
	if !ok {
		v := reflect.ValueOf(items)
		if v.Kind() != reflect.Slice || v.Type().Elem().Kind() != reflect.Slice {
			return fmt.Errorf("items of type %T are not sequences", items)
		}
		for i := range v.Len() {
			var t *weft.Tensor
			if err := weft.Try(func() { t = weft.From(v.Index(i).Interface()) }); err != nil {
				return &misfit{i, err.Error()}
			}
			list = append(list, t)
		}
	}
	var err error
	*p, err = PadSequence(list, 0)
	return err
}

// PadSequence fills sequences [length, ...] of one type up to the length of the longest. An error says
// which one does not fit to the first.
func PadSequence(sequences []*weft.Tensor, value float64) (p Padded, err error) {
	if len(sequences) == 0 {
		return p, fmt.Errorf("there are no tensors")
	}
	lengths, longest := make([]int64, len(sequences)), 0
	for i, t := range sequences {
		switch first := sequences[0]; {
		case t == nil:
			return p, &misfit{i, "is nil"}
		case t.Rank() == 0:
			return p, &misfit{i, "has no axis"}
		case t.DType() != first.DType() || !slices.Equal(t.Shape()[1:], first.Shape()[1:]):
			return p, &misfit{i, fmt.Sprintf("is %s%v, item 0 %s%v: only the first axis may differ", t.DType(), t.Shape(), first.DType(), first.Shape())}
		}
		lengths[i] = int64(t.Dim(0))
		longest = max(longest, t.Dim(0))
	}
	err = weft.Try(func() {
		rows := make([]*weft.Tensor, len(sequences))
		for i, t := range sequences {
			pads := make([]int, 2*t.Rank())
			pads[1] = longest - t.Dim(0)
			rows[i] = t.Detach().Pad(value, pads...)
		}
		x := plain(weft.Stack(rows, 0))
		p = Padded{x, weft.FromSlice(lengths).On(x.Device())}
	})
	return p, err
}
