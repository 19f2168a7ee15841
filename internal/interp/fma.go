package interp

import (
	"math"

	"weft/internal/fma"
)

func fma32(d, a, b, c []float32) {
	if len(a) == 1 {
		a, b = b, a
	}
	if len(a) == 1 { // and b as well
		x, y := a[0], b[0]
		if len(c) == 1 {
			fill(d, fma.Float32(x, y, c[0]))
			return
		}
		c = c[:len(d)]
		for i := range d {
			s := float64(x)*float64(y) + float64(c[i])
			if fma.Hard32(s) {
				d[i] = fma.Float32(x, y, c[i])
				continue
			}
			d[i] = float32(s)
		}
		return
	}
	a = a[:len(d)]
	switch {
	case len(b) == 1 && len(c) == 1:
		y, z := b[0], c[0]
		for i := range d {
			s := float64(a[i])*float64(y) + float64(z)
			if fma.Hard32(s) {
				d[i] = fma.Float32(a[i], y, z)
				continue
			}
			d[i] = float32(s)
		}
	case len(b) == 1:
		y, c := b[0], c[:len(d)]
		for i := range d {
			s := float64(a[i])*float64(y) + float64(c[i])
			if fma.Hard32(s) {
				d[i] = fma.Float32(a[i], y, c[i])
				continue
			}
			d[i] = float32(s)
		}
	case len(c) == 1:
		b, z := b[:len(d)], c[0]
		for i := range d {
			s := float64(a[i])*float64(b[i]) + float64(z)
			if fma.Hard32(s) {
				d[i] = fma.Float32(a[i], b[i], z)
				continue
			}
			d[i] = float32(s)
		}
	default:
		b, c := b[:len(d)], c[:len(d)]
		for i := range d {
			s := float64(a[i])*float64(b[i]) + float64(c[i])
			if fma.Hard32(s) {
				d[i] = fma.Float32(a[i], b[i], c[i])
				continue
			}
			d[i] = float32(s)
		}
	}
}

func fma64(d, a, b, c []float64) {
	// A step of 0 stays on an operand that is the same for all lanes.
	sa, sb, sc := min(len(a)-1, 1), min(len(b)-1, 1), min(len(c)-1, 1)
	if sa&sb&sc == 1 {
		a, b, c := a[:len(d)], b[:len(d)], c[:len(d)]
		for i := range d {
			d[i] = math.FMA(a[i], b[i], c[i])
		}
		return
	}
	for i := range d {
		d[i] = math.FMA(a[i*sa], b[i*sb], c[i*sc])
	}
}

func fma32Step(m *machine, in *instr) {
	fma32(vec[float32](m, in.d), vec[float32](m, in.a), vec[float32](m, in.b), vec[float32](m, in.c))
}

func fma64Step(m *machine, in *instr) {
	fma64(vec[float64](m, in.d), vec[float64](m, in.a), vec[float64](m, in.b), vec[float64](m, in.c))
}
