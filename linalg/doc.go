// Package linalg is linear algebra: factorizations of matrices, solutions of linear equations, determinants,
// norms, structured matrices.
//
// The last two axes of an argument are a matrix; axes before them count matrices and broadcast as in
// arithmetic. Functions take float32, float64, complex64 and complex128; integers and Bool give float32,
// and float16 and bfloat16 are computed in float32 and rounded once, to the type of the arguments; complex results
// of them are complex64. NumPy and PyTorch refuse 16 bits. Arguments are never changed, may be views of any strides,
// and may be empty.
//
// Results have gradients of any order, real and complex, as PyTorch defines them, unless a function says
// otherwise. Functions run eagerly, in [weft.Compile], in [weft.Vmap], and on variables of package sym
// through sym.Apply. They compute on the host: tensors of another device are copied there and back.
//
// A function panics with *[weft.Error], which [weft.Try] turns into an error, where shapes or types do not
// fit, and where a matrix has no result: the text names the first such matrix of the batch.
// Results have the same bits on every processor and with any number of threads.
package linalg
