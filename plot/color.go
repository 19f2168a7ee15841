package plot

import (
	"image"
	"image/color"
	"math"

	"weft"
	"weft/internal/array"
)

// The colours of a figure.
var (
	background = color.NRGBA{0xfc, 0xfc, 0xfa, 0xff}
	textColor  = color.NRGBA{0x22, 0x2b, 0x35, 0xff}
	dimColor   = color.NRGBA{0x7b, 0x86, 0x92, 0xff}
	gridColor  = color.NRGBA{0xe4, 0xe7, 0xea, 0xff}
)

// Colours to give to lines and texts. Blue, Orange and Green are the first of the cycle.
var (
	Blue   color.Color = cycle[0]
	Orange color.Color = cycle[1]
	Green  color.Color = cycle[2]
	Light  color.Color = color.NRGBA{0xb9, 0xd3, 0xea, 0xff} // below a line in Blue
	Dim    color.Color = dimColor                            // of axes and their numbers
)

// cycle are the colours of lines that have none of their own.
var cycle = []color.NRGBA{
	{0x1f, 0x6a, 0xb0, 0xff}, {0xd2, 0x5f, 0x1e, 0xff}, {0x2b, 0x7d, 0x46, 0xff}, {0x8a, 0x4f, 0xa3, 0xff},
	{0xb8, 0x32, 0x4b, 0xff}, {0x1d, 0x96, 0x9b, 0xff}, {0x9a, 0x7b, 0x12, 0xff}, {0x5c, 0x66, 0x70, 0xff},
}

// Cycle returns colour i, 0 or more, of the cycle that lines without a colour take theirs from. It has 8.
func Cycle(i int) color.Color {
	if i < 0 {
		array.Failf("cycle", "i", "is %d, want 0 or more", i)
	}
	return cycle[i%len(cycle)]
}

// viridis are colours of Matplotlib's map of that name (van der Walt and Smith, 2015; CC0), at even
// distances.
var viridis = [][3]float64{
	{0x44, 0x01, 0x54}, {0x47, 0x2d, 0x7b}, {0x3b, 0x52, 0x8b}, {0x2c, 0x72, 0x8e}, {0x21, 0x91, 0x8c}, {0x28, 0xae, 0x80},
	{0x5e, 0xc9, 0x62}, {0xad, 0xdc, 0x30}, {0xfd, 0xe7, 0x25},
}

// colored maps the numbers of a tensor [H W] to colours. What is NaN has none.
func colored(t *weft.Tensor, o *ImshowOpts) image.Image {
	if t == nil || t.Rank() != 2 {
		shape := "nil"
		if t != nil {
			shape = array.ShapeString(t.Shape())
		}
		array.Failf("imshow", "m", "has shape %s, want [H W]", shape)
	}
	values := weft.Data[float64](t.Detach().To(weft.Float64).Contiguous().On(weft.CPU))
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, v := range values {
		if finite(v) {
			lo, hi = min(lo, v), max(hi, v)
		}
	}
	lo, hi = array.Or(o.Min, lo), array.Or(o.Max, hi)
	h, w := t.Dim(0), t.Dim(1)
	m := image.NewNRGBA(image.Rect(0, 0, w, h))
	for i, v := range values {
		if math.IsNaN(v) {
			continue
		}
		part := 0.5 // of a picture of one number
		if hi > lo {
			part = min(max((v-lo)/(hi-lo), 0), 1)
		}
		m.SetNRGBA(i%w, i/w, mapped(part, o.Gray))
	}
	return m
}

// mapped is the colour of a part of the way from the first one to the last.
func mapped(part float64, gray bool) color.NRGBA {
	if gray {
		v := uint8(math.Round(255 * part))
		return color.NRGBA{v, v, v, 0xff}
	}
	at := part * float64(len(viridis)-1)
	k := min(int(at), len(viridis)-2)
	var rgb [3]uint8
	for i := range rgb {
		rgb[i] = uint8(math.Round(viridis[k][i] + (at-float64(k))*(viridis[k+1][i]-viridis[k][i])))
	}
	return color.NRGBA{rgb[0], rgb[1], rgb[2], 0xff}
}
