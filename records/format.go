package records

import (
	"encoding/json"
	"fmt"
	"strings"

	"weft"
	"weft/internal/array"
	"weft/internal/core"
)

// How records are printed.
const (
	summaryAbove = 1000 // records, beyond which only the edges are shown
	edgeItems    = 3    // records at each edge
	lineWidth    = 75
)

// String shows the records as the verb %v does.
func (a *Array) String() string { return fmt.Sprintf("%v", a) }

// Format implements [fmt.Formatter]. Records are printed as NumPy prints them, in parentheses: "[([1.
// 2.], 7) ([3. 4.], 8)]". Beyond 1000 records the edges are shown, and %+v shows all. The verb, its
// flags and precision apply to each field: see [weft.Tensor.Format].
func (a *Array) Format(s fmt.State, verb rune) {
	switch {
	case s == nil:
		array.Failf("format", "s", "is nil: functions of package fmt call Format")
	case a == nil || a.lay == nil:
		fmt.Fprint(s, "<nil>")
		return
	case (*core.Tensor)(a.bytes).IsTraced():
		fmt.Fprintf(s, "<traced %s>", a.describe())
		return
	}
	p := &printer{format: fmt.FormatString(s, verb), edges: a.Len() > summaryAbove && !s.Flag('+')}
	fmt.Fprint(s, p.array(a, 0))
}

type printer struct {
	format string // of fields
	edges  bool
}

// array returns the text of records, whose lines but the first are indented.
func (p *printer) array(a *Array, indent int) string {
	if len(a.sizes()) == 0 {
		return p.record(a)
	}
	n := a.sizes()[0]
	var items []string
	for i := 0; i < n; i++ {
		if p.edges && n > 2*edgeItems && i == edgeItems {
			items = append(items, "...")
			i = n - edgeItems
		}
		items = append(items, p.array(a.At(i), indent+1))
	}
	var t strings.Builder
	t.WriteByte('[')
	column := indent + 1
	for i, x := range items {
		switch {
		case i == 0:
		case len(a.sizes()) > 1 || column+1+len(x) > lineWidth:
			t.WriteString(strings.Repeat("\n", max(len(a.sizes())-1, 1)) + strings.Repeat(" ", indent+1))
			column = indent + 1
		default:
			t.WriteByte(' ')
			column++
		}
		t.WriteString(x)
		column += len(x)
	}
	t.WriteByte(']')
	return t.String()
}

// record returns the text of a single record.
func (p *printer) record(a *Array) string {
	fields := make([]string, len(a.lay.Fields))
	for i := range a.lay.Fields {
		f := &a.lay.Fields[i]
		if a.lay.subs[i] != nil {
			fields[i] = p.array(a.Records(f.Name), 0)
		} else {
			fields[i] = fmt.Sprintf(p.format, a.Field(f.Name))
		}
		if strings.Contains(fields[i], "\n") { // one line a record
			fields[i] = strings.Join(strings.Fields(fields[i]), " ")
		}
	}
	return "(" + strings.Join(fields, ", ") + ")"
}

// MarshalJSON returns nested lists of objects, one a record: [{"position":[1,2],"id":7}]. Numbers are
// written as by [weft.Tensor.MarshalJSON]. A nil Array is null.
func (a *Array) MarshalJSON() (text []byte, err error) {
	if a == nil || a.lay == nil {
		return []byte("null"), nil
	}
	err = weft.Try(func() {
		defer array.Named("marshaljson").End()
		var items []json.RawMessage
		if items, err = a.objects(); err == nil {
			text = nested(nil, a.sizes(), &items)
		}
	})
	return text, err
}

// objects returns each record in row-major order as an object.
func (a *Array) objects() ([]json.RawMessage, error) {
	flat := a.Reshape(-1)
	out := make([]json.RawMessage, a.Len())
	for i := range a.lay.Fields {
		name := a.lay.Fields[i].Name
		key, err := json.Marshal(name)
		var text []byte
		switch {
		case err != nil:
		case a.lay.subs[i] != nil:
			text, err = flat.Records(name).MarshalJSON()
		default:
			text, err = flat.Field(name).MarshalJSON()
		}
		if err != nil {
			return nil, err
		}
		var values []json.RawMessage // one a record
		if err := json.Unmarshal(text, &values); err != nil {
			return nil, err
		}
		for k := range out {
			before := byte(',')
			if i == 0 {
				before = '{'
			}
			out[k] = append(append(append(append(out[k], before), key...), ':'), values[k]...)
		}
	}
	for k := range out {
		out[k] = append(out[k], '}')
	}
	return out, nil
}

// nested appends the next items as lists of a shape.
func nested(text []byte, shape []int, items *[]json.RawMessage) []byte {
	if len(shape) == 0 {
		text = append(text, (*items)[0]...)
		*items = (*items)[1:]
		return text
	}
	text = append(text, '[')
	for i := range shape[0] {
		if i > 0 {
			text = append(text, ',')
		}
		text = nested(text, shape[1:], items)
	}
	return append(text, ']')
}
