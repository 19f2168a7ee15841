package records

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"weft"
	"weft/internal/tensortest"
)

// A mixed is a record whose fields have four element types, one of them beside another of its type.
type mixed struct {
	Pos  [3]float32
	ID   int32
	Mass float64
	Vel  [3]float32
	Hue  uint8
	_    [3]byte
}

func mixedItems(n int) []mixed {
	list := make([]mixed, n)
	for i := range list {
		f := float32(i)
		list[i] = mixed{[3]float32{f, f + 0.5, -f}, int32(i * i), float64(i) / 3, [3]float32{1, f, 2}, uint8(i), [3]byte{}}
	}
	return list
}

// Fields of one array, whose elements lie between one another, are arguments of one compiled function:
// read, written, sliced, and with gradients. Each case runs plainly and compiled, and all bytes agree.
func TestFieldsAsArgumentsOfCompiledFunctions(t *testing.T) {
	tensortest.SkipLate(t, "it shares memory of the host")
	type tensors = []*weft.Tensor
	fields := func(names ...string) func(a *Array) tensors {
		return func(a *Array) (ts tensors) {
			for _, n := range names {
				ts = append(ts, a.Field(n))
			}
			return ts
		}
	}
	for _, c := range []struct {
		name string
		args func(a *Array) tensors
		f    func(x tensors) tensors
	}{
		{"read", fields("Pos", "ID", "Mass", "Hue"), func(x tensors) tensors {
			return tensors{x[0].Sum(1).Add(x[1]), x[2].Mul(x[1]), x[3].Add(1)}
		}},
		{"write each", fields("Pos", "Vel", "ID", "Mass"), func(x tensors) tensors {
			x[0].AddAssign(x[1])
			x[2].AddAssign(2)
			x[3].MulAssign(x[2])
			x[1].Assign(x[0].Mul(3))
			return tensors{x[3].Sum()}
		}},
		{"write a slice", fields("ID", "Pos"), func(x tensors) tensors {
			x[1].Slice(weft.Range(1, 4), weft.Range(0, weft.End, 2)).AddAssign(1)
			x[1].Slice(weft.Range(2, 3)).Assign(7)
			x[0].Slice(weft.Range(0, weft.End, 2)).Assign(-1)
			return tensors{x[1].T().MatMul(x[1])}
		}},
		{"of transposed and flipped views", func(a *Array) tensors {
			return tensors{a.Field("Pos").T(), a.Field("ID"), a.Field("Vel").Flip(0)}
		}, func(x tensors) tensors {
			x[0].Slice(weft.Range(1, 3)).Assign(x[1])
			return tensors{x[2].Add(x[0].T()), x[0].Flip(1).Reshape(-1)}
		}},
		{"a field and a part of it", func(a *Array) tensors {
			return tensors{a.Field("Mass"), a.Field("Pos").Slice(weft.All, weft.Range(1, 2)), a.Field("Pos")}
		}, func(x tensors) tensors {
			x[1].Assign(5)
			x[2].AddAssign(1)
			return tensors{x[1].Add(x[0].Unsqueeze(1)), x[2].Clone()}
		}},
		{"bytes and a field that are read", func(a *Array) tensors { return tensors{a.Bytes(), a.Field("Mass")} }, func(x tensors) tensors {
			return tensors{x[0].To(weft.Int32).Sum(), x[1].Exp()}
		}},
		{"no records", func(a *Array) tensors { a = a.Slice(weft.Range(0, 0)); return tensors{a.Field("ID"), a.Field("Mass")} }, func(x tensors) tensors {
			x[1].AddAssign(1)
			return tensors{x[0].Add(x[1])}
		}},
		{"one record", func(a *Array) tensors { a = a.At(2); return tensors{a.Field("ID"), a.Field("Mass")} }, func(x tensors) tensors {
			x[1].AddAssign(x[0])
			return tensors{x[1].Mul(2)}
		}},
		{"gradients", func(a *Array) tensors {
			return tensors{a.Field("Pos").Detach().RequireGrad(), a.Field("ID"), a.Field("Mass").Detach().RequireGrad()}
		}, func(x tensors) tensors {
			x[0].Mul(x[0]).Sum(1).Mul(x[2]).Add(x[1]).Sum().Backward()
			return tensors{x[0].Grad().Clone(), x[2].Grad().Clone()}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			plain, compiled := mixedItems(6), mixedItems(6)
			want := c.f(c.args(FromSlice(plain)))
			a := FromSlice(compiled)
			f := weft.Compile(func(x tensors) tensors { return c.f(x) })
			args := c.args(a)
			var got tensors
			if err := weft.Try(func() { got = f.Func()(args) }); err != nil {
				t.Fatal(err)
			}
			for i := range want {
				if !reflect.DeepEqual(got[i].Shape(), want[i].Shape()) || weft.Digest(got[i]) != weft.Digest(want[i]) {
					t.Errorf("result %d is %v, want %v", i, got[i], want[i])
				}
			}
			if !slices.Equal(plain, compiled) {
				t.Errorf("the records are\n%v, want\n%v", compiled, plain)
			}
		})
	}
}

// Writing is refused where the bytes of two arguments are the same.
func TestArgumentsThatShareBytesOfOtherTypes(t *testing.T) {
	a := FromSlice(mixedItems(4))
	f := weft.Compile(func(bytes, x *weft.Tensor) *weft.Tensor { x.AddAssign(1); return bytes.Sum() })
	_, err := f.Call(a.Bytes(), a.Field("Mass"))
	if err == nil || !strings.Contains(err.Error(), "share bytes, and the function writes argument 1") {
		t.Errorf("%v", err)
	}
}

// A compiled function that writes one field leaves only its bytes to be sent.
func TestTrackedFieldsOfCompiledFunctions(t *testing.T) {
	tensortest.SkipLate(t, "it shares memory of the host")
	a := FromSlice(mixedItems(5))
	d := a.Track(weft.TrackOpts{Item: new(1)})
	defer d.Stop()
	d.Flush(Zeros(a.Layout(), 5).Bytes().Sink())
	f := weft.Compile(func(id, mass *weft.Tensor) {
		id.Slice(weft.Range(1, 2)).Assign(9)
	})
	if _, err := f.Call(a.Field("ID"), a.Field("Mass")); err != nil {
		t.Fatal(err)
	}
	size := a.Layout().Size
	if got, want := fmt.Sprint(d.Pending()), fmt.Sprint([]weft.ByteRange{{Start: size + 12, Stop: size + 16}}); got != want {
		t.Errorf("%s wait, want %s", got, want)
	}
}

// Sixteen goroutines write two fields of one array by compiled calls, which wait for one another.
func TestFieldsOfOneArrayInSixteenGoroutines(t *testing.T) {
	a := FromSlice(mixedItems(50))
	id, mass := a.Field("ID"), a.Field("Mass")
	id.Fill(0)
	mass.Fill(0)
	f := weft.Compile(func(id, mass *weft.Tensor) {
		id.AddAssign(1)
		mass.AddAssign(id)
	})
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			for range 5 {
				if _, err := f.Call(id, mass); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if i, m := id.Sum().ItemInt(), mass.Sum().Item(); i != 50*80 || m != 50*80*81/2 {
		t.Errorf("the sums are %d and %v", i, m)
	}
}
