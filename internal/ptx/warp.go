package ptx

import (
	"strings"

	"weft/internal/grid"
	"weft/internal/loop"
)

// shuffle prints an exchange between lanes: of a truth value as 0 or 1, of 64 bits in two halves.
func (p *printer) shuffle(in *grid.Ins) {
	p.together()
	t := p.typeOf(in.A)
	dst, src := p.typed(in.Dst, 1<<t), p.reg(in.A)
	from := func(dst, src string) {
		switch in.Op {
		case grid.ShuffleDown:
			p.line("shfl.sync.down.b32 %s, %s, %d, 31, 0xFFFFFFFF", dst, src, p.lanes(in.Imm))
		case grid.ShuffleXor:
			p.line("shfl.sync.bfly.b32 %s, %s, %d, 31, 0xFFFFFFFF", dst, src, p.lanes(in.Imm))
		default:
			p.line("shfl.sync.idx.b32 %s, %s, %s, 31, 0xFFFFFFFF", dst, src, p.typed(in.B, i32))
		}
	}
	switch classOf(t) {
	case predicate:
		x, y := p.temp(bits32), p.temp(bits32)
		p.line("selp.b32 %s, 1, 0, %s", x, src)
		from(y, x)
		p.line("setp.ne.s32 %s, %s, 0", dst, y)
	case bits64:
		low, high, low2, high2 := p.temp(bits32), p.temp(bits32), p.temp(bits32), p.temp(bits32)
		p.line("mov.b64 {%s, %s}, %s", low, high, src)
		from(low2, low)
		from(high2, high)
		p.line("mov.b64 %s, {%s, %s}", dst, low2, high2)
	default:
		from(dst, src)
	}
}

// lanes checks a distance between lanes.
func (p *printer) lanes(n int64) int64 {
	if n < 0 || n >= grid.Warp {
		p.fail("a distance of %d lanes", n)
	}
	return n
}

// An mmaShape is a shape of mma.sync: its name, and how many elements a lane holds.
type mmaShape struct {
	name             string
	sum, left, right int
	major            int // of the compute capability that has it
}

var mmaShapes = [...]mmaShape{
	grid.M8N8K4:   {"m8n8k4", 2, 1, 1, 8},
	grid.M16N8K4:  {"m16n8k4", 4, 2, 1, 9},
	grid.M16N8K8:  {"m16n8k8", 4, 4, 2, 9},
	grid.M16N8K16: {"m16n8k16", 4, 8, 4, 9},
}

// mma prints a product of matrices.
func (p *printer) mma(in *grid.Ins) {
	p.together()
	if in.Imm < 0 || in.Imm >= int64(len(mmaShapes)) {
		p.fail("shape %d", in.Imm)
	}
	s := mmaShapes[in.Imm]
	switch {
	case p.m.target.Major < s.major:
		p.fail("shape %s needs compute capability %d.0", s.name, s.major)
	case len(in.Regs) != s.sum || len(in.AB) != s.left+s.right:
		p.fail("shape %s with %d elements of the sum and %d of the factors, not %d and %d", s.name, len(in.Regs), len(in.AB), s.sum, s.left+s.right)
	}
	group := func(regs []grid.Reg) string {
		names := make([]string, len(regs))
		for i, r := range regs {
			names[i] = p.typed(r, 1<<loop.F64)
		}
		return "{" + strings.Join(names, ", ") + "}"
	}
	sum := group(in.Regs)
	p.line("mma.sync.aligned.%s.row.col.f64.f64.f64.f64 %s, %s, %s, %s", s.name, sum, group(in.AB[:s.left]), group(in.AB[s.left:]), sum)
}
