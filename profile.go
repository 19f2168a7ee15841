package weft

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/device"
	"weft/internal/profile"
)

// ProfileOpts are the options of [StartProfile]. The zero value counts and times, which takes
// some tenths of a microsecond an operation.
type ProfileOpts struct {
	// Trace keeps what happens, for [Profile.WriteTrace]: some microseconds an operation
	// more, and 100 bytes an event. About a million events are kept.
	Trace bool
	// Labels sets the labels "op" and "kernel" of package runtime/pprof on the goroutines
	// that compute, so that Go's CPU profile tells kernels apart, which have no Go
	// functions: go tool pprof -tags shows them, -tagfocus selects. Labels that a goroutine
	// has of its own are lost where it computes.
	Labels bool
	// Lines finds the line of the program that calls each operation, for [Profile.Lines]: about a
	// microsecond an operation more.
	Lines bool
}

// A Profile says where the time and the memory of operations go: eager ones, backward
// passes, formulas, kernels, optimizers and compiled functions. Go has no state of a
// goroutine's own, so a profile is of the whole process, as that of package runtime/pprof
// is, and one runs at a time. Its methods may be called from any goroutine, also while it
// runs.
type Profile core.Profile

// StartProfile starts a profile, which runs until [Profile.Stop]. It panics if another one
// runs.
func StartProfile(opts ...ProfileOpts) *Profile {
	o := array.Options("profile", opts)
	r := profile.Begin(profile.Options{Events: o.Trace, Labels: o.Labels, Places: o.Lines})
	if r == nil {
		array.Failf("profile", "", "another profile runs: there is one at a time in a process (Profile.Stop ends it)")
	}
	return (*Profile)(core.NewProfile(r))
}

func (p *Profile) rec() *profile.Recorder { return (*core.Profile)(p).Recorder() }

func (p *Profile) notNil() {
	if p == nil || p.rec() == nil {
		array.Failf("profile", "", "the profile is nil or the zero Profile (StartProfile makes one)")
	}
}

// Stop ends the profile, whose results stay. It waits for the work of GPUs in it, whose times are
// taken down. To stop it again does nothing.
func (p *Profile) Stop() {
	p.notNil()
	p.rec().End()
}

// Region names what the goroutine does until end is called, such as an iteration: a span of
// the trace around the operations in it.
//
//	end := p.Region("iteration 1")
//	train()
//	end()
func (p *Profile) Region(name string) (end func()) {
	p.notNil()
	return p.rec().InRegion(name)
}

// A ProfileRow is what the calls of one operation, kernel or phase add up to.
type ProfileRow struct {
	Name string
	// Device is where an operation or a kernel ran, such as "cpu"; "" of phases and rules, which
	// are the host's work.
	Device string
	Shape  string // of a kernel, the extents that it runs over
	Calls  int64
	// Time is that of the device: a GPU measures when work began and ended on its stream. On the CPU
	// it is the time of the calls.
	Time  time.Duration
	Share float64 // of the time of all rows
	Bytes int64   // read and written
	Flops int64   // arithmetic operations, a function such as exp counted as one
	// Memory is how many bytes calls of an operation took for results and temporaries, Peak the
	// most that the device had in use at the end of one.
	Memory, Peak int64
}

// Mean is the time of a call.
func (r ProfileRow) Mean() time.Duration { return r.Time / time.Duration(max(r.Calls, 1)) }

// GBps is how many GB a second the calls read and wrote.
func (r ProfileRow) GBps() float64 { return float64(r.Bytes) / float64(max(r.Time, 1)) }

// GFLOPS is how many billion arithmetic operations a second the calls did.
func (r ProfileRow) GFLOPS() float64 { return float64(r.Flops) / float64(max(r.Time, 1)) }

func row(name string, t profile.Total) ProfileRow {
	return ProfileRow{Name: name, Calls: t.Calls, Time: t.Time, Bytes: t.Bytes, Flops: t.Flops, Memory: t.Memory, Peak: t.Peak}
}

// ranked gives rows their shares, the greatest first.
func ranked(rows []ProfileRow) []ProfileRow {
	sum := time.Duration(0)
	for _, r := range rows {
		sum += r.Time
	}
	for i := range rows {
		rows[i].Share = float64(rows[i].Time) / float64(max(sum, 1))
	}
	slices.SortFunc(rows, func(a, b ProfileRow) int {
		return cmp.Or(-cmp.Compare(a.Time, b.Time), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Shape, b.Shape), cmp.Compare(a.Device, b.Device))
	})
	return rows
}

func rowsOf(m map[string]profile.Total) []ProfileRow {
	var rows []ProfileRow
	for name, t := range m {
		rows = append(rows, row(name, t))
	}
	return ranked(rows)
}

func operationRows(m map[profile.Operation]profile.Total) []ProfileRow {
	var rows []ProfileRow
	for o, t := range m {
		r := row(o.Name, t)
		r.Device = device.Label(o.Device)
		rows = append(rows, r)
	}
	return ranked(rows)
}

// Operations returns a row for each operation and device, under the names that errors have for them;
// gradients are "matmul backward" and so on. The time is that of the call, from
// taking memory for the result to its last element.
func (p *Profile) Operations() []ProfileRow {
	p.notNil()
	ops, _, _, _, _ := p.rec().Snapshot()
	return operationRows(ops)
}

// Kernels returns a row for each kernel, device and shape that it ran over. A fused kernel's name says
// which operations are in it; what is computed by a routine has the routine's name.
func (p *Profile) Kernels() []ProfileRow {
	p.notNil()
	_, steps, _, _, _ := p.rec().Snapshot()
	return kernelRows(steps)
}

func kernelRows(steps map[*profile.Step]profile.Total) []ProfileRow {
	type key struct {
		device      uint8
		name, shape string
	}
	sums := map[key]ProfileRow{}
	for s, t := range steps {
		k := key{s.Device, s.Name, s.Shape}
		r, u := row(s.Name, t), sums[k]
		r.Shape, r.Device = s.Shape, device.Label(s.Device)
		r.Calls, r.Time, r.Bytes, r.Flops = r.Calls+u.Calls, r.Time+u.Time, r.Bytes+u.Bytes, r.Flops+u.Flops
		sums[k] = r
	}
	var rows []ProfileRow
	for _, r := range sums {
		rows = append(rows, r)
	}
	return ranked(rows)
}

// Phases returns a row for each phase of what comes before an operation first runs: finding
// types and shapes, tracing and rewriting of what [Compile] compiles, planning, compiling
// kernels, asking the system for memory.
func (p *Profile) Phases() []ProfileRow {
	p.notNil()
	_, _, phases, _, _ := p.rec().Snapshot()
	return rowsOf(phases)
}

// Rules returns a row for each rule of rewriting that applied while functions were compiled.
func (p *Profile) Rules() []ProfileRow {
	p.notNil()
	return rowsOf(p.rec().Rules())
}

// Lines returns a row for each line of the program that computed something, as "train.go:17":
// lines that called operations, and within compiled functions those that wrote them, also where a
// backward pass did. A kernel of operations of several lines is shared out among them, equally for
// each operation. It needs [ProfileOpts.Lines] for what is not compiled.
func (p *Profile) Lines() []ProfileRow {
	p.notNil()
	return rowsOf(p.rec().Lines())
}

// Elapsed is how long the profile has run.
func (p *Profile) Elapsed() time.Duration {
	p.notNil()
	return p.rec().Elapsed()
}

// Peak is the most memory in bytes that arrays had in use, on all devices together, as far as the profile saw it
// change. Arrays of at most 1 KB are not counted.
func (p *Profile) Peak() int64 {
	p.notNil()
	return p.rec().Peak()
}

// WriteTrace writes what happened in the Trace Event Format, which https://ui.perfetto.dev
// and chrome://tracing show: what each goroutine calls, what it and the workers compute,
// memory over time and where it was asked of the system. The profile must have
// [ProfileOpts.Trace].
func (p *Profile) WriteTrace(w io.Writer) error {
	p.notNil()
	if !p.rec().Events {
		return &Error{Kind: array.Misuse, Op: "profile", Msg: "has no trace: start it with ProfileOpts{Trace: true}"}
	}
	_, _, _, events, lost := p.rec().Snapshot()
	return profile.WriteTrace(w, events, lost, device.Label)
}

// shown is how many rows of a table String shows.
const shown = 20

// String shows the profile as tables: operations, kernels, phases, and tips.
func (p *Profile) String() string {
	if p == nil || p.rec() == nil {
		return "no profile"
	}
	ops, kernels := p.Operations(), p.Kernels()
	inside := time.Duration(0)
	for _, r := range ops {
		inside += r.Time
	}
	var b strings.Builder
	fmt.Fprintf(&b, "profile of %v: %v in operations, at most %s of arrays in use%s\n", rounded(p.Elapsed()), rounded(inside), size(p.Peak()), byDevice(p.rec().Peaks()))
	table(&b, "operations", ops, true)
	table(&b, "kernels", kernels, false)
	table(&b, "lines", p.Lines(), false)
	table(&b, "before the first run", p.Phases(), false)
	table(&b, "rules of rewriting", p.Rules(), false)
	for i, tip := range p.Tips() {
		if i == 0 {
			b.WriteString("\ntips\n")
		}
		fmt.Fprintf(&b, "  - %s\n", tip)
	}
	return b.String()
}

// byDevice returns peaks as text where several devices have one, else "".
func byDevice(peaks map[uint8]int64) string {
	if len(peaks) < 2 {
		return ""
	}
	s := ""
	for _, d := range slices.Sorted(maps.Keys(peaks)) {
		s += fmt.Sprintf(", %s on %s", size(peaks[d]), device.Label(d))
	}
	return s
}

// table writes rows under a title. Rows of several devices have a column that names them.
func table(b *strings.Builder, title string, rows []ProfileRow, memory bool) {
	if len(rows) == 0 {
		return
	}
	b.WriteByte('\n')
	w := tabwriter.NewWriter(b, 0, 0, 2, ' ', tabwriter.AlignRight)
	head := "calls\ttime\tshare\ta call\tGB/s\tGFLOP/s\t"
	if memory {
		head += "memory\tpeak\t"
	}
	devices := slices.ContainsFunc(rows, func(r ProfileRow) bool { return r.Device != rows[0].Device })
	if devices {
		head += "device\t"
	}
	fmt.Fprintf(w, "%s  %s\n", head, title)
	for i, r := range rows {
		if i == shown {
			fmt.Fprintf(w, "\t\t\t\t\t\t%s  and %d more\n", strings.Repeat("\t", strings.Count(head, "\t")-6), len(rows)-shown)
			break
		}
		fmt.Fprintf(w, "%d\t%v\t%.1f%%\t%v\t%s\t%s\t", r.Calls, rounded(r.Time), 100*r.Share, rounded(r.Mean()), rate(r.GBps()), rate(r.GFLOPS()))
		if memory {
			fmt.Fprintf(w, "%s\t%s\t", size(r.Memory), size(r.Peak))
		}
		if devices {
			fmt.Fprintf(w, "%s\t", r.Device)
		}
		fmt.Fprintf(w, "  %s\n", strings.TrimSpace(r.Name+" "+r.Shape))
	}
	w.Flush()
}

// rounded has three digits.
func rounded(d time.Duration) time.Duration {
	unit := time.Duration(1)
	for d/unit >= 1000 {
		unit *= 10
	}
	return d.Round(unit)
}

func rate(x float64) string {
	if x == 0 {
		return "-"
	}
	return fmt.Sprintf("%.3g", x)
}

func size(n int64) string {
	switch {
	case n == 0:
		return "-"
	case n < 1<<20:
		return fmt.Sprintf("%.3g KiB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%.3g MiB", float64(n)/(1<<20))
}

// Where tips begin: shares of the time, and the time of a call that is short.
const (
	tipShare   = 0.05
	tipDouble  = 0.2
	shortCall  = 5 * time.Microsecond
	shortCalls = 100
)

// Tips returns what would make the program faster, each with the figures that say so; none if
// nothing stands out.
func (p *Profile) Tips() []string {
	p.notNil()
	ops, steps, phases, events, lost := p.rec().Snapshot()
	var tips []string
	tip := func(format string, args ...any) { tips = append(tips, fmt.Sprintf(format, args...)) }
	var all, double, crossing, interpreted profile.Total
	for s, t := range steps {
		for _, c := range []struct {
			is bool
			to *profile.Total
		}{{true, &all}, {s.Double, &double}, {s.Crossing, &crossing}, {s.Interpreted, &interpreted}} {
			if c.is {
				c.to.Calls += t.Calls
				c.to.Time += t.Time
			}
		}
	}
	share := func(t profile.Total) float64 { return float64(t.Time) / float64(max(all.Time, 1)) }
	if interpreted.Calls > 0 {
		tip("%d kernels ran in the interpreter, %.0f%% of the time: `weft info` says which instruction sets there are, and WEFT_JIT may switch them off", interpreted.Calls, 100*share(interpreted))
	}
	if share(double) > tipDouble {
		tip("%.0f%% of the time goes to kernels with float64: float32 takes half the memory and half the instructions; To(Float32) converts, and 0-d tensors and Go numbers do not widen", 100*share(double))
	}
	if share(crossing) > tipShare {
		tip("%.0f%% of the time goes to %d copies of transposed arrays: an operand in the order in which it is read (Clone it once, or build it so) needs none", 100*share(crossing), crossing.Calls)
	}
	short, calls := int64(0), int64(0)
	for _, t := range ops {
		calls += t.Calls
		if t.Time/time.Duration(t.Calls) < shortCall {
			short += t.Calls
		}
	}
	if short >= shortCalls && 2*short > calls {
		tip("%d of %d operations take less than %v a call, and much of that is the call itself: a formula (Expr) or a kernel (package kernel) makes one call of several", short, calls, shortCall)
	}
	elapsed := p.rec().Elapsed()
	if t := phases["plan"].Time + phases["kernels"].Time; float64(t) > tipDouble*float64(elapsed) {
		tip("%v of %v went to planning and compiling: each shape is planned once, so leave first iterations out of a profile, and keep shapes the same", rounded(t), rounded(elapsed))
	}
	if t := phases["memory from the system"]; t.Time > time.Duration(tipShare*float64(elapsed)) {
		tip("%v of %v went to %d requests of memory from the system: a Scope around an iteration gives its memory back for the next", rounded(t.Time), rounded(elapsed), t.Calls)
	}
	if runtime.GOMAXPROCS(0) == 1 && runtime.NumCPU() > 1 {
		tip("GOMAXPROCS is 1 on %d processors: kernels use one", runtime.NumCPU())
	}
	if lost > 0 {
		tip("the trace ends after %d events, %d more are not in it", len(events), lost)
	}
	return tips
}
