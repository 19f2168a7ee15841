package kernel

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"sync"

	"weft/internal/gokernel"
)

// An Error is a fault in the source of a kernel. Its text has file, line and column, the
// line, and a caret under the fault.
//
//	File string // "source" for a text that was not read from a file
//	Line int    // from 1; 0 if the fault has no place
//	Col int     // in bytes, from 1
//	Msg string  // what is wrong
//	Text string // the line
//
//	func (e *Error) Error() string // the message with its place, the line and the caret
type Error = gokernel.Error

// A Source is Go source with functions that can be kernels. It is safe for concurrent use.
type Source struct {
	s *gokernel.Source

	mu    sync.Mutex
	funcs map[string]*Func // that were asked for
}

// Parse reads a Go file from text of at most 16 MiB. What does not matter to the functions
// that are asked for may be anything.
func Parse(src string) (*Source, error) {
	return parse(gokernel.File{Src: []byte(src)})
}

// MustParse is [Parse] for source that is part of the program: it panics with the error.
func MustParse(src string) *Source {
	s, err := Parse(src)
	if err != nil {
		fail("parse", err)
	}
	return s
}

// ParseFS reads the files of one package that match the patterns of [fs.Glob], at most 16 MiB
// together.
func ParseFS(fsys fs.FS, patterns ...string) (*Source, error) {
	var files []gokernel.File
	seen := map[string]bool{}
	if fsys == nil {
		return nil, errors.New("kernel: the file system is nil")
	}
	for _, p := range patterns {
		names, err := fs.Glob(fsys, p)
		if err != nil {
			return nil, fmt.Errorf("kernel: pattern %q: %w", p, err)
		}
		if len(names) == 0 {
			return nil, fmt.Errorf("kernel: no file matches %q: %w", p, fs.ErrNotExist)
		}
		for _, name := range names {
			if seen[name] {
				continue
			}
			seen[name] = true
			src, err := readAtMost(fsys, name, gokernel.MaxSource+1)
			if err != nil {
				return nil, err
			}
			files = append(files, gokernel.File{Name: name, Src: src})
		}
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("kernel: no pattern is given: %w", fs.ErrNotExist)
	}
	return parse(files...)
}

// readAtMost reads the first n bytes of a file, which may have no end.
func readAtMost(fsys fs.FS, name string, n int64) ([]byte, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	src, err := io.ReadAll(io.LimitReader(f, n))
	if err != nil {
		return nil, &fs.PathError{Op: "read", Path: name, Err: err}
	}
	return src, nil
}

func parse(files ...gokernel.File) (*Source, error) {
	s, err := gokernel.Parse(files...)
	if err != nil {
		return nil, err
	}
	return &Source{s: s, funcs: map[string]*Func{}}, nil
}

// Saturating returns the source with MATLAB's rules for integers of a named width, int8 to int64
// and uint8 to uint64. Results that a type does not hold become the nearest that it holds. A
// quotient, and a float that is converted, are rounded to the nearest integer, halves away from 0;
// a quotient by 0 is the extreme with the sign of the numerator, and 0 of 0. NaN becomes 0. Shifts
// and % keep Go's rules, and so do int and uint, which count and index. The functions stay callable
// as plain Go, where integers wrap.
func (s *Source) Saturating() *Source {
	s.check("saturating")
	return &Source{s: s.s.Saturating(), funcs: map[string]*Func{}}
}

// Names returns the names of the functions, in order.
func (s *Source) Names() []string {
	s.check("names")
	return s.s.Names()
}

// Lookup checks the function of that name, and what it calls, and returns it. Every call with
// one name returns the same Func, which keeps what it compiled. The error is an [*Error].
func (s *Source) Lookup(name string) (*Func, error) {
	s.check("lookup")
	s.mu.Lock()
	f := s.funcs[name]
	s.mu.Unlock()
	if f != nil {
		return f, nil
	}
	checked, err := s.s.Func(name)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if f := s.funcs[name]; f != nil { // of a call at the same time
		return f, nil
	}
	f = newFunc(checked, nil)
	s.funcs[name] = f
	return f, nil
}

// Func is [Source.Lookup] for functions that are part of the program: it panics with the
// error. It may be called wherever the function is used: looking a name up again takes
// some 20 ns.
func (s *Source) Func(name string) *Func {
	f, err := s.Lookup(name)
	if err != nil {
		fail(name, err)
	}
	return f
}
