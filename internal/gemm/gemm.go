package gemm

import (
	"unsafe"

	"weft/internal/array"
	"weft/internal/jit"
)

// A Mat is a matrix in memory: element (i, j) is at i*Row + j*Col elements from
// Ptr. Strides may be negative or 0.
type Mat struct {
	Ptr      unsafe.Pointer
	Row, Col int
}

// T returns the transpose of m.
func (m Mat) T() Mat { return Mat{m.Ptr, m.Col, m.Row} }

// offset returns m moved by n elements of the given size.
func (m Mat) offset(n, size int) Mat {
	m.Ptr = unsafe.Add(m.Ptr, n*size)
	return m
}

// A Bias is a vector that is added to each row of a product, or to each channel of a
// convolution, last. The zero one is none.
type Bias struct {
	Ptr    unsafe.Pointer
	Step   int  // elements from one to the next
	PerRow bool // add element i to row i of C, not to column i
}

// pack returns the bias with its n elements side by side.
func (b Bias) pack(m machine, n int) Bias {
	v := unsafe.Pointer(unsafe.SliceData(make([]float64, n)))
	copyMat(m, 1, n, Mat{v, 0, 1}, Mat{b.Ptr, 0, b.Step})
	return Bias{v, 1, b.PerRow}
}

// transpose makes p the product of the transposed operands, whose result is that of p
// transposed.
func (p *Product) transpose() {
	p.M, p.N, p.A, p.B, p.C = p.N, p.M, p.B.T(), p.A.T(), p.C.T()
	p.Batch.A, p.Batch.B = p.Batch.B, p.Batch.A
	p.Bias.PerRow = !p.Bias.PerRow
}

// The number of terms in one block of a sum over k. A strip of B of so many terms, two
// vectors wide, stays in the first cache: 32 KB.
const kBlock = 256

// KBlock returns the number of terms in one fused multiply-add chain, a part of
// the definition of the result: 256. It panics for types other than float32 and
// float64.
func KBlock(d array.DType) int {
	if d != array.Float32 && d != array.Float64 {
		array.Failf("gemm", "dtype", "%s: only float32 and float64 have products", d)
	}
	return kBlock
}

// A Product is C = A*B + bias, A being M x K, B K x N and C M x N.
type Product struct {
	ISA     jit.ISA
	DType   array.DType // Float32 or Float64
	M, N, K int
	A, B, C Mat
	Batch   Batch
	Bias    Bias
	Threads int // at most so many; par.Threads() if not positive, and one where the product is small
}

// A Batch describes products that share their shape and strides. Count holds the
// sizes of the batch dimensions, and A, B and C the element strides of each
// operand along them, 0 where it is broadcast; a nil slice stands for zeros
// (C must not be broadcast over a dimension larger than 1). The zero Batch is
// one product.
type Batch struct {
	Count   []int
	A, B, C []int
}

// Run computes the product, or all of a batch. It panics with an *array.Error if the
// product makes no sense.
func (p Product) Run() {
	KBlock(p.DType)
	batch := &p.Batch
	if p.M < 0 || p.N < 0 || p.K < 0 {
		array.Failf("gemm", "", "negative size: %d x %d x %d", p.M, p.K, p.N)
	}
	for _, s := range [...]struct {
		name string
		len  int
	}{{"A", len(batch.A)}, {"B", len(batch.B)}, {"C", len(batch.C)}} {
		if s.len != 0 && s.len != len(batch.Count) {
			array.Failf("gemm", "batch", "%d strides of %s for %d dimensions", s.len, s.name, len(batch.Count))
		}
	}
	total := 1
	for _, s := range batch.Count {
		if s < 0 {
			array.Failf("gemm", "batch", "negative size %d", s)
		}
		total *= s
	}
	if p.M == 0 || p.N == 0 || total == 0 {
		return
	}
	for i, s := range batch.Count {
		if s > 1 && (batch.C == nil || batch.C[i] == 0) {
			array.Failf("gemm", "batch", "C is broadcast over dimension %d of size %d", i, s)
		}
	}
	if p.K == 0 {
		// There may be no memory behind A and B, whose pointers nothing must move then.
		p.A, p.B, batch.A, batch.B = Mat{Ptr: p.C.Ptr}, Mat{Ptr: p.C.Ptr}, nil, nil
	}
	if p.ISA == jit.Portable {
		p := p // which escapes here alone
		p.runPortable(total)
		return
	}
	p.run(total)
}

// operands are those of one product.
type operands struct {
	a, b, c Mat
}

// at returns the operands of product i of the batch, counted with the last
// dimension fastest, from those of the first.
func (t *Batch) at(i, size int, first *operands) operands {
	o := *first
	for d := len(t.Count) - 1; d >= 0; d-- {
		j := i % t.Count[d] * size
		i /= t.Count[d]
		if t.A != nil {
			o.a.Ptr = unsafe.Add(o.a.Ptr, j*t.A[d])
		}
		if t.B != nil {
			o.b.Ptr = unsafe.Add(o.b.Ptr, j*t.B[d])
		}
		if t.C != nil {
			o.c.Ptr = unsafe.Add(o.c.Ptr, j*t.C[d])
		}
	}
	return o
}
