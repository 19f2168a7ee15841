package transpose

import (
	"fmt"
	"math/rand"
	"testing"
	"unsafe"

	"weft/internal/array"
	"weft/internal/cpu/cputest"
	"weft/internal/jit"
	"weft/internal/mem"
	"weft/internal/mem/guard"
)

// random is seeded: which kernels a test makes must not differ from run to run.
var random = rand.New(rand.NewSource(1))

var bySize = map[int]array.DType{1: array.Uint8, 2: array.Int16, 4: array.Float32, 8: array.Float64, 16: array.Complex128}

func TestCopy(t *testing.T) {
	cputest.EveryISA(t, func(t *testing.T, _ jit.ISA) {
		for _, size := range []int{1, 2, 4, 8, 16} {
			d := bySize[size]
			for _, s := range [][]int{{}, {1}, {5}, {64, 64}, {100, 37}, {3, 1000}, {1000, 3}, {17, 130}, {129, 257}, {5, 33, 40}, {2, 3, 4, 5}, {40, 7, 65}, {0, 4}, {2, 37, 3}, {3, 50, 4}, {4, 33, 2}, {2, 100, 8}, {130, 16}, {5, 6, 70}} {
				for range 6 {
					testCopy(t, d, size, s)
				}
			}
		}
	})
}

func testCopy(t *testing.T, d array.DType, size int, shape []int) {
	p := random.Perm(len(shape))
	perm := make([]int, len(shape))
	for i, a := range p {
		perm[a] = shape[i]
	}
	// The source lies row-major in another order of the axes, some of them every
	// second element or backwards; the destination may be permuted too.
	src := layout(d, perm, random.Intn(3) == 0, random.Intn(4) == 0)
	v := src
	v.Shape, v.Strides = shape, make([]int, len(shape))
	for i, a := range p {
		v.Strides[i] = src.Strides[a]
	}
	dst := layout(d, shape, random.Intn(4) == 0, false)
	Copy(cputest.UnderTest, &dst, &v)
	idx := make([]int, len(shape))
	var walk func(k, a, b int)
	walk = func(k, a, b int) {
		if k == len(shape) {
			x := unsafe.Slice((*byte)(unsafe.Add(v.Store.Host(), (v.Offset+a)*size)), size)
			y := unsafe.Slice((*byte)(unsafe.Add(dst.Store.Host(), (dst.Offset+b)*size)), size)
			if string(x) != string(y) {
				t.Fatalf("%s shape %v, strides %v to %v: at %v %x, want %x", d, shape, v.Strides, dst.Strides, idx, y, x)
			}
			return
		}
		for i := range shape[k] {
			idx[k] = i
			walk(k+1, a+i*v.Strides[k], b+i*dst.Strides[k])
		}
	}
	walk(0, 0, 0)
}

// layout returns a view of random bytes in row-major order, with gaps or with the
// last axis backwards if so wished.
func layout(d array.DType, shape []int, gaps, back bool) array.View {
	v := array.View{DType: d, Shape: shape, Strides: array.RowMajor(shape)}
	n := max(array.Size(shape), 1)
	if r := len(shape); gaps && r > 0 {
		for i := range r - 1 {
			v.Strides[i] *= 2
		}
		n *= 2
	}
	if r := len(shape); back && r > 0 && shape[r-1] > 0 {
		v.Offset = (shape[r-1] - 1) * v.Strides[r-1]
		v.Strides[r-1] *= -1
	}
	b := make([]byte, n*d.Size()+64)
	for i := range b {
		b[i] = byte(random.Intn(256))
	}
	v.Store = array.NewStorage(unsafe.Pointer(&b[0]), n*d.Size(), b)
	return v
}

func BenchmarkCopy(b *testing.B) {
	for _, n := range []int{64, 1024, 4096} {
		for _, size := range []int{1, 4, 8} {
			b.Run(fmt.Sprint(n, "x", size), func(b *testing.B) {
				d := bySize[size]
				src, dst := pooled(b, d, n, n), pooled(b, d, n, n)
				src.Strides = []int{1, n}
				b.SetBytes(int64(2 * n * n * size))
				for b.Loop() {
					Copy(cputest.UnderTest, &dst, &src)
				}
			})
		}
	}
}

// pooled returns an array of zeros in memory from the pool.
func pooled(b testing.TB, d array.DType, shape ...int) array.View {
	n := array.Size(shape) * d.Size()
	l, err := mem.Lend(n)
	if err != nil {
		b.Fatal(err)
	}
	clear(unsafe.Slice((*byte)(l.Ptr()), n))
	b.Cleanup(l.Return)
	return array.View{Store: array.NewStorage(l.Ptr(), n, l), DType: d, Shape: shape, Strides: array.RowMajor(shape)}
}

// Machine code reads and writes nothing outside of its arrays.
func TestCopyStaysInViews(t *testing.T) {
	if !guard.Available {
		t.Skip("SKIPPED: no guard pages here")
	}
	cputest.EveryISA(t, func(t *testing.T, _ jit.ISA) {
		for _, place := range []func(int) (*guard.Buffer, error){guard.End, guard.Start} {
			for _, size := range []int{1, 2, 4, 8, 16} {
				d := bySize[size]
				for _, s := range [][]int{{64, 64}, {67, 131}, {130, 70}, {3, 65, 66}} {
					n := array.Size(s)
					var v [2]array.View
					for i := range v {
						b, err := place(n * size)
						if err != nil {
							t.Fatal(err)
						}
						defer b.Close()
						v[i] = array.View{DType: d, Shape: s, Strides: array.RowMajor(s), Store: array.NewStorage(b.Ptr(), n*size, b)}
					}
					r := len(s)
					v[1].Strides = append([]int{}, v[1].Strides...)
					v[1].Strides[r-1], v[1].Strides[r-2] = s[r-2], 1
					Copy(cputest.UnderTest, &v[0], &v[1])
				}
			}
		}
	})
}

// A copy that is long enough is written by non-temporal stores.
func TestCopyLarge(t *testing.T) {
	cputest.EveryISA(t, func(t *testing.T, _ jit.ISA) {
		const n = 2912
		src, dst := pooled(t, array.Float32, n, n), pooled(t, array.Float32, n, n)
		x, y := unsafe.Slice((*uint32)(src.Store.Host()), n*n), unsafe.Slice((*uint32)(dst.Store.Host()), n*n)
		for i := range x {
			x[i] = uint32(i)
		}
		src.Strides = []int{1, n}
		Copy(cputest.UnderTest, &dst, &src)
		for i := range y {
			if y[i] != uint32(i%n*n+i/n) {
				t.Fatalf("element %d is %d", i, y[i])
			}
		}
	})
}

// reads is an epilogue that records which elements of a copy it gets, and how often.
type reads struct {
	cols     int
	copied   []float32 // nil: pieces are given where they lie
	got      []float32
	times    []int32
	consumes bool
}

func (r *reads) Run(r0, r1, c0, c1 int) {
	r.RunAt(unsafe.Pointer(&r.copied[r0*r.cols+c0]), 4*r.cols, r0, r1, c0, c1)
}

func (r *reads) RunAt(at unsafe.Pointer, row, r0, r1, c0, c1 int) {
	for i := r0; i < r1; i++ {
		for j := c0; j < c1; j++ {
			r.got[i*r.cols+j] = *(*float32)(unsafe.Add(at, (i-r0)*row+4*(j-c0)))
			r.times[i*r.cols+j]++
		}
	}
}

func (r *reads) Consumes() bool         { return r.consumes }
func (r *reads) Beside() unsafe.Pointer { return nil }
func (r *reads) Work() int              { return 1 }

// An epilogue is given each element of a copy once, whether the copy is kept or not.
func TestCopyThrough(t *testing.T) {
	cputest.EveryISA(t, func(t *testing.T, _ jit.ISA) {
		for _, c := range []struct {
			shape, perm []int
			cols        int
		}{
			{[]int{300, 700}, []int{1, 0}, 300}, {[]int{1, 900}, []int{1, 0}, 1}, {[]int{17, 3}, []int{1, 0}, 17}, {[]int{3, 5000}, []int{1, 0}, 3}, {[]int{5000, 3}, []int{1, 0}, 5000},
			{[]int{4, 90, 130}, []int{0, 2, 1}, 90}, {[]int{2, 30, 40, 24}, []int{0, 3, 1, 2}, 30 * 40}, {[]int{2, 30, 40, 24}, []int{0, 3, 1, 2}, 40}, {[]int{2, 24, 30, 40}, []int{0, 2, 3, 1}, 24},
			{[]int{20, 30, 40}, []int{2, 1, 0}, 20}, {[]int{6, 50, 70}, []int{1, 0, 2}, 70}, {[]int{40, 1, 50}, []int{2, 1, 0}, 40},
		} {
			n := array.Size(c.shape)
			x, y := make([]float32, n), make([]float32, n)
			for i := range x {
				x[i] = float32(i)
			}
			src := array.View{Store: array.NewStorage(unsafe.Pointer(&x[0]), 4*n, x), DType: array.Float32}
			dst := array.View{Store: array.NewStorage(unsafe.Pointer(&y[0]), 4*n, y), DType: array.Float32}
			strides := array.RowMajor(c.shape)
			for _, a := range c.perm {
				src.Shape, src.Strides = append(src.Shape, c.shape[a]), append(src.Strides, strides[a])
			}
			dst.Shape, dst.Strides = src.Shape, array.RowMajor(src.Shape)
			want := make([]float32, n)
			to := array.View{Store: array.NewStorage(unsafe.Pointer(&want[0]), 4*n, want), DType: array.Float32, Shape: src.Shape, Strides: dst.Strides}
			Copy(jit.Portable, &to, &src)
			for _, consumes := range []bool{false, true} {
				r := &reads{c.cols, y, make([]float32, n), make([]int32, n), consumes}
				CopyThrough(cputest.UnderTest, &dst, &src, r, c.cols)
				for i := range want {
					if r.times[i] != 1 || r.got[i] != want[i] {
						t.Fatalf("%v permuted %v, %d columns, passing %t: element %d is read %d times, as %v, want %v", c.shape, c.perm, c.cols, consumes, i, r.times[i], r.got[i], want[i])
					}
				}
			}
		}
	})
}
