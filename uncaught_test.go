package weft_test

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"weft"
	"weft/nn"
)

// mistakes are what a program does wrong, each on the line that its function begins on.
var mistakes = []struct {
	name string
	do   func()
}{
	{"method", func() { weft.Ones(2, 3).Add(weft.Ones(4)) }},
	{"index", func() { weft.Ones(2).At(7) }},
	{"formula", func() { weft.Expr("exp(a) * b", weft.Ones(2), weft.Ones(3)) }},
	{"parse", func() { weft.Expr("a +", weft.Ones(2)) }},
	{"generic", func() { weft.Data[int32](weft.Ones(2)) }},
	{"backward", func() { weft.Ones(2).Backward() }},
	{"layer", func() { nn.NewLinear(3, 2).Forward(weft.Ones(2, 5)) }},
	{"again", func() { defer func() { panic(recover()) }(); weft.Ones(2).At(7) }},
	{"goroutine", func() { c := make(chan int); go func() { weft.Ones(2).At(7) }(); <-c }},
	{"number", func() { weft.OnesOf(weft.Uint8, 2).Add(300) }},
	{"memory", func() { weft.Randn(1 << 50) }},
}

// An error that nobody recovers ends a program with the line of the program's own that is at
// fault, first of all; one that [weft.Try] gives, or that is recovered, says only what is wrong.
func TestUncaughtLine(t *testing.T) {
	if name := flag.Arg(0); name != "" {
		for _, m := range mistakes {
			if m.name == name {
				m.do()
			}
		}
		os.Exit(0)
	}
	for _, m := range mistakes {
		out, err := exec.Command(os.Args[0], "-test.run=^TestUncaughtLine$", m.name).CombinedOutput()
		if err == nil {
			t.Errorf("%s does not end the program", m.name)
			continue
		}
		text, _, _ := strings.Cut(string(out), "\ngoroutine ")
		_, text, _ = strings.Cut(text, "panic: ")
		pc := funcLine(m.do)
		if !strings.Contains(text, "\n\tat "+pc) {
			t.Errorf("%s, at %s:\n%s", m.name, pc, text)
		}
	}
	for _, m := range mistakes {
		if m.name == "goroutine" {
			continue
		}
		if err := weft.Try(m.do); err == nil || strings.Contains(err.Error(), "_test.go") {
			t.Errorf("%s: %v", m.name, err)
		}
		func() {
			defer func() {
				if s := fmt.Sprint(recover()); strings.Contains(s, "_test.go") {
					t.Errorf("%s, recovered: %s", m.name, s)
				}
			}()
			m.do()
		}()
	}
}

// funcLine is the file and line that a function begins on.
func funcLine(f func()) string {
	fn := runtime.FuncForPC(reflect.ValueOf(f).Pointer())
	file, line := fn.FileLine(fn.Entry())
	return fmt.Sprintf("%s:%d", file, line)
}
