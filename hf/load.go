package hf

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"weft"
	"weft/data/transforms"
	"weft/internal/array"
	"weft/models"
	"weft/nn"
	"weft/tokenizers"
)

// A Model is what a folder holds.
type Model struct {
	Folder    string
	Config    Config
	Module    any                   // the network with its weights, such as a *models.Bert
	Tokenizer *tokenizers.Tokenizer // nil if the folder has none
	MaxTokens int                   // the most tokens of a text, with special ones; 0 for networks of pictures
	Pooling   Pooling               // of Embed
	Prepare   transforms.Transform  // makes the input of a picture network; nil without preprocessor_config.json
	Sound     *Spectrogram          // makes the input of a speech network; nil for other networks
}

// A Config is config.json.
type Config struct {
	Type         string   // model_type, such as "bert"
	Architecture string   // such as "BertModel"
	Labels       []string // of the classes, by number; nil if there are none
	Text         []byte   // the file
}

// Decode reads config.json into a struct with json tags.
func (c *Config) Decode(into any) error {
	array.Given("hf.Decode", "the config", c != nil)
	return json.Unmarshal(c.Text, into)
}

// maxJSON is the greatest file of JSON that is read.
const maxJSON = 16 << 20

// readJSON reads a file of JSON; found is false if there is none.
func readJSON(path string, into any) (text []byte, found bool, err error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, &FormatError{Path: path, Msg: "cannot be read", Err: withoutPath(err)}
	}
	if info.Size() > maxJSON {
		return nil, true, &FormatError{Path: path, Msg: fmt.Sprintf("has %d bytes, at most %d are read", info.Size(), maxJSON)}
	}
	text, err = os.ReadFile(path)
	if err != nil {
		return nil, true, &FormatError{Path: path, Msg: "cannot be read", Err: withoutPath(err)}
	}
	if err := json.Unmarshal(text, into); err != nil {
		return nil, true, &FormatError{Path: path, Msg: "cannot be read", Err: err}
	}
	return text, true, nil
}

// withoutPath returns what an error of the system says of a path that the message has already.
func withoutPath(err error) error {
	if e, ok := err.(*fs.PathError); ok {
		return e.Err
	}
	return err
}

// Load reads a folder. Weights stay in the files, which are mapped, where a network has them as the file has; others are
// copied. So the files must not be written or cut while the model is used, but may be replaced or removed. Training
// changes memory, never a file.
//
// A folder without config.json, or without weights, gives an error that matches
// fs.ErrNotExist; weights that do not fit the network a *nn.StateError.
func Load(folder string) (*Model, error) {
	if info, err := os.Stat(folder); err == nil && !info.IsDir() {
		return nil, &FormatError{Path: folder, Msg: "is a file: want the folder that has config.json and the weights"}
	}
	m := &Model{Folder: folder}
	if err := m.readConfig(); err != nil {
		return nil, err
	}
	build, ok := networks[m.Config.Architecture]
	if !ok {
		return nil, m.unsupported("the architecture %q is not known, but %s are; a model exported to ONNX runs by weft/onnx", m.Config.Architecture, strings.Join(slices.Sorted(maps.Keys(networks)), ", "))
	}
	state, err := models.ReadState(folder, models.ReadStateOpts{Map: true})
	if err != nil {
		return nil, err
	}
	if err := weft.Try(func() { err = build(m, state) }); err != nil {
		return nil, &FormatError{Path: m.path("config.json"), Msg: "describes a network that cannot be", Err: err}
	}
	if err != nil {
		return nil, err
	}
	if err := models.LoadState(m.Module, state, models.LoadOpts{Map: true}); err != nil {
		return nil, fmt.Errorf("hf: %s: %w", folder, err)
	}
	nn.Eval(m.Module)
	if m.Tokenizer, err = tokenizers.Load(folder); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if err := m.readPooling(); err != nil {
		return nil, err
	}
	return m, m.readPreparation()
}

func (m *Model) path(names ...string) string {
	return filepath.Join(append([]string{m.Folder}, names...)...)
}

// made refuses a model that Load did not make.
func (m *Model) made() error {
	if m == nil || m.Module == nil {
		return &UnsupportedError{What: "the model is nil or empty: Load makes one"}
	}
	return nil
}

func (m *Model) unsupported(format string, args ...any) error {
	return &UnsupportedError{m.Folder, fmt.Sprintf(format, args...)}
}

func (m *Model) readConfig() error {
	var c struct {
		Type          string            `json:"model_type"`
		Architectures []string          `json:"architectures"`
		Labels        map[string]string `json:"id2label"`
	}
	path := m.path("config.json")
	text, found, err := readJSON(path, &c)
	switch {
	case err != nil:
		return err
	case !found:
		msg := "is not there"
		if _, err := os.Stat(m.Folder); errors.Is(err, fs.ErrNotExist) {
			msg += ": the folder does not exist, and hf downloads nothing"
		}
		return &FormatError{Path: path, Msg: msg, Err: fs.ErrNotExist}
	case len(c.Architectures) == 0:
		return &FormatError{Path: path, Msg: "names no architectures"}
	}
	m.Config = Config{Type: c.Type, Architecture: c.Architectures[0], Text: text}
	for i := range len(c.Labels) {
		label, ok := c.Labels[strconv.Itoa(i)]
		if !ok {
			return &FormatError{Path: path, Msg: fmt.Sprintf("id2label has %d labels and none for %d", len(c.Labels), i)}
		}
		m.Config.Labels = append(m.Config.Labels, label)
	}
	return nil
}
