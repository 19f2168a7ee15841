package gokernel

import (
	"go/constant"
	"go/token"
	"go/types"
	"strings"

	"weft/internal/array"
	"weft/internal/loop"
)

// A kind says what a value is to the lowering.
type kind uint8

const (
	kBool kind = iota
	kInt
	kUint
	kFloat
	kComplex // parts: real, imaginary
	kStruct  // parts: the fields
	kArray   // parts: the elements
	kElem    // parts: the calls for random numbers so far
	kOuter   // an array that the kernel reads: a parameter, or a row of one
	kSeq     // elements of such an array in order: kernel.Seq
)

// A ty is a type without type parameters and names.
type ty struct {
	kind   kind
	t      loop.Type // of a scalar, or of the parts of a complex number
	elem   *ty       // of kArray, kOuter and kSeq
	parts  []*ty     // of kComplex, kStruct, kArray and kElem
	role   Role      // of kOuter
	rank   int       // of kOuter
	leaves int       // scalars
}

func scalarType(k kind, t loop.Type) *ty { return &ty{kind: k, t: t, leaves: 1} }

var (
	tBool       = scalarType(kBool, loop.B)
	tInt8       = scalarType(kInt, loop.I8)
	tInt16      = scalarType(kInt, loop.I16)
	tInt32      = scalarType(kInt, loop.I32)
	tInt64      = scalarType(kInt, loop.I64)
	tUint8      = scalarType(kUint, loop.I8)
	tUint16     = scalarType(kUint, loop.I16)
	tUint32     = scalarType(kUint, loop.I32)
	tUint64     = scalarType(kUint, loop.I64)
	tInt        = scalarType(kInt, loop.I64) // Go's int, whatever the width of integers
	tUint       = scalarType(kUint, loop.I64)
	tFloat32    = scalarType(kFloat, loop.F32)
	tFloat64    = scalarType(kFloat, loop.F64)
	tComplex64  = &ty{kind: kComplex, t: loop.F32, parts: []*ty{tFloat32, tFloat32}, leaves: 2}
	tComplex128 = &ty{kind: kComplex, t: loop.F64, parts: []*ty{tFloat64, tFloat64}, leaves: 2}
	tElem       = &ty{kind: kElem, parts: []*ty{tInt64}, leaves: 1}
)

var basics = map[types.BasicKind]*ty{
	types.Bool: tBool, types.UntypedBool: tBool,
	types.Int8: tInt8, types.Int16: tInt16, types.Int32: tInt32, types.Int64: tInt64, types.Int: tInt,
	types.Uint8: tUint8, types.Uint16: tUint16, types.Uint32: tUint32, types.Uint64: tUint64, types.Uint: tUint,
	types.Float32: tFloat32, types.Float64: tFloat64, types.Complex64: tComplex64, types.Complex128: tComplex128,
	types.UntypedInt: tInt64, types.UntypedRune: tInt32, types.UntypedFloat: tFloat64, types.UntypedComplex: tComplex128,
}

// elements are the Go types of elements of arrays.
var elements = []struct {
	d   array.DType
	t   *ty
	go_ types.BasicKind
}{
	{array.Bool, tBool, types.Bool},
	{array.Int8, tInt8, types.Int8}, {array.Int16, tInt16, types.Int16}, {array.Int32, tInt32, types.Int32}, {array.Int64, tInt64, types.Int64},
	{array.Uint8, tUint8, types.Uint8}, {array.Uint16, tUint16, types.Uint16}, {array.Uint32, tUint32, types.Uint32}, {array.Uint64, tUint64, types.Uint64},
	{array.Float32, tFloat32, types.Float32}, {array.Float64, tFloat64, types.Float64},
	{array.Complex64, tComplex64, types.Complex64}, {array.Complex128, tComplex128, types.Complex128},
}

// dtype returns the element type of arrays of t, Invalid if there is none.
func (t *ty) dtype() array.DType {
	for _, e := range elements {
		if e.t.kind == t.kind && e.t.t == t.t {
			return e.d
		}
	}
	return array.Invalid
}

// goType returns the Go type of elements of d: float32 for float16 and bfloat16.
func goType(d array.DType) (types.Type, bool) {
	if d.Half() {
		d = array.Float32
	}
	for _, e := range elements {
		if e.d == d {
			return types.Typ[e.go_], true
		}
	}
	return nil, false
}

func (t *ty) scalar() bool { return t.kind <= kFloat }

// opaque reports a type whose values are named and passed on, but not stored or compared.
func (t *ty) opaque() bool   { return t.kind >= kElem }
func (t *ty) integer() bool  { return t.kind == kInt || t.kind == kUint }
func (t *ty) unsigned() bool { return t.kind == kUint }

// bits is the width of an integer.
func (t *ty) bits() int { return 8 * t.t.Size() }

// outer is the type of an array that a kernel reads.
func outer(role Role, rank int, elem *ty) *ty {
	return &ty{kind: kOuter, role: role, rank: rank, elem: elem}
}

// maxLeaves bounds how many numbers a variable may hold.
const maxLeaves = 256

// A binding gives type parameters their types.
type binding map[*types.TypeParam]types.Type

// typeOf returns the type of the lowering for t, where env holds.
func (s *Source) typeOf(t types.Type, env binding, pos token.Pos) *ty {
	switch t := types.Unalias(t).(type) {
	case *types.Basic:
		if r := basics[t.Kind()]; r != nil {
			return r
		}
	case *types.TypeParam:
		if u := env[t]; u != nil {
			return s.typeOf(u, nil, pos)
		}
	case *types.Named:
		if isSeq(t) {
			return &ty{kind: kSeq, elem: s.typeOf(t.TypeArgs().At(0), env, pos)}
		}
		if role, rank, elem := special(t); role == Element {
			return tElem
		} else if role != Scalar {
			e := s.typeOf(elem, env, pos)
			if e.dtype() == array.Invalid {
				s.refuse(pos, "arrays of %s are not part of the language", plain(elem))
			}
			return outer(role, rank, e)
		}
		return s.typeOf(t.Underlying(), env, pos)
	case *types.Struct:
		r := &ty{kind: kStruct}
		for f := range t.Fields() {
			r.parts = append(r.parts, s.typeOf(f.Type(), env, pos))
		}
		return s.sized(r, pos)
	case *types.Array:
		if t.Len() > maxLeaves {
			s.refuse(pos, "an array of %d elements; variables hold at most %d numbers", t.Len(), maxLeaves)
		}
		r := &ty{kind: kArray, elem: s.typeOf(t.Elem(), env, pos)}
		for range t.Len() {
			r.parts = append(r.parts, r.elem)
		}
		return s.sized(r, pos)
	case *types.Slice:
		s.refuse(pos, "slices are not part of the language of kernels; use an array of fixed length, or a parameter of an array type of package kernel")
	case *types.Pointer:
		s.refuse(pos, "pointers are not part of the language of kernels")
	case *types.Interface:
		s.refuse(pos, "interfaces are not part of the language of kernels; use a type parameter")
	case *types.Map:
		s.refuse(pos, "maps are not part of the language of kernels")
	case *types.Chan:
		s.refuse(pos, "channels are not part of the language of kernels")
	case *types.Signature:
		s.refuse(pos, "function values are not part of the language of kernels")
	}
	s.refuse(pos, "type %s is not part of the language of kernels", plain(t))
	return nil
}

func (s *Source) sized(t *ty, pos token.Pos) *ty {
	for _, p := range t.parts {
		if p.opaque() {
			s.refuse(pos, "arrays and elements of package kernel are parameters, no part of other types")
		}
		if t.leaves += p.leaves; t.leaves > maxLeaves {
			s.refuse(pos, "a type of more than %d numbers", maxLeaves)
		}
	}
	return t
}

// special recognises the types of package kernel; other types are Scalar.
func special(t *types.Named) (role Role, rank int, elem types.Type) {
	o := t.Obj()
	if o.Pkg() == nil || o.Pkg().Path() != kernelPath {
		return Scalar, 0, nil
	}
	if o.Name() == "Elem" {
		return Element, 0, nil
	}
	for i, name := range arrayTypes {
		if n, ok := strings.CutPrefix(o.Name(), name); ok && len(n) == 1 {
			return Near + Role(i), int(n[0] - '0'), t.TypeArgs().At(0)
		}
	}
	return Scalar, 0, nil
}

// isSeq reports kernel.Seq.
func isSeq(t types.Type) bool {
	n, ok := types.Unalias(t).(*types.Named)
	return ok && n.Obj().Pkg() != nil && n.Obj().Pkg().Path() == kernelPath && n.Obj().Name() == "Seq"
}

// plain is the name of a type in errors.
func plain(t types.Type) string {
	return types.TypeString(t, func(p *types.Package) string {
		if p.Path() == kernelPath {
			return "kernel"
		}
		return ""
	})
}

// literal returns the bits of a constant as a scalar type.
func literal(v constant.Value, t *ty) uint64 {
	switch t.kind {
	case kBool:
		if constant.BoolVal(v) {
			return 1
		}
		return 0
	case kFloat:
		if t.t == loop.F32 {
			f, _ := constant.Float32Val(constant.ToFloat(v))
			return bits32(f)
		}
		f, _ := constant.Float64Val(constant.ToFloat(v))
		return bits64(f)
	}
	v = constant.ToInt(v)
	u, ok := constant.Uint64Val(v)
	if !ok {
		i, _ := constant.Int64Val(v)
		u = uint64(i)
	}
	return u << (64 - t.bits()) >> (64 - t.bits())
}
