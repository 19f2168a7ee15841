package data

import (
	"fmt"
	"image"
	"image/color"
	_ "image/gif" // what files may be
	_ "image/jpeg"
	_ "image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"weft"
	"weft/internal/array"
)

// PictureOpts are the options of [FromImage].
type PictureOpts struct {
	Gray  bool // one channel, of luminance
	Alpha bool // a channel more, of opacity
}

// FromImage returns a picture as a tensor, uint8 [channels height width]: red, green and blue, which are
// not multiplied by the opacity. It panics with *weft.Error if m is nil.
func FromImage(m image.Image, opts ...PictureOpts) *weft.Tensor {
	o := array.Options("from_image", opts)
	if m == nil {
		array.Failf("from_image", "m", "is nil")
	}
	b := m.Bounds()
	h, w := b.Dy(), b.Dx()
	channels := 3
	if o.Gray {
		channels = 1
	}
	if o.Alpha {
		channels++
	}
	if h == 0 || w == 0 {
		return weft.ZerosOf(weft.Uint8, channels, h, w)
	}
	out := make([]uint8, channels*h*w)
	for y := range h {
		for x := range w {
			c := m.At(b.Min.X+x, b.Min.Y+y)
			p := color.NRGBAModel.Convert(c).(color.NRGBA)
			at := y*w + x
			if o.Gray {
				out[at] = color.GrayModel.Convert(color.NRGBA{p.R, p.G, p.B, 255}).(color.Gray).Y
			} else {
				out[at], out[h*w+at], out[2*h*w+at] = p.R, p.G, p.B
			}
			if o.Alpha {
				out[(channels-1)*h*w+at] = p.A
			}
		}
	}
	return weft.FromSlice(out, channels, h, w)
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
	at := func(c, i int) uint8 { return v[c*h*w+i] }
	if channels == 1 {
		m := image.NewGray(image.Rect(0, 0, w, h))
		copy(m.Pix, v)
		return m
	}
	m := image.NewNRGBA(image.Rect(0, 0, w, h))
	for i := range h * w {
		p := m.Pix[4*i : 4*i+4]
		p[0], p[1], p[2], p[3] = at(0, i), at(1, i), at(2, i), 255
		if channels == 4 {
			p[3] = at(3, i)
		}
	}
	return m
}

// A Picture is a file of a [PictureFolder].
type Picture struct {
	X     *weft.Tensor // as FromImage returns it
	Label int          // the class
	Path  string
}

// pictureEndings are what files of pictures end in.
var pictureEndings = []string{".png", ".jpg", ".jpeg", ".gif"}

// PictureFolder returns the dataset of the PNG, JPEG and GIF files in the folders of a folder, and the
// classes, which are the folders' names in order: torchvision's ImageFolder. A file is decoded when it is
// asked for. An error of a file names it.
func PictureFolder(root string, opts ...PictureOpts) (pictures DatasetOf[Picture], classes []string, err error) {
	o := array.Options("picture_folder", opts)
	folders, err := os.ReadDir(root)
	if err != nil {
		return nil, nil, err
	}
	var files []Picture
	for _, folder := range folders {
		if !folder.IsDir() {
			continue
		}
		label, dir := len(classes), filepath.Join(root, folder.Name())
		classes = append(classes, folder.Name())
		err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
			if err == nil && !e.IsDir() && slices.Contains(pictureEndings, strings.ToLower(filepath.Ext(path))) {
				files = append(files, Picture{Label: label, Path: path})
			}
			return err
		})
		if err != nil {
			return nil, nil, err
		}
	}
	if len(classes) == 0 {
		return nil, nil, fmt.Errorf("data: %s has no folders, one for each class", root)
	}
	return Map(Items(files), func(p Picture) (Picture, error) {
		f, err := os.Open(p.Path)
		if err != nil {
			return p, err
		}
		defer f.Close()
		m, _, err := image.Decode(f)
		if err != nil {
			return p, err
		}
		p.X = FromImage(m, o)
		return p, nil
	}), classes, nil
}
