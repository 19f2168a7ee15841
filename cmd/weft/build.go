package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"weft"
	"weft/internal/ahead"
	"weft/internal/atomicfile"
	"weft/internal/gokernel"
	"weft/internal/saved"
)

func newBuild() *command {
	var dir, name, typ text
	var lengths list
	f := newFlags()
	f.Var(&dir, "output", "the `folder` of the package, made if need be")
	f.Var(&name, "name", "the `name` of the function of a formula or saved program; else that of the folder")
	f.Var(&lengths, "length", "a free length of a saved program, as `NAME=N`; may be repeated")
	f.Var(&typ, "type", "the `type` of a formula's arrays: float64, or float32")
	return &command{
		name:     "build",
		operands: "FILE.go:FUNC|FORMULA|FILE.weft -o DIR",
		flags:    f,
		short:    "Write a function, formula or saved program as a Go package with vector code",
		long: `Write a Go function of numbers as a Go package: the function over slices, as
vector code in assembly for AVX2 and AVX-512 and as plain Go for other
processors, with a test of the one against the other. The package imports
nothing of weft. A function whose first parameter is a neighbourhood is built as
a stencil over arrays, with all borders and with repeated steps. A function with
a type parameter is built for one type: FILE.go:FUNC[float32]. The source is a
file, or standard input as -:FUNC. A folder has one function. Files of it that
weft build did not write are not replaced.

A formula of elements is built in the same way, as a function of its names in
the order of the text; sum, mean, prod, max or min may stand around it.

A program that weft.Compiled.Save or sym.Fn.Save wrote becomes a function that
takes slices for results and inputs, and its free lengths. It has the name of
the folder, or --name. Where it has matrix products, convolutions, pooling or
indices, the package imports weft/aot, which has no planner and no compiler of
graphs. Sorts, loops and others are refused by name.`,
		usage: "  weft build escape.go:Escape -o internal/escape\n  weft build 'exp(-x*x)*sin(x)' -o internal/bell\n  weft build smooth.weft -o internal/smooth --length n=64",
		check: func(args []string) error {
			if len(args) != 1 {
				return fmt.Errorf("it takes one function, FILE.go:FUNC, one formula, or one FILE.weft, got %d", len(args))
			}
			return nil
		},
		run: func(s *streams, args []string) error {
			if dir == "" {
				return errors.New("build: a folder is missing: -o DIR")
			}
			if strings.HasSuffix(args[0], ".weft") {
				if typ != "" {
					return errors.New("build: -type is for formulas")
				}
				if err := buildSaved(args[0], string(dir), string(name), lengths); err != nil {
					return failure{err}
				}
				return nil
			}
			if len(lengths) > 0 {
				return errors.New("build: -length is for saved programs")
			}
			if isFormula(args[0]) {
				if err := buildFormula(args[0], string(dir), string(name), string(typ)); err != nil {
					return failure{err}
				}
				return nil
			}
			if name != "" || typ != "" {
				return errors.New("build: -name is for formulas and saved programs, -type for formulas")
			}
			where, err := parseTarget(args[0])
			if err != nil {
				return err
			}
			if err := where.build(s, string(dir)); err != nil {
				return failure{err}
			}
			return nil
		},
	}
}

// A target is the function that is built.
type target struct {
	file, name string
	of         weft.DType // of its type parameter, 0 if it is not given
}

func parseTarget(where string) (t target, err error) {
	var ok bool
	if t.file, t.name, ok = cutLast(where, ".go:"); ok {
		t.file += ".go"
	} else {
		t.file, t.name, ok = strings.Cut(where, ":")
		ok = ok && t.file == stdin
	}
	if !ok || t.name == "" {
		return t, fmt.Errorf("build: %q is not FILE.go:FUNC", where)
	}
	if n, of, ok := strings.Cut(t.name, "["); ok {
		t.name = n
		for d := weft.DType(1); d.Supported(); d++ {
			if d.String()+"]" == of {
				t.of = d
			}
		}
		if t.of == 0 {
			return t, fmt.Errorf("build: %q names no element type", "["+of)
		}
	}
	return t, nil
}

func (t target) build(in *streams, dir string) error {
	file := t.file
	var src []byte
	var err error
	if file == stdin {
		file = "stdin.go"
		src, err = in.source()
	} else if src, err = os.ReadFile(file); err != nil {
		err = fmt.Errorf("%s: %w", file, plain(err))
	}
	if err != nil {
		return err
	}
	s, err := gokernel.Parse(gokernel.File{Name: filepath.Base(file), Src: src})
	if err != nil {
		return err
	}
	f, err := s.Func(t.name)
	if err != nil {
		return err
	}
	pkg, err := packageOf(dir)
	if err != nil {
		return err
	}
	files, err := ahead.Write(pkg, f, t.of)
	if err != nil {
		return err
	}
	return writePackage(dir, files)
}

// isFormula reports what is not FILE.go:FUNC and reads as a formula.
func isFormula(arg string) bool {
	if _, err := parseTarget(arg); err == nil || strings.HasSuffix(arg, ".go") {
		return false
	}
	return strings.ContainsAny(arg, "()+-*/<>=&|!% ") || !strings.ContainsAny(arg, ":./\\") && !exists(arg)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// buildFormula writes the package of a formula.
func buildFormula(text, dir, name, typ string) error {
	if _, err := weft.ParseExpr(text); err != nil {
		return err
	}
	pkg, err := packageOf(dir)
	if err != nil {
		return err
	}
	if name == "" {
		name = strings.ToUpper(pkg[:1]) + pkg[1:]
	}
	of := weft.Float64
	switch typ {
	case "", "float64":
	case "float32":
		of = weft.Float32
	default:
		return fmt.Errorf("build: a formula is built for float64 or float32, not for %q", typ)
	}
	files, err := ahead.WriteFormula(pkg, name, text, of)
	if err != nil {
		return err
	}
	return writePackage(dir, files)
}

// buildSaved writes the package of a saved program.
func buildSaved(path, dir, name string, lengths []string) error {
	p, err := saved.Read(path)
	if err != nil {
		return err
	}
	pkg, err := packageOf(dir)
	if err != nil {
		return err
	}
	o := ahead.GraphOpts{Package: pkg, Name: name, Lengths: map[string]int{}}
	if name == "" {
		o.Name = strings.ToUpper(pkg[:1]) + pkg[1:]
	}
	for _, l := range lengths {
		name, text, ok := strings.Cut(l, "=")
		n, err := strconv.Atoi(text)
		if !ok || err != nil || n < 0 || !slices.Contains(p.Lengths, name) {
			return fmt.Errorf("--length %s: want NAME=N, and the name is one of %s", l, listed(p.Lengths))
		}
		o.Lengths[name] = n
	}
	files, err := ahead.WriteGraph(p, o)
	if err != nil {
		return err
	}
	return writePackage(dir, files)
}

// packageOf is the name of the package in a folder.
func packageOf(dir string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	return strings.ReplaceAll(filepath.Base(abs), "-", "_"), nil
}

// generated is how the files of weft build begin.
const generated = "// Code generated by weft build"

// otherFunction is a file in dir that weft build wrote for another function than that of files, "" if
// there is none. All files of a function begin with its name, which has no "_" before theirs.
func otherFunction(dir string, files map[string][]byte) (string, error) {
	var name string
	for file := range files {
		if base, ok := strings.CutSuffix(file, "_amd64.s"); ok {
			name = base
		}
	}
	list, err := os.ReadDir(dir)
	if err != nil {
		return "", fmt.Errorf("%s: %w", dir, plain(err))
	}
	for _, e := range list {
		base, ok := strings.CutSuffix(e.Name(), "_amd64.s")
		if !ok || base == name {
			continue
		}
		if isGenerated(filepath.Join(dir, e.Name())) {
			return e.Name(), nil
		}
	}
	return "", nil
}

// writePackage writes files; it replaces those that weft build wrote.
func writePackage(dir string, files map[string][]byte) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return fmt.Errorf("%s: %w", dir, plain(err))
	}
	for name := range files {
		path := filepath.Join(dir, name)
		if _, err := os.Stat(path); err == nil && !isGenerated(path) {
			return fmt.Errorf("%s is there and was not written by weft build", path)
		}
	}
	if other, err := otherFunction(dir, files); err != nil || other != "" {
		if err == nil {
			err = fmt.Errorf("%s has %s of another function: weft build writes one function a folder", dir, other)
		}
		return err
	}
	for name, text := range files {
		if err := atomicfile.Write(filepath.Join(dir, name), func(w io.Writer) error { _, err := w.Write(text); return err }); err != nil {
			return fmt.Errorf("%s: %w", name, plain(err))
		}
	}
	return removeOld(dir, files)
}

// isGenerated reports a file that weft build wrote.
func isGenerated(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, len(generated))
	_, err = io.ReadFull(f, head)
	return err == nil && string(head) == generated
}

// removeOld removes the files in dir that weft build wrote before and that are not among files: another
// program of the same name may have had more. They would not compile together.
func removeOld(dir string, files map[string][]byte) error {
	list, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("%s: %w", dir, plain(err))
	}
	for _, e := range list {
		path := filepath.Join(dir, e.Name())
		if _, is := files[e.Name()]; is || !e.Type().IsRegular() || !isGenerated(path) {
			continue
		}
		if err := os.Remove(path); err != nil {
			return fmt.Errorf("%s: %w", path, plain(err))
		}
	}
	return nil
}
