package table

import (
	"encoding/csv"
	"fmt"
	"html"
	"io"
	"strings"
	"unicode/utf8"

	"weft/data"
	"weft/internal/array"
)

// shown is the number of rows at each end that String and HTML print of a long table.
const shown = 5

// widest is the number of characters of a value that String prints.
const widest = 40

// rowsShown returns the rows that are printed; -1 stands for those left out.
func (t *Table) rowsShown() []int {
	var rows []int
	for i := range t.rows {
		if t.rows > 2*shown+1 && i >= shown && i < t.rows-shown {
			if i == shown {
				rows = append(rows, -1)
			}
			continue
		}
		rows = append(rows, i)
	}
	return rows
}

// shownText is a value as it is printed for readers.
func shownText(c *data.Column, row int) string {
	switch {
	case row < 0:
		return "…"
	case c.Numbers != nil && c.Numbers.Rank() == 1 && c.Numbers.DType().Category() == array.CatFloat:
		v := c.Numbers.At(row).Item()
		if v != v {
			return "NaN"
		}
		return fmt.Sprintf("%.6g", v)
	}
	return cellText(c, row)
}

// String prints the table: names, and the rows, of a long one the first and last five. Numbers are flush right, with
// six digits; long texts are cut.
func (t *Table) String() string {
	if t == nil {
		return "<nil>"
	}
	rows := t.rowsShown()
	lines := make([]strings.Builder, len(rows)+1)
	for i := range t.columns {
		c := &t.columns[i]
		cells := make([]string, len(rows)+1)
		cells[0] = oneLine(c.Name)
		width := utf8.RuneCountInString(cells[0])
		for k, row := range rows {
			cells[k+1] = oneLine(shownText(c, row))
			width = max(width, utf8.RuneCountInString(cells[k+1]))
		}
		for k, s := range cells {
			if i > 0 {
				lines[k].WriteString("  ")
			}
			space := strings.Repeat(" ", width-utf8.RuneCountInString(s))
			switch {
			case c.Numbers != nil:
				lines[k].WriteString(space + s)
			case i == len(t.columns)-1:
				lines[k].WriteString(s)
			default:
				lines[k].WriteString(s + space)
			}
		}
	}
	var b strings.Builder
	for k := range lines {
		b.WriteString(strings.TrimRight(lines[k].String(), " ") + "\n")
	}
	if len(rows) < t.rows {
		fmt.Fprintf(&b, "%d rows\n", t.rows)
	}
	return b.String()
}

// oneLine cuts a text, and shows its control characters escaped.
func oneLine(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, s)
	if utf8.RuneCountInString(s) > widest {
		s = string([]rune(s)[:widest-1]) + "…"
	}
	return s
}

// HTML returns the table as an HTML table, for notebooks and pages: of a long one the first and last five rows. Texts
// are escaped.
func (t *Table) HTML() string {
	t.given("html")
	var b strings.Builder
	b.WriteString("<table>\n<thead><tr>")
	for i := range t.columns {
		b.WriteString("<th>" + html.EscapeString(t.columns[i].Name) + "</th>")
	}
	b.WriteString("</tr></thead>\n<tbody>\n")
	for _, row := range t.rowsShown() {
		b.WriteString("<tr>")
		for i := range t.columns {
			c := &t.columns[i]
			style := ""
			if c.Numbers != nil {
				style = ` style="text-align:right"`
			}
			b.WriteString("<td" + style + ">" + html.EscapeString(shownText(c, row)) + "</td>")
		}
		b.WriteString("</tr>\n")
	}
	b.WriteString("</tbody>\n</table>\n")
	return b.String()
}

// WriteCSV writes the table as comma-separated values, with a line of names, for [data.ReadCSV]. Missing numbers are
// empty fields, and "" where a row has no other field, because readers skip empty lines. It panics with *weft.Error
// where a column has lists or more axes.
func (t *Table) WriteCSV(w io.Writer) error {
	t.given("write_csv")
	array.Given("table.write_csv", "w", w != nil)
	for i := range t.columns {
		if c := &t.columns[i]; c.Lists != nil || c.Numbers != nil && c.Numbers.Rank() != 1 {
			array.Failf("table.write_csv", "", "column %q has %s, which a field of text does not hold", c.Name, kindOf(c))
		}
	}
	out := csv.NewWriter(w)
	write := func(fields []string) error {
		if len(fields) != 1 || fields[0] != "" {
			return out.Write(fields)
		}
		if out.Flush(); out.Error() != nil {
			return out.Error()
		}
		_, err := io.WriteString(w, "\"\"\n")
		return err
	}
	if err := write(t.Names()); err != nil {
		return err
	}
	fields := make([]string, len(t.columns))
	for row := range t.rows {
		for i := range t.columns {
			fields[i] = cellText(&t.columns[i], row)
		}
		if err := write(fields); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}
