package torchfile

import (
	"weft"
	"weft/internal/array"
)

// An elem is an element type of torch.
type elem struct {
	name    string // such as "float32"
	storage string // the class of its storages, "" if they are untyped alone
	size    int    // in bytes
	dtype   array.DType
	raw     bool // dtype holds the bytes of elements, not their values
}

var elems = []*elem{
	{"float32", "FloatStorage", 4, array.Float32, false},
	{"float64", "DoubleStorage", 8, array.Float64, false},
	{"float16", "HalfStorage", 2, array.Float16, false},
	{"bfloat16", "BFloat16Storage", 2, array.BFloat16, false},
	{"int64", "LongStorage", 8, array.Int64, false},
	{"int32", "IntStorage", 4, array.Int32, false},
	{"int16", "ShortStorage", 2, array.Int16, false},
	{"int8", "CharStorage", 1, array.Int8, false},
	{"uint8", "ByteStorage", 1, array.Uint8, false},
	{"bool", "BoolStorage", 1, array.Bool, false},
	{"complex64", "ComplexFloatStorage", 8, array.Complex64, false},
	{"complex128", "ComplexDoubleStorage", 16, array.Complex128, false},
	{"uint16", "", 2, array.Uint16, false},
	{"uint32", "", 4, array.Uint32, false},
	{"uint64", "", 8, array.Uint64, false},
	{"float8_e4m3fn", "", 1, array.Uint8, true},
	{"float8_e5m2", "", 1, array.Uint8, true},
	{"float8_e4m3fnuz", "", 1, array.Uint8, true},
	{"float8_e5m2fnuz", "", 1, array.Uint8, true},
	{"float8_e8m0fnu", "", 1, array.Uint8, true},
	{"float4_e2m1fn_x2", "", 1, array.Uint8, true},
}

// untyped is the element of a storage without a type.
var untyped = &elem{name: "uint8", storage: "UntypedStorage", size: 1, dtype: array.Uint8}

var (
	elemByDType   = map[Global]*elem{} // by "torch.float32"
	elemByStorage = map[Global]*elem{} // by "torch.FloatStorage"
	elemByWeft    = map[weft.DType]*elem{}
)

func init() {
	for _, e := range elems {
		elemByDType[Global("torch."+e.name)] = e
		if e.storage != "" {
			elemByStorage[Global("torch."+e.storage)] = e
		}
		if !e.raw {
			elemByWeft[e.dtype] = e
		}
	}
	elemByStorage["torch.storage.UntypedStorage"], elemByStorage["torch.UntypedStorage"] = untyped, untyped
}
