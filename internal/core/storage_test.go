package core_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"weft"
	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/cpu"
	"weft/internal/device"
	"weft/internal/jit"
	"weft/internal/mem"
	"weft/internal/tensortest"
)

// Two devices with different instruction sets live in one process and compute at the
// same time, each with plans, kernels and routines of its own; their bits are equal.
func TestTwoDevices(t *testing.T) {
	var numbers []uint8
	for _, isa := range jit.ISAs() {
		numbers = append(numbers, device.Register(cpu.NewIn(mem.NewPool(), isa)))
	}
	net := func(number uint8) []*weft.Tensor {
		x := (*core.Tensor)(tensortest.Noise(1, 2, 8, 3, 12, 12)).On(number)
		w := (*core.Tensor)(tensortest.Noise(2, .4, 4, 3, 3, 3)).On(number).RequireGrad()
		u := (*core.Tensor)(tensortest.Noise(3, .4, 4*5*5, 6)).On(number).RequireGrad()
		h := (*weft.Tensor)(x).Conv2d((*weft.Tensor)(w), nil, weft.ConvOpts{}).Gelu().MaxPool2d(weft.PoolOpts{Window: [2]int{2, 2}}).Flatten(1)
		y := h.MatMul((*weft.Tensor)(u)).LogSoftmax(1)
		y.T().Contiguous().Square().Mean().Backward()
		return []*weft.Tensor{y, y.ArgMax(1), (*weft.Tensor)(w).Grad(), (*weft.Tensor)(u).Grad(), h.Slice(weft.All, weft.Range(0, 50)).Gather(1, (*weft.Tensor)((*core.Tensor)(weft.FromSlice([]int64{0, 3, 0, 9, 1, 2, 4, 4}, 8, 1)).On(number)))}
	}
	want := weft.Digest(net(0)...)
	var wg sync.WaitGroup
	for range 3 {
		for _, n := range numbers {
			wg.Go(func() {
				out := net(n)
				for i, r := range out {
					if got := tensortest.View(r).Store.Device; got != n {
						t.Errorf("result %d of device %d is on device %d", i, n, got)
					}
				}
				if weft.Digest(out...) != want {
					t.Errorf("device %d, %s, has other bits", n, device.Get(n).(*cpu.Device).ISA())
				}
			})
		}
	}
	wg.Wait()
	a, b := weft.Ones(3), (*core.Tensor)(weft.Ones(3)).On(numbers[0])
	if err := weft.Try(func() { a.Add((*weft.Tensor)(b)) }); err == nil {
		t.Error("operands on two devices were added")
	}
	if got := (*weft.Tensor)((*core.Tensor)((*weft.Tensor)((*core.Tensor)(a).On(numbers[0])).Add((*weft.Tensor)(b))).On(0)).Sum().Item(); got != 6 {
		t.Errorf("after moving: %v", got)
	}
	if tensortest.View((*weft.Tensor)(b).Add(1)).Store.Device != numbers[0] || (*core.Tensor)((*weft.Tensor)(b).Slice(weft.Range(0, 2))).On(0).Size() != 2 {
		t.Error("a result left its device")
	}
}

// A view of a view that was given back is still on its device.
func TestReleasedViewOnDevice(t *testing.T) {
	n := device.Register(cpu.NewIn(mem.NewPool(), jit.Portable))
	x := (*core.Tensor)(tensortest.Noise(1, 1, 4, 6)).On(n).RequireGrad()
	r := x.Reshape(3, 8)
	y := (*weft.Tensor)(r).T()
	r.Release()
	y.Mul(y).Sum().Backward()
	if g := (*weft.Tensor)(x).Grad(); tensortest.View(g).Store.Device != n || weft.Digest((*weft.Tensor)((*core.Tensor)(g).On(0))) != weft.Digest((*weft.Tensor)(x.Detach().On(0)).Mul(2)) {
		t.Errorf("the gradient is on device %d: %v", tensortest.View(g).Store.Device, (*weft.Tensor)((*core.Tensor)(g).On(0)))
	}
}

// What is deferred in a storage is computed once, by whoever uses the memory first:
// each of the places that read elements, and every operation.
func TestDeferredStorage(t *testing.T) {
	tensortest.SkipLate(t, "it writes memory of the host")
	for name, use := range map[string]func(x *weft.Tensor) float64{
		"operation": func(x *weft.Tensor) float64 { return x.Add(1).Sub(1).Item() },
		"item":      func(x *weft.Tensor) float64 { return x.Item() },
		"data":      func(x *weft.Tensor) float64 { return float64(weft.Data[float32](x)[0]) },
		"borrow":    func(x *weft.Tensor) (f float64) { weft.Borrow(x, func(d []float32) { f = float64(d[0]) }); return f },
		"print":     func(x *weft.Tensor) float64 { return map[bool]float64{true: 7}[strings.Contains(x.String(), "7")] },
		"digest": func(x *weft.Tensor) float64 {
			return map[bool]float64{true: 7}[weft.Digest(x) == weft.Digest(weft.FullOf(weft.Float32, 7, 1))]
		},
		"copy":     func(x *weft.Tensor) float64 { return (*weft.Tensor)((*core.Tensor)(x).On(0).Clone()).Item() },
		"view":     func(x *weft.Tensor) float64 { return x.Reshape(1, 1).T().Item() },
		"matmul":   func(x *weft.Tensor) float64 { return x.Reshape(1, 1).MatMul(weft.Ones(1, 1)).Item() },
		"argument": func(x *weft.Tensor) float64 { return weft.Zeros(1).AddAssign(x).Item() },
		"receiver": func(x *weft.Tensor) float64 { return x.MulAssign(1).Item() },
	} {
		var runs atomic.Int32
		st := core.Alloc(0, 4)
		mem := st.Host()
		st.Defer(func() {
			runs.Add(1)
			*(*float32)(mem) = 7
		})
		x := tensortest.Of(array.View{Store: st, DType: weft.Float32, Shape: []int{1}, Strides: []int{1}})
		if x.Shape(); runs.Load() != 0 {
			t.Errorf("%s: computed before it was used", name)
		}
		if got := use(x); got != 7 || runs.Load() != 1 {
			t.Errorf("%s: %v after %d computations, want 7 after one", name, got, runs.Load())
		}
	}
	// Many goroutines wait for one computation.
	st := core.Alloc(0, 4)
	mem := st.Host()
	var runs atomic.Int32
	st.Defer(func() { runs.Add(1); *(*float32)(mem) = 7 })
	x := tensortest.Of(array.View{Store: st, DType: weft.Float32, Shape: []int{1}, Strides: []int{1}})
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if got := x.Add(1).Item(); got != 8 {
				t.Errorf("%v", got)
			}
		})
	}
	wg.Wait()
	if runs.Load() != 1 {
		t.Errorf("computed %d times", runs.Load())
	}
	// Content that could not be computed is never there.
	st = core.Alloc(0, 4)
	st.Defer(func() { array.Failf("load", "", "no such content") })
	x = tensortest.Of(array.View{Store: st, DType: weft.Float32, Shape: []int{1}, Strides: []int{1}})
	for range 3 {
		if err := weft.Try(func() { x.Add(1) }); err == nil {
			t.Error("memory whose content could not be computed was used")
		}
	}
}

// Elements that run backward, alternate in the result or stand in short rows, in every type
// and around the lengths of vectors, against plain loops over bytes.
func TestReversedAndInterleavedElements(t *testing.T) {
	for _, d := range array.DTypes() {
		size := d.Size()
		of := func(from, n int) (*weft.Tensor, []byte) {
			x := weft.Arange(n).To(weft.Int64).Add(from).To(d).Clone()
			p := make([]byte, n*size)
			copy(p, tensortest.Bytes(x))
			return x, p
		}
		same := func(what string, got *weft.Tensor, want []byte) {
			t.Helper()
			if g := tensortest.Bytes(got.Contiguous()); string(g) != string(want) {
				t.Errorf("%s of %s:\n%v, want\n%v", what, d, g, want)
			}
		}
		for _, n := range []int{1, 2, 7, 8, 9, 16, 31, 32, 33, 63, 64, 65, 100, 257, 2100} {
			x, p := of(1, n)
			back := make([]byte, len(p))
			for i := range n {
				copy(back[i*size:][:size], p[(n-1-i)*size:])
			}
			same(fmt.Sprintf("flip of %d", n), x.Flip().Clone(), back)
			y := weft.ZerosOf(d, n)
			y.Flip().Assign(x)
			same(fmt.Sprintf("assignment to a flip of %d", n), y, back)
			rows := weft.ZerosOf(d, 3, n)
			rows.Assign(x.Flip())
			same(fmt.Sprintf("rows of a flip of %d", n), rows.Slice(weft.Index(1)).Clone(), back)
			for _, k := range []int{2, 3, 4, 5, 9} {
				var xs []*weft.Tensor
				want := make([]byte, k*len(p))
				for j := range k {
					x, p := of(10*j, n)
					xs = append(xs, x)
					for i := range n {
						copy(want[(i*k+j)*size:][:size], p[i*size:])
					}
				}
				same(fmt.Sprintf("%d stacked, of %d", k, n), weft.Stack(xs, 1), want)
				if n%7 == 0 {
					planes := make([]*weft.Tensor, k)
					for j, x := range xs {
						planes[j] = x.Reshape(7, n/7)
					}
					same(fmt.Sprintf("%d planes stacked, of %d", k, n), weft.Stack(planes, 2), want)
				}
				xs[k-1] = xs[0]
				for i := range n {
					copy(want[(i*k+k-1)*size:][:size], want[i*k*size:][:size])
				}
				same(fmt.Sprintf("%d stacked, one twice, of %d", k, n), weft.Stack(xs, -1), want)
			}
		}
	}
}

// Rows of a length that kernels are made for have the bits of those in arrays too small for
// that, and of the order that sums have.
func TestReductionsOfShortRowsKeepBits(t *testing.T) {
	special := []float64{math.Copysign(0, -1), math.Inf(1), math.NaN(), 0, math.Inf(-1), 1e-40}
	for _, m := range []int{1, 2, 3, 4, 5, 7, 8, 9, 10, 16, 17, 31, 32, 33, 40, 63, 64, 65, 100, 128, 129, 200, 255, 256, 257} {
		n := 1<<15/m + 2
		p := make([]float64, n*m)
		z := uint32(m)
		for i := range p {
			z = z*1664525 + 1013904223
			p[i] = float64(int32(z)) / (1 << 28)
			if z>>20%64 == 0 && i > 3*m {
				p[i] = special[int(z>>8)%len(special)]
			}
			if i < m {
				p[i] = math.Copysign(0, -1) // its sum is 0
			}
		}
		for _, d := range []weft.DType{weft.Float32, weft.Float64, weft.Float16, weft.Int16, weft.Int64, weft.Bool} {
			x := weft.FromSlice(p, n, m).To(d)
			fs := map[string]func(*weft.Tensor) *weft.Tensor{
				"sum": func(x *weft.Tensor) *weft.Tensor { return x.Sum(1) }, "max": func(x *weft.Tensor) *weft.Tensor { return x.Max(1) },
				"min": func(x *weft.Tensor) *weft.Tensor { return x.Min(1) }, "all": func(x *weft.Tensor) *weft.Tensor { return x.All(1) },
			}
			if d.Float() {
				fs["prod"] = func(x *weft.Tensor) *weft.Tensor { return x.Prod(1) }
				fs["softmax"] = func(x *weft.Tensor) *weft.Tensor { return x.Softmax(1) }
				fs["logsumexp"] = func(x *weft.Tensor) *weft.Tensor { return x.LogSumExp(1) }
				fs["var"] = func(x *weft.Tensor) *weft.Tensor { return x.Var(1) }
			}
			for name, f := range fs {
				if d == weft.Bool && name != "all" && name != "sum" {
					continue
				}
				y := f(x)
				for _, at := range []int{0, n / 2, n - 20} {
					few := f(x.Slice(weft.Range(at, at+20)).Clone())
					got, want := weft.Data[float64](y.Slice(weft.Range(at, at+20)).To(weft.Float64)), weft.Data[float64](few.To(weft.Float64))
					for i := range got {
						if g, w := got[i], want[i]; math.Float64bits(g) != math.Float64bits(w) && (g == g || w == w) {
							t.Fatalf("%s of rows of %d %s, from %d:\n%v, alone\n%v", name, m, d, at, got, want)
						}
					}
				}
				if name != "sum" || d != weft.Float32 {
					continue
				}
				sums := weft.Data[float32](y)
				for row := range 5 {
					var lanes [64]float32
					for i, v := range p[row*m : (row+1)*m] {
						lanes[i%64] += float32(v)
					}
					for h := 32; h > 0; h /= 2 {
						for l := range h {
							lanes[l] += lanes[l+h]
						}
					}
					if w := lanes[0]; math.Float32bits(w) != math.Float32bits(sums[row]) && w == w {
						t.Errorf("sum of row %d of %d: %v, want %v", row, m, sums[row], w)
					}
				}
			}
		}
	}
}

// TestShapeIsACopy writes into what Shape and Strides return, within their lengths and behind, and
// looks at the tensor, at what shares its sizes and at later results of the same operations.
func TestShapeIsACopy(t *testing.T) {
	a, b := weft.Ones(4, 5), weft.Ones(5, 3)
	ops := map[string]func() *weft.Tensor{
		"leaf":      func() *weft.Tensor { return a },
		"exp":       func() *weft.Tensor { return a.Exp() },
		"matmul":    func() *weft.Tensor { return a.MatMul(b) },
		"sum":       func() *weft.Tensor { return a.Sum(0) },
		"transpose": func() *weft.Tensor { return a.T() },
		"at":        func() *weft.Tensor { return a.At(1) },
		"reshape":   func() *weft.Tensor { return a.Reshape(2, 10) },
		"expr":      func() *weft.Tensor { return weft.Expr("a*2", a) },
		"random":    func() *weft.Tensor { return weft.Randn(4, 5) },
		"gradient": func() *weft.Tensor {
			x := weft.Ones(4, 5).RequireGrad()
			x.Square().Sum().Backward()
			return x.Grad()
		},
		"scalar": func() *weft.Tensor { return a.Sum() },
	}
	for name, f := range ops {
		y := f()
		shape, strides := y.Shape(), y.Strides()
		for _, get := range []func() []int{y.Shape, y.Strides} {
			s := get()
			for i := range s[:cap(s)] {
				s[:cap(s)][i] = 1 << 40
			}
		}
		for what, z := range map[string]*weft.Tensor{"the tensor": y, "a later result": f()} {
			if !slices.Equal(z.Shape(), shape) || !slices.Equal(z.Strides(), strides) {
				t.Errorf("%s: writing into its shape and strides makes %s %v %v, want %v %v", name, what, z.Shape(), z.Strides(), shape, strides)
			}
		}
	}
}

var kept []int

// TestShapeAllocatesOnce counts what a call of Shape costs.
func TestShapeAllocatesOnce(t *testing.T) {
	x, scalar := weft.Ones(2, 3, 4), weft.Scalar(1)
	if n := testing.AllocsPerRun(100, func() { kept = x.Shape() }); n > 1 {
		t.Errorf("Shape allocates %v times", n)
	}
	if n := testing.AllocsPerRun(100, func() { kept = scalar.Shape() }); n > 0 {
		t.Errorf("Shape of a scalar allocates %v times", n)
	}
}

// TestTraceThatFailsLeavesNoLock fails twice while it traces one operation. A number that does
// not fit once left the operation locked for the process.
func TestTraceThatFailsLeavesNoLock(t *testing.T) {
	x := weft.ZerosOf(weft.Uint8, 3)
	done := make(chan error)
	go func() {
		for range 3 {
			f := weft.Compile(func(x *weft.Tensor) *weft.Tensor { return x.BitOr(1000) })
			if _, err := f.Call(x); err == nil {
				t.Error("1000 fits a uint8")
			}
		}
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		t.Fatal("an operation whose trace failed is locked")
	}
}

// Results written into memory that exists: into new memory, over an argument, and where the
// two overlap in other ways. What is expected is computed in Go from copies.
func TestEvalInto(t *testing.T) {
	tensortest.OnBackends(t, func(t *testing.T) {
		const n = 5000
		line := func() *weft.Tensor { return weft.Arange(n).To(weft.Float32).Mul(0.001).Sub(2) }
		formulas := map[string]func(a, b float32) float32{
			"a":          func(a, b float32) float32 { return a },
			"2*a-b":      func(a, b float32) float32 { return float32(2*a) - b },
			"abs(b)+0*a": func(a, b float32) float32 { return float32(math.Abs(float64(b))) },
			"a*b + 1":    func(a, b float32) float32 { return float32(a*b) + 1 },
		}
		m := n / 2
		for text, want := range formulas {
			f, err := weft.ParseExpr(text)
			if err != nil {
				t.Fatal(err)
			}
			places := map[string]func(x *weft.Tensor) (dst, a, b *weft.Tensor){
				"new memory": func(x *weft.Tensor) (*weft.Tensor, *weft.Tensor, *weft.Tensor) {
					return weft.Zeros(m), x.Slice(weft.Range(0, m)), x.Slice(weft.Range(m, 2*m))
				},
				"its argument": func(x *weft.Tensor) (*weft.Tensor, *weft.Tensor, *weft.Tensor) {
					a := x.Slice(weft.Range(0, m))
					return a, a, x.Slice(weft.Range(m, 2*m))
				},
				"shifted up": func(x *weft.Tensor) (*weft.Tensor, *weft.Tensor, *weft.Tensor) {
					return x.Slice(weft.Range(1, m+1)), x.Slice(weft.Range(0, m)), x.Slice(weft.Range(0, m))
				},
				"shifted down": func(x *weft.Tensor) (*weft.Tensor, *weft.Tensor, *weft.Tensor) {
					return x.Slice(weft.Range(0, m)), x.Slice(weft.Range(1, m+1)), x.Slice(weft.Range(7, m+7))
				},
				"backwards": func(x *weft.Tensor) (*weft.Tensor, *weft.Tensor, *weft.Tensor) {
					a := x.Slice(weft.Range(0, m))
					return a, a.Slice(weft.Range(weft.End, weft.Begin, -1)), a
				},
				"strided": func(x *weft.Tensor) (*weft.Tensor, *weft.Tensor, *weft.Tensor) {
					return x.Slice(weft.Range(0, 2*m, 2)), x.Slice(weft.Range(0, m)), x.Slice(weft.Range(1, 2*m, 2))
				},
				"one for all": func(x *weft.Tensor) (*weft.Tensor, *weft.Tensor, *weft.Tensor) {
					a := x.Slice(weft.Range(0, m))
					return a, a, x.Slice(weft.Range(3, 4))
				},
			}
			for name, place := range places {
				x := line()
				dst, a, b := place(x)
				as, bs := weft.Data[float32](a.Expand(m)), weft.Data[float32](b.Expand(m))
				args := weft.Vars{"a": a, "b": b}
				if err := f.EvalInto(dst, args); err != nil {
					t.Errorf("%s into %s: %v", text, name, err)
					continue
				}
				got := weft.Data[float32](dst)
				for i := range got {
					if w := want(as[i], bs[i]); got[i] != w {
						t.Errorf("%s into %s: element %d is %v, want %v", text, name, i, got[i], w)
						break
					}
				}
			}
		}
		// Rows that are read again after they were written, were there no copy.
		x := line().Slice(weft.Range(0, 4096)).Reshape(64, 64)
		want := weft.Data[float32](x.Clone().Sub(x.Max(1).Reshape(64, 1)))
		f, err := weft.ParseExpr("x-max_keep(x,1)")
		if err != nil {
			t.Fatal(err)
		}
		if err := f.EvalInto(x, x); err != nil || !slices.Equal(weft.Data[float32](x), want) {
			t.Errorf("rows minus their greatest, in place: %v", err)
		}
	})
}

func TestEvalIntoRefused(t *testing.T) {
	f, _ := weft.ParseExpr("2*x")
	x := weft.Arange(6).To(weft.Float32)
	w := weft.Ones(6).RequireGrad()
	gone := weft.Ones(6)
	gone.Release()
	for name, err := range map[string]error{
		"nil":                 f.EvalInto(nil, x),
		"zero":                f.EvalInto(&weft.Tensor{}, x),
		"released":            f.EvalInto(gone, x),
		"released argument":   f.EvalInto(weft.Zeros(6), gone),
		"shape":               f.EvalInto(weft.Zeros(5), x),
		"no broadcasting":     f.EvalInto(weft.Zeros(2, 6), x),
		"type":                f.EvalInto(weft.ZerosOf(weft.Float64, 6), x),
		"expanded":            f.EvalInto(weft.Zeros(1).Expand(6), x),
		"leaf":                f.EvalInto(w, x),
		"on the tape":         f.EvalInto(w.Mul(2), x),
		"argument with grad":  f.EvalInto(weft.Zeros(6), w),
		"argument of a graph": f.EvalInto(weft.Zeros(6), w.Mul(3)),
		"no argument":         f.EvalInto(weft.Zeros(6)),
	} {
		if e := (*weft.Error)(nil); !errors.As(err, &e) {
			t.Errorf("%s: error %v, want an *Error", name, err)
		}
	}
	if err := f.EvalInto(w.Detach(), w.Detach()); err != nil || !slices.Equal(weft.Data[float32](w.Detach()), []float32{2, 2, 2, 2, 2, 2}) {
		t.Errorf("without gradients: %v", err)
	}
	// What the tape saved is noticed.
	y := w.Mul(w).Sum()
	if err := f.EvalInto(w.Detach(), w.Detach()); err != nil {
		t.Fatal(err)
	}
	if weft.Try(func() { y.Backward() }) == nil {
		t.Error("a gradient of what was written over")
	}
}

func TestEvalIntoMarks(t *testing.T) {
	f, _ := weft.ParseExpr("x+1")
	x := weft.Zeros(1000)
	d := weft.Track(x)
	defer d.Stop()
	if _, err := d.Flush(discardAt{}); err != nil {
		t.Fatal(err)
	}
	part := x.Slice(weft.Range(100, 200))
	if err := f.EvalInto(part, part); err != nil {
		t.Fatal(err)
	}
	if got := d.Pending(); len(got) != 1 || got[0] != (span(400, 800)) {
		t.Errorf("pending %v, want bytes 400 to 800", got)
	}
}

type discardAt struct{}

func (discardAt) WriteAt(p []byte, _ int64) (int, error) { return len(p), nil }

// What waits and reads the memory is computed before.
func TestEvalIntoLazy(t *testing.T) {
	f, _ := weft.ParseExpr("0*x+7")
	x := weft.Ones(4096)
	later := x.Lazy().Add(1).Mul(3)
	if err := f.EvalInto(x, x); err != nil {
		t.Fatal(err)
	}
	if got := later.Sum().Item(); got != 6*4096 {
		t.Errorf("the sum of what waited is %v, want %v", got, 6*4096)
	}
}

// Into memory that is there nothing is allocated.
func TestEvalIntoAllocates(t *testing.T) {
	tensortest.SkipLate(t, "work that waits allocates")
	if jit.Chosen().ISA == jit.Portable {
		t.Skip("SKIPPED: the interpreter allocates in each run")
	}
	f, _ := weft.ParseExpr("2*a+exp(b)")
	s, _ := weft.ParseExpr("sum(a,1)")
	a, b := weft.Rand(40, 50), weft.Rand(40, 50)
	dst, sums := weft.Zeros(40, 50), weft.Zeros(40)
	for name, call := range map[string]func() error{
		"elementwise":  func() error { return f.EvalInto(dst, a, b) },
		"in place":     func() error { return f.EvalInto(a, a, b) },
		"sums of rows": func() error { return s.EvalInto(sums, b) },
	} {
		if err := call(); err != nil {
			t.Fatal(err)
		}
		if n := testing.AllocsPerRun(100, func() { call() }); n > 0 {
			t.Errorf("%s: %v allocations, want none", name, n)
		}
	}
}
