package main

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"weft/internal/formula"
)

// A command is one of weft's, with its flags and its help.
type command struct {
	name, operands     string // as usage shows them
	short, long, usage string // usage is the lines of examples
	flags              *flag.FlagSet
	check              func(operands []string) error // what the flags do not say
	run                func(s *streams, operands []string) error
}

// A list is a flag that may be repeated.
type list []string

func (l *list) String() string     { return strings.Join(*l, ",") }
func (l *list) Set(s string) error { *l = append(*l, s); return nil }

// newFlags returns an empty set of flags.
func newFlags() *flag.FlagSet {
	f := flag.NewFlagSet("", flag.ContinueOnError)
	f.SetOutput(io.Discard) // its errors come back, and the help is ours
	return f
}

// output adds -o, --output.
func output(f *flag.FlagSet, v flag.Value, usage string) {
	f.Var(v, "output", usage)
	f.Var(v, "o", usage)
}

// A text is a flag with a string.
type text string

func (t *text) String() string     { return string(*t) }
func (t *text) Set(s string) error { *t = text(s); return nil }

// execute runs the command line args, without the name of the program.
func execute(all []*command, args []string, s *streams) error {
	if len(args) == 0 {
		return overview(s.out, all)
	}
	name, rest := args[0], args[1:]
	switch {
	case name == "-v" || name == "--version":
		_, err := fmt.Fprintf(s.out, "weft %s\n", version())
		return err
	case name == "-h" || name == "--help" || name == "help" && len(rest) == 0:
		return overview(s.out, all)
	case strings.HasPrefix(name, "-"):
		return fmt.Errorf("unknown flag: %s (weft --help lists the commands)", name)
	}
	help := name == "help"
	if help {
		name = rest[0]
	}
	c, err := find(all, name)
	if err != nil {
		return err
	}
	if help {
		return c.help(s.out)
	}
	operands, err := c.parse(rest)
	if errors.Is(err, flag.ErrHelp) {
		return c.help(s.out)
	}
	for _, check := range []func() error{func() error { return err }, func() error { return c.check(operands) }, c.checkValues} {
		if err := check(); err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
	}
	return c.run(s, operands)
}

// find returns the command of a name. Its error names commands that are spelt like it.
func find(all []*command, name string) (*command, error) {
	var names []string
	for _, c := range all {
		if c.name == name {
			return c, nil
		}
		names = append(names, c.name)
	}
	hint := ""
	if near := formula.Nearest(strings.ToLower(name), names); near != "" {
		hint = ": did you mean " + near + "?"
	}
	return nil, fmt.Errorf("there is no command %q%s (weft --help lists them)", name, hint)
}

// parse sets the flags and returns the operands. Flags may stand between them, up to --.
func (c *command) parse(args []string) (operands []string, err error) {
	for len(args) > 0 {
		err := c.flags.Parse(args)
		rest := c.flags.Args()
		last := "" // that Parse has read
		if n := len(args) - len(rest); n > 0 {
			last = args[n-1]
		}
		switch {
		case err != nil:
			return nil, c.flagError(err, last)
		case last == "--":
			return append(operands, rest...), nil
		case len(rest) == 0:
			return operands, nil
		}
		operands, args = append(operands, rest[0]), rest[1:]
	}
	return operands, nil
}

// badValue matches what package flag says of a value that it cannot read.
var badValue = regexp.MustCompile(`^invalid (boolean )?value (".*") for (?:flag )?-(\w+): `)

// flagError says what is wrong with a flag, the last argument that was read.
func (c *command) flagError(err error, last string) error {
	m := badValue.FindStringSubmatch(err.Error())
	hint := ""
	if c.name == "eval" || c.name == "view" {
		hint = " (a formula that begins with - goes in parentheses or behind --)"
	}
	name, _, _ := strings.Cut(last, "=")
	switch {
	case errors.Is(err, flag.ErrHelp):
		return err
	case m != nil && m[1] != "":
		return fmt.Errorf("--%s is %s, want true or false", m[3], m[2])
	case m != nil:
		return fmt.Errorf("--%s is %s, want a whole number", m[3], m[2])
	case strings.HasPrefix(err.Error(), "flag needs an argument"):
		return fmt.Errorf("flag needs an argument: %s", name)
	case strings.HasPrefix(last, "--"):
		return fmt.Errorf("unknown flag: %s%s", name, hint)
	}
	return fmt.Errorf("unknown shorthand flag: %q in %s%s", []rune(last)[1], last, hint)
}

// checkValues refuses a place "" for results, and a number of calls that is not positive.
func (c *command) checkValues() (err error) {
	c.flags.Visit(func(f *flag.Flag) {
		places, isList := f.Value.(*list)
		switch {
		case f.Name == "time" && f.Value.(flag.Getter).Get().(int) <= 0:
			err = fmt.Errorf("--time %s is not positive", f.Value)
		case f.Name != "output" && f.Name != "o":
		case f.Value.String() == "" || isList && slices.Contains(*places, ""):
			err = errors.New("the place behind -o is empty")
		}
	})
	return err
}

// overview prints the commands.
func overview(w io.Writer, all []*command) error {
	var b strings.Builder
	b.WriteString("Compute formulas over arrays, compiled for this processor\n\nUsage:\n  weft COMMAND\n\nCommands:\n")
	for _, c := range slices.SortedFunc(slices.Values(all), func(x, y *command) int { return cmp.Compare(x.name, y.name) }) {
		fmt.Fprintf(&b, "  %-8s%s\n", c.name, c.short)
	}
	b.WriteString("\nFlags:\n  -h, --help      print this\n  -v, --version   print the version\n\n\"weft COMMAND --help\" says more about a command.\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// help prints what the command does, with its flags.
func (c *command) help(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\nUsage:\n  weft %s\n", c.long, strings.Join(strings.Fields(c.name+" "+c.operands+" [flags]"), " "))
	if c.usage != "" {
		fmt.Fprintf(&b, "\nExamples:\n%s\n", c.usage)
	}
	rows := [][2]string{{"-h, --help", "print this"}}
	c.flags.VisitAll(func(f *flag.Flag) {
		value, usage := flag.UnquoteUsage(f)
		name := strings.TrimSpace(f.Name + " " + value)
		switch f.Name {
		case "o": // stands beside --output
		case "output":
			rows = append(rows, [2]string{"-o, --" + name, usage})
		default:
			rows = append(rows, [2]string{"    --" + name, usage})
		}
	})
	width := 0
	for _, r := range rows {
		width = max(width, len(r[0]))
	}
	b.WriteString("\nFlags:\n")
	slices.SortFunc(rows, func(x, y [2]string) int { return cmp.Compare(x[0][6:], y[0][6:]) })
	for _, r := range rows {
		fmt.Fprintf(&b, "  %-*s   %s\n", width, r[0], r[1])
	}
	_, err := io.WriteString(w, b.String())
	return err
}
