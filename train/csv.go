package train

import (
	"encoding/csv"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"

	"weft/internal/array"
	"weft/internal/atomicfile"
)

// WriteCSV writes a table of the epochs: a line of names, "epoch", "step" and the names of values, and a line
// for each epoch. What an epoch does not have is empty.
func (h *History) WriteCSV(w io.Writer) error {
	if h == nil {
		return array.Errorf("writecsv", "", "the History is nil")
	}
	if w == nil {
		return array.Errorf("writecsv", "w", "is nil")
	}
	names := []string{"epoch", "step"}
	for _, e := range h.Epochs {
		for _, v := range e.Values {
			if !slices.Contains(names, v.Name) {
				names = append(names, v.Name)
			}
		}
	}
	out := csv.NewWriter(w)
	if err := out.Write(names); err != nil {
		return err
	}
	for _, e := range h.Epochs {
		row := make([]string, len(names))
		row[0], row[1] = strconv.Itoa(e.Epoch), strconv.Itoa(e.Step)
		for _, v := range e.Values {
			row[slices.Index(names, v.Name)] = strconv.FormatFloat(v.Number, 'g', -1, 64)
		}
		if err := out.Write(row); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// tables replaces the table and the curve of a folder after each epoch.
func tables(dir string) Callback {
	var h *History
	return Callback{
		Begin: func(r *Run) error { h = r.History; return nil },
		Epoch: func(Epoch) error {
			if err := atomicfile.Write(filepath.Join(dir, "log.csv"), h.WriteCSV); err != nil {
				return fmt.Errorf("train: %w", err)
			}
			return h.Figure().SaveFig(filepath.Join(dir, "curve.png"))
		},
	}
}
