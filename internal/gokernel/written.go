package gokernel

import (
	_ "embed"
	"go/ast"
	"go/types"
	"sync"
)

// Functions of the packages that kernels import for which there is no formula are written
// in the language itself: they are lowered in place as any function of the source is, and
// so have derivatives.

//go:embed written/math.go
var writtenMath []byte

//go:embed written/bessel.go
var writtenBessel []byte

//go:embed written/cmplx.go
var writtenCmplx []byte

//go:embed written/special.go
var writtenSpecial []byte

//go:embed written/specialcoef.go
var writtenCoefficients []byte

//go:embed written/bits.go
var writtenBits []byte

var writtenSource = sync.OnceValue(func() *Source {
	s, err := Parse(File{"math.go", writtenMath}, File{"cmplx.go", writtenCmplx}, File{"bits.go", writtenBits}, File{"bessel.go", writtenBessel},
		File{"special.go", writtenSpecial}, File{"specialcoef.go", writtenCoefficients})
	if err != nil {
		panic(err)
	}
	return s
})

// writtenFunc returns the function that stands for one of a package, nil if there is none.
func writtenFunc(pkg, name string) *Func {
	switch pkg {
	case cmplxPath:
		name = "Cmplx" + name
	case bitsPath:
		name = "Bits" + name
	case kernelPath:
		name = "Kernel" + name
	}
	f, err := writtenSource().Func(name)
	if err != nil {
		return nil
	}
	return f
}

// written lowers a call of a function that is written in the language.
func (l *lowerer) written(x *ast.CallExpr, pkg, name string, args []*value) []*value {
	f := writtenFunc(pkg, name)
	if f == nil {
		l.src.refuse(x.Pos(), "%s.%s is not part of the language of kernels", pkg, name)
	}
	return l.calls1(f, args)
}

// calls1 lowers a call of a function of another source.
func (l *lowerer) calls1(f *Func, args []*value) []*value {
	saved := l.Func
	l.Func = f
	out := l.invoke(f.obj, binding{}, args)
	l.Func = saved
	return out
}

// costOfWritten is the cost of such a function.
func costOfWritten(fn *types.Func) int {
	if f := writtenFunc(fn.Pkg().Path(), fn.Name()); f != nil {
		return f.cost(f.decl.Body)
	}
	return 80
}
