package models_test

import (
	"fmt"
	"os"
	"path/filepath"

	"weft"
	"weft/models"
	"weft/nn"
)

// Load takes a file with torchvision's names. A new last layer for other classes is kept by Skip, and
// trained alone where the rest is frozen.
func ExampleLoad() {
	dir, err := os.MkdirTemp("", "models")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "resnet.safetensors") // such as torchvision's resnet18
	small := models.ResNetOpts{Width: new(4)}
	if err := models.Save(models.NewResNet18(small), path); err != nil {
		panic(err)
	}

	small.Classes = new(10)
	net := models.NewResNet18(small)
	fmt.Println(models.Load(net, path) != nil) // 1000 classes do not fit
	err = models.Load(net, path, models.LoadOpts{Skip: []string{"fc."}})
	nn.Freeze(net)
	nn.Unfreeze(net.FC)
	nn.Eval(net)
	for name, p := range nn.Params(net) {
		fmt.Println(name, p.Shape())
	}
	fmt.Println(net.Forward(weft.Zeros(1, 3, 64, 64)).Shape(), err)
	// Output:
	// true
	// fc.weight [10 32]
	// fc.bias [10]
	// [1 10] <nil>
}

func ExampleSave() {
	dir, err := os.MkdirTemp("", "models")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	net := models.NewResNet18(models.ResNetOpts{Width: new(4)})
	path := filepath.Join(dir, "resnet.pth") // torch: model.load_state_dict(torch.load("resnet.pth"))
	fmt.Println(models.Save(net, path), models.Load(net, path))
	// Output: <nil> <nil>
}
