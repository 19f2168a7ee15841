package gokernel_test

import (
	_ "embed"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"weft/internal/array"
	. "weft/internal/gokernel"
	"weft/internal/interp"
	"weft/internal/jit"
	"weft/internal/loop"
	"weft/internal/op"
	"weft/internal/x86"
)

//go:embed kernels_test.go
var kernelsText []byte

func source(t testing.TB) *Source {
	s, err := Parse(File{"kernels_test.go", kernelsText})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// plainly are kernels whose parameters and results are scalars: what they compute is what
// they compute as Go, bit for bit.
var plainly = map[string]any{
	"add": add, "poly": poly, "sign": sign, "escape": escape, "escape64": escape64, "collatz": collatz, "newton": newton,
	"labels": labels, "classify": classify, "calls": calls, "logic": logic, "ranged": ranged, "nested": nested, "shadows": shadows,
	"ints8": ints8, "ints16": ints16, "ints32": ints32, "ints64": ints64, "bitwise": bitwise, "shifts": shifts, "shiftsWide": shiftsWide, "conversions": conversions,
	"truncates": truncates, "comparisons": comparisons, "structs": structs, "arrays": arrays, "bubble": bubble, "usesGeneric": usesGeneric, "complexes": complexes, "complexes64": complexes64, "conversions2": conversions2,
	"constants": constants, "minmax": minmax, "exactMath": exactMath, "exactMath2": exactMath2, "exactMath3": exactMath3, "smallLdexp": smallLdexp, "bitOps": bitOps, "bitOps2": bitOps2,
	"generic": generic[float32], "manyCalls": manyCalls, "Branches": Branches,
}

// columns are arguments or results of a kernel, one slice each, of Go values.
type columns []reflect.Value

// dtypeOf is the element type of arrays of a Go type.
func dtypeOf(t reflect.Type) array.DType {
	switch t.Kind() {
	case reflect.Int:
		return array.Int64
	case reflect.Uint:
		return array.Uint64
	}
	for d := array.DType(1); d <= array.Complex128; d++ {
		if d.String() == t.Kind().String() {
			return d
		}
	}
	panic(t.String())
}

// parts adds a buffer for each part of elements of type d, and returns them with their
// places in memory.
func parts(b *loop.Builder, d array.DType, write bool, v reflect.Value) (bufs []int, at []unsafe.Pointer) {
	p := v.UnsafePointer()
	if !d.Complex() {
		return []int{b.Buf(d, write, loop.Unit)}, []unsafe.Pointer{p}
	}
	d = d.Part()
	return []int{b.Buf(d, write, loop.By2), b.Buf(d, write, loop.By2)}, []unsafe.Pointer{p, unsafe.Add(p, d.Size())}
}

// backends run a program.
func backends(t testing.TB, p *loop.Program) map[string]func(*loop.Frame) {
	out := map[string]func(*loop.Frame){"interp": func(f *loop.Frame) {
		f.Word[loop.WordFuel] = 1 << 40
		interp.Compile(p).Run(f, func() bool { return true })
	}}
	for _, isa := range jit.ISAs()[1:] {
		k, err := x86.Compile(p, isa)
		if err != nil {
			t.Fatal(err)
		}
		code, err := k.Map()
		if err != nil {
			t.Fatal(err)
		}
		out[fmt.Sprint(isa)] = func(f *loop.Frame) {
			f.Word[loop.WordFuel] = 1 << 20
			code.Run(f, nil)
		}
	}
	return out
}

// evaluate runs a kernel of scalars over arguments on all backends and calls check with
// the results of each.
func evaluate(t testing.TB, f *Func, args columns, check func(backend string, results columns)) *loop.Program {
	t.Helper()
	var dts []array.DType
	for _, a := range args {
		dts = append(dts, dtypeOf(a.Type().Elem()))
	}
	inst, err := f.Instantiate(dts)
	if err != nil {
		t.Fatal(err)
	}
	n := args[0].Len()
	b := loop.NewBuilder(f.Name(), []loop.Axis{{Kind: loop.Parallel}}, 0)
	var ptrs []unsafe.Pointer
	var in, out []int
	for i, a := range args {
		bufs, at := parts(b, dts[i], false, a)
		in, ptrs = append(in, bufs...), append(ptrs, at...)
	}
	var results columns
	for _, d := range inst.Returns() {
		k := reflect.SliceOf(kinds[d])
		v := reflect.MakeSlice(k, n, n)
		results = append(results, v)
		bufs, at := parts(b, d, true, v)
		out, ptrs = append(out, bufs...), append(ptrs, at...)
	}
	b.Pass(func() {
		e := &op.Emit{B: b}
		for _, i := range in {
			e.X = append(e.X, b.Load(i))
		}
		for i, v := range inst.EmitKernel(e) {
			b.Store(out[i], v)
		}
	})
	p, err := b.Done()
	if err != nil {
		t.Fatalf("%s: %v\n%s", f.Name(), err, b.Program())
	}
	for name, run := range backends(t, p) {
		frame := new(loop.Frame)
		frame.Word[p.ExtentWord(0)] = uint64(n)
		for i, q := range ptrs {
			frame.Ptr[i] = q
			size := p.Bufs[i].DType.Size()
			if p.Bufs[i].Steps[0] == loop.By2 {
				size *= 2
			}
			frame.Word[p.StrideWord(i, 0)] = uint64(size)
		}
		for _, r := range results {
			r.Clear()
		}
		run(frame)
		check(name, results)
	}
	return p
}

// kinds are the Go types of elements.
var kinds = map[array.DType]reflect.Type{}

func init() {
	for _, x := range []any{false, int8(0), int16(0), int32(0), int64(0), uint8(0), uint16(0), uint32(0), uint64(0), float32(0), float64(0), complex64(0), complex128(0)} {
		t := reflect.TypeOf(x)
		kinds[dtypeOf(t)] = t
	}
}

// corners are numbers that arithmetic treats in a way of its own.
var corners = []float64{0, math.Copysign(0, -1), 1, -1, 2, 0.5, -0.5, 3, 10, -7, 100, 127, 128, 255, 256, 1e9, -1e9, 3e9, 1e19, -1e19, 1e30, 1e-30, math.Inf(1), math.Inf(-1), math.NaN(),
	math.MaxFloat32, math.MaxFloat64, math.SmallestNonzeroFloat64, 1.0000001}

// random fills a value.
func random(r *rand.Rand, v reflect.Value) {
	bits := r.Uint64() >> (r.Uint64() % 64)
	switch k := v.Kind(); {
	case k == reflect.Bool:
		v.SetBool(bits&1 != 0)
	case v.CanInt():
		if r.IntN(4) == 0 {
			bits = -bits
		}
		v.SetInt(int64(bits))
	case v.CanUint():
		v.SetUint(bits)
	case v.CanFloat():
		v.SetFloat(randomFloat(r))
	case v.CanComplex():
		v.SetComplex(complex(randomFloat(r), randomFloat(r)))
	}
}

func randomFloat(r *rand.Rand) float64 {
	switch r.IntN(8) {
	case 0:
		return corners[r.IntN(len(corners))]
	case 1:
		return float64(r.IntN(20) - 10)
	case 2:
		return r.NormFloat64() * 100
	}
	return r.NormFloat64()
}

func randomArgs(f reflect.Type, n int, seed uint64) columns {
	r := rand.New(rand.NewPCG(seed, 7))
	var args columns
	for i := range f.NumIn() {
		v := reflect.MakeSlice(reflect.SliceOf(f.In(i)), n, n)
		for j := range n {
			random(r, v.Index(j))
		}
		args = append(args, v)
	}
	return args
}

// same compares bits, but for the payload of NaN.
func same(x, y reflect.Value) bool {
	switch {
	case x.Kind() == reflect.Bool:
		return x.Bool() == y.Bool()
	case x.CanInt():
		return x.Int() == y.Int()
	case x.CanUint():
		return x.Uint() == y.Uint()
	case x.CanFloat():
		return sameFloat(x.Float(), y.Float())
	}
	a, b := x.Complex(), y.Complex()
	return sameFloat(real(a), real(b)) && sameFloat(imag(a), imag(b))
}

func sameFloat(a, b float64) bool {
	return math.Float64bits(a) == math.Float64bits(b) || a != a && b != b
}

func TestPlainly(t *testing.T) {
	s := source(t)
	for name, fn := range plainly {
		t.Run(name, func(t *testing.T) {
			f, err := s.Func(name)
			if err != nil {
				t.Fatal(err)
			}
			fv := reflect.ValueOf(fn)
			args := randomArgs(fv.Type(), 2000, uint64(len(name)))
			evaluate(t, f, args, func(backend string, results columns) {
				for j := range args[0].Len() {
					in := make([]reflect.Value, len(args))
					for i := range in {
						in[i] = args[i].Index(j)
					}
					for k, want := range fv.Call(in) {
						if got := results[k].Index(j); !same(got, want) {
							t.Fatalf("on %s: %s(%v) = %v, as Go %v", backend, name, in, got, want)
						}
					}
				}
			})
		})
	}
}

// TestErrors lists source that is refused: the message and where the caret is, which a
// comment marks.
// A function is lowered once for the element types of its arguments, and what is made of an
// instance leaves it as it was.
func TestInstantiateOnce(t *testing.T) {
	f, err := source(t).Func("generic")
	if err != nil {
		t.Fatal(err)
	}
	once := func(args ...array.DType) *Instance {
		i, err := f.Instantiate(args)
		if err != nil {
			t.Fatal(err)
		}
		return i
	}
	n := len(f.Params())
	wide, narrow := once(slices.Repeat([]array.DType{array.Float64}, n)...), once(slices.Repeat([]array.DType{array.Float32}, n)...)
	before := fmt.Sprintf("%#v", *wide)
	wide.Split()
	wide.Within([]int{-1}, []int{1})
	wide.Partials([]bool{true}, slices.Repeat([]bool{true}, len(wide.Inputs())))
	if after := fmt.Sprintf("%#v", *wide); after != before {
		t.Errorf("the instance was\n%s\nand is\n%s", before, after)
	}
	if again := once(slices.Repeat([]array.DType{array.Float64}, n)...); again != wide || narrow == wide {
		t.Error("the same types give another instance, or other types the same")
	}
}

func TestErrors(t *testing.T) {
	for _, c := range []struct{ name, src, want string }{
		{"syntax", "package p\nfunc F(x float64 float64 { return x }", "k.go:2:18: missing ',' in parameter list\n\tfunc F(x float64 float64 { return x }\n\t                 ^"},
		{"type", "package p\nfunc F(x float64) float64 {\n\treturn x + 1i\n}", "k.go:3:13: 1i (untyped complex constant (0 + 1i)) overflows float64\n\t\treturn x + 1i\n\t\t           ^"},
		{"other package", "package p\nimport \"fmt\"\nfunc F(x float64) float64 { fmt.Println(x); return x }", `k.go:3:29: package "fmt" is not part of the language; kernels use math, math/bits, math/cmplx and weft/kernel alone`},
		{"variable", "package p\nvar v = 1.0\nfunc F(x float64) float64 { return v }", "k.go:3:36: v is a variable of the package; a kernel reads its parameters and constants alone"},
		{"goto", "package p\nfunc F(x float64) float64 {\nL:\n\tgoto L\n}", "k.go:4:2: goto is not part of the language of kernels"},
		{"closure", "package p\nfunc F(x float64) float64 { f := func() float64 { return x }; return f() }", "k.go:2:34: closures are not part"},
		{"recursion", "package p\nfunc F(x float64) float64 { return G(x) }\nfunc G(x float64) float64 { return F(x) }", "k.go:3:36: F calls itself, directly or through others; kernels have no recursion"},
		{"slice", "package p\nfunc F(x float64) float64 { s := []float64{x}; return s[0] }", "slices are not part of the language"},
		{"slice parameter", "package p\nfunc F(x []float64) float64 { return x[0] }", "k.go:2:8: slices are not part of the language"},
		{"pointer", "package p\nfunc F(x float64) float64 { p := &x; return *p }", "pointers are not part"},
		{"map", "package p\nfunc F(x float64) float64 { return map[int]float64{}[0] }", "maps are not part"},
		{"string", "package p\nfunc F(x float64) float64 { s := \"a\"; _ = s; return x }", "type string is not part"},
		{"defer", "package p\nfunc F(x float64) float64 { defer G(); return x }\nfunc G() {}", "defer is not part"},
		{"go", "package p\nfunc F(x float64) float64 { go G(); return x }\nfunc G() {}", "goroutines are not part"},
		{"panic", "package p\nfunc F(x float64) float64 { panic(1) }", "panic is not part"},
		{"no result", "package p\nfunc F(x float64) {}", "kernel F has no result"},
		{"no function", "package p\nfunc G(x float64) {}\nfunc H() {}", "there is no function F; there are G, H"},
		{"no body", "package p\nfunc F(x float64) float64", "F has no body"},
		{"growth", "package p\nimport \"math\"\nfunc F(x float64) float64 {\n" + strings.Repeat("x = math.Sin(math.Sin(math.Sin(math.Sin(x))))\n", 1500) + "return x }", "grows beyond 262144 instructions in F, with calls in place"},
		{"depth", "package p\nfunc F(x float64) float64 { return " + strings.Repeat("(", 2000) + "x" + strings.Repeat(")", 2000) + " }", "k.go:2:533: expressions or statements nest more than 500 deep: split them"},
		{"chain", "package p\nfunc F(x float64) float64 { return x" + strings.Repeat("+x", 40000) + " }", "a chain of more than 32768 operators or else-ifs: split it"},
		{"chain beyond the parser", "package p\nfunc F(x float64) float64 { return x" + strings.Repeat("+x", 200000) + " }", "or has a chain of more than 32768 operators: split it"},
		{"else-ifs", "package p\nfunc F(x float64) float64 { if x > 0 { x++ }" + strings.Repeat(" else if x > 0 { x++ }", 2000) + "\n return x }", "blocks or else-ifs nest more than 1000 deep: split them, or write a switch"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := Parse(File{"k.go", []byte(c.src)})
			if err == nil {
				_, err = s.Func("F")
			}
			if err == nil {
				t.Fatal("no error")
			}
			if _, ok := err.(*Error); !ok {
				t.Fatalf("%T: %v", err, err)
			}
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("got:\n%v\nwant:\n%s", err, c.want)
			}
		})
	}
}
