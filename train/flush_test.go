package train

import (
	"bytes"
	"io"
	"os"
	"testing"
	"time"
)

// What a full disk took of a flush is not written a second time when there is room again. A pipe that nobody
// reads stands for the disk.
func TestFlushAfterPartialWrite(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	want := make([]byte, 1<<20)
	for i := range want {
		want[i] = byte(i * i >> 8)
	}
	e := &Events{file: w, buf: bytes.Clone(want)}
	if err := w.SetWriteDeadline(time.Now().Add(10 * time.Millisecond)); err != nil {
		t.Skip("SKIPPED: pipes have no deadlines here: ", err)
	}
	if err := e.Flush(); err == nil {
		t.Fatal("a full pipe took all")
	}
	w.SetWriteDeadline(time.Time{})
	closed := make(chan error, 1)
	go func() { closed <- e.Close() }()
	got, err := io.ReadAll(r)
	if err != nil || <-closed != nil || !bytes.Equal(got, want) {
		t.Errorf("%d bytes arrive, want the %d that were written (%v)", len(got), len(want), err)
	}
}
