package core

import (
	"fmt"
	"path/filepath"
	"runtime"

	"weft/internal/array"
	"weft/internal/graphtext"
	"weft/internal/ir"
	"weft/internal/rewrite"
)

// Names is what the leaves of a program's graphs are called, and where nodes come from.
func (e *Entry) Names(from []origin) graphtext.Names {
	names := graphtext.Names{Note: func(n *ir.Node) string {
		if n.ID >= len(from) {
			return ""
		}
		return lineOf(from[n.ID].pc)
	}}
	for i := range e.sources {
		s := &e.sources[i]
		switch name := ""; s.Kind {
		case FromArgument:
			names.Inputs = append(names.Inputs, fmt.Sprint("arg", s.Index))
		case fromCapture:
			if name = lineOf(s.PC); name != "" {
				name = " of " + name
			}
			names.Inputs = append(names.Inputs, fmt.Sprintf("captured%d%s", i, name))
		default:
			names.Inputs = append(names.Inputs, fmt.Sprint("gradient", i))
		}
	}
	return names
}

// lineOf is the file and line of a program counter, short.
func lineOf(pc uintptr) string {
	if pc == 0 {
		return ""
	}
	f, _ := runtime.CallersFrames([]uintptr{pc}).Next()
	if f.File == "" {
		return ""
	}
	return fmt.Sprintf("%s:%d", filepath.Base(f.File), f.Line)
}

// latest is the latest program, nil if there is none yet.
func (c *CompiledFunc) latest() *Entry {
	if list := c.Entries.Load(); list != nil {
		return (*list)[0]
	}
	return nil
}

// Shown returns the latest program. It panics if there is none: what needs one.
func (c *CompiledFunc) Shown(what string) *Entry {
	e := c.latest()
	if e == nil {
		array.Failf("compile", "", "%s of a function that was not called yet: the first call compiles it", what)
	}
	return e
}

// Rewritten returns the graph of the program after rewriting.
func (e *Entry) Rewritten() *rewrite.Result { return rewrite.Run(e.Outs, rewrite.Level(e.level)) }
