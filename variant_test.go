package weft

import (
	"testing"

	"weft/internal/cpu"
	"weft/internal/jit"
)

// Light work on much memory uses narrow vectors, with the same bits as wide ones.
func TestNarrowVectors(t *testing.T) {
	if b := jit.ISAs(); b[len(b)-1] != jit.AVX512 {
		t.Skip("SKIPPED: this processor lacks AVX-512")
	}
	defer keepBackend()()
	setBackend(jit.AVX512)
	const n = 1<<20 + 13
	x := make([]float32, 8*n)
	for i := range x {
		x[i] = 1 / float32(i+1)
	}
	for _, c := range []struct {
		name string
		n    int
		f    func(a *Tensor) *Tensor
		want int64
	}{
		{"light", n, func(a *Tensor) *Tensor { return Expr("a*a+a/3", a) }, 1},
		{"sum of rows", n, func(a *Tensor) *Tensor { return a.Slice(Range(0, n/1024*1024)).Reshape(-1, 1024).Sum(1) }, 1},
		{"maximum of rows", n, func(a *Tensor) *Tensor { return a.Slice(Range(0, n/1024*1024)).Reshape(-1, 1024).Max(1) }, 0},
		{"sum of short rows", n / 4, func(a *Tensor) *Tensor { return a.Slice(Range(0, n/4/10*10)).Reshape(-1, 10).Sum(1) }, 1},
		{"maximum of short rows", n / 4, func(a *Tensor) *Tensor { return a.Slice(Range(0, n/4/17*17)).Reshape(-1, 17).Max(1) }, 1},
		{"logarithm of sums of short rows", n / 4, func(a *Tensor) *Tensor { return a.Slice(Range(0, n/4/10*10)).Reshape(-1, 10).LogSumExp(1) }, 0},
		{"sum of rows of 48", n / 4, func(a *Tensor) *Tensor { return a.Slice(Range(0, n/4/48*48)).Reshape(-1, 48).Sum(1) }, 0},
		{"emulated", n, func(a *Tensor) *Tensor { return a.To(Int64) }, 0},
		{"short", n / 4, func(a *Tensor) *Tensor { return Expr("a*a+a/3", a) }, 0},
		{"heavy", n, func(a *Tensor) *Tensor { return Expr("exp(sin(a))", a) }, 0},
		{"every second", n, func(a *Tensor) *Tensor { return Expr("a*a+a/3", a.Slice(Range(0, n-1, 2))) }, 1},
		{"gathered", 8 * n, func(a *Tensor) *Tensor { return Expr("a*a+a/3", a.Slice(Range(0, 8*n-1, 7))) }, 0},
	} {
		a := FromSlice(x[:c.n])
		before := cpu.Counters.Narrowed.Load()
		y := c.f(a)
		if got := cpu.Counters.Narrowed.Load() - before; got != c.want {
			t.Errorf("%s: %d launches with narrow vectors, want %d", c.name, got, c.want)
		}
		setBackend(jit.Portable)
		want := c.f(a)
		setBackend(jit.AVX512)
		if Digest(y) != Digest(want) {
			t.Errorf("%s: not the interpreter's bits", c.name)
		}
	}
}

// Results of long arrays are written past the caches: every element, the last ones that
// fill no vector included, and not where the memory is read too or not aligned.
func TestStreamedResults(t *testing.T) {
	const n = 8<<20 + 13
	portable := map[DType]string{} // digests of the interpreter's conversions
	for _, b := range jit.ISAs() {
		if b == jit.Portable {
			continue
		}
		t.Run(b.String(), func(t *testing.T) {
			defer keepBackend()()
			setBackend(b)
			x := make([]float32, n+1)
			for i := range x {
				x[i] = float32(i % 1021)
			}
			streamed := func(want int64, f func()) {
				t.Helper()
				before := cpu.Counters.Streamed.Load()
				f()
				if got := cpu.Counters.Streamed.Load() - before; got != want {
					t.Errorf("%d launches past the caches, want %d", got, want)
				}
			}
			same := func(y *Tensor, want func(i int) float32) {
				t.Helper()
				Borrow(y, func(d []float32) {
					for i, v := range d {
						if v != want(i) {
							t.Fatalf("element %d is %v, want %v", i, v, want(i))
						}
					}
				})
			}
			a := FromSlice(x[:n])
			streamed(1, func() { same(a.Mul(3), func(i int) float32 { return 3 * x[i] }) })
			streamed(0, func() { same(a.Slice(Range(0, n/3)).Mul(3), func(i int) float32 { return 3 * x[i] }) })
			for _, to := range []DType{Bool, Uint8, Int16, Float16, BFloat16, Float64} {
				var y *Tensor
				streamed(1, func() { y = a.To(to) })
				if portable[to] == "" {
					setBackend(jit.Portable)
					portable[to] = Digest(a.To(to))
					setBackend(b)
				}
				if Digest(y) != portable[to] {
					t.Errorf("%s: not the interpreter's bits", to)
				}
			}
			c := a.Clone()
			streamed(0, func() { same(c.AddAssign(1), func(i int) float32 { return x[i] + 1 }) })
			d := Zeros(n + 1)
			streamed(1, func() { d.Slice(Range(1, n+1)).Assign(a) })
			same(d, func(i int) float32 { return x[max(i-1, 0)] * float32(min(i, 1)) })

			const rows = 2049 // of windows, whose rows begin anywhere
			const columns = n / rows
			w := a.Slice(Range(0, rows*columns)).Reshape(rows, columns)
			inside, e := func(y *Tensor) *Tensor { return y.Slice(Range(1, rows-1), Range(3, columns-2)) }, FullOf(Float32, 0.5, rows, columns)
			streamed(1, func() { inside(e).Assign(inside(w)) })
			same(e, func(i int) float32 {
				if r, c := i/columns, i%columns; r > 0 && r < rows-1 && c >= 3 && c < columns-2 {
					return x[i]
				}
				return 0.5
			})
			// Rows that are reduced first; what a pass of a row leaves there for the next goes
			// through the caches.
			var y *Tensor
			r := w.Slice(All, Range(1, columns))
			streamed(1, func() { y = Expr("x-max_keep(x,1)", Vars{"x": r}) })
			same(y, func(i int) float32 { return x[i/(columns-1)*columns+i%(columns-1)+1] - 1020 })
			streamed(0, func() { r.Softmax(1) })
			const short = n / 128 // rows that are too short
			g := Zeros(short, 131)
			streamed(0, func() { g.Slice(All, Range(1, 128)).Assign(a.Slice(Range(0, short*127)).Reshape(short, 127)) })
			// Two windows on one array count once.
			f := a.Slice(Range(0, 3<<20)).Reshape(-1, 1<<11)
			streamed(0, func() { f.Slice(All, Range(0, 1900)).Add(f.Slice(All, Range(148, 2048))) })
		})
	}
}
