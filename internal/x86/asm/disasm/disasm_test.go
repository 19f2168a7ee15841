package disasm

import (
	"bufio"
	"encoding/hex"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestGolden decodes the golden bytes of package asm with golang.org/x/arch and
// compares the text with the instruction that was meant.
func TestGolden(t *testing.T) {
	file, err := os.Open("../testdata/golden.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	n := 0
	for sc := bufio.NewScanner(file); sc.Scan(); {
		text, want, _ := strings.Cut(sc.Text(), "\t")
		code, err := hex.DecodeString(text)
		if err != nil {
			t.Fatal(err)
		}
		lines := Lines(code, len(code))
		n++
		if len(lines) != 1 || normal(lines[0].Text) != normal(want) {
			t.Errorf("%s:\n\t%s\n\t%s", text, normal(want), normal(lines[0].Text))
		}
	}
	if n < 10000 {
		t.Errorf("only %d golden instructions", n)
	}
}

// TestText lists code with a jump, an operand in the pool, and the pool left out.
func TestText(t *testing.T) {
	code, err := hex.DecodeString("c5fc580538000000" + // vaddps ymm0, ymm0, [rip+0x38]
		"c5fb590530000000" + // vmulsd xmm0, xmm0, [rip+0x30]
		"83f805" + "7ceb" + "eb00" + "c3")
	if err != nil {
		t.Fatal(err)
	}
	n := len(code)
	code = append(code, make([]byte, 64-n)...)
	code = append(code, 0, 0, 0x80, 0x3F, 1, 2, 3, 4)
	want := `     0  vaddps ymm0, ymm0, ymmword ptr [rip+0x38]  # 0x3f800000
     8  vmulsd xmm0, xmm0, qword ptr [rip+0x30]  # 0x40302013f800000
    10  cmp eax, 0x5
    13  jl 0x0
    15  jmp 0x17
    17  ret
`
	if got := Text(code, n); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	lines := Lines(code, n)
	for i, target := range []int{0x40, 0x40, -1, 0, 0x17, -1} {
		if lines[i].Target != target {
			t.Errorf("line %d has target %#x, want %#x", i, lines[i].Target, target)
		}
	}
	if bad := Lines([]byte{0x06, 0xC3}, 2); len(bad) != 2 || bad[0].Text != "(bad)" || bad[1].Text != "ret" {
		t.Errorf("an undefined opcode gave %v", bad)
	}
}

// TestEveryPrefix decodes each truncation of a sample of the golden bytes: whatever
// a truncated program holds, Lines must cover it and not panic.
func TestEveryPrefix(t *testing.T) {
	data, err := os.ReadFile("../testdata/golden.txt")
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Split(strings.TrimSpace(string(data)), "\n") {
		if i%7 != 0 {
			continue
		}
		text, _, _ := strings.Cut(line, "\t")
		code, err := hex.DecodeString(text)
		if err != nil {
			t.Fatal(err)
		}
		for n := range code {
			total := 0
			for _, ln := range Lines(code[:n], n) {
				total += len(ln.Bytes)
			}
			if total != n {
				t.Fatalf("%x: %d of %d bytes covered", code[:n], total, n)
			}
		}
	}
}

var (
	ptr      = regexp.MustCompile(`\b(([xyz]mmword|byte|word|dword|qword) )?ptr `)
	scaled   = regexp.MustCompile(`(\w+)\*([1248])`)
	number   = regexp.MustCompile(`[+-]?\b0x[0-9a-f]+`)
	lanes    = regexp.MustCompile(`\{1to\d+\}`)
	vector   = regexp.MustCompile(`[xyz]mm(\d)`)
	maskDest = regexp.MustCompile(`^\w+ k\d`)
	fromMask = regexp.MustCompile(`^(vpmovm2\w|vpbroadcastm\w+) (\w+) ?\{(k\d)\}`)
	cond     = regexp.MustCompile(`^(cmov|set)(nb|z|nz|nbe|nl|nle) `)
	compare  = regexp.MustCompile(`^vcmp([ps][sd]) (.*), 0x([05])$`)
)

// normal writes an instruction so that the texts of the encoder and of the decoder
// agree: spaces, the order of index and scale, the sign of numbers, aliases, and the
// few places where the decoder is known to print a wrong lane count or width.
func normal(s string) string {
	s = strings.ToLower(s)
	s = ptr.ReplaceAllString(s, "")
	s = scaled.ReplaceAllString(s, "$2*$1")
	s = strings.ReplaceAll(s, "1*", "")
	s = strings.Replace(s, "movabs ", "mov ", 1)
	s = strings.Replace(s, "vpextrw_c5", "vpextrw", 1)
	s = fromMask.ReplaceAllString(s, "$1 $2, $3")
	s = cond.ReplaceAllStringFunc(s, func(c string) string {
		m := cond.FindStringSubmatch(c)
		alias := map[string]string{"nb": "ae", "z": "e", "nz": "ne", "nbe": "a", "nl": "ge", "nle": "g"}
		return m[1] + alias[m[2]] + " "
	})
	if m := compare.FindStringSubmatch(s); m != nil {
		s = "vcmp" + map[string]string{"0": "eq", "5": "nlt"}[m[3]] + m[1] + " " + m[2]
	}
	if strings.HasPrefix(s, "vcvt") || maskDest.MatchString(s) {
		s = lanes.ReplaceAllString(s, "")
	}
	for _, op := range []string{"vcvtudq2pd", "vcvtpd2udq", "vcvttpd2udq"} {
		if strings.HasPrefix(s, op) {
			s = vector.ReplaceAllString(s, "v$1")
		}
	}
	inMem := strings.IndexByte(s, '[')
	memEnd := strings.IndexByte(s, ']')
	s = number.ReplaceAllStringFunc(s, func(n string) string {
		u, err := strconv.ParseUint(strings.TrimLeft(n, "+-0x"), 16, 64)
		v := int64(u)
		if n[0] == '-' {
			v = -v
		}
		at := strings.Index(s, n)
		if err == nil && at > inMem && at < memEnd {
			v = int64(int32(v))
		}
		return fmt.Sprintf("%+d", v)
	})
	return strings.ReplaceAll(s, " ", "")
}
