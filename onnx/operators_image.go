package onnx

import (
	"bytes"
	"image"
	_ "image/gif"
	_ "image/jpeg"
	_ "image/png"
	"math"
	"slices"

	"weft"
	"weft/nn"
)

// Pictures: sampling at places, regions, decoding.
var imageOperators = []operator{
	{name: "AffineGrid", run: affineGrid, reads: []int{1}},
	{name: "GridSample", run: gridSample},
	{name: "ImageDecoder", run: imageDecoder, eager: true, reads: []int{0}},
	{name: "MaxRoiPool", run: maxRoiPool, reads: []int{1}},
	{name: "NonMaxSuppression", run: nonMaxSuppression, eager: true, reads: []int{2, 3, 4}},
	{name: "RoiAlign", run: roiAlign, reads: []int{1, 2}},
}

func affineGrid(c *call) []Value {
	theta, size := c.tensor(0), c.ints(1)
	for _, n := range size {
		if n < 0 {
			c.fail("the size is %v", size)
		}
	}
	return tensors(nn.AffineGrid(wide(theta), c.size(size, theta.DType()), c.attrBool("align_corners", false)).To(theta.DType()))
}

func gridSample(c *call) []Value {
	v, grid := c.tensor(0), c.tensor(1)
	o := nn.GridSampleOpts{AlignCorners: c.attrBool("align_corners", false)}
	switch mode := c.attrString("mode", "linear"); mode {
	case "linear", "bilinear":
		o.Mode = new(nn.ModeLinear)
	case "nearest":
		o.Mode = new(nn.ModeNearest)
	case "cubic", "bicubic":
		o.Mode = new(nn.ModeCubic)
	default:
		c.fail("attribute %q is %q", "mode", mode)
	}
	switch border := c.attrString("padding_mode", "zeros"); border {
	case "zeros":
		o.Border = nn.PadConstant
	case "border":
		o.Border = nn.PadReplicate
	case "reflection":
		o.Border = nn.PadReflect
	default:
		c.fail("attribute %q is %q", "padding_mode", border)
	}
	x := wide(v)
	if !x.DType().Float() {
		x = x.To(weft.Float64)
	}
	return tensors(nn.GridSample(x, grid.To(x.DType()), o).To(v.DType()))
}

// imageDecoder reads PNG, JPEG and GIF.
func imageDecoder(c *call) []Value {
	t := c.host(0)
	format := c.attrString("pixel_format", "RGB")
	if t.DType() != weft.Uint8 || t.Rank() != 1 {
		c.fail("the file is %s%v: want a vector of bytes", t.DType(), t.Shape())
	}
	data := weft.Data[byte](t.Contiguous())
	head, _, err := image.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		c.fail("the picture is not read: %w", err)
	}
	c.size([]int{head.Height, head.Width, 8}, weft.Uint8)
	picture, _, err := image.Decode(bytes.NewReader(data))
	if err != nil {
		c.fail("the picture is not read: %w", err)
	}
	box := picture.Bounds()
	var out []byte
	for y := box.Min.Y; y < box.Max.Y; y++ {
		for x := box.Min.X; x < box.Max.X; x++ {
			r, g, b, _ := picture.At(x, y).RGBA()
			switch format {
			case "RGB":
				out = append(out, byte(r>>8), byte(g>>8), byte(b>>8))
			case "BGR":
				out = append(out, byte(b>>8), byte(g>>8), byte(r>>8))
			case "Grayscale": // ITU-R BT.601, in 16 bits
				out = append(out, byte((19595*(r>>8)+38470*(g>>8)+7471*(b>>8)+1<<15)>>16))
			default:
				c.fail("attribute %q is %q", "pixel_format", format)
			}
		}
	}
	channels := 3
	if format == "Grayscale" {
		channels = 1
	}
	return tensors(weft.FromSlice(out, box.Dy(), box.Dx(), channels))
}

// overlap is the share of the area of two boxes that both cover.
func overlap(a, b []float64, centre bool) float64 {
	side := func(p []float64, i int) (lo, hi float64) {
		if centre {
			half := p[2+i] / 2
			return p[i] - half, p[i] + half
		}
		return min(p[i], p[2+i]), max(p[i], p[2+i])
	}
	both, first, second := 1.0, 1.0, 1.0
	for i := range 2 {
		al, ah := side(a, i)
		bl, bh := side(b, i)
		both *= max(min(ah, bh)-max(al, bl), 0)
		first *= ah - al
		second *= bh - bl
	}
	if union := first + second - both; both > 0 && first > 0 && second > 0 && union > 0 {
		return both / union
	}
	return 0
}

// nonMaxSuppression takes boxes by their scores, in each batch and class, but for those that overlap one that
// was taken.
func nonMaxSuppression(c *call) []Value {
	boxes, scores := c.host(0), c.host(1)
	most, limit, least := 0, 0.0, math.Inf(-1)
	if c.has(2) {
		most = c.int(2)
	}
	if c.has(3) {
		limit = c.float(3)
	}
	if c.has(4) {
		least = c.float(4)
	}
	centre := c.attrBool("center_point_box", false)
	if boxes.Rank() != 3 || scores.Rank() != 3 || boxes.Dim(2) != 4 || boxes.Dim(0) != scores.Dim(0) || boxes.Dim(1) != scores.Dim(2) {
		c.fail("boxes have the shape %v, scores %v", boxes.Shape(), scores.Shape())
	}
	at, score := c.floats(0), c.floats(1)
	n, classes := boxes.Dim(1), scores.Dim(1)
	var out []int64
	for row := range boxes.Dim(0) * classes {
		mine, area := score[row*n:(row+1)*n], at[row/classes*4*n:]
		var order, taken []int
		for i, s := range mine {
			if s > least {
				order = append(order, i)
			}
		}
		slices.SortStableFunc(order, func(a, b int) int {
			switch {
			case mine[a] > mine[b]:
				return -1
			case mine[a] < mine[b]:
				return 1
			}
			return 0
		})
		for _, i := range order {
			if len(taken) >= most {
				break
			}
			if !slices.ContainsFunc(taken, func(j int) bool { return overlap(area[4*i:4*i+4], area[4*j:4*j+4], centre) > limit }) {
				taken = append(taken, i)
				out = append(out, int64(row/classes), int64(row%classes), int64(i))
			}
		}
	}
	return tensors(weft.FromSlice(out, len(out)/3, 3))
}

// A tap is an element of a picture, by its number in the whole batch's rows and columns, and its weight.
type tap struct {
	at     int64
	weight float64
}

// taken gives the weighted elements x [n c h w] of cells: a list for each of regions*height*width cells, as
// [cells, most, c].
func taken(x *weft.Tensor, cells [][]tap) (y *weft.Tensor) {
	most := 1
	for _, list := range cells {
		most = max(most, len(list))
	}
	at, weight := make([]int64, 0, most*len(cells)), make([]float64, 0, most*len(cells))
	for _, list := range cells {
		for i := range most {
			t := tap{}
			if i < len(list) {
				t = list[i]
			}
			at, weight = append(at, t.at), append(weight, t.weight)
		}
	}
	dev, channels := x.Device(), x.Dim(1)
	rows := x.Permute(0, 2, 3, 1).Reshape(x.Dim(0)*x.Dim(2)*x.Dim(3), channels)
	return rows.IndexSelect(0, dev.From(at)).Mul(dev.From(weight).To(x.DType()).Unsqueeze(1)).Reshape(len(cells), most, channels)
}

// regions are the cells' results [cells c] as [regions c h w].
func regions(y *weft.Tensor, h, w int) *weft.Tensor {
	n := y.Dim(0) / (h * w)
	return y.Reshape(n, h, w, y.Dim(1)).Permute(0, 3, 1, 2)
}

// maxTaps bounds how many elements are read for regions.
const maxTaps = 1 << 26

// roiAlign reads points between the elements, on a grid in each cell of each region. Its greatest one is the
// greatest of weighted elements, as the operator is defined.
func roiAlign(c *call) []Value {
	x, rois, batch := c.tensor(0), c.floats(1), c.ints(2)
	h, w, ratio := c.attrInt("output_height", 1), c.attrInt("output_width", 1), c.attrInt("sampling_ratio", 0)
	scale, offset := c.attrFloat("spatial_scale", 1), 0.0
	mode := c.attrString("mode", "avg")
	half := c.opset() >= 16 && c.attrString("coordinate_transformation_mode", "half_pixel") == "half_pixel"
	if half {
		offset = 0.5
	}
	if mode != "avg" && mode != "max" {
		c.fail("attribute %q is %q", "mode", mode)
	}
	if x.Rank() != 4 || len(rois) != 4*len(batch) || h < 1 || w < 1 || x.Size() == 0 {
		c.fail("%d regions of %d x %d of a tensor %v do not exist", len(batch), h, w, x.Shape())
	}
	c.size([]int{len(batch), x.Dim(1), h, w}, x.DType())
	var cells [][]tap
	total := 0
	for i, b := range batch {
		if b < 0 || b >= x.Dim(0) {
			c.fail("region %d is of picture %d of %d", i, b, x.Dim(0))
		}
		r := rois[4*i : 4*i+4]
		x0, y0 := r[0]*scale-offset, r[1]*scale-offset
		width, height := r[2]*scale-offset-x0, r[3]*scale-offset-y0
		if !half {
			width, height = max(width, 1), max(height, 1)
		}
		gx, gy := ratio, ratio
		if ratio <= 0 {
			gx, gy = int(math.Ceil(width/float64(w))), int(math.Ceil(height/float64(h)))
		}
		gx, gy = max(gx, 0), max(gy, 0)
		if gx > maxTaps || gy > maxTaps || total+4*gx*gy > maxTaps {
			c.fail("regions have more than %d points", maxTaps)
		}
		total += 4 * gx * gy * h * w
		for cell := range h * w {
			var list []tap
			for k := range gx * gy {
				py := y0 + (float64(cell/w)+(float64(k/gx)+0.5)/float64(gy))*height/float64(h)
				px := x0 + (float64(cell%w)+(float64(k%gx)+0.5)/float64(gx))*width/float64(w)
				list = append(list, corners(py, px, x.Dim(2), x.Dim(3), b)...)
			}
			if mode == "avg" {
				for k := range list {
					list[k].weight /= float64(gx * gy)
				}
			}
			cells = append(cells, list)
		}
	}
	if mode == "max" {
		filled(cells)
		return tensors(regions(taken(wide(x), cells).Max(1), h, w).To(x.DType()))
	}
	return tensors(regions(taken(wide(x), cells).Sum(1), h, w).To(x.DType()))
}

// filled makes all lists as long as the longest one, by their first elements.
func filled(cells [][]tap) {
	most := 0
	for _, list := range cells {
		most = max(most, len(list))
	}
	for i, list := range cells {
		for len(list) > 0 && len(list) < most {
			list = append(list, list[0])
		}
		cells[i] = list
	}
}

// corners are the four elements around a point of a picture, with their weights, which are 0 for a point more
// than one element outside.
func corners(y, x float64, h, w, picture int) []tap {
	if !(y >= -1 && y <= float64(h) && x >= -1 && x <= float64(w)) {
		return make([]tap, 4)
	}
	split := func(p float64, n int) (lo, hi int, part float64) {
		p = min(max(p, 0), float64(n-1))
		lo = int(p)
		return lo, min(lo+1, n-1), p - float64(lo)
	}
	y0, y1, fy := split(y, h)
	x0, x1, fx := split(x, w)
	at := func(y, x int) int64 { return int64((picture*h+y)*w + x) }
	return []tap{{at(y0, x0), (1 - fy) * (1 - fx)}, {at(y0, x1), (1 - fy) * fx}, {at(y1, x0), fy * (1 - fx)}, {at(y1, x1), fy * fx}}
}

// maxRoiPool takes the greatest element of each cell of each region, 0 of cells that are empty.
func maxRoiPool(c *call) []Value {
	x, rois := c.tensor(0), c.floats(1)
	c.need("pooled_shape")
	shape, scale := c.attrInts("pooled_shape"), c.attrFloat("spatial_scale", 1)
	if x.Rank() != 4 || len(rois)%5 != 0 || len(shape) != 2 || min(shape[0], shape[1]) < 1 || x.Size() == 0 {
		c.fail("regions of the shape %v of a tensor %v do not exist", shape, x.Shape())
	}
	c.size([]int{len(rois) / 5, x.Dim(1), shape[0], shape[1]}, x.DType())
	var cells [][]tap
	total := 0
	// The rows or columns of cell i. Ends are rounded in float32, as the operator's type is.
	span := func(lo, hi float64, i, n, size int) (from, to int) {
		start, end := math.Round(float64(float32(lo)*float32(scale))), math.Round(float64(float32(hi)*float32(scale)))
		bin := max(end-start+1, 1) / float64(n)
		clip := func(v float64) int { return int(min(max(v+start, 0), float64(size))) }
		return clip(math.Floor(float64(i) * bin)), clip(math.Ceil(float64(i+1) * bin))
	}
	for i := 0; i < len(rois); i += 5 {
		b := int(rois[i])
		if !(rois[i] >= 0 && rois[i] < float64(x.Dim(0))) {
			c.fail("region %d is of picture %v of %d", i/5, rois[i], x.Dim(0))
		}
		for cell := range shape[0] * shape[1] {
			y0, y1 := span(rois[i+2], rois[i+4], cell/shape[1], shape[0], x.Dim(2))
			x0, x1 := span(rois[i+1], rois[i+3], cell%shape[1], shape[1], x.Dim(3))
			var list []tap
			if total += max(y1-y0, 0) * max(x1-x0, 0); total > maxTaps {
				c.fail("regions have more than %d elements", maxTaps)
			}
			for y := y0; y < y1; y++ {
				for xx := x0; xx < x1; xx++ {
					list = append(list, tap{int64((b*x.Dim(2)+y)*x.Dim(3) + xx), 1})
				}
			}
			cells = append(cells, list)
		}
	}
	filled(cells)
	return tensors(regions(taken(x, cells).Max(1), shape[0], shape[1]))
}
