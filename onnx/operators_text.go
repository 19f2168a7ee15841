package onnx

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"weft"
)

// Strings, and words that become numbers.
var textOperators = []operator{
	{name: "RegexFullMatch", run: regexFullMatch},
	{name: "StringConcat", run: stringConcat},
	{name: "StringNormalizer", run: stringNormalizer},
	{name: "StringSplit", run: stringSplit},
	{name: "TfIdfVectorizer", run: tfIdfVectorizer, eager: true},
}

func regexFullMatch(c *call) []Value {
	pattern := c.attrString("pattern", "")
	// Longest matches or not, \A and \z hold the whole.
	re, err := regexp.Compile(`\A(?:` + pattern + `)\z`)
	if err != nil {
		c.fail("attribute %q: %w", "pattern", err)
	}
	list := c.strings(0)
	out := make([]bool, len(list))
	for i, s := range list {
		out[i] = re.MatchString(s)
	}
	return tensors(weft.FromSlice(out, c.in[0].shape...))
}

func stringConcat(c *call) []Value {
	a, b := c.strings(0), c.strings(1)
	shape := c.broadcast(c.in[0].shape, c.in[1].shape)
	places := func(v Value) []int64 {
		x := weft.ArangeOf(weft.Int64, len(v.strings)).Reshape(v.shape...)
		return weft.Data[int64](x.Expand(c.size(shape, weft.Int64)...).Contiguous())
	}
	left, right := places(c.in[0]), places(c.in[1])
	out := make([]string, len(left))
	for i := range out {
		out[i] = a[left[i]] + b[right[i]]
	}
	return []Value{StringsOf(out, shape...)}
}

func stringNormalizer(c *call) []Value {
	stop, exact := c.attrStrings("stopwords"), c.attrBool("is_case_sensitive", false)
	change := c.attrString("case_change_action", "NONE")
	c.attrString("locale", "")
	list, shape := c.strings(0), slices.Clone(c.in[0].shape)
	if len(shape) != 1 && (len(shape) != 2 || shape[0] != 1) {
		c.fail("the input is %v: want a vector or one row", c.in[0])
	}
	same := func(s string) string { return s }
	key, to := strings.ToLower, map[string]func(string) string{"NONE": same, "LOWER": strings.ToLower, "UPPER": strings.ToUpper}[change]
	if to == nil {
		c.fail("attribute %q is %q: want NONE, LOWER or UPPER", "case_change_action", change)
	}
	if exact {
		key = same
	}
	stopped := map[string]bool{}
	for _, s := range stop {
		stopped[key(s)] = true
	}
	var out []string
	for _, s := range list {
		if !stopped[key(s)] {
			out = append(out, to(s))
		}
	}
	if len(out) == 0 {
		out = []string{""}
	}
	shape[len(shape)-1] = len(out)
	return []Value{StringsOf(out, shape...)}
}

// stringSplit splits each string, and fills up with empty strings to the greatest number of parts.
func stringSplit(c *call) []Value {
	by, most := c.attrString("delimiter", ""), c.attrInt("maxsplit", -1)
	list, shape := c.strings(0), c.in[0].shape
	parts, counts := make([][]string, len(list)), make([]int64, len(list))
	width := 0
	for i, s := range list {
		switch {
		case by == "":
			parts[i] = words(s, most)
		case s == "":
			parts[i] = nil
		case most < 0:
			parts[i] = strings.Split(s, by)
		default:
			parts[i] = strings.SplitN(s, by, most+1)
		}
		counts[i] = int64(len(parts[i]))
		width = max(width, len(parts[i]))
	}
	var out []string
	for _, p := range parts {
		out = append(append(out, p...), slices.Repeat([]string{""}, width-len(p))...)
	}
	return []Value{StringsOf(out, append(slices.Clone(shape), width)...), TensorOf(weft.FromSlice(counts, shape...))}
}

// words splits at white space, most times at most if it is not negative.
func words(s string, most int) []string {
	var out []string
	for s = strings.TrimLeftFunc(s, unicode.IsSpace); s != ""; s = strings.TrimLeftFunc(s, unicode.IsSpace) {
		end := strings.IndexFunc(s, unicode.IsSpace)
		if end < 0 || len(out) == most {
			return append(out, strings.TrimRightFunc(s, unicode.IsSpace))
		}
		out, s = append(out, s[:end]), s[end:]
	}
	return out
}

// gram is the key of an n-gram: words, each with its length before it.
func gram(list []string, at, n, step int) string {
	var b []byte
	for i := range n {
		s := list[at+i*step]
		b = append(strconv.AppendInt(b, int64(len(s)), 10), ' ')
		b = append(b, s...)
	}
	return string(b)
}

// numbersAsTexts are integers as words.
func numbersAsTexts(list []int) []string {
	out := make([]string, len(list))
	for i, n := range list {
		out[i] = strconv.Itoa(n)
	}
	return out
}

// tfIdfVectorizer counts the n-grams of each row that a pool lists.
func tfIdfVectorizer(c *call) []Value {
	for _, name := range []string{"mode", "ngram_indexes", "ngram_counts", "max_skip_count", "min_gram_length", "max_gram_length"} {
		c.need(name)
	}
	mode, indexes, weights, counts := c.attrString("mode", ""), c.attrInts("ngram_indexes"), c.attrFloats("weights"), c.attrInts("ngram_counts")
	least, most, skips := c.attrInt("min_gram_length", 1), c.attrInt("max_gram_length", 1), c.attrInt("max_skip_count", 0)
	pool, ints := c.attrStrings("pool_strings"), c.attrInts("pool_int64s")
	if ints != nil {
		pool = numbersAsTexts(ints)
	}
	if mode != "TF" && mode != "IDF" && mode != "TFIDF" || least < 1 || most < least || len(counts) < most || skips < 0 ||
		len(indexes) == 0 || weights != nil && len(weights) != len(indexes) {
		c.fail("mode %q with n-grams of %d to %d words, %d counts, %d indexes and %d weights", mode, least, most, len(counts), len(indexes), len(weights))
	}
	width := slices.Max(indexes) + 1
	number := map[string]int{} // of n-grams in the pool
	id := 0
	for i, from := range counts {
		n, to := i+1, len(pool)
		if i+1 < len(counts) {
			to = counts[i+1]
		}
		if from < 0 || to < from || to > len(pool) {
			c.fail("attribute %q is %v, the pool has %d words", "ngram_counts", counts, len(pool))
		}
		for ; from+n <= to; from += n {
			if id >= len(indexes) || indexes[id] < 0 {
				c.fail("attribute %q has %d numbers, the pool more n-grams", "ngram_indexes", len(indexes))
			}
			number[gram(pool, from, n, 1)] = id
			id++
		}
	}
	var list []string
	if c.value(0).kind == StringsKind {
		list = c.strings(0)
	} else {
		list = numbersAsTexts(c.ints(0))
	}
	shape := slices.Clone(c.in[0].Shape())
	if len(shape) != 1 && len(shape) != 2 {
		c.fail("the input is %v: want a vector or rows", c.in[0])
	}
	columns := shape[len(shape)-1]
	shape[len(shape)-1] = width
	rows := 1
	if len(shape) == 2 {
		rows = shape[0]
	}
	c.hostTable(shape...)
	out := make([]float32, rows*width)
	for r := range rows {
		tally(list[r*columns:(r+1)*columns], least, most, skips, func(key string) {
			k, ok := number[key]
			if !ok {
				return
			}
			weight := float32(1)
			if mode != "TF" && weights != nil {
				weight = weights[k]
			}
			if y := &out[r*width+indexes[k]]; mode == "IDF" {
				*y = weight
			} else {
				*y += weight
			}
		})
	}
	return tensors(weft.FromSlice(out, shape...))
}

// tally calls found for each n-gram of a row. Words of one may have up to skips others between them, always
// the same number. Single words count once.
func tally(row []string, least, most, skips int, found func(key string)) {
	for n := least; n <= most; n++ {
		for step := 1; step-1 <= skips && (n > 1 || step == 1) && (n-1)*step < len(row); step++ {
			for at := 0; at+(n-1)*step < len(row); at++ {
				found(gram(row, at, n, step))
			}
		}
	}
}
