package processor

func cpuid(leaf, sub uint32) (a, b, c, d uint32)

// dataCache returns the bytes of a core's cache of a level, the first being 1, that holds
// data; 0 if the processor does not say.
func dataCache(wanted uint32) int {
	const intel, amd = 4, 0x8000001D // leaves of the same form; a processor has one of them
	for _, leaf := range [...]uint32{intel, amd} {
		if most, _, _, _ := cpuid(leaf&^0xFFFF, 0); most < leaf {
			continue
		}
		for sub := range uint32(8) {
			a, b, sets, _ := cpuid(leaf, sub)
			kind, level := a&31, a>>5&7
			if kind == 0 { // behind the last
				break
			}
			if level == wanted && kind != 2 { // 2: of instructions alone
				return int(b>>22+1) * int(b>>12&1023+1) * int(b&4095+1) * int(sets+1)
			}
		}
	}
	return 0
}
