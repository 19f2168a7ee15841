package hostile

import (
	"fmt"
	"hash"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"unsafe"

	"weft"
	"weft/half"
	"weft/internal/array"
	"weft/internal/core"
	"weft/kernel"
)

// A digester hashes what a call gave. It reads tensors by itself, and notes those
// that are not well formed.
type digester struct {
	h      hash.Hash64
	faults []string
	seen   map[any]bool
	out    []*weft.Tensor // tensors found
	text   []string       // what was hashed, for messages
	most   int            // larger tensors are not read, unless 0
}

// maxRead is how many elements of a tensor are read.
const maxRead = 1 << 16

// temporary is what is random: in the names of files that become others, how much
// memory was in use when it ran out, and how long something took.
var temporary = regexp.MustCompile(`\.[0-9a-f]{8}\.tmp|[0-9.]+ [a-zA-Z]+ in use|\b[0-9.]+[nµm]?s\b`)

func (d *digester) put(format string, args ...any) {
	s := temporary.ReplaceAllString(fmt.Sprintf(format, args...), "")
	d.h.Write([]byte(s))
	if len(d.text) < 20 && len(s) < 300 {
		d.text = append(d.text, s)
	}
}

func (d *digester) fault(format string, args ...any) {
	d.faults = append(d.faults, fmt.Sprintf(format, args...))
}

func (d *digester) tensor(t *weft.Tensor) {
	if t == nil {
		d.put("nil tensor")
		return
	}
	if isZero(t) {
		d.put("zero tensor")
		return
	}
	if d.most > 0 && t.Size() > d.most {
		d.put("large %s %v", t.DType(), t.Shape())
		return
	}
	here := t
	v, err := try(func() array.View {
		if t.Device() != weft.CPU {
			here = t.Detach().On(weft.CPU)
		}
		return (*core.Tensor)(here).Read()
	})
	if err != nil {
		d.put("released")
		return
	}
	d.out = append(d.out, t)
	d.view(v)
	keepAlive(v.Store)
}

// view checks that a view lies within its memory, the address of its first element
// included, and hashes the elements.
func (d *digester) view(v array.View) {
	if len(v.Shape) != len(v.Strides) || len(v.Shape) > array.MaxRank || !v.DType.Supported() {
		d.fault("a tensor of type %s has shape %v and strides %v", v.DType, v.Shape, v.Strides)
		return
	}
	n := 1
	for _, k := range v.Shape {
		if k < 0 || k > 0 && n > math.MaxInt/k {
			d.fault("a tensor has shape %v", v.Shape)
			return
		}
		n *= k
	}
	d.put("%s %v", v.DType, v.Shape)
	size := v.DType.Size()
	have := v.Store.Bytes / size
	lo, hi := v.Offset, v.Offset
	for i, k := range v.Shape {
		if n == 0 {
			break
		}
		if by := (k - 1) * v.Strides[i]; by < 0 {
			lo += by
		} else {
			hi += by
		}
	}
	switch {
	case n > 0 && (lo < 0 || hi >= have):
		d.fault("a tensor of shape %v, strides %v and offset %d is outside of its memory of %d elements", v.Shape, v.Strides, v.Offset, have)
		return
	case n == 0 && v.Offset != 0 && (v.Offset < 0 || v.Offset >= have):
		d.fault("the address of an empty tensor, offset %d, is outside of its memory of %d elements", v.Offset, have)
		return
	case n == 0:
		return
	}
	at := make([]int, len(v.Shape))
	var buf [8]byte
	for range min(n, maxRead) {
		off := v.Offset
		for i, k := range at {
			off += k * v.Strides[i]
		}
		p := unsafe.Add(v.Store.Host(), off*size)
		for _, bits := range d.words(v.DType, p) {
			for i := range buf {
				buf[i] = byte(bits >> (8 * i))
			}
			d.h.Write(buf[:])
			if len(d.text) < 20 {
				d.text = append(d.text, fmt.Sprintf("%x", bits))
			}
		}
		for i := len(at) - 1; i >= 0; i-- {
			if at[i]++; at[i] < v.Shape[i] {
				break
			}
			at[i] = 0
		}
	}
}

// words returns the bits of an element, the same for every NaN; two words of a complex one.
func (d *digester) words(t weft.DType, p unsafe.Pointer) []uint64 {
	single := func(f float32) uint64 {
		if f != f {
			return 0x7fc00000
		}
		return uint64(math.Float32bits(f))
	}
	double := func(f float64) uint64 {
		if f != f {
			return 0x7ff8000000000001
		}
		return math.Float64bits(f)
	}
	switch t {
	case weft.Float16:
		return []uint64{single((*half.Float16)(p).Float32())}
	case weft.BFloat16:
		return []uint64{single((*half.BFloat16)(p).Float32())}
	case weft.Float32:
		return []uint64{single(*(*float32)(p))}
	case weft.Float64:
		return []uint64{double(*(*float64)(p))}
	case weft.Complex64:
		z := *(*complex64)(p)
		return []uint64{single(real(z)), single(imag(z))}
	case weft.Complex128:
		z := *(*complex128)(p)
		return []uint64{double(real(z)), double(imag(z))}
	}
	var bits uint64 // an integer
	copy(unsafe.Slice((*byte)(unsafe.Pointer(&bits)), 8), unsafe.Slice((*byte)(p), t.Size()))
	if t == weft.Bool && bits > 1 {
		d.fault("a bool is %d", bits)
	}
	return []uint64{bits}
}

// value hashes anything that a call returned. Functions that iterate are run.
func (d *digester) value(v reflect.Value, depth int) {
	if !v.IsValid() {
		d.put("nil")
		return
	}
	if t, ok := v.Interface().(*weft.Tensor); ok {
		d.tensor(t)
		return
	}
	switch v.Interface().(type) {
	case weft.Cost, weft.MemoryStats, kernel.Benchmark:
		return // it was measured
	}
	if av, ok := v.Interface().(array.View); ok {
		d.view(av)
		return
	}
	if depth > 6 {
		return
	}
	if err, ok := v.Interface().(error); ok && !(v.Kind() == reflect.Pointer && v.IsNil()) {
		d.put("%T %s", err, err)
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			d.put("nil")
			return
		}
		if d.seen[v.Interface()] {
			return
		}
		d.seen[v.Interface()] = true
		d.value(v.Elem(), depth+1)
	case reflect.Interface:
		d.value(v.Elem(), depth)
	case reflect.Struct:
		d.put("%s", v.Type())
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				d.value(v.Field(i), depth+1)
			}
		}
	case reflect.Slice, reflect.Array:
		d.put("%d", v.Len())
		for i := range min(v.Len(), maxRead) {
			d.value(v.Index(i), depth+1)
		}
	case reflect.Map:
		keys := v.MapKeys()
		slices.SortFunc(keys, func(a, b reflect.Value) int {
			return strings.Compare(fmt.Sprint(a.Interface()), fmt.Sprint(b.Interface()))
		})
		for _, k := range keys {
			d.put("%v", k.Interface())
			d.value(v.MapIndex(k), depth+1)
		}
	case reflect.Func:
		if !v.IsNil() && v.Type().CanSeq2() {
			left := 20
			for k, x := range v.Seq2() {
				d.value(k, depth+1)
				d.value(x, depth+1)
				if left--; left == 0 {
					break
				}
			}
		}
	case reflect.Float32, reflect.Float64:
		if f := v.Float(); f != f {
			d.put("NaN")
		} else {
			d.put("%x", math.Float64bits(f))
		}
	case reflect.Chan, reflect.UnsafePointer:
	default:
		d.put("%v", v.Interface())
	}
}

// isZero reports the zero Tensor, which holds nothing.
func isZero(t *weft.Tensor) bool { return reflect.ValueOf(t).Elem().IsZero() }
