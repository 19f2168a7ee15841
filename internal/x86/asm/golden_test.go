package asm

import (
	"bufio"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// goldenEnv set to "write" makes the tests write testdata anew from GNU as; set to
// "check" it compares a larger set with GNU as directly.
const goldenEnv = "WEFT_ASM_GOLDEN"

const goldenFile = "testdata/golden.txt"

// TestGolden compares every made-up instruction with the bytes that GNU as (binutils
// 2.40) gave for its text.
func TestGolden(t *testing.T) {
	cases := testCases(false)
	if os.Getenv(goldenEnv) == "write" {
		writeGolden(t, cases)
	}
	file, err := os.Open(goldenFile)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	sc := bufio.NewScanner(file)
	covered := make([]bool, len(forms))
	var a Asm
	bad := 0
	for i, c := range cases {
		if !sc.Scan() {
			t.Fatalf("the golden file ends at case %d of %d", i, len(cases))
		}
		want, text, _ := strings.Cut(sc.Text(), "\t")
		if got := c.in.String(); got != text {
			t.Fatalf("case %d is %q, the golden file has %q", i, got, text)
		}
		a.Reset()
		a.Emit(&c.in)
		code, err := a.Finish()
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if got := hex.EncodeToString(code); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
			if bad++; bad > 50 {
				t.Fatal("too many")
			}
		}
		if f, _, _ := match(&c.in); f == &forms[c.form] {
			covered[c.form] = true
		}
	}
	if sc.Scan() {
		t.Errorf("the golden file goes on after %d cases: %s", len(cases), sc.Text())
	}
	for op := Op(1); int(op) < len(opNames); op++ {
		for i := opFirst[op]; i < opFirst[op+1]; i++ {
			if !covered[i] {
				t.Errorf("no case reaches form %d of %s", i-opFirst[op], op)
			}
		}
	}
}

// TestGas compares some 480,000 instructions with GNU as itself.
func TestGas(t *testing.T) {
	if os.Getenv(goldenEnv) == "" {
		t.Skip("SKIPPED: set " + goldenEnv + "=check to run GNU as")
	}
	cases := testCases(true)
	var a Asm
	for i, want := range gasBytes(t, cases) {
		a.Reset()
		a.Emit(&cases[i].in)
		code, err := a.Finish()
		if got := hex.EncodeToString(code); got != want || err != nil {
			t.Errorf("%s: %s %v, want %s", cases[i].in.String(), got, err, want)
		}
	}
	t.Logf("%d instructions", len(cases))
}

// writeGolden writes the golden file of cases.
func writeGolden(t *testing.T, cases []testCase) {
	var out strings.Builder
	for i, code := range gasBytes(t, cases) {
		fmt.Fprintf(&out, "%s\t%s\n", code, cases[i].in.String())
	}
	if err := os.WriteFile(goldenFile, []byte(out.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

// gasBytes assembles the texts of cases with GNU as.
func gasBytes(t *testing.T, cases []testCase) []string {
	var src strings.Builder
	src.WriteString(".intel_syntax noprefix\n")
	for _, c := range cases {
		src.WriteString(c.gasText() + "\n")
	}
	lines := gas(t, src.String())
	out := make([]string, len(cases))
	for i := range cases {
		out[i] = lines[i+2]
	}
	return out
}

var listingLine = regexp.MustCompile(`^ *(\d+) +[0-9a-fA-F]{4,} ([0-9A-F ]+?)(?: *\t.*)?$`)

// gas assembles src and returns the bytes, in hexadecimal, of each source line.
func gas(t *testing.T, src string) map[int]string {
	dir := t.TempDir()
	in, lst := filepath.Join(dir, "in.s"), filepath.Join(dir, "in.lst")
	if err := os.WriteFile(in, []byte(src), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("as", "--64", "-aln="+lst, "--listing-lhs-width=4", "--listing-lhs-width2=4",
		"--listing-cont-lines=99", "-o", filepath.Join(dir, "out.o"), in)
	if msg, err := cmd.CombinedOutput(); err != nil {
		text := strings.Split(src, "\n")
		var b strings.Builder
		seen := map[string]bool{}
		for i, m := range strings.Split(string(msg), "\n") {
			var n int
			if k := strings.Index(m, "in.s:"); k >= 0 && i >= 0 {
				fmt.Sscanf(m[k+5:], "%d", &n)
				if n > 0 && !seen[strings.Fields(text[n-1])[0]] {
					seen[strings.Fields(text[n-1])[0]] = true
					fmt.Fprintf(&b, "%s\n\t%s\n", m[k:], text[n-1])
				}
			}
		}
		t.Fatalf("as: %v\n%s", err, b.String())
	}
	data, err := os.ReadFile(lst)
	if err != nil {
		t.Fatal(err)
	}
	out := map[int]string{}
	for _, line := range strings.Split(string(data), "\n") {
		if m := listingLine.FindStringSubmatch(line); m != nil {
			var n int
			fmt.Sscan(m[1], &n)
			out[n] += strings.ToLower(strings.ReplaceAll(m[2], " ", ""))
		}
	}
	return out
}

// gasSection assembles src and returns its text section as hex.Dump prints it.
func gasSection(t *testing.T, src string) string {
	dir := t.TempDir()
	in, obj, bin := filepath.Join(dir, "in.s"), filepath.Join(dir, "out.o"), filepath.Join(dir, "out.bin")
	if err := os.WriteFile(in, []byte(src), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, cmd := range []*exec.Cmd{
		exec.Command("as", "--64", "-o", obj, in),
		exec.Command("objcopy", "-O", "binary", "-j", ".text", obj, bin),
	} {
		if msg, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, msg)
		}
	}
	code, err := os.ReadFile(bin)
	if err != nil {
		t.Fatal(err)
	}
	return hex.Dump(code)
}
