package tokenizers

import (
	"errors"
	"fmt"
)

// A FormatError describes a file that does not hold a tokenizer.
type FormatError struct {
	Msg string
}

func (e *FormatError) Error() string { return "tokenizers: " + e.Msg }

func malformed(format string, args ...any) error {
	return &FormatError{Msg: fmt.Sprintf(format, args...)}
}

// An UnsupportedError names a part of a tokenizer file that this package does not have. It matches
// errors.ErrUnsupported.
type UnsupportedError struct {
	Part string // such as "pre-tokenizer", "regular expression"
	Name string // its type or text
	Msg  string // why, if there is more to say
}

func (e *UnsupportedError) Error() string {
	s := fmt.Sprintf("tokenizers: unsupported %s %q", e.Part, e.Name)
	if e.Msg != "" {
		s += ": " + e.Msg
	}
	return s
}

// Is reports whether target is errors.ErrUnsupported.
func (e *UnsupportedError) Is(target error) bool { return target == errors.ErrUnsupported }

// An EncodeError describes a text that cannot be encoded, or options that cannot be met.
type EncodeError struct {
	Op  string // what was called, such as "EncodePair"
	Msg string
}

func (e *EncodeError) Error() string { return "tokenizers: " + e.Op + ": " + e.Msg }
