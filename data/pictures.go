package data

import (
	"fmt"
	"image"
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
