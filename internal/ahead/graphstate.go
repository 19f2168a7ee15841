package ahead

import (
	"fmt"
	"go/token"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"weft/internal/array"
	"weft/internal/plan"
	"weft/internal/saved"
)

// What a program keeps from call to call: tensors that calls write, variables of formulas, and generators.

// A stateField is a tensor that calls write.
type stateField struct {
	Name, Type, What string
	Size, Bytes      int    // elements, and bytes of one
	First            string // the elements of a new State, a Go expression
}

// A graphState is what a State has, as templates see it.
type graphState struct {
	Fields     []stateField
	Variables  []string // first values
	Generators []saved.Generator
	Numbers    []string // statements that compute the numbers of a call
	Count      int
	Uses       map[string]bool // functions that the statements use
	Functions  []string        // the text of those that run kernels

	of map[int]int // by state: which field
}

// Any reports that calls change something.
func (s *graphState) Any() bool { return len(s.Fields) > 0 || s.Count > 0 }

// state describes what calls change.
func (u *graphUnit) state(p *saved.Program) error {
	s := &u.State
	s.of, s.Uses = map[int]int{}, map[string]bool{}
	for _, w := range p.Writes {
		source := p.Sources[w.Source]
		if source >= 0 {
			u.Written = append(u.Written, u.Args[source].Name)
			continue
		}
		x := &p.State[^source]
		d, _ := array.ParseDType(x.DType)
		name := fieldName(x.Name)
		for slices.ContainsFunc(s.Fields, func(f stateField) bool { return f.Name == name }) {
			name += "_"
		}
		s.of[^source] = len(s.Fields)
		what := strings.ReplaceAll(array.TypeString(d, x.Shape), ",", "")
		f := stateField{Name: name, Type: goElement(d), What: what, Size: array.Size(x.Shape), Bytes: d.Size()}
		constant := u.constant(^source, &x.View)
		f.First = fmt.Sprintf("append([]%s(nil), unsafe.Slice((*%s)(constant(%d).at), %d)...)", f.Type, f.Type, constant, f.Size)
		if u.Runtime != "" {
			f.First = fmt.Sprintf("aot.Elements[%s](constants, %d, %d)", f.Type, u.Constants[constant].At, f.Size)
		}
		s.Fields = append(s.Fields, f)
	}
	if !changes(p) {
		return nil
	}
	s.Count, s.Generators = len(p.Numbers), p.Generators
	for _, v := range p.Variables {
		s.Variables = append(s.Variables, goFloat(saved.Constant(v.Value)))
	}
	if err := s.numbers(p); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(elementary)) {
		if s.Uses[name] {
			text, err := u.elementaryFunction(name)
			if err != nil {
				return err
			}
			s.Functions = append(s.Functions, text)
		}
	}
	return nil
}

// changes reports numbers that differ from call to call.
func changes(p *saved.Program) bool {
	return slices.ContainsFunc(p.Numbers, func(n saved.Number) bool { _, ok := fixedNumber(&n); return !ok })
}

// fixedNumber is the value of a number that is the same in all calls.
func fixedNumber(n *saved.Number) (x float64, ok bool) {
	switch {
	case n.Kind == "constant":
		return saved.Constant(n.Value), true
	case n.Kind == "formula" && n.Formula.Do == saved.DoConstant:
		return saved.Constant(n.Formula.Value), true
	}
	return 0, false
}

// fieldName is a name of a tensor as an exported one of Go.
func fieldName(name string) string {
	var b strings.Builder
	upper := true
	for _, r := range name {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			upper = true
			continue
		case upper:
			r = unicode.ToUpper(r)
		}
		upper = false
		b.WriteRune(r)
	}
	if s := b.String(); token.IsIdentifier(s) && token.IsExported(s) {
		return s
	}
	return "Tensor" + b.String()
}

func goFloat(x float64) string {
	if x-x != 0 || x == 0 && math.Signbit(x) {
		return fmt.Sprintf("math.Float64frombits(%#x)", math.Float64bits(x))
	}
	return strconv.FormatFloat(x, 'g', -1, 64)
}

// numbers writes the statements that compute the numbers of a call, in their order.
func (s *graphState) numbers(p *saved.Program) error {
	sets := p.Sets
	set := func(at int) error {
		for ; len(sets) > 0 && sets[0].At == at; sets = sets[1:] {
			x, err := s.formula(sets[0].To)
			if err != nil {
				return err
			}
			s.Numbers = append(s.Numbers, fmt.Sprintf("state.variables[%d] = %s", sets[0].Variable, x))
		}
		return nil
	}
	drawn := make([]int, len(p.Generators))
	for i := range p.Numbers {
		if err := set(i); err != nil {
			return err
		}
		n := &p.Numbers[i]
		switch n.Kind {
		case "formula":
			x, err := s.formula(n.Formula)
			if err != nil {
				return err
			}
			s.Numbers = append(s.Numbers, fmt.Sprintf("numbers[%d] = math.Float64bits(%s)", i, x))
		case "seed":
			from := fmt.Sprintf("state.generators[%d]", n.Generator)
			draw := from + ".draw"
			if p.Hold {
				draw = fmt.Sprintf("(%s + %d)", draw, drawn[n.Generator])
				drawn[n.Generator] += n.Count
			}
			if n.Short {
				draw += " & (1<<32 - 1)"
			}
			s.Numbers = append(s.Numbers, fmt.Sprintf("numbers[%d], numbers[%d] = %s.seed, %s", i, i+1, from, draw))
			if !p.Hold {
				s.Numbers = append(s.Numbers, fmt.Sprintf("%s.draw += %d", from, n.Count))
			}
		}
	}
	return set(len(p.Numbers))
}

// formula is the Go expression of a number.
func (s *graphState) formula(f *saved.Formula) (string, error) {
	var of []any
	for _, x := range f.Of {
		t, err := s.formula(x)
		if err != nil {
			return "", err
		}
		of = append(of, t)
	}
	forms := map[saved.Do]string{
		saved.DoAdd: "(%s + %s)", saved.DoSub: "(%s - %s)", saved.DoMul: "float64(%s * %s)", saved.DoDiv: "(%s / %s)", saved.DoSqrt: "math.Sqrt(%s)", saved.DoPower: "power(%s, %s)",
		saved.DoFloor: "math.Floor(%s)", saved.DoMin: "min(%s, %s)", saved.DoMod: "math.Mod(%s, %s)", saved.DoAtMost: "atMost(%s, %s)", saved.DoChoose: "either(%s, %s, %s)",
		saved.DoCos: "cosine(%s)", saved.DoPow: "powerOf(%s, %s)",
	}
	switch f.Do {
	case saved.DoConstant:
		return "float64(" + goFloat(saved.Constant(f.Value)) + ")", nil
	case saved.DoVariable:
		return fmt.Sprintf("state.variables[%d]", f.Variable), nil
	case saved.DoPower:
		s.Uses["power"] = true
	case saved.DoCos:
		s.Uses["cosine"] = true
	case saved.DoPow:
		s.Uses["powerOf"] = true
	case saved.DoAtMost:
		s.Uses["atMost"] = true
	case saved.DoChoose:
		s.Uses["either"] = true
	}
	form := forms[f.Do]
	if form == "" {
		return "", fmt.Errorf("a number of calls does what cannot be built")
	}
	return fmt.Sprintf(form, of...), nil
}

// A callNumber is a word that is a number of the call, as package aot has it.
type callNumber struct {
	Word, From int
	Single     bool
}

// numberWord is a word that is a number of the call, as a Go expression and for package aot.
func numberWord(p *saved.Program, a *plan.ScalarArg) (string, callNumber, error) {
	at, kind, n := fmt.Sprintf("numbers[%d]", a.Arg), p.Numbers[a.Arg].Kind, callNumber{From: a.Arg}
	switch {
	case a.Test:
	case kind != "formula" && a.DType == array.Int64, kind == "formula" && a.DType == array.Float64:
		return at, n, nil
	case kind == "formula" && a.DType == array.Float32:
		n.Single = true
		return fmt.Sprintf("uint64(math.Float32bits(float32(math.Float64frombits(%s))))", at), n, nil
	}
	return "", n, fmt.Errorf("a number of calls is used as %s, which cannot be built", a.DType)
}

// scalarWord returns the number that a word of a kernel is, nil if it is none.
func scalarWord(k *plan.Kernel, w int) *plan.ScalarArg {
	i := slices.IndexFunc(k.Scalars, func(a plan.ScalarArg) bool { return a.Word == w })
	if i < 0 {
		return nil
	}
	return &k.Scalars[i]
}
