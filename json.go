package weft

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"

	"weft/internal/array"
	"weft/internal/core"
)

// maxEmptyJSON bounds the brackets that stand for an empty tensor.
const maxEmptyJSON = 1 << 20

// MarshalJSON implements [json.Marshaler]: numbers or bools in nested arrays of t's shape, a 0-d
// tensor as one number, a nil tensor as null. Floats have the fewest digits that read back as
// the same value of their element type. The error is an *[Error] if t holds NaN or Inf, which
// wraps [json.UnsupportedValueError], is complex, was released or is traced. Package weft reads
// no JSON: unmarshal into a slice and give it to [From].
func (t *Tensor) MarshalJSON() (text []byte, err error) {
	if t == nil {
		return []byte("null"), nil
	}
	err = Try(func() { text = t.json("marshaljson") })
	return text, err
}

func (t *Tensor) json(opName string) []byte {
	t.c().Check(opName)
	core.RefuseRead(opName, t.c())
	if t.v().DType.Category() == array.CatComplex {
		array.Failf(opName, "", "the tensor is %s: JSON has no complex numbers, write Real and Imag", t.v().DType)
	}
	least := t.Size() // bytes of text
	if least == 0 {
		least = 1
		for _, n := range t.v().Shape[:slices.Index(t.v().Shape, 0)] {
			if least > maxEmptyJSON/n {
				array.Failf(opName, "", "an empty tensor of shape %s takes more than %d brackets", array.ShapeString(t.v().Shape), maxEmptyJSON)
			}
			least *= n
		}
	}
	v := core.ToHost(t.c())
	defer core.Leave(&v)
	w := jsonWriter{op: opName, p: printer{v: &v}, out: make([]byte, 0, core.Room(opName, least, Uint8))}
	w.axis(0, v.Offset)
	return w.out
}

// A jsonWriter writes the elements of a view as JSON.
type jsonWriter struct {
	op    string
	p     printer
	index []int // of the element that is written
	out   []byte
}

// axis writes what lies behind the indices of the axes before this one.
func (w *jsonWriter) axis(axis, at int) {
	v := w.p.v
	if axis == len(v.Shape) {
		w.element(at)
		return
	}
	w.out = append(w.out, '[')
	w.index = append(w.index, 0)
	for i := range v.Shape[axis] {
		if i > 0 {
			w.out = append(w.out, ',')
		}
		w.index[axis] = i
		w.axis(axis+1, at+i*v.Strides[axis])
	}
	w.index = w.index[:axis]
	w.out = append(w.out, ']')
}

func (w *jsonWriter) element(at int) {
	v := w.p.v
	switch {
	case v.DType == Bool:
		w.out = strconv.AppendBool(w.out, core.IntElement(v, at) != 0)
	case v.DType == Uint64:
		w.out = strconv.AppendUint(w.out, uint64(core.IntElement(v, at)), 10)
	case v.DType.Integer():
		w.out = strconv.AppendInt(w.out, core.IntElement(v, at), 10)
	default:
		x := w.p.float(at)
		if math.IsNaN(x) || math.IsInf(x, 0) {
			cause := &json.UnsupportedValueError{Str: strconv.FormatFloat(x, 'g', -1, 64)}
			panic(&array.Error{Op: w.op, Msg: "element " + array.ShapeString(w.index) + " has no JSON", Err: cause})
		}
		// Exponents stand where encoding/json writes them.
		format, a := byte('f'), math.Abs(x)
		small := a < 1e-6
		if w.p.bits() == 32 {
			small = float32(a) < 1e-6
		}
		if a != 0 && (small || a >= 1e21) {
			format = 'e'
		}
		w.out = strconv.AppendFloat(w.out, x, format, -1, w.p.bits())
		if n := len(w.out); format == 'e' && w.out[n-3] == '-' && w.out[n-2] == '0' { // e-09 is e-9
			w.out[n-2] = w.out[n-1]
			w.out = w.out[:n-1]
		}
	}
}
