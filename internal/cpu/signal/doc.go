// Package signal computes linear filters and correlations over raw memory: the routines behind package
// signal of the module.
//
// Recurrences run in float64 or complex128, whatever the type of the elements, and each result is rounded
// once. Products and sums are fused multiply-adds in the order that the comments give, so that results
// have the same bits on every processor and with any number of threads. Rows run on several threads.
package signal
