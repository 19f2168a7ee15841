package array

import (
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"sync"
)

// Caller returns the program counter of the nearest caller outside this module's packages and
// Go's packages that call it back, for messages; 0 if there is none.
func Caller() uintptr {
	var pcs [48]uintptr
	near := pcs[:16] // mostly enough: each one takes some 50 ns
	n := runtime.Callers(2, near)
	if pc := outside(near[:n]); pc != 0 || n < len(near) {
		return pc
	}
	return outside(pcs[:runtime.Callers(2, pcs[:])])
}

// insides remembers which program counters are inside: finding out takes as long as all else.
var insides sync.Map // uintptr -> bool

// Place is the place of a program counter, "file:line", "" if it is not known.
func Place(pc uintptr) string {
	if pc == 0 {
		return ""
	}
	f, _ := runtime.CallersFrames([]uintptr{pc}).Next()
	if f.File == "" {
		return ""
	}
	return fmt.Sprintf("%s:%d", f.File, f.Line)
}

// ShortPlace is [Place] without the folder.
func ShortPlace(pc uintptr) string {
	s := Place(pc)
	return s[strings.LastIndexAny(s, "/\\")+1:]
}

// inside reports that a frame belongs to this module's packages, or to packages of Go that call
// them back. Tests, examples and commands are users.
func inside(f *runtime.Frame) bool {
	// The package ends at the first dot behind the last slash of its path.
	at := strings.LastIndexByte(f.Function, '/') + 1
	name, _, _ := strings.Cut(f.Function[at:], ".")
	pkg := f.Function[:at] + name
	switch {
	case strings.HasSuffix(f.File, "_test.go"):
		return false
	case pkg == "fmt" || pkg == "sync" || pkg == "runtime" || pkg == "reflect" || pkg == module:
		return true
	}
	within, ok := strings.CutPrefix(pkg, module+"/")
	return ok && !strings.HasPrefix(within, "examples") && !strings.HasPrefix(within, "bench") && !strings.HasPrefix(within, "cmd")
}

// module is the path of this module, which is another one where it is published.
var module = strings.TrimSuffix(reflect.TypeFor[Error]().PkgPath(), "/internal/array")

func outside(pcs []uintptr) uintptr {
	for _, pc := range pcs {
		in, known := insides.Load(pc)
		if !known {
			f, _ := runtime.CallersFrames([]uintptr{pc}).Next() // a copy: pcs stays on the stack
			in = inside(&f)
			insides.Store(pc, in)
		}
		if !in.(bool) {
			return pc // a return address, as CallersFrames takes them
		}
	}
	return 0
}

// uncaught returns the user's line if Go's runtime asks for the text of an error because
// nobody recovered the panic, which is about to end the program: the stack is still there.
// What was recovered and raised again lies below the panic of this module that began it.
func uncaught() string {
	var pcs [128]uintptr
	n := runtime.Callers(3, pcs[:]) // from the caller of Error on
	if n == 0 {
		return ""
	}
	frames := runtime.CallersFrames(pcs[:n])
	f, more := frames.Next()
	if f.Function != "runtime.preprintpanics" {
		return ""
	}
	raised := false // the frame before is that of a panic
	for more {
		if f, more = frames.Next(); raised && inside(&f) {
			break
		}
		raised = f.Function == "runtime.gopanic"
	}
	for more && inside(&f) {
		f, more = frames.Next()
	}
	if inside(&f) || f.Function == "runtime.goexit" {
		return ""
	}
	return fmt.Sprintf("%s:%d", f.File, f.Line)
}
