package gokernel_test

import (
	"fmt"
	"go/token"
	"go/types"
	"strings"
	"testing"

	. "weft/internal/gokernel"
	"weft/internal/gokernel/kerneltest"
)

// TestEveryFunction compiles a kernel of each function that Go's math packages export.
func TestEveryFunction(t *testing.T) {
	panics := map[string]bool{"Div": true, "Div32": true, "Div64": true, "Rem": true, "Rem32": true, "Rem64": true}
	imp := kerneltest.SourceImporter(token.NewFileSet())
	for _, path := range []string{"math", "math/bits", "math/cmplx"} {
		p, err := imp.Import(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range p.Scope().Names() {
			fn, ok := p.Scope().Lookup(name).(*types.Func)
			if !ok || !fn.Exported() || path == "math/bits" && panics[name] {
				continue
			}
			var params, args, results, vars, out []string
			for v := range fn.Signature().Params().Variables() {
				n := fmt.Sprint("p", len(params))
				params, args = append(params, n+" "+v.Type().String()), append(args, n)
			}
			for v := range fn.Signature().Results().Variables() {
				n := fmt.Sprint("r", len(vars))
				results, vars, out = append(results, v.Type().String()), append(vars, n), append(out, n)
			}
			src := fmt.Sprintf("package p\nimport %q\nfunc F(%s) (%s) {\n\t%s := %s.%s(%s)\n\treturn %s\n}", path, strings.Join(params, ", "), strings.Join(results, ", "), strings.Join(vars, ", "), p.Name(), name, strings.Join(args, ", "), strings.Join(out, ", "))
			s, err := Parse(File{"k.go", []byte(src)})
			if err == nil {
				_, err = s.Func("F")
			}
			if err != nil {
				t.Errorf("%s.%s: %v", path, name, err)
			}
		}
	}
}
