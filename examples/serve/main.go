// Serve answers HTTP requests with a network whose weights come from a safetensors file,
// such as PyTorch writes: POST a JSON list of points to /predict.
//
//	go run ./examples/serve            # writes a small model, serves it on localhost:8080
//	curl -d '[[0.5, -1, 2, 0]]' localhost:8080/predict
//
// Requests run at the same time: reading shared weights needs no lock. What a request
// computes is given back when its scope closes.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"net/http"
	"os"

	"weft"
	"weft/nn"
	"weft/safetensors"
)

const inputs, classes = 4, 3

// NewNet is the network that the file is for.
func NewNet() nn.Sequential {
	return nn.Sequential{nn.NewLinear(inputs, 32), nn.Relu{}, nn.NewLinear(32, classes)}
}

// Load returns a network with the weights of a file, ready to be used, not trained.
func Load(path string) (nn.Sequential, error) {
	state, _, err := safetensors.ReadFile(path)
	if err != nil {
		return nil, err
	}
	net := NewNet()
	if err := nn.LoadState(net, state, true); err != nil {
		return nil, err
	}
	nn.Eval(net)
	nn.Freeze(net)
	return net, nil
}

// Handler answers a list of points with a list of the classes' probabilities.
func Handler(net nn.Layer) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var points [][]float32
		if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<20)).Decode(&points); err != nil {
			http.Error(w, "want a JSON list of points: "+err.Error(), http.StatusBadRequest)
			return
		}
		var out []float32
		// Points of the wrong length are the client's fault: Try makes an error of it.
		if err := weft.Try(func() {
			scope := weft.NewScope()
			defer scope.Close()
			out = weft.Data[float32](net.Forward(scope.Track(weft.From(points))).Softmax(1))
		}); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		rows := make([][]float32, len(points))
		for i := range rows {
			rows[i] = out[i*classes : (i+1)*classes]
		}
		w.Header().Set("Content-Type", "application/json")
		if err := json.NewEncoder(w).Encode(rows); err != nil {
			log.Print(err)
		}
	})
}

func main() {
	path := flag.String("weights", "model.safetensors", "file with the weights; written if there is none")
	addr := flag.String("addr", "localhost:8080", "where to listen")
	flag.Parse()
	if _, err := os.Stat(*path); os.IsNotExist(err) {
		if err := safetensors.WriteFile(*path, nn.State(NewNet()), nil); err != nil {
			log.Fatal(err)
		}
	}
	net, err := Load(*path)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(nn.Summary(net))
	fmt.Printf("listening on %s\n", *addr)
	http.Handle("POST /predict", Handler(net))
	log.Fatal(http.ListenAndServe(*addr, nil))
}
