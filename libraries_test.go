package weft_test

import (
	"context"
	"errors"
	"io"
	"iter"
	"math"
	"path/filepath"
	"testing"

	"weft"
	"weft/checkpoint"
	"weft/data"
	"weft/nn"
	"weft/npy"
	"weft/optim"
	"weft/safetensors"
)

// typedNil is a part and a dataset that is a nil pointer.
type typedNil struct{ n int }

func (p *typedNil) Len() int                                      { return p.n }
func (p *typedNil) Get(int) (x, y *weft.Tensor, err error)        { return weft.Ones(1), nil, nil }
func (p *typedNil) State() map[string]*weft.Tensor                { return nil }
func (p *typedNil) LoadState(state map[string]*weft.Tensor) error { return nil }

// failing ends in an error, as a reader of a broken file does.
type failing struct{}

func (failing) Read([]byte) (int, error)          { return 0, errors.New("broken") }
func (failing) ReadAt([]byte, int64) (int, error) { return 0, errors.New("broken") }
func (failing) Write([]byte) (int, error)         { return 0, errors.New("full") }

// Nil functions, modules, datasets, contexts and readers, and numbers without bound, in
// the packages around tensors: an error or a *weft.Error, never another panic.
func TestNilAndHostileArgumentsOfLibraries(t *testing.T) {
	file := filepath.Join(t.TempDir(), "x")
	ones := data.Tensors(weft.Ones(10, 2), nil)
	batches := func(d data.Dataset, o data.LoaderOpts) error {
		for _, err := range data.NewLoader(d, o).Batches(context.Background()) {
			if err != nil {
				return err
			}
		}
		return nil
	}
	x := weft.Ones(2, 2)
	for name, f := range map[string]func() error{
		"data.Tensors nil":           func() error { data.Tensors(nil, nil); return nil },
		"data.Tensors 0-d":           func() error { data.Tensors(weft.Scalar(1), nil); return nil },
		"data.NewLoader nil":         func() error { data.NewLoader(nil, data.LoaderOpts{}); return nil },
		"data.Batches nil context":   func() error { data.NewLoader(ones, data.LoaderOpts{}).Batches(noContext); return nil },
		"data.Batches nil loader":    func() error { (*data.Loader)(nil).Batches(context.Background()); return nil },
		"data.Batches zero loader":   func() error { new(data.Loader).Batches(context.Background()); return nil },
		"data.Loader nil Len":        func() error { (*data.Loader)(nil).Len(); return nil },
		"data.Loader nil Seek":       func() error { (*data.Loader)(nil).Seek(0, 0); return nil },
		"data.Loader nil State":      func() error { (*data.Loader)(nil).State(); return nil },
		"data.Loader nil LoadState":  func() error { return (*data.Loader)(nil).LoadState(nil) },
		"data prefetch MaxInt":       func() error { return batches(&typedNil{1 << 40}, data.LoaderOpts{Prefetch: math.MaxInt}) },
		"data negative batch":        func() error { return batches(ones, data.LoaderOpts{Batch: math.MinInt}) },
		"data length MaxInt":         func() error { return batches(&typedNil{math.MaxInt}, data.LoaderOpts{}) },
		"data length MinInt":         func() error { return batches(&typedNil{math.MinInt}, data.LoaderOpts{}) },
		"nn.Func nil":                func() error { nn.Func(nil).Forward(x); return nil },
		"nn.Sequential of nil":       func() error { nn.Sequential{nil}.Forward(x); return nil },
		"nn.Linear nil":              func() error { (*nn.Linear)(nil).Forward(x); return nil },
		"nn.Linear zero":             func() error { new(nn.Linear).Forward(x); return nil },
		"nn.Linear of nil":           func() error { nn.NewLinear(2, 2).Forward(nil); return nil },
		"nn.Linear MaxInt":           func() error { nn.NewLinear(math.MaxInt, math.MaxInt); return nil },
		"nn.Linear negative":         func() error { nn.NewLinear(-1, 2); return nil },
		"nn.Conv2d nil":              func() error { (*nn.Conv2d)(nil).Forward(x); return nil },
		"nn.Conv2d zero":             func() error { new(nn.Conv2d).Forward(x); return nil },
		"nn.Conv2d MaxInt":           func() error { nn.NewConv2d(math.MaxInt, 2, 3); return nil },
		"nn.Dropout nil":             func() error { (*nn.Dropout)(nil).Forward(x); return nil },
		"nn.Dropout nil SetTraining": func() error { (*nn.Dropout)(nil).SetTraining(true); return nil },
		"nn.Dropout NaN":             func() error { (&nn.Dropout{P: math.NaN()}).Forward(x); return nil },
		"nn.MSE nil":                 func() error { nn.MSE(nil, x); return nil },
		"nn.CrossEntropy nil":        func() error { nn.CrossEntropy(x, nil); return nil },
		"nn.Param nil":               func() error { nn.Param(nil); return nil },
		"nn.LoadState nil entry":     func() error { return nn.LoadState(nn.NewLinear(2, 2), map[string]*weft.Tensor{"W": nil}, true) },
		"nn.Kaiming no shape":        func() error { nn.KaimingNormal(nil); return nil },
		"nn.Xavier MaxInt":           func() error { nn.XavierUniform(nil, math.MaxInt, math.MaxInt); return nil },
		"optim.NewAdam nil":          func() error { optim.NewAdam(nil, optim.AdamOpts{}); return nil },
		"optim.NewSGD nil":           func() error { optim.NewSGD(nil, optim.SGDOpts{}); return nil },
		"optim.NewSGD of nil": func() error {
			optim.NewSGD(iter.Seq2[string, *weft.Tensor](func(y func(string, *weft.Tensor) bool) { y("x", nil) }), optim.SGDOpts{})
			return nil
		},
		"optim.NewAdam NaN":          func() error { optim.NewAdam(nn.Params(nn.NewLinear(2, 2)), optim.AdamOpts{LR: math.NaN()}); return nil },
		"optim.Adam nil Step":        func() error { (*optim.Adam)(nil).Step(); return nil },
		"optim.SGD nil Step":         func() error { (*optim.SGD)(nil).Step(); return nil },
		"checkpoint.Save nil part":   func() error { return checkpoint.Save(file, checkpoint.Parts{"a": nil}, nil) },
		"checkpoint.Save nil optim":  func() error { return checkpoint.Save(file, checkpoint.Parts{"a": (*optim.Adam)(nil)}, nil) },
		"checkpoint.Save nil loader": func() error { return checkpoint.Save(file, checkpoint.Parts{"a": (*data.Loader)(nil)}, nil) },
		"checkpoint nil generator":   func() error { return checkpoint.Save(file, checkpoint.Parts{"a": checkpoint.Generator(nil)}, nil) },
		"checkpoint secret parameter": func() error {
			return checkpoint.Save(file, checkpoint.Parts{"a": checkpoint.Module(struct{ w *weft.Tensor }{weft.Ones(1).RequireGrad()})}, nil)
		},
		"checkpoint.Load no file":     func() error { _, err := checkpoint.Load(file+"y", nil); return err },
		"npy.Read nil":                func() error { _, err := npy.Read(nil); return err },
		"npy.Read failing":            func() error { _, err := npy.Read(failing{}); return err },
		"npy.Write nil":               func() error { return npy.Write(nil, x) },
		"npy.Write nil tensor":        func() error { return npy.Write(io.Discard, nil) },
		"npy.Write failing":           func() error { return npy.Write(failing{}, x) },
		"safetensors.Read nil":        func() error { _, err := safetensors.Read(nil, 100); return err },
		"safetensors.Read negative":   func() error { _, err := safetensors.Read(failing{}, math.MinInt64); return err },
		"safetensors.Read failing":    func() error { _, err := safetensors.Read(failing{}, math.MaxInt64); return err },
		"safetensors.Write nil":       func() error { return safetensors.Write(nil, nil, nil) },
		"safetensors.Write nil entry": func() error { return safetensors.Write(io.Discard, map[string]*weft.Tensor{"a": nil}, nil) },
		"safetensors nil file":        func() error { _, err := (*safetensors.File)(nil).Tensor("a"); return err },
	} {
		func() {
			defer func() {
				if r := recover(); r != nil {
					if e, ok := r.(*weft.Error); !ok || e.Kind == weft.DeviceFailed {
						t.Errorf("%s: panic: %v", name, r)
					}
				}
			}()
			if err := f(); err == nil {
				t.Errorf("%s: no error", name)
			}
		}()
	}
}
