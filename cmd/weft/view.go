package main

import (
	"errors"
	"io"
	"regexp"
	"strings"

	"weft"
	"weft/internal/atomicfile"
)

func newView() *command {
	var place text
	f := newFlags()
	f.Var(&place, "output", "write the page to this .html `file`")
	return &command{
		name:     "view",
		operands: "FORMULA|FILE.go:FUNC|FILE.weft [NAME=VALUE]... -o PAGE.html",
		flags:    f,
		short:    "Write a page that shows what a formula, a Go function or a program becomes",
		long: `Write a page of HTML that shows what a formula, a Go function of scalars or
a saved program becomes: the graph of operations, and the plan with its fused kernels, which open
to loop programs and machine code. Under "passes" the source, the graph, the plan,
the loop program and the machine code stand side by side: a line under the mouse
marks what comes from it, in all of them. Kernels are coloured by the time that
they take: the work is done some times for that. The page is one file; a browser
shows it without a network. -o replaces a page, and refuses any other file; -o -
writes to standard output. WEFT_JIT chooses the machine code, as weft info says.

` + valueHelp,
		usage: `  weft view 'softmax(dot(x, w), 1)' x=x.npy w=w.npy -o page.html
  weft view escape.go:Escape cr=re.npy ci=im.npy -o page.html
  weft view mlp.weft x=digits.npy -o page.html`,
		check: func(args []string) error {
			if len(args) == 0 {
				return errors.New("a formula is missing, such as: weft view '2*a + b' a=a.npy b=1.5 -o page.html")
			}
			return nil
		},
		run: func(s *streams, args []string) error {
			output := string(place)
			if output == "" {
				return errors.New("view: no file for the page: give -o PAGE.html")
			}
			show, err := viewed(s, args)
			if err != nil {
				return err
			}
			if err := s.claim("view", "a page", "<!doctype html>", output); err != nil {
				return err
			}
			var failed error
			write := func(w io.Writer) error {
				failed = show(w)
				return failed
			}
			if output == "-" {
				err = write(s.out)
			} else {
				err = atomicfile.Write(output, write)
			}
			if failed != nil {
				return failure{failed}
			}
			if err != nil {
				return failf("write the page to %s: %w", output, plain(err))
			}
			return nil
		},
	}
}

// viewedCalls is how often a program is called for its page: the first call compiles it.
const viewedCalls = 3

// viewedProgram returns what writes the page of a saved program for the values behind it.
func viewedProgram(s *streams, args []string) (func(w io.Writer) error, error) {
	dev, err := weft.DeviceByName("")
	if err != nil {
		return nil, failure{err}
	}
	p, err := weft.LoadProgram(args[0], weft.LoadOpts{Device: dev})
	if err != nil {
		return nil, failure{err}
	}
	values, err := arguments(s, "view", args[0], p.Inputs(), args[1:], dev)
	if err != nil {
		return nil, err
	}
	return func(w io.Writer) error {
		prof := weft.StartProfile()
		defer prof.Stop()
		for range viewedCalls {
			if _, err := p.Call(values...); err != nil {
				return err
			}
		}
		prof.Stop()
		return p.View(w, prof)
	}, nil
}

// viewed returns what writes the page of a formula, of FILE.go:FUNC or of a program, for the values
// behind it.
func viewed(s *streams, args []string) (func(w io.Writer) error, error) {
	if strings.HasSuffix(args[0], ".weft") {
		return viewedProgram(s, args)
	}
	if !isFunction.MatchString(args[0]) {
		f, err := weft.ParseExpr(args[0])
		if err != nil {
			return nil, failure{err}
		}
		vars, err := s.values("view", "the formula", "", f.Names(), args[1:], nil)
		return func(w io.Writer) error { return f.View(w, weft.Vars(vars)) }, err
	}
	f, err := lookup(s, args[0])
	if err != nil {
		return nil, err
	}
	vars, err := s.values("view", f.Name(), "parameter", f.Params(), args[1:], nil)
	k := &kernelRun{}
	return func(w io.Writer) error { return f.View(w, k.arguments(f, vars)...) }, err
}

// isFunction matches FILE.go:FUNC and -:FUNC, which no formula looks like.
var isFunction = regexp.MustCompile(`^(.+\.go|` + stdin + `):\w+$`)
