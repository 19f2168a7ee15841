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
	"weft/ragged/arrow"
)

// column reads column i of some groups of rows.
func (t *table) column(i int, groups []int) (c data.Column, err error) {
	d := t.file.MetaData().Schema.Column(i)
	c.Name = d.Path()
	unsupported := &arrow.UnsupportedError{Type: strings.TrimSpace(fmt.Sprintf("%s %s", d.PhysicalType(), d.LogicalType())), Field: c.Name}
	if d.MaxRepetitionLevel() > 0 {
		return c, &arrow.UnsupportedError{Type: "list", Field: c.Name}
	}
	decimal, isDecimal := d.LogicalType().(schema.DecimalLogicalType)
	if p, ok := d.LogicalType().(*schema.DecimalLogicalType); ok {
		decimal, isDecimal = *p, true
	}
	switch d.PhysicalType() {
	case parquet.Types.Boolean:
		c.Numbers, err = numbers(t, i, groups, func(v bool) bool { return v })
	case parquet.Types.Int32:
		if isDecimal {
			c.Numbers, err = numbers(t, i, groups, scaled[int32](decimal))
		} else {
			c.Numbers, err = integers[int32](t, i, groups, d, 32)
		}
	case parquet.Types.Int64:
		if isDecimal {
			c.Numbers, err = numbers(t, i, groups, scaled[int64](decimal))
		} else {
			c.Numbers, err = integers[int64](t, i, groups, d, 64)
		}
	case parquet.Types.Float:
		c.Numbers, err = numbers(t, i, groups, func(v float32) float32 { return v })
	case parquet.Types.Double:
		c.Numbers, err = numbers(t, i, groups, func(v float64) float64 { return v })
	case parquet.Types.ByteArray:
		if isDecimal {
			return c, unsupported
		}
		c.Texts, _, err = values(t, i, groups, func(v parquet.ByteArray) string { return string(v) })
		if c.Texts == nil {
			c.Texts = []string{}
		}
	case parquet.Types.FixedLenByteArray:
		if _, ok := d.LogicalType().(schema.Float16LogicalType); !ok || d.TypeLength() != 2 {
			return c, unsupported
		}
		c.Numbers, err = numbers(t, i, groups, func(v parquet.FixedLenByteArray) float32 {
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

// integers reads integers of the type that the schema says.
func integers[V int32 | int64](t *table, i int, groups []int, d *schema.Column, bits int) (*weft.Tensor, error) {
	signed := true
	if l, ok := d.LogicalType().(schema.IntLogicalType); ok {
		bits, signed = int(l.BitWidth()), l.IsSigned()
	} else if l, ok := d.LogicalType().(*schema.IntLogicalType); ok {
		bits, signed = int(l.BitWidth()), l.IsSigned()
	}
	switch {
	case signed && bits == 8:
		return numbers(t, i, groups, func(v V) int8 { return int8(v) })
	case signed && bits == 16:
		return numbers(t, i, groups, func(v V) int16 { return int16(v) })
	case signed && bits == 32:
		return numbers(t, i, groups, func(v V) int32 { return int32(v) })
	case signed:
		return numbers(t, i, groups, func(v V) int64 { return int64(v) })
	case bits == 8:
		return numbers(t, i, groups, func(v V) uint8 { return uint8(v) })
	case bits == 16:
		return numbers(t, i, groups, func(v V) uint16 { return uint16(v) })
	case bits == 32:
		return numbers(t, i, groups, func(v V) uint32 { return uint32(v) })
	}
	return numbers(t, i, groups, func(v V) uint64 { return uint64(v) })
}

// numbers reads a column of numbers. Nulls are NaN, and make float64 of what has none.
func numbers[V any, E weft.Element](t *table, i int, groups []int, convert func(v V) E) (*weft.Tensor, error) {
	out, null, err := values(t, i, groups, convert)
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

// values reads a column of V, and says which rows are null, nil if none is. They are the zero E.
func values[V, E any](t *table, i int, groups []int, convert func(v V) E) (out []E, null []bool, err error) {
	full := t.file.MetaData().Schema.Column(i).MaxDefinitionLevel()
	buffer, levels := make([]V, batchSize), make([]int16, batchSize)
	for _, g := range groups {
		group := t.file.RowGroup(g)
		column, err := group.Column(i)
		if err != nil {
			return nil, nil, malformed(err)
		}
		chunk, ok := column.(interface {
			ReadBatch(size int64, values []V, defined, repeated []int16) (levels int64, read int, err error)
		})
		if !ok {
			return nil, nil, malformed(fmt.Errorf("a column of %s in group %d", column.Type(), g))
		}
		rows := int64(0)
		for column.HasNext() {
			n, read, err := chunk.ReadBatch(batchSize, buffer, levels, nil)
			if err != nil {
				return nil, nil, malformed(err)
			}
			if n == 0 {
				break
			}
			if t.left -= 8 * n; t.left < 0 {
				return nil, nil, malformed(fmt.Errorf("there are more rows than a file of this size can say"))
			}
			rows += n
			at := 0
			for _, level := range levels[:n] {
				if full > 0 && level < full {
					for len(null) < len(out) {
						null = append(null, false)
					}
					out, null = append(out, *new(E)), append(null, true)
					continue
				}
				if at >= read {
					return nil, nil, malformed(fmt.Errorf("%d values of %d rows in group %d", read, n, g))
				}
				out = append(out, convert(buffer[at]))
				at++
			}
		}
		if err := column.Err(); err != nil {
			return nil, nil, malformed(err)
		}
		if rows != group.NumRows() {
			return nil, nil, malformed(fmt.Errorf("%d rows in group %d, which has %d", rows, g, group.NumRows()))
		}
	}
	for null != nil && len(null) < len(out) {
		null = append(null, false)
	}
	return out, null, nil
}
