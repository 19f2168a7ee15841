package ragged

import (
	"reflect"
	"strconv"

	"weft"
	"weft/internal/tracing"
)

// Lists are arguments and results of compiled functions: rows and offsets are tensors of the
// call, so that other lists with as many items and rows run the same program.

func init() {
	tracing.Kinds[reflect.TypeFor[*List]()] = tracing.Kind{Split: split, Join: join}
}

// A form is what of a list a program depends on besides its tensors.
type form struct {
	outer int
	mode  mode
	names string // of fields, quoted
}

func split(x any) (tensors []any, static any) {
	l := x.(*List)
	l.check("compile")
	f := form{outer: len(l.outer), mode: l.mode}
	for _, p := range l.levels() {
		tensors = append(tensors, p.t)
	}
	for i := range l.cols {
		tensors = append(tensors, l.cols[i].live)
		f.names += strconv.Quote(l.cols[i].name)
	}
	return tensors, f
}

func join(tensors []any, static any) any {
	f := static.(form)
	l := &List{mode: f.mode}
	for _, t := range tensors[:f.outer] {
		l.outer = append(l.outer, &partition{t: t.(*weft.Tensor)})
	}
	l.part = &partition{t: tensors[f.outer].(*weft.Tensor)}
	for _, t := range tensors[f.outer+1:] {
		quoted, _ := strconv.QuotedPrefix(f.names)
		f.names = f.names[len(quoted):]
		name, _ := strconv.Unquote(quoted)
		l.cols = append(l.cols, column{name: name, live: t.(*weft.Tensor)})
	}
	l.rows = l.cols[0].live.Dim(0)
	return l
}
