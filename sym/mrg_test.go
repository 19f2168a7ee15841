package sym

import (
	"bufio"
	"os"
	"strconv"
	"testing"
)

// TestMRGSamples compares 12 streams of 7 substreams with samples of another
// implementation, bit for bit. The file is Theano's, whose licence lies beside it.
func TestMRGSamples(t *testing.T) {
	f, err := os.Open("testdata/mrg31k3p.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines, count := bufio.NewScanner(f), 0
	stream := mrgState{12345, 12345, 12345, 12345, 12345, 12345}
	for range 12 {
		sub := stream
		for range 7 {
			s := sub
			for range 5 {
				if !lines.Scan() {
					t.Fatalf("only %d samples", count)
				}
				want, err := strconv.ParseFloat(lines.Text(), 64)
				if err != nil {
					t.Fatal(err)
				}
				if got := float64(s.next()) * norm; got != want {
					t.Fatalf("sample %d: %v, want %v", count, got, want)
				}
				count++
			}
			sub = sub.after(&step72)
		}
		stream = stream.after(&step134)
	}
	if lines.Scan() {
		t.Errorf("more than %d samples", count)
	}
}
