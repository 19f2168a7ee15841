package models

import (
	"math"

	"weft/internal/array"
)

// BLEU compares translations with references, one or more for each, as lists of tokens: words, or their
// numbers. It is corpus BLEU with n-grams of 1 to 4 tokens, from 0 to 100 (Papineni et al., BLEU: a method
// for automatic evaluation of machine translation, 2002).
//
// A precision without any match counts as 1/2, 1/4 and so on of a match, as in sacrebleu. Without tokens
// of a length it is 0. It panics with *weft.Error if the numbers of translations and references differ or
// a translation has no reference.
func BLEU[T comparable](translations [][]T, references [][][]T) float64 {
	const name, orders = "bleu", 4
	if len(translations) != len(references) {
		array.Failf(name, "references", "are of %d translations, want %d", len(references), len(translations))
	}
	var match, total [orders]int
	length, want := 0, 0
	for i, x := range translations {
		if len(references[i]) == 0 {
			array.Failf(name, "references", "have no list for translation %d", i)
		}
		length += len(x)
		want += closest(references[i], len(x))
		for n := range orders {
			most := map[[orders]T]int{}
			for _, r := range references[i] {
				for g, k := range grams(r, n+1) {
					most[g] = max(most[g], k)
				}
			}
			for g, k := range grams(x, n+1) {
				match[n] += min(k, most[g])
			}
			total[n] += max(len(x)-n, 0)
		}
	}
	sum, smooth := 0.0, 1.0
	for n := range orders {
		m := float64(match[n])
		if total[n] == 0 || match[0] == 0 {
			return 0
		}
		if m == 0 {
			smooth /= 2
			m = smooth
		}
		sum += math.Log(m / float64(total[n]))
	}
	brevity := min(0, 1-float64(want)/float64(length))
	return 100 * math.Exp(sum/orders+brevity)
}

// closest returns the length of a reference that is nearest to n, the shorter of two.
func closest[T any](references [][]T, n int) int {
	best := len(references[0])
	for _, r := range references {
		d, b := max(len(r)-n, n-len(r)), max(best-n, n-best)
		if d < b || d == b && len(r) < best {
			best = len(r)
		}
	}
	return best
}

// grams counts the sequences of n tokens in x, each followed by zeros.
func grams[T comparable](x []T, n int) map[[4]T]int {
	out := map[[4]T]int{}
	for i := 0; i+n <= len(x); i++ {
		var g [4]T
		copy(g[:], x[i:i+n])
		out[g]++
	}
	return out
}
