package safetensors

import "weft/internal/array"

// A kind is an element type of the format.
type kind struct {
	name  string
	bits  int         // of an element; 0 if the format of this version has no such type
	dtype array.DType // Invalid if weft has none
	raw   bool        // dtype holds the bytes of elements, not their values
}

// kinds lists the types in the order of the reference library, which is one of
// rising alignment. Files hold the tensors in the opposite order.
var kinds = []kind{
	{name: "BOOL", bits: 8, dtype: array.Bool},
	{name: "F4", bits: 4, dtype: array.Invalid},
	{name: "F6_E2M3", bits: 6, dtype: array.Invalid},
	{name: "F6_E3M2", bits: 6, dtype: array.Invalid},
	{name: "U8", bits: 8, dtype: array.Uint8},
	{name: "I8", bits: 8, dtype: array.Int8},
	{name: "F8_E5M2", bits: 8, dtype: array.Uint8, raw: true},
	{name: "F8_E4M3", bits: 8, dtype: array.Uint8, raw: true},
	{name: "F8_E8M0", bits: 8, dtype: array.Uint8, raw: true},
	{name: "F8_E4M3FNUZ", bits: 8, dtype: array.Uint8, raw: true},
	{name: "F8_E5M2FNUZ", bits: 8, dtype: array.Uint8, raw: true},
	{name: "I16", bits: 16, dtype: array.Int16},
	{name: "U16", bits: 16, dtype: array.Uint16},
	{name: "F16", bits: 16, dtype: array.Float16},
	{name: "BF16", bits: 16, dtype: array.BFloat16},
	{name: "I32", bits: 32, dtype: array.Int32},
	{name: "U32", bits: 32, dtype: array.Uint32},
	{name: "F32", bits: 32, dtype: array.Float32},
	{name: "C64", bits: 64, dtype: array.Complex64},
	{name: "F64", bits: 64, dtype: array.Float64},
	{name: "I64", bits: 64, dtype: array.Int64},
	{name: "U64", bits: 64, dtype: array.Uint64},
}

var (
	kindByName  = map[string]*kind{}
	rankByDType = map[array.DType]int{}
)

func init() {
	for i := range kinds {
		kindByName[kinds[i].name] = &kinds[i]
		if d := kinds[i].dtype; d.Supported() && !kinds[i].raw {
			rankByDType[d] = i
		}
	}
}
