package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"weft"
	"weft/nn"
	"weft/safetensors"
)

// probabilities computes the network in plain Go from the tensors of the file.
func probabilities(state map[string][]float32, x []float32) []float64 {
	hidden := make([]float64, 32)
	for i := range hidden {
		h := float64(state["0.bias"][i])
		for j := range inputs {
			h += float64(state["0.weight"][i*inputs+j]) * float64(x[j])
		}
		hidden[i] = math.Max(h, 0)
	}
	out, sum := make([]float64, classes), 0.0
	for i := range out {
		z := float64(state["2.bias"][i])
		for j := range hidden {
			z += float64(state["2.weight"][i*32+j]) * hidden[j]
		}
		out[i] = math.Exp(z)
		sum += out[i]
	}
	for i := range out {
		out[i] /= sum
	}
	return out
}

// Many goroutines ask at once, and each gets what the weights in the file say.
func TestServe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "model.safetensors")
	if err := safetensors.WriteFile(path, nn.State(NewNet()), nil); err != nil {
		t.Fatal(err)
	}
	tensors, _, err := safetensors.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	state := map[string][]float32{}
	for name, x := range tensors {
		state[name] = weft.Data[float32](x)
	}
	model, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(Handler(model, "127.0.0.1"))
	defer server.Close()
	var wait sync.WaitGroup
	for g := range 16 {
		wait.Go(func() {
			r := rand.New(rand.NewPCG(1, uint64(g)))
			for range 20 {
				points := make([][]float32, 1+r.IntN(5))
				for i := range points {
					points[i] = []float32{r.Float32(), -r.Float32(), 2 * r.Float32(), r.Float32()}
				}
				body, _ := json.Marshal(points)
				resp, err := http.Post(server.URL+"/predict", "application/json", bytes.NewReader(body))
				if err != nil {
					t.Error(err)
					return
				}
				var got [][]float64
				err = json.NewDecoder(resp.Body).Decode(&got)
				resp.Body.Close()
				if err != nil || len(got) != len(points) {
					t.Errorf("answer %v, %v", got, err)
					return
				}
				for i, p := range points {
					for k, want := range probabilities(state, p) {
						if math.Abs(got[i][k]-want) > 1e-5 {
							t.Errorf("%v: class %d has %v, want %v", p, k, got[i][k], want)
							return
						}
					}
				}
			}
		})
	}
	wait.Wait()
	for _, body := range []string{"no", "[[1, 2]]", "[]", "[[1, 2, 3, 4], [1]]"} {
		resp, err := http.Post(server.URL+"/predict", "application/json", bytes.NewReader([]byte(body)))
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != http.StatusBadRequest {
			t.Errorf("%s: status %d", body, resp.StatusCode)
		}
	}
}

// TestOnlyPredictRequestsAreAnswered sends every method, path, host and origin: only a POST to /predict of a host
// that was named is answered, and every refusal has a text.
func TestOnlyPredictRequestsAreAnswered(t *testing.T) {
	model := NewNet()
	weft.WithoutGrad(func() {
		for _, p := range nn.Params(model) {
			p.Fill(1) // a sum of large inputs is Inf, and its softmax NaN
		}
	})
	server := httptest.NewUnstartedServer(nil)
	server.Config = Server(Handler(model, "localhost", "127.0.0.1"))
	server.Start()
	defer server.Close()
	addr := server.Listener.Addr().String()
	_, port, err := net.SplitHostPort(addr)
	if err != nil {
		t.Fatal(err)
	}
	const good = "[[0.5, -1, 2, 0]]"
	for _, c := range []struct {
		method, path, host, origin, body string
		want                             int
	}{
		{"POST", "/predict", addr, "", good, 200},
		{"POST", "/predict", "localhost:" + port, "", good, 200},
		{"POST", "/predict", addr, "http://" + addr, good, 200},
		{"POST", "/predict", addr, "http://evil.example", good, 403},
		{"POST", "/predict", "evil.example:" + port, "http://evil.example:" + port, good, 404},
		{"POST", "/predict", "evil.example", "", good, 404},
		{"POST", "/predict", "localhost.evil.example", "", good, 404},
		{"POST", "/", addr, "", good, 404},
		{"POST", "/predict/more", addr, "", good, 404},
		{"GET", "/predict", addr, "", "", 405},
		{"HEAD", "/predict", addr, "", "", 405},
		{"PUT", "/predict", addr, "", good, 405},
		{"DELETE", "/predict", addr, "", "", 405},
		{"BREW", "/predict", addr, "", good, 405},
		{"POST", "/predict", addr, "", "[[3e38, 3e38, 3e38, 3e38], [1, 1, 1, 1]]", 422},
		{"POST", "/predict", addr, "", "[[1e39, 0, 0, 0]]", 400},
		{"POST", "/predict", addr, "", "[[NaN, 0, 0, 0]]", 400},
		{"POST", "/predict", addr, "", "", 400},
		{"POST", "/predict", addr, "", "[" + strings.Repeat(" ", 2<<20) + "]", 413},
	} {
		r, err := http.NewRequestWithContext(t.Context(), c.method, "http://"+addr+c.path, strings.NewReader(c.body))
		if err != nil {
			t.Fatal(err)
		}
		r.Host = c.host
		if c.origin != "" {
			r.Header.Set("Origin", c.origin)
		}
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || resp.StatusCode != c.want || len(text) == 0 && c.method != "HEAD" {
			t.Errorf("%s %s of %s from %q with %.50s: %s %q %v, want %d and a text", c.method, c.path, c.host, c.origin, c.body, resp.Status, text, err, c.want)
		}
	}
}

// TestStalledClients has clients that send a part of a request and nothing more: the server
// answers others and ends the stalled ones.
func TestStalledClients(t *testing.T) {
	server := httptest.NewUnstartedServer(nil)
	server.Config = Server(Handler(NewNet(), "127.0.0.1"))
	for _, limit := range []*time.Duration{&server.Config.ReadHeaderTimeout, &server.Config.ReadTimeout, &server.Config.WriteTimeout, &server.Config.IdleTimeout} {
		if *limit <= 0 || *limit > time.Minute {
			t.Errorf("a limit of time is %v", *limit)
		}
		*limit = 300 * time.Millisecond
	}
	server.Start()
	defer server.Close()
	addr := server.Listener.Addr().String()
	var stalled []net.Conn
	for _, part := range []string{"", "POST /pre", "POST /predict HTTP/1.1\r\nHost: " + addr, "POST /predict HTTP/1.1\r\nHost: " + addr + "\r\nContent-Length: 100\r\n\r\n[[0.5"} {
		for range 10 {
			c, err := net.Dial("tcp", addr)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			if _, err := io.WriteString(c, part); err != nil {
				t.Fatal(err)
			}
			stalled = append(stalled, c)
		}
	}
	resp, err := http.Post(server.URL+"/predict", "application/json", strings.NewReader("[[0.5, -1, 2, 0]]"))
	if err != nil || resp.StatusCode != 200 {
		t.Fatal(resp, err)
	}
	resp.Body.Close()
	for _, c := range stalled {
		if err := c.SetDeadline(time.Now().Add(30 * time.Second)); err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, c); errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatal("the server still waits for a client that stalls")
		}
	}
}
