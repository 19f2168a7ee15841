package onnx

import (
	"math"

	"weft"
)

// Support vector machines.
var svmOperators = []operator{
	{name: "SVMClassifier", run: svmClassifier, eager: true},
	{name: "SVMRegressor", run: svmRegressor},
}

// kernel is the kernel of rows of x, and of the vectors in the rows of v.
func (c *call) kernel(x, v *weft.Tensor) *weft.Tensor {
	name, params := c.attrString("kernel_type", "LINEAR"), c.attrFloats("kernel_params")
	gamma, offset, degree := 0.0, 0.0, 0.0
	if len(params) >= 3 {
		gamma, offset, degree = float64(params[0]), float64(params[1]), float64(params[2])
	}
	switch name {
	case "LINEAR":
		return x.MatMul(v.Transpose(0, 1))
	case "POLY":
		return x.MatMul(v.Transpose(0, 1)).Mul(gamma).Add(offset).Pow(degree)
	case "SIGMOID":
		return x.MatMul(v.Transpose(0, 1)).Mul(gamma).Add(offset).Tanh()
	case "RBF":
		return x.Unsqueeze(1).Sub(v).Square().Sum(2).Mul(-gamma).Exp()
	}
	c.fail("attribute %q is %q: want LINEAR, POLY, RBF or SIGMOID", "kernel_type", name)
	return nil
}

// rows is input 0 as rows of float32.
func (c *call) rows() *weft.Tensor {
	x := c.tensor(0).To(weft.Float32)
	if x.Rank() == 1 {
		x = x.Unsqueeze(0)
	}
	if x.Rank() != 2 || x.Dim(1) == 0 {
		c.fail("the input has the shape %v: want rows", x.Shape())
	}
	return x
}

func svmRegressor(c *call) []Value {
	coefficients, rho, vectors := c.attrFloats("coefficients"), c.attrFloats("rho"), c.attrFloats("support_vectors")
	n, one, post := c.attrInt("n_supports", 0), c.attrBool("one_class", false), c.attrString("post_transform", "NONE")
	x := c.rows()
	if n == 0 { // the coefficients are of the features
		n, vectors = 1, coefficients
		coefficients = []float32{1}
	}
	if len(coefficients) != n || len(vectors) != n*x.Dim(1) || len(rho) == 0 {
		c.fail("there are %d coefficients, %d numbers of vectors and %d offsets for %d vectors of %d", len(coefficients), len(vectors), len(rho), n, x.Dim(1))
	}
	y := c.kernel(x, weft.FromSlice(vectors, n, x.Dim(1))).MatMul(weft.FromSlice(coefficients, n, 1)).Add(float64(rho[0]))
	if one {
		y = weft.Where(y.Gt(0), 1, -1).To(weft.Float32)
	}
	return tensors(c.transformed(y, post))
}

func svmClassifier(c *call) []Value {
	coefficients, rho, vectors := c.attrFloats("coefficients"), c.attrFloats("rho"), c.attrFloats("support_vectors")
	a, b, per, post := c.attrFloats("prob_a"), c.attrFloats("prob_b"), c.attrInts("vectors_per_class"), c.attrString("post_transform", "NONE")
	l := c.labels("classlabels_ints", "classlabels_strings")
	x, n := c.rows(), l.count()
	count := len(vectors) / x.Dim(1)
	if count == 0 { // linear: coefficients of the features for each class
		c.attrFloats("kernel_params")
		c.attrString("kernel_type", "")
		scores := c.linear(x, coefficients, nil)
		if len(rho) > 0 {
			scores = scores.Add(float64(rho[0]))
		}
		return []Value{l.of(c, scores.ArgMax(1)), TensorOf(c.transformed(scores, post))}
	}
	total := 0
	for _, p := range per {
		total += max(p, 0)
	}
	pairs := n * (n - 1) / 2
	if len(per) != n || n < 2 || total != count || len(coefficients) != count*(n-1) || len(rho) < pairs || len(a) != len(b) || len(a) > 0 && len(a) < pairs {
		c.fail("%d classes have %v of %d vectors, %d coefficients, %d offsets and %d and %d numbers for probabilities", n, per, count, len(coefficients), len(rho), len(a), len(b))
	}
	rows := x.Dim(0)
	k := weft.Data[float64](c.kernel(x, weft.FromSlice(vectors, count, x.Dim(1))).To(weft.Float64).Contiguous())
	width := pairs
	if len(a) > 0 {
		width = n
	}
	scores, best := make([]float64, 0, rows*max(width, 2)), make([]int64, rows)
	for r := range rows {
		d, votes := decisions(k[r*count:(r+1)*count], coefficients, rho, per)
		best[r] = int64(greatest(votes))
		switch {
		case len(a) > 0:
			p := coupled(d, a, b, n)
			best[r] = int64(greatest(p))
			scores = append(scores, p...)
		case n == 2:
			best[r] = 1
			if d[0] > 0 {
				best[r] = 0
			}
			scores = append(scores, -d[0], d[0])
		default:
			scores = append(scores, d...)
		}
	}
	y := weft.FromSlice(scores, rows, len(scores)/max(rows, 1)).To(weft.Float32)
	return []Value{l.of(c, weft.FromSlice(best, rows)), TensorOf(c.transformed(y, post))}
}

// decisions are those between each two classes, by the kernels k of a row with all vectors, and the votes that
// classes get by them.
func decisions(k []float64, coefficients, rho []float32, per []int) (d, votes []float64) {
	n := len(per)
	start := make([]int, n+1)
	for i, p := range per {
		start[i+1] = start[i] + p
	}
	votes = make([]float64, n)
	sum := func(class, row int) (s float64) {
		for i := start[class]; i < start[class+1]; i++ {
			s += float64(coefficients[row*len(k)+i]) * k[i]
		}
		return s
	}
	for i := range n {
		for j := i + 1; j < n; j++ {
			x := sum(i, j-1) + sum(j, i) + float64(rho[len(d)])
			if d = append(d, x); x > 0 {
				votes[i]++
			} else {
				votes[j]++
			}
		}
	}
	return d, votes
}

// greatest is the place of the first greatest number.
func greatest(list []float64) int {
	best := 0
	for i, x := range list {
		if x > list[best] {
			best = i
		}
	}
	return best
}

// coupled are the probabilities of n classes by the probabilities of one of each two (Wu, Lin and Weng, 2004,
// "Probability Estimates for Multi-class Classification by Pairwise Coupling", the second method).
func coupled(d []float64, a, b []float32, n int) []float64 {
	pair := make([][]float64, n)
	for i := range pair {
		pair[i] = make([]float64, n)
	}
	at := 0
	for i := range n {
		for j := i + 1; j < n; j++ {
			p := 1 / (1 + math.Exp(d[at]*float64(a[at])+float64(b[at])))
			p = min(max(p, 1e-7), 1-1e-7)
			pair[i][j], pair[j][i] = p, 1-p
			at++
		}
	}
	q := make([][]float64, n)
	p := make([]float64, n)
	for i := range n {
		p[i] = 1 / float64(n)
		q[i] = make([]float64, n)
		for j := range n {
			if j != i {
				q[i][i] += pair[j][i] * pair[j][i]
				q[i][j] = -pair[j][i] * pair[i][j]
			}
		}
	}
	for range max(100, n) {
		qp, pqp := make([]float64, n), 0.0
		for i := range n {
			for j := range n {
				qp[i] += q[i][j] * p[j]
			}
			pqp += p[i] * qp[i]
		}
		worst := 0.0
		for i := range n {
			worst = max(worst, math.Abs(qp[i]-pqp))
		}
		if worst < 0.005/float64(n) {
			break
		}
		for i := range n {
			diff := (pqp - qp[i]) / q[i][i]
			p[i] += diff
			pqp = (pqp + diff*(diff*q[i][i]+2*qp[i])) / (1 + diff) / (1 + diff)
			for j := range n {
				qp[j] = (qp[j] + diff*q[i][j]) / (1 + diff)
				p[j] /= 1 + diff
			}
		}
	}
	return p
}
