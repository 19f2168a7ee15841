//go:build !weft_deferred

package onnx

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"weft"
	"weft/internal/array"
)

// A file that is cut while a model runs from it ends the runs in a typed error that names the file. A device with memory of its
// own has copies of weights, so that the build tag leaves this test out.
func TestFileCutWhileModelRuns(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("SKIPPED: this system does not cut mapped files")
	}
	const n = 512
	w := bytes.Repeat([]byte{0, 0, 0x80, 0x3f}, n*n)
	data := modelOf(nodeOf("MatMul", []string{"x", "w"}, []string{"h"}), nodeOf("MatMul", []string{"h", "w"}, []string{"y"}),
		port(11, "x"), port(12, "y"), initializer("w", 1, []int64{n, n}, text(9, string(w))))
	path := filepath.Join(t.TempDir(), "m.onnx")
	for try := range 6 {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		m, err := Load(path)
		if err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		end := time.Now().Add(20 * time.Second)
		for range 2 {
			wg.Go(func() {
				for time.Now().Before(end) {
					_, err := m.Run(map[string]*weft.Tensor{"x": weft.Ones(16+try, n)})
					if err == nil {
						continue
					}
					var e *Error
					var cause *array.Error
					if !errors.As(err, &e) || !errors.As(err, &cause) || !strings.Contains(err.Error(), "m.onnx was cut") {
						t.Errorf("%T: %v", err, err)
					}
					return
				}
				t.Error("runs go on although the file was cut")
			})
		}
		time.Sleep(time.Duration(try) * time.Millisecond)
		if err := os.Truncate(path, int64(len(data)/(try+2))); err != nil {
			t.Error(err)
		}
		wg.Wait()
	}
}
