package table

import (
	"cmp"
	"hash/maphash"
	"math"
	"math/bits"
	"slices"
	"sync"
	"sync/atomic"

	"weft"
	"weft/data"
	"weft/internal/array"
	"weft/internal/par"
)

// keys are rows by their values in some columns. Rows with equal values have equal codes; codes ascend with the
// values, from 0 on without gaps.
type keys struct {
	codes []int32 // by row
	first []int32 // by code: the first row that has it
}

// checkRows refuses tables of more rows than there are numbers for.
func checkRows(op string, n int) {
	if n > maxRows {
		array.Failf("table."+op, "", "has %d rows, more than 2^31-1", n)
	}
}

// keysOf returns the rows' keys by columns of one length, the first column before the next ones.
func keysOf(op, arg string, columns []*data.Column) keys {
	var k keys
	for i, c := range columns {
		var next keys
		if c.Texts != nil {
			next = keysOfTexts(c.Texts)
		} else {
			ordinals("table."+op, arg, c, func(x []int64) { next = keysOfInts(x) })
		}
		if i == 0 {
			k = next
			continue
		}
		pairs := make([]int64, len(k.codes))
		n := int64(len(next.first))
		par.Run(len(pairs), grain, par.Threads(), func(_, begin, end int) {
			for i := begin; i < end; i++ {
				pairs[i] = int64(k.codes[i])*n + int64(next.codes[i])
			}
		})
		k = keysOfInts(pairs)
	}
	return k
}

// grain is the number of rows of a chunk.
const grain = 1 << 16

// ordinals calls f with integers that are ordered and equal as a column's numbers are.
func ordinals(op, arg string, c *data.Column, f func(x []int64)) {
	if c.Numbers == nil || c.Numbers.Rank() != 1 {
		what := "lists"
		if c.Numbers != nil {
			what = "numbers of shape " + array.ShapeString(c.Numbers.Shape())
		}
		array.Failf(op, arg, "names %q, a column of %s: want texts or one number a row", c.Name, what)
	}
	switch d := c.Numbers.DType(); d.Category() {
	case array.CatComplex:
		array.Failf(op, arg, "names %q, a column of %s, which has no order", c.Name, d)
	case array.CatFloat:
		x := weft.Data[float64](c.Numbers.To(weft.Float64))
		out := make([]int64, len(x))
		par.Run(len(x), grain, par.Threads(), func(_, begin, end int) {
			for i, v := range x[begin:end] {
				out[begin+i] = ordinal(v)
			}
		})
		f(out)
	default:
		if d == weft.Uint64 {
			x := weft.Data[uint64](c.Numbers)
			out := make([]int64, len(x))
			for i, v := range x {
				out[i] = int64(v ^ 1<<63)
			}
			f(out)
			return
		}
		weft.WithoutGrad(func() { weft.Borrow(c.Numbers.To(weft.Int64).Contiguous(), f) })
	}
}

// ordinal is an integer that is ordered as the number is. Zeros are equal, and NaN, which comes last.
func ordinal(v float64) int64 {
	switch {
	case v == 0:
		return 0
	case v != v:
		return math.MaxInt64
	}
	b := int64(math.Float64bits(v))
	if b < 0 {
		b ^= math.MaxInt64
	}
	return b
}

// keysOfInts goes through a table of all numbers between the least and the greatest if there are not many, else
// through a hash table.
func keysOfInts(x []int64) keys {
	if len(x) == 0 {
		return keys{}
	}
	dense := func(x []int64, all int) (least int64, n int, ok bool) {
		least, most := extremes(x)
		span := uint64(most) - uint64(least)
		return least, int(span) + 1, span < max(1<<12, 2*uint64(all))
	}
	if len(x) > 4*grain { // the first rows often have the extremes: few numbers, many rows
		if least, n, ok := dense(x[:grain], grain/16); ok {
			if k, ok := denseKeys(x, least, n); ok {
				return k
			}
		}
	}
	if least, n, ok := dense(x, len(x)); ok {
		k, _ := denseKeys(x, least, n)
		return k
	}
	return hashedKeys(x)
}

func extremes(x []int64) (least, most int64) {
	least, most = x[0], x[0]
	var lock sync.Mutex
	par.Run(len(x), grain, par.Threads(), func(_, begin, end int) {
		lo, hi := x[begin], x[begin]
		for _, v := range x[begin:end] {
			lo, hi = min(lo, v), max(hi, v)
		}
		lock.Lock()
		least, most = min(least, lo), max(most, hi)
		lock.Unlock()
	})
	return least, most
}

// denseKeys are keys of numbers from least to least+n-1. Each part of the rows has a table of the first row of each
// number; the first part that has a number decides. ok is false if there is another number.
func denseKeys(x []int64, least int64, n int) (_ keys, ok bool) {
	k := keys{codes: make([]int32, len(x))}
	parts := min(max(len(x)/(4*n), 1), par.Threads())
	tables := make([]int32, parts*n) // the first row and 1 of a number
	var other atomic.Bool
	par.Run(parts, 1, par.Threads(), func(_, first, last int) {
		for p := first; p < last; p++ {
			begin, end := len(x)*p/parts, len(x)*(p+1)/parts
			rows, codes := tables[p*n:][:n], k.codes[begin:end]
			part := x[begin:end]
			for i := len(part) - 1; i >= 0; i-- { // backwards, so that the first row is written last, without a branch
				c := uint64(part[i]) - uint64(least)
				if c >= uint64(len(rows)) {
					other.Store(true)
					return
				}
				codes[i] = int32(c)
				rows[c] = int32(begin+i) + 1
			}
		}
	})
	if other.Load() {
		return keys{}, false
	}
	code := tables[:n]
	for p := 1; p < parts; p++ {
		for v, row := range tables[p*n:][:n] {
			if code[v] == 0 {
				code[v] = row
			}
		}
	}
	k.first = make([]int32, 0, n)
	for v, row := range code {
		if row > 0 {
			code[v] = int32(len(k.first))
			k.first = append(k.first, row-1)
		}
	}
	if len(k.first) < n { // some numbers are missing
		par.Run(len(x), grain, par.Threads(), func(_, begin, end int) {
			for i, c := range k.codes[begin:end] {
				k.codes[begin+i] = code[c]
			}
		})
	}
	return k, true
}

// hashedKeys are keys of any numbers. A hash table with linear probing numbers them as they come; sorting the
// different ones gives their codes.
func hashedKeys(x []int64) keys {
	type slot struct {
		key  int64
		code int32 // and 1; 0 is an empty slot
	}
	slots := make([]slot, 1<<12)
	shift := 64 - 12
	seed := maphash.Comparable(hashSeed, 0)
	at := func(v int64) uint64 { return mix(uint64(v)^seed) >> shift }
	codes := make([]int32, len(x))
	var values []int64
	var first []int32
	for i, v := range x {
		h := at(v)
		for slots[h].code != 0 && slots[h].key != v {
			h = (h + 1) & uint64(len(slots)-1)
		}
		if slots[h].code == 0 {
			values, first = append(values, v), append(first, int32(i))
			slots[h] = slot{v, int32(len(values))}
		}
		codes[i] = slots[h].code - 1
		if 2*len(values) > len(slots) {
			slots = make([]slot, 4*len(slots))
			shift -= 2
			for c, v := range values {
				h := at(v)
				for slots[h].code != 0 {
					h = (h + 1) & uint64(len(slots)-1)
				}
				slots[h] = slot{v, int32(c) + 1}
			}
		}
	}
	order := weft.Data[int64](weft.FromSlice(values, len(values)).ArgSort(0))
	return renumbered(codes, first, order)
}

var hashSeed = maphash.MakeSeed()

// mix spreads the bits of a number: the product of 128 bits with an odd constant, folded.
func mix(v uint64) uint64 {
	hi, lo := bits.Mul64(v, 0x9e3779b97f4a7c15)
	return (hi ^ lo) * 0xff51afd7ed558ccd
}

// renumbered gives codes in the order of their values: order lists the codes of the sorted values.
func renumbered(codes, first []int32, order []int64) keys {
	code := make([]int32, len(order))
	k := keys{codes, make([]int32, len(order))}
	for new, old := range order {
		code[old] = int32(new)
		k.first[new] = first[old]
	}
	par.Run(len(codes), grain, par.Threads(), func(_, begin, end int) {
		for i, c := range codes[begin:end] {
			codes[begin+i] = code[c]
		}
	})
	return k
}

// keysOfTexts are keys of texts, ordered by their bytes.
func keysOfTexts(x []string) keys {
	type slot struct {
		hash uint64
		code int32 // and 1; 0 is an empty slot
	}
	slots := make([]slot, 1<<12)
	codes := make([]int32, len(x))
	var values []string
	var hashes []uint64
	var first []int32
	for i, v := range x {
		hash := maphash.String(hashSeed, v)
		h := hash & uint64(len(slots)-1)
		for slots[h].code != 0 && (slots[h].hash != hash || values[slots[h].code-1] != v) {
			h = (h + 1) & uint64(len(slots)-1)
		}
		if slots[h].code == 0 {
			values, hashes, first = append(values, v), append(hashes, hash), append(first, int32(i))
			slots[h] = slot{hash, int32(len(values))}
		}
		codes[i] = slots[h].code - 1
		if 2*len(values) > len(slots) {
			slots = make([]slot, 4*len(slots))
			for c, hash := range hashes {
				h := hash & uint64(len(slots)-1)
				for slots[h].code != 0 {
					h = (h + 1) & uint64(len(slots)-1)
				}
				slots[h] = slot{hash, int32(c) + 1}
			}
		}
	}
	order := make([]int64, len(values))
	for i := range order {
		order[i] = int64(i)
	}
	slices.SortFunc(order, func(a, b int64) int { return cmp.Compare(values[a], values[b]) })
	return renumbered(codes, first, order)
}
