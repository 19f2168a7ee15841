package checkpoint_test

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"weft"
	"weft/checkpoint"
	"weft/data"
	"weft/nn"
	"weft/optim"
	"weft/safetensors"
)

// A run is a small training run with everything that a checkpoint holds.
type run struct {
	net    nn.Sequential
	opt    optim.Optimizer
	loader *data.Loader
	random *weft.Generator
}

func newRun(seed uint64) *run {
	r := &run{random: weft.NewGenerator(seed)}
	o := nn.Opts{Generator: r.random}
	r.net = nn.Sequential{nn.NewLinear(4, 8, o), nn.Tanh{}, &nn.Dropout{P: 0.3, Generator: r.random}, nn.NewLinear(8, 3, o)}
	r.opt = optim.NewAdam(nn.Params(r.net), optim.AdamOpts{LR: new(0.01)})
	g := weft.NewGenerator(99)
	r.loader = data.NewLoader(data.Tensors(g.Randn(50, 4), g.Randint(0, 3, 50)), data.LoaderOpts{Batch: new(8), Shuffle: true, Seed: 5})
	return r
}

func (r *run) parts() checkpoint.Parts {
	return checkpoint.Parts{"model": checkpoint.Module(r.net), "optim": r.opt, "loader": r.loader, "random": checkpoint.Generator(r.random)}
}

// train takes n steps.
func (r *run) train(t *testing.T, n int) {
	t.Helper()
	for n > 0 {
		for b, err := range r.loader.Batches(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			s := weft.NewScope()
			loss := nn.CrossEntropy(r.net.Forward(s.Track(b.X)), b.Y)
			r.opt.ZeroGrad()
			loss.Backward()
			r.opt.Step()
			s.Close()
			if n--; n == 0 {
				break
			}
		}
	}
}

func (r *run) weights() []float32 {
	var all []float32
	for _, p := range nn.Params(r.net) {
		all = append(all, weft.Data[float32](p)...)
	}
	return all
}

// TestResume interrupts runs at different steps, in the middle and at the end of
// epochs: each ends with the same bits as an unbroken one.
func TestResume(t *testing.T) {
	const steps = 20 // an epoch is 7
	whole := newRun(1)
	whole.train(t, steps)
	for _, at := range []int{0, 1, 6, 7, 8, 13, 19} {
		path := filepath.Join(t.TempDir(), "run.safetensors")
		first := newRun(1)
		first.train(t, at)
		if err := checkpoint.Save(path, first.parts(), map[string]string{"note": "x"}); err != nil {
			t.Fatal(err)
		}
		first.train(t, 1) // what was saved must not change any more
		second := newRun(2)
		meta, err := checkpoint.Load(path, second.parts())
		if err != nil {
			t.Fatal(err)
		}
		if !maps.Equal(meta, map[string]string{"note": "x"}) {
			t.Errorf("metadata %v", meta)
		}
		second.train(t, steps-at)
		if !slices.Equal(second.weights(), whole.weights()) {
			t.Errorf("interrupted at step %d, the run ends with other weights", at)
		}
	}
}

// TestLoadErrors refuses files that do not fit and leaves everything as it was.
func TestLoadErrors(t *testing.T) {
	dir := t.TempDir()
	saved := newRun(1)
	saved.train(t, 3)
	path := filepath.Join(dir, "good")
	if err := checkpoint.Save(path, saved.parts(), nil); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	// change returns the path of a file with other tensors or metadata.
	change := func(name string, f func(tensors map[string]*weft.Tensor, meta map[string]string)) string {
		tensors, meta, err := safetensors.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		f(tensors, meta)
		p := filepath.Join(dir, name)
		if err := safetensors.WriteFile(p, tensors, meta); err != nil {
			t.Fatal(err)
		}
		return p
	}
	cut := filepath.Join(dir, "cut")
	if err := os.WriteFile(cut, whole[:len(whole)-5], 0o666); err != nil {
		t.Fatal(err)
	}
	fewer := func(r *run) checkpoint.Parts { p := r.parts(); delete(p, "random"); return p }
	for name, c := range map[string]struct {
		path  string
		parts func(r *run) checkpoint.Parts
		part  string
		want  string
	}{
		"none":     {filepath.Join(dir, "absent"), (*run).parts, "", "no such file"},
		"cut":      {cut, (*run).parts, "", "cut"},
		"format":   {change("format", func(_ map[string]*weft.Tensor, m map[string]string) { m["format"] = "pt" }), (*run).parts, "", `its format is "pt"`},
		"stray":    {change("stray", func(s map[string]*weft.Tensor, _ map[string]string) { s["x/y"] = weft.Zeros(1) }), (*run).parts, "", "belongs to no part"},
		"not used": {path, fewer, "random", "not asked for"},
		"not there": {change("parts", func(s map[string]*weft.Tensor, m map[string]string) {
			m["parts"] = "loader,model,optim"
			delete(s, "random/state")
		}), (*run).parts, "random", "is not in the file"},
		// The parts before the one that fails are put back.
		"model":     {change("model", func(s map[string]*weft.Tensor, _ map[string]string) { s["model/0.weight"] = weft.Zeros(2) }), (*run).parts, "model", "0.weight is float32[2]"},
		"optimizer": {change("optim", func(s map[string]*weft.Tensor, _ map[string]string) { delete(s, "optim/mean.0.bias") }), (*run).parts, "optim", `"mean.0.bias" is missing`},
		"generator": {change("random", func(s map[string]*weft.Tensor, _ map[string]string) { s["random/state"] = weft.Zeros(2) }), (*run).parts, "random", "no generator"},
	} {
		r := newRun(2)
		r.train(t, 2)
		weights, steps := r.weights(), r.opt.State()["steps.0.weight"].ItemInt()
		_, err := checkpoint.Load(c.path, c.parts(r))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %s", name, err, c.want)
		}
		var e *checkpoint.PartError
		if c.part != "" && (!errors.As(err, &e) || e.Part != c.part) {
			t.Errorf("%s: error %v is not about the part %s", name, err, c.part)
		}
		if !slices.Equal(r.weights(), weights) || r.opt.State()["steps.0.weight"].ItemInt() != steps || r.loader.Next() != 2 {
			t.Errorf("%s: a refused checkpoint changed the run", name)
		}
	}
}

func TestSaveErrors(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	g := checkpoint.Generator(weft.NewGenerator(1))
	for _, p := range []checkpoint.Parts{{"": g}, {"a/b": g}, {"a,b": g}} {
		if checkpoint.Save(path, p, nil) == nil {
			t.Errorf("%v is saved", p)
		}
	}
	if checkpoint.Save(path, checkpoint.Parts{"g": g}, map[string]string{"format": "x"}) == nil {
		t.Error("the format is overwritten")
	}
	if checkpoint.Save(filepath.Join(path, "not", "there"), checkpoint.Parts{"g": g}, nil) == nil {
		t.Error("a file in no directory is saved")
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("a failed save left a file")
	}
}
