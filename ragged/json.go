package ragged

import (
	"encoding/json"
	"errors"

	"weft"
)

// MarshalJSON implements [encoding/json.Marshaler]: items as arrays of their rows, in arrays of
// a nested list's levels. A list whose rows are structs is an object of its fields, each written
// so. A nil list is null. Errors are *[weft.Error], as of [weft.Tensor.MarshalJSON].
func (l *List) MarshalJSON() (text []byte, err error) {
	if l == nil {
		return []byte("null"), nil
	}
	err = weft.Try(func() {
		l.check("marshaljson")
		if l.cols[0].name == "" {
			text = l.appendJSON(nil)
			return
		}
		for i, name := range l.Fields() {
			text = append(text, "{,"[min(i, 1)])
			text = append(append(text, quoteJSON(name)...), ':')
			text = l.Field(name).appendJSON(text)
		}
		text = append(text, '}')
	})
	return text, err
}

// appendJSON appends the items of a list without fields. It panics with *weft.Error.
func (l *List) appendJSON(text []byte) []byte {
	text = append(text, '[')
	for i := range l.Len() {
		if i > 0 {
			text = append(text, ',')
		}
		if len(l.outer) > 0 {
			text = l.items(i, i+1).inner().appendJSON(text)
			continue
		}
		item, err := l.At(i).MarshalJSON()
		if err != nil {
			var e *weft.Error
			errors.As(err, &e)
			panic(e)
		}
		text = append(text, item...)
	}
	return append(text, ']')
}

// quoteJSON returns a name as JSON, which every string has.
func quoteJSON(name string) []byte {
	text, err := json.Marshal(name)
	if err != nil {
		panic(err)
	}
	return text
}
