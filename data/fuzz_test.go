package data_test

import (
	"bytes"
	"io"
	"os"
	"slices"
	"testing"

	"weft"
	"weft/data"
)

// Readers take any bytes: they return an error or something that is whole, and neither panic nor take
// memory for what a file says that it has.

// seeds adds files of testdata.
func seeds(f *testing.F, names ...string) {
	for _, name := range names {
		b, err := os.ReadFile("testdata/" + name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
		f.Add(b[:len(b)/2])
	}
}

func FuzzReadIDX(f *testing.F) {
	seeds(f, "idx-f32", "idx-i8")
	f.Fuzz(func(t *testing.T, b []byte) {
		if x, err := data.ReadIDX(bytes.NewReader(b)); err == nil && x.Size()*x.DType().Size() > len(b) {
			t.Errorf("%s%v of %d bytes", x.DType(), x.Shape(), len(b))
		}
	})
}

func FuzzReadWAV(f *testing.F) {
	seeds(f, "sound8.wav", "sound24.wav")
	f.Fuzz(func(t *testing.T, b []byte) {
		if x, _, err := data.ReadWAV(bytes.NewReader(b)); err == nil && (x.Size() > len(b) || x.Rank() != 2) {
			t.Errorf("%v samples of %d bytes", x.Shape(), len(b))
		}
	})
}

func FuzzReadCSV(f *testing.F) {
	seeds(f, "table.csv")
	f.Fuzz(func(t *testing.T, b []byte) {
		columns, err := data.ReadCSV(bytes.NewReader(b))
		if err != nil {
			return
		}
		for _, c := range columns {
			rows := len(c.Texts)
			if c.Numbers != nil {
				rows = c.Numbers.Dim(0)
			}
			if first := columns[0]; rows != max(len(first.Texts), rowsOf(first)) {
				t.Errorf("%d rows in column %q", rows, c.Name)
			}
		}
	})
}

// rowsOf returns the number of rows of a column of numbers.
func rowsOf(c data.Column) int {
	if c.Numbers == nil {
		return 0
	}
	return c.Numbers.Dim(0)
}

func FuzzReadCIFAR(f *testing.F) {
	f.Add([]byte{}, 1)
	f.Add(make([]byte, 3074), 2)
	f.Fuzz(func(t *testing.T, b []byte, labels int) {
		if labels < 1 || labels > 1<<20 {
			return
		}
		if x, y, err := data.ReadCIFAR(bytes.NewReader(b), labels); err == nil && x.Size()+y.Size() != len(b) {
			t.Errorf("%v and %v of %d bytes", x.Shape(), y.Shape(), len(b))
		}
	})
}

func FuzzReadImage(f *testing.F) {
	f.Add([]byte("\x89PNG\r\n\x1a\n"))
	for s, err := range data.Shards([]string{"testdata/shard.tar"})(0) {
		if err != nil {
			f.Fatal(err)
		}
		f.Add(s.Files["png"])
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) >= 26 && !small(b) {
			return // what it says may be true, and take minutes
		}
		x, err := data.ReadImage(bytes.NewReader(b), data.PictureOpts{Alpha: true})
		if err == nil && (x.Rank() != 3 || x.Dim(0) != 4 || x.DType() != weft.Uint8) {
			t.Errorf("%s%v", x.DType(), x.Shape())
		}
	})
}

// small reports that bytes do not begin as a PNG file of many pixels.
func small(b []byte) bool {
	side := func(b []byte) uint32 { return uint32(b[0])<<24 | uint32(b[1])<<16 | uint32(b[2])<<8 | uint32(b[3]) }
	return b[0] != 0x89 || side(b[16:]) < 1000 && side(b[20:]) < 1000
}

func FuzzShards(f *testing.F) {
	seeds(f, "shard.tar")
	f.Add([]byte{0x1f, 0x8b, 8, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		open := func(string) (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b)), nil }
		zipped := bytes.HasPrefix(b, []byte{0x1f, 0x8b})
		for s, err := range data.Shards([]string{"a"}, data.ShardsOpts{Open: open})(0) {
			if err != nil {
				return
			}
			for name, content := range s.Files {
				if !zipped && !bytes.Contains(b, content) && !slices.Contains(content, 0) { // a sparse file has zeros
					t.Errorf("%s.%s is not in the file", s.Key, name)
				}
			}
		}
	})
}

// TestReadersRefuseNil returns an error.
func TestReadersRefuseNil(t *testing.T) {
	_, idx := data.ReadIDX(nil)
	_, _, wav := data.ReadWAV(nil)
	_, csv := data.ReadCSV(nil)
	_, _, cifar := data.ReadCIFAR(nil, 1)
	_, picture := data.ReadImage(nil)
	for what, err := range map[string]error{"IDX": idx, "WAV": wav, "CSV": csv, "CIFAR": cifar, "picture": picture} {
		if err == nil || err.Error() != "data: "+what+": the reader is nil" {
			t.Errorf("%s: %v", what, err)
		}
	}
}
