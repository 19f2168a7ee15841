package kernel

import (
	"weft/internal/array"
	"weft/internal/gokernel"
	"weft/internal/ir"
	"weft/internal/op"
	"weft/internal/saved"
)

// Kernels in saved programs: their source, which is parsed and checked again when a file is read.

// savedOverride is an overridden body.
type savedOverride struct {
	Body ir.Attrs
	Name string
	Grad ir.Attrs
	Wrt  []int
}

func init() {
	saved.RegisterFunc("kernel", func(i *gokernel.Instance) gokernel.Saved {
		s, err := i.Saved()
		if err != nil {
			panic(&array.Error{Op: "save", Msg: "cannot be saved", Err: err})
		}
		return s
	}, func(s gokernel.Saved) *gokernel.Instance {
		i, err := s.Instance()
		if err != nil {
			panic(&array.Error{Op: "loadprogram", Msg: "a kernel of the file is not one", Err: err})
		}
		return i
	})
	saved.RegisterFunc("kernel with gradient", func(b overridden) savedOverride {
		return savedOverride{b.Body, b.name, b.grad, b.wrt}
	}, func(s savedOverride) overridden {
		body, ok := s.Body.(op.Body)
		grad, also := s.Grad.(op.Body)
		if !ok || !also {
			array.Failf("loadprogram", "", "a kernel of the file is not one")
		}
		return overridden{Body: body, name: s.Name, grad: grad, wrt: s.Wrt}
	})
}
