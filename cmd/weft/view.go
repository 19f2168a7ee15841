package main

import (
	"errors"
	"io"

	"weft"
	"weft/internal/atomicfile"
)

func newView() *command {
	var place text
	f := newFlags()
	output(f, &place, "write the page to this .html `file`")
	return &command{
		name:     "view",
		operands: "FORMULA [NAME=VALUE]... -o PAGE.html",
		flags:    f,
		short:    "Write a page that shows what a formula becomes",
		long: `Write a page of HTML that shows what a formula becomes: the graph of operations, and
the plan with its fused kernels, which open to loop programs and machine code.
Kernels are coloured by the time that they take: the formula is computed some
times for that. The page is one file; a browser shows it without a network. -o
replaces a page, and refuses any other file; -o - writes to standard output.

` + valueHelp,
		usage: `  weft view 'softmax(dot(x, w), 1)' x=x.npy w=w.npy -o page.html`,
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
			f, err := weft.ParseExpr(args[0])
			if err != nil {
				return failure{err}
			}
			vars, err := s.values("view", "the formula", "", f.Names(), args[1:])
			if err != nil {
				return err
			}
			if err := s.claim("view", "a page", "<!doctype html>", output); err != nil {
				return err
			}
			var failed error
			write := func(w io.Writer) error {
				failed = f.View(w, weft.Vars(vars))
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
