package kernel_test

import "weft/kernel"

func Median3(a kernel.Near1[float64]) float64 { return kernel.Median(a.Slice(-1, 2)) }

func Median33[T float32 | float64](a kernel.Near2[T]) T {
	return kernel.Median(a.Slice(-1, 2, -1, 2))
}

// MeanOfEven is the mean of four.
func MedianOfEven(a kernel.Near1[float64]) float64 { return kernel.Median(a.Slice(-2, 2)) }

func MovingMean(a kernel.Near1[float64]) float64 { return kernel.Mean(a.Slice(-29, 1)) }

func LongSum(a kernel.Near1[int64]) int64 { return kernel.Sum(a.Slice(-99, 1)) }

func LongMedian(a kernel.Near1[float64]) float64 { return kernel.Median(a.Slice(-40, 40)) }

func Spread(a kernel.Near2[int32]) int32 {
	w := a.Slice(-1, 2, 0, 3)
	return kernel.Max(w) - kernel.Min(w)
}

// Rows reads by rows, in loops with break and continue.
func Rows(a kernel.Near2[float64]) float64 {
	s := 0.0
	for di := -1; di < 2; di++ {
		for v := range a.Row(di).Slice(-1, 2) {
			if v < 0 {
				continue
			}
			if v > 90 {
				break
			}
			s += v * float64(di)
		}
	}
	return s + rowSum(a.Row(1).Slice(0, 2))
}

func rowSum(s kernel.Seq[float64]) float64 {
	t := 0.0
	for v := range s {
		t += v
	}
	return t
}

// Wide is a window of w elements on each side, whose number is an argument.
func Wide(a kernel.Near1[float64], w int) float64 { return kernel.Mean(a.Slice(-w, w+1)) }

func WideMedian(a kernel.Near1[float64], w int) float64 { return kernel.Median(a.Slice(-w, w)) }

// Partial reads standard-indexed arrays as b[0] and then [1].
func Partial(a kernel.Near2[float64], b kernel.Array2[float64], c kernel.Wrapped3[float64], z kernel.Zeroed2[float64], d kernel.Clamped2[float64]) float64 {
	page := c.Row(-1)
	return a.At(0, 1) + b.Row(0).At(1) + page.Row(1).At(-1) + z.Row(5).At(0) + z.Row(1).At(1) + d.Row(9).At(-3) + float64(page.Dim(1)) + kernel.Sum(b.Row(1).Slice(1, 3))
}

// Unused reads in a branch that no element takes.
func Unused(a kernel.Near2[float64]) float64 {
	if 2 == 0 {
		return a.Row(3).At(1) + kernel.Sum(a.Row(0).Slice(-4, 2))
	}
	return a.At(0, -1)
}

// SlicedWindow is one that does not unroll.
func SlicedWindow(a kernel.Near2[float64]) float64 { return kernel.Sum(a.Slice(-2, 3, -8, 9)) }
