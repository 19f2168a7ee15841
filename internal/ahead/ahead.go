// Package ahead writes kernels, formulas and saved programs as Go packages: machine code for AVX2 and
// AVX-512 as bytes in Go assembly, plain Go for other processors, and tests of the one against the other.
//
// [Write] writes a function of scalars or a stencil, [WriteFormula] a formula, [WriteGraph] a saved
// program. A package does nothing at its start. It imports nothing of weft and needs no executable
// memory, unless a program has routines, such as matrix products: these are in package aot.
package ahead

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"go/format"
	"go/token"
	"sort"
	"strings"
	"text/template"

	"weft/internal/array"
	"weft/internal/gokernel"
	"weft/internal/jit"
	"weft/internal/loop"
	"weft/internal/numbers"
	"weft/internal/op"
	"weft/internal/x86"
)

// chunk is how many elements one entry into the machine code computes: less than 100 us, and a block of
// a reduction.
const chunk = numbers.Block

// fuel is how often the shortest loop turns in 100 us.
const fuel = 1 << 14

// A parameter or result as templates see it.
type field struct {
	Name string // of the slice
	Type string // of its elements
	// Parts are the buffers: of complex numbers two.
	Parts []part
}

type part struct {
	Buf    int
	Offset int // in bytes
	Word   int // of the stride
	Step   int // in bytes
}

type code struct {
	ISA   string // as a part of names
	Lines []string
	Size  int
}

type unit struct {
	Package, Func, Name string // the function, and that over slices
	Args, Results       []field
	Source              string
	Imports             []string
	Extent, Start       int // words
	Chunk, Fuel         int
	Ptrs, Words         int
	Scratch             int
	Codes               []code
	Type                string // arguments of type parameters, in brackets
	Reduce              string // the reduction of the function's values, "" if there is none
	Lanes               int    // of a block of the reduction
	Helpers             string // source of the reduction
}

// Write returns the files of a package, by name, for a function; of is its type parameter,
// Invalid if it has none.
func Write(pkg string, f *gokernel.Func, of array.DType) (map[string][]byte, error) {
	if !token.IsIdentifier(pkg) || pkg == "main" {
		return nil, fmt.Errorf("build: %q cannot be the name of a package", pkg)
	}
	switch n := len(f.TypeParams()); {
	case n > 1:
		return nil, fmt.Errorf("build: %s has %d type parameters, one at most can be built", f.Name(), n)
	case n == 1 && of == array.Invalid:
		return nil, fmt.Errorf("build: %s has a type parameter: say which, as in %s[float64]", f.Name(), f.Name())
	case n == 0 && of != array.Invalid:
		return nil, fmt.Errorf("build: %s has no type parameter", f.Name())
	}
	var args []array.DType
	for _, p := range f.Params() {
		switch {
		case p.Role != gokernel.Scalar && p.Role != gokernel.Near:
			return nil, fmt.Errorf("build: parameter %s of %s is %s: what is built takes numbers and neighbourhoods", p.Name, f.Name(), p.Type)
		case p.TypeParam >= 0:
			args = append(args, of)
		default:
			args = append(args, p.DType)
		}
	}
	if len(f.Params()) > 0 && f.Params()[0].Role == gokernel.Near {
		return writeStencil(pkg, f, args)
	}
	in, err := f.Instantiate(args)
	if err != nil {
		return nil, err
	}
	for i, d := range in.Args() {
		if d != args[i] {
			return nil, fmt.Errorf("build: %s cannot be of %s", f.Name(), args[i])
		}
	}
	u := &unit{Package: pkg, Func: f.Name(), Chunk: chunk, Fuel: fuel}
	u.Name = exported(u.Func) + "Slice"
	u.Type = typeArgs(f, args)
	p, err := u.program(f, in)
	if err != nil {
		return nil, err
	}
	u.Ptrs, u.Words = loop.MaxBufs, loop.MaxWords
	uses, err := u.take(f, p)
	if err != nil {
		return nil, err
	}
	if len(uses) > 0 {
		return nil, fmt.Errorf("build: kernel.%s cannot be part of a package that imports nothing of weft", uses[0])
	}
	return render(u, u.Func, map[string]*template.Template{".go": plain, "_amd64.go": amd64, "_other.go": other, "_test.go": test, "_amd64.s": assembly})
}

// take compiles the program of a function and takes over its source and imports. It returns the names
// of package kernel that the source uses beside special functions, which become part of the source.
func (u *unit) take(f *gokernel.Func, p *loop.Program) (uses []string, err error) {
	u.Extent, u.Start = p.ExtentWord(0), p.StartWord(0)
	if err := u.compile(p); err != nil {
		return nil, err
	}
	text, imports, uses := f.Declarations()
	u.Source = text
	for name, path := range imports {
		u.Imports = append(u.Imports, gokernel.ImportLine(name, path))
	}
	sort.Strings(u.Imports)
	return u.withSpecials(uses)
}

func exported(name string) string { return strings.ToUpper(name[:1]) + name[1:] }

// typeArgs is the argument of the type parameter, in brackets.
func typeArgs(f *gokernel.Func, args []array.DType) string {
	for i, p := range f.Params() {
		if p.TypeParam >= 0 {
			return "[" + args[i].String() + "]"
		}
	}
	return ""
}

// compile makes the machine code of a program for all instruction sets.
func (u *unit) compile(p *loop.Program) error {
	for _, isa := range []jit.ISA{jit.AVX2, jit.AVX512} {
		k, err := x86.Compile(p, isa)
		if err != nil {
			return err
		}
		u.Scratch = max(u.Scratch, k.Scratch)
		u.Codes = append(u.Codes, code{ISA: isa.String(), Lines: data(k.Code), Size: len(k.Code)})
	}
	u.Scratch = (u.Scratch + 64) &^ 63
	return nil
}

// reserved are names that templates use.
var reserved = map[string]bool{"_": true, "dst": true, "n": true, "i": true, "f": true, "e": true, "m": true, "at": true, "r": true, "t": true, "s": true, "one": true, "enter": true, "chunk": true,
	"frames": true, "scalar": true, "vector": true, "run": true, "repeated": true, "len": true, "min": true, "panic": true, "number": true, "compare": true, "panics": true, "make": true, "range": true,
	"uint64": true, "unsafe": true, "clear": true, "append": true, "bool": true,
	"lanes": true, "reduction": true, "integer": true, "float": true, "numeric": true, "greater": true, "lesser": true, "combine": true, "identity": true, "part": true}

// program is the function over one axis.
func (u *unit) program(f *gokernel.Func, in *gokernel.Instance) (*loop.Program, error) {
	taken := f.Params()
	if len(taken) == 0 {
		return nil, fmt.Errorf("build: %s takes no arguments", u.Func)
	}
	kind := loop.Parallel
	if u.Reduce != "" {
		kind = loop.Reduce
	}
	b := loop.NewBuilder(u.Func, []loop.Axis{{Kind: kind}}, 0)
	var loads []int
	add := func(name, typ string, d array.DType, open, write bool) field {
		fd := field{Name: name, Type: typ}
		if open {
			fd.Type = d.String()
		}
		step := loop.Unit
		if write && u.Reduce != "" {
			step = loop.Zero
		}
		n, size := 1, d.Size()
		if d.Complex() {
			step, n = loop.By2, 2
			d = d.Part()
		}
		for i := range n {
			buf := b.Buf(d, write, step)
			fd.Parts = append(fd.Parts, part{Buf: buf, Offset: i * d.Size(), Step: size})
			if !write {
				loads = append(loads, buf)
			}
		}
		return fd
	}
	for i, p := range taken {
		name := p.Name
		if reserved[name] {
			name = fmt.Sprint("arg", i)
		}
		u.Args = append(u.Args, add(name, p.Type, in.Args()[i], p.TypeParam >= 0, false))
	}
	for i, d := range in.Returns() {
		name := "dst"
		if len(in.Returns()) > 1 {
			name = fmt.Sprint("dst", i)
		}
		u.Results = append(u.Results, add(name, f.Results()[i].Type, d, f.Results()[i].DType == array.Invalid, true))
	}
	if n := len(in.Inputs()); n != len(loads) || len(b.Program().Bufs) > loop.MaxBufs {
		return nil, fmt.Errorf("build: %s takes %d arrays: %d is the most", u.Func, len(b.Program().Bufs), loop.MaxBufs)
	}
	values := func() []loop.Value {
		var x []loop.Value
		for _, buf := range loads {
			x = append(x, b.Load(buf))
		}
		return in.EmitKernel(&op.Emit{B: b, X: x})
	}
	if u.Reduce != "" {
		reduced(b, u.Reduce, len(loads), func() loop.Value { return values()[0] })
	} else {
		b.Pass(func() {
			for i, v := range values() {
				b.Store(len(loads)+i, v)
			}
		})
	}
	p, err := b.Done()
	if err != nil {
		return nil, err
	}
	for _, list := range [][]field{u.Args, u.Results} {
		for _, fd := range list {
			for i := range fd.Parts {
				fd.Parts[i].Word = p.StrideWord(fd.Parts[i].Buf, 0)
			}
		}
	}
	return p, nil
}

// data returns machine code as lines of Go assembly.
func data(code []byte) []string {
	var lines []string
	for len(code) >= 8 {
		lines = append(lines, fmt.Sprintf("QUAD $0x%016x", binary.LittleEndian.Uint64(code)))
		code = code[8:]
	}
	for _, b := range code {
		lines = append(lines, fmt.Sprintf("BYTE $0x%02x", b))
	}
	return lines
}

// render executes templates with data, by what follows the name of the function in that of the file.
func render(data any, name string, files map[string]*template.Template) (map[string][]byte, error) {
	out := map[string][]byte{}
	for end, t := range files {
		name := strings.ToLower(name) + end
		var b bytes.Buffer
		if err := t.Execute(&b, data); err != nil {
			return nil, err
		}
		text := b.Bytes()
		if strings.HasSuffix(name, ".go") {
			var err error
			if text, err = format.Source(text); err != nil {
				return nil, fmt.Errorf("build: %s: %w", name, err)
			}
		}
		out[name] = text
	}
	return out, nil
}
