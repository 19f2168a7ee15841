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
	"regexp"
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
		Use:               "weft",
		Short:             "Compute formulas over arrays, compiled for this processor",
		Args:              known,
		SilenceErrors:     true,
		SilenceUsage:      true,
		PersistentPreRunE: checkFlags,
		Version:           version(),
		RunE:              func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetVersionTemplate("weft {{.Version}}\n")
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		if (cmd.Name() == "eval" || cmd.Name() == "view") && strings.HasPrefix(err.Error(), "unknown") {
			err = fmt.Errorf("%w (a formula that begins with - goes in parentheses or behind --)", err)
		}
		return flagError(cmd, err)
	})
	root.SuggestionsMinimumDistance = 2
	root.AddCommand(newInfo(), newEval(), newView(), newKernel(), newBuild())
	return root
}

// badValue matches what the flag library says of a value that it cannot read.
var badValue = regexp.MustCompile(`^invalid argument (".*") for "(?:-\w, )?(--\w+)" flag: `)

// flagError is an error of the flag library with the command's name.
func flagError(cmd *cobra.Command, err error) error {
	name := cmd.Name()
	if m := badValue.FindStringSubmatch(err.Error()); m != nil {
		want := "true or false"
		if f := cmd.Flags().Lookup(strings.TrimPrefix(m[2], "--")); f != nil && f.Value.Type() == "int" {
			want = "a whole number"
		}
		return fmt.Errorf("%s: %s is %s, want %s", name, m[2], m[1], want)
	}
	if name == cmd.Root().Name() {
		return err
	}
	return fmt.Errorf("%s: %w", name, err)
}

// checkFlags refuses a place "" for results, and a number of calls that is not positive.
func checkFlags(cmd *cobra.Command, _ []string) error {
	if f := cmd.Flags().Lookup("output"); f != nil && f.Changed {
		empty := f.Value.String() == ""
		if list, ok := f.Value.(interface{ GetSlice() []string }); ok {
			empty = slices.Contains(list.GetSlice(), "")
		}
		if empty {
			return fmt.Errorf("%s: the place behind -o is empty", cmd.Name())
		}
	}
	if f := cmd.Flags().Lookup("time"); f != nil && f.Changed {
		if n, err := cmd.Flags().GetInt("time"); err != nil || n <= 0 {
			return fmt.Errorf("%s: --time %d is not positive", cmd.Name(), n)
		}
	}
	return nil
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
