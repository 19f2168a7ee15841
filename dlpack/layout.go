package dlpack

import (
	"unsafe"

	"weft"
)

// The structs of dlpack.h on systems of 64 bits. Pointers are numbers here: they lead to
// memory that Go's collector does not follow.
type dlTensor struct {
	data       uintptr
	deviceType int32
	deviceID   int32
	ndim       int32
	code       uint8
	bits       uint8
	lanes      uint16
	shape      uintptr // *int64
	strides    uintptr // *int64, nil for row-major order
	byteOffset uint64
}

type managedTensor struct {
	tensor  dlTensor
	context uintptr
	deleter uintptr
}

type managedTensorVersioned struct {
	major, minor uint32
	context      uintptr
	deleter      uintptr
	flags        uint64
	tensor       dlTensor
}

const (
	majorVersion, minorVersion = 1, 0

	deviceCPU    = 1
	flagReadOnly = 1 << 0
)

// A typeCode is the code and the bits of an element.
type typeCode struct{ code, bits uint8 }

// Codes of kinds of numbers.
const (
	codeInt, codeUint, codeFloat, codeBfloat, codeComplex, codeBool = 0, 1, 2, 4, 5, 6
)

var codes = map[weft.DType]typeCode{
	weft.Bool: {codeBool, 8},
	weft.Int8: {codeInt, 8}, weft.Int16: {codeInt, 16}, weft.Int32: {codeInt, 32}, weft.Int64: {codeInt, 64},
	weft.Uint8: {codeUint, 8}, weft.Uint16: {codeUint, 16}, weft.Uint32: {codeUint, 32}, weft.Uint64: {codeUint, 64},
	weft.Float16: {codeFloat, 16}, weft.BFloat16: {codeBfloat, 16}, weft.Float32: {codeFloat, 32}, weft.Float64: {codeFloat, 64},
	weft.Complex64: {codeComplex, 64}, weft.Complex128: {codeComplex, 128},
}

var dtypes = func() map[typeCode]weft.DType {
	m := map[typeCode]weft.DType{}
	for d, c := range codes {
		m[c] = d
	}
	return m
}()

// pointer is an address as a pointer, of memory that does not move and that Go's collector
// does not own, or that something else keeps.
func pointer(at uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&at)) }

// int64s are n numbers at an address.
func int64s(at uintptr, n int) []int64 {
	if n == 0 {
		return nil
	}
	return unsafe.Slice((*int64)(pointer(at)), n)
}
