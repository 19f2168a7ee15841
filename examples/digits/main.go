// Digits trains a network on digits that it renders; package program says how. To train on a GPU
// run the same program of module weft/cuda: go -C cuda run ./examples/digits
// -device cuda.
package main

import "weft/examples/digits/program"

func main() { program.Main() }
