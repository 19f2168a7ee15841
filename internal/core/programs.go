package core

import (
	"fmt"
	"slices"
	"strings"

	"weft/internal/array"
)

// The programs that a compiled function keeps. A call with lengths that are new makes a program, so
// a function keeps enough of them for the lengths of a data set, as far as they are small.
const (
	MinPrograms     = 32
	MaxPrograms     = 256
	MaxProgramNodes = 1 << 16 // of all programs beyond MinPrograms, as traced: some 80 MB
)

// maxWhy is the maximum number of lines of [CompiledFunc.Reasons] that give a reason.
const maxWhy = 64

// keep adds a program to those that the function keeps. The caller holds c.mu.
func (c *CompiledFunc) keep(e *Entry) {
	var list []*Entry
	if old := c.Entries.Load(); old != nil {
		list = *old
	}
	why := fmt.Sprintf("traced %s: the first call", c.Name)
	if len(list) > 0 {
		why = fmt.Sprintf("traced %s: %s", c.Name, list[0].sig.differs(&e.sig))
	}
	if c.why = append(c.why, why); len(c.why) > maxWhy {
		c.why = c.why[1:]
	}
	c.made++
	list = Evict(slices.Insert(slices.Clone(list), 0, e))
	c.Entries.Store(&list)
}

// Evict removes programs until few enough are left, the oldest first. A program that was used
// since eviction last looked at it stays if another one can go.
func Evict(list []*Entry) []*Entry {
	nodes := 0
	for _, e := range list {
		nodes += len(e.Traced)
	}
	tooMany := func() bool {
		return len(list) > MaxPrograms || len(list) > MinPrograms && nodes > MaxProgramNodes
	}
	for _, second := range [...]bool{false, true} {
		for i := len(list) - 1; i > 0 && tooMany(); i-- {
			if e := list[i]; second || !e.used.Swap(false) {
				nodes -= len(e.Traced)
				list = slices.Delete(list, i, i+1)
			}
		}
	}
	return list
}

// Use notes that a call uses the program.
func (e *Entry) Use() *Entry {
	if !e.used.Load() { // a store would take the line from other processors
		e.used.Store(true)
	}
	return e
}

// Reasons says why the function was traced, a line each time, and in a last line how many programs
// were made and are kept. It is empty before the first.
func (c *CompiledFunc) Reasons() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.made == 0 {
		return ""
	}
	kept := fmt.Sprintf("%s made, %d kept", array.Count(c.made, "program"), len(*c.Entries.Load()))
	return strings.Join(append(slices.Clone(c.why), kept), "\n")
}
