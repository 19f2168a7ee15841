package device

import "weft/internal/array"

// CheckOffsets returns an *array.Error of an operation if offsets descend or lie outside a number of
// rows. The first of them has the number first.
func CheckOffsets(op string, off []int64, first, rows int) error {
	last, bad := int64(0), int64(0) // is negative once an offset is, or less than that before it
	for _, o := range off {
		bad |= o | (o - last)
		last = o
	}
	if bad >= 0 && last <= int64(rows) {
		return nil
	}
	last = off[0]
	for i, o := range off {
		switch {
		case o < 0 || o > int64(rows):
			return array.Errorf(op, "offsets", "offset %d is %d, which is not from 0 to %d, the number of rows", first+i, o, rows)
		case o < last:
			return array.Errorf(op, "offsets", "offset %d is %d, less than %d before it", first+i, o, last)
		}
		last = o
	}
	return nil
}
