// Package methods tests the methods and functions of weft that users call: derivatives of first and
// second order against differences, results on hostile sizes against portable code, sums and
// comparisons against exact arithmetic. It has tests only.
package methods
