package checkpoint_test

import (
	"bufio"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"weft"
	"weft/checkpoint"
	"weft/nn"
)

const killEnv = "WEFT_CHECKPOINT_KILL"

// big is a module of two tensors that hold the same number everywhere, large
// enough for a save to take many writes.
type big struct{ A, B *weft.Tensor }

func newBig() *big { return &big{nn.Param(weft.Zeros(300000)), nn.Param(weft.Zeros(1000))} }

// TestMain saves checkpoints until it is killed when it is the child of
// [TestKill].
func TestMain(m *testing.M) {
	path := os.Getenv(killEnv)
	if path == "" {
		os.Exit(m.Run())
	}
	b := newBig()
	for i := 1; ; i++ {
		b.A.NoGrad().Fill(i)
		b.B.NoGrad().Fill(i)
		if err := checkpoint.Save(path, checkpoint.Parts{"model": checkpoint.Module(b)}, map[string]string{"step": strconv.Itoa(i)}); err != nil {
			os.Stderr.WriteString(err.Error() + "\n")
			os.Exit(1)
		}
		os.Stdout.WriteString("saved\n")
	}
}

// TestKill kills a process that saves without a pause, at random moments: the
// file is always one whole checkpoint. WEFT_KILL_RUNS sets how often, 25 times
// if not set.
func TestKill(t *testing.T) {
	runs := 25
	if s := os.Getenv("WEFT_KILL_RUNS"); s != "" {
		var err error
		if runs, err = strconv.Atoi(s); err != nil {
			t.Fatal(err)
		}
	}
	if testing.Short() {
		runs = 3
	}
	path := filepath.Join(t.TempDir(), "run.safetensors")
	last := 0
	for i := range runs {
		c := exec.Command(os.Args[0])
		c.Env = append(os.Environ(), killEnv+"="+path)
		c.Stderr = os.Stderr
		out, err := c.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
			t.Fatalf("the child saved nothing: %v", err)
		}
		time.Sleep(time.Duration(rand.IntN(20000)) * time.Microsecond)
		if err := c.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		if err := c.Wait(); err == nil {
			t.Fatal("the child ended by itself")
		}
		b := newBig()
		meta, err := checkpoint.Load(path, checkpoint.Parts{"model": checkpoint.Module(b)})
		if err != nil {
			t.Fatalf("run %d: %v", i, err)
		}
		step, err := strconv.Atoi(meta["step"])
		if err != nil || step < 1 {
			t.Fatalf("run %d: step %q", i, meta["step"])
		}
		if b.A.NoGrad().Ne(step).Any().ItemInt() != 0 || b.B.NoGrad().Ne(step).Any().ItemInt() != 0 {
			t.Fatalf("run %d: the file mixes checkpoints", i)
		}
		last = max(last, step)
	}
	if runs >= 25 && last < 2 {
		t.Error("every child was killed at its first save: nothing was tested")
	}
}
