package checkpoint_test

import (
	"context"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"weft"
	"weft/checkpoint"
	"weft/data"
	"weft/nn"
	"weft/optim"
	"weft/safetensors"
)

// oldModel has the names of the module in testdata/v0.ckpt.
type oldModel struct {
	Embed *nn.Embedding
	Conv  *nn.Conv2d
	Norm  *nn.BatchNorm2d
	LSTM  *nn.LSTM
	Heads map[string]*nn.Linear
}

// TestCheckpointOfOtherTypes refuses a file with tensors that cannot be read, and names them.
func TestCheckpointOfOtherTypes(t *testing.T) {
	head := `{"__metadata__":{"format":"weft.checkpoint.1","parts":"m"},"m/w":{"dtype":"F4","shape":[2],"data_offsets":[0,1]}}`
	path := filepath.Join(t.TempDir(), "f4.ckpt")
	if err := os.WriteFile(path, append(append(binary.LittleEndian.AppendUint64(nil, uint64(len(head))), head...), 0), 0o600); err != nil {
		t.Fatal(err)
	}
	w := weft.Ones(2)
	_, err := checkpoint.Load(path, checkpoint.Parts{"m": checkpoint.Module(&struct{ W *weft.Tensor }{w})})
	var left *safetensors.LeftOutError
	if !errors.As(err, &left) || len(left.Tensors) != 1 || left.Tensors[0].Name != "m/w" || w.At(0).Item() != 1 {
		t.Errorf("%v, and w is %v", err, w)
	}
}

// TestCheckpointOfV0 goes on from a checkpoint that was written before options became pointers and
// layers began with other numbers. testdata/v0-next.safetensors is what the program of that time
// came to with its next step. New versions must read it as long as docs/stability.md promises.
func TestCheckpointOfV0(t *testing.T) {
	g := weft.NewGenerator(1)
	m := &oldModel{Embed: nn.NewEmbedding(4, 3), Conv: nn.NewConv2d(1, 2, 2), Norm: nn.NewBatchNorm2d(2), LSTM: nn.NewLSTM(3, 2),
		Heads: map[string]*nn.Linear{"a": nn.NewLinear(2, 2), "b": nn.NewLinear(2, 1)}}
	sgd := optim.NewSGD(nn.Params(m.Conv), optim.SGDOpts{LR: new(0.1), Momentum: 0.9})
	sgd.AddGroup(nn.Params(map[string]any{"norm": m.Norm}), optim.SGDOpts{LR: new(0.05)})
	loader := data.NewLoader(data.Tensors(weft.From([]float32{0, 1, 2, 3, 4, 5}), nil), data.LoaderOpts{Batch: new(2), Shuffle: true, Seed: 3})
	schedule := optim.NewScheduler(sgd, optim.Exponential{Gamma: 0.5})
	plateau := optim.NewPlateau(sgd, optim.PlateauOpts{})
	parts := checkpoint.Parts{
		"model":     checkpoint.Module(m),
		"sgd":       sgd,
		"adam":      optim.NewAdam(nn.Params(m.Embed), optim.AdamOpts{LR: new(0.01), AMSGrad: true}),
		"nadam":     optim.NewNAdam(nn.Params(m.LSTM), optim.NAdamOpts{LR: new(0.01)}),
		"rmsprop":   optim.NewRMSprop(nn.Params(m.Heads["a"]), optim.RMSpropOpts{LR: new(0.01), Momentum: 0.5, Centered: true}),
		"adagrad":   optim.NewAdagrad(nn.Params(m.Heads["b"]), optim.AdagradOpts{LR: new(0.1)}),
		"schedule":  schedule,
		"plateau":   plateau,
		"loader":    loader,
		"generator": checkpoint.Generator(g),
	}
	meta, err := checkpoint.Load("testdata/v0.ckpt", parts)
	if err != nil || meta["made"] != "at v0" {
		t.Fatalf("%v, %v", meta, err)
	}
	if sgd.LR() != 0.05 || loader.Next() != 1 || g.State() != (weft.GeneratorState{Seed: 9, Draw: 10}) || plateau.State()["bad"].ItemInt() != 1 {
		t.Errorf("rate %v, batch %d, generator %+v, plateau %v", sgd.LR(), loader.Next(), g.State(), plateau.State())
	}
	for _, err := range loader.Batches(context.Background()) {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, p := range nn.Params(m) {
		p.SetGrad(p.Detach().Mul(0.5).Add(0.25))
	}
	for _, name := range []string{"sgd", "adam", "nadam", "rmsprop", "adagrad"} {
		parts[name].(optim.Optimizer).Step()
	}
	m.Norm.Forward(g.Randn(2, 2, 2, 2))
	want, _, err := safetensors.ReadFile("testdata/v0-next.safetensors")
	if err != nil {
		t.Fatal(err)
	}
	got := nn.State(m)
	if len(got) != len(want) {
		t.Errorf("%d tensors, want %d", len(got), len(want))
	}
	for name, w := range want {
		if x := got[name]; x == nil || !x.Detach().AllClose(w, weft.CloseOpts{Relative: new(1e-6), Absolute: new(1e-7)}) {
			t.Errorf("%s: after the next step %v, want %v", name, x, w)
		}
	}
}
