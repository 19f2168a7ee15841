package codegen

import (
	"fmt"

	"weft/internal/array"
	"weft/internal/jit"
)

// Install makes the code that g generated executable. key names it.
func (g *Gen) Install(key any) *jit.Code {
	text, err := g.Finish()
	if err != nil {
		panic("cpu: generated code: " + err.Error())
	}
	c, err := jit.Map(text)
	if err != nil {
		panic(&array.Error{Kind: array.OutOfMemory, Op: "cpu", Msg: "no executable memory", Err: err})
	}
	// Some generators choose registers themselves and leave ISA unset: their key has the width.
	jit.RecordKernel(max(g.ISA, jit.AVX2), "routine", func() string { return fmt.Sprintf("%T%+v", key, key) }, text)
	return c
}

// A Key names a kernel by everything that its generator reads, and generates it.
type Key[V any] interface {
	comparable
	Generate() V
}

// Kernel returns the kernel of a key. The first call for a key generates it.
func Kernel[K Key[V], V any](made *jit.Cache[K, V], key K) V {
	if c, ok := made.Lookup(key); ok {
		return c
	}
	c, _ := made.Get(key, func() (V, error) { return key.Generate(), nil })
	return c
}
