package gokernel

import (
	"fmt"

	"weft/internal/array"
	"weft/internal/op"
)

// Instances as files keep them: the source, and what was settled.

// A Saved is an [Instance] without its code.
type Saved struct {
	Files       []SavedFile
	Func        string
	Args        []array.DType
	Derivations []Derivation // the last one last
}

// A SavedFile is a source file.
type SavedFile struct{ Name, Src string }

// A Derivation says by which inputs which results are differentiated.
type Derivation struct{ Results, Inputs []int }

// Saved returns the instance as a file keeps it. The error says why it cannot: what proves that reads of
// arrays by index stay inside them is no part of a file.
func (i *Instance) Saved() (Saved, error) {
	if err := i.elementwise(); err != nil {
		return Saved{}, err
	}
	s := Saved{Func: i.f.name, Args: i.args}
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

// elementwise refuses an instance that reads arrays by index.
func (i *Instance) elementwise() error {
	if i.split || i.low != nil || len(i.proofs) > 0 {
		return fmt.Errorf("kernel %s reads arrays by index", i.f.name)
	}
	for _, in := range i.inputs {
		if in.Seen() != op.ByElement {
			return fmt.Errorf("kernel %s reads arrays by index", i.f.name)
		}
	}
	return nil
}

// Instance parses and checks the source again. The instance reads its arguments element by element.
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
	for _, d := range s.Derivations {
		for _, r := range d.Results {
			if r < 0 || r >= len(i.Results()) {
				return nil, fmt.Errorf("kernel %s has no result %d to differentiate", s.Func, r)
			}
		}
		for _, k := range d.Inputs {
			if k < 0 || k >= len(i.inputs) {
				return nil, fmt.Errorf("kernel %s has no input %d to differentiate by", s.Func, k)
			}
		}
		next := i.Derive(d.Results, d.Inputs)
		if next == nil {
			return nil, fmt.Errorf("kernel %s has no derivative of that kind", s.Func)
		}
		i = next
	}
	return i, i.elementwise()
}
