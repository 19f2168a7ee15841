package ptx

import (
	"fmt"
	"hash/crc32"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// A loaded is a kernel that a test loaded.
type loaded struct {
	name, text string
	tables     []string // the definitions that the text refers to as table0, table1 and so on
}

var tableName = regexp.MustCompile(`\btable(\d+)\b`)

// loadedKernels returns the kernels of the texts in a folder by name, each once.
func loadedKernels(t *testing.T, folder string) map[string]loaded {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*.ptx"))
	if err != nil {
		t.Fatal(err)
	}
	kernels := map[string]loaded{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		parts := strings.Split(string(text), "\n.visible .entry ")
		tables := map[string]string{}
		for line := range strings.Lines(parts[0]) {
			if strings.HasPrefix(line, ".const") {
				tables[tableName.FindString(line)] = line
			}
		}
		for _, p := range parts[1:] {
			name, _, _ := strings.Cut(p, "(")
			if _, known := kernels[name]; known {
				continue
			}
			k := loaded{name: name}
			numbers := map[string]int{}
			k.text = tableName.ReplaceAllStringFunc(p, func(old string) string {
				n, known := numbers[old]
				if !known {
					n = len(numbers)
					numbers[old] = n
					k.tables = append(k.tables, tables[old])
				}
				return "table" + strconv.Itoa(n)
			})
			kernels[name] = k
		}
	}
	return kernels
}

// onlyOn90 finds instructions that sm_80 lacks. There, products have other kernels.
var onlyOn90 = regexp.MustCompile(`mma\.sync\.aligned\.m16n8k\d+\.row\.col\.f64`)

// joined returns one text of kernels for a target, without those that it cannot run, and their number.
func joined(target Target, kernels []loaded) (text string, n int) {
	m := &module{target: target, dynamic: true}
	var tables, entries strings.Builder
	numbers := map[string]int{} // by what follows the name
	for _, k := range kernels {
		if target.Major < 9 && onlyOn90.MatchString(k.text) {
			continue
		}
		own := make([]int, len(k.tables))
		for i, table := range k.tables {
			at := tableName.FindStringIndex(table)
			key := table[:at[0]] + table[at[1]:]
			x, known := numbers[key]
			if !known {
				x = len(numbers)
				numbers[key] = x
				tables.WriteString(table[:at[0]] + "table" + strconv.Itoa(x) + table[at[1]:])
			}
			own[i] = x
		}
		entries.WriteString("\n.visible .entry " + tableName.ReplaceAllStringFunc(k.text, func(old string) string {
			i, _ := strconv.Atoi(old[len("table"):])
			return "table" + strconv.Itoa(own[i])
		}))
		n++
	}
	return m.header() + tables.String() + entries.String(), n
}

// TestPtxasTakesLoadedKernels gives NVIDIA's assembler the kernels in the folder WEFT_PTX, where the
// simulator keeps what tests load. A kernel may spill only the bytes of registers that
// testdata/spills lists for it. Without WEFT_PTXAS_ALL it takes one kernel of six, chosen by its name.
func TestPtxasTakesLoadedKernels(t *testing.T) {
	ptxas, folder := os.Getenv("WEFT_PTXAS"), os.Getenv("WEFT_PTX")
	if ptxas == "" || folder == "" {
		t.Skip("SKIPPED: WEFT_PTXAS and WEFT_PTX do not name NVIDIA's assembler and a folder of kernels")
	}
	all := loadedKernels(t, folder)
	if len(all) == 0 {
		t.Fatalf("%s has no kernels: run tests on the simulator with WEFT_PTX before", folder)
	}
	var names []string
	for name := range all {
		if os.Getenv("WEFT_PTXAS_ALL") != "" || crc32.ChecksumIEEE([]byte(name))%6 == 0 {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	var packs [][]loaded
	for some := range slices.Chunk(names, 32) {
		var pack []loaded
		for _, name := range some {
			pack = append(pack, all[name])
		}
		packs = append(packs, pack)
	}
	listed := spillList(t)
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	var wait sync.WaitGroup
	for _, target := range targets {
		for i, pack := range packs {
			slots <- struct{}{}
			wait.Go(func() {
				defer func() { <-slots }()
				text, n := joined(target, pack)
				file := filepath.Join(t.TempDir(), fmt.Sprint(i, ".ptx"))
				if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
					t.Error(err)
					return
				}
				said, err := exec.Command(ptxas, "-v", fmt.Sprintf("-arch=sm_%d%d", target.Major, target.Minor), "-o", os.DevNull, file).CombinedOutput()
				found := spillLine.FindAllSubmatch(said, -1)
				if err != nil || len(found) != n {
					t.Errorf("ptxas speaks of %d kernels, not %d: %v\n%.2000s", len(found), n, err, said)
					return
				}
				for _, m := range found {
					if what := fmt.Sprintf("sm_%d%d %s %s", target.Major, target.Minor, m[1], m[2]); string(m[2]) != "0" && !listed[what] {
						t.Errorf("%s bytes spill, which testdata/spills does not list", what)
					}
				}
			})
		}
	}
	wait.Wait()
	t.Logf("%d of %d kernels", len(names), len(all))
}

// spillList returns the lines of testdata/spills.
func spillList(t *testing.T) map[string]bool {
	t.Helper()
	text, err := os.ReadFile("testdata/spills")
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			listed[line] = true
		}
	}
	return listed
}
