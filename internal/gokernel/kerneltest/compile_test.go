package kerneltest_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"reflect"
	"runtime/debug"
	"strconv"
	"testing"
	"unsafe"

	"weft/internal/array"
	"weft/internal/gokernel"
	"weft/internal/gokernel/kerneltest"
	"weft/internal/interp"
	"weft/internal/jit"
	"weft/internal/loop"
	"weft/internal/op"
	"weft/internal/x86"
)

// Kernels are made and dropped by the thousand, while little is live: with room for four
// times as much a fifth of the time is saved. GOGC decides where it is set.
func TestMain(m *testing.M) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
	os.Exit(m.Run())
}

// elements are the types of the elements of arrays by the names of Go types.
var elements = map[string]array.DType{"bool": array.Bool, "int": array.Int64, "int8": array.Int8, "int16": array.Int16, "int32": array.Int32, "int64": array.Int64,
	"uint": array.Uint64, "uint8": array.Uint8, "uint16": array.Uint16, "uint32": array.Uint32, "uint64": array.Uint64,
	"float32": array.Float32, "float64": array.Float64, "complex64": array.Complex64, "complex128": array.Complex128}

// around is how many bytes around each buffer must not change.
const around = 64

// A column is the values of one argument or result for some elements, as memory: complex
// numbers are two buffers.
type column struct {
	d     array.DType
	n     int
	parts [][]byte // with what lies around
}

func newColumn(d array.DType, n int) *column {
	c := &column{d: d, n: n}
	for range c.count() {
		c.parts = append(c.parts, bytes.Repeat([]byte{0xa5}, n*c.part().Size()+2*around))
	}
	return c
}

func (c *column) count() int {
	if c.d.Complex() {
		return 2
	}
	return 1
}

func (c *column) part() array.DType {
	if c.d.Complex() {
		return c.d.Part()
	}
	return c.d
}

func (c *column) at(part, i int) unsafe.Pointer {
	return unsafe.Pointer(&c.parts[part][around+i*c.part().Size()])
}

// values are the Go types of elements.
var values = map[array.DType]reflect.Type{array.Bool: reflect.TypeFor[bool](), array.Int8: reflect.TypeFor[int8](), array.Int16: reflect.TypeFor[int16](),
	array.Int32: reflect.TypeFor[int32](), array.Int64: reflect.TypeFor[int64](), array.Uint8: reflect.TypeFor[uint8](), array.Uint16: reflect.TypeFor[uint16](),
	array.Uint32: reflect.TypeFor[uint32](), array.Uint64: reflect.TypeFor[uint64](), array.Float32: reflect.TypeFor[float32](), array.Float64: reflect.TypeFor[float64]()}

func (c *column) element(part, i int) reflect.Value {
	return reflect.NewAt(values[c.part()], c.at(part, i)).Elem()
}

// set puts a value.
func (c *column) set(i int, v any) {
	x := reflect.ValueOf(v)
	if c.d.Complex() {
		c.element(0, i).SetFloat(real(x.Complex()))
		c.element(1, i).SetFloat(imag(x.Complex()))
		return
	}
	c.element(0, i).Set(x.Convert(values[c.d]))
}

// get returns a value as one of type like.
func (c *column) get(i int, like any) any {
	v := c.element(0, i)
	if c.d.Complex() {
		v = reflect.ValueOf(complex(v.Float(), c.element(1, i).Float()))
	} else if c.d == array.Bool && *(*byte)(c.at(0, i)) > 1 {
		return fmt.Sprintf("the bool %d", *(*byte)(c.at(0, i)))
	}
	return v.Convert(reflect.TypeOf(like)).Interface()
}

// intact reports that nothing lies outside of elements below n that was not there.
func (c *column) intact(n int) bool {
	for _, p := range c.parts {
		end := around + n*c.part().Size()
		for i, x := range p {
			if (i < around || i >= end) && x != 0xa5 {
				return false
			}
		}
	}
	return true
}

var errEndless = errors.New("does not end")

// fuel is how often loops may go round for all elements together.
const fuel = 1 << 24

// backends run a program.
func backends(p *loop.Program) (map[string]func(*loop.Frame) error, error) {
	out := map[string]func(*loop.Frame) error{"interp": func(f *loop.Frame) error {
		f.Word[loop.WordFuel] = fuel
		if !interp.Compile(p).Run(f, func() bool { return false }) {
			return errEndless
		}
		return nil
	}}
	for _, isa := range jit.ISAs()[1:] {
		k, err := x86.Compile(p, isa)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", isa, err)
		}
		code, err := k.Map()
		if err != nil {
			return nil, err
		}
		out[fmt.Sprint(isa)] = func(f *loop.Frame) error {
			// Little at a time, so that kernels leave and go on.
			n := 0
			f.Word[loop.WordFuel] = 1 << 9
			if !code.Run(f, func() bool { n += 1 << 9; return n <= fuel }) {
				return errEndless
			}
			return nil
		}
	}
	return out, nil
}

// compiled is a kernel as loop program.
type compiled struct {
	inst *gokernel.Instance
	p    *loop.Program
}

// compile compiles a kernel of scalars.
func compile(src, name string, args []array.DType) (c *compiled, err error) {
	defer func() {
		if x := recover(); x != nil {
			err = fmt.Errorf("panic: %v", x)
		}
	}()
	s, err := gokernel.Parse(gokernel.File{Name: "k.go", Src: []byte(src)})
	if err != nil {
		return nil, err
	}
	f, err := s.Func(name)
	if err != nil {
		return nil, err
	}
	c = new(compiled)
	if c.inst, err = f.Instantiate(args); err != nil {
		return nil, err
	}
	b := loop.NewBuilder(name, []loop.Axis{{Kind: loop.Parallel}}, 0)
	var in, out []int
	buffers := func(list []array.DType, write bool) (n []int) {
		for _, d := range list {
			parts := 1
			if d.Complex() {
				d, parts = d.Part(), 2
			}
			for range parts {
				n = append(n, b.Buf(d, write, loop.Unit))
			}
		}
		return n
	}
	in, out = buffers(args, false), buffers(c.inst.Returns(), true)
	b.Pass(func() {
		e := &op.Emit{B: b}
		for _, i := range in {
			e.X = append(e.X, b.Load(i))
		}
		for i, v := range c.inst.EmitKernel(e) {
			b.Store(out[i], v)
		}
	})
	if c.p, err = b.Done(); err != nil {
		return nil, err
	}
	return c, loop.Verify(c.p)
}

// run runs a program on n elements.
func (c *compiled) run(run func(*loop.Frame) error, columns []*column, n int) error {
	f := new(loop.Frame)
	f.Word[c.p.ExtentWord(0)] = uint64(n)
	i := 0
	for _, x := range columns {
		for part := range x.count() {
			f.Ptr[i] = unsafe.Pointer(&x.parts[part][around])
			f.Word[c.p.StrideWord(i, 0)] = uint64(x.part().Size())
			i++
		}
	}
	return run(f)
}

// A trial is a kernel with arguments.
type trial struct {
	kerneltest.Kernel
	rows [][]any
	less int // the number of rows of another run
}

// lengths are numbers of elements around the widths of vectors.
var lengths = []int{1, 2, 3, 5, 7, 8, 9, 15, 16, 17, 24, 31, 32, 33, 48, 63, 64, 65, 100, 129}

func newTrial(seed uint64, o kerneltest.Options) *trial {
	t := &trial{Kernel: kerneltest.Generate(seed, o)}
	r := rand.New(rand.NewPCG(seed, 3))
	n := lengths[r.IntN(len(lengths))]
	t.less = r.IntN(n)
	for range n {
		var row []any
		for _, p := range t.Params {
			row = append(row, kerneltest.Input(r, p))
		}
		t.rows = append(t.rows, row)
	}
	return t
}

// steps is what all calls of a kernel may take together.
const steps = 3_000_000

// errOracle wraps an error that is no fault of the compiler.
type errOracle struct{ error }

// compare says how the compiled kernel differs from the evaluated one.
func (t *trial) compare(src string) error {
	p, err := kerneltest.Load(src, "")
	if err != nil {
		return errOracle{err}
	}
	n := len(t.rows)
	want := make([][]any, n)
	for i, row := range t.rows {
		if want[i], err = p.Call(t.Name, steps/n, t.Arg, row...); err != nil {
			return errOracle{err}
		}
	}
	var args []array.DType
	for _, b := range t.Params {
		args = append(args, elements[b])
	}
	c, err := compile(src, t.Name, args)
	if err != nil {
		return err
	}
	runs, err := backends(c.p)
	if err != nil {
		return err
	}
	for name, run := range runs {
		for _, n := range []int{n, t.less} {
			var columns []*column
			for k, d := range args {
				x := newColumn(d, len(t.rows))
				for i, row := range t.rows {
					x.set(i, row[k])
				}
				columns = append(columns, x)
			}
			var results []*column
			for _, d := range c.inst.Returns() {
				results = append(results, newColumn(d, len(t.rows)))
			}
			if err := c.run(run, append(columns, results...), n); err != nil {
				return fmt.Errorf("on %s: %w", name, err)
			}
			for k, x := range results {
				if !x.intact(n) {
					return fmt.Errorf("on %s with %d elements, result %d: memory outside has changed", name, n, k)
				}
				for i := range n {
					if got := x.get(i, want[i][k]); !kerneltest.Same(got, want[i][k]) {
						return fmt.Errorf("on %s with %d elements, result %d: %s(%v) = %v, want %v", name, n, k, t.Name, t.rows[i], got, want[i][k])
					}
				}
			}
		}
	}
	return nil
}

// reduced is the report of a trial that failed, with a source made small.
func (t *trial) reduced(err error) string {
	faulty := func(src string) error {
		e := t.compare(src)
		if _, ok := e.(errOracle); ok {
			return nil
		}
		return e
	}
	// A refusal stays a refusal, a difference a difference.
	refused := isRefusal(err)
	small := kerneltest.Shrink(t.Src, t.Name, func(src string) bool {
		e := faulty(src)
		return e != nil && isRefusal(e) == refused
	})
	// The same with one element, if that fails.
	for i := range t.rows {
		one := &trial{Kernel: t.Kernel, rows: t.rows[i : i+1]}
		if e := one.compare(small); e != nil && isRefusal(e) == refused {
			return fmt.Sprintf("%v\n%s", e, small)
		}
	}
	return fmt.Sprintf("%v\n%s", faulty(small), small)
}

func isRefusal(err error) bool {
	var e *gokernel.Error
	return errors.As(err, &e)
}

// campaign returns how many random kernels to try, short if nothing is said, and the first
// seed.
func campaign(t testing.TB, short int) (n int, from uint64) {
	n = short
	if s := os.Getenv("WEFT_KERNELS"); s != "" {
		var err error
		if n, err = strconv.Atoi(s); err != nil {
			t.Fatalf("WEFT_KERNELS: %v", err)
		}
	}
	if s := os.Getenv("WEFT_KERNELS_FROM"); s != "" {
		var err error
		if from, err = strconv.ParseUint(s, 10, 64); err != nil {
			t.Fatalf("WEFT_KERNELS_FROM: %v", err)
		}
	}
	return n, from
}

// TestRandom compares random kernels, compiled, with the evaluator. WEFT_KERNELS=n asks
// for n of them, WEFT_KERNELS_FROM for the first seed.
func TestRandom(t *testing.T) {
	n, from := campaign(t, 200)
	failures := 0
	for seed := from; seed < from+uint64(n); seed++ {
		trial := newTrial(seed, kerneltest.Options{})
		err := trial.compare(trial.Src)
		if err != nil {
			if _, ok := err.(errOracle); ok {
				t.Fatalf("seed %d: %v\n%s", seed, err, trial.Src)
			}
			t.Errorf("seed %d: %v\nmade smaller: %s", seed, err, trial.reduced(err))
			if failures++; failures == 5 {
				t.FailNow()
			}
		}
	}
}
