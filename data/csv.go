package data

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"weft"
	"weft/internal/array"
	"weft/ragged"
)

// A Column is a column of a table: numbers, texts, or lists of numbers.
type Column struct {
	Name    string
	Numbers *weft.Tensor // [rows]; nil if the fields are texts or lists
	Texts   []string
	Lists   *ragged.List // an item for each row; text files have none
}

// CSVOpts are the options of [ReadCSV].
type CSVOpts struct {
	NoHeader bool   // the first line has fields, not names: columns are "0", "1" and so on
	Comma    string // between fields, one character; "" means a comma
	// Types tells the element types of columns by their names: bool, integers or floats. Other columns are
	// float64 if all their fields are numbers, else texts.
	Types map[string]weft.DType
	// Texts names columns that stay texts, such as postcodes.
	Texts []string
	// Missing has fields that are missing values, as empty ones are, such as "NA": NaN in a column of numbers, "" in
	// one of texts.
	Missing []string
	// Infer chooses the types of other columns as pandas does: int64 if all fields are whole numbers of 64
	// bits, bool if all are true or false, else float64 or texts.
	Infer bool
}

// ReadCSV reads a table of comma-separated values, as package encoding/csv does, by columns; \r\n in quotes stays,
// which that package reads as \n. An empty field
// or one of CSVOpts.Missing is NaN, or "" in a column of texts. An error names the line, and for a field that does not have the type that Types
// tells, the row, from 0, and the column. It panics with *weft.Error if the comma is not one character, or a type
// is complex.
func ReadCSV(r io.Reader, opts ...CSVOpts) ([]Column, error) {
	o := array.Options("read_csv", opts)
	if r == nil {
		return nil, noReader("CSV")
	}
	for name, d := range o.Types {
		if d.Size() == 0 || d.Complex() {
			array.Failf("read_csv", "Types", "has %s for %q, want bool, integers or floats", d, name)
		}
		if slices.Contains(o.Texts, name) {
			array.Failf("read_csv", "Types", "has %s for %q, which Texts has too", d, name)
		}
	}
	c := csv.NewReader(&keepReturns{from: withoutMark(r)})
	if o.Comma != "" {
		comma, n := utf8.DecodeRuneInString(o.Comma)
		if n != len(o.Comma) {
			array.Failf("read_csv", "Comma", "is %q, want one character", o.Comma)
		}
		c.Comma = comma
	}
	columns, err := fieldsOf(c, o.NoHeader)
	if err != nil {
		return nil, err
	}
	for _, c := range columns {
		for i, field := range c.Texts {
			if slices.Contains(o.Missing, strings.TrimSpace(field)) {
				c.Texts[i] = ""
			}
		}
	}
	return columns, typed(columns, o)
}

// withoutMark returns r without the byte order mark that spreadsheets put before UTF-8.
func withoutMark(r io.Reader) *bufio.Reader {
	b := bufio.NewReader(r)
	if mark, _ := b.Peek(3); string(mark) == "\xef\xbb\xbf" {
		b.Discard(3)
	}
	return b
}

// keepReturns doubles \r before \n in quoted fields, because encoding/csv takes one from the end of each line. Quoted
// is what follows an odd number of quotes: csv refuses quotes inside fields that do not begin with one.
type keepReturns struct {
	from   *bufio.Reader
	quoted bool
	extra  bool // the next byte is a second \r
}

func (k *keepReturns) Read(b []byte) (int, error) {
	if k.extra && len(b) > 0 {
		b[0], k.extra = '\r', false
		return 1, nil
	}
	if _, err := k.from.Peek(1); err != nil {
		return 0, err
	}
	part, _ := k.from.Peek(min(k.from.Buffered(), len(b)))
	if i := bytes.IndexByte(part, '\r'); i >= 0 {
		part = part[:max(i, 1)]
	}
	n := copy(b, part)
	k.quoted = k.quoted != (bytes.Count(part, []byte{'"'})%2 == 1)
	returns := n == 1 && part[0] == '\r'
	k.from.Discard(n)
	if returns && k.quoted {
		next, _ := k.from.Peek(1)
		k.extra = string(next) == "\n"
	}
	return n, nil
}

// fieldsOf reads a table as texts.
func fieldsOf(c *csv.Reader, noHeader bool) (columns []Column, err error) {
	c.ReuseRecord = true
	for first := true; ; first = false {
		fields, err := c.Read()
		if err == io.EOF {
			return columns, nil
		}
		if err != nil {
			return nil, fmt.Errorf("data: CSV: %w", err)
		}
		if first {
			columns = make([]Column, len(fields))
			for i, name := range fields {
				columns[i].Texts = []string{}
				if columns[i].Name = strings.Clone(name); noHeader {
					columns[i].Name = strconv.Itoa(i)
				}
			}
			if !noHeader {
				continue
			}
		}
		for i, field := range fields {
			columns[i].Texts = append(columns[i].Texts, strings.Clone(field))
		}
	}
}

// typed gives columns of texts their types.
func typed(columns []Column, o CSVOpts) error {
	known := map[string]bool{}
	for i := range columns {
		c := &columns[i]
		known[c.Name] = true
		if slices.Contains(o.Texts, c.Name) {
			continue
		}
		if d, ok := o.Types[c.Name]; ok {
			x, err := parsed(c.Texts, d)
			if err != nil {
				return fmt.Errorf("data: CSV: column %q: %w", c.Name, err)
			}
			c.Numbers, c.Texts = x, nil
			continue
		}
		try := []weft.DType{weft.Float64}
		if o.Infer {
			try = []weft.DType{weft.Int64, weft.Bool, weft.Float64}
		}
		// A column of empty fields alone stays texts.
		empty := !slices.ContainsFunc(c.Texts, func(s string) bool { return strings.TrimSpace(s) != "" })
		for _, d := range try {
			if x, err := parsed(c.Texts, d); err == nil && !empty {
				c.Numbers, c.Texts = x, nil
				break
			}
		}
	}
	for _, name := range o.Texts {
		if !known[name] {
			return fmt.Errorf("data: CSV: there is no column %q", name)
		}
	}
	for name := range o.Types {
		if !known[name] {
			return fmt.Errorf("data: CSV: there is no column %q", name)
		}
	}
	return nil
}

// parsed returns texts as numbers of a type. An error names the row.
func parsed(texts []string, d weft.DType) (x *weft.Tensor, err error) {
	switch {
	case d.Float():
		x, err = each(texts, d, func(s string) (float64, error) {
			if s == "" {
				return math.NaN(), nil
			}
			if strings.ContainsAny(s, "_xX") { // such as 2020_01, which is a number in Go alone
				return 0, strconv.ErrSyntax
			}
			v, err := strconv.ParseFloat(s, 64)
			if errors.Is(err, strconv.ErrRange) { // 0 or infinite, as in float64
				err = nil
			}
			return v, err
		})
	case d == weft.Bool:
		x, err = each(texts, d, func(s string) (bool, error) {
			switch s {
			case "true", "True", "TRUE":
				return true, nil
			case "false", "False", "FALSE":
				return false, nil
			}
			return false, strconv.ErrSyntax
		})
	case d == weft.Uint8 || d == weft.Uint16 || d == weft.Uint32 || d == weft.Uint64:
		x, err = each(texts, d, func(s string) (uint64, error) { return strconv.ParseUint(s, 10, 8*d.Size()) })
	default:
		x, err = each(texts, d, func(s string) (int64, error) { return strconv.ParseInt(s, 10, 8*d.Size()) })
	}
	if err != nil {
		return nil, err
	}
	return x.To(d), nil
}

// unreadable says why a field does not have the type of its column, and what to do if it is a missing value.
func unreadable(s string, d weft.DType) string {
	_, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	switch {
	case err == nil: // a number, which is there
		return fmt.Sprintf("%q is not %s", s, d)
	case strings.TrimSpace(s) == "":
		return fmt.Sprintf("the field is missing, and %s has no value for that: read the column as a float, where it is NaN", d)
	case d.Float():
		return fmt.Sprintf("%q is not %s: if it stands for a missing value, name it in CSVOpts.Missing", s, d)
	}
	return fmt.Sprintf("%q is not %s: if it stands for a missing value, name it in CSVOpts.Missing and read the column as a float, where it is NaN", s, d)
}

// each parses texts without the spaces around them.
func each[E weft.Element](texts []string, d weft.DType, parse func(s string) (E, error)) (*weft.Tensor, error) {
	out := make([]E, len(texts))
	for i, s := range texts {
		v, err := parse(strings.TrimSpace(s))
		if err != nil {
			return nil, fmt.Errorf("row %d: %s", i, unreadable(s, d))
		}
		out[i] = v
	}
	return weft.FromSlice(out), nil
}
