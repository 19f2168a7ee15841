//go:build amd64

package x86

import (
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"

	"weft/internal/array"
	"weft/internal/jit"
	"weft/internal/loop"
	"weft/internal/loop/loopgen"
)

// quotients have uniform divisors where lanes are 1 or 2 bytes wide.
var quotients = []loop.Op{loop.OpQuo, loop.OpRem, loop.OpQuoU, loop.OpRemU}

// narrowLanguages returns languages of programs whose lanes are 1 or 2 bytes wide. For each width
// there is one where shift counts may differ from lane to lane, one without shifts, and one with
// quotients instead of shifts.
func narrowLanguages() (out []loopgen.Language) {
	for _, d := range [][]array.DType{{array.Bool, array.Int8, array.Uint8}, {array.Bool, array.Int16, array.Uint16}} {
		l := loopgen.Language{DTypes: d}
		for t := loop.I32; t <= loop.I16; t++ {
			if t != loop.TypeOf(d[1]) {
				l.Lacks = append(l.Lacks, loopgen.Item{Type: t})
			}
		}
		lack := func(lacks []loopgen.Item, ops ...loop.Op) []loopgen.Item {
			lacks = slices.Clone(lacks)
			for _, op := range ops {
				lacks = append(lacks, loopgen.Item{Op: op})
			}
			return lacks
		}
		l.Lacks = lack(l.Lacks, loop.OpLoadAt, loop.OpStoreAt, loop.OpMulHi, loop.OpMulHiU, loop.OpRotL, loop.OpPopCount, loop.OpLzCnt, loop.OpTzCnt)
		uncounted := lack(l.Lacks, loop.OpShl, loop.OpShr, loop.OpShrU)
		for _, lacks := range [][]loopgen.Item{lack(l.Lacks, quotients...), lack(uncounted, quotients...), uncounted} {
			l.Lacks = lacks
			out = append(out, l)
		}
	}
	return out
}

// shareDivisors divides by numbers of the row instead of other ones, where there are such.
func shareDivisors(p *loop.Program) {
	for v := range p.Ins {
		in := &p.Ins[v]
		if !slices.Contains(quotients, in.Op) || shared(p, in.B) {
			continue
		}
		for _, w := range p.Body {
			if x := &p.Ins[w]; w < loop.Value(v) && x.Type == in.Type && (x.Op == loop.OpConst || x.Op == loop.OpScalar) {
				in.B = w
			}
		}
	}
}

// TestNarrow compares programs of integers of 1 and 2 bytes with the interpreter.
// WEFT_FUZZ=n asks for n cases of each language.
func TestNarrow(t *testing.T) {
	isas := isas(t)
	n, first := 150, 0
	if s := os.Getenv("WEFT_FUZZ"); s != "" {
		n, _ = strconv.Atoi(s)
	}
	if s := os.Getenv("WEFT_FUZZ_FIRST"); s != "" {
		first, _ = strconv.Atoi(s)
	}
	narrow := 0
	languages := narrowLanguages()
	for _, l := range languages {
		for seed := first; seed < first+n; seed++ {
			c := loopgen.Generate(uint64(seed), l)
			shareDivisors(c.Program)
			if es := laneBytes(c.Program); es == 1 || es == 2 {
				narrow++
			}
			if _, err := Compile(c.Program, jit.AVX512); err != nil {
				t.Fatal(err)
			}
			if err := compare(c, isas...); err != nil {
				small := loopgen.Shrink(c, func(c *loopgen.Case) bool { return compare(c, isas...) != nil })
				t.Fatalf("%v\nmade smaller: %v\n%s", err, compare(small, isas...), small)
			}
		}
	}
	if narrow < n*len(languages)*2/3 {
		t.Errorf("%d of %d programs have narrow lanes", narrow, n*len(languages))
	}
}

// TestNarrowLengths has rows of every length that end where their memory does, and strips that begin
// anywhere.
func TestNarrowLengths(t *testing.T) {
	r := rand.New(rand.NewPCG(41, 42))
	types := []array.DType{array.Bool, array.Int8, array.Uint8, array.Int16, array.Uint16, array.Int32, array.Float16, array.Float32, array.Float64}
	for _, from := range types {
		for _, to := range types {
			b := loop.NewBuilder(from.String()+" to "+to.String(), []loop.Axis{{Kind: loop.Parallel}, {Kind: loop.Parallel}}, 1)
			x, y := b.Buf(from, false, loop.Any, loop.Unit), b.Buf(from, false, loop.Any, loop.Zero)
			out := b.Buf(to, true, loop.Any, loop.Unit)
			b.Pass(func() {
				v := b.Load(x)
				if t := b.Type(v); t == loop.B {
					v = b.Xor(v, b.Load(y))
				} else {
					v = b.Add(v, b.Load(y))
				}
				b.Store(out, b.Cvt(loop.TypeOf(to), v))
			})
			p := finish(t, b)
			for n := r.IntN(5); n < 280; n += 1 + r.IntN(9) {
				random(p, r, 2, n).fill(func(b int) uint64 { return element(r, p.Bufs[b].DType) }).check(t, nil)
			}
		}
	}
}

// TestStreaming demands that non-temporal stores write whole vectors where memory is aligned, of
// every type from every other.
func TestStreaming(t *testing.T) {
	r := rand.New(rand.NewPCG(43, 44))
	types := array.DTypes()
	for _, from := range types {
		for _, to := range types {
			if loop.TypeOf(from) == loop.None || loop.TypeOf(to) == loop.None {
				continue
			}
			b := loop.NewBuilder(from.String()+" to "+to.String(), []loop.Axis{{Kind: loop.Parallel}}, 0)
			x, out := b.Buf(from, false, loop.Unit), b.Buf(to, true, loop.Unit)
			b.Pass(func() { b.Store(out, b.Cvt(loop.TypeOf(to), b.Load(x))) })
			p := finish(t, b)
			for _, isa := range isas(t) {
				k, err := CompileStreaming(p, isa)
				if err != nil {
					t.Fatal(err)
				}
				for _, n := range []int{0, 1, 31, 64, 200, 1000} {
					s := random(p, r, n).fill(func(b int) uint64 { return element(r, p.Bufs[b].DType) })
					s.front = true // where a page begins
					got, _ := s.execute(t, k, plenty)
					if b, i, ok := same(p, got, s.interpret(t)); !ok {
						t.Fatalf("%s on %s, n %d: buffer %d differs at %d", p.Name, isa, n, b, i)
					}
				}
			}
		}
	}
}
