package tokenizers

import (
	"errors"
	"math/rand/v2"
	"reflect"
	"regexp"
	"strings"
	"sync"
	"testing"
)

func compiled(t *testing.T, s string) *regularExpression {
	t.Helper()
	loadUnicode()
	re, err := parseRegexp(s)
	if err != nil {
		t.Fatal(err)
	}
	return re
}

// found returns the bytes of the matches in s.
func found(re *regularExpression, s string) (list [][]int) {
	for _, m := range re.matches(nil, s) {
		if m.is {
			list = append(list, []int{m.start, m.end})
		}
	}
	return list
}

// The steps of one search grow with the text, not with its square: a text of n characters takes less than 128n.
func TestStepsOfSearchAreLinear(t *testing.T) {
	for _, s := range []string{`(a|a)*b`, `a+b`, `a*a*b`, `(a+)+b`, `a+?b`, `(a|a)+?b`, `(a(a?)*)*b`, `(?:a{2,}|aa)*b`} {
		re := compiled(t, s)
		const n = 30_000
		m := newMatcher(strings.Repeat("a", n))
		if start, _ := m.search(re, 0); start >= 0 || m.steps > maxSteps*n {
			t.Errorf("%s: a match at %d after %d steps for %d characters", s, start, m.steps, n)
		}
	}
}

// What multiplies the steps of a search ends in an error of Encode, and in a decoder leaves the token as it is.
func TestStepsAreBounded(t *testing.T) {
	text := strings.Repeat("a", 60_000)
	for _, s := range []string{`(a|a)*b|a`, `a(?=a*b)`, `(?>a*)b`, `a{1,1000}b`, `(?<=a{1,900}b)a`} {
		file := `{"normalizer":{"type":"Replace","pattern":{"Regex":"` + s + `"},"content":"x"},"model":{"type":"WordLevel","unk_token":"u","vocab":{"u":0}}}`
		tok, err := Parse([]byte(file))
		if err != nil {
			t.Fatal(err)
		}
		var e *EncodeError
		if _, err := tok.Encode(text); !errors.As(err, &e) || !strings.Contains(err.Error(), "128 steps") {
			t.Errorf("%s: %v", s, err)
		}
	}
	file := `{"decoder":{"type":"Replace","pattern":{"Regex":"a(?=a*b)"},"content":"x"},"model":{"type":"WordLevel","unk_token":"u","vocab":{"u":0,"` + text + `":1}}}`
	tok, err := Parse([]byte(file))
	if err != nil {
		t.Fatal(err)
	}
	if got := tok.Decode([]int{1}); got != text {
		t.Errorf("decoded %d bytes, want %d", len(got), len(text))
	}
}

// A loop around a loop whose body matches nothing goes on.
func TestNestedLoopsOfEmptyBodies(t *testing.T) {
	for s, text := range map[string]string{`(a(b?)*)*c`: "aac", `((b?)*)*c`: "bbc", `(a(?:b|)*)*c`: "aabac"} {
		if got := found(compiled(t, s), text); !reflect.DeepEqual(got, [][]int{{0, len(text)}}) {
			t.Errorf("%s in %q: %v", s, text, got)
		}
	}
}

// A look behind tries the starts that its width allows: a text of a pattern with one takes few steps.
func TestLookBehindOfItsWidth(t *testing.T) {
	for s, want := range map[string]int{`(?<=[a-z])(?=[A-Z])`: 2, `(?<=a|bcd|[^e]cd)[A-Z]`: 2, `(?<!\w{2}|^)B`: 1, `(?<=x?y*d)E`: 1, `(?<=(?>a|ab)*)B`: 1, `(?<=)B`: 1} {
		re := compiled(t, s)
		if got := found(re, "aBcdE"); len(got) != want {
			t.Errorf("%s: %v, want %d matches", s, got, want)
		}
		if strings.ContainsAny(s, "*") {
			continue
		}
		const n = 30_000
		m := newMatcher(strings.Repeat("é", n))
		if start, _ := m.search(re, 0); start >= 0 || m.steps > 64*n {
			t.Errorf("%s: a match at %d after %d steps for %d characters", s, start, m.steps, n)
		}
	}
}

// randomPattern returns an expression that package regexp has too. Bodies of loops match at least one character, since
// engines differ in what an empty one does.
func randomPattern(r *rand.Rand, depth int) string {
	if depth == 0 {
		return []string{"a", "b", "é", "[ab]", "[^b]", "."}[r.IntN(6)]
	}
	sub := func() string { return randomPattern(r, depth-1) }
	switch r.IntN(8) {
	case 0:
		return "(?:" + sub() + "|" + sub() + ")"
	case 1, 2:
		return sub() + sub()
	case 3:
		return "(?:" + sub() + ")" + []string{"?", "??"}[r.IntN(2)] + sub()
	case 4:
		return "(?:" + sub() + ")" + []string{"{2,}", "{1,3}", "{2}"}[r.IntN(3)]
	case 5:
		return sub() + "[ab]*" + sub()
	}
	return "(?:" + sub() + ")" + []string{"+", "+?"}[r.IntN(2)]
}

// Package regexp finds the same matches, in texts long enough for states to be remembered too.
func TestMatchesOfGo(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		s := randomPattern(r, 1+r.IntN(4))
		re, want := compiled(t, s), regexp.MustCompile(s)
		var b strings.Builder
		rare := 1 + r.IntN(400)
		for range 20 + r.IntN(1500) {
			b.WriteString([]string{"a", "b", "é", "\n"}[max(0, r.IntN(4+rare)-rare)])
		}
		if got := found(re, b.String()); !reflect.DeepEqual(got, want.FindAllStringIndex(b.String(), -1)) {
			t.Fatalf("%s in %q: %v, want %v", s, b.String(), got, want.FindAllStringIndex(b.String(), -1))
		}
	}
}

// Added tokens of white space that take the white space around them look at each character a bounded number of times.
func TestAddedTokensOfSpaces(t *testing.T) {
	tok, err := Parse([]byte(`{"added_tokens":[{"id":1,"content":" ","lstrip":true,"rstrip":true},{"id":2,"content":"\t"}],"model":{"type":"WordLevel","unk_token":"u","vocab":{"u":0}}}`))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tok.Encode(strings.Repeat(" \t", 400_000) + "x"); err != nil { // hours, if each looks at all
		t.Error(err)
	}
}

// Any number of goroutines encode long words at once: each gets the result of one alone.
func TestLongWordsAtOnce(t *testing.T) {
	for _, kind := range []string{"bert", "llama2", "llama3", "t5", "splits"} {
		tok := load(t, kind)
		text := strings.Repeat("aé\u0301 ", 50) + strings.Repeat("ab", 20_000)
		want, err := tok.Encode(text)
		if err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		for range 16 {
			wg.Go(func() {
				if got, err := tok.Encode(text); err != nil || !reflect.DeepEqual(got.IDs, want.IDs) {
					t.Errorf("%s: %v, other tokens at once than alone", kind, err)
				}
			})
		}
		wg.Wait()
	}
}
