package saved

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"weft/internal/op"
)

// Operations lists what files depend on: the names of operations and the fields of their parameters.
func Operations() string {
	var b strings.Builder
	for _, d := range op.Table() {
		if d.Class == op.Composite {
			continue
		}
		fmt.Fprintf(&b, "%s %d", d.Name, d.Arity)
		if d.Attrs != nil {
			fmt.Fprintf(&b, " %s", kindsByType[reflect.TypeOf(d.Attrs)].name)
		}
		b.WriteString("\n")
	}
	for _, name := range slices.Sorted(maps.Keys(kindsByName)) {
		fmt.Fprintf(&b, "parameters %s %s\n", name, fieldsOf(kindsByName[name].parts))
	}
	return b.String()
}

func fieldsOf(t reflect.Type) string {
	if t.Kind() == reflect.Struct {
		var list []string
		for i := range t.NumField() {
			list = append(list, t.Field(i).Name+" "+fieldsOf(t.Field(i).Type))
		}
		return "{" + strings.Join(list, "; ") + "}"
	}
	return t.Kind().String()
}
