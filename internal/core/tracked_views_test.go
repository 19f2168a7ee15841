package core_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"weft"
	"weft/internal/tensortest"
	"weft/records"
)

// The extents of a view are what its elements say, one by one; what is pending of it is what is
// pending and touched.
func TestExtentsOfViews(t *testing.T) {
	x := weft.Arange(0., 120).Reshape(4, 5, 6)
	d := clean(t, x, every)
	views := map[string]func(x *weft.Tensor) *weft.Tensor{
		"all":     func(x *weft.Tensor) *weft.Tensor { return x },
		"row":     func(x *weft.Tensor) *weft.Tensor { return x.At(2) },
		"element": func(x *weft.Tensor) *weft.Tensor { return x.At(1, 2, 3) },
		"column":  func(x *weft.Tensor) *weft.Tensor { return x.Slice(weft.All, weft.Index(2), weft.Index(-1)) },
		"backward": func(x *weft.Tensor) *weft.Tensor {
			return x.Slice(weft.Range(weft.End, weft.Begin, -1), weft.Range(3, 1, -1))
		},
		"every other": func(x *weft.Tensor) *weft.Tensor { return x.Slice(weft.Ellipsis, weft.Range(1, 6, 3)) },
		"transposed":  func(x *weft.Tensor) *weft.Tensor { return x.T() },
		"empty":       func(x *weft.Tensor) *weft.Tensor { return x.Slice(weft.Range(2, 2)) },
		"expanded": func(x *weft.Tensor) *weft.Tensor {
			return x.Slice(weft.Index(1), weft.Index(1), weft.Range(2, 3)).Expand(7, 3)
		},
		"flat": func(x *weft.Tensor) *weft.Tensor { return x.Reshape(-1).Slice(weft.Range(100, 90, -2)) },
	}
	index := x.Clone()
	x.Reshape(-1).Slice(weft.Range(0, 120, 7)).AddAssign(1)
	written := map[int]bool{}
	for i := 0; i < 120; i += 7 {
		written[i] = true
	}
	for name, view := range views {
		v := view(x)
		places := map[int]bool{}
		lo, hi := 1<<30, -1
		for _, f := range weft.Data[float32](view(index)) { // the number of an element is its place
			k := int(f)
			places[k], lo, hi = true, min(lo, k), max(hi, k)
		}
		want := weft.ByteRange{Start: 4 * lo, Stop: 4*hi + 4}
		if v.Size() == 0 {
			want = weft.ByteRange{}
		}
		if got := d.Extents(v); got != want {
			t.Errorf("%s: extents %v, want %v", name, got, want)
		}
		var pending []weft.ByteRange
		for k := range 120 {
			if places[k] && written[k] {
				pending = append(pending, span(4*k, 4*k+4))
			}
		}
		if got := d.PendingOf(v); !slices.Equal(got, pending) {
			t.Errorf("%s: %v is pending, want %v", name, got, pending)
		}
	}
	if got := d.PendingOf(x); !slices.Equal(got, d.Pending()) {
		t.Errorf("of all: %v, want %v", got, d.Pending())
	}
	// Of a base that is a view itself, bytes count from its first one.
	part := weft.Track(x.Slice(weft.Range(1, 3)))
	if got := part.Extents(x.At(2, 0, 0)); got != span(120, 124) {
		t.Error(got)
	}
	if got := part.Extents(x); got != span(0, 240) {
		t.Error(got)
	}
	if got := part.Extents(x.At(0)); got != (weft.ByteRange{}) {
		t.Error(got)
	}
	for want, f := range map[string]func(){
		"extents: view: is not a view":   func() { d.Extents(weft.Ones(3)) },
		"pendingof: view: is not a view": func() { d.PendingOf(weft.Ones(3)) },
		"pendingof: ":                    func() { d.PendingOf(nil) },
		"extents: the Tracked is nil":    func() { (*weft.Tracked)(nil).Extents(x) },
	} {
		if err := weft.Try(f); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q in it", err, want)
		}
	}
}

// Fields of records are views of other element types: positions are pending, colors are not.
func TestPendingFields(t *testing.T) {
	v := records.Zeros(records.LayoutOf[struct {
		Position [2]float32
		ID       int32
		Color    [4]uint8
	}](), 3)
	d := clean(t, v.Bytes(), every)
	v.Field("Color").At(1).Assign(1)
	v.Field("Position").At(2).Assign(1)
	if got := d.Pending(); !slices.Equal(got, spans(28, 40)) { // they meet
		t.Error(got)
	}
	for name, want := range map[string][]weft.ByteRange{"Position": spans(32, 40), "Color": spans(28, 32), "ID": nil} {
		if got := d.PendingOf(v.Field(name)); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	if got := d.Extents(v.At(1).Field("ID")); got != span(24, 28) {
		t.Error(got)
	}
}

func TestSinkFunc(t *testing.T) {
	x := weft.Zeros(10)
	d := clean(t, x, every)
	x.At(3).Assign(1)
	x.At(7).Assign(2)
	var got []string
	n, err := d.Flush(weft.SinkFunc(func(offset int, bytes []byte) error {
		got = append(got, fmt.Sprint(offset, bytes))
		return nil
	}))
	if n != 8 || err != nil || fmt.Sprint(got) != "[12 [0 0 128 63] 28 [0 0 0 64]]" {
		t.Errorf("%d bytes, %v: %s", n, err, got)
	}
	x.At(3).Assign(1)
	cut := errors.New("cut")
	if n, err := d.Flush(weft.SinkFunc(func(int, []byte) error { return cut })); n != 0 || err != cut || len(d.Pending()) != 1 {
		t.Errorf("%d bytes, %v, %v is pending", n, err, d.Pending())
	}
	if _, err := d.Flush(weft.SinkFunc(nil)); err == nil || !strings.Contains(err.Error(), "nil") {
		t.Error(err)
	}
}

// A texture is a picture that is changed by rectangles.
type texture struct {
	width, pixel int
	data         []byte
	rects        []string
	pixels       int
}

func (x *texture) upload(left, top, width, height int, pixels []byte) error {
	if len(pixels) != width*height*x.pixel {
		return fmt.Errorf("%d bytes for %d x %d pixels", len(pixels), width, height)
	}
	x.rects = append(x.rects, fmt.Sprint(left, top, width, height))
	x.pixels += width * height
	for r := range height {
		copy(x.data[((top+r)*x.width+left)*x.pixel:], pixels[r*width*x.pixel:(r+1)*width*x.pixel])
	}
	return nil
}

// Random rectangles that are written arrive in a texture, and nothing else is sent.
func TestRectSink(t *testing.T) {
	tensortest.SkipLate(t, "it compares memory of the host")
	picture := weft.ZerosOf(weft.Uint8, 40, 60, 4)
	exact := weft.TrackOpts{Item: new(4), Cost: &weft.Cost{}}
	d := weft.Track(picture, exact)
	x := &texture{width: 60, pixel: 4, data: make([]byte, 40*60*4)}
	sink := weft.RectSink(picture, x.upload)
	flush := func(want ...string) {
		t.Helper()
		x.rects, x.pixels = nil, 0
		if _, err := d.Flush(sink); err != nil {
			t.Fatal(err)
		}
		if want != nil && !slices.Equal(x.rects, want) {
			t.Errorf("rectangles %q, want %q", x.rects, want)
		}
		if !slices.Equal(x.data, weft.Data[uint8](picture)) {
			t.Error("the texture is another picture")
		}
	}
	part := func(left, top, width, height int) *weft.Tensor {
		return picture.Slice(weft.Range(top, top+height), weft.Range(left, left+width))
	}
	flush("0 0 60 40")
	part(10, 5, 20, 8).Assign(7)
	flush("10 5 20 8")
	part(10, 5, 20, 8).Slice(weft.Ellipsis, weft.Index(3)).Assign(9) // one byte of each pixel
	flush("10 5 20 8")
	part(0, 3, 2, 4).Assign(1)
	part(50, 3, 10, 4).Assign(2)
	flush("0 3 2 4", "50 3 10 4") // the end of a row meets the start of the next
	flush()
	r := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		touched := map[int]bool{}
		for range 1 + r.IntN(4) {
			left, top := r.IntN(60), r.IntN(40)
			w, h := 1+r.IntN(60-left), 1+r.IntN(40-top)
			part(left, top, w, h).Assign(r.IntN(256))
			for y := top; y < top+h; y++ {
				for c := left; c < left+w; c++ {
					touched[60*y+c] = true
				}
			}
		}
		flush()
		if x.pixels != len(touched) {
			t.Errorf("%d pixels were sent, %d written: %q", x.pixels, len(touched), x.rects)
		}
	}
	// A large picture is sent in pieces of 1 MiB, which are one rectangle.
	large := weft.ZerosOf(weft.Uint8, 1000, 1001, 3)
	x = &texture{width: 1001, pixel: 3, data: make([]byte, 1000*1001*3)}
	if _, err := weft.Track(large, weft.TrackOpts{Item: new(3)}).Flush(weft.RectSink(large, x.upload)); err != nil || fmt.Sprint(x.rects) != "[0 0 1001 1000]" {
		t.Error(x.rects, err)
	}
	failed := errors.New("lost context")
	part(1, 1, 2, 2).Assign(1)
	if n, err := d.Flush(weft.RectSink(picture, func(_, _, _, _ int, _ []byte) error { return failed })); n != 0 || err != failed || len(d.Pending()) != 2 {
		t.Errorf("%d, %v, %v is pending", n, err, d.Pending())
	}
	bytes := weft.Track(picture, weft.TrackOpts{Cost: &weft.Cost{}})
	bytes.Flush(picture.Clone().Sink())
	picture.At(0, 0, 1).Assign(3)
	if _, err := bytes.Flush(sink); err == nil || !strings.Contains(err.Error(), "are not whole pixels of 4 bytes: track the picture with Item: new(4)") {
		t.Error(err)
	}
	for want, f := range map[string]func(){
		"rectsink: picture: has shape [3]": func() { weft.RectSink(weft.Ones(3), x.upload) },
		"rectsink: upload: is nil":         func() { weft.RectSink(picture, nil) },
		"rectsink: ":                       func() { weft.RectSink(nil, x.upload) },
	} {
		if err := weft.Try(f); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q in it", err, want)
		}
	}
	if _, err := sink.WriteAt(make([]byte, 4), 40*60*4); err == nil {
		t.Error("bytes beyond the picture were taken")
	}
}

// What glumpy's GPUData does, and where it is wrong the range of bytes that is right: extents of
// views count in the base, writes into views are pending in the base, an upload leaves nothing.
func TestBehavioursOfGPUData(t *testing.T) {
	one := weft.TrackOpts{OneInterval: true}
	type row struct {
		name  string
		write func(z *weft.Tensor)
		view  func(z *weft.Tensor) *weft.Tensor // whose extents are wanted
		at    weft.ByteRange                    // extents, and what is pending
	}
	part := func(spans ...weft.Span) func(z *weft.Tensor) *weft.Tensor {
		return func(z *weft.Tensor) *weft.Tensor { return z.Slice(spans...) }
	}
	end, begin := weft.End, weft.Begin
	for _, r := range []row{
		{"view of rows", nil, part(weft.Range(0, 2)), span(0, 80)},
		{"view of every other row", nil, part(weft.Range(0, end, 2)), span(0, 200)},
		{"view of a column", nil, part(weft.All, weft.Index(1)), span(8, 176)},
		{"view of a view", nil, func(z *weft.Tensor) *weft.Tensor { return z.At(1).Slice(weft.Range(1, 3)) }, span(48, 64)},
		{"transposed", nil, (*weft.Tensor).T, span(0, 200)},
		{"reversed, where glumpy has stop before start", nil, part(weft.Range(end, begin, -1)), span(0, 200)},
		{"reversed part", nil, part(weft.Range(3, 1, -1), weft.Index(0)), span(80, 128)},
		{"nothing", nil, part(weft.Range(2, 2)), weft.ByteRange{}},
		{"set an element", func(z *weft.Tensor) { z.At(1, 1).Assign(1) }, part(weft.Index(1), weft.Index(1)), span(48, 56)},
		{"set the last element from the back", func(z *weft.Tensor) { z.At(-1, -1).Assign(1) }, part(weft.Index(-1), weft.Index(-1)), span(192, 200)},
		{"set two rows", func(z *weft.Tensor) { z.At(0).Assign(1); z.At(2).Assign(1) }, part(weft.Range(0, 3)), span(0, 120)},
		{"add to a view", func(z *weft.Tensor) { z.At(3).AddAssign(1) }, part(weft.Index(3)), span(120, 160)},
		{"subtract from all", func(z *weft.Tensor) { z.SubAssign(1) }, part(), span(0, 200)},
		{"multiply a column", func(z *weft.Tensor) { z.Slice(weft.All, weft.Index(4)).MulAssign(2) }, part(weft.All, weft.Index(4)), span(32, 200)},
		{"divide a row, which Python 3 hides from glumpy", func(z *weft.Tensor) { z.Fill(1).At(2).DivAssign(2) }, part(), span(0, 200)},
		{"a function with out, which glumpy does not see", func(z *weft.Tensor) { z.At(2).Update((*weft.Tensor).Exp) }, part(weft.Index(2)), span(80, 120)},
		{"set by places, which glumpy does not see", func(z *weft.Tensor) {
			z.Update(func(x *weft.Tensor) *weft.Tensor { return x.IndexPut(weft.Scalar(7.0), []int{1, 3}) })
		}, part(weft.Range(1, 4)), span(40, 160)},
	} {
		t.Run(r.name, func(t *testing.T) {
			if strings.HasPrefix(r.name, "set by places") {
				tensortest.SkipLate(t, "a late device writes all of it, since it does not know the places")
			}
			z := weft.ZerosOf(weft.Float64, 5, 5)
			d := weft.Track(z, one)
			if got := d.Pending(); !slices.Equal(got, spans(0, 200)) {
				t.Errorf("%s: at first %v is pending", r.name, got)
			}
			d.Flush(nowhere{})
			if got := d.Pending(); len(got) > 0 {
				t.Errorf("%s: after an upload %v is pending", r.name, got)
			}
			if got := d.Extents(r.view(z)); got != r.at {
				t.Errorf("%s: extents %v, want %v", r.name, got, r.at)
			}
			if r.write == nil {
				return
			}
			r.write(z)
			if got := d.Pending(); len(got) != 1 || got[0] != r.at {
				t.Errorf("%s: %v is pending, want %v", r.name, got, r.at)
			}
		})
	}
}
