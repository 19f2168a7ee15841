package fft

import (
	"math"
	"slices"
	"unsafe"

	"weft/internal/fma"
	"weft/internal/jit"
)

// A float is the type of the parts of numbers.
type float interface{ float32 | float64 }

// lanes of a vector of portable code.
const portableBytes = 64

// bodies are the instructions of kernels that portable code runs.
var bodies = jit.NewCache[key, []instr](0)

// run runs the kernel of a key.
func run(k key, f *frame) {
	switch {
	case k.isa != jit.Portable:
		jit.Call(k.kernel(), 0, unsafe.Pointer(f))
	case k.size == 4:
		interpret[float32](k, f)
	default:
		interpret[float64](k, f)
	}
}

// interpret does in portable Go what the kernel of a key does.
func interpret[T float](k key, f *frame) {
	code, ok := bodies.Lookup(k)
	if !ok {
		code, _ = bodies.Get(k, func() ([]instr, error) { return butterfly(k.radix, k.tw, k.scaled).code, nil })
	}
	n := portableBytes / k.size
	values := make([]T, len(code)*n)
	tw := f.tw
	turned := *f
	f = &turned
	for o := range f.outer {
		src, dst := unsafe.Add(f.src, o*f.srcOuter), unsafe.Add(f.dst, o*f.dstOuter)
		for range f.inner {
			step(k, f, code, values, n, src, dst, tw)
			src, dst = unsafe.Add(src, 2*portableBytes), unsafe.Add(dst, 2*portableBytes)
			if k.tw == varying {
				tw = unsafe.Add(tw, 2*k.factors()*portableBytes)
			}
		}
		tw = unsafe.Add(tw, 2*k.numbers()*k.size)
		f.srcStep, f.dstStep = f.srcStep-f.srcTurn, f.dstStep-f.dstTurn
	}
}

// step computes one vector.
func step[T float](k key, f *frame, code []instr, values []T, n int, src, dst, tw unsafe.Pointer) {
	of := func(v value) []T { return values[int(v)*n:][:n] }
	for i := range code {
		in := &code[i]
		y := of(value(i))
		switch in.op {
		case opLoad:
			x := unsafe.Slice((*T)(unsafe.Add(src, in.k*f.srcStep)), 2*n)
			re, im := y, of(value(i)+1)
			if k.swapIn {
				re, im = im, re
			}
			if k.loads {
				for j := range n {
					re[j], im[j] = x[2*j], x[2*j+1]
				}
			} else {
				copy(re, x)
				copy(im, x[n:])
			}
			if k.mirrored(in.k) {
				slices.Reverse(re)
				slices.Reverse(im)
			}
		case opTwiddle:
			im := of(value(i) + 1)
			if k.tw == varying {
				x := unsafe.Slice((*T)(unsafe.Add(tw, 2*in.k*portableBytes)), 2*n)
				copy(y, x)
				copy(im, x[n:])
				continue
			}
			x := unsafe.Slice((*T)(unsafe.Add(tw, 2*in.k*k.size)), 2)
			for j := range n {
				y[j], im[j] = x[0], x[1]
			}
		case opNumber:
			fill(y, T(in.num))
		case opScale:
			fill(y, *(*T)(unsafe.Pointer(&f.scale)))
		case opStore:
			if k.mirrored(in.k) {
				slices.Reverse(of(in.a))
				slices.Reverse(of(in.b))
			}
			store(k, unsafe.Slice((*T)(unsafe.Add(dst, in.k*f.dstStep)), 2*n), of(in.a), of(in.b))
		case opReal:
			at := stream(in.k, k.swapIn)
			copy(y, unsafe.Slice((*T)(unsafe.Add(src, at%2*f.apart+at/2*f.srcStep)), n))
			if at >= 2 {
				slices.Reverse(y)
			}
		case opPlain:
			at := stream(in.k, k.swapOut)
			x := unsafe.Slice((*T)(unsafe.Add(dst, at%2*f.apart+at/2*f.dstStep)), n)
			if copy(x, of(in.a)); at >= 2 {
				slices.Reverse(x)
			}
		case opSecond:
		default:
			compute(in, y, of(in.a), of(in.b), of(in.c))
		}
	}
}

func fill[T float](y []T, x T) {
	for j := range y {
		y[j] = x
	}
}

// store stores the parts of a vector.
func store[T float](k key, y, re, im []T) {
	if k.swapOut {
		re, im = im, re
	}
	if !k.stores {
		copy(y, re)
		copy(y[len(re):], im)
		return
	}
	for j := range re {
		y[2*j], y[2*j+1] = re[j], im[j]
	}
}

// compute does arithmetic.
func compute[T float](in *instr, y, a, b, c []T) {
	switch in.op {
	case opAdd:
		for j := range y {
			y[j] = a[j] + b[j]
		}
	case opSub:
		for j := range y {
			y[j] = a[j] - b[j]
		}
	case opMul:
		for j := range y {
			y[j] = a[j] * b[j]
		}
	case opFMA:
		for j := range y {
			y[j] = fused(a[j], b[j], c[j])
		}
	case opFNMA:
		for j := range y {
			y[j] = fused(-a[j], b[j], c[j])
		}
	}
}

// fused is a*b + c, rounded once.
func fused[T float](a, b, c T) T {
	if unsafe.Sizeof(a) == 4 {
		return T(fma.Float32(float32(a), float32(b), float32(c)))
	}
	return T(math.FMA(float64(a), float64(b), float64(c)))
}
