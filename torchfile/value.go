package torchfile

import (
	"encoding/binary"
	"fmt"
	"iter"
	"math"
	"math/big"

	"weft"
	"weft/internal/array"
	"weft/internal/float8"
)

// A Tuple is a tuple of Python.
type Tuple []any

// A Set is a set or frozenset of Python, in the order of the file.
type Set []any

// A Size is a torch.Size, the shape of a tensor.
type Size []int

// A Device is a torch.device, such as "cpu" or "cuda:0".
type Device string

// A Global is a class, a function or a constant, by its name with that of its module, such as
// "torch.optim.adam.Adam".
type Global string

// An Object is what is known of an object of a class that this package does not know. Nothing of the
// class was run.
type Object struct {
	Class string // or the function that makes it
	Args  Tuple  // of the call that makes it
	State any    // its attributes, mostly a *Dict; nil if there are none
	Items *Dict  // of a subclass of dict, nil for none
	List  []any  // of a subclass of list, nil for none
}

// A Raw is a tensor of an element type that weft's tensors lack, whose elements have one byte, such
// as float8_e4m3fn.
type Raw struct {
	DType string       // its name in torch
	Bytes *weft.Tensor // uint8, in the shape of the tensor
}

// Floats converts floats of 8 bits to an element type that has all their values: float32, float64, bfloat16, and
// float16 but for float8_e8m0fnu. Another type gives an *[UnsupportedError].
func (r *Raw) Floats(to weft.DType) (*weft.Tensor, error) {
	if r == nil || r.Bytes == nil || r.Bytes.DType() != weft.Uint8 {
		return nil, &UnsupportedError{"a Raw without bytes"}
	}
	format, ok := float8.Formats[r.DType]
	if !ok || !format.Holds(to) {
		return nil, &UnsupportedError{fmt.Sprintf("a tensor of %s cannot be converted to %s", r.DType, to)}
	}
	return weft.FromSlice(format.Table()).To(to).IndexSelect(0, r.Bytes.Reshape(-1)).Reshape(r.Bytes.Shape()...), nil
}

// A Dict is a dict of Python: values by keys, in the order of their insertion. Keys are nil, bools,
// numbers, strings, []byte, and tuples of those, dtypes, devices and tensors. As in Python, 1, 1.0
// and true are one key. The zero Dict is empty.
type Dict struct {
	keys, values []any
	index        map[any]int
}

// NewDict returns a Dict of pairs: a key, its value, the next key, and so on. It panics with a *weft.Error
// if the number of arguments is odd or one cannot be a key.
func NewDict(pairs ...any) *Dict {
	d := &Dict{}
	if len(pairs)%2 != 0 {
		array.Failf("torchfile.NewDict", "pairs", "are %d arguments: want keys and values", len(pairs))
	}
	for i := 0; i < len(pairs); i += 2 {
		d.Set(pairs[i], pairs[i+1])
	}
	return d
}

// Len returns the number of keys, 0 of a nil Dict.
func (d *Dict) Len() int {
	if d == nil {
		return 0
	}
	return len(d.keys)
}

// Get returns the value of a key; ok is false if there is none.
func (d *Dict) Get(key any) (value any, ok bool) {
	if d == nil {
		return nil, false
	}
	k, ok := keyOf(key)
	if !ok {
		return nil, false
	}
	i, ok := d.index[k]
	if !ok {
		return nil, false
	}
	return d.values[i], true
}

// Set gives a key a value; a new key is the last one. It panics with a *weft.Error if it cannot
// be a key.
func (d *Dict) Set(key, value any) {
	array.Given("torchfile.Set", "the Dict", d != nil)
	if !d.set(key, value) {
		array.Failf("torchfile.Set", "key", "is a %T, which cannot be a key of a Dict", key)
	}
}

func (d *Dict) set(key, value any) bool {
	k, ok := keyOf(key)
	if !ok {
		return false
	}
	if i, ok := d.index[k]; ok {
		d.values[i] = value
		return true
	}
	if d.index == nil {
		d.index = map[any]int{}
	}
	d.index[k] = len(d.keys)
	d.keys, d.values = append(d.keys, key), append(d.values, value)
	return true
}

// All yields the keys and values in order.
func (d *Dict) All() iter.Seq2[any, any] {
	return func(yield func(any, any) bool) {
		for i := range d.Len() {
			if !yield(d.keys[i], d.values[i]) {
				return
			}
		}
	}
}

// Keys of values that Go does not compare as Python does.
type (
	bytesKey string
	bigKey   string
	tupleKey string
)

// keyOf returns the key of Go's map for a key of Python.
func keyOf(x any) (any, bool) {
	switch x := x.(type) {
	case bool:
		if x {
			return int64(1), true
		}
		return int64(0), true
	case int:
		return int64(x), true
	case float64:
		if i := int64(x); float64(i) == x && math.Abs(x) < 1<<62 {
			return i, true
		}
		return x, true
	case nil, int64, complex128, string, Device, Global, weft.DType, *weft.Tensor, *tensorRef, *Object, *Raw:
		return x, true
	case []byte:
		return bytesKey(x), true
	case *big.Int:
		return bigKey(x.String()), true
	case Tuple:
		return keyOfTuple(x)
	case *tuple:
		return keyOfTuple(x.items)
	}
	return nil, false
}

// keyOfTuple returns the key of a tuple of scalars.
func keyOfTuple(items []any) (any, bool) {
	var b []byte
	for _, x := range items {
		switch x.(type) {
		case Tuple, *tuple, *tensorRef, *weft.Tensor, *Object, *Raw:
			return nil, false
		}
		k, ok := keyOf(x)
		if !ok {
			return nil, false
		}
		text := fmt.Sprintf("%T %v", k, k)
		b = append(binary.AppendUvarint(b, uint64(len(text))), text...)
	}
	return tupleKey(b), true
}

// keyCost returns the work of keyOf.
func keyCost(x any) int {
	switch x := x.(type) {
	case string:
		return len(x)
	case []byte:
		return len(x)
	case *big.Int:
		n := x.BitLen()/64 + 1
		return n * n
	case *tuple:
		n := 0
		for _, x := range x.items {
			if _, ok := x.(*tuple); !ok {
				n += 8 + keyCost(x)
			}
		}
		return n
	}
	return 1
}

// String returns the keys.
func (d *Dict) String() string {
	return array.Describe("torchfile.Dict", "Keys", d.keys)
}
