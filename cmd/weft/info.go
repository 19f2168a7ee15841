package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
	syscpu "golang.org/x/sys/cpu"

	"weft"
	"weft/internal/jit"
	"weft/internal/limits"
	"weft/internal/par"
)

func newInfo() *cobra.Command {
	var short, asJSON bool
	cmd := &cobra.Command{
		Use:   "info",
		Short: "Show the processor, the backend in use and measured limits",
		Long: `Show the processor's features, which backend runs kernels and why, the number of
threads, and what this machine reaches at most, measured now: bytes read per
second from buffers of several sizes, and fused multiply-adds on registers.

The environment variable WEFT_JIT chooses the backend: off (the interpreter),
avx2 or avx512. GOMAXPROCS sets the number of threads.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return fmt.Errorf("info: it takes no arguments, got %q", args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			w := cmd.OutOrStdout()
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
	cmd.Flags().BoolVar(&short, "short", false, "print the version and the backend only")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print it as JSON")
	cmd.MarkFlagsMutuallyExclusive("short", "json")
	return cmd
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
	Version    string    `json:"version"`
	Go         string    `json:"go"`
	System     string    `json:"system"`
	Processor  string    `json:"processor,omitempty"`
	Features   []string  `json:"features"`
	Backend    string    `json:"backend"`
	Reason     string    `json:"reason"` // of the backend
	Threads    int       `json:"threads"`
	Processors int       `json:"processors"`
	Reading    []reading `json:"reading,omitempty"` // nothing is measured if kernels are interpreted
	FMA        []fma     `json:"fma,omitempty"`
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
		Version: version(), Go: runtime.Version(), System: runtime.GOOS + "/" + runtime.GOARCH, Processor: processor(),
		Features: features(), Backend: backend.String(), Reason: why(backend), Threads: par.Threads(), Processors: runtime.NumCPU(),
	}
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
	line("backend", "%s: %s", r.Backend, r.Reason)
	line("threads", "%d of %d processors", r.Threads, r.Processors)
	if r.Reading == nil {
		line("limits", "not measured: kernels are interpreted")
	}
	for all := r.Reading; len(all) > 0; all = all[4:] {
		var parts []string
		for _, x := range all[:4] {
			size := fmt.Sprintf("%d KiB", x.Bytes>>10)
			if x.Bytes >= 1<<20 {
				size = fmt.Sprintf("%d MiB", x.Bytes>>20)
			}
			parts = append(parts, fmt.Sprintf("%.0f GB/s from %s", x.Rate, size))
		}
		line("reading", "%s%s", strings.Join(parts, ", "), on(all[0].Threads))
	}
	for all := r.FMA; len(all) > 0; all = all[2:] {
		line("fma", "%.0f GFLOP/s %s, %.0f GFLOP/s %s%s", all[0].Rate, all[0].DType, all[1].Rate, all[1].DType, on(all[0].Threads))
	}
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

// features lists what of the instruction sets that weft looks at is there.
func features() []string {
	x, a := &syscpu.X86, &syscpu.ARM64
	out := []string{}
	for _, f := range []struct {
		name string
		has  bool
	}{
		{"sse4.2", x.HasSSE42}, {"avx", x.HasAVX}, {"avx2", x.HasAVX2}, {"fma", x.HasFMA}, {"f16c", x.HasF16C}, {"bmi2", x.HasBMI2},
		{"avx512f", x.HasAVX512F}, {"avx512bw", x.HasAVX512BW}, {"avx512dq", x.HasAVX512DQ}, {"avx512vl", x.HasAVX512VL}, {"avx512cd", x.HasAVX512CD},
		{"avx512vnni", x.HasAVX512VNNI}, {"avx512bf16", x.HasAVX512BF16},
		{"asimd", a.HasASIMD}, {"sve", a.HasSVE}, {"sve2", a.HasSVE2},
	} {
		if f.has {
			out = append(out, f.name)
		}
	}
	return out
}

// processor returns the processor's name where the system tells it in a file.
func processor() string {
	f, err := os.Open("/proc/cpuinfo")
	if err != nil {
		return ""
	}
	defer f.Close()
	s := bufio.NewScanner(f)
	for s.Scan() {
		if name, value, ok := strings.Cut(s.Text(), ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return ""
}
