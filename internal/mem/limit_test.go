package mem

import (
	"runtime"
	"runtime/debug"
	"testing"
	"testing/fstest"
)

func TestCgroupLimits(t *testing.T) {
	for name, c := range map[string]struct {
		files        map[string]string
		memory, swap int64
	}{
		"none": {nil, noLimit, noLimit},
		"v2": {map[string]string{
			"proc/self/cgroup":                             "0::/user.slice/job\n",
			"sys/fs/cgroup/user.slice/job/memory.max":      "1073741824\n",
			"sys/fs/cgroup/user.slice/job/memory.swap.max": "0\n",
			"sys/fs/cgroup/user.slice/memory.max":          "max\n",
		}, 1 << 30, 0},
		"v2 parent is tighter": {map[string]string{
			"proc/self/cgroup":                        "0::/a/b\n",
			"sys/fs/cgroup/a/b/memory.max":            "4096000\n",
			"sys/fs/cgroup/a/memory.max":              "1024000\n",
			"sys/fs/cgroup/a/memory.swap.max":         "max\n",
			"sys/fs/cgroup/unrelated/memory.max":      "1\n",
			"sys/fs/cgroup/a/b/below/deep/memory.max": "2\n",
		}, 1024000, noLimit},
		"v2 container that sees the outer path": {map[string]string{
			"proc/self/cgroup":         "0::/docker/0123abcd\n",
			"sys/fs/cgroup/memory.max": "536870912\n",
		}, 512 << 20, noLimit},
		"v2 path that climbs": {map[string]string{
			"proc/self/cgroup":         "0::/../../x\n",
			"sys/fs/cgroup/memory.max": "77\n",
		}, 77, noLimit},
		"v1": {map[string]string{
			"proc/self/cgroup": "12:cpu,cpuacct:/j\n11:memory:/j\n1:name=systemd:/j\n0::/\n",
			"sys/fs/cgroup/memory/j/memory.limit_in_bytes":       "2147483648\n",
			"sys/fs/cgroup/memory/j/memory.memsw.limit_in_bytes": "3221225472\n",
			"sys/fs/cgroup/memory/memory.limit_in_bytes":         "9223372036854771712\n",
			"sys/fs/cgroup/memory/memory.memsw.limit_in_bytes":   "9223372036854771712\n",
		}, 2 << 30, 1 << 30},
		"garbage": {map[string]string{
			"proc/self/cgroup":         "what\n::\n0::\n\n5:memory\n",
			"sys/fs/cgroup/memory.max": "lots\n",
		}, noLimit, noLimit},
	} {
		fsys := fstest.MapFS{}
		for path, content := range c.files {
			fsys[path] = &fstest.MapFile{Data: []byte(content)}
		}
		if memory, swap := cgroupLimits(fsys); memory != c.memory || swap != c.swap {
			t.Errorf("%s: memory %d, swap %d, want %d and %d", name, memory, swap, c.memory, c.swap)
		}
	}
}

func TestSystemLimits(t *testing.T) {
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(123 << 20))
	if l := systemLimits(); l.soft > 123<<20 {
		t.Errorf("soft limit %d with GOMEMLIMIT at 123 MiB", l.soft)
	}
	if m, _ := physicalMemory(); runtime.GOOS == "linux" && (m == noLimit || m < 16<<20) {
		t.Errorf("main memory of %d bytes", m)
	}
	if l := systemLimits(); runtime.GOOS == "linux" && l.hard == noLimit {
		t.Error("no bound on memory, though the machine's is known")
	}
	if m := goMemory(); m < 1<<20 || m > 1<<36 {
		t.Errorf("the Go runtime holds %d bytes", m)
	}
}
