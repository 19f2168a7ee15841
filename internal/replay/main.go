// Command replay compares the kernels that two commits make: it shows that a refactoring left
// all machine code as it was, or which kernels it changed.
//
//	go run ./internal/replay [-backends off,avx2,avx512] [-keep folder] BASE [go test arguments]
//
// BASE is a commit, which is checked out in a temporary worktree, or a folder of records that an
// earlier run kept. The tests run there and in the working tree, once for each backend.
// WEFT_REPLAY is set, so each kernel writes a [jit.Record] line:
//   - every loop program that is compiled, with AVX2, AVX-512 and streaming code on any backend
//   - every kernel of a routine
//
// Tests that match [skipped] do not run. Further arguments go to go test, such as -short
// and packages; without any, [packages] run.
//
// The sets of kernels are compared. Order, counts and the tests that made them do not matter. The
// exit status is 0 if the sets are equal, 1 if they differ, and 2 if that is unknown, as when a
// test failed.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"weft/internal/jit"
)

// packages are the packages whose tests make the most kernels.
var packages = []string{".", "./nn", "./optim", "./kernel", "./ragged", "./sym", "./internal/cpu/...", "./internal/gokernel/...", "./internal/optest", "./internal/rewrite", "./internal/x86", "./examples/...", "./bench/ours"}

// skipped matches tests whose kernels depend on the order in which goroutines run:
//   - TestLazyConcurrent: goroutines use parts of one lazy chain at once, and whoever comes
//     first decides what is fused.
const skipped = "^TestLazyConcurrent$"

// rounds is the maximum number of runs of a side that lacks kernels. Timing decides whether a few
// tests make a kernel, so one run may miss it.
const rounds = 3

func main() {
	var have []string
	for _, isa := range jit.ISAs() {
		have = append(have, isa.String())
	}
	backends := flag.String("backends", strings.Join(have, ","), "values of WEFT_JIT to run the tests with")
	keep := flag.String("keep", "", "folder to keep the working tree's records in, for a later run as BASE")
	flag.Parse()
	if flag.NArg() == 0 {
		flag.Usage()
		os.Exit(2)
	}
	equal, err := replay(flag.Arg(0), strings.Split(*backends, ","), *keep, flag.Args()[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "replay:", err)
		os.Exit(2)
	}
	if !equal {
		os.Exit(1)
	}
}

// A side is the base commit or the working tree, whose kernels are compared.
type side struct {
	name string
	tree string // where its tests run, empty if its records are from an earlier run
	dir  string // folder of its records
	args []string

	failed bool // a test failed, so kernels may be missing
}

func replay(base string, backends []string, keep string, args []string) (equal bool, err error) {
	top, err := output("", "git", "rev-parse", "--show-toplevel")
	if err != nil {
		return false, err
	}
	tmp, err := os.MkdirTemp("", "replay")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(tmp)
	if len(args) == 0 {
		args = packages
	}
	was, is := side{name: base, args: args}, side{name: "the working tree", tree: top, dir: filepath.Join(tmp, "is"), args: args}
	if info, e := os.Stat(base); e == nil && info.IsDir() {
		was.dir = base
	} else {
		was.tree, was.dir = filepath.Join(tmp, "tree"), filepath.Join(tmp, "was")
		if _, err := output(top, "git", "worktree", "add", "--detach", was.tree, base); err != nil {
			return false, err
		}
		defer output(top, "git", "worktree", "remove", "--force", was.tree)
	}
	if keep != "" {
		is.dir = keep
	}
	var there, here kernels
	for round := range rounds {
		// A side that lacks kernels of the other runs again.
		for _, s := range []*side{&was, &is} {
			lacks := round == 0
			if !lacks {
				d := compare(there, here)
				lacks = s == &was && len(d.added) > 0 || s == &is && len(d.removed) > 0
			}
			if s.tree == "" || !lacks {
				continue
			}
			for _, b := range backends {
				if err := s.run(b); err != nil {
					return false, err
				}
			}
		}
		if there, err = read(was.dir); err != nil {
			return false, err
		}
		if here, err = read(is.dir); err != nil {
			return false, err
		}
		for _, s := range []struct {
			name string
			kernels
		}{{was.name, there}, {is.name, here}} {
			if len(s.kernels) == 0 {
				return false, fmt.Errorf("%s recorded no kernels: its tests made none, or it has no code for WEFT_REPLAY", s.name)
			}
		}
		if d := compare(there, here); len(d.added)+len(d.removed) == 0 {
			break
		}
	}
	if keep != "" {
		if err := merge(keep, here); err != nil {
			return false, err
		}
	}
	d := compare(there, here)
	d.print(os.Stdout)
	if was.failed || is.failed {
		return false, errors.New("tests failed: their kernels may be missing")
	}
	return d.equal(), nil
}

// run runs the tests of a side with one backend.
func (s *side) run(backend string) error {
	if err := os.MkdirAll(s.dir, 0o777); err != nil {
		return err
	}
	dir, err := filepath.Abs(s.dir)
	if err != nil {
		return err
	}
	args := []string{"test", "-count=1", "-timeout=0", "-skip=" + skipped}
	for _, a := range s.args {
		if _, err := os.Stat(filepath.Join(s.tree, a)); strings.HasPrefix(a, "./") && !strings.HasSuffix(a, "...") && err != nil {
			fmt.Printf("%s has no %s\n", s.name, a)
			continue
		}
		args = append(args, a)
	}
	begin := time.Now()
	cmd := exec.Command("go", args...)
	cmd.Dir = s.tree
	cmd.Env = append(os.Environ(), "WEFT_REPLAY="+dir, "WEFT_JIT="+backend)
	out, err := cmd.CombinedOutput()
	if err != nil {
		fmt.Printf("the tests of %s with WEFT_JIT=%s failed: %v\n%s", s.name, backend, err, out)
		s.failed = true
	}
	fmt.Printf("ran the tests of %s with WEFT_JIT=%s in %s\n", s.name, backend, time.Since(begin).Round(time.Second))
	return nil
}

// output returns what a command prints, without the last line break.
func output(dir, name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, stderr.String())
	}
	return strings.TrimSpace(string(out)), nil
}
