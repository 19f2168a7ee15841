// Command weft computes formulas over .npy files and shows what the machine can
// do.
//
//	weft info
//	weft eval 'exp(-x*x)*sin(x)' x=samples.npy -o out.npy
//	weft eval '2*a + 3*b' a=a.npy b=0.5 --time 1000
//
// The language of formulas is described at weft.Expr.
//
// The exit code of every command is 0 on success, 1 if the work failed, such as a formula, a
// kernel or a file that is wrong, and 2 if the command line was wrong.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

func main() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

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
	cmd := newRoot()
	cmd.SetArgs(args)
	cmd.SetIn(input)
	cmd.SetOut(stdout)
	cmd.SetErr(stderr)
	err := cmd.Execute()
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

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:           "weft",
		Short:         "Compute formulas over arrays, compiled for this processor",
		Args:          known,
		SilenceErrors: true,
		SilenceUsage:  true,
		Version:       version(),
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetVersionTemplate("weft {{.Version}}\n")
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		if (cmd.Name() == "eval" || cmd.Name() == "view") && strings.HasPrefix(err.Error(), "unknown") {
			return fmt.Errorf("%w (a formula that begins with - goes in parentheses or behind --)", err)
		}
		return err
	})
	root.SuggestionsMinimumDistance = 2
	root.AddCommand(newInfo(), newEval(), newView(), newKernel(), newBuild())
	return root
}

// known refuses what is not a command, and names commands that are spelt like it.
func known(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	hint := ""
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		hint = ": did you mean " + strings.Join(near, " or ") + "?"
	}
	return fmt.Errorf("there is no command %q%s (weft --help lists them)", args[0], hint)
}
