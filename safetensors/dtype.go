package safetensors

import "weft/internal/array"

// A kind is an element type of the format.
type kind struct {
	name  string
	bits  int         // of an element; 0 if the format of this version has no such type
	dtype array.DType // Invalid if weft has none
}

// kinds lists the types in the order of the reference library, which is one of
// rising alignment. Files hold the tensors in the opposite order.
var kinds = []kind{
	{"BOOL", 8, array.Bool},
	{"F4", 4, array.Invalid},
	{"F6_E2M3", 6, array.Invalid},
	{"F6_E3M2", 6, array.Invalid},
	{"U8", 8, array.Uint8},
	{"I8", 8, array.Int8},
	{"F8_E5M2", 8, array.Invalid},
	{"F8_E4M3", 8, array.Invalid},
	{"F8_E8M0", 8, array.Invalid},
	{"F8_E4M3FNUZ", 8, array.Invalid},
	{"F8_E5M2FNUZ", 8, array.Invalid},
	{"I16", 16, array.Int16},
	{"U16", 16, array.Uint16},
	{"F16", 16, array.Float16},
	{"BF16", 16, array.BFloat16},
	{"I32", 32, array.Int32},
	{"U32", 32, array.Uint32},
	{"F32", 32, array.Float32},
	{"C64", 64, array.Complex64},
	{"F64", 64, array.Float64},
	{"I64", 64, array.Int64},
	{"U64", 64, array.Uint64},
}

var (
	kindByName  = map[string]*kind{}
	rankByDType = map[array.DType]int{}
)

func init() {
	for i := range kinds {
		kindByName[kinds[i].name] = &kinds[i]
		if d := kinds[i].dtype; d.Supported() {
			rankByDType[d] = i
		}
	}
}
