package onnx

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

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
	return []Value{c.paddedRows(parts, shape, width, ""), TensorOf(weft.FromSlice(counts, shape...))}
}

// paddedRows puts lists of strings behind each other as rows of one width: shape has a list for each element.
func (c *call) paddedRows(lists [][]string, shape []int, width int, pad string) Value {
	c.hostTable(len(lists), width) // one long list makes all rows long
	out := make([]string, 0, len(lists)*width)
	for _, l := range lists {
		out = append(out, l...)
		for range width - len(l) {
			out = append(out, pad)
		}
	}
	return StringsOf(out, append(slices.Clone(shape), width)...)
}

// tokenizer splits each string of a vector or of rows, by separators or else into what matches an expression, and pads to
// the greatest number of tokens. Expressions are RE2's with longest matches, as ONNX Runtime has them.
func tokenizer(c *call) []Value {
	for _, name := range []string{"mark", "mincharnum", "pad_value"} {
		c.need(name)
	}
	mark, least, pad := c.attrBool("mark", false), c.attrInt("mincharnum", 1), c.attrString("pad_value", "")
	by, expression := c.attrStrings("separators"), c.attrString("tokenexp", "")
	list, shape := c.strings(0), c.in[0].shape
	if len(shape) != 1 && len(shape) != 2 {
		c.fail("the input is %v: want a vector or rows", c.in[0])
	}
	if least < 1 {
		c.fail("attribute %q is %d: want at least 1", "mincharnum", least)
	}
	split := c.splitter(by, expression)
	tokens, width := make([][]string, len(list)), 0
	for i, s := range list {
		tokens[i] = slices.DeleteFunc(split(s), func(s string) bool { return utf8.RuneCountInString(s) < least })
		width = max(width, len(tokens[i]))
	}
	if len(list) == 0 { // ONNX Runtime adds no axis here
		return []Value{StringsOf(nil, shape...)}
	}
	if mark && width > 0 {
		for i, t := range tokens {
			tokens[i] = slices.Concat([]string{"\x02"}, t, []string{"\x03"}) // start and end of text
		}
		width += 2
	}
	return []Value{c.paddedRows(tokens, shape, width, pad)}
}

// splitter returns the function that splits a string into tokens, some perhaps empty.
func (c *call) splitter(by []string, expression string) func(string) []string {
	compile := func(attribute, pattern string) *regexp.Regexp {
		re, err := regexp.Compile(pattern)
		if err != nil {
			c.fail("attribute %q: %w", attribute, err)
		}
		re.Longest()
		return re
	}
	switch {
	case len(by) == 1 && by[0] == "":
		return func(s string) []string { return strings.Split(s, "") } // characters
	case len(by) == 0 && expression == "":
		c.fail("attributes %q and %q are missing: want one of them", "separators", "tokenexp")
	case len(by) == 0:
		re := compile("tokenexp", expression)
		return func(s string) []string { return re.FindAllString(s, -1) }
	}
	var separators []*regexp.Regexp
	for _, pattern := range by {
		re := compile("separators", pattern)
		if re.MatchString("") {
			c.fail("attribute %q: %q matches the empty string", "separators", pattern)
		}
		separators = append(separators, re)
	}
	return func(s string) []string {
		out := []string{s}
		for _, re := range separators {
			var parts []string
			for _, s := range out {
				parts = append(parts, re.Split(s, -1)...)
			}
			out = parts
		}
		return out
	}
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
