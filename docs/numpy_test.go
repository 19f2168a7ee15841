package docs

import (
	"fmt"
	"path"
	"regexp"
	"strings"
	"testing"
)

// arrayLibraries are the libraries whose public names the pages names-numpy.md and names-scipy.md list.
var arrayLibraries = []struct {
	file, title string
	percent     int // of the names of daily use may be missing
}{{"numpy", "NumPy", 5}, {"scipy", "SciPy", 40}}

// arrayNames returns the public names of NumPy or SciPy and weft's: from numpy-names.txt or the like, else
// from names.txt, else the export of the same name.
func arrayNames(t *testing.T, library string, there map[string]bool) (list []torchName) {
	exact, patterns := handRows(t, library+"-names.txt")
	guide := map[string]nameRow{}
	word := regexp.MustCompile(`^[\w.]+$`)
	for _, r := range readNames(t) {
		for name := range strings.SplitSeq(r.numpy, ", ") {
			name = strings.TrimSuffix(strings.TrimPrefix(name, "x."), "()")
			if !word.MatchString(name) || r.weft == "" {
				continue
			}
			for _, before := range []string{"", "numpy.", "numpy.ndarray."} {
				if _, ok := guide[before+name]; !ok {
					guide[before+name] = r
				}
			}
		}
	}
	plain := func(s string) string { return strings.ToLower(strings.ReplaceAll(s, "_", "")) }
	byPlain := map[string]string{}
	for n := range there {
		byPlain[plain(n)] = n
	}
	used := map[string]bool{}
	find := func(name string) nameRow {
		if r, ok := exact[name]; ok {
			used[name] = true
			return r
		}
		if r, ok := guide[name]; ok {
			return r
		}
		at := strings.LastIndexByte(name, '.')
		last := name[at+1:]
		folder := name[strings.LastIndexByte(name[:at], '.')+1 : at]
		for _, n := range []string{folder + "." + last, last} {
			if w := byPlain[plain(n)]; w != "" {
				return nameRow{weft: w}
			}
		}
		for _, r := range patterns {
			if ok, _ := path.Match(r.torch, name); ok {
				used[r.torch] = true
				return r
			}
		}
		return nameRow{}
	}
	for _, line := range lines(t, library+"-uses.txt") {
		var n torchName
		if _, err := fmt.Sscan(line, &n.name, &n.libraries); err != nil {
			t.Fatal(err)
		}
		r := find(n.name)
		n.weft, n.note = r.weft, r.note
		list = append(list, n)
	}
	for name := range exact {
		if !used[name] {
			t.Errorf("%s-names.txt has %s, which %s-uses.txt has not", library, name, library)
		}
	}
	return list
}

// TestNumPyNames holds names-numpy.md and names-scipy.md to the libraries' public names and to the
// exported names. At most 5 % of NumPy's names of daily use are missing; of SciPy's there are five.
func TestNumPyNames(t *testing.T) {
	there := exported(t, true)
	for _, l := range arrayLibraries {
		list := arrayNames(t, l.file, there)
		holdDaily(t, list, there, l.percent)
		writeTable(t, "names-"+l.file+".md", "names", torchPage(l.title, list))
	}
}
