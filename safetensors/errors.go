package safetensors

import (
	"errors"
	"fmt"
)

// A FormatError describes a file that is not a well-formed safetensors file.
type FormatError struct {
	Msg string
}

func (e *FormatError) Error() string { return "safetensors: " + e.Msg }

// An UnsupportedError describes a tensor whose element type weft's tensors
// cannot hold. It matches errors.ErrUnsupported.
type UnsupportedError struct {
	Name  string // the tensor
	DType string // the format's name of the type, such as "BF16", or weft's when writing
}

func (e *UnsupportedError) Error() string {
	return fmt.Sprintf("safetensors: tensor %q: unsupported dtype %s", e.Name, e.DType)
}

// Is reports whether target is errors.ErrUnsupported.
func (e *UnsupportedError) Is(target error) bool { return target == errors.ErrUnsupported }

func malformed(format string, args ...any) error {
	return &FormatError{Msg: fmt.Sprintf(format, args...)}
}
