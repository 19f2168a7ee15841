package array

import (
	"fmt"
	"strings"
)

// An ErrorKind says whose fault an [Error] is.
type ErrorKind uint8

const (
	Misuse       ErrorKind = iota // a wrong shape, type, range or order of calls
	OutOfMemory                   // an allocation failed
	DeviceFailed                  // a device reported a failure
)

// An Error describes misuse of the library, exhausted memory or a failed
// device. Methods of tensors panic with *Error; functions that return errors
// wrap it.
type Error struct {
	Kind ErrorKind
	Op   string // the operation, such as "matmul"
	Arg  string // the argument at fault, "" if none in particular
	Msg  string // what is wrong, with the shapes and types that matter
	Err  error  // the cause, if another error is
	// Layer is the path of the layer in its module, as the names of nn.State have it, such
	// as "layers.3.fc"; "" outside of a layer, or if the path is not known.
	Layer string

	at any // the innermost layer, as package nn identifies it
}

// At returns what [Located] was given last.
func At(e *Error) any { return e.at }

// Located returns e with the path of a layer and what identifies it.
func Located(e *Error, at any, path string) *Error {
	c := *e
	c.at, c.Layer = at, path
	return &c
}

// Error returns the path of the layer, the operation, the argument and what is wrong. In the message of a panic that
// nobody recovers the line of the caller outside this module follows.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.Layer)
	if e.Op != "" {
		if b.Len() > 0 {
			b.WriteString(": ")
		}
		b.WriteString(e.Op)
	}
	if e.Arg != "" {
		if b.Len() > 0 {
			b.WriteString(": ")
		}
		b.WriteString(e.Arg)
	}
	if b.Len() > 0 {
		b.WriteString(": ")
	}
	b.WriteString(e.Msg)
	if e.Err != nil {
		b.WriteString(": ")
		b.WriteString(e.Err.Error())
	}
	if line := uncaught(); line != "" && !strings.Contains(b.String(), line) {
		b.WriteString("\nat ")
		b.WriteString(line)
	}
	return b.String()
}

// Count is a number of things: "1 argument", "2 arguments".
func Count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func (e *Error) Unwrap() error { return e.Err }

// Errorf returns a misuse error of op; arg may be "".
func Errorf(op, arg, format string, args ...any) *Error {
	return &Error{Op: op, Arg: arg, Msg: fmt.Sprintf(format, args...)}
}

// Failf panics with a misuse error of op; arg may be "".
func Failf(op, arg, format string, args ...any) {
	panic(Errorf(op, arg, format, args...))
}

// Given panics with an *Error that says that argument arg of op is nil, unless it is given.
func Given(op, arg string, given bool) {
	if !given {
		Failf(op, arg, "is nil")
	}
}

// NoFit returns the misuse error of a Go integer that d does not hold.
func NoFit[T int64 | uint64](op string, x T, d DType) *Error {
	lo, hi := d.Limits()
	return Errorf(op, "", "the number %d does not fit %s, which holds %d to %d: convert the tensor with To first", x, d, lo, hi)
}

// Try runs f and returns the *Error that it panicked with, or nil. Other panics
// pass through.
func Try(f func()) (err error) {
	if f == nil {
		Failf("try", "f", "is nil")
	}
	defer func() {
		if r := recover(); r != nil {
			e, ok := r.(*Error)
			if !ok {
				panic(r)
			}
			err = e
		}
	}()
	f()
	return nil
}

// A Name is the name of a function that is running, for errors of operations inside it.
type Name struct {
	op    string
	calls *[]string // of the goroutine's trace, nil outside of one
	depth int       // of the function among them
}

// Calls returns the names of the functions that run in the trace of this goroutine, outermost first,
// nil outside of one.
var Calls = func() *[]string { return nil }

// Named begins a function whose errors name op, which the user called, and not an operation inside
// it. In a trace this holds for errors of the compiled function's calls too.
//
//	defer array.Named("stack").End()
func Named(op string) Name {
	n := Name{op: op}
	if !Tracing.On() {
		return n
	}
	if n.calls = Calls(); n.calls != nil {
		n.depth = len(*n.calls)
		*n.calls = append(*n.calls, op)
	}
	return n
}

// End ends the function. It is deferred, and puts the name into an *Error that the function panics
// with, unless a layer inside it had a name for it.
func (n Name) End() {
	if n.calls != nil {
		*n.calls = (*n.calls)[:n.depth]
	}
	op := n.op
	switch r := recover().(type) {
	case nil:
	case *Error:
		if r.Op != op && r.at == nil {
			e := *r
			e.Op, r = op, &e
		}
		panic(r)
	default:
		panic(r)
	}
}
