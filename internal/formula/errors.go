package formula

import (
	"fmt"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"

	"weft/internal/array"
)

// ErrorAt is an error of an operation that points at a byte of its text: its column counts
// characters of the line from 1.
func ErrorAt(op, text string, at int, kind array.ErrorKind, msg string) *array.Error {
	at = min(max(at, 0), len(text))
	begin := strings.LastIndexByte(text[:at], '\n') + 1
	end := len(text)
	if i := strings.IndexByte(text[at:], '\n'); i >= 0 {
		end = at + i
	}
	col := utf8.RuneCountInString(text[begin:at]) + 1
	where := fmt.Sprintf("column %d", col)
	if line := strings.Count(text[:begin], "\n") + 1; line > 1 || strings.Contains(text[end:], "\n") {
		where = fmt.Sprintf("line %d, column %d", line, col)
	}
	before, after := clip(text[begin:at], text[at:end])
	return &array.Error{Kind: kind, Op: op, Arg: where,
		Msg: fmt.Sprintf("%s\n\t%s%s\n\t%s^", msg, before, after, strings.Repeat(" ", utf8.RuneCountInString(before)))}
}

// around is how many characters of a long line are shown on each side of the
// column.
const around = 60

// clip makes both sides of a column fit for a terminal.
func clip(before, after string) (string, string) {
	b, a := []rune(printable(before)), []rune(printable(after))
	if len(b) > around {
		b = append([]rune("…"), b[len(b)-around:]...)
	}
	if len(a) > around {
		a = append(a[:around:around], '…')
	}
	return string(b), string(a)
}

func printable(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t':
			return ' '
		case !unicode.IsPrint(r):
			return utf8.RuneError
		}
		return r
	}, s)
}

// Errorf returns an error at the first use of a name.
func (f *Formula) Errorf(nameIndex int, format string, args ...any) *array.Error {
	at := 0
	if n := f.root.find(nameIndex); n != nil {
		at = n.at
	}
	return ErrorAt("expr", f.Text, at, array.Misuse, fmt.Sprintf(format, args...))
}

// find returns the first node in order of the text that is the name.
func (n *Node) find(nameIndex int) *Node {
	if n.kind == name && n.name == nameIndex {
		return n
	}
	var best *Node
	for _, a := range n.args {
		if m := a.find(nameIndex); m != nil && (best == nil || m.at < best.at) {
			best = m
		}
	}
	return best
}

// Nearest returns the word that s is probably a misspelling of, "" if none is near. Edits of at
// most half the letters of s are near.
func Nearest(s string, words []string) string {
	sort.Strings(words)
	best, dist := "", min(len(s)/3+2, len(s)/2+1)
	for _, w := range words {
		if strings.EqualFold(s, w) {
			return w
		}
		d := distance(strings.ToLower(s), strings.ToLower(w), dist+1)
		if d < dist || d == dist && best != "" && likeness(s, w) > likeness(s, best) {
			best, dist = w, d
		}
	}
	return best
}

// likeness decides between words that are equally near.
func likeness(s, w string) int {
	switch {
	case strings.HasPrefix(s, w) || strings.HasPrefix(w, s):
		return 2
	case len(s) == len(w):
		return 1
	}
	return 0
}

// distance is the number of insertions, deletions, replacements and swaps of
// neighbours that make b of a (optimal string alignment), or limit if there are
// that many or more.
func distance(a, b string, limit int) int {
	if len(a)-len(b) >= limit || len(b)-len(a) >= limit {
		return limit
	}
	rows := [3][]int{make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		cur, up, upup := rows[i%3], rows[(i+2)%3], rows[(i+1)%3]
		cur[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			cur[j] = min(up[j]+1, cur[j-1]+1, up[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				cur[j] = min(cur[j], upup[j-2]+1)
			}
		}
	}
	return min(rows[len(a)%3][len(b)], limit)
}

// didYouMean is the end of a message about an unknown word.
func didYouMean(s string, words []string) string {
	if w := Nearest(s, words); w != "" {
		return ": did you mean " + w + "?"
	}
	return ""
}
