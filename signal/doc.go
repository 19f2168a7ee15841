// Package signal filters, analyses and makes signals, with the names of SciPy's package of that name.
//
//	sos := signal.Butter(4, []float64{0.2}).SOS()   // a design is float64 zeros, poles and a gain
//	y, _ := signal.SOSFilt(sos, x)                  // along the last axis, in any batch
//	y = signal.SOSFiltFilt(sos, x)                  // without delay
//
// # Arguments
//
// Arguments meet by the rules of promotion, as in arithmetic: a float32 signal and float64 coefficients give
// a float64 result. [weft.Tensor.To] converts coefficients where that is not wanted. Integers and Bool
// become float32. Functions work along the last axis unless their options name another.
//
// # Gradients
//
// Filters, convolutions and everything that is built of them have gradients of any order with respect to
// signals, coefficients and states, and run in compiled functions, in [weft.Vmap] and on variables of
// package sym. Designs, windows and peaks are computed on the host, from numbers that are known: they have
// no gradients.
//
// # Results
//
// Recurrences are computed in float64, or complex128, whatever the elements, and results are rounded
// once. They have the same bits on every processor and with any number of threads.
//
// Functions panic with *[weft.Error] where an argument is wrong, and name it. All may be called from
// several goroutines at once.
package signal
