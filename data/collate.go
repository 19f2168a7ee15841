package data

import (
	"errors"
	"fmt"
	"reflect"
	"slices"

	"weft"
)

// Collate makes a batch of items, PyTorch's default_collate with the type of the batch as the guide. An
// item and its batch are of types T and B:
//
//   - tensors of one shape, numbers, bools, and arrays and slices of numbers of one length become a
//     *weft.Tensor with a new first axis;
//   - tensors and slices of several lengths become a [Padded], or another [Collater] such as
//     *ragged.List of package ragged;
//   - a struct, or a pointer to one, becomes a struct: each exported field of B is made of the fields of
//     that name. A [Batch] is made of X and Y, and of nil where no item has a Y; loaders set the rest;
//   - anything, such as strings and tensors of several shapes, becomes a slice of it.
//
// An error says which field and which item of the batch does not fit; that of a loader is an
// [ItemError] with the example, and names its field Path if it has one.
func Collate[B, T any](items []T) (B, error) {
	var b B
	err := collate(reflect.ValueOf(&b).Elem(), reflect.ValueOf(items), "")
	var misfit *misfit
	if errors.As(err, &misfit) {
		if path := pathOf(reflect.ValueOf(items[misfit.item])); path != "" {
			err = fmt.Errorf("%s: %w", path, err)
		}
	}
	return b, err
}

// A misfit is the error of an item that does not fit to the others of its batch.
type misfit struct {
	item int // in the batch
	msg  string
}

// Error names the item.
func (m *misfit) Error() string { return fmt.Sprintf("item %d of the batch %s", m.item, m.msg) }

// ofItem returns an error of a batch as that of the example, if it is one's.
func ofItem(err error, index []int64) error {
	var m *misfit
	if errors.As(err, &m) && m.item < len(index) {
		return &ItemError{int(index[m.item]), err}
	}
	return err
}

var tensorType, batchType = reflect.TypeFor[*weft.Tensor](), reflect.TypeFor[Batch]()

// noneOf is whether all items of a slice of tensors are nil.
func noneOf(items reflect.Value) bool {
	list, ok := items.Interface().([]*weft.Tensor)
	return ok && !slices.ContainsFunc(list, func(t *weft.Tensor) bool { return t != nil })
}

// collate sets to, a batch, from a slice of items. field is its name in a struct.
func collate(to, items reflect.Value, field string) error {
	item := items.Type().Elem()
	in := func(format string, args ...any) error {
		if field != "" {
			format = "field " + field + ": " + format
		}
		return fmt.Errorf("data: collate: "+format, args...)
	}
	if c := collater(to); c != nil {
		if err := c.Collate(items.Interface()); err != nil {
			return in("%w", err)
		}
		return nil
	}
	switch {
	case to.Type() == tensorType:
		t, err := stacked(items)
		if err != nil {
			return in("%w", err)
		}
		to.Set(reflect.ValueOf(t))
		return nil
	case to.Type() == items.Type():
		out := reflect.MakeSlice(to.Type(), items.Len(), items.Len())
		reflect.Copy(out, items)
		to.Set(out)
		return nil
	}
	pointer := item.Kind() == reflect.Pointer
	if pointer {
		item = item.Elem()
	}
	if to.Kind() != reflect.Struct || item.Kind() != reflect.Struct {
		return in("%s cannot be made of items of type %s", to.Type(), items.Type().Elem())
	}
	for i := range to.NumField() {
		f := to.Type().Field(i)
		if !f.IsExported() || to.Type() == batchType && f.Type != tensorType {
			continue
		}
		from, ok := item.FieldByName(f.Name)
		if !ok || !from.IsExported() {
			return in("items of type %s have no field %s", item, f.Name)
		}
		column := reflect.MakeSlice(reflect.SliceOf(from.Type), items.Len(), items.Len())
		for k := range items.Len() {
			x := items.Index(k)
			if pointer {
				if x.IsNil() {
					return in("%w", &misfit{k, "is nil"})
				}
				x = x.Elem()
			}
			column.Index(k).Set(x.FieldByIndex(from.Index))
		}
		if to.Type() == batchType && f.Name == "Y" && noneOf(column) {
			continue
		}
		name := f.Name
		if field != "" {
			name = field + "." + name
		}
		if err := collate(to.Field(i), column, name); err != nil {
			return err
		}
	}
	return nil
}

// stacked is a tensor of items.
func stacked(items reflect.Value) (out *weft.Tensor, err error) {
	list, ok := items.Interface().([]*weft.Tensor)
	if !ok {
		err = weft.Try(func() { out = weft.From(items.Interface()) })
		return out, err
	}
	return stackedTensors(list)
}

// stackedTensors joins tensors of one type and shape along a new first axis.
func stackedTensors(list []*weft.Tensor) (out *weft.Tensor, err error) {
	if len(list) == 0 {
		return nil, fmt.Errorf("there are no tensors")
	}
	detached := make([]*weft.Tensor, len(list))
	for i, t := range list {
		if t == nil {
			return nil, &misfit{i, "is nil"}
		}
		detached[i] = t.Detach()
		if detached[i].DType() != detached[0].DType() || !slices.Equal(t.Shape(), list[0].Shape()) {
			return nil, &misfit{i, fmt.Sprintf("is %s%v, item 0 %s%v", t.DType(), t.Shape(), list[0].DType(), list[0].Shape())}
		}
	}
	err = weft.Try(func() { out = plain(weft.Stack(detached, 0)) })
	return out, err
}
