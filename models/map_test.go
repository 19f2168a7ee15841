package models_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"weft"
	"weft/internal/core"
	"weft/models"
	"weft/nn"
	"weft/optim"
)

// inFile reports whether the memory of a tensor is that of a mapped file.
func inFile(x *weft.Tensor) bool {
	_, ok := (*core.Tensor)(x).View().Store.Owner().(interface{ Unload() })
	return ok
}

// A model whose weights stay in a file has the values of one that copied them, trains to the same weights, and leaves the
// file as it is; the file may go. Views of tensors, other element types and tensors under several names are copied.
func TestWeightsStayInFiles(t *testing.T) {
	vit := func() *models.ViT {
		return models.NewViT(4, 1, 2, 32, 64, models.ViTOpts{Classes: new(3), Size: new(8), Generator: weft.NewGenerator(1)})
	}
	dir := t.TempDir()
	for _, form := range []string{models.FormNames, "torchvision", "transformers"} {
		for _, file := range []string{"w.safetensors", "w.pt"} {
			path := filepath.Join(dir, form+file)
			saved := vit()
			fill(t, saved, "")
			if form == models.FormNames {
				form = ""
			}
			if err := models.Save(saved, path, models.SaveOpts{Form: form}); err != nil {
				t.Fatal(form, err)
			}
			before, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			copied, stays := vit(), vit()
			if err := models.Load(copied, path); err != nil {
				t.Fatal(err)
			}
			if err := models.Load(stays, path, models.LoadOpts{Map: true}); err != nil {
				t.Fatal(err)
			}
			joined := nn.State(stays)["encoder.layers.0.self_attention.in_proj_weight"]
			reached := (*core.Tensor)(copied.PosEmbedding).Reached() // other devices copy
			if inFile(stays.PosEmbedding) != reached || inFile(copied.PosEmbedding) || joined == nil || inFile(joined) != (reached && form != "transformers") {
				t.Errorf("%s %s: weights lie elsewhere", form, file)
			}
			x := weft.NewGenerator(2).Normal(0, 1, 2, 3, 8, 8)
			for step := range 2 {
				if a, b := weft.DigestNamed(nn.Params(copied)), weft.DigestNamed(nn.Params(stays)); a != b {
					t.Errorf("%s %s: other weights after %d steps", form, file, step)
				}
				for _, net := range []*models.ViT{copied, stays} {
					opt := optim.NewSGD(nn.Params(net), optim.SGDOpts{LR: new(0.1)})
					net.Forward(x).Square().Mean().Backward()
					opt.Step()
				}
			}
			if after, err := os.ReadFile(path); err != nil || !bytes.Equal(before, after) {
				t.Errorf("%s %s: the file was written", form, file)
			}
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			stays.Forward(x)
		}
	}
	w, tied := weft.Ones(3, 4), weft.Ones(3, 4)
	state := map[string]*weft.Tensor{"a": w, "b": tied, "c": tied, "d": w.Index(0)}
	net := map[string]*weft.Tensor{"a": weft.Zeros(3, 4), "b": weft.Zeros(3, 4), "c": weft.Zeros(3, 4), "d": weft.Zeros(4)}
	if err := models.LoadState(net, state, models.LoadOpts{Map: true}); err != nil {
		t.Fatal(err)
	}
	net["a"].Fill(2)
	net["b"].Fill(3)
	if net["c"].At(0, 0).Item() != 1 || net["d"].At(0).Item() != 1 || w.At(0, 0).Item() != 1 {
		t.Error("tensors of a state that share memory share it in the model")
	}
	half, wide := map[string]*weft.Tensor{"w": weft.Zeros(2).To(weft.Float16)}, weft.Ones(2)
	before := weft.DigestNamed(nn.Params(vit()))
	if err := models.LoadState(half, map[string]*weft.Tensor{"w": wide}, models.LoadOpts{Map: true}); err != nil || half["w"].DType() != weft.Float16 || half["w"].Sum().Item() != 2 {
		t.Errorf("%v: float16 weights are %v", err, half["w"])
	}
	refused := vit()
	if err := models.LoadState(refused, map[string]*weft.Tensor{"pos_embedding": weft.Zeros(1, 5, 32)}, models.LoadOpts{Map: true}); err == nil || weft.DigestNamed(nn.Params(refused)) != before {
		t.Errorf("%v: a refused state changed the model", err)
	}
}
