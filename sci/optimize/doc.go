// Package optimize finds minima and roots of functions of tensors. Gradients, Jacobians and Hessians come from
// automatic differentiation. The methods of [Minimize] are gonum's.
//
// All computations are in float64: the starting point is converted, and functions get float64 tensors of its shape.
// Nothing is recorded outside: results do not require gradients.
//
// Searches end where the context of their options does, with what was found so far and a [*ConvergenceError] that wraps
// its cause:
//
//	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
//	defer stop()
//	m, err := optimize.Minimize(f, x0, optimize.MinimizeOpts{Context: ctx})
package optimize

import (
	"context"
	"fmt"
	"math"

	"weft"
	"weft/internal/array"
	"weft/internal/core"
)

// ConvergenceError says why a search ended before its tolerances were met. What was found so far is returned beside it.
type ConvergenceError struct {
	Op     string // the function, such as "optimize.minimize"
	Reason string
	Err    error // the cause of a context that ended the search, such as context.Canceled; otherwise nil
}

func (e *ConvergenceError) Error() string { return e.Op + ": not converged: " + e.Reason }

// Unwrap returns Err.
func (e *ConvergenceError) Unwrap() error { return e.Err }

// ended returns the error of a search whose context has ended, nil before and without one.
func ended(name string, ctx context.Context) error {
	if ctx == nil || ctx.Err() == nil {
		return nil
	}
	cause := context.Cause(ctx)
	return &ConvergenceError{Op: name, Reason: "the context ended: " + cause.Error(), Err: cause}
}

// afterSteps is the reason of a search that took all its steps.
func afterSteps(most int) string { return fmt.Sprintf("%d steps", most) }

// start returns the starting point as a float64 tensor and as numbers.
func start(name, arg string, x *weft.Tensor) (*weft.Tensor, []float64) {
	(*core.Tensor)(x).CheckArgument(name, arg)
	if x.DType().Complex() {
		array.Failf(name, arg, "is %s: want real numbers", x.DType())
	}
	x = x.Detach().To(weft.Float64).Contiguous()
	if x.Size() == 0 {
		array.Failf(name, arg, "has shape %s and no elements", array.ShapeString(x.Shape()))
	}
	return x, weft.Data[float64](x)
}

// positive returns an option that must be a number above 0, or its default where it is 0.
func positive(name, arg string, x, otherwise float64) float64 {
	if x == 0 {
		return otherwise
	}
	if !(x > 0) || math.IsInf(x, 1) {
		array.Failf(name, arg, "is %v: want a finite number above 0", x)
	}
	return x
}

// limit is positive for whole numbers.
func limit(name, arg string, n, otherwise int) int {
	if n < 0 {
		array.Failf(name, arg, "is %d: want a number of steps", n)
	}
	if n == 0 {
		return otherwise
	}
	return n
}

// number returns the value of a function that must have one element.
func number(name string, y *weft.Tensor) float64 {
	if y == nil || y.Size() != 1 || y.DType().Complex() {
		what := "nil"
		if y != nil {
			what = fmt.Sprintf("%s of shape %s", y.DType(), array.ShapeString(y.Shape()))
		}
		array.Failf(name, "f", "returns %s: want one real number", what)
	}
	return y.Item()
}
