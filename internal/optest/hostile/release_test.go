package hostile

import (
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"weft"
	"weft/internal/array"
	"weft/internal/core"
)

// tensorsIn are the tensors that v holds, in slices and interfaces too.
func tensorsIn(v reflect.Value) (ts []*weft.Tensor) {
	switch v.Kind() {
	case reflect.Interface:
		if !v.IsNil() {
			ts = tensorsIn(v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			ts = append(ts, tensorsIn(v.Index(i))...)
		}
	case reflect.Struct: // of options
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				ts = append(ts, tensorsIn(v.Field(i))...)
			}
		}
	case reflect.Pointer:
		if t, ok := v.Interface().(*weft.Tensor); ok && t != nil && !isZero(t) {
			ts = []*weft.Tensor{t}
		}
	}
	return ts
}

// moves are what is not looked at. Keep takes memory out of a scope for its result to give back. The
// results of an LSTM are windows on one array that none of them is. Functions of the user may return
// tensors of a file, which they capture.
var moves = []string{"weft.Scope.Keep", "nn.LSTM.Forward", "nn.LSTM.Run", "weft.Func.ApplyAll", "weft.Cond", "weft.While", "weft.ScanSteps"}

// TestReleaseOfViews calls every function and method of package weft that returns tensors, with
// plausible arguments. Where a result lies in the memory of an argument, its Release gives back
// the result alone; where it has memory of its own, that.
func TestReleaseOfViews(t *testing.T) {
	views, owners := map[string]bool{}, map[string]bool{}
	for i := range targets {
		tg := &targets[i]
		gives := false
		for k := range tg.fn.Type().NumOut() {
			out := tg.fn.Type().Out(k)
			gives = gives || out == reflect.TypeFor[*weft.Tensor]() || out == reflect.TypeFor[[]*weft.Tensor]()
		}
		if !gives || !strings.HasPrefix(tg.name, "weft.") && !strings.HasPrefix(tg.name, "nn.") || strings.Contains(tg.name, "Compiled") || slices.Contains(moves, tg.name) {
			continue
		}
		for seed := range uint64(16) {
			g := &gen{r: rand.New(rand.NewPCG(seed, 0x5e1ea5e)), m: &memory{live: map[*block]bool{}}}
			args, thrown := g.arguments(tg)
			if thrown != nil || g.endless || !small(args) {
				continue
			}
			given := map[*array.Storage]bool{}
			same := map[*weft.Tensor]bool{}
			for _, a := range args {
				for _, x := range tensorsIn(a) {
					same[x] = true
					if v, err := try(func() array.View { return (*core.Tensor)(x).Read() }); err == nil {
						given[v.Store] = true
					}
				}
			}
			outs, thrown := guarded(tg, args)
			if thrown != nil {
				continue
			}
			var results []*weft.Tensor
			for _, o := range outs {
				results = append(results, tensorsIn(o)...)
			}
			stores := map[*array.Storage]int{}
			for _, r := range results {
				if v, err := try(func() array.View { return (*core.Tensor)(r).Read() }); err == nil {
					stores[v.Store]++
				}
			}
			for _, r := range results {
				v, err := try(func() array.View { return (*core.Tensor)(r).Read() })
				if err != nil || same[r] {
					continue
				}
				if err := weft.Try(r.Release); err != nil {
					t.Errorf("%s: %v", tg.name, err)
				}
				switch {
				case given[v.Store]:
					views[tg.name] = true
					if v.Store.Released() {
						t.Errorf("%s: Release of the result gave back the memory of an argument", tg.name)
					}
				case stores[v.Store] == 1:
					owners[tg.name] = true
					if !v.Store.Released() {
						t.Errorf("%s: Release of the result gave nothing back", tg.name)
					}
				}
				if err := weft.Try(func() { r.Clone() }); err == nil {
					t.Errorf("%s: the result can be used after its Release", tg.name)
				}
			}
			for _, s := range g.scopes {
				s.Close()
			}
		}
	}
	t.Logf("views: %v", slices.Sorted(maps.Keys(views)))
	t.Logf("%d give memory of their own", len(owners))
	if len(views) < 25 || len(owners) < 180 {
		t.Errorf("%d give views, %d memory of their own: not enough was reached", len(views), len(owners))
	}
}

// small reports that every argument has few enough elements for a quick call.
func small(args []reflect.Value) bool {
	for _, a := range args {
		for _, x := range tensorsIn(a) {
			if x.Size() > 1<<16 || greatest(x) > 1<<16 {
				return false
			}
		}
		for _, n := range ints(a) {
			if n > 1<<16 || n < -1<<16 {
				return false
			}
		}
	}
	return true
}

// greatest returns the greatest of a tensor's integers, by which BinCount sizes its result.
// It is 0 for one of another type, an empty one and one that cannot be read.
func greatest(x *weft.Tensor) (m float64) {
	if x.DType().Integer() && x.Size() > 0 {
		weft.Try(func() { m = x.To(weft.Float64).Max().Item() })
	}
	return m
}

// ints are the integers of an argument.
func ints(v reflect.Value) (out []int64) {
	switch {
	case v.CanInt():
		out = []int64{v.Int()}
	case v.Kind() == reflect.Interface && !v.IsNil():
		out = ints(v.Elem())
	case v.Kind() == reflect.Slice && v.Len() < 100:
		for i := range v.Len() {
			out = append(out, ints(v.Index(i))...)
		}
	}
	return out
}
