package grid

import (
	"weft/internal/array"
	"weft/internal/loop"
)

// A ref is an address: a register of type I64 and bytes that are added to it.
type ref struct {
	reg Reg
	off int
}

// elem returns what elements of a buffer are as values of type t.
func elem(d array.DType, t loop.Type) Elem {
	switch d {
	case array.Bool:
		return U8
	case array.Int8:
		return S8
	case array.Uint8:
		if t == loop.I8 {
			return S8
		}
		return U8
	case array.Int16:
		return S16
	case array.Uint16:
		if t == loop.I16 {
			return S16
		}
		return U16
	case array.Float16:
		return Half
	case array.BFloat16:
		return BHalf
	}
	if d.Size() == 8 {
		return W64
	}
	return W32
}

// address returns where a slot accesses a buffer, off elements further on if that is a value.
func (e *emitter) address(buf int, off loop.Value, s int) ref {
	r := e.refs[buf][min(s, len(e.refs[buf])-1)]
	if off == loop.NoValue {
		return r
	}
	n := e.Wide(e.get(off, s))
	return ref{e.Add(r.reg, e.Mul(n, e.I64(int64(e.p.Bufs[buf].DType.Size())))), r.off}
}

// load emits an OpLoad or OpLoadAt.
func (e *emitter) load(v loop.Value, in *loop.Ins) {
	buf := int(in.Imm)
	if x := e.found(v); x != loop.NoValue {
		e.again(v, x, buf)
		return
	}
	d := e.p.Bufs[buf].DType
	el, t := elem(d, in.Type), registerType(in.Type)
	if d == array.Bool {
		t = loop.I32
	}
	value := func(x Reg) Reg {
		if d == array.Bool {
			return e.Do(loop.OpNe, loop.B, 0, x, e.I32(0))
		}
		return x
	}
	if n := e.vector(in, buf); n > 1 && !e.same[v] {
		for s := 0; s < e.k; s += n {
			r := e.address(buf, loop.NoValue, s)
			for i, x := range e.LoadN(Global, el, t, n, r.reg, r.off, e.pred[s]) {
				e.define(v, s+i, value(x))
			}
		}
		return
	}
	e.each(v, func(s int) Reg {
		pred := e.pred[s]
		r := e.address(buf, in.A, s)
		if e.uniform[v] && !e.divergent {
			if e.lane != nil {
				// The first lane of a warp exists. Threads without a lane must not read: the element may
				// be one that the only lane writes.
				return value(e.FromLane(e.Load(Global, el, t, r.reg, r.off, pred), e.I32(0)))
			}
			pred = e.live // some active lane reads it
		}
		return value(e.Load(Global, el, t, r.reg, r.off, pred))
	})
}

// store emits an OpStore or OpStoreAt.
func (e *emitter) store(in *loop.Ins) {
	buf := int(in.Imm)
	d := e.p.Bufs[buf].DType
	el := elem(d, e.p.TypeOf(buf))
	value := func(s int) Reg {
		x := e.get(in.A, s)
		if d == array.Bool {
			return e.Do(loop.OpCvt, loop.I32, 0, x)
		}
		return x
	}
	n := e.vector(in, buf)
	for i := 0; i < len(e.slots); i += n {
		s := e.slots[i]
		var x []Reg
		for j := range n {
			x = append(x, value(s+j))
		}
		r := e.address(buf, in.B, s)
		e.Store(Global, el, r.reg, r.off, e.pred[s], x...)
	}
}

// vector returns the number of neighbouring elements that an access moves at once.
func (e *emitter) vector(in *loop.Ins, buf int) int {
	b := &e.p.Bufs[buf]
	if !e.flat() || len(e.slots) < e.k || e.k == 1 || b.Steps[e.p.Lane] != loop.Unit || in.Op != loop.OpLoad && in.Op != loop.OpStore {
		return 1
	}
	return vectorLen(e.k, b.DType)
}

// stride returns the bytes by which a buffer moves along an axis, as a constant if they are known.
func (e *emitter) stride(buf, axis int) (Reg, int) {
	b := &e.p.Bufs[buf]
	if n := b.Steps[axis].Elements(); n != 0 {
		bytes := n * b.DType.Size()
		return e.I64(int64(bytes)), bytes
	}
	return e.arg(loop.I64, argWord(e.p, e.p.StrideWord(buf, axis))), 0
}

// move returns an address moved by n steps along an axis.
func (e *emitter) move(addr Reg, buf, axis int, n Reg) Reg {
	by, _ := e.stride(buf, axis)
	return e.Add(addr, e.Mul(e.Wide(n), by))
}

// accessed reports by buffer whether a block loads or stores.
func (e *emitter) accessed(block []loop.Value) []bool {
	out := make([]bool, len(e.p.Bufs))
	e.p.Walk(block, func(_ loop.Value, in *loop.Ins) {
		if in.Op >= loop.OpLoad && in.Op <= loop.OpStoreAt {
			out[in.Imm] = true
		}
	})
	return out
}

// rowAddresses sets the addresses at which buffers begin in the row at hand. Pred says whether
// there is such a row.
func (e *emitter) rowAddresses(pred Reg) {
	p := e.p
	begin := NoReg
	ragged := p.Ragged()
	if ragged >= 0 {
		of := p.Axes[ragged].Offsets - 1
		at := e.move(e.arg(loop.I64, 8*of), of, 0, e.index[0])
		begin = e.Load(Global, W64, loop.I64, at, 0, pred)
		e.extent[ragged] = e.Sub(e.Load(Global, W64, loop.I64, at, 8, pred), begin)
	}
	for b, ok := range e.accessed(p.Body) {
		if !ok {
			continue
		}
		at := e.arg(loop.I64, 8*b)
		for a := range p.Lane {
			if p.Bufs[b].Steps[a] != loop.Zero {
				at = e.move(at, b, a, e.index[a])
			}
		}
		if ragged >= 0 && p.Bufs[b].Steps[ragged] != loop.Zero {
			at = e.move(at, b, ragged, begin)
		}
		e.refs[b] = []ref{{reg: at}}
	}
}

// laneAddresses sets the addresses of the slots of a pass. Neighbouring slots are apart lanes apart.
func (e *emitter) laneAddresses(block []loop.Value, apart int) {
	for b, ok := range e.accessed(block) {
		if !ok || e.p.Bufs[b].Steps[e.p.Lane] == loop.Zero {
			continue
		}
		row := e.refs[b][0].reg
		at := make([]ref, e.k)
		if _, bytes := e.stride(b, e.p.Lane); bytes != 0 {
			first := e.move(row, b, e.p.Lane, e.lane[0])
			for s := range at {
				at[s] = ref{first, s * apart * bytes}
			}
		} else {
			for s := range at {
				at[s] = ref{reg: e.move(row, b, e.p.Lane, e.lane[s])}
			}
		}
		e.refs[b] = at
	}
}

// walkAddresses makes the addresses of buffers that move along the serial axis follow a loop. It
// returns what moves them on.
func (e *emitter) walkAddresses(block []loop.Value, axis int) (next func()) {
	type moving struct {
		reg Reg
		buf int
	}
	var all []moving
	for b, ok := range e.accessed(block) {
		if !ok || e.p.Bufs[b].Steps[axis] == loop.Zero {
			continue
		}
		copies := map[Reg]Reg{}
		at := make([]ref, len(e.refs[b]))
		for s, r := range e.refs[b] {
			if len(at) > 1 && !e.takesPart(s) {
				continue
			}
			to, ok := copies[r.reg]
			if !ok {
				to = e.Copy(r.reg)
				copies[r.reg] = to
				all = append(all, moving{to, b})
			}
			at[s] = ref{to, r.off}
		}
		e.refs[b] = at
	}
	return func() {
		for _, m := range all {
			by, _ := e.stride(m.buf, axis)
			e.Update(m.reg, loop.OpAdd, m.reg, by)
		}
	}
}
