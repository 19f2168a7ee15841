// Package vmath writes the functions of mathematics as formulas over loop IR
// (package loop), once for every backend. A function takes a builder and an
// operand of type F32 or F64 and adds instructions that compute its value in the
// same type; another type panics. Every instruction rounds exactly, and fused
// products are written out, so a function has the same bits on every backend.
//
// # Accuracy
//
// The bound is 1 unit in the last place (ULP) for float32 and 2 for float64, over the whole
// range, subnormal results included. Exceptions:
//   - The bound of [Digamma] and Bessel's functions is 4. From 7.5 on Bessel's functions are
//     measured in units of the height of their waves, next to the first zero of Y0 in units of
//     1/16.
//   - Near the zeros that [Lgamma] and [Digamma] have at negative arguments two terms cancel.
//     Errors there are in units of 1 and of ln(2-x).
//
// NaN, infinities, signed zeros, overflow and underflow are as IEEE 754 and C99 Annex F say,
// the whole table of pow among them.
//
// The table below has the largest measured error, and where it occurs.
//
// For float32 every argument was compared with float64 (WEFT_EXHAUSTIVE=1), except:
// ten million pairs of [Pow], [Atan2] and [Hypot]; a million of [Gamma]; 200,000 of [Erfcinv] and
// [Cbrt]; every 61st argument of the area functions, [Erfinv] and the gamma family.
//
// For float64 a million arguments were compared with MPFR (gen/vectors.py 1000000, through
// WEFT_VECTORS), hard cases and the cases of glibc's tests among them. Fewer were: 300,000 of
// Hypot; 200,000 of the area functions, Erfinv and the gamma family; 100,000 of Erfcinv; 60,000
// of Gamma; 150 of Cbrt and of Bessel's functions. 700,000 more lie where the trigonometric
// functions, Erfc, Gelu and Tanh are worst. These maxima are estimates from below. 1.0000 is
// mostly a subnormal result beside the nearest one.
//
//	function   float32 ULP  at               float64 ULP  at
//	Exp        0.8968       -87.33867        1.0018       575.0052813
//	Exp2       0.9002       -126.00419       1.0000       -1022.5
//	Expm1      0.8831       0.35573766       1.1166       37.0999893
//	Log        0.8729       0.9819448        0.9796       1.062604926
//	Log2       0.9111       1.3661505        0.9356       1.372916693
//	Log10      0.8324       0.749897         0.8594       1.325462999
//	Log1p      0.8741       -0.022718472     0.9775       0.06402200845
//	Sin        0.8623       9.855902e+13     1.8972       821.6796055
//	Cos        0.8638       1.7157335e+23    1.8504       12.71275089
//	Tan        0.8545       1.2235952e+33    1.0241       -13.35071159
//	Asin       0.6203       0.52544624       0.7045       0.5254213955
//	Acos       0.5965       0.578777         0.6966       0.5589928015
//	Atan       0.9544       0.98070127       1.8547       0.4142135626
//	Atan2      0.5068       (15.63,29.45)    1.9227       (0.359214,0.86722)
//	Sinh       0.9086       5.2041516        0.8909       -3.840507106
//	Cosh       0.9971       0.23506765       0.9751       1.784528343e-05
//	Tanh       0.7498       0.12502535       1.4142       18.54170338
//	Asinh      0.5000       1.619e+07        0.8512       0.06102187143
//	Acosh      0.5000       1.619e+07        0.7043       1.002616413
//	Atanh      0.5000       -0.040012486     0.9409       0.03054639228
//	Erf        0.9909       0.9983188        1.0000       -2.256013045e-308
//	Erfc       0.5128       2.5734833e-08    1.7054       7.088502922
//	Erfinv     0.5000       9.525247e-07     1.0000       -2.95965072e-308
//	Erfcinv    0.5000       0.45055702       0.6307       0.5007971311
//	Cbrt       0.5000       3.9216964        0.4988       0.2558431859
//	Gamma      0.5000       1.118e-24        1.8747       -4.542674477
//	J0         -                             1.6715       1.630446394
//	J1         -                             1.2087       14.99159096
//	Y0         -                             1.8313       0.8935769662791674
//	Y1         -                             1.5344       12.85922711
//	Lgamma     0.5000       2.087e+07        1.5405       -3.384339581
//	Digamma    0.5000       2.538e+37        1.9937       1.596474075
//	Trigamma   0.5000       1.422e-18        1.8657       -0.5333680121
//	Sigmoid    0.9264       -0.15534319      1.0399       -0.3582099654
//	Softplus   0.8354       -2.3744586       1.0000       -708.5
//	Silu       1.0000       -7.5467484e-38   1.1664       -43.28221213
//	Gelu       1.0000       2.525e-42        1.7926       -1.861628889
//	Hypot      0.5000       (0.5262,73.91)   1.0000       (4.34e-308,-1.33e-312)
//	Pow        0.5222       (0.9977,-38268)  1.5699       (0.743091,2347.02)
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
//   - The last operation is a sum of a large exact term and a small one. Where a
//     rounding before that would cost too much, its error is computed by an FMA or
//     Dekker's sum and added to the small term.
//   - Processors have fewer units for products, and for comparisons that give a
//     mask, than for other operations. So float32 sine selects coefficients and not
//     between two polynomials, and bounds are tested as integers.
//   - Tables have 16 entries in float32 and 8 in float64, as many as a vector
//     register, and come with the constants. Exponentials look up 2^(j/16) or 2^(j/8).
//     In float32 all powers are multiplied by a number slightly below 1 that makes
//     their rounding errors small, and the polynomial of the rest corrects this.
//   - Natural logarithms multiply with one of 16 or 8 factors, so that a short polynomial
//     does. The factors are chosen so that their logarithms nearly are numbers of few
//     bits, which sums with multiples of ln(2) do not round.
//   - float32 [Gelu] is x times a power of two of the logarithm of the normal
//     distribution. The logarithm is a polynomial for each of 16 intervals: it is smooth
//     for both signs, and its relative error stays small where the distribution is small.
//   - float32 [Tanh] is a polynomial for each of 16 intervals, which are narrow around zero; the upper
//     bits of |x|+5/8 tell which.
//   - float32 [Pow], [Atan2], [Erfc], [Hypot] and the area functions compute in float64 with shorter
//     polynomials: that is cheaper than pairs of float32. [Erfinv] and the gamma family do so with
//     the same polynomials.
//
// Coefficients come from gen/minimax.py, for the gamma family and Erfinv from gen/gamma.py, and
// for functions with tables from gen/main.go.
package vmath
