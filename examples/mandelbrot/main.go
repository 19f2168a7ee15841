// Mandelbrot draws the Mandelbrot set: two Go functions, compiled for the processor and run
// for every pixel of a picture.
package main

import (
	_ "embed"
	"flag"
	"fmt"
	"image"
	"image/png"
	"os"
	"time"

	"weft"
	"weft/kernel"
)

//go:embed kernels.go
var source string

var kernels = kernel.MustParse(source)

// Count computes the escape count of each pixel, int32, of a picture of the plane from
// -2.2-1.2i to 1+1.2i.
func Count(width, height, most int) *weft.Tensor {
	re := weft.Linspace(-2.2, 1, width).Reshape(1, width)
	im := weft.Linspace(1.2, -1.2, height).Reshape(height, 1)
	return kernels.Func("Escape").Map(re, im, most)
}

// Picture colours counts.
func Picture(counts *weft.Tensor, most int) *image.RGBA {
	img := image.NewRGBA(image.Rect(0, 0, counts.Dim(1), counts.Dim(0)))
	rgb := kernels.Func("Colour").MapAll(counts, most)
	for channel, t := range append(rgb, weft.FullLike(rgb[0], 255)) {
		for i, x := range weft.Data[uint8](t) {
			img.Pix[4*i+channel] = x
		}
	}
	return img
}

func run(file string, width, height, most int) error {
	start := time.Now()
	counts := Count(width, height, most)
	inside := counts.Eq(most).Sum().ItemInt()
	fmt.Printf("%d x %d points in %.1f ms with the compilation: %d are in the set\n", width, height, time.Since(start).Seconds()*1e3, inside)
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	if err := png.Encode(f, Picture(counts, most)); err != nil {
		f.Close()
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	fmt.Println("wrote", file)
	return nil
}

func main() {
	file := flag.String("o", "mandelbrot.png", "the picture to write")
	width := flag.Int("width", 1200, "of the picture, in pixels")
	most := flag.Int("steps", 200, "after which a point counts as one of the set")
	flag.Parse()
	if err := run(*file, *width, *width*3/4, *most); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
