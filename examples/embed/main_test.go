package main

import (
	"bytes"
	"encoding/json"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"weft"
	"weft/hf"
)

func small(t *testing.T) *hf.Model {
	dir := t.TempDir()
	if err := WriteSmall(dir); err != nil {
		t.Fatal(err)
	}
	m, err := hf.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestService asks from several clients at once: each text has the vector that it has alone.
func TestService(t *testing.T) {
	m := small(t)
	server := httptest.NewServer(Handler(m))
	defer server.Close()
	texts := []string{"the cat sat on the mat", "where is the cat", "a dog"}
	body, err := json.Marshal(texts)
	if err != nil {
		t.Fatal(err)
	}
	want := make([][]float32, len(texts))
	for i, text := range texts {
		v, err := m.Embed([]string{text})
		if err != nil {
			t.Fatal(err)
		}
		want[i] = weft.Data[float32](v)
	}
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			resp, err := http.Post(server.URL+"/embed", "application/json", bytes.NewReader(body))
			if err != nil {
				t.Error(err)
				return
			}
			defer resp.Body.Close()
			var got [][]float32
			if err := json.NewDecoder(resp.Body).Decode(&got); err != nil || len(got) != len(texts) {
				t.Errorf("%v %v", got, err)
				return
			}
			for i := range got {
				for k := range got[i] {
					if math.Abs(float64(got[i][k]-want[i][k])) > 1e-5 {
						t.Errorf("text %d number %d: %v, want %v", i, k, got[i][k], want[i][k])
						return
					}
				}
			}
		})
	}
	wait.Wait()
	for _, body := range []string{"", "{}", "[]", "[3]"} {
		resp, err := http.Post(server.URL+"/embed", "application/json", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != http.StatusBadRequest {
			t.Errorf("%q: %s", body, resp.Status)
		}
	}
}
