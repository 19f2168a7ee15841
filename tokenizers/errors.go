package tokenizers

import (
	"errors"
	"fmt"
)

// A FormatError describes a file that does not hold a tokenizer.
type FormatError struct {
	Path string // of the file or folder that Load was given; "" of Parse
	Msg  string
}

func (e *FormatError) Error() string { return prefix(e.Path) + e.Msg }

// prefix begins an error's text.
func prefix(path string) string {
	if path == "" {
		return "tokenizers: "
	}
	return "tokenizers: " + path + ": "
}

// withPath returns err with the path that [Load] was given.
func withPath(path string, err error) error {
	switch e := err.(type) {
	case *FormatError:
		return &FormatError{Path: path, Msg: e.Msg}
	case *UnsupportedError:
		c := *e
		c.Path = path
		return &c
	}
	return err
}

func malformed(format string, args ...any) error {
	return &FormatError{Msg: fmt.Sprintf(format, args...)}
}

// An UnsupportedError names a part of a tokenizer file that this package does not have. It matches
// errors.ErrUnsupported.
type UnsupportedError struct {
	Path string // of the file or folder that Load was given; "" of Parse
	Part string // such as "pre-tokenizer", "regular expression"
	Name string // its type or text
	Msg  string // why, if there is more to say
}

func (e *UnsupportedError) Error() string {
	s := fmt.Sprintf("%sunsupported %s %q", prefix(e.Path), e.Part, e.Name)
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
