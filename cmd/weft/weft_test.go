package main

import (
	"bytes"
	"context"
	"debug/elf"
	"errors"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"weft"
	"weft/internal/jit"
	"weft/npy"
)

// files makes the arrays that the tests compute with, in a new directory that
// becomes the current one.
func files(t *testing.T) {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, x := range map[string]*weft.Tensor{
		"a.npy":     weft.FromSlice([]float32{1, 2, 3, 4, 5, 6}, 2, 3),
		"b.npy":     weft.FromSlice([]float32{10, 20, 30}),
		"c.npy":     weft.FromSlice([]float64{1, 2, 3, 4}),
		"n.npy":     weft.FromSlice([]int64{7, 8}),
		"empty.npy": weft.ZerosOf(weft.Float64, 0, 3),
	} {
		if err := npy.WriteFile(name, x); err != nil {
			t.Fatal(err)
		}
	}
	pair := map[string]*weft.Tensor{"left": weft.FromSlice([]float32{1, 2}), "right": weft.FromSlice([]float32{5, 8})}
	if err := npy.WriteArchiveFile("pair.npz", pair, npy.ArchiveOpts{}); err != nil {
		t.Fatal(err)
	}
	if err := npy.WriteArchiveFile("one.npz", map[string]*weft.Tensor{"x": weft.FromSlice([]float32{3, 5})}, npy.ArchiveOpts{}); err != nil {
		t.Fatal(err)
	}
	good, err := os.ReadFile("a.npy")
	if err != nil {
		t.Fatal(err)
	}
	huge := bytes.Replace(good, []byte("(2, 3)"), []byte("(2147483647, 2147483647)"), 1)
	if err := os.WriteFile("k.go", []byte(kernelSource), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Mkdir("sub", 0o700), os.Mkdir("dir.go", 0o700)); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"bad.go", "sub/bad.go"} {
		if err := os.WriteFile(name, []byte("package k\nfun F()\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, data := range map[string][]byte{"short.npy": good[:len(good)-3], "text.npy": []byte("1 2 3\n"), "none.npy": nil, "huge.npy": huge} {
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// kernelSource are functions for weft kernel.
const kernelSource = `package k

import "weft/kernel"

func Axpy[T float32 | float64](a, x, y T) T { return a*x + y }

func Split(x float32) (whole int32, rest float32) {
	whole = int32(x)
	return whole, x - float32(whole)
}

func Turn(z complex128, on bool) complex128 {
	if on {
		return z * 1i
	}
	return z
}

func Shift(x int64, n int8) int64 { return x << n }

func Slope(a kernel.Near1[float64]) float64 { return a.At(1) - a.At(-1) }

func Window(a kernel.Near1[float64], w int) float64 {
	s := 0.0
	for d := -w; d <= w; d++ {
		s += a.At(d)
	}
	return s
}

func Wrong(x float32) float32 {
	go print(x)
	return x
}
`

// commands are command lines with what they print and return.
var commands = []struct {
	args           string
	code           int
	stdout, stderr string // patterns of the whole output
}{
	{"eval 1+2*3", 0, `7\n`, ``},
	{"eval 2*a+b a=a.npy b=b.npy", 0, `\[\[12\. 24\. 36\.\]\n \[18\. 30\. 42\.\]\]\n`, ``},
	{"eval a/b a=1 b=4", 0, `0\.25\n`, ``},
	{"eval a+b a=true b=-2", 0, `-1\n`, ``},
	{"eval a*b a=1e-3 b=0x10", 0, `0\.016\n`, ``},
	{"eval sum(a,1) a=a.npy", 0, `\[ 6\. 15\.\]\n`, ``},
	{"eval n%4 n=n.npy", 0, `\[3 0\]\n`, ``},
	{"eval a*2 a=empty.npy", 0, `\[\]\n`, ``},
	{"eval dot(a,b) a=a.npy b=b.npy -o out.npy", 0, ``, ``},
	{"eval x x=out.npy", 0, `\[140\. 320\.\]\n`, ``},
	{"eval sum(pow(a,3))*b a=a.npy b=2 --grad a:g.npy -o out.npy", 0, ``, ``},
	{"eval g g=g.npy", 0, `\[\[  6\.  24\.  54\.\]\n \[ 96\. 150\. 216\.\]\]\n`, ``},
	{"eval where(a>1,b,0)+0*a a=a.npy b=b.npy --grad a:g.npy --grad b:h.npy -o out.npy", 0, ``, ``},
	{"eval h h=h.npy", 0, `\[1\. 2\. 2\.\]\n`, ``},
	{"eval floor(b) b=b.npy --grad b:z.npy -o out.npy", 0, ``, ``},
	{"eval z z=z.npy", 0, `\[0\. 0\. 0\.\]\n`, ``},
	{"eval b*b+floor(c) b=b.npy c=b.npy --grad c:z.npy --grad b:y.npy -o out.npy", 0, ``, ``},
	{"eval z+y z=z.npy y=y.npy", 0, `\[20\. 40\. 60\.\]\n`, ``},
	{"eval -- -a a=3", 0, `-3\n`, ``},
	{"eval a+1 a=c.npy --time 7", 0, `\[2\. 3\. 4\. 5\.\]\n\nmedian of 7 +[0-9.]+[nµm]s a call\nmemory +\S+ GB/s \(64 bytes read and written\)\narithmetic +\S+ GFLOP/s \(4 operations\)\n`, ``},
	{"kernel k.go:Axpy a=2 x=a.npy y=b.npy", 0, `\[\[12\. 24\. 36\.\]\n \[18\. 30\. 42\.\]\]\n`, ``},
	{"kernel k.go:Axpy a=2 x=c.npy y=0.5", 0, `\[2\.5 4\.5 6\.5 8\.5\]\n`, ``},
	{"kernel k.go:Split x=2.5", 0, `2\n0\.5\n`, ``},
	{"kernel k.go:Split x=b.npy -o w.npy -o r.npy", 0, ``, ``},
	{"eval w+r w=w.npy r=r.npy", 0, `\[10\. 20\. 30\.\]\n`, ``},
	{"kernel k.go:Turn z=2 on=true", 0, `2j|0\.?\+2\.?j\n`, ``},
	{"kernel k.go:Shift x=n.npy n=3", 0, `\[56 64\]\n`, ``},
	{"kernel k.go:Axpy a=3 x=c.npy y=c.npy --grad x:gx.npy --grad y:gy.npy -o out.npy", 0, ``, ``},
	{"eval gx*10+gy gx=gx.npy gy=gy.npy", 0, `\[31\. 31\. 31\. 31\.\]\n`, ``},
	{"kernel k.go:Axpy a=a.npy x=k2.npy y=0 --leading", 1, ``, `weft: x: open k2.npy: .*\n`},
	{"kernel k.go:Slope a=c.npy", 0, `\[0\. 2\. 2\. 0\.\]\n`, ``},
	{"kernel k.go:Slope a=c.npy --stencil mode=constant,cval=7", 0, `\[7\. 2\. 2\. 7\.\]\n`, ``},
	{"kernel k.go:Slope a=c.npy --stencil mode=fill,cval=10", 0, `\[-8\.  2\.  2\.  7\.\]\n`, ``},
	{"kernel k.go:Slope a=c.npy --stencil mode=wrap", 0, `\[-2\.  2\.  2\. -2\.\]\n`, ``},
	{"kernel k.go:Slope a=c.npy --stencil mode=reflect", 0, `\[1\. 2\. 2\. 1\.\]\n`, ``},
	{"kernel k.go:Slope a=c.npy --stencil mode=mirror", 0, `\[0\. 2\. 2\. 0\.\]\n`, ``},
	{"kernel k.go:Slope a=c.npy --stencil mode=nearest", 0, `\[1\. 2\. 2\. 1\.\]\n`, ``},
	{"kernel k.go:Slope a=c.npy --stencil mode=valid", 0, `\[2\. 2\.\]\n`, ``},
	{"kernel k.go:Window a=c.npy w=1 --stencil neighborhood=-1:1,mode=valid", 0, `\[6\. 9\.\]\n`, ``},
	{"kernel k.go:Axpy a=1 x=c.npy y=0 --time 3", 0, `\[1\. 2\. 3\. 4\.\]\n\nmedian of 3: \S+ a call, \S+ GB/s \(64 bytes read and written\)\n`, ``},
	{"kernel k.go:Turn z=1+2i on=true", 0, `\(?-2\.?\+1\.?[ij]\)?\n`, ``},
	{"kernel k.go:Turn z=2i on=true --json", 0, `\{"dtype": "complex128", "shape": \[\], "data": \[-2, 0\]\}\n`, ``},
	{"eval 2*a a=pair.npz:left", 0, `\[2\. 4\.\]\n`, ``},
	{"eval 2*a a=one.npz", 0, `\[ 6\. 10\.\]\n`, ``},
	{"eval a+b a=pair.npz:left b=pair.npz:right", 0, `\[ 6\. 10\.\]\n`, ``},
	{"eval a a=pair.npz", 2, ``, `weft: a: pair.npz has left, right: give one as pair.npz:NAME\n`},
	{"eval a a=pair.npz:mid", 2, ``, `weft: a: pair.npz has left, right: give one as pair.npz:NAME\n`},
	{"eval a a=none.npz:x", 1, ``, `weft: a: .*none\.npz.*\n`},
	{"eval 2*a a=a.npy --json", 0, `\{"dtype": "float32", "shape": \[2, 3\], "data": \[\[2, 4, 6\], \[8, 10, 12\]\]\}\n`, ``},
	{"eval n+1 n=n.npy --json", 0, `\{"dtype": "int64", "shape": \[2\], "data": \[8, 9\]\}\n`, ``},
	{"eval log(b-10) b=b.npy --json", 0, `\{"dtype": "float32", "shape": \[3\], "data": \["-Infinity", 2\.\d+, 2\.\d+\]\}\n`, ``},
	{"eval sqrt(a-2) a=1 --json", 0, `\{"dtype": "float64", "shape": \[\], "data": "NaN"\}\n`, ``},
	{"eval b>10 b=b.npy --json", 0, `\{"dtype": "bool", "shape": \[3\], "data": \[false, true, true\]\}\n`, ``},
	{"eval a*2 a=empty.npy --json", 0, `\{"dtype": "float64", "shape": \[0, 3\], "data": \[\]\}\n`, ``},
	{"kernel k.go:Split x=2.5 --json", 0, `\{"dtype": "int32", "shape": \[\], "data": 2\}\n\{"dtype": "float32", "shape": \[\], "data": 0\.5\}\n`, ``},
	{"kernel k.go:Axpy a=1 x=c.npy y=0 --time 3 --json", 0, `\{.*\}\n\{"times": 3, "nanoseconds": \S+, "bytes": 64\}\n`, ``},
	{"eval a+1 a=c.npy --time 7 --json", 0, `\{.*\}\n\{"times": 7, "nanoseconds": \S+, "bytes": 64, "operations": 4\}\n`, ``},
	{"eval a a=1 --json --explain", 2, ``, `weft: eval: --explain prints text: it does not go with --json\n`},
	{"eval a+0 a=a.npy -o k.go", 1, ``, `weft: eval: k.go is there and is not an array: it is not replaced\n`},
	{"kernel k.go:Axpy a=1 x=a.npy y=0 -o k.go", 1, ``, `weft: kernel: k.go is there and is not an array: it is not replaced\n`},
	{"eval a+0 a=a.npy --grad a:k.go", 1, ``, `weft: eval: k.go is there and is not an array: it is not replaced\n`},
	{"view a a=1 -o k.go", 1, ``, `weft: view: k.go is there and is not a page: it is not replaced\n`},
	{"eval a+0 a=a.npy --grad a:g.npy -o g.npy", 2, ``, `weft: eval: two results go to g.npy\n`},
	{"kernel k.go:Split x=b.npy -o w.npy -o w.npy", 2, ``, `weft: kernel: two results go to w.npy\n`},
	{"eval a+0 a=a.npy -o - --time 3", 2, ``, `weft: eval: an array goes to standard output, .*\n`},
	{"eval a+0 a=a.npy --grad a:-", 2, ``, `weft: eval: an array goes to standard output, .*\n`},
	{"eval a+b a=- b=-", 1, ``, `weft: a: standard input: .*\n`},
	{"kernel -:F x=1", 1, ``, `weft: standard input: (.|\n)*`},
	{"kernel -:F x=-", 1, ``, `weft: standard input: (.|\n)*`},
	{"build -:F -o x", 1, ``, `weft: (.|\n)*`},
	{"info --short", 0, `weft \S+, backend (off|avx2|avx512)\n`, ``},
	{"--version", 0, `weft \S+\n`, ``},

	{"frob", 2, ``, `weft: there is no command "frob" \(weft --help lists them\)\n`},
	{"evla 1", 2, ``, `weft: there is no command "evla": did you mean eval\? \(.*\)\n`},
	{"kernl k.go:Axpy", 2, ``, `weft: there is no command "kernl": did you mean kernel\? \(.*\)\n`},
	{"Info", 2, ``, `weft: there is no command "Info": did you mean info\? \(.*\)\n`},
	{"info --short --json", 2, ``, `weft: .*short.*\n`},
	{"info x=1 --short", 2, ``, `weft: info: it takes no arguments but one file FILE.weft or MODEL\.onnx, got "x=1"\n`},
	{"--frob", 2, ``, `weft: unknown flag: --frob .*\n`},
	{"help frob", 2, ``, `weft: there is no command "frob" \(weft --help lists them\)\n`},
	{"eval 1 --time", 2, ``, `weft: eval: flag needs an argument: --time\n`},
	{"eval 1 -o", 2, ``, `weft: eval: flag needs an argument: -o\n`},
	{"eval --time=x 1", 2, ``, `weft: eval: --time is "x", want a whole number\n`},
	{"eval --json=false a -- a=-1", 0, `-1\n`, ``},
	{"eval -o out.npy --output=x.npy a a=2", 0, ``, ``},
	{"eval x x=x.npy", 0, `2\n`, ``},
	{"info more", 2, ``, `weft: info: it takes no arguments but one file FILE.weft or MODEL\.onnx, got "more"\n`},
	{"view exp(a)*a a=a.npy -o page.html", 0, ``, ``},
	{"view k.go:Axpy a=2 x=a.npy y=1 -o kernel.html", 0, ``, ``},
	{"view k.go:Slope a=c.npy -o -", 0, `<!doctype html>\n(.|\n)*a\.At\(1\)(.|\n)*</html>\n`, ``},
	{"view k.go:None x=1 -o p.html", 1, ``, `weft: k.go: there is no function None; .*\n`},
	{"view k.go:Axpy a=1 -o p.html", 2, ``, `weft: view: no value for x, y: .*\n`},
	{"view none.go:F x=1 -o p.html", 1, ``, `weft: none.go: .*\n`},
	{"view", 2, ``, `weft: view: a formula is missing, such as: .*\n`},
	{"view a a=1", 2, ``, `weft: view: no file for the page: give -o PAGE\.html\n`},
	{"view a+b a=1 -o p.html", 2, ``, `weft: view: no value for b: give b=FILE.npy or b=NUMBER\n`},
	{"view a+ a=1 -o p.html", 1, ``, `weft: expr: column 3: expected operand(.|\n)*`},
	{"view a a=1 -o no/such/p.html", 1, ``, `weft: write the page to no/such/p.html: .*\n`},
	{"view -a a=1 -o p.html", 2, ``, `weft: view: unknown flag: -a .*\n`},
	{"eval ---x", 2, ``, `weft: eval: bad flag syntax: ---x\n`},
	{"eval -=x", 2, ``, `weft: eval: bad flag syntax: -=x\n`},
	{"view --=", 2, ``, `weft: view: bad flag syntax: --=\n`},
	{"info ---json", 2, ``, `weft: info: bad flag syntax: ---json\n`},
	{"kernel -=", 2, ``, `weft: kernel: bad flag syntax: -=\n`},
	{"eval -o -- a*2 a=a.npy --json", 0, ``, ``},
	{"eval a*2 a=3 -o=out.npy", 0, ``, ``},
	{"eval a*2 a=3 -oout.npy", 2, ``, `weft: eval: unknown flag: -oout\.npy: write -o out\.npy \(a formula .*\)\n`},
	{"kernel k.go:Axpy -ox=y.npy", 2, ``, `weft: kernel: unknown flag: -ox=y\.npy: write -o x=y\.npy\n`},
	{"kernel k.go:Axpy --o out.npy", 2, ``, `weft: kernel: unknown flag: --o: write -o\n`},
	{"kernel k.go:Axpy -output=x", 2, ``, `weft: kernel: unknown flag: -output=x: write --output\n`},
	{"info -json", 2, ``, `weft: info: unknown flag: -json: write --json\n`},
	{"info -o x", 2, ``, `weft: info: unknown flag: -o\n`},
	{"info -ox", 2, ``, `weft: info: unknown flag: -ox\n`},
	{"info --h", 2, ``, `weft: info: unknown flag: --h: write -h\n`},
	{"info --help=false --short", 0, `weft \S+, backend \w+\n`, ``},
	{"eval --help=false 1", 0, `1\n`, ``},
	{"eval -h=x 1", 2, ``, `weft: eval: --help is "x", want true or false\n`},
	{"help help", 0, `Compute formulas(.|\n)*`, ``},
	{"help -h", 0, `Compute formulas(.|\n)*`, ``},
	{"help --help", 0, `Compute formulas(.|\n)*`, ``},
	{"view bad.go:F x=1 -o p.html", 1, ``, `weft: bad\.go:2:1: [^:]*\n(.|\n)*`},
	{"kernel sub/bad.go:F x=1", 1, ``, `weft: sub/bad\.go:2:1: [^:]*\n(.|\n)*`},
	{"kernel dir.go:F x=1", 1, ``, `weft: dir\.go: [^:]*\n`},
	{"eval", 2, ``, `weft: eval: a formula is missing, such as: .*\n`},
	{"eval a --frob", 2, ``, `weft: eval: unknown flag: --frob \(a formula that begins with - .*\)\n`},
	{"eval -a a=3", 2, ``, `weft: eval: unknown flag: -a \(a formula that begins with - goes in parentheses or behind --\)\n`},
	{"eval 1 --time x", 2, ``, `weft: eval: --time is "x", want a whole number\n`},
	{"eval 1 --time 0", 2, ``, `weft: eval: --time 0 is not positive\n`},
	{"eval 1 --output=", 2, ``, `weft: eval: the place behind -o is empty\n`},
	{"eval 1 --json=3", 2, ``, `weft: eval: --json is "3", want true or false\n`},
	{"eval x x=1e400", 2, ``, `weft: x: 1e400 is beyond the range of a float64\n`},
	{"eval x x=-1e400i", 2, ``, `weft: x: -1e400i is beyond the range of a float64\n`},
	{"eval x x=inf", 0, `^inf\n$`, ``},
	{"eval 1 --time -1", 2, ``, `weft: eval: --time -1 is not positive\n`},
	{"eval a+b a=1", 2, ``, `weft: eval: no value for b: give b=FILE.npy or b=NUMBER\n`},
	{"eval a a=1 b=2", 2, ``, `weft: eval: the formula has no b; its names are a\n`},
	{"eval a a=1 a=2", 2, ``, `weft: eval: a is given twice\n`},
	{"eval a a", 2, ``, `weft: eval: "a" is not NAME=FILE.npy or NAME=NUMBER\n`},
	{"eval a a=a.npy --grad a", 2, ``, `weft: eval: --grad "a" is not NAME:FILE.npy\n`},
	{"eval a a=a.npy --grad z:z.npy", 2, ``, `weft: eval: --grad z:z.npy: the formula has no z; its names are a\n`},
	{"eval a a=1 --grad a:z.npy", 2, ``, `weft: eval: --grad a:z.npy: a is a number; only an array has a gradient\n`},

	{"kernel", 2, ``, `weft: kernel: a function is missing, such as: .*\n`},
	{"kernel k.go:Axpy --output=", 2, ``, `weft: kernel: the place behind -o is empty\n`},
	{"kernel k.go:Axpy --frob", 2, ``, `weft: kernel: unknown flag: --frob\n`},
	{"kernel k.go:Axpy --time x", 2, ``, `weft: kernel: --time is "x", want a whole number\n`},
	{"kernel k.go:Axpy a=1 x=2 y=3 --time -1", 2, ``, `weft: kernel: --time -1 is not positive\n`},
	{"kernel k.go", 2, ``, `weft: kernel: "k.go" is not FILE.go:FUNC\n`},
	{"kernel none.go:F", 1, ``, `weft: none.go: .*\n`},
	{"kernel k.go:None", 1, ``, `weft: k.go: there is no function None; there are .*\n`},
	{"kernel k.go:Wrong x=1", 1, ``, `weft: k.go:\d+:2: .*\n\t\tgo print\(x\)\n\t\t\^\n`},
	{"kernel k.go:Axpy a=1 x=2", 2, ``, `weft: kernel: no value for y: .*\n`},
	{"kernel k.go:Axpy a=1 x=2 y=3 z=4", 2, ``, `weft: kernel: Axpy has no parameter z; it has a, x, y\n`},
	{"kernel k.go:Axpy a=1 a=2", 2, ``, `weft: kernel: a is given twice\n`},
	{"kernel k.go:Shift x=2.5 n=1", 1, ``, `weft: Shift: x: is int64, got 2.5\n`},
	{"kernel k.go:Shift x=a.npy n=1", 1, ``, `weft: Shift: x: is int64, got a tensor of float32 .*\n`},
	{"kernel k.go:Shift x=1 n=300", 1, ``, `weft: .*300.*\n`},
	{"kernel k.go:Axpy a=a.npy x=c.npy y=1", 1, ``, `weft: Axpy: shapes do not broadcast: .*\n`},
	{"kernel k.go:Axpy a=1 x=2 y=3 -o p.npy -o q.npy", 2, ``, `weft: kernel: Axpy has 1 results, -o is given 2 times\n`},
	{"kernel k.go:Axpy a=1 x=2 y=3 --stencil mode=wrap", 2, ``, `weft: kernel: --stencil: the first parameter of Axpy is not a neighbourhood\n`},
	{"kernel k.go:Slope a=c.npy --stencil mode=round", 2, ``, `weft: kernel: --stencil: mode "round" is none of .*\n`},
	{"kernel k.go:Slope a=c.npy --stencil cval=x", 2, ``, `weft: kernel: --stencil: cval "x" is not a number\n`},
	{"kernel k.go:Slope a=c.npy --stencil neighborhood=3", 2, ``, `weft: kernel: --stencil: neighborhood "3" is not like -3:3x-1:1\n`},
	{"kernel k.go:Window a=c.npy w=1", 1, ``, `weft: Window: Neighborhood: is needed: .*\n`},
	{"kernel k.go:Slope a=a.npy", 1, ``, `weft: Slope: a: is .*\n`},
	{"kernel k.go:Slope a=5", 1, ``, `weft: Slope: a: is .*\n`},
	{"build k.go:Axpy", 2, ``, `weft: build: a folder is missing: -o DIR\n`},
	{"build k.go:Axpy -o x y", 2, ``, `weft: build: it takes one function, .*\n`},
	{"eval a*b a=2 b=1i", 0, `^2j\n$`, ``},
	{"eval 2*sine(a) a=1", 1, ``, `weft: expr: column 3: unknown function sine: did you mean sin\?\n\t2\*sine\(a\)\n\t  \^\n`},
	{"eval a**2 a=1", 1, ``, `weft: expr: column 2: there is no \*\*: a power is written pow\(a, 2\)\n\ta\*\*2\n\t \^\n`},
	{"eval a+c a=a.npy c=c.npy", 1, ``, `weft: expr: column 2: add: shapes do not broadcast: \[2 3\] and \[4\]\n\ta\+c\n\t \^\n`},
	{"eval a a=missing.npy", 1, ``, `weft: a: open missing.npy: .*\n`},
	{"eval a a=missing", 1, ``, `weft: a: missing is neither a number nor a file\n`},
	{"eval a a=.", 1, ``, `weft: a: .*\n`},
	{"eval a a=short.npy", 1, ``, `weft: a: short.npy: npy: .*\n`},
	{"eval a a=text.npy", 1, ``, `weft: a: text.npy: npy: .*\n`},
	{"eval a a=none.npy", 1, ``, `weft: a: none.npy: npy: .*\n`},
	{"eval a a=huge.npy", 1, ``, `weft: a: huge.npy: npy: .*\n`},
	{"eval a a=a.npy -o missing/out.npy", 1, ``, `weft: write the result to missing/out.npy: .*\n`},
	{"eval a>1 a=a.npy --grad a:g.npy -o out.npy", 1, ``, `weft: --grad: the result is of bool, which has no gradient\n`},
	{"eval n*2 n=n.npy --grad n:g.npy -o out.npy", 1, ``, `weft: --grad n:g.npy: n has elements of int64; only floats have gradients\n`},
}

func check(t *testing.T, args string, code, want int, out, errs, stdout, stderr string) {
	t.Helper()
	if code != want {
		t.Errorf("weft %s: exit code %d, want %d\n%s%s", args, code, want, out, errs)
	}
	for _, o := range []struct{ name, got, want string }{{"output", out, stdout}, {"errors", errs, stderr}} {
		if !regexp.MustCompile(`^` + o.want + `$`).MatchString(o.got) {
			t.Errorf("weft %s: %s\n%s\nwant %s", args, o.name, o.got, o.want)
		}
	}
}

func TestCommands(t *testing.T) {
	files(t)
	for _, c := range commands {
		var out, errs bytes.Buffer
		code := run(strings.Fields(c.args), strings.NewReader(""), &out, &errs)
		check(t, c.args, code, c.code, out.String(), errs.String(), c.stdout, c.stderr)
	}
}

func TestInfo(t *testing.T) {
	var out, errs bytes.Buffer
	if code := run([]string{"info"}, strings.NewReader(""), &out, &errs); code != 0 || errs.Len() > 0 {
		t.Fatalf("exit code %d: %s", code, &errs)
	}
	backend := jit.Chosen().ISA
	want := []string{`(?m)^weft +\S`, `(?m)^system +` + runtime.GOOS + "/" + runtime.GOARCH + `$`, `(?m)^features +\S`,
		`(?m)^caches +lines of \d+ bytes`, `(?m)^stores +bypass the caches from \d+ MiB on$`, `(?m)^waking +threads that spin from \d+ µs`,
		`(?m)^backend +` + backend.String() + `: .`, `(?m)^threads +[1-9]`}
	if backend == jit.Portable {
		want = append(want, `(?m)^limits +not measured`)
	} else {
		want = append(want, `(?m)^reading +[1-9]\d* GB/s from 16 KiB, .* 128 MiB, one thread$`, `(?m)^fma +[1-9]\d* GFLOP/s float32, [1-9]\d* GFLOP/s float64, one thread$`)
	}
	for _, w := range want {
		if !regexp.MustCompile(w).Match(out.Bytes()) {
			t.Errorf("no line %s in\n%s", w, &out)
		}
	}
}

func TestExplain(t *testing.T) {
	files(t)
	var out, errs bytes.Buffer
	if code := run([]string{"eval", "3*a+b", "a=a.npy", "b=0.5", "--explain"}, strings.NewReader(""), &out, &errs); code != 0 {
		t.Fatal(errs.String())
	}
	want := []string{"[[ 3.5", "kernel point", "load.f32", "mul.f32", "add.f32", "store"}
	switch b := jit.Chosen().ISA; b {
	case jit.Portable:
		want = append(want, "interpreted")
	default:
		want = append(want, "vmulps", "vaddps")
	}
	for _, w := range want {
		if !strings.Contains(strings.ToLower(out.String()), w) {
			t.Errorf("no %s in\n%s", w, &out)
		}
	}
}

// What is written reads back with the bits that were computed.
func TestFilesHoldTheResult(t *testing.T) {
	files(t)
	var errs bytes.Buffer
	if code := run(strings.Fields("eval exp(a)/3 a=c.npy -o out.npy"), strings.NewReader(""), &errs, &errs); code != 0 {
		t.Fatal(errs.String())
	}
	x, err := npy.ReadFile("out.npy")
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range weft.Data[float64](x) {
		if want := math.Exp(float64(i+1)) / 3; math.Abs(v-want) > 4e-16*want {
			t.Errorf("%v, want %v", v, want)
		}
	}
}

// TestHelp asks each command for its help, in each way: it names every flag.
func TestHelp(t *testing.T) {
	flags := map[string]string{
		"build":  "-h --help -o --output --length --name --type",
		"eval":   "-h --help -o --output --device --explain --grad --json --time",
		"info":   "-h --help --json --short",
		"kernel": "-h --help -o --output --device --explain --grad --json --leading --stencil --time",
		"run":    "-h --help -o --output --device --json --save",
		"view":   "-h --help -o --output",
		"":       "-h --help -v --version build eval info kernel run view",
	}
	for name, words := range flags {
		var texts []string
		for _, args := range []string{name + " -h", "help " + name, name + " --help"} {
			var out, errs bytes.Buffer
			if code := run(strings.Fields(args), strings.NewReader(""), &out, &errs); code != ok || errs.Len() > 0 {
				t.Errorf("weft %s: exit code %d, %s", args, code, &errs)
			}
			texts = append(texts, out.String())
		}
		_, end, _ := strings.Cut(texts[0], "\nUsage:\n")
		got := regexp.MustCompile(`(?m)^ +(?:(-\w), +)?(--\w+)|^  (build|eval|info|kernel|run|view) {2}`).FindAllStringSubmatch(end, -1)
		var there []string
		for _, m := range got {
			there = append(there, strings.Fields(strings.Join(m[1:], " "))...)
		}
		want := strings.Fields(words)
		slices.Sort(there)
		slices.Sort(want)
		if !slices.Equal(there, want) || texts[0] != texts[1] || texts[0] != texts[2] {
			t.Errorf("the help of %q names %q, want %q\n%s", name, there, want, texts[0])
		}
	}
}

// TestBinary builds the command as users do and runs it as a process.
func TestBinary(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED: builds a program")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	path := filepath.Join(t.TempDir(), "weft.exe")
	build := exec.CommandContext(ctx, "go", "build", "-o", path, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	st, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if st.Size() >= 33<<20 { // it has 32.1 MiB, 3 of them by the operators of ONNX
		t.Errorf("the binary has %d bytes", st.Size())
	}
	if runtime.GOOS == "linux" {
		f, err := elf.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range f.Progs {
			if p.Type == elf.PT_INTERP || p.Type == elf.PT_DYNAMIC {
				t.Error("the binary is not static")
			}
		}
		f.Close()
	}
	files(t)
	for _, c := range commands {
		cmd := exec.CommandContext(ctx, path, strings.Fields(c.args)...)
		var out, errs bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &errs
		err := cmd.Run()
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) {
			t.Fatal(err)
		}
		check(t, c.args, cmd.ProcessState.ExitCode(), c.code, out.String(), errs.String(), c.stdout, c.stderr)
	}
	for _, b := range jit.ISAs() {
		cmd := exec.CommandContext(ctx, path, "info", "--short")
		cmd.Env = append(os.Environ(), "WEFT_JIT="+b.String())
		out, err := cmd.Output()
		if err != nil || !strings.HasSuffix(string(out), "backend "+b.String()+"\n") {
			t.Errorf("WEFT_JIT=%s: %s %v", b, out, err)
		}
	}
}
