package loopgen_test

import (
	"encoding/binary"
	"testing"

	"weft/internal/array"
	"weft/internal/loop"
	"weft/internal/loop/loopgen"
	"weft/internal/loop/looptest"
)

// TestUniform runs programs lane by lane, and demands that the values that Program.Uniform reports
// are the same in all lanes.
func TestUniform(t *testing.T) {
	n := max(campaign(t), 200)
	said, loops := 0, 0
	for seed := range n {
		c := loopgen.Generate(uint64(seed), loopgen.Language{})
		p := c.Program
		for _, leaving := range []bool{false, true} {
			for first := p.Lane; first >= max(p.Lane-1, 0); first-- {
				uniform := p.Uniform(first, leaving)
				seen := map[string]uint64{}
				var key []byte
				run := func(p *loop.Program, f *loop.Frame, _ func() bool) error {
					s := looptest.New(p, f)
					s.See = func(v loop.Value) {
						in := &p.Ins[v]
						// The value of a reduction comes with the end of its pass.
						if !uniform[v] || in.Type == loop.None || in.Op == loop.OpReduce || len(seen) > 200_000 {
							return
						}
						key = binary.AppendVarint(key[:0], int64(v))
						for _, list := range [][]int{s.Index[:first], s.Trips} {
							key = binary.AppendVarint(key, int64(len(list)))
							for _, i := range list {
								key = binary.AppendVarint(key, int64(i))
							}
						}
						if x, ok := seen[string(key)]; ok && x != s.Values[v] {
							t.Fatalf("v%d = %s.%s %v is %#x and %#x where lanes begin at axis %d\n%s", v, in.Op, in.Type, in.Operands(), x, s.Values[v], first, c)
						}
						seen[string(key)] = s.Values[v]
						said++
						if in.Op == loop.OpParam || in.Op == loop.OpOut {
							loops++
						}
					}
					s.Run()
					return nil
				}
				if c.Extents[p.Lane] > 50 {
					continue
				}
				if _, err := loopgen.Run(c, loopgen.Heap, run); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	if said < 10000 || loops < 1000 {
		t.Errorf("only %d values, %d of loops", said, loops)
	}
}

// TestUniformFinds has what the analysis must see: a counter, its offset, the result of a loop
// that lanes leave together, and of one that they do not.
func TestUniformFinds(t *testing.T) {
	b := loop.NewBuilder("same", []loop.Axis{{Kind: loop.Parallel}}, 0)
	table, x, out := b.Buf(array.Float32, false, loop.Zero), b.Buf(array.Float32, false, loop.Unit), b.Buf(array.Float32, true, loop.Unit)
	n := b.Scalar(b.ScalarArg(loop.I64))
	var entry, counter, sum loop.Value
	var together, apart []loop.Value
	b.Pass(func() {
		limit := b.Load(x)
		zero, one := b.Int(loop.I64, 0), b.Int(loop.I64, 1)
		step := func(v []loop.Value) []loop.Value {
			counter, entry = v[0], b.LoadAt(table, v[0])
			sum = v[1]
			return []loop.Value{b.Add(v[0], one), b.Add(v[1], entry), b.Mul(v[2], limit)}
		}
		init := []loop.Value{zero, b.Float(loop.F32, 0), b.Float(loop.F32, 1)}
		together = b.While(init, func(v []loop.Value) loop.Value { return b.Lt(v[0], n) }, step)
		apart = b.While(init, func(v []loop.Value) loop.Value {
			return b.And(b.Lt(v[0], n), b.Lt(v[1], limit))
		}, step)
		b.Store(out, b.Add(b.Add(together[1], together[2]), apart[1]))
	})
	p, err := b.Done()
	if err != nil {
		t.Fatal(err)
	}
	for _, leaving := range []bool{false, true} {
		uniform := p.Uniform(0, leaving)
		// counter, entry and sum are of the loop that lanes leave one by one.
		for i, want := range map[loop.Value]bool{together[0]: true, together[1]: true, together[2]: false, apart[0]: false, apart[1]: false, counter: leaving, entry: leaving, sum: leaving} {
			if uniform[i] != want {
				t.Errorf("leaving %v: v%d: %v\n%s", leaving, i, uniform[i], p)
			}
		}
	}
}
