package hostile

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"weft"
	"weft/internal/cpu"
	"weft/internal/device"
	"weft/internal/device/deferred"
	"weft/internal/jit"
	"weft/internal/mem"
	"weft/internal/profile"
	"weft/ragged"
	"weft/records"
)

// hostOnly are the functions and packages that are not compared, and why.
var hostOnly = map[string]string{
	"dlpack":                           "exports the host's memory only",
	"distributions":                    "a distribution stays on the device of its parameters; its tests run with weft_deferred",
	"hf":                               "the network of a folder is on the CPU",
	"models.Generate":                  "which of two wrong options it names depends on when a device reports elements",
	"onnx":                             "the weights of a file are on the CPU",
	"tokenizers":                       "ids are on the CPU",
	"sparse":                           "matrices are on the CPU, and refuse tensors of other devices",
	"sym.Var":                          "a variable keeps the tensor that it was made of",
	"checkpoint.Part.State":            "a state may be that of the CPU",
	"data.Dataset.Get":                 "this test does not reach the rows",
	"data.Batcher.Batch":               "this test does not reach the rows",
	"data.Loader.Batches":              "this test does not reach the rows",
	"train.Metric.Matrix":              "counts are on the CPU",
	"train.Metric.State":               "counts are on the CPU",
	"data.Loader.State":                "counters are on the CPU",
	"data.PadSequence":                 "lengths are on the CPU",
	"nn.CallAll":                       "the function may return a tensor of the CPU",
	"nn.NewOrthogonalized":             "parameters begin on the CPU: nn.On moves them",
	"nn.NewSpectralNorm":               "parameters begin on the CPU: nn.On moves them",
	"nn.NewEmbedding":                  "parameters begin on the CPU: nn.On moves them",
	"nn.ParametersToVector":            "a module without parameters gives a vector of the CPU",
	"nn.NewLinear":                     "parameters begin on the CPU: nn.On moves them",
	"nn.NewMultiheadAttention":         "parameters begin on the CPU: nn.On moves them",
	"weft.JVP":                         "the function that is differentiated may return a constant of the CPU",
	"weft.Compiled.Call":               "the function may capture a tensor of the CPU",
	"weft.Program.CallContext":         "constants of a program lie where it was loaded",
	"weft.Program.Call":                "constants of a program lie where it was loaded",
	"weft.ScanSteps":                   "the function may return a constant of the CPU",
	"weft.ApplyAlongAxis":              "the function may return a constant of the CPU",
	"ndimage.GenericLaplace":           "the function may return a constant of the CPU",
	"ndimage.VectorizedFilter":         "the function may return a constant of the CPU",
	"ndimage.GenericFilter1D":          "the function may return a constant of the CPU",
	"ndimage.GenericGradientMagnitude": "the function may return a constant of the CPU",
	"weft.Func.Apply":                  "the function may return a constant of the CPU",
	"weft.Func.ApplyAll":               "the function may return a constant of the CPU",
	"sym.Fn.Call":                      "the expression may hold a constant of the CPU",
	"weft.VJP":                         "the function that is differentiated may return a constant of the CPU",
	"weft.Formula.Explain":             "the text tells the layout of the arguments, which On changes",
	"weft.Stream":                      "times differ",
	"weft.Event":                       "times differ",
	"weft.Scope.Track":                 "a closed scope gives the copy back that the test reads",
	"nn.On":                            "moves",
	"weft.Device":                      "constructors of the CPU",
	"weft.Tensor.On":                   "moves",

	"weft.Tensor.IsContiguous": "On changes the layout",
	"weft.Tensor.Strides":      "On changes the layout",
	"weft.Tensor.Version":      "On copies, and a copy has not been written",
	"weft.Tracked":             "tracks the tensor that it was made of",
}

// compared reports whether the results of a target are compared.
func compared(tg *target) bool {
	base, _, _ := strings.Cut(tg.name, "[")
	parts := strings.Split(base, ".")
	if strings.HasPrefix(base, "optim.") && parts[len(parts)-1] == "State" {
		return false // counters are on the CPU
	}
	if strings.HasPrefix(base, "models.New") {
		return false // parameters begin on the CPU: nn.On moves them
	}
	for i := range parts {
		if hostOnly[strings.Join(parts[:i+1], ".")] != "" {
			return false
		}
	}
	return true
}

// A mover moves the tensors that a value holds to a device, each once.
type mover struct {
	to    weft.Device
	moved map[*weft.Tensor]*weft.Tensor
	lists int  // that were moved
	stuck bool // a tensor cannot be read, or is too large to copy
}

// tensor returns t on the device. Leaves stay leaves. What cannot be read stays where it is.
func (m *mover) tensor(t *weft.Tensor) *weft.Tensor {
	if t == nil || isZero(t) {
		return t
	}
	if y := m.moved[t]; y != nil {
		return y
	}
	if t.Size() > maxRead {
		m.stuck = true
		return t
	}
	y := t
	err := weft.Try(func() {
		if !t.IsLeaf() {
			y = t.On(m.to)
			return
		}
		g := t.Grad()
		y = t.Detach().On(m.to)
		if t.RequiresGrad() {
			y = y.RequireGrad()
		}
		if g != nil {
			y.SetGrad(g.On(m.to))
		}
	})
	m.stuck = m.stuck || err != nil
	m.moved[t] = y
	return y
}

// value returns v with its tensors on the device: those in slices, maps, interfaces and structs.
// Structs behind pointers are changed in place.
func (m *mover) value(v reflect.Value, depth int) reflect.Value {
	if !v.IsValid() || depth > 10 {
		return v
	}
	if t, ok := v.Interface().(*weft.Tensor); ok {
		return reflect.ValueOf(m.tensor(t))
	}
	if l, ok := v.Interface().(*ragged.List); ok {
		if err := weft.Try(func() { l = l.On(m.to); m.lists++ }); err != nil {
			m.stuck = m.stuck || l != nil
		}
		return reflect.ValueOf(l)
	}
	if a, ok := v.Interface().(*records.Array); ok {
		if err := weft.Try(func() { a = a.On(m.to) }); err != nil {
			m.stuck = m.stuck || a != nil
		}
		return reflect.ValueOf(a)
	}
	switch v.Kind() {
	case reflect.Interface:
		if v.IsNil() {
			return v
		}
		out := reflect.New(v.Type()).Elem()
		out.Set(m.value(v.Elem(), depth+1))
		return out
	case reflect.Slice:
		if v.IsNil() || v.Len() > 1<<10 {
			return v
		}
		out := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		for i := range v.Len() {
			out.Index(i).Set(m.value(v.Index(i), depth+1))
		}
		return out
	case reflect.Map:
		if v.IsNil() {
			return v
		}
		out := reflect.MakeMap(v.Type())
		for _, k := range v.MapKeys() {
			out.SetMapIndex(k, m.value(v.MapIndex(k), depth+1))
		}
		return out
	case reflect.Struct:
		out := reflect.New(v.Type()).Elem()
		out.Set(v)
		m.fields(out, depth)
		return out
	case reflect.Pointer:
		if e := v.Type().Elem(); !v.IsNil() && e.Kind() == reflect.Struct && e.NumField() > 0 {
			m.fields(v.Elem(), depth)
		}
	}
	return v
}

func (m *mover) fields(v reflect.Value, depth int) {
	for i := range v.NumField() {
		switch f := v.Field(i); {
		case f.CanSet():
			f.Set(m.value(f, depth+1))
		case v.Type().Field(i).Anonymous && f.Kind() == reflect.Struct: // has settable fields
			m.fields(f, depth+1)
		}
	}
}

// callOn makes the call of a seed with its tensors on a device. It returns what shows, the panic if
// there was one, and the number of tensors that it was given. ok is false if the arguments cannot be
// made, or the call returned an error.
func callOn(tg *target, seed uint64, dev weft.Device) (d *digester, thrown *panicked, moved int, ok bool) {
	weft.Seed(seed)
	m := &memory{live: map[*block]bool{}}
	m.use()
	defer fence().from.Store(nil)
	g := &gen{r: rand.New(rand.NewPCG(seed, 0x770ef7)), m: m, dir: "."}
	defer func() {
		for _, s := range g.scopes {
			s.Close()
		}
		if p := profile.On(); p != nil {
			p.End()
		}
	}()
	args, thrown := g.arguments(tg)
	if thrown != nil || g.endless || steps(tg, args) > 1<<10 {
		return nil, thrown, 0, false
	}
	move := &mover{to: dev, moved: map[*weft.Tensor]*weft.Tensor{}}
	for i := range args {
		args[i] = move.value(args[i], 0)
	}
	if move.stuck {
		return nil, nil, 0, false
	}
	for i, l := range g.leaves {
		g.leaves[i] = move.tensor(l)
	}
	d = &digester{h: fnv.New64a(), seen: map[any]bool{}, most: maxRead}
	outs, thrown := guarded(tg, args)
	if thrown != nil {
		return d, thrown, len(move.moved) + move.lists, true
	}
	for _, o := range outs {
		if err, failed := o.Interface().(error); failed && err != nil {
			return nil, nil, len(move.moved) + move.lists, false
		}
	}
	_, thrown = safely(func() {
		for _, o := range outs {
			d.value(o, 0)
		}
		g.differentiate(d)
	})
	return d, thrown, len(move.moved) + move.lists, true
}

// compareOn returns what differs between a call with tensors of the CPU and the same call with tensors
// of a device, and whether it gave a value.
func compareOn(tg *target, seed uint64, dev weft.Device) (faults []string, value bool) {
	want, thrown, n, ok := callOn(tg, seed, weft.CPU)
	if !ok || thrown != nil || n == 0 {
		return nil, false
	}
	if again, _, _, _ := callOn(tg, seed, weft.CPU); again == nil || again.h.Sum64() != want.h.Sum64() {
		return nil, false // it counts its calls, or takes the time
	}
	if tg.name == "weft.Program.Tensors" {
		return nil, false // they lie where the program was loaded
	}
	got, thrown, n, ok := callOn(tg, seed, dev)
	switch {
	case !ok && n == 0:
		return nil, false // tensors cannot be moved
	case !ok:
		return []string{"gives an error"}, true
	case thrown != nil && strings.HasPrefix(tg.name, "ragged.List.") && strings.Contains(thrown.String(), "sizes change on the CPU"):
		return nil, false // a change of sizes, which is refused
	case thrown != nil && strings.HasPrefix(tg.name, "weft.Borrow[") && strings.Contains(thrown.String(), "a function that Borrow gave the memory to has not returned"):
		return nil, false // the function closes a scope, which the copy on the device belongs to
	case thrown != nil && tg.name == "ragged.List.Apply" && strings.Contains(thrown.String(), "x: is on cpu, the list on"):
		return nil, false // the function, which is not moved, returns a tensor of the CPU
	case thrown != nil:
		o, _ := judge(thrown, nil)
		if o == "untyped" {
			o = thrown.String() + "\n" + thrown.stack
		}
		return []string{"panics: " + o}, true
	case got.h.Sum64() != want.h.Sum64():
		return []string{fmt.Sprintf("gives\n\t%s\n\twant %s", strings.Join(got.text, "; "), strings.Join(want.text, "; "))}, true
	}
	for i, t := range got.out {
		if t.Device() != dev && !strings.HasPrefix(tg.name, "nn.New") && (t.Rank() > 0 || !strings.Contains(tg.name, "Expr") && !strings.Contains(tg.name, "Formula")) { // formulas may be constants, and parameters begin on the CPU
			return []string{fmt.Sprintf("result %d of shape %v is on %s", i, t.Shape(), t.Device())}, true
		}
	}
	return nil, true
}

// TestDevicesGiveTheSameBits calls every exported function and method with tensors of the CPU, and
// with the same tensors on a device whose memory the host does not reach. What the CPU computes, the
// device computes too: the results are there, with the same bits, and gradients likewise. Functions
// in hostOnly are left out.
//
//	WEFT_HOSTILE_DEVICES=20 go test -run Devices -timeout 0 ./internal/optest/hostile
//
// makes twenty calls of each.
func TestDevicesGiveTheSameBits(t *testing.T) {
	if s := os.Getenv("WEFT_HOSTILE_DEVICES_CHILD"); s != "" {
		devicesChild(s)
		return
	}
	if !limited {
		t.Skip("SKIPPED: nothing bounds the memory and the files of hostile calls on this platform")
	}
	var list []string
	for i := range targets {
		if compared(&targets[i]) {
			list = append(list, strconv.Itoa(i))
		}
	}
	values := inChildren(t, "WEFT_HOSTILE_DEVICES", list)
	for i := range targets {
		if n := targets[i].name; compared(&targets[i]) && strings.HasPrefix(n, "weft.Tensor.") && values[n] == 0 {
			t.Logf("never compared: %s", n)
		}
	}
}

// devicesChild makes the calls of a list of targets.
func devicesChild(what string) {
	parts := strings.SplitN(what, ",", 3)
	rounds, err := strconv.Atoi(parts[0])
	if err := cmp.Or(err, os.Chdir(parts[1]), limit(room)); err != nil {
		panic(err)
	}
	late := deferred.New(cpu.NewIn(mem.NewPool(), jit.Chosen().ISA), cpu.New(jit.Chosen().ISA))
	device.Register(late)
	dev, err := weft.DeviceByName(late.Name())
	if err != nil {
		panic(err)
	}
	for _, s := range strings.Fields(parts[2]) {
		i, _ := strconv.Atoi(s)
		tg := &targets[i]
		fmt.Printf("begin %d %s\n", i, tg.name)
		n := 0
		var faults []string
		for try := 0; n < rounds && try < 8*rounds && len(faults) == 0; try++ {
			f, ok := compareOn(tg, uint64(i+try*len(targets)), dev)
			if faults = f; ok {
				n++
			}
		}
		for _, f := range slices.Compact(faults) {
			fmt.Printf("fault %q\n", f)
		}
		fmt.Println("end", n > 0)
	}
}
