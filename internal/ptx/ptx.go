// Package ptx prints kernels of package grid as PTX, the assembly text that NVIDIA's driver
// compiles. The text depends on nothing but the kernels and the target: it has no counters across
// modules, so the driver's cache on disk knows it again.
//
// # Exactness
//
// An operation has the bits that package loop specifies, except the payload of a NaN. Every float operation says
// how it rounds (.rn), so ptxas contracts nothing. None has .ftz or .approx. Where PTX leaves a
// case open, the rule has instructions for it: division by zero and by -1, NaN as an integer,
// shift counts of 64 bits, signs of NaN.
//
// # Registers
//
// Registers have a size and no type: %p truth values, %h 16 bits, %r 32, %d 64. PTX lets an
// instruction of a float type use them. The registers of a kernel come first, then temporaries,
// each written by one rule.
package ptx

import (
	"fmt"
	"slices"
	"strings"

	"weft/internal/grid"
	"weft/internal/loop"
)

// A Target is what text is printed for: a compute capability, 8.0 or higher. There are two texts,
// of 8.0 and of 9.0; a driver compiles them for later GPUs too.
type Target struct{ Major, Minor int }

// MaxStatic is the largest shared memory of a block, in bytes, that the text itself reserves.
const MaxStatic = 48 << 10

// DynamicShared returns the bytes of shared memory that a launch of k must ask for: 0 if the text
// reserves it.
func DynamicShared(k *grid.Kernel) int {
	if k.Shared <= MaxStatic {
		return 0
	}
	return k.Shared
}

// An Error is a kernel that cannot be printed.
type Error struct {
	Kernel string
	Ins    string // the instruction at fault, "" if none
	Msg    string
}

func (e *Error) Error() string {
	if e.Ins == "" {
		return fmt.Sprintf("ptx: kernel %s: %s", e.Kernel, e.Msg)
	}
	return fmt.Sprintf("ptx: kernel %s: %s: %s", e.Kernel, e.Ins, e.Msg)
}

// Print returns a module with an entry for each kernel, in the order given. Equal kernels give
// equal text. It returns an [*Error] for a kernel that breaks a rule of package grid or that the
// target cannot run.
func Print(t Target, kernels ...*grid.Kernel) (text string, err error) {
	defer func() {
		if r := recover(); r != nil {
			e, ok := r.(*Error)
			if !ok {
				panic(r)
			}
			text, err = "", e
		}
	}()
	m := &module{target: t}
	var entries strings.Builder
	names := map[string]bool{}
	for _, k := range kernels {
		if names[k.Name] {
			panic(&Error{Kernel: k.Name, Msg: "two kernels have this name"})
		}
		names[k.Name] = true
		entries.WriteString(m.entry(k))
	}
	return m.header() + entries.String(), nil
}

// A module is what the kernels of a text share.
type module struct {
	target  Target
	tables  []loop.Table // each once
	dynamic bool         // a kernel has shared memory sized by the launch
}

// header returns what stands before the entries.
func (m *module) header() string {
	var w strings.Builder
	switch {
	case m.target.Major >= 9:
		w.WriteString(".version 8.0\n.target sm_90\n")
	case m.target.Major == 8:
		w.WriteString(".version 7.0\n.target sm_80\n")
	default:
		panic(&Error{Kernel: "of any name", Msg: fmt.Sprintf("compute capability %d.%d, 8.0 and higher have text", m.target.Major, m.target.Minor)})
	}
	w.WriteString(".address_size 64\n")
	if m.dynamic {
		w.WriteString(".extern .shared .align 16 .b8 dynamic[];\n")
	}
	for i, t := range m.tables {
		fmt.Fprintf(&w, ".const .align 64 .b%d table%d[%d] = {", 8*t.Type.Size(), i, len(t.Bits))
		for j, bits := range t.Bits {
			if j > 0 {
				w.WriteString(", ")
			}
			fmt.Fprintf(&w, "0x%X", bits)
		}
		w.WriteString("};\n")
	}
	return w.String()
}

// table returns the number of a table in the module.
func (m *module) table(t loop.Table) int {
	for i, o := range m.tables {
		if o.Type == t.Type && slices.Equal(o.Bits, t.Bits) {
			return i
		}
	}
	m.tables = append(m.tables, t)
	return len(m.tables) - 1
}
