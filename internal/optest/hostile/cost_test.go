package hostile

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"weft"
	"weft/kernel"
	"weft/nn"
)

// A cost is a call whose arguments are far larger than its arrays and its result.
type cost struct {
	name    string
	refused bool // an error is what is wanted, since the result is too large or nobody can mean it
	call    func()
}

// costRoom is what the process of all costs may allocate, costTime how long one may take.
// Each takes a few milliseconds and megabytes.
const (
	costRoom = 700 << 20
	costTime = 20 * time.Second
)

func both(n int) [2]int { return [2]int{n, n} }

// backward computes the gradient of the sum of f of a small array, too.
func backward(f func(x *weft.Tensor) *weft.Tensor, shape ...int) func() {
	return func() {
		x := weft.Ones(shape...).RequireGrad()
		f(x).Sum().Backward()
	}
}

func costs() (all []cost) {
	add := func(name string, call func()) { all = append(all, cost{name, false, call}) }
	refuse := func(name string, call func()) { all = append(all, cost{name, true, call}) }

	for _, n := range []int{1 << 10, 1 << 20, 1 << 29} {
		for _, w := range []struct{ windowH, windowW, padH, padW, strideH, strideW int }{
			{n, n, n / 2, n / 2, n, n}, {n, n, n - 1, n - 1, n, n}, {n, 1, n - 1, 0, n - 1, 1}, {1, n, 0, n - 1, 1, n - 1}, {2, 2, 0, 0, n, n},
		} {
			o := weft.PoolOpts{Window: [2]int{w.windowH, w.windowW}, Padding: [2]int{w.padH, w.padW}, Stride: &[2]int{w.strideH, w.strideW}}
			add(fmt.Sprintf("MaxPool2d of 4x4, %+v", w), backward(func(x *weft.Tensor) *weft.Tensor { return x.MaxPool2d(o) }, 1, 2, 4, 4))
			add(fmt.Sprintf("AvgPool2d of 4x4, %+v", w), backward(func(x *weft.Tensor) *weft.Tensor { return x.AvgPool2d(o) }, 1, 2, 4, 4))
			if w.padW > 0 {
				add(fmt.Sprintf("AvgPool2d of 4x0, %+v", w), func() { weft.Ones(1, 2, 4, 0).AvgPool2d(o) })
			}
		}
		for _, groups := range []int{1, 2} {
			for _, c := range []struct{ taps, pad, stride, dilation int }{
				{1, n, n, 1}, {1, n, n - 1, 1}, {1, 0, n, 1}, {3, n, n, 1}, {3, n, n - 1, 1}, {3, n, max(n/2, 1), n}, {3, n, n, n}, {3, 1, n, 1},
			} {
				add(fmt.Sprintf("Conv2d of 5x5 in %d groups, %+v", groups, c), func() {
					x, f := weft.Ones(1, 2, 5, 5).RequireGrad(), weft.Ones(2, 2/groups, c.taps, c.taps).RequireGrad()
					x.Conv2d(f, nil, weft.ConvOpts{Padding: both(c.pad), Stride: new(both(c.stride)), Dilation: new(both(c.dilation)), Groups: &groups}).Sum().Backward()
				})
			}
			for _, c := range []struct{ taps, pad, stride, dilation int }{{1, n/2 - 1, n - 1, 1}, {3, n / 2, n, 1}, {3, n, 1, n}} {
				add(fmt.Sprintf("ConvTranspose2d of 2x2 in %d groups, %+v", groups, c), func() {
					x, f := weft.Ones(1, 2, 2, 2).RequireGrad(), weft.Ones(2, 2/groups, c.taps, c.taps).RequireGrad()
					x.ConvTranspose2d(f, nil, weft.ConvTransposeOpts{Padding: both(c.pad), Stride: new(both(c.stride)), Dilation: new(both(c.dilation)), Groups: &groups}).Sum().Backward()
				})
			}
		}
	}
	add("Conv2d with a filter as large as the picture", func() {
		x, f := weft.Ones(1, 1, 300, 300).RequireGrad(), weft.Ones(1, 1, 300, 300).RequireGrad()
		x.Conv2d(f, nil, weft.ConvOpts{}).Sum().Backward()
	})
	add("Conv2d with a filter larger than the picture", func() {
		x, f := weft.Ones(1, 1, 3, 3).RequireGrad(), weft.Ones(1, 1, 300, 300).RequireGrad()
		x.Conv2d(f, nil, weft.ConvOpts{Padding: both(299)}).Sum().Backward()
	})
	add("Conv2d with steps as large as the picture", func() {
		x, f := weft.Ones(1, 1, 500, 500).RequireGrad(), weft.Ones(1, 1, 3, 3).RequireGrad()
		x.Conv2d(f, nil, weft.ConvOpts{Stride: new(both(500))}).Sum().Backward()
	})
	for _, n := range []int{1 << 10, 1e5} {
		add(fmt.Sprintf("AvgPool2d of all of 1x%d", n), backward(func(x *weft.Tensor) *weft.Tensor { return x.AvgPool2d(weft.PoolOpts{Window: [2]int{1, n}}) }, 1, 1, 1, n))
		add(fmt.Sprintf("AvgPool2d of all of %dx1", n), backward(func(x *weft.Tensor) *weft.Tensor { return x.AvgPool2d(weft.PoolOpts{Window: [2]int{n, 1}}) }, 1, 1, n, 1))
	}

	at := func(offset string) *kernel.Func {
		return kernel.MustParse("package k\nimport \"weft/kernel\"\nfunc F(a kernel.Near1[float32]) float32 { return a.At(0) + a.At(" + offset + ") }").Func("F")
	}
	moving := kernel.MustParse("package k\nimport \"weft/kernel\"\nfunc F(a kernel.Near1[float32], n int) float32 { return a.At(n) }").Func("F")
	diagonal := kernel.MustParse("package k\nimport \"weft/kernel\"\nfunc F(a kernel.Near2[float32]) float32 { return a.At(0, 0) + a.At(100000, -100000) }").Func("F")
	ten := weft.Arange(10).To(weft.Float32)
	for b := kernel.Constant; b <= kernel.Valid; b++ {
		o := kernel.StencilOpts{Border: b}
		add("Stencil at 1000, "+b.String(), func() { at("1000").Stencil(ten, o) })
		list := refuse
		if b == kernel.Constant || b == kernel.Valid {
			list = add
		}
		for _, offset := range []string{"1000000000000", "-1000000000000", "100000000"} {
			list("Stencil at "+offset+", "+b.String(), func() { at(offset).Stencil(ten, o) })
			list("Stencil with a gradient at "+offset+", "+b.String(), func() { at(offset).Stencil(ten.Clone().RequireGrad(), o).Sum().Backward() })
		}
		list("Stencil on a diagonal, "+b.String(), func() { diagonal.Stencil(weft.Ones(10, 10), o) })
		far := o
		far.Neighborhood = [][2]int{{-1 << 30, 1 << 30}}
		list("Stencil with a Neighborhood of 2^30, "+b.String(), func() { moving.Stencil(ten, 3, far) })
		if b != kernel.Valid {
			list("Iterate at 10^9, "+b.String(), func() { at("1000000000").Iterate(3, ten, o) })
		}
	}
	refuse("Stencil by a BorderFunc", func() {
		at("1000000000000").Stencil(ten, kernel.StencilOpts{BorderFunc: func(i, n int) int { return 0 }})
	})
	add("Stencil with a Step of 2^40", func() { at("1").Stencil(ten, kernel.StencilOpts{Border: kernel.Wrap, Step: []int{1 << 40}}) })

	x := weft.Ones(4, 4)
	add("Roll", func() { x.Roll(0, 1<<62); x.Roll(1, -1<<63) })
	refuse("Pad", func() { x.Pad(0, 1<<40, 1<<40, 0, 0) })
	refuse("Tile", func() { x.Tile(1<<40, 1<<10) })
	refuse("Repeat", func() { x.Repeat(1<<40, 1<<10) })
	refuse("RepeatInterleave", func() { x.RepeatInterleave(0, 1<<50) })
	refuse("RepeatInterleave by counts", func() { x.RepeatInterleave(0, weft.FromSlice([]int64{1 << 50, 1, 1, 1})) })
	add("Tril and Triu", func() { x.Tril(1 << 62); x.Triu(-1 << 62) })
	refuse("Diag", func() { ten.Diag(1 << 40) })
	add("Diag of a matrix", func() { x.Diag(1 << 40) })
	refuse("BinCount", func() { weft.FromSlice([]int64{1 << 60}).BinCount(nil, 0) })
	refuse("BinCount of a size", func() { weft.FromSlice([]int64{1}).BinCount(nil, 1<<40) })
	refuse("Histogram", func() { x.Histogram(weft.HistogramOpts{Bins: new(1 << 40)}) })
	refuse("Linspace", func() { weft.Linspace(0, 1, 1<<40) })
	refuse("Arange", func() { weft.Arange(0.0, 1, 1e-15) })
	refuse("Eye", func() { weft.Eye(1 << 30) })
	refuse("TopK", func() { ten.TopK(1<<40, 0, weft.TopKOpts{}) })
	add("Chunk", func() { ten.Chunk(0, 1<<40) })
	add("Pow", func() { ten.Pow(1 << 40) })
	refuse("Upsample", func() { nn.Upsample{Size: new(both(1 << 30))}.Forward(weft.Ones(1, 1, 4, 4)) })
	add("Upsample of no pictures", func() { nn.Upsample{Size: new(both(1 << 20))}.Forward(weft.Ones(0, 1, 4, 4)) })
	refuse("AdaptiveAvgPool2d", func() { nn.AdaptiveAvgPool2d{Size: [2]*int{new(1 << 30), new(1)}}.Forward(weft.Ones(1, 1, 4, 4)) })
	add("AdaptiveAvgPool2d of a long row", func() { nn.AdaptiveAvgPool2d{Size: [2]*int{new(1), new(50000)}}.Forward(weft.Ones(1, 1, 1, 99991)) })
	return all
}

// TestCostsFollowArrays makes calls whose arguments are far larger than their arrays, in a child process
// whose memory is bounded: what they take must follow the arrays and the results, or they
// must be refused.
func TestCostsFollowArrays(t *testing.T) {
	if os.Getenv("WEFT_HOSTILE_CHILD") != "" {
		if err := limit(costRoom); err != nil {
			panic(err)
		}
		for _, c := range costs() {
			fmt.Println("begin", c.name)
			err := weft.Try(c.call)
			switch {
			case err == nil && c.refused:
				fmt.Println("fault", c.name, "was not refused")
			case err != nil && !c.refused:
				fmt.Println("fault", c.name, err)
			}
		}
		fmt.Println("end")
		return
	}
	if !limited {
		t.Skip("SKIPPED: nothing bounds the memory of calls on this platform")
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestCostsFollowArrays$", "-test.timeout=0")
	cmd.Env = append(os.Environ(), "WEFT_HOSTILE_CHILD=costs")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	stdout, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	late := time.AfterFunc(costTime, func() { cmd.Process.Kill() })
	defer late.Stop()
	calling, ended := "", false
	for s := bufio.NewScanner(stdout); s.Scan(); {
		what, rest, _ := strings.Cut(s.Text(), " ")
		switch what {
		case "begin":
			calling = rest
			late.Reset(costTime)
		case "fault":
			t.Error(rest)
		case "end":
			ended = true
		}
	}
	if err := cmd.Wait(); !ended {
		t.Errorf("%s ended its process or took more than %v: %v\n%s", calling, costTime, err, head(stderr.String()))
	}
}
