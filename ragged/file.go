package ragged

import (
	"fmt"
	"strings"

	"weft"
	"weft/npy"
)

// WriteFile writes a list as an archive of arrays (.npz), which NumPy reads: "data", the rows, and
// "offsets", int64, from which item i is data[offsets[i]:offsets[i+1]]. A nested list has "offsets0",
// outermost, "offsets1" and so on; rows that are structs have "data.X" for field X.
func WriteFile(path string, l *List) error {
	var tensors map[string]*weft.Tensor
	if err := weft.Try(func() {
		l.check("writefile")
		tensors = map[string]*weft.Tensor{}
		for _, c := range l.cols {
			name := "data"
			if c.name != "" {
				name += "." + c.name
			}
			tensors[name] = c.live
		}
		for k, p := range l.levels() {
			tensors[offsetsName(k, len(l.outer)+1)] = p.tensor()
		}
	}); err != nil {
		return err
	}
	return npy.WriteArchiveFile(path, tensors, npy.ArchiveOpts{})
}

func offsetsName(level, depth int) string {
	if depth == 1 {
		return "offsets"
	}
	return fmt.Sprint("offsets", level)
}

// ReadFile reads a list that [WriteFile], or NumPy with the same names, wrote. The error says what
// is missing, or which offsets do not fit.
func ReadFile(path string) (*List, error) {
	a, err := npy.OpenArchive(path)
	if err != nil {
		return nil, err
	}
	defer a.Close()
	return fromArchive(a)
}

func fromArchive(a *npy.Archive) (*List, error) {
	var cols []column
	offsets := map[string]*weft.Tensor{}
	for _, name := range a.Names() {
		field, isField := strings.CutPrefix(name, "data.")
		if name != "data" && !isField && !strings.HasPrefix(name, "offsets") {
			continue
		}
		t, err := a.Tensor(name)
		if err != nil {
			return nil, err
		}
		if strings.HasPrefix(name, "offsets") {
			offsets[name] = t
			continue
		}
		if name == "data" {
			field = ""
		}
		cols = append(cols, column{name: field, live: t})
	}
	var levels []any
	if o := offsets["offsets"]; o != nil {
		levels = append(levels, o)
	} else {
		for k := 0; offsets[fmt.Sprint("offsets", k)] != nil; k++ {
			levels = append(levels, offsets[fmt.Sprint("offsets", k)])
		}
	}
	var l *List
	err := weft.Try(func() { l = fromOffsets("readfile", cols, levels) })
	return l, err
}
