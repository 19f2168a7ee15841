package running

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"weft/internal/cpu/cputest"
	"weft/internal/jit"
	"weft/internal/mem/guard"
	"weft/internal/numbers"
	"weft/internal/processor"
)

func TestCumulativeSum(t *testing.T) {
	cputest.EveryISA(t, func(t *testing.T, isa jit.ISA) {
		t.Run("float32", func(t *testing.T) { testSums[float32](t, isa) })
		t.Run("float64", func(t *testing.T) { testSums[float64](t, isa) })
	})
}

// inBlock is the sum of the first n elements of a block in its order, from the top: the last
// sum of the greatest power of two below n, then that of what follows.
func inBlock[T float](x []T) T {
	n := len(x)
	if n == 1 {
		return x[0]
	}
	half := 1
	for 2*half < n {
		half *= 2
	}
	return inBlock(x[:half]) + inBlock(x[half:])
}

// halves sets a block to its running sums, half by half.
func halves[T float](v []T) {
	for half := 1; half < len(v); half *= 2 {
		for i := range v {
			if i&half != 0 {
				v[i] = v[i&^(2*half-1)|(half-1)] + v[i]
			}
		}
	}
}

func TestSumOrderInBlock(t *testing.T) {
	x := make([]float32, 16)
	for i := range x {
		x[i] = rand.Float32()
	}
	y := slices.Clone(x)
	halves(y)
	for i, got := range y {
		if want := inBlock(x[:i+1]); got != want {
			t.Errorf("%d: %v, want %v", i, got, want)
		}
	}
}

// wanted are running sums by the definition of their order.
func wanted[T float](x []T) []T {
	const n = numbers.ScanGroup
	y, block := make([]T, len(x)), Block[T]()
	sums := [][]T{nil} // by level
	for b := range len(x) / block {
		sums[0] = append(sums[0], inBlock(x[b*block:(b+1)*block]))
	}
	inOrder := func(x []T) T {
		s := T(minusZero)
		for _, v := range x {
			s += v
		}
		return s
	}
	for k := 0; len(sums[k]) >= n; k++ {
		sums = append(sums, nil)
		for g := range len(sums[k]) / n {
			sums[k+1] = append(sums[k+1], inOrder(sums[k][g*n:(g+1)*n]))
		}
	}
	var goesBefore func(k, i int) T
	goesBefore = func(k, i int) T {
		s := inOrder(sums[k][i/n*n : i])
		if i < n {
			return s
		}
		return goesBefore(k+1, i/n) + s
	}
	for b := 0; b*block < len(x); b++ {
		v := slices.Clone(x[b*block : min((b+1)*block, len(x))])
		if len(x) > 1<<16 { // the same, which TestInBlock holds, in less time
			halves(v)
		} else {
			for i := range slices.Backward(v) {
				v[i] = inBlock(v[:i+1])
			}
		}
		before := goesBefore(0, b)
		for i, s := range v {
			y[b*block+i] = before + s
		}
	}
	return y
}

func same[T float](t *testing.T, got, want []T) {
	t.Helper()
	for i, w := range want {
		g := got[i]
		if g != w && (g == g || w == w) || g == 0 && math.Signbit(float64(g)) != math.Signbit(float64(w)) {
			t.Fatalf("of %d, sum %d is %v, want %v", len(want), i, g, w)
		}
	}
}

func testSums[T float](t *testing.T, isa jit.ISA) {
	size := int(unsafe.Sizeof(T(0)))
	r := rand.New(rand.NewPCG(3, uint64(size)))
	lengths := []int{processor.Host.NonTemporalFrom/2/size + 5, 16 * 16 * 64 / size, 3*16*16*64/size + 70*64/size + 3}
	for n := range 70 {
		lengths = append(lengths, n, n+1000)
	}
	for i, n := range lengths {
		at := guard.End
		if i%2 == 0 {
			at = guard.Start
		}
		row := func() []T {
			b, err := at(n * size)
			if err != nil {
				t.Skip("SKIPPED: no guard pages here")
			}
			t.Cleanup(func() { b.Close() })
			return unsafe.Slice((*T)(b.Ptr()), n)
		}
		if n == 0 {
			Sums[T](isa, nil, nil, 0, false)
			continue
		}
		x, y := row(), row()
		for k := range x {
			x[k] = T(r.NormFloat64())
			if k < n/3 && i%3 == 0 {
				x[k] = T(math.Copysign(0, -1)) // a sum of zeros keeps their sign
			}
		}
		if i%5 == 4 {
			x[n/2] = T(math.NaN())
			x[n*2/3] = T(math.Inf(1))
		}
		want := wanted(x)
		Sums(isa, y, x, n, false)
		same(t, y, want)
		clear(y)
		Sums(jit.Portable, y, x, n, false)
		same(t, y, want)
		// From the end the order is that of the row turned round.
		slices.Reverse(x)
		slices.Reverse(want)
		clear(y)
		Sums(isa, y, x, n, true)
		same(t, y, want)
		clear(y)
		Sums(jit.Portable, y, x, n, true)
		same(t, y, want)
	}
}

// The sums of a row do not depend on other rows.
func TestCumulativeSumOfRows(t *testing.T) {
	cputest.EveryISA(t, func(t *testing.T, isa jit.ISA) {
		t.Run("float32", func(t *testing.T) { testRows[float32](t, isa) })
		t.Run("float64", func(t *testing.T) { testRows[float64](t, isa) })
	})
}

func testRows[T float](t *testing.T, isa jit.ISA) {
	size := int(unsafe.Sizeof(T(0)))
	r := rand.New(rand.NewPCG(5, uint64(size)))
	for n := 1; n < 300; n += 1 + n/40 {
		const rows = 5
		memory := func(at func(int) (*guard.Buffer, error)) []T {
			b, err := at(n * rows * size)
			if err != nil {
				t.Skip("SKIPPED: no guard pages here")
			}
			t.Cleanup(func() { b.Close() })
			return unsafe.Slice((*T)(b.Ptr()), n*rows)
		}
		for _, at := range []func(int) (*guard.Buffer, error){guard.Start, guard.End} {
			x, y := memory(at), memory(at)
			for k := range x {
				x[k] = T(r.NormFloat64())
			}
			for _, reverse := range []bool{false, true} {
				clear(y)
				Sums(isa, y, x, n, reverse)
				for k := range rows {
					row, got := slices.Clone(x[k*n:(k+1)*n]), slices.Clone(y[k*n:(k+1)*n])
					if reverse {
						slices.Reverse(row)
						slices.Reverse(got)
					}
					same(t, got, wanted(row))
				}
			}
		}
	}
}

// A column sums to the bits of a row with the same elements, whatever its neighbours.
func TestCumulativeSumOfColumns(t *testing.T) {
	cputest.EveryISA(t, func(t *testing.T, isa jit.ISA) {
		t.Run("float32", func(t *testing.T) { testColumns[float32](t, isa) })
		t.Run("float64", func(t *testing.T) { testColumns[float64](t, isa) })
	})
}

func testColumns[T float](t *testing.T, isa jit.ISA) {
	size := int(unsafe.Sizeof(T(0)))
	r := rand.New(rand.NewPCG(4, uint64(size)))
	var shapes [][2]int // rows and columns
	for n := range 40 {
		shapes = append(shapes, [2]int{n + 1, 21}, [2]int{37, n + 1})
	}
	shapes = append(shapes, [2]int{5000, 19}, [2]int{16 * 16 * 64 / size, 3}, [2]int{700, 64})
	for _, s := range shapes {
		n, columns := s[0], s[1]
		memory := func() []T {
			b, err := guard.End(n * columns * size)
			if err != nil {
				t.Skip("SKIPPED: no guard pages here")
			}
			t.Cleanup(func() { b.Close() })
			return unsafe.Slice((*T)(b.Ptr()), n*columns)
		}
		x, y := memory(), memory()
		for k := range x {
			x[k] = T(r.NormFloat64())
		}
		check := func(reverse bool) {
			t.Helper()
			for j := range columns {
				row, got := make([]T, n), make([]T, n)
				for i := range n {
					row[i], got[i] = x[i*columns+j], y[i*columns+j]
				}
				if reverse {
					slices.Reverse(row)
					slices.Reverse(got)
				}
				same(t, got, wanted(row))
			}
		}
		Columns(isa, y, x, 0, columns, n, columns)
		check(false)
		clear(y)
		Columns(isa, y, x, (n-1)*columns, -columns, n, columns)
		check(true)
	}
}
