package signal

import (
	"weft"
	"weft/internal/array"
)

// LombScargleOpts are the options of [LombScargle].
type LombScargleOpts struct {
	Normalize    string       // "power", the default; "normalize", shares of the sum of squares; "amplitude", complex amplitudes
	Weights      *weft.Tensor // of each sample, [samples]; nil: all are equal. Requires: none is negative and their sum is above 0
	FloatingMean bool         // fits an offset at each frequency too
}

// LombScargle returns the periodogram of samples y, [... samples], at any times x, [samples], for angular frequencies, [k]: [... k]. It fits
// a cosine and a sine to the samples for each frequency by least squares (Zechmeister, Kürster, "The generalised Lomb-Scargle periodogram",
// 2009). It computes in float64; results are of y's type. It panics with *[weft.Error] for complex arguments, for no samples or frequencies, and
// where lengths differ. SciPy's lombscargle.
func LombScargle(x, y, freqs *weft.Tensor, opts ...LombScargleOpts) *weft.Tensor {
	const name = "signal.lombscargle"
	defer array.Named(name).End()
	o := array.Options(name, opts)
	line := func(arg string, t *weft.Tensor) *weft.Tensor {
		if t = vectorOf(name, arg, t); t.DType().Complex() {
			array.Failf(name, arg, "has elements of type %s, want real numbers", t.DType())
		}
		return t.To(weft.Float64)
	}
	x, freqs = line("x", x), line("freqs", freqs)
	y = spectrumArg(name, "y", y)
	n, d := x.Dim(0), y.DType()
	if y.Dim(-1) != n {
		array.Failf(name, "y", "has %s, x %d", array.Count(y.Dim(-1), "sample"), n)
	}
	switch o.Normalize {
	case "", "power", "normalize", "amplitude":
	default:
		array.Failf(name, "Normalize", "is %q, want power, normalize or amplitude", o.Normalize)
	}
	w := weft.OnesOf(weft.Float64, n).On(y.Device())
	if o.Weights != nil {
		if w = line("Weights", o.Weights); w.Dim(0) != n {
			array.Failf(name, "Weights", "has %s, x %d", array.Count(w.Dim(0), "element"), n)
		}
	}
	l := lomb{LombScargleOpts: o, w: w.Div(w.Sum()), x: x.Unsqueeze(0), y: y.To(weft.Float64)}
	// Angles of all samples are a matrix, whose frequencies are divided into parts to keep it small.
	var parts []*weft.Tensor
	step := max(1, lombBlock/n)
	for at := 0; at < freqs.Dim(0); at += step {
		parts = append(parts, l.at(part(freqs, 0, at, min(at+step, freqs.Dim(0)))))
	}
	p := weft.Cat(parts, -1)
	switch {
	case p.DType().Complex() && d != weft.Float64:
		return p.To(weft.Complex64)
	case p.DType().Complex():
		return p
	}
	return p.To(d)
}

// lombBlock is the number of angles that are computed at once.
const lombBlock = 1 << 20

// lomb are samples with weights whose sum is 1.
type lomb struct {
	LombScargleOpts
	w, x, y *weft.Tensor
}

// at returns the periodogram at frequencies.
func (l *lomb) at(freqs *weft.Tensor) *weft.Tensor {
	angle := freqs.Unsqueeze(1).Mul(l.x) // [frequencies samples]
	cos, sin := angle.Cos(), angle.Sin()
	y := l.y
	if l.FloatingMean { // before squares are summed, so that slow waves keep their digits
		y = y.Sub(y.Mul(l.w).Sum(-1).Unsqueeze(-1))
		cos, sin = cos.Sub(cos.MatMul(l.w).Unsqueeze(1)), sin.Sub(sin.MatMul(l.w).Unsqueeze(1))
	}
	// Angles turned by tau, for which both functions are orthogonal.
	cc, ss, cs := cos.Square().MatMul(l.w), sin.Square().MatMul(l.w), cos.Mul(sin).MatMul(l.w)
	tau := cs.Mul(2).Atan2(cc.Sub(ss)).Mul(0.5)
	c, s := tau.Cos(), tau.Sin()
	cos, sin = cos.Mul(c.Unsqueeze(1)).Add(sin.Mul(s.Unsqueeze(1))), sin.Mul(c.Unsqueeze(1)).Sub(cos.Mul(s.Unsqueeze(1)))
	wy := y.Mul(l.w)
	yc, ys, yy := wy.MatMul(cos.T()), wy.MatMul(sin.T()), wy.Mul(y).Sum(-1)
	a, b := yc.Div(cos.Square().MatMul(l.w).Maximum(0x1p-53)), ys.Div(sin.Square().MatMul(l.w).Maximum(0x1p-53))
	switch l.Normalize {
	case "amplitude":
		return weft.Complex(a.Mul(c).Sub(b.Mul(s)), a.Mul(s).Add(b.Mul(c)))
	case "normalize":
		return a.Mul(yc).Add(b.Mul(ys)).Div(yy.Unsqueeze(-1))
	}
	return a.Mul(yc).Add(b.Mul(ys)).Mul(float64(l.w.Dim(0)) / 2)
}
