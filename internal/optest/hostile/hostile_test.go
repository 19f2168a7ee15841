package hostile

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

const (
	callsShort = 1000
	// callTime is when a call counts as hung. A call takes far less than a second; a
	// busy machine may hold it up.
	callTime = 10 * time.Second
	// endlessTime is for calls that were given more elements than can be visited. An
	// operation that really has to visit them is stopped, and is no fault.
	endlessTime = 3 * time.Second
	// room is what a child may allocate; a collection of the child starts well before.
	room = 3 << 29
	// longest is the length of what a child may write into a file or a stream: arrays
	// of elements without end can be written.
	longest = 16 << 20
)

// TestHostile makes a thousand calls of exported functions and methods, each twice, in
// child processes. Call n calls function n (modulo their number) with arguments
// that follow from n. What must hold:
//
//   - a call gives a value, an error or a panic with *weft.Error, in time;
//
//   - the two runs give the same, though fresh memory holds different bytes and storages touch
//     inaccessible pages at different ends;
//
//   - tensors lie within their memory;
//
//   - arguments stay as they are unless the call is one that writes.
//
//     WEFT_HOSTILE=100000 go test -run Hostile -timeout 0 ./internal/optest/hostile
//     WEFT_HOSTILE_SEED=n go test -run Hostile -v ./internal/optest/hostile
//     WEFT_HOSTILE_FROM=n WEFT_HOSTILE=k ...
//
// make 100,000 calls, call n alone, in this process and with a description, and
// k calls from n on.
func TestHostile(t *testing.T) {
	if s := os.Getenv("WEFT_HOSTILE_CHILD"); s != "" {
		child(s)
		return
	}
	if s := os.Getenv("WEFT_HOSTILE_SEED"); s != "" {
		seed, err := strconv.ParseUint(s, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		t.Chdir(t.TempDir())
		if err := limit(room); err != nil {
			t.Fatal(err)
		}
		tg, faults, _ := once(seed, ".", true)
		for _, f := range faults {
			t.Errorf("call %d, %s: %s", seed, tg.name, f)
		}
		return
	}
	if !limited {
		t.Skip("SKIPPED: nothing bounds the memory and the files of hostile calls on this platform")
	}
	count, from := uint64(callsShort), uint64(0)
	if n, err := strconv.ParseUint(os.Getenv("WEFT_HOSTILE"), 10, 64); err == nil {
		count = n
	}
	if n, err := strconv.ParseUint(os.Getenv("WEFT_HOSTILE_FROM"), 10, 64); err == nil {
		from = n
	}
	children := uint64(max(1, min(2, runtime.GOMAXPROCS(0))))
	var wg sync.WaitGroup
	var mu sync.Mutex
	var done, endless int
	values := map[string]int{}
	for i := range children {
		wg.Go(func() {
			for at, end := from+count*i/children, from+count*(i+1)/children; at < end; {
				c := run(t, at, end)
				mu.Lock()
				done += int(c.next - at)
				endless += c.endless
				for name, n := range c.values {
					values[name] += n
				}
				for _, f := range c.faults {
					t.Error(f)
				}
				mu.Unlock()
				if c.next == at {
					t.Errorf("a child made no call: %s", c.faults)
					return
				}
				at = c.next
			}
		})
	}
	wg.Wait()
	t.Logf("%d calls of %d functions and methods; %d were stopped that had to visit too many elements", done, len(targets), endless)
	all := 0
	for _, n := range values {
		all += n
	}
	t.Logf("%d gave a value", all)
	if all < done/3 {
		t.Errorf("only %d of %d calls gave a value: the arguments are too bad to reach anything", all, done)
	}
	for i := range targets {
		if name := targets[i].name; count >= 20*uint64(len(targets)) && values[name] == 0 {
			t.Errorf("no call of %s gave a value", name)
		}
	}
	if uint64(done) != count {
		t.Errorf("%d calls were made, want %d", done, count)
	}
}

// A report is what a child did.
type report struct {
	next    uint64 // the call after its last
	endless int
	values  map[string]int // calls that gave a value, by function
	faults  []string
}

// run makes the calls from first to before end in one child, until one fails.
func run(t *testing.T, first, end uint64) report {
	r := runChild(t, "^TestHostile$", fmt.Sprintf("WEFT_HOSTILE_CHILD=%d,%d,%s", first, end, t.TempDir()))
	r.next += first
	return r
}

// inChildren runs the test in children that call the targets of a list, by number. The variable says
// how many calls of each, 1 if it is not set. A child that ends leaves the rest of the list to the next.
// The result counts the calls that gave something to compare, by target.
func inChildren(t *testing.T, variable string, list []string) map[string]int {
	rounds := 1
	if n, err := strconv.Atoi(os.Getenv(variable)); err == nil {
		rounds = n
	}
	values := map[string]int{}
	for len(list) > 0 {
		c := runChild(t, "^"+t.Name()+"$", variable+"_CHILD="+strconv.Itoa(rounds)+","+t.TempDir()+","+strings.Join(list, " "))
		for _, f := range c.faults {
			t.Error(f)
		}
		for n, k := range c.values {
			values[n] += k
		}
		list = list[min(max(1, int(c.next)), len(list)):]
	}
	if len(values) < 300 {
		t.Errorf("only %d functions and methods were compared", len(values))
	}
	t.Logf("%d functions and methods were compared", len(values))
	return values
}

// runChild runs a test in a child that makes calls, and reads what it reports of them. next is how
// many it made.
func runChild(t *testing.T, test, env string) (r report) {
	r.values = map[string]int{}
	cmd := exec.Command(os.Args[0], "-test.run="+test, "-test.timeout=0")
	cmd.Env = append(os.Environ(), env, "GOTRACEBACK=all")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	stdout, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Error(err)
		return r
	}
	lines := make(chan string)
	go func() {
		s := bufio.NewScanner(stdout)
		s.Buffer(nil, 1<<24)
		for s.Scan() {
			lines <- s.Text()
		}
		close(lines)
	}()
	calling, slow := "", false // the call that was begun and not finished
	timer := time.NewTimer(time.Minute)
	for {
		select {
		case line, ok := <-lines:
			if !ok {
				err := cmd.Wait()
				if calling != "" {
					r.next++
					r.faults = append(r.faults, fmt.Sprintf("call %s ended its process: %v\n%s", calling, err, head(stderr.String())))
				} else if err != nil && len(r.faults) == 0 {
					r.faults = append(r.faults, fmt.Sprintf("a process ended before call %d: %v\n%s", r.next, err, head(stderr.String())))
				}
				return r
			}
			what, rest, _ := strings.Cut(line, " ")
			switch what {
			case "begin":
				calling, slow = rest, false
				timer.Reset(callTime)
			case "endless":
				slow = true
				timer.Reset(endlessTime)
			case "end":
				if rest == "true" {
					_, name, _ := strings.Cut(calling, " ")
					r.values[name]++
				}
				calling = ""
				r.next++
				timer.Reset(callTime)
			case "fault":
				s, err := strconv.Unquote(rest)
				if err != nil {
					s = rest
				}
				r.faults = append(r.faults, "call "+calling+": "+s)
			}
		case <-timer.C:
			cmd.Process.Signal(syscall.SIGQUIT)
			go func() { time.Sleep(5 * time.Second); cmd.Process.Kill() }()
			for range lines {
			}
			cmd.Wait()
			r.next++
			if slow {
				r.endless++
			} else {
				r.faults = append(r.faults, fmt.Sprintf("call %s hangs:\n%s", calling, head(stderr.String())))
			}
			return r
		}
	}
}

func head(s string) string { return s[:min(len(s), 6000)] }

// child makes calls and reports each on the standard output. It ends after one with a
// fault, which may have left locks held.
func child(what string) {
	var first, end uint64
	var dir string
	if _, err := fmt.Sscanf(strings.ReplaceAll(what, ",", " "), "%d %d %s", &first, &end, &dir); err != nil {
		panic(err)
	}
	// Names that are drawn are files of this folder.
	if err := cmp.Or(os.Chdir(dir), limit(room)); err != nil {
		panic(err)
	}
	for seed := first; seed < end; seed++ {
		fmt.Printf("begin %d %s\n", seed, targets[seed%uint64(len(targets))].name)
		_, faults, value := once(seed, ".", false)
		for _, f := range faults {
			fmt.Printf("fault %q\n", f)
		}
		fmt.Println("end", value)
		if len(faults) > 0 {
			os.Exit(0)
		}
	}
}
