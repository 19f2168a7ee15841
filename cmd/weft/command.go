package main

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
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

// letters are the flags that a single letter stands for.
var letters = map[string]string{"h": "help", "o": "output"}

// newFlags returns a set with --help alone. Only command.parse sets its flags: package flag
// itself reads -name and --name as the same flag, and hides where the flags end.
func newFlags() *flag.FlagSet {
	f := flag.NewFlagSet("", flag.ContinueOnError)
	f.Bool("help", false, "print this")
	return f
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
	case name == "help" && len(rest) > 0 && !slices.Contains([]string{"help", "-h", "--help"}, rest[0]):
		c, err := find(all, rest[0])
		if err != nil {
			return err
		}
		return c.help(s.out)
	case name == "-h" || name == "--help" || name == "help":
		return overview(s.out, all)
	case strings.HasPrefix(name, "-"):
		return fmt.Errorf("unknown flag: %s (weft --help lists the commands)", name)
	}
	c, err := find(all, name)
	if err != nil {
		return err
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

// parse sets the flags and returns the operands. Flags may stand between them, up to --. Its
// error is flag.ErrHelp at --help.
func (c *command) parse(args []string) (operands []string, err error) {
	for i := 0; i < len(args); i++ {
		arg := args[i]
		if arg == "--" {
			return append(operands, args[i+1:]...), nil
		}
		if arg == "-" || !strings.HasPrefix(arg, "-") {
			operands = append(operands, arg)
			continue
		}
		spelling, value, hasValue := strings.Cut(arg, "=")
		f := c.lookup(spelling)
		if f == nil {
			return nil, c.unknown(arg, spelling)
		}
		want := "a whole number" // flags with text take any value
		switch boolean, _ := f.Value.(interface{ IsBoolFlag() bool }); {
		case boolean != nil:
			want = "true or false"
			if !hasValue {
				value = "true"
			}
		case !hasValue && i+1 == len(args):
			return nil, fmt.Errorf("flag needs an argument: %s", arg)
		case !hasValue:
			i++
			value = args[i]
		}
		if err := c.flags.Set(f.Name, value); err != nil {
			return nil, fmt.Errorf("--%s is %q, want %s", f.Name, value, want)
		}
		if f.Name == "help" && f.Value.String() == "true" {
			return nil, flag.ErrHelp
		}
	}
	return operands, nil
}

// lookup returns the flag of a spelling, -x or --name. It returns nil if there is none.
func (c *command) lookup(spelling string) *flag.Flag {
	if name, long := strings.CutPrefix(spelling, "--"); long {
		return c.flags.Lookup(name)
	}
	return c.flags.Lookup(letters[spelling[1:]])
}

// unknown says what is wrong with an argument whose spelling is not a flag.
func (c *command) unknown(arg, spelling string) error {
	name := strings.TrimPrefix(spelling[1:], "-")
	if name == "" || name[0] == '-' {
		return fmt.Errorf("bad flag syntax: %s", arg)
	}
	hint := ""
	switch short := !strings.HasPrefix(arg, "--"); {
	case c.flags.Lookup(name) != nil:
		hint = ": write --" + name
	case c.lookup("-"+name) != nil:
		hint = ": write -" + name
	case short && name[0] == 'o' && c.lookup("-o") != nil:
		hint = ": write -o " + arg[2:]
	}
	if c.name == "eval" || c.name == "view" {
		hint += " (a formula that begins with - goes in parentheses or behind --)"
	}
	return fmt.Errorf("unknown flag: %s%s", arg, hint)
}

// checkValues refuses a place "" for results, and a number of calls that is not positive.
func (c *command) checkValues() (err error) {
	c.flags.Visit(func(f *flag.Flag) {
		places, isList := f.Value.(*list)
		switch {
		case f.Name == "time" && f.Value.(flag.Getter).Get().(int) <= 0:
			err = fmt.Errorf("--time %s is not positive", f.Value)
		case f.Name != "output":
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
	var rows [][2]string
	c.flags.VisitAll(func(f *flag.Flag) {
		value, usage := flag.UnquoteUsage(f)
		letter := "    "
		if letters[f.Name[:1]] == f.Name {
			letter = "-" + f.Name[:1] + ", "
		}
		rows = append(rows, [2]string{letter + "--" + strings.TrimSpace(f.Name+" "+value), usage})
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
