package gosource_test

import (
	"bytes"
	"encoding/gob"
	"fmt"
	"go/format"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unsafe"

	"weft/internal/gosource"
	"weft/internal/interp"
	"weft/internal/loop"
	"weft/internal/loop/loopgen"
)

// A task is a run of a printed program as the child process gets it.
type task struct {
	Memory [][]byte
	Of, At []int // by buffer: its memory, and the offset there
	Words  []uint64
}

// childMain runs tasks from standard input by the functions in kernels, and writes their memory.
const childMain = `package main

import (
	"encoding/gob"
	"os"
	"unsafe"
)

type frame struct {
	ptr  [%d]unsafe.Pointer
	word [%d]uint64
}

type task struct {
	Memory [][]byte
	Of, At []int
	Words  []uint64
}

func main() {
	var tasks []task
	if err := gob.NewDecoder(os.Stdin).Decode(&tasks); err != nil {
		panic(err)
	}
	var out [][][]byte
	for i, t := range tasks {
		var all [][]byte
		for _, m := range t.Memory {
			words := make([]uint64, len(m)/8+1)
			b := unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), 8*len(words))[:len(m)]
			copy(b, m)
			all = append(all, b)
		}
		f := new(frame)
		copy(f.word[:], t.Words)
		for k, m := range t.Of {
			f.ptr[k] = unsafe.Add(unsafe.Pointer(unsafe.SliceData(all[m])), t.At[k])
		}
		kernels[i](f)
		out = append(out, all)
	}
	if err := gob.NewEncoder(os.Stdout).Encode(out); err != nil {
		panic(err)
	}
}
`

// printed compiles programs as Go and runs the tasks, task i by program i. It returns their memory.
func printed(t *testing.T, programs []*loop.Program, tasks []task) [][][]byte {
	t.Helper()
	tool, err := exec.LookPath("go")
	if err != nil {
		t.Skip("SKIPPED: there is no go tool: ", err)
	}
	used := map[string]bool{}
	var kernels, list strings.Builder
	for i, p := range programs {
		name := fmt.Sprint("kernel", i)
		kernels.WriteString(gosource.Print(name, p, used))
		fmt.Fprintf(&list, "%s, ", name)
	}
	text, imports := gosource.Helpers(used)
	src := "package main\n\nimport (\n\"unsafe\"\n"
	for _, path := range imports {
		src += fmt.Sprintf("%q\n", path)
	}
	src += ")\n\nvar kernels = []func(f *frame){" + list.String() + "}\n" + text + kernels.String()
	formatted, err := format.Source([]byte(src))
	if err != nil {
		t.Fatalf("%v\n%s", err, src)
	}
	dir := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module printed\n\ngo 1.26\n", "kernels.go": string(formatted), "main.go": fmt.Sprintf(childMain, loop.MaxBufs, loop.MaxWords)} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	build := exec.Command(tool, "build", "-o", "printed", ".")
	build.Dir = dir
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=-mod=mod")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	var in, out bytes.Buffer
	if err := gob.NewEncoder(&in).Encode(tasks); err != nil {
		t.Fatal(err)
	}
	run := exec.Command(filepath.Join(dir, "printed"))
	run.Stdin, run.Stdout, run.Stderr = &in, &out, os.Stderr
	if err := run.Run(); err != nil {
		t.Fatal(err)
	}
	var memory [][][]byte
	if err := gob.NewDecoder(&out).Decode(&memory); err != nil {
		t.Fatal(err)
	}
	return memory
}

// TestGenerated compares printed programs of package loopgen with the interpreter.
func TestGenerated(t *testing.T) {
	const cases = 100
	var all []*loopgen.Case
	var programs []*loop.Program
	var tasks []task
	for seed := range uint64(cases) {
		c := loopgen.Generate(seed, loopgen.Language{})
		k := task{}
		_, err := loopgen.Run(c, loopgen.Heap, func(p *loop.Program, f *loop.Frame, _ func() bool) error {
			k.Words = append(k.Words, f.Word[:p.Words()]...)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range c.Memory {
			k.Memory = append(k.Memory, m.Data)
		}
		for _, b := range c.Buffers {
			k.Of, k.At = append(k.Of, b.Memory), append(k.At, b.Offset)
		}
		all, programs, tasks = append(all, c), append(programs, c.Program), append(tasks, k)
	}
	memory := printed(t, programs, tasks)
	for i, c := range all {
		want, err := loopgen.Run(c, loopgen.Heap, func(p *loop.Program, f *loop.Frame, refill func() bool) error {
			interp.Compile(p).Run(f, refill)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		got, err := loopgen.Run(c, loopgen.Heap, func(p *loop.Program, f *loop.Frame, _ func() bool) error {
			for b, at := range c.Buffers {
				copy(unsafe.Slice((*byte)(unsafe.Add(f.Ptr[b], -at.Offset)), len(memory[i][at.Memory])), memory[i][at.Memory])
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if diff := got.Diff(want); diff != "" {
			used := map[string]bool{}
			t.Errorf("seed %d: %s\n%s", i, diff, c)
			t.Logf("%s", gosource.Print("kernel", c.Program, used))
			return
		}
	}
}
