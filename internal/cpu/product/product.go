package product

import (
	"unsafe"

	"weft/internal/array"
	"weft/internal/cpu/tile"
	"weft/internal/jit"
	"weft/internal/packed"
)

// transpose replaces p by the product of the transposed operands, B^T*A^T = C^T.
func (p *Product) transpose() {
	p.M, p.N, p.A, p.B, p.C = p.N, p.M, p.B.T(), p.A.T(), p.C.T()
	p.Batch.A, p.Batch.B = p.Batch.B, p.Batch.A
	p.Of[0], p.Of[1] = p.Of[1], p.Of[0]
	p.Kept = packed.Source{}
	p.transposed = !p.transposed
}

// A Product is C = A*B, A being M x K, B K x N and C M x N.
type Product struct {
	ISA      jit.ISA
	DType    array.DType    // of C: Float32 or Float64
	Of       [2]array.DType // of A and B, if not DType: with Float32 each may be Float16 or BFloat16
	M, N, K  int
	A, B, C  tile.Mat
	Batch    Batch
	Epilogue tile.Epilogue // nil: none. C is contiguous, with its batch, if there is one
	Kept     packed.Source // of B: packed panels of it are kept for later calls
	Add      bool          // C += A*B: each block of numbers.KBlock terms is added to C. It excludes an epilogue, and rows or columns of C lie side by side
	Threads  int           // the most threads to use, par.Threads() if not positive; small products use one

	transposed bool // rows of C are columns of the result for the epilogue
}

// A Batch describes products that share their shape and strides. Count holds the sizes of the
// batch dimensions. A, B and C hold each operand's element strides along them: 0 means
// broadcast, and a nil slice stands for zeros. C must not be broadcast over a dimension larger
// than 1. The zero Batch is one product.
type Batch struct {
	Count   []int
	A, B, C []int
}

// Run computes the product, or all products of a batch. It panics with an *array.Error if types,
// sizes or strides are invalid.
func (p Product) Run() {
	tile.CheckType("matmul", p.DType)
	batch := &p.Batch
	for i, d := range p.Of {
		switch {
		case d == array.Invalid:
			p.Of[i] = p.DType
		case d != p.DType && !(d.Half() && p.DType == array.Float32):
			array.Failf("matmul", "dtype", "%s times %s does not give %s", p.Of[0], p.Of[1], p.DType)
		}
	}
	if p.M < 0 || p.N < 0 || p.K < 0 {
		array.Failf("matmul", "", "negative size: %d x %d x %d", p.M, p.K, p.N)
	}
	for _, s := range [...]struct {
		name string
		len  int
	}{{"A", len(batch.A)}, {"B", len(batch.B)}, {"C", len(batch.C)}} {
		if s.len != 0 && s.len != len(batch.Count) {
			array.Failf("matmul", "batch", "%d strides of %s for %d dimensions", s.len, s.name, len(batch.Count))
		}
	}
	total := 1
	for _, s := range batch.Count {
		if s < 0 {
			array.Failf("matmul", "batch", "negative size %d", s)
		}
		total *= s
	}
	if p.Add && (p.Epilogue != nil || p.C.Col != 1 && p.C.Row != 1 && p.M > 1 && p.N > 1) {
		array.Failf("matmul", "add", "needs a result whose rows or columns lie side by side, and no epilogue")
	}
	if p.M == 0 || p.N == 0 || total == 0 {
		return
	}
	for i, s := range batch.Count {
		if s > 1 && (batch.C == nil || batch.C[i] == 0) {
			array.Failf("matmul", "batch", "C is broadcast over dimension %d of size %d", i, s)
		}
	}
	if p.K == 0 {
		// There may be no memory behind A and B, whose pointers nothing must move then.
		p.A, p.B, batch.A, batch.B = tile.Mat{Ptr: p.C.Ptr}, tile.Mat{Ptr: p.C.Ptr}, nil, nil
	}
	if p.ISA == jit.Portable {
		p := p // which escapes here alone
		p.runPortable(total)
		return
	}
	p.run(total)
}

// operands are the matrices of one product.
type operands struct {
	a, b, c tile.Mat
	aside   bool           // c is a worker's buffer for the current piece
	beside  unsafe.Pointer // what the epilogue reads together with the result, with the same strides; or nil
}

// sizes are the bytes per element of each operand.
type sizes struct{ a, b, c int }

func (p *Product) sizes() sizes { return sizes{p.Of[0].Size(), p.Of[1].Size(), p.DType.Size()} }

// at returns the operands of product i of the batch, given the operands of the first. The last
// dimension counts fastest.
func (t *Batch) at(i int, size sizes, first *operands) operands {
	o := *first
	for d := len(t.Count) - 1; d >= 0; d-- {
		j := i % t.Count[d]
		i /= t.Count[d]
		if t.A != nil {
			o.a.Ptr = unsafe.Add(o.a.Ptr, j*t.A[d]*size.a)
		}
		if t.B != nil {
			o.b.Ptr = unsafe.Add(o.b.Ptr, j*t.B[d]*size.b)
		}
		if t.C != nil {
			o.c.Ptr = unsafe.Add(o.c.Ptr, j*t.C[d]*size.c)
		}
	}
	return o
}
