// Package fft has discrete Fourier transforms, with the names of NumPy's and SciPy's packages of that name.
//
//	y := fft.RFFT(x)                    // [... n] real to [... n/2+1] complex, along the last axis
//	z := fft.IRFFT(y.Mul(filter), fft.Opts{N: n})
//
// # Arguments
//
// Transforms of complex numbers take real ones too. Float16 and bfloat16 are computed in float32; integers
// and Bool are converted to float32. Results are complex64, or complex128 of float64 and complex128, and the
// real numbers of these.
//
// A transform along an axis has any length: [Opts.N] pads with zeros, or cuts, before the transform. Lengths
// whose prime factors are at most 13 are fastest, others take about four times as long. [NextFastLen] finds a
// length with the factors 2, 3 and 5.
// Memory beyond the result is linear in the length.
//
// # Results
//
// Errors relative to the norm of a row are below eps*(4 + 4*log2(n)). Results have the same bits on every
// processor, with any number of threads, alone and in a batch.
//
// Gradients have any order. The gradient of a transform is its conjugate transform, as in PyTorch. Functions
// run eagerly, in [weft.Compile], in [weft.Vmap], and on variables of package sym through sym.Apply. They
// compute on the host: tensors of another device are copied there and back.
package fft
