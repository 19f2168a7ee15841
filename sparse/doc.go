// Package sparse has sparse matrices: values at entries, zeros elsewhere.
//
// A [Matrix] has one of SciPy's formats: compressed rows or columns, coordinates, or rows of blocks. Make one
// with [NewCSR], [NewCSC], [NewCOO], [NewBSR] or [FromDense], and convert with [Matrix.To]. Values are a
// tensor of float32, float64, complex64, complex128, float16 or bfloat16; integers become float32. Indices
// are int32, so a matrix has at most 2147483647 rows and columns. Offsets are int64, as in lists of package
// ragged.
//
// Values have gradients of any order, at the entries alone, as Theano's structured gradients. The sparsity
// pattern, which is the rows and columns of the entries, is fixed: no gradient makes or drops an entry. Products
// run eagerly, in [weft.Compile] and in [weft.Vmap], where a Matrix may be captured or an argument; other
// functions read the pattern and need a captured one. sym.Apply applies functions of values to variables of
// package sym. Matrices are on the CPU, and so must be the tensors that meet them.
//
// [Cholesky] and [LU] factor a matrix and solve its equations directly; [CG] and its neighbours iterate. Solutions have
// gradients of the values and of the right sides.
//
// A square matrix is a graph too, whose entries are edges: ConnectedComponents and ShortestPath walk it.
//
// A function panics with *[weft.Error], which [weft.Try] turns into an error, where shapes or types do not
// fit or an index is not in the matrix. Files and iterations return errors. Results have the same bits on
// every processor and with any number of threads.
package sparse
