package transforms

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestPoliciesAreTorchvisions compares with testdata/policies.txt.
func TestPoliciesAreTorchvisions(t *testing.T) {
	text, err := os.ReadFile("testdata/policies.txt")
	if err != nil {
		t.Fatal(err)
	}
	names := map[int]string{shearX: "ShearX", shearY: "ShearY", translateX: "TranslateX", translateY: "TranslateY", turn: "Rotate",
		brightness: "Brightness", saturation: "Color", contrast: "Contrast", sharpness: "Sharpness", posterize: "Posterize",
		solarize: "Solarize", autoContrast: "AutoContrast", equalize: "Equalize", invert: "Invert"}
	var got strings.Builder
	for p, name := range []string{"imagenet", "cifar10", "svhn"} {
		for _, pair := range policies[p] {
			fmt.Fprint(&got, name)
			for _, s := range pair {
				fmt.Fprintf(&got, " %s %d %d", names[s.change], s.tenths, s.level)
			}
			fmt.Fprintln(&got)
		}
	}
	if got.String() != string(text) {
		t.Errorf("the policies are\n%s", got.String())
	}
}
