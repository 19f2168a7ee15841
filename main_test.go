package weft

import (
	"os"
	"runtime/debug"
	"testing"
)

// Tests drop many small tensors and graphs, while little is live: with room for four times as
// much a sixth of the time is saved. GOGC decides where it is set, as for a collection at
// every chance.
func TestMain(m *testing.M) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
	os.Exit(m.Run())
}
