package arrow

import (
	"errors"
	"fmt"
	"strings"

	apache "github.com/apache/arrow-go/v18/arrow"

	"weft"
	"weft/ragged"
)

// A Column is an Arrow array as a list or a tensor, with its name in a file.
type Column struct {
	Name   string
	List   *ragged.List // nil for a column without lists
	Tensor *weft.Tensor // of a column without lists: [items], or [items, inner...]
	Type   string       // Arrow's type, as it prints it; not used when writing

	// As says what numbers stand for where Arrow has a type for it: a point or span of time,
	// with its unit, or text (a column of text is a list whose innermost items are bytes). It
	// is the type of the rows, or, if they are structs, of each field, nil where numbers are
	// numbers; a nil slice says that all are. Writing asks for the type that fits: Int64 for a
	// timestamp, Uint8 for a string.
	As []apache.DataType

	// Valid tells what is not null: for each level of lists, outermost first, then for rows,
	// then, if they are structs, for each field. Each is bool, true where there is a value:
	// [items], or the shape of the rows; nil where nothing is null. A nil slice says that
	// nothing is.
	Valid []*weft.Tensor

	// Err says why a column that was read has neither a list nor a tensor: an
	// [*UnsupportedError].
	Err error
}

// An UnsupportedError describes a type that has no counterpart on the other side. It matches
// errors.ErrUnsupported.
type UnsupportedError struct {
	Type  string // Arrow's name of the type, or weft's
	Field string // the column, or field of structs, if it has a name
}

func (e *UnsupportedError) Error() string {
	if e.Field != "" {
		return fmt.Sprintf("arrow: unsupported type %s of field %q", e.Type, e.Field)
	}
	return "arrow: unsupported type " + e.Type
}

// Is reports whether target is errors.ErrUnsupported.
func (e *UnsupportedError) Is(target error) bool { return target == errors.ErrUnsupported }

// A FormatError describes an array or a file that is not well-formed.
type FormatError struct {
	Msg string
}

func (e *FormatError) Error() string { return "arrow: " + e.Msg }

func malformed(format string, args ...any) error {
	return &FormatError{Msg: fmt.Sprintf(format, args...)}
}

// caught turns a panic of Arrow's functions over malformed arrays, or of ours over arguments,
// into an error.
func caught(err *error) {
	switch r := recover().(type) {
	case nil:
	case *weft.Error:
		*err = fmt.Errorf("arrow: %w", r)
	case error:
		*err = malformed("%v", r)
	default:
		*err = malformed("%v", r)
	}
}

// dtypes are the types of numbers that both sides have in the same bytes.
var dtypes = map[apache.Type]weft.DType{
	apache.INT8: weft.Int8, apache.INT16: weft.Int16, apache.INT32: weft.Int32, apache.INT64: weft.Int64,
	apache.UINT8: weft.Uint8, apache.UINT16: weft.Uint16, apache.UINT32: weft.Uint32, apache.UINT64: weft.Uint64,
	apache.FLOAT16: weft.Float16, apache.FLOAT32: weft.Float32, apache.FLOAT64: weft.Float64,
}

// arrowTypes is the other way round, and bool.
var arrowTypes = map[weft.DType]apache.DataType{
	weft.Bool: apache.FixedWidthTypes.Boolean,
	weft.Int8: apache.PrimitiveTypes.Int8, weft.Int16: apache.PrimitiveTypes.Int16, weft.Int32: apache.PrimitiveTypes.Int32, weft.Int64: apache.PrimitiveTypes.Int64,
	weft.Uint8: apache.PrimitiveTypes.Uint8, weft.Uint16: apache.PrimitiveTypes.Uint16, weft.Uint32: apache.PrimitiveTypes.Uint32, weft.Uint64: apache.PrimitiveTypes.Uint64,
	weft.Float16: apache.FixedWidthTypes.Float16, weft.Float32: apache.PrimitiveTypes.Float32, weft.Float64: apache.PrimitiveTypes.Float64,
}

// typeName prints a type without the blanks that Arrow puts around names.
func typeName(t apache.DataType) string {
	if t == nil {
		return "none"
	}
	return strings.TrimSpace(t.String())
}
