// Command script is the smallest program that trains: LeNet from the first line to the end of its
// second step, as somebody writes it who tries a library out. lenet.py does the same. How long the
// process takes, and how much memory it holds at most, is measured from outside.
package main

import (
	"fmt"

	"weft"
	"weft/nn"
	"weft/optim"
)

func main() {
	pool := nn.MaxPool2d{Window: [2]int{2, 2}}
	net := nn.Sequential{
		nn.NewConv2d(1, 6, 5), nn.Tanh{}, pool,
		nn.NewConv2d(6, 16, 5), nn.Tanh{}, pool, nn.Flatten{},
		nn.NewLinear(400, 120), nn.Tanh{}, nn.NewLinear(120, 84), nn.Tanh{}, nn.NewLinear(84, 10),
	}
	opt := optim.NewSGD(nn.Params(net), optim.SGDOpts{LR: new(0.01)})
	x, y := weft.Randn(60, 1, 32, 32), weft.Randint(0, 10, 60)
	for range 2 {
		loss := weft.CrossEntropy(net.Forward(x), y)
		opt.ZeroGrad()
		loss.Backward()
		opt.Step()
		fmt.Println(loss.Item())
	}
}
