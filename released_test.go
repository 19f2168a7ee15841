package weft_test

import (
	"bytes"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"

	"weft"
	"weft/npy"
	"weft/optim"
	"weft/safetensors"
)

// Every method refuses a receiver and an argument whose memory was given back, but
// for those that do not look at elements.
func TestMethodsRefuseReleased(t *testing.T) {
	typ := reflect.TypeFor[*weft.Tensor]()
	looksAway := map[string]bool{"Shape": true, "Strides": true, "Dim": true, "Rank": true, "Size": true, "DType": true, "IsContiguous": true,
		"RequireGrad": true, "RequiresGrad": true, "IsLeaf": true, "Grad": true, "Release": true,
		"Contiguous": true,                 // t itself
		"LogValue":   true,                 // says so
		"Format":     true, "String": true, // the formatter shows the panic
	}
	index := weft.FromSlice([]int64{1, 0})
	for i := range typ.NumMethod() {
		m := typ.Method(i)
		if looksAway[m.Name] {
			continue
		}
		for at := range m.Type.NumIn() {
			takes := func(typ reflect.Type) bool {
				return typ == reflect.TypeFor[*weft.Tensor]() || typ == reflect.TypeFor[any]()
			}
			if !takes(m.Type.In(at)) || m.Name == "SetGrad" && at == 0 {
				continue
			}
			var args []reflect.Value
			for k := range m.Type.NumIn() {
				in := m.Type.In(k)
				var v reflect.Value
				switch {
				case m.Type.IsVariadic() && k == m.Type.NumIn()-1:
					v = map[string]reflect.Value{"Reshape": reflect.ValueOf([]int{4}), "Permute": reflect.ValueOf([]int{1, 0}), "Expand": reflect.ValueOf([]int{2, 2}),
						"Pad": reflect.ValueOf([]int{0, 0, 0, 0})}[m.Name]
					if !v.IsValid() {
						v = reflect.Zero(in)
					}
				case takes(in) && k == 1 && (m.Name == "IndexSelect" || m.Name == "IndexAdd"):
					v = reflect.ValueOf(index.Clone())
				case takes(in) && k == 2 && (m.Name == "IndexSelect" || m.Name == "IndexAdd"):
					v = reflect.ValueOf(index.Clone())
				case takes(in) && k == 2 && (m.Name == "Gather" || m.Name == "TakeAlongAxis" || strings.HasPrefix(m.Name, "Scatter")):
					v = reflect.ValueOf(weft.ZerosOf(weft.Int64, 2, 2))
				case takes(in) && m.Name == "Linear" && k == 2:
					v = reflect.ValueOf(weft.Ones(2))
				case takes(in) && m.Name == "MaskSelect" && k == 1:
					v = reflect.ValueOf(weft.OnesOf(weft.Bool, 2, 2))
				case takes(in) && strings.HasPrefix(m.Name, "Conv"):
					v = reflect.ValueOf(weft.Ones(1, 1, 1, 1))
					if m.Name == "Conv1d" {
						v = reflect.ValueOf(weft.Ones(1, 1, 1))
					}
					if k == 2 {
						v = reflect.ValueOf(weft.Ones(1))
					}
				case takes(in) && strings.HasSuffix(m.Name, "Pool2d"):
					v = reflect.ValueOf(weft.Ones(1, 1, 2, 2))
				case takes(in) && m.Name == "SetGrad" && k == 0:
					v = reflect.ValueOf(weft.Ones(2, 2).RequireGrad())
				case takes(in) && (strings.HasPrefix(m.Name, "Bit") || m.Name == "Shl" || m.Name == "Shr" || m.Name == "PopCount"):
					v = reflect.ValueOf(weft.OnesOf(weft.Uint8, 2, 2))
				case takes(in):
					v = reflect.ValueOf(weft.Ones(2, 2))
				case in == reflect.TypeFor[weft.DType]():
					v = reflect.ValueOf(weft.Float64)
				case in == reflect.TypeFor[func(*weft.Tensor) *weft.Tensor]():
					v = reflect.ValueOf((*weft.Tensor).Neg)
				case in == reflect.TypeFor[weft.PoolOpts]():
					v = reflect.ValueOf(weft.PoolOpts{Window: [2]int{1, 1}})
				case m.Name == "Dropout" && in.Kind() == reflect.Float64:
					v = reflect.ValueOf(0.5)
				case in == reflect.TypeFor[*weft.Generator]():
					v = reflect.ValueOf(weft.NewGenerator(1))
				default:
					v = reflect.Zero(in)
				}
				args = append(args, v)
			}
			gone := args[at].Interface().(*weft.Tensor)
			gone.Release()
			call := m.Func.Call
			if m.Type.IsVariadic() {
				call = m.Func.CallSlice
			}
			err := weft.Try(func() {
				if out := call(args); m.Name == "MarshalJSON" {
					panic(out[1].Interface())
				}
			})
			var e *weft.Error
			if !errors.As(err, &e) || e.Kind != weft.Misuse || !strings.Contains(e.Error(), "released") {
				t.Errorf("%s with argument %d released: %v", m.Name, at, err)
			}
		}
	}
}

// So do functions, optimizers and files.
func TestFunctionsRefuseReleased(t *testing.T) {
	gone := func(shape ...int) *weft.Tensor {
		x := weft.Ones(shape...)
		x.Release()
		return x
	}
	w := weft.Ones(2).RequireGrad()
	fused := weft.Func{Name: "own", Forward: func(_ *weft.FuncContext, x ...*weft.Tensor) *weft.Tensor { return x[0].Mul(2) },
		Backward: func(_ *weft.FuncContext, dy *weft.Tensor) []*weft.Tensor { return []*weft.Tensor{gone(2)} }}
	keeps := weft.Func{Name: "keeps", Forward: func(c *weft.FuncContext, x ...*weft.Tensor) *weft.Tensor { c.Save(gone(2)); return x[0].Mul(2) },
		Backward: func(c *weft.FuncContext, dy *weft.Tensor) []*weft.Tensor { return []*weft.Tensor{c.Saved(0)} }}
	for name, f := range map[string]func() error{
		"seed": func() error {
			return weft.Try(func() { weft.Grad(w.Mul(2), []*weft.Tensor{w}, weft.GradOpts{Seeds: []*weft.Tensor{gone(2)}}) })
		},
		"seed of backward": func() error {
			return weft.Try(func() {
				weft.BackwardWith([]*weft.Tensor{w.Mul(2)}, weft.GradOpts{Seeds: []*weft.Tensor{gone(2)}})
			})
		},
		"seed of the input itself": func() error {
			return weft.Try(func() { weft.Grad(w, []*weft.Tensor{w}, weft.GradOpts{Seeds: []*weft.Tensor{gone(2)}}) })
		},
		"saved value":  func() error { y := w.Exp(); s := y.Sum(); y.Release(); return weft.Try(s.Backward) },
		"own gradient": func() error { return weft.Try(func() { fused.Apply(w).Sum().Backward() }) },
		"own saved":    func() error { return weft.Try(func() { keeps.Apply(w).Sum().Backward() }) },
		"argument":     func() error { return weft.Try(func() { fused.Apply(gone(2)) }) },
		"leaf's gradient": func() error {
			x := weft.Ones(2).RequireGrad()
			x.Sum().Backward()
			x.Grad().Release()
			return weft.Try(x.Sum().Backward)
		},
		"optimizer": func() error {
			x := weft.Ones(2).RequireGrad()
			o := optim.NewSGD(func(yield func(string, *weft.Tensor) bool) { yield("x", x) }, optim.SGDOpts{LR: new(1.0)})
			x.Sum().Backward()
			x.Grad().Release()
			return weft.Try(func() { o.Step() })
		},
		"data":        func() error { return weft.Try(func() { weft.Data[float32](gone(2)) }) },
		"copyto":      func() error { return weft.Try(func() { weft.CopyTo(gone(2), make([]float32, 2)) }) },
		"borrow":      func() error { return weft.Try(func() { weft.Borrow(gone(2), func([]float32) {}) }) },
		"digest":      func() error { return weft.Try(func() { weft.Digest(gone(2)) }) },
		"cat":         func() error { return weft.Try(func() { weft.Cat([]*weft.Tensor{w, gone(2)}, 0) }) },
		"stack":       func() error { return weft.Try(func() { weft.Stack([]*weft.Tensor{w, gone(2)}, 0) }) },
		"where":       func() error { return weft.Try(func() { weft.Where(gone(2), 1, 2) }) },
		"expr":        func() error { return weft.Try(func() { weft.Expr("2*a", gone(2)) }) },
		"entropy":     func() error { return weft.Try(func() { weft.CrossEntropy(gone(2, 3), weft.ZerosOf(weft.Int64, 2)) }) },
		"track":       func() error { return weft.Try(func() { weft.NewScope().Track(gone(2)) }) },
		"npy":         func() error { return npy.Write(&bytes.Buffer{}, gone(2)) },
		"safetensors": func() error { return safetensors.Write(&bytes.Buffer{}, map[string]*weft.Tensor{"a": gone(2)}, nil) },
	} {
		if err := f(); err == nil || !strings.Contains(err.Error(), "released") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A releaser is a file whose writer takes the memory away.
type releaser struct{ do func() }

func (r *releaser) Write(p []byte) (int, error) {
	r.do()
	return len(p), nil
}

// What is being written to a file is not given back meanwhile, as what is borrowed
// is not.
func TestReleaseWhileWritten(t *testing.T) {
	const n = 1 << 16
	for name, write := range map[string]func(w io.Writer, x *weft.Tensor) error{
		"npy": func(w io.Writer, x *weft.Tensor) error { return npy.Write(w, x) },
		"safetensors": func(w io.Writer, x *weft.Tensor) error {
			return safetensors.Write(w, map[string]*weft.Tensor{"a": weft.Ones(2), "b": x}, nil)
		},
	} {
		s := weft.NewScope()
		x := s.Track(weft.Zeros(n)).Add(7)
		for how, take := range map[string]func(){"release": x.Release, "of a view": x.At(0).Release, "close": s.Close} {
			refused := 0
			w := &releaser{func() {
				if err := weft.Try(take); err != nil {
					refused++
				}
			}}
			if err := write(w, x); err != nil || refused == 0 {
				t.Errorf("%s: %s while the tensor is written: %d refused, error %v", name, how, refused, err)
			}
		}
		func() {
			defer func() { recover() }()
			write(&releaser{func() { panic("no") }}, x)
		}()
		x.Release() // is possible again
	}
}
