package transforms

import (
	"weft"
	"weft/internal/array"
)

// ToDtype converts elements to another type.
type ToDtype struct {
	DType weft.DType
	// Scale maps the whole of a type to the whole of the other: 0 to 255 of uint8 to 0 to 1 of floats.
	// Floats of 1 become the most that an integer type holds, others are rounded down.
	Scale bool
}

// Apply implements [Transform].
func (t ToDtype) Apply(x *weft.Tensor, _ *weft.Generator) *weft.Tensor {
	const name = "to_dtype"
	defer array.Named(name).End()
	if x == nil {
		array.Failf(name, "x", "is nil")
	}
	from, to := x.DType(), t.DType
	if from == to || !t.Scale {
		return x.To(to)
	}
	bits, most := bitsOf(name, "x", from), bitsOf(name, "DType", to)
	switch {
	case from.Float() && to.Float():
		return x.To(to)
	case from.Float():
		if most > 31 || most > 24 && from != weft.Float64 {
			array.Failf(name, "DType", "is %s, which has more digits than %s", to, from)
		}
		return x.Mul(float64(uint64(1)<<most) - 1e-3).To(to)
	case to.Float():
		return x.To(to).Mul(1 / (float64(uint64(1)<<bits) - 1))
	case bits > most:
		return x.Shr(bits - most).To(to)
	}
	return x.To(to).Shl(most - bits)
}

// bitsOf is the number of bits of the largest number of an integer type.
func bitsOf(name, arg string, d weft.DType) int {
	if d.Float() {
		return 0
	}
	switch d {
	case weft.Uint8, weft.Uint16, weft.Uint32:
		return 8 * d.Size()
	case weft.Int8, weft.Int16, weft.Int32, weft.Int64:
		return 8*d.Size() - 1
	}
	array.Failf(name, arg, "is %s, want floats or integers", d)
	return 0
}

// Normalize subtracts means from channels and divides them by standard deviations.
type Normalize struct {
	Mean, Std []float64 // one for each channel, or one for all; deviations are not 0
}

// Apply implements [Transform].
func (t Normalize) Apply(x *weft.Tensor, _ *weft.Generator) *weft.Tensor {
	const name = "normalize"
	defer array.Named(name).End()
	picture(name, x)
	if !x.DType().Float() {
		array.Failf(name, "x", "is %s, want floats: ToDtype with Scale makes them", x.DType())
	}
	for _, s := range t.Std {
		if s == 0 {
			array.Failf(name, "Std", "has a 0")
		}
	}
	return weft.Expr("(x - mean) / std", weft.Vars{"x": x, "mean": perChannel(name, "Mean", t.Mean, x), "std": perChannel(name, "Std", t.Std, x)})
}
