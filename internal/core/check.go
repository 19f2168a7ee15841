package core

import (
	"fmt"
	"math"
	"unsafe"

	"weft/internal/array"
	"weft/internal/ir"
	"weft/internal/mapped"
	"weft/internal/op"
)

// A RangeCheck returns its argument if all elements, integers, are from Min to Max, and panics
// otherwise. In a compiled function each call checks. A device other than the host tells later.
type RangeCheck struct {
	Op, Arg  string
	Min, Max int64
	Text     string // format of the error: a verb for the number and, if Rows, for the row and Max
	Rows     bool
}

// AppendKey implements ir.Attrs.
func (r RangeCheck) AppendKey(k []byte) []byte {
	for _, s := range []string{r.Op, r.Arg, r.Text} {
		k = append(ir.Int(k, len(s)), s...)
	}
	return ir.Flag(ir.Int(ir.Int(k, int(r.Min)), int(r.Max)), r.Rows)
}

// Results implements op.HostFunc.
func (r RangeCheck) Results(args []ir.Type) []ir.Type {
	if len(args) != 1 || args[0].DType != array.Int32 && args[0].DType != array.Int64 {
		array.Failf(r.Op, r.Arg, "is not int32 or int64") // of a file
	}
	return args
}

// Elementwise says that Vmap may stack examples in one call.
func (r RangeCheck) Elementwise() {}

// CallHost implements op.HostFunc.
func (r RangeCheck) CallHost(args, out []array.View) error {
	v := &args[0]
	n := v.Size()
	if i := r.outside(v, n); i < n {
		return r.Refuse(IntElement(v, v.Offset+i), i)
	}
	if n > 0 {
		src, _ := v.Memory()
		dst, _ := out[0].Memory()
		copy(dst, src)
	}
	return nil
}

// outside returns the index of the first of n contiguous elements of v that is out of range, n if
// none is.
func (r RangeCheck) outside(v *array.View, n int) int {
	if v.DType == array.Int64 && n > 0 && !mapped.Any() { // the usual type of indices
		p, _ := v.Memory()
		for i, x := range unsafe.Slice((*int64)(unsafe.Pointer(&p[0])), n) {
			if x < r.Min || x > r.Max {
				return i
			}
		}
		return n
	}
	for i := range n {
		if x := IntElement(v, v.Offset+i); x < r.Min || x > r.Max {
			return i
		}
	}
	return n
}

// Bounds implements op.RangeFunc.
func (r RangeCheck) Bounds() (least, most int64) { return r.Min, r.Max }

// Refuse implements op.RangeFunc.
func (r RangeCheck) Refuse(x int64, row int) error {
	if r.Rows {
		return array.Errorf(r.Op, r.Arg, "%s", fmt.Sprintf(r.Text, x, row, r.Max))
	}
	return array.Errorf(r.Op, r.Arg, "%s", fmt.Sprintf(r.Text, x))
}

// Of returns t if its elements are in range, and panics otherwise. Unless Rows, it compares only the
// least and the greatest element on the host. What a device or a compiled function checks are int32
// or int64: others become int64.
func (r RangeCheck) Of(t *Tensor) *Tensor {
	if t.Size() == 0 {
		return t
	}
	if TracingViews(&t.v) != nil || !OnHost(t) {
		if d := t.v.DType; d != array.Int32 && d != array.Int64 {
			t = Apply(op.Cast, op.To(array.Int64), Operand{T: t})
		}
		return Apply(op.Host, r, Operand{T: t})
	}
	if r.Rows {
		v := ToHost(t)
		defer Leave(&v)
		for i := range t.v.Shape[0] {
			if x := IntElement(&v, v.Offset+i*v.Strides[0]); x < r.Min || x > r.Max {
				panic(r.Refuse(x, i))
			}
		}
		return t
	}
	if least := extreme(op.Min, t); least < r.Min {
		panic(r.Refuse(least, 0))
	}
	if r.Max < math.MaxInt64 {
		if most := extreme(op.Max, t); most > r.Max {
			panic(r.Refuse(most, 0))
		}
	}
	return t
}

// extreme returns the least or the greatest element of integers.
func extreme(d *op.Def, t *Tensor) int64 {
	all := make([]int, len(t.v.Shape))
	for i := range all {
		all[i] = i
	}
	v := ToHost(Apply(d, op.Reduction{Axes: all}, Operand{T: t}))
	defer Leave(&v)
	return IntElement(&v, v.Offset)
}
