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
