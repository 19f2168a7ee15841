package mem

import (
	"io/fs"
	"math"
	"os"
	"path"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"strings"
)

// noLimit stands for a bound that is absent or unknown.
const noLimit = math.MaxInt64

// limits are the bounds on the memory of the process, in bytes.
type limits struct {
	soft int64 // the pool keeps little beyond this: GOMEMLIMIT, the control group, main memory
	hard int64 // the process is killed beyond this: the control group or the machine, with swap
}

func systemLimits() limits {
	memory, swap := cgroupLimits(os.DirFS("/"))
	main, mainSwap := physicalMemory()
	return limits{
		soft: min(debug.SetMemoryLimit(-1), memory, main),
		hard: min(together(memory, swap), together(main, mainSwap)),
	}
}

// Physical returns the bytes of main memory, or 0 if the system does not tell.
func Physical() int64 {
	if n, _ := physicalMemory(); n != noLimit {
		return n
	}
	return 0
}

// together is the sum of two bounds, noLimit if either is.
func together(memory, swap int64) int64 {
	if memory >= noLimit || swap >= noLimit-memory {
		return noLimit
	}
	return memory + swap
}

// goMemory returns the bytes that the Go runtime holds from the system.
func goMemory() int64 {
	s := [...]metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(s[:])
	for _, v := range s {
		if v.Value.Kind() != metrics.KindUint64 {
			return 0
		}
	}
	return int64(s[0].Value.Uint64() - s[1].Value.Uint64())
}

// cgroupLimits returns the memory limit of the control group of this process and
// how much swap it may use beyond it, each noLimit where none is set. It reads
// versions 1 and 2, and takes the tightest limit from the process's group up to
// the root. Inside a container the path in /proc may be one that exists only
// outside, and the group itself is what is mounted: that is the root then.
func cgroupLimits(root fs.FS) (memory, swap int64) {
	memory, swap = noLimit, noLimit
	data, err := fs.ReadFile(root, "proc/self/cgroup")
	if err != nil {
		return memory, swap
	}
	for line := range strings.Lines(string(data)) {
		// hierarchy:controllers:path
		field := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(field) != 3 {
			continue
		}
		switch {
		case field[0] == "0" && field[1] == "":
			for dir := range parents("sys/fs/cgroup", field[2]) {
				memory = min(memory, readLimit(root, dir+"/memory.max"))
				swap = min(swap, readLimit(root, dir+"/memory.swap.max"))
			}
		case strings.Contains(","+field[1]+",", ",memory,"):
			for dir := range parents("sys/fs/cgroup/memory", field[2]) {
				m := readLimit(root, dir+"/memory.limit_in_bytes")
				memory = min(memory, m)
				if both := readLimit(root, dir+"/memory.memsw.limit_in_bytes"); both < noLimit && both >= m {
					swap = min(swap, both-m)
				}
			}
		}
	}
	return memory, swap
}

// parents yields mount joined with group and with each parent of group.
func parents(mount, group string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for group = path.Clean("/" + group); ; group = path.Dir(group) {
			if !yield(path.Join(mount, group)) || group == "/" {
				return
			}
		}
	}
}

// unreachable is more memory than any machine has. Version 1 says unlimited by a number
// near 2^63.
const unreachable = 1 << 60

// readLimit reads one limit. "max" and values no machine can reach are noLimit.
func readLimit(root fs.FS, name string) int64 {
	data, err := fs.ReadFile(root, name)
	if err != nil {
		return noLimit
	}
	n, err := strconv.ParseUint(strings.TrimSpace(string(data)), 10, 64)
	if err != nil || n >= unreachable {
		return noLimit
	}
	return int64(n)
}
