package nn

import (
	"sync"
	"sync/atomic"

	"weft"
	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/jit"
)

// Call returns forward(layer, x). All layers of this package go through it, and a user's own layer does
// with one line, so that hooks, [Summary] and the paths in errors know it:
//
//	func (b *Block) Forward(x *weft.Tensor) *weft.Tensor { return nn.Call(b, x, (*Block).forward) }
//
// While nothing is hooked and no Summary runs it costs a few nanoseconds and no memory. Hooks are found
// by a layer's pointer, so that a layer that is a value, such as [Relu], has none of its own.
func Call[L any](layer L, x *weft.Tensor, forward func(layer L, x *weft.Tensor) *weft.Tensor) *weft.Tensor {
	defer func() {
		if r := recover(); r != nil {
			panic(located(layer, r))
		}
	}()
	array.Given("call", "forward", forward != nil)
	if watched.Load() == 0 && !core.DetectsAnomaly() {
		return forward(layer, x)
	}
	return watch(layer, []*weft.Tensor{x}, func(in []*weft.Tensor) []*weft.Tensor {
		return []*weft.Tensor{forward(layer, in[0])}
	})[0]
}

// CallAll is [Call] for a layer with several arguments or results. Some may be nil:
//
//	func (d *Decoder) Decode(x, memory *weft.Tensor) *weft.Tensor {
//		return nn.CallAll(d, []*weft.Tensor{x, memory}, func(in []*weft.Tensor) []*weft.Tensor {
//			return []*weft.Tensor{d.decode(in[0], in[1])}
//		})[0]
//	}
func CallAll(layer any, in []*weft.Tensor, forward func(in []*weft.Tensor) []*weft.Tensor) []*weft.Tensor {
	defer func() {
		if r := recover(); r != nil {
			panic(located(layer, r))
		}
	}()
	array.Given("callall", "forward", forward != nil)
	if watched.Load() == 0 && !core.DetectsAnomaly() {
		return forward(in)
	}
	return watch(layer, in, forward)
}

// located is deferred by calls of layers: it returns what a panic goes on with.
func located(layer any, r any) any {
	if e, ok := r.(*array.Error); ok {
		return locate(layer, e)
	}
	return r
}

// watched is the number of hooks of layers and of recorders.
var watched atomic.Int32

// layerHooks are the functions that calls of a layer go through. Lists are replaced, not written.
type layerHooks struct {
	layer    any // keeps its memory, which is the key
	before   []*func(in []*weft.Tensor) []*weft.Tensor
	after    []*func(in, out []*weft.Tensor) []*weft.Tensor
	backward []*func(dIn, dOut []*weft.Tensor) []*weft.Tensor
}

// hooked has the hooks of layers.
var hooked struct {
	mu     sync.RWMutex
	layers map[visit]layerHooks
}

// recorders has the recorder of a goroutine that runs a [Summary].
var recorders struct {
	running     atomic.Int32
	byGoroutine sync.Map // uintptr -> *recorder
}

// recorderHere returns the recorder of this goroutine, nil if there is none.
func recorderHere() *recorder {
	if recorders.running.Load() == 0 {
		return nil
	}
	if r, ok := recorders.byGoroutine.Load(jit.Goroutine()); ok {
		return r.(*recorder)
	}
	return nil
}

// watch calls a layer with its hooks, and tells the recorder of this goroutine.
func watch(layer any, in []*weft.Tensor, forward func(in []*weft.Tensor) []*weft.Tensor) []*weft.Tensor {
	var h layerHooks
	id, ok := identity(layer)
	if ok {
		hooked.mu.RLock()
		h = hooked.layers[id]
		hooked.mu.RUnlock()
	}
	for _, f := range h.before {
		in = replaced("hookforwardpre", in, (*f)(in))
	}
	back := len(h.backward) > 0 && core.GradOn()
	var b *backwardCall
	if back {
		b = &backwardCall{hooks: h.backward}
		in = b.enter(in)
	}
	r := recorderHere()
	if r != nil {
		r.begin(layer, id)
	}
	var out []*weft.Tensor
	core.InLayer(func(e *array.Error) *array.Error { return locate(layer, e) }, func() { out = forward(in) })
	if r != nil {
		r.leave(out)
	}
	if back {
		out = b.leave(out)
	}
	for _, f := range h.after {
		out = replaced("hookforward", out, (*f)(in, out))
	}
	return out
}

// replaced returns what a hook makes of a list: the list itself if the hook returns nil.
func replaced(name string, old, new []*weft.Tensor) []*weft.Tensor {
	if new == nil {
		return old
	}
	if len(new) != len(old) {
		array.Failf(name, "f", "returned %s in place of %d", array.Count(len(new), "tensor"), len(old))
	}
	for i := range new {
		if (new[i] == nil) != (old[i] == nil) {
			array.Failf(name, "f", "returned tensor %d as nil, or in place of nil", i)
		}
	}
	return new
}

// HookForward makes calls of a layer, and of no other, call f with the arguments and the results when
// the layer has returned. The call returns what f returns, or its own results if that is nil. It is
// torch's Module.register_forward_hook, and reads features inside a model that stays as it is:
//
//	var features *weft.Tensor
//	remove := nn.HookForward(net.Layer3[1], func(in, out []*weft.Tensor) []*weft.Tensor {
//		features = out[0]
//		return nil
//	})
//	net.Forward(x)
//	remove()
//
// A layer is given as a pointer, or as a [Sequential]. A pointer to an element of a Sequential is a
// layer too, whatever that element is: nn.HookForward(&net.Body[3], f). A layer of a user is called
// through [Call] or [CallAll]; otherwise f never runs. Lists have all tensors of a call, nil where
// one is not given: three arguments and three results of [LSTM.Run].
//
// Of several hooks the earliest comes first, each with the results of the one before. f runs on the
// goroutine of the call. In a function of [weft.Compile] it runs while that is traced, and what it
// computes becomes part of the program; calls of the program do not run f. The layer stays in memory until remove is called.
//
// HookForward panics with *weft.Error if f is nil or the layer cannot be told from others, as a
// [Relu] cannot. So does the call if f returns another number of tensors.
func HookForward(layer any, f func(in, out []*weft.Tensor) []*weft.Tensor) (remove func()) {
	const name = "hookforward"
	array.Given(name, "f", f != nil)
	return hook(name, layer, func(h *layerHooks) *[]*func(in, out []*weft.Tensor) []*weft.Tensor { return &h.after }, f)
}

// HookForwardPre makes calls of a layer call f with the arguments before the layer runs, which goes on
// with what f returns, or with the arguments if that is nil. It is torch's
// Module.register_forward_pre_hook; all else is as in [HookForward].
func HookForwardPre(layer any, f func(in []*weft.Tensor) []*weft.Tensor) (remove func()) {
	const name = "hookforwardpre"
	array.Given(name, "f", f != nil)
	return hook(name, layer, func(h *layerHooks) *[]*func(in []*weft.Tensor) []*weft.Tensor { return &h.before }, f)
}

// HookBackward makes backward passes call f with the gradients of the arguments and of the results of
// each call of a layer, when the pass has computed both. The pass goes on with what f returns in
// place of dIn, or with dIn if that is nil. A gradient is nil where none is computed; if no argument requires
// one, dIn has nils alone and what f returns does not count. f must not write into gradients. It is
// torch's Module.register_full_backward_hook; all else is as in [HookForward]. [weft.Tensor.Hook] says
// where backward passes have no hooks.
func HookBackward(layer any, f func(dIn, dOut []*weft.Tensor) []*weft.Tensor) (remove func()) {
	const name = "hookbackward"
	array.Given(name, "f", f != nil)
	return hook(name, layer, func(h *layerHooks) *[]*func(dIn, dOut []*weft.Tensor) []*weft.Tensor { return &h.backward }, f)
}

// hook adds f to a list of the hooks of a layer, and returns the function that removes it.
func hook[F any](name string, layer any, list func(h *layerHooks) *[]*F, f F) (remove func()) {
	id := hookable(name, layer)
	change := func(edit func(old []*F) []*F) {
		hooked.mu.Lock()
		defer hooked.mu.Unlock()
		h := hooked.layers[id]
		l := list(&h)
		before := len(*l)
		*l = edit(*l)
		watched.Add(int32(len(*l) - before))
		if h.layer = layer; len(h.before)+len(h.after)+len(h.backward) == 0 {
			delete(hooked.layers, id)
			return
		}
		if hooked.layers == nil {
			hooked.layers = map[visit]layerHooks{}
		}
		hooked.layers[id] = h
	}
	change(func(old []*F) []*F { return append(old[:len(old):len(old)], &f) })
	return func() {
		change(func(old []*F) (rest []*F) {
			for _, g := range old {
				if g != &f {
					rest = append(rest, g)
				}
			}
			return rest
		})
	}
}

// A backwardCall is a call of a layer whose backward hooks see the gradients of its arguments and
// results. Both pass through functions that only hand them on.
type backwardCall struct {
	hooks []*func(dIn, dOut []*weft.Tensor) []*weft.Tensor
	n     int            // of arguments
	inAt  []int          // the places of the arguments that require gradients
	dOut  []*weft.Tensor // by result
}

// through passes the tensors of a list that require gradients, at the places that it returns, through
// a function with a gradient.
func through(ts []*weft.Tensor, backward func(at []int, dys []*weft.Tensor) []*weft.Tensor) (out []*weft.Tensor, at []int) {
	out = append(out, ts...)
	var some []*weft.Tensor
	for i, t := range ts {
		if t != nil && t.RequiresGrad() {
			at, some = append(at, i), append(some, t)
		}
	}
	if len(some) == 0 {
		return out, nil
	}
	f := &weft.Func{
		Name:        "hookbackward",
		ForwardAll:  func(_ *weft.FuncContext, x ...*weft.Tensor) []*weft.Tensor { return x },
		BackwardAll: func(_ *weft.FuncContext, dys []*weft.Tensor) []*weft.Tensor { return backward(at, dys) },
	}
	for k, y := range f.ApplyAll(some...) {
		out[at[k]] = y
	}
	return out, at
}

// enter returns the arguments that the layer computes with.
func (b *backwardCall) enter(in []*weft.Tensor) (out []*weft.Tensor) {
	b.n = len(in)
	out, b.inAt = through(in, func(at []int, dys []*weft.Tensor) []*weft.Tensor {
		dIn := b.run(spread(b.n, at, dys))
		grads := make([]*weft.Tensor, len(at))
		for k, i := range at {
			grads[k] = dIn[i]
		}
		return grads
	})
	return out
}

// leave returns the results that the caller goes on with.
func (b *backwardCall) leave(out []*weft.Tensor) []*weft.Tensor {
	out, _ = through(out, func(at []int, dys []*weft.Tensor) []*weft.Tensor {
		b.dOut = spread(len(out), at, dys)
		if len(b.inAt) == 0 {
			b.run(make([]*weft.Tensor, b.n))
		}
		return dys
	})
	return out
}

// run calls the hooks, and returns the gradients of the arguments.
func (b *backwardCall) run(dIn []*weft.Tensor) []*weft.Tensor {
	for _, f := range b.hooks {
		dIn = replaced("hookbackward", dIn, (*f)(dIn, b.dOut))
	}
	return dIn
}

// spread returns a list of n tensors, with ts at places and nil elsewhere.
func spread(n int, at []int, ts []*weft.Tensor) []*weft.Tensor {
	list := make([]*weft.Tensor, n)
	for k, i := range at {
		list[i] = ts[k]
	}
	return list
}
