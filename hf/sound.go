package hf

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"weft"
	"weft/models"
	"weft/tokenizers"
)

// Spectrogram says how Features makes spectrograms, by the keys of preprocessor_config.json. Values in comments
// are Whisper's.
type Spectrogram struct {
	Rate   int `json:"sampling_rate"` // samples a second; 16000
	Bands  int `json:"feature_size"`  // on the mel scale; 80
	Window int `json:"n_fft"`         // samples of a spectrum, even; 400
	Hop    int `json:"hop_length"`    // samples from one spectrum to the next; 160
	Length int `json:"chunk_length"`  // seconds; 30
}

// maxSpectrogram bounds numbers of a preprocessor_config.json, so that memory is bounded.
const (
	maxSpectrogram = 1 << 16
	maxWindow      = 2048
)

// readSpectrogram reads preprocessor_config.json of a speech network.
func (m *Model) readSpectrogram() error {
	s := Spectrogram{16000, 80, 400, 160, 30}
	path := m.path("preprocessor_config.json")
	if _, _, err := readJSON(path, &s); err != nil {
		return err
	}
	if wrong := s.wrong(); wrong != "" {
		return &FormatError{Path: path, Msg: wrong}
	}
	e := m.Module.(*models.Whisper).Model.Encoder
	if frames := s.Length * s.Rate / s.Hop; s.Bands != e.Conv1.Weight.Dim(1) || frames != 2*e.EmbedPositions.Weight.Dim(0) {
		return &FormatError{Path: path, Msg: fmt.Sprintf("makes spectrograms of %d bands and %d frames, which the network does not take", s.Bands, frames)}
	}
	m.Sound = &s
	return nil
}

// wrong says what is wrong with the numbers, "" if nothing is.
func (s *Spectrogram) wrong() string {
	for _, n := range []int{s.Rate, s.Bands, s.Window, s.Hop, s.Length} {
		if n < 1 || n > maxSpectrogram {
			return "has a size that is not 1 to 65536"
		}
	}
	if s.Window%2 != 0 || s.Window > maxWindow {
		return fmt.Sprintf("has n_fft %d, want an even number of at most %d", s.Window, maxWindow)
	}
	return ""
}

// Features returns the spectrogram that a speech network takes, float32 [1, bands, frames]: the logarithm of the
// energy in bands of the mel scale. Samples are from -1 to 1, at m.Sound.Rate a second. They are cut to
// m.Sound.Length seconds, or filled up with silence. The error is an *[UnsupportedError] unless the folder
// is of such a network.
func (m *Model) Features(samples []float32) (*weft.Tensor, error) {
	if err := m.made(); err != nil {
		return nil, err
	}
	if m.Sound == nil {
		return nil, m.unsupported("a %s does not take sounds", m.Config.Architecture)
	}
	if wrong := m.Sound.wrong(); wrong != "" {
		return nil, m.unsupported("Sound %s", wrong)
	}
	var out *weft.Tensor
	err := weft.Try(func() { weft.WithoutGrad(func() { out = m.Sound.features(samples) }) })
	return out, err
}

func (s *Spectrogram) features(samples []float32) *weft.Tensor {
	n := s.Length * s.Rate
	frames, half := n/s.Hop, s.Window/2
	sound := func(i int) float64 { // with silence behind it, mirrored at both ends
		if i < 0 {
			i = -i
		}
		if i >= n {
			i = 2*(n-1) - i
		}
		if i < 0 || i >= len(samples) {
			return 0
		}
		return float64(samples[i])
	}
	data := make([]float64, frames*s.Window)
	for f := range frames {
		for k := range s.Window {
			hann := 0.5 - 0.5*math.Cos(2*math.Pi*float64(k)/float64(s.Window))
			data[f*s.Window+k] = hann * sound(f*s.Hop+k-half)
		}
	}
	// The discrete Fourier transform as a product: columns of cosines, then of sines.
	bins := half + 1
	waves := make([]float64, s.Window*2*bins)
	for k := range s.Window {
		for b := range bins {
			angle := 2 * math.Pi * float64(k*b%s.Window) / float64(s.Window)
			waves[k*2*bins+b], waves[k*2*bins+bins+b] = math.Cos(angle), math.Sin(angle)
		}
	}
	scope := weft.NewScope()
	defer scope.Close()
	spectra := scope.Track(weft.FromSlice(data, frames, s.Window)).MatMul(weft.FromSlice(waves, s.Window, 2*bins)).Square()
	parts := spectra.Chunk(1, 2)
	mel := parts[0].Add(parts[1]).MatMul(weft.FromSlice(s.bands(bins), bins, s.Bands))
	log := mel.Maximum(1e-10).Log10()
	log = log.Maximum(log.Max().Sub(8)).Add(4).Div(4)
	return scope.Keep(log.T().To(weft.Float32).Unsqueeze(0).Contiguous())
}

// bands are triangular filters [bins, bands] on the mel scale of Slaney's Auditory Toolbox (1998): linear up to
// 1 kHz, logarithmic above, each of area 1 over frequencies.
func (s *Spectrogram) bands(bins int) []float64 {
	const knee, perHertz = 1000.0, 3.0 / 200
	step := math.Log(6.4) / 27
	top := float64(s.Rate) / 2
	if s.Rate > 16000 {
		top = 8000
	}
	most := top * perHertz
	if top >= knee {
		most = knee*perHertz + math.Log(top/knee)/step
	}
	edges := make([]float64, s.Bands+2) // in hertz
	for i := range edges {
		mel := most * float64(i) / float64(s.Bands+1)
		edges[i] = mel / perHertz
		if mel >= knee*perHertz {
			edges[i] = knee * math.Exp(step*(mel-knee*perHertz))
		}
	}
	out := make([]float64, bins*s.Bands)
	for b := range bins {
		f := float64(s.Rate) / 2 * float64(b) / float64(bins-1)
		for i := range s.Bands {
			up := (f - edges[i]) / (edges[i+1] - edges[i])
			down := (edges[i+2] - f) / (edges[i+2] - edges[i+1])
			out[b*s.Bands+i] = max(0, min(up, down)) * 2 / (edges[i+2] - edges[i])
		}
	}
	return out
}

// TranscribeOpts are the options of [Model.Transcribe].
type TranscribeOpts struct {
	Language  string // such as "en"; "" lets the network tell, for each part of the sound
	Translate bool   // writes English
	MaxTokens *int   // of a part; nil means all that fit
}

// speech is what generation_config.json says of a Whisper.
type speech struct {
	Start         int            `json:"decoder_start_token_id"`
	Languages     map[string]int `json:"lang_to_id"`
	Tasks         map[string]int `json:"task_to_id"`
	NoTimes       *int           `json:"no_timestamps_token_id"`
	Suppress      []int          `json:"suppress_tokens"`
	SuppressFirst []int          `json:"begin_suppress_tokens"`
}

// Transcribe returns the text of speech. Samples are from -1 to 1, at m.Sound.Rate a second, 16000 for Whisper.
// Speech longer than m.Sound.Length seconds is transcribed in parts of that length, one after the other, so that
// a word at their border may be lost. Each token is the most likely one. The error is an
// *[UnsupportedError] unless the network is a Whisper that knows the language.
func (m *Model) Transcribe(samples []float32, opts ...TranscribeOpts) (string, error) {
	var o TranscribeOpts
	if len(opts) > 0 {
		o = opts[0]
	}
	if err := m.made(); err != nil {
		return "", err
	}
	net, ok := m.Module.(*models.Whisper)
	if !ok || m.Sound == nil || m.Tokenizer == nil {
		return "", m.unsupported("a %s without tokenizer.json or of another kind transcribes no speech", m.Config.Architecture)
	}
	var c speech
	if err := m.Config.Decode(&c); err != nil {
		return "", &FormatError{Path: m.path("config.json"), Msg: "cannot be read", Err: err}
	}
	if _, _, err := readJSON(m.path("generation_config.json"), &c); err != nil {
		return "", err
	}
	ends, err := m.ends()
	if err != nil {
		return "", err
	}
	if wrong := m.Sound.wrong(); wrong != "" {
		return "", m.unsupported("Sound %s", wrong)
	}
	var texts []string
	for part := range slices.Chunk(samples, m.Sound.Length*m.Sound.Rate) {
		features, err := m.Features(part)
		if err != nil {
			return "", err
		}
		var text string
		if e := weft.Try(func() {
			weft.WithoutGrad(func() { text, err = m.transcribe(net, net.Encode(features), c, o, ends) })
		}); e != nil {
			err = e
		}
		if err != nil {
			return "", err
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, ""), nil
}

// transcribe returns the text of one part, whose encoder states are encoded.
func (m *Model) transcribe(net *models.Whisper, encoded *weft.Tensor, c speech, o TranscribeOpts, ends [][]int) (string, error) {
	prompt := []int{c.Start}
	if len(c.Languages) > 0 {
		language, ok := c.Languages["<|"+o.Language+"|>"]
		if o.Language == "" {
			language, ok = likeliest(net.Decode(encoded, [][]int{prompt}).Next(weft.From([]int64{int64(c.Start)})), c.Languages), true
		}
		if !ok {
			return "", m.unsupported("generation_config.json does not have the language %q", o.Language)
		}
		prompt = append(prompt, language)
	} else if o.Language != "" && o.Language != "en" {
		return "", m.unsupported("the network writes English alone, not %q", o.Language)
	}
	if len(c.Tasks) > 0 {
		task := map[bool]string{false: "transcribe", true: "translate"}[o.Translate]
		id, ok := c.Tasks[task]
		if !ok {
			return "", m.unsupported("generation_config.json does not have the task %q", task)
		}
		prompt = append(prompt, id)
	} else if o.Translate {
		return "", m.unsupported("the network does not translate")
	}
	if c.NoTimes != nil {
		prompt = append(prompt, *c.NoTimes)
	}
	most := m.MaxTokens - len(prompt)
	if o.MaxTokens != nil {
		most = min(most, *o.MaxTokens)
	}
	d := net.Decode(encoded, [][]int{prompt}, models.WhisperDecodeOpts{Suppress: c.Suppress, SuppressFirst: c.SuppressFirst})
	var tokens []int
	for next, err := range models.Stream(d, [][]int{prompt}, models.GenerateOpts{MaxTokens: &most, Stop: ends}) {
		if err != nil {
			return "", err
		}
		tokens = append(tokens, next[0]...)
	}
	return m.Tokenizer.Decode(tokens, tokenizers.DecodeOpts{}), nil
}

// likeliest returns the id with the greatest of logits [1, vocabulary], of those in a table.
func likeliest(logits *weft.Tensor, ids map[string]int) int {
	data := weft.Data[float32](logits.To(weft.Float32))
	best, most := -1, float32(0)
	for _, id := range ids {
		if id >= 0 && id < len(data) && (best < 0 || data[id] > most || data[id] == most && id < best) {
			best, most = id, data[id]
		}
	}
	return max(best, 0)
}
