package array

import (
	"fmt"
	"reflect"
	"strings"
)

// Describe returns the text of a String method, such as "nn.Dropout(P: 0.5)", for pairs of names and values. A tensor
// stands for its type and shape unless it has no axes, a pointer to a number for the number. Values that are nil or the
// empty text are left out.
func Describe(name string, pairs ...any) string {
	var s []string
	for i := 0; i+1 < len(pairs); i += 2 {
		v := reflect.ValueOf(pairs[i+1])
		var text string
		switch t := pairs[i+1].(type) {
		case nil:
		case interface {
			DType() DType
			Shape() []int
		}:
			if v.Kind() != reflect.Pointer || !v.IsNil() && !v.Elem().IsZero() {
				if text = TypeString(t.DType(), t.Shape()); len(t.Shape()) == 0 {
					text = fmt.Sprint(t)
				}
			}
		default:
			switch v.Kind() {
			case reflect.Pointer, reflect.Interface, reflect.Map, reflect.Slice, reflect.Func:
				if v.IsNil() {
					continue
				}
			}
			if _, ok := t.(fmt.Stringer); !ok && v.Kind() == reflect.Pointer {
				v = v.Elem()
			}
			text = fmt.Sprint(v.Interface())
		}
		if text != "" {
			s = append(s, fmt.Sprintf("%v: %s", pairs[i], text))
		}
	}
	return name + "(" + strings.Join(s, ", ") + ")"
}
