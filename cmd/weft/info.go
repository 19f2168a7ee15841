package main

import (
	"bufio"
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
	var short bool
	cmd := &cobra.Command{
		Use:   "info",
		Short: "Show the processor, the backend in use and measured limits",
		Long: `Show the processor's features, which backend runs kernels and why, the number of
threads, and what this machine reaches at most, measured now: bytes read per
second from buffers of several sizes, and fused multiply-adds on registers.

The environment variable WEFT_JIT chooses the backend: off (the interpreter),
avx2 or avx512. GOMAXPROCS sets the number of threads.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			w := cmd.OutOrStdout()
			backend := jit.Chosen().ISA
			if short {
				_, err := fmt.Fprintf(w, "weft %s, backend %s\n", version(), backend)
				return err
			}
			return info(w, backend)
		},
	}
	cmd.Flags().BoolVar(&short, "short", false, "print the version and the backend only")
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

func info(w io.Writer, backend jit.ISA) error {
	line := func(what, format string, args ...any) {
		fmt.Fprintf(w, "%-12s %s\n", what, fmt.Sprintf(format, args...))
	}
	line("weft", "%s, %s", version(), runtime.Version())
	line("system", "%s/%s", runtime.GOOS, runtime.GOARCH)
	if m := processor(); m != "" {
		line("processor", "%s", m)
	}
	line("features", "%s", strings.Join(features(), " "))
	line("backend", "%s: %s", backend, why(backend))
	line("threads", "%d of %d processors", par.Threads(), runtime.NumCPU())
	if backend == jit.Portable {
		line("limits", "not measured: kernels are interpreted")
		return nil
	}
	threads := []int{1}
	if n := par.Threads(); n > 1 {
		threads = append(threads, n)
	}
	for _, n := range threads {
		var parts []string
		for _, s := range []struct {
			name  string
			bytes int
		}{{"16 KiB", 16 << 10}, {"256 KiB", 256 << 10}, {"4 MiB", 4 << 20}, {"128 MiB", 128 << 20}} {
			rate, err := limits.Bandwidth(s.bytes, n)
			if err != nil {
				return failf("measure the bandwidth: %w", err)
			}
			parts = append(parts, fmt.Sprintf("%.0f GB/s from %s", rate, s.name))
		}
		line("reading", "%s%s", strings.Join(parts, ", "), on(n))
	}
	for _, n := range threads {
		line("fma", "%.0f GFLOP/s float32, %.0f GFLOP/s float64%s",
			limits.FMA(weft.Float32, n), limits.FMA(weft.Float64, n), on(n))
	}
	return nil
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
	var out []string
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
	if out == nil {
		out = []string{"none that is looked for"}
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
