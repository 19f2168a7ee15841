package npy

import (
	"errors"
	"fmt"
	"slices"
)

// A FormatError describes a file that is not a well-formed .npy file.
type FormatError struct {
	Msg string
}

func (e *FormatError) Error() string { return "npy: " + e.Msg }

// An UnsupportedError describes a well-formed file whose element type tensors
// cannot hold. It matches errors.ErrUnsupported.
type UnsupportedError struct {
	DType string // such as "int16", or the file's own text if it has no NumPy name
	hint  string // what reads it, behind a colon; or ""
}

func (e *UnsupportedError) Error() string { return "npy: unsupported dtype " + e.DType + e.hint }

// Is reports whether target is errors.ErrUnsupported.
func (e *UnsupportedError) Is(target error) bool { return target == errors.ErrUnsupported }

// A LeftOutError lists the arrays of an archive that [ReadArchiveFile] left out, with the reason
// for each. What it could read comes with the error. It matches errors.ErrUnsupported.
type LeftOutError struct {
	Path  string
	Names []string
	Errs  []error
}

func (e *LeftOutError) Error() string {
	return fmt.Sprintf("npy: %s: left out %d arrays: %v", e.Path, len(e.Names), errors.Join(e.Errs...))
}

// Unwrap returns the reasons.
func (e *LeftOutError) Unwrap() []error { return slices.Clone(e.Errs) }

func malformed(format string, args ...any) error {
	return &FormatError{Msg: fmt.Sprintf(format, args...)}
}
