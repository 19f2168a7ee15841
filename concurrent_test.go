package weft

import (
	"slices"
	"sync"
	"testing"
)

// together calls f from several goroutines that start at once.
func together(f func(k int)) {
	var wg sync.WaitGroup
	start := make(chan struct{})
	for k := range 8 {
		wg.Go(func() {
			<-start
			f(k)
		})
	}
	close(start)
	wg.Wait()
}

// Reading a tensor from several goroutines is safe, also one whose place on the tape
// is not known before it is read: a view, and a view of a view. Meant for -race.
func TestConcurrentReaders(t *testing.T) {
	for range 20 {
		x := vec(1, 2, 3, 4, 5, 6).RequireGrad()
		base := x.Mul(1)
		base.At(5).Assign(x.At(0)) // the views are made after a write
		v := base.Reshape(2, 3)
		u := v.T().At(1) // base[1], base[4]
		together(func(k int) {
			switch k % 4 {
			case 0: // different losses over shared tensors
				loss := u.Mul(u).Sum().Add(v.Exp().Sum().Mul(0))
				BackwardWith([]*Tensor{loss}, GradOpts{Retain: true})
			case 1:
				if g := Data[float64](Grad(u.Pow(3).Sum(), []*Tensor{u})[0]); !slices.Equal(g, []float64{12, 75}) {
					t.Errorf("gradient by a shared view: %v", g)
				}
			case 2:
				gs := Grad(v.Mul(2).Sum().Add(u.Sum()), []*Tensor{v, x}, GradOpts{Create: true})
				if g := Data[float64](gs[0].Flatten(0)); !slices.Equal(g, []float64{2, 3, 2, 2, 3, 2}) {
					t.Errorf("gradient by a shared view of which there is another: %v", g)
				}
				if g := Data[float64](gs[1]); !slices.Equal(g, []float64{4, 3, 2, 2, 3, 0}) {
					t.Errorf("gradient by the leaf: %v", g)
				}
			case 3:
				if !u.RequiresGrad() || u.IsLeaf() || v.Sum().Item() != 16 {
					t.Error("a shared view reads wrongly")
				}
			}
		})
		// Two passes of case 0.
		if g := Data[float64](x.Grad()); !slices.Equal(g, []float64{0, 8, 0, 0, 20, 0}) {
			t.Fatalf("gradient of the leaf: %v", g)
		}
	}
}

// Passes over the same tape at once: each has all of it, or is refused because
// another has used it up. None sees half of it.
func TestConcurrentPasses(t *testing.T) {
	for range 50 {
		x := vec(1, 2, 3).RequireGrad()
		y := x.Exp().Mul(x).Sin().Sum()
		want := Data[float64](Grad(y, []*Tensor{x}, GradOpts{Retain: true})[0])
		var mu sync.Mutex
		passed := 0
		together(func(int) {
			var g *Tensor
			if Try(func() { g = Grad(y, []*Tensor{x})[0] }) != nil {
				return
			}
			if got := Data[float64](g); !slices.Equal(got, want) {
				t.Errorf("gradient %v, want %v", got, want)
			}
			mu.Lock()
			passed++
			mu.Unlock()
		})
		if passed == 0 {
			t.Fatal("no pass got through")
		}
	}
}
