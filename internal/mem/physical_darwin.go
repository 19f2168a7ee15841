package mem

import "golang.org/x/sys/unix"

// The system makes swap files as it needs them; as much again as there is main
// memory is taken for what it gives.
func physicalMemory() (memory, swap int64) {
	n, err := unix.SysctlUint64("hw.memsize")
	if err != nil {
		return noLimit, noLimit
	}
	return int64(n), int64(n)
}
