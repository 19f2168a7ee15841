// Command weft computes formulas over .npy files and shows what the machine can
// do.
//
//	weft info
//	weft eval 'exp(-x*x)*sin(x)' x=samples.npy -o out.npy
//	weft eval '2*a + 3*b' a=a.npy b=0.5 --time 1000
//	weft run f.weft x=x.npy -o y.npy
//
// The language of formulas is described at weft.Expr.
//
// The exit code of every command is 0 on success, 1 if the work failed, such as a formula, a
// kernel or a file that is wrong or output that cannot be written, and 2 if the command line was wrong. A command
// that a signal ends leaves its files as they were.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"weft/internal/atomicfile"
)

func main() {
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		if !signal.Ignored(s) { // as a shell asks of jobs in its background
			endBy(s)
		}
	}
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// endBy makes a signal end the process as it would, without files that are half written.
func endBy(s os.Signal) {
	c := make(chan os.Signal, 1)
	signal.Notify(c, s)
	go func() {
		<-c
		atomicfile.Abandon()
		signal.Reset(s)
		if p, err := os.FindProcess(os.Getpid()); err != nil || p.Signal(s) != nil {
			os.Exit(failed) // where processes have no signals
		}
	}()
}

// Exit codes.
const (
	ok     = 0
	failed = 1
	misuse = 2
)

// A failure is an error of the work itself, not of the command line.
type failure struct{ error }

func (f failure) Unwrap() error { return f.error }

// failf returns a failure.
func failf(format string, args ...any) error { return failure{fmt.Errorf(format, args...)} }

// A printer is standard output. It holds the first error of a write, which is a failure.
type printer struct {
	io.Writer
	err error
}

func (p *printer) Write(b []byte) (int, error) {
	n, err := p.Writer.Write(b)
	if err != nil && p.err == nil {
		p.err = failf("standard output: %w", plain(err))
	}
	return n, p.err
}

// run executes the command and returns its exit code.
func run(args []string, input io.Reader, stdout, stderr io.Writer) (code int) {
	defer func() {
		// A fault of this program must not look like one of the input.
		if r := recover(); r != nil {
			fmt.Fprintf(stderr, "weft: internal error: %v\n", r)
			code = failed
		}
	}()
	args = slices.Clone(args)
	for i, a := range args {
		if name, ok := strings.CutPrefix(a, "-:"); ok { // a function in standard input, not a flag
			args[i] = stdin + ":" + name
		}
	}
	all := []*command{newInfo(), newEval(), newView(), newKernel(), newBuild(), newRun()}
	out := &printer{Writer: stdout}
	err := execute(all, args, &streams{in: input, out: out})
	if err == nil {
		err = out.err
	}
	if err == nil {
		return ok
	}
	fmt.Fprintf(stderr, "weft: %s\n", strings.TrimRight(err.Error(), "\n"))
	var f failure
	if errors.As(err, &f) {
		return failed
	}
	return misuse
}
