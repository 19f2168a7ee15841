package core

import (
	"sync"

	"weft/internal/array"
	"weft/internal/exec"
)

// A Generator counts the draws of a weft.Generator.
type Generator struct {
	mu     sync.Mutex
	state  GeneratorState
	of     *Generator // that counts the draws, nil: this one
	device uint8      // that draws are made on
}

// On returns a generator of the same draws that makes them on a device.
func (g *Generator) On(number uint8) *Generator {
	g.NotNil("on")
	if g.device == number {
		return g
	}
	return &Generator{of: g.counter(), device: number}
}

// Device returns the number of the device that draws are made on.
func (g *Generator) Device() uint8 {
	g.NotNil("generator")
	return g.device
}

// counter returns the generator that counts the draws of g.
func (g *Generator) counter() *Generator {
	if g.of != nil {
		return g.of
	}
	return g
}

// A GeneratorState has the fields of weft.GeneratorState.
type GeneratorState struct {
	Seed uint64
	Draw uint64 // how many draws were made
}

// NewGenerator does what weft.NewGenerator says.
func NewGenerator(seed uint64) *Generator {
	return &Generator{state: GeneratorState{Seed: seed}}
}

// NotNil refuses nil.
func (g *Generator) NotNil(opName string) {
	if g == nil {
		array.Failf(opName, "", "the generator is nil (NewGenerator makes one)")
	}
}

// State does what weft.Generator.State says.
func (g *Generator) State() GeneratorState {
	g.NotNil("state")
	RefuseHost("state", "reads the state of a generator")
	g = g.counter()
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.state
}

// SetState does what weft.Generator.SetState says.
func (g *Generator) SetState(s GeneratorState) {
	g.NotNil("setstate")
	RefuseHost("setstate", "sets the state of a generator")
	g = g.counter()
	g.mu.Lock()
	defer g.mu.Unlock()
	g.state = s
}

// Next does what weft.Generator.Next says.
func (g *Generator) Next() GeneratorState {
	g.NotNil("next")
	RefuseHost("next", "makes a draw")
	return g.Skip(1)
}

// Skip makes some draws without computing them and returns the state before them.
func (g *Generator) Skip(n int) GeneratorState {
	return regionHere().drawn(func() drawn { return drawn{state: g.skip(n)} }).state
}

func (g *Generator) skip(n int) GeneratorState {
	g = g.counter()
	g.mu.Lock()
	defer g.mu.Unlock()
	s := g.state
	g.state.Draw += uint64(n)
	return s
}

// low32 masks the number of a draw to the bits that kernels take.
const low32 = 1<<32 - 1

// Draw makes a draw. It returns the seed and the low 32 bits of the draw's number as arguments of
// operations. A compiled function makes a draw in each call.
func (g *Generator) Draw() (seed, draw Operand) {
	tr := TracingHere()
	if tr == nil {
		s := g.Next()
		return Word(s.Seed), Word(s.Draw & low32)
	}
	a, b := tr.Draws(Drawing{From: g, Count: 1, Short: true})
	return Operand{Num: a}, Operand{Num: b}
}

// Words makes one draw: all 64 bits of its seed and of its number as operands. In a compiled
// function they are those that the generator has at each call.
func (g *Generator) Words(opName string) (seed, draw Operand) {
	g.NotNil(opName)
	tr := TracingHere()
	if tr == nil {
		s := g.Next()
		return Word(s.Seed), Word(s.Draw)
	}
	a, b := tr.Draws(Drawing{From: g, Count: 1})
	return Operand{Num: a}, Operand{Num: b}
}

// Word passes 64 bits as an integer number.
func Word(x uint64) Operand {
	return Operand{Num: exec.Number{Int: int64(x), Kind: array.CatInt}}
}
