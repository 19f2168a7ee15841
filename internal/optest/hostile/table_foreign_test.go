package hostile

import (
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"sync"

	"weft/hf"
	"weft/onnx"
	"weft/tokenizers"
	"weft/torchfile"
)

// foreignFunctions and foreignTypes are the rows of the packages that read models of others.
var foreignFunctions = []row[any]{
	{"hf.Load", hf.Load},
	{"onnx.BitsOf", onnx.BitsOf},
	{"onnx.Load", onnx.Load},
	{"onnx.MapOf", onnx.MapOf},
	{"onnx.Operators", onnx.Operators},
	{"onnx.OptionalOf", onnx.OptionalOf},
	{"onnx.Read", onnx.Read},
	{"onnx.ReadInfo", onnx.ReadInfo},
	{"onnx.Save", onnx.Save},
	{"onnx.SequenceOf", onnx.SequenceOf},
	{"onnx.StringsOf", onnx.StringsOf},
	{"onnx.TensorOf", onnx.TensorOf},
	{"onnx.Write", onnx.Write},
	{"tokenizers.Load", tokenizers.Load},
	{"tokenizers.Parse", tokenizers.Parse},
	{"tokenizers.ParseSentencePiece", tokenizers.ParseSentencePiece},
	{"torchfile.Load", torchfile.Load},
	{"torchfile.NewDict", torchfile.NewDict},
	{"torchfile.Read", torchfile.Read},
	{"torchfile.ReadFile", torchfile.ReadFile},
	{"torchfile.Tensors", torchfile.Tensors},
	{"torchfile.Write", torchfile.Write},
	{"torchfile.WriteFile", torchfile.WriteFile},
}

var foreignTypes = []row[reflect.Type]{
	{"hf.Class", reflect.TypeFor[hf.Class]()},
	{"hf.Config", reflect.TypeFor[hf.Config]()},
	{"hf.FormatError", reflect.TypeFor[hf.FormatError]()},
	{"hf.Model", reflect.TypeFor[hf.Model]()},
	{"hf.Pooling", reflect.TypeFor[hf.Pooling]()},
	{"hf.PoolingMode", reflect.TypeFor[hf.PoolingMode]()},
	{"hf.Spectrogram", reflect.TypeFor[hf.Spectrogram]()},
	{"hf.TranscribeOpts", reflect.TypeFor[hf.TranscribeOpts]()},
	{"hf.UnsupportedError", reflect.TypeFor[hf.UnsupportedError]()},
	{"onnx.ElementType", reflect.TypeFor[onnx.ElementType]()},
	{"onnx.Error", reflect.TypeFor[onnx.Error]()},
	{"onnx.ExportError", reflect.TypeFor[onnx.ExportError]()},
	{"onnx.Info", reflect.TypeFor[onnx.Info]()},
	{"onnx.Kind", reflect.TypeFor[onnx.Kind]()},
	{"onnx.Model", reflect.TypeFor[onnx.Model]()},
	{"onnx.OperatorInfo", reflect.TypeFor[onnx.OperatorInfo]()},
	{"onnx.Port", reflect.TypeFor[onnx.Port]()},
	{"onnx.SaveOpts", reflect.TypeFor[onnx.SaveOpts]()},
	{"onnx.Type", reflect.TypeFor[onnx.Type]()},
	{"onnx.UnsupportedError", reflect.TypeFor[onnx.UnsupportedError]()},
	{"onnx.UnsupportedNode", reflect.TypeFor[onnx.UnsupportedNode]()},
	{"onnx.Value", reflect.TypeFor[onnx.Value]()},
	{"tokenizers.AddedToken", reflect.TypeFor[tokenizers.AddedToken]()},
	{"tokenizers.Batch", reflect.TypeFor[tokenizers.Batch]()},
	{"tokenizers.DecodeOpts", reflect.TypeFor[tokenizers.DecodeOpts]()},
	{"tokenizers.DecodeStream", reflect.TypeFor[tokenizers.DecodeStream]()},
	{"tokenizers.EncodeError", reflect.TypeFor[tokenizers.EncodeError]()},
	{"tokenizers.EncodeOpts", reflect.TypeFor[tokenizers.EncodeOpts]()},
	{"tokenizers.Encoding", reflect.TypeFor[tokenizers.Encoding]()},
	{"tokenizers.FormatError", reflect.TypeFor[tokenizers.FormatError]()},
	{"tokenizers.Padding", reflect.TypeFor[tokenizers.Padding]()},
	{"tokenizers.Span", reflect.TypeFor[tokenizers.Span]()},
	{"tokenizers.Strategy", reflect.TypeFor[tokenizers.Strategy]()},
	{"tokenizers.Tokenizer", reflect.TypeFor[tokenizers.Tokenizer]()},
	{"tokenizers.Truncation", reflect.TypeFor[tokenizers.Truncation]()},
	{"tokenizers.UnsupportedError", reflect.TypeFor[tokenizers.UnsupportedError]()},
	{"torchfile.Device", reflect.TypeFor[torchfile.Device]()},
	{"torchfile.Dict", reflect.TypeFor[torchfile.Dict]()},
	{"torchfile.FormatError", reflect.TypeFor[torchfile.FormatError]()},
	{"torchfile.Global", reflect.TypeFor[torchfile.Global]()},
	{"torchfile.LeftOutError", reflect.TypeFor[torchfile.LeftOutError]()},
	{"torchfile.LoadOpts", reflect.TypeFor[torchfile.LoadOpts]()},
	{"torchfile.ModuleError", reflect.TypeFor[torchfile.ModuleError]()},
	{"torchfile.Object", reflect.TypeFor[torchfile.Object]()},
	{"torchfile.Raw", reflect.TypeFor[torchfile.Raw]()},
	{"torchfile.Set", reflect.TypeFor[torchfile.Set]()},
	{"torchfile.Size", reflect.TypeFor[torchfile.Size]()},
	{"torchfile.Tuple", reflect.TypeFor[torchfile.Tuple]()},
	{"torchfile.UnsupportedError", reflect.TypeFor[torchfile.UnsupportedError]()},
}

func init() {
	models := onceEach("../../../onnx/testdata", []string{"mlp_script.onnx", "cnn_dynamo.onnx", "transformer_script.onnx"}, func(path string) (*onnx.Model, error) {
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		return onnx.Read(data)
	})
	makers[typ[*onnx.Model]()] = func(g *gen) any { return pick(g, append(models(), nil, &onnx.Model{})...) }
	read := onceEach("../../../tokenizers/testdata", []string{"bert.json.gz", "gpt2.json.gz", "unigram-bytes.json.gz", "llama2.json.gz"}, func(path string) (*tokenizers.Tokenizer, error) {
		data, err := unzipped(path)
		if err != nil {
			return nil, err
		}
		return tokenizers.Parse(data)
	})
	makers[typ[*tokenizers.Tokenizer]()] = func(g *gen) any { return pick(g, append(read(), nil, &tokenizers.Tokenizer{})...) }
	makers[typ[*tokenizers.DecodeStream]()] = func(g *gen) any {
		return pick(g, nil, &tokenizers.DecodeStream{}, pick(g, read()...).DecodeStream())
	}
	folders := onceEach("../../../hf/testdata", []string{"bert", "distilbert-classifier", "gpt2", "minilm", "vit", "whisper"}, hf.Load)
	makers[typ[*hf.Model]()] = func(g *gen) any { return pick(g, append(folders(), nil, &hf.Model{})...) }
}

// onceEach reads files of a folder of this repository when they are first asked for.
func onceEach[T any](folder string, files []string, read func(path string) (T, error)) func() []T {
	here, _ := filepath.Abs(folder) // tests go into folders of their own
	return sync.OnceValue(func() (out []T) {
		for _, f := range files {
			x, err := read(filepath.Join(here, f))
			if err != nil {
				panic(err)
			}
			out = append(out, x)
		}
		return out
	})
}

func unzipped(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(z)
}
