package ahead

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"weft/internal/saved"
)

// A memoryText is how a package says where the memory of a slot of its plan is.
type memoryText struct {
	none     string
	result   func(i int) string
	input    func(i int) string
	state    func(field int) string
	constant func(i int) string
	fixed    func(at, bytes int) string         // a temporary of a plan whose lengths are all fixed
	part     func(part int, size string) string // a temporary of one with free lengths
}

// memory is how the package of u says that: by slices, or by the table of package aot.
func (u *graphUnit) memory() memoryText {
	if u.Runtime == "" {
		return memoryText{
			result:   func(i int) string { return "memoryOf(" + u.Results[i].Name + ")" },
			input:    func(i int) string { return "memoryOf(" + u.Args[i].Name + ")" },
			state:    func(field int) string { return "memoryOf(state." + u.State.Fields[field].Name + ")" },
			constant: func(i int) string { return fmt.Sprintf("constant(%d)", i) },
			fixed:    func(at, bytes int) string { return fmt.Sprintf("temporary[0].part(%d, %d)", at, bytes) },
			part:     func(part int, _ string) string { return fmt.Sprintf("temporary[%d]", part) },
		}
	}
	array := func(i int) string { return fmt.Sprintf("{Array: %d}", 1+i) }
	return memoryText{
		none:   "{}",
		result: array,
		input:  func(i int) string { return array(len(u.Results) + i) },
		state:  func(field int) string { return array(len(u.Results) + len(u.Args) + field) },
		constant: func(i int) string {
			return fmt.Sprintf("{At: %d, Bytes: %d}", u.Constants[i].At, u.Constants[i].Bytes)
		},
		fixed: func(at, bytes int) string { return fmt.Sprintf("{Part: 1, At: %d, Bytes: %d}", at, bytes) },
		part:  func(part int, size string) string { return fmt.Sprintf("{Part: %d, Bytes: %s}", 1+part, size) },
	}
}

// slots says where the memory of the plan is.
func (u *graphUnit) slots(p *saved.Program, f *fitter, all []*trial, l *layout) error {
	pl, text := all[0].plan, u.memory()
	l.Slots = slices.Repeat([]string{text.none}, len(pl.Slots))
	for i, source := range p.Sources {
		if source >= 0 {
			l.Slots[i] = text.input(source)
		} else if field, ok := u.State.of[^source]; ok {
			l.Slots[i] = text.state(field)
		} else if pl.Slots[i].Last >= 0 {
			l.Slots[i] = text.constant(u.constant(^source, &p.State[^source].View))
		}
	}
	for i, o := range slices.Backward(p.Outputs) { // of results that are the same the first one is computed
		if o.Result >= 0 {
			l.Slots[pl.Outs[o.Result].Slot] = text.result(i)
		}
	}
	first := pl.Inputs + len(pl.Outs)
	if len(u.Free) == 0 {
		if pl.Arena > 0 {
			l.Parts = []string{fmt.Sprint(pl.Arena)}
		}
		for i := first; i < len(pl.Slots); i++ {
			l.Slots[i] = text.fixed(pl.Slots[i].Offset, pl.Slots[i].Bytes)
		}
		return nil
	}
	part, sizes, err := parts(f, all, first)
	if err != nil {
		return err
	}
	l.Parts = sizes
	for i := first; i < len(pl.Slots); i++ {
		if part[i] >= 0 {
			l.Slots[i] = text.part(part[i], sizes[part[i]])
		}
	}
	return nil
}

// parts gives temporaries that are alive at different times the same part of memory. It returns the part
// of each slot, -1 for none, and the bytes of each part.
func parts(f *fitter, all []*trial, first int) (part []int, sizes []string, err error) {
	pl := all[0].plan
	begin, end := make([]int, len(pl.Slots)), make([]int, len(pl.Slots))
	part = make([]int, len(pl.Slots))
	for i := range begin {
		begin[i], part[i] = len(pl.Steps), -1
	}
	for i := range pl.Steps {
		for _, o := range operands(&pl.Steps[i]) {
			begin[o.Slot], end[o.Slot] = min(begin[o.Slot], i), i
		}
	}
	var order []int
	for i := first; i < len(pl.Slots); i++ {
		if begin[i] < len(pl.Steps) {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return begin[a] - begin[b] })
	var until []int // by part: the last step that uses it
	var bytes []map[string]bool
	for _, i := range order {
		size, err := f.bytes(all, i)
		if err != nil {
			return nil, nil, err
		}
		at := slices.IndexFunc(until, func(last int) bool { return last < begin[i] })
		if at < 0 {
			at = len(until)
			until, bytes = append(until, 0), append(bytes, map[string]bool{})
		}
		part[i], until[at] = at, end[i]
		bytes[at][size] = true
	}
	for _, b := range bytes {
		list := slices.Sorted(maps.Keys(b))
		if len(list) == 1 {
			sizes = append(sizes, list[0])
		} else {
			sizes = append(sizes, "max("+strings.Join(list, ", ")+")")
		}
	}
	return part, sizes, nil
}
