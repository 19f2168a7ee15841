// Gen writes what the packages of modules export into files of docs/api:
//
//	go run ./internal/api/gen docs/api . ragged/arrow viewer
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"weft/internal/api"
)

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: gen out module...")
		os.Exit(2)
	}
	for _, module := range os.Args[2:] {
		if err := write(os.Args[1], module); err != nil {
			fmt.Fprintln(os.Stderr, "gen:", err)
			os.Exit(1)
		}
	}
}

// write writes a file for each package of the module in a folder.
func write(out, module string) error {
	pkgs, err := api.Public(module)
	if err != nil {
		return err
	}
	for path, p := range pkgs {
		if err := os.WriteFile(filepath.Join(out, api.File(path)), []byte(api.Text(p)), 0o666); err != nil {
			return err
		}
	}
	return nil
}
