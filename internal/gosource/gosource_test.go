package gosource_test

import (
	"bytes"
	"encoding/binary"
	"encoding/gob"
	"fmt"
	"go/format"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unsafe"

	"weft/internal/array"
	"weft/internal/device"
	"weft/internal/gosource"
	"weft/internal/interp"
	"weft/internal/ir"
	"weft/internal/loop"
	"weft/internal/loop/loopgen"
	"weft/internal/op"
	"weft/internal/plan"
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
	src := "package main\n\nimport (\n"
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
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS="+os.Getenv("GOFLAGS")+" -mod=mod")
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

// operations are the programs of elementwise operations, each once, with a task: of float32 and float64
// elements where the operation takes them, and of integers elsewhere.
func operations() (names []string, programs []*loop.Program, tasks []task) {
	r := rand.New(rand.NewPCG(1, 2))
	seen := map[string]bool{}
	for _, d := range op.Table() {
		if d.Class != op.Pointwise || d.Arity < 1 {
			continue
		}
		floats := false
		for _, dt := range []array.DType{array.Float32, array.Float64, array.Int32, array.Uint8} {
			var sigs []plan.Sig
			var pl *plan.Plan
			err := array.Try(func() {
				g := ir.New()
				var args []*ir.Node
				for i := range d.Arity {
					args = append(args, g.Input(i, dt, []int{2, 37}))
					sigs = append(sigs, plan.Sig{DType: dt, Shape: []int{2, 37}, Strides: []int{37, 1}})
				}
				pl = plan.Build([]*ir.Node{op.Apply(d, d.Attrs, args...)}, sigs, nil, new(device.Model))
			})
			if err != nil || dt.Integer() && floats || len(pl.Steps) != 1 || pl.Steps[0].Kernel == nil || seen[pl.Steps[0].Kernel.Prog.Key()] {
				continue
			}
			floats = floats || dt.Float()
			k := pl.Steps[0].Kernel
			seen[k.Prog.Key()] = true
			x := task{Words: k.Words}
			for i := range len(sigs) + 1 {
				memory := make([]byte, 74*8)
				for e := range 74 {
					switch v := r.NormFloat64() * 3; {
					case i == len(sigs):
					case dt == array.Float32:
						binary.LittleEndian.PutUint32(memory[4*e:], math.Float32bits(float32(v)))
					case dt == array.Float64:
						binary.LittleEndian.PutUint64(memory[8*e:], math.Float64bits(v))
					default:
						binary.LittleEndian.PutUint32(memory[4*e:], r.Uint32()>>r.IntN(32))
					}
				}
				x.Memory = append(x.Memory, memory)
			}
			for _, o := range k.Binds {
				x.Of, x.At = append(x.Of, o.Slot), append(x.At, o.Offset*o.DType.Size())
			}
			names, programs, tasks = append(names, d.Name+" of "+dt.String()), append(programs, k.Prog), append(tasks, x)
		}
	}
	return names, programs, tasks
}

// interpreted runs a task by the interpreter and returns its memory.
func interpreted(p *loop.Program, k task) (memory [][]byte) {
	f := new(loop.Frame)
	copy(f.Word[:], k.Words)
	for _, m := range k.Memory {
		words := make([]uint64, len(m)/8+1)
		b := unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), len(m))
		copy(b, m)
		memory = append(memory, b)
	}
	for i, m := range k.Of {
		f.Ptr[i] = unsafe.Pointer(&memory[m][k.At[i]])
	}
	interp.Compile(p).Run(f, nil)
	return memory
}

// differs reports that elements of d have other bits than wanted. All NaN are equal.
func differs(d array.DType, got, want []byte) bool {
	for at := 0; at < len(got); at += 8 {
		x, y := binary.LittleEndian.Uint64(got[at:]), binary.LittleEndian.Uint64(want[at:])
		nan := false
		switch d {
		case array.Float64:
			a, b := math.Float64frombits(x), math.Float64frombits(y)
			nan = a != a && b != b
		case array.Float32:
			same := func(x, y uint32) bool {
				a, b := math.Float32frombits(x), math.Float32frombits(y)
				return x == y || a != a && b != b
			}
			nan = same(uint32(x), uint32(y)) && same(uint32(x>>32), uint32(y>>32))
		}
		if x != y && !nan {
			return true
		}
	}
	return false
}

// TestPrinted compares printed programs with the interpreter: random ones of package loopgen, and
// operations of the table.
func TestPrinted(t *testing.T) {
	const cases = 80
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
	names, more, moreTasks := operations()
	if len(names) < 60 {
		t.Fatalf("only %d operations", len(names))
	}
	memory := printed(t, append(programs, more...), append(tasks, moreTasks...))
	for i, name := range names {
		got, want := memory[cases+i], interpreted(more[i], moreTasks[i])
		last := len(got) - 1
		if bufs := more[i].Bufs; differs(bufs[len(bufs)-1].DType, got[last], want[last]) {
			t.Errorf("%s has other bits in Go than in the interpreter:\n%s", name, more[i])
		}
	}
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
