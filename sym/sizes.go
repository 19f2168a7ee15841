package sym

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"sync"

	"weft"
	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/lock"
)

// A family is a function whose trace depends on sizes that do not follow from shapes of arguments.
// A member of it, with programs of its own, stands for the same values of these sizes.
//
// A trace notes each size that it fixes with how it follows from sources. These steps make a tree
// for each shape of the arguments: a step's value leads to the next step, the last one to the
// member. A call goes down the tree with the values that its sources have, as guards of a tracing
// compiler are checked. Where the tree does not go on the call traces the function, which adds a path.
type family struct {
	f    *Fn
	body func(args []*core.Tensor, call *supply) []*core.Tensor
	open []*Var      // shared variables whose tensors are arguments behind the inputs
	held []lock.Want // see around

	mu      sync.Mutex
	trees   map[string]*step // by shape
	members int
	needed  []*Var       // sources that some trace has asked for
	others  map[*Var]*Fn // functions of sources that are computed
}

// maxMembers bounds the members that a family remembers. A forgotten one is found again by a trace.
const maxMembers = 1 << 12

// A step is a size that a trace fixes, or the end of a path.
type step struct {
	of     func(source func(*Var) int) int // nil: not known yet, or the end
	next   map[int]*step
	member *member
}

// A member is a function of the family, which programs belong to.
type member struct {
	sources []*Var // what its trace asked for
	values  []int
}

// Differs implements core.Differing, for [Fn.Why].
func (m *member) Differs(before any) string {
	b, ok := before.(*member)
	if !ok {
		return "sizes are fixed otherwise"
	}
	var list []string
	for i, v := range m.sources {
		if k := slices.Index(b.sources, v); k < 0 {
			list = append(list, fmt.Sprintf("%s is %d", v.label(), m.values[i]))
		} else if m.values[i] != b.values[k] {
			list = append(list, fmt.Sprintf("%s is %d, before %d", v.label(), m.values[i], b.values[k]))
		}
	}
	return strings.Join(list, "; ")
}

// A supply is what one call gives to its trace.
type supply struct {
	given  map[*Var]int // sources
	asked  []*Var       // the sources that the trace has asked for
	path   []step       // each with one next
	values []int
	// fixed gives the i-th size for a file, in the place of sources; nil: the call is one.
	fixed func(i int) int
	sizes []size // for a file: what calls compute
}

// A missing source is the panic that ends a trace which needs it.
type missing struct{ v *Var }

// fix returns a size from the sources that are given, and notes that the trace depends on it.
// most is the greatest that it can be, 0 if that is not known.
func (c *supply) fix(s size, most int) int {
	if c.fixed != nil {
		n := s.n
		if !s.chosen {
			n = c.fixed(len(c.sizes))
			if most > 0 && n > most {
				n = min(2+n%max(most-1, 1), most)
			}
		}
		c.sizes, c.values = append(c.sizes, s), append(c.values, n)
		return n
	}
	n := s.of(func(v *Var) int {
		x, ok := c.given[v]
		if !ok {
			panic(missing{v})
		}
		if !slices.Contains(c.asked, v) {
			c.asked = append(c.asked, v)
		}
		return x
	})
	c.path, c.values = append(c.path, step{of: s.of}), append(c.values, n)
	return n
}

// sizable reports that a graph has operations whose shapes may depend on sources.
func sizable(roots []*Var) bool {
	return slices.ContainsFunc(order(roots), func(v *Var) bool { return v.from != nil && v.from.sized })
}

// call calls the member of the family for the arguments.
func (m *family) call(ctx context.Context, run *core.Func, ts []*weft.Tensor) []*weft.Tensor {
	if len(m.open) > 0 && core.TracingHere() != nil {
		array.Failf(m.f.label(), m.open[0].label(), "is a shared variable whose sizes may change, which a function that is being traced cannot use%s", m.open[0].where())
	}
	defer m.around(ctx, ts)()
	ts = slices.Clip(ts)
	for _, v := range m.open {
		ts = append(ts, v.tensor())
	}
	out := m.find(ctx, run, ts)
	n := len(m.f.outputs.vars)
	for _, w := range m.f.shared {
		if w.box != nil {
			w.box.now.Store(out[n])
			n++
		}
	}
	return out[:len(m.f.outputs.vars)]
}

// find finds the member of the family and runs it.
func (m *family) find(ctx context.Context, run *core.Func, ts []*weft.Tensor) []*weft.Tensor {
	c := &supply{given: map[*Var]int{}}
	source := func(v *Var) int {
		n, ok := c.given[v]
		if !ok {
			n = m.source(ctx, ts, v)
			c.given[v] = n
		}
		return n
	}
	inline := core.CompileOff || core.TracingHere() != nil // no program is kept
	tree := m.tree(ts)
	at := m.member(tree, source)
	if at == nil || inline {
		at = new(member)
		for _, v := range m.need(nil) {
			source(v)
		}
	}
	for {
		out, need := m.run(ctx, run, ts, c, at, func() {
			if !inline {
				m.add(tree, at, c)
			}
		})
		if need == nil {
			return out
		}
		m.need(need)
		source(need)
	}
}

// run calls a member. traced is called behind each trace. need is a source without which its trace cannot go on.
func (m *family) run(ctx context.Context, run *core.Func, ts []*weft.Tensor, c *supply, at *member, traced func()) (out []*weft.Tensor, need *Var) {
	defer func() {
		switch x := recover().(type) {
		case nil:
		case missing:
			need = x.v
		default:
			panic(x)
		}
	}()
	res, err := run.CallAs(ctx, core.Inner(ts), at, func(args []*core.Tensor) []*core.Tensor {
		c.path, c.values, c.asked = nil, nil, nil
		out := m.body(args, c)
		traced()
		return out
	})
	if err != nil {
		panic(err)
	}
	return core.Outer[weft.Tensor](res), nil
}

// tree returns the tree for the shapes of arguments.
func (m *family) tree(ts []*weft.Tensor) *step {
	var buf [128]byte
	key := buf[:0]
	add := func(v *Var, t *weft.Tensor) {
		for k, n := range sizes(t) {
			if v.shape[k] == Any {
				key = binary.AppendUvarint(key, uint64(n))
			}
		}
	}
	for i, p := range m.f.inputs {
		add(p.Var, ts[i])
	}
	for i, v := range m.open {
		add(v, ts[len(m.f.inputs)+i])
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.trees[string(key)]
	if s == nil {
		if m.trees == nil || m.members > maxMembers {
			m.trees, m.members = map[string]*step{}, 0
		}
		s = new(step)
		m.trees[string(key)] = s
	}
	return s
}

// member goes down a tree and returns the member, nil where the tree does not go on.
func (m *family) member(s *step, source func(*Var) int) *member {
	for s != nil {
		of, at := m.at(s)
		if of == nil {
			return at
		}
		s = m.below(s, of(source)) // a source may fail, so it is computed without the lock
	}
	return nil
}

// at returns what asks for the way on from a place in a tree, or the member that is there.
func (m *family) at(s *step) (of func(func(*Var) int) int, at *member) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return s.of, s.member
}

// below returns the place in a tree to which a value leads, or nil.
func (m *family) below(s *step, value int) *step {
	m.mu.Lock()
	defer m.mu.Unlock()
	return s.next[value]
}

// add adds the path of a trace to a tree.
func (m *family) add(s *step, at *member, c *supply) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i, p := range c.path {
		if s.of == nil {
			s.of, s.next = p.of, map[int]*step{}
		}
		next := s.next[c.values[i]]
		if next == nil {
			next = new(step)
			s.next[c.values[i]] = next
		}
		s = next
	}
	if s.member == nil {
		for _, v := range c.asked {
			at.sources, at.values = append(at.sources, v), append(at.values, c.given[v])
		}
		s.member = at
		m.members++
	}
}

// free forgets members and functions of sources.
func (m *family) free() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.trees, m.members, m.others = nil, 0, nil
}

// need notes a source unless that is nil, and returns all.
func (m *family) need(v *Var) []*Var {
	m.mu.Lock()
	defer m.mu.Unlock()
	if v != nil && !slices.Contains(m.needed, v) {
		m.needed = append(slices.Clip(m.needed), v)
	}
	return m.needed
}

// source returns the value of a source for arguments.
func (m *family) source(ctx context.Context, ts []*weft.Tensor, v *Var) int {
	switch v.role {
	case input:
		i := slices.IndexFunc(m.f.inputs, func(p Param) bool { return p.Var == v })
		return int(ts[i].ItemInt())
	case shared:
		return int(v.tensor().ItemInt())
	}
	f := m.other(v)
	return int(f.calls(ctx, f.run.Load(), ts[:len(m.f.inputs)])[0].ItemInt())
}

// other returns the function that computes a source.
func (m *family) other(v *Var) *Fn {
	m.mu.Lock()
	defer m.mu.Unlock()
	f := m.others[v]
	if f == nil {
		f = &Fn{name: m.f.label() + ": size", hold: true, choice: m.f.choice, inputs: m.f.inputs, outputs: Outputs{[]*Var{v}, []string{""}}}
		f.compile()
		if m.others == nil {
			m.others = map[*Var]*Fn{}
		}
		m.others[v] = f
	}
	return f
}
