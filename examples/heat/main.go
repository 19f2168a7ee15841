// Heat lets a hot ball in a cold cube cool down: the heat equation in three dimensions as a
// stencil, stepped by Iterate, with a picture of the middle slice every few steps.
package main

import (
	_ "embed"
	"flag"
	"fmt"
	"image"
	"image/png"
	"os"
	"path/filepath"

	"weft"
	"weft/kernel"
)

//go:embed kernels.go
var source string

var kernels = kernel.MustParse(source)

// rate is the r of Heat.
const rate = 1.0 / 8

// Start is a cube of n by n by n with a ball of heat 1 in the middle.
func Start(n int) *weft.Tensor {
	return kernels.Func("Ball").Map(float64(n)/4, kernel.MapOpts{Shape: []int{n, n, n}})
}

// Step makes n steps. The faces of the cube stay as they are: nothing is computed for
// elements whose neighbourhood reaches beyond it.
func Step(u *weft.Tensor, n int) *weft.Tensor {
	us, _ := kernels.Func("Heat").Iterate(n, u, rate)
	return us[0]
}

// Picture shows the middle slice, its greatest heat as white.
func Picture(u *weft.Tensor) *image.RGBA {
	slice := u.At(u.Dim(0) / 2)
	img := image.NewRGBA(image.Rect(0, 0, u.Dim(2), u.Dim(1)))
	rgb := kernels.Func("Glow").MapAll(slice.Div(slice.Max().Add(1e-300)))
	for channel, t := range append(rgb, weft.FullLike(rgb[0], 255)) {
		for i, x := range weft.Data[uint8](t) {
			img.Pix[4*i+channel] = x
		}
	}
	return img
}

func run(dir string, n, frames, steps int) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	u := Start(n)
	for i := range frames {
		file := filepath.Join(dir, fmt.Sprintf("heat-%02d.png", i))
		if err := write(file, Picture(u)); err != nil {
			return err
		}
		fmt.Printf("%s: after %4d steps the middle has %.4f, all of it %.1f\n", file, i*steps, u.At(n/2, n/2, n/2).Item(), u.Sum().Item())
		u = Step(u, steps)
	}
	return nil
}

func write(file string, img image.Image) error {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	if err := png.Encode(f, img); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}

func main() {
	dir := flag.String("o", "heat", "the folder to write pictures into")
	n := flag.Int("n", 96, "the length of the cube's sides")
	frames := flag.Int("frames", 8, "how many pictures")
	steps := flag.Int("steps", 100, "how many steps from one to the next")
	flag.Parse()
	if err := run(*dir, *n, *frames, *steps); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
