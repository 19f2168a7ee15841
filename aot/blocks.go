package aot

// A Tree combines the parts of a reduction over a number of rows. Its functions give launches.
type Tree struct {
	Groups func(groups, apart int) *Launch    // eight parts each, which are apart by a number
	Some   func(at [8]int, parts int) *Launch // the last group of a level, which has fewer: their indices
	Last   func(at [8]int, parts int) *Launch // the group whose combination is the result
}

// partsFrom returns the indices of some parts from first on; of those that are not there the first one's.
func partsFrom(first, apart, parts int) (at [8]int, n int) {
	for i := range at {
		if at[i] = first; i < parts {
			at[i] += i * apart
		}
	}
	return at, parts
}

// InBlocks returns the steps that reduce rows in blocks of 16, the last with what rest gives, and combine
// the parts that these are by trees. Rows of one block are reduced at once, with what short gives.
func InBlocks(rows int, short, full func(n int) *Launch, rest func(blocks, rest int) *Launch, trees ...Tree) (steps []Step) {
	const block, radix = 16, 8
	run := func(l *Launch) { steps = append(steps, Step{Launch: l}) }
	if rows <= block {
		run(short(rows))
		return steps
	}
	if run(full(rows / block)); rows%block > 0 {
		run(rest(rows/block, rows%block))
	}
	for _, t := range trees {
		n, apart := (rows+block-1)/block, 1
		for ; n > radix; n, apart = (n+radix-1)/radix, apart*radix {
			if run(t.Groups(n/radix, apart)); n%radix > 1 {
				run(t.Some(partsFrom(n/radix*radix*apart, apart, n%radix)))
			}
		}
		run(t.Last(partsFrom(0, apart, n)))
	}
	return steps
}
