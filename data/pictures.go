package data

import (
	"bytes"
	"fmt"
	"image"
	_ "image/gif" // what files may be
	_ "image/jpeg"
	_ "image/png"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"weft"
	"weft/internal/array"
)

// maxPixels is the most pixels of a picture: a file of few bytes may say that it has more than there is
// memory for.
const maxPixels = 1 << 28

// ReadImage reads a PNG, JPEG or GIF file as [FromImage] returns it. A picture of more than 2^28 pixels is
// an error.
func ReadImage(r io.Reader, opts ...PictureOpts) (*weft.Tensor, error) {
	o := array.Options("read_image", opts)
	if r == nil {
		return nil, noReader("picture")
	}
	b, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("data: picture: %w", err)
	}
	c, _, err := image.DecodeConfig(bytes.NewReader(b))
	if err != nil {
		return nil, fmt.Errorf("data: picture: %w", noEOF(err))
	}
	if int64(c.Width)*int64(c.Height) > maxPixels {
		return nil, fmt.Errorf("data: picture: %d times %d pixels are more than %d", c.Width, c.Height, maxPixels)
	}
	m, _, err := image.Decode(bytes.NewReader(b))
	if err != nil {
		return nil, fmt.Errorf("data: picture: %w", noEOF(err))
	}
	var t *weft.Tensor
	err = weft.Try(func() { t = FromImage(m, o) })
	return t, err
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
		b, err := os.ReadFile(p.Path)
		if err != nil {
			return p, err
		}
		p.X, err = ReadImage(bytes.NewReader(b), o)
		return p, err
	}), classes, nil
}
