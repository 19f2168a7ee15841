package ragged

import (
	"strconv"

	"weft"
	"weft/internal/core"
)

// Lists are arguments and results of compiled functions: rows and offsets are tensors of the
// call, so that other lists with as many items and rows run the same program.

func init() {
	core.RegisterHolder(split, join)
}

// A form is what of a list a program depends on besides its tensors.
type form struct {
	outer int
	mode  mode
	names string // of fields, quoted
}

func split(l *List) (tensors []*core.Tensor, static any) {
	l.check("compile")
	f := form{outer: len(l.outer), mode: l.mode}
	for _, p := range l.levels() {
		tensors = append(tensors, (*core.Tensor)(p.tensor()))
	}
	for i := range l.cols {
		tensors = append(tensors, (*core.Tensor)(l.cols[i].live))
		f.names += strconv.Quote(l.cols[i].name)
	}
	return tensors, f
}

func join(tensors []*core.Tensor, static any) *List {
	f := static.(form)
	l := &List{mode: f.mode}
	for _, t := range tensors[:f.outer] {
		l.outer = append(l.outer, newPartition((*weft.Tensor)(t)))
	}
	l.part = newPartition((*weft.Tensor)(tensors[f.outer]))
	for _, t := range tensors[f.outer+1:] {
		quoted, _ := strconv.QuotedPrefix(f.names)
		f.names = f.names[len(quoted):]
		name, _ := strconv.Unquote(quoted)
		l.cols = append(l.cols, column{name: name, live: (*weft.Tensor)(t)})
	}
	l.rows = l.cols[0].live.Dim(0)
	return l
}
