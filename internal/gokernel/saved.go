package gokernel

import (
	"fmt"
	"slices"

	"weft/internal/array"
	"weft/internal/op"
)

// Instances as files keep them: the source, and what was settled. What proves that reads of arrays by index
// stay inside them is no part of a file, since files are not trusted: an instance of a file is
// [Instance.Checked].

// A Saved is an [Instance] without its code.
type Saved struct {
	Files       []SavedFile
	Func        string
	Args        []array.DType
	Derivations []Derivation // the last one last
	Split       bool         // see [Instance.Split]
}

// A SavedFile is a source file.
type SavedFile struct{ Name, Src string }

// A Derivation says by which inputs which results are differentiated. An input may be one read of an array.
type Derivation struct{ Results, Inputs []int }

// Saved returns the instance as a file keeps it. The error says why it cannot: it reads neighbours at
// offsets that it computes.
func (i *Instance) Saved() (Saved, error) {
	if err := i.savable(); err != nil {
		return Saved{}, err
	}
	s := Saved{Func: i.f.name, Args: i.args, Split: i.split}
	var files []File
	for _, f := range i.f.src.files {
		files = append(files, File{Name: f.name, Src: f.src})
	}
	if hashOf(files) != i.f.src.hash { // a file without a name
		for k := range files {
			if files[k].Name == noName {
				files[k].Name = ""
			}
		}
	}
	for _, f := range files {
		s.Files = append(s.Files, SavedFile{f.Name, string(f.Src)})
	}
	for _, w := range i.wrt {
		s.Derivations = append(s.Derivations, Derivation{w.results, w.inputs})
	}
	return s, nil
}

// savable refuses an instance that reads neighbours at offsets that it computes.
func (i *Instance) savable() error {
	for _, in := range i.inputs {
		if in.Seen() == op.Near {
			return fmt.Errorf("kernel %s reads neighbours at offsets that are not constant", i.f.name)
		}
	}
	return nil
}

// readsArrays reports an instance that reads arrays by index.
func (i *Instance) readsArrays() bool {
	return slices.ContainsFunc(i.inputs, func(in Input) bool { return in.Seen() == op.Whole })
}

// Instance parses and checks the source again.
func (s Saved) Instance() (*Instance, error) {
	files := make([]File, len(s.Files))
	for k, f := range s.Files {
		files[k] = File{Name: f.Name, Src: []byte(f.Src)}
	}
	src, err := Parse(files...)
	if err != nil {
		return nil, err
	}
	f, err := src.Func(s.Func)
	if err != nil {
		return nil, err
	}
	i, err := f.Instantiate(s.Args)
	if err != nil {
		return nil, err
	}
	if s.Split {
		if i = i.Split(); i == nil {
			return nil, fmt.Errorf("kernel %s reads neighbours at offsets that are not constant", s.Func)
		}
	}
	if i.readsArrays() {
		i = i.Checked()
	}
	for _, d := range s.Derivations {
		if i, err = i.derivedAgain(d); err != nil {
			return nil, err
		}
	}
	return i, i.savable()
}

// derivedAgain differentiates as a file says.
func (i *Instance) derivedAgain(d Derivation) (*Instance, error) {
	for _, r := range d.Results {
		if r < 0 || r >= len(i.Results()) {
			return nil, fmt.Errorf("kernel %s has no result %d to differentiate", i.f.name, r)
		}
	}
	if len(d.Inputs) == 0 {
		return nil, fmt.Errorf("kernel %s is differentiated by nothing", i.f.name)
	}
	reads := d.Inputs[0]>>readShift > 0
	for _, k := range d.Inputs {
		if k < 0 || inputOf(k) >= len(i.inputs) || k>>readShift > 0 != reads || inputOf(k) != inputOf(d.Inputs[0]) && reads {
			return nil, fmt.Errorf("kernel %s has no input %d to differentiate by", i.f.name, k)
		}
		if !reads {
			continue
		}
		in := i.inputs[inputOf(k)]
		if n, err := i.Reads(inputOf(k)); err != nil || in.Seen() != op.Whole || !in.DType.Float() || k>>readShift > n {
			return nil, fmt.Errorf("kernel %s has no such read of input %d to differentiate by", i.f.name, inputOf(k))
		}
	}
	derive := i.Derive
	if reads {
		derive = i.derive
	}
	if next := derive(d.Results, d.Inputs); next != nil {
		return next, nil
	}
	return nil, fmt.Errorf("kernel %s has no derivative of that kind", i.f.name)
}
