package npy

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"weft/internal/array"
	"weft/internal/raw"
)

func TestRoundTrip(t *testing.T) {
	shapes := [][]int{{}, {0}, {3, 0, 2}, {1}, {7}, {1, 5}, {5, 1}, {3, 4}, {2, 3, 4}, {1, 2, 1, 3}, {300, 400}}
	for _, d := range held() {
		for _, shape := range shapes {
			for _, fortran := range []bool{false, true} {
				v := sample(d, shape, fortran)
				var b bytes.Buffer
				if err := encode(&b, &v); err != nil {
					t.Fatal(err)
				}
				got, err := decode(&b)
				if err != nil {
					t.Fatal(err)
				}
				name := array.TypeString(d, shape)
				if fortran {
					name += " F"
				}
				checkView(t, name, &got, d, shape)
				if v.Contiguous() != got.Contiguous() {
					t.Errorf("%s: the memory order is lost", name)
				}
				if b.Len() != 0 {
					t.Errorf("%s: %d bytes are left", name, b.Len())
				}
			}
		}
	}
}

// Writing any view must give the elements in the order of its indices.
func TestStridedViews(t *testing.T) {
	for _, d := range held() {
		base := sample(d, []int{6, 5, 4}, false)
		for name, v := range map[string]array.View{
			"step":      {Offset: 1, Shape: []int{3, 5, 2}, Strides: []int{40, 4, 2}},
			"negative":  {Offset: 119, Shape: []int{6, 5, 4}, Strides: []int{-20, -4, -1}},
			"permuted":  {Shape: []int{5, 4, 6}, Strides: []int{4, 1, 20}},
			"broadcast": {Offset: 3, Shape: []int{3, 4}, Strides: []int{0, 1}},
			"scalar":    {Offset: 17, Shape: []int{}, Strides: []int{}},
			"empty":     {Offset: 119, Shape: []int{2, 0}, Strides: []int{7, 3}},
			"diagonal":  {Shape: []int{4}, Strides: []int{25}},
		} {
			v.DType, v.Store = d, base.Store
			var b bytes.Buffer
			if err := encode(&b, &v); err != nil {
				t.Fatal(err)
			}
			got, err := decode(&b)
			if err != nil {
				t.Fatal(err)
			}
			want, have := elems(&v), elems(&got)
			if len(want) != len(have) || !array.Equal(v.Shape, got.Shape) {
				t.Fatalf("%s: got shape %v, want %v", name, got.Shape, v.Shape)
			}
			for k := range want {
				if want[k] != have[k] {
					t.Fatalf("%s %s: element %d is %#x, want %#x", d, name, k, have[k], want[k])
				}
			}
		}
	}
}

func TestSeveralArraysInOneStream(t *testing.T) {
	var b bytes.Buffer
	shapes := [][]int{{2, 3}, {}, {0}, {5}}
	for _, s := range shapes {
		v := sample(array.Float32, s, false)
		if err := encode(&b, &v); err != nil {
			t.Fatal(err)
		}
	}
	for _, r := range []io.Reader{bytes.NewReader(b.Bytes()), io.MultiReader(bytes.NewReader(b.Bytes()))} {
		for _, s := range shapes {
			v, err := decode(r)
			if err != nil {
				t.Fatal(err)
			}
			checkView(t, "stream", &v, array.Float32, s)
		}
		if _, err := decode(r); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("at the end: %v", err)
		}
	}
}

// file makes a .npy file of the given version from the text of its header.
func file(major byte, header, data string) []byte {
	b := append([]byte(magic), major, 0)
	if major == 1 {
		b = binary.LittleEndian.AppendUint16(b, uint16(len(header)))
	} else {
		b = binary.LittleEndian.AppendUint32(b, uint32(len(header)))
	}
	return append(append(b, header...), data...)
}

const f4 = "{'descr': '<f4', 'fortran_order': False, 'shape': "

// Headers that NumPy would not write and yet reads.
func TestUnusualHeaders(t *testing.T) {
	for _, h := range []string{
		f4 + "(2,), }\n",
		f4 + "(2,)}",
		f4 + "(2L,), }",
		f4 + "( 2\n, ) , } \t\n",
		`{"shape":(2,),"fortran_order":False,"descr":"<f4"}`,
		"  {'shape': (2,), 'descr': '<f4', 'fortran_order': True}",
	} {
		v, err := decode(bytes.NewReader(file(1, h, "\x00\x00\x80\x3f\x00\x00\x00\xc0")))
		if err != nil {
			t.Errorf("%q: %v", h, err)
			continue
		}
		if e := elems(&v); len(e) != 2 || e[0] != 0x3f800000 || e[1] != 0xc0000000 {
			t.Errorf("%q: %#x", h, e)
		}
	}
	v, err := decode(bytes.NewReader(file(1, "{'descr': '|b1', 'fortran_order': False, 'shape': (4,)}", "\x00\x01\x02\xff")))
	if err != nil {
		t.Fatal(err)
	}
	if e := elems(&v); e[0] != 0 || e[1] != 1 || e[2] != 1 || e[3] != 1 {
		t.Errorf("bool bytes other than 0 and 1 became %v", e)
	}
}

func TestHostile(t *testing.T) {
	huge := strings.Repeat("9", 30)
	dict := func(shape string) []byte { return file(1, f4+shape+", }\n", "12345678") }
	descr := func(s string) []byte {
		return file(1, "{'descr': "+s+", 'fortran_order': False, 'shape': (1,), }", "12345678")
	}
	for _, c := range []struct {
		name string
		data []byte
		msg  string
	}{
		{"empty", nil, "the header cannot be read: unexpected EOF"},
		{"magic only", []byte(magic), "the header cannot be read: unexpected EOF"},
		{"wrong magic", []byte("\x93NUMPZ\x01\x00\x00\x00{}"), "not a .npy file"},
		{"zip", []byte("PK\x03\x04123456789"), "not a .npy file"},
		{"version 0", []byte(magic + "\x00\x00\x00\x00"), "unknown format version 0.0"},
		{"version 1.1", []byte(magic + "\x01\x01\x00\x00"), "unknown format version 1.1"},
		{"version 4", []byte(magic + "\x04\x00\x00\x00\x00\x00"), "unknown format version 4.0"},
		{"no length", []byte(magic + "\x01\x00\x10"), "the header cannot be read: unexpected EOF"},
		{"no length 2", []byte(magic + "\x02\x00\x10\x00\x00"), "the header cannot be read: unexpected EOF"},
		{"huge length", []byte(magic + "\x02\x00\xff\xff\xff\xff"), "header: 4294967295 bytes long"},
		{"length over the end", []byte(magic + "\x01\x00\xff\xff{"), "the header cannot be read: unexpected EOF"},
		{"no dict", file(1, "", ""), "where '{' is expected"},
		{"empty dict", file(1, "{}", ""), "the keys are []"},
		{"list", file(1, "[]", ""), "where '{' is expected"},
		{"unclosed dict", file(1, f4+"(2,), ", ""), "it ends where a string is expected"},
		{"two dicts", file(1, f4+"(2,)} {}", ""), "the end of the header"},
		{"junk after", file(1, f4+"(2,)}\n#", ""), "the end of the header"},
		{"zeros after", file(1, f4+"(2,)}\n\x00\x00", ""), "the end of the header"},
		{"zeros before", file(1, "\x00"+f4+"(2,)}", ""), "where '{' is expected"},
		{"missing key", file(1, "{'descr': '<f4', 'shape': (2,)}", ""), "the keys are"},
		{"extra key", file(1, "{'x': 1}", ""), `unknown key "x"`},
		{"key twice", file(1, "{'descr': '<f4', 'descr': '<f8'}", ""), "given twice"},
		{"no colon", file(1, "{'descr' '<f4'}", ""), "where ':' is expected"},
		{"no comma", file(1, "{'descr': '<f4' 'shape': (2,)}", ""), "where '}' is expected"},
		{"double comma", file(1, "{'descr': '<f4',, 'shape': (2,)}", ""), "a string is expected"},
		{"bare key", file(1, "{descr: '<f4'}", ""), "a string is expected"},
		{"escape", file(1, `{'d\x65scr': '<f4'}`, ""), "without escapes"},
		{"unicode escape", file(3, `{'descr': '\u003cf4'}`, ""), "without escapes"},
		{"utf-8 key", file(3, "{'déscr': '<f4'}", ""), "without escapes"},
		{"open string", file(1, "{'descr", ""), "does not end"},
		{"order is not a bool", file(1, "{'fortran_order': 0}", ""), "True or False"},
		{"order is a call", file(1, "{'fortran_order': exit()}", ""), "True or False"},
		{"order run on", file(1, "{'fortran_order': Truely}", ""), "where '}' is expected"},
		{"negative", dict("(-1,)"), "negative dimension"},
		{"overflowing", dict("(" + huge + ",)"), "overflows"},
		{"overflow by one", dict("(9223372036854775808,)"), "overflows"},
		{"wraps to 1", dict("(18446744073709551617,)"), "overflows"},
		{"overflowing bytes", dict("(9223372036854775807,)"), "overflows"},
		{"overflowing product", dict("(4294967296, 4294967296)"), "overflows"},
		{"product wraps to 0", dict("(4294967296, 4294967296, 0)"), "overflows"},
		{"17 dimensions", dict("(" + strings.Repeat("1, ", 17) + ")"), "more than 16 dimensions"},
		{"not a tuple", dict("(2)"), "where ',' is expected"},
		{"list shape", dict("[2]"), "where '(' is expected"},
		{"int shape", dict("2"), "where '(' is expected"},
		{"float shape", dict("(2.0,)"), "where ',' is expected"},
		{"float in pair", dict("(1, 2.0)"), "where ')' is expected"},
		{"hex shape", dict("(0x2,)"), "where ',' is expected"},
		{"octal shape", dict("(02,)"), "not a decimal integer"},
		{"underscore shape", dict("(1_0,)"), "where ',' is expected"},
		{"two L", dict("(2LL,)"), "where ',' is expected"},
		{"bool shape", dict("(True,)"), "a dimension is expected"},
		{"string shape", dict("('2',)"), "a dimension is expected"},
		{"nested shape", dict("((2,),)"), "a dimension is expected"},
		{"comma shape", dict("(,)"), "a dimension is expected"},
		{"sum shape", dict("(1+1,)"), "where ',' is expected"},
		{"empty descr", descr("''"), "is not a dtype"},
		{"short descr", descr("'<'"), "is not a dtype"},
		{"odd descr", descr("'<f5'"), `unsupported dtype "<f5"`},
		{"long descr", descr("'<f4 '"), "is not a dtype"},
		{"signed descr", descr("'<f-4'"), "is not a dtype"},
		{"name descr", descr("'float32'"), "does not begin with a byte order"},
		{"objects", descr("'|O'"), "pickled Python objects"},
		{"objects of old versions", descr("'|O8'"), "pickled Python objects"},
		{"objects of 32 bits", descr("'|O4'"), "pickled Python objects"},
		{"open order", descr("'|f4'"), "leaves the byte order open"},
		{"no descr", descr("None"), "a string is expected"},
		{"truncated data", file(1, f4+"(3,), }", "12345678901"), "needs 12 bytes of data, 11 are there: unexpected EOF"},
		{"no data", file(1, f4+"(), }", ""), "needs 4 bytes of data, 0 are there: unexpected EOF"},
		{"terabytes", dict("(1099511627776,)"), "unexpected EOF"},
		{"exabytes", dict("(2305843009213693951,)"), "unexpected EOF"},
	} {
		_, err := decode(bytes.NewReader(c.data))
		if err == nil || !strings.Contains(err.Error(), c.msg) || !strings.HasPrefix(err.Error(), "npy: ") {
			t.Errorf("%s: got error %v, want one with %q", c.name, err, c.msg)
			continue
		}
		var format *FormatError
		var unsupported *UnsupportedError
		eof := strings.HasSuffix(c.msg, "EOF")
		if errors.Is(err, io.ErrUnexpectedEOF) != eof || !eof && !errors.As(err, &format) && !errors.As(err, &unsupported) {
			t.Errorf("%s: %v is an error of the wrong type: %T", c.name, err, err)
		}
		if _, err := decode(io.MultiReader(bytes.NewReader(c.data))); err == nil {
			t.Errorf("%s: accepted from a reader without a length", c.name)
		}
	}
}

// A header that promises more than follows must not cost more than follows.
func TestFalseSizeTakesNoMemory(t *testing.T) {
	for _, shape := range []string{"(1000000000,)", "(1099511627776,)", "(17592186044415,)"} {
		data := file(1, f4+shape+", }", strings.Repeat("x", 3<<20))
		for _, r := range []io.Reader{bytes.NewReader(data), io.MultiReader(bytes.NewReader(data))} {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := decode(r)
			runtime.ReadMemStats(&after)
			if !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Errorf("%s: %v", shape, err)
			}
			if got := after.TotalAlloc - before.TotalAlloc; got > 10<<20 {
				t.Errorf("%s: %d bytes were allocated for 3 MiB", shape, got)
			}
		}
	}
}

func TestReaderErrorsAreKept(t *testing.T) {
	boom := errors.New("boom")
	data := file(1, f4+"(3,), }", "1234")
	for n := range len(data) {
		_, err := decode(io.MultiReader(bytes.NewReader(data[:n]), failing{boom}))
		if !errors.Is(err, boom) {
			t.Errorf("after %d bytes: %v", n, err)
		}
	}
	v := sample(array.Float32, []int{4, 5}, false)
	step := array.View{Store: v.Store, DType: v.DType, Shape: []int{2, 3}, Strides: []int{1, 7}}
	for _, v := range []array.View{v, step} {
		for _, limit := range []int{0, 128} {
			if err := encode(&limited{limit, boom}, &v); !errors.Is(err, boom) {
				t.Errorf("writer that fails after %d bytes: %v", limit, err)
			}
		}
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// limited fails once left bytes have been written.
type limited struct {
	left int
	err  error
}

func (l *limited) Write(b []byte) (int, error) {
	n := min(l.left, len(b))
	l.left -= n
	if n < len(b) {
		return n, l.err
	}
	return n, nil
}

func TestFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.npy")
	v := sample(array.Int64, []int{3, 4}, true)
	var b bytes.Buffer
	if err := encode(&b, &v); err != nil {
		t.Fatal(err)
	}
	put := func(data []byte) {
		t.Helper()
		if err := os.WriteFile(path, data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	put(b.Bytes())
	got, err := decodeFile(path)
	if err != nil {
		t.Fatal(err)
	}
	checkView(t, "file", &got, array.Int64, []int{3, 4})

	if err := encodeFile(path, &v); err != nil {
		t.Fatal(err)
	}
	if again, err := os.ReadFile(path); err != nil || !bytes.Equal(again, b.Bytes()) {
		t.Errorf("the file differs from the stream: %v", err)
	}
	half := raw.View(array.BFloat16, []int{1}, false, make([]byte, 2))
	if err := encodeFile(path, &half); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("bfloat16: %v", err)
	}
	if again, err := os.ReadFile(path); err != nil || !bytes.Equal(again, b.Bytes()) {
		t.Errorf("a failing write changed the file: %v", err)
	}

	put(b.Bytes()[:b.Len()-1])
	if _, err := decodeFile(path); !errors.Is(err, io.ErrUnexpectedEOF) || !strings.Contains(err.Error(), path) {
		t.Errorf("truncated: %v", err)
	}
	put(append(b.Bytes(), 0))
	var format *FormatError
	if _, err := decodeFile(path); !errors.As(err, &format) || !strings.Contains(err.Error(), "1 bytes follow") {
		t.Errorf("trailing byte: %v", err)
	}
	if _, err := decodeFile(path + "x"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing: %v", err)
	}
}

func FuzzRead(f *testing.F) {
	golden(f, func(name string, data []byte) { f.Add(data) })
	f.Add(file(2, f4+"(2L, 0x), }", "123"))
	f.Add(file(3, `{"shape":(),"fortran_order":True,"descr":"|u1"}`, "1"))
	f.Fuzz(func(t *testing.T, data []byte) {
		v, err := decode(bytes.NewReader(data))
		w, err2 := decode(io.MultiReader(bytes.NewReader(data)))
		if (err == nil) != (err2 == nil) {
			t.Fatalf("with a length: %v, without: %v", err, err2)
		}
		if err != nil {
			return
		}
		if n := v.Size() * v.DType.Size(); n > len(data) || n != v.Store.Bytes {
			t.Fatalf("%s of %d bytes from %d", array.TypeString(v.DType, v.Shape), v.Store.Bytes, len(data))
		}
		var a, b bytes.Buffer
		if err := encode(&a, &v); err != nil {
			t.Fatal(err)
		}
		if err := encode(&b, &w); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(a.Bytes(), b.Bytes()) {
			t.Fatal("the two readers differ")
		}
		back, err := decode(&a)
		if err != nil {
			t.Fatal(err)
		}
		if !array.Equal(back.Shape, v.Shape) || back.DType != v.DType {
			t.Fatal("the type changed")
		}
		x, y := elems(&v), elems(&back)
		for k := range x {
			if x[k] != y[k] {
				t.Fatalf("element %d changed", k)
			}
		}
	})
}
