package torchfile

import (
	"math"
	"strings"

	"weft/internal/array"
)

// A storageRef is a storage that a pickle names.
type storageRef struct {
	key    string
	elem   *elem
	count  int64 // elements
	offset int64 // of a view, as files before version 0.4 have them
}

// A tensorRef is a tensor of a pickle, before there is memory for it.
type tensorRef struct {
	store          *storageRef
	elem           *elem
	offset         int64
	shape, strides []int
	grad           bool
}

// Values of NumPy.
type (
	numpyType struct {
		name string // such as "f4"
		big  bool
	}
	numpyArray struct {
		set     bool
		kind    *numpyType
		shape   []int
		fortran bool
		data    []byte
	}
)

// copyCost is the work that [machine.spend] counts for a byte that is copied: a byte of a pickle may cause
// at most workPerByte/copyCost bytes of memory.
const copyCost = 16

// calls has all functions that a pickle can call to an effect. Whatever else it calls gives an [*Object].
var calls map[Global]func(m *machine, args []any) (any, error)

func init() {
	calls = map[Global]func(m *machine, args []any) (any, error){
		"collections.OrderedDict": func(m *machine, args []any) (any, error) { return m.dict(args) },
		"collections.Counter":     func(m *machine, args []any) (any, error) { return m.dict(args) },
		"collections.defaultdict": func(m *machine, args []any) (any, error) { return m.dict(args[min(1, len(args)):]) },
		"_codecs.encode":          encode,
		"torch.Size":              size,
		"torch.device":            device,

		"torch._utils._rebuild_tensor":    rebuildTensor,
		"torch._utils._rebuild_tensor_v2": rebuildTensor,
		"torch._utils._rebuild_tensor_v3": rebuildTensor,

		"torch._utils._rebuild_parameter":            rebuildParameter,
		"torch._utils._rebuild_parameter_with_state": rebuildParameter,
		"torch._tensor._rebuild_from_type_v2":        rebuildFromType,

		"numpy.dtype": func(_ *machine, args []any) (any, error) {
			name, ok := at[string](args, 0)
			if !ok {
				return nil, errArguments
			}
			return &numpyType{name: name}, nil
		},
	}
	for _, module := range []Global{"builtins.", "__builtin__."} {
		calls[module+"set"], calls[module+"frozenset"] = makeSet, makeSet
		calls[module+"bytearray"], calls[module+"bytes"] = makeBytes, makeBytes
		calls[module+"complex"] = makeComplex
	}
	for _, module := range []Global{"numpy.core.multiarray.", "numpy._core.multiarray."} {
		calls[module+"_reconstruct"] = func(*machine, []any) (any, error) { return &numpyArray{}, nil }
		calls[module+"scalar"] = numpyScalar
	}
	for _, module := range []Global{"numpy.core.numeric.", "numpy._core.numeric."} {
		calls[module+"_frombuffer"] = numpyBuffer
	}
}

// errArguments says that a known function has arguments of other types; call names it.
var errArguments = malformed("a call has arguments that it does not take")

// at returns an argument.
func at[T any](args []any, i int) (x T, ok bool) {
	if i >= len(args) {
		return x, false
	}
	x, ok = args[i].(T)
	return x, ok
}

// call is what function makes of arguments.
func (m *machine) call(function, arguments any) (any, error) {
	args, ok := arguments.(*tuple)
	name, ok2 := function.(Global)
	if !ok || !ok2 {
		return nil, malformed("byte %d of a pickle calls a %T with a %T", m.at-1, function, arguments)
	}
	f := calls[name]
	if f == nil {
		o := &Object{Class: string(name), Args: Tuple{arguments}}
		if class, ok := at[Global](args.items, 0); ok && name == "copyreg._reconstructor" || name == "copy_reg._reconstructor" {
			o.Class = string(class)
		}
		return o, nil
	}
	x, err := f(m, args.items)
	if err == errArguments {
		return nil, malformed("byte %d of a pickle calls %s with arguments that it does not take", m.at-1, name)
	}
	return x, err
}

// build gives an object its state.
func (m *machine) build(to, state any) error {
	switch to := to.(type) {
	case *Object:
		to.State = state
	case *numpyType:
		if t, ok := state.(*tuple); ok && len(t.items) > 1 {
			to.big = t.items[1] == ">"
		}
	case *numpyArray:
		return to.build(m, state)
	case *Dict, *list, *set, *tensorRef:
		// Attributes of what is data here, such as the versions of modules beside a state dict.
	default:
		return malformed("byte %d of a pickle gives a %T a state", m.at-1, to)
	}
	return nil
}

// dict is dict(pairs) or dict(other).
func (m *machine) dict(args []any) (any, error) {
	d := &Dict{}
	if len(args) == 0 {
		return d, nil
	}
	switch from := args[0].(type) {
	case *Dict:
		for i := range from.keys {
			if err := m.set(d, from.keys[i], from.values[i]); err != nil {
				return nil, err
			}
		}
		return d, nil
	case *list:
		for _, x := range from.items {
			var pair []any
			switch x := x.(type) {
			case *list:
				pair = x.items
			case *tuple:
				pair = x.items
			}
			if len(pair) != 2 {
				return nil, errArguments
			}
			if err := m.set(d, pair[0], pair[1]); err != nil {
				return nil, err
			}
		}
		return d, nil
	}
	return nil, errArguments
}

// items returns the items of a list, tuple or set that is an argument.
func (m *machine) items(args []any, i int) (items []any, err error) {
	if i >= len(args) {
		return nil, errArguments
	}
	switch x := args[i].(type) {
	case *list:
		items = x.items
	case *tuple:
		items = x.items
	case *set:
		items = x.items.keys
	default:
		return nil, errArguments
	}
	return items, m.spend(len(items))
}

func makeSet(m *machine, args []any) (any, error) {
	s := &set{&Dict{}}
	if len(args) == 0 {
		return s, nil
	}
	items, err := m.items(args, 0)
	if err != nil {
		return nil, err
	}
	return s, m.add(s, items)
}

func makeBytes(m *machine, args []any) (any, error) {
	switch {
	case len(args) == 0:
		return []byte{}, nil
	case len(args) == 1:
		if b, ok := args[0].([]byte); ok {
			return b, nil
		}
		return nil, errArguments
	}
	return encode(m, args)
}

func makeComplex(_ *machine, args []any) (any, error) {
	re, ok := at[float64](args, 0)
	im, ok2 := at[float64](args, 1)
	if !ok || !ok2 {
		return nil, errArguments
	}
	return complex(re, im), nil
}

// encode is text.encode("latin1"), the form of bytes in protocol 2.
func encode(m *machine, args []any) (any, error) {
	text, ok := at[string](args, 0)
	coding, ok2 := at[string](args, 1)
	if !ok || !ok2 || coding != "latin1" && coding != "latin-1" {
		return nil, errArguments
	}
	if err := m.spend(copyCost * len(text)); err != nil {
		return nil, err
	}
	b := make([]byte, 0, len(text))
	for _, r := range text {
		if r > math.MaxUint8 {
			return nil, errArguments
		}
		b = append(b, byte(r))
	}
	return b, nil
}

// ints returns a tuple or list of integers.
func (m *machine) ints(args []any, i, limit int) ([]int, error) {
	items, err := m.items(args, i)
	if err != nil {
		return nil, err
	}
	if limit >= 0 && len(items) > limit {
		return nil, &UnsupportedError{"a tensor of more dimensions than weft has"}
	}
	out := make([]int, len(items))
	for i, x := range items {
		n, ok := x.(int64)
		if !ok || int64(int(n)) != n {
			return nil, errArguments
		}
		out[i] = int(n)
	}
	return out, nil
}

func size(m *machine, args []any) (any, error) {
	n, err := m.ints(args, 0, -1)
	return Size(n), err
}

func device(m *machine, args []any) (any, error) {
	name, ok := at[string](args, 0)
	if !ok {
		return nil, errArguments
	}
	if err := m.spend(len(name)); err != nil {
		return nil, err
	}
	if i, ok := at[int64](args, 1); ok {
		name += ":" + long64(i)
	}
	return Device(name), nil
}

// rebuildTensor is _rebuild_tensor(storage, offset, size, stride), of version 2 with requires_grad
// and hooks, of version 3 with a dtype behind them.
func rebuildTensor(m *machine, args []any) (any, error) {
	t := &tensorRef{}
	var ok, ok2 bool
	t.store, ok = at[*storageRef](args, 0)
	t.offset, ok2 = at[int64](args, 1)
	if !ok || !ok2 {
		return nil, errArguments
	}
	var err error
	if t.shape, err = m.ints(args, 2, array.MaxRank); err != nil {
		return nil, err
	}
	if t.strides, err = m.ints(args, 3, array.MaxRank); err != nil {
		return nil, err
	}
	t.elem = t.store.elem
	if len(args) > 4 {
		if t.grad, ok = args[4].(bool); !ok {
			return nil, errArguments
		}
	}
	if name, ok := at[Global](args, 6); ok {
		if t.elem = elemByDType[name]; t.elem == nil {
			return &Object{Class: string(name), Args: Tuple{&tuple{args}}}, nil
		}
	}
	return t, t.check()
}

// check refuses a view that is not within its storage.
func (t *tensorRef) check() error {
	if len(t.shape) != len(t.strides) {
		return malformed("a tensor has %d sizes and %d strides", len(t.shape), len(t.strides))
	}
	last, empty := t.offset, false
	bytes := t.store.count * int64(t.store.elem.size)
	for i, n := range t.shape {
		s := t.strides[i]
		switch {
		case n < 0 || s < 0 || t.offset < 0:
			return malformed("a tensor of shape %s has strides %s and begins at element %d", array.ShapeString(t.shape), array.ShapeString(t.strides), t.offset)
		case n == 0:
			empty = true
		case n > 1 && s > 0:
			if int64(s) > (math.MaxInt64-last)/int64(n-1) {
				return malformed("a tensor of shape %s and strides %s overflows", array.ShapeString(t.shape), array.ShapeString(t.strides))
			}
			last += int64(n-1) * int64(s)
		}
	}
	if err := array.Try(func() { array.CheckShape("load", t.shape, t.elem.dtype) }); err != nil {
		return &FormatError{Msg: "a tensor", Err: err}
	}
	if !empty && (t.offset < 0 || last >= bytes/int64(t.elem.size)) {
		return malformed("a tensor of %s%s with strides %s from element %d on does not lie in its storage %q of %d bytes",
			t.elem.name, array.ShapeString(t.shape), array.ShapeString(t.strides), t.offset, t.store.key, bytes)
	}
	return nil
}

// rebuildParameter is _rebuild_parameter(data, requires_grad, hooks).
func rebuildParameter(_ *machine, args []any) (any, error) {
	data, ok := at[*tensorRef](args, 0)
	if !ok {
		if o, ok := at[*Object](args, 0); ok {
			return o, nil
		}
		return nil, errArguments
	}
	grad, ok := at[bool](args, 1)
	if !ok {
		return nil, errArguments
	}
	p := *data
	p.grad = grad
	return &p, nil
}

// rebuildFromType is _rebuild_from_type_v2(function, class, arguments, state): a tensor with attributes
// or of a subclass.
func rebuildFromType(m *machine, args []any) (any, error) {
	if len(args) < 3 || args[0] == Global("torch._tensor._rebuild_from_type_v2") {
		return nil, errArguments
	}
	return m.call(args[0], args[2])
}

// numpyScalar is a number of NumPy: scalar(dtype, bytes).
func numpyScalar(m *machine, args []any) (any, error) {
	kind, ok := at[*numpyType](args, 0)
	if !ok {
		return nil, errArguments
	}
	data, ok := at[[]byte](args, 1)
	if !ok {
		if text, isText := at[string](args, 1); isText { // of Python 2
			data, ok = []byte(text), m.spend(len(text)) == nil
		}
	}
	if x, ok2 := kind.number(data); ok && ok2 {
		return x, nil
	}
	return &Object{Class: "numpy." + strings.TrimPrefix(kind.name, "numpy."), Args: Tuple{&tuple{args[1:]}}}, nil
}

// numpyBuffer is an array of NumPy in protocol 5: _frombuffer(bytes, dtype, shape, order).
func numpyBuffer(m *machine, args []any) (any, error) {
	if len(args) != 4 {
		return nil, errArguments
	}
	a := &numpyArray{}
	return a, a.build(m, &tuple{[]any{int64(1), args[2], args[1], args[3] == "F", args[0]}})
}
