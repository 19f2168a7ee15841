package models_test

import (
	"fmt"

	"weft"
	"weft/models"
	"weft/nn"
)

// A model of weights as they are drawn. models.Load(net, "model.safetensors") takes the trained weights.
func ExampleGenerate() {
	net := models.NewGPT2(models.GPT2Opts{Vocab: new(50), Context: new(64), Width: new(16), Layers: new(2), Heads: new(2), Generator: weft.NewGenerator(1)})
	nn.Eval(net)
	o := models.GenerateOpts{MaxTokens: new(5), Temperature: 0.8, TopK: 40, TopP: new(0.95), Stop: [][]int{{49}}, Generator: weft.NewGenerator(2)}
	for token, err := range models.Generate(net, []int{3, 1, 4}, o) {
		if err != nil {
			panic(err)
		}
		fmt.Println(token) // when it is known
	}

	// Prompts of different lengths, and the most likely tokens.
	texts, err := models.GenerateBatch(net, [][]int{{7}, {3, 1, 4}}, models.GenerateOpts{MaxTokens: new(3)})
	fmt.Println(len(texts), len(texts[0]), len(texts[1]), err)
	// Output:
	// 19
	// 39
	// 16
	// 30
	// 27
	// 2 3 3 <nil>
}

// The beams of a prompt, the best first.
func ExampleBeamSearch() {
	net := models.NewLlama(models.LlamaOpts{Vocab: new(50), Width: new(16), Inner: new(32), Layers: new(2), Heads: new(4), KVHeads: new(2), Generator: weft.NewGenerator(1)})
	found, err := models.BeamSearch(net, [][]int{{3, 1, 4}}, models.BeamOpts{Beams: new(3), MaxTokens: new(6), End: []int{49}})
	beams := found[0]
	fmt.Println(len(beams), beams[0].Score >= beams[1].Score, err)
	// Output: 3 true <nil>
}

// The representation of texts of different lengths: a mask hides what fills them up.
func ExampleBert() {
	net := models.NewBert(models.BertOpts{Vocab: new(50), Context: new(16), Width: new(8), Layers: new(2), Heads: new(2)})
	nn.Eval(net)
	tokens := weft.From([][]int64{{2, 7, 9, 3}, {2, 8, 3, 0}})
	hidden, pooled := net.Read(tokens, models.ReadOpts{Mask: tokens.Ne(0)})
	fmt.Println(hidden.Shape(), pooled.Shape())
	// Output: [2 4 8] [2 8]
}

// One step of training on pairs of texts, and a translation.
func ExampleGNMT() {
	const begin, end = 1, 2
	net := models.NewGNMT(models.GNMTOpts{Vocab: new(20), Width: new(8), Layers: new(2)})
	source, lengths := weft.From([][]int64{{5, 6, 7}, {8, 9, 0}}), weft.From([]int64{3, 2})
	target := weft.From([][]int64{{begin, 15, 16, end}, {begin, 17, 18, end}})
	logits := net.Logits(source, lengths, target.Slice(weft.All, weft.Range(0, 3)))
	loss := nn.CrossEntropy(logits.Reshape(-1, 20), target.Slice(weft.All, weft.Range(1, 4)).Flatten(0))
	loss.Backward()

	nn.Eval(net)
	found, err := net.Translate([][]int{{5, 6, 7}, {8, 9}}, begin, models.BeamOpts{End: []int{end}})
	fmt.Println(logits.Shape(), len(found), err)
	// Output: [2 3 20] 2 <nil>
}

func ExampleBLEU() {
	fmt.Printf("%.1f\n", models.BLEU([][]string{{"the", "cat", "sat", "on", "the", "mat"}}, [][][]string{{{"the", "cat", "sat", "on", "a", "mat"}}}))
	// Output: 53.7
}
