package profile

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"time"
)

// Processes of a trace, which viewers show as groups of tracks: the host and two for each device.
const (
	hostPID     = 1 // calls, phases and regions, a track a goroutine
	firstDevice = 2
	perDevice   = 2
)

// workPID returns the process with the kernels and routines of a device as they run, a track a
// goroutine and one a worker or stream.
func workPID(device uint8) int { return firstDevice + perDevice*int(device) }

// memoryPID returns the process with the memory of a device.
func memoryPID(device uint8) int { return workPID(device) + 1 }

// workerTrack is the number of the track of worker 0, beyond all tracks of goroutines.
const workerTrack = 1 << 30 // viewers read 32 bits

// A traceEvent is one of the Trace Event Format, which Perfetto and chrome://tracing read.
// Times are in microseconds.
type traceEvent struct {
	Name  string         `json:"name"`
	Phase string         `json:"ph"`
	Cat   string         `json:"cat,omitempty"`
	Time  float64        `json:"ts"`
	Dur   *float64       `json:"dur,omitempty"`
	PID   int            `json:"pid"`
	TID   int64          `json:"tid"`
	ID    int            `json:"id,omitempty"`
	Args  map[string]any `json:"args,omitempty"`
}

var categories = [...]string{Op: "op", Run: "kernel", Work: "kernel", Late: "kernel", Phase: "compile", Region: "region", Map: "memory", Memory: "memory"}

// WriteTrace writes events in the Trace Event Format. nameOf names a device.
func WriteTrace(to io.Writer, events []Event, lost int, nameOf func(device uint8) string) error {
	w := bufio.NewWriter(to)
	fmt.Fprintf(w, `{"displayTimeUnit":"ns","otherData":{"lost":"%d"},"traceEvents":[`, lost)
	first := true
	put := func(e traceEvent) error {
		if !first {
			w.WriteByte(',')
		}
		first = false
		w.WriteByte('\n')
		b, err := json.Marshal(e)
		if err == nil {
			_, err = w.Write(b)
		}
		return err
	}
	name := func(what string, pid int, tid int64, s string, sort int64) error {
		if err := put(traceEvent{Name: what + "_name", Phase: "M", PID: pid, TID: tid, Args: map[string]any{"name": s}}); err != nil {
			return err
		}
		return put(traceEvent{Name: what + "_sort_index", Phase: "M", PID: pid, TID: tid, Args: map[string]any{"sort_index": sort}})
	}
	if err := name("process", hostPID, 0, "host", hostPID); err != nil {
		return err
	}
	for _, d := range devicesOf(events) {
		pid, called := workPID(d), nameOf(d)
		if err := name("process", pid, 0, called, int64(pid)); err != nil {
			return err
		}
		pid = memoryPID(d)
		if err := name("process", pid, 0, called+" memory", int64(pid)); err != nil {
			return err
		}
	}
	type track struct {
		pid int
		tid int64
	}
	named := map[track]bool{}
	sorted := slices.Clone(events)
	// What lies inside other spans comes behind them.
	slices.SortStableFunc(sorted, func(a, b Event) int {
		if a.Start != b.Start {
			return int(min(max(a.Start-b.Start, -1), 1))
		}
		return int(min(max(b.Time-a.Time, -1), 1))
	})
	us := func(d time.Duration) float64 { return float64(d) / 1e3 }
	for i, e := range sorted {
		t := track{hostPID, e.Track}
		called := fmt.Sprint("goroutine ", e.Track)
		args := map[string]any{}
		switch e.Kind {
		case Op:
			args["memory"] = e.Value
		case Run:
			t.pid = workPID(e.Device)
			called = fmt.Sprintf("goroutine %d, which calls", e.Track)
			args["bytes"], args["flops"] = e.Value, e.More
		case Work:
			t = track{workPID(e.Device), workerTrack + e.Track}
			called = fmt.Sprint("worker ", e.Track)
		case Late:
			t = track{workPID(e.Device), workerTrack + e.Track}
			called = fmt.Sprint("stream ", e.Track)
		case Map:
			// Several goroutines may ask at once: spans that may overlap.
			args["bytes"] = e.Value
			at := traceEvent{Name: e.Name, Phase: "b", Cat: "memory", Time: us(e.Start), PID: memoryPID(e.Device), ID: i + 1, Args: args}
			if err := put(at); err != nil {
				return err
			}
			at.Phase, at.Time, at.Args = "e", us(e.Start+e.Time), nil
			if err := put(at); err != nil {
				return err
			}
			continue
		case Memory:
			if err := put(traceEvent{Name: "bytes", Phase: "C", Time: us(e.Start), PID: memoryPID(e.Device), Args: map[string]any{"in use": e.Value, "kept for reuse": e.More - e.Value}}); err != nil {
				return err
			}
			continue
		}
		if !named[t] {
			named[t] = true
			if err := name("thread", t.pid, t.tid, called, t.tid); err != nil {
				return err
			}
		}
		dur := us(e.Time)
		if err := put(traceEvent{Name: e.Name, Phase: "X", Cat: categories[e.Kind], Time: us(e.Start), Dur: &dur, PID: t.pid, TID: t.tid, Args: args}); err != nil {
			return err
		}
	}
	w.WriteString("\n]}\n")
	return w.Flush()
}

// devicesOf returns the devices that have events, the host's aside, in ascending order.
func devicesOf(events []Event) []uint8 {
	var list []uint8
	for i := range events {
		if e := &events[i]; e.Kind != Phase && e.Kind != Region && !slices.Contains(list, e.Device) {
			list = append(list, e.Device)
		}
	}
	slices.Sort(list)
	return list
}
