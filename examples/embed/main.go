// Embed makes vectors of texts with a network from a folder of Hugging Face, such as a copy of
// sentence-transformers/all-MiniLM-L6-v2, and says how alike the texts are:
//
//	go run ./examples/embed -folder all-MiniLM-L6-v2 "A cat sat on the mat." "Where is the cat?"
//	go run ./examples/embed -folder all-MiniLM-L6-v2 -addr localhost:8080
//	curl -d '["A cat sat on the mat."]' localhost:8080/embed
//
// Without a folder it writes a small one of random weights, whose vectors mean nothing.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"weft"
	"weft/hf"
	"weft/models"
)

// Handler answers a JSON list of texts, POSTed to /embed, with the list of their vectors.
func Handler(m *hf.Model) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /embed", func(w http.ResponseWriter, r *http.Request) {
		var texts []string
		if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<20)).Decode(&texts); err != nil || len(texts) == 0 {
			http.Error(w, "want a JSON list of texts", http.StatusBadRequest)
			return
		}
		vectors, err := m.Embed(texts)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(vectors) // a client that went away is not an error
	})
	return http.NewCrossOriginProtection().Handler(mux)
}

// Sizes of the small network, as config.json has them.
const config = `{"model_type": "bert", "architectures": ["BertModel"], "vocab_size": 12, "hidden_size": 32, "num_hidden_layers": 2,
	"num_attention_heads": 4, "intermediate_size": 64, "max_position_embeddings": 64}`

const tokenizer = `{"normalizer": {"type": "BertNormalizer"}, "pre_tokenizer": {"type": "BertPreTokenizer"},
	"post_processor": {"type": "BertProcessing", "cls": ["[CLS]", 2], "sep": ["[SEP]", 3]}, "decoder": {"type": "WordPiece", "prefix": "##"},
	"added_tokens": [{"id": 2, "content": "[CLS]", "special": true}, {"id": 3, "content": "[SEP]", "special": true}],
	"model": {"type": "WordPiece", "vocab": {"[PAD]": 0, "[UNK]": 1, "[CLS]": 2, "[SEP]": 3, "a": 4, "the": 5, "cat": 6, "sat": 7, "on": 8, "mat": 9, "where": 10, "is": 11}}}`

// WriteSmall writes a folder as Hugging Face has them, of a small network with random weights.
func WriteSmall(folder string) error {
	var o models.BertOpts
	if err := json.Unmarshal([]byte(config), &o); err != nil {
		return err
	}
	o.Generator = weft.NewGenerator(1)
	for name, text := range map[string]string{"config.json": config, "tokenizer.json": tokenizer} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	return models.Save(models.NewBert(o), filepath.Join(folder, "model.safetensors"))
}

func main() {
	folder := flag.String("folder", "", "folder of Hugging Face with a BERT or DistilBERT; a small one is written if there is none")
	addr := flag.String("addr", "", "where to listen, such as localhost:8080; without it, texts are compared")
	flag.Parse()
	if *folder == "" {
		dir, err := os.MkdirTemp("", "embed")
		if err != nil {
			log.Fatal(err)
		}
		defer os.RemoveAll(dir)
		if err := WriteSmall(dir); err != nil {
			log.Fatal(err)
		}
		*folder = dir
	}
	m, err := hf.Load(*folder)
	if err != nil {
		log.Fatal(err)
	}
	if *addr != "" {
		s := &http.Server{Addr: *addr, Handler: Handler(m), ReadTimeout: 10 * time.Second, WriteTimeout: time.Minute}
		log.Fatal(s.ListenAndServe())
	}
	texts := flag.Args()
	if len(texts) == 0 {
		texts = []string{"the cat sat on the mat", "where is the cat", "a mat"}
	}
	vectors, err := m.Embed(texts)
	if err != nil {
		log.Fatal(err)
	}
	unit := vectors.Div(vectors.Square().SumKeep(1).Sqrt())
	for i, row := range unit.MatMul(unit.T()).Rows() {
		fmt.Printf("%6.3f  %s\n", weft.Data[float32](row), texts[i])
	}
}
