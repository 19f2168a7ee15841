package nn

import (
	"fmt"
	"reflect"
	"strings"
	"text/tabwriter"

	"weft/internal/array"
)

// Summary is a table of the layers of a module that have tensors of their own: their
// names and types, the tensors with their shapes, and how many numbers those hold. The
// last lines add up what is trained and what is not.
func Summary(m any) string {
	defer array.Named("summary").End()
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "layer\ttype\ttensors\tnumbers")
	type line struct {
		name, typ string
		tensors   []string
		count     int
	}
	var lines []*line
	byName := map[string]*line{}
	types := map[string]string{}
	walk := walker{seen: map[step]bool{}}
	walk.value = func(name string, v reflect.Value) bool {
		if v.Kind() == reflect.Struct {
			if _, ok := types[name]; !ok { // of an embedded struct: the one that has it
				types[name] = v.Type().String()
			}
		}
		return true
	}
	walk.walk("", reflect.ValueOf(m))
	trained, rest := 0, 0
	for name, t := range tensors(m) {
		owner, part := "", name
		// The longest name of a layer that is a part of the tensor's.
		for i := len(name) - 1; i >= 0; i-- {
			if _, ok := types[name[:i]]; ok && name[i] == '.' {
				owner, part = name[:i], name[i+1:]
				break
			}
		}
		l := byName[owner]
		if l == nil {
			l = &line{name: owner, typ: types[owner]}
			byName[owner], lines = l, append(lines, l)
		}
		l.tensors = append(l.tensors, part+" "+array.ShapeString(t.Shape()))
		l.count += t.Size()
		if t.RequiresGrad() {
			trained += t.Size()
		} else {
			rest += t.Size()
		}
	}
	for _, l := range lines {
		fmt.Fprintf(w, "%s\t%s\t%s\t%d\n", l.name, l.typ, strings.Join(l.tensors, ", "), l.count)
	}
	fmt.Fprintf(w, "trained\t\t\t%d\n", trained)
	fmt.Fprintf(w, "not trained\t\t\t%d\n", rest)
	w.Flush()
	return b.String()
}
