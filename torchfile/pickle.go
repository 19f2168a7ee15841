package torchfile

import (
	"encoding/binary"
	"io"
	"math"
	"math/big"
	"slices"
	"unicode/utf8"
)

// The machine's own values: containers that later opcodes fill.
type (
	list  struct{ items []any }
	tuple struct{ items []any }
	set   struct{ items *Dict }
)

// A machine runs the opcodes of a pickle, of protocols 2 to 5 (PEP 307, PEP 3154, PEP 574; opcodes as
// Lib/pickletools.py of CPython describes them). Calls make values by [calls] alone.
type machine struct {
	data  string
	at    int
	stack []any
	marks []int // lengths of the stack
	memo  map[uint32]any
	// spent counts work that an opcode may do on values which were made once and are used often.
	spent int
	// persistent returns the value of a persistent id.
	persistent func(id []any) (any, error)
}

// mapCost is the work of an entry of a map, in steps of the work of hashing a byte.
const mapCost = 32

// workPerByte is the work that a byte of a pickle may cause; in files of PyTorch it is below 8.
const workPerByte = 64

// spend counts n steps of work, and refuses a pickle that makes too many: it is made for that.
func (m *machine) spend(n int) error {
	if m.spent += n; n < 0 || m.spent > workPerByte*len(m.data)+1<<16 {
		return malformed("a pickle of %d bytes uses its values too often", len(m.data))
	}
	return nil
}

// decode runs a pickle at the beginning of data, and returns its value and the number of its bytes.
func decode(data string, persistent func(id []any) (any, error)) (value any, n int, err error) {
	m := machine{data: data, memo: map[uint32]any{}, persistent: persistent}
	for {
		op, err := m.byte()
		if err != nil {
			return nil, 0, err
		}
		if op == '.' {
			v, err := m.pop()
			if err == nil && len(m.stack) > 0 {
				err = malformed("%d values are left behind the end of a pickle", len(m.stack))
			}
			return v, m.at, err
		}
		if err := m.step(op); err != nil {
			return nil, 0, err
		}
	}
}

func (m *machine) take(n uint64) (string, error) {
	if n > uint64(len(m.data)-m.at) {
		return "", &FormatError{Msg: "a pickle ends early", Err: io.ErrUnexpectedEOF}
	}
	s := m.data[m.at : m.at+int(n)]
	m.at += int(n)
	return s, nil
}

func (m *machine) byte() (byte, error) {
	s, err := m.take(1)
	if err != nil {
		return 0, err
	}
	return s[0], nil
}

// number reads an unsigned little-endian integer of n bytes.
func (m *machine) number(n int) (uint64, error) {
	s, err := m.take(uint64(n))
	if err != nil {
		return 0, err
	}
	var b [8]byte
	copy(b[:], s)
	return binary.LittleEndian.Uint64(b[:]), nil
}

// sized reads a length of n bytes and what has that length.
func (m *machine) sized(n int) (string, error) {
	size, err := m.number(n)
	if err != nil {
		return "", err
	}
	return m.take(size)
}

// line reads up to a newline.
func (m *machine) line() (string, error) {
	for i := m.at; i < len(m.data); i++ {
		if m.data[i] == '\n' {
			s := m.data[m.at:i]
			m.at = i + 1
			return s, nil
		}
	}
	m.at = len(m.data)
	return m.take(1)
}

func (m *machine) push(x any) { m.stack = append(m.stack, x) }

// floor is the length of the stack at the last mark.
func (m *machine) floor() int {
	if len(m.marks) == 0 {
		return 0
	}
	return m.marks[len(m.marks)-1]
}

func (m *machine) pop() (any, error) {
	x, err := m.top()
	if err == nil {
		m.stack = m.stack[:len(m.stack)-1]
	}
	return x, err
}

func (m *machine) top() (any, error) {
	if len(m.stack) <= m.floor() {
		return nil, malformed("byte %d of a pickle: the stack is empty", m.at-1)
	}
	return m.stack[len(m.stack)-1], nil
}

// popN removes the last n values.
func (m *machine) popN(n int) ([]any, error) {
	if len(m.stack)-n < m.floor() {
		return nil, malformed("byte %d of a pickle: the stack lacks values", m.at-1)
	}
	at := len(m.stack) - n
	items := slices.Clone(m.stack[at:])
	clear(m.stack[at:])
	m.stack = m.stack[:at]
	return items, nil
}

// popMark removes the values behind the last mark, and the mark.
func (m *machine) popMark() ([]any, error) {
	if len(m.marks) == 0 {
		return nil, malformed("byte %d of a pickle: the mark is missing", m.at-1)
	}
	items, err := m.popN(len(m.stack) - m.floor())
	m.marks = m.marks[:len(m.marks)-1]
	return items, err
}

// step runs an opcode.
func (m *machine) step(op byte) error {
	for _, group := range [...]func(*machine, byte) (bool, error){(*machine).scalar, (*machine).text, (*machine).container, (*machine).control} {
		if known, err := group(m, op); known {
			return err
		}
	}
	switch op {
	case 'I', 'L', 'F', 'S', 'V', 'g', 'p', 'd', 'l', 'o', 'i', 'P':
		return &UnsupportedError{"a pickle of protocol 0 or 1; torch.save writes protocol 2"}
	case 0x82, 0x83, 0x84, 0x97, 0x98: // extension registry, buffers outside of the pickle
		return &UnsupportedError{"a pickle that refers to what is outside of it"}
	}
	return malformed("byte %d of a pickle is 0x%02x, which is not an opcode", m.at-1, op)
}

// scalar runs opcodes that push numbers, bools and None.
func (m *machine) scalar(op byte) (known bool, err error) {
	var n uint64
	switch op {
	case 'N':
		m.push(nil)
	case 0x88:
		m.push(true)
	case 0x89:
		m.push(false)
	case 'J':
		n, err = m.number(4)
		m.push(int64(int32(n)))
	case 'K':
		n, err = m.number(1)
		m.push(int64(n))
	case 'M':
		n, err = m.number(2)
		m.push(int64(n))
	case 'G':
		var s string
		if s, err = m.take(8); err == nil {
			m.push(math.Float64frombits(binary.BigEndian.Uint64([]byte(s))))
		}
	case 0x8a, 0x8b: // LONG1, LONG4
		var s string
		if s, err = m.sized(map[byte]int{0x8a: 1, 0x8b: 4}[op]); err == nil {
			m.push(long(s))
		}
	default:
		return false, nil
	}
	return true, err
}

// long is the integer of little-endian two's complement.
func long(s string) any {
	if len(s) <= 8 {
		var b [8]byte
		if n := copy(b[:], s); n > 0 && s[n-1] >= 0x80 {
			for i := n; i < 8; i++ {
				b[i] = 0xff
			}
		}
		return int64(binary.LittleEndian.Uint64(b[:]))
	}
	b := []byte(s)
	slices.Reverse(b)
	x := new(big.Int).SetBytes(b)
	if b[0] >= 0x80 {
		x.Sub(x, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
	}
	if x.IsInt64() {
		return x.Int64()
	}
	return x
}

// lengths has the sizes of the lengths of opcodes with text or bytes.
var lengths = map[byte]int{
	'U': 1, 'T': 4, // str of Python 2
	'X': 4, 0x8c: 1, 0x8d: 8, // str
	'B': 4, 'C': 1, 0x8e: 8, 0x96: 8, // bytes, bytearray
}

// text runs opcodes that push text and bytes.
func (m *machine) text(op byte) (known bool, err error) {
	n, known := lengths[op]
	if !known {
		return false, nil
	}
	s, err := m.sized(n)
	if err != nil {
		return true, err
	}
	switch op {
	case 'B', 'C', 0x8e, 0x96:
		m.push([]byte(s))
	default:
		if !utf8.ValidString(s) {
			return true, malformed("a string in front of byte %d of a pickle is invalid UTF-8", m.at)
		}
		m.push(s)
	}
	return true, nil
}

// container runs opcodes that make containers and fill them.
func (m *machine) container(op byte) (known bool, err error) {
	var items []any
	switch op {
	case ']':
		m.push(&list{})
	case ')':
		m.push(&tuple{})
	case '}':
		m.push(&Dict{})
	case 0x8f:
		m.push(&set{&Dict{}})
	case 't':
		items, err = m.popMark()
		m.push(&tuple{items})
	case 0x85, 0x86, 0x87: // TUPLE1 to TUPLE3
		items, err = m.popN(int(op - 0x84))
		m.push(&tuple{items})
	case 0x91: // FROZENSET
		if items, err = m.popMark(); err == nil {
			s := &set{&Dict{}}
			err = m.add(s, items)
			m.push(s)
		}
	case 'a':
		items, err = m.popN(1)
		return true, m.fill(items, err, m.extend)
	case 'e':
		items, err = m.popMark()
		return true, m.fill(items, err, m.extend)
	case 's':
		items, err = m.popN(2)
		return true, m.fill(items, err, m.setItems)
	case 'u':
		items, err = m.popMark()
		return true, m.fill(items, err, m.setItems)
	case 0x90: // ADDITEMS
		items, err = m.popMark()
		return true, m.fill(items, err, m.add)
	default:
		return false, nil
	}
	return true, err
}

// fill gives the container on top of the stack items, which come with the error of taking them.
func (m *machine) fill(items []any, err error, f func(to any, items []any) error) error {
	if err != nil {
		return err
	}
	to, err := m.top()
	if err != nil {
		return err
	}
	return f(to, items)
}

func (m *machine) extend(to any, items []any) error {
	switch to := to.(type) {
	case *list:
		to.items = append(to.items, items...)
	case *Object:
		to.List = append(to.List, items...)
	default:
		return malformed("byte %d of a pickle appends to a %T", m.at-1, to)
	}
	return nil
}

func (m *machine) setItems(to any, items []any) error {
	d, ok := to.(*Dict)
	if o, isObject := to.(*Object); isObject {
		if o.Items == nil {
			o.Items = &Dict{}
		}
		d, ok = o.Items, true
	}
	if !ok || len(items)%2 != 0 {
		return malformed("byte %d of a pickle sets %d keys and values of a %T", m.at-1, len(items), to)
	}
	for i := 0; i < len(items); i += 2 {
		if err := m.set(d, items[i], items[i+1]); err != nil {
			return err
		}
	}
	return nil
}

// set is d[key] = value.
func (m *machine) set(d *Dict, key, value any) error {
	if err := m.spend(mapCost + keyCost(key)); err != nil {
		return err
	}
	if !d.set(key, value) {
		return malformed("byte %d of a pickle: a %T is a key", m.at-1, key)
	}
	return nil
}

func (m *machine) add(to any, items []any) error {
	s, ok := to.(*set)
	if !ok {
		return malformed("byte %d of a pickle adds to a %T", m.at-1, to)
	}
	for _, x := range items {
		if err := m.set(s.items, x, nil); err != nil {
			return err
		}
	}
	return nil
}

// control runs opcodes of the stack, the memo, and calls.
func (m *machine) control(op byte) (known bool, err error) {
	var n uint64
	switch op {
	case 0x80: // PROTO
		if n, err = m.number(1); err == nil && (n < 2 || n > 5) {
			err = &UnsupportedError{"a pickle of a protocol that is not 2 to 5"}
		}
	case 0x95: // FRAME: a hint
		_, err = m.number(8)
	case '(':
		m.marks = append(m.marks, len(m.stack))
	case '0':
		if len(m.marks) > 0 && len(m.stack) == m.floor() {
			m.marks = m.marks[:len(m.marks)-1]
			return true, nil
		}
		_, err = m.pop()
	case '1':
		_, err = m.popMark()
	case '2':
		var x any
		if x, err = m.top(); err == nil {
			m.push(x)
		}
	case 'h', 'j': // BINGET, LONG_BINGET
		if n, err = m.number(memoBytes(op)); err == nil {
			x, ok := m.memo[uint32(n)]
			if !ok {
				return true, malformed("byte %d of a pickle: value %d of the memo is not there yet", m.at-1, n)
			}
			m.push(x)
		}
	case 'q', 'r': // BINPUT, LONG_BINPUT
		if n, err = m.number(memoBytes(op)); err == nil {
			m.memo[uint32(n)], err = m.top()
		}
	case 0x94: // MEMOIZE
		m.memo[uint32(len(m.memo))], err = m.top()
	case 'Q': // BINPERSID
		return true, m.pushPersistent()
	default:
		return m.object(op)
	}
	return true, err
}

func memoBytes(op byte) int {
	if op == 'j' || op == 'r' {
		return 4
	}
	return 1
}

func (m *machine) pushPersistent() error {
	x, err := m.pop()
	if err != nil {
		return err
	}
	id, ok := x.(*tuple)
	if !ok {
		return malformed("byte %d of a pickle: a persistent id is a %T, want a tuple", m.at-1, x)
	}
	v, err := m.persistent(id.items)
	m.push(v)
	return err
}

// object runs opcodes that name things, call and build them.
func (m *machine) object(op byte) (known bool, err error) {
	switch op {
	case 'c':
		module, err := m.line()
		if err != nil {
			return true, err
		}
		name, err := m.line()
		if err != nil {
			return true, err
		}
		return true, m.pushGlobal(module, name)
	case 0x93: // STACK_GLOBAL
		pair, err := m.popN(2)
		if err != nil {
			return true, err
		}
		module, ok := pair[0].(string)
		name, ok2 := pair[1].(string)
		if !ok || !ok2 {
			return true, malformed("byte %d of a pickle: a global is named by a %T and a %T", m.at-1, pair[0], pair[1])
		}
		return true, m.pushGlobal(module, name)
	case 'R', 0x81: // REDUCE, NEWOBJ
		pair, err := m.popN(2)
		if err != nil {
			return true, err
		}
		x, err := m.call(pair[0], pair[1])
		m.push(x)
		return true, err
	case 0x92: // NEWOBJ_EX
		three, err := m.popN(3)
		if err != nil {
			return true, err
		}
		x, err := m.call(three[0], three[1])
		m.push(x)
		return true, err
	case 'b':
		state, err := m.pop()
		if err != nil {
			return true, err
		}
		to, err := m.top()
		if err != nil {
			return true, err
		}
		return true, m.build(to, state)
	}
	return false, nil
}

func (m *machine) pushGlobal(module, name string) error {
	if err := m.spend(len(module) + len(name)); err != nil {
		return err
	}
	if !utf8.ValidString(module) || !utf8.ValidString(name) {
		return malformed("a name in front of byte %d of a pickle is invalid UTF-8", m.at)
	}
	m.push(Global(module + "." + name))
	return nil
}
