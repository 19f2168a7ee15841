package weft_test

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"testing"
	"unsafe"

	"weft"
	"weft/internal/device"
	"weft/internal/jit"
	"weft/internal/par"
	"weft/internal/tensortest"
)

func bitsOf(ts ...*weft.Tensor) string {
	h := sha256.New()
	for _, t := range ts {
		weft.Borrow(t.Contiguous(), func(d []float32) {
			h.Write(unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(d))), 4*len(d)))
		})
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// trained takes some steps of a small convolutional network with momentum.
func trained(steps int) []*weft.Tensor {
	ps := []*weft.Tensor{tensortest.Noise(1, .4, 6, 1, 5, 5), tensortest.Noise(2, .1, 6), tensortest.Noise(3, .2, 16, 6, 5, 5), tensortest.Noise(4, .1, 16),
		tensortest.Noise(5, .2, 84, 256), tensortest.Noise(6, .1, 84), tensortest.Noise(7, .2, 10, 84), tensortest.Noise(8, .1, 10)}
	var mom []*weft.Tensor
	for _, p := range ps {
		p.RequireGrad()
		mom = append(mom, weft.ZerosLike(p))
	}
	labels := make([]int64, 36)
	for i := range labels {
		labels[i] = int64(i*7) % 10
	}
	y := weft.FromSlice(labels)
	pool := weft.PoolOpts{Window: [2]int{2, 2}}
	for step := range steps {
		s := weft.NewScope()
		x := s.Track(tensortest.Noise(uint32(100+step), 2, 36, 1, 28, 28))
		h := x.Conv2d(ps[0], ps[1], weft.ConvOpts{}).Relu().MaxPool2d(pool)
		h = h.Conv2d(ps[2], ps[3], weft.ConvOpts{}).Gelu().MaxPool2d(pool).Flatten(1)
		h = h.Linear(ps[4], ps[5]).Tanh().Linear(ps[6], ps[7])
		weft.CrossEntropy(h, y).Backward()
		for i, p := range ps {
			mom[i].MulAssign(0.9).AddAssign(p.Grad())
			weft.WithoutGrad(func() { p.SubAssign(mom[i].Mul(0.05)) })
			p.SetGrad(nil)
		}
		s.Close()
	}
	return ps
}

// The weights after training have the same bits on every backend and with every
// number of threads.
func TestTrainingBits(t *testing.T) {
	defer par.SetThreads(par.SetThreads(1))
	want := ""
	tensortest.OnBackends(t, func(t *testing.T) {
		for _, threads := range []int{1, 2, 5} {
			par.SetThreads(threads)
			steps := 8
			if testing.Short() {
				steps = 2 // the race detector is slow
			}
			ps := trained(steps)
			for _, p := range ps {
				if s := p.Detach().Sum().Item(); math.IsNaN(s) || math.IsInf(s, 0) {
					t.Fatal("the weights are not finite")
				}
			}
			got := bitsOf(ps...)
			if want == "" {
				want = got
			}
			if got != want {
				t.Errorf("%d threads: digest %s, want %s", threads, got, want)
			}
		}
	})
	if want == bitsOf(tensortest.Noise(1, .4, 6, 1, 5, 5)) {
		t.Error("nothing was trained")
	}
}

// Any part of a product has the bits it has in the large one.
func TestSubProductBits(t *testing.T) {
	tensortest.OnBackends(t, func(t *testing.T) {
		a, b := tensortest.Noise(1, 2, 150, 700), tensortest.Noise(2, 2, 700, 130)
		c := a.MatMul(b)
		for _, r := range [][4]int{{0, 1, 0, 130}, {7, 9, 3, 4}, {0, 150, 64, 65}, {13, 77, 31, 99}, {149, 150, 129, 130}} {
			rows, cols := weft.Range(r[0], r[1]), weft.Range(r[2], r[3])
			part := a.Slice(rows).MatMul(b.Slice(weft.All, cols))
			if bitsOf(part) != bitsOf(c.Slice(rows, cols)) {
				t.Errorf("rows %d:%d, columns %d:%d differ", r[0], r[1], r[2], r[3])
			}
			if bitsOf(b.T().Slice(cols).MatMul(a.T().Slice(weft.All, rows)).T()) != bitsOf(c.Slice(rows, cols)) {
				t.Errorf("transposed, rows %d:%d, columns %d:%d differ", r[0], r[1], r[2], r[3])
			}
		}
		if v := a.At(5).MatMul(b); bitsOf(v) != bitsOf(c.At(5)) {
			t.Error("vector times matrix differs")
		}
		stack := weft.Stack([]*weft.Tensor{a, a.Mul(2), a}, 0).MatMul(b.Expand(3, 700, 130))
		if bitsOf(stack.At(2)) != bitsOf(c) {
			t.Error("batched product differs")
		}
	})
}

// The backend that WEFT_JIT asks for is the one that runs.
func TestForcedBackend(t *testing.T) {
	choice := jit.Chosen()
	want := choice.ISA
	if choice.Wish != "" && choice.Note == "" && want.String() != choice.Wish {
		t.Errorf("WEFT_JIT=%s chose %s", choice.Wish, want)
	}
	if got := device.Get(0).(interface{ ISA() jit.ISA }).ISA(); got != want {
		t.Fatalf("%s runs, %s was chosen", got, want)
	}
	native, interpreted := device.Get(0).Counters().Native.Load(), device.Get(0).Counters().Interpreted.Load()
	tensortest.Noise(1, 1, 1000).Mul(3).Add(1).Sum().Item()
	native = device.Get(0).Counters().Native.Load() - native
	interpreted = device.Get(0).Counters().Interpreted.Load() - interpreted
	if (want == jit.Portable) != (native == 0) || (want == jit.Portable) != (interpreted > 0) {
		t.Errorf("%s: %d launches of machine code, %d interpreted", want, native, interpreted)
	}
	t.Logf("backend %s", want)
}

// The digest is SHA-256 over the bytes that the documentation names, written out
// here by hand.
func TestDigestCanonicalForm(t *testing.T) {
	u64 := func(b []byte, xs ...uint64) []byte {
		for _, x := range xs {
			b = binary.LittleEndian.AppendUint64(b, x)
		}
		return b
	}
	head := func(b []byte, name, dtype string, shape ...uint64) []byte {
		b = append(u64(b, uint64(len(name))), name...)
		b = append(u64(b, uint64(len(dtype))), dtype...)
		return u64(u64(b, uint64(len(shape))), shape...)
	}
	var b []byte
	b = head(b, "", "float32", 2, 2)
	for _, x := range []uint32{0x3f800000, 0x80000000, 0x7fc00000, 0x7fc00000} {
		b = binary.LittleEndian.AppendUint32(b, x)
	}
	b = u64(head(b, "", "float64", 2), 0x3ff0000000000000, 0x7ff8000000000000)
	b = append(head(b, "", "bool", 3), 1, 0, 1)
	b = append(head(b, "", "uint8"), 200)
	b = binary.LittleEndian.AppendUint32(head(b, "", "int32", 1), 0xfffffffe)
	b = u64(head(b, "", "int64", 1, 1), 1<<40)
	b = head(b, "", "float32", 0, 3)
	got := weft.Digest(
		weft.FromSlice([]float32{1, float32(math.Copysign(0, -1)), math.Float32frombits(0xffc12345), math.Float32frombits(0x7f812345)}, 2, 2),
		weft.FromSlice([]float64{1, math.Float64frombits(0xfff0000000000001)}),
		weft.FromSlice([]bool{true, false, true}), weft.ScalarOf(weft.Uint8, 200), weft.FromSlice([]int32{-2}), weft.From([][]int64{{1 << 40}}), weft.Zeros(0, 3))
	if want := fmt.Sprintf("%x", sha256.Sum256(b)); got != want {
		t.Errorf("digest %s, want %s", got, want)
	}
	if got, want := weft.Digest(), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"; got != want {
		t.Errorf("digest of nothing %s, want %s", got, want)
	}
	named := weft.DigestNamed(func(yield func(string, *weft.Tensor) bool) { yield("W", weft.ScalarOf(weft.Uint8, 1)) })
	if want := fmt.Sprintf("%x", sha256.Sum256(append(head(nil, "W", "uint8"), 1))); named != want {
		t.Errorf("digest with a name %s, want %s", named, want)
	}
}

func TestDigestsOfDifferentTensorsDiffer(t *testing.T) {
	x := weft.NewGenerator(1).Randn(100, 70)
	seen := map[string]string{}
	for name, d := range map[string]string{
		"x": weft.Digest(x), "twice": weft.Digest(x, x), "flat": weft.Digest(x.Flatten(0)), "float64": weft.Digest(x.To(weft.Float64)),
		"transposed": weft.Digest(x.T()), "negated": weft.Digest(x.Neg()),
		"one bit": func() string {
			y := x.Clone()
			weft.Borrow(y, func(d []float32) { d[6999] = math.Float32frombits(math.Float32bits(d[6999]) ^ 1) })
			return weft.Digest(y)
		}(),
		"zero": weft.Digest(weft.Zeros(1)), "minus zero": weft.Digest(weft.Zeros(1).Neg()), "empty": weft.Digest(weft.Zeros(0)), "empty 2-d": weft.Digest(weft.Zeros(0, 1)),
		"split": weft.Digest(x.Slice(weft.Range(0, 50)), x.Slice(weft.Range(50, 100))),
	} {
		if old, ok := seen[d]; ok {
			t.Errorf("%s and %s have the same digest", name, old)
		}
		seen[d] = name
	}
	// How the elements lie in memory does not matter.
	if weft.Digest(x.T()) != weft.Digest(x.T().Clone()) || weft.Digest(x.Slice(weft.Range(weft.End, weft.Begin, -1)).Slice(weft.Range(weft.End, weft.Begin, -1))) != weft.Digest(x) {
		t.Error("a view and its copy differ")
	}
}

// Light work on much memory uses narrow vectors, with the same bits as wide ones.
func TestLightKernelsUseNarrowVectors(t *testing.T) {
	tensortest.SkipLate(t, "launches are counted when they run")
	if b := jit.ISAs(); b[len(b)-1] != jit.AVX512 {
		t.Skip("SKIPPED: this processor lacks AVX-512")
	}
	defer tensortest.KeepBackend()()
	tensortest.SetBackend(jit.AVX512)
	const n = 1<<20 + 13
	x := make([]float32, 8*n)
	for i := range x {
		x[i] = 1 / float32(i+1)
	}
	for _, c := range []struct {
		name string
		n    int
		f    func(a *weft.Tensor) *weft.Tensor
		want int64
	}{
		{"light", n, func(a *weft.Tensor) *weft.Tensor { return weft.Expr("a*a+a/3", a) }, 1},
		{"sum of rows", n, func(a *weft.Tensor) *weft.Tensor { return a.Slice(weft.Range(0, n/1024*1024)).Reshape(-1, 1024).Sum(1) }, 1},
		{"maximum of rows", n, func(a *weft.Tensor) *weft.Tensor { return a.Slice(weft.Range(0, n/1024*1024)).Reshape(-1, 1024).Max(1) }, 0},
		{"sum of short rows", n / 4, func(a *weft.Tensor) *weft.Tensor { return a.Slice(weft.Range(0, n/4/10*10)).Reshape(-1, 10).Sum(1) }, 1},
		{"maximum of short rows", n / 4, func(a *weft.Tensor) *weft.Tensor { return a.Slice(weft.Range(0, n/4/17*17)).Reshape(-1, 17).Max(1) }, 1},
		{"logarithm of sums of short rows", n / 4, func(a *weft.Tensor) *weft.Tensor {
			return a.Slice(weft.Range(0, n/4/10*10)).Reshape(-1, 10).LogSumExp(1)
		}, 0},
		{"sum of rows of 48", n / 4, func(a *weft.Tensor) *weft.Tensor { return a.Slice(weft.Range(0, n/4/48*48)).Reshape(-1, 48).Sum(1) }, 0},
		{"emulated", n, func(a *weft.Tensor) *weft.Tensor { return a.To(weft.Int64) }, 0},
		{"short", n / 4, func(a *weft.Tensor) *weft.Tensor { return weft.Expr("a*a+a/3", a) }, 0},
		{"heavy", n, func(a *weft.Tensor) *weft.Tensor { return weft.Expr("exp(sin(a))", a) }, 0},
		{"every second", n, func(a *weft.Tensor) *weft.Tensor { return weft.Expr("a*a+a/3", a.Slice(weft.Range(0, n-1, 2))) }, 1},
		{"gathered", 8 * n, func(a *weft.Tensor) *weft.Tensor { return weft.Expr("a*a+a/3", a.Slice(weft.Range(0, 8*n-1, 7))) }, 0},
	} {
		a := weft.FromSlice(x[:c.n])
		before := device.Get(0).Counters().Narrowed.Load()
		y := c.f(a)
		if got := device.Get(0).Counters().Narrowed.Load() - before; got != c.want {
			t.Errorf("%s: %d launches with narrow vectors, want %d", c.name, got, c.want)
		}
		tensortest.SetBackend(jit.Portable)
		want := c.f(a)
		tensortest.SetBackend(jit.AVX512)
		if weft.Digest(y) != weft.Digest(want) {
			t.Errorf("%s: not the interpreter's bits", c.name)
		}
	}
}

// Results of long arrays are written past the caches: every element, the last ones that
// fill no vector included, and not where the memory is read too or not aligned.
func TestNonTemporalStoresOfResults(t *testing.T) {
	tensortest.SkipLate(t, "launches are counted when they run")
	const n = 8<<20 + 13
	portable := map[weft.DType]string{} // digests of the interpreter's conversions
	for _, b := range jit.ISAs() {
		if b == jit.Portable {
			continue
		}
		t.Run(b.String(), func(t *testing.T) {
			defer tensortest.KeepBackend()()
			tensortest.SetBackend(b)
			x := make([]float32, n+1)
			for i := range x {
				x[i] = float32(i % 1021)
			}
			streamed := func(want int64, f func()) {
				t.Helper()
				before := device.Get(0).Counters().Streamed.Load()
				f()
				if got := device.Get(0).Counters().Streamed.Load() - before; got != want {
					t.Errorf("%d launches past the caches, want %d", got, want)
				}
			}
			same := func(y *weft.Tensor, want func(i int) float32) {
				t.Helper()
				weft.Borrow(y, func(d []float32) {
					for i, v := range d {
						if v != want(i) {
							t.Fatalf("element %d is %v, want %v", i, v, want(i))
						}
					}
				})
			}
			a := weft.FromSlice(x[:n])
			streamed(1, func() { same(a.Mul(3), func(i int) float32 { return 3 * x[i] }) })
			streamed(0, func() { same(a.Slice(weft.Range(0, n/3)).Mul(3), func(i int) float32 { return 3 * x[i] }) })
			for _, to := range []weft.DType{weft.Bool, weft.Uint8, weft.Int16, weft.Float16, weft.BFloat16, weft.Float64} {
				var y *weft.Tensor
				streamed(1, func() { y = a.To(to) })
				if portable[to] == "" {
					tensortest.SetBackend(jit.Portable)
					portable[to] = weft.Digest(a.To(to))
					tensortest.SetBackend(b)
				}
				if weft.Digest(y) != portable[to] {
					t.Errorf("%s: not the interpreter's bits", to)
				}
			}
			c := a.Clone()
			streamed(0, func() { same(c.AddAssign(1), func(i int) float32 { return x[i] + 1 }) })
			d := weft.Zeros(n + 1)
			streamed(1, func() { d.Slice(weft.Range(1, n+1)).Assign(a) })
			same(d, func(i int) float32 { return x[max(i-1, 0)] * float32(min(i, 1)) })

			const rows = 2049 // of windows, whose rows begin anywhere
			const columns = n / rows
			w := a.Slice(weft.Range(0, rows*columns)).Reshape(rows, columns)
			inside, e := func(y *weft.Tensor) *weft.Tensor { return y.Slice(weft.Range(1, rows-1), weft.Range(3, columns-2)) }, weft.FullOf(weft.Float32, 0.5, rows, columns)
			streamed(1, func() { inside(e).Assign(inside(w)) })
			same(e, func(i int) float32 {
				if r, c := i/columns, i%columns; r > 0 && r < rows-1 && c >= 3 && c < columns-2 {
					return x[i]
				}
				return 0.5
			})
			// Rows that are reduced first; what a pass of a row leaves there for the next goes
			// through the caches.
			var y *weft.Tensor
			r := w.Slice(weft.All, weft.Range(1, columns))
			streamed(1, func() { y = weft.Expr("x-max_keep(x,1)", weft.Vars{"x": r}) })
			same(y, func(i int) float32 { return x[i/(columns-1)*columns+i%(columns-1)+1] - 1020 })
			streamed(0, func() { r.Softmax(1) })
			const short = n / 128 // rows that are too short
			g := weft.Zeros(short, 131)
			streamed(0, func() {
				g.Slice(weft.All, weft.Range(1, 128)).Assign(a.Slice(weft.Range(0, short*127)).Reshape(short, 127))
			})
			// Two windows on one array count once.
			f := a.Slice(weft.Range(0, 3<<20)).Reshape(-1, 1<<11)
			streamed(0, func() { f.Slice(weft.All, weft.Range(0, 1900)).Add(f.Slice(weft.All, weft.Range(148, 2048))) })
		})
	}
}

// Channels of 1 and 2 bytes that alternate in memory convert to every type, and meet each
// other, as portable code has it: on each backend, for rows of all lengths about a vector.
func TestInterleavedNarrowChannels(t *testing.T) {
	defer tensortest.SetBackend(device.Get(0).(interface{ ISA() jit.ISA }).ISA())
	compute := func() (digests []string) {
		for _, from := range []weft.DType{weft.Uint8, weft.Int8, weft.Uint16, weft.Int16, weft.Bool, weft.Float16, weft.BFloat16} {
			for by := 2; by <= 4; by++ {
				for _, n := range []int{1, 3, 4, 7, 8, 9, 15, 16, 17, 31, 33, 64, 100, 131} {
					x := weft.NewGenerator(uint64(n)).Rand(3, n*by).Sub(0.5).Mul(300)
					if from.Integer() && (from == weft.Uint8 || from == weft.Uint16) {
						x = x.Abs()
					}
					if from == weft.Bool {
						x = x.Gt(0)
					} else {
						x = x.To(from)
					}
					var all []*weft.Tensor
					channels := make([]*weft.Tensor, by)
					for k := range channels {
						channels[k] = x.Slice(weft.All, weft.Range(k, n*by, by))
						for _, to := range []weft.DType{weft.Float32, weft.Float64, weft.Int64, weft.Int32, weft.Int16, weft.Uint8, weft.Bool} {
							if to == weft.Uint8 && !from.Integer() {
								continue // out of its range
							}
							all = append(all, channels[k].To(to))
						}
						all = append(all, channels[k].Eq(0))
					}
					if from != weft.Bool {
						all = append(all, channels[0].Add(channels[1]), channels[0].To(weft.Float32).Mul(0.3).Sub(channels[by-1]))
					}
					digests = append(digests, from.String()+" "+weft.Digest(all...))
				}
			}
		}
		return digests
	}
	tensortest.SetBackend(jit.Portable)
	want := compute()
	for _, isa := range jit.ISAs() {
		tensortest.SetBackend(isa)
		for i, got := range compute() {
			if got != want[i] {
				t.Errorf("%s: case %d has digest %s, want %s", isa, i, got, want[i])
			}
		}
	}
}

// Elementwise work on an array and others that lie across it, large enough to go by tiles, is
// that of plain Go, in every order of axes, also in place.
func TestElementwiseOfTransposedOperands(t *testing.T) {
	for _, c := range []struct {
		shape, perm []int
		dtype       weft.DType
	}{
		{[]int{700, 800}, []int{1, 0}, weft.Float32}, {[]int{512, 1024}, []int{1, 0}, weft.Float64}, {[]int{1100, 1000}, []int{1, 0}, weft.Float16},
		{[]int{4, 300, 600}, []int{0, 2, 1}, weft.Float32}, {[]int{3, 60, 70, 48}, []int{0, 3, 1, 2}, weft.Float32}, {[]int{3, 48, 60, 70}, []int{0, 2, 3, 1}, weft.Float32},
		{[]int{40, 60, 300}, []int{2, 1, 0}, weft.Float32}, {[]int{200_000, 3}, []int{1, 0}, weft.Float32}, {[]int{3, 200_000}, []int{1, 0}, weft.Float32}, {[]int{20, 30_000}, []int{1, 0}, weft.Float32},
	} {
		n := 1
		for _, s := range c.shape {
			n *= s
		}
		x := weft.Arange[int](n).Mul(7).Mod(64).Reshape(c.shape...).To(c.dtype)
		y := x.Permute(c.perm...)
		z := weft.Arange[int](n).Mul(5).Mod(32).Reshape(y.Shape()...).To(c.dtype)
		// Row-major elements of y, by indices alone.
		xs, ys := weft.Data[float64](x.To(weft.Float64)), make([]float64, n)
		at := make([]int, len(c.shape))
		for i := range ys {
			from := 0
			for a, s := range c.shape {
				from = from*s + at[slices.Index(c.perm, a)]
			}
			ys[i] = xs[from]
			for a := len(at) - 1; a >= 0; a-- {
				if at[a]++; at[a] < y.Dim(a) {
					break
				}
				at[a] = 0
			}
		}
		zs := weft.Data[float64](z.To(weft.Float64))
		check := func(path string, got *weft.Tensor, want func(i int) float64) {
			t.Helper()
			for i, v := range weft.Data[float64](got.To(weft.Float64)) {
				if v != want(i) {
					t.Errorf("%v permuted %v, %s, %s: element %d is %v, want %v", c.shape, c.perm, c.dtype, path, i, v, want(i))
					return
				}
			}
		}
		sum := func(i int) float64 { return ys[i] + zs[i] }
		check("eager", y.Add(z), sum)
		f := weft.Compile(func(y, z *weft.Tensor) []*weft.Tensor { return []*weft.Tensor{y.Add(z), y.Sub(z).Abs()} }).Func()
		got := f(y, z)
		check("compiled", got[0], sum)
		check("compiled, second result", got[1], func(i int) float64 { return max(ys[i]-zs[i], zs[i]-ys[i]) })
		w := z.Clone()
		w.AddAssign(y)
		check("in place", w, sum)
		if n := len(c.shape); fmt.Sprint(c.shape) == fmt.Sprint(y.Shape()) || n == 2 && c.shape[0] == c.shape[1] {
			w = x.Clone()
			w.AddAssign(w.Permute(c.perm...))
			check("onto itself", w, func(i int) float64 { return xs[i] + ys[i] })
		}
	}
	x := weft.Arange[int](800*800).Mod(128).Reshape(800, 800).To(weft.Float32)
	want := weft.Data[float32](x.T().Contiguous().Add(x))
	g := weft.Compile(func(x *weft.Tensor) *weft.Tensor { x.AddAssign(x.T()); return x.Clone() }).Func()
	if got := g(x); !slices.Equal(weft.Data[float32](got), want) || !slices.Equal(weft.Data[float32](x), want) {
		t.Error("a transpose added in place, compiled: other elements")
	}
}

// rowFormulas are of rows, and read a row again after they have combined it: where such a
// kernel writes over what it reads, or keeps something in the memory of its result between
// passes, the row must still be there for the last pass.
var rowFormulas = map[string]struct {
	f    func(x *weft.Tensor) *weft.Tensor
	want func(row []float64) func(i int) float64 // sums over the row once
}{
	"softmax and itself": {
		func(x *weft.Tensor) *weft.Tensor { return x.Softmax(-1).Add(x) },
		func(r []float64) func(int) float64 {
			sum := total(r, math.Exp)
			return func(i int) float64 { return math.Exp(r[i])/sum + r[i] }
		},
	},
	"exp by its sum, times itself": {
		func(x *weft.Tensor) *weft.Tensor { e := x.Exp(); return e.Div(e.Sum(-1).Unsqueeze(-1)).Mul(x).Sub(e) },
		func(r []float64) func(int) float64 {
			sum := total(r, math.Exp)
			return func(i int) float64 { return math.Exp(r[i])/sum*r[i] - math.Exp(r[i]) }
		},
	},
	"tanh by its greatest, and itself": {
		func(x *weft.Tensor) *weft.Tensor { y := x.Tanh(); return y.Mul(y.Max(-1).Unsqueeze(-1)).Add(x) },
		func(r []float64) func(int) float64 {
			most := math.Inf(-1)
			for _, v := range r {
				most = max(most, math.Tanh(v))
			}
			return func(i int) float64 { return math.Tanh(r[i])*most + r[i] }
		},
	},
	"normal form": {
		func(x *weft.Tensor) *weft.Tensor {
			d := x.Sub(x.Mean(-1).Unsqueeze(-1))
			return d.Mul(d.Square().Mean(-1).Unsqueeze(-1).Add(0.5).Rsqrt()).Add(x.Square())
		},
		func(r []float64) func(int) float64 {
			n := float64(len(r))
			mean := total(r, func(v float64) float64 { return v }) / n
			square := total(r, func(v float64) float64 { return (v - mean) * (v - mean) }) / n
			return func(i int) float64 { return (r[i]-mean)/math.Sqrt(square+0.5) + r[i]*r[i] }
		},
	},
	"less its logsumexp": {
		func(x *weft.Tensor) *weft.Tensor { return x.Sub(x.LogSumExp(-1).Unsqueeze(-1)).Mul(x) },
		func(r []float64) func(int) float64 {
			sum := math.Log(total(r, math.Exp))
			return func(i int) float64 { return (r[i] - sum) * r[i] }
		},
	},
	"of the first element": {
		func(x *weft.Tensor) *weft.Tensor { return x.Exp().Mul(x.Slice(weft.Ellipsis, weft.Range(0, 1))) },
		func(r []float64) func(int) float64 {
			return func(i int) float64 { return math.Exp(r[i]) * r[0] }
		},
	},
	"reversed": {
		func(x *weft.Tensor) *weft.Tensor {
			return x.Sin().Add(x.Slice(weft.Ellipsis, weft.Range(-1, -1<<40, -1)))
		},
		func(r []float64) func(int) float64 {
			return func(i int) float64 { return math.Sin(r[i]) + r[len(r)-1-i] }
		},
	},
}

func total(r []float64, f func(float64) float64) (s float64) {
	for _, v := range r {
		s += f(v)
	}
	return s
}

// A row kernel may write over its first operand. That happens for an array that is assigned a
// row formula of itself, in a compiled function to its argument and to a captured tensor, and
// for temporaries whose memory the result reuses. Values are near the ones that Go's math gives.
// Bits equal the result of the same formula in memory of its own.
func TestRowKernelsInPlace(t *testing.T) {
	shapes := [][]int{{2, 3, 33}, {7, 64}, {3, 5}, {4, 300}, {1, 1}, {2, 5000}}
	if testing.Short() {
		shapes = shapes[:2]
	}
	for name, c := range rowFormulas {
		for _, shape := range shapes {
			for _, d := range []weft.DType{weft.Float32, weft.Float64} {
				what := fmt.Sprintf("%s of %s %v", name, d, shape)
				n := shape[len(shape)-1]
				size := 1
				for _, k := range shape {
					size *= k
				}
				start := weft.Arange(float64(size)).Add(1).Mul(1.7).Sin().Mul(2).Reshape(shape...).To(d)
				in := weft.Data[float64](start.To(weft.Float64).Reshape(-1))
				once := make([]float64, len(in))
				for lo := 0; lo < len(in); lo += n {
					want := c.want(in[lo : lo+n])
					for i := range n {
						once[lo+i] = want(i)
					}
				}
				limit := map[weft.DType]float64{weft.Float32: 2e-4, weft.Float64: 1e-11}[d]
				near := func(way string, got *weft.Tensor, want []float64) {
					t.Helper()
					for i, g := range weft.Data[float64](got.To(weft.Float64).Reshape(-1)) {
						if !(math.Abs(g-want[i]) <= limit*(1+math.Abs(want[i]))) {
							t.Fatalf("%s, %s: element %d is %v, want %v", what, way, i, g, want[i])
						}
					}
				}
				apart := c.f(start)
				near("apart", apart, once)
				same := func(way string, got *weft.Tensor) {
					t.Helper()
					near(way, got, once)
					if weft.Digest(got) != weft.Digest(apart) {
						t.Errorf("%s, %s: other bits than in memory of its own", what, way)
					}
				}
				call := func(f *weft.Compiled[func(*weft.Tensor) *weft.Tensor], x *weft.Tensor) {
					t.Helper()
					if _, err := f.Call(x); err != nil {
						t.Fatal(err)
					}
				}
				x := start.Clone()
				same("assigned", x.Assign(c.f(x)))
				x = start.Clone()
				same("updated", x.Update(c.f))
				captured := start.Clone()
				f := weft.Compile(func(one *weft.Tensor) *weft.Tensor { captured.Assign(c.f(captured)); return one.Add(1) })
				call(f, weft.Ones(1))
				same("captured", captured)
				captured.Assign(start)
				call(f, weft.Ones(1)) // as compiled
				same("captured, again", captured)
				x = start.Clone()
				g := weft.Compile(func(x *weft.Tensor) *weft.Tensor { x.Assign(c.f(x)); return x.Sum() })
				call(g, x)
				same("argument", x)
				// Temporaries: what a product and an elementwise kernel give, that only the rows read.
				eye := weft.Eye(n).To(d)
				h := weft.Compile(func(x *weft.Tensor) *weft.Tensor { return c.f(c.f(x.MatMul(eye)).MatMul(eye)) })
				if n > 300 {
					h = weft.Compile(func(x *weft.Tensor) *weft.Tensor { return c.f(c.f(x.Neg().Neg())) })
				}
				got, err := h.Call(start)
				if err != nil {
					t.Fatal(err)
				}
				want := c.f(apart)
				twice := make([]float64, len(in))
				first := weft.Data[float64](apart.To(weft.Float64).Reshape(-1))
				for lo := 0; lo < len(first); lo += n {
					want := c.want(first[lo : lo+n])
					for i := range n {
						twice[lo+i] = want(i)
					}
				}
				near("twice", got, twice)
				if weft.Digest(got) != weft.Digest(want) {
					t.Errorf("%s, twice: other bits than operation by operation", what)
				}
			}
		}
	}
}
