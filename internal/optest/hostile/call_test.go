package hostile

import (
	"errors"
	"fmt"
	"hash/fnv"
	"math/bits"
	"math/rand/v2"
	"reflect"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"unsafe"

	"weft"
	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/dirty"
	"weft/internal/plan"
	"weft/internal/profile"
)

// A result is what one call gave.
type result struct {
	digest  uint64
	text    string // the start of what was digested
	outcome string
	faults  []string
}

// writes tells whether a call may change tensors that it is given; it may then
// change what the receiver, the destination or the parameters show, and no other byte.
// What functions of the test write is not a matter of names: lend notes it.
func writes(name string) bool {
	switch name {
	case "ragged.List.Set", "ragged.List.SetRange":
		return true
	}
	base, _, _ := strings.Cut(name, "[")
	base = base[strings.LastIndex(base, ".")+1:]
	switch base {
	case "Fill", "Set", "Zero", "Update", "CopyTo", "Borrow", "Step", "LoadState", "Load", "Forward", "Apply", "Batches", "Get", "Batch",
		"Call", // of a compiled function that writes into its arguments
		// These write into a sink, which may be a tensor.
		"Measure", "Flush":
		return true
	}
	return strings.HasSuffix(base, "Assign")
}

// kept is the memory of an argument as it was before a call, with the set that notes what is written, or nil.
type kept struct {
	s     *array.Storage
	bytes []byte
	dirty *dirty.Set
}

// compare returns what is wrong with the memory after the call, which may change it or not.
func (k *kept) compare(mayChange bool) (faults []string) {
	if k.s.Released() || k.s.Host() == nil {
		return nil
	}
	now := unsafe.Slice((*byte)(k.s.Host()), k.s.Bytes)
	if !mayChange && string(k.bytes) != string(now) {
		faults = append(faults, "memory of an argument was written")
	}
	if k.dirty == nil {
		return faults
	}
	marked := k.s.Track().List(k.dirty, false)
	for i := range now {
		if now[i] != k.bytes[i] && !slices.ContainsFunc(marked, func(p dirty.Interval) bool { return p.Start <= i && i < p.Stop }) {
			faults = append(faults, fmt.Sprintf("byte %d of an argument was written, which is tracked, and only %v is marked", i, marked))
			break
		}
	}
	if !mayChange && len(marked) > 0 {
		faults = append(faults, fmt.Sprintf("reading an argument marked %v", marked))
	}
	return faults
}

// perform calls tg with arguments that follow from the seed. Fresh memory holds the poison and
// begins, or ends, at an inaccessible page.
func perform(tg *target, seed uint64, m *memory, dir string, describe bool) (res result) {
	weft.Seed(seed)
	g := &gen{r: rand.New(rand.NewPCG(seed, 0x770ef7)), m: m, dir: dir}
	defer func() {
		for _, s := range g.scopes {
			s.Close()
		}
	}()
	res.outcome = "building the arguments"
	args, thrown := g.arguments(tg)
	if thrown != nil {
		_, res.faults = judge(thrown, res.faults)
		return res
	}
	if describe {
		fmt.Printf("seed %d: %s\n", seed, tg.name)
		for i, a := range args {
			fmt.Printf("\targument %d: %s\n", i, describeValue(a))
		}
	}
	g.endless = g.endless || steps(tg, args) > 1<<20
	if g.endless {
		fmt.Println("endless")
	}
	var before []kept
	for _, in := range g.inputs {
		s := in.v.Store
		if s == nil || s.Released() || s.Host() == nil {
			continue
		}
		k := kept{s: s, bytes: append([]byte(nil), unsafe.Slice((*byte)(s.Host()), s.Bytes)...)}
		if bits.OnesCount64(seed)%2 == 0 {
			k.dirty = dirty.NewSet(dirty.Interval{Stop: s.Bytes}, 1, false, 0)
			s.Track().Watch(k.dirty)
		}
		before = append(before, k)
	}
	d := &digester{h: fnv.New64a(), seen: map[any]bool{}}
	outs, thrown := guarded(tg, args)
	res.outcome = "a value"
	if thrown != nil {
		res.outcome, res.faults = judge(thrown, res.faults)
		d.put("%s", res.outcome)
	}
	for _, o := range outs {
		if err, ok := o.Interface().(error); ok && err != nil {
			res.outcome = err.Error()
		}
		if _, thrown := safely(func() { d.value(o, 0) }); thrown != nil {
			res.outcome, res.faults = judge(thrown, res.faults)
			d.put("%s", res.outcome)
		}
	}
	for _, k := range before {
		res.faults = append(res.faults, k.compare(writes(tg.name) || g.wrote.has(k.s))...)
	}
	for _, further := range []func(d *digester){g.differentiate, g.goOn} {
		if _, thrown := safely(func() { further(d) }); thrown != nil {
			var o string
			o, res.faults = judge(thrown, res.faults)
			d.put("%s", o)
		}
	}
	// What the arguments hold now belongs to the result.
	for _, in := range g.inputs {
		if !g.endless {
			if _, thrown := safely(func() { d.tensor(in.t) }); thrown != nil {
				_, res.faults = judge(thrown, res.faults)
			}
		}
	}
	d.h.Write(g.written.Bytes())
	res.faults = append(res.faults, d.faults...)
	res.digest, res.text = d.h.Sum64(), strings.Join(d.text, "; ")
	runtime.KeepAlive(g)
	return res
}

// differentiate takes gradients of what a call returned.
func (g *gen) differentiate(d *digester) {
	outs := d.out
	if len(g.leaves) == 0 || g.endless {
		return
	}
	for _, y := range outs[:min(len(outs), 2)] {
		if !y.RequiresGrad() || y.Size() > 1<<16 || !g.chance(2) {
			continue
		}
		var ok []*weft.Tensor
		for _, l := range g.leaves {
			if l != nil && l.RequiresGrad() {
				ok = append(ok, l)
			}
		}
		if len(ok) == 0 {
			return
		}
		gs := weft.GradAll([]*weft.Tensor{y}, ok, weft.GradOpts{AllowUnused: true, Retain: g.chance(2), Create: g.chance(3), Seeds: []*weft.Tensor{weft.OnesLike(y)}})
		for _, x := range gs {
			d.tensor(x)
		}
	}
}

// goOn calls up to three methods of tensors, the first of one that the call returned,
// each next of what the one before returned.
func (g *gen) goOn(d *digester) {
	if len(d.out) == 0 || g.endless {
		return
	}
	y := reflect.ValueOf(d.out[0])
	for range g.r.IntN(4) {
		tg := &targets[methods[g.r.IntN(len(methods))]]
		args := g.draw(tg)
		if g.endless {
			return
		}
		args[0] = y
		outs, thrown := guarded(tg, args)
		if thrown != nil {
			thrown.stack = tg.name + ", one of the calls that followed\n" + thrown.stack
			panic(thrown)
		}
		for _, o := range outs {
			d.value(o, 0)
			if t, ok := o.Interface().(*weft.Tensor); ok && t != nil {
				y = o
			}
		}
	}
}

// arguments makes the arguments of a call. Some that are drawn cannot be made, a
// release before a use for one; then others are drawn.
func (g *gen) arguments(tg *target) (args []reflect.Value, thrown *panicked) {
	for range 20 {
		args, thrown = nil, nil
		if _, thrown = safely(func() { args = g.draw(tg) }); thrown == nil {
			return args, nil
		}
		if _, faults := judge(thrown, nil); len(faults) > 0 {
			return nil, thrown
		}
	}
	return nil, &panicked{value: "the arguments cannot be made: " + fmt.Sprint(thrown.value)}
}

func (g *gen) draw(tg *target) (args []reflect.Value) {
	t := tg.fn.Type()
	var list []any
	f := plausible[tg.name]
	if f == nil {
		// The name behind the last point that does not belong to type arguments.
		head, _, _ := strings.Cut(tg.name, "[")
		f = plausible[tg.name[strings.LastIndex(head, ".")+1:]]
	}
	if f != nil && !g.chance(4) {
		list = f(g)
	}
	// Other types have methods of the same name with other arguments.
	fits := len(list) <= t.NumIn()
	for i := range list {
		fits = fits && (list[i] == nil || reflect.TypeOf(list[i]).ConvertibleTo(t.In(i)) && reflect.TypeOf(list[i]).Kind() == t.In(i).Kind() || reflect.TypeOf(list[i]).AssignableTo(t.In(i)))
	}
	for i := range t.NumIn() {
		if i < len(list) && fits && !g.chance(12) {
			args = append(args, argument(list[i], t.In(i)))
		} else {
			args = append(args, g.value(t.In(i)))
		}
	}
	if len(args) > 0 && refusedByLanguage(tg, args[0]) {
		args[0] = g.receiver(tg)
	}
	return args
}

func argument(x any, t reflect.Type) reflect.Value {
	v := reflect.ValueOf(x)
	if !v.IsValid() {
		return reflect.Zero(t)
	}
	if v.Type() != t && t.Kind() != reflect.Interface {
		v = v.Convert(t)
	}
	return v
}

// refusedByLanguage reports a receiver with which Go itself panics before the method
// begins: a nil interface, or a nil pointer to a struct whose embedded struct has the
// method. Methods of errors are not called on nil either.
func refusedByLanguage(tg *target, recv reflect.Value) bool {
	if strings.Count(tg.name, ".") < 2 {
		return false
	}
	if recv.Kind() == reflect.Interface {
		recv = recv.Elem()
		if !recv.IsValid() {
			return true
		}
	}
	if recv.Kind() != reflect.Pointer || !recv.IsNil() {
		return false
	}
	_, isError := recv.Interface().(error)
	return tg.promoted || isError || isPromoted(recv.Type().Elem(), tg.name[strings.LastIndex(tg.name, ".")+1:])
}

// receiver makes a receiver that the language takes.
func (g *gen) receiver(tg *target) reflect.Value {
	for {
		if v := g.value(tg.fn.Type().In(0)); !refusedByLanguage(tg, v) {
			return v
		}
	}
}

// steps is how many steps a call is to make one after the other.
func steps(tg *target, args []reflect.Value) int64 {
	if tg.name == "kernel.Func.Iterate" {
		return args[1].Int()
	}
	if strings.HasSuffix(tg.name, ".Reserve") { // gibibytes, which this machine may have
		return max(args[1].Int(), args[2].Int())
	}
	if tg.name == "data.WeightedSampler.Order" { // draws, all in a list
		if v := reflect.Indirect(args[0]); v.IsValid() {
			return v.FieldByName("N").Int()
		}
	}
	return 0
}

// A panicked is a panic with its stack.
type panicked struct {
	value any
	stack string
}

func (p *panicked) String() string { return fmt.Sprint(p.value) }

// guarded calls the target.
func guarded(tg *target, args []reflect.Value) (outs []reflect.Value, thrown *panicked) {
	_, thrown = safely(func() {
		if tg.fn.Type().IsVariadic() {
			outs = tg.fn.CallSlice(args)
		} else {
			outs = tg.fn.Call(args)
		}
	})
	return outs, thrown
}

func safely(f func()) (ok bool, thrown *panicked) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case *panicked:
			thrown = r
		default:
			thrown = &panicked{r, string(debug.Stack())}
		}
	}()
	f()
	return true, nil
}

// judge says what a panic is, and notes it if it must not be.
func judge(p *panicked, faults []string) (outcome string, all []string) {
	err, _ := p.value.(error)
	var e *weft.Error
	switch {
	case errors.Is(err, errThrown):
		return "the panic of an argument", faults
	case err != nil && errors.As(err, &e):
		if e.Op == "" && e.Arg == "" && e.Msg == "" {
			faults = append(faults, "an empty error")
		}
		return e.Error(), faults
	}
	return "untyped", append(faults, fmt.Sprintf("untyped panic: %v\n%s", p.value, p.stack))
}

// describeValue is a short text of an argument.
func describeValue(v reflect.Value) string {
	if !v.IsValid() {
		return "nil"
	}
	switch x := v.Interface().(type) {
	case *weft.Tensor:
		return describeTensor(x)
	case []*weft.Tensor:
		var s []string
		for _, t := range x[:min(len(x), 8)] {
			s = append(s, describeTensor(t))
		}
		return fmt.Sprintf("%d tensors: %s", len(x), strings.Join(s, "; "))
	case []any:
		var s []string
		for _, t := range x[:min(len(x), 8)] {
			s = append(s, describeValue(reflect.ValueOf(t)))
		}
		return fmt.Sprintf("%d values: %s", len(x), strings.Join(s, "; "))
	case weft.Vars:
		s := "Vars"
		for k, t := range x {
			s += " " + k + "=" + describeValue(reflect.ValueOf(t))
		}
		return s
	case func(), error:
		return fmt.Sprintf("%T", x)
	}
	if v.Kind() == reflect.Func {
		if v.IsNil() {
			return v.Type().String() + " nil"
		}
		return v.Type().String()
	}
	s := ""
	safely(func() { s = fmt.Sprintf("%T %.300q", v.Interface(), fmt.Sprintf("%+v", v.Interface())) })
	return s
}

func describeTensor(t *weft.Tensor) string {
	if t == nil {
		return "nil tensor"
	}
	if isZero(t) {
		return "zero tensor"
	}
	v, err := try(func() array.View { return (*core.Tensor)(t).Read() })
	if err != nil {
		return fmt.Sprintf("released %s%v", t.DType(), t.Shape())
	}
	return fmt.Sprintf("%s%v strides %v offset %d of %d bytes at %p, needs gradient %v, leaf %v", v.DType, v.Shape, v.Strides, v.Offset, v.Store.Bytes, v.Store.Host(), t.RequiresGrad(), t.IsLeaf())
}

// The two ways to make a call.
var ways = []struct {
	poison byte
	start  bool
}{{0xa5, false}, {0xff, true}}

// once makes the call of a seed in both ways and returns what is wrong, and whether the
// call gave a value.
func once(seed uint64, dir string, describe bool) (tg *target, faults []string, value bool) {
	debug.SetGCPercent(1)
	plan.Verify, dirty.Verify = true, true
	tg = &targets[seed%uint64(len(targets))]
	var rs []result
	for _, w := range ways {
		m := &memory{poison: w.poison, start: w.start, live: map[*block]bool{}}
		m.use()
		r := perform(tg, seed, m, dir, describe)
		if p := profile.On(); p != nil {
			p.End() // it is the process's
		}
		if seed%16 == 0 {
			runtime.GC()
		}
		r.faults = append(r.faults, m.check()...)
		if describe {
			fmt.Printf("\toutcome: %s\n", r.outcome)
		}
		rs = append(rs, r)
		faults = append(faults, r.faults...)
		value = r.outcome == "a value"
		if len(r.faults) > 0 {
			return tg, faults, value
		}
	}
	if rs[0].digest != rs[1].digest {
		faults = append(faults, fmt.Sprintf("two runs that differ in what fresh memory holds gave different results:\n%s: %s\n%s: %s", rs[0].outcome, rs[0].text, rs[1].outcome, rs[1].text))
	}
	return tg, faults, value
}

// callback is a function that may use what it is lent after giving the memory of all
// tensors back, or write into it.
func (g *gen) callback(t reflect.Type) reflect.Value {
	kind := g.r.IntN(6)
	if kind == 0 {
		return reflect.Zero(t)
	}
	if t == reflect.TypeFor[func(int, float64) bool]() { // of iterations
		return reflect.ValueOf(func(i int, _ float64) bool {
			if kind == 1 {
				panic(errThrown)
			}
			return i < 3*kind
		})
	}
	if t.NumOut() > 0 || t.NumIn() != 1 || t.In(0).Kind() != reflect.Slice {
		panic(fmt.Sprintf("no functions of type %s are made: gen_test.go wants a maker", t))
	}
	return reflect.MakeFunc(t, func(args []reflect.Value) []reflect.Value {
		s := args[0]
		switch kind {
		case 1:
			panic(errThrown)
		case 2:
			for _, in := range g.inputs {
				if in.t != nil {
					weft.Try(in.t.Release)
				}
			}
			runtime.GC()
			for _, sc := range g.scopes {
				sc.Close()
			}
		}
		for i := range s.Len() {
			fmt.Fprint(&g.written, s.Index(i).Interface(), " ")
			if kind == 3 {
				s.Index(i).Set(s.Index(0))
			}
		}
		return nil
	})
}
