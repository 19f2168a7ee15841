package eigen

import (
	"encoding/json"
	"math"
	"os"
	"testing"
)

// A hardMatrix is a matrix whose function mpmath computed: testdata/functions.py writes them.
type hardMatrix struct {
	Function, Name string
	N              int
	Complex        bool
	A, Want        []float64
	SciPy          float64 // the relative error of SciPy
	Rounding       float64 // the relative change of the result where elements change by a rounding
}

// elementsOf are numbers as elements, complex ones from pairs.
func elementsOf[T number](x []float64) []T {
	var out []T
	switch p := any(&out).(type) {
	case *[]float64:
		*p = append(*p, x...)
	case *[]complex128:
		for i := 0; i < len(x); i += 2 {
			*p = append(*p, complex(x[i], x[i+1]))
		}
	}
	return out
}

// errorOf is the error of a function relative to the largest element.
func errorOf[T number](t *testing.T, h hardMatrix) float64 {
	a, want, x := elementsOf[T](h.A), elementsOf[T](h.Want), make([]T, h.N*h.N)
	var trouble *Trouble
	switch h.Function {
	case "log":
		trouble = Log(machine, h.N, a, x)
	case "sqrt":
		trouble = Sqrt(machine, h.N, a, x)
	default:
		if !Exp(machine, h.N, a, x) {
			trouble = &Trouble{Singular: true}
		}
	}
	if trouble != nil {
		t.Errorf("%s of %s: %+v", h.Function, h.Name, *trouble)
		return 0
	}
	most, off := largest(want), 0.0
	for i := range want {
		d := abs(x[i]/of[T](most) - want[i]/of[T](most))
		if !(d <= off) {
			off = d
		}
	}
	return off
}

// TestFunctionsOfHardMatrices compares functions of graded, defective, badly scaled and huge matrices with
// mpmath. Errors are at most 4 times SciPy's, or what a few roundings of the elements make.
func TestFunctionsOfHardMatrices(t *testing.T) {
	text, err := os.ReadFile("testdata/functions.json")
	if err != nil {
		t.Fatal(err)
	}
	var all []hardMatrix
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	for _, h := range all {
		f := errorOf[float64]
		if h.Complex {
			f = errorOf[complex128]
		}
		off := f(t, h)
		t.Logf("%s of %s: error %.1e, SciPy %.1e", h.Function, h.Name, off, h.SciPy)
		condition := 0.0 // of the exponentials of numbers on the diagonal
		for i := 0; h.Function == "exp" && !h.Complex && i < h.N; i++ {
			condition = max(condition, math.Abs(h.A[i*h.N+i])*epsilon)
		}
		if bound := 4 * max(condition, h.SciPy, h.Rounding, 2*float64(h.N)*epsilon); !(off <= bound) || math.IsNaN(off) {
			t.Errorf("%s of %s: error %.2g, SciPy has %.2g", h.Function, h.Name, off, h.SciPy)
		}
	}
}
