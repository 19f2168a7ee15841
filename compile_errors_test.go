package weft_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"weft"
	"weft/nn"
	"weft/sym"
)

// An error that a compiled function finds in the elements of its arguments names the operation that
// the same call names outside of it, and the line, which a function that is not compiled has no need to
// know.
func TestErrorsOfRunningFunctionsNameTheCall(t *testing.T) {
	x := weft.Arange(0, 12, 1).To(weft.Float32).Reshape(4, 3)
	at := weft.FromSlice([]int64{0, 9, 1, 0}) // 9 is neither an index nor a class
	rows := at.Reshape(4, 1).Expand(4, 3).Contiguous()
	line := "compile_errors_test.go:"
	if os.Getenv("WEFT_COMPILE") == "off" {
		line = ""
	}
	table, bag := nn.NewEmbedding(4, 2), nn.NewEmbeddingBag(4, 2)
	for name, f := range map[string]func(x, at, rows *weft.Tensor) *weft.Tensor{
		"gather":           func(x, at, rows *weft.Tensor) *weft.Tensor { return x.Gather(0, rows) },
		"index_select":     func(x, at, rows *weft.Tensor) *weft.Tensor { return x.IndexSelect(0, at) },
		"take_along_axis":  func(x, at, rows *weft.Tensor) *weft.Tensor { return x.TakeAlongAxis(0, rows) },
		"index":            func(x, at, rows *weft.Tensor) *weft.Tensor { return x.Index(at, at) },
		"index_put":        func(x, at, rows *weft.Tensor) *weft.Tensor { return x.IndexPut(1, at) },
		"index_put_add":    func(x, at, rows *weft.Tensor) *weft.Tensor { return x.IndexPutAdd(1, at, at) },
		"scatter_add":      func(x, at, rows *weft.Tensor) *weft.Tensor { return x.ScatterAdd(0, rows, x) },
		"cross_entropy":    func(x, at, rows *weft.Tensor) *weft.Tensor { return weft.CrossEntropy(x, at) },
		"nn.cross_entropy": func(x, at, rows *weft.Tensor) *weft.Tensor { return nn.CrossEntropy(x, at) },
		"nn.nll":           func(x, at, rows *weft.Tensor) *weft.Tensor { return nn.NLL(x.LogSoftmax(1), at) },
		"nn.embedding":     func(x, at, rows *weft.Tensor) *weft.Tensor { return table.Forward(at) },
		"nn.embedding_bag": func(x, at, rows *weft.Tensor) *weft.Tensor { return bag.Bags(weft.Zeros(4).To(weft.Int64), at) },
	} {
		op := func(err error) string {
			var e *weft.Error
			if !errors.As(err, &e) {
				t.Errorf("%s: %v, want a *weft.Error", name, err)
				return ""
			}
			return e.Op
		}
		want := op(weft.Try(func() { f(x, at, rows) }))
		if !strings.HasSuffix(name, want) {
			t.Errorf("%s names %s at once", name, want)
		}
		_, err := weft.Compile(f).Call(x, at, rows)
		if got := op(err); got != want || !strings.Contains(err.Error(), line) {
			t.Errorf("%s, compiled: %v", name, err)
		}
		_, err = weft.Compile(func() *weft.Tensor { return f(x, at, rows) }).Call()
		if got := op(err); got != want || !strings.Contains(err.Error(), line) {
			t.Errorf("%s, of captured tensors: %v", name, err)
		}
	}
	v, i, r := sym.New("x", weft.Float32, 4, 3), sym.New("at", weft.Int64, 4), sym.New("rows", weft.Int64, 4, 3)
	for name, y := range map[string]*sym.Var{
		"gather": v.Gather(0, r), "index_select": v.IndexSelect(0, i), "take_along_axis": v.TakeAlongAxis(0, r),
		"index": v.Index(i, i), "index_put": v.IndexPut(1, i), "index_put_add": v.IndexPutAdd(1, i, i), "scatter_add": v.ScatterAdd(0, r, v),
	} {
		f, err := sym.Function(sym.In(v, i, r), sym.Out(y), sym.IgnoreUnused)
		if err != nil {
			t.Error(err)
			continue
		}
		_, err = f.Call(x, at, rows)
		var e *weft.Error
		if !errors.As(err, &e) || e.Op != name || !strings.Contains(err.Error(), line) {
			t.Errorf("%s, symbolic: %v", name, err)
		}
	}
}
