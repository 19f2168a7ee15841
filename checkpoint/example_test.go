package checkpoint_test

import (
	"fmt"
	"os"
	"path/filepath"

	"weft"
	"weft/checkpoint"
	"weft/nn"
	"weft/optim"
)

func Example() {
	dir, err := os.MkdirTemp("", "checkpoint")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "run.safetensors")

	newParts := func(seed uint64) (checkpoint.Parts, *nn.Linear) {
		g := weft.NewGenerator(seed)
		net := nn.NewLinear(3, 2, nn.Opts{Generator: g})
		opt := optim.NewAdam(nn.Params(net), optim.AdamOpts{LR: new(1e-3)})
		return checkpoint.Parts{"model": checkpoint.Module(net), "optim": opt, "random": checkpoint.Generator(g)}, net
	}
	parts, net := newParts(1)
	if err := checkpoint.Save(path, parts, map[string]string{"note": "first"}); err != nil {
		fmt.Println(err)
		return
	}

	other, restored := newParts(2)
	meta, err := checkpoint.Load(path, other)
	fmt.Println(meta, err, net.Weight.Eq(restored.Weight).All().ItemInt() == 1)
	// Output: map[note:first] <nil> true
}
