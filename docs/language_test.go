package docs

import (
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// notClean lists the folders whose comments and pages still have forms that TestPlainWords
// refuses. It is empty: no folder may be added.
var notClean = []string{}

// refused are forms of words that readers stumble over, each with a better one.
var refused = []struct {
	form *regexp.Regexp
	say  string
}{
	{regexp.MustCompile(`(?i)\bso many\b`), "name the number"},
	{regexp.MustCompile(`(?i)\bis no \w+ that\b`), "say what is not so: \"is not a\""},
	{regexp.MustCompile(`(?i)\bare no \w+ that\b`), "say what is not so: \"are not\""},
	{regexp.MustCompile(`(?i)\bof which\b`), "begin another sentence"},
	{regexp.MustCompile(`(?i)\bthose of\b`), "name what they are"},
}

// maxWords is the length of the longest sentence.
const maxWords = 45

var (
	sentenceEnd = regexp.MustCompile(`[.!?][)"'*\x60]*\s+`)
	wordStart   = regexp.MustCompile(`(?:^|\s)\W*\w`)
	codeSpan    = regexp.MustCompile("`[^`]*`")
	linkTarget  = regexp.MustCompile(`\]\([^)]*\)`)
	listItem    = regexp.MustCompile(`^\s*([-*]|\d+\.)\s`)
)

// faults returns what TestPlainWords refuses in a text of one paragraph.
func faults(text string) (found []string) {
	text = strings.Join(strings.Fields(text), " ")
	for _, r := range refused {
		for _, at := range r.form.FindAllStringIndex(text, -1) {
			around := text[max(0, at[0]-20):min(len(text), at[1]+20)]
			found = append(found, "..."+around+"...: "+r.say)
		}
	}
	for _, s := range sentenceEnd.Split(text, -1) {
		if n := len(wordStart.FindAllString(s, -1)); n > maxWords {
			found = append(found, s[:min(len(s), 60)]+fmt.Sprintf("...: divide the sentence of %d words", n))
		}
	}
	return found
}

// paragraphs returns the texts of a page or comment: paragraphs, items of lists, cells of tables.
// Code is left out.
func paragraphs(text string, code func(line string) bool) (out []string) {
	var p strings.Builder
	end := func() {
		if p.Len() > 0 {
			out = append(out, p.String())
			p.Reset()
		}
	}
	fenced := false
	for line := range strings.Lines(text) {
		trimmed := strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(trimmed, "```"):
			fenced = !fenced
			end()
		case fenced || code(line) || trimmed == "":
			end()
		case strings.HasPrefix(trimmed, "|"):
			end()
			out = append(out, strings.Split(codeSpan.ReplaceAllString(trimmed, "x"), "|")...)
		default:
			if listItem.MatchString(line) || strings.HasPrefix(trimmed, "#") {
				end()
			}
			p.WriteString(line + " ")
			if strings.HasPrefix(trimmed, "#") {
				end()
			}
		}
	}
	end()
	return out
}

// textOf returns the paragraphs of a Go file's comments, or of a page.
func textOf(t *testing.T, file string) (out []string) {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if strings.HasSuffix(file, ".md") {
		plain := linkTarget.ReplaceAllString(codeSpan.ReplaceAllStringFunc(string(text), func(s string) string {
			if strings.HasPrefix(s, "``") {
				return s
			}
			return "x"
		}), "]")
		return paragraphs(plain, func(line string) bool { return strings.HasPrefix(line, "    ") && !listItem.MatchString(line) })
	}
	f, err := parser.ParseFile(token.NewFileSet(), file, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range f.Comments {
		if strings.HasPrefix(g.Text(), "Output:") || strings.HasPrefix(g.Text(), "Unordered output:") {
			continue // what an example prints
		}
		out = append(out, paragraphs(g.Text(), func(line string) bool {
			return strings.HasPrefix(line, "\t")
		})...)
	}
	return out
}

// TestPlainWords refuses five forms of words and sentences of more than 45 words, in comments of
// Go files and in pages. Run it with -v to see how many a folder has.
func TestPlainWords(t *testing.T) {
	count := map[string]int{}
	first := map[string]string{}
	err := filepath.WalkDir("..", func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() {
			if name == "testdata" || len(name) > 2 && strings.HasPrefix(name, ".") {
				return fs.SkipDir
			}
			return nil
		}
		if ext := filepath.Ext(name); ext != ".go" && ext != ".md" {
			return nil
		}
		file := strings.TrimPrefix(filepath.ToSlash(p), "../")
		if file == "bench/RESULTS.md" { // figures, rendered from JSON
			return nil
		}
		for _, text := range textOf(t, p) {
			for _, fault := range faults(text) {
				dir := path.Dir(file)
				if count[dir]++; !slices.Contains(notClean, dir) {
					t.Errorf("%s: %s", file, fault)
				} else if first[dir] == "" {
					first[dir] = file + ": " + fault
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range notClean {
		if count[dir] == 0 {
			t.Errorf("%s is clean: take it off the list notClean", dir)
		}
		t.Logf("%4d %s: %s", count[dir], dir, first[dir])
	}
}

// TestPlainWordsFinds shows that each form is found, and where text is code that it is not.
func TestPlainWordsFinds(t *testing.T) {
	long := strings.Repeat("word ", maxWords+1)
	for text, want := range map[string]int{
		"There are so\nmany of them.":             1,
		"This is no number that counts.":          1,
		"There are no places that count.":         1,
		"Lists, some of which are long.":          1,
		"The bits are those of the table.":        1,
		long + ".":                                1,
		long + ". " + long:                        2,
		"- " + long[:5*30] + "\n- " + long[:5*30]: 0,
		"| " + long[:5*30] + " | " + long[:5*30]:  0,
		"```\nso many\n```":                       0,
		"\tso many":                               0,
		"Not many. Which of those are of weft?":   0,
	} {
		n := 0
		for _, p := range paragraphs(text, func(line string) bool { return strings.HasPrefix(line, "\t") }) {
			n += len(faults(p))
		}
		if n != want {
			t.Errorf("%q has %d faults, want %d", text, n, want)
		}
	}
}
