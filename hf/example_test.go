package hf_test

import (
	"fmt"
	"image"

	"weft/hf"
	"weft/models"
)

func Example() {
	m, err := hf.Load("testdata/minilm") // such as a copy of sentence-transformers/all-MiniLM-L6-v2
	if err != nil {
		fmt.Println(err)
		return
	}
	vectors, err := m.Embed([]string{"the cat sat on the mat", "a dog!"})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(m.Config.Architecture, vectors.Shape())
	fmt.Printf("%.3f\n", vectors.MatMul(vectors.T()).At(0, 1)) // their likeness
	// Output:
	// BertModel [2 16]
	// 0.370
}

func ExampleModel_Classify() {
	m, err := hf.Load("testdata/distilbert-classifier")
	if err != nil {
		fmt.Println(err)
		return
	}
	classes, err := m.Classify([]string{"the cat sat on the mat"})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, c := range classes[0] {
		fmt.Printf("%s %.3f\n", c.Label, c.Probability)
	}
	// Output:
	// good 0.716
	// bad 0.193
	// neither 0.091
}

func ExampleModel_Generate() {
	m, err := hf.Load("testdata/gpt2")
	if err != nil {
		fmt.Println(err)
		return
	}
	for text, err := range m.Generate("the cat", models.GenerateOpts{MaxTokens: new(3)}) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Print(text)
	}
	// Output: =S`
}

func ExampleModel_ClassifyPictures() {
	m, err := hf.Load("testdata/vit")
	if err != nil {
		fmt.Println(err)
		return
	}
	classes, err := m.ClassifyPictures([]image.Image{image.NewRGBA(image.Rect(0, 0, 40, 30))})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(len(classes[0]), m.Module.(*models.ViT).ConvProj.Stride)
	// Output: 3 [8 8]
}

func ExampleModel_Transcribe() {
	m, err := hf.Load("testdata/whisper") // such as a copy of openai/whisper-tiny
	if err != nil {
		fmt.Println(err)
		return
	}
	samples := make([]float32, 8000) // half a second; data.ReadWAV reads sounds
	text, err := m.Transcribe(samples, hf.TranscribeOpts{Language: "en", MaxTokens: new(4)})
	fmt.Println(len(text) > 0, err)
	// Output: true <nil>
}
