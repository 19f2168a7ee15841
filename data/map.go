package data

import (
	"fmt"
	"reflect"
	"strings"

	"weft"
	"weft/internal/array"
	"weft/internal/op"
)

// Map is the dataset of what f makes of the items of d, one at a time, when they are asked for: workers
// call f. A panic of f with *weft.Error, such as that of a shape which does not fit, is the item's error.
// It panics with *weft.Error if d or f is nil.
func Map[T, U any](d DatasetOf[T], f func(item T) (U, error)) DatasetOf[U] {
	array.Given("map", "d", d != nil)
	array.Given("map", "f", f != nil)
	get := getter(d)
	return view[U]{d.Len, func(epoch, i int) (out U, err error) {
		item, err := get(epoch, i)
		if err != nil {
			return out, err
		}
		return tried(item, func() (U, error) { return f(item) })
	}}
}

// MapRandom is [Map] for an f that draws random numbers, such as an augmentation. Its generator is a
// function of the seed, the epoch and the place of the item in d, so that batches are the same for any
// number of workers and for a run that is resumed. Get returns items as they are in epoch 0. It panics
// with *weft.Error if d or f is nil.
func MapRandom[T, U any](d DatasetOf[T], seed uint64, f func(item T, g *weft.Generator) (U, error)) DatasetOf[U] {
	array.Given("map_random", "d", d != nil)
	array.Given("map_random", "f", f != nil)
	get := getter(d)
	return view[U]{d.Len, func(epoch, i int) (out U, err error) {
		item, err := get(epoch, i)
		if err != nil {
			return out, err
		}
		return tried(item, func() (U, error) { return f(item, itemGenerator(seed, epoch, i)) })
	}}
}

// itemGenerator returns the generator of an item in an epoch. Its seed is a number that Philox draws.
func itemGenerator(seed uint64, epoch, i int) *weft.Generator {
	w := op.Philox(seed, uint64(epoch), uint64(i))
	return weft.NewGenerator(uint64(w[0])<<32 | uint64(w[1]))
}

// tried runs f, which makes something of an item. A panic with *weft.Error becomes an error; an error
// names the file that the item comes from.
func tried[U any](item any, f func() (U, error)) (out U, err error) {
	if failed := weft.Try(func() { out, err = f() }); failed != nil {
		err = failed
	}
	if err != nil {
		if path := pathOf(reflect.ValueOf(item)); path != "" && !strings.Contains(err.Error(), path) {
			err = fmt.Errorf("%s: %w", path, err)
		}
	}
	return out, err
}

// pathOf returns the field Path of an item, a struct or a pointer to one, and "" if there is none.
func pathOf(item reflect.Value) string {
	if item.Kind() == reflect.Pointer {
		item = item.Elem()
	}
	if item.Kind() != reflect.Struct {
		return ""
	}
	field, ok := item.Type().FieldByName("Path")
	if !ok || field.Type.Kind() != reflect.String {
		return ""
	}
	f, err := item.FieldByIndexErr(field.Index)
	if err != nil { // in a nil struct
		return ""
	}
	return f.String()
}
