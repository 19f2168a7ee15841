package weft

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"weft/internal/core"
)

// Scripts of random writes through random views: every byte that changed is pending, for
// every policy, and sinks have the array's bytes after each flush.
//
//	WEFT_TRACKED=200000 go test -run RandomWrites -timeout 0 .
//
// plays 200,000 scripts.
func TestRandomWrites(t *testing.T) {
	scripts := 4000
	if testing.Short() {
		scripts = 1500
	}
	if n, err := strconv.Atoi(os.Getenv("WEFT_TRACKED")); err == nil {
		scripts = n
	}
	types := []DType{Float32, Float64, Int8, Uint16, Int64, Bool, Complex64, Float16}
	for seed := range scripts {
		r := rand.New(rand.NewPCG(uint64(seed), 7))
		dt := types[r.IntN(len(types))]
		shape := make([]int, 1+r.IntN(4))
		for i := range shape {
			shape[i] = 1 + r.IntN(6)
		}
		x := ZerosOf(dt, shape...)
		opts := []TrackOpts{{}, {OneInterval: true}, every, {Item: new(dt.Size() * (1 + r.IntN(4))), Cost: &Cost{Latency: 20, PerSecond: 1e9}}}
		var ds []*Tracked
		var sinks []*mirror
		for _, o := range opts {
			ds = append(ds, Track(x, o))
			sinks = append(sinks, &mirror{data: make([]byte, len(memory(x)))})
		}
		for range 1 + r.IntN(8) {
			for i, d := range ds {
				if r.IntN(3) == 0 {
					sinks[i].fail = sinks[i].calls + r.IntN(4)
					_, err := d.Flush(sinks[i])
					if err == nil && !bytes.Equal(sinks[i].data, memory(x)) {
						t.Fatalf("seed %d, %+v: the sink has other bytes", seed, opts[i])
					}
				}
			}
			before := bytes.Clone(memory(x))
			what := someWrite(r, someView(r, x))
			for i, d := range ds {
				within(t, fmt.Sprintf("seed %d, %s, %+v", seed, what, opts[i]), before, memory(x), d.Pending())
			}
		}
		for i, d := range ds {
			sinks[i].fail = 0
			if _, err := d.Flush(sinks[i]); err != nil || !bytes.Equal(sinks[i].data, memory(x)) {
				t.Fatalf("seed %d, %+v: after the last flush the sink has other bytes: %v", seed, opts[i], err)
			}
		}
	}
}

// someView returns some writable view of x.
func someView(r *rand.Rand, x *Tensor) *Tensor {
	v := x
	for range r.IntN(4) {
		w := v
		switch r.IntN(6) {
		case 0:
			if v.Rank() > 1 {
				w = v.Transpose(r.IntN(v.Rank()), r.IntN(v.Rank()))
			}
		case 1:
			w = v.Unsqueeze(0)
		case 2:
			if v.Rank() > 1 && v.v().Contiguous() {
				w = v.Reshape(-1)
			}
		case 3:
			if v.Rank() > 1 {
				w = v.Diagonal(r.IntN(3) - 1)
			}
		default:
			var spans []Span
			for _, n := range v.Shape() {
				switch r.IntN(4) {
				case 0:
					if n > 0 {
						spans = append(spans, Index(r.IntN(2*n)-n))
						continue
					}
					fallthrough
				case 1:
					lo := r.IntN(n + 1)
					spans = append(spans, Range(lo, lo+r.IntN(n-lo+1), 1+r.IntN(3)))
				case 2:
					if n > 0 {
						hi := r.IntN(n)
						spans = append(spans, Range(hi, r.IntN(hi+1), -1-r.IntN(2)))
						continue
					}
					fallthrough
				default:
					spans = append(spans, All)
				}
			}
			w = v.Slice(spans...)
		}
		if w.v().Store == x.v().Store {
			v = w
		}
	}
	return v
}

// someWrite writes into a view in some way, and says in which.
func someWrite(r *rand.Rand, v *Tensor) string {
	value := r.IntN(100)
	switch r.IntN(9) {
	case 7:
		if v.Rank() > 0 && v.Shape()[0] > 0 {
			n := v.Shape()[0]
			v.Update(func(x *Tensor) *Tensor { return x.IndexPut(value%2, []int{r.IntN(n), r.IntN(n) - n}) })
			return "put rows"
		}
	case 8:
		if v.v().DType != Bool && v.v().DType != Complex64 {
			v.Update(func(x *Tensor) *Tensor { return x.MaskedFill(x.Eq(value%3), value%2) })
			return "fill where a mask is"
		}
	case 0:
		if v.v().DType != Bool {
			v.AddAssign(1 + value%2)
			return "add"
		}
	case 1:
		v.Assign((*Tensor)(core.Full("full", numberOperand("full", value), 0, v.v().DType, v.Shape())))
		return "assign a tensor"
	case 2:
		v.Update(func(x *Tensor) *Tensor { return x.Add(1).To(v.v().DType) })
		return "update"
	case 3:
		if v.v().Contiguous() && v.Size() > 0 {
			b := make([]byte, 1+r.IntN(v.Size()*v.v().DType.Size()))
			for i := range b {
				b[i] = byte(r.IntN(2))
			}
			v.Sink().WriteAt(b, int64(r.IntN(v.Size()*v.v().DType.Size()-len(b)+1)))
			return "sink"
		}
	case 4:
		if v.v().DType == Float32 && v.v().Contiguous() {
			Borrow(v, func(d []float32) {
				if len(d) > 0 {
					d[r.IntN(len(d))]++
				}
			})
			return "borrow"
		}
	case 5:
		if v.Rank() > 0 && v.Shape()[0] > 1 {
			n := v.Shape()[0]
			v.Slice(Range(1, n)).Assign(v.Slice(Range(0, n-1)))
			return "assign what overlaps"
		}
	}
	v.Fill(value % 2)
	return "fill"
}
