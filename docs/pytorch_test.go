package docs

import (
	"fmt"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A torchName is a public name of PyTorch, NumPy or SciPy.
type torchName struct {
	name      string // torch.nn.Linear
	libraries int    // that use it
	weft      string // "" if there is none
	note      string
}

// module returns the name without its last part.
func (n torchName) module() string { return n.name[:strings.LastIndexByte(n.name, '.')] }

// Classes of use, by the number of libraries that use a name, as pytorch-uses.txt and the like tell.
const (
	dailyLibraries   = 5
	regularLibraries = 2
)

// class returns the class of use.
func (n torchName) class() string {
	switch {
	case n.libraries >= dailyLibraries:
		return "daily"
	case n.libraries >= regularLibraries:
		return "regular"
	}
	return "rare"
}

// handRows returns the rows of pytorch-names.txt or the like: names of weft and notes, by names of the
// library, which may be patterns.
func handRows(t *testing.T, file string) (exact map[string]nameRow, patterns []nameRow) {
	exact = map[string]nameRow{}
	for _, line := range lines(t, file) {
		f := strings.Split(line, "|")
		if len(f) != 3 {
			t.Fatalf("%s: %q has %d parts, want name | weft | note", file, line, len(f))
		}
		for i := range f {
			f[i] = strings.TrimSpace(f[i])
		}
		for name := range strings.SplitSeq(f[0], ", ") {
			r := nameRow{torch: name, weft: strings.TrimPrefix(f[1], "-"), note: f[2]}
			if strings.ContainsAny(name, "*[") {
				patterns = append(patterns, r)
			} else {
				exact[name] = r
			}
		}
	}
	return exact, patterns
}

// lines returns the lines of a file that are not empty or comments.
func lines(t *testing.T, file string) (list []string) {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			list = append(list, line)
		}
	}
	return list
}

// guideRows returns the rows of names.txt by full names of PyTorch. A row of a name with arguments,
// "var(correction=0)", counts where no row has the name alone.
func guideRows(t *testing.T) map[string]nameRow {
	full, special := map[string]nameRow{}, map[string]nameRow{}
	call := regexp.MustCompile(`\(.*\)$`)
	word := regexp.MustCompile(`^[\w.]+$`)
	for _, r := range readNames(t) {
		before := "torch.nn.functional."
		for name := range strings.SplitSeq(r.torch, ", ") {
			name = regexp.MustCompile(`^[xm]\.`).ReplaceAllString(strings.TrimSuffix(name, "()"), "")
			list := full
			if !word.MatchString(name) {
				list, name = special, call.ReplaceAllString(name, "")
			}
			if !word.MatchString(name) {
				continue
			}
			keys := []string{name, "torch." + name, "torch.Tensor." + name, before + name, "torch.nn.functional." + name}
			if at := strings.LastIndexByte(name, '.'); at > 0 {
				before = "torch." + name[:at+1]
			}
			for _, k := range keys {
				if _, ok := list[k]; !ok {
					list[k] = r
				}
			}
		}
	}
	for k, r := range special {
		if _, ok := full[k]; !ok {
			full[k] = r
		}
	}
	return full
}

// torchNames returns PyTorch's public names and weft's: from pytorch-names.txt, else from names.txt,
// else the export of the same name.
func torchNames(t *testing.T, there map[string]bool) (list []torchName) {
	exact, patterns := handRows(t, "pytorch-names.txt")
	guide := guideRows(t)
	plain := func(s string) string { return strings.ToLower(strings.ReplaceAll(s, "_", "")) }
	byPlain := map[string]string{}
	for n := range there {
		byPlain[plain(n)] = n
	}
	used := map[string]bool{}
	find := func(name string) (nameRow, bool) {
		if r, ok := exact[name]; ok {
			used[name] = true
			return r, true
		}
		if r, ok := guide[name]; ok && r.weft != "" {
			return r, true
		}
		for _, n := range sameNames(name) {
			if w := byPlain[plain(n)]; w != "" {
				return nameRow{weft: w}, true
			}
		}
		for _, r := range patterns {
			if ok, _ := path.Match(r.torch, name); ok {
				used[r.torch] = true
				return r, true
			}
		}
		r, ok := guide[name]
		return r, ok
	}
	for _, line := range lines(t, "pytorch-uses.txt") {
		var n torchName
		if _, err := fmt.Sscan(line, &n.name, &n.libraries); err != nil {
			t.Fatal(err)
		}
		r, ok := find(n.name)
		if base := strings.TrimSuffix(n.name, "_"); (!ok || r.weft == "") && base != n.name {
			if b, _ := find(base); b.weft != "" {
				r = nameRow{weft: "Update", note: "x.Update with " + b.weft + ": in place"}
			}
		}
		n.weft, n.note = r.weft, r.note
		list = append(list, n)
	}
	for name := range exact {
		if !used[name] {
			t.Errorf("pytorch-names.txt has %s, which pytorch-uses.txt has not", name)
		}
	}
	return list
}

// sameNames returns the names that weft would have for a name of PyTorch.
func sameNames(name string) []string {
	at := strings.LastIndexByte(name, '.')
	dir, last := name[:at], name[at+1:]
	loss := strings.TrimSuffix(strings.TrimSuffix(last, "Loss"), "_loss")
	switch dir {
	case "torch", "torch.Tensor":
		if strings.HasSuffix(last, "_") {
			return nil // in place
		}
		return []string{last}
	case "torch.nn", "torch.nn.functional":
		return []string{"nn.New" + last, "nn." + last, "nn." + loss, last}
	case "torch.nn.init":
		return []string{"nn." + last}
	case "torch.optim", "torch.optim.lr_scheduler", "torch.optim.swa_utils":
		return []string{"optim.New" + last, "optim." + last, "optim." + strings.TrimSuffix(last, "LR")}
	case "torch.utils.data":
		return []string{"data.New" + last, "data." + last}
	case "torch.distributions":
		return []string{"distributions.New" + last, "distributions." + last}
	case "torchvision.transforms", "torchvision.transforms.v2", "torchvision.transforms.functional":
		return []string{"transforms." + last, "data." + last}
	case "torch.autograd":
		return []string{last}
	}
	return []string{"nn." + last}
}

// TestPyTorchNames holds names-pytorch.md to PyTorch's public names and to the exported names. At most
// 5 % of the names of daily use are missing.
func TestPyTorchNames(t *testing.T) {
	there := exported(t, true)
	list := torchNames(t, there)
	holdDaily(t, list, there, 5)
	writeTable(t, "names-pytorch.md", "names", torchPage("PyTorch", list))
}

// holdDaily holds names to the exported ones, and the missing names of daily use to a share in percent.
func holdDaily(t *testing.T, list []torchName, there map[string]bool, percent int) {
	t.Helper()
	daily, missing := 0, 0
	for _, n := range list {
		for w := range strings.SplitSeq(n.weft, ", ") {
			if w != "" && !there[w] {
				t.Errorf("%s is called %s, which weft does not have", n.name, w)
			}
		}
		if n.class() == "daily" {
			if daily++; n.weft == "" {
				missing++
			}
		}
	}
	t.Logf("%d of %d names of daily use are missing", missing, daily)
	if missing*100 > daily*percent {
		t.Errorf("%d of %d names of daily use are missing, more than %d %%", missing, daily, percent)
	}
}

// torchPage returns counts by module, and a table of each module's names.
func torchPage(library string, list []torchName) string {
	var modules []string
	byModule := map[string][]torchName{}
	for _, n := range list {
		m := n.module()
		if byModule[m] == nil {
			modules = append(modules, m)
		}
		byModule[m] = append(byModule[m], n)
	}
	var b strings.Builder
	fmt.Fprint(&b, "\n| names of | daily | missing | regular | missing | rare | missing |\n|---|---|---|---|---|---|---|\n")
	var total [6]int
	for _, m := range modules {
		var count [6]int
		for _, n := range byModule[m] {
			k := 2 * slices.Index([]string{"daily", "regular", "rare"}, n.class())
			count[k]++
			if n.weft == "" {
				count[k+1]++
			}
		}
		for i := range count {
			total[i] += count[i]
		}
		fmt.Fprintf(&b, "| `%s` | %s |\n", m, cells(count))
	}
	fmt.Fprintf(&b, "| all | %s |\n", cells(total))
	for _, m := range modules {
		fmt.Fprintf(&b, "\n## %s\n\n| %s | libraries | use | weft | |\n|---|---|---|---|---|\n", m, library)
		var rest []string
		for _, n := range byModule[m] {
			if n.weft == "" && n.note == "" && n.class() == "rare" {
				rest = append(rest, "`"+n.name[len(m)+1:]+"`")
				continue
			}
			weft := "**missing**"
			if n.weft != "" {
				weft = "`" + strings.ReplaceAll(n.weft, ", ", "`, `") + "`"
			}
			fmt.Fprintf(&b, "| `%s` | %d | %s | %s | %s |\n", n.name[len(m)+1:], n.libraries, n.class(), weft, n.note)
		}
		if rest != nil {
			fmt.Fprint(&b, "\n| missing, and rare |\n|---|\n")
			for part := range slices.Chunk(rest, 8) {
				fmt.Fprintf(&b, "| %s |\n", strings.Join(part, " "))
			}
		}
	}
	return b.String()
}

// cells returns numbers as the cells of a row.
func cells(n [6]int) string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(n), " ", " | "), "[]")
}
