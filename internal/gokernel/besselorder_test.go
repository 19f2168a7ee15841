package gokernel_test

import (
	_ "embed"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
)

//go:embed testdata/bessel.txt
var besselVectors string

// TestBesselOrders holds Jn and Yn to mpmath's values, in units in the last place: of the
// result where the argument is below the order, and of the height of the waves, if that is
// more, where it is above. What is left of 4 units is the error of the orders 0 and 1.
func TestBesselOrders(t *testing.T) {
	var x, j, y []float64
	var n []int32
	for line := range strings.Lines(besselVectors) {
		var k int32
		var a, b, c float64
		if _, err := fmt.Sscan(line, &k, &a, &b, &c); err == nil {
			x, n, j, y = append(x, a), append(n, k), append(j, b), append(y, c)
		}
	}
	if len(x) != 300 {
		t.Fatalf("%d vectors", len(x))
	}
	f := kernelOf(t, `import "math"`, `func F(x float64, n int32) (float64, float64, float32, float32) {
	j, y := math.Jn(int(n), x), math.Yn(int(n), x)
	return j, y, float32(j), float32(y)
}`)
	evaluate(t, f, columns{reflect.ValueOf(x), reflect.ValueOf(n)}, func(backend string, out columns) {
		var worst [2][2]float64 // of Jn and Yn, below the order and above it
		for i := range x {
			order := math.Abs(float64(n[i]))
			for k, want := range []float64{j[i], y[i]} {
				got := out[k].Index(i).Float()
				if math.IsInf(want, 0) || math.Abs(want) < 0x1p-1022 {
					if math.Abs(got) < math.Abs(want)/2 && math.IsInf(want, 0) || !math.IsInf(want, 0) && math.Abs(got) > 0x1p-1021 {
						t.Errorf("on %s: result %d of order %d at %v is %v, want %v", backend, k, n[i], x[i], got, want)
					}
					continue
				}
				size, region := math.Abs(want), 0
				if x[i] >= order {
					size, region = max(size, math.Sqrt(2/(math.Pi*x[i]))), 1
				}
				off := math.Abs(got-want) / (math.Nextafter(size, math.Inf(1)) - size)
				worst[k][region] = max(worst[k][region], off)
				if !(off <= 4) {
					t.Errorf("on %s: result %d of order %d at %v is %v, want %v: %.1f units, at most 4", backend, k, n[i], x[i], got, want, off)
				}
				// As float32 it is as good as the last rounding.
				short := out[2+k].Index(i).Float()
				if a := math.Abs(want); a > 0x1p-120 && a < 0x1p120 {
					size := float32(size)
					if unit := float64(math.Nextafter32(size, float32(math.Inf(1))) - size); !(math.Abs(short-want) <= unit) {
						t.Errorf("on %s: result %d of order %d at %v is %v as float32, want %v", backend, k, n[i], x[i], short, want)
					}
				}
			}
		}
		t.Logf("%s: below the order %.1f and %.1f units, above %.1f and %.1f", backend, worst[0][0], worst[1][0], worst[0][1], worst[1][1])
	})
}
