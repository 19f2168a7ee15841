package nn

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"weft"
	"weft/internal/array"
	"weft/internal/core"
)

// State returns the parameters and buffers of a module by name. They are the
// module's own tensors, not copies. It panics with *weft.Error if two have the
// same name, as keys of maps with dots in them can give.
func State(m any) map[string]*weft.Tensor {
	s := map[string]*weft.Tensor{}
	for name, t := range tensors(m) {
		if s[name] != nil {
			array.Failf("state", "", "two tensors of the module are named %q", name)
		}
		s[name] = t
	}
	return s
}

// A StateError tells how a state does not fit a module.
type StateError struct {
	Missing    []string    // names in the module that the state lacks
	Unexpected []string    // names in the state that the module lacks
	Mismatched []Mismatch  // entries of another shape, or of a type that does not convert
	Untied     [][2]string // names of one tensor of the module with different values in the state
}

// A Mismatch is an entry of a state that cannot be copied into the module's
// tensor of that name.
type Mismatch struct {
	Name             string
	DType, WantDType weft.DType
	Shape, WantShape []int
}

func (m Mismatch) String() string {
	return fmt.Sprintf("%s is %s, want %s", m.Name, array.TypeString(m.DType, m.Shape), array.TypeString(m.WantDType, m.WantShape))
}

func (e *StateError) Error() string {
	var parts []string
	if len(e.Missing) > 0 {
		parts = append(parts, "missing "+strings.Join(e.Missing, ", "))
	}
	if len(e.Unexpected) > 0 {
		parts = append(parts, "unexpected "+strings.Join(e.Unexpected, ", "))
	}
	for _, m := range e.Mismatched {
		parts = append(parts, m.String())
	}
	for _, pair := range e.Untied {
		parts = append(parts, fmt.Sprintf("%s and %s are one tensor of the module and differ", pair[0], pair[1]))
	}
	return "nn: the state does not fit the module: " + strings.Join(parts, "; ")
}

// LoadState copies the tensors of a state into the module's tensors of the same
// names; gradients do not record it. An error, a *[StateError], leaves the
// module as it was. Unless strict, names that only one side has are skipped.
// Shapes must be equal. Element types must be equal too, but floats convert to the module's.
//
// A tensor that several paths of the module lead to, such as tied weights, may be in the state
// under any of its names. Its values must be the same under all names that the state has.
//
// A state dict of PyTorch, as a safetensors file holds it, is such a state for a module
// whose fields are named as the attributes there. Names that differ in case and
// underscores alone are the same, if nothing fits better: "layernorm.weight" loads into
// a field LayerNorm.
func LoadState(m any, state map[string]*weft.Tensor, strict bool) error {
	own := State(m)
	all := tied(m, own, state)
	state = renamed(state, all)
	var e StateError
	from := map[*weft.Tensor]string{} // names in the state, by tensor of the module
	for _, name := range slices.Sorted(maps.Keys(state)) {
		t, x := all[name], state[name]
		if t == nil {
			e.Unexpected = append(e.Unexpected, name)
			continue
		}
		first, twice := from[t]
		switch {
		case x == nil:
			e.Mismatched = append(e.Mismatched, Mismatch{Name: name, WantDType: t.DType(), WantShape: t.Shape()})
		case x.DType() != t.DType() && !(x.DType().Float() && t.DType().Float()) || !array.Equal(sizes(x), sizes(t)):
			e.Mismatched = append(e.Mismatched, Mismatch{name, x.DType(), t.DType(), x.Shape(), t.Shape()})
		case twice && !sameValues(state[first], x):
			e.Untied = append(e.Untied, [2]string{first, name})
		case !twice:
			from[t] = name
		}
	}
	for _, name := range slices.Sorted(maps.Keys(own)) {
		if _, ok := from[own[name]]; !ok && state[name] == nil {
			e.Missing = append(e.Missing, name)
		}
	}
	if len(e.Mismatched)+len(e.Untied) > 0 || strict && len(e.Missing)+len(e.Unexpected) > 0 {
		return &e
	}
	// All that can be refused is before anything is written.
	var to, values []*weft.Tensor
	for _, name := range slices.Sorted(maps.Keys(own)) {
		t := own[name]
		if at, ok := from[t]; ok {
			to, values = append(to, t.Detach()), append(values, state[at].Detach())
		}
	}
	for i := range to {
		to[i].Assign(values[i])
		(*core.Tensor)(values[i]).Unload()
	}
	return nil
}

// sameValues compares two entries of a state, of the same shape and of floats or one type.
func sameValues(x, y *weft.Tensor) bool {
	return x.Detach().IsClose(y.Detach(), weft.CloseOpts{Relative: new(0.0), Absolute: new(0.0), EqualNaN: true}).All().ItemInt() != 0
}

// tied returns own with the further names of its tensors, of those that several paths lead to. It
// follows paths only where names of the state begin with them, as there may be very many.
func tied(m any, own, state map[string]*weft.Tensor) map[string]*weft.Tensor {
	begin := map[string]bool{} // what folded names begin with
	for name := range state {
		if own[name] == nil {
			for i, c := range name {
				if c == '.' {
					begin[folded(name[:i])] = true
				}
			}
			begin[""], begin[folded(name)] = true, true
		}
	}
	all := maps.Clone(own)
	w := walker{seen: map[step]bool{}, enter: func(path string) bool { return begin[folded(path)] }}
	w.tensor = func(name string, t *weft.Tensor) bool {
		all[name] = t
		return true
	}
	w.walk("", reflect.ValueOf(m))
	return all
}

// renamed is a state with the names of own where the two differ in case and underscores
// alone, and in one way.
func renamed(state, own map[string]*weft.Tensor) map[string]*weft.Tensor {
	alike := map[string][]string{} // names in own that the state lacks
	for name := range own {
		if state[name] == nil {
			alike[folded(name)] = append(alike[folded(name)], name)
		}
	}
	taken := map[string]string{}
	out := maps.Clone(state)
	for _, name := range slices.Sorted(maps.Keys(state)) {
		to := alike[folded(name)]
		if own[name] != nil || len(to) != 1 || taken[to[0]] != "" {
			continue
		}
		taken[to[0]] = name
		delete(out, name)
		out[to[0]] = state[name]
	}
	return out
}

func folded(name string) string { return strings.ToLower(strings.ReplaceAll(name, "_", "")) }

// A Trainer is a layer that behaves differently in training. The methods of most
// have pointer receivers.
type Trainer interface {
	SetTraining(on bool)
}

// Train switches all layers of a module to training, the mode that they begin in.
// It panics with *weft.Error if a layer is not reachable through a pointer, or through
// an unexported field alone.
func Train(m any) { setTraining("train", m, true) }

// Eval switches all layers of a module out of training.
func Eval(m any) { setTraining("eval", m, false) }

var trainerType = reflect.TypeFor[Trainer]()

func setTraining(op string, m any, on bool) {
	w := walker{seen: map[step]bool{}, private: map[visit]bool{}}
	done := map[visit]bool{}
	w.value = func(name string, v reflect.Value) bool {
		switch v.Kind() {
		case reflect.Pointer, reflect.Interface:
			return true // what they point to follows
		}
		switch {
		case v.Type().Implements(trainerType) && v.CanInterface():
			v.Interface().(Trainer).SetTraining(on)
		case !reflect.PointerTo(v.Type()).Implements(trainerType):
		case !v.CanAddr():
			if name == "" {
				name = v.Type().String()
			}
			array.Failf(op, "m", "%s cannot be changed: pass a pointer to the module", name)
		case v.Addr().CanInterface():
			k := visit{v.Addr().Pointer(), v.Type(), 0}
			if !done[k] {
				done[k] = true
				v.Addr().Interface().(Trainer).SetTraining(on)
			}
		}
		return true
	}
	w.walk("", reflect.ValueOf(m))
	for _, h := range w.hidden {
		if h.tensor == nil && !done[h.layer] {
			array.Failf(op, "m", "%s is a layer that training switches, and unexported fields are not walked: export it", h.name)
		}
	}
}
