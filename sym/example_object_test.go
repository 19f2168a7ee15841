package sym_test

import (
	"fmt"
	"strings"

	"weft"
	"weft/sym"
)

// A text goes into a function, between two operations and out of it.
func ExampleObject() {
	text := sym.Object("text")
	split := &sym.Op{
		Name:    "split",
		Results: func([]sym.Type) []sym.Type { return []sym.Type{{Object: true}, {DType: weft.Int64}} },
		ForwardAny: func(x []any) ([]any, error) {
			l := strings.Fields(x[0].(string))
			return []any{l, weft.ScalarOf(weft.Int64, len(l))}, nil
		},
	}
	first := &sym.Op{Name: "first", ForwardAny: func(x []any) ([]any, error) { return []any{x[0].([]string)[0]}, nil }}
	parts := split.Apply(text)
	f, err := sym.Function(sym.In(text), sym.Out(first.Apply(parts[0])[0], parts[1].Mul(100)))
	if err != nil {
		fmt.Println(err)
		return
	}
	out, err := f.CallAny("one two three")
	fmt.Println(out[0], out[1], err)
	// Output: one 300 <nil>
}

// A Go value is kept from call to call.
func ExampleSharedObject() {
	seen, name := sym.SharedObject("seen", []string{}), sym.Object("name")
	add := &sym.Op{Name: "add", ForwardAny: func(x []any) ([]any, error) {
		return []any{append(x[0].([]string), x[1].(string))}, nil
	}}
	f, err := sym.Function(sym.In(name), sym.Out(), sym.Updates{seen: add.Apply(seen, name)[0]})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, s := range []string{"a", "b"} {
		if _, err := f.Call(s); err != nil {
			fmt.Println(err)
		}
	}
	fmt.Println(seen.Object())
	// Output: [a b]
}
