// Digits renders its own handwriting-like digits from the Go fonts and writes
// a sheet of samples of them.
//
// # The pictures
//
// 28x28 grey pixels, balanced labels, ten faces. A random pose (scale, shear,
// rotation, shift, bend), stroke width, blur, contrast, shade and noise for
// each, and a bar or a patch over some (render.go). They are made to need more
// than a linear model. Test accuracies measured with PyTorch:
//
//	softmax regression, converged, best of seven L2 penalties   89.0 %
//	the LeNet below, four epochs, eight seeds                   99.20 % to 99.35 %
//
// # The network
//
// Convolution 5x5 to 6 channels, pool 2, convolution 5x5 to 16 channels, pool 2,
// then 256-120-84-10, with relu between: 44,426 parameters, Kaiming weights,
// zero biases. Inputs are (grey-45)/51. Batches of 64, the last short one
// dropped; Adam, its learning rate falling evenly from 0.003 to 0.
package main

import (
	"fmt"
	"image"
	"image/draw"
	"image/png"
	"os"
	"time"
)

const (
	trainSeed, trainSize = 1, 20000
	testSeed, testSize   = 2, 4000
)

func main() {
	if err := run("digits-sheet.png"); err != nil {
		fmt.Fprintln(os.Stderr, "digits:", err)
		os.Exit(1)
	}
}

func run(path string) error {
	start := time.Now()
	train, test := Render(trainSeed, trainSize), Render(testSeed, testSize)
	fmt.Printf("rendered %s training and %s test digits in %.2f s\n",
		thousands(train.Len()), thousands(test.Len()), time.Since(start).Seconds())
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	if err := png.Encode(f, sheet(train, 20, 12)); err != nil {
		f.Close()
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	fmt.Println("wrote", path)
	return nil
}

// sheet lays the first pictures of a set out in a grid.
func sheet(s Set, columns, rows int) *image.Gray {
	const pitch = side + 2
	m := image.NewGray(image.Rect(0, 0, columns*pitch, rows*pitch))
	for i := range min(columns*rows, s.Len()) {
		at := image.Pt(i%columns*pitch+1, i/columns*pitch+1)
		picture := &image.Gray{Pix: s.Image(i), Stride: side, Rect: image.Rect(0, 0, side, side)}
		draw.Draw(m, picture.Rect.Add(at), picture, image.Point{}, draw.Src)
	}
	return m
}
