// Package npy reads and writes NumPy's .npy and .npz files.
//
// A file holds one array. Read accepts the format versions 1.0, 2.0 and 3.0,
// both byte orders, and both memory orders; an array stored in Fortran order
// becomes a tensor with such strides, without a transposition. The element
// types are all but bfloat16, which NumPy lacks; another type gives
// an [*UnsupportedError], and a pickle is never looked into. Write produces, byte
// for byte, the file that numpy.save of NumPy 2 would.
//
// [Map] gives a file as a tensor without reading it. A structured array is read as one
// tensor a field, by [ReadColumns]. An .npz file, which holds arrays by name, is an
// [Archive].
//
// Readers trust nothing: a header is bounded and parsed strictly, and memory is
// taken only for data that is there. Malformed files give a [*FormatError], and
// files that end early an error that wraps io.ErrUnexpectedEOF.
//
// The format is described in NumPy Enhancement Proposal 1 and in the
// documentation of numpy.lib.format.
package npy
