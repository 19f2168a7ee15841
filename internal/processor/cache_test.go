//go:build linux && amd64

package processor

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCacheSizesMatchLinux compares the sizes of caches with the ones that Linux reports.
func TestCacheSizesMatchLinux(t *testing.T) {
	dirs, _ := filepath.Glob("/sys/devices/system/cpu/cpu0/cache/index*")
	read := func(dir, name string) string {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Skipf("SKIPPED: %v", err)
		}
		return strings.TrimSpace(string(b))
	}
	seen := 0
	for _, dir := range dirs {
		level, size, ok := read(dir, "level"), 0, false
		for _, b := range read(dir, "size") {
			if ok = b == 'K'; ok {
				break
			}
			size = 10*size + int(b-'0')
		}
		if read(dir, "type") == "Instruction" || !ok || level > "2" {
			continue
		}
		seen++
		if got := dataCache(uint32(level[0] - '0')); got != size<<10 {
			t.Errorf("level %s has %d bytes, the system says %d", level, got, size<<10)
		}
	}
	if seen == 0 {
		t.Skip("SKIPPED: the system tells of no caches")
	}
}
