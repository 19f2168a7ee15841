package data

import (
	"image"
	"image/color"
	"sync"

	"weft"
	"weft/internal/array"
)

// PictureOpts are the options of [FromImage].
type PictureOpts struct {
	Gray         bool // one channel, of luminance
	Alpha        bool // a channel more, of opacity
	Float        bool // float32 from 0 to 1, which keep the 16 bits of pictures that have them
	ChannelsLast bool // [height width channels]
}

// channels is the number of channels of a tensor.
func (o PictureOpts) channels() int {
	n := 3
	if o.Gray {
		n = 1
	}
	if o.Alpha {
		n++
	}
	return n
}

// FromImage returns a picture as a tensor, uint8 [channels height width]: red, green and blue, which are
// not multiplied by the opacity. Pictures of 16 bits are cut to 8. It panics with *weft.Error if m is nil.
func FromImage(m image.Image, opts ...PictureOpts) *weft.Tensor {
	o := array.Options("from_image", opts)
	if m == nil {
		array.Failf("from_image", "m", "is nil")
	}
	b := m.Bounds()
	if !o.Float {
		return gathered(o, b, rows8(m), same)
	}
	if row := wideRows(m); row != nil {
		return gathered(o, b, row, parts16())
	}
	return gathered(o, b, rows8(m), parts8)
}

// The elements of numbers: themselves, or parts of the largest one.
var (
	same, parts8 = func() (same []uint8, parts []float32) {
		for i := range 256 {
			same, parts = append(same, uint8(i)), append(parts, float32(float64(i)/255))
		}
		return same, parts
	}()
	parts16 = sync.OnceValue(func() []float32 {
		parts := make([]float32, 1<<16)
		for i := range parts {
			parts[i] = float32(float64(i) / 0xffff)
		}
		return parts
	})
)

// gathered makes a tensor of the rows of a picture. row writes red, green, blue and opacity of the pixels
// of row y, counted from the top of the bounds; elements has the element of each number.
func gathered[V uint8 | uint16, E uint8 | float32](o PictureOpts, b image.Rectangle, row func(y int, to []V), elements []E) *weft.Tensor {
	h, w, n := b.Dy(), b.Dx(), o.channels()
	shape, apart, step := []int{n, h, w}, h*w, 1 // elements from one channel to the next, and between pixels
	if o.ChannelsLast {
		shape, apart, step = []int{h, w, n}, 1, n
	}
	if h == 0 || w == 0 {
		return weft.FromSlice([]E{}, shape...)
	}
	out, line := make([]E, n*h*w), make([]V, 4*w)
	for y := range h {
		row(y, line)
		at := y * w * step
		switch {
		case o.Gray:
			for x := range w {
				p := line[4*x : 4*x+4 : 4*x+4]
				out[at+x*step] = elements[luminance(p[0], p[1], p[2])]
			}
		case o.ChannelsLast:
			for x := range w {
				p, q := line[4*x:4*x+4:4*x+4], out[at+x*step:at+x*step+3]
				q[0], q[1], q[2] = elements[p[0]], elements[p[1]], elements[p[2]]
			}
		default:
			r, g, b := out[at:at+w], out[at+apart:at+apart+w], out[at+2*apart:at+2*apart+w]
			for x := range w {
				p := line[4*x : 4*x+4 : 4*x+4]
				r[x], g[x], b[x] = elements[p[0]], elements[p[1]], elements[p[2]]
			}
		}
		if o.Alpha {
			for x := range w {
				out[at+x*step+(n-1)*apart] = elements[line[4*x+3]]
			}
		}
	}
	return weft.FromSlice(out, shape...)
}

// luminance is that of color.GrayModel and color.Gray16Model.
func luminance[V uint8 | uint16](r, g, b V) V {
	if size := ^V(0); uint32(size) == 0xff {
		return V((19595*uint32(r)*0x101 + 38470*uint32(g)*0x101 + 7471*uint32(b)*0x101 + 1<<15) >> 24)
	}
	return V((19595*uint32(r) + 38470*uint32(g) + 7471*uint32(b) + 1<<15) >> 16)
}

// rows8 returns the function that reads a row of a picture as color.NRGBAModel does, without a call for
// each pixel where the picture is of a known kind.
func rows8(m image.Image) func(y int, to []uint8) {
	switch m := m.(type) {
	case *image.NRGBA:
		return func(y int, to []uint8) { copy(to, m.Pix[y*m.Stride:]) }
	case *image.RGBA:
		return func(y int, to []uint8) {
			copy(to, m.Pix[y*m.Stride:])
			for ; len(to) > 0; to = to[4:] {
				if a := to[3]; a != 0xff {
					for i, v := range to[:3] {
						to[i] = uint8(divided(uint32(v)*0x101, uint32(a)*0x101) >> 8)
					}
				}
			}
		}
	case *image.Gray:
		return func(y int, to []uint8) {
			for x, v := range m.Pix[y*m.Stride:][:len(to)/4] {
				p := to[4*x : 4*x+4 : 4*x+4]
				p[0], p[1], p[2], p[3] = v, v, v, 0xff
			}
		}
	case *image.YCbCr:
		return ycbcrRows(m)
	case *image.CMYK:
		return func(y int, to []uint8) {
			from := m.Pix[y*m.Stride:][:len(to)]
			for ; len(to) > 0; to, from = to[4:], from[4:] {
				to[0], to[1], to[2] = color.CMYKToRGB(from[0], from[1], from[2], from[3])
				to[3] = 0xff
			}
		}
	case *image.Paletted:
		var colors [256][4]uint8
		for i, c := range m.Palette[:min(len(m.Palette), 256)] {
			p := color.NRGBAModel.Convert(c).(color.NRGBA)
			colors[i] = [4]uint8{p.R, p.G, p.B, p.A}
		}
		return func(y int, to []uint8) {
			for x, v := range m.Pix[y*m.Stride:][:len(to)/4] {
				if int(v) >= len(m.Palette) {
					array.Failf("from_image", "m", "has colour %d of a palette of %d", v, len(m.Palette))
				}
				copy(to[4*x:4*x+4], colors[v][:])
			}
		}
	}
	if wide := wideRows(m); wide != nil {
		var line []uint16
		return func(y int, to []uint8) {
			if line == nil {
				line = make([]uint16, len(to))
			}
			wide(y, line)
			for i, v := range line {
				to[i] = uint8(v >> 8)
			}
		}
	}
	b := m.Bounds()
	return func(y int, to []uint8) {
		for x := range len(to) / 4 {
			p := color.NRGBAModel.Convert(m.At(b.Min.X+x, b.Min.Y+y)).(color.NRGBA)
			to[4*x], to[4*x+1], to[4*x+2], to[4*x+3] = p.R, p.G, p.B, p.A
		}
	}
}

// ycbcrRows reads rows of a picture of a luminance and two differences of colour, as JPEG has them.
func ycbcrRows(m *image.YCbCr) func(y int, to []uint8) {
	b, wide := m.Rect, 1 // the pixels of a row that share a colour
	switch m.SubsampleRatio {
	case image.YCbCrSubsampleRatio422, image.YCbCrSubsampleRatio420:
		wide = 2
	case image.YCbCrSubsampleRatio411, image.YCbCrSubsampleRatio410:
		wide = 4
	}
	at := make([]int, b.Dx())
	for x := range at {
		at[x] = (b.Min.X+x)/wide - b.Min.X/wide
	}
	return func(y int, to []uint8) {
		first := m.COffset(b.Min.X, b.Min.Y+y)
		cb, cr := m.Cb[first:], m.Cr[first:]
		for x, v := range m.Y[y*m.YStride:][:len(to)/4] {
			c := at[x]
			p := to[4*x : 4*x+4 : 4*x+4]
			p[0], p[1], p[2] = color.YCbCrToRGB(v, cb[c], cr[c])
			p[3] = 0xff
		}
	}
}

// wideRows returns the function that reads a row of a picture of 16 bits, and nil for others.
func wideRows(m image.Image) func(y int, to []uint16) {
	switch m := m.(type) {
	case *image.Gray16:
		return func(y int, to []uint16) {
			from := m.Pix[y*m.Stride:]
			for x := range len(to) / 4 {
				v := uint16(from[2*x])<<8 | uint16(from[2*x+1])
				to[4*x], to[4*x+1], to[4*x+2], to[4*x+3] = v, v, v, 0xffff
			}
		}
	case *image.NRGBA64:
		return func(y int, to []uint16) {
			wideRow(m.Pix[y*m.Stride:], to, func(v, a uint32) uint32 { return divided(v*a/0xffff, a) })
		}
	case *image.RGBA64:
		return func(y int, to []uint16) { wideRow(m.Pix[y*m.Stride:], to, divided) }
	}
	return nil
}

// wideRow reads a row of four big-endian numbers a pixel; plain undoes what opacity did to a colour.
func wideRow(from []uint8, to []uint16, plain func(v, a uint32) uint32) {
	for i := range to {
		to[i] = uint16(from[2*i])<<8 | uint16(from[2*i+1])
	}
	for ; len(to) > 0; to = to[4:] {
		if a := uint32(to[3]); a != 0xffff {
			for i, v := range to[:3] {
				to[i] = uint16(plain(uint32(v), a))
			}
		}
	}
}

// divided returns a colour that was multiplied by an opacity, both of 16 bits, without it.
func divided(v, a uint32) uint32 {
	if a == 0 {
		return 0
	}
	return min(v*0xffff/a, 0xffff)
}

// ToImage returns a tensor [channels height width] as a picture: one channel is gray, three are red,
// green and blue, four have the opacity too. Elements are uint8, or floats from 0 to 1, which are rounded
// to the nearest of 255 parts; others beyond are cut off. It panics with *weft.Error if t is anything
// else.
func ToImage(t *weft.Tensor) image.Image {
	if t == nil {
		array.Failf("to_image", "t", "is nil")
	}
	if t.Rank() != 3 || t.Dim(0) != 1 && t.Dim(0) != 3 && t.Dim(0) != 4 || t.DType() != weft.Uint8 && !t.DType().Float() {
		array.Failf("to_image", "t", "is %s, want uint8 or floats [1, 3 or 4 channels, height, width]", array.TypeString(t.DType(), t.Shape()))
	}
	t = t.Detach()
	if t.DType().Float() {
		t = t.Mul(255).NanToNum(0).Round().Clamp(0, 255).To(weft.Uint8)
	}
	channels, h, w := t.Dim(0), t.Dim(1), t.Dim(2)
	v := weft.Data[uint8](t)
	if channels == 1 {
		m := image.NewGray(image.Rect(0, 0, w, h))
		copy(m.Pix, v)
		return m
	}
	m, n := image.NewNRGBA(image.Rect(0, 0, w, h)), h*w
	r, g, b := v[:n], v[n:2*n], v[2*n:3*n]
	for i := range n {
		p := m.Pix[4*i : 4*i+4 : 4*i+4]
		p[0], p[1], p[2], p[3] = r[i], g[i], b[i], 0xff
	}
	if channels == 4 {
		for i, a := range v[3*n:] {
			m.Pix[4*i+3] = a
		}
	}
	return m
}
