package gonumblas

import (
	"fmt"
	"math"
	"math/cmplx"
	"math/rand/v2"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/testblas"
)

// everything makes all sizes take this package's code for the rest of the test.
func everything(t *testing.T) {
	product, update, block, solve := smallProduct, smallUpdate, triangleBlock, solveBlock
	smallProduct, smallUpdate, triangleBlock, solveBlock = 1, 1, 1, 1
	t.Cleanup(func() { smallProduct, smallUpdate, triangleBlock, solveBlock = product, update, block, solve })
}

// testGonum runs gonum's own tests.
func testGonum(t *testing.T) {
	var impl Implementation
	for _, c := range []struct {
		name string
		f    func(t *testing.T)
	}{
		{"Dgemm", func(t *testing.T) { testblas.TestDgemm(t, impl) }},
		{"Dsymm", func(t *testing.T) { testblas.DsymmTest(t, impl) }},
		{"Dsyrk", func(t *testing.T) { testblas.DsyrkTest(t, impl) }},
		{"Dsyr2k", func(t *testing.T) { testblas.Dsyr2kTest(t, impl) }},
		{"Dtrmm", func(t *testing.T) { testblas.DtrmmTest(t, impl) }},
		{"Dtrsm", func(t *testing.T) { testblas.DtrsmTest(t, impl) }},
		{"Zgemm", func(t *testing.T) { testblas.ZgemmTest(t, impl) }},
		{"Zhemm", func(t *testing.T) { testblas.ZhemmTest(t, impl) }},
		{"Zsymm", func(t *testing.T) { testblas.ZsymmTest(t, impl) }},
		{"Zherk", func(t *testing.T) { testblas.ZherkTest(t, impl) }},
		{"Zsyrk", func(t *testing.T) { testblas.ZsyrkTest(t, impl) }},
		{"Zher2k", func(t *testing.T) { testblas.Zher2kTest(t, impl) }},
		{"Zsyr2k", func(t *testing.T) { testblas.Zsyr2kTest(t, impl) }},
		{"Ztrmm", func(t *testing.T) { testblas.ZtrmmTest(t, impl) }},
		{"Ztrsm", func(t *testing.T) { testblas.ZtrsmTest(t, impl) }},
		{"Dgemv", func(t *testing.T) { testblas.DgemvTest(t, impl) }},
		{"Dger", func(t *testing.T) { testblas.DgerTest(t, impl) }},
		{"Dtxmv", func(t *testing.T) { testblas.DtxmvTest(t, impl) }},
		{"Dgbmv", func(t *testing.T) { testblas.DgbmvTest(t, impl) }},
		{"Dtbsv", func(t *testing.T) { testblas.DtbsvTest(t, impl) }},
		{"Dsbmv", func(t *testing.T) { testblas.DsbmvTest(t, impl) }},
		{"Dtbmv", func(t *testing.T) { testblas.DtbmvTest(t, impl) }},
		{"Dtrsv", func(t *testing.T) { testblas.DtrsvTest(t, impl) }},
		{"Dtrmv", func(t *testing.T) { testblas.DtrmvTest(t, impl) }},
		{"Dsymv", func(t *testing.T) { testblas.DsymvTest(t, impl) }},
		{"Dsyr", func(t *testing.T) { testblas.DsyrTest(t, impl) }},
		{"Dsyr2", func(t *testing.T) { testblas.Dsyr2Test(t, impl) }},
		{"Dspr", func(t *testing.T) { testblas.DsprTest(t, impl) }},
		{"Dspr2", func(t *testing.T) { testblas.Dspr2Test(t, impl) }},
		{"Dspmv", func(t *testing.T) { testblas.DspmvTest(t, impl) }},
		{"Dtpsv", func(t *testing.T) { testblas.DtpsvTest(t, impl) }},
		{"Dtpmv", func(t *testing.T) { testblas.DtpmvTest(t, impl) }},
		{"Ddot", func(t *testing.T) { testblas.DdotTest(t, impl) }},
		{"Dnrm2", func(t *testing.T) { testblas.Dnrm2Test(t, impl) }},
		{"Dasum", func(t *testing.T) { testblas.DasumTest(t, impl) }},
		{"Idamax", func(t *testing.T) { testblas.IdamaxTest(t, impl) }},
		{"Dswap", func(t *testing.T) { testblas.DswapTest(t, impl) }},
		{"Dcopy", func(t *testing.T) { testblas.DcopyTest(t, impl) }},
		{"Daxpy", func(t *testing.T) { testblas.DaxpyTest(t, impl) }},
		{"Drotg", func(t *testing.T) { testblas.DrotgTest(t, impl, false) }},
		{"Drotmg", func(t *testing.T) { testblas.DrotmgTest(t, impl) }},
		{"Drot", func(t *testing.T) { testblas.DrotTest(t, impl) }},
		{"Drotm", func(t *testing.T) { testblas.DrotmTest(t, impl) }},
		{"Dscal", func(t *testing.T) { testblas.DscalTest(t, impl) }},
		{"Zgemv", func(t *testing.T) { testblas.ZgemvTest(t, impl) }},
		{"Zgbmv", func(t *testing.T) { testblas.ZgbmvTest(t, impl) }},
		{"Zgerc", func(t *testing.T) { testblas.ZgercTest(t, impl) }},
		{"Zgeru", func(t *testing.T) { testblas.ZgeruTest(t, impl) }},
		{"Zhemv", func(t *testing.T) { testblas.ZhemvTest(t, impl) }},
		{"Zhbmv", func(t *testing.T) { testblas.ZhbmvTest(t, impl) }},
		{"Zhpmv", func(t *testing.T) { testblas.ZhpmvTest(t, impl) }},
		{"Zher", func(t *testing.T) { testblas.ZherTest(t, impl) }},
		{"Zher2", func(t *testing.T) { testblas.Zher2Test(t, impl) }},
		{"Zhpr", func(t *testing.T) { testblas.ZhprTest(t, impl) }},
		{"Zhpr2", func(t *testing.T) { testblas.Zhpr2Test(t, impl) }},
		{"Ztbmv", func(t *testing.T) { testblas.ZtbmvTest(t, impl) }},
		{"Ztbsv", func(t *testing.T) { testblas.ZtbsvTest(t, impl) }},
		{"Ztpmv", func(t *testing.T) { testblas.ZtpmvTest(t, impl) }},
		{"Ztpsv", func(t *testing.T) { testblas.ZtpsvTest(t, impl) }},
		{"Ztrmv", func(t *testing.T) { testblas.ZtrmvTest(t, impl) }},
		{"Ztrsv", func(t *testing.T) { testblas.ZtrsvTest(t, impl) }},
		{"Dzasum", func(t *testing.T) { testblas.DzasumTest(t, impl) }},
		{"Dznrm2", func(t *testing.T) { testblas.Dznrm2Test(t, impl) }},
		{"Izamax", func(t *testing.T) { testblas.IzamaxTest(t, impl) }},
		{"Zaxpy", func(t *testing.T) { testblas.ZaxpyTest(t, impl) }},
		{"Zcopy", func(t *testing.T) { testblas.ZcopyTest(t, impl) }},
		{"Zdotc", func(t *testing.T) { testblas.ZdotcTest(t, impl) }},
		{"Zdotu", func(t *testing.T) { testblas.ZdotuTest(t, impl) }},
		{"Zdscal", func(t *testing.T) { testblas.ZdscalTest(t, impl) }},
		{"Zscal", func(t *testing.T) { testblas.ZscalTest(t, impl) }},
		{"Zswap", func(t *testing.T) { testblas.ZswapTest(t, impl) }},
	} {
		t.Run(c.name, c.f)
	}
}

// TestGonumsOwnTests runs package testblas as gonum's implementation does.
func TestGonumsOwnTests(t *testing.T) { testGonum(t) }

// TestGonumsOwnTestsOfEveryBlock runs package testblas with blocks of one element, which no size is too small for.
func TestGonumsOwnTestsOfEveryBlock(t *testing.T) {
	everything(t)
	testGonum(t)
}

var (
	_ blas.Float64    = Implementation{}
	_ blas.Float32    = Implementation{}
	_ blas.Complex128 = Implementation{}
	_ blas.Complex64  = Implementation{}
)

// A call is a method of Level 3 with arguments.
type call struct {
	name   string
	args   []reflect.Value
	output int // the index of the argument that is written
}

// slice returns a matrix of random elements of the given type.
func slice(r *rand.Rand, of reflect.Type, n int) reflect.Value {
	s := reflect.MakeSlice(of, n, n)
	for i := range n {
		set(s.Index(i), complex(r.NormFloat64(), r.NormFloat64()))
	}
	return s
}

func set(v reflect.Value, x complex128) {
	if v.CanComplex() {
		v.SetComplex(x)
	} else {
		v.SetFloat(real(x))
	}
}

// randomCall returns a valid call of a method with random options and strides.
func randomCall(r *rand.Rand, name string, m, n, k int) call {
	method, _ := reflect.TypeFor[Implementation]().MethodByName(name)
	c := call{name: name}
	side := blas.Side(0)
	square := 0
	first := func(t blas.Transpose, rows, cols int) int {
		if t != blas.NoTrans {
			return rows
		}
		return cols
	}
	var trans []blas.Transpose
	kind := name[1:]
	slices := 0
	add := func(v any) { c.args = append(c.args, reflect.ValueOf(v)) }
	var cols int
	for i := 1; i < method.Type.NumIn(); i++ {
		switch in := method.Type.In(i); in {
		case reflect.TypeFor[blas.Transpose]():
			t := []blas.Transpose{blas.NoTrans, blas.Trans, blas.ConjTrans}[r.IntN(3)]
			if kind[:2] == "he" && t == blas.Trans {
				t = blas.ConjTrans
			} else if kind[:3] == "syr" && t == blas.ConjTrans {
				t = blas.Trans
			}
			trans = append(trans, t)
			add(t)
		case reflect.TypeFor[blas.Side]():
			if side = blas.Left; r.IntN(2) == 0 {
				side = blas.Right
			}
			if square = n; side == blas.Left {
				square = m
			}
			add(side)
		case reflect.TypeFor[blas.Uplo]():
			add([]blas.Uplo{blas.Lower, blas.Upper}[r.IntN(2)])
		case reflect.TypeFor[blas.Diag]():
			add([]blas.Diag{blas.Unit, blas.NonUnit}[r.IntN(2)])
		case reflect.TypeFor[int]():
			switch sizes := c.args[len(c.args)-1]; {
			case slices > 0:
				add(cols)
			case kind == "gemm" && len(trans) == 2 && len(c.args) < 5:
				add([]int{m, n, k}[len(c.args)-2])
			case side != 0 && sizes.Kind() == reflect.Int && sizes.Type() == in:
				add(n)
			case side != 0:
				add(m)
			case sizes.Type() == in:
				add(k)
			default:
				add(n)
			}
		default:
			if in.Kind() != reflect.Slice {
				x := reflect.New(in).Elem()
				set(x, []complex128{1, -1, 0.5 + 0.25i, 0}[r.IntN(4)])
				if slices == 0 && x.IsZero() { // alpha
					set(x, 2)
				}
				c.args = append(c.args, x)
				break
			}
			var rows int
			switch last := i >= method.Type.NumIn()-2; {
			case last && (kind == "gemm" || side != 0):
				rows, cols = m, n
			case last:
				rows, cols = n, n
			case side != 0 && slices == 0:
				rows, cols = square, square
			case side != 0:
				rows, cols = m, n
			case kind == "gemm" && slices == 0:
				rows, cols = m+k-first(trans[0], m, k), first(trans[0], m, k)
			case kind == "gemm":
				rows, cols = k+n-first(trans[1], k, n), first(trans[1], k, n)
			default:
				rows, cols = n+k-first(trans[0], n, k), first(trans[0], n, k)
			}
			elements := cols
			cols += r.IntN(3)
			s := slice(r, in, (rows-1)*cols+elements)
			if kind[:2] == "tr" && slices == 0 {
				for i := range s.Len() { // well conditioned
					set(s.Index(i), number(s.Index(i))/complex(float64(square), 0))
				}
				for i := range square {
					set(s.Index(i*cols+i), 1+0.5i)
				}
			}
			c.output = len(c.args)
			c.args = append(c.args, s)
			slices++
		}
	}
	return c
}

// run calls the method of impl on a copy of the output, and returns it.
func (c call) run(impl any) reflect.Value {
	args := append([]reflect.Value(nil), c.args...)
	out := args[c.output]
	args[c.output] = reflect.AppendSlice(reflect.MakeSlice(out.Type(), 0, out.Len()), out)
	reflect.ValueOf(impl).MethodByName(c.name).Call(args)
	return args[c.output]
}

func (c call) String() string {
	var s strings.Builder
	s.WriteString(c.name)
	for _, a := range c.args {
		if a.Kind() != reflect.Slice {
			fmt.Fprintf(&s, " %v", a)
		}
	}
	return s.String()
}

func number(v reflect.Value) complex128 {
	if v.CanComplex() {
		return v.Complex()
	}
	return complex(v.Float(), 0)
}

var level3 = strings.Fields("gemm symm syrk syr2k trmm trsm hemm herk her2k")

// names returns the methods of Level 3 of all types.
func names() (all []string) {
	for _, p := range "DSZC" {
		for _, n := range level3 {
			if n[0] != 'h' || p == 'Z' || p == 'C' {
				all = append(all, string(p)+n)
			}
		}
	}
	return all
}

// TestAsGonum compares all methods of Level 3 of all types with gonum's own, with random options, strides and sizes.
func TestAsGonum(t *testing.T) {
	for _, name := range names() {
		t.Run(name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(1, uint64(len(name))))
			for i := range 24 {
				size := func() int { return 1 + r.IntN(150) }
				m, n, k := size(), size(), size()
				if i == 0 {
					m, n, k = 300, 270, 300
				}
				c := randomCall(r, name, m, n, k)
				got, want := c.run(Implementation{}), c.run(own)
				tol := 1e-13 * float64(m+n+k)
				if name[0] == 'S' || name[0] == 'C' {
					tol = 1e-5 * math.Sqrt(float64(m+n+k))
				}
				for j := range want.Len() {
					if g, w := number(got.Index(j)), number(want.Index(j)); !(cmplx.Abs(g-w) <= tol*(1+cmplx.Abs(w))) {
						t.Fatalf("%v: element %d is %v, gonum's %v", c, j, g, w)
					}
				}
			}
		})
	}
}

// TestInvalidCallsPanicAsGonum changes one argument of valid calls to an invalid one: the panic is gonum's.
func TestInvalidCallsPanicAsGonum(t *testing.T) {
	caught := func(f func()) (x any) {
		defer func() { x = recover() }()
		f()
		return nil
	}
	r := rand.New(rand.NewPCG(2, 2))
	for _, name := range names() {
		c := randomCall(r, name, 70, 80, 90)
		for i, a := range c.args {
			bad := reflect.New(a.Type()).Elem()
			switch a.Kind() {
			case reflect.Int:
				bad.SetInt(-1)
			case reflect.Uint8:
				bad.SetUint('x')
			case reflect.Slice:
				bad.Set(a.Slice(0, a.Len()-1))
			default:
				continue
			}
			d := call{name, append([]reflect.Value(nil), c.args...), c.output}
			d.args[i] = bad
			got, want := caught(func() { d.run(Implementation{}) }), caught(func() { d.run(own) })
			if got == nil || fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("%v with argument %d %v: panics with %v, gonum with %v", name, i, bad, got, want)
			}
		}
	}
}

// TestThreadsGiveTheSameBits runs calls on one thread, on two, and from sixteen goroutines.
func TestThreadsGiveTheSameBits(t *testing.T) {
	for _, name := range names() {
		c := randomCall(rand.New(rand.NewPCG(3, 3)), name, 200, 210, 220)
		threads := runtime.GOMAXPROCS(1)
		one := c.run(Implementation{}).Interface()
		runtime.GOMAXPROCS(2)
		two := c.run(Implementation{}).Interface()
		runtime.GOMAXPROCS(threads)
		if !reflect.DeepEqual(one, two) {
			t.Errorf("%v: other bits on two threads", c)
		}
		var all sync.WaitGroup
		for range 16 {
			all.Go(func() {
				if !reflect.DeepEqual(c.run(Implementation{}).Interface(), one) {
					t.Errorf("%v: other bits beside other goroutines", c)
				}
			})
		}
		all.Wait()
	}
}

// TestBetaZeroOverwritesNaN holds that what c has is not read with beta 0, whatever alpha is.
func TestBetaZeroOverwritesNaN(t *testing.T) {
	const n = 100
	ones, c := make([]float64, n*n), make([]float64, n*n)
	for i := range ones {
		ones[i], c[i] = 1, math.NaN()
	}
	Implementation{}.Dgemm(blas.NoTrans, blas.NoTrans, n, n, n, -2, ones, n, ones, n, 0, c, n)
	for i, x := range c {
		if x != -2*n {
			t.Fatalf("element %d is %v", i, x)
		}
	}
}
