package eigen

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestNothingFuses compiles the matrix routines for arm64, where Go may fuse a product and a sum across
// statements: each fused instruction must stand for an FMA that the source writes, or for the product of
// two float32 in float64, which is exact.
func TestNothingFuses(t *testing.T) {
	cmd := exec.Command("go", "build", "-gcflags=-S", ".", "../linalg", "../tile")
	cmd.Env = append(cmd.Environ(), "GOOS=linux", "GOARCH=arm64", "CGO_ENABLED=0")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	found := regexp.MustCompile(`\(\S*/cpu/(\w+/\w+\.go):(\d+)\)\s+FN?M(?:ADD|SUB)[SD]\s`).FindAllStringSubmatch(string(out), -1)
	if len(found) == 0 {
		t.Fatal("the listing has not one of the FMA that the sources write")
	}
	for _, f := range found {
		if f[1] == "tile/portable.go" { // products of float32 in float64
			continue
		}
		text, err := os.ReadFile(filepath.Join("..", filepath.FromSlash(f[1])))
		if err != nil {
			t.Fatal(err)
		}
		n, _ := strconv.Atoi(f[2])
		line := strings.Split(string(text), "\n")[n-1]
		if !strings.Contains(line, "math.FMA(") && !strings.Contains(line, "float64(f)*float64(v)") {
			t.Errorf("%s:%s fuses a product: %s", f[1], f[2], strings.TrimSpace(line))
		}
	}
}
