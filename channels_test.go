package weft_test

import (
	"testing"

	"weft"
	"weft/internal/cpu"
	"weft/internal/device"
	"weft/internal/jit"
)

// Channels of 1 and 2 bytes that alternate in memory convert to every type, and meet each
// other, as portable code has it: on each backend, for rows of all lengths about a vector.
func TestAlternatingNarrowChannels(t *testing.T) {
	defer weft.SetBackend(device.Get(0).(*cpu.Device).ISA())
	compute := func() (digests []string) {
		for _, from := range []weft.DType{weft.Uint8, weft.Int8, weft.Uint16, weft.Int16, weft.Bool, weft.Float16, weft.BFloat16} {
			for by := 2; by <= 4; by++ {
				for _, n := range []int{1, 3, 4, 7, 8, 9, 15, 16, 17, 31, 33, 64, 100, 131} {
					x := weft.NewGenerator(uint64(n)).Rand(3, n*by).Sub(0.5).Mul(300)
					if from.Integer() && (from == weft.Uint8 || from == weft.Uint16) {
						x = x.Abs()
					}
					if from == weft.Bool {
						x = x.Gt(0)
					} else {
						x = x.To(from)
					}
					var all []*weft.Tensor
					channels := make([]*weft.Tensor, by)
					for k := range channels {
						channels[k] = x.Slice(weft.All, weft.Range(k, n*by, by))
						for _, to := range []weft.DType{weft.Float32, weft.Float64, weft.Int64, weft.Int32, weft.Int16, weft.Uint8, weft.Bool} {
							if to == weft.Uint8 && !from.Integer() {
								continue // out of its range
							}
							all = append(all, channels[k].To(to))
						}
						all = append(all, channels[k].Eq(0))
					}
					if from != weft.Bool {
						all = append(all, channels[0].Add(channels[1]), channels[0].To(weft.Float32).Mul(0.3).Sub(channels[by-1]))
					}
					digests = append(digests, from.String()+" "+weft.Digest(all...))
				}
			}
		}
		return digests
	}
	weft.SetBackend(jit.Portable)
	want := compute()
	for _, isa := range jit.ISAs() {
		weft.SetBackend(isa)
		for i, got := range compute() {
			if got != want[i] {
				t.Errorf("%s: case %d has digest %s, want %s", isa, i, got, want[i])
			}
		}
	}
}
