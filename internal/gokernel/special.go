package gokernel

import (
	"go/ast"
	"strings"
)

// Specials are the special functions of package kernel.
var Specials = []string{"Digamma", "Trigamma", "Erfcx", "GammaInc", "GammaIncC", "Beta", "LogBeta"}

// SpecialSource is their source without package and imports; each has the name kernel and its own.
func SpecialSource() string {
	var s strings.Builder
	for _, text := range [][]byte{writtenSpecial, writtenCoefficients} {
		_, body, _ := strings.Cut(string(text), "import \"math\"\n")
		s.WriteString(body)
	}
	return strings.ReplaceAll(s.String(), "Kernel", "kernel")
}

// formulasOf are the rows of functions1 that functions of package kernel are, and how often each
// may be differentiated; beyond, the function is lowered from its source.
var formulasOf = map[string]struct {
	row  string
	most int
}{"Digamma": {"digamma", 1}, "Trigamma": {"trigamma", 0}}

// kernelCall is a call of a function of package kernel.
func (l *lowerer) kernelCall(x *ast.CallExpr, name string) *value {
	args := l.arguments(x)
	l.pos = x.Pos()
	if len(args) == 1 && args[0].t.kind == kSeq {
		return l.seqCall(name, args[0])
	}
	if f, ok := formulasOf[name]; ok && len(l.inst.wrt) <= f.most {
		return &value{t: tFloat64, n: l.num(l.jcall(f.row, l.jet(args[0].n)))}
	}
	return l.written(x, kernelPath, name, args)[0]
}
