package checkpoint_test

import (
	"bufio"
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"weft"
	"weft/checkpoint"
	"weft/data"
	"weft/nn"
	"weft/optim"
)

// What the child of a test does, and where.
const (
	saveEnv  = "WEFT_KILL_SAVE"
	trainEnv = "WEFT_KILL_TRAIN"
)

// big is a module of two tensors that hold the same number everywhere, large
// enough for a save to take many writes.
type big struct{ A, B *weft.Tensor }

func newBig() *big { return &big{nn.Param(weft.Zeros(300000)), nn.Param(weft.Zeros(1000))} }

func TestMain(m *testing.M) {
	if path := os.Getenv(saveEnv); path != "" {
		save(path)
	} else if path := os.Getenv(trainEnv); path != "" {
		train(path)
	} else {
		os.Exit(m.Run())
	}
}

// save saves checkpoints until it is killed.
func save(path string) {
	b := newBig()
	for i := 1; ; i++ {
		b.A.Detach().Fill(i)
		b.B.Detach().Fill(i)
		if err := checkpoint.Save(path, checkpoint.Parts{"model": checkpoint.Module(b)}, map[string]string{"step": strconv.Itoa(i)}); err != nil {
			fail(err)
		}
		os.Stdout.WriteString("saved\n")
	}
}

func fail(err error) {
	os.Stderr.WriteString(err.Error() + "\n")
	os.Exit(1)
}

// train trains a network with everything that has a state, from the checkpoint at
// path if there is one, and writes one every few steps. It prints the digest of
// what it ends with.
func train(path string) {
	const steps, every = 90, 3
	g := weft.NewGenerator(5)
	x := weft.NewGenerator(6).Randn(500, 20)
	y := x.Sum(1).Gt(0).To(weft.Int64)
	net := nn.Sequential{
		nn.NewLinear(20, 64, nn.Opts{Generator: g}), nn.Relu{}, &nn.Dropout{P: 0.2, Generator: g}, nn.NewLinear(64, 2, nn.Opts{Generator: g}),
	}
	opt := optim.NewAdam(nn.Params(net), optim.AdamOpts{LR: new(0.01)})
	loader := data.NewLoader(data.Tensors(x, y), data.LoaderOpts{Batch: new(32), Shuffle: true, Seed: 7})
	parts := checkpoint.Parts{"model": checkpoint.Module(net), "optimizer": opt, "loader": loader, "dropout": checkpoint.Generator(g)}
	step := 0
	if _, err := os.Stat(path); err == nil {
		meta, err := checkpoint.Load(path, parts)
		if err != nil {
			fail(err)
		}
		if step, err = strconv.Atoi(meta["step"]); err != nil {
			fail(err)
		}
	}
	os.Stdout.WriteString("training\n")
	for step < steps {
		for b, err := range loader.Batches(context.Background()) {
			if err != nil {
				fail(err)
			}
			opt.ZeroGrad()
			nn.CrossEntropy(net.Forward(b.X), b.Y).Backward()
			opt.Step()
			if step++; step%every == 0 {
				if err := checkpoint.Save(path, parts, map[string]string{"step": strconv.Itoa(step)}); err != nil {
					fail(err)
				}
			}
			if step == steps {
				break
			}
		}
	}
	var all []*weft.Tensor
	for _, p := range nn.Params(net) {
		all = append(all, p.Detach())
	}
	os.Stdout.WriteString(weft.Digest(all...) + "\n")
}

// start starts this program as the child that env names, and waits for its first
// line.
func start(t *testing.T, env, path string) (*exec.Cmd, *bufio.Reader) {
	t.Helper()
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), env+"="+path)
	c.Stderr = os.Stderr
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	err = c.Start()
	if errors.Is(err, syscall.ENOEXEC) {
		t.Skip("SKIPPED: this program runs in an emulator and cannot start itself")
	}
	if err != nil {
		t.Fatal(err)
	}
	r := bufio.NewReader(out)
	if _, err := r.ReadString('\n'); err != nil {
		t.Fatalf("the child did nothing: %v", err)
	}
	return c, r
}

// killRuns is how often children are killed: WEFT_KILL_RUNS, 25 if not set.
func killRuns(t *testing.T) int {
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
	return runs
}

// TestKillTraining kills a training run at random moments and starts it again: it
// always ends in the digest of a run that nothing disturbed.
func TestKillTraining(t *testing.T) {
	dir := t.TempDir()
	began := time.Now()
	c, out := start(t, trainEnv, filepath.Join(dir, "whole"))
	want, err := out.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	whole := time.Since(began)
	if err := c.Wait(); err != nil {
		t.Fatal(err)
	}
	kills, ends := 0, 0
	path := filepath.Join(dir, "run")
	for runs := killRuns(t); kills < runs || ends == 0; {
		c, out := start(t, trainEnv, path)
		if kills < runs {
			timer := time.AfterFunc(rand.N(whole/2), func() { c.Process.Kill() })
			defer timer.Stop()
		}
		got, _ := out.ReadString('\n')
		if c.Wait() != nil {
			kills++
			continue
		}
		if got != want {
			t.Fatalf("after %d kills the run ends in %q, want %q", kills, got, want)
		}
		ends++
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d kills, %d runs to the end, %v without a kill", kills, ends, whole)
}

// TestKill kills a process that saves without a pause, at random moments: the
// file is always one whole checkpoint.
func TestKill(t *testing.T) {
	runs := killRuns(t)
	path := filepath.Join(t.TempDir(), "run.safetensors")
	last := 0
	for i := range runs {
		c, _ := start(t, saveEnv, path)
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
		if b.A.Detach().Ne(step).Any().ItemInt() != 0 || b.B.Detach().Ne(step).Any().ItemInt() != 0 {
			t.Fatalf("run %d: the file mixes checkpoints", i)
		}
		last = max(last, step)
	}
	if runs >= 25 && last < 2 {
		t.Error("every child was killed at its first save: nothing was tested")
	}
}
