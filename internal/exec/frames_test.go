package exec

import (
	"testing"

	"weft/internal/array"
)

// What a run leaves for others is zero in its whole capacity: neither memory nor an offset of the last run is there.
func TestFramesAreLeftZero(t *testing.T) {
	f := newFrame(20)
	for i := range f.slots {
		f.slots[i], f.off[i] = array.NewSmall(8), i+1
	}
	f.free()
	for i, st := range f.slots[:20] {
		if st != nil || f.off[:20][i] != 0 {
			t.Errorf("slot %d of a frame keeps %p and offset %d", i, st, f.off[:20][i])
		}
	}
}

// A loop that is over keeps no array.
func TestLoopRunsAreLeftZero(t *testing.T) {
	v := array.View{Store: array.NewSmall(8), DType: array.Float32}
	r := &loopRun{args: []array.View{v}, ins: []array.View{v}, outs: []array.View{v}, turns: [][2]array.View{{v, v}}, stop: v, ptrs: []*array.View{&v}}
	r.free()
	if r.args != nil || r.stop.Store != nil || r.ins[:1][0].Store != nil || r.outs[:1][0].Store != nil || r.turns[:1][0][0].Store != nil || r.turns[:1][0][1].Store != nil || r.ptrs[:1][0] != nil {
		t.Errorf("a loop keeps %+v", r)
	}
}
