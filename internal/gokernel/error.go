package gokernel

import (
	"fmt"
	"go/token"
	"strings"
)

// An Error is a fault in the source of a kernel.
type Error struct {
	File string
	Line int // from 1; 0 if the fault has no place
	Col  int // in bytes, from 1
	Msg  string
	Text string // the line
}

// Error returns the message with its place, and the line with a caret under the fault.
func (e *Error) Error() string {
	if e.Line == 0 {
		if e.File == "" {
			return e.Msg
		}
		return e.File + ": " + e.Msg
	}
	s := fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Col, e.Msg)
	if e.Text == "" {
		return s
	}
	return s + "\n\t" + e.Text + "\n\t" + e.caret()
}

// caret is the space before the column, in which tabs stay, and a caret.
func (e *Error) caret() string {
	n := max(min(e.Col-1, len(e.Text)), 0) // line directives move columns
	var b strings.Builder
	for _, r := range e.Text[:n] {
		if r != '\t' {
			r = ' '
		}
		b.WriteRune(r)
	}
	return b.String() + "^"
}

// maxLine bounds the line that an error shows.
const maxLine = 200

// errorAt makes the error at a place.
func (s *Source) errorAt(pos token.Pos, format string, args ...any) *Error {
	e := &Error{Msg: fmt.Sprintf(format, args...)}
	if !pos.IsValid() {
		if len(s.files) > 0 {
			e.File = s.files[0].name
		}
		return e
	}
	p := s.fset.PositionFor(pos, false)
	e.File, e.Line, e.Col = p.Filename, p.Line, p.Column
	for _, f := range s.files {
		if f.name == p.Filename {
			e.Text = line(f.src, p.Line)
		}
	}
	return e
}

// line returns the line of that number.
func line(src []byte, n int) string {
	text := string(src)
	for ; n > 1; n-- {
		_, rest, ok := strings.Cut(text, "\n")
		if !ok {
			return ""
		}
		text = rest
	}
	text, _, _ = strings.Cut(text, "\n")
	text = strings.TrimRight(text, " \t\r")
	if len(text) > maxLine {
		text = text[:maxLine]
	}
	return text
}

// refuse panics with the error at a place; [catch] turns it into a result.
func (s *Source) refuse(pos token.Pos, format string, args ...any) {
	panic(s.errorAt(pos, format, args...))
}

// catch ends a function whose parts refuse.
func catch(err *error) {
	switch r := recover().(type) {
	case nil:
	case *Error:
		*err = r
	default:
		panic(r)
	}
}
