package gokernel_test

import (
	"fmt"
	"runtime/metrics"
	"strings"
	"testing"
	"time"

	"weft/internal/array"
	. "weft/internal/gokernel"
)

// hostile is source that tries to break or to stop the front end; what is not refused is
// lowered.
var hostile = []struct{ name, src string }{
	{"empty", ""},
	{"no package", "func F() int { return 1 }"},
	{"nul", "package p\x00"},
	{"not UTF-8", "package p\nfunc F(x \xff float64) float64 { return x }"},
	{"byte order mark", "\ufeffpackage p\nfunc F(x float64) float64 { return x }"},
	{"line directive", "package p\n//line other.go:1000000\nfunc F(x float64) float64 { return y }"},
	{"parentheses", "package p\nfunc F(x float64) float64 { return " + strings.Repeat("(", 100000) + "x" + strings.Repeat(")", 100000) + " }"},
	{"minus", "package p\nfunc F(x float64) float64 { return " + strings.Repeat("- ", 100000) + "x }"},
	{"sum", "package p\nfunc F(x float64) float64 { return x" + strings.Repeat("+x", 20000) + " }"},
	{"long sum", "package p\nfunc F(x float64) float64 { return x" + strings.Repeat("+x", 32000) + " }"},
	{"long condition", "package p\nfunc F(x float64) float64 { if x > 0" + strings.Repeat(" && x < 3", 32000) + " { return 1 }; return 0 }"},
	{"else ifs below the bound", "package p\nfunc F(x float64) float64 { if x > 0 { x++ }" + strings.Repeat(" else if x > 0 { x++ }", 900) + "\n return x }"},
	{"blocks", "package p\nfunc F(x float64) float64 { " + strings.Repeat("{", 400) + strings.Repeat("}", 400) + "; return x }"},
	{"ifs", "package p\nfunc F(x float64) float64 { " + strings.Repeat("if x > 0 {", 200) + "x++" + strings.Repeat("}", 200) + "; return x }"},
	{"else ifs", "package p\nfunc F(x float64) float64 { if x > 0 { x++ }" + strings.Repeat(" else if x > 0 { x++ }", 2000) + "\n return x }"},
	{"ifs in a row", "package p\nfunc F(x float64) float64 { " + strings.Repeat("if x > 0 { return 1 }\n", 400) + " return x }"},
	{"loops", "package p\nfunc F(x float64) float64 { " + strings.Repeat("for x > 0 {", 100) + strings.Repeat("}", 100) + "; return x }"},
	{"loops that unroll", "package p\nfunc F(x float64) float64 { " + strings.Repeat("for range 9 {", 20) + "x++" + strings.Repeat("}", 20) + "; return x }"},
	{"loops with breaks", "package p\nfunc F(x float64) float64 { " + strings.Repeat("for range 9 { if x > 1 { break }\n", 12) + "x++" + strings.Repeat("}", 12) + "; return x }"},
	{"endless loop", "package p\nfunc F(x float64) float64 { for {} }"},
	{"endless loop of constants", "package p\nfunc F(x float64) float64 { for i := 0; i < 10; { x++ }; return x }"},
	{"loop that steps by nothing", "package p\nfunc F(x float64) float64 { for i := 0; i < 10; i += 0 { x++ }; return x }"},
	{"loop that wraps", "package p\nfunc F(x float64) float64 { for i := int8(0); i <= 127; i++ { x++ }; return x }"},
	{"huge range", "package p\nfunc F(x float64) float64 { for i := range 1 << 62 { x += float64(i) }; return x }"},
	{"huge constant", "package p\nconst c = 1 << 100000\nfunc F(x float64) float64 { return x + c }"},
	{"huge shift", "package p\nfunc F(x int64) int64 { return x << 1000000000000 }"},
	{"long constant", "package p\nfunc F(x float64) float64 { return x + 1e1000000000 }"},
	{"many digits", "package p\nfunc F(x float64) float64 { return x + 0." + strings.Repeat("1", 200000) + " }"},
	{"division of constants", "package p\nfunc F(x int) int { return x / 0 }"},
	{"huge array", "package p\nfunc F(x float64) float64 { var a [1 << 40]float64; a[0] = x; return a[0] }"},
	{"arrays of arrays", "package p\ntype t [16][16][16][16][16][16][16]float64\nfunc F(x float64) float64 { var a t; return a[0][0][0][0][0][0][0] }"},
	{"structs of structs", "package p\n" + structures(40) + "func F(x float64) float64 { var a t40; _ = a; return x }"},
	{"type that holds itself", "package p\ntype t struct { a t }\nfunc F(x float64) float64 { var a t; _ = a; return x }"},
	{"array of itself", "package p\ntype t [2]t\nfunc F(x float64) float64 { var a t; _ = a; return x }"},
	{"constant of itself", "package p\nconst a = a + 1\nfunc F(x float64) float64 { return x + a }"},
	{"generic that grows", "package p\ntype p[T any] struct { a, b T }\nfunc G[T any](x T, n int) int { if n == 0 { return 0 }; return G(p[T]{x, x}, n-1) }\nfunc F(x float64) int { return G(x, 5) }"},
	{"generic type that grows", "package p\ntype p[T any] struct { a *p[p[T]] }\nfunc F(x float64) float64 { var a p[int]; _ = a; return x }"},
	{"methods that call each other", "package p\ntype t float64\nfunc (x t) a() t { return x.b() }\nfunc (x t) b() t { return x.a() }\nfunc F(x float64) float64 { return float64(t(x).a()) }"},
	{"own true", "package p\nconst true = 0 == 1\nfunc F(x float64) float64 { if true { return 1 }; return x }"},
	{"own types", "package p\ntype float64 float32\nfunc F(x float64) float64 { return x * 0.1 }"},
	{"own int", "package p\ntype int struct{}\nfunc F(x float64) float64 { for i := range 3 { x += float64(i) }; return x }"},
	{"own builtins", "package p\nfunc len(x float64) float64 { return x }\nfunc max(x, y float64) float64 { return x - y }\nfunc F(x float64) float64 { return len(x) + max(x, 2) }"},
	{"own math", "package p\nimport math \"math/bits\"\nfunc F(x uint) int { return math.Len(x) }"},
	{"math as a variable", "package p\nimport \"math\"\ntype t struct{ Sin float64 }\nfunc F(x float64) float64 { y := math.Sin(x); math := t{y}; return math.Sin }"},
	{"dot import", "package p\nimport . \"math\"\nfunc F(x float64) float64 { return Sin(x) * Pi }"},
	{"unsafe", "package p\nimport \"unsafe\"\nfunc F(x float64) float64 { return float64(unsafe.Sizeof(x)) }"},
	{"cgo", "package p\nimport \"C\"\nfunc F(x float64) float64 { return float64(C.f(x)) }"},
	{"blank parameters", "package p\nfunc F(_, _ float64, x float64) (_, y float64) { y = x; return }"},
	{"unnamed parameters", "package p\nfunc F(float64, int) float64 { return 1 }"},
	{"no parameters", "package p\nfunc F() float64 { return 1 }"},
	{"blank function", "package p\nfunc _(x float64) float64 { return x }\nfunc F(x float64) float64 { return _(x) }"},
	{"method", "package p\ntype t int\nfunc (t) F() int { return 1 }"},
	{"two of a name", "package p\nfunc F(x float64) float64 { return x }\nfunc F(x int) int { return x }"},
	{"switch of nothing", "package p\nfunc F(x float64) float64 { switch {}; switch x {}; switch { default: }; return x }"},
	{"labels", "package p\nfunc F(x float64) float64 { a: for { b: for { switch { case x > 1: break a; default: continue b } } }; return x }"},
	{"label of a block", "package p\nfunc F(x float64) float64 { a: { if x > 1 { break a }; x++ }; return x }"},
	{"array of nothing", "package p\nfunc F(x int) float64 { var a [0]float64; for i := range a { return a[i] }; return a[x] }"},
	{"index outside", "package p\nfunc F(x int) float64 { var a [3]float64; i := 7; return a[i] + a[x] }"},
	{"elem of elem", "package p\nimport \"weft/kernel\"\nfunc F(e kernel.Elem) float64 { f := e; return f.Rand64() }"},
	{"elem in a struct", "package p\nimport \"weft/kernel\"\ntype t struct{ kernel.Elem }\nfunc F(e kernel.Elem) float64 { var x t; return x.Rand64() }"},
	{"array of text", "package p\nimport \"weft/kernel\"\nfunc F(a kernel.Near1[string]) int { return len(a.At(0)) }"},
	{"array of arrays", "package p\nimport \"weft/kernel\"\nfunc F(a kernel.Near1[kernel.Near1[int]]) int { return a.At(0).At(0) }"},
	{"offsets that overflow", "package p\nimport \"weft/kernel\"\nfunc F(a kernel.Near1[int]) int { return a.At(1<<63-1) + a.At(-1<<63) }"},
	{"axes that are none", "package p\nimport \"weft/kernel\"\nfunc F(e kernel.Elem, a kernel.Near1[int]) int { return e.Index(-1) + e.Index(1<<40) + a.Dim(3) }"},
	{"array result", "package p\nimport \"weft/kernel\"\nfunc g(a kernel.Near1[int]) kernel.Near1[int] { return a }\nfunc F(a kernel.Near1[int]) int { return g(a).At(0) }"},
	{"conversion of everything", "package p\ntype t struct{ x float64 }\ntype u struct{ x float64 }\nfunc F(x float64) float64 { return u(t{x}).x }"},
	{"many results", "package p\nfunc g(x float64) (a, b, c float64) { return x, x, x }\nfunc h(a, b, c float64) float64 { return a + b*c }\nfunc F(x float64) float64 { return h(g(x)) }"},
	{"function as a value", "package p\nfunc g(x float64) float64 { return x }\nfunc F(x float64) float64 { h := g; return h(x) }"},
	{"generic as a value", "package p\nfunc g[T any](x T) T { return x }\nfunc F(x float64) float64 { h := g[float64]; return h(x) }"},
	{"method as a value", "package p\ntype t float64\nfunc (x t) m() t { return x }\nfunc F(x float64) float64 { f := t(x).m; return float64(f()) }"},
	{"method of a type", "package p\ntype t float64\nfunc (x t) m() t { return x }\nfunc F(x float64) float64 { return float64(t.m(t(x))) }"},
	{"strings", "package p\nfunc F(x float64) float64 { return x + float64(len(\"abc\")) + float64(\"abc\"[1]) }"},
	{"interface", "package p\nfunc F(x float64) float64 { var a any = x; return a.(float64) }"},
	{"channel", "package p\nfunc F(x float64) float64 { c := make(chan float64, 1); c <- x; return <-c }"},
	{"range over a function", "package p\nfunc g(yield func(int) bool) {}\nfunc F(x float64) float64 { for i := range g { x += float64(i) }; return x }"},
	{"range over text", "package p\nfunc F(x float64) float64 { for range \"abc\" { x++ }; return x }"},
	{"strings that double", "package p\nconst s0 = \"aaaaaaaaaaaaaaaa\"\n" + chained(25, "const s%d = s%[2]d + s%[2]d\n") + "func F(x float64) float64 { return x + float64(len(s25)) }"},
	{"local strings that double", "package p\nfunc F(x float64) float64 { const s0 = \"aaaaaaaaaaaaaaaa\"\n" + chained(25, "const s%d = s%[2]d + s%[2]d\n") + "return x + float64(len(s25)) }"},
	{"integers that square", "package p\nconst c0 = 3\n" + chained(30, "const c%d = c%[2]d * c%[2]d\n") + "func F(x float64) float64 { return x + c30 }"},
	{"floats that square", "package p\nconst c0 = 3.0000001\n" + chained(40, "const c%d = c%[2]d * c%[2]d + 0.1\n") + "func F(x float64) float64 { return x * c40 }"},
	{"fractions that square", "package p\nconst c0 = 0.3\n" + chained(40, "const c%d = c%[2]d * c%[2]d\n") + "func F(x float64) float64 { return x / c40 }"},
	{"quotients", "package p\nconst c0 = 1.0/3.0\n" + chained(60, "const c%d = c%[2]d / (c%[2]d + 1.0/7)\n") + "func F(x float64) float64 { return x * c60 }"},
	{"shifts of shifts", "package p\nconst c0 = 30\n" + chained(5, "const c%d = 1 << c%[2]d\n") + "func F(x float64) float64 { return x + c5 }"},
	{"constants by iota", "package p\nconst (\nc0 = 1 << (1 << (10 * iota))\nc1\nc2\nc3\n)\nfunc F(x float64) float64 { return x + c3 }"},
	{"complex constants", "package p\nconst c0 = 3i\n" + chained(40, "const c%d = c%[2]d * c%[2]d\n") + "func F(x float64) float64 { return x + real(c40) }"},
	{"calls that double", "package p\nfunc f0(x float64) float64 { return x*x + 1 }\n" + chained(40, "func f%d(x float64) float64 { return f%[2]d(x) + f%[2]d(x+1) }\n") + "func F(x float64) float64 { return f40(x) }"},
	{"calls of one side that double", "package p\nfunc f0(x float64) float64 { return x*x + 1 }\n" + chained(40, "func f%d(x float64) float64 { if x > 1 { return f%[2]d(x) }; return f%[2]d(x+1) }\n") + "func F(x float64) float64 { return f40(x) }"},
	{"methods in a row", "package p\ntype t float64\nfunc (x t) m0() t { return x }\n" + chained(3000, "func (x t) m%d() t { return x.m%[2]d() + 1 }\n") + "func F(x float64) float64 { return float64(t(x).m3000()) }"},
	{"methods beside each other", "package p\ntype t float64\n" + chained(2000, "func (x t) m%d() t { return x + 1 }\n") + "func F(x float64) float64 {\n" + chained(2000, "x += float64(t(x).m%d())\n") + "return x }"},
	{"generics that double", "package p\ntype P[A, B any] struct { a A; b B }\nfunc g0[T any](x T) int { return 1 }\n" + chained(12, "func g%d[T any](x T) int { return g%[2]d(P[T, T]{x, x}) }\n") + "func F(x float64) float64 { return float64(g12(x)) }"},
	{"cases that return", "package p\nfunc F(x float64) float64 { switch int(x) {\n" + chained(3000, "case %d: return %[2]d\n") + "}; return x }"},
	{"cases", "package p\nfunc F(x float64) float64 { switch int(x) {\n" + chained(900, "case %d: x = %[2]d\n") + "}; return x }"},
	{"returns in a row", "package p\nfunc F(x float64) float64 {\n" + chained(3000, "if x > %d { return %[2]d }\n") + "return x }"},
	{"ifs beside each other", "package p\nfunc F(x float64) float64 {\n" + chained(3000, "if x > %d { x += %[2]d }\n") + "return x }"},
	{"parameters", "package p\nfunc F(" + chained(3000, "a%d float64,") + "x float64) float64 { return x }"},
	{"results", "package p\nfunc F(x float64) (" + chained(2000, "a%d float64,") + ") { return }"},
	{"variables", "package p\nfunc F(x float64) float64 {\n" + chained(10000, "v%d := x*%[2]d\n_ = v%[1]d\n") + "return x }"},
	{"arrays that are copied", "package p\nfunc F(x float64) float64 { var a [256]float64; a[int(x)&255] = 1\n" + chained(100, "b%d := a; b%[1]d[int(x+%[2]d)&255] = x; a = b%[1]d\n") + "return a[int(x)&255] }"},
	{"long comment", "package p\n/*" + strings.Repeat("x", 17<<20) + "*/func F(x float64) float64 { return x }"},
	{"long name", "package p\nfunc F(x float64) float64 { return x + " + strings.Repeat("n", 2<<20) + " }"},
	{"constraint", "package p\nfunc F[T ~int|~float64](x, y T) T { for i := range T(3) { x += i }; return x + y }"},
}

// chained is the text of format for 1 to n and the number before it.
func chained(n int, format string) string {
	var b strings.Builder
	for i := 1; i <= n; i++ {
		if strings.Contains(format, "[2]") {
			fmt.Fprintf(&b, format, i, i-1)
		} else {
			b.WriteString(strings.ReplaceAll(format, "%d", itoa(i)))
		}
	}
	return b.String()
}

// What a source may cost: time by a deadline, and memory on the heap, in all that is allocated.
const (
	sourceTime  = 20 * time.Second
	sourceBytes = 256 << 20
	bytesEach   = 2 << 10 // and for each byte of it
)

// watched calls whatever, and fails if that takes long or much memory.
//
//lint:ignore ST1008 the error is what is watched, not a failure to watch
func watched(t testing.TB, src []byte) (refused error, took time.Duration, bytes uint64) {
	allocated := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(allocated)
	before := allocated[0].Value.Uint64()
	start, done := time.Now(), make(chan error, 1)
	go func() { done <- whatever(t, src) }()
	select {
	case refused = <-done:
	case <-time.After(sourceTime):
		t.Fatalf("%d bytes of source take more than %v", len(src), sourceTime)
	}
	took = time.Since(start)
	metrics.Read(allocated)
	if bytes = allocated[0].Value.Uint64() - before; bytes > sourceBytes+bytesEach*uint64(len(src)) {
		t.Errorf("%d bytes of source take %d MB", len(src), bytes>>20)
	}
	return refused, took, bytes
}

func structures(n int) string {
	var b strings.Builder
	b.WriteString("type t0 struct { a, b float64 }\n")
	for i := 1; i <= n; i++ {
		b.WriteString("type t" + itoa(i) + " struct { a, b t" + itoa(i-1) + " }\n")
	}
	return b.String()
}

func itoa(i int) string {
	if i < 10 {
		return string(rune('0' + i))
	}
	return itoa(i/10) + itoa(i%10)
}

// whatever parses, checks and lowers every function of a source; only typed errors may
// come of it.
func whatever(t testing.TB, src []byte) (refused error) {
	s, err := Parse(File{"k.go", src})
	for _, name := range func() []string {
		if err != nil {
			return nil
		}
		return append(s.Names(), "F")
	}() {
		f, e := s.Func(name)
		if e == nil && len(f.TypeParams()) > 0 {
			args := 0
			for _, p := range f.Params() {
				if p.Role != Element {
					args++
				}
			}
			for d := array.Bool; d <= array.Complex128; d++ {
				list := make([]array.DType, args)
				for i := range list {
					list[i] = d
				}
				if _, e := f.Instantiate(list); e != nil {
					err = e
				}
			}
		}
		if e != nil {
			err = e
		}
	}
	if err != nil {
		if e, ok := err.(*Error); !ok || e.Msg == "" {
			t.Errorf("%T: %v", err, err)
		}
		_ = err.Error()
	}
	return err
}

func TestHostile(t *testing.T) {
	for _, c := range hostile {
		t.Run(c.name, func(t *testing.T) {
			err, took, bytes := watched(t, []byte(c.src))
			if testing.Verbose() {
				t.Logf("%v, %d MB: %.200v", took, bytes>>20, err)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	for _, c := range hostile {
		if len(c.src) < 2000 {
			f.Add([]byte(c.src))
		}
	}
	f.Add(kernelsText)
	f.Fuzz(func(t *testing.T, src []byte) { watched(t, src) })
}
