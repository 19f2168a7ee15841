package hf

import (
	"image"
	"math"

	"weft"
	"weft/data"
	"weft/data/transforms"
	"weft/models"
	"weft/nn"
)

// A pictureSize is a size in preprocessor_config.json.
type pictureSize struct {
	Height   int `json:"height"`
	Width    int `json:"width"`
	Shortest int `json:"shortest_edge"`
}

// readPreparation reads preprocessor_config.json.
func (m *Model) readPreparation() error {
	switch m.Module.(type) {
	case *models.Whisper:
		return m.readSpectrogram()
	case *models.ViT:
		return m.readPictures()
	}
	return nil
}

// readPictures is readPreparation of a network of pictures.
func (m *Model) readPictures() error {
	path := m.path("preprocessor_config.json")
	o := struct {
		Resize    bool         `json:"do_resize"`
		Size      *pictureSize `json:"size"`
		Resample  int          `json:"resample"`
		Crop      bool         `json:"do_center_crop"`
		CropSize  *pictureSize `json:"crop_size"`
		Rescale   bool         `json:"do_rescale"`
		Factor    float64      `json:"rescale_factor"`
		Normalize bool         `json:"do_normalize"`
		Mean      []float64    `json:"image_mean"`
		Std       []float64    `json:"image_std"`
	}{Resample: 2, Rescale: true, Factor: 1.0 / 255}
	_, found, err := readJSON(path, &o)
	if err != nil || !found {
		return err
	}
	var list transforms.Compose
	if o.Resize && o.Size != nil {
		mode, ok := map[int]nn.InterpolateMode{0: nn.ModeNearestExact, 2: nn.ModeLinear, 3: nn.ModeCubic}[o.Resample]
		if !ok {
			return m.unsupported("%s asks for resampling %d, known are 0, 2 and 3", path, o.Resample)
		}
		list = append(list, transforms.Resize{Size: o.Size.edges(), Interpolation: &mode})
	}
	if o.Crop && o.CropSize != nil {
		list = append(list, transforms.CenterCrop{Size: o.CropSize.edges()})
	}
	if o.Rescale && math.Abs(o.Factor*255-1) > 1e-6 {
		return m.unsupported("%s asks for factor %v, known is 1/255", path, o.Factor)
	}
	list = append(list, transforms.ToDtype{DType: weft.Float32, Scale: o.Rescale})
	if o.Normalize {
		if len(o.Mean) == 0 || len(o.Std) == 0 {
			return &FormatError{Path: path, Msg: "has do_normalize without image_mean and image_std"}
		}
		list = append(list, transforms.Normalize{Mean: o.Mean, Std: o.Std})
	}
	m.Prepare = list
	return nil
}

// edges returns height and width, or the shorter edge alone.
func (s *pictureSize) edges() []int {
	if s.Shortest > 0 {
		return []int{s.Shortest}
	}
	return []int{s.Height, s.Width}
}

// ClassifyPictures returns for each picture the classes, the most likely first. Pictures are prepared by
// m.Prepare. The error is an *[UnsupportedError] unless the network classifies pictures and the folder says how to
// prepare them.
func (m *Model) ClassifyPictures(pictures []image.Image) (out [][]Class, err error) {
	if err := m.made(); err != nil {
		return nil, err
	}
	net, ok := m.Module.(*models.ViT)
	if !ok || m.Prepare == nil {
		return nil, m.unsupported("a %s does not classify pictures, or preprocessor_config.json is missing", m.Config.Architecture)
	}
	if len(pictures) == 0 {
		return nil, nil
	}
	err = weft.Try(func() {
		weft.WithoutGrad(func() {
			var list []*weft.Tensor
			for _, p := range pictures {
				list = append(list, m.Prepare.Apply(data.FromImage(p), nil))
			}
			scope := weft.NewScope()
			defer scope.Close()
			out = m.classesOf(net.Forward(scope.Track(weft.Stack(list, 0))))
		})
	})
	return out, err
}
