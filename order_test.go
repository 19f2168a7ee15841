package weft

import (
	"fmt"
	"math"
	"testing"

	"weft/internal/array"
)

// Elements that run backward, alternate in the result or stand in short rows, in every type
// and around the lengths of vectors, against plain loops over bytes.
func TestOrderOfElements(t *testing.T) {
	for _, d := range array.DTypes() {
		size := d.Size()
		of := func(from, n int) (*Tensor, []byte) {
			x := Arange(n).To(Int64).Add(from).To(d).Clone()
			p := make([]byte, n*size)
			copy(p, bytesAt(x))
			return x, p
		}
		same := func(what string, got *Tensor, want []byte) {
			t.Helper()
			if g := bytesAt(got.Contiguous()); string(g) != string(want) {
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
			y := ZerosOf(d, n)
			y.Flip().Assign(x)
			same(fmt.Sprintf("assignment to a flip of %d", n), y, back)
			rows := ZerosOf(d, 3, n)
			rows.Assign(x.Flip())
			same(fmt.Sprintf("rows of a flip of %d", n), rows.Slice(Index(1)).Clone(), back)
			for _, k := range []int{2, 3, 4, 5, 9} {
				var xs []*Tensor
				want := make([]byte, k*len(p))
				for j := range k {
					x, p := of(10*j, n)
					xs = append(xs, x)
					for i := range n {
						copy(want[(i*k+j)*size:][:size], p[i*size:])
					}
				}
				same(fmt.Sprintf("%d stacked, of %d", k, n), Stack(xs, 1), want)
				if n%7 == 0 {
					planes := make([]*Tensor, k)
					for j, x := range xs {
						planes[j] = x.Reshape(7, n/7)
					}
					same(fmt.Sprintf("%d planes stacked, of %d", k, n), Stack(planes, 2), want)
				}
				xs[k-1] = xs[0]
				for i := range n {
					copy(want[(i*k+k-1)*size:][:size], want[i*k*size:][:size])
				}
				same(fmt.Sprintf("%d stacked, one twice, of %d", k, n), Stack(xs, -1), want)
			}
		}
	}
}

// bytesAt is what a tensor holds, in order.
func bytesAt(t *Tensor) []byte {
	x := t.Contiguous()
	p := make([]byte, x.Size()*x.DType().Size())
	copy(p, memory(x))
	return p
}

// Rows of a length that kernels are made for have the bits of those in arrays too small for
// that, and of the order that sums have.
func TestShortRows(t *testing.T) {
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
		for _, d := range []DType{Float32, Float64, Float16, Int16, Int64, Bool} {
			x := FromSlice(p, n, m).To(d)
			fs := map[string]func(*Tensor) *Tensor{
				"sum": func(x *Tensor) *Tensor { return x.Sum(1) }, "max": func(x *Tensor) *Tensor { return x.Max(1) },
				"min": func(x *Tensor) *Tensor { return x.Min(1) }, "all": func(x *Tensor) *Tensor { return x.All(1) },
			}
			if d.Float() {
				fs["prod"] = func(x *Tensor) *Tensor { return x.Prod(1) }
				fs["softmax"] = func(x *Tensor) *Tensor { return x.Softmax(1) }
				fs["logsumexp"] = func(x *Tensor) *Tensor { return x.LogSumExp(1) }
				fs["var"] = func(x *Tensor) *Tensor { return x.Var(1) }
			}
			for name, f := range fs {
				if d == Bool && name != "all" && name != "sum" {
					continue
				}
				y := f(x)
				for _, at := range []int{0, n / 2, n - 20} {
					few := f(x.Slice(Range(at, at+20)).Clone())
					got, want := Data[float64](y.Slice(Range(at, at+20)).To(Float64)), Data[float64](few.To(Float64))
					for i := range got {
						if g, w := got[i], want[i]; math.Float64bits(g) != math.Float64bits(w) && (g == g || w == w) {
							t.Fatalf("%s of rows of %d %s, from %d:\n%v, alone\n%v", name, m, d, at, got, want)
						}
					}
				}
				if name != "sum" || d != Float32 {
					continue
				}
				sums := Data[float32](y)
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
