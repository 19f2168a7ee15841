// Digits is the program examples/digits with NVIDIA's GPUs.
package main

import (
	_ "weft/cuda"
	"weft/examples/digits/program"
)

func main() { program.Main() }
