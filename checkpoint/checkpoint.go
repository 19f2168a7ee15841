package checkpoint

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"weft"
	"weft/nn"
	"weft/safetensors"
)

// A Part is something with a state. Optimizers and loaders are parts; [Module]
// and [Generator] make parts of modules and generators.
type Part interface {
	// State returns the state by name. It may be the part's own memory.
	State() map[string]*weft.Tensor
	// LoadState copies a state into the part, or returns an error and leaves it as
	// it was.
	LoadState(state map[string]*weft.Tensor) error
}

// Parts are what a checkpoint holds, by name. Names have no slash.
type Parts map[string]Part

// A PartError tells which part of a checkpoint could not be restored. Err is
// the part's own error, nil if the part is only in the file or only in the program.
type PartError struct {
	Part string
	Msg  string
	Err  error
}

func (e *PartError) Error() string {
	s := fmt.Sprintf("checkpoint: part %q", e.Part)
	if e.Msg != "" {
		s += " " + e.Msg
	}
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

func (e *PartError) Unwrap() error { return e.Err }

// format marks the files of this package.
const formatKey, format = "format", "weft.checkpoint.1"

// partsKey lists the parts; a part may hold no tensor.
const partsKey = "parts"

// Save writes the parts, and meta, which may be nil and holds strings of the
// program's own, to the file at path. The keys "format" and "parts" of meta are
// taken.
func Save(path string, parts Parts, meta map[string]string) error {
	tensors := map[string]*weft.Tensor{}
	names := slices.Sorted(maps.Keys(parts))
	for _, name := range names {
		if name == "" || strings.ContainsAny(name, "/,") {
			return fmt.Errorf("checkpoint: a part cannot be named %q", name)
		}
		if isNil(parts[name]) {
			return fmt.Errorf("checkpoint: part %q is nil", name)
		}
		for key, t := range parts[name].State() {
			tensors[name+"/"+key] = t
		}
	}
	all := map[string]string{formatKey: format, partsKey: strings.Join(names, ",")}
	for k, v := range meta {
		if _, taken := all[k]; taken {
			return fmt.Errorf("checkpoint: the key %q of the metadata is taken", k)
		}
		all[k] = v
	}
	if err := safetensors.WriteFile(path, tensors, all); err != nil {
		return fmt.Errorf("checkpoint: %w", err)
	}
	return nil
}

// Load restores the parts from the file at path and returns the strings that
// Save was given. File and program must have the same parts. If one cannot be
// restored, with a *[PartError], those restored before it are put back.
func Load(path string, parts Parts) (meta map[string]string, err error) {
	tensors, meta, err := safetensors.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("checkpoint: %w", err)
	}
	if meta[formatKey] != format {
		return nil, fmt.Errorf("checkpoint: %s is not a checkpoint: its format is %q, want %q", path, meta[formatKey], format)
	}
	states := map[string]map[string]*weft.Tensor{}
	if meta[partsKey] != "" {
		for name := range strings.SplitSeq(meta[partsKey], ",") {
			states[name] = map[string]*weft.Tensor{}
		}
	}
	for name, t := range tensors {
		part, key, _ := strings.Cut(name, "/")
		if states[part] == nil {
			return nil, fmt.Errorf("checkpoint: %s: tensor %q belongs to no part", path, name)
		}
		states[part][key] = t
	}
	for _, name := range slices.Sorted(maps.Keys(states)) {
		switch p, asked := parts[name]; {
		case !asked:
			return nil, &PartError{Part: name, Msg: "is in the file, but not asked for"}
		case isNil(p):
			return nil, &PartError{Part: name, Msg: "is nil"}
		}
	}
	names := slices.Sorted(maps.Keys(parts))
	for _, name := range names {
		if states[name] == nil {
			return nil, &PartError{Part: name, Msg: "is not in the file"}
		}
	}
	old := map[string]map[string]*weft.Tensor{}
	for _, name := range names {
		old[name] = map[string]*weft.Tensor{}
		state := parts[name].State()
		for _, key := range slices.Sorted(maps.Keys(state)) {
			t := state[key]
			if err := weft.Try(func() { old[name][key] = t.Detach().Clone() }); err != nil {
				return nil, &PartError{Part: name, Err: fmt.Errorf("state %q: %w", key, err)}
			}
		}
	}
	for i, name := range names {
		if err := parts[name].LoadState(states[name]); err != nil {
			for _, done := range names[:i] {
				if again := parts[done].LoadState(old[done]); again != nil {
					return nil, &PartError{Part: done, Msg: "could not be put back", Err: again}
				}
			}
			return nil, &PartError{Part: name, Err: err}
		}
	}
	delete(meta, formatKey)
	delete(meta, partsKey)
	return meta, nil
}

// isNil reports a part that is nothing, or a nil pointer such as an optimizer that was
// not made.
func isNil(p Part) bool {
	v := reflect.ValueOf(p)
	return !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil()
}

// Module is the parameters and buffers of a module, which must have the same
// names, shapes and types when they are restored.
func Module(m any) Part { return module{m} }

type module struct{ m any }

func (p module) State() map[string]*weft.Tensor { return nn.State(p.m) }

func (p module) LoadState(s map[string]*weft.Tensor) error { return nn.LoadState(p.m, s, true) }

// Generator is the state of a generator.
func Generator(g *weft.Generator) Part { return generator{g} }

type generator struct{ g *weft.Generator }

func (p generator) State() map[string]*weft.Tensor {
	s := p.g.State()
	return map[string]*weft.Tensor{"state": weft.FromSlice([]int64{int64(s.Seed), int64(s.Draw)})}
}

func (p generator) LoadState(s map[string]*weft.Tensor) error {
	t := s["state"]
	if len(s) != 1 || t == nil || t.DType() != weft.Int64 || t.Size() != 2 {
		return fmt.Errorf("checkpoint: no generator has this state")
	}
	x := weft.Data[int64](t)
	p.g.SetState(weft.GeneratorState{Seed: uint64(x[0]), Draw: uint64(x[1])})
	return nil
}
