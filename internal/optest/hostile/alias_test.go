package hostile

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"weft"
	"weft/internal/profile"
)

// aliases are the functions whose arguments or results share memory with the engine by contract.
// No other function may.
var aliases = map[string]string{
	"weft.FromSlice":  "the slice is the tensor's memory",
	"weft.Borrow":     "the callback writes into the tensor",
	"weft.BorrowGrad": "the callback sees the gradients themselves",
	"weft.BorrowRows": "the callback sees the gradients themselves",

	"records.FromSlice": "the slice is the memory of the records",
	"records.Borrow":    "the callback writes into the records",

	"records.Aligned":       "the slice is what the methods of its result show",
	"records.Packed":        "the slice is what the methods of its result show",
	"records.LayoutOf":      "the slice is what the methods of its result show",
	"records.Array.Layout":  "the slice is what the methods of its result show",
	"ragged.Records.Layout": "the slice is what the methods of its result show",

	"onnx.Model.Info":        "the result is a copy, which shows its own slices",
	"weft.Vars.AlignLeading": "the result holds the values that the names have",
	"checkpoint.Part.State":  "the receiver may be a type of this test",
}

func init() {
	for _, name := range []string{"Near", "Array", "Clamped", "Wrapped", "Zeroed"} {
		for n := 2; n <= 6; n++ {
			aliases[fmt.Sprintf("kernel.%s%d.Row", name, n)] = "a row is the array's memory"
		}
	}
}

// shares reports whether a function takes or gives slices or maps that it could keep: directly,
// in fields or as any, not through pointers.
func shares(f reflect.Type) bool {
	var has func(t reflect.Type, depth int) bool
	has = func(t reflect.Type, depth int) bool {
		switch t.Kind() {
		case reflect.Slice, reflect.Map:
			return true
		case reflect.Struct:
			for i := range t.NumField() {
				if depth < 4 && t.Field(i).IsExported() && has(t.Field(i).Type, depth+1) {
					return true
				}
			}
		case reflect.Interface:
			return t.NumMethod() == 0
		}
		return false
	}
	for i := range f.NumIn() {
		if has(f.In(i), 0) {
			return true
		}
	}
	for i := range f.NumOut() {
		if has(f.Out(i), 0) {
			return true
		}
	}
	return false
}

// overwrite writes another value into every element of the slices and maps that v holds, up to
// their capacities. It does not follow pointers.
func overwrite(v reflect.Value, depth int) {
	if !v.IsValid() || depth > 6 {
		return
	}
	switch v.Kind() {
	case reflect.Interface:
		overwrite(v.Elem(), depth)
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				overwrite(v.Field(i), depth+1)
			}
		}
	case reflect.Map:
		for _, k := range v.MapKeys() {
			overwrite(v.MapIndex(k), depth+1)
			v.SetMapIndex(k, reflect.Zero(v.Type().Elem()))
		}
		v.Clear()
	case reflect.Slice:
		if v.Len() > 1<<16 {
			return
		}
		all := v.Slice(0, min(v.Cap(), v.Len()+64))
		for i := range all.Len() {
			overwrite(all.Index(i), depth+1)
			another(all.Index(i))
		}
	}
}

// another sets v, an element, to another value.
func another(v reflect.Value) {
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(!v.Bool())
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(v.Int() + 1)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(v.Uint() ^ 1)
	case reflect.Float32, reflect.Float64:
		v.SetFloat(v.Float() + 1)
	case reflect.String:
		v.SetString(v.String() + "~")
	default:
		v.SetZero()
	}
}

// What observe overwrites.
const (
	nothing = iota
	given
	got
)

// observe makes the call of a seed, overwrites what it was given or what it got, and returns what
// shows afterwards: the objects that the call returned and their methods, and the same call again,
// of the same receiver. ok is false if the call gave no value.
func observe(tg *target, seed uint64, what int) (digest uint64, text string, ok bool) {
	weft.Seed(seed)
	m := &memory{live: map[*block]bool{}}
	m.use()
	defer fence().from.Store(nil)
	fresh := func(salt uint64) *gen {
		return &gen{r: rand.New(rand.NewPCG(seed+salt, 0x770ef7)), m: m, dir: "."}
	}
	g := fresh(0)
	args, thrown := g.arguments(tg)
	if thrown != nil || g.endless || steps(tg, args) > 1<<10 {
		return 0, "", false
	}
	method := strings.Count(strings.SplitN(tg.name, "[", 2)[0], ".") == 2
	outs, thrown := guarded(tg, args)
	if thrown != nil {
		return 0, "", false
	}
	for _, o := range outs {
		if err, failed := o.Interface().(error); failed && err != nil {
			return 0, "", false
		}
	}
	switch what {
	case given:
		for i, a := range args {
			if !method || i > 0 {
				overwrite(a, 0)
			}
		}
	case got:
		for _, o := range outs {
			overwrite(o, 0)
		}
	}
	d := &digester{h: fnv.New64a(), seen: map[any]bool{}}
	for _, o := range outs {
		if o.Kind() == reflect.Interface {
			o = o.Elem()
		}
		inside(d, o, 0)
		if o.Kind() == reflect.Pointer && !o.IsNil() {
			d.value(o, 0)
			useMethods(d, o, fresh(1))
		}
	}
	again := fresh(0)
	if args2, thrown := again.arguments(tg); thrown == nil {
		if method {
			args2[0] = args[0]
		}
		outs, thrown := guarded(tg, args2)
		if thrown != nil {
			d.put("%v", thrown.value)
		}
		for _, o := range outs {
			d.value(o, 0)
		}
	}
	return d.h.Sum64(), strings.Join(d.text, "; "), true
}

// inside digests what the fields of a result hold, unexported ones too: numbers, texts, slices of
// them and which pointers are nil. It follows one pointer. Slices and maps that are results are the
// caller's.
func inside(d *digester, v reflect.Value, depth int) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() && depth == 0 && v.Type() != typ[*weft.Tensor]() {
			inside(d, v.Elem(), 1)
			return
		}
		d.put("%t", v.IsNil())
	case reflect.Interface, reflect.Func, reflect.Map:
		d.put("%t", v.IsNil())
	case reflect.Struct:
		for i := range v.NumField() {
			if depth < 5 {
				inside(d, v.Field(i), depth+1)
			}
		}
	case reflect.Slice:
		if depth == 0 {
			return
		}
		for i := range min(v.Len(), 1<<10) {
			inside(d, v.Index(i), max(depth, 1)+1)
		}
	case reflect.Bool:
		d.put("%t", v.Bool())
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		d.put("%d", v.Int())
	case reflect.String:
		d.put("%s", v.String())
	}
}

// useMethods calls up to twelve methods of an object and digests what they give.
func useMethods(d *digester, o reflect.Value, g *gen) {
	calls := 0
	for i := range targets {
		tg := &targets[i]
		if t := tg.fn.Type(); t.NumIn() == 0 || t.In(0) != o.Type() || tg.promoted || o.Type() == typ[*weft.Tensor]() && calls > 6 {
			continue
		}
		args, thrown := g.arguments(tg)
		if thrown != nil || g.endless || steps(tg, args) > 1<<10 {
			return
		}
		args[0] = o
		outs, thrown := guarded(tg, args)
		if thrown != nil {
			d.put("%v", thrown.value)
		}
		for _, out := range outs {
			if out.Kind() != reflect.Func {
				d.value(out, 0)
			}
		}
		if calls++; calls == 12 {
			return
		}
	}
}

// aliased makes the call of a seed with and without writing into what it was given and got, and
// says which of that showed.
func aliased(tg *target, seed uint64) (faults []string, value bool) {
	one, text, ok := observe(tg, seed, nothing)
	if two, _, _ := observe(tg, seed, nothing); !ok || one != two {
		return nil, false // it counts its calls, or takes the time
	}
	for _, w := range []struct {
		what int
		name string
	}{{given, "writing into the slices and maps that it was given"}, {got, "writing into the slices and maps that it returned"}, {nothing, "what was written before"}} {
		if now, t, _ := observe(tg, seed, w.what); now != one {
			faults = append(faults, fmt.Sprintf("%s changes the behaviour:\n\tbefore %s\n\tafter  %s", w.name, text, t))
		}
	}
	if p := profile.On(); p != nil {
		p.End()
	}
	return faults, true
}

// TestNothingIsShared calls every exported function and method that takes or returns a slice or a
// map, and writes into all of these. What shows afterwards must equal the same calls without the
// writing: no function keeps what it is given, and none returns memory that the engine uses.
// The exceptions are in aliases.
//
//	WEFT_HOSTILE_SHARED=20 go test -run Shared -timeout 0 ./internal/optest/hostile
//
// makes twenty calls of each.
func TestNothingIsShared(t *testing.T) {
	if s := os.Getenv("WEFT_HOSTILE_SHARED_CHILD"); s != "" {
		sharedChild(s)
		return
	}
	if !limited {
		t.Skip("SKIPPED: nothing bounds the memory and the files of hostile calls on this platform")
	}
	var list []string
	for i := range targets {
		base, _, _ := strings.Cut(targets[i].name, "[")
		if shares(targets[i].fn.Type()) && aliases[base] == "" {
			list = append(list, strconv.Itoa(i))
		}
	}
	values := inChildren(t, "WEFT_HOSTILE_SHARED", list)
	for i := range targets {
		if n := targets[i].name; shares(targets[i].fn.Type()) && values[n] == 0 {
			t.Logf("never compared: %s", n)
		}
	}
}

// sharedChild makes the calls of a list of targets.
func sharedChild(what string) {
	parts := strings.SplitN(what, ",", 3)
	rounds, err := strconv.Atoi(parts[0])
	if err := cmp.Or(err, os.Chdir(parts[1]), limit(room)); err != nil {
		panic(err)
	}
	for _, s := range strings.Fields(parts[2]) {
		i, _ := strconv.Atoi(s)
		tg := &targets[i]
		fmt.Printf("begin %d %s\n", i, tg.name)
		value, n := false, 0
		var faults []string
		for try := 0; n < rounds && try < 8*rounds && len(faults) == 0; try++ {
			if try%8 == 7 {
				fmt.Printf("begin %d %s\n", i, tg.name) // it goes on
			}
			f, ok := aliased(tg, uint64(i+try*len(targets)))
			if faults = f; ok {
				n++
				value = true
			}
		}
		for _, f := range faults {
			fmt.Printf("fault %q\n", f)
		}
		fmt.Println("end", value)
	}
}
