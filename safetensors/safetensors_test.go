package safetensors

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"weft/internal/array"
)

func TestRoundTrip(t *testing.T) {
	var all []named
	for _, d := range held() {
		for _, shape := range [][]int{{}, {0}, {3, 0, 2}, {1}, {7}, {2, 3, 4}, {100, 300}} {
			all = append(all, named{array.TypeString(d, shape), sample(d, shape...)})
		}
	}
	metadata := map[string]string{"b": "", "": "x", "a": "\u00e9\ufffd\U0010ffff\x00"}
	var first []byte
	for range 3 {
		var out bytes.Buffer
		if err := encode(&out, slices.Clone(all), metadata); err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = out.Bytes()
		} else if !bytes.Equal(first, out.Bytes()) {
			t.Fatal("the same tensors gave other bytes")
		}
		slices.Reverse(all)
	}
	if n := binary.LittleEndian.Uint64(first); n%8 != 0 {
		t.Errorf("the header has %d bytes", n)
	}
	f, err := Read(bytes.NewReader(first), int64(len(first)))
	if err != nil {
		t.Fatal(err)
	}
	if !maps.Equal(f.metadata, metadata) || len(f.entries) != len(all) {
		t.Errorf("%d tensors, metadata %q", len(f.entries), f.metadata)
	}
	var wg sync.WaitGroup // readers share the file
	for _, n := range all {
		wg.Go(func() {
			v, err := f.view(n.name)
			if err != nil {
				t.Error(err)
				return
			}
			checkView(t, n.name, &v, n.view.DType, n.view.Shape)
			e := f.entries[f.index[n.name]]
			if (f.start+e.begin)%int64(v.DType.Size()) != 0 {
				t.Errorf("%s: not aligned in the file", n.name)
			}
		})
	}
	wg.Wait()
}

func TestStridedViews(t *testing.T) {
	base := sample(array.Int32, 4, 6)
	for name, v := range map[string]struct {
		view array.View
		want []int
	}{
		"transposed": {array.View{Shape: []int{6, 4}, Strides: []int{1, 6}},
			[]int{0, 6, 12, 18, 1, 7, 13, 19, 2, 8, 14, 20, 3, 9, 15, 21, 4, 10, 16, 22, 5, 11, 17, 23}},
		"reversed": {array.View{Offset: 23, Shape: []int{2, 2}, Strides: []int{-12, -1}}, []int{23, 22, 11, 10}},
		"expanded": {array.View{Offset: 7, Shape: []int{3}, Strides: []int{0}}, []int{7, 7, 7}},
	} {
		v.view.DType, v.view.Store = array.Int32, base.Store
		var out bytes.Buffer
		if err := encode(&out, []named{{"x", v.view}}, nil); err != nil {
			t.Fatal(err)
		}
		f, err := Read(bytes.NewReader(out.Bytes()), int64(out.Len()))
		if err != nil {
			t.Fatal(err)
		}
		got, err := f.view("x")
		if err != nil {
			t.Fatal(err)
		}
		var want []byte
		for _, k := range v.want {
			want = appendValue(want, array.Int32, k)
		}
		if !bytes.Equal(memory(t, &got), want) {
			t.Errorf("%s: got %x, want %x", name, memory(t, &got), want)
		}
	}
}

// file makes a file from the text of its header.
func file(header, data string) []byte {
	b := binary.LittleEndian.AppendUint64(nil, uint64(len(header)))
	return append(append(b, header...), data...)
}

// Files that the reference library would not write and yet reads.
func TestUnusualFiles(t *testing.T) {
	for _, c := range []struct{ header, data string }{
		{`{"x":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}}`, "\x05\x2a"},
		{"{ \"x\" :\r{\"data_offsets\":[0 , 2],\n\"shape\"\t: [2 ] ,\"dtype\":\"U8\"} } \n", "\x05\x2a"},
		{`{"y":{"dtype":"I64","shape":[1],"data_offsets":[2,10]},"x":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}}`, "\x05\x2a12345678"},
		{`{"\u0078":{"dtype":"\u00558","shape":[2],"data_offsets":[0,2]},"__metadata__":{}}`, "\x05\x2a"},
		{`{"z":{"dtype":"F32","shape":[0],"data_offsets":[2,2]},"y":{"dtype":"F64","shape":[5,0],"data_offsets":[0,0]},"x":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}}`, "\x05\x2a"},
		{`{"h":{"dtype":"F4","shape":[3,2],"data_offsets":[2,5]},"x":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}}`, "\x05\x2a123"},
	} {
		b := file(c.header, c.data)
		f, err := Read(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			t.Errorf("%s: %v", c.header, err)
			continue
		}
		v, err := f.view("x")
		if err != nil {
			t.Errorf("%s: %v", c.header, err)
			continue
		}
		checkView(t, c.header, &v, array.Uint8, []int{2})
	}
	b := file(`{"x":{"dtype":"BOOL","shape":[4],"data_offsets":[0,4]},"😀":{"dtype":"U8","shape":[],"data_offsets":[4,5]}}`, "\x00\x01\x02\xff\x05")
	b = bytes.Replace(b, []byte("😀"), []byte(`\uD83D\ude00`), 1)
	b[0] += 8
	f, err := Read(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	v, err := f.view("x")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(memory(t, &v), []byte{0, 1, 1, 1}) {
		t.Errorf("bool bytes other than 0 and 1 became %v", memory(t, &v))
	}
	if _, err := f.view("😀"); err != nil {
		t.Error(err)
	}
	if _, err := f.view("none"); err == nil || !strings.Contains(err.Error(), `no tensor is named "none"`) {
		t.Errorf("missing tensor: %v", err)
	}
}

func TestHostile(t *testing.T) {
	const ok = `"dtype":"F32","shape":[1],"data_offsets":[0,4]`
	tensor := func(s string) []byte { return file(`{"x":{`+s+`}}`, "1234") }
	shape := func(s string) []byte { return tensor(`"dtype":"F32","shape":` + s + `,"data_offsets":[0,4]`) }
	offsets := func(s string) []byte { return tensor(`"dtype":"F32","shape":[1],"data_offsets":` + s) }
	two := func(a, b, data string) []byte {
		return file(`{"a":{"dtype":"U8","shape":[2],"data_offsets":`+a+`},"b":{"dtype":"U8","shape":[2],"data_offsets":`+b+`}}`, data)
	}
	length := func(n uint64) []byte { return append(binary.LittleEndian.AppendUint64(nil, n), "{}"...) }
	for _, c := range []struct {
		name string
		data []byte
		msg  string
	}{
		{"empty", nil, "the file has 0 bytes: unexpected EOF"},
		{"7 bytes", []byte("\x02\x00\x00\x00\x00\x00\x00"), "the file has 7 bytes: unexpected EOF"},
		{"no header", length(0)[:8], "does not begin with '{'"},
		{"length over the end", length(3), "3 bytes long, 2 are there: unexpected EOF"},
		{"length at the limit", length(100_000_000), "100000000 bytes long, 2 are there: unexpected EOF"},
		{"length over the limit", length(100_000_001), "at most 100000000 are allowed"},
		{"length 2^63", length(1 << 63), "at most 100000000 are allowed"},
		{"length 2^64-1", length(1<<64 - 1), "at most 100000000 are allowed"},
		{"pickle", []byte("\x80\x04\x95\x00\x00\x00\x00\x00\x00\x00}"), "9766016 bytes long, 3 are there: unexpected EOF"},

		{"leading space", file(" {}", ""), "does not begin with '{'"},
		{"list", file("[]", ""), "does not begin with '{'"},
		{"invalid UTF-8", file("{\"\xff\":{"+ok+"}}", "1234"), "invalid UTF-8"},
		{"unclosed", file("{", ""), "ends where '}' is expected"},
		{"unclosed tensor", file(`{"x":{`+ok, ""), "ends where '}' is expected"},
		{"two objects", file("{}{}", ""), "where its end is expected"},
		{"zero padding", file("{}\x00", ""), "where its end is expected"},
		{"trailing comma", file(`{"x":{`+ok+`},}`, "1234"), "invalid character '}' looking for beginning of object key"},
		{"no colon", file(`{"x"{`+ok+`}}`, "1234"), "invalid character '{' after object key"},
		{"bare key", file(`{x:{`+ok+`}}`, "1234"), "invalid character 'x'"},
		{"single quotes", file(`{'x':{`+ok+`}}`, "1234"), `invalid character '\''`},
		{"open string", file(`{"x`, ""), "ends where a string is expected"},
		{"ends in escape", file(`{"x\`, ""), "ends where a string is expected"},
		{"bad escape", file(`{"\x":{`+ok+`}}`, "1234"), "invalid character 'x' in string escape code"},
		{"short escape", file(`{"\u00`, ""), "ends where a string is expected"},
		{"signed escape", file(`{"\u+041":{`+ok+`}}`, "1234"), "invalid character '+' in \\u hexadecimal character escape"},
		{"lone surrogate", file(`{"\ud800":{`+ok+`}}`, "1234"), "invalid escape"},
		{"wrong surrogates", file(`{"\ud800\ud800":{`+ok+`}}`, "1234"), "invalid escape"},
		{"low surrogate", file(`{"\udc00":{`+ok+`}}`, "1234"), "invalid escape"},
		{"control character", file("{\"a\nb\":{"+ok+"}}", "1234"), `invalid character '\n' in string literal`},
		{"null tensor", file(`{"x":null}`, ""), "where '{' is expected"},
		{"array tensor", file(`{"x":["F32",[0],[0,0]]}`, ""), "where '{' is expected"},
		{"deep", file(`{"x":`+strings.Repeat("[", 1000), ""), "where '{' is expected"},

		{"name twice", file(`{"x":{`+ok+`},"x":{`+ok+`}}`, "1234"), `key "x" is given twice`},
		{"name twice by escape", file(`{"x":{`+ok+`},"\u0078":{`+ok+`}}`, "1234"), `key "x" is given twice`},
		{"metadata twice", file(`{"__metadata__":{},"__metadata__":{}}`, ""), "given twice"},
		{"metadata key twice", file(`{"__metadata__":{"a":"1","a":"1"}}`, ""), `key "a" is given twice`},
		{"metadata number", file(`{"__metadata__":{"a":1}}`, ""), "where a string is expected"},
		{"metadata nested", file(`{"__metadata__":{"a":{}}}`, ""), "where a string is expected"},
		{"metadata null", file(`{"__metadata__":null}`, ""), "where '{' is expected"},
		{"metadata tensor", file(`{"__metadata__":{`+ok+`}}`, ""), "where a string is expected"},

		{"no keys", tensor(``), "dtype is missing"},
		{"no dtype", tensor(`"shape":[1],"data_offsets":[0,4]`), "dtype is missing"},
		{"no shape", tensor(`"dtype":"F32","data_offsets":[0,4]`), "shape is missing"},
		{"no offsets", tensor(`"dtype":"F32","shape":[1]`), "data_offsets is missing"},
		{"extra key", tensor(ok + `,"y":1`), `unknown key "y"`},
		{"dtype twice", tensor(ok + `,"dtype":"F32"`), `"dtype" is given twice`},
		{"shape twice", tensor(ok + `,"shape":[]`), `"shape" is given twice`},
		{"empty shape twice", tensor(`"shape":[],"shape":[]`), `"shape" is given twice`},
		{"offsets twice", tensor(ok + `,"data_offsets":[0,4]`), `"data_offsets" is given twice`},
		{"number dtype", tensor(`"dtype":32`), "where a string is expected"},

		{"negative", shape("[-1]"), "an integer that is not negative"},
		{"float", shape("[1.0]"), "an integer that is not negative"},
		{"exponent", shape("[1e0]"), "an integer that is not negative"},
		{"leading zero", shape("[01]"), "invalid character '1' after array element"},
		{"plus", shape("[+1]"), "invalid character '+' looking for beginning of value"},
		{"string size", shape(`["1"]`), "an integer that is not negative"},
		{"null size", shape("[null]"), "an integer that is not negative"},
		{"shape comma", shape("[1,]"), "invalid character ']' looking for beginning of value"},
		{"number shape", shape("1"), "where '[' is expected"},
		{"nested shape", shape("[[1]]"), "an integer that is not negative"},
		{"overflow by one", shape("[9223372036854775808]"), "overflows"},
		{"wraps to 1", shape("[18446744073709551617]"), "overflows"},
		{"digits", shape("[" + strings.Repeat("9", 50) + "]"), "overflows"},
		{"bytes overflow", shape("[4611686018427387904]"), "overflows"},
		{"product overflows", shape("[4294967296,4294967296]"), "overflows"},
		{"product wraps to 1", shape("[274177,67280421310721]"), "overflows"},
		{"product wraps with 0", shape("[4294967296,4294967296,0]"), "overflows"},
		{"17 dimensions", shape("[" + strings.Repeat("1,", 16) + "1]"), "more than 16 numbers"},
		{"too large", shape("[2]"), "do not fit the 8 bytes of F32[2]"},
		{"too small", shape("[0]"), "do not fit the 0 bytes of F32[0]"},
		{"part of a byte", tensor(`"dtype":"F4","shape":[9],"data_offsets":[0,4]`), "no whole number of bytes"},

		{"reversed", offsets("[4,0]"), "do not fit"},
		{"one offset", offsets("[4]"), "missing or no pair"},
		{"three offsets", offsets("[0,4,4]"), "more than 2 numbers"},
		{"negative offset", offsets("[-4,0]"), "an integer that is not negative"},
		{"huge offsets", offsets("[9223372036854775803,9223372036854775807]"), "belong to no tensor"},
		{"short data", file(`{"x":{`+ok+`}}`, "123"), "ends at byte 4, 3 are there: unexpected EOF"},
		{"no data", file(`{"x":{`+ok+`}}`, ""), "ends at byte 4, 0 are there: unexpected EOF"},
		{"exabyte", tensor(`"dtype":"U8","shape":[1152921504606846975],"data_offsets":[0,1152921504606846975]`), "unexpected EOF"},
		{"long data", file(`{"x":{`+ok+`}}`, "12345"), "1 bytes at the end belong to no tensor"},
		{"data of nothing", file(`{}`, "1"), "1 bytes at the end belong to no tensor"},
		{"same range", two("[0,2]", "[0,2]", "12"), "overlaps that of tensor"},
		{"overlap", two("[0,2]", "[1,3]", "123"), `tensor "b": its data at byte 1 overlaps that of tensor "a"`},
		{"hole", two("[0,2]", "[3,5]", "12345"), `tensor "b": bytes 2 to 3 before its data`},
		{"hole in front", two("[1,3]", "[3,5]", "12345"), `tensor "a": bytes 0 to 1 before its data`},
		{"empty inside another", file(`{"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},"b":{"dtype":"U8","shape":[0],"data_offsets":[1,1]}}`, "12"), "overlaps"},
	} {
		_, err := Read(bytes.NewReader(c.data), int64(len(c.data)))
		if err == nil || !strings.Contains(err.Error(), c.msg) || !strings.HasPrefix(err.Error(), "safetensors: ") {
			t.Errorf("%s: got error %v, want one with %q", c.name, err, c.msg)
			continue
		}
		var format *FormatError
		eof := strings.HasSuffix(c.msg, "EOF")
		if errors.Is(err, io.ErrUnexpectedEOF) != eof || errors.As(err, &format) == eof {
			t.Errorf("%s: %v is an error of the wrong type: %T", c.name, err, err)
		}
	}
	b := tensor(ok)
	if _, err := Read(bytes.NewReader(b), int64(len(b))); err != nil {
		t.Errorf("the well-formed file of this test: %v", err)
	}
}

// A header may promise any size; memory follows the data.
func TestFalseSizeTakesNoMemory(t *testing.T) {
	for _, b := range [][]byte{
		append(binary.LittleEndian.AppendUint64(nil, 99_999_999), "{}"...),
		file(`{"x":{"dtype":"U8","shape":[1099511627776],"data_offsets":[0,1099511627776]}}`, "1"),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := Read(bytes.NewReader(b), int64(len(b)))
		runtime.ReadMemStats(&after)
		if !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%v", err)
		}
		if got := after.TotalAlloc - before.TotalAlloc; got > 1<<20 {
			t.Errorf("%d bytes were allocated", got)
		}
	}
}

func TestBadWrites(t *testing.T) {
	x := sample(array.Float32, 2)
	for _, c := range []struct {
		name, key, value, msg string
	}{
		{name: "__metadata__", msg: "cannot be named"},
		{name: "\xff", msg: `name "\xff" is invalid UTF-8`},
		{name: "x", key: "\xff", msg: "metadata"},
		{name: "x", key: "k", value: "\xff", msg: "metadata"},
		{name: "x", key: "k", value: strings.Repeat("x", maxHeader), msg: "at most 100000000 are allowed"},
	} {
		metadata := map[string]string{}
		if c.key != "" {
			metadata[c.key] = c.value
		}
		var out bytes.Buffer
		err := encode(&out, []named{{c.name, x}}, metadata)
		if err == nil || !strings.Contains(err.Error(), c.msg) {
			t.Errorf("got error %v, want one with %q", err, c.msg)
		}
		if out.Len() > 0 {
			t.Errorf("%s: %d bytes were written", c.msg, out.Len())
		}
	}
	boom := errors.New("boom")
	for _, limit := range []int{0, 64, 71} {
		if err := encode(&limited{limit, boom}, []named{{"x", x}}, nil); !errors.Is(err, boom) {
			t.Errorf("writer that fails after %d bytes: %v", limit, err)
		}
	}
}

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

// failingAt fails every read that reaches beyond its limit.
type failingAt struct {
	b     []byte
	limit int64
	err   error
}

func (f failingAt) ReadAt(b []byte, off int64) (int, error) {
	if off+int64(len(b)) > f.limit {
		return 0, f.err
	}
	return copy(b, f.b[off:]), nil
}

func TestReaderErrorsAreKept(t *testing.T) {
	boom := errors.New("boom")
	b := file(`{"x":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}`, "1234")
	size := int64(len(b))
	for _, limit := range []int64{0, 8, size - 4, size - 1} {
		for _, cause := range []error{boom, io.EOF} { // the latter: the file shrank
			want := cause
			if cause == io.EOF {
				want = io.ErrUnexpectedEOF
			}
			f, err := Read(failingAt{b, limit, cause}, size)
			if limit >= size-4 {
				if err != nil {
					t.Fatal(err)
				}
				_, err = f.view("x")
			}
			if !errors.Is(err, want) {
				t.Errorf("limit %d: got %v, want %v", limit, err, want)
			}
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, name := range []string{"supported", "other", "names", "empty"} {
		b, _ := load(f, name)
		f.Add(b)
	}
	f.Add(file(`{"__metadata__":{"\u00e9\n":"\ud83d\ude00"},"x":{"dtype":"F4","shape":[3,2],"data_offsets":[0,3]}}`, "123"))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := Read(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			return
		}
		var all []named
		total := 0
		for _, e := range r.entries {
			total += int(e.end - e.begin)
			v, err := r.view(e.name)
			if errors.Is(err, errors.ErrUnsupported) {
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, named{e.name, v})
		}
		if int64(total)+r.start != int64(len(data)) {
			t.Fatalf("%d bytes of data in a file of %d", total, len(data))
		}
		var out bytes.Buffer
		if err := encode(&out, slices.Clone(all), r.metadata); err != nil {
			t.Fatal(err)
		}
		back, err := Read(bytes.NewReader(out.Bytes()), int64(out.Len()))
		if err != nil {
			t.Fatalf("%v in what was written: %q", err, out.Bytes())
		}
		if !maps.Equal(back.metadata, r.metadata) || len(back.entries) != len(all) {
			t.Fatal("the metadata or the number of tensors changed")
		}
		for _, n := range all {
			v, err := back.view(n.name)
			if err != nil {
				t.Fatal(err)
			}
			a, b := fmt.Sprint(n.view.DType, n.view.Shape), fmt.Sprint(v.DType, v.Shape)
			if a != b || !bytes.Equal(memory(t, &v), memory(t, &n.view)) {
				t.Fatalf("tensor %q: %s became %s", n.name, a, b)
			}
		}
	})
}
