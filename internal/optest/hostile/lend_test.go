package hostile

import (
	"math/rand/v2"
	"reflect"
	"sync"
	"testing"

	"weft"
	"weft/internal/array"
)

// callbackWrites are the storages that functions of the test wrote. Loaders call such functions on several goroutines.
type callbackWrites struct {
	mu       sync.Mutex
	storages map[*array.Storage]bool
}

func (w *callbackWrites) note(s *array.Storage) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.storages == nil {
		w.storages = map[*array.Storage]bool{}
	}
	w.storages[s] = true
}

func (w *callbackWrites) has(s *array.Storage) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.storages[s]
}

// stub is the code of all functions that reflect.MakeFunc returns.
var stub = reflect.MakeFunc(typ[func()](), nil).Pointer()

// lend returns f as a function that the library may call. While f runs it notes which inputs are written, by the
// versions of their storages: the call is not blamed for these.
func (g *gen) lend(f reflect.Value) reflect.Value {
	if f.Kind() != reflect.Func || f.IsNil() || f.Pointer() == stub {
		return f
	}
	return reflect.MakeFunc(f.Type(), func(args []reflect.Value) []reflect.Value {
		inputs := g.inputs
		versions := make([]uint32, len(inputs))
		for i, in := range inputs {
			if in.v.Store != nil {
				versions[i] = in.v.Store.Version()
			}
		}
		defer func() {
			for i, in := range inputs {
				if in.v.Store != nil && in.v.Store.Version() != versions[i] {
					g.wrote.note(in.v.Store)
				}
			}
		}()
		if f.Type().IsVariadic() {
			return f.CallSlice(args)
		}
		return f.Call(args)
	})
}

// TestWritesOfCallbacksAreNoted calls functions as the generator hands them out, in functions of the library that
// do not write themselves. A write inside a compiled function counts too.
func TestWritesOfCallbacksAreNoted(t *testing.T) {
	g := &gen{r: rand.New(rand.NewPCG(1, 2))}
	var xs []*weft.Tensor
	for range 4 {
		xs = append(xs, g.took(weft.Ones(3)))
	}
	picked := pick(g, func(x *weft.Tensor) *weft.Tensor { return x.Slice(weft.Range(0, 1)).AddAssign(1) })
	weft.Try(func() { weft.VJP(func(x *weft.Tensor) *weft.Tensor { return picked(xs[0]) }, xs[1]) })
	weft.Compile(pick(g, func(x *weft.Tensor) *weft.Tensor { xs[2].AddAssign(x); return x })).Call(xs[3])
	for i, want := range []bool{true, false, true, false} {
		if got := g.wrote.has(g.inputs[i].v.Store); got != want {
			t.Errorf("input %d is noted as written: %v, want %v", i, got, want)
		}
	}
}
