package models_test

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"weft"
	"weft/models"
	"weft/nn"
	"weft/safetensors"
	"weft/torchfile"
)

func tinyResNet(classes int) *models.ResNet {
	return models.NewResNet([4]int{1, 1, 1, 1}, false, models.ResNetOpts{Width: new(4), Classes: &classes, Generator: weft.NewGenerator(1)})
}

// A file that a model was loaded from is written again byte for byte.
func TestFilesGoBackAsTheyCame(t *testing.T) {
	dir := t.TempDir()
	net := tinyResNet(3)
	fill(t, net, "")
	first, second := filepath.Join(dir, "a.safetensors"), filepath.Join(dir, "b.safetensors")
	if err := models.Save(net, first); err != nil {
		t.Fatal(err)
	}
	other := tinyResNet(3)
	if err := models.Load(other, first); err != nil {
		t.Fatal(err)
	}
	if err := models.Save(other, second); err != nil {
		t.Fatal(err)
	}
	a, err := os.ReadFile(first)
	b, err2 := os.ReadFile(second)
	if err != nil || err2 != nil || string(a) != string(b) {
		t.Errorf("%v %v: %d bytes, written again %d", err, err2, len(a), len(b))
	}
	state, meta, err := safetensors.ReadFile(first)
	if err != nil || meta["format"] != "pt" || state["layer2.0.downsample.1.num_batches_tracked"] == nil {
		t.Errorf("%v: metadata %v, names %q", err, meta, slices.Sorted(maps.Keys(state)))
	}
}

// One error lists all names that do not fit, and the model stays as it was.
func TestLoadListsAllThatDoesNotFit(t *testing.T) {
	net := tinyResNet(3)
	before := weft.DigestNamed(nn.Params(net))
	state := maps.Clone(models.State(tinyResNet(5), ""))
	delete(state, "conv1.weight")
	delete(state, "layer4.0.bn2.running_var")
	state["head.weight"], state["layer9.weight"] = weft.Zeros(2), weft.Zeros(2)
	err := models.LoadState(net, state)
	var e *nn.StateError
	if !errors.As(err, &e) {
		t.Fatalf("error %v", err)
	}
	if want := []string{"conv1.weight", "layer4.0.bn2.running_var"}; !slices.Equal(e.Missing, want) {
		t.Errorf("missing %q, want %q", e.Missing, want)
	}
	if want := []string{"head.weight", "layer9.weight"}; !slices.Equal(e.Unexpected, want) {
		t.Errorf("unexpected %q, want %q", e.Unexpected, want)
	}
	if len(e.Mismatched) != 2 || e.Mismatched[0].Name != "fc.bias" || !slices.Equal(e.Mismatched[1].Shape, []int{5, 32}) {
		t.Errorf("of another shape %v", e.Mismatched)
	}
	if got := weft.DigestNamed(nn.Params(net)); got != before {
		t.Error("a refused file changed the model")
	}
	if err := models.Load(net, filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}

// Skip keeps a new last layer, Partial takes what fits, and counts of batches may be missing.
func TestLoadOptions(t *testing.T) {
	from := tinyResNet(5)
	fill(t, from, "")
	state := maps.Clone(models.State(from, ""))
	maps.DeleteFunc(state, func(name string, _ *weft.Tensor) bool { return strings.HasSuffix(name, "num_batches_tracked") })
	if err := models.LoadState(tinyResNet(5), state); err != nil {
		t.Errorf("without counts of batches: %v", err)
	}
	net := tinyResNet(3)
	fc := net.FC.Weight.Detach().Clone()
	if err := models.LoadState(net, state, models.LoadOpts{Skip: []string{"fc."}}); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(weft.Data[float32](net.Conv1.Weight), weft.Data[float32](from.Conv1.Weight)) || !slices.Equal(weft.Data[float32](net.FC.Weight), weft.Data[float32](fc)) {
		t.Error("other tensors were loaded")
	}
	delete(state, "bn1.weight")
	state["more"] = weft.Zeros(1)
	if err := models.LoadState(tinyResNet(5), state, models.LoadOpts{Partial: true}); err != nil {
		t.Errorf("in part: %v", err)
	}
}

// joined has one matrix where files have two, and the transpose of another.
type joined struct{ Both, Turned *weft.Tensor }

func (m *joined) Forms() []models.Form {
	both, turned := m.Both.Detach(), m.Turned.Detach().T()
	tensors := map[string]*weft.Tensor{
		"query.weight": both.Slice(weft.Range(0, 2)), "key.weight": both.Slice(weft.Range(2, 4)),
		"turned.weight": turned, "tied.weight": turned,
	}
	prefixed := map[string]*weft.Tensor{}
	for name, x := range tensors {
		prefixed["base."+name] = x
	}
	mask := func(name string) bool { return strings.HasSuffix(name, "mask") }
	return []models.Form{{Name: "plain", Tensors: tensors, Ignored: mask}, {Name: "prefixed", Tensors: prefixed}}
}

// Forms with other names and layouts are found by the names of the file, and go back.
func TestForms(t *testing.T) {
	m := &joined{nn.Param(weft.Zeros(4, 3)), nn.Param(weft.Zeros(2, 3))}
	file := map[string]*weft.Tensor{
		"base.query.weight": counter("q", 2, 3), "base.key.weight": counter("k", 2, 3), "base.turned.weight": counter("t", 3, 2),
	}
	if err := models.LoadState(m, file); err != nil {
		t.Fatal(err)
	}
	if got, want := m.Both.Detach().Slice(weft.Index(3)), file["base.key.weight"].Slice(weft.Index(1)); !slices.Equal(weft.Data[float32](got), weft.Data[float32](want)) {
		t.Errorf("last row %v, want %v", got, want)
	}
	if got, want := m.Turned.Detach().T(), file["base.turned.weight"]; !slices.Equal(weft.Data[float32](got), weft.Data[float32](want)) {
		t.Errorf("%v, want %v", got, want)
	}
	for name, x := range models.State(m, "prefixed") {
		if want := file[name]; want != nil && !slices.Equal(weft.Data[float32](x), weft.Data[float32](want)) {
			t.Errorf("%s goes back as %v, came as %v", name, x, want)
		}
	}
	file = map[string]*weft.Tensor{"query.weight": counter("q", 2, 3), "key.weight": counter("k", 2, 3), "turned.weight": counter("t", 3, 2), "mask": weft.Zeros(1)}
	if err := models.LoadState(m, file); err != nil {
		t.Errorf("with a mask: %v", err)
	}
	file["tied.weight"] = counter("other", 3, 2)
	if err := models.LoadState(m, file); err == nil || !strings.Contains(err.Error(), "are one tensor") {
		t.Errorf("tied weights that differ: %v", err)
	}
	if err := weft.Try(func() { models.State(m, "keras") }); err == nil || !strings.Contains(err.Error(), `form: is "keras", the model has plain, prefixed`) {
		t.Errorf("a form that the model does not have: %v", err)
	}
}

// TestSaveByEnding: a path that ends as PyTorch's do gets the format of torch.save, with the layout of the form.
func TestSaveByEnding(t *testing.T) {
	net := models.NewGPT2(models.GPT2Opts{Vocab: new(20), Context: new(8), Width: new(8), Layers: new(1), Heads: new(2)})
	for _, name := range []string{"a.pth", "a.pt", "pytorch_model.bin"} {
		path := filepath.Join(t.TempDir(), name)
		if err := models.Save(net, path); err != nil {
			t.Fatal(err)
		}
		state, err := torchfile.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for name, x := range models.State(net, "") {
			if y := state[name]; y == nil || !slices.Equal(weft.Data[float32](x.Clone()), weft.Data[float32](y.Clone())) {
				t.Errorf("%s: %s is %v", path, name, y)
			}
		}
	}
	path := filepath.Join(t.TempDir(), "a.pth")
	if err := weft.Try(func() { models.Save(net, path, models.SaveOpts{Metadata: map[string]string{"a": "b"}}) }); err == nil || !strings.Contains(err.Error(), "Metadata") {
		t.Errorf("metadata in a file of torch.save: %v", err)
	}
	if err := os.WriteFile(path, []byte("\x89PNG\r\n\x1a\n and so on"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := models.Load(net, path); err == nil || !strings.Contains(err.Error(), "is neither a safetensors file nor one of torch.save") {
		t.Errorf("a picture: %v", err)
	}
}
