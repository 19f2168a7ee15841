package safetensors

import (
	"errors"
	"fmt"
	"strings"
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

// A LeftOutError lists the tensors of a file that [ReadFile] left out, in the order of their data.
// What it could read comes with the error. It matches errors.ErrUnsupported.
type LeftOutError struct {
	Path    string
	Tensors []*UnsupportedError
}

func (e *LeftOutError) Error() string {
	var list []string
	for _, t := range e.Tensors {
		if t == nil {
			continue
		}
		list = append(list, fmt.Sprintf("%q of dtype %s", t.Name, t.DType))
	}
	return fmt.Sprintf("safetensors: %s: left out %s", e.Path, strings.Join(list, ", "))
}

// Is reports whether target is errors.ErrUnsupported.
func (e *LeftOutError) Is(target error) bool { return target == errors.ErrUnsupported }

func malformed(format string, args ...any) error {
	return &FormatError{Msg: fmt.Sprintf(format, args...)}
}
