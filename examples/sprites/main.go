// Sprites trains a small diffusion model (Ho et al., Denoising diffusion probabilistic models, 2020) on
// sprites of 16x16 pixels that it renders itself, and lets it draw new ones from noise. It tells how
// close those are to sprites, and writes them to sprites.png.
package main

import (
	"context"
	"flag"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math/rand/v2"
	"os"

	"weft"
	"weft/models"
	"weft/nn"
	"weft/optim"
)

const size, batch = 16, 32

// drawings are what sprites show; other pixels are the ground.
var drawings = [...][10]string{
	{"..##..##..", ".####.###.", "##########", "##########", "##########", ".########.", "..######..", "...####...", "....##....", ".........."},
	{"..######..", ".########.", "##########", "##..##..##", "##..##..##", "##########", "##########", "##########", "##.####.##", "#...##...#"},
	{"...####...", ".########.", "##########", "###.##.###", "##########", "##########", "..#....#..", ".##....##.", "##......##", ".........."},
	{"....##....", "....##....", "...####...", "##########", ".########.", "..######..", "..######..", ".####.###.", ".##....##.", "##......##"},
	{"..####....", ".##..##...", ".##..##...", ".##..##...", "..####....", "...##.....", "...##.....", "...####...", "...##.....", "...####..."},
	{"....##....", "...####...", "..######..", ".########.", "##########", ".########.", ".##.##.##.", ".##.##.##.", ".####..##.", ".####..##."},
}

// Render draws n sprites [n, 3, size, size], between -1 and 1: a drawing of one colour, mirrored or
// not, up to two pixels from the middle, on a dark ground.
func Render(n int, seed uint64) *weft.Tensor {
	r := rand.New(rand.NewPCG(seed, 2))
	out := make([]float32, n*3*size*size)
	for i := range n {
		d, mirror := drawings[r.IntN(len(drawings))], r.IntN(2) == 1
		left, top := 3+r.IntN(5)-2, 3+r.IntN(5)-2
		var ink [3]float32
		for c := range ink {
			ink[c] = float32(r.Float64())
		}
		ink[r.IntN(3)] = 1
		for c := range 3 {
			for v := range size {
				for u := range size {
					x, y := u-left, v-top
					if mirror {
						x = 9 - x
					}
					value := float32(-0.9)
					if x >= 0 && x < 10 && y >= 0 && y < 10 && d[y][x] == '#' {
						value = ink[c]
					}
					out[((i*3+c)*size+v)*size+u] = value
				}
			}
		}
	}
	return weft.FromSlice(out, n, 3, size, size)
}

// An Artist has the network that tells noise, and the schedule of noise.
type Artist struct {
	Net  *models.DDPM
	Dust *models.Diffusion
}

// NewArtist returns an artist of that width, with two levels.
func NewArtist(width int, dev weft.Device) *Artist {
	net := models.NewDDPM(models.DDPMOpts{Widths: []int{width, 2 * width}, Blocks: new(1), Groups: new(8), Generator: weft.NewGenerator(1)})
	return &Artist{nn.On(net, dev), models.NewDiffusion(models.DiffusionOpts{Steps: new(200), Cosine: true})}
}

// Train takes steps over fresh sprites, and tells the loss of each.
func (a *Artist) Train(steps int, tell func(step int, loss float64)) {
	dev := a.Net.ConvIn.Weight.Device()
	g := weft.NewGenerator(2)
	opt := optim.NewAdam(nn.Params(a.Net), optim.AdamOpts{LR: new(0.004)})
	rate := optim.NewScheduler(opt, optim.OneCycle{Steps: steps, Max: 0.004})
	step := weft.Compile(func(x *weft.Tensor) *weft.Tensor {
		opt.ZeroGrad()
		loss := a.Dust.Loss(a.Net.Forward, x, g)
		loss.Backward()
		opt.Step()
		return loss.Detach()
	}).Func()
	for i := range steps {
		loss := step(Render(batch, uint64(i+1)).On(dev))
		rate.Step()
		tell(i+1, loss.Item())
	}
}

// Draw makes n sprites from noise in 50 steps.
func (a *Artist) Draw(ctx context.Context, n int) (*weft.Tensor, error) {
	nn.Eval(a.Net)
	forward := weft.Compile(a.Net.Forward).Func()
	return a.Dust.Sample(ctx, forward, []int{n, 3, size, size}, models.SampleOpts{Steps: new(50), Generator: weft.NewGenerator(3), Device: a.Net.ConvIn.Weight.Device()})
}

// Far returns the mean distance of a pixel of x from the sprite that is nearest, of many.
func Far(x *weft.Tensor, among int) float64 {
	flat, all := x.Flatten(1), Render(among, 1<<41).Flatten(1)
	sum := 0.0
	for i := range x.Dim(0) {
		sum += all.Sub(flat.Slice(weft.Index(i))).Square().Mean(1).Min().Sqrt().Item()
	}
	return sum / float64(x.Dim(0))
}

// Sheet lays sprites out in rows of 8.
func Sheet(x *weft.Tensor) *image.RGBA {
	const zoom, columns = 6, 8
	n := x.Dim(0)
	out := image.NewRGBA(image.Rect(0, 0, columns*size*zoom, (n+columns-1)/columns*size*zoom))
	pixels := weft.Data[float32](x)
	for py := range out.Rect.Max.Y {
		for px := range out.Rect.Max.X {
			i := py/(size*zoom)*columns + px/(size*zoom)
			if i >= n {
				continue
			}
			part := func(c int) uint8 {
				v := pixels[((i*3+c)*size+py/zoom%size)*size+px/zoom%size]
				return uint8(255 * min(max((v+1)/2, 0), 1))
			}
			out.SetRGBA(px, py, color.RGBA{part(0), part(1), part(2), 255})
		}
	}
	return out
}

func main() {
	steps := flag.Int("steps", 500, "batches of 32 sprites")
	path := flag.String("o", "sprites.png", "the picture to write")
	device := flag.String("device", "", "the device to train on, such as cpu; without it WEFT_DEVICE says, or the CPU")
	flag.Parse()
	if err := run(*steps, *path, *device); err != nil {
		fmt.Fprintln(os.Stderr, "sprites:", err)
		os.Exit(1)
	}
}

func run(steps int, path, device string) error {
	dev, err := weft.DeviceByName(device)
	if err != nil {
		return err
	}
	a, mean := NewArtist(24, dev), 0.0
	a.Train(steps, func(step int, loss float64) {
		if mean += loss / 50; step%50 == 0 {
			fmt.Printf("step %4d  loss %.4f\n", step, mean)
			mean = 0
		}
	})
	x, err := a.Draw(context.Background(), 32)
	if err != nil {
		return err
	}
	x = x.On(weft.CPU)
	noise := weft.NewGenerator(4).Randn(32, 3, size, size).Clamp(-1, 1)
	fmt.Printf("a pixel is from the nearest of 20000 sprites: drawn %.3f, other sprites %.3f, noise %.3f\n", Far(x, 20000), Far(Render(32, 1<<42), 20000), Far(noise, 20000))
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	if err := png.Encode(f, Sheet(x)); err != nil {
		f.Close()
		return err
	}
	fmt.Println("wrote", path)
	return f.Close()
}
