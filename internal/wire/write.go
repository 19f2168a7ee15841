package wire

import (
	"encoding/binary"
	"math"
)

func appendTag(b []byte, field int, t Type) []byte {
	return binary.AppendUvarint(b, uint64(field)<<3|uint64(t))
}

// AppendVarint appends a field with an integer. A negative one is given as uint64(x).
func AppendVarint(b []byte, field int, x uint64) []byte {
	return binary.AppendUvarint(appendTag(b, field, Varint), x)
}

// AppendBytes appends a field with bytes, text or a message.
func AppendBytes[T ~[]byte | ~string](b []byte, field int, x T) []byte {
	return append(binary.AppendUvarint(appendTag(b, field, Bytes), uint64(len(x))), x...)
}

// AppendFloat32 appends a field with a float.
func AppendFloat32(b []byte, field int, x float32) []byte {
	return binary.LittleEndian.AppendUint32(appendTag(b, field, Fixed32), math.Float32bits(x))
}

// AppendFloat64 appends a field with a double.
func AppendFloat64(b []byte, field int, x float64) []byte {
	return binary.LittleEndian.AppendUint64(appendTag(b, field, Fixed64), math.Float64bits(x))
}

// AppendInt64s appends a packed field with integers.
func AppendInt64s(b []byte, field int, list []int64) []byte {
	var body []byte
	for _, x := range list {
		body = binary.AppendUvarint(body, uint64(x))
	}
	return AppendBytes(b, field, body)
}

// AppendFloat64s appends a packed field with doubles.
func AppendFloat64s(b []byte, field int, list []float64) []byte {
	b = binary.AppendUvarint(appendTag(b, field, Bytes), uint64(8*len(list)))
	for _, x := range list {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(x))
	}
	return b
}
