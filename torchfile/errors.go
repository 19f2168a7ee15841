package torchfile

import (
	"errors"
	"fmt"
	"strings"
)

// A FormatError describes a file that is not a well-formed file of torch.save.
type FormatError struct {
	Msg string
	Err error // what caused it, such as io.ErrUnexpectedEOF; nil for none
}

func (e *FormatError) Error() string {
	if e.Err != nil {
		return "torchfile: " + e.Msg + ": " + e.Err.Error()
	}
	return "torchfile: " + e.Msg
}

// Unwrap returns Err.
func (e *FormatError) Unwrap() error { return e.Err }

func malformed(format string, args ...any) error {
	return &FormatError{Msg: fmt.Sprintf(format, args...)}
}

// An UnsupportedError describes a file that is well-formed, or a value, but not one that this
// package reads or writes. It matches errors.ErrUnsupported.
type UnsupportedError struct {
	What string
}

func (e *UnsupportedError) Error() string { return "torchfile: " + e.What }

// Is reports whether target is errors.ErrUnsupported.
func (e *UnsupportedError) Is(target error) bool { return target == errors.ErrUnsupported }

// A ModuleError says that a file holds a module, which is a program, and not its weights. It
// matches errors.ErrUnsupported.
type ModuleError struct {
	Class string // of the module, such as "torchvision.models.resnet.ResNet"
}

func (e *ModuleError) Error() string {
	return fmt.Sprintf("torchfile: the file holds a module of class %s, whose code is in Python; save its weights: torch.save(model.state_dict(), path)", e.Class)
}

// Is reports whether target is errors.ErrUnsupported.
func (e *ModuleError) Is(target error) bool { return target == errors.ErrUnsupported }

// A LeftOutError lists the tensors of a state dict that [ReadFile] left out, since they are sparse,
// quantised or of a class of their own. What it could read comes with the error. It matches
// errors.ErrUnsupported.
type LeftOutError struct {
	Path    string
	Names   []string
	Classes []string // what made each, such as "torch._utils._rebuild_sparse_tensor"
}

func (e *LeftOutError) Error() string {
	var list []string
	for i := range min(len(e.Names), len(e.Classes)) {
		list = append(list, fmt.Sprintf("%q of %s", e.Names[i], e.Classes[i]))
	}
	return fmt.Sprintf("torchfile: %s: left out %s", e.Path, strings.Join(list, ", "))
}

// Is reports whether target is errors.ErrUnsupported.
func (e *LeftOutError) Is(target error) bool { return target == errors.ErrUnsupported }
