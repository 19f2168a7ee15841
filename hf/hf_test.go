package hf_test

import (
	"encoding/json"
	"errors"
	"image"
	"image/color"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"weft"
	"weft/data"
	"weft/hf"
	"weft/models"
	"weft/nn"
	"weft/tokenizers"
)

// expected is what make.py wrote of transformers' results.
type expected struct {
	Texts  []string
	Minilm struct {
		Tokens     [][]int
		Embeddings []float64
	}
	Bert, Classifier struct{ Probabilities []float64 }
	DistilBert       struct{ Embeddings []float64 }
	GPT2             struct {
		Tokens []int
		Text   string
	}
	Vit     struct{ Pixels, Probabilities []float64 }
	Whisper []struct {
		Features       []float64
		Text, Detected string
		Tokens         []int

		Translated, Without, Later string // by translation; with the first token suppressed, and suppressed as the first alone
	}
}

func want(t testing.TB) (e expected) {
	t.Helper()
	text, err := os.ReadFile("testdata/expected.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(strings.Replace(string(text), `"distilbert-classifier"`, `"classifier"`, 1)), &e); err != nil {
		t.Fatal(err)
	}
	return e
}

func load(t testing.TB, name string) *hf.Model { return loadFolder(t, "testdata/"+name) }

func loadFolder(t testing.TB, path string) *hf.Model {
	t.Helper()
	m, err := hf.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func near(t *testing.T, what string, got, want []float64, bound float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d numbers, want %d", what, len(got), len(want))
	}
	for i := range want {
		if !(math.Abs(got[i]-want[i]) <= bound) {
			t.Fatalf("%s: number %d is %v, want %v", what, i, got[i], want[i])
		}
	}
}

func numbers(x *weft.Tensor) []float64 { return weft.Data[float64](x.To(weft.Float64)) }

// TestEmbeddingsEqualTransformers compares vectors of texts, alone and in a batch.
func TestEmbeddingsEqualTransformers(t *testing.T) {
	e := want(t)
	for name, values := range map[string][]float64{"minilm": e.Minilm.Embeddings, "distilbert": e.DistilBert.Embeddings} {
		m := load(t, name)
		v, err := m.Embed(e.Texts)
		if err != nil {
			t.Fatal(err)
		}
		near(t, name, numbers(v), values, 3e-6)
		width := v.Dim(1)
		for i, text := range e.Texts {
			one, err := m.Embed([]string{text})
			if err != nil {
				t.Fatal(err)
			}
			near(t, name+" alone", numbers(one), values[i*width:(i+1)*width], 3e-6)
		}
	}
	m := load(t, "minilm")
	if b, ok := m.Module.(*models.Bert); !ok || m.MaxTokens != 12 || !m.Pooling.Normalize || m.Config.Type != "bert" || b.Pooler == nil {
		t.Errorf("%+v", m)
	}
	enc, err := m.Tokenizer.Encode(e.Texts[0])
	if err != nil || !slices.Equal(enc.IDs, e.Minilm.Tokens[0][:enc.Len()]) {
		t.Errorf("tokens %v, %v", enc, err)
	}
	if v, err := m.Embed(nil); err != nil || v.Dim(0) != 0 {
		t.Errorf("no texts: %v %v", v, err)
	}
}

// TestClassesEqualTransformers compares the shares of classes of texts.
func TestClassesEqualTransformers(t *testing.T) {
	e := want(t)
	for name, values := range map[string][]float64{"bert": e.Bert.Probabilities, "distilbert-classifier": e.Classifier.Probabilities} {
		all, err := load(t, name).Classify(e.Texts)
		if err != nil {
			t.Fatal(err)
		}
		var got []float64
		for _, classes := range all {
			shares := map[string]float64{}
			for i, c := range classes {
				shares[c.Label] = c.Probability
				if i > 0 && c.Probability > classes[i-1].Probability {
					t.Error("the likeliest class is not first")
				}
			}
			got = append(got, shares["bad"], shares["good"], shares["neither"])
		}
		near(t, name, got, values, 3e-6)
	}
}

// TestGenerationEqualsTransformers compares the text that GPT-2 writes on. Its weights are in four files.
func TestGenerationEqualsTransformers(t *testing.T) {
	e, m := want(t), load(t, "gpt2")
	text := ""
	for part, err := range m.Generate("the cat", models.GenerateOpts{MaxTokens: new(16)}) {
		if err != nil {
			t.Fatal(err)
		}
		text += part
	}
	if text != e.GPT2.Text {
		t.Errorf("%q, want %q", text, e.GPT2.Text)
	}
	enc, err := m.Tokenizer.Encode("the cat")
	if err != nil {
		t.Fatal(err)
	}
	var tokens []int
	for token, err := range models.Generate(m.Module.(models.LM), enc.IDs, models.GenerateOpts{MaxTokens: new(16)}) {
		if err != nil {
			t.Fatal(err)
		}
		tokens = append(tokens, token)
	}
	if !slices.Equal(tokens, e.GPT2.Tokens) {
		t.Errorf("tokens %v, want %v", tokens, e.GPT2.Tokens)
	}
}

// picture is that of make.py.
func picture() image.Image {
	p := image.NewRGBA(image.Rect(0, 0, 30, 20))
	for y := range 20 {
		for x := range 30 {
			p.Set(x, y, color.RGBA{uint8(x * 8), uint8(y * 12), uint8(x * y), 255})
		}
	}
	return p
}

// TestPicturesEqualTransformers compares prepared pixels and shares of classes.
func TestPicturesEqualTransformers(t *testing.T) {
	e, m := want(t), load(t, "vit")
	near(t, "pixels", numbers(m.Prepare.Apply(data.FromImage(picture()), nil)), e.Vit.Pixels, 1e-6)
	all, err := m.ClassifyPictures([]image.Image{picture(), picture()})
	if err != nil {
		t.Fatal(err)
	}
	shares := map[string]float64{}
	for _, c := range all[1] {
		shares[c.Label] = c.Probability
	}
	near(t, "shares", []float64{shares["cat"], shares["dog"], shares["mat"]}, e.Vit.Probabilities, 3e-6)
}

// chirp is a sound of make.py.
func chirp(n int) []float32 {
	s := make([]float32, n)
	for i := range s {
		s[i] = float32(math.Sin(math.Pow(float64(i), 1.2)/9)) * 0.5
	}
	return s
}

// TestSoundsEqualTransformers compares spectrograms, and texts with the language given and told by the network.
func TestSoundsEqualTransformers(t *testing.T) {
	e, m := want(t), load(t, "whisper")
	all := ""
	for i, n := range []int{16000, 9000} {
		x, err := m.Features(chirp(n))
		if err != nil {
			t.Fatal(err)
		}
		near(t, "features", numbers(x.Slice(weft.Index(0), weft.Range(0, 20, 3), weft.Range(0, 100, 7)).Contiguous()), e.Whisper[i].Features, 2e-5)
		for _, o := range []hf.TranscribeOpts{{MaxTokens: new(12), Language: "en"}, {MaxTokens: new(12)}} {
			text, err := m.Transcribe(chirp(n), o)
			if want := map[bool]string{true: e.Whisper[i].Text, false: e.Whisper[i].Detected}[o.Language != ""]; err != nil || text != want {
				t.Errorf("%d samples, language %q: %q, want %q (%v)", n, o.Language, text, want, err)
			}
		}
		all += e.Whisper[i].Text
	}
	if text, err := m.Transcribe(append(chirp(16000), chirp(9000)...), hf.TranscribeOpts{MaxTokens: new(12), Language: "en"}); err != nil || text != all {
		t.Errorf("both: %q, want %q (%v)", text, all, err)
	}
	if _, err := m.Transcribe(chirp(10), hf.TranscribeOpts{Language: "tlh"}); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("an unknown language: %v", err)
	}
	if text, err := m.Transcribe(nil); text != "" || err != nil {
		t.Errorf("no sound: %q, %v", text, err)
	}
}

// TestSoundsAreTranslated compares the texts of other tasks, and of other tokens that generation_config.json suppresses.
func TestSoundsAreTranslated(t *testing.T) {
	all, never := "\"begin_suppress_tokens\": [\n    35", "\"suppress_tokens\": [\n    33,\n    34"
	for i, n := range []int{16000, 9000} {
		e := want(t).Whisper[i]
		first := strconv.Itoa(e.Tokens[0])
		for _, c := range []struct {
			m         *hf.Model
			translate bool
			want      string
		}{
			{load(t, "whisper"), true, e.Translated},
			{loadFolder(t, copied(t, "whisper", "generation_config.json", never, `"suppress_tokens": [`+first)), false, e.Without},
			{loadFolder(t, copied(t, "whisper", "generation_config.json", all, `"begin_suppress_tokens": [`+first)), false, e.Later},
		} {
			text, err := c.m.Transcribe(chirp(n), hf.TranscribeOpts{MaxTokens: new(12), Language: "en", Translate: c.translate})
			if err != nil || text != c.want {
				t.Errorf("%d samples: %q, want %q (%v)", n, text, c.want, err)
			}
		}
	}
}

// TestModelsServeManyGoroutines embeds from many goroutines at once.
func TestModelsServeManyGoroutines(t *testing.T) {
	e, m := want(t), load(t, "minilm")
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			for range 5 {
				v, err := m.Embed(e.Texts)
				if err != nil {
					t.Error(err)
					return
				}
				for k, x := range numbers(v) {
					if !(math.Abs(x-e.Minilm.Embeddings[k]) <= 3e-6) {
						t.Errorf("number %d is %v, want %v", k, x, e.Minilm.Embeddings[k])
						break
					}
				}
			}
		})
	}
	wait.Wait()
}

// copied copies a folder of testdata, with the text of one file changed.
func copied(t *testing.T, folder, file, old, new string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata/"+folder)); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, file)
	if old == "" {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	text, err := os.ReadFile(path)
	if err != nil || !strings.Contains(string(text), old) {
		t.Fatal(file, err)
	}
	if err := os.WriteFile(path, []byte(strings.Replace(string(text), old, new, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestFoldersThatDoNotFit changes or removes a file: the error names what is wrong.
func TestFoldersThatDoNotFit(t *testing.T) {
	for _, c := range []struct {
		folder, file, old, new, want string
		kind                         any
	}{
		{"minilm", "config.json", "", "", "config.json: is not there", fs.ErrNotExist},
		{"minilm", "config.json", "{", "[", "cannot be read", &hf.FormatError{}},
		{"minilm", "config.json", `"BertModel"`, `"T5Model"`, `the architecture "T5Model" is not known`, errors.ErrUnsupported},
		{"minilm", "config.json", `"hidden_act": "gelu"`, `"hidden_act": "relu"`, "hidden_act relu", errors.ErrUnsupported},
		{"minilm", "config.json", `"hidden_size": 16`, `"hidden_size": 1000000000`, "larger network", &hf.FormatError{}},
		{"minilm", "config.json", `"hidden_size": 16`, `"hidden_size": -1`, "larger network", &hf.FormatError{}},
		{"minilm", "config.json", `"hidden_size": 16`, `"hidden_size": "x"`, "cannot be read", &hf.FormatError{}},
		{"minilm", "config.json", `"num_hidden_layers": 2`, `"num_hidden_layers": 1000000000`, "larger network", &hf.FormatError{}},
		{"minilm", "config.json", `"num_attention_heads": 2`, `"num_attention_heads": 3`, "does not divide", &hf.FormatError{}},
		{"minilm", "config.json", `"vocab_size": 35`, `"vocab_size": 36`, "embeddings.word_embeddings.weight", &nn.StateError{}},
		{"minilm", "model.safetensors", "", "", "has none of", fs.ErrNotExist},
		{"minilm", "1_Pooling/config.json", "", "", "is not there", &hf.FormatError{}},
		{"minilm", "1_Pooling/config.json", `"pooling_mode_cls_token": false`, `"pooling_mode_cls_token": true`, "pooling by", errors.ErrUnsupported},
		{"minilm", "1_Pooling/config.json", `"pooling_mode_mean_tokens"`, `"pooling_mode_weightedmean_tokens"`, "pooling by", errors.ErrUnsupported},
		{"minilm", "modules.json", "models.Normalize", "models.Dense", "has a Dense", errors.ErrUnsupported},
		{"minilm", "modules.json", "1_Pooling", "../1_Pooling", "leaves the folder", &hf.FormatError{}},
		{"bert", "config.json", `"0": "bad"`, `"7": "bad"`, "none for 0", &hf.FormatError{}},
		{"gpt2", "model.safetensors.index.json", "model-00001-of", "../model-00001-of", "leaves the folder", &models.IndexError{}},
		{"gpt2", "model-00001-of-00004.safetensors", "", "", "cannot be read", &models.IndexError{}},
		{"vit", "config.json", `"patch_size": 8`, `"patch_size": 0`, "cannot be", &hf.FormatError{}},
		{"vit", "preprocessor_config.json", `"resample": 2`, `"resample": 5`, "resampling 5", errors.ErrUnsupported},
		{"vit", "preprocessor_config.json", `0.00392156862745098`, `1`, "factor 1", errors.ErrUnsupported},
		{"whisper", "config.json", `"max_source_positions": 50`, `"max_source_positions": 5000000`, "larger network", &hf.FormatError{}},
		{"whisper", "preprocessor_config.json", `"hop_length": 160`, `"hop_length": 0`, "not 1 to 65536", &hf.FormatError{}},
		{"whisper", "preprocessor_config.json", `"n_fft": 400`, `"n_fft": 401`, "n_fft 401", &hf.FormatError{}},
		{"whisper", "preprocessor_config.json", `"feature_size": 20`, `"feature_size": 21`, "21 bands and 100 frames", &hf.FormatError{}},
	} {
		_, err := hf.Load(copied(t, c.folder, c.file, c.old, c.new))
		ok := false
		switch kind := c.kind.(type) {
		case *hf.FormatError:
			ok = errors.As(err, &kind)
		case *nn.StateError:
			ok = errors.As(err, &kind)
		case *models.IndexError:
			ok = errors.As(err, &kind)
		case error:
			ok = errors.Is(err, kind)
		}
		if !ok || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %s: %v, want %q", c.folder, c.file, err, c.want)
		}
	}
}

// TestMissingFolderIsNotDownloaded takes the name of a model on the hub for a folder.
func TestMissingFolderIsNotDownloaded(t *testing.T) {
	_, err := hf.Load("sentence-transformers/all-MiniLM-L6-v2")
	if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "the folder does not exist, and hf downloads nothing") {
		t.Error(err)
	}
}

// TestModelsRefuseOtherWork asks networks for what they cannot do.
func TestModelsRefuseOtherWork(t *testing.T) {
	bert, vit := load(t, "minilm"), load(t, "vit")
	_, err1 := bert.Classify([]string{"a"})
	_, err2 := vit.Embed([]string{"a"})
	_, err3 := bert.ClassifyPictures([]image.Image{picture()})
	var err4 error
	for _, err := range vit.Generate("a") {
		err4 = err
	}
	plain, err := hf.Load(copied(t, "minilm", "tokenizer.json", "", ""))
	if err != nil || plain.Tokenizer != nil {
		t.Fatal(err)
	}
	_, err5 := plain.Embed([]string{"a"})
	for i, err := range []error{err1, err2, err3, err4, err5} {
		if u, ok := errors.AsType[*hf.UnsupportedError](err); !ok || u.Folder == "" {
			t.Errorf("%d: %v", i+1, err)
		}
	}
	for _, m := range []*hf.Model{nil, {}} {
		_, err1 := m.Embed(nil)
		_, err2 := m.Classify(nil)
		_, err3 := m.ClassifyPictures(nil)
		_, err4 := m.Features(nil)
		_, err5 := m.Transcribe(nil)
		var err6 error
		for _, err := range m.Generate("a") {
			err6 = err
		}
		for i, err := range []error{err1, err2, err3, err4, err5, err6} {
			if !errors.Is(err, errors.ErrUnsupported) || err.Error() != "hf: the model is nil or empty: Load makes one" {
				t.Errorf("no model, %d: %v", i+1, err)
			}
		}
	}
	silent := load(t, "whisper")
	silent.Sound = &hf.Spectrogram{}
	_, err6 := silent.Features(nil)
	_, err7 := silent.Transcribe(chirp(10))
	for _, err := range []error{err6, err7} {
		if !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("a spectrogram of no size: %v", err)
		}
	}
}

// TestPoolings compares the vectors of each way to combine tokens, of texts that are padded in a batch, with sums
// by hand over what the network gives for each text alone.
func TestPoolings(t *testing.T) {
	m := load(t, "minilm")
	texts := want(t).Texts
	for _, p := range []hf.Pooling{{Mode: hf.PoolMean}, {Mode: hf.PoolFirst}, {Mode: hf.PoolMax}, {Mode: hf.PoolMeanSqrt}, {Mode: hf.PoolMax, Normalize: true}} {
		m.Pooling = p
		got, err := m.Embed(texts)
		if err != nil {
			t.Fatal(err)
		}
		var all []float64
		for _, text := range texts {
			e, err := m.Tokenizer.Encode(text, tokenizers.EncodeOpts{Truncation: &tokenizers.Truncation{MaxLength: m.MaxTokens}, NoPadding: true})
			if err != nil {
				t.Fatal(err)
			}
			h, _ := m.Module.(*models.Bert).Read(weft.From([][]int{e.IDs}))
			tokens, width := numbers(h), h.Dim(2)
			v := slices.Clone(tokens[:width])
			for i, x := range tokens[width:] {
				switch k := i % width; p.Mode {
				case hf.PoolMax:
					v[k] = max(v[k], x)
				case hf.PoolMean, hf.PoolMeanSqrt:
					v[k] += x
				}
			}
			length := 0.0
			for k := range v {
				switch n := float64(e.Len()); p.Mode {
				case hf.PoolMean:
					v[k] /= n
				case hf.PoolMeanSqrt:
					v[k] /= math.Sqrt(n)
				}
				length += v[k] * v[k]
			}
			for k := range v {
				if p.Normalize {
					v[k] /= math.Sqrt(length)
				}
			}
			all = append(all, v...)
		}
		near(t, "pooling", numbers(got), all, 1e-5)
	}
}

// TestEmbedRefusesTextWithoutTokens: the mean of no vectors would be NaN, also beside a text with tokens.
func TestEmbedRefusesTextWithoutTokens(t *testing.T) {
	m := load(t, "minilm")
	bare, err := tokenizers.Parse([]byte(`{"pre_tokenizer": {"type": "Whitespace"}, "model": {"type": "WordLevel", "unk_token": "a", "vocab": {"a": 0}}}`))
	if err != nil {
		t.Fatal(err)
	}
	m.Tokenizer = bare
	if _, err := m.Embed([]string{"a a", ""}); err == nil || !strings.Contains(err.Error(), "text 1 has no tokens") {
		t.Error(err)
	}
	if _, err := hf.Load("testdata/make.py"); err == nil || !strings.HasPrefix(err.Error(), "hf: ") {
		t.Errorf("a file for a folder: %v", err)
	}
}
