package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	_ "weft/kernel" // what saved programs can hold
	_ "weft/ragged"
	_ "weft/safetensors"
	_ "weft/sym"

	"weft"
)

// running is what the command line of run asks for.
type running struct {
	output list
	save   text
	device string
	json   bool
}

func newRun() *command {
	r := &running{}
	f := newFlags()
	f.Var(&r.output, "output", "write a result to this .npy `file`: the results in their order, or name:file.npy; may be repeated")
	f.Var(&r.save, "save", "write the program, with its tensors as they are after the call, to this `file`")
	f.StringVar(&r.device, "device", "", deviceHelp)
	f.BoolVar(&r.json, "json", false, "print the results as JSON, a value a line")
	return &command{
		name:     "run",
		operands: "FILE.weft|MODEL.onnx [NAME=VALUE]...",
		flags:    f,
		short:    "Run a saved program or an ONNX model",
		long: `Run a compiled function that a Go program saved with weft.Compiled.Save or
sym.Fn.Save, without that program: the file holds its operations, constants
and weights. Or run a model in an ONNX file, whose inputs and outputs are
tensors. weft info FILE shows what the file takes and gives.

` + valueHelp + `

Results without a place of -o are printed if there is no -o at all, and left
out otherwise. ` + outputHelp,
		usage: `  weft run mlp.weft x=digits.npy -o y.npy
  weft run resnet50.onnx input=x.npy -o y.npy
  weft run step.weft x=x.npy labels=labels.npy --save step.weft`,
		check: func(args []string) error {
			switch {
			case len(args) == 0:
				return errors.New("a file is missing, such as: weft run f.weft x=x.npy -o y.npy")
			case isModel(args[0]) && r.save != "":
				return errors.New("--save is of saved programs: a model does not change")
			case isModel(args[0]) && r.device != "":
				return errors.New("--device is of saved programs: models run on the CPU")
			}
			return nil
		},
		run: func(s *streams, args []string) error { return r.run(s, args[0], args[1:]) },
	}
}

func (r *running) run(s *streams, path string, bindings []string) error {
	dev, err := weft.DeviceByName(r.device)
	if err != nil {
		return failure{err}
	}
	p, err := load(path, dev)
	if err != nil {
		return err
	}
	args, err := arguments(s, "run", path, p.inputs, bindings, dev)
	if err != nil {
		return err
	}
	places, err := r.places(path, p.outputs)
	if err != nil {
		return err
	}
	if err := s.claimArrays("run", len(places) == 0, slices.Collect(maps.Values(places))...); err != nil {
		return err
	}
	if r.save != "" {
		if err := s.claim("run", "a saved program", "weft.pr\n", string(r.save)); err != nil {
			return err
		}
	}
	results, err := p.call(args)
	if err != nil {
		return failure{err}
	}
	for i, name := range p.outputs {
		place, ok := places[i]
		switch {
		case ok:
			if err := s.write(name, place, results[i]); err != nil {
				return err
			}
		case len(places) > 0:
		default:
			if len(results) > 1 && !r.json {
				fmt.Fprintf(s.out, "%s = ", name)
			}
			if err := printResult(s.out, results[i], r.json); err != nil {
				return failf("print %s: %w", name, err)
			}
		}
	}
	if r.save != "" {
		if err := p.save(string(r.save)); err != nil {
			return failf("write %s: %w", r.save, plain(err))
		}
	}
	return nil
}

// arguments returns what NAME=VALUE gives a program, on a device.
func arguments(s *streams, name, path string, inputs []weft.ProgramValue, bindings []string, dev weft.Device) ([]*weft.Tensor, error) {
	var names []string
	defaults := map[string]any{}
	for _, in := range inputs {
		names = append(names, in.Name)
		if in.Default != nil {
			defaults[in.Name] = in.Default
		}
	}
	vars, err := s.values(name, path, "input", names, bindings, defaults)
	if err != nil {
		return nil, err
	}
	args := make([]*weft.Tensor, len(names))
	for i, in := range inputs {
		err := weft.Try(func() {
			t, ok := vars[in.Name].(*weft.Tensor)
			if !ok {
				t = weft.FullOf(in.DType, vars[in.Name])
			}
			args[i] = t.On(dev)
		})
		if err != nil {
			return nil, failf("%s: %w", in.Name, err)
		}
	}
	return args, nil
}

// places are the files of results by their number.
func (r *running) places(path string, names []string) (map[int]string, error) {
	places := map[int]string{}
	for i, o := range r.output {
		at := i
		if name, file, ok := strings.Cut(o, ":"); ok {
			switch k := slices.Index(names, name); {
			case k >= 0:
				at, o = k, file
			case !isPath(name, file):
				return nil, fmt.Errorf("run: -o %s: %s has no result %s; it has %s", o, path, name, listed(names))
			}
		}
		if at >= len(names) {
			return nil, fmt.Errorf("run: -o %s: the program has %d results", o, len(names))
		}
		if places[at] != "" {
			return nil, fmt.Errorf("run: two files for the result %s", names[at])
		}
		places[at] = o
	}
	return places, nil
}

// isPath reports that NAME:FILE is one path: that of a Windows drive, or one with a colon in its folders.
func isPath(name, file string) bool {
	drive := len(name) == 1 && strings.HasPrefix(file, `\`)
	return drive || strings.ContainsAny(name, `/\`)
}

// describe prints what a saved program or a model takes and gives, and what is in its file.
func describe(w io.Writer, path string) error {
	if isModel(path) {
		return describeModel(w, path)
	}
	p, err := weft.LoadProgram(path)
	if err != nil {
		return failure{err}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "program      %s, operations of version %d\n", p.Name(), p.OpSet())
	for _, v := range p.Inputs() {
		fmt.Fprintf(&b, "input        %s %s", v.Name, v)
		if v.Default != nil {
			b.WriteString(", may be left out")
		}
		b.WriteString("\n")
	}
	for _, v := range p.Outputs() {
		fmt.Fprintf(&b, "output       %s %s\n", v.Name, v)
	}
	tensors := p.Tensors()
	bytes := 0
	for _, name := range slices.Sorted(maps.Keys(tensors)) {
		t := tensors[name]
		bytes += t.Size() * t.DType().Size()
		fmt.Fprintf(&b, "tensor       %s %s%s\n", name, t.DType(), strings.ReplaceAll(fmt.Sprint(t.Shape()), ",", ""))
	}
	fmt.Fprintf(&b, "tensors      %s in %d\n", kibi(bytes), len(tensors))
	counts := p.Operations()
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		parts = append(parts, fmt.Sprintf("%d %s", counts[name], name))
	}
	fmt.Fprintf(&b, "operations   %s\n", listed(parts))
	_, err = io.WriteString(w, b.String())
	return err
}
