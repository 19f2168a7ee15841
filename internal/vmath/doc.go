// Package vmath writes the functions of mathematics as formulas over loop IR
// (package loop), once for every backend. A function takes a builder and an
// operand of type F32 or F64 and adds instructions that compute its value in the
// same type; another type panics. Every instruction rounds exactly, and fused
// products are written out, so a function has the same bits on every backend.
//
// # Accuracy
//
// The bound is 1 unit in the last place (ULP) for float32 and 2 for float64, over
// the whole range, subnormal results included; 5 for float32 [Gelu], which networks
// compute by the million: 1 would take twice as long. NaN, infinities, signed zeros,
// overflow and underflow are as IEEE 754 and C99 Annex F say, the whole table of
// pow among them.
//
// What was measured, and where it is worst. For float32 every argument was tried
// (WEFT_EXHAUSTIVE=1; of [Pow] and [Atan2] ten million pairs) against float64.
// For float64 some 11000 arguments of each function were tried against exact
// values (gen/vectors.py 12000, through WEFT_VECTORS), hard cases among them: so
// these maxima are estimates from below.
//
//	function   float32 ULP  at               float64 ULP  at
//	Exp        0.8913       -5.848642        1.0000       -709.186
//	Exp2       0.8593       0.54606557       1.0000       -1022.953
//	Expm1      0.8831       0.35573766       0.7519       0.404004
//	Log        0.9468       0.7116519        0.8234       0.730877
//	Log2       0.9111       1.3661505        0.7567       1.35754
//	Log10      0.8324       0.749897         0.7608       1.306172
//	Log1p      0.9513       -0.28254333      0.8047       0.451335
//	Sin        0.9103       1.6756391e+33    1.6064       -573.43
//	Cos        0.9070       4.6240375e+19    1.4264       -15.73724
//	Tan        0.8545       1.2235952e+33    0.8035       -2.377076
//	Asin       0.6203       0.52544624       0.6777       -0.468961
//	Acos       0.5965       0.578777         0.6588       0.606749
//	Atan       0.9544       0.98070127       0.9816       -0.450492
//	Atan2      0.5068       (15.63,29.45)    1.3924       (-1.2858,2.8469)
//	Sinh       0.9086       5.2041516        0.7927       -3.865355
//	Cosh       0.9971       0.23506765       0.9749       0.005921
//	Tanh       0.7513       0.1251466        1.4135       18.541932
//	Erf        0.9909       0.9983188        0.7653       1.031412
//	Erfc       0.5128       2.5734833e-08    1.7414       15.064354
//	Sigmoid    0.7706       -87.70538        0.6035       -37.727908
//	Softplus   0.9975       -0.7129872       0.6329       -0.7297991
//	Silu       0.8283       -91.876625       1.0000       -1e-310
//	Gelu       4.0045       -3.2393677       1.5379       -1.437514
//	Pow        0.5222       (0.9977,-38268)  1.1404       (1.4471,1340.6)
//
// [PowInt] rounds once a product. [Softplus], [Silu], [Sigmoid] and [Gelu] are
// held to the same bound as functions of their own, not as compositions.
//
// # How it is done
//
//   - Main paths have no branch. Arguments that are rare and expensive (huge
//     angles; zero, negative and subnormal arguments of logarithms; special cases
//     of powers) go through an if, which a backend skips when no lane needs it.
//   - Rounding to an integer is adding 1.5*2^mantissa: the integer is then in the
//     low bits. Scaling by 2^k is one operation of the loop language, which rounds
//     once, so that subnormal results and overflow come by themselves.
//   - The last operation is a sum of a large exact term and a small one; where a
//     rounding before that would cost too much, its error is computed by a fused
//     product or Dekker's sum and added to the small term.
//   - Processors have fewer units for products and for comparisons that give a
//     mask than for the rest: so float32 sine chooses coefficients rather than
//     between two polynomials, and bounds are tested as integers.
//   - There are no tables: memory other than constants would be one more argument
//     of every kernel.
//   - float32 [Pow], [Atan2] and [Erfc] compute in float64 with shorter
//     polynomials: that is cheaper than pairs of float32.
//
// Coefficients come from gen/minimax.py.
package vmath
