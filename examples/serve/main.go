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
	"errors"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"runtime"
	"time"

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

// Handler answers a list of points, POSTed to /predict, with a list of the classes'
// probabilities. Only requests for these hosts are answered: a page of another site could
// otherwise ask under its own name (DNS rebinding).
func Handler(model nn.Layer, hosts ...string) http.Handler {
	mux := http.NewServeMux()
	slots := make(chan struct{}, 4*runtime.GOMAXPROCS(0)) // computing at a time; others wait
	predict := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Content-Type-Options", "nosniff")
		var points [][]float32
		if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<20)).Decode(&points); err != nil {
			status := http.StatusBadRequest
			if _, large := errors.AsType[*http.MaxBytesError](err); large {
				status = http.StatusRequestEntityTooLarge
			}
			http.Error(w, "want a JSON list of points: "+err.Error(), status)
			return
		}
		select {
		case slots <- struct{}{}:
			defer func() { <-slots }()
		case <-r.Context().Done():
			return
		}
		var out []float32
		// Points of the wrong length are the client's fault: Try makes an error of it.
		if err := weft.Try(func() {
			scope := weft.NewScope()
			defer scope.Close()
			out = weft.Data[float32](model.Forward(scope.Track(weft.From(points))).Softmax(1))
		}); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		rows := make([][]float32, len(points))
		for i := range rows {
			rows[i] = out[i*classes : (i+1)*classes]
		}
		text, err := json.Marshal(rows)
		if err != nil { // JSON has no NaN
			http.Error(w, "these points have no probabilities: "+err.Error(), http.StatusUnprocessableEntity)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.Write(append(text, '\n'))
	}
	for _, h := range hosts {
		mux.HandleFunc("POST "+h+"/predict", predict)
	}
	return mux
}

// Server is an HTTP server that waits for no client longer than seconds.
func Server(h http.Handler) *http.Server {
	return &http.Server{
		Handler:           http.NewCrossOriginProtection().Handler(h), // refuses pages of other sites
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       10 * time.Second,
		WriteTimeout:      30 * time.Second,
		IdleTimeout:       time.Minute,
		MaxHeaderBytes:    16 << 10,
	}
}

func main() {
	path := flag.String("weights", "model.safetensors", "file with the weights; written if there is none")
	addr := flag.String("addr", "localhost:8080", "where to listen")
	host := flag.String("host", "localhost", "name that clients use for this server; besides it only 127.0.0.1 is answered")
	flag.Parse()
	if _, err := os.Stat(*path); os.IsNotExist(err) {
		if err := safetensors.WriteFile(*path, nn.State(NewNet()), nil); err != nil {
			log.Fatal(err)
		}
	}
	model, err := Load(*path)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(nn.Summary(model))
	l, err := net.Listen("tcp", *addr)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("listening on %s\n", l.Addr())
	log.Fatal(Server(Handler(model, *host, "127.0.0.1")).Serve(l))
}
