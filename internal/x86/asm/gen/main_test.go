package main

import (
	"bytes"
	"os"
	"strings"
	"testing"
)

// TestUpToDate fails where ops.tbl changed and go generate was not run.
func TestUpToDate(t *testing.T) {
	table, err := os.ReadFile("../ops.tbl")
	if err != nil {
		t.Fatal(err)
	}
	want, err := Generate(table)
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("../optab.go")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("optab.go is not what ops.tbl says: run go generate ./internal/x86/asm")
	}
}

func TestTableRefusesBadRows(t *testing.T) {
	const good = "VADDPS NP.0F.58 0 0 f4 R V M"
	if _, err := Generate([]byte(good)); err != nil {
		t.Fatal(err)
	}
	for row, want := range map[string]string{
		"VADDPS NP.0F.58 0 0":              "4 columns",
		"VADDPS 67.0F.58 0 0 f4 R V M":     "bad opcode",
		"VADDPS NP.0F99.58 0 0 f4 R V M":   "bad opcode",
		"VADDPS NP.0F.5 8 0 0 f4 R V M":    "bad W columns",
		"VADDPS NP.0F.158 0 0 f4 R V M":    "bad opcode",
		"VADDPS NP.0F.58/8 0 0 f4 R V M":   "bad opcode extension",
		"VADDPS NP.0F.58 - - f4 R V M":     "bad W columns",
		"VADDPS NP.0F.58 g0 0 f4 R V M":    "bad W columns",
		"VADDPS NP.0F.58 2 0 f4 R V M":     "bad W columns",
		"VADDPS NP.0F.58 0 0 f5 R V M":     "bad tuple",
		"VADDPS NP.0F.58 0 0 f4 R V Y":     "bad operand",
		"VADDPS NP.0F.58 0 0 f4 R Vv M":    "bad operand",
		"VADDPS NP.0F.58 0 0 f4 R V V V M": "5 operands",
		good + "\n" + good:                 "the same form twice",
		good + "\n" + good + " nok =x":     "two mnemonics",
	} {
		if _, err := Generate([]byte(row)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", row, err, want)
		}
	}
}
