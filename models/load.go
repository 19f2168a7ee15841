package models

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"weft"
	"weft/internal/array"
	"weft/internal/core"
	"weft/nn"
	"weft/safetensors"
	"weft/torchfile"
)

// A Form is a way in which files hold the weights of a model: the names and layouts of a library.
type Form struct {
	Name string // such as "torchvision"
	// Tensors has, by their names in a file, the tensors of the model, or views of them where the
	// file has another layout: a transpose, or the rows of one of three joined matrices. Tied weights
	// are the same tensor under several names, and a file may lack all names but one.
	Tensors map[string]*weft.Tensor
	// Optional says which names a file may lack; nil for none.
	Optional func(name string) bool
	// Ignored says which names of a file are not weights of the model, such as masks; nil for none.
	Ignored func(name string) bool
}

// Published is a model whose weights files hold in other ways than nn.State does. The first form is
// the one that [Save] and [State] use where none is named.
type Published interface {
	Forms() []Form
}

// FormNames is the form that every model has which is not [Published]: the names of nn.State.
const FormNames = "names"

// formsOf returns the forms of a model, one or more.
func formsOf(m any) []Form {
	if p, ok := m.(Published); ok {
		if forms := p.Forms(); len(forms) > 0 {
			return forms
		}
	}
	return []Form{{Name: FormNames, Tensors: nn.State(m), Optional: batchCount}}
}

// batchCount says which names count the batches of a batch normalisation. Files of the first years of
// PyTorch lack them.
func batchCount(name string) bool { return strings.HasSuffix(name, "num_batches_tracked") }

// LoadOpts are the options of [Load] and [LoadState].
type LoadOpts struct {
	// Skip has beginnings of names, such as "fc.": the model keeps its own tensors of such names, and
	// the file may have any.
	Skip []string
	// Partial skips names that only the model or only the file has.
	Partial bool
	// Map leaves weights in the files, which are mapped: tensors of the model whose type, shape and layout are the
	// file's get its memory, the others are copied. The system reads pages when they are touched, and processes share
	// them. Training changes memory, never a file. The files must not be written or cut while the model is used,
	// but may be replaced or removed. In LoadState the model gets memory of the state, whose tensors must not be written.
	Map bool
}

// Load copies the weights of files into a model, which keeps its own memory and element types; floats
// convert. [ReadState] says which files these can be: safetensors, or of torch.save. Names in the file may
// be in any form of the model: Load takes the form that has most of them. If the file does not fit, the
// error is a *nn.StateError, which lists all that is missing, unexpected or of another shape, and the model
// is as it was. Load leaves the mode of the model: a network for use wants nn.Eval.
func Load(m any, path string, opts ...LoadOpts) error {
	state, err := ReadState(path, ReadStateOpts{Map: true}) // copied from there, unless the model gets the memory
	if err != nil {
		return err
	}
	return LoadState(m, state, opts...)
}

// LoadState is [Load] from tensors by name.
func LoadState(m any, state map[string]*weft.Tensor, opts ...LoadOpts) error {
	o := array.Options("load", opts)
	var form Form
	most := -1
	for _, f := range formsOf(m) {
		n := 0
		for name := range state {
			if f.Tensors[name] != nil {
				n++
			}
		}
		if n > most {
			form, most = f, n
		}
	}
	skipped := func(name string) bool { return hasAnyPrefix(name, o.Skip) }
	own, given := map[string]*weft.Tensor{}, maps.Clone(state)
	maps.DeleteFunc(given, func(name string, _ *weft.Tensor) bool {
		return skipped(name) || form.Tensors[name] == nil && form.Ignored != nil && form.Ignored(name)
	})
	for name, t := range form.Tensors {
		optional := form.Optional != nil && form.Optional(name)
		if !skipped(name) && !(optional && given[name] == nil) {
			own[name] = t
		}
	}
	var adopted map[*weft.Tensor]*weft.Tensor
	if o.Map {
		adopted = adoptable(m, own, given)
	}
	if err := nn.LoadState(own, given, !o.Partial); err != nil {
		return err
	}
	for t, x := range adopted {
		(*core.Tensor)(t).Adopt((*core.Tensor)(x))
	}
	return nil
}

// adoptable returns tensors of the state that tensors of the model can have the memory of, by those, and takes both out
// of own and given. Copied are views of the model's tensors, tensors that the state has under several names, and ones that
// share memory.
func adoptable(m any, own, given map[string]*weft.Tensor) map[*weft.Tensor]*weft.Tensor {
	whole, names, users := map[*weft.Tensor]bool{}, map[*weft.Tensor][]string{}, map[*array.Storage]int{}
	for _, t := range nn.State(m) {
		whole[t] = true
	}
	for name, t := range own {
		if given[name] != nil {
			names[t] = append(names[t], name)
		}
	}
	for _, x := range given {
		if x != nil {
			users[(*core.Tensor)(x).View().Store]++
		}
	}
	out := map[*weft.Tensor]*weft.Tensor{}
	for t, at := range names {
		x := given[at[0]]
		if whole[t] && len(at) == 1 && users[(*core.Tensor)(x).View().Store] == 1 && (*core.Tensor)(t).CanAdopt((*core.Tensor)(x)) {
			out[t] = x
			delete(given, at[0])
		}
	}
	maps.DeleteFunc(own, func(_ string, t *weft.Tensor) bool { return out[t] != nil })
	return out
}

// hasAnyPrefix reports whether a name begins with one of some prefixes.
func hasAnyPrefix(name string, prefixes []string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(name, p) })
}

// State returns the weights of a model by their names in files, in the form of that name, or in the
// first one if the name is "". They are the model's own tensors, or views of them. It panics with
// *weft.Error if the model does not have the form.
func State(m any, form string) map[string]*weft.Tensor {
	forms := formsOf(m)
	var names []string
	for _, f := range forms {
		if form == "" || f.Name == form {
			return f.Tensors
		}
		names = append(names, f.Name)
	}
	array.Failf("state", "form", "is %q, the model has %s", form, strings.Join(names, ", "))
	return nil
}

// SaveOpts are the options of [Save].
type SaveOpts struct {
	Form     string            // the names and layouts of the file; "" means the model's first form
	Metadata map[string]string // of a safetensors file; nil means format: pt, which transformers wants
}

// Save writes the weights of a model to a file, which it replaces as a whole. A path that ends in .pt, .pth
// or .bin gets the format of torch.save, which torch.load reads; any other a safetensors file. It panics as
// [State] does, and if a file of torch.save is to have Metadata.
func Save(m any, path string, opts ...SaveOpts) error {
	o := array.Options("save", opts)
	switch filepath.Ext(path) {
	case ".pt", ".pth", ".bin":
		if o.Metadata != nil {
			array.Failf("save", "Metadata", "is for safetensors files: %s gets the format of torch.save", path)
		}
		return torchfile.WriteFile(path, State(m, o.Form))
	}
	if o.Metadata == nil {
		o.Metadata = map[string]string{"format": "pt"}
	}
	return safetensors.WriteFile(path, State(m, o.Form), o.Metadata)
}
