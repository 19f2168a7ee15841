package optest

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"weft/internal/cudart"
	"weft/internal/device"
	"weft/internal/ptxsim"
)

// onSimulated runs f on a simulated GPU, which searches for races and for memory that was never
// written.
func onSimulated(t *testing.T, seed uint64, f func(dev device.Device)) {
	t.Helper()
	sim := ptxsim.New(ptxsim.Options{Seed: seed})
	gpu, err := cudart.Open(sim, 0, fastest())
	if err != nil {
		t.Fatal(err)
	}
	f(gpu)
	if err := gpu.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
	for i, fault := range sim.Faults() {
		if i == maxReports {
			t.Errorf("%d faults in all", len(sim.Faults()))
			break
		}
		t.Errorf("fault: %v", &fault)
	}
}

// With WEFT_OPS=all the test compares all operations, with names those.
func TestSimulatedValues(t *testing.T) {
	only := strings.Fields(os.Getenv("WEFT_OPS"))
	switch {
	case len(only) == 0: // others, such as topk, take minutes
		only = []string{"abs", "conv2d_core", "floordiv", "lgamma", "minimum", "reduce_sum", "segment_sort", "trigamma"}
	case only[0] == "all":
		only = nil
	}
	onSimulated(t, 1, func(dev device.Device) { Values(t, dev, Caps{Oracle: oracle, Only: only}) })
}

// Random graphs give the oracle's bits on the simulated GPU, planned as one and node by node.
func TestSimulatedGraphs(t *testing.T) {
	graphs := 100
	if n, err := strconv.Atoi(os.Getenv("WEFT_GRAPHS")); err == nil {
		graphs = n
	}
	onSimulated(t, 2, func(dev device.Device) { Fusion(t, dev, Caps{Oracle: oracle, Graphs: graphs}) })
}

// Gradients, and gradients of gradients, have the oracle's bits on the simulated GPU. With
// WEFT_OPS=all the test compares all cases, else one of ten.
func TestSimulatedGradients(t *testing.T) {
	every := 10
	if os.Getenv("WEFT_OPS") == "all" {
		every = 1
	}
	onSimulated(t, 3, func(dev device.Device) { SameGradients(t, dev, Caps{Oracle: oracle, Every: every}) })
}

// Random numbers have the oracle's bits on the simulated GPU.
func TestSimulatedDraws(t *testing.T) {
	onSimulated(t, 4, func(dev device.Device) { Draws(t, dev, Caps{Oracle: oracle}) })
}
