package ragged

import (
	"fmt"
	"regexp"
	"strings"

	"weft/internal/array"
)

const (
	summaryAbove = 1000 // rows, beyond which only the edges are shown
	edgeItems    = 3    // items at each edge
)

// String shows l as the verb %v does.
func (l *List) String() string { return fmt.Sprintf("%v", l) }

// Format implements [fmt.Formatter]: items in brackets, [ [0] [1 2] ], each as a tensor is
// printed with the verb and its flags. Beyond 1000 rows only the items at the edges are shown;
// %+v shows all. Fields of rows that are structs follow each other with their names.
func (l *List) Format(s fmt.State, verb rune) {
	if s == nil {
		array.Failf("format", "s", "is nil: functions of package fmt call Format")
	}
	if l == nil {
		fmt.Fprint(s, "<nil>")
		return
	}
	l.check("format")
	format := fmt.FormatString(s, verb)
	edges := l.rows > summaryAbove && !s.Flag('+')
	var b strings.Builder
	if l.cols[0].name == "" {
		l.write(&b, format, edges)
	} else {
		b.WriteString("{")
		for i, name := range l.Fields() {
			if i > 0 {
				b.WriteString("\n ")
			}
			b.WriteString(name + ": ")
			l.Field(name).write(&b, format, edges)
		}
		b.WriteString("}")
	}
	fmt.Fprint(s, b.String())
}

var spaces = regexp.MustCompile(`(\[)\s+|\s+(\])|(\s)\s+`)

// write writes the items of a list without fields.
func (l *List) write(b *strings.Builder, format string, edges bool) {
	b.WriteString("[ ")
	n := l.Len()
	for i := 0; i < n; i++ {
		if edges && n > 2*edgeItems && i == edgeItems {
			b.WriteString("... ")
			i = n - edgeItems
		}
		if len(l.outer) > 0 {
			l.items(i, i+1).inner().write(b, format, edges)
		} else {
			// Items stand on one line, and their words are not aligned.
			b.WriteString(spaces.ReplaceAllString(strings.ReplaceAll(fmt.Sprintf(format, l.At(i)), "\n", " "), "$1$2$3"))
		}
		b.WriteString(" ")
	}
	b.WriteString("]")
}

// inner returns the items of all items: one level less.
func (l *List) inner() *List {
	out := l.alias()
	out.outer = l.outer[1:]
	return out
}
