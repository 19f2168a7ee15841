package torchfile_test

import (
	"fmt"
	"os"
	"path/filepath"

	"weft"
	"weft/nn"
	"weft/torchfile"
)

func Example() {
	dir, err := os.MkdirTemp("", "torchfile")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "model.pth")

	net := nn.Sequential{nn.NewLinear(3, 4), nn.Relu{}, nn.NewLinear(4, 2)}
	if err := torchfile.WriteFile(path, nn.State(net)); err != nil { // torch.load(path, weights_only=True)
		fmt.Println(err)
		return
	}
	state, err := torchfile.ReadFile(path) // or what torch.save(model.state_dict(), path) wrote
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(state["0.weight"].Shape(), nn.LoadState(net, state, true))
	// Output: [4 3] <nil>
}

func ExampleLoad() {
	v, err := torchfile.Load("testdata/checkpoint.pt", torchfile.LoadOpts{Map: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	checkpoint := v.(*torchfile.Dict)
	for key, value := range checkpoint.All() {
		fmt.Printf("%v: %T\n", key, value)
	}
	opt, _ := checkpoint.Get("optimizer_state_dict")
	states, _ := opt.(*torchfile.Dict).Get("state")
	first, _ := states.(*torchfile.Dict).Get(0)
	average, _ := first.(*torchfile.Dict).Get("exp_avg")
	fmt.Println(average.(*weft.Tensor).Shape())
	// Output:
	// epoch: int64
	// model_state_dict: *torchfile.Dict
	// optimizer_state_dict: *torchfile.Dict
	// [4 3]
}

func ExampleTensors() {
	v, err := torchfile.Load("testdata/checkpoint.pt")
	if err != nil {
		fmt.Println(err)
		return
	}
	state, err := torchfile.Tensors(v) // those under model_state_dict
	fmt.Println(len(state), state["2.weight"].Shape(), err)
	// Output: 8 [2 4] <nil>
}

func ExampleNewDict() {
	d := torchfile.NewDict("epoch", 3, "weights", weft.Ones(2))
	epoch, ok := d.Get("epoch")
	fmt.Println(d.Len(), epoch, ok)
	// Output: 2 3 true
}
