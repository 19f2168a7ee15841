package parquet

import (
	"fmt"
	"math"
	"strings"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/schema"

	"weft"
	"weft/data"
	"weft/half"
	"weft/ragged"
	"weft/ragged/arrow"
)

// rows are the rows of some groups of a column while it is read.
type rows struct {
	*table
	column int
	groups []int
	// element is the definition level from which on an entry is an element of a list, 0 if rows are not lists.
	element int16
	offsets []int64 // of lists: where each row begins, and the end
}

// listParts ends the path of the elements of a list: the names that the format prescribes, and names of older
// writers.
var listParts = []string{".list.element", ".list.item", ".list.array_element", ".bag.array_element", ".array"}

// nameOf is the name of a column for users: its path, without what the format puts below a list.
func nameOf(d *schema.Column) string {
	if d.MaxRepetitionLevel() == 1 {
		for _, part := range listParts {
			if name, ok := strings.CutSuffix(d.Path(), part); ok {
				return name
			}
		}
	}
	return d.Path()
}

// column reads column i of some groups of rows.
func (t *table) column(i int, groups []int) (c data.Column, err error) {
	d := t.file.MetaData().Schema.Column(i)
	r := &rows{table: t, column: i, groups: groups}
	if c.Name = nameOf(d); d.MaxRepetitionLevel() > 0 {
		level := d.MaxDefinitionLevel()
		node := d.SchemaNode()
		for ; node != nil && node.RepetitionType() != parquet.Repetitions.Repeated; node = node.Parent() {
			if node.RepetitionType() == parquet.Repetitions.Optional {
				level--
			}
		}
		if r.element = level; d.MaxRepetitionLevel() > 1 {
			return c, &arrow.UnsupportedError{Type: "list of lists", Field: c.Name}
		}
		r.offsets = []int64{}
	}
	if c, err = r.fields(c, d); err != nil || r.offsets == nil {
		return c, err
	}
	if c.Numbers == nil {
		return c, &arrow.UnsupportedError{Type: "list of texts", Field: c.Name}
	}
	r.offsets = append(r.offsets, int64(c.Numbers.Dim(0)))
	c.Lists, c.Numbers = ragged.FromOffsets(c.Numbers, r.offsets), nil
	return c, nil
}

// fields reads the fields of rows, or the elements of all.
func (r *rows) fields(c data.Column, d *schema.Column) (data.Column, error) {
	var err error
	unsupported := &arrow.UnsupportedError{Type: strings.TrimSpace(fmt.Sprintf("%s %s", d.PhysicalType(), d.LogicalType())), Field: c.Name}
	decimal, isDecimal := d.LogicalType().(schema.DecimalLogicalType)
	if p, ok := d.LogicalType().(*schema.DecimalLogicalType); ok {
		decimal, isDecimal = *p, true
	}
	switch d.PhysicalType() {
	case parquet.Types.Boolean:
		c.Numbers, err = numbers(r, func(v bool) bool { return v })
	case parquet.Types.Int32:
		if isDecimal {
			c.Numbers, err = numbers(r, scaled[int32](decimal))
		} else {
			c.Numbers, err = integers[int32](r, d, 32)
		}
	case parquet.Types.Int64:
		if isDecimal {
			c.Numbers, err = numbers(r, scaled[int64](decimal))
		} else {
			c.Numbers, err = integers[int64](r, d, 64)
		}
	case parquet.Types.Float:
		c.Numbers, err = numbers(r, func(v float32) float32 { return v })
	case parquet.Types.Double:
		c.Numbers, err = numbers(r, func(v float64) float64 { return v })
	case parquet.Types.ByteArray:
		if isDecimal {
			return c, unsupported
		}
		c.Texts, _, err = values(r, func(v parquet.ByteArray) string { return string(v) })
		if c.Texts == nil {
			c.Texts = []string{}
		}
	case parquet.Types.FixedLenByteArray:
		if isDecimal && d.TypeLength() <= 16 {
			c.Numbers, err = numbers(r, scaledBytes(decimal))
			break
		}
		if _, ok := d.LogicalType().(schema.Float16LogicalType); !ok || d.TypeLength() != 2 {
			return c, unsupported
		}
		c.Numbers, err = numbers(r, func(v parquet.FixedLenByteArray) float32 {
			return half.Float16(uint16(v[0]) | uint16(v[1])<<8).Float32()
		})
		if err == nil {
			c.Numbers = c.Numbers.To(weft.Float16)
		}
	default:
		return c, unsupported
	}
	return c, err
}

// scaled returns the function that makes a number of a decimal.
func scaled[V int32 | int64](d schema.DecimalLogicalType) func(v V) float64 {
	divisor := math.Pow10(int(d.Scale()))
	return func(v V) float64 { return float64(v) / divisor }
}

// scaledBytes is scaled for the big-endian bytes of an integer in two's complement, 16 at most. One beyond 64 bits is
// rounded in steps: its error is within two units in the last place.
func scaledBytes(d schema.DecimalLogicalType) func(v parquet.FixedLenByteArray) float64 {
	divisor := math.Pow10(int(d.Scale()))
	return func(v parquet.FixedLenByteArray) float64 {
		var high int64
		if len(v) > 0 {
			high = int64(int8(v[0])) >> 7
		}
		low := uint64(high)
		for _, b := range v {
			high, low = high<<8|int64(low>>56), low<<8|uint64(b)
		}
		if high == int64(low)>>63 {
			return float64(int64(low)) / divisor
		}
		return (math.Ldexp(float64(high), 64) + float64(low)) / divisor
	}
}

// integers reads integers of the type that the schema says.
func integers[V int32 | int64](r *rows, d *schema.Column, bits int) (*weft.Tensor, error) {
	signed := true
	if l, ok := d.LogicalType().(schema.IntLogicalType); ok {
		bits, signed = int(l.BitWidth()), l.IsSigned()
	} else if l, ok := d.LogicalType().(*schema.IntLogicalType); ok {
		bits, signed = int(l.BitWidth()), l.IsSigned()
	}
	switch {
	case signed && bits == 8:
		return numbers(r, func(v V) int8 { return int8(v) })
	case signed && bits == 16:
		return numbers(r, func(v V) int16 { return int16(v) })
	case signed && bits == 32:
		return numbers(r, func(v V) int32 { return int32(v) })
	case signed:
		return numbers(r, func(v V) int64 { return int64(v) })
	case bits == 8:
		return numbers(r, func(v V) uint8 { return uint8(v) })
	case bits == 16:
		return numbers(r, func(v V) uint16 { return uint16(v) })
	case bits == 32:
		return numbers(r, func(v V) uint32 { return uint32(v) })
	}
	return numbers(r, func(v V) uint64 { return uint64(v) })
}

// numbers reads a column of numbers, or the elements of one of lists. Nulls are NaN, and make float64 of what has none.
func numbers[V any, E weft.Element](r *rows, convert func(v V) E) (*weft.Tensor, error) {
	out, null, err := values(r, convert)
	if err != nil {
		return nil, err
	}
	x := weft.FromSlice(out)
	if null == nil {
		return x, nil
	}
	if !x.DType().Float() {
		x = x.To(weft.Float64)
	}
	return x.MaskedFill(weft.FromSlice(null), math.NaN()), nil
}

// batchSize is how many values are read at once.
const batchSize = 4096

// values reads a column of V, and says which are null, nil if none is. They are the zero E. Of lists it reads
// the elements, and sets the offsets; a list that is null is empty.
func values[V, E any](r *rows, convert func(v V) E) (out []E, null []bool, err error) {
	for _, g := range r.groups {
		group := r.file.RowGroup(g)
		column, err := group.Column(r.column)
		if err != nil {
			return nil, nil, malformed(err)
		}
		chunk, ok := column.(chunkOf[V])
		if !ok {
			return nil, nil, malformed(fmt.Errorf("a column of %s in group %d", column.Type(), g))
		}
		before := len(r.offsets)
		n := int64(0)
		if out, null, n, err = appended(r, chunk, g, out, null, convert); err != nil {
			return nil, nil, err
		}
		if err := column.Err(); err != nil {
			return nil, nil, malformed(err)
		}
		if r.offsets != nil {
			n = int64(len(r.offsets) - before)
		}
		if n != group.NumRows() {
			return nil, nil, malformed(fmt.Errorf("%d rows in group %d, which has %d", n, g, group.NumRows()))
		}
	}
	for null != nil && len(null) < len(out) {
		null = append(null, false)
	}
	return out, null, nil
}

// A chunkOf is a column of a group whose values are V.
type chunkOf[V any] interface {
	HasNext() bool
	ReadBatch(size int64, values []V, defined, repeated []int16) (levels int64, read int, err error)
}

// appended appends the values of a chunk, and counts its entries.
func appended[V, E any](r *rows, chunk chunkOf[V], g int, out []E, null []bool, convert func(v V) E) ([]E, []bool, int64, error) {
	full := r.file.MetaData().Schema.Column(r.column).MaxDefinitionLevel()
	buffer, levels := make([]V, batchSize), make([]int16, batchSize)
	var repeated []int16
	if r.offsets != nil {
		repeated = make([]int16, batchSize)
	}
	entries := int64(0)
	for chunk.HasNext() {
		n, read, err := chunk.ReadBatch(batchSize, buffer, levels, repeated)
		if err != nil {
			return nil, nil, 0, malformed(err)
		}
		if n == 0 {
			break
		}
		if r.left -= 8 * n; r.left < 0 {
			return nil, nil, 0, malformed(fmt.Errorf("there are more rows than a file of this size can say"))
		}
		entries += n
		at := 0
		for k, level := range levels[:n] {
			if repeated != nil {
				if repeated[k] == 0 {
					r.offsets = append(r.offsets, int64(len(out)))
				} else if len(r.offsets) == 0 || level < r.element {
					return nil, nil, 0, malformed(fmt.Errorf("an element without a list in group %d", g))
				}
				if level < r.element {
					continue // the list is empty or null
				}
			}
			if full > 0 && level < full {
				for len(null) < len(out) {
					null = append(null, false)
				}
				out, null = append(out, *new(E)), append(null, true)
				continue
			}
			if at >= read {
				return nil, nil, 0, malformed(fmt.Errorf("%d values of %d rows in group %d", read, n, g))
			}
			out = append(out, convert(buffer[at]))
			at++
		}
	}
	return out, null, entries, nil
}
