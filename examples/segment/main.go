// Segment trains a small U-Net (Ronneberger et al., 2015) to say of each pixel whether it shows a disc,
// a square, a triangle or the background. It renders its pictures itself, tells how well parts of
// pictures that it has not seen are found, and writes some of them to segment.png.
package main

import (
	"context"
	"flag"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
	"math/rand/v2"
	"os"

	"weft"
	"weft/data"
	"weft/models"
	"weft/nn"
	"weft/optim"
	"weft/train"
)

const size, classes, batch = 32, 4, 16

var names = [classes]string{"background", "disc", "square", "triangle"}

// Render draws n pictures [n, 3, size, size] of three shapes each, which may hide parts of each other,
// under noise, and what each pixel shows [n, size, size].
func Render(n int, seed uint64) (x, y *weft.Tensor) {
	r := rand.New(rand.NewPCG(seed, 1))
	pixels, labels := make([]float32, n*3*size*size), make([]int64, n*size*size)
	for i := range n {
		picture, label := pixels[i*3*size*size:][:3*size*size], labels[i*size*size:][:size*size]
		var ground [3]float64
		for c := range ground {
			ground[c] = 0.3 * r.Float64()
		}
		paint := func(at int, ink [3]float64) {
			for c, v := range ink {
				picture[c*size*size+at] = float32(v + 0.08*r.NormFloat64())
			}
		}
		for at := range size * size {
			paint(at, ground)
		}
		for range 3 {
			kind := int64(1 + r.IntN(classes-1))
			radius, turn := 4+4*r.Float64(), 2*math.Pi*r.Float64()
			cx, cy := size*r.Float64(), size*r.Float64()
			ink := [3]float64{0.3 + 0.7*r.Float64(), 0.3 + 0.7*r.Float64(), 0.3 + 0.7*r.Float64()}
			for at := range size * size {
				dx, dy := float64(at%size)-cx, float64(at/size)-cy
				u, v := (dx*math.Cos(turn)+dy*math.Sin(turn))/radius, (dy*math.Cos(turn)-dx*math.Sin(turn))/radius
				if inside(kind, u, v) {
					paint(at, ink)
					label[at] = kind
				}
			}
		}
	}
	return weft.FromSlice(pixels, n, 3, size, size), weft.FromSlice(labels, n, size, size)
}

// inside reports whether a point is in a shape around the origin.
func inside(kind int64, u, v float64) bool {
	switch kind {
	case 1:
		return u*u+v*v < 1
	case 2:
		return math.Abs(u) < 0.85 && math.Abs(v) < 0.85
	}
	return v < 0.6 && v > 2*math.Abs(u)-1.2
}

// Pictures is a dataset of n pictures that are rendered when a loader asks for them.
type Pictures int

// Len implements data.Dataset.
func (n Pictures) Len() int { return int(n) }

// Get implements data.Dataset.
func (n Pictures) Get(i int) (x, y *weft.Tensor, err error) {
	x, y = Render(1, uint64(i+1))
	return x.Squeeze(0), y.Squeeze(0), nil
}

// Train takes steps over fresh pictures.
func Train(ctx context.Context, net *models.UNet, steps int, o train.Opts) (*train.History, error) {
	loader := data.NewLoader(Pictures(steps*batch), data.LoaderOpts{Batch: new(batch)})
	o.Schedule = optim.OneCycle{Steps: steps, Max: 0.01}
	return train.New(net, train.Loss(nn.CrossEntropy), optim.NewAdam(nn.Params(net)), o).Fit(ctx, 1, loader, nil)
}

// Labels returns the most likely class of each pixel.
func Labels(net *models.UNet, x *weft.Tensor) (y *weft.Tensor) {
	nn.Eval(net)
	weft.WithoutGrad(func() { y = net.Forward(x).ArgMax(1) })
	return y
}

// IoU returns of each class the pixels that both say, over those that either says.
func IoU(got, want *weft.Tensor) (out [classes]float64) {
	for c := range out {
		g, w := got.Eq(c), want.Eq(c)
		out[c] = g.LogicalAnd(w).To(weft.Float64).Sum().Item() / g.LogicalOr(w).To(weft.Float64).Sum().Item()
	}
	return out
}

// Draw is a picture with one row for each of the first n: x, what it shows, and what was found.
func Draw(x, want, got *weft.Tensor, n int) *image.RGBA {
	const zoom, gap = 4, 8
	inks := [classes]color.RGBA{{40, 44, 52, 255}, {224, 108, 117, 255}, {97, 175, 239, 255}, {229, 192, 123, 255}}
	out := image.NewRGBA(image.Rect(0, 0, gap+3*(size*zoom+gap), gap+n*(size*zoom+gap)))
	pixels, labels := weft.Data[float32](x), [2][]int64{weft.Data[int64](want), weft.Data[int64](got)}
	for py := range out.Rect.Max.Y {
		for px := range out.Rect.Max.X {
			column, row := px/(size*zoom+gap), py/(size*zoom+gap)
			u, v := (px%(size*zoom+gap)-gap)/zoom, (py%(size*zoom+gap)-gap)/zoom
			ink := color.RGBA{255, 255, 255, 255}
			if px%(size*zoom+gap) >= gap && py%(size*zoom+gap) >= gap {
				if at := (row*size+v)*size + u; column > 0 {
					ink = inks[labels[column-1][at]]
				} else {
					part := func(c int) uint8 {
						return uint8(255 * min(max(pixels[((row*3+c)*size+v)*size+u], 0), 1))
					}
					ink = color.RGBA{part(0), part(1), part(2), 255}
				}
			}
			out.SetRGBA(px, py, ink)
		}
	}
	return out
}

func main() {
	steps := flag.Int("steps", 600, "batches of 16 pictures")
	path := flag.String("o", "segment.png", "the picture to write")
	device := flag.String("device", "", "the device to train on, such as cpu; without it WEFT_DEVICE says, or the CPU")
	flag.Parse()
	dev, err := weft.DeviceByName(*device)
	if err != nil {
		fmt.Fprintln(os.Stderr, "segment:", err)
		os.Exit(1)
	}
	net := nn.On(models.NewUNet(models.UNetOpts{Width: new(8), Classes: new(classes), Generator: weft.NewGenerator(1)}), dev)
	progress := train.NewProgress(os.Stdout, train.ProgressOpts{Unit: "pictures"})
	if _, err := Train(context.Background(), net, *steps, train.Opts{Progress: progress}); err != nil {
		fmt.Fprintln(os.Stderr, "segment:", err)
		os.Exit(1)
	}
	x, want := Render(64, 1<<40)
	got := Labels(net, x.On(dev)).On(weft.CPU)
	fmt.Print("of pictures not seen, parts found (IoU):")
	for c, v := range IoU(got, want) {
		fmt.Printf("  %s %.2f", names[c], v)
	}
	fmt.Println()
	if err := write(*path, Draw(x, want, got, 6)); err != nil {
		fmt.Fprintln(os.Stderr, "segment:", err)
		os.Exit(1)
	}
	fmt.Println("wrote", *path, "with pictures, what they show and what was found")
}

func write(path string, picture image.Image) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	if err := png.Encode(f, picture); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}
