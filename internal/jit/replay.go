package jit

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sync"
)

// A Record describes one kernel that this process made, as a line of JSON. The command
// internal/replay compares the records of two commits, so the fields are a format: both
// commits must write it.
type Record struct {
	ISA  string // "off", "avx2" or "avx512"
	Form string // "program" (no code), "kernel", "streaming" or "routine"
	Text string // source of the kernel: the canonical text of a loop program, or the key of a routine
	Code string // digest of the machine code, empty without any
	Size int    // bytes of machine code
}

// recorder writes the records of this process to a file of its own.
type recorder struct {
	mu   sync.Mutex
	file *os.File
	seen map[[sha256.Size]byte]bool // digests of the lines written
}

// replay is the process's recorder, nil unless the environment variable WEFT_REPLAY names a
// folder. The variable is read once.
var replay = sync.OnceValue(func() *recorder {
	dir := os.Getenv("WEFT_REPLAY")
	if dir == "" {
		return nil
	}
	f, err := os.CreateTemp(dir, filepath.Base(os.Args[0])+"-*.jsonl")
	if err != nil {
		panic(fmt.Sprintf("jit: WEFT_REPLAY: %v", err))
	}
	return &recorder{file: f, seen: map[[sha256.Size]byte]bool{}}
})

// Recording reports whether kernels are recorded.
func Recording() bool { return replay() != nil }

// RecordKernel records a kernel, once per process, if [Recording] is true. Otherwise it does not call
// text. Requires: code holds no addresses, which differ from run to run.
func RecordKernel(isa ISA, form string, text func() string, code []byte) {
	if r := replay(); r != nil {
		r.write(Record{ISA: isa.String(), Form: form, Text: text(), Size: len(code)}, code)
	}
}

func (r *recorder) write(k Record, code []byte) {
	if len(code) > 0 {
		sum := sha256.Sum256(code)
		k.Code = hex.EncodeToString(sum[:16])
	}
	line, err := json.Marshal(k)
	if err != nil {
		panic(err)
	}
	sum := sha256.Sum256(line)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.seen[sum] {
		return
	}
	r.seen[sum] = true
	// Written at once and unbuffered: tests kill processes.
	if _, err := r.file.Write(append(line, '\n')); err != nil {
		panic(fmt.Sprintf("jit: WEFT_REPLAY: %v", err))
	}
}
