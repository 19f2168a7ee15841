package data_test

import (
	"fmt"
	"image"
	"image/color"
	"image/color/palette"
	"image/draw"
	"math/rand/v2"
	"slices"
	"testing"

	"weft"
	"weft/data"
)

// noise returns pictures of random pixels, of all kinds of package image that files have and of others,
// whose bounds begin anywhere.
func noise(r *rand.Rand) []image.Image {
	bounds := image.Rect(3, -5, 3+17, -5+11)
	fill := func(pix ...[]uint8) {
		for _, p := range pix {
			for i := range p {
				p[i] = uint8(r.Uint32())
			}
		}
	}
	from := image.NewNRGBA64(bounds)
	fill(from.Pix)
	var out []image.Image
	for _, m := range []draw.Image{image.NewRGBA(bounds), image.NewNRGBA(bounds), image.NewGray(bounds), image.NewGray16(bounds), image.NewRGBA64(bounds),
		image.NewCMYK(bounds), image.NewPaletted(bounds, palette.WebSafe), image.NewAlpha(bounds)} {
		draw.Draw(m, bounds, from, bounds.Min, draw.Src)
		out = append(out, m)
	}
	clear := image.NewNRGBA64(bounds) // opacity of 0 and 1 too
	fill(clear.Pix)
	for i := 6; i < len(clear.Pix); i += 24 {
		clear.Pix[i], clear.Pix[i+1] = uint8(i/24%2*0xff), uint8(i/24%2*0xff)
	}
	out = append(out, clear)
	for ratio := image.YCbCrSubsampleRatio444; ratio <= image.YCbCrSubsampleRatio410; ratio++ {
		m := image.NewYCbCr(image.Rect(3, 5, 20, 16), ratio)
		fill(m.Y, m.Cb, m.Cr)
		out = append(out, m, m.SubImage(image.Rect(6, 7, 15, 12)))
	}
	type cut interface {
		SubImage(r image.Rectangle) image.Image
	}
	for _, m := range out[:9] {
		out = append(out, m.(cut).SubImage(image.Rect(5, -3, 14, 2)))
	}
	return append(out, image.NewUniform(color.Gray{7}), image.NewGray(image.Rect(0, 0, 0, 3)))
}

// TestFromImageMatchesColorModels: every pixel of every kind of picture is what package color says, in all
// forms of the tensor.
func TestFromImageMatchesColorModels(t *testing.T) {
	for _, m := range noise(rand.New(rand.NewPCG(1, 2))) {
		if u, ok := m.(*image.Uniform); ok { // without its own bounds
			m = bounded{u}
		}
		for form := range 16 {
			o := data.PictureOpts{Gray: form&1 != 0, Alpha: form&2 != 0, Float: form&4 != 0, ChannelsLast: form&8 != 0}
			want := picture(m, o)
			got := data.FromImage(m, o)
			if o.ChannelsLast {
				got = got.Permute(2, 0, 1)
			}
			if wantType := map[bool]weft.DType{true: weft.Float32, false: weft.Uint8}[o.Float]; got.DType() != wantType || !slices.Equal(weft.Data[float64](got.To(weft.Float64).Contiguous()), want) {
				t.Errorf("%T %v with %+v differs", m, m.Bounds(), o)
			}
		}
	}
	broken := image.NewPaletted(image.Rect(0, 0, 1, 1), color.Palette{color.Black})
	broken.Pix[0] = 1
	if weft.Try(func() { data.FromImage(broken) }) == nil {
		t.Error("a colour beyond the palette is no error")
	}
}

// bounded is a picture of few pixels.
type bounded struct{ image.Image }

func (bounded) Bounds() image.Rectangle { return image.Rect(0, 0, 2, 3) }

// picture returns the elements that FromImage makes of m, by channels.
func picture(m image.Image, o data.PictureOpts) (out []float64) {
	b := m.Bounds()
	for c := range 4 {
		if o.Gray && c > 0 && c < 3 || !o.Alpha && c == 3 {
			continue
		}
		for y := b.Min.Y; y < b.Max.Y; y++ {
			for x := b.Min.X; x < b.Max.X; x++ {
				out = append(out, element(m.At(x, y), c, o))
			}
		}
	}
	return out
}

func element(at color.Color, c int, o data.PictureOpts) float64 {
	switch at.(type) {
	case color.Gray16, color.RGBA64, color.NRGBA64:
		if o.Float {
			p := color.NRGBA64Model.Convert(at).(color.NRGBA64)
			if n, ok := at.(color.NRGBA64); ok && n.A != 0xffff { // through its product with the opacity
				r, g, b, a := n.RGBA()
				p = color.NRGBA64Model.Convert(color.RGBA64{uint16(r), uint16(g), uint16(b), uint16(a)}).(color.NRGBA64)
			}
			if o.Gray && c == 0 {
				p.R = color.Gray16Model.Convert(color.NRGBA64{p.R, p.G, p.B, 0xffff}).(color.Gray16).Y
			}
			return float64(float32(float64([4]uint16{p.R, p.G, p.B, p.A}[c]) / 0xffff))
		}
	}
	p := color.NRGBAModel.Convert(at).(color.NRGBA)
	if o.Gray && c == 0 {
		p.R = color.GrayModel.Convert(color.NRGBA{p.R, p.G, p.B, 255}).(color.Gray).Y
	}
	v := float64([4]uint8{p.R, p.G, p.B, p.A}[c])
	if o.Float {
		return float64(float32(v / 255))
	}
	return v
}

func BenchmarkFromImage(b *testing.B) {
	bounds := image.Rect(0, 0, 500, 375)
	for _, m := range []image.Image{image.NewYCbCr(bounds, image.YCbCrSubsampleRatio420), image.NewRGBA(bounds), image.NewNRGBA(bounds), image.NewGray(bounds), image.NewPaletted(bounds, palette.WebSafe), image.NewGray16(bounds)} {
		if d, ok := m.(draw.Image); ok {
			draw.Draw(d, bounds, image.NewUniform(color.Gray{100}), image.Point{}, draw.Src)
		}
		for _, o := range []data.PictureOpts{{}, {Float: true}} {
			b.Run(fmt.Sprintf("%T/float=%v", m, o.Float), func(b *testing.B) {
				for b.Loop() {
					data.FromImage(m, o)
				}
			})
		}
	}
}
