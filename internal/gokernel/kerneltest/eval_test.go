package kerneltest

import (
	"errors"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
)

// steps is what a call of a random kernel may take.
const steps = 100_000

// Random kernels check and end.
func TestGenerate(t *testing.T) {
	n := 500
	if testing.Short() {
		n = 300
	}
	endless, lines := 0, 0
	for seed := range uint64(n) {
		k := Generate(seed, Options{})
		p, err := Load(k.Src, "")
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, k.Src)
		}
		r := rand.New(rand.NewPCG(seed, 1))
		var args []any
		for _, b := range k.Params {
			args = append(args, Input(r, b))
		}
		_, err = p.Call(k.Name, steps, k.Arg, args...)
		if errors.Is(err, ErrSteps) {
			endless++
		}
		lines += len(k.Src)
	}
	t.Logf("%d bytes each", lines/n)
	if endless > 0 {
		t.Errorf("%d of %d kernels are too long", endless, n)
	}
}

// seedFrom is WEFT_KERNELS_FROM, the first seed.
func seedFrom(t testing.TB) uint64 {
	s := os.Getenv("WEFT_KERNELS_FROM")
	if s == "" {
		return 0
	}
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil {
		t.Fatalf("WEFT_KERNELS_FROM: %v", err)
	}
	return n
}
