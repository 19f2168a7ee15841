package hf

import (
	"errors"
	"fmt"
)

// A FormatError describes a file of a folder that is not what it should be.
type FormatError struct {
	Path string
	Msg  string
	Err  error // what caused it, nil for none
}

func (e *FormatError) Error() string {
	s := fmt.Sprintf("hf: %s: %s", e.Path, e.Msg)
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

// Unwrap returns Err.
func (e *FormatError) Unwrap() error { return e.Err }

// An UnsupportedError says what a folder asks for that this package does not have, or what a model
// cannot do. It matches errors.ErrUnsupported.
type UnsupportedError struct {
	Folder string // "" for a model that Load did not make
	What   string
}

func (e *UnsupportedError) Error() string {
	if e.Folder == "" {
		return "hf: " + e.What
	}
	return fmt.Sprintf("hf: %s: %s", e.Folder, e.What)
}

// Is reports whether target is errors.ErrUnsupported.
func (e *UnsupportedError) Is(target error) bool { return target == errors.ErrUnsupported }
