package float8

import (
	"encoding/json"
	"math"
	"os"
	"strconv"
	"testing"
)

// All 256 codes of each format have PyTorch's values, with the signs of zeros.
func TestValuesEqualPyTorch(t *testing.T) {
	text, err := os.ReadFile("testdata/torch.json")
	if err != nil {
		t.Fatal(err)
	}
	var all map[string][]string
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	if len(all) != len(Formats) {
		t.Errorf("%d formats", len(all))
	}
	for name, values := range all {
		for code, text := range values {
			want, err := strconv.ParseFloat(text, 64)
			if err != nil {
				t.Fatal(err)
			}
			got := float64(Formats[name].Value(uint8(code)))
			if math.Float64bits(got) != math.Float64bits(want) && !(math.IsNaN(got) && math.IsNaN(want)) {
				t.Errorf("%s %#02x is %v, want %v", name, code, got, want)
			}
		}
	}
}

// The limits of the tables in the OCP specifications, and AMD's for FNUZ.
func TestLimits(t *testing.T) {
	for name, want := range map[string]struct {
		largest       float32
		nan, infinity int // -1 for none
	}{
		"float8_e4m3fn": {448, 0x7f, -1}, "float8_e5m2": {57344, 0x7e, 0x7c}, "float8_e4m3fnuz": {240, 0x80, -1}, "float8_e5m2fnuz": {57344, 0x80, -1},
		"e2m1": {6, -1, -1},
	} {
		f, ok := Formats[name]
		if !ok {
			f = E2M1
		}
		nan, hasNaN := f.NaN()
		infinity, hasInfinity := f.Infinity()
		if f.Value(uint8(f.Largest())) != want.largest || hasNaN != (want.nan >= 0) || hasNaN && nan != want.nan || hasInfinity != (want.infinity >= 0) || hasInfinity && infinity != want.infinity {
			t.Errorf("%s: largest %v, NaN %#x %v, infinity %#x %v", name, f.Value(uint8(f.Largest())), nan, hasNaN, infinity, hasInfinity)
		}
	}
	want := []float32{0, 0.5, 1, 1.5, 2, 3, 4, 6}
	for i, v := range E2M1.Table() {
		w := want[i%8]
		if i >= 8 {
			w = float32(math.Copysign(float64(w), -1))
		}
		if math.Float32bits(v) != math.Float32bits(w) {
			t.Errorf("E2M1 %d is %v, want %v", i, v, w)
		}
	}
}
