package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"strings"

	"weft"
	"weft/internal/jit"
	"weft/internal/limits"
	"weft/internal/par"
	"weft/internal/processor"
)

func newInfo() *command {
	var short, asJSON bool
	f := newFlags()
	f.BoolVar(&short, "short", false, "print the version and the backend only")
	f.BoolVar(&asJSON, "json", false, "print it as JSON")
	return &command{
		name:     "info",
		operands: "[FILE.weft|MODEL.onnx]",
		flags:    f,
		short:    "Show the processor, the backend in use and measured limits, or a file",
		long: `Show the processor's features and caches, when stores bypass these, when threads
are woken, which backend runs kernels and why, the number of threads, and what this machine reaches at most, measured now: bytes read per
second from buffers of several sizes, and fused multiply-adds on registers.

The environment variable WEFT_JIT chooses the backend: off (the interpreter),
avx2 or avx512. GOMAXPROCS sets the number of threads.

Of a file, which weft.Compiled.Save wrote or which holds an ONNX model, show what
it takes and gives, its tensors and its operations, and of a model the nodes that
cannot be run.`,
		check: func(args []string) error {
			if len(args) == 1 && (strings.HasSuffix(args[0], ".weft") || isModel(args[0])) {
				if short || asJSON {
					return errors.New("--short and --json are of the processor, not of a file")
				}
				return nil
			}
			if len(args) > 0 {
				return fmt.Errorf("it takes no arguments but one file FILE.weft or MODEL.onnx, got %q", args[0])
			}
			if short && asJSON {
				return errors.New("--short and --json exclude each other")
			}
			return nil
		},
		run: func(s *streams, args []string) error {
			w := s.out
			if len(args) > 0 {
				return describe(w, args[0])
			}
			backend := jit.Chosen().ISA
			if short {
				_, err := fmt.Fprintf(w, "weft %s, backend %s\n", version(), backend)
				return err
			}
			r, err := look(backend)
			if err != nil {
				return err
			}
			if asJSON {
				return json.NewEncoder(w).Encode(r)
			}
			r.print(w)
			return nil
		},
	}
}

// version is the version of the module or, in a build from a checkout, of the
// commit.
func version() string {
	b, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	if v := b.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	rev, dirty := "", ""
	for _, s := range b.Settings {
		switch {
		case s.Key == "vcs.revision":
			rev = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			dirty = "+"
		}
	}
	if rev == "" {
		return "devel"
	}
	return "devel-" + rev[:min(len(rev), 12)] + dirty
}

// A report is what info says.
type report struct {
	Version    string         `json:"version"`
	Go         string         `json:"go"`
	System     string         `json:"system"`
	Processor  string         `json:"processor,omitempty"`
	Features   []string       `json:"features"`
	Facts      processorFacts `json:"facts"`
	Backend    string         `json:"backend"`
	Reason     string         `json:"reason"` // of the backend
	Threads    int            `json:"threads"`
	Processors int            `json:"processors"`
	Devices    []deviceFacts  `json:"devices"`
	NoCUDA     string         `json:"noCUDA,omitempty"`  // why there is no GPU
	Reading    []reading      `json:"reading,omitempty"` // nothing is measured if kernels are interpreted
	FMA        []fma          `json:"fma,omitempty"`
}

// processorFacts is what weft takes the processor to be: sizes in bytes, 0 where it does not say, and
// times in nanoseconds.
type processorFacts struct {
	Line            int  `json:"line"`
	L1              int  `json:"l1"`
	L2              int  `json:"l2"`
	L3              int  `json:"l3"`
	FarLastLevel    bool `json:"farLastLevel"`
	NonTemporalFrom int  `json:"nonTemporalFrom"`
	WakeSpinning    int  `json:"wakeSpinning"`
	WakeSleeping    int  `json:"wakeSleeping"`
}

func facts() processorFacts {
	h := &processor.Host
	return processorFacts{
		Line: processor.Line, L1: h.L1, L2: h.L2, L3: h.L3, FarLastLevel: h.FarLastLevel, NonTemporalFrom: h.NonTemporalFrom,
		WakeSpinning: processor.WakeSpinning, WakeSleeping: processor.WakeSleeping,
	}
}

// deviceFacts describes a device. A figure that it does not know is 0.
type deviceFacts struct {
	Name   string `json:"name"`
	Card   string `json:"card,omitempty"`
	Memory int64  `json:"memory,omitempty"` // bytes
	Major  int    `json:"major,omitempty"`  // of the compute capability
	Minor  int    `json:"minor,omitempty"`
}

func (d deviceFacts) String() string {
	s := d.Name
	if d.Card != "" {
		s += ": " + d.Card
	}
	if d.Memory > 0 {
		s += fmt.Sprintf(", %d MiB", d.Memory>>20)
	}
	if d.Major > 0 {
		s += fmt.Sprintf(", compute capability %d.%d", d.Major, d.Minor)
	}
	return s
}

// lookAtDevices lists the devices in the report.
func (r *report) lookAtDevices() {
	for _, d := range weft.Devices() {
		f := deviceFacts{Name: d.Name(), Card: d.Card(), Memory: d.Memory()}
		f.Major, f.Minor = d.Capability()
		r.Devices = append(r.Devices, f)
	}
	if _, err := weft.CUDA(0); err != nil {
		r.NoCUDA = err.Error()
	}
}

// A reading is how fast bytes are read from a buffer.
type reading struct {
	Threads int     `json:"threads"`
	Bytes   int     `json:"bytes"`
	Rate    float64 `json:"gigabytesPerSecond"`
}

// An fma is how fast fused multiply-adds on registers are.
type fma struct {
	Threads int     `json:"threads"`
	DType   string  `json:"dtype"`
	Rate    float64 `json:"gigaflopsPerSecond"`
}

// look collects a report, and measures.
func look(backend jit.ISA) (*report, error) {
	r := &report{
		Version: version(), Go: runtime.Version(), System: runtime.GOOS + "/" + runtime.GOARCH, Processor: processor.Name(),
		Features: processor.Features(), Facts: facts(), Backend: backend.String(), Reason: why(backend), Threads: par.Threads(), Processors: runtime.NumCPU(),
	}
	r.lookAtDevices()
	if backend == jit.Portable {
		return r, nil
	}
	threads := []int{1}
	if n := par.Threads(); n > 1 {
		threads = append(threads, n)
	}
	for _, n := range threads {
		for _, bytes := range []int{16 << 10, 256 << 10, 4 << 20, 128 << 20} {
			rate, err := limits.Bandwidth(bytes, n)
			if err != nil {
				return nil, failf("measure the bandwidth: %w", err)
			}
			r.Reading = append(r.Reading, reading{n, bytes, rate})
		}
		for _, d := range []weft.DType{weft.Float32, weft.Float64} {
			r.FMA = append(r.FMA, fma{n, d.String(), limits.FMA(d, n)})
		}
	}
	return r, nil
}

// print writes the report as people read it.
func (r *report) print(w io.Writer) {
	line := func(what, format string, args ...any) {
		fmt.Fprintf(w, "%-12s %s\n", what, fmt.Sprintf(format, args...))
	}
	line("weft", "%s, %s", r.Version, r.Go)
	line("system", "%s", r.System)
	if r.Processor != "" {
		line("processor", "%s", r.Processor)
	}
	line("features", "%s", cmp.Or(strings.Join(r.Features, " "), "none that is looked for"))
	line("caches", "%s", r.Facts)
	line("stores", "bypass the caches from %s on", kibi(r.Facts.NonTemporalFrom))
	line("waking", "threads that spin from %d µs of work on, threads that sleep from %d µs on", r.Facts.WakeSpinning/1000, r.Facts.WakeSleeping/1000)
	line("backend", "%s: %s", r.Backend, r.Reason)
	line("threads", "%d of %d processors", r.Threads, r.Processors)
	for _, d := range r.Devices {
		line("device", "%s", d)
	}
	if r.NoCUDA != "" {
		line("no GPU", "%s", r.NoCUDA)
	}
	if r.Reading == nil {
		line("limits", "not measured: kernels are interpreted")
	}
	for all := r.Reading; len(all) > 0; all = all[4:] {
		var parts []string
		for _, x := range all[:4] {
			parts = append(parts, fmt.Sprintf("%.0f GB/s from %s", x.Rate, kibi(x.Bytes)))
		}
		line("reading", "%s%s", strings.Join(parts, ", "), on(all[0].Threads))
	}
	for all := r.FMA; len(all) > 0; all = all[2:] {
		line("fma", "%.0f GFLOP/s %s, %.0f GFLOP/s %s%s", all[0].Rate, all[0].DType, all[1].Rate, all[1].DType, on(all[0].Threads))
	}
}

// String lists the caches.
func (f processorFacts) String() string {
	parts := []string{fmt.Sprintf("lines of %d bytes", f.Line)}
	for i, bytes := range []int{f.L1, f.L2, f.L3} {
		if bytes > 0 {
			parts = append(parts, fmt.Sprintf("L%d %s", i+1, kibi(bytes)))
		}
	}
	if f.FarLastLevel {
		parts = append(parts, "the last level is far")
	}
	return strings.Join(parts, ", ")
}

// kibi writes a size in KiB or whole MiB.
func kibi(bytes int) string {
	if bytes >= 1<<20 && bytes%(1<<20) == 0 {
		return fmt.Sprintf("%d MiB", bytes>>20)
	}
	return fmt.Sprintf("%d KiB", bytes>>10)
}

func on(threads int) string {
	if threads == 1 {
		return ", one thread"
	}
	return fmt.Sprintf(", %d threads", threads)
}

// why says what decided on the backend.
func why(b jit.ISA) string {
	var have []string
	for _, a := range jit.ISAs() {
		have = append(have, a.String())
	}
	can := "this processor can run " + strings.Join(have, ", ")
	switch c := jit.Chosen(); {
	case c.Note != "":
		return strings.TrimPrefix(c.Note, "weft: ")
	case c.Wish != "":
		return "WEFT_JIT=" + c.Wish + "; " + can
	case runtime.GOARCH != "amd64":
		return "machine code is made for amd64 only"
	}
	return "the widest of what " + can
}
