package ndimage

import (
	"weft/internal/ir"
	"weft/internal/op"
)

// mostSelected is the most elements of a window whose rank is found by comparisons that do not depend on the elements:
// they run in one kernel, in vectors. Their number grows with the square of the elements.
const mostSelected = 25

// selected is the element of a rank of the windows v, element by element: a forgetful selection. An element leaves the set
// when it is above too many others, or below; then the next one enters. A NaN spreads to all that it is compared with.
// Reference: R. Paeth, Median Finding on a 3x3 Grid, in Graphics Gems (1990).
func selected(v []*ir.Node, rank int) *ir.Node {
	exchange := func(a, b *ir.Node) (low, high *ir.Node) {
		return op.Apply(op.Minimum, nil, a, b), op.Apply(op.Maximum, nil, a, b)
	}
	var set []*ir.Node
	for left := len(v); left > 1; {
		n := len(set)
		most, least := n >= rank+2, n >= left-rank+1
		if !most && !least {
			set, v = append(set, v[0]), v[1:]
			continue
		}
		if most {
			for i := range n - 1 {
				set[i], set[i+1] = exchange(set[i], set[i+1])
			}
			n--
			set = set[:n]
			left--
		}
		if least {
			for i := n - 1; i > 0; i-- {
				set[i-1], set[i] = exchange(set[i-1], set[i])
			}
			set = set[1:]
			left--
			rank--
		}
	}
	return set[0]
}
