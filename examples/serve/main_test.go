package main

import (
	"bytes"
	"encoding/json"
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"sync"
	"testing"

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
	net, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(Handler(net))
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
				resp, err := http.Post(server.URL, "application/json", bytes.NewReader(body))
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
		resp, err := http.Post(server.URL, "application/json", bytes.NewReader([]byte(body)))
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != http.StatusBadRequest {
			t.Errorf("%s: status %d", body, resp.StatusCode)
		}
	}
}
