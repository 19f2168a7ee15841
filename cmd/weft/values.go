package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"

	"weft"
	"weft/npy"
)

// stdin is what the "-" of -:FUNC becomes before flags are looked for.
const stdin = "<stdin>"

// A streams is what a command reads and writes besides files: "-" stands for it.
type streams struct {
	in  io.Reader
	out io.Writer

	taken string // what "-" was read as
}

// take returns standard input, once.
func (s *streams) take(as string) (io.Reader, error) {
	if s.taken != "" {
		return nil, fmt.Errorf("%s: standard input is %s already", as, s.taken)
	}
	s.taken = as
	return s.in, nil
}

// valueHelp is the part of the help of commands that take values.
const valueHelp = `A value is a number (2.5, 0x10, 1+2i, true), a file (x.npy), an array of an
archive (x.npz:name, or x.npz if it has one array), or - for .npy data from
standard input. What reads as a number is one; ./2.5 is a file.`

// outputHelp is the part of the help of commands that write arrays.
const outputHelp = `A file of -o or --grad is replaced, whole or not at all, if it holds an array;
any other file is refused. - is .npy data to standard output.`

// values reads the values of a formula's or a kernel's names. owner is "the formula" or the
// name of the kernel, called what a name is. defaults stand for names that are not given.
func (s *streams) values(command, owner, called string, names, bindings []string, defaults map[string]any) (map[string]any, error) {
	vars := map[string]any{}
	for _, b := range bindings {
		name, value, ok := strings.Cut(b, "=")
		switch {
		case !ok || name == "" || value == "":
			return nil, fmt.Errorf("%s: %q is not NAME=FILE.npy or NAME=NUMBER", command, b)
		case vars[name] != nil:
			return nil, fmt.Errorf("%s: %s is given twice", command, name)
		case !slices.Contains(names, name):
			return nil, fmt.Errorf("%s: %s has no %s; %s", command, owner, strings.TrimSpace(called+" "+name), has(called, names))
		}
		x, err := s.value(name, value)
		if err != nil {
			return nil, err
		}
		vars[name] = x
	}
	var missing []string
	for _, n := range names {
		if vars[n] == nil {
			vars[n] = defaults[n]
		}
		if vars[n] == nil {
			missing = append(missing, n)
		}
	}
	if missing != nil {
		return nil, fmt.Errorf("%s: no value for %s: give %s=FILE.npy or %s=NUMBER", command, listed(missing), missing[0], missing[0])
	}
	return vars, nil
}

func has(called string, names []string) string {
	if called == "" {
		return "its names are " + listed(names)
	}
	return "it has " + listed(names)
}

// value reads what stands behind NAME=.
func (s *streams) value(name, text string) (any, error) {
	if x, ok := parseNumber(text); ok {
		return x, nil
	}
	if _, err := strconv.ParseComplex(text, 128); errors.Is(err, strconv.ErrRange) {
		return nil, fmt.Errorf("%s: %s is beyond the range of a float64", name, text)
	}
	if text == "-" {
		r, err := s.take(name)
		if err != nil {
			return nil, err
		}
		t, err := npy.Read(r)
		if err != nil {
			return nil, failf("%s: standard input: %w", name, err)
		}
		return t, nil
	}
	if path, member, ok := cutLast(text, ".npz:"); ok {
		return archived(name, path+".npz", member)
	}
	if strings.HasSuffix(text, ".npz") {
		return archived(name, text, "")
	}
	t, err := npy.ReadFile(text)
	if errors.Is(err, fs.ErrNotExist) && !strings.ContainsAny(text, "./\\") {
		return nil, failf("%s: %s is neither a number nor a file", name, text)
	}
	if err != nil {
		return nil, failf("%s: %w", name, err)
	}
	return t, nil
}

// archived reads one array of an archive; "" stands for the only one.
func archived(name, path, member string) (any, error) {
	a, err := npy.OpenArchive(path)
	if err != nil {
		return nil, failf("%s: %w", name, err)
	}
	defer a.Close()
	names := a.Names()
	if member == "" && len(names) == 1 {
		member = names[0]
	}
	if member == "" || !slices.Contains(names, member) {
		return nil, fmt.Errorf("%s: %s has %s: give one as %s:NAME", name, path, listed(names), path)
	}
	t, err := a.Tensor(member)
	if err != nil {
		return nil, failf("%s: %w", name, err)
	}
	return t, nil
}

// moveTo moves the arrays among vars to the device of that name; "" is that of WEFT_DEVICE.
func moveTo(device string, vars map[string]any) error {
	dev, err := weft.DeviceByName(device)
	if err != nil {
		return failure{err}
	}
	for name, x := range vars {
		if t, ok := x.(*weft.Tensor); ok {
			if err := weft.Try(func() { vars[name] = t.On(dev) }); err != nil {
				return failure{err}
			}
		}
	}
	return nil
}

// deviceHelp is the usage of the flag that takes a device.
const deviceHelp = "compute on this `device`, such as cuda or cuda:1; without it WEFT_DEVICE says, or the CPU"

// parseNumber reads a Go number, real or complex, true or false.
func parseNumber(s string) (any, bool) {
	if i, err := strconv.ParseInt(s, 0, 64); err == nil {
		return int(i), int64(int(i)) == i
	}
	if f, err := strconv.ParseFloat(s, 64); err == nil {
		return f, true
	}
	switch s {
	case "true":
		return true, true
	case "false":
		return false, true
	}
	if z, err := strconv.ParseComplex(s, 128); err == nil {
		return z, true
	}
	return nil, false
}

// claim checks the places that results are written to, before anything is computed: each is
// given once, and none is a file that holds something else than the results replace. begin
// is how such a file begins, kind what it holds.
func (s *streams) claim(command, kind, begin string, places ...string) error {
	for i, p := range places {
		if slices.Contains(places[:i], p) {
			return fmt.Errorf("%s: two results go to %s", command, p)
		}
		if p == "-" {
			continue
		}
		if st, err := os.Stat(p); err != nil || !st.Mode().IsRegular() || st.Size() == 0 {
			continue // what is wrong with it is said when it is written
		}
		f, err := os.Open(p)
		if err != nil {
			continue
		}
		head := make([]byte, len(begin))
		_, err = io.ReadFull(f, head)
		f.Close()
		if err != nil || !strings.EqualFold(string(head), begin) {
			return failf("%s: %s is there and is not %s: it is not replaced", command, p, kind)
		}
	}
	return nil
}

// claimArrays is claim for results that are arrays. prints says that the command prints text
// or JSON.
func (s *streams) claimArrays(command string, prints bool, places ...string) error {
	if prints && slices.Contains(places, "-") {
		return fmt.Errorf("%s: an array goes to standard output, and what is printed would be in the middle of it: give -o a file, and no --time, --explain or --json", command)
	}
	return s.claim(command, "an array", "\x93NUMPY", places...)
}

// write writes an array to a file, or to standard output.
func (s *streams) write(what, place string, t *weft.Tensor) error {
	var err error
	if place == "-" {
		err = npy.Write(s.out, t)
	} else {
		err = npy.WriteFile(place, t)
	}
	if err != nil {
		return failf("write %s to %s: %w", what, place, plain(err))
	}
	return nil
}

func listed(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

// plain leaves the operation and the path out of an error of the file system:
// the message has named the file.
func plain(err error) error {
	for p := (*fs.PathError)(nil); errors.As(err, &p); {
		err = p.Err
	}
	return err
}

// cutLast cuts s around the last sep.
func cutLast(s, sep string) (before, after string, ok bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}
