package weft

import (
	"os"
	"runtime/debug"
	"testing"
)

// Tests drop many small tensors and graphs, while little is live. With room for four times as
// much a sixth of the time is saved. Above half a gigabyte the collector runs more often, since
// several packages are tested at once. GOGC decides where it is set, as for a collection at every
// chance.
func TestMain(m *testing.M) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
		debug.SetMemoryLimit(1 << 29)
	}
	os.Exit(m.Run())
}
