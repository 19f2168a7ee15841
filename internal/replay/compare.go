package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"weft/internal/jit"
)

// kernels maps a record to the test binaries that made the kernel, sorted.
type kernels map[jit.Record][]string

// A merged is one line of the file that merge writes.
type merged struct {
	jit.Record
	Makers []string
}

const mergedName = "merged.jsonl"

// processFile matches the name of the file of one process: its test binary and a number.
var processFile = regexp.MustCompile(`^(.*)-\d+\.jsonl$`)

// read returns the kernels recorded in the files of a folder.
func read(dir string) (kernels, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	if err != nil {
		return nil, err
	}
	ks := kernels{}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			return nil, err
		}
		// A killed process leaves an incomplete last line.
		text = text[:bytes.LastIndexByte(text, '\n')+1]
		for line := range bytes.Lines(text) {
			var m merged
			if err := json.Unmarshal(line, &m); err != nil {
				return nil, fmt.Errorf("%s: %w", f, err)
			}
			if p := processFile.FindStringSubmatch(filepath.Base(f)); p != nil {
				m.Makers = []string{p[1]}
			}
			for _, name := range m.Makers {
				if at, ok := slices.BinarySearch(ks[m.Record], name); !ok {
					ks[m.Record] = slices.Insert(ks[m.Record], at, name)
				}
			}
		}
	}
	return ks, nil
}

// merge replaces the files of processes by one sorted file.
func merge(dir string, ks kernels) error {
	var b bytes.Buffer
	for _, r := range sorted(ks) {
		line, err := json.Marshal(merged{r, ks[r]})
		if err != nil {
			return err
		}
		b.Write(line)
		b.WriteByte('\n')
	}
	if err := os.WriteFile(filepath.Join(dir, mergedName), b.Bytes(), 0o666); err != nil {
		return err
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	if err != nil {
		return err
	}
	for _, f := range files {
		if processFile.MatchString(filepath.Base(f)) {
			if err := os.Remove(f); err != nil {
				return err
			}
		}
	}
	return nil
}

func sorted(ks kernels) []jit.Record {
	rs := make([]jit.Record, 0, len(ks))
	for r := range ks {
		rs = append(rs, r)
	}
	slices.SortFunc(rs, order)
	return rs
}

func order(x, y jit.Record) int {
	for _, c := range []int{strings.Compare(x.ISA, y.ISA), strings.Compare(x.Form, y.Form), len(x.Text) - len(y.Text), strings.Compare(x.Text, y.Text)} {
		if c != 0 {
			return c
		}
	}
	return strings.Compare(x.Code, y.Code)
}

// A pair is a kernel of the base commit and its counterpart in the working tree.
type pair struct{ was, is jit.Record }

// A difference is the result of [compare].
type difference struct {
	same           int
	changed        []pair // other code from the same program or key
	renamed        []pair // the same code from another program or key
	added, removed []jit.Record
	makers         kernels
}

func (d *difference) equal() bool {
	return len(d.changed)+len(d.renamed)+len(d.added)+len(d.removed) == 0
}

// compare compares sets of kernels.
func compare(was, is kernels) difference {
	d := difference{makers: kernels{}}
	for _, r := range sorted(is) {
		d.makers[r] = is[r]
		if _, ok := was[r]; ok {
			d.same++
		} else {
			d.added = append(d.added, r)
		}
	}
	for _, r := range sorted(was) {
		if _, ok := is[r]; !ok {
			d.makers[r] = was[r]
			d.removed = append(d.removed, r)
		}
	}
	// Match by text first: a kernel whose code changed stays that kernel, even if another kernel now
	// has its old code.
	d.changed = d.match(func(r jit.Record) jit.Record { return jit.Record{ISA: r.ISA, Form: r.Form, Text: r.Text} })
	d.renamed = d.match(func(r jit.Record) jit.Record {
		if r.Code == "" {
			return r
		}
		return jit.Record{ISA: r.ISA, Form: r.Form, Code: r.Code}
	})
	return d
}

// match moves pairs of a removed and an added record with equal keys out of both lists.
func (d *difference) match(key func(jit.Record) jit.Record) (pairs []pair) {
	by := map[jit.Record][]jit.Record{}
	for _, r := range d.removed {
		by[key(r)] = append(by[key(r)], r)
	}
	matched := map[jit.Record]bool{}
	d.added = slices.DeleteFunc(d.added, func(r jit.Record) bool {
		rest := by[key(r)]
		if len(rest) == 0 {
			return false
		}
		pairs = append(pairs, pair{rest[0], r})
		matched[rest[0]], by[key(r)] = true, rest[1:]
		return true
	})
	d.removed = slices.DeleteFunc(d.removed, func(r jit.Record) bool { return matched[r] })
	return pairs
}

// shown is the number of kernels of each kind that are printed in full.
const shown = 3

func (d *difference) print(w io.Writer) {
	pairs := func(what string, ps []pair) {
		for i, p := range ps {
			if i == shown {
				break
			}
			fmt.Fprintf(w, "\n%s: %s %s of %s: code %s of %d bytes, was %s of %d\n%s", what, p.is.ISA, p.is.Form, strings.Join(d.makers[p.is], " "),
				p.is.Code, p.is.Size, p.was.Code, p.was.Size, indent(p.is.Text))
			if p.was.Text != p.is.Text {
				fmt.Fprintf(w, "was\n%s", indent(p.was.Text))
			}
		}
	}
	singles := func(what string, rs []jit.Record) {
		for i, r := range rs {
			if i == shown {
				break
			}
			fmt.Fprintf(w, "\n%s: %s %s of %s: code %s of %d bytes\n%s", what, r.ISA, r.Form, strings.Join(d.makers[r], " "), r.Code, r.Size, indent(r.Text))
		}
	}
	pairs("changed", d.changed)
	pairs("renamed", d.renamed)
	singles("added", d.added)
	singles("removed", d.removed)
	if d.equal() {
		fmt.Fprintf(w, "equal: %d kernels\n", d.same)
		return
	}
	fmt.Fprintf(w, "\ndifferent: %d changed, %d with the same code from another program or key, %d added, %d removed; %d are equal\n",
		len(d.changed), len(d.renamed), len(d.added), len(d.removed), d.same)
}

func indent(s string) string {
	return "    " + strings.ReplaceAll(strings.TrimSuffix(s, "\n"), "\n", "\n    ") + "\n"
}
