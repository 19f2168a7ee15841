// Publish writes the module under another path, by which go get finds it, into an empty folder,
// and proves that a program elsewhere can use it:
//
//	go run ./internal/publish example.org/you/weft v0.1.0 out/
//
// The folder is what goes into a repository at that path, with the tags that the program prints.
// The proof serves the module from files, as a module proxy does, and builds and runs programs
// that import it in a folder that is otherwise empty. Other modules come from the module cache, or
// from GOPROXY if they are not there.
package main

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
)

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: publish path version folder, such as: publish example.org/you/weft v0.1.0 out/")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2], os.Args[3]); err != nil {
		fmt.Fprintln(os.Stderr, "publish:", err)
		os.Exit(1)
	}
}

func run(path, version, out string) error {
	r := release{path: path, version: version}
	if err := r.check(); err != nil {
		return err
	}
	root, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}").Output()
	if err != nil {
		return fmt.Errorf("the folder is in no module: %w", err)
	}
	if err := r.write(strings.TrimSpace(string(root)), out); err != nil {
		return err
	}
	temp, err := os.MkdirTemp("", "weft-publish")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	others, err := exec.Command("go", "env", "GOPROXY").Output()
	if err != nil {
		return err
	}
	s, err := r.serve(out, temp, strings.TrimSpace(string(others)))
	if err != nil {
		return err
	}
	for _, p := range proofs {
		if err := s.prove(p, "run"); err != nil {
			return err
		}
		fmt.Printf("a program that imports %s builds and runs\n", r.path+p.inside)
	}
	fmt.Printf("%s is %s %s. As a repository at that path it needs the tags:\n", out, path, version)
	for _, n := range r.nested {
		fmt.Printf("\tgit tag %s\n", strings.TrimPrefix(n+"/"+version, "/"))
	}
	return nil
}
