// Package kerneltest is the oracle of the language of kernels.
//
// [Load] parses and type-checks a source by the standard library and [Program.Call]
// evaluates a function of it, walking the syntax tree for one element at a time: slow,
// and nothing of it is shared with package kernel. What it computes is what Go computes,
// but for what Go leaves open, which the doc of package kernel settles. [Generate] draws
// random kernels from a seed, that all end, and [Shrink] makes a source small that
// shows a fault. Tests compare the evaluator with what the Go compiler makes of the
// same kernels.
package kerneltest
