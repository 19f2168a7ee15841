package main

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"unicode"
)

// A server is a module proxy of files, and a folder for programs that use it.
type server struct {
	r    *release
	temp string
	env  []string
}

// serve writes the modules in out as a module proxy would serve them into temp. Other modules come
// from the module cache, and then from others, a list as in GOPROXY, which may be empty.
func (r *release) serve(out, temp, others string) (*server, error) {
	cache, err := exec.Command("go", "env", "GOMODCACHE").Output()
	if err != nil {
		return nil, err
	}
	proxy := filepath.Join(temp, "proxy")
	for _, n := range r.nested {
		if err := r.pack(filepath.Join(out, n), proxy, strings.TrimSuffix(r.path+"/"+n, "/")); err != nil {
			return nil, err
		}
	}
	list := fileURL(proxy) + "," + fileURL(filepath.Join(strings.TrimSpace(string(cache)), "cache", "download"))
	if others != "" && others != "off" {
		list += "," + others
	}
	return &server{r, temp, append(os.Environ(), "GOPROXY="+list, "GOENV=off", "GONOPROXY=", "GOPRIVATE=", "GOSUMDB=off", "GOWORK=off", "GOTOOLCHAIN=local", "CGO_ENABLED=0",
		"GOFLAGS=-mod=mod -modcacherw -trimpath -buildvcs=false", "GOMODCACHE="+filepath.Join(temp, "cache"))}, nil
}

// fileURL is the URL of a folder, which begins with a drive on Windows.
func fileURL(dir string) string {
	return "file:///" + strings.TrimPrefix(filepath.ToSlash(dir), "/")
}

// pack writes the module in dir, without modules inside of it, as version of path.
func (r *release) pack(dir, proxy, path string) error {
	var escaped strings.Builder // a proxy's files have no capitals
	for _, c := range path {
		if unicode.IsUpper(c) {
			escaped.WriteByte('!')
		}
		escaped.WriteRune(unicode.ToLower(c))
	}
	to := filepath.Join(proxy, filepath.FromSlash(escaped.String()), "@v")
	if err := os.MkdirAll(to, 0o777); err != nil {
		return err
	}
	mod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		return err
	}
	for name, text := range map[string]string{"list": r.version + "\n", r.version + ".info": fmt.Sprintf(`{"Version":%q}`, r.version), r.version + ".mod": string(mod)} {
		if err := os.WriteFile(filepath.Join(to, name), []byte(text), 0o666); err != nil {
			return err
		}
	}
	f, err := os.Create(filepath.Join(to, r.version+".zip"))
	if err != nil {
		return err
	}
	z := zip.NewWriter(f)
	err = filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if _, err := os.Stat(filepath.Join(file, "go.mod")); file != dir && err == nil {
				return fs.SkipDir
			}
			return nil
		}
		name, err := filepath.Rel(dir, file)
		if err != nil {
			return err
		}
		w, err := z.CreateHeader(&zip.FileHeader{Name: path + "@" + r.version + "/" + filepath.ToSlash(name), Method: zip.Store})
		if err != nil {
			return err
		}
		in, err := os.Open(file)
		if err != nil {
			return err
		}
		defer in.Close()
		_, err = io.Copy(w, in)
		return err
	})
	if err := firstOf(err, z.Close(), f.Close()); err != nil {
		return err
	}
	return nil
}

func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// A proof is a program that imports a published module.
type proof struct {
	inside string // the path of the module below that of weft
	source string // PATH stands for the path of weft
	want   string // what it prints
}

var proofs = []proof{{"", `package main

import (
	"fmt"

	"PATH"
	"PATH/kernel"
	"PATH/nn"
	"PATH/optim"
)

var kernels = kernel.MustParse("package k\n\nimport \"PATH/kernel\"\n\nfunc Sides(a kernel.Near1[float64]) float64 { return a.At(-1) + a.At(1) }\n")

func main() {
	x := weft.From([]float64{1, 2, 3})
	fmt.Println(x.Mul(x).Sum().Item(), weft.Expr("x*x + 1", weft.Vars{"x": x}), kernels.Func("Sides").Stencil(x))
	w := nn.Param(weft.FromSlice([]float64{1, 2}))
	opt := optim.NewSGD(nn.Params(map[string]*weft.Tensor{"w": w}), optim.SGDOpts{LR: new(0.25)})
	w.Square().Sum().Backward()
	opt.Step()
	fmt.Println(w, weft.Try(func() { x.MatMul(weft.Ones(2, 2)) }) != nil)
}
`, "14 [ 2.  5. 10.] [0. 4. 0.]\n[0.5 1. ] true\n"}, {"/cuda", `package main

import (
	"fmt"

	"PATH"
	_ "PATH/cuda"
)

func main() { fmt.Println(weft.Arange(4).Sum()) }
`, "6\n"}, {"/gonumblas", `package main

import (
	"fmt"

	"gonum.org/v1/gonum/mat"

	"PATH/gonumblas"
)

func main() {
	var c mat.Dense
	c.Mul(mat.NewDense(1, 2, []float64{1, 2}), mat.NewDense(2, 1, []float64{3, 4}))
	fmt.Println(gonumblas.FromDense(&c))
}
`, "[[11.]]\n"}, {"/ragged/arrow", `package main

import (
	"fmt"

	"PATH"
	"PATH/ragged/arrow"
)

func main() {
	a, err := arrow.ToArray(arrow.Column{Tensor: weft.From([]int64{1, 2, 3})}, arrow.ArrayOpts{})
	if err != nil {
		panic(err)
	}
	fmt.Println(a)
}
`, "[1 2 3]\n"}, {"/sci", `package main

import (
	"fmt"

	"PATH/sci/optimize"
)

func main() {
	x, err := optimize.BrentQ(func(x float64) float64 { return x - 0.5 }, 0, 1)
	fmt.Println(x, err)
}
`, "0.5 <nil>\n"}, {"/viewer", `package main

import (
	"fmt"
	"net/http"

	"PATH"
	"PATH/viewer"
)

func main() {
	var page http.Handler = viewer.NewPoints(weft.Ones(4, 3))
	fmt.Println(page != nil)
}
`, "true\n"}}

// missing matches what the go command says of a module that the module cache does not have.
var missing = regexp.MustCompile(`cache/download/(\S+): (?:no such file or directory|The system cannot find)`)

// An absentError says that a module other than weft is not to be had.
type absentError struct{ out string }

func (e *absentError) Error() string { return "a dependency is not in the module cache:\n" + e.out }

// prove makes a module of the program in a folder of its own, gets the published one, and runs the
// program; or, as how says, only lists all that it imports.
func (s *server) prove(p proof, how string) error {
	dir := filepath.Join(s.temp, "use"+strings.ReplaceAll(p.inside, "/", "-"))
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	source := strings.ReplaceAll(p.source, "PATH", s.r.path)
	if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte(source), 0o666); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module use\n\ngo 1.26.0\n"), 0o666); err != nil {
		return err
	}
	command := func(args ...string) (string, error) {
		c := exec.Command("go", args...)
		c.Dir, c.Env = dir, s.env
		var said bytes.Buffer // what go says of downloads too
		c.Stderr = &said
		out, err := c.Output()
		if err != nil {
			host, _, _ := strings.Cut(s.r.path, "/")
			said.Write(out)
			if m := missing.FindSubmatch(said.Bytes()); m != nil && !strings.HasPrefix(string(m[1]), host+"/") {
				return "", &absentError{said.String()}
			}
			return "", fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, said.Bytes())
		}
		return string(out), nil
	}
	if _, err := command("get", s.r.path+p.inside+"@"+s.r.version); err != nil {
		return err
	}
	if how == "list" {
		_, err := command("list", "-deps", ".")
		return err
	}
	out, err := command("run", ".")
	if err == nil && out != p.want {
		err = fmt.Errorf("the program of %s prints %q, want %q", s.r.path+p.inside, out, p.want)
	}
	return err
}
