package worker

// Float is the element types of the cases.
type Float interface{ ~float32 | ~float64 }

// Pattern returns n numbers in [0, 1), the same as pattern(n, seed) in
// bench/peers/inputs.py: ((i*7919 + seed*104729) mod 2003) / 2003, computed in
// float64 and rounded once. Both sides calculate with the same inputs, so that
// their results can be compared.
func Pattern[T Float](n, seed int) []T {
	p := make([]T, n)
	for i := range p {
		p[i] = T(float64((i*7919+seed*104729)%2003) / 2003)
	}
	return p
}

// Uniform returns Pattern scaled to [lo, hi).
func Uniform[T Float](n, seed int, lo, hi float64) []T {
	p := make([]T, n)
	Fill(p, seed, lo, hi)
	return p
}

// Fill overwrites p with Uniform.
func Fill[T Float](p []T, seed int, lo, hi float64) {
	for i := range p {
		u := float64((i*7919+seed*104729)%2003) / 2003
		p[i] = T(lo + float64(u*(hi-lo)))
	}
}

// Scrambled returns n unpredictable numbers below 2^24, the same as
// scrambled(n, seed) in bench/peers/inputs.py. It is for work whose time
// depends on the data, since a processor learns Pattern by heart.
func Scrambled(n, seed int) []uint32 {
	p := make([]uint32, n)
	for i := range p {
		z := uint64(i+1)*0x9E3779B97F4A7C15 + uint64(seed)*0xD1B54A32D192ED03
		z = (z ^ z>>32) * 0xD6E8FEB86659FD93
		z = (z ^ z>>32) * 0xD6E8FEB86659FD93
		p[i] = uint32(z >> 40)
	}
	return p
}

// Summary is the Check of an array: mean, mean square, first, middle and last
// element, as summary in bench/peers/inputs.py.
func Summary[T Float](r []T) []float64 {
	if len(r) == 0 {
		return nil
	}
	var sum, sq float64
	for _, v := range r {
		sum += float64(v)
		sq += float64(v) * float64(v)
	}
	n := float64(len(r))
	return []float64{sum / n, sq / n, float64(r[0]), float64(r[len(r)/2]), float64(r[len(r)-1])}
}
